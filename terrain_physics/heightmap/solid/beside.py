"""What a height map has beside its surface, its sides and its underside: each answers questions."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from terrain_physics._kernels.heightmap.solid.reach import NEAR_SIDES, NEAR_UNDERSIDE
from terrain_physics._kernels.heightmap.solid.sides import SIDES_OF_CELL, UNDERSIDE
from terrain_physics._kernels.surface.shapes import BOX, CAPSULE, SPHERE
from terrain_physics._kernels.types import Bools, Bytes, Floats, Int64s, read_only
from terrain_physics.heightmap.queries import MapQueries
from terrain_physics.heightmap.solid.side_mesh import SideMesh
from terrain_physics.heightmap.solid.still import StillMap
from terrain_physics.surface.contact_room import ContactRoom
from terrain_physics.surface.ground_arrays import Materials
from terrain_physics.surface.results import (
    Contacts,
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


class Walls(Beside):
    """The sides of a map."""

    __slots__ = ("_materials", "_mesh")

    bit = NEAR_SIDES

    def __init__(self, mesh: SideMesh, materials: Materials | None) -> None:
        self._mesh, self._materials = mesh, materials

    def _made_of(self, cells: Int64s) -> Bytes:
        """Return the materials of cells (n,), 0 for -1."""
        found = np.zeros(len(cells), np.uint8)
        if self._materials is not None:
            hit = cells >= 0
            found[hit] = self._materials.take(cells[hit])
        return found

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

    def _ids(self, triangles: Int64s) -> Int64s:
        own = self._first + SIDES_OF_CELL * (triangles >> 1) + (triangles & 1)
        return np.where(triangles >= 0, own, -1)

    def _levels(self, places: Floats, threads: int | None) -> Floats:
        """Return the heights of the underside at places (n, 3), upside down."""
        xs, zs = read_only(*np.ascontiguousarray(places[:, ::2].T))
        return self._queries.heights(xs, zs, threads)

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


def from_behind(contacts: Contacts, centers: Floats) -> Bools:
    """Tell which contacts lead shapes with centers (n, 3) through the triangle to its front."""
    away = centers[contacts.query] - contacts.point
    return np.asarray((away * contacts.normal).sum(axis=1) < 0.0)


def taken(contacts: Contacts, rows: Int64s) -> Contacts:
    """Return some of the contacts."""
    ints = np.stack([contacts.query[rows], contacts.triangle[rows]])
    floats = np.stack([contacts.penetration[rows], contacts.normal[rows], contacts.point[rows]])
    return Contacts(ints, floats, contacts.material[rows])


def _turned_rows(kind: int, rows: Floats) -> Floats:
    """Return shapes upside down."""
    turned = rows.copy()
    turned[:, _UPS[kind]] *= -1.0
    turned.setflags(write=False)
    return turned


def _all_turned_back(vectors: Floats) -> Floats:
    """Return vectors upside down, and never -0."""
    return np.asarray(vectors * _UPSIDE_DOWN + 0.0)
