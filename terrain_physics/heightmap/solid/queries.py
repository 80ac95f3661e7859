"""The questions to a height map as solid ground: its surface, its sides and its underside."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar, cast

import numpy as np

from terrain_physics._kernels.types import Floats, Int64s
from terrain_physics._locks import Mark, lasting
from terrain_physics.heightmap.framed import LiveMap
from terrain_physics.heightmap.queries import MapQueries
from terrain_physics.heightmap.solid.beside import Beside, Underside, Walls
from terrain_physics.heightmap.solid.contacts import SolidContacts
from terrain_physics.heightmap.solid.marks import SideMarks
from terrain_physics.heightmap.solid.reach import Reach
from terrain_physics.heightmap.solid.side_mesh import SideMesh
from terrain_physics.heightmap.solid.sides import Sides
from terrain_physics.heightmap.solid.still import StillMap
from terrain_physics.surface.contact_room import ContactRoom
from terrain_physics.surface.ground_arrays import NO_MOVERS, NOTHING, GroundArrays
from terrain_physics.surface.queries import Queries
from terrain_physics.surface.results import Contacts

_Answer = TypeVar("_Answer")


class SolidMapQueries(MapQueries):
    """The answers of a height map that is solid.

    For contacts the surface is asked first, and alone where it is all: `super` would take a part
    of a short question's time. If there are sides or an underside, these are asked too, and what
    is deeper is the answer; of equals, the surface.
    """

    __slots__ = (
        "_arrays", "_arrays_at", "_bare_at", "_beside", "_beside_at", "_marks", "_reach", "_shown",
        "sides",
    )  # fmt: skip

    storage: LiveMap

    def __init__(self, storage: LiveMap) -> None:
        super().__init__(storage)
        self.sides = Sides(storage)
        self._shown: tuple[Any, ...] = None, None, None
        self._beside: tuple[Beside, ...] = ()
        self._marks = SideMarks()
        self._bare_at = -1  # the revision at which there was a surface alone
        self._beside_at = -1  # the revision at which `_beside` was found, without other maps
        self._reach = cast("Reach", None)  # made with what is beside the surface, and asked then
        self._arrays: tuple[Any, SideMesh | None, GroundArrays] = None, None, NOTHING
        self._arrays_at = -1  # the same of `_arrays`

    def _now(self) -> tuple[Beside, ...]:
        """Return what there is beside the surface. The caller holds the lock of the map."""
        storage = self.storage
        if self._beside_at == storage.revision:
            return self._beside
        mesh = self.sides.now()
        if mesh is None and storage.thickness == np.inf:
            self._bare_at = -1 if self.sides.others else storage.revision
            return ()
        shown = storage.views, storage.materials, mesh
        if any(new is not old for new, old in zip(shown, self._shown, strict=True)):
            still, beside = StillMap(storage.views, storage.materials), list[Beside]()
            if mesh is not None:
                beside.append(Walls(mesh, storage.materials))
            if storage.thickness < np.inf:
                beside.append(Underside(still))
            reach = Reach(storage.views, *self._marks.now(storage.frame, mesh))
            self._beside, self._reach, self._shown = tuple(beside), reach, shown  # see `Sides.now`
        self._beside_at = -1 if self.sides.others else storage.revision
        return self._beside

    def _asked(self) -> AbstractContextManager[tuple[MapQueries, tuple[Beside, ...], Reach]]:
        """Give the surface, and what is beside it, of one moment."""
        return lasting(self._begin_asking)

    def _begin_asking(self, mark: Mark) -> tuple[MapQueries, tuple[Beside, ...], Reach]:
        with self.storage.lock:
            beside, reach = self._now(), self._reach
            views, materials = self.storage.begin_reading(mark)
        return MapQueries(StillMap(views, materials)), beside, reach

    def put_beside(self, maps: list[LiveMap]) -> None:
        """Tell which maps may go on behind the border."""
        self.sides.others = maps
        self._bare_at = self._beside_at = self._arrays_at = -1

    # Shapes

    def few_contacts(self, kind: int, row: Sequence[float], keep: str) -> Contacts | None:
        if self._bare_at == self.storage.revision:
            found = self.surface_contacts(kind, row, keep)
            if self._bare_at == self.storage.revision:  # nobody edited it meanwhile
                return found
        return Queries.few_contacts(self, kind, row, keep)

    def contacts(
        self, kind: int, rows: Floats, keep: str, threads: int | None, most: int, room: ContactRoom
    ) -> Contacts:
        with self._asked() as (surface, beside, reach):
            found = surface.contacts(kind, rows, keep, threads, most, room)
            if not beside:
                return found
            near = reach.of_shapes(kind, rows)
            if not near.any():
                return found
            shapes = SolidContacts(surface, beside, kind, rows, near, threads)
            return shapes.joined(found, keep, most, room)

    def contact_counts(self, kind: int, rows: Floats, threads: int | None) -> Int64s:
        with self._asked() as (surface, beside, reach):
            counts = surface.contact_counts(kind, rows, threads)
            if beside:
                near = reach.of_shapes(kind, rows)
                SolidContacts(surface, beside, kind, rows, near, threads).recount(counts)
        return counts

    # For characters

    def asked(self, ask: Callable[..., _Answer], *about: Any) -> _Answer:
        storage = self.storage
        with storage.lock:
            is_bare = self._bare_at == storage.revision
            return ask(storage.ground_arrays if is_bare else self._arrays_now(), *about)

    @property
    def ground_arrays(self) -> GroundArrays:
        storage = self.storage
        if self._bare_at == storage.revision:
            return storage.ground_arrays
        with storage.lock:
            return self._arrays_now()

    def _arrays_now(self) -> GroundArrays:
        """Return the arrays, with the sides. The caller holds the lock of the map."""
        storage, (known, own, made) = self.storage, self._arrays
        arrays = storage.ground_arrays
        if self._arrays_at == storage.revision and known is arrays:
            return made
        mesh = self.sides.now()
        latest = -1 if self.sides.others else storage.revision
        if mesh is None:
            self._bare_at = latest if storage.thickness == np.inf else -1
            made = arrays
        elif known is not arrays or own is not mesh:
            table = mesh.table
            made = GroundArrays(
                arrays.maps, arrays.meshes, NO_MOVERS, table.view, arrays.made_of, table.find_skins
            )
        self._arrays, self._arrays_at = (arrays, mesh, made), latest
        return made

    def begin_reading(self, mark: Mark) -> GroundArrays:
        with self.storage.lock:  # no edit in between
            self.storage.begin_reading(mark)
            return self._arrays_now()
