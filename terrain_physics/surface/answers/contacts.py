"""Contacts of shapes with a ground: of one by a single kernel, of many map by map and joined.

Maps are asked by stages, part by part, by one thread or several: a part's touches are listed and
written at once, while the list is still in a near cache. What may touch sides or undersides of
maps, or is in one and to be led out of it, is asked shape by shape.
"""

import threading
from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.ground import contact_rows as kernels
from terrain_physics._kernels.ground import contacts as one_by_one
from terrain_physics._kernels.ground.beside import put_beside
from terrain_physics._kernels.ground.owners import MESH
from terrain_physics._kernels.ground.rows import put_rows
from terrain_physics._kernels.heightmap.batch_contacts.find_contacts import NO_ROW, Place
from terrain_physics._kernels.heightmap.one_shape import contacts_of_shape, contacts_of_sphere
from terrain_physics._kernels.mesh.contacts import (
    ALL,
    DEEPEST,
    NUMBER,
    list_contacts,
    put_contacts,
)
from terrain_physics._kernels.mesh.parts import ID_BITS, put_materials
from terrain_physics._kernels.mesh.queries import along_a_curve
from terrain_physics._kernels.surface.ground_arrays import MAP_LAYERS, MAP_NUMBER, MAP_NUMBERS
from terrain_physics._kernels.surface.shapes import SPHERE
from terrain_physics._kernels.types import Bytes, Floats, Int64s, read_only
from terrain_physics._locks import plain_lock
from terrain_physics._support import checks
from terrain_physics._support.threads import Workers
from terrain_physics.surface.contact_buffer import ContactRoom
from terrain_physics.surface.ground_arrays import GroundArrays
from terrain_physics.surface.results import Contacts
from terrain_physics.surface.shapes import for_kernels

# Nanoseconds that a ball takes on one thread, roughly; others take longer.
_COST, _MESH_COST, _WRITING_COST = 250, 2_000, 250_000
_PART = 2048  # shapes: the list of touches of more of them would leave the cache

# The contacts to come are estimated from the parts so far, times this. Memory that is not written
# to costs nothing.
_SPARE = 1.1

# Parts have lower numbers than 2 to this, and there is no memory for 2^40 queries.
PART_BITS = 63 - ID_BITS

# How many touches, which shape, row, code, where to resume: see `find_contacts`.
_Touches = tuple[int, Int64s, Int64s, Int64s, Place]

_ONE, _ALONE = (
    CachedDispatch(one_by_one.contacts_with_ground),
    CachedDispatch(one_by_one.contacts_of_rows),
)
_ONE_SPHERE, _ONE_SHAPE = CachedDispatch(contacts_of_sphere), CachedDispatch(contacts_of_shape)
_BESIDE, _BURIED = CachedDispatch(put_beside), CachedDispatch(one_by_one.put_buried)
_FIND, _PUT = CachedDispatch(kernels.find_on_map), CachedDispatch(kernels.put_on_map)
_PUT_DEEPEST, _PUT_CELLS, _PUT_OWNERS = (
    CachedDispatch(kernels.put_deepest_on_map),
    CachedDispatch(kernels.put_cells_on_map),
    CachedDispatch(kernels.put_owners_on_map),
)
_LIST, _PUT_LISTED = CachedDispatch(list_contacts), CachedDispatch(put_contacts)


def few_contacts_in(
    arrays: GroundArrays,
    mask: int,
    kind: int,
    row: Sequence[float],
    keep: str,
) -> Contacts | None:
    """Return the contacts of a shape with arrays that nobody edits, see `Queries.few_contacts`."""
    shape = np.array(row)
    shape.setflags(write=False)
    deepest = keep == "deepest"
    ints, floats = _ONE.call(arrays.table, mask, kind, shape, deepest)
    return Contacts(ints, floats, materials_of(arrays, ints)) if len(ints) else None


def contacts_of_surface(
    storage: Any, kind: int, row: Sequence[float], keep: str
) -> Contacts | None:
    """Return the contacts of a shape over few cells of a surface; None: over too many."""
    deepest, shape = keep == "deepest", None if kind == SPHERE else for_kernels(np.array(row))
    with storage.lock:
        heights, cells, _, frame = storage.views
        if shape is None:
            x, y, z, radius = row
            ints, floats = _ONE_SPHERE.call(heights, cells, frame, x, y, z, radius, deepest)
        else:
            ints, floats = _ONE_SHAPE.call(heights, cells, frame, kind, shape, deepest)
        if ints.size == 3 and ints[0, 0] < 0:
            return None
        made_of = None if storage.materials is None else storage.materials.take(ints[2])
    return Contacts(ints, floats, made_of)


def materials_of(arrays: GroundArrays, ints: Int64s) -> Bytes | None:
    """Return the materials of contacts as the kernel for one shape gives them; None: all are 0."""
    if arrays.is_of_one_kind:
        return None
    materials, rows = None, ints[one_by_one.MAP_ROW]
    places = set(rows.tolist())
    for place in places:
        here = slice(None) if len(places) == 1 else rows == place
        cells = ints[one_by_one.CELL][here]
        if place == MESH:
            made = cells.astype(np.uint8) if any(cells.tolist()) else None
        else:
            painted = arrays.made_of[place]
            made = painted and painted.of(ints[one_by_one.TRIANGLE][here], cells)
        if made is not None:
            materials = np.zeros(len(rows), np.uint8) if materials is None else materials
            materials[here] = made
    return materials


def many_contacts(
    arrays: GroundArrays,
    mask: int,
    kind: int,
    rows: Floats,
    threads: int | None,
    keep: str,
    most: int,
    room: ContactRoom,
) -> Contacts:
    """Return all contacts of rows, or the deepest of each, written to ``room``."""
    shapes = _ContactRows(arrays, mask, kind, rows, Workers(threads))
    return shapes.contacts(keep, most, room)


def many_contact_counts(
    arrays: GroundArrays,
    mask: int,
    kind: int,
    rows: Floats,
    threads: int | None,
) -> Int64s:
    """Return how many triangles each row touches."""
    return _ContactRows(arrays, mask, kind, rows, Workers(threads)).counts()


class _Answer(NamedTuple):
    """Contacts with one of several members, ordered by shape.

    Attributes
    ----------
    contacts : Contacts
    parts : ndarray of int64, shape (n,)
        The parts that own the triangles.
    """

    contacts: Contacts
    parts: Int64s


class _ContactRows:
    """Many shapes of one kind, one row each, and the arrays of a ground that stay as they are."""

    def __init__(
        self,
        arrays: GroundArrays,
        mask: int,
        kind: int,
        rows: Floats,
        workers: Workers,
    ) -> None:
        self._arrays, self._mask, self._workers = arrays, mask, workers
        self._kind, self._all, self._count = kind, for_kernels(rows), len(rows)
        self._maps = np.flatnonzero(arrays.maps[:, MAP_LAYERS] & mask).tolist()
        self._beside, alone = np.zeros(self._count, np.uint8), np.empty(0, np.int64)
        if _BESIDE.call(arrays.table, mask, kind, self._all, self._beside):
            alone = np.flatnonzero(self._beside)
        self._alone, self._plain = alone, np.arange(self._count)
        if len(alone):
            self._plain = np.delete(self._plain, alone)
            (rows,) = read_only(rows[self._plain])
        self._rows, self._shapes = rows, for_kernels(rows)

    def counts(self) -> Int64s:
        """Return how many triangles each shape touches."""
        own = np.zeros(len(self._rows), np.int64)
        for row in self._maps:
            own += self._on_map(row).counts(self._workers)
        if self._arrays.has_meshes:
            listed = np.empty(len(own), np.int64)
            self._list(NUMBER, self._visits(), listed, 0)
            own += listed
        if not len(self._alone):
            return own
        counts = np.zeros(self._count, np.int64)
        counts[self._plain] = own
        for ints, _ in self._one_by_one(self._alone, one_by_one.NO_END, deepest=False):
            counts += np.bincount(ints[one_by_one.QUERY], minlength=self._count)
        return counts

    def contacts(self, keep: str, most: int, room: ContactRoom) -> Contacts:
        """Return all contacts, or the deepest of each shape, written to ``room``."""
        members, deepest = [*self._maps, *([MESH] * self._arrays.has_meshes)], keep == "deepest"
        if len(members) == 1 and not len(self._alone) and self._is_in_order(members[0]):
            return self._with(members[0], most, room, deepest=deepest).contacts
        answers = [self._with(own, most, ContactRoom(), deepest=deepest) for own in members]
        alone = self._alone
        if deepest and len(members) > 1:
            buried = self._buried(answers)
            answers = [_without(own, buried) for own in answers]
            alone = np.concatenate([alone, buried])
        for ints, floats in self._one_by_one(alone, most, deepest=deepest):
            made = materials_of(self._arrays, ints)
            answers.append(_Answer(Contacts(ints, floats, made), ints[one_by_one.PART]))
        checks.refuse_more("contacts", sum(len(own.contacts) for own in answers), most)
        return _joined(answers, room, deepest=deepest)

    def _is_in_order(self, member: int) -> bool:
        """Tell whether the order of triangles is that of their parts; at a seam it is not."""
        return member == MESH or bool(self._arrays.maps[member, MAP_NUMBERS + 1] == 1)

    def _with(self, member: int, most: int, room: ContactRoom, *, deepest: bool) -> _Answer:
        """Return the contacts of plain shapes with the surface of a map, or with all meshes."""
        if member == MESH:
            return self._with_meshes(most, room, deepest=deepest)
        query, arrays = self._on_map(member), self._arrays
        ask = query.deepest if deepest else query.contacts
        ints, floats, cells = ask(self._workers, most, room)
        made, parts = arrays.made_of[member], np.zeros(ints.shape[1], np.int64)
        if arrays.maps[member, MAP_NUMBER] or not self._is_in_order(member):
            _PUT_OWNERS.call(arrays.table, member, ints[1], parts)
        self._name(ints)
        materials = None if made is None else made.of(ints[1], cells)
        return _Answer(Contacts(ints, floats, materials), parts)

    def _name(self, ints: Int64s) -> None:
        """Write the numbers of shapes over their places among the plain ones."""
        if len(self._alone):
            np.take(self._plain, ints[0], out=ints[0])

    def _on_map(self, row: int) -> "ContactQuery":
        return ContactQuery(self._arrays, row, self._kind, self._shapes, self._plain)

    # Meshes

    def _with_meshes(self, most: int, room: ContactRoom, *, deepest: bool) -> _Answer:
        visits, counts = self._visits(), np.empty(len(self._rows), np.int64)
        lists = self._list(DEEPEST if deepest else ALL, visits, counts, most)
        ends = np.cumsum(counts)
        total = int(counts.sum())
        checks.refuse_more("contacts", total, most)
        room.reserve(total)

        def put(first: int, last: int) -> None:
            for begin, end, keys, found in lists[first:last]:
                _PUT_LISTED.call(
                    visits, begin, end, keys, found, ends, counts, room.ints, room.floats
                )

        self._workers.run(put, len(lists), _WRITING_COST)
        ints, floats = room.first(total)
        self._name(ints)
        materials = np.empty(total, np.uint8)
        put_materials(self._arrays.meshes, ints[1], materials)
        return _Answer(Contacts(ints, floats, materials), ints[1] >> ID_BITS)

    def _visits(self) -> Int64s:
        """Return an order of the shapes: near ones follow each other."""
        visits = along_a_curve(self._rows[:, :3])
        visits.setflags(write=False)  # kernels know one type only
        return visits

    def _list(
        self, kept: int, visits: Int64s, counts: Int64s, most: int
    ) -> list[tuple[int, int, Int64s, Floats]]:
        """Return contacts in the ranges that the threads worked on, and write their counts.

        Each is the first and last visit, keys and rows, see `list_contacts`.
        """
        so_far = np.zeros(1, np.int64)

        def find(first: int, last: int) -> tuple[int, int, Int64s, Floats]:
            keys, found = _LIST.call(
                self._arrays.meshes, self._mask, self._kind, self._shapes, visits, first, last,
                kept, counts, most, so_far,
            )  # fmt: skip
            if not len(keys):  # there was no more room
                raise checks.too_many("contacts", most)
            return first, last, keys, found

        return self._workers.run(find, len(visits), _MESH_COST)

    # One by one

    def _one_by_one(self, rows: Int64s, most: int, *, deepest: bool) -> list[tuple[Int64s, Floats]]:
        """Return the contacts of some shapes, found by the kernel for one shape."""
        rows.setflags(write=False)

        def find(first: int, last: int) -> tuple[Int64s, Floats]:
            count, ints, floats = _ALONE.call(
                self._arrays.table, self._mask, self._kind, self._all, rows, self._beside,
                first, last, deepest, most,
            )  # fmt: skip
            if count < 0:
                raise _too_large(-1 - count)
            return ints[:, :count], floats[:, :count]

        return self._workers.run(find, len(rows), _MESH_COST)

    def _buried(self, answers: Sequence[_Answer]) -> Int64s:
        """Return the shapes that are led down, with a center in a map.

        A map knows whether a center is in it, but each member has to know whether one is in
        another.
        """
        down = [own.contacts.query[~(own.contacts.normal[:, 1] > 0.0)] for own in answers]
        (rows,) = read_only(np.unique(np.concatenate(down)))
        are_buried = np.empty(len(rows), np.uint8)
        _BURIED.call(self._arrays.table, self._mask, self._kind, self._all, rows, are_buried)
        buried: Int64s = rows[are_buried != 0]
        return buried


def _without(answer: _Answer, rows: Int64s) -> _Answer:
    """Return an answer without the contacts of some shapes."""
    if not len(rows):
        return answer
    own, kept = answer.contacts, ~np.isin(answer.contacts.query, rows)
    ints = np.stack([own.query[kept], own.triangle[kept]])
    floats = np.stack([own.penetration[kept], own.normal[kept], own.point[kept]])
    return _Answer(Contacts(ints, floats, own.material[kept]), answer.parts[kept])


def _joined(answers: Sequence[_Answer], room: ContactRoom, *, deepest: bool) -> Contacts:
    """Return contacts by shape, part and the part's own order; or only the deepest of each shape.

    They are written to ``room``, where none of the answers is.
    """
    found = [own for own in answers if len(own.contacts)]
    if not found:
        return Contacts(*room.first(0))
    queries = np.concatenate([own.contacts.query for own in found])
    keys = queries << PART_BITS | np.concatenate([own.parts for own in found])
    if len(found) == 1 and (keys[1:] >= keys[:-1]).all():
        return found[0].contacts
    order = np.argsort(keys, kind="stable")  # ascending stretches, which it finds and merges
    if deepest:
        depths = np.concatenate([own.contacts.depth for own in found])[order]
        order = order[_first_deepest(queries[order], depths)]
    room.reserve(len(order))
    ints, floats = room.first(len(order))
    np.take(queries, order, out=ints[0])
    np.take(np.concatenate([own.contacts.triangle for own in found]), order, out=ints[1])
    places, start = np.full(len(keys), -1), 0
    places[order] = np.arange(len(order))
    for own in (each.contacts for each in found):
        here = places[start : start + len(own)]
        put_rows(here, own.penetration, floats[0])
        put_rows(here, own.normal, floats[1])
        put_rows(here, own.point, floats[2])
        start += len(own)
    return Contacts(ints, floats, np.concatenate([own.contacts.material for own in found])[order])


def _first_deepest(queries: Int64s, depths: Floats) -> Int64s:
    """Return the place of the first greatest depth of each query; queries are sorted, n >= 1."""
    is_new = np.ones(len(queries), dtype=np.bool_)
    is_new[1:] = queries[1:] != queries[:-1]
    greatest = np.maximum.reduceat(depths, np.flatnonzero(is_new))
    deep = np.flatnonzero(depths == greatest[np.cumsum(is_new) - 1])
    is_first = np.ones(len(deep), dtype=np.bool_)
    is_first[1:] = queries[deep[1:]] != queries[deep[:-1]]
    first: Int64s = deep[is_first]
    return first


def _too_large(shape: int) -> ValueError:
    return ValueError(f"shapes must be over at most 100 million cells, got shape {shape}")


class ContactQuery:
    """Shapes of one kind, and the surface of one of the maps of a ground."""

    def __init__(
        self, arrays: GroundArrays, row: int, kind: int, shapes: Floats, names: Int64s
    ) -> None:
        """Take over shapes in flat rows; ``names`` (n,) are their numbers for an error."""
        self._map, self._shapes, self._names = (arrays.table, row), (kind, shapes), names
        self._count, self._has_cells = len(names), arrays.made_of[row] is not None

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
        rows = _ShapeRows(self._count, most, room)

        def work(first: int, last: int) -> list[Int64s]:
            place, nearest = (first, NO_ROW, 0), []
            try:
                while place[0] < last:
                    found, shape, row, code, place = self._find(place, last)
                    ints, floats, start = rows.take(first, place[0], last, found)
                    _PUT.call(
                        *self._map, *self._shapes, shape, row, code, ints, floats, start, found
                    )
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
        cells = np.empty(self._count if self._has_cells else 0, np.int64)
        total = 0
        for piece in chain.from_iterable(workers.each(work, self._count, _COST, most=_PART)):
            some = slice(total, total + len(piece[0][0]))
            ints[:, some], floats[:, some] = piece[0], piece[1]
            if self._has_cells:
                cells[some] = piece[2]
            total = some.stop
            checks.refuse_more("contacts", total, most)
        return *room.first(total), cells[:total]

    def _deepest_of(self, touches: list[Int64s]) -> tuple[tuple[Int64s, Floats, Int64s], Int64s]:
        """Return the deepest contact of each shape in a list, and where in the list they are."""
        shape, row, code = touches
        size = min(len(shape), _PART)  # memory that is not written to costs nothing
        places = np.empty(size, dtype=np.int64)
        ints, floats = np.empty((2, size), dtype=np.int64), np.empty((3, size, 3))
        found = _PUT_DEEPEST.call(
            *self._map, *self._shapes, shape, row, code,
            places, ints.reshape(-1), floats.reshape(-1),
        )  # fmt: skip
        places = places[:found]
        cells = self._cells_of(row[places], code[places]) if self._has_cells else places
        return (ints[:, :found], floats[:, :found], cells), places

    def _find(self, place: Place, last: int) -> _Touches:
        """Return the next touches from a place on, and where to resume; see `find_contacts`."""
        found: _Touches = _FIND.call(*self._map, *self._shapes, place, last)
        if found[0] < 0:
            raise _too_large(int(self._names[-1 - found[0]]))
        return found

    def _cells_of(self, row: Int64s, code: Int64s) -> Int64s:
        if not self._has_cells:
            return np.empty(0, dtype=np.int64)
        out = np.empty(len(row), dtype=np.int64)
        _PUT_CELLS.call(*self._map, row, code, out)
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
