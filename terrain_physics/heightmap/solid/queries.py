"""The questions to a height map as solid ground: its surface, its sides and its underside."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from terrain_physics._locks import Mark
from terrain_physics.heightmap.framed import LiveMap
from terrain_physics.heightmap.queries import MapQueries
from terrain_physics.heightmap.solid.side_mesh import SideMesh
from terrain_physics.heightmap.solid.sides import Sides
from terrain_physics.surface.ground_arrays import NO_MOVERS, NOTHING, GroundArrays
from terrain_physics.surface.queries import Queries
from terrain_physics.surface.results import Contacts

_Answer = TypeVar("_Answer")


class SolidMapQueries(MapQueries):
    """The answers of a height map that is solid.

    For contacts of one shape the surface is asked alone where it is all.
    """

    __slots__ = ("_arrays", "_arrays_at", "_bare_at", "sides")

    storage: LiveMap

    def __init__(self, storage: LiveMap) -> None:
        super().__init__(storage)
        self.sides = Sides(storage)
        self._bare_at = -1  # the revision at which there was a surface alone
        self._arrays: tuple[Any, SideMesh | None, GroundArrays] = None, None, NOTHING
        self._arrays_at = -1  # the revision of `_arrays`, without other maps

    def put_beside(self, maps: list[LiveMap]) -> None:
        """Tell which maps may go on behind the border."""
        self.sides.others = maps
        self._bare_at = self._arrays_at = -1

    # Shapes

    def few_contacts(self, kind: int, row: Sequence[float], keep: str) -> Contacts | None:
        if self._bare_at == self.storage.revision:
            found = self.surface_contacts(kind, row, keep)
            if self._bare_at == self.storage.revision:  # nobody edited it meanwhile
                return found
        return Queries.few_contacts(self, kind, row, keep)

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
