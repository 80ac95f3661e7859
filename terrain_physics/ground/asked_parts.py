"""All parts of a ground as they are asked: by short questions, long ones, and characters."""

import operator
from abc import abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from terrain_physics._kernels.surface.ground_arrays import ALL_LAYERS
from terrain_physics._kernels.types import Int64s
from terrain_physics._locks import Entered, LongCalls, Mark, holding
from terrain_physics.ground.map_set import MapSet
from terrain_physics.ground.maps import GroundMaps
from terrain_physics.ground.meshes import GroundMeshes
from terrain_physics.heightmap.solid.solid_map import SolidMap
from terrain_physics.surface.ground_arrays import (
    NOTHING,
    GroundArrays,
    MoverArrays,
)
from terrain_physics.surface.queries import Askable

_T = TypeVar("_T")


class AskedParts(Askable):
    """The maps and meshes of a ground, and the arrays of all of them.

    Attributes
    ----------
    maps : GroundMaps
    meshes : GroundMeshes
    followed : context manager
        The lock of the ground, taken once edits have passed between maps, and an interrupted change
        of parts was put back. It is held by short queries of characters and united maps, by changes
        of which parts there are, and by readers that need all parts of one moment.
    """

    __slots__ = (
        "_arrays",
        "_before",
        "_map_set",
        "_mesh_layers",
        "_only_lock",
        "_reading",
        "followed",
        "maps",
        "meshes",
    )

    def __init__(self) -> None:
        self.meshes = GroundMeshes()
        self._map_set = MapSet(self.meshes.lock)
        self.maps = GroundMaps(self._map_set)
        self.followed = Entered(self.meshes.lock, self._begin_followed)
        self._before: Any = None  # the parts as before a change that is under way, or interrupted
        self._reading = LongCalls()  # updates of characters
        self._arrays = NOTHING

    @abstractmethod
    def mend(self) -> None:
        """Put back what an interrupted change has left."""

    @abstractmethod
    def _begin_followed(self) -> None:
        """Do so, and have maps follow each other; the lock was just taken."""

    def _see_parts(self) -> None:
        """Find what questions to the present parts need; they or their layers have changed."""
        self._mesh_layers = self.meshes.layers  # kept: their tree changes while others move meshes
        self._only_lock = self._lock_of_only(ALL_LAYERS)
        self.maps.forget()

    @property
    def lock(self) -> AbstractContextManager[Any]:
        return self.followed

    @property
    def moves(self) -> int:
        return self.meshes.movers.count

    def editing(self, edit: Callable[[list[SolidMap]], _T]) -> _T:
        """Edit all maps, each once, as they are now; nobody else edits them meanwhile."""

        def follow_and_edit() -> _T:
            self._map_set.follow()
            answer = edit([own.source for own in self.maps.members])
            self._map_set.follow()
            return answer

        self.mend()
        return holding(self._map_set.locks, follow_and_edit)

    def answer(self, mask: int, ask: Callable[..., _T], *about: Any) -> _T:
        """Return the answer to a short question, see `Askable`.

        The only map of a ground is asked while its own lock is held, and not the ground's.
        """
        while True:
            if self._before is not None:
                self.mend()
            lock = self._only_lock if mask == ALL_LAYERS else self._lock_of_only(mask)
            if lock is None:
                with self.followed:
                    return ask(self.ground_arrays, *about)
            maps = self.maps
            shown, arrays = maps.alone
            with lock:
                if maps.is_shown(shown):
                    answer = ask(arrays, *about)
                    if maps.is_shown(shown):  # no part came or went meanwhile
                        return answer
            with self.followed:
                self.maps.show_alone()

    def _lock_of_only(self, mask: int) -> AbstractContextManager[Any] | None:
        """Return the lock of the only map that a mask selects, if it selects no mesh."""
        maps = [own for own in self.maps.members if own.layers & mask]
        if len(maps) != 1 or self._mesh_layers & mask:
            return None
        lock: AbstractContextManager[Any] = maps[0].source.storage.lock
        return lock

    # For characters

    def begin_asking(self, mark: Mark) -> GroundArrays:
        """Return the arrays for a long question: maps and meshes stay as they are until it ends."""
        with self.followed:
            return self._read(mark)

    def begin_update(self, mark: Mark) -> GroundArrays:
        """Return the arrays for a long query of characters, as `begin_asking`; movers stay."""
        with self.followed:
            arrays = self._read(mark)
            self.meshes.movers.begin_reading(mark)
            self._reading.add(mark)
            return arrays

    def _read(self, mark: Mark) -> GroundArrays:
        """Return the arrays as of `begin_asking`; the caller holds the lock."""
        meshes = self.meshes.read(mark)
        self._map_set.reader.begin(mark)
        return self._arrays_of(self.maps.table(), meshes, self.meshes.movers.shown)

    def begin_reading_still(self, mark: Mark) -> GroundArrays:
        """Return the arrays without the parts that move in time for a long query."""
        with self.followed:
            arrays = self.begin_update(mark)
            if self.meshes.movers.moving:
                meshes, movers = self.meshes.still().view, self.meshes.movers.of_still()
                arrays = GroundArrays(arrays.maps, meshes, movers, arrays.sides, arrays.made_of)
            return arrays

    @property
    def ground_arrays(self) -> GroundArrays:
        """Return the arrays for characters; the caller holds the lock, and they stay meanwhile."""
        arrays, maps = self._arrays, self.maps
        shown = maps.shown
        if (
            maps.is_shown(shown) and shown.table is arrays.maps
            and maps.sides.view is arrays.sides and self.meshes.shows(arrays)
        ):  # fmt: skip
            return arrays
        if self._map_set.reader.changed:  # a signal handler has edited a map
            with self.followed:
                pass
        meshes = self.meshes.followed().view
        return self._arrays_of(self.maps.table(), meshes, self.meshes.movers.shown)

    def _arrays_of(self, maps: Int64s, meshes: Int64s, movers: MoverArrays) -> GroundArrays:
        arrays, sides = self._arrays, self.maps.sides.view
        own = arrays.maps, arrays.meshes, arrays.movers, arrays.sides
        if not all(map(operator.is_, own, (maps, meshes, movers, sides))):
            made_of = self.maps.shown.made_of
            self._arrays = arrays = GroundArrays(
                maps, meshes, movers, sides, made_of, self._find_skins
            )
        return arrays

    def _find_skins(self) -> None:
        """Find the connectivity of all meshes and sides; the caller holds the lock."""
        self.meshes.find_skins()
        self.maps.sides.find_skins()
