"""One tile as a game gives it to be made, and the checked arrays that are stored of it."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from terrain_physics._kernels.heightmap import grid
from terrain_physics._kernels.types import Bytes, Float32s
from terrain_physics._public import public
from terrain_physics._support import checks
from terrain_physics.heightmap.checks import (
    as_float32,
    bool_cells,
    refuse_far_heights,
    shorter_diagonals,
)
from terrain_physics.heightmap.survey import survey
from terrain_physics.surface.materials import Names, material_rows
from terrain_physics.tiles.format import HOLDS_CELLS, HOLDS_MATERIALS, HOLE, loaded_heights


@public
class Tile(NamedTuple):
    """The samples of one tile, for `TiledGround.make`, and what its cells have beside them.

    Attributes
    ----------
    heights : array_like, shape (tile + 1, tile + 1)
        As for `HeightMap`. Neighboring tiles both have the samples of their common border.
    holes : array_like of bool, shape (tile, tile), optional
        Cells without ground, besides those with a NaN at a corner.
    diagonals : array_like of bool, shape (tile, tile), optional
        Cells that are split from b to d. Tiles without it are split from a to c.
    materials : array_like of whole numbers from 0 to 255, or of names, shape (tile, tile), optional
        The material of each cell; else 0.
    """

    heights: ArrayLike
    holes: ArrayLike | None = None
    diagonals: ArrayLike | None = None
    materials: ArrayLike | None = None


class CellRules(NamedTuple):
    """What is the same for the cells of all tiles.

    ``diagonal`` is one of the names in `heightmap.checks.DIAGONALS`.
    """

    side: int
    diagonal: str
    material_names: Names


class CheckedTile(NamedTuple):
    """What is stored of a tile.

    Attributes
    ----------
    heights : ndarray of int16 or float32
        As they are stored, with holes as they are stored.
    blocks : ndarray of float32
    cells, materials : ndarray of uint8, or None
    has_holes : bool
    """

    heights: NDArray[Any]
    blocks: Float32s
    cells: Bytes | None
    materials: Bytes | None
    has_holes: bool

    @property
    def holds(self) -> int:
        """What it has beside heights and blocks, for the index."""
        cells = HOLDS_CELLS if self.cells is not None else 0
        return cells | (HOLDS_MATERIALS if self.materials is not None else 0)

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and greatest height as stored; inf and -inf if all samples are holes."""
        least, greatest = self.blocks[-2:].tolist()
        return least, greatest

    @property
    def has_flipped(self) -> bool:
        """Whether a cell is split from b to d by its bits."""
        return self.cells is not None and bool((self.cells & grid.CELL_FLIPPED).any())

    @property
    def content(self) -> bytes:
        """Its bytes in the file."""
        parts = (
            self.heights.astype(self.heights.dtype.newbyteorder("<"), copy=False),
            self.blocks.astype("<f4", copy=False),
            self.cells,
            self.materials,
        )
        return b"".join(part.tobytes() for part in parts if part is not None)


def plain_heights(heights: Any) -> NDArray[Any]:
    """Return heights as an array of real numbers; masked ones become holes."""
    numbers = checks.real_numbers("heights", checks.masked_as_nan(heights))
    return numbers.astype(numbers.dtype.newbyteorder("="), copy=False)


def has_holes(heights: NDArray[Any]) -> bool:
    """Tell whether a height is a hole."""
    if heights.dtype == np.int16:
        return bool((heights == HOLE).any())
    return heights.dtype.kind == "f" and bool(np.isnan(heights).any())


def checked_tile(given: Tile, rules: CellRules, kind: np.dtype[Any]) -> CheckedTile:
    """Return the checked arrays of a tile, with heights of a kind as they are stored."""
    wide = plain_heights(given.heights)
    shape = (rules.side + 1, rules.side + 1)
    if wide.shape != shape:
        raise ValueError(
            f"heights must have shape {shape}, the samples of both borders included, got "
            f"{wide.shape}"
        )
    stored = as_int16(wide) if kind.kind == "i" else _as_float32(wide)
    heights = loaded_heights(stored)
    found = survey(heights)
    refuse_far_heights(wide, found.least, found.greatest)
    cells = _cell_bits(given, rules, heights)
    materials = None
    if given.materials is not None:
        inner = (rules.side, rules.side)
        materials = material_rows(given.materials, inner, names=rules.material_names)
    has_holes = found.has_holes or bool(cells is not None and (cells & grid.CELL_HOLE).any())
    return CheckedTile(stored, found.blocks, _if_any(cells), _if_any(materials), has_holes)


def as_int16(wide: NDArray[Any]) -> NDArray[np.int16]:
    """Return heights as int16, rounded; NaN is `HOLE`, and so is that number of an int16."""
    if wide.dtype == np.int16:
        return np.array(wide, dtype=np.int16, order="C")
    numbers = np.rint(wide.astype(np.float64))
    bad = ~((np.abs(numbers) < -HOLE) | np.isnan(numbers))
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(
            f"heights of int16 must be from {HOLE + 1} to {-HOLE - 1}, got {wide[where]} at "
            f"{list(where)}: use dtype='float32', or another height_scale"
        )
    return np.where(np.isnan(numbers), HOLE, numbers).astype(np.int16)


def _as_float32(wide: NDArray[Any]) -> Float32s:
    return loaded_heights(wide) if wide.dtype == np.int16 else as_float32(wide)


def _cell_bits(given: Tile, rules: CellRules, heights: Float32s) -> Bytes | None:
    """Return the bits of cells; None if nothing asks for any."""
    flipped = None
    if given.diagonals is not None:
        if rules.diagonal != "a-c":
            raise ValueError(
                "diagonals of a tile must be left out unless diagonal is 'a-c', got diagonal="
                f"{rules.diagonal!r}"
            )
        flipped = bool_cells("diagonals", given.diagonals, heights)
    elif rules.diagonal == "shortest":
        flipped = shorter_diagonals(heights)
    holes = None if given.holes is None else bool_cells("holes", given.holes, heights)
    if flipped is None and holes is None:
        return None
    bits = np.zeros((rules.side, rules.side), dtype=np.uint8)
    if flipped is not None:
        bits |= flipped * np.uint8(grid.CELL_FLIPPED)
    if holes is not None:
        bits |= holes * np.uint8(grid.CELL_HOLE)
    return bits


def _if_any(values: Bytes | None) -> Bytes | None:
    return values if values is not None and values.any() else None
