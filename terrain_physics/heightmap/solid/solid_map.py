"""A height map as it is asked: its surface, its sides and its underside."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import numpy as np

from terrain_physics._kernels.heightmap.solid.sides import SIDES_OF_CELL
from terrain_physics._locks import Mark
from terrain_physics.heightmap.framed import LiveMap
from terrain_physics.heightmap.solid.side_mesh import SideMesh
from terrain_physics.heightmap.solid.sides import Sides
from terrain_physics.surface.changes import ChangeLog
from terrain_physics.surface.ground_arrays import NO_MOVERS, NOTHING, GroundArrays
from terrain_physics.surface.naming import Naming, naming_of
from terrain_physics.surface.queries import Askable

_Answer = TypeVar("_Answer")


class SolidMap(Askable):
    """A height map with its sides, found when they are asked for.

    Attributes
    ----------
    storage, lone : LiveMap
        The map.
    sides : Sides
    """

    __slots__ = (
        "_arrays", "_arrays_at", "_bare_at", "cell_sizes", "lone", "naming", "sides", "storage",
    )  # fmt: skip

    storage: LiveMap
    lone: LiveMap
    naming: Naming
    cell_sizes: tuple[tuple[float, float], ...]

    def __init__(self, storage: LiveMap) -> None:
        self.storage = self.lone = storage
        self.naming, self.cell_sizes = naming_of(storage.material_names), (storage.cell_size,)
        self.sides = Sides(storage)
        self._bare_at = -1  # the revision at which there was a surface alone
        self._arrays: tuple[Any, SideMesh | None, GroundArrays] = None, None, NOTHING
        self._arrays_at = -1  # the revision of `_arrays`, without other maps

    def put_beside(self, maps: list[LiveMap]) -> None:
        """Tell which maps may go on behind the border."""
        self.sides.others = maps
        self._bare_at = self._arrays_at = -1

    @property
    def is_bare(self) -> bool:
        return self._bare_at == self.storage.revision

    @property
    def version(self) -> int:
        return self.storage.version

    @property
    def changes(self) -> ChangeLog:
        return self.storage.changes

    @property
    def lock(self) -> AbstractContextManager[Any]:
        return self.storage.lock

    def answer(self, mask: int, ask: Callable[..., _Answer], *about: Any) -> _Answer:  # noqa: ARG002
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

    def begin_asking(self, mark: Mark) -> GroundArrays:
        with self.storage.lock:  # no edit in between
            self.storage.begin_reading(mark)
            return self._arrays_now()

    @property
    def triangle_count(self) -> int:
        rows, columns = self.storage.cell_count
        return 2 * rows * columns

    @property
    def id_count(self) -> int:
        rows, columns = self.storage.cell_count
        return (2 + SIDES_OF_CELL) * rows * columns
