"""Hits where a path comes to the box of a tile that is not loaded: what is there is unknown."""

from typing import Any, TypeVar

import numpy as np
from pyglm import glm

from terrain_physics._kernels.types import Floats, Int64s
from terrain_physics.surface.results import (
    ClosestPoint,
    ClosestPoints,
    RayHit,
    RayHits,
    SweepHit,
    SweepHits,
    marked,
    new_hit,
)
from terrain_physics.tiles.questions.paths import Paths
from terrain_physics.tiles.questions.tile_bounds import TileBounds

_KINDS: dict[Any, Any] = {RayHits: RayHit, SweepHits: SweepHit, ClosestPoints: ClosestPoint}
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


def only_of(rows: Any) -> Any:
    """Return the only one of the answers to many questions as the answer to one."""
    if isinstance(rows, np.ndarray):
        return rows.item() if rows.ndim == 1 else tuple(rows[0].tolist())
    kind = _KINDS.get(type(rows))
    if kind is None:
        return tuple(map(only_of, rows))
    if np.isnan(rows.distance[0]):
        return None
    parts: list[Any] = [own.item() if own.ndim == 1 else glm.vec3(*own[0].tolist()) for own in rows]
    marks: list[Any] = [bool(rows.unknown[0])] if "unknown" in kind._fields else []
    return new_hit(kind, (*parts, None, None, *marks))
