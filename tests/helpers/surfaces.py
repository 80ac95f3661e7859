"""The surface of a height map alone, without its sides and its underside.

Some tests are about every triangle of a surface. They ask here. Each answer is held against that of
the map as solid ground, which is the same but for what its sides and its underside add and hide.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics import AABB, HeightMap, Triangles
from terrain_physics._kernels.heightmap.grid import THICKNESS
from terrain_physics._kernels.tolerances import ON_FEATURE_SHARE
from terrain_physics._kernels.types import read_only
from terrain_physics.heightmap.solid.solid_map import SolidMap
from terrain_physics.surface.ground_arrays import GroundArrays, arrays_alone
from terrain_physics.surface.queries import Queries
from terrain_physics.surface.results import Contacts, RayHits, SweepHits
from terrain_physics.surface.shapes import centers_of, rows_of

_COLUMNS = ("query", "triangle", "penetration", "normal", "point", "material")


class _SurfaceAlone(SolidMap):
    """A map that knows neither its sides nor its underside."""

    @property
    def ground_arrays(self) -> GroundArrays:
        heights, cells, blocks, frame = self.storage.views
        (bottomless,) = read_only(np.where(np.arange(len(frame)) == THICKNESS, math.inf, frame))
        return arrays_alone((heights, cells, blocks, bottomless), self.storage.materials)

    def answer(self, mask: int, ask: Any, *about: Any) -> Any:  # noqa: ARG002
        return ask(self.ground_arrays, *about)

    @property
    def is_bare(self) -> bool:
        return True

    def begin_asking(self, mark: Any) -> GroundArrays:
        super().begin_asking(mark)
        return self.ground_arrays


def surface_of(land: HeightMap) -> HeightMap:
    """Return a map with the samples of another one that knows its surface alone."""
    twin: HeightMap = object.__new__(type(land))
    twin._storage, twin._queries = land._storage, Queries(_SurfaceAlone(land._storage))
    return twin


def own_triangles(land: HeightMap) -> Triangles:
    """Return the triangles of a map that have ids, in their order."""
    (x, _, z), (rows, columns) = land.origin64, land.cell_count
    high = x + columns * land.cell_size[0], 9e37, z + rows * land.cell_size[1]
    found = land.triangles_in(AABB((x, -9e37, z), high), margin=0.0)
    own = found.ids >= 0
    return Triangles(found.vertices[own], found.normals[own], found.ids[own])


def may_be_beside(land: HeightMap, ids: Any) -> NDArray[np.bool_]:
    """Tell which ids may be those of sides or undersides; outside of a map all are -1."""
    return np.asarray((np.asarray(ids) < 0) | (np.asarray(ids) >= 2 * math.prod(land.cell_count)))


def seen_rows(land: HeightMap, centers: NDArray[np.float64], found: Any) -> NDArray[np.intp]:
    """Return the rows of contacts with the surface that solid ground has, too.

    A shape with its center beside the ground, or below it, sees no triangle of it from behind.
    """
    levels = land.height_at(*centers[:, ::2].T.copy())
    outside = ~(levels - land.thickness < centers[:, 1])
    away = centers[found.query] - found.point
    along = (away * found.normal).sum(axis=1)
    # A capsule whose axis passes through a triangle may be led along it.
    is_aside = np.abs(along) <= ON_FEATURE_SHARE * np.sqrt((away * away).sum(axis=1))
    fronts = land.normal_at(*found.point[:, ::2].T.copy())
    behind = np.where(is_aside, (away * fronts).sum(axis=1), along) < 0.0
    return np.flatnonzero(~(behind & outside[found.query]))


def surface_contacts(land: HeightMap, shapes: Any) -> Contacts:
    """Return the contacts of shapes with the surface; all and no others of it are with the map."""
    alone, solid = surface_of(land).contacts(shapes), land.contacts(shapes)
    kind, rows = rows_of("shapes", shapes)
    seen = seen_rows(land, centers_of(kind, rows), alone)
    # Of each query, the contacts with the surface come first.
    many = np.bincount(alone.query[seen], minlength=len(rows))
    place = np.arange(len(solid)) - np.searchsorted(solid.query, solid.query)
    is_first = place < many[solid.query]
    for name in _COLUMNS:
        values = getattr(solid, name)[is_first], getattr(alone, name)[seen]
        assert values[0].tobytes() == values[1].tobytes(), name
    assert may_be_beside(land, solid.triangle[~is_first]).all()
    counts = land.contact_counts(shapes)
    assert counts.tolist() == np.bincount(solid.query, minlength=len(rows)).tolist()
    return alone


def _assert_first(land: HeightMap, alone: Any, solid: Any) -> None:
    """Check that of many hits of solid ground each is that of the surface, or a nearer one."""
    same = np.ones(len(alone.distance), dtype=np.bool_)
    for one, other in zip(alone, solid, strict=True):
        is_same = (one == other) | (np.isnan(one) & np.isnan(other))
        same &= is_same.reshape(len(same), -1).all(axis=1)
    nearer = ~(solid.distance >= alone.distance) & ~np.isnan(solid.distance)
    assert (same | (nearer & may_be_beside(land, solid.triangle))).all()


def surface_hits(land: HeightMap, origins: Any, directions: Any, most: Any = math.inf) -> RayHits:
    """Return the hits of rays on the surface; the map has them, or nearer ones beside it."""
    hits = surface_of(land).raycast_many(origins, directions, most)
    _assert_first(land, hits, land.raycast_many(origins, directions, most))
    return hits


def surface_touches(land: HeightMap, shapes: Any, motions: Any) -> SweepHits:
    """Return the touches of a surface by moving shapes; the map has them, or ones beside it."""
    hits = surface_of(land).sweep_many(shapes, motions)
    _assert_first(land, hits, land.sweep_many(shapes, motions))
    return hits
