"""The meshes of a ground in one table, which follows them as they come, go and are refitted."""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.ground.movers import MOST_COUNTED
from terrain_physics._kernels.ground.moves import find_parts, move_parts
from terrain_physics._kernels.mesh.places import POSE_SIZE
from terrain_physics._kernels.surface.changes import CHANGE_SIZE, CHANGE_VERSION
from terrain_physics._kernels.surface.ground_arrays import MOVER_SIZE, REACH_SIZE
from terrain_physics._kernels.types import Bytes, Floats, Int64s
from terrain_physics._locks import LongCalls, Mark, Rank, new_lock
from terrain_physics._support import checks
from terrain_physics._support.checks import Floats3
from terrain_physics.ground.materials import GroundMaterials
from terrain_physics.ground.movers import NO_BOX, GroundMovers, KeptMovers, MovingPart
from terrain_physics.ground.poses import Pose
from terrain_physics.mesh.storage import MeshStorage
from terrain_physics.mesh.table import MeshTable
from terrain_physics.surface.changes import ChangeLog
from terrain_physics.surface.ground_arrays import GroundArrays
from terrain_physics.surface.watching import Watch

_FIND, _MOVE = CachedDispatch(find_parts), CachedDispatch(move_parts)


class FoundMeshes(NamedTuple):
    """The numbers of meshes (n,), their rows in the table, and those of movers, 0 for others.

    And whether all of them are movers.
    """

    numbers: Int64s
    rows: Int64s
    places: Int64s
    are_movers: bool


class MeshMotion(NamedTuple):
    """How the meshes of a ground move, and where they are, at one moment.

    Attributes
    ----------
    numbers : ndarray of int64, shape (n,)
        Those of the meshes with a pose, ascending.
    poses : ndarray of float64, shape (n, 12)
        Rotation row by row, and position, of each.
    movers : KeptMovers
    put : dict of int to int
        The count of moves when a mesh that is no mover was moved.
    """

    numbers: Int64s
    poses: Floats
    movers: KeptMovers
    put: dict[int, int]

    def without(self, touched: Container[int]) -> "MeshMotion":
        """Return that of all but some meshes."""
        rows = [k for k, number in enumerate(self.numbers.tolist()) if number not in touched]
        put = {number: count for number, count in self.put.items() if number not in touched}
        return MeshMotion(self.numbers[rows], self.poses[rows], self.movers.without(touched), put)

    def joined(self, other: "MeshMotion") -> "MeshMotion":
        """Return it with that of other meshes at the same count of moves."""
        numbers = np.concatenate([self.numbers, other.numbers])
        poses, order = np.concatenate([self.poses, other.poses]), np.argsort(numbers)
        movers, put = self.movers.joined(other.movers), self.put | other.put
        return MeshMotion(numbers[order], poses[order], movers, put)

    @property
    def nbytes(self) -> int:
        """About how much memory it takes."""
        return self.poses.nbytes + 100 * len(self.put) + self.movers.nbytes

    def saved(self) -> dict[str, Any]:
        """Return it for JSON."""
        known = zip(self.numbers.tolist(), map(Pose.of_numbers, self.poses), strict=True)
        poses = {str(number): pose.saved() for number, pose in known}
        put = {str(number): count for number, count in self.put.items()}
        movers = self.movers.saved() | ({"put": put} if put else {})
        return {"transforms": poses, "movers": movers}

    def content(self) -> bytes:
        """Return where the meshes are and how they move, for hashes of worlds."""
        return self.numbers.tobytes() + self.poses.tobytes() + self.movers.content()


NO_MOTION = MeshMotion(np.empty(0, np.int64), np.empty((0, POSE_SIZE)), GroundMovers().kept(), {})
"""That of no meshes."""

Place = tuple[Pose | None, float]
"""Pose and scale of a mesh; no pose: where its vertices are, times the scale."""

NO_PLACE: Place = None, 1.0


class GroundMeshes:
    """The meshes of a ground by their numbers; ids and materials are the ground's.

    Attributes
    ----------
    lock : context manager
        That of the ground: held by short queries of meshes, and by changes of any parts.
    changes : ChangeLog
        That of the ground, of all parts: meshes note here where they came, went and moved.
    told : int
        The latest version of the ground that anybody was told. Changes are noted under the next
        one: all who have looked before have seen an earlier one, all who will look a later one.
    refits : int
        How many there have been when somebody last followed them.
    scales : dict of int to float
        The scales of the meshes that have another one than 1.
    movers : GroundMovers
        Those that move, are conveyors or are one-way.
    """

    __slots__ = (
        "_named",
        "_put",
        "_readers",
        "_seen",
        "_storages",
        "_table",
        "_uses",
        "_watch",
        "_without_skin",
        "changes",
        "lock",
        "movers",
        "refits",
        "scales",
        "told",
    )

    lock: AbstractContextManager[Any]
    changes: ChangeLog

    def __init__(self) -> None:
        self.lock = new_lock(Rank.GROUND)
        self.refits = self.told = 0
        self.clear()
        self.changes = ChangeLog(0)

    # Changes: the caller holds the lock

    def clear(self) -> None:
        """Forget all meshes; versions and changes go on."""
        self._table = MeshTable()
        self._storages: dict[int, MeshStorage] = {}
        self.movers = GroundMovers()
        self._put: dict[int, int] = {}  # the count of moves when a mesh that is no mover was moved
        self.scales: dict[int, float] = {}
        self._named: dict[int, Bytes] = {}  # of the meshes whose materials have other numbers here
        self._watch = Watch()
        self._without_skin: dict[MeshStorage, MeshTable] = {}  # and the tables that rows are of
        self._uses = Counter[MeshStorage]()  # how often each mesh is there
        self._seen: dict[int, int] = {}  # the versions of the meshes that were ever refitted
        self._readers = LongCalls()  # the long queries of the present table

    @property
    def layers(self) -> int:
        """All layers that a mesh is on."""
        return self._table.layers

    def add(
        self,
        number: int,
        storage: MeshStorage,
        named: Bytes | None,
        layers: int,
        place: Place | None = None,
    ) -> None:
        """Add a mesh; its number is higher than any before.

        ``named`` (256,) are the numbers that the ground has for its materials, if they differ.
        The mesh may be there already, at other places.
        """
        pose, scale = NO_PLACE if place is None else place
        if scale != 1.0:
            self.scales[number] = scale
        given = None if pose is None else np.array([pose.numbers])
        version, table = storage.version, storage.table
        self._prepare_edit().put_as(number, table, named, layers, given, scale)
        self._take_over(number, storage, table, named, version)

    def _take_over(
        self,
        number: int,
        storage: MeshStorage,
        table: MeshTable,
        named: Bytes | None,
        version: int,
    ) -> None:
        """Begin to follow the mesh of a number, whose row is that of a table of a version."""
        self._storages[number] = storage
        self._name(number, named)
        self._note(number)
        storage.watchers.add(self._watch, number)
        self._uses[storage] += 1
        self._without_skin[storage] = table
        self._count(number, version)
        if storage.version != version:  # refitted before its watchers had this one
            self._watch.changed.add(number)

    def replace(self, number: int, storage: MeshStorage, named: Bytes | None) -> None:
        """Put another mesh in the place of one: all but the mesh stays."""
        self.followed()
        self._note(number)
        former = self._storages[number]
        former.watchers.remove(self._watch, number)
        self._watch.changed.discard(number)
        self._seen.pop(number, None)
        version, table = storage.version, storage.table
        self._prepare_edit().replace(number, table, named)
        self._take_over(number, storage, table, named, version)
        self._forget_skin(former)
        self._fit_mover(number)

    def remove(self, number: int) -> None:
        """Remove a mesh."""
        self._note(number)
        self._prepare_edit().remove(number)
        former = self._storages.pop(number)
        former.watchers.remove(self._watch, number)
        self._forget_skin(former)
        self.scales.pop(number, None)
        self.movers.remove(number)
        self._put.pop(number, None)
        self._named.pop(number, None)
        self._watch.changed.discard(number)
        self._seen.pop(number, None)

    def _forget_skin(self, former: MeshStorage) -> None:
        """Want no connectivity of a mesh that has gone from all its places."""
        self._uses[former] -= 1
        if not self._uses[former]:
            del self._uses[former]
            self._without_skin.pop(former, None)

    def find(self, numbers: Int64s) -> tuple[FoundMeshes, int, bool]:
        """Return where meshes (n,) are in the tables; n, or the index of one that is none.

        And whether the numbers ascend.
        """
        table, movers = self.followed(), self.movers
        rows, places = np.empty((2, len(numbers)), np.int64)
        reaches, count = movers.shown.reaches, len(movers.numbers)
        known, ascend, move = _FIND.call(table.arrays[0], reaches, count, numbers, rows, places)
        return FoundMeshes(numbers, rows, places, move), known, ascend

    def moving(self, found: FoundMeshes, poses: Floats, seconds: Floats) -> Callable[[], None]:
        """Return what moves meshes, one after another, and may be called again to do the rest.

        To poses (n, 12) in some seconds, or teleports in 0; each is there once.
        """
        before = self.movers.refuse_more(len(poses))
        numbers, rows, places, are_movers = found
        changes, count = np.zeros((2 * len(poses) + 1, CHANGE_SIZE)), 0

        def move() -> None:
            nonlocal count
            if self.movers.count == before:
                if not are_movers:
                    self._put_movers(numbers[(places == 0) & (seconds > 0.0)])
                    places[:] = [*map(self.movers.place_of, numbers.tolist())]
                tables = *self._prepare_edit().arrays, *self.movers.prepare()
                count = _MOVE.call(
                    *tables, rows, places, poses, seconds, float(self.told + 1), changes
                )
            if not are_movers:
                still = np.flatnonzero(places == 0).tolist()
                self._put.update({int(numbers[k]): before + 1 + k for k in still})
            # A signal handler may have come in before the count was noted.
            self.changes.add(changes[: count or np.count_nonzero(changes[:, CHANGE_VERSION])])

        return move

    def _put_movers(self, numbers: Int64s) -> None:
        """Have meshes among those that move."""
        for number in numbers.tolist():
            self.movers.put(number, self._as_mover(number))

    def pose_of(self, number: int) -> Pose | None:
        """Return the pose of a part that was moved, or was given one; None for others."""
        if number not in self._storages:
            return None
        numbers = self._table.pose_of(number)
        return None if numbers is None else Pose.of_numbers(numbers)

    def place_of(self, number: int) -> Place:
        """Return pose and scale of a mesh."""
        return self.pose_of(number), self.scales.get(number, 1.0)

    def poses_of(self, found: FoundMeshes) -> Floats:
        """Return the poses (n, 12) of meshes, also of those that were never moved."""
        return self._table.poses_of(found.rows)

    @property
    def poses(self) -> dict[int, Pose]:
        """The poses of the meshes that were moved, or were given one, by their numbers."""
        numbers, poses = self._table.poses()
        return dict(zip(numbers.tolist(), map(Pose.of_numbers, poses), strict=True))

    def _as_mover(self, number: int) -> MovingPart:
        """Return the moving part of a mesh, a new one if it has none."""
        known = self.movers.get(number)
        if known is None:
            known = MovingPart(self.pose_of(number) or Pose.none(), self._table.bounds(number))
            known.put = self._put.get(number, 0)
        return known

    def set_surface_velocity(self, number: int, velocity: Floats3) -> None:
        """Make a mesh a conveyor."""
        self._change_mover(number, "surface", velocity)

    def set_one_way(self, number: int, direction: Floats3) -> None:
        """Make a mesh one-way."""
        self._change_mover(number, "one_way", direction)

    def _change_mover(self, number: int, what: str, vector: Floats3) -> None:
        """Change the moving part of a mesh; characters around it wake up."""
        self.followed()  # first: a refit gives it another box
        mover = self._as_mover(number)
        setattr(mover, what, vector)
        self._note(number)
        self.movers.put(number, mover)

    def motion(self) -> MeshMotion:
        """Return how all meshes move and where they are, in values that nobody writes to later."""
        return MeshMotion(*self._table.poses(), self.movers.kept(), self._put.copy())

    def motion_of(self, numbers: Iterable[int]) -> MeshMotion:
        """Return that of some meshes alone; others are left out."""
        known = [number for number in numbers if number in self._storages]
        found = {number: self._table.pose_of(number) for number in known}
        placed = [number for number in known if found[number] is not None]
        poses = np.array([found[number] for number in placed]).reshape(-1, POSE_SIZE)
        put = {number: self._put[number] for number in known if number in self._put}
        return MeshMotion(np.array(placed, np.int64), poses, self.movers.kept(known), put)

    def put_motion(self, motion: MeshMotion) -> None:
        """Move all meshes to where they were, as they moved then; characters near them wake up."""
        self._put_poses(motion.numbers, motion.poses)
        self.movers.put_kept(motion.movers)
        for number in [k for k in self.movers.numbers if k not in self._storages]:
            self.movers.remove(number)  # of a mesh that went with this change
        self._put = {k: count for k, count in motion.put.items() if k in self._storages}

    def _put_poses(self, numbers: Int64s, poses: Floats) -> None:
        """Put meshes at poses, and all others where their vertices are."""
        known, now = self.followed().poses()
        table = self._prepare_edit()
        for number in known[~np.isin(known, numbers)].tolist():
            self._note(number)
            table.take_back(number)
            self._note(number)
        same = np.zeros(len(numbers), np.bool_)
        common, at, to = np.intersect1d(known, numbers, assume_unique=True, return_indices=True)
        if len(common):
            # Bits, as two zeros of different signs are equal.
            same[to] = (_bits(now[at]) == _bits(poses[to])).all(axis=1)
        here = [number in self._storages for number in numbers.tolist()]
        coming = np.array(here, np.bool_) & ~same
        if not coming.any():
            return
        found = self.find(numbers[coming])[0]
        places = np.zeros_like(found.places)  # the movers are put back by themselves
        changes = np.zeros((2 * len(places) + 1, CHANGE_SIZE))
        poses, seconds = np.ascontiguousarray(poses[coming]), np.zeros(len(places))
        tables = *table.arrays, np.zeros((1, MOVER_SIZE)), np.zeros((REACH_SIZE, 1))
        count = _MOVE.call(
            *tables, found.rows, places, poses, seconds, float(self.told + 1), changes
        )
        self.changes.add(changes[:count])

    def load_movers(self, about: Any) -> None:
        """Take over the saved form of the movers, for the meshes that there are."""
        count, movers, put = self._movers_of(about, self.poses)
        for number, mover in movers.items():
            mover.box = self._table.bounds(number)
            self.movers.put(number, mover)
        self.movers.start_from(count)
        self._put = put

    def _movers_of(
        self, about: Any, poses: Mapping[int, Pose]
    ) -> tuple[int, dict[int, MovingPart], dict[int, int]]:
        """Return the count of moves, the movers and the teleports of a saved form."""
        count = checks.whole("count", about["count"], 0, MOST_COUNTED)
        movers = {
            number: MovingPart.of_saved(one, poses.get(number) or Pose.none(), NO_BOX, count)
            for number, one in self._by_number(about["parts"])
        }
        put = {
            number: checks.whole("put", one, 0, count)
            for number, one in self._by_number(about.get("put", {}))
        }
        return count, movers, put

    def _by_number(self, about: Mapping[str, Any]) -> Iterator[tuple[int, Any]]:
        """Give what is saved about meshes by their numbers; LookupError for one that is not."""
        for name, one in about.items():
            number = int(name)
            if number not in self._storages or name != str(number):
                raise LookupError(number)
            yield number, one

    def saved_movers(self) -> dict[str, Any]:
        """Return all movers for JSON, and when other meshes were teleported."""
        movers: dict[str, Any] = self.saved_motion()["movers"]
        return movers

    def saved_motion(self) -> dict[str, Any]:
        """Return how all meshes move and where they are, for JSON."""
        return self.motion().saved()

    def load_motion(self, about: Any) -> None:
        """Move all meshes to where they were, as `put_motion` does, from a saved form.

        Any error if it is damaged; nothing has changed then.
        """
        self.followed()
        saved = self._by_number(about["transforms"])
        poses = {number: Pose.of_saved(rows) for number, rows in saved}
        count, movers, put = self._movers_of(about["movers"], poses)
        put_there = sorted(poses)
        numbers = np.array([poses[number].numbers for number in put_there]).reshape(-1, POSE_SIZE)
        self._put_poses(np.array(put_there, np.int64), numbers)
        for number in self._storages:
            self.movers.remove(number)
            if number in movers:
                movers[number].box = self._table.bounds(number)
                self.movers.put(number, movers[number])
        self.movers.start_from(count)
        self._put = put

    def set_layers(self, number: int, layers: int) -> None:
        """Put a mesh on other layers."""
        self._prepare_edit().set_layers(number, layers)
        self._note(number)

    def name_materials(self, materials: GroundMaterials) -> None:
        """Give materials the numbers that the ground has for them."""
        for number in self._storages:
            named = materials.named(number)
            if named is not self._named.get(number):
                self._name(number, named)
                self._put_again(number)

    def _name(self, number: int, named: Bytes | None) -> None:
        if named is None:
            self._named.pop(number, None)
        else:
            self._named[number] = named

    def followed(self) -> MeshTable:
        """Return the table, with all refits of the meshes."""
        changed = self._watch.changed
        while changed:
            for number in (*changed,):  # a signal handler that asks follows them, too
                self._follow_told(number)
        return self._table

    def _follow_told(self, number: int) -> None:
        """Follow the refits of a mesh that were told; none of one that has gone meanwhile."""
        changed, storage = self._watch.changed, self._storages.get(number)
        changed.discard(number)
        if storage is not None:
            try:
                self._follow(number, storage.version)  # or later, then it is told again
            except BaseException:  # such as Ctrl-C: the next one to ask follows
                changed.add(number)
                raise

    def _follow(self, number: int, version: int) -> None:
        """Replace the former mesh by the refitted one."""
        self._note(number)
        self._put_again(number)
        self._note(number)
        self._fit_mover(number)
        self._count(number, version)

    def _fit_mover(self, number: int) -> None:
        """Tell a moving part of the box around its mesh, which has changed."""
        if self.movers.place_of(number):
            self.movers.put_box(number, self._table.bounds(number))

    def still(self) -> MeshTable:
        """Return a new table, in which nothing meets the meshes that move."""
        table = self.followed().copy()
        for number in self.movers.moving:
            table.set_layers(number, 0)
        return table

    def find_skins(self) -> None:
        """Find the connectivity of the triangles of all meshes.

        To find it takes long. A signal handler that queries meanwhile finds it too; one that
        refits, adds or removes meshes makes this start again.
        """
        while True:
            self.followed()
            storage, shown = next(iter(self._without_skin.items()), (None, None))
            if storage is None or shown is None:
                return
            shown.neighbors()
            if self._without_skin.get(storage) is shown:
                self._without_skin.pop(storage, None)

    def _note(self, number: int) -> None:
        """Note a change at the present place of a mesh."""
        self.changes.note(self.told + 1, *self._table.bounds(number))

    def _count(self, number: int, version: int) -> None:
        """Count the refits of a mesh up to a version that have not been counted yet."""
        self.refits += version - self._seen.get(number, 0)
        if version:
            self._seen[number] = version

    def _put_again(self, number: int) -> None:
        own = self._storages[number]
        table = own.table
        self._prepare_edit().replace(number, table, self._named.get(number))
        self._without_skin[own] = table

    def _prepare_edit(self) -> MeshTable:
        """Return the table to write to; a long query keeps the one it has."""
        if self._readers:
            self._table = self._table.copy()
            self._readers.clear()
        return self._table

    def shows(self, arrays: GroundArrays) -> bool:
        """Tell whether arrays for characters have these meshes as they are now."""
        table, movers = self._table.view, self.movers.shown
        return table is arrays.meshes and movers is arrays.movers and not self._watch.changed

    def read(self, mark: Mark) -> Int64s:
        """Return the table, which nobody edits until the mark is given back."""
        table = self.followed().view
        self._readers.add(mark)
        return table

    @property
    def are_followed(self) -> bool:
        """Whether there have been no refits since somebody last followed them."""
        return not self._watch.changed


def _bits(values: Floats) -> NDArray[np.uint64]:
    """Return the bits of numbers."""
    return np.ascontiguousarray(values).view(np.uint64)
