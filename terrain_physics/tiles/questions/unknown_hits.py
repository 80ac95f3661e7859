"""Hits where a path comes to the box of a tile that is not loaded: what is there is unknown."""

import math
from typing import TypeVar

import numpy as np
from pyglm import glm

from terrain_physics._kernels.types import Floats, Int64s
from terrain_physics.surface.results import RayHit, RayHits, SweepHit, SweepHits, marked
from terrain_physics.tiles.questions.paths import Paths
from terrain_physics.tiles.questions.tile_bounds import TileBounds

_Hits = TypeVar("_Hits", RayHits, SweepHits)


def with_unknown(
    hits: _Hits, paths: Paths, bounds: TileBounds, places: Floats, numbers: Int64s
) -> _Hits:
    """Return hits after unknown ones were written where paths come to missing tiles.

    That is at ``places`` along them, to the tiles of these ``numbers``; -1: to none.
    """
    rows = np.flatnonzero(numbers >= 0)
    starts, ways, _ = (np.broadcast_to(own, (len(numbers), 3))[rows] for own in paths[:3])
    far = places[rows]
    points = starts + ways * far[:, np.newaxis]
    if isinstance(hits, SweepHits):
        x, y, z = ways.T
        hits.fraction[rows], far = far, far * np.sqrt(x * x + y * y + z * z)
        points = np.clip(points, *bounds.corners(numbers[rows]))
    hits.distance[rows], hits.point[rows], hits.normal[rows] = far, points, 0.0
    hits.triangle[rows], hits.material[rows] = -1, 0
    return marked(hits, numbers >= 0)


def unknown_ray_hit(paths: Paths, place: float) -> RayHit:
    """Return what `with_unknown` writes for one ray."""
    point = paths.starts[0] + paths.ways[0] * place
    return RayHit(place, glm.vec3(point), glm.vec3(0), -1, unknown=True)


def unknown_sweep_hit(paths: Paths, bounds: TileBounds, place: float, number: int) -> SweepHit:
    """Return what `with_unknown` writes for one shape."""
    way, (lower, upper) = paths.ways[0], bounds.corners(np.array([number]))
    point = np.clip(paths.starts[0] + way * place, lower[0], upper[0])
    x, y, z = way.tolist()
    distance = place * math.sqrt(x * x + y * y + z * z)
    return SweepHit(place, distance, glm.vec3(0), glm.vec3(point), -1, unknown=True)
