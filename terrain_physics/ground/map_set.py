"""The height maps of a ground: which of them are united, and how edits pass between them."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.types import Bools, Float32s, Floats, Int64s
from terrain_physics._locks import Entered, NotYet, holding, in_order
from terrain_physics.heightmap.cells import Ranges, Region
from terrain_physics.heightmap.edits import equal_samples, put_samples
from terrain_physics.heightmap.storage import MapStorage
from terrain_physics.heightmap.tiled import Place, TiledMap, UnionTile
from terrain_physics.surface.watching import Reader

_T = TypeVar("_T")

# Cells by which a map may be off the lattice of another: the rounding of its origin.
_OFF_LATTICE = 1e-6

# A union may have this many times the cells of its maps; beyond, it would be mostly empty.
_MOST_EMPTY = 4.0


class Union(NamedTuple):
    """Maps as one.

    Attributes
    ----------
    numbers : tuple of int
        Of the maps, ascending.
    tiled : TiledMap
        Its tiles are in their order.
    """

    numbers: tuple[int, ...]
    tiled: TiledMap


class _Seam:
    """The samples that two maps share, seen from one of them.

    Attributes
    ----------
    other : _SetMap
        The map beside.
    here, there : (slice, slice)
        Rows and columns of the samples in this map and in the one beside.
    joins : bool
        Whether they are a stretch of a border line: not a corner, and no cells.
    overlaps : bool
        Whether the maps share cells.
    """

    __slots__ = ("_shared", "here", "joins", "other", "overlaps", "there")

    def __init__(self, other: "_SetMap", here: Ranges, there: Ranges, shared: "_Shared") -> None:
        self.other, self.here, self.there, self._shared = other, here, there, shared
        rows, columns = (span.stop - span.start - 1 for span in here)
        self.joins, self.overlaps = (rows == 0) != (columns == 0), rows > 0 and columns > 0

    def agrees(self, member: "_SetMap") -> bool:
        """Tell whether the samples are equal in both maps."""
        if member.union is self.other.union is not None:
            return True  # edits pass between them
        shared, versions = self._shared, member.storage.version + self.other.storage.version
        if shared.version != versions:
            self.keep(member)
            shared.agree = np.array_equal(
                shared.samples, self.other.storage.heights[self.there], equal_nan=True
            )
            shared.version = versions
        return shared.agree

    def changes(self, member: "_SetMap") -> tuple[Float32s, Bools]:
        """Return the samples of a map, and which differ from those when both maps agreed."""
        samples = member.storage.heights[self.here].copy()
        return samples, ~equal_samples(samples, self._shared.samples)

    def is_common(self, member: "_SetMap") -> bool:
        """Remember the present samples of a map; tell whether the other one has the same."""
        self.keep(member)
        samples, others = self._shared.samples, self.other.storage.heights[self.there]
        return bool(equal_samples(samples, others).all())

    def keep(self, member: "_SetMap") -> None:
        """Remember the present samples of a map."""
        self._shared.samples = member.storage.heights[self.here].copy()


class _Shared:
    """The samples of the two maps at a seam.

    Attributes
    ----------
    samples : ndarray of float32
        Their values when they were last compared, or agreed.
    agree : bool
        Whether they were equal in both.
    version : int
        Of both maps, when they were compared.
    """

    __slots__ = ("agree", "samples", "version")

    def __init__(self) -> None:
        self.samples: Float32s = np.empty(0, dtype=np.float32)
        self.agree, self.version = False, -1


class _SetMap:
    """A map of a ground.

    Attributes
    ----------
    number, layers : int
    storage : MapStorage
    tile : UnionTile
        The same, as a tile of a union.
    seams : dict of int to _Seam
        By the number of the other map.
    union : Union or None
        The one that it is part of; None as long as it is by itself.
    seen : int
        The latest version that unions have followed.
    shape : ndarray of float64, shape (8,)
        See `_shape_of`.
    """

    __slots__ = ("layers", "number", "seams", "seen", "shape", "storage", "tile", "union")

    def __init__(self, number: int, storage: MapStorage, layers: int) -> None:
        self.number, self.storage, self.layers = number, storage, layers
        self.tile, self.seams = UnionTile(storage), dict[int, _Seam]()
        self.union: Union | None = None
        self.seen, self.shape = storage.version, _shape_of(storage)

    def to_hand_on(self) -> list[tuple[_Seam, Float32s, Bools]]:
        """Return the seams with edited samples, the samples, and which of them are new."""
        rows, columns = self.storage.cell_count
        for row_0, row_1, column_0, column_1 in self.storage.regions_since(self.seen):
            if row_0 == 0 or column_0 == 0 or row_1 == rows or column_1 == columns:
                found = [(seam, *seam.changes(self)) for seam in self.seams_within()]
                return [each for each in found if each[2].any()]
        return []

    def seams_within(self) -> list[_Seam]:
        """Return the seams with other maps of the same union."""
        if self.union is None or len(self.union.numbers) == 1:
            return []
        return [seam for seam in self.seams.values() if seam.other.union is self.union]


class MapSet:
    """The maps of a ground by number; those that share border lines are united.

    Maps are united that are on the same layers and share a stretch of border line, samples
    included; their neighbors too, unless two of them overlap or differ where they meet. A map by
    itself is a union of one. The only map of a ground is not in a union: it keeps its border.

    Samples on a shared border line belong to all maps there. The changes of all maps are found
    first, then handed on in the order of the maps' numbers: if several maps change a sample, the
    last one wins.

    An edit holds the map's lock, and the lock of each ground that the map is in. So a thread that
    holds the lock of a ground may read its maps, and a thread that hands samples on holds the locks
    of all grounds with a map beside.

    Attributes
    ----------
    lock : context manager
        That of the ground.
    followed : context manager
        Holds it once all edits have been followed.
    reader : Reader
        It knows of edits, and makes them wait.
    unions : list of Union
        In the order of their first numbers.
    shown : int
        A count that rises whenever arrays of a map may have moved in memory.
    """

    def __init__(self, lock: AbstractContextManager[Any]) -> None:
        self.lock, self.reader = lock, Reader(lock)
        self.followed = Entered(lock, self.begin_followed)
        self.unions: list[Union] = []
        self.shown = 0
        self._broken: set[TiledMap] = set()
        self._members: dict[int, _SetMap] = {}
        self._shapes = np.empty((0, 8))

    # Maps that come and go: the caller holds the lock, and then calls `settle`

    def add(self, number: int, storage: MapStorage, layers: int) -> None:
        """Add a map that nobody edits meanwhile; its number is higher than any before."""
        storage.watchers.add(self.reader, number)
        member = _SetMap(number, storage, layers)
        others = list(self._members.values())
        for index, place in _places_near(self._shapes, member.shape):
            _join(others[index], member, place)
        self._shapes = np.vstack([self._shapes, member.shape])
        self._members[number] = member

    def remove(self, number: int) -> None:
        """Remove a map."""
        self._shapes = np.delete(self._shapes, list(self._members).index(number), axis=0)
        member = self._members.pop(number)
        self._break(member)
        member.union = None
        if self.reader.reads(number):
            member.storage.lend()
        member.storage.watchers.remove(self.reader, number)
        self.reader.changed.discard(number)
        self.reader.copied.pop(number, None)
        for seam in member.seams.values():
            del seam.other.seams[number]

    def set_layers(self, number: int, layers: int) -> None:
        """Put a map on other layers."""
        self._members[number].layers = layers
        self._break(self._members[number])

    def keep_seams(self) -> bool:
        """Take the samples at seams as they are, and hand none on: a state has been put back.

        Maps that do not have the same ones leave their unions: they were not united then. Return
        whether any map has been edited since edits were handed on.
        """
        parting, changed = set[_SetMap](), self._changed()
        for member in changed:
            for seam in member.seams_within():
                if not seam.is_common(member):
                    parting |= {member, seam.other}
        for member in parting:
            self._break(member)
            member.union = None
        return bool(changed)

    @property
    def is_broken(self) -> bool:
        """Whether maps have left unions since the last `settle`."""
        return bool(self._broken)

    def _break(self, member: _SetMap) -> None:
        """Note that a map leaves its union."""
        if member.union is not None:
            self._broken.add(member.union.tiled)

    def settle(self) -> None:
        """Unite the maps that belong together now."""
        groups = [] if len(self._members) == 1 else self._groups()
        found = [union for group in groups for union in self._united(group)]
        for member in self._members.values():
            member.union = None
        for union in found:
            for number in union.numbers:
                self._members[number].union = union
        self.unions = sorted(found, key=lambda union: union.numbers[0])
        self._broken.clear()
        self.shown += 1

    def _groups(self) -> list[list[_SetMap]]:
        """Return the groups of maps that seams join, directly or through other maps."""
        left, groups = self._members.copy(), []
        kept = {union.tiled for union in self.unions} - self._broken
        while left:
            group = [left.pop(next(iter(left)))]
            for member in group:  # grows while it is walked
                if member.union is not None and member.union.tiled in kept:
                    kept.remove(member.union.tiled)
                    group += [left.pop(own) for own in member.union.numbers if own in left]
                for number, seam in member.seams.items():
                    if (
                        number in left
                        and seam.joins
                        and seam.other.layers == member.layers
                        and seam.agrees(member)
                    ):
                        group.append(left.pop(number))
            groups.append(sorted(group, key=lambda member: member.number))
        return groups

    def _united(self, group: list[_SetMap]) -> list[Union]:
        """Return the maps of a group as one union, or each by itself."""
        known = group[0].union
        if known is not None and known.numbers == tuple(member.number for member in group):
            return [known]
        places = _places_of(group)
        before = self._largest_in(group)
        if places is not None and (len(group) == 1 or _is_worth_it(group, places, before)):
            return [self._union_of(group, places, before)]
        return [union for member in group for union in self._united([member])]

    def _largest_in(self, group: list[_SetMap]) -> Union | None:
        """Return the former union that has the most maps in a group."""
        unions = {own.union.tiled: own.union for own in group if own.union is not None}
        counts = Counter(own.union.tiled for own in group if own.union is not None)
        return unions[max(counts, key=counts.__getitem__)] if counts else None

    def _union_of(self, group: list[_SetMap], places: Int64s, before: Union | None) -> Union:
        corner = places[:, :2].min(axis=0)
        at_corner = np.flatnonzero((places[:, :2] == corner).all(axis=1)).tolist()
        first = group[0].storage
        (x0, y0, z0), (cell_x, cell_z) = first.origin, first.cell_size
        row, column = corner.tolist()
        origin = x0 + column * cell_x, y0, z0 + row * cell_z
        if at_corner:  # the origin of the map there, without rounding
            origin = group[at_corner[0]].storage.origin
        places[:, :2] -= corner
        tiled = TiledMap(
            [member.tile for member in group], places, origin, self.followed, self.reader,
            None if before is None else before.tiled,
        )  # fmt: skip
        return Union(tuple(member.number for member in group), tiled)

    # Edits

    def locks(self) -> list[AbstractContextManager[Any]]:
        """Return the locks that an edit of all maps holds, in order."""
        return self._locks_of(list(self._members.values()))  # others may add some

    def _locks_of(self, members: Iterable[_SetMap]) -> list[AbstractContextManager[Any]]:
        locks = {lock for member in members for lock in member.storage.locks}
        return in_order(locks | {self.lock})

    def _locks_around(self, members: list[_SetMap]) -> list[AbstractContextManager[Any]]:
        """Return the locks that an edit of maps and of their neighbors holds, in order."""
        beside = {seam.other for own in members for seam in list(own.seams.values())}
        return self._locks_of(beside.union(members))

    def _locks_with(self, coming: Sequence[MapStorage]) -> list[AbstractContextManager[Any]]:
        """Return the lock, and the locks that edits of the coming maps hold, in order."""
        return in_order({self.lock, *(lock for storage in coming for lock in storage.locks)})

    def follow(self) -> None:
        """Hand on edits of samples on border lines, and let unions follow their maps."""
        with self.followed:
            pass

    def changing(self, coming: Sequence[MapStorage], change: Callable[[], _T]) -> _T:
        """Make a change while nobody edits the coming maps, once edits have been followed."""

        def followed() -> _T:
            self.begin_followed()
            return change()

        while True:
            try:
                return holding(partial(self._locks_with, coming), followed)
            except NotYet as error:
                first = error.first
            first()

    def begin_followed(self) -> None:
        """Let unions follow their maps; `NotYet` if some have samples to hand on.

        The caller holds the lock.
        """
        if self.reader.changed:
            changed = self._changed()
            differing = [member for member in changed if member.seams and member.to_hand_on()]
            if differing:
                raise NotYet(partial(self._hand_on, differing))
            self._take_over(changed)

    def _hand_on(self, members: list[_SetMap]) -> None:
        """Give the neighbors the samples that some maps have changed; the last map wins."""
        holding(partial(self._locks_around, members), partial(self._hand_on_held, members))

    def _hand_on_held(self, members: list[_SetMap]) -> None:
        found = [(member, *each) for member in members for each in member.to_hand_on()]
        for member, seam, samples, is_new in found:
            put_samples(member.storage, seam.here, samples, is_new)  # an earlier map may differ
            put_samples(seam.other.storage, seam.there, samples, is_new)
        for member, seam, _, _ in found:  # all maps at the seam agree now
            for own, place in ((member, seam.here), (seam.other, seam.there)):
                for beside in own.seams_within():
                    if all(map(_have_common, beside.here, place)):
                        beside.keep(own)

    def _changed(self) -> list[_SetMap]:
        """Return the maps that have been edited, in the order of their numbers."""
        numbers, members = sorted(self.reader.changed), self._members
        known = [members[number] for number in numbers if number in members]
        if len(known) < len(numbers):  # another thread may report a map that has gone
            self.reader.changed.difference_update(set(numbers).difference(members))
        return known

    def _take_over(self, changed: list[_SetMap]) -> None:
        """Let unions follow edits of their maps. The caller holds the lock."""
        edits: dict[int, list[tuple[int, list[Region]]]] = {}
        changed_unions: dict[int, TiledMap] = {}
        seen = []
        try:
            for member in changed:
                self.reader.changed.discard(member.number)
                version = member.storage.version  # or later, then it is told again
                seen.append((member, version))
                if member.union is not None:
                    numbers, tiled = member.union
                    regions = member.storage.regions_since(member.seen)
                    changed_unions[numbers[0]] = tiled
                    edits.setdefault(numbers[0], []).append((numbers.index(member.number), regions))
            for first, tiled in changed_unions.items():
                tiled.follow(edits[first])
            for member, version in seen:
                member.seen = version
        except BaseException:  # such as Ctrl-C: the next one to ask follows
            self.reader.changed.update(member.number for member in changed)
            raise
        self.shown += bool(changed)


def _have_common(one: slice, other: slice) -> bool:
    """Tell whether two ranges have a place in common."""
    return bool(one.start < other.stop and other.start < one.stop)


def _shape_of(storage: MapStorage) -> Floats:
    """Return the numbers of a map's place: origin, cell size, scale, rows and columns."""
    return np.array(
        (*storage.origin, *storage.cell_size, storage.height_scale, *storage.cell_count)
    )


def _cells_between(shapes: Floats, shape: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return the (row, column) of maps (n, 8) on the lattice of another, and which fit it."""
    fits = (shapes[:, 1] == shape[1]) & (shapes[:, 3:6] == shape[3:6]).all(axis=1)
    with np.errstate(over="ignore", invalid="ignore"):  # a map that is so far off does not fit
        column, row = ((shapes[:, k] - shape[k]) / shape[3 + k // 2] for k in (0, 2))
        near = np.maximum(abs(column - np.round(column)), abs(row - np.round(row)))
    return np.round(row), np.round(column), fits & (near <= _OFF_LATTICE)


def _places_near(shapes: Floats, shape: Floats) -> list[tuple[int, Place]]:
    """Return which maps (n, 8) share samples with another, and where they lie on its lattice."""
    row, column, fits = _cells_between(shapes, shape)
    rows, columns = shapes[:, 6], shapes[:, 7]
    fits &= (row <= shape[6]) & (row + rows >= 0) & (column <= shape[7]) & (column + columns >= 0)
    numbers = np.flatnonzero(fits)
    places = np.column_stack([row, column, rows, columns])[numbers].astype(np.int64)
    return [
        (index, Place(*place))
        for index, place in zip(numbers.tolist(), places.tolist(), strict=True)
    ]


def _join(one: _SetMap, other: _SetMap, place: Place) -> None:
    """Make the seam of two maps; ``place`` is where the first is on the lattice of the other."""
    own = Place(0, 0, *other.storage.cell_count)
    samples = own.shared(place)
    if samples is not None:
        shared = _Shared()
        here, there = samples.within(place), samples.within(own)
        one.seams[other.number] = _Seam(other, here, there, shared)
        other.seams[one.number] = _Seam(one, there, here, shared)


def _places_of(group: list[_SetMap]) -> Int64s | None:
    """Return where maps (n, 4) lie on the lattice of the first; None if one does not fit it."""
    shapes = np.array([member.shape for member in group])
    row, column, fits = _cells_between(shapes, shapes[0])
    if not fits.all():
        return None
    return np.column_stack([row, column, shapes[:, 6:]]).astype(np.int64)


def _is_worth_it(group: list[_SetMap], places: Int64s, before: Union | None) -> bool:
    """Tell whether a union is not mostly empty, and its maps neither overlap nor disagree.

    Maps that were united ``before`` do not.
    """
    rows, columns = np.ptp(np.vstack([places[:, :2], places[:, :2] + places[:, 2:]]), axis=0)
    if float(rows) * float(columns) > _MOST_EMPTY * float((places[:, 2] * places[:, 3]).sum()):
        return False
    numbers = {member.number for member in group}
    # Neighbors of neighbors may be a cliff apart, or differ where corners meet.
    return not any(
        number in numbers and (seam.overlaps or not seam.agrees(member))
        for member in group
        if before is None or member.union is not before
        for number, seam in member.seams.items()
    )
