"""The boxes of the tiles of a land: what is known of those that are not loaded."""

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.types import Bools, Float32s, Floats
from terrain_physics.heightmap.cells import Ranges
from terrain_physics.heightmap.solid.pieces import depth_of
from terrain_physics.lattice.tile import LatticeShape
from terrain_physics.tiles.edit_squares import EditedHeights


class TileBounds:
    """Between which heights each tile has ground, its sides and its underside included.

    Edits widen a tile's range, and nothing narrows it: so it holds for all states of the land.

    Attributes
    ----------
    low, high : ndarray of float64, shape (rows * columns,)
        In meters, of each tile; infinity and minus infinity where it has no ground.
    least : ndarray of float64, shape (rows * columns,)
        The same as ``low`` for the surface alone.
    place : ndarray of float64, shape (4,)
        Least x and z of the lattice, and the size of a tile along both, in meters.
    """

    __slots__ = ("_depth", "_shape", "high", "least", "low", "place")

    def __init__(self, shape: LatticeShape, exists: Bools, ranges: NDArray[np.floating]) -> None:
        """Take the least and greatest heights (tiles, 2), as they are stored."""
        self._shape, self._depth = shape, depth_of(shape.thickness)
        has_ground = exists.reshape(-1) & (ranges[:, 0] <= ranges[:, 1])
        least, greatest = self._levels(*ranges.T)
        self.least: Floats = np.where(has_ground, least, np.inf)
        self.low, self.high = self.least - self._depth, np.where(has_ground, greatest, -np.inf)
        (x0, _, z0), (cell_x, cell_z) = shape.origin, shape.cell_size
        self.place = np.array([x0, z0, shape.side * cell_x, shape.side * cell_z])

    def widen(self, place: Ranges, heights: Float32s) -> None:
        """Follow an edit of a range of samples of the lattice, in all tiles that share some."""
        side = self._shape.side
        rows, columns = (
            range(max((span.start - 1) // side, 0), min((span.stop - 1) // side + 1, most))
            for span, most in zip(place, (self._shape.rows, self._shape.columns), strict=True)
        )
        for row, column in product(rows, columns):
            own = tuple(
                slice(max(first * side - span.start, 0), (first + 1) * side + 1 - span.start)
                for first, span in zip((row, column), place, strict=True)
            )
            least = float(np.fmin.reduce(heights[own], axis=None, initial=np.inf))
            greatest = float(np.fmax.reduce(heights[own], axis=None, initial=-np.inf))
            if least <= greatest:
                self._widen_one(row * self._shape.columns + column, least, greatest)

    def _widen_one(self, number: int, least: float, greatest: float) -> None:
        """Widen the range of a tile as `_widen` does, in less time."""
        y0, scale = self._shape.origin[1], self._shape.height_scale
        low, high = sorted((y0 + scale * least, y0 + scale * greatest))
        if low < self.least[number]:
            self.least[number], self.low[number] = low, low - self._depth
        self.high[number] = max(self.high[number], high)

    def widen_by(self, edited: Sequence[EditedHeights]) -> None:
        """Follow edits by the ranges of their heights, each of a square within a tile."""
        if not edited:
            return
        rows = np.array(edited)
        bounds, side = rows[:, :4].astype(np.int64), self._shape.side
        firsts = np.maximum((bounds[:, 0::2] - 1) // side, 0)  # borders are those of both tiles
        lasts = np.minimum(
            (bounds[:, 1::2] - 1) // side, (self._shape.rows - 1, self._shape.columns - 1)
        )
        for step in product((0, 1), (0, 1)):
            places = firsts + np.array(step)
            some = (places <= lasts).all(axis=1)
            numbers = places[some, 0] * self._shape.columns + places[some, 1]
            self._widen(numbers, rows[some, 4], rows[some, 5])

    def _widen(self, numbers: NDArray[np.int64], least: Floats, greatest: Floats) -> None:
        """Widen the ranges of tiles by heights as they are stored; those of holes do nothing."""
        levels, has_ground = self._levels(least, greatest), least <= greatest
        numbers, levels = numbers[has_ground], levels[:, has_ground]
        np.minimum.at(self.least, numbers, levels[0])  # a tile may be there several times
        np.maximum.at(self.high, numbers, levels[1])
        self.low[numbers] = self.least[numbers] - self._depth

    def _levels(self, least: NDArray[np.floating], greatest: NDArray[np.floating]) -> Floats:
        """Return the lower and the upper heights in meters (2, n) of heights as they are stored."""
        y0, scale = self._shape.origin[1], self._shape.height_scale
        levels: Floats = y0 + scale * np.array([least, greatest], np.float64)
        return levels if scale > 0.0 else levels[::-1]

    def corners(self, numbers: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Return the lower and the upper corners (n, 3) of the boxes of tiles (n,)."""
        row, column = np.divmod(numbers, self._shape.columns)
        x0, z0, size_x, size_z = self.place.tolist()
        lower = x0 + column * size_x, self.low[numbers], z0 + row * size_z
        upper = x0 + (column + 1) * size_x, self.high[numbers], z0 + (row + 1) * size_z
        return np.column_stack(lower), np.column_stack(upper)
