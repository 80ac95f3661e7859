"""The questions to a triangle mesh, answered by kernels."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import numpy as np

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels._quick import slots, tell_of
from terrain_physics._kernels.mesh.contacts import list_near, triangles_near
from terrain_physics._kernels.surface.ground_arrays import ALL_LAYERS
from terrain_physics._kernels.types import Bools, Bytes, Floats, Int64s
from terrain_physics._locks import Mark
from terrain_physics._support import checks
from terrain_physics._support.checks import Floats3
from terrain_physics.mesh.meshes import Meshes
from terrain_physics.mesh.storage import MeshStorage
from terrain_physics.mesh.table import MeshTable
from terrain_physics.surface.changes import ChangeLog
from terrain_physics.surface.ground_arrays import GroundArrays
from terrain_physics.surface.naming import Naming, naming_of
from terrain_physics.surface.queries import Queries
from terrain_physics.surface.results import Triangles

_NEAR = CachedDispatch(list_near)

_Answer = TypeVar("_Answer")


class MeshQueries(Queries):
    """The answers of the triangle meshes that a mask selects: one mesh, or those of a ground."""

    __slots__ = ("mask", "naming", "storage")

    naming: Naming

    def __init__(self, storage: Meshes, mask: int = ALL_LAYERS) -> None:
        self.storage, self.mask, self.naming = storage, mask, naming_of(storage.material_names)
        self.keeper = None

    def filtered(self, mask: int) -> "MeshQueries":
        return MeshQueries(self.storage, mask)

    # Triangles in boxes

    def triangles_in(self, lower: Floats3, upper: Floats3, most: int) -> Triangles | None:
        ids = np.empty(128, np.int64)
        with self.storage.asked as table:
            count = triangles_near(table, self.mask, lower, upper, ids)
            if count > most:
                return None
            if count > len(ids):
                ids = np.empty(count, np.int64)
                triangles_near(table, self.mask, lower, upper, ids)
            return self.storage.triangles(ids[:count])

    def triangle_ids_in(self, boxes: Floats, most: int) -> tuple[Int64s, Int64s]:
        offsets = np.empty(len(boxes) // 6 + 1, np.int64)
        with self.storage.reading as table:
            total, ids = _NEAR.call(table, self.mask, boxes, most, offsets)
        checks.refuse_more("triangles", total, most)
        return offsets, ids

    # Shapes

    def of_meshes(self, table: Int64s, triangles: Int64s) -> Bytes | None:
        return self.storage.materials_of(table, triangles)

    @property
    def triangle_count(self) -> int:
        return self.storage.triangle_count

    # For characters

    @property
    def cell_sizes(self) -> tuple[tuple[float, float], ...]:
        return ()

    @property
    def version(self) -> int:
        return self.storage.version

    @property
    def changes(self) -> ChangeLog:
        return self.storage.changes

    @property
    def lock(self) -> AbstractContextManager[Any]:
        return self.storage.asked

    @property
    def ground_arrays(self) -> GroundArrays:
        with self.storage.asked:
            return self.storage.ground_arrays

    def asked(self, ask: Callable[..., _Answer], *about: Any) -> _Answer:
        with self.storage.asked:
            return ask(self.storage.ground_arrays, *about)

    def begin_reading(self, mark: Mark) -> GroundArrays:
        with self.storage.asked:
            self.storage.begin_reading(mark)
            return self.storage.ground_arrays

    def triangle_at(self, part: int, triangle: int, point: Floats3) -> tuple[int, int, bool]:  # noqa: ARG002
        if part != 0 or not 0 <= triangle < self.triangle_count:
            return -1, 0, False
        with self.storage.asked as table:
            return triangle, self.storage.material_of(table, triangle), True

    def triangles_at(
        self,
        parts: Int64s,
        triangles: Int64s,
        points: Floats,  # noqa: ARG002
    ) -> tuple[Int64s, Bytes, Bools]:
        with self.storage.asked as table:
            ids = self.storage.ids_of(parts, triangles)
            return ids, self.storage.materials_of(table, ids), ids >= 0


# Whoever edits `asked`, or what a mesh by itself shows, edits `_build/quick/` too.
tell_of(
    "meshes",
    *(MeshQueries, *slots(MeshQueries, "storage"), MeshStorage),
    *(*slots(MeshStorage, "_shown", "table"), *slots(MeshTable, "view")),
    *slots(GroundArrays, "meshes"),
)
