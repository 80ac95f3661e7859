"""Shapes against triangles in NumPy, float64: how far apart, and how a ball gets out.

Nothing here is imported from ``terrain_physics``. Distances are the least over all features, tried
one after the other; boxes are in ``box_hulls.py``.
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


def pushes_of_ball(center: Array, radius: float, corners: Array) -> tuple[Array, Array, Array]:
    """Return (distances, penetrations, closest points) of one ball and n triangles, front solid."""
    feet, inside, heights = feet_on_triangles(center, corners)
    apart = center - feet
    distances = np.linalg.norm(apart, axis=1)
    unit = apart / np.where(distances > 0, distances, 1)[:, None]
    pushes = np.where(
        inside[:, None],
        (radius - heights)[:, None] * normals_of(corners),
        (radius - distances)[:, None] * unit,
    )
    return distances, pushes, feet


def distance_of_segment(start: Array, end: Array, corners: Array) -> Array:
    """Return the distances of a segment from n triangles, by a fine search along the segment.

    The distance from a triangle is a convex function along a line: thirds of it are dropped.
    """
    low, high = np.zeros(len(corners)), np.ones(len(corners))

    def distance(share: Array) -> Array:
        points = start + share[:, None] * (end - start)
        feet, _, _ = feet_on_triangles(points, corners)
        return np.asarray(np.linalg.norm(points - feet, axis=1))

    for _ in range(60):
        first, second = low + (high - low) / 3, high - (high - low) / 3
        left = distance(first) <= distance(second)
        low, high = np.where(left, low, first), np.where(left, second, high)
    return distance((low + high) / 2)
