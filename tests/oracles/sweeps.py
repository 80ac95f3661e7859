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


def within_edges(points: Array, triangle: Array, normal: Array) -> Array:
    """Tell which points (n, 3) are above or below a triangle, or on its rim."""
    inward = np.cross(normal, np.roll(triangle, -1, axis=0) - triangle)
    return np.asarray((points @ inward.T >= dots(triangle, inward)).all(axis=1))


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
        inside = within_edges(points, triangle, normal)
        best = np.where(inside, np.abs((points - triangle[0]) @ normal), best)
    return best


def distance_of_segments(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Return the distances of segments a-b (n, 3) from one segment c-d.

    An end of one of them is nearest, or the places where the lines are nearest are on both. Those
    come with rounding, and places on both are never too near: clipped, they harm nothing.
    """
    edge, other, apart = b - a, d - c, a - c
    size, across = dots(edge, edge), edge @ other
    bottom = size * (other @ other) - across**2
    top = across * (apart @ other) - (other @ other) * dots(apart, edge)
    share = np.clip(top / np.where(bottom > 0.0, bottom, 1.0), 0.0, 1.0)
    on_first = a + share[:, np.newaxis] * edge
    gaps = [np.linalg.norm(p - closest_on_segments(p, c, d), axis=1) for p in (a, b, on_first)]
    gaps += [np.linalg.norm(p - closest_on_segments(p, a, b), axis=1) for p in (c, d)]
    return np.asarray(np.min(gaps, axis=0))


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
        crosses &= within_edges(through, triangle, normal)
        best = np.where(crosses, 0.0, best)
    return best


def nearest_approach(distance: Distance, length: float) -> tuple[float, float]:
    """Return (travel, distance) where a moving shape is nearest, within a length."""
    low, high = 0.0, length
    for _ in range(8):
        travels = np.linspace(low, high, 129)
        gaps = distance(travels)
        k = int(gaps.argmin())
        low, high = float(travels[max(k - 1, 0)]), float(travels[min(k + 1, 128)])
    return float(travels[k]), float(gaps[k])


def first_approach(distance: Distance, gap: float, nearest: float) -> float:
    """Return when a shape that is ``nearest`` there, and not yet at 0, comes within a gap."""
    low, high = 0.0, nearest
    for _ in range(8):
        travels = np.linspace(low, high, 129)
        within = distance(travels) <= gap
        k = int(within.argmax()) if within.any() else 128
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
