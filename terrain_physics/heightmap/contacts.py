"""Contacts of many shapes, found and written part by part, by one thread or several.

A part's touches are listed and written at once, while the list is still in a near cache.
"""

import threading
from concurrent.futures import CancelledError
from typing import Any

import numpy as np

from terrain_physics._kernels.heightmap import contact_rows as kernels
from terrain_physics._kernels.heightmap.find_contacts import find_contacts
from terrain_physics._kernels.types import Floats, Longs
from terrain_physics._threads import Workers
from terrain_physics.surface.ground_arrays import MapArrays
from terrain_physics.surface.shapes import by_kind

_COST = 500  # nanoseconds that a shape takes on one thread, roughly
_PART = 2048  # shapes: the list of what more of them touch would leave the cache

# Room beyond what the parts so far suggest. Memory that is not written to costs nothing.
_SPARE = 1.1

# How many touches, which shape, row, code: see `find_contacts`.
_Touches = tuple[int, Longs, Longs, Longs]


class ContactQuery:
    """Shapes of one kind, one row each, and the arrays of a map."""

    def __init__(
        self, views: MapArrays, kind: int, bodies: Floats, cell_count: tuple[int, int] | None
    ) -> None:
        self._views, self._count, self._cell_count = views, len(bodies), cell_count
        self._shapes = by_kind(kind, bodies)

    def counts(self, workers: Workers) -> Longs:
        """Return how many triangles each shape touches."""

        def count(first: int, last: int) -> Longs:
            found, who, _, _ = self._find(first, last)
            return np.bincount(who[:found] - first, minlength=last - first)

        parts = workers.run(count, self._count, _COST, most=_PART)
        return np.concatenate([np.empty(0, dtype=np.int64), *parts])

    def contacts(self, workers: Workers) -> tuple[Longs, Floats, Longs]:
        """Return (queries and triangles, penetrations, normals and points, cells): see `Contacts`.

        Cells are row * columns + column of the map's nearest; none if not asked for.
        """
        heights, cells, _, frame = self._views
        rows = _Rows(self._count)

        def work(first: int, last: int) -> Longs:
            found = 0
            try:
                found, who, row, code = self._find(first, last)
            finally:  # later parts wait for this one, whatever happens to it
                ints, floats, start = rows.take(first, last, found)
            kernels.put_contacts(
                heights, cells, frame, *self._shapes, who, row, code, ints, floats, start, found
            )
            return self._cells_of(row[:found], code[:found])

        parts = workers.run(work, self._count, _COST, most=_PART, give_up=rows.give_up)
        return *rows.all(), np.concatenate([np.empty(0, dtype=np.int64), *parts])

    def deepest(self, workers: Workers) -> tuple[Longs, Floats, Longs]:
        """Return the same for the deepest contact of each shape."""
        heights, cells, _, frame = self._views

        def work(first: int, last: int) -> tuple[Longs, Floats, Longs]:
            found, *touches = self._find(first, last)
            who, row, code = (values[:found] for values in touches)
            size = int(np.count_nonzero(np.diff(who, prepend=-1)))
            places = np.empty(size, dtype=np.int64)
            ints, floats = np.empty((2, size), dtype=np.int64), np.empty((3, size, 3))
            kernels.put_deepest(
                heights, cells, frame, *self._shapes, who, row, code,
                places, ints.reshape(-1), floats.reshape(-1),
            )  # fmt: skip
            return ints, floats, self._cells_of(row[places], code[places])

        parts: list[Any] = workers.run(work, self._count, _COST, most=_PART)
        return (
            np.concatenate([np.empty((2, 0), dtype=np.int64), *(p[0] for p in parts)], axis=1),
            np.concatenate([np.empty((3, 0, 3)), *(p[1] for p in parts)], axis=1),
            np.concatenate([np.empty(0, dtype=np.int64), *(p[2] for p in parts)]),
        )

    def _find(self, first: int, last: int) -> _Touches:
        found: _Touches = find_contacts(*self._views, *self._shapes, first, last)
        if found[0] < 0:
            raise ValueError(
                f"shapes must be over at most 100 million cells, got shape {-1 - found[0]}"
            )
        return found

    def _cells_of(self, row: Longs, code: Longs) -> Longs:
        if self._cell_count is None:
            return np.empty(0, dtype=np.int64)
        out = np.empty(len(row), dtype=np.int64)
        kernels.put_nearest_cells(*self._cell_count, row, code, out)
        return out


class _Rows:
    """Arrays that parts are written to, one behind the other, before the total is known."""

    def __init__(self, shapes: int) -> None:
        self._shapes = shapes
        self._turn = threading.Condition()
        self._next = self._total = 0
        self._is_over = False
        self._pieces: list[tuple[Longs, Floats]] = []
        self._used: list[int] = []

    def take(self, first: int, last: int, count: int) -> tuple[Longs, Floats, int]:
        """Return (flat arrays, where in them) for the contacts of shapes first .. last.

        Waits until the parts before have taken theirs.
        """
        with self._turn:
            self._turn.wait_for(lambda: self._is_over or self._next == first)
            if self._is_over:
                raise CancelledError
            try:
                self._total += count
                if not self._pieces or self._used[-1] + count > self._pieces[-1][0].shape[1]:
                    left = self._total * (self._shapes - last) / last
                    room = count + int(_SPARE * left)
                    self._pieces.append(
                        (np.empty((2, room), dtype=np.int64), np.empty((3, room, 3)))
                    )
                    self._used.append(0)
                ints, floats = self._pieces[-1]
                start = self._used[-1]
                self._used[-1] += count
                return ints.reshape(-1), floats.reshape(-1), start
            finally:
                self._next = last
                self._turn.notify_all()

    def give_up(self) -> None:
        """Wake all waiting parts: an earlier part may never have started."""
        with self._turn:
            self._is_over = True
            self._turn.notify_all()

    def all(self) -> tuple[Longs, Floats]:
        """Return all contacts."""
        ints = [piece[0][:, :used] for piece, used in zip(self._pieces, self._used, strict=True)]
        floats = [piece[1][:, :used] for piece, used in zip(self._pieces, self._used, strict=True)]
        if len(ints) == 1:
            return ints[0], floats[0]
        return (
            np.concatenate([np.empty((2, 0), dtype=np.int64), *ints], axis=1),
            np.concatenate([np.empty((3, 0, 3)), *floats], axis=1),
        )
