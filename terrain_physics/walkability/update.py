"""One update of a map: which columns of places are made, in which order, and in what chunks."""

import math
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels.types import Bools, Floats, Int64s
from terrain_physics.walkability.changes import Changes, places_within
from terrain_physics.walkability.making import Maker
from terrain_physics.walkability.places import Places

# Columns of a chunk: the first of a map with a budget, and the most. Later ones take about the time
# below: a chunk is half as large if the last one took more, and twice if it took less than half.
_FIRST, _MOST = 8, 1_024
_CHUNK_TIME = 1e-3

# Columns that are put in order at once. Tiles of so many rows and columns are made together, as the
# heights at the ends of their edges are those of the same columns.
_ORDERED, TILE = 4_096, 8


class Timing:
    """How large chunks are, and when an update is over.

    Attributes
    ----------
    size : int
        Columns of the next chunk.
    """

    __slots__ = ("_began", "_budget_end", "_last", "size")

    def __init__(self) -> None:
        self._began = self._last = 0.0
        self._budget_end, self.size = math.inf, _FIRST

    def start(self, budget: float | None) -> None:
        """Begin an update, of so many seconds or without an end."""
        self._last = 0.0
        self._budget_end = math.inf if budget is None else time.perf_counter() + budget
        self.size = _MOST if budget is None else min(self.size, _MOST // TILE)

    def begin(self) -> None:
        """Begin a chunk."""
        self._began = time.perf_counter()

    def end(self) -> None:
        """End a chunk."""
        self._last = time.perf_counter() - self._began
        if self._budget_end == math.inf:
            return
        if self._last > _CHUNK_TIME:
            self.size = max(self.size // 2, 1)
        elif self._last < 0.5 * _CHUNK_TIME:
            self.size = min(2 * self.size, _MOST)

    @property
    def is_over(self) -> bool:
        """Whether there is no time for another chunk like the last one."""
        return time.perf_counter() + self._last >= self._budget_end


class Circle(NamedTuple):
    """A circle on the level, in meters."""

    x: float
    z: float
    radius: float


class Window(NamedTuple):
    """A rectangle of the grid of places."""

    rows: slice
    columns: slice

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns it has."""
        return self.rows.stop - self.rows.start, self.columns.stop - self.columns.start

    def numbers(self, rows: Int64s, columns: Int64s, places: Places) -> Int64s:
        """Return the numbers of columns of places by their places in the window."""
        first = self.rows.start * places.columns + self.columns.start
        found: Int64s = first + rows * places.columns + columns
        return found


class Update:
    """The columns of places that are made together: those of a window that are marked now.

    Their marks are taken off before the ground is read, so that an edit meanwhile marks them again.
    Those that have not been made get their marks back in the end.

    Parameters
    ----------
    places : Places
    changes : Changes
    window : Window
    circle : Circle, optional
        Only the columns within it, the nearest tiles first.
    """

    def __init__(
        self, places: Places, changes: Changes, window: Window, circle: Circle | None
    ) -> None:
        self._places, self._changes, self._circle = places, changes, circle
        self._window = Window(*changes.edges.bounds(*window))
        self._around = _wider(self._window, places)
        self._edges = changes.edges.marked(*self._window)
        if circle is not None:
            self._edges &= self._squared_distances(circle) <= circle.radius * circle.radius
        self._heights = changes.heights.marked(*self._around)
        self._heights &= self._near_edges()

    @property
    def left(self) -> int:
        """How many columns are to be made yet."""
        return int(np.count_nonzero(self._edges))

    def square(self, reach: float) -> Floats:
        """Return a square around the columns that are to be made, as far as that around each.

        That is least x and z, greatest x and z; some are to be made.
        """
        places, (rows, columns) = self._places, np.nonzero(self._edges)
        rows, columns = rows + self._window.rows.start, columns + self._window.columns.start
        x, z = places.lower_x, places.lower_z
        return np.array([
            x + places.spacing * np.min(columns) - reach, z + places.spacing * np.min(rows) - reach,
            x + places.spacing * np.max(columns) + reach, z + places.spacing * np.max(rows) + reach,
        ])  # fmt: skip

    def _squared_distances(self, circle: Circle, tile: int = 1) -> Floats:
        """Return the squared distance of each column of the window from the center of a circle.

        Or that of the middle of its tile, of so many rows and columns.
        """
        places, (rows, columns) = self._places, self._window
        row, column = np.arange(rows.start, rows.stop), np.arange(columns.start, columns.stop)
        middle = 0.5 * (tile - 1)
        z = places.lower_z + places.spacing * (row // tile * tile + middle) - circle.z
        x = places.lower_x + places.spacing * (column // tile * tile + middle) - circle.x
        found: Floats = (z * z)[:, np.newaxis] + x * x
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

    def begin(self) -> None:
        """Take the marks off, until `Changes.put_back`: what changes meanwhile is marked again."""
        self._changes.take_off((*self._window, self._edges), (*self._around, self._heights))

    def _numbers(self, chosen: Bools, window: Window) -> Int64s:
        rows, columns = np.nonzero(chosen)
        return window.numbers(rows, columns, self._places)

    # The work

    def chunks(self, timing: Timing) -> Iterator[Int64s]:
        """Give the columns to be made, a chunk after another, until the time is over."""
        for numbers in self._in_order():
            first = 0
            while first < len(numbers):
                chunk = numbers[first : first + timing.size]
                first += len(chunk)
                timing.begin()
                yield np.sort(chunk)
                timing.end()
                if timing.is_over:
                    return

    def _in_order(self) -> Iterator[Int64s]:
        """Give the columns to be made, some at once, tile by tile."""
        numbers = self._numbers(self._edges, self._window)
        if self._circle is None:
            tiles = numbers % self._places.columns // TILE
            yield numbers[np.argsort(tiles, kind="stable")]
            return
        distances = self._squared_distances(self._circle, TILE)[self._edges]
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

    def _at(self, numbers: Int64s, window: Window) -> tuple[Int64s, Int64s]:
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


def windows(
    places: Places, changes: Changes, circle: Circle | None
) -> Iterator[tuple[Window, Circle | None]]:
    """Give what an update makes, one after another: rows of tiles, or ever larger circles."""
    if circle is None:
        for rows in _bands(places, changes):
            yield Window(rows, slice(0, places.columns)), None
        return
    radius = TILE * places.spacing
    while radius < circle.radius:
        inner = circle._replace(radius=radius)
        yield window_of(places, inner), inner
        radius *= 2.0
    yield window_of(places, circle), circle


def _bands(places: Places, changes: Changes) -> Iterator[slice]:
    """Give the rows with marks, a row of tiles after another; several that make one chunk at once.

    What a chunk costs is shared by all who walk in it, as after an edit.
    """
    first = end = count = 0
    for row in changes.edges.marked_rows(TILE):
        rows = slice(row, min(row + TILE, places.rows))
        marked = changes.edges.count(rows)
        if count and (row > end or count + marked > _MOST):
            yield slice(first, end)
            count = 0
        first = first if count else row
        end, count = rows.stop, count + marked
    if count:
        yield slice(first, end)


def left_in(places: Places, changes: Changes, circle: Circle | None) -> int:
    """Return how many columns are marked, all or those within a circle."""
    if circle is None:
        return changes.edges.count()
    return Update(places, changes, window_of(places, circle), circle).left


def window_of(places: Places, circle: Circle) -> Window:
    """Return the rectangle of the grid around a circle."""
    x, z, radius = circle
    return Window(
        places_within(places.lower_z, places.spacing, places.rows, z - radius, z + radius),
        places_within(places.lower_x, places.spacing, places.columns, x - radius, x + radius),
    )


def _wider(window: Window, places: Places) -> Window:
    """Return a window with one more row and column on each side, as far as the grid goes."""
    rows, columns = window
    return Window(
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
