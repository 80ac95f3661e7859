"""What a height map has beside its surface, its sides and its underside: each answers questions."""

from abc import ABC, abstractmethod
from math import isnan
from typing import Any, ClassVar

import numpy as np
from pyglm import glm

from terrain_physics._kernels.heightmap.solid.reach import NEAR_SIDES, NEAR_UNDERSIDE
from terrain_physics._kernels.heightmap.solid.sides import SIDES_OF_CELL, UNDERSIDE
from terrain_physics._kernels.surface.shapes import BOX, CAPSULE, SPHERE
from terrain_physics._kernels.types import Bools, Bytes, Floats, Int64s, read_only
from terrain_physics._support.checks import Floats3
from terrain_physics.heightmap.queries import MapQueries, are_inside
from terrain_physics.heightmap.solid.side_mesh import SideMesh
from terrain_physics.heightmap.solid.still import StillMap
from terrain_physics.surface.contact_room import ContactRoom
from terrain_physics.surface.ground_arrays import Materials
from terrain_physics.surface.results import (
    Contacts,
    SweepHit,
    SweepHits,
)
from terrain_physics.surface.shapes import centers_of

# In a row of numbers of each kind of shape: what changes its sign where up becomes down. The
# rotation of a box stays a right-handed one: its third axis becomes its opposite, too.
_UPS = {SPHERE: [1], CAPSULE: [1, 4], BOX: [1, 8, 9, 10, 14]}

_UPSIDE_DOWN = np.array([1.0, -1.0, 1.0])
_UPSIDE_DOWN.setflags(write=False)


class Beside(ABC):
    """The sides or the underside of a map: ids and materials are those of the map."""

    __slots__ = ()

    bit: ClassVar[int]
    """What `Reach` tells who comes near it."""

    @abstractmethod
    def contacts(self, kind: int, rows: Floats, threads: int | None, most: int) -> Contacts:
        """Return all contacts of rows."""

    @abstractmethod
    def sweep(self, kind: int, row: Floats, motion: Floats) -> SweepHit | None:
        """Return the first touch of one row (w,) that moves by (1, 3)."""

    @abstractmethod
    def sweeps(
        self, kind: int, rows: Floats, motions: Floats, count: int, threads: int | None
    ) -> SweepHits:
        """Return the first touches of moving rows; an array of one row serves for all."""


class Walls(Beside):
    """The sides of a map."""

    __slots__ = ("_materials", "_mesh")

    bit = NEAR_SIDES

    def __init__(self, mesh: SideMesh, materials: Materials | None) -> None:
        self._mesh, self._materials = mesh, materials

    def _named(self, face: int) -> tuple[int, int]:
        """Return the id and the material of a face."""
        found, cell = self._mesh.of_face(face)
        return found, 0 if self._materials is None else self._materials.item(cell)

    def _made_of(self, cells: Int64s) -> Bytes:
        """Return the materials of cells (n,), 0 for -1."""
        found = np.zeros(len(cells), np.uint8)
        if self._materials is not None:
            hit = cells >= 0
            found[hit] = self._materials.take(cells[hit])
        return found

    def _all_named(self, hits: SweepHits) -> SweepHits:
        """Return hits of faces with the ids and the materials of these."""
        faces = self._mesh.of_faces(hits.triangle)
        return hits._replace(triangle=faces.ids, material=self._made_of(faces.cells))

    def contacts(self, kind: int, rows: Floats, threads: int | None, most: int) -> Contacts:
        found = self._mesh.queries.contacts(kind, rows, "all", threads, most, ContactRoom())
        if not len(found):
            return found
        ids, cells, edge = self._mesh.of_faces(found.triangle)
        named = found.with_triangles(ids, self._made_of(cells))
        # The triangles of a side are one side: its deepest contact counts.
        order = np.lexsort([-named.depth, edge, named.query])
        query, edge = named.query[order], edge[order]
        is_first = np.ones(len(order), dtype=np.bool_)
        is_first[1:] = (query[1:] != query[:-1]) | (edge[1:] != edge[:-1])
        return taken(named, order[is_first])

    def sweep(self, kind: int, row: Floats, motion: Floats) -> SweepHit | None:
        hit = self._mesh.queries.sweep(kind, row, motion)
        if hit is None:
            return None
        triangle, material = self._named(hit.triangle)
        return hit._replace(triangle=triangle, material=material)

    def sweeps(
        self, kind: int, rows: Floats, motions: Floats, count: int, threads: int | None
    ) -> SweepHits:
        return self._all_named(self._mesh.queries.sweeps(kind, rows, motions, count, threads))


class Underside(Beside):
    """The underside of a map of finite thickness: the surface of the map upside down.

    It is seen from outside: shapes and points with a center in the ground see nothing of it.
    """

    __slots__ = ("_first", "_queries", "_thickness")

    bit = NEAR_UNDERSIDE

    def __init__(self, still: StillMap) -> None:
        self._queries, self._thickness = MapQueries(still.upside_down()), still.thickness
        rows, columns = still.cell_count
        self._first = 2 * rows * columns + UNDERSIDE

    def _id(self, triangle: int) -> int:
        return (
            self._first + SIDES_OF_CELL * (triangle >> 1) + (triangle & 1) if triangle >= 0 else -1
        )

    def _ids(self, triangles: Int64s) -> Int64s:
        own = self._first + SIDES_OF_CELL * (triangles >> 1) + (triangles & 1)
        return np.where(triangles >= 0, own, -1)

    def _levels(self, places: Floats, threads: int | None) -> Floats:
        """Return the heights of the underside at places (n, 3), upside down."""
        xs, zs = read_only(*np.ascontiguousarray(places[:, ::2].T))
        return self._queries.heights(xs, zs, threads)

    def _is_outside(self, places: Floats, threads: int | None) -> Bools:
        """Tell which places (n, 3), upside down, are not in the ground."""
        return ~are_inside(self._levels(places, threads), places[:, 1], self._thickness)

    def _turned_hits(self, hits: SweepHits) -> SweepHits:
        """Return hits upside down."""
        return hits._replace(
            point=_all_turned_back(hits.point), normal=_all_turned_back(hits.normal),
            triangle=self._ids(hits.triangle),
        )  # fmt: skip

    def contacts(self, kind: int, rows: Floats, threads: int | None, most: int) -> Contacts:
        turned = _turned_rows(kind, rows)
        centers = centers_of(kind, turned)
        below = np.flatnonzero(~(self._levels(centers, threads) > centers[:, 1]))
        (some,) = read_only(turned[below])
        found = self._queries.contacts(kind, some, "all", threads, most, ContactRoom())
        found = taken(found, np.flatnonzero(~from_behind(found, centers[below])))
        ints = np.stack([below[found.query], self._ids(found.triangle)])
        floats = np.stack([found.penetration, found.normal, found.point])
        return Contacts(ints, _all_turned_back(floats), found.material)

    def sweep(self, kind: int, row: Floats, motion: Floats) -> SweepHit | None:
        hits = self.sweeps(kind, row[np.newaxis], motion, 1, 1)
        if isnan(hits.distance[0]):
            return None
        fraction, distance = float(hits.fraction[0]), float(hits.distance[0])
        normal, point = glm.vec3(hits.normal[0]), glm.vec3(hits.point[0])
        material = int(hits.material[0])
        return SweepHit(fraction, distance, normal, point, int(hits.triangle[0]), material)

    def sweeps(
        self, kind: int, rows: Floats, motions: Floats, count: int, threads: int | None
    ) -> SweepHits:
        turned = _turned_rows(kind, rows)
        (moved,) = read_only(motions * _UPSIDE_DOWN)
        hits = self._queries.sweeps(kind, turned, moved, count, threads)
        centers = centers_of(kind, turned)
        unseen = np.broadcast_to(~self._is_outside(centers, threads), count)
        # Who stands on ground thinner than its size touches the underside from behind.
        above = np.broadcast_to(self._levels(centers, threads) > centers[:, 1], count)
        hits.distance[unseen | (above & (hits.fraction == 0.0))] = np.nan
        return self._turned_hits(hits)


def put_hits(hits: Any, rows: Int64s, others: Any, from_rows: Int64s) -> None:
    """Write some rows of hits over rows of other hits."""
    for values, new in zip(hits, others, strict=True):
        values[rows] = new[from_rows]


def from_behind(contacts: Contacts, centers: Floats) -> Bools:
    """Tell which contacts lead shapes with centers (n, 3) through the triangle to its front."""
    away = centers[contacts.query] - contacts.point
    return np.asarray((away * contacts.normal).sum(axis=1) < 0.0)


def taken(contacts: Contacts, rows: Int64s) -> Contacts:
    """Return some of the contacts."""
    ints = np.stack([contacts.query[rows], contacts.triangle[rows]])
    floats = np.stack([contacts.penetration[rows], contacts.normal[rows], contacts.point[rows]])
    return Contacts(ints, floats, contacts.material[rows])


def _turned(place: Floats3) -> Floats3:
    x, y, z = place
    return x, -y, z


def _turned_rows(kind: int, rows: Floats) -> Floats:
    """Return shapes upside down."""
    turned = rows.copy()
    turned[:, _UPS[kind]] *= -1.0
    turned.setflags(write=False)
    return turned


def _turned_back(vector: glm.vec3) -> glm.vec3:
    return glm.vec3(vector.x, 0.0 - vector.y, vector.z)


def _all_turned_back(vectors: Floats) -> Floats:
    """Return vectors upside down, and never -0."""
    return np.asarray(vectors * _UPSIDE_DOWN + 0.0)
