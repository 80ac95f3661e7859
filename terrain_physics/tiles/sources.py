"""Where the samples of tiles come from: one array, or a function that makes each tile."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics._support import checks
from terrain_physics.heightmap.files import MappedHeights
from terrain_physics.surface.materials import Names, material_numbers
from terrain_physics.tiles.format import HOLE
from terrain_physics.tiles.samples import Tile, has_holes, plain_heights


class SampleSource(ABC):
    """What gives the tiles of a lattice, row by row.

    Attributes
    ----------
    has_holes : bool or None
        Whether a sample or a cell so far was a hole; None: as its tiles say.
    """

    has_holes: bool | None = None

    @abstractmethod
    def tile(self, row: int, column: int) -> Tile | None:
        """Return a tile, by row and column on the lattice; None where there is none."""


class FunctionSource(SampleSource):
    """A function of row and column, as the user counts."""

    def __init__(self, function: Callable[[int, int], Any], first: tuple[int, int]) -> None:
        self._function, self._first = function, first

    def tile(self, row: int, column: int) -> Tile | None:
        given = self._function(self._first[0] + row, self._first[1] + column)
        return given if given is None or isinstance(given, Tile) else Tile(given)


class ArraySource(SampleSource):
    """One array of samples, perhaps mapped from a file, with arrays of its cells.

    It is read a row of tiles at a time. Tiles reach over its far borders: there are holes, which do
    not count as such of the land.
    """

    def __init__(
        self,
        heights: Any,
        side: int,
        holes: Any = None,
        diagonals: Any = None,
        materials: Any = None,
    ) -> None:
        self._heights, self._side = heights, side
        self._cells = {"holes": holes, "diagonals": diagonals, "materials": materials}
        self._row, self._none, self.has_holes = -1, np.zeros(1, dtype=np.bool_), False
        self._strip: NDArray[Any] = np.empty((0, 0))
        samples = heights.shape
        for name, values in self._cells.items():
            shape = checks.shape_of(values) if values is not None else None
            if shape is not None and shape != (samples[0] - 1, samples[1] - 1):
                raise ValueError(
                    f"{name} must have shape {(samples[0] - 1, samples[1] - 1)}, one for each "
                    f"cell, got {shape}"
                )

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns of tiles."""
        rows, columns = (-(-(count - 1) // self._side) for count in self._heights.shape)
        return rows, columns

    def tile(self, row: int, column: int) -> Tile:
        side = self._side
        if row != self._row:
            strip = self._heights[row * side : (row + 1) * side + 1]
            self._strip, self._row = plain_heights(strip), row
            self.has_holes = self.has_holes or has_holes(self._strip)
        samples = self._strip[:, column * side : (column + 1) * side + 1]
        cells = {
            name: _part(values, row, column, side)
            for name, values in self._cells.items()
            if values is not None
        }
        self.has_holes = self.has_holes or bool(cells.get("holes", self._none).any())
        return Tile(_padded(samples, side + 1), **cells)


def array_source(source: Any, side: int, names: Names, **cells: Any) -> ArraySource:
    """Return a source of an array, or of nested lists, and of arrays of its cells."""
    checks.refuse_path("source", source, "the command terrain-physics tiles")
    known = isinstance(source, (np.ndarray, MappedHeights))
    heights = source if known else plain_heights(source)
    if len(heights.shape) != 2 or min(heights.shape) < 2:
        raise ValueError(
            f"source must have shape (rows, columns), at least (2, 2), got {heights.shape}"
        )
    return ArraySource(
        heights, side, **{name: _cell_array(values, names) for name, values in cells.items()}
    )


def _cell_array(values: Any, names: Names) -> NDArray[Any] | None:
    """Return values of cells as an array, perhaps the caller's; numbers in place of names."""
    if values is None or (isinstance(values, np.ndarray) and values.dtype.kind != "U"):
        return values
    return material_numbers(values, names=names)


def _part(values: NDArray[Any], row: int, column: int, side: int) -> NDArray[Any]:
    """Return the values of a tile's cells; beyond the border they are 0."""
    part = values[row * side : (row + 1) * side, column * side : (column + 1) * side]
    missing = side - part.shape[0], side - part.shape[1]
    return np.pad(part, ((0, missing[0]), (0, missing[1]))) if any(missing) else part


def _padded(samples: NDArray[Any], count: int) -> NDArray[Any]:
    """Return the samples of a tile, with holes where the array ends within it."""
    if samples.shape == (count, count):
        return samples
    is_small = np.can_cast(samples.dtype, np.int16)
    kind = np.dtype(np.int16) if is_small else np.result_type(samples, np.float32)
    padded = np.full((count, count), HOLE if is_small else np.nan, dtype=kind)
    padded[: samples.shape[0], : samples.shape[1]] = samples
    return padded
