"""The meshes of all patches of a map's sides, for queries."""

from contextlib import AbstractContextManager, nullcontext

import numpy as np

from terrain_physics._kernels.mesh.parts import ID_BITS
from terrain_physics._kernels.surface.ground_arrays import FIRST_LAYER
from terrain_physics._kernels.types import Bytes, Int64s
from terrain_physics._locks import Mark
from terrain_physics.heightmap.solid.side_table import SideTable
from terrain_physics.mesh.meshes import Meshes
from terrain_physics.surface.changes import ChangeLog
from terrain_physics.surface.ground_arrays import NO_MAPS, GroundArrays
from terrain_physics.surface.results import Triangles

_FACE = (1 << ID_BITS) - 1

_NO_CHANGES = ChangeLog(0)


class PatchMeshes(Meshes):
    """Meshes that nobody changes. An id is the number of a patch and the face.

    They have no materials: those of sides are those of the map's cells.
    """

    __slots__ = ("_table", "asked", "ground_arrays")

    asked: AbstractContextManager[Int64s]
    ground_arrays: GroundArrays

    version, changes = 0, _NO_CHANGES

    def __init__(self, table: SideTable) -> None:
        self._table, self.asked = table, nullcontext(table.view)
        self.ground_arrays = GroundArrays(NO_MAPS, table.view, find_skins=table.find_skins)

    @property
    def reading(self) -> AbstractContextManager[Int64s]:
        return self.asked

    def begin_reading(self, mark: Mark) -> Int64s:  # noqa: ARG002
        return self._table.view

    def material_of(self, table: Int64s, triangle: int) -> int:  # noqa: ARG002
        return 0

    def materials_of(self, table: Int64s, triangles: Int64s) -> Bytes:  # noqa: ARG002
        return np.zeros(len(triangles), np.uint8)

    def ids_of(self, numbers: Int64s, faces: Int64s) -> Int64s:
        return numbers << ID_BITS | faces

    def triangles(self, ids: Int64s) -> Triangles:
        meshes = [self._table.meshes[0, FIRST_LAYER, own] for own in (ids >> ID_BITS).tolist()]
        found = [own.triangles(ids[[k]] & _FACE) for k, own in enumerate(meshes)]
        vertices, normals = (
            np.concatenate([getattr(own, name) for own in found])
            for name in ("vertices", "normals")
        )
        return Triangles(vertices, normals, ids)

    @property
    def triangle_count(self) -> int:
        return sum(own.triangle_count for own in self._table.meshes.values())
