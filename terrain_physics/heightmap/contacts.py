"""Contacts of many shapes, found and written part by part, by one thread or several.

A part's touches are listed and written at once, while the list is still in a near cache.
"""

import threading
from itertools import chain

import numpy as np

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.heightmap.batch_contacts import contact_rows as kernels
from terrain_physics._kernels.heightmap.batch_contacts.find_contacts import (
    NO_ROW,
    Place,
    find_contacts,
)
from terrain_physics._kernels.types import Floats, Int64s
from terrain_physics._locks import plain_lock
from terrain_physics._support import checks
from terrain_physics._support.threads import Workers
from terrain_physics.surface.contact_room import ContactRoom
from terrain_physics.surface.ground_arrays import MapArrays
from terrain_physics.surface.shapes import for_kernels

_COST = 250  # nanoseconds that a ball takes on one thread, roughly; others take longer
_PART = 2048  # shapes: the list of touches of more of them would leave the cache

# The contacts to come are estimated from the parts so far, times this. Memory that is not written
# to costs nothing.
_SPARE = 1.1

# How many touches, which shape, row, code, where to resume: see `find_contacts`.
_Touches = tuple[int, Int64s, Int64s, Int64s, Place]

_FIND = CachedDispatch(find_contacts)
_PUT_DEEPEST = CachedDispatch(kernels.put_deepest)


class ContactQuery:
    """Shapes of one kind, one row each, and the arrays of a map."""

    def __init__(
        self, views: MapArrays, kind: int, bodies: Floats, cell_count: tuple[int, int] | None
    ) -> None:
        self._views, self._count, self._cell_count = views, len(bodies), cell_count
        self._shapes = kind, for_kernels(bodies)

    def counts(self, workers: Workers) -> Int64s:
        """Return how many triangles each shape touches."""
        counts = np.zeros(self._count, dtype=np.int64)

        def count(first: int, last: int) -> None:
            place = (first, NO_ROW, 0)
            while place[0] < last:
                found, shape, _, _, place = self._find(place, last)
                counts[first:last] += np.bincount(shape[:found] - first, minlength=last - first)

        workers.run(count, self._count, _COST, most=_PART)
        return counts

    def contacts(
        self, workers: Workers, most: int, room: ContactRoom
    ) -> tuple[Int64s, Floats, Int64s]:
        """Return (queries and triangles, penetrations, normals and points, cells): see `Contacts`.

        Cells are row * columns + column of the map's nearest cell; none if not asked for. More than
        ``most`` contacts are refused. Contacts are written to ``room``.
        """
        heights, cells, _, frame = self._views
        rows = _ShapeRows(self._count, most, room)

        def work(first: int, last: int) -> list[Int64s]:
            place, nearest = (first, NO_ROW, 0), []
            try:
                while place[0] < last:
                    found, shape, row, code, place = self._find(place, last)
                    ints, floats, start = rows.take(first, place[0], last, found)
                    kernels.put_contacts(
                        heights, cells, frame, *self._shapes, shape, row, code,
                        ints, floats, start, found,
                    )  # fmt: skip
                    nearest.append(self._cells_of(row[:found], code[:found]))
            finally:
                rows.leave(first, last)
            return nearest

        parts = workers.run(work, self._count, _COST, most=_PART, give_up=rows.give_up)
        return *rows.all(), np.concatenate([np.empty(0, dtype=np.int64), *chain(*parts)])

    def deepest(
        self, workers: Workers, most: int, room: ContactRoom
    ) -> tuple[Int64s, Floats, Int64s]:
        """Return the same for the deepest contact of each shape."""

        def work(first: int, last: int) -> list[tuple[Int64s, Floats, Int64s]]:
            place, pieces, carried = (first, NO_ROW, 0), [], None
            while place[0] < last:
                found, *lists, place = self._find(place, last)
                touches = [values[:found] for values in lists]
                if carried is not None:
                    touches = [np.concatenate(pair) for pair in zip(carried, touches, strict=True)]
                piece, places = self._deepest_of(touches)
                carried = None
                if place[1] != NO_ROW and len(places) and piece[0][0, -1] == place[0]:
                    # The search resumes within this shape, and may find a deeper contact.
                    carried = [values[places[-1:]] for values in touches]
                    piece = piece[0][:, :-1], piece[1][:, :-1], piece[2][:-1]
                pieces.append(piece)
            return pieces

        room.reserve(self._count)  # at most one for each shape
        ints, floats = room.first(self._count)
        cells = np.empty(0 if self._cell_count is None else self._count, np.int64)
        total = 0
        for piece in chain.from_iterable(workers.each(work, self._count, _COST, most=_PART)):
            some = slice(total, total + len(piece[0][0]))
            ints[:, some], floats[:, some] = piece[0], piece[1]
            if self._cell_count is not None:
                cells[some] = piece[2]
            total = some.stop
            checks.refuse_more("contacts", total, most)
        return *room.first(total), cells[:total]

    def _deepest_of(self, touches: list[Int64s]) -> tuple[tuple[Int64s, Floats, Int64s], Int64s]:
        """Return the deepest contact of each shape in a list, and where in the list they are."""
        heights, cells, _, frame = self._views
        shape, row, code = touches
        size = min(len(shape), _PART)  # memory that is not written to costs nothing
        places = np.empty(size, dtype=np.int64)
        ints, floats = np.empty((2, size), dtype=np.int64), np.empty((3, size, 3))
        found = _PUT_DEEPEST.call(
            heights, cells, frame, *self._shapes, shape, row, code,
            places, ints.reshape(-1), floats.reshape(-1),
        )  # fmt: skip
        places = places[:found]
        cells_of = self._cells_of(row[places], code[places])
        return (ints[:, :found], floats[:, :found], cells_of), places

    def _find(self, place: Place, last: int) -> _Touches:
        """Return the next touches from a place on, and where to resume; see `find_contacts`."""
        found: _Touches = _FIND.call(*self._views, *self._shapes, *place, last)
        if found[0] < 0:
            raise ValueError(
                f"shapes must be over at most 100 million cells, got shape {-1 - found[0]}"
            )
        return found

    def _cells_of(self, row: Int64s, code: Int64s) -> Int64s:
        if self._cell_count is None:
            return np.empty(0, dtype=np.int64)
        out = np.empty(len(row), dtype=np.int64)
        kernels.put_nearest_cells(*self._cell_count, row, code, out)
        return out


class _GivenUpError(Exception):
    """The call has ended: another thread has failed, and tells why."""


class _ShapeRows:
    """Arrays for the contacts of parts, one behind the other, before the total is known.

    The caller's room is the first of them.
    """

    def __init__(self, shapes: int, most: int, room: ContactRoom) -> None:
        self._shapes, self._most, self._room = shapes, most, room
        self._lock = plain_lock()
        self._turn = threading.Condition(self._lock)
        self._next = self._total = 0
        self._is_over = False
        self._pieces = [(room.ints, room.floats)]
        self._used = [0]

    def take(self, first: int, done: int, last: int, count: int) -> tuple[Int64s, Floats, int]:
        """Return (flat arrays, the place in them) for some contacts of the part first .. last.

        They are the part's last ones if ``done`` is ``last``. Waits until the parts before have
        taken all of theirs.
        """
        with self._lock:
            self._turn.wait_for(lambda: self._is_over or self._next == first)
            if self._is_over:
                raise _GivenUpError
            try:
                self._total += count
                if self._total > self._most:
                    raise checks.too_many("contacts", self._most)
                if self._used[-1] + count > self._pieces[-1][0].shape[1]:
                    room = count
                    if done < self._shapes:
                        left = self._total * (self._shapes - done) / max(done, 1)
                        room += min(int(_SPARE * left), self._most - self._total)
                    self._pieces.append(
                        (np.empty((2, room), dtype=np.int64), np.empty((3, room, 3)))
                    )
                    self._used.append(0)
                ints, floats = self._pieces[-1]
                start = self._used[-1]
                self._used[-1] += count
                return ints.reshape(-1), floats.reshape(-1), start
            finally:
                if done == last:
                    self._next = last
                self._turn.notify_all()

    def leave(self, first: int, last: int) -> None:
        """Let the parts behind continue: they wait for this one, even if it fails."""
        if self._next < last:
            with self._lock:
                self._turn.wait_for(lambda: self._is_over or self._next >= first)
                self._next = max(self._next, last)
                self._turn.notify_all()

    def give_up(self) -> None:
        """Wake all waiting parts: an earlier part may never have started."""
        with self._lock:
            self._is_over = True
            self._turn.notify_all()

    def all(self) -> tuple[Int64s, Floats]:
        """Return all contacts, which are in the room now."""
        pieces = [
            (ints[:, :used], floats[:, :used])
            for (ints, floats), used in zip(self._pieces, self._used, strict=True)
            if used
        ]
        room = self._room
        if len(pieces) < 2:
            room.ints, room.floats = self._pieces[-1]
            return room.first(self._used[-1])
        room.reserve(self._total)
        all_ints, all_floats = room.first(self._total)
        np.concatenate([ints for ints, _ in pieces], axis=1, out=all_ints)
        np.concatenate([floats for _, floats in pieces], axis=1, out=all_floats)
        return all_ints, all_floats
