"""The questions to a triangle mesh, answered by kernels."""

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np
from pyglm import glm

from terrain_physics import _checks
from terrain_physics._checks import Floats3
from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.mesh.contacts import (
    ALL,
    DEEPEST,
    NUMBER,
    contacts_of_one,
    list_contacts,
    list_near,
    put_contacts,
)
from terrain_physics._kernels.mesh.queries import (
    along_a_curve,
    closest_one,
    closest_rows,
    ray_hit,
    raycast_rows,
)
from terrain_physics._kernels.mesh.sweeps import sweep_mesh
from terrain_physics._kernels.mesh.tree import triangles_near
from terrain_physics._kernels.types import Floats, Longs
from terrain_physics._threads import Workers
from terrain_physics.mesh.storage import MeshStorage
from terrain_physics.surface.ground_arrays import GroundArrays
from terrain_physics.surface.limits import refuse_far_row
from terrain_physics.surface.materials import materials_of
from terrain_physics.surface.queries import Queries
from terrain_physics.surface.results import (
    ClosestPoint,
    ClosestPoints,
    Contacts,
    RayHit,
    RayHits,
    SweepHit,
    SweepHits,
    Triangles,
    sweep_hit_of,
    sweep_hits_of,
)
from terrain_physics.surface.shapes import Shape, for_kernels, row_of

_DOWN = np.array([[0.0, -1.0, 0.0]])
_DOWN.setflags(write=False)

_ONE_VISIT = np.zeros(1, np.int64)
_ONE_VISIT.setflags(write=False)

# Nanoseconds that one takes on one thread, roughly.
_RAY_COST, _SHAPE_COST, _WRITING_COST = 500, 2_000, 250_000

_RAY, _CLOSEST = CachedDispatch(ray_hit), CachedDispatch(closest_one)
_SWEEP = CachedDispatch(sweep_mesh)
_CONTACTS = CachedDispatch(contacts_of_one)

# First and last visit, keys, rows: see `list_contacts`.
_Found = tuple[int, int, Longs, Floats]


class MeshQueries(Queries):
    """What a triangle mesh answers."""

    __slots__ = ("storage",)

    def __init__(self, storage: MeshStorage) -> None:
        self.storage = storage

    # Places

    def height(self, x: float, z: float) -> float:
        distance: float = self._hit_below(x, z)[1]
        return float(self.storage.arrays.frame[4]) - distance

    def normal(self, x: float, z: float) -> glm.vec3:
        return glm.vec3(self._hit_below(x, z)[5:])

    def _hit_below(self, x: float, z: float) -> tuple[Any, ...]:
        """Return what a ray straight down from the highest vertex hits first."""
        mesh = self.storage.arrays
        top = float(mesh.frame[4])
        hit: tuple[Any, ...] = _RAY.call(*mesh[2:], x, top, z, 0.0, -1.0, 0.0, math.inf)
        return hit

    def heights(self, xs: Floats, zs: Floats, threads: int | None) -> Floats:
        return self.heights_and_normals(xs, zs, threads)[0]

    def normals(self, xs: Floats, zs: Floats, threads: int | None) -> Floats:
        return self.heights_and_normals(xs, zs, threads)[1]

    def heights_and_normals(
        self, xs: Floats, zs: Floats, threads: int | None
    ) -> tuple[Floats, Floats]:
        top = float(self.storage.arrays.frame[4])
        origins = np.stack([xs, np.full(len(xs), top), zs], axis=-1)
        origins.setflags(write=False)  # kernels know one type only
        hits = self._cast(origins, _DOWN, math.inf, len(xs), threads)
        return top - hits.distance, hits.normal

    # Triangles in boxes

    def triangles_in(self, lower: Floats3, upper: Floats3, most: int) -> Triangles | None:
        mesh = self.storage.arrays
        ids = np.empty(128, np.int64)
        count = triangles_near(*mesh[2:], lower, upper, ids)
        if count > most:
            return None
        if count > len(ids):
            ids = np.empty(count, np.int64)
            triangles_near(*mesh[2:], lower, upper, ids)
        ids = ids[:count]
        return Triangles(mesh.vertices[mesh.faces[ids]], self.storage.normals[ids], ids)

    def triangle_ids_in(self, boxes: Floats, most: int) -> tuple[Longs, Longs]:
        offsets = np.empty(len(boxes) // 6 + 1, np.int64)
        total, ids = list_near(*self.storage.arrays[2:], boxes, most, offsets)
        _checks.refuse_more("triangles", total, most)
        return offsets, ids

    # Rays

    def ray(self, origin: Floats3, direction: Floats3, longest: float) -> RayHit | None:
        triangle, distance, x, y, z, nx, ny, nz = _RAY.call(
            *self.storage.arrays[2:], *origin, *direction, longest
        )
        if triangle < 0:
            return None
        material = self._material_of(triangle)
        return RayHit(distance, glm.vec3(x, y, z), glm.vec3(nx, ny, nz), triangle, material)

    def rays(
        self, origins: Floats, directions: Floats, longest: float, count: int, threads: int | None
    ) -> RayHits:
        return self._cast(origins, directions, longest, count, threads)

    def _cast(
        self, origins: Floats, directions: Floats, longest: float, count: int, threads: int | None
    ) -> RayHits:
        mesh = self.storage.arrays
        distances, triangles = np.empty(count), np.empty(count, np.int64)
        hits = distances, np.empty((count, 3)), np.empty((count, 3)), triangles

        def cast(first: int, last: int) -> None:
            raycast_rows(*mesh[2:], origins, directions, longest, first, last, *hits)

        Workers(threads).run(cast, count, _RAY_COST)
        return RayHits(*hits, materials_of(self.storage.materials, triangles))

    # Shapes

    def contacts_of_one(self, shape: Shape, keep: str, most: int) -> Contacts:
        kind, row = row_of("shapes", shape)
        refuse_far_row("shapes", row)
        if len(self.storage.arrays.faces) > most:  # it may touch them all
            return self.contacts(kind, np.array([row]), keep, None, most)
        flat = for_kernels(np.array(row))
        kept = DEEPEST if keep == "deepest" else ALL
        mesh = self.storage.arrays
        return self._contacts_of(*_CONTACTS.call(*mesh[2:], kind, flat, _ONE_VISIT, kept))

    def contacts(
        self, kind: int, rows: Floats, keep: str, threads: int | None, most: int
    ) -> Contacts:
        visits, counts = _visits_of(rows), np.empty(len(rows), np.int64)
        kept = DEEPEST if keep == "deepest" else ALL
        workers = Workers(threads)
        parts = self._list(workers, kind, rows, kept, visits, counts, most)
        ends = np.cumsum(counts)
        total = int(ends[-1]) if len(ends) else 0
        _checks.refuse_more("contacts", total, most)
        ints, floats = np.empty((2, total), np.int64), np.empty((3, total, 3))

        def put(first: int, last: int) -> None:
            for begin, end, keys, found in parts[first:last]:
                put_contacts(visits, begin, end, keys, found, ends, counts, ints, floats)

        workers.run(put, len(parts), _WRITING_COST)
        return self._contacts_of(ints, floats)

    def _contacts_of(self, ints: Longs, floats: Floats) -> Contacts:
        materials = self.storage.materials
        return Contacts(ints, floats, None if materials is None else materials[ints[1]])

    def contact_counts(self, kind: int, rows: Floats, threads: int | None) -> Longs:
        visits, counts = _visits_of(rows), np.empty(len(rows), np.int64)
        self._list(Workers(threads), kind, rows, NUMBER, visits, counts, 0)
        return counts

    def _list(
        self,
        workers: Workers,
        kind: int,
        rows: Floats,
        kept: int,
        visits: Longs,
        counts: Longs,
        most: int,
    ) -> list[_Found]:
        """Return the contacts in the ranges that the threads worked on, and write their counts."""
        shapes, mesh = for_kernels(rows), self.storage.arrays
        so_far = np.zeros(1, np.int64)

        def find(first: int, last: int) -> _Found:
            keys, found = list_contacts(
                *mesh[2:], kind, shapes, visits, first, last, kept, counts, most, so_far
            )
            if not len(keys):  # there was no more room
                raise _checks.too_many("contacts", most)
            return first, last, keys, found

        return workers.run(find, len(rows), _SHAPE_COST)

    def sweep(self, kind: int, row: Floats, motion: Floats) -> SweepHit | None:
        numbers, triangles = np.empty((1, 8)), np.empty(1, np.int64)
        mesh = self.storage.arrays
        _SWEEP.call(
            *mesh[2:], mesh.vertices, mesh.faces, *self.storage.neighbors,
            kind, row, motion, _ONE_VISIT, 0, 1, numbers, triangles,
        )  # fmt: skip
        triangle = int(triangles[0])
        return sweep_hit_of(numbers[0], triangle, self._material_of(triangle))

    def sweeps(
        self, kind: int, rows: Floats, motions: Floats, count: int, threads: int | None
    ) -> SweepHits:
        numbers, triangles = np.empty((count, 8)), np.empty(count, np.int64)
        mesh, neighbors = self.storage.arrays, self.storage.neighbors
        visits = _visits_of(rows if len(rows) > 1 else np.zeros((count, 3)))
        flat = rows.reshape(-1)

        def work(first: int, last: int) -> None:
            sweep_mesh(
                *mesh[2:], mesh.vertices, mesh.faces, *neighbors,
                kind, flat, motions, visits, first, last, numbers, triangles,
            )  # fmt: skip

        Workers(threads).run(work, count, _SHAPE_COST)
        return sweep_hits_of(numbers, triangles, materials_of(self.storage.materials, triangles))

    # Closest points

    def closest_point(self, point: Floats3) -> ClosestPoint:
        triangle, distance, x, y, z = _CLOSEST.call(*self.storage.arrays[2:], *point)
        return ClosestPoint(glm.vec3(x, y, z), distance, triangle, self._material_of(triangle))

    def closest_points(self, points: Floats, threads: int | None) -> ClosestPoints:
        # Each begins with the last one's triangle, which is nearly as near.
        order = along_a_curve(points)
        along, mesh, count = points[order], self.storage.arrays, len(points)
        along.setflags(write=False)
        places, distances = np.empty((count, 3)), np.empty(count)
        triangles = np.empty(count, np.int64)

        def search(first: int, last: int) -> None:
            closest_rows(*mesh[2:], along, first, last, places, distances, triangles)

        Workers(threads).run(search, count, _RAY_COST)
        rows = np.empty(count, np.int64)
        rows[order] = np.arange(count)
        found = triangles[rows]
        made_of = materials_of(self.storage.materials, found)
        return ClosestPoints(places[rows], distances[rows], found, made_of)

    @property
    def triangle_count(self) -> int:
        return len(self.storage.arrays.faces)

    # What characters ask

    @property
    def version(self) -> int:
        return self.storage.version

    @property
    def lock(self) -> AbstractContextManager[None]:
        """Nothing to wait for: `refit` makes new arrays."""
        return nullcontext()

    @property
    def ground_arrays(self) -> GroundArrays:
        return self.storage.ground_arrays

    @contextmanager
    def reading(self) -> Iterator[GroundArrays]:
        yield self.storage.ground_arrays

    def triangle_at(self, part: int, triangle: int, point: Floats3) -> tuple[int, int]:  # noqa: ARG002
        if not 0 <= triangle < self.triangle_count:
            return -1, 0
        return triangle, self._material_of(triangle)

    def _material_of(self, triangle: int) -> int:
        """Return the material of a face, 0 for -1."""
        materials = self.storage.materials
        return 0 if materials is None or triangle < 0 else int(materials.item(triangle))


def _visits_of(rows: Floats) -> Longs:
    """Return an order for rows that begin with a place: near ones follow each other."""
    if len(rows) == 1:
        return _ONE_VISIT
    visits = along_a_curve(rows[:, :3])
    visits.setflags(write=False)  # kernels know one type only
    return visits
