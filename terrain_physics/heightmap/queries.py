"""The questions to a height map, answered by kernels."""

import functools
from collections.abc import Sequence
from contextlib import AbstractContextManager
from math import inf
from typing import Any

import numpy as np
from pyglm import glm

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.heightmap import grid as kernels
from terrain_physics._kernels.heightmap.one_shape import (
    contacts_of_shape,
    contacts_of_sphere,
)
from terrain_physics._kernels.heightmap.solid.sides import SIDES_OF_CELL
from terrain_physics._kernels.heightmap.triangles_in import list_triangles, triangles_in
from terrain_physics._kernels.surface.ground_arrays import FIRST_LAYER
from terrain_physics._kernels.surface.shapes import SPHERE
from terrain_physics._kernels.types import Bools, Bytes, Floats, Int64s
from terrain_physics._locks import Mark
from terrain_physics._support import checks
from terrain_physics._support.checks import Floats3
from terrain_physics.heightmap.framed import FramedMap
from terrain_physics.heightmap.storage import MapStorage
from terrain_physics.surface.changes import ChangeLog
from terrain_physics.surface.ground_arrays import GroundArrays
from terrain_physics.surface.naming import Naming, naming_of
from terrain_physics.surface.queries import Queries
from terrain_physics.surface.results import (
    Contacts,
    Triangles,
)
from terrain_physics.surface.shapes import for_kernels

_HEIGHT, _NORMAL = CachedDispatch(kernels.height_at), CachedDispatch(kernels.normal_at)
_ONE_SPHERE, _ONE_SHAPE = CachedDispatch(contacts_of_sphere), CachedDispatch(contacts_of_shape)
_TRIANGLES, _LIST = CachedDispatch(triangles_in), CachedDispatch(list_triangles)


class MapQueries(Queries):
    """The answers of a height map."""

    __slots__ = ("_cell_sizes", "naming", "storage")

    naming: Naming

    def __init__(self, storage: FramedMap) -> None:
        self.storage, self.naming = storage, naming_of(storage.material_names)
        self._cell_sizes, self.keeper = (storage.cell_size,), None

    def filtered(self, mask: int) -> "MapQueries":
        return self if mask & FIRST_LAYER else _no_ground()

    # Places

    def height(self, x: float, z: float) -> float:
        storage = self.storage
        with storage.lock:
            heights, cells, _, frame = storage.views
            level: float = _HEIGHT.call(heights, cells, frame, x, z)
            return level

    def normal(self, x: float, z: float) -> glm.vec3:
        storage = self.storage
        with storage.lock:
            heights, cells, _, frame = storage.views
            return glm.vec3(_NORMAL.call(heights, cells, frame, x, z)) + 0.0

    # Triangles in boxes

    def triangles_in(self, lower: Floats3, upper: Floats3, most: int) -> Triangles | None:
        with self.storage.reading() as ((heights, cells, _, frame), _):
            count, vertices, normals, ids = _TRIANGLES.call(
                heights, cells, frame, lower, upper, most
            )
        return None if count > most else Triangles(vertices, normals + 0.0, ids)

    def triangle_ids_in(self, boxes: Floats, most: int) -> tuple[Int64s, Int64s]:
        offsets = np.zeros(len(boxes) // 6 + 1, dtype=np.int64)
        with self.storage.reading() as (views, _):
            total, ids = _LIST.call(*views, boxes, most, offsets)
        if total < 0:
            raise ValueError(f"boxes must be over at most 100 million cells, got box {-1 - total}")
        checks.refuse_more("triangles", total, most)
        return offsets, ids[:total]

    # Shapes

    def few_contacts(self, kind: int, row: Sequence[float], keep: str) -> Contacts | None:
        return self.surface_contacts(kind, row, keep)

    def surface_contacts(self, kind: int, row: Sequence[float], keep: str) -> Contacts | None:
        """Return the contacts of a shape over few cells; None: a task for `ContactRows`."""
        storage, deepest = self.storage, keep == "deepest"
        shape = None if kind == SPHERE else for_kernels(np.array(row))
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

    @property
    def triangle_count(self) -> int:
        rows, columns = self.storage.cell_count
        return 2 * rows * columns

    @property
    def id_count(self) -> int:
        rows, columns = self.storage.cell_count
        return (2 + SIDES_OF_CELL) * rows * columns

    def _cell_of(self, ids: Any) -> Any:
        """Return the cell of an id, or of each."""
        side = ids - self.triangle_count
        return np.where(side < 0, ids // 2, side // SIDES_OF_CELL)

    # For characters

    @property
    def cell_sizes(self) -> tuple[tuple[float, float], ...]:
        return self._cell_sizes

    @property
    def version(self) -> int:
        return self.storage.version

    @property
    def changes(self) -> ChangeLog:
        return self.storage.changes

    @property
    def lock(self) -> AbstractContextManager[Any]:
        return self.storage.lock

    @property
    def ground_arrays(self) -> GroundArrays:
        return self.storage.ground_arrays

    def begin_reading(self, mark: Mark) -> GroundArrays:
        with self.storage.lock:  # no edit in between
            self.storage.begin_reading(mark)
            return self.storage.ground_arrays

    def triangle_at(self, part: int, triangle: int, point: Floats3) -> tuple[int, int, bool]:
        """Return the id and the material; outside the map the material of the nearest cell."""
        storage, (_, columns) = self.storage, self.storage.cell_count
        is_known = part >= 0 and triangle < self.id_count
        if storage.materials is None or not is_known:
            return triangle, 0, is_known
        if triangle < 0:
            (row, column), _ = storage.cells_at(np.array(point[0]), np.array(point[2]))
            return triangle, int(storage.materials.item(int(row * columns + column))), True
        return triangle, int(storage.materials.item(self._cell_of(triangle))), True

    def triangles_at(
        self, parts: Int64s, triangles: Int64s, points: Floats
    ) -> tuple[Int64s, Bytes, Bools]:
        storage, (_, columns) = self.storage, self.storage.cell_count
        ids, materials = np.where(parts >= 0, triangles, -1), storage.materials
        known = (parts >= 0) & (ids < self.id_count)
        if materials is None:
            return ids, np.zeros(len(parts), np.uint8), known
        inside = (ids >= 0) & (ids < self.id_count)
        found = materials.take(self._cell_of(ids * inside))
        found *= inside
        outside = np.flatnonzero((ids < 0) & (parts >= 0))
        if len(outside):
            (rows, across), _ = storage.cells_at(points[outside, 0], points[outside, 2])
            found[outside] = materials.take(rows * columns + across)
        return ids, found, known


@functools.cache
def _no_ground() -> MapQueries:
    """Return the queries of a map that is one hole."""
    frame = (0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, float(kernels.DIAGONAL_AC), inf)
    return MapQueries(MapStorage(np.full((2, 2), np.nan, dtype=np.float32), frame, None, None))
