"""The points of triangles that are closest to points, in NumPy, float64.

Nothing here is imported from ``terrain_physics``. Distances are the least over all features, tried
one after the other.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def dots(a: Array, b: Array) -> Array:
    return np.asarray((a * b).sum(axis=-1))


def feet_on_segments(points: Array, starts: Array, ends: Array) -> Array:
    """Return the closest points of segments to points."""
    along = ends - starts
    square = dots(along, along)
    share = dots(points - starts, along) / np.where(square > 0, square, 1)
    return starts + np.clip(share, 0, 1)[..., None] * along


def normals_of(corners: Array) -> Array:
    product = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return np.asarray(product / np.linalg.norm(product, axis=1)[:, None])


def feet_on_triangles(point: Array, corners: Array) -> tuple[Array, NDArray[np.bool_], Array]:
    """Return (closest points of n triangles to a point, whether inside the face, heights).

    The point may be one for all, or n.
    """
    normals = normals_of(corners)
    heights = dots(point - corners[:, 0], normals)
    feet = point - heights[:, None] * normals
    inside = np.ones(len(corners), dtype=bool)
    nearest, least = feet, np.full(len(corners), np.inf)
    for k in range(3):
        start, end = corners[:, k], corners[:, (k + 1) % 3]
        inside &= dots(np.cross(end - start, feet - start), normals) >= 0
        foot = feet_on_segments(point, start, end)
        distance = np.linalg.norm(foot - point, axis=1)
        nearest = np.where((distance < least)[:, None], foot, nearest)
        least = np.minimum(least, distance)
    return np.where(inside[:, None], feet, nearest), inside, heights
