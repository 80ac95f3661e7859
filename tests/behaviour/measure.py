"""Distance between bodies and the ground; knows nothing of the library's methods.

The nearest point of a triangle: Ericson, "Real-Time Collision Detection", 5.1.5, as arrays.
"""

import math

import numpy as np

from terrain_physics import BoxCollider
from tests.helpers import penetration


def _cross(a, b):
    """Return the cross products of vectors (.., 3); of few of them NumPy's take far longer."""
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)


def _clamped(p, a, b):
    """Return the squared distance of points to segments."""
    ab = b - a
    t = np.clip(((p - a) * ab).sum(-1) / (ab * ab).sum(-1), 0.0, 1.0)
    off = p - a - t[..., None] * ab
    return (off * off).sum(-1)


def distances(points, corners):
    """Return the distances of points (.., 3) to triangles (.., 3, 3)."""
    a, b, c = corners[..., 0, :], corners[..., 1, :], corners[..., 2, :]
    normal = _cross(b - a, c - a)
    size = np.linalg.norm(normal, axis=-1)
    above = ((points - a) * normal).sum(-1) / size
    inside = np.ones(above.shape, dtype=bool)
    for p, q in ((a, b), (b, c), (c, a)):
        inside &= (_cross(q - p, points - p) * normal).sum(-1) >= 0.0
    edges = np.minimum(_clamped(points, a, b), _clamped(points, b, c))
    edges = np.sqrt(np.minimum(edges, _clamped(points, c, a)))
    return np.where(inside, np.abs(above), edges)


def ball_gaps(heights, centers, radius, reach):
    """Return the gaps between balls and the ground within ``reach`` cells; < 0: as deep.

    Of an upright capsule, its lower ball is the nearest: what is as near to a point farther up
    its axis is solid ground straight below too.
    """
    rows, columns = heights.shape
    row = np.clip(np.floor(centers[:, 2]).astype(int), 0, rows - 2)
    column = np.clip(np.floor(centers[:, 0]).astype(int), 0, columns - 2)
    around = np.arange(-reach, reach + 1)
    r = np.clip(row[:, None] + around, 0, rows - 2)[:, :, None]
    k = np.clip(column[:, None] + around, 0, columns - 2)[:, None, :]
    r, k = np.broadcast_arrays(r, k)
    a = np.stack([k, heights[r + 1, k], r + 1], -1).astype(np.float64)
    b = np.stack([k + 1, heights[r + 1, k + 1], r + 1], -1).astype(np.float64)
    c = np.stack([k + 1, heights[r, k + 1], r], -1).astype(np.float64)
    d = np.stack([k, heights[r, k], r], -1).astype(np.float64)
    corners = np.stack([np.stack([a, c, d], -2), np.stack([a, b, c], -2)])
    best = distances(centers[:, None, None], corners).min((0, 2, 3))
    below = penetration.surface(heights, centers[:, 0], centers[:, 2]) > centers[:, 1]
    return np.where(below, -best, best) - radius


def box_gaps(heights, centers, half_extents):
    """Return about the gaps between upright boxes and the ground, by samples, straight down."""
    return np.array(
        [-penetration.box_depth(heights, center, half_extents, np.eye(3)) for center in centers]
    )


def _depths_of_box(half_extents, corners):
    """Return how deep triangles (n, 3, 3) are in a box at the origin, along its axes; < 0: apart.

    Separating axes: the shortest way out is along a face of one of them or across two edges.
    """
    half_extents = np.asarray(half_extents, dtype=float)
    edges = corners[:, [1, 2, 0]] - corners
    axes = [np.broadcast_to(axis, (len(corners), 3)) for axis in np.eye(3)]
    axes.append(_cross(edges[:, 0], edges[:, 1]))
    axes += [_cross(edges[:, i], axis) for i in range(3) for axis in np.eye(3)]
    depth = np.full(len(corners), np.inf)
    for axis in axes:
        size = np.linalg.norm(axis, axis=-1)
        unit = axis / np.where(size > 1e-9, size, 1.0)[:, None]
        reach = np.abs(unit) @ half_extents
        along = (corners * unit[:, None]).sum(-1)
        overlap = np.minimum(reach - along.min(1), along.max(1) + reach)
        depth = np.where(size > 1e-9, np.minimum(depth, overlap), depth)
    return depth


def _depths_of_capsule(axis, radius, corners):
    """Return the same for a capsule around the origin: its axis from -axis to axis.

    The distance to a triangle is convex along the axis, so thirds of it lead to the least.
    """
    if not axis.any():  # a ball
        return radius - distances(axis, corners)
    low, high = np.full(len(corners), -1.0), np.ones(len(corners))
    for _ in range(60):
        thirds = low + (high - low) / 3, high - (high - low) / 3
        first, second = thirds
        to_first, to_second = distances(np.array(thirds)[..., None] * axis, corners)
        nearer = to_first < to_second
        low, high = np.where(nearer, low, first), np.where(nearer, second, high)
    return radius - distances(0.5 * (low + high)[:, None] * axis, corners)


def depth_in_triangles(mover, collider, corners):
    """Return how deep a body is in any of these triangles (n, 3, 3), each by itself; < 0: apart."""
    center, turn = np.array(mover.position64), np.array(mover.state().linear).reshape(3, 3)
    if isinstance(collider, BoxCollider):
        reach = np.linalg.norm(collider.half_extents64)
    else:
        reach = 0.5 * getattr(collider, "height", 2 * collider.radius)
    corners = corners - center
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    lower, upper = np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)
    corners = corners[((lower <= reach) & (upper >= -reach)).all(1)]
    if len(corners) == 0:
        return -math.inf
    if isinstance(collider, BoxCollider):
        return float(_depths_of_box(collider.half_extents64, corners @ turn).max())
    axis = turn[:, 1] * (reach - collider.radius)
    return float(_depths_of_capsule(axis, collider.radius, corners).max())


def depth_in_map(mover, collider, heights):
    """Return how deep a body is in a map of 1 m cells, by samples; < 0: above it."""
    center, turn = np.array(mover.position64), np.array(mover.state().linear).reshape(3, 3)
    if isinstance(collider, BoxCollider):
        return penetration.box_depth(heights, center, np.array(collider.half_extents64), turn)
    half = 0.5 * getattr(collider, "height", 2 * collider.radius) - collider.radius
    centers = center + np.linspace(-1, 1, 9)[:, None] * (turn[:, 1] * half)
    return penetration.ball_depth(heights, centers, collider.radius)
