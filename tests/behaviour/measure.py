"""Distance between bodies and a height map of 1 m cells, exact; knows nothing of the library.

The nearest point of a triangle: Ericson, "Real-Time Collision Detection", 5.1.5, as arrays.
"""

import numpy as np

from tests import penetration


def _clamped(p, a, b):
    """Return the squared distance of points to segments."""
    ab = b - a
    t = np.clip(((p - a) * ab).sum(-1) / (ab * ab).sum(-1), 0.0, 1.0)
    off = p - a - t[..., None] * ab
    return (off * off).sum(-1)


def distances(points, corners):
    """Return the distances of points (.., 3) to triangles (.., 3, 3)."""
    a, b, c = corners[..., 0, :], corners[..., 1, :], corners[..., 2, :]
    normal = np.cross(b - a, c - a)
    size = np.linalg.norm(normal, axis=-1)
    above = ((points - a) * normal).sum(-1) / size
    inside = np.ones(above.shape, dtype=bool)
    for p, q in ((a, b), (b, c), (c, a)):
        inside &= (np.cross(q - p, points - p) * normal).sum(-1) >= 0.0
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
    best = np.full(len(centers), np.inf)
    for down in range(-reach, reach + 1):
        for right in range(-reach, reach + 1):
            r = np.clip(row + down, 0, rows - 2)
            k = np.clip(column + right, 0, columns - 2)
            a = np.stack([k, heights[r + 1, k], r + 1], -1).astype(np.float64)
            b = np.stack([k + 1, heights[r + 1, k + 1], r + 1], -1).astype(np.float64)
            c = np.stack([k + 1, heights[r, k + 1], r], -1).astype(np.float64)
            d = np.stack([k, heights[r, k], r], -1).astype(np.float64)
            for corners in (np.stack([a, c, d], 1), np.stack([a, b, c], 1)):
                best = np.minimum(best, distances(centers, corners))
    below = penetration.surface(heights, centers[:, 0], centers[:, 2]) > centers[:, 1]
    return np.where(below, -best, best) - radius


def box_gaps(heights, centers, half_extents):
    """Return about the gaps between upright boxes and the ground, by samples, straight down."""
    return np.array(
        [-penetration.box_depth(heights, center, half_extents, np.eye(3)) for center in centers]
    )
