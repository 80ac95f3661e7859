"""Where the samples of tiles come from: one array, or a function that makes each tile."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics._support import checks
from terrain_physics.tiles.format import HOLE
from terrain_physics.tiles.samples import Tile, plain_heights


class SampleSource(ABC):
    """What gives the tiles of a lattice, row by row."""

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

    It is read a row of tiles at a time. Tiles reach over its far borders: there are holes.
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
        self._row = -1
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
        samples = self._strip[:, column * side : (column + 1) * side + 1]
        cells = {
            name: _part(values, row, column, side)
            for name, values in self._cells.items()
            if values is not None
        }
        return Tile(_padded(samples, side + 1), **cells)


def array_source(source: Any, side: int, **cells: Any) -> ArraySource:
    """Return a source of an array, or of nested lists."""
    checks.refuse_path("source", source, "HeightMap.load and the command terrain-physics tiles")
    heights = source if isinstance(source, np.ndarray) else plain_heights(source)
    if heights.ndim != 2 or min(heights.shape) < 2:
        raise ValueError(
            f"source must have shape (rows, columns), at least (2, 2), got {heights.shape}"
        )
    given = {
        name: values if values is None or isinstance(values, np.ndarray) else np.array(values)
        for name, values in cells.items()
    }
    return ArraySource(heights, side, **given)


def _part(values: NDArray[Any], row: int, column: int, side: int) -> NDArray[Any]:
    """Return the values of a tile's cells; beyond the border they are 0."""
    part = values[row * side : (row + 1) * side, column * side : (column + 1) * side]
    missing = side - part.shape[0], side - part.shape[1]
    return np.pad(part, ((0, missing[0]), (0, missing[1]))) if any(missing) else part


def _padded(samples: NDArray[Any], count: int) -> NDArray[Any]:
    """Return the samples of a tile, with holes where the array ends within it."""
    if samples.shape == (count, count):
        return samples
    kind = samples.dtype if samples.dtype == np.int16 else np.result_type(samples, np.float32)
    hole = HOLE if kind == np.int16 else np.nan
    padded = np.full((count, count), hole, dtype=kind)
    padded[: samples.shape[0], : samples.shape[1]] = samples
    return padded
