"""A tile of a lattice in memory, and where tiles come from."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.heightmap import grid as kernels
from terrain_physics._kernels.heightmap.blocks import put_blocks
from terrain_physics._kernels.types import Bytes, Float32s, Floats
from terrain_physics._support.checks import Floats3
from terrain_physics.heightmap.cells import Ranges
from terrain_physics.heightmap.framed import Edited
from terrain_physics.surface.materials import Names

MOST_CELLS = 1 << 17
"""Along each side of a lattice: beyond, blocks and tables would take gigabytes of addresses."""


class LatticeShape(NamedTuple):
    """What never changes of land on a lattice of tiles.

    Attributes
    ----------
    side : int
        Cells along a tile, a multiple of 64.
    rows, columns : int
        Of tiles, those that are absent included.
    origin : tuple of float
        Where sample (0, 0) of height 0 lies, in meters.
    cell_size : (float, float)
        In meters, along x and z.
    height_scale : float
        Meters per unit of height.
    thickness : float
        How deep the ground is solid, in meters; inf: without limit.
    diagonal : int
        How cells are split, as in the kernels' `heightmap.grid`.
    has_cells : bool
        Whether tiles may have bits of cells.
    material_names : tuple of str, or None
    """

    side: int
    rows: int
    columns: int
    origin: Floats3
    cell_size: tuple[float, float]
    height_scale: float
    thickness: float
    diagonal: int
    has_cells: bool
    material_names: Names

    @property
    def sample_count(self) -> tuple[int, int]:
        """The number of samples of the whole lattice, rows by columns."""
        return self.rows * self.side + 1, self.columns * self.side + 1

    def place_of(self, number: int, lines: int) -> Ranges:
        """Return the samples of a tile (``lines`` is 1), or its cells (0)."""
        row, column = divmod(number, self.columns)
        down, across = row * self.side, column * self.side
        return slice(down, down + self.side + lines), slice(across, across + self.side + lines)


class LoadedTile:
    """The arrays of a tile, its own alone.

    Attributes
    ----------
    number : int
        Its row among the tiles times their columns, plus its column.
    heights : ndarray of float32, shape (side + 1, side + 1)
        As they are stored; NaN in holes.
    cells : ndarray of uint8, shape (side, side), or None
        Bits of each cell; None: all 0.
    materials : ndarray of uint8, shape (side, side), or None
    blocks : ndarray of float32
        Least and greatest heights of blocks of its cells, level after level, see `survey`.
    may_have_holes : bool
        False only if each cell has ground.
    generation : int
        That of the map when the arrays were last its alone, see `LatticeMap`.
    """

    __slots__ = (
        "blocks", "cells", "generation", "heights", "materials", "may_have_holes", "number",
    )  # fmt: skip

    def __init__(
        self,
        number: int,
        heights: Float32s,
        cells: Bytes | None,
        materials: Bytes | None,
        blocks: Float32s,
    ) -> None:
        self.number, self.heights, self.cells = number, heights, cells
        self.materials, self.blocks, self.generation = materials, blocks, 0
        self.may_have_holes = bool(np.isnan(heights).any()) or (
            cells is not None and bool((cells & kernels.CELL_HOLE).any())
        )

    @property
    def arrays(self) -> tuple[Float32s, Bytes | None, Bytes | None]:
        """Heights, cells and materials."""
        return self.heights, self.cells, self.materials

    @property
    def side(self) -> int:
        """Cells along it."""
        return len(self.heights) - 1

    def values(self, what: Edited, own: Ranges) -> NDArray[Any]:
        """Return heights, marks of holes or materials in a range of its samples or cells."""
        if what == "heights":
            return self.heights[own]
        if what == "holes":
            return np.asarray(self._or_zeros(self.cells)[own] & kernels.CELL_HOLE != 0)
        return self._or_zeros(self.materials)[own]

    def _or_zeros(self, values: Bytes | None) -> Bytes:
        return np.zeros((self.side, self.side), np.uint8) if values is None else values

    def write(self, what: Edited, own: Ranges, values: NDArray[Any]) -> None:
        """Write values to a range of its samples or cells; blocks stay as they are."""
        if what == "heights":
            self.heights[own] = values
            self.may_have_holes |= bool(np.isnan(self.heights[own]).any())
        elif what == "holes":
            self.cells = cells = self._or_zeros(self.cells)
            kept = cells[own] & np.uint8(0xFF ^ kernels.CELL_HOLE)
            cells[own] = kept | (values.astype(np.uint8) * np.uint8(kernels.CELL_HOLE))
            self.may_have_holes |= bool(values.any())
        else:
            self.materials = self._or_zeros(self.materials)
            self.materials[own] = values

    def survey(self, own: Ranges) -> None:
        """Find the blocks anew around samples that were written."""
        rows, columns = ((max(span.start - 1, 0), min(span.stop, self.side)) for span in own)
        samples = self.heights.reshape(-1).view()
        samples.setflags(write=False)
        put_blocks(samples, _frame_of(self.side), *rows, *columns, self.blocks)

    def copy_arrays(self) -> None:
        """Have new arrays of the same values: others go on reading the old ones."""
        self.heights = self.heights.copy()
        self.cells = None if self.cells is None else self.cells.copy()
        self.materials = None if self.materials is None else self.materials.copy()


@cache
def _frame_of(side: int) -> Floats:
    """Return the frame of a tile for kernels that find blocks."""
    frame = np.zeros(kernels.FRAME_SIZE)
    frame[[kernels.ROWS, kernels.COLUMNS]] = side
    frame.setflags(write=False)
    return frame


class TileSource(ABC):
    """Where the tiles of a lattice come from, and what keeps their edits."""

    __slots__ = ()

    @abstractmethod
    def fetch(self, numbers: Sequence[int]) -> None:
        """Put tiles into the map now."""

    @abstractmethod
    def need(self, numbers: Sequence[int], what: str) -> None:
        """Put tiles into the map now, or raise ValueError that ``what`` cannot be done without."""

    @abstractmethod
    def keep(self, what: Edited, place: Ranges, values: NDArray[Any]) -> None:
        """Keep an edit of all tiles that share its samples or cells; OSError if that fails."""

    @abstractmethod
    def put_kept(self, what: Edited, place: Ranges, values: NDArray[Any]) -> None:
        """Write what edits have left at a place over its values, of tiles loaded or not."""
