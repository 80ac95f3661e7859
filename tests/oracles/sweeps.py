"""Distances of points and segments from triangles, and when a moving shape first comes so near.

NumPy float64, and nothing from ``terrain_physics``. The distance of two convex shapes of which one
moves along a line is a convex function of the way: it falls, then rises.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Distance = Callable[[Array], Array]


def dots(a: Array, b: Array) -> Array:
    return np.asarray(np.einsum("...k,...k->...", a, b))


def closest_on_segments(points: Array, a: Array, b: Array) -> Array:
    """Return the points of segments a-b nearest to points; all (..., 3)."""
    edge = b - a
    size = dots(edge, edge)
    share = dots(points - a, edge) / np.where(size > 0.0, size, 1.0)
    return np.asarray(a + np.clip(share, 0.0, 1.0)[..., np.newaxis] * edge)


def distance_to_triangle(points: Array, triangle: Array) -> Array:
    """Return the distances of points (n, 3) from one triangle."""
    best = np.full(len(points), np.inf)
    for k in range(3):
        near = closest_on_segments(points, triangle[k], triangle[(k + 1) % 3])
        best = np.minimum(best, np.linalg.norm(points - near, axis=1))
    normal = np.cross(triangle[1] - triangle[0], triangle[2] - triangle[0])
    size = np.linalg.norm(normal)
    if size > 1e-9 * np.abs(triangle - triangle[0]).max() ** 2:
        normal /= size
        inside = np.ones(len(points), dtype=bool)
        for k in range(3):
            edge = triangle[(k + 1) % 3] - triangle[k]
            inside &= np.cross(edge, points - triangle[k]) @ normal >= 0.0
        best = np.where(inside, np.abs((points - triangle[0]) @ normal), best)
    return best


def distance_of_segments(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Return the distances of segments a-b (n, 3) from one segment c-d.

    For each of many points of the one the nearest of the other, and closer and closer around the
    best: the distance is a convex function along the segment.
    """
    low, high = np.zeros(len(a)), np.ones(len(a))
    for _ in range(12):
        shares = np.linspace(low, high, 17, axis=1)
        points = a[:, np.newaxis] + shares[..., np.newaxis] * (b - a)[:, np.newaxis]
        gaps = np.linalg.norm(points - closest_on_segments(points, c, d), axis=2)
        best = gaps.argmin(axis=1)
        step = (high - low) / 16.0
        middle = low + best * step
        low, high = np.maximum(middle - step, 0.0), np.minimum(middle + step, 1.0)
    return np.asarray(gaps.min(axis=1))


def distance_of_axis(centers: Array, half_axis: Array, triangle: Array) -> Array:
    """Return the distances of segments around centers (n, 3) from one triangle."""
    starts, ends = centers - half_axis, centers + half_axis
    best = np.minimum(distance_to_triangle(starts, triangle), distance_to_triangle(ends, triangle))
    for k in range(3):
        gap = distance_of_segments(starts, ends, triangle[k], triangle[(k + 1) % 3])
        best = np.minimum(best, gap)
    normal = np.cross(triangle[1] - triangle[0], triangle[2] - triangle[0])
    size = np.linalg.norm(normal)
    if size > 1e-9 * np.abs(triangle - triangle[0]).max() ** 2:
        normal /= size
        low, high = (starts - triangle[0]) @ normal, (ends - triangle[0]) @ normal
        crosses = (low * high <= 0.0) & (low != high)
        share = low / np.where(crosses, low - high, 1.0)
        through = starts + share[:, np.newaxis] * (ends - starts)
        for k in range(3):
            edge = triangle[(k + 1) % 3] - triangle[k]
            crosses &= np.cross(edge, through - triangle[k]) @ normal >= 0.0
        best = np.where(crosses, 0.0, best)
    return best


def nearest_approach(distance: Distance, length: float) -> tuple[float, float]:
    """Return (travel, distance) where a moving shape is nearest, within a length."""
    low, high = 0.0, length
    for _ in range(14):
        travels = np.linspace(low, high, 33)
        gaps = distance(travels)
        k = int(gaps.argmin())
        low, high = float(travels[max(k - 1, 0)]), float(travels[min(k + 1, 32)])
    return float(travels[k]), float(gaps[k])


def first_approach(distance: Distance, gap: float, nearest: float) -> float:
    """Return when a shape that is ``nearest`` there, and not yet at 0, comes within a gap."""
    low, high = 0.0, nearest
    for _ in range(14):
        travels = np.linspace(low, high, 33)
        within = distance(travels) <= gap
        k = int(within.argmax()) if within.any() else 32
        low, high = float(travels[max(k - 1, 0)]), float(travels[k])
    return high


def ray_triangles(origin: Any, direction: Any, corners: Array) -> tuple[Array, Array]:
    """Return (distances, least weights) of one ray's line and the planes of triangles (n, 3, 3).

    The ray hits a triangle if the distance is >= 0 and the least barycentric weight >= 0. Parallel
    planes: infinity. Moeller and Trumbore's method.
    """
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    product = np.cross(direction, second)
    determinant = dots(first, product)
    scale = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    flat = np.abs(determinant) <= 1e-12 * scale
    inverse = 1.0 / np.where(flat, 1.0, determinant)
    start = np.asarray(origin) - corners[:, 0]
    u = dots(start, product) * inverse
    other = np.cross(start, first)
    v = (other @ np.asarray(direction)) * inverse
    distances = dots(other, second) * inverse
    least = np.minimum(np.minimum(u, v), 1.0 - u - v)
    return np.where(flat, np.inf, distances), np.where(flat, -np.inf, least)
