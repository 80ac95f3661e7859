"""One update of a map: which columns of places are made, in which order, and in what chunks."""

import time
from collections.abc import Iterator
from typing import NamedTuple, Self

import numpy as np

from terrain_physics._kernels.types import Bools, Floats, Int64s
from terrain_physics.walkability.changes import Changes, places_within
from terrain_physics.walkability.making import Maker
from terrain_physics.walkability.places import Places

# Columns of a chunk: the first, and the most. A chunk of an update with a budget ends in about the
# time below; it is twice as large as the one before if that took less than half of it.
_FIRST, _MOST = 8, 1_024
_CHUNK_TIME = 1e-3

# Columns that are put in order at once. Tiles of so many rows and columns are made together, as the
# heights at the ends of their edges are those of the same columns.
_ORDERED, _TILE = 4_096, 8


class Circle(NamedTuple):
    """A circle on the level, in meters."""

    x: float
    z: float
    radius: float


class _Window(NamedTuple):
    """A rectangle of the grid of places."""

    rows: slice
    columns: slice

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows.stop - self.rows.start, self.columns.stop - self.columns.start

    def numbers(self, rows: Int64s, columns: Int64s, places: Places) -> Int64s:
        """Return the numbers of columns of places by their places in the window."""
        first = self.rows.start * places.columns + self.columns.start
        found: Int64s = first + rows * places.columns + columns
        return found


class Update:
    """The columns of places that an update makes: those of a region that are marked as it begins.

    Their marks are taken off before the ground is read, so that an edit meanwhile marks them again.
    Those that have not been made get their marks back in the end.

    Parameters
    ----------
    places : Places
    changes : Changes
    region : Circle, optional
        Default: everywhere.
    """

    def __init__(self, places: Places, changes: Changes, region: Circle | None) -> None:
        self._places, self._changes, self._region = places, changes, region
        self._window = _Window(*changes.edges.bounds(*_window_of(places, region)))
        self._around = _wider(self._window, places)
        self._edges = self._due()
        self._heights = changes.heights.marked(*self._around)
        self._heights &= self._near_edges()

    def _due(self) -> Bools:
        """Return the columns of the window in the region whose edges are marked now."""
        marked = self._changes.edges.marked(*self._window)
        if self._region is not None:
            marked &= self._squared_distances(self._region) <= self._region.radius**2
        return marked

    @property
    def left(self) -> int:
        """How many columns are to be made yet."""
        return int(np.count_nonzero(self._edges))

    def _squared_distances(self, circle: Circle, tile: int = 1) -> Floats:
        """Return the squared distance of each column of the window from the center of a circle.

        Or that of the middle of its tile, of so many rows and columns.
        """
        places, (rows, columns) = self._places, self._window
        row, column = np.arange(rows.start, rows.stop), np.arange(columns.start, columns.stop)
        middle = 0.5 * (tile - 1)
        z = places.lower_z + places.spacing * (row // tile * tile + middle) - circle.z
        x = places.lower_x + places.spacing * (column // tile * tile + middle) - circle.x
        found: Floats = z[:, np.newaxis] ** 2 + x**2
        return found

    def _near_edges(self) -> Bools:
        """Return the columns at the ends of edges that are to be made, in the wider window."""
        near = np.zeros(self._around.shape, np.bool_)
        row = self._window.rows.start - self._around.rows.start
        column = self._window.columns.start - self._around.columns.start
        for to_row in range(row - 1, row + 2):
            for to_column in range(column - 1, column + 2):
                _put(near, self._edges, to_row, to_column)
        return near

    # The marks

    def __enter__(self) -> Self:
        self._changes.take_off((*self._window, self._edges), (*self._around, self._heights))
        return self

    def __exit__(self, *_: object) -> None:
        self._changes.put_back((*self._window, self._edges), (*self._around, self._heights))

    def _numbers(self, chosen: Bools, window: _Window) -> Int64s:
        rows, columns = np.nonzero(chosen)
        return window.numbers(rows, columns, self._places)

    # The work

    def chunks(self, end: float | None) -> Iterator[Int64s]:
        """Give the columns to be made, a chunk after another, until a moment of `perf_counter`."""
        size = _MOST if end is None else _FIRST
        for numbers in self._in_order():
            first = 0
            while first < len(numbers):
                began = time.perf_counter()
                yield np.sort(numbers[first : first + size])
                first, now = first + size, time.perf_counter()
                if end is not None:
                    if now + (now - began) >= end:
                        return  # the next one would take as long
                    size = _next_size(size, now - began)

    def _in_order(self) -> Iterator[Int64s]:
        """Give the columns to be made, some at once, tile by tile: the nearest tiles first."""
        if self._region is None:
            for first in range(0, self._window.shape[0], _TILE):
                rows, columns = np.nonzero(self._edges[first : first + _TILE])
                tiles = np.argsort(columns // _TILE, kind="stable")
                yield self._window.numbers(rows + first, columns, self._places)[tiles]
            return
        numbers = self._numbers(self._edges, self._window)
        distances = self._squared_distances(self._region, _TILE)[self._edges]
        while len(numbers):
            some = np.arange(len(numbers))
            if len(numbers) > _ORDERED:
                some = np.argpartition(distances, _ORDERED)[:_ORDERED]
            yield numbers[some[np.argsort(distances[some], kind="stable")]]
            numbers, distances = np.delete(numbers, some), np.delete(distances, some)

    def make(self, numbers: Int64s, maker: Maker) -> None:
        """Make columns, and first the heights at the ends of their edges."""
        stale = self._stale_around(numbers)
        if len(stale):
            _make_heights(self._places, stale, maker)
            self._heights[self._at(stale, self._around)] = False
        maker.make_edges(numbers)
        self._edges[self._at(numbers, self._window)] = False

    def _stale_around(self, numbers: Int64s) -> Int64s:
        """Return the columns among some and beside them whose heights are to be made."""
        rows, columns = self._at(numbers, self._around)
        first, first_column = max(int(np.min(rows)) - 1, 0), max(int(np.min(columns)) - 1, 0)
        stale = self._heights[
            first : int(np.max(rows)) + 2, first_column : int(np.max(columns)) + 2
        ]
        near = np.zeros(stale.shape, np.bool_)
        last, last_column = len(near) - 1, near.size // len(near) - 1
        for row in (-1, 0, 1):
            for column in (-1, 0, 1):
                near[
                    np.clip(rows - first + row, 0, last),
                    np.clip(columns - first_column + column, 0, last_column),
                ] = True
        row_of, column_of = np.nonzero(near & stale)
        return self._around.numbers(row_of + first, column_of + first_column, self._places)

    def _at(self, numbers: Int64s, window: _Window) -> tuple[Int64s, Int64s]:
        """Return where columns are in a window."""
        rows, columns = np.divmod(numbers, self._places.columns)
        return rows - window.rows.start, columns - window.columns.start


def _make_heights(places: Places, numbers: Int64s, maker: Maker) -> None:
    """Make heights; take away edges where a character cannot rest as it could before.

    Else an edge would lead to a place where none rests, or to another one than before.
    """
    before = _standing(places, numbers)
    maker.make_heights(numbers)
    differ = (_standing(places, numbers) != before).any(axis=0) & before.any(axis=0)
    if differ.any():
        places.cut_off(numbers[differ])


def _standing(places: Places, numbers: Int64s) -> Bools:
    """Return whether a character rests on the levels of columns (levels, n)."""
    by_level = places.heights.reshape(places.levels, -1)
    return ~np.isnan(by_level[:, numbers])


def _next_size(size: int, seconds: float) -> int:
    """Return the size of the chunk after one that took so long."""
    if seconds > _CHUNK_TIME:
        return max(size // 2, 1)
    return min(2 * size, _MOST) if seconds < 0.5 * _CHUNK_TIME else size


def _window_of(places: Places, region: Circle | None) -> _Window:
    """Return the rectangle of the grid around a region."""
    if region is None:
        return _Window(slice(0, places.rows), slice(0, places.columns))
    x, z, radius = region
    return _Window(
        places_within(places.lower_z, places.spacing, places.rows, z - radius, z + radius),
        places_within(places.lower_x, places.spacing, places.columns, x - radius, x + radius),
    )


def _wider(window: _Window, places: Places) -> _Window:
    """Return a window with one more row and column on each side, as far as the grid goes."""
    rows, columns = window
    return _Window(
        slice(max(rows.start - 1, 0), min(rows.stop + 1, places.rows)),
        slice(max(columns.start - 1, 0), min(columns.stop + 1, places.columns)),
    )


def _put(target: Bools, values: Bools, row: int, column: int) -> None:
    """Mark what values mark, which are at a row and a column of the target, as far as that goes."""
    height, width = values.shape
    rows = slice(max(row, 0), min(row + height, target.shape[0]))
    columns = slice(max(column, 0), min(column + width, target.shape[1]))
    target[rows, columns] |= values[
        rows.start - row : rows.stop - row, columns.start - column : columns.stop - column
    ]
