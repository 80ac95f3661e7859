"""The tiles of a land that are missing at one moment, and which of them a question needs."""

import numpy as np

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.heightmap.missing import find_missing
from terrain_physics._kernels.heightmap.solid.sides import SIDES_OF_CELL
from terrain_physics._kernels.tiles.nearest import put_nearest
from terrain_physics._kernels.tiles.paths import put_first_on_paths
from terrain_physics._kernels.tolerances import CULLING_SLACK
from terrain_physics._kernels.types import Bytes, Floats, Int64s, read_only
from terrain_physics._support.threads import Workers
from terrain_physics.lattice.lattice_map import LatticeMap
from terrain_physics.tiles.questions.tile_bounds import TileBounds

_PATHS, _NEAREST = CachedDispatch(put_first_on_paths), CachedDispatch(put_nearest)
_UNDER = CachedDispatch(find_missing)

# Nanoseconds for one path or point, roughly.
_COST = 100

_Square = tuple[float, float, float, float]  # least x and z, greatest x and z

# Places beside the lattice have keys, too: without end.
_MOST_KEYS = 1024

_NOWHERE: _Square = (np.inf, np.inf, -np.inf, -np.inf)


class MissingTiles:
    """The tiles that were missing at one moment.

    Tiles touch what is at their border, and all is widened by more than rounding.

    Attributes
    ----------
    revision : int
        That of the land at the moment.
    are_none : bool
        Whether there were none.
    """

    __slots__ = ("_bounds", "_clear", "_columns", "_land", "_marks", "_per", "are_none", "revision")

    def __init__(self, land: LatticeMap, bounds: TileBounds, marks: Bytes, revision: int) -> None:
        self._land, self._bounds, self._marks, self.revision = land, bounds, marks, revision
        self._columns, self.are_none = land.shape.columns, not marks.any()
        x0, z0, size_x, size_z = bounds.place.tolist()
        self._per = x0, z0, 1.0 / size_x, 1.0 / size_z
        self._clear: dict[tuple[int, int], _Square] = {}

    @classmethod
    def of(cls, land: LatticeMap, bounds: TileBounds) -> "MissingTiles":
        """Return those of now."""
        with land.lock:  # none comes or goes meanwhile
            return cls(land, bounds, land.missing.copy(), land.revision)

    def or_changed(self) -> "MissingTiles":
        """Return these and the tiles that have changed since; the same ones if none has."""
        land, side, columns = self._land, self._land.shape.side, self._columns
        if land.revision == self.revision:
            return self
        marks = self._marks.reshape(-1, columns).copy()
        for row, row_stop, column, column_stop in set(land.regions_since(self.revision)):
            rows = slice(max(row, 0) // side, (row_stop - 1) // side + 1)
            marks[rows, max(column, 0) // side : (column_stop - 1) // side + 1] = 1
        marks[~land.exists] = 0
        return MissingTiles(land, self._bounds, marks.reshape(-1), self.revision)

    @property
    def has_underside(self) -> bool:
        """Whether the land has one."""
        return self._land.thickness < np.inf

    # One question

    def are_away(self, x: float, z: float, end_x: float, end_z: float, reach: float = 0.0) -> bool:
        """Tell whether they are surely away from all around a line, up to a reach.

        It takes a fraction of the time of a question, and sees three tiles in a row at most.
        """
        if self.are_none:
            return True
        x0, z0, per_x, per_z = self._per
        key = int((z - z0) * per_z), int((x - x0) * per_x)
        clear = self._clear.get(key)
        if clear is None:
            if len(self._clear) == _MOST_KEYS:
                self._clear.clear()
            clear = self._clear[key] = self._clear_around(*key)
        left, near, right, far = clear
        return (
            left < x - reach and x + reach < right and near < z - reach and z + reach < far
            and left < end_x - reach and end_x + reach < right
            and near < end_z - reach and end_z + reach < far
        )  # fmt: skip

    def _clear_around(self, row: int, column: int) -> _Square:
        """Return a square around a tile, or a place beside the lattice, without missing tiles."""
        marks = self._marks.reshape(-1, self._columns)
        for reach in (1, 0):
            rows, columns = (row - reach, row + reach + 1), (column - reach, column + reach + 1)
            over = marks[max(rows[0], 0) : max(rows[1], 0), max(columns[0], 0) : max(columns[1], 0)]
            if not over.any():
                x0, z0, size_x, size_z = self._bounds.place.tolist()
                slack = CULLING_SLACK * (abs(x0) + abs(z0) + marks.size * (size_x + size_z))
                return (
                    x0 + columns[0] * size_x + slack, z0 + rows[0] * size_z + slack,
                    x0 + columns[1] * size_x - slack, z0 + rows[1] * size_z - slack,
                )  # fmt: skip
        return _NOWHERE

    # Many

    def are_off(self, square: Floats) -> bool:
        """Tell whether they are away from a square (4,): least x and z, greatest x and z."""
        x0, z0, x1, z1 = square.tolist()
        is_finite = x0 > -np.inf and z0 > -np.inf
        if is_finite and self.are_away(x0, z0, x1, z1):
            return True
        return not len(self.under(square[np.newaxis]))

    def under(self, boxes: Floats) -> Int64s:
        """Return the numbers of those under boxes (n, 4), each once, ascending.

        A box is least x and z, greatest x and z.
        """
        if self.are_none:
            return np.empty(0, np.int64)
        slack = CULLING_SLACK * (np.abs(boxes) + np.abs(boxes[:, [2, 3, 0, 1]]))
        (flat,) = read_only((boxes + slack * (-1.0, -1.0, 1.0, 1.0)).reshape(-1))
        touched, wanted = np.empty(len(boxes), np.uint8), np.zeros_like(self._marks)
        _UNDER.call(flat, self._marks, self._columns, *self._per, touched, wanted)
        return np.flatnonzero(wanted)

    def of_ids(self, ids: Int64s) -> Int64s | None:
        """Return the number of each one that has a triangle or a side (n,), -1 for all others.

        None: there are none.
        """
        if self.are_none:
            return None
        shape = self._land.shape
        across = shape.columns * shape.side
        surface = 2 * across * shape.rows * shape.side
        cells = np.where(ids < surface, ids // 2, (ids - surface) // SIDES_OF_CELL)
        rows, columns = np.divmod(cells, across)
        numbers = rows // shape.side * shape.columns + columns // shape.side
        inside = (ids >= 0) & (numbers < len(self._marks))
        numbers = np.where(inside, numbers, 0)
        return np.where(inside & (self._marks[numbers] != 0), numbers, -1)

    def first_on(
        self,
        starts: Floats,
        ways: Floats,
        most: Floats,
        extents: Floats,
        threads: int | None = None,
    ) -> tuple[Floats, Int64s]:
        """Return how far along paths (n,) they come to the first of them, and its number, or -1.

        Paths are from ``starts`` along ``ways`` (n, 3), up to ``most`` (n,) times the way, of boxes
        with half ``extents`` (n, 3); arrays but ``most`` may have one row for all.
        """
        places, numbers = np.empty(len(most)), np.empty(len(most), np.int64)
        bounds = self._bounds
        starts, ways, most, extents = read_only(
            *map(np.ascontiguousarray, (starts, ways, most, extents))
        )

        def work(first: int, last: int) -> None:
            _PATHS.call(
                self._marks, bounds.low, bounds.high, self._columns, bounds.place, starts, ways,
                extents, most, first, last, places, numbers,
            )  # fmt: skip

        Workers(threads).run(work, len(most), _COST)
        return places, numbers

    def nearest(self, points: Floats, within: Floats, threads: int | None) -> Int64s:
        """Return the number of the nearest one to points (n, 3), up to distances (n,), or -1."""
        numbers, bounds = np.empty(len(points), np.int64), self._bounds
        points, within = read_only(np.ascontiguousarray(points), within)

        def work(first: int, last: int) -> None:
            _NEAREST.call(
                self._marks, bounds.low, bounds.high, self._columns, bounds.place, points, within,
                first, last, numbers,
            )  # fmt: skip

        Workers(threads).run(work, len(points), _COST)
        return numbers
