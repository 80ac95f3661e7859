"""Depth of a body in the ground, measured by samples; knows nothing of the library's methods.

The ground is split from a to c, cells are 1 m, outside the border goes on.
"""

import numpy as np

_RNG = np.random.default_rng(5)
_BALL = _RNG.normal(size=(400, 3))
_BALL /= np.linalg.norm(_BALL, axis=1)[:, None]
_BALL[:, 1] = -np.abs(_BALL[:, 1])
_BALL = np.vstack([_BALL, [0.0, -1.0, 0.0]])

_STEPS = np.linspace(-1.0, 1.0, 9)
_BOX = np.stack(np.meshgrid(_STEPS, _STEPS, _STEPS), axis=-1).reshape(-1, 3)
_BOX = _BOX[np.abs(_BOX).max(axis=1) == 1.0]
# Edges densely: where an edge of a box crosses a ridge, neither corners nor samples show it.
_ALONG = np.linspace(-1.0, 1.0, 129)
_EDGES = np.array(
    [
        np.insert(np.full((129, 2), (s, t), dtype=float), axis, _ALONG, axis=1)
        for axis in range(3)
        for s in (-1, 1)
        for t in (-1, 1)
    ]
).reshape(-1, 3)
_BOX = np.vstack([_BOX, _EDGES])


def surface(heights, x, z):
    """Return the height of the ground at points, by the plane of the triangle there."""
    rows, columns = heights.shape
    x = np.clip(x, 0.0, columns - 1)
    z = np.clip(z, 0.0, rows - 1)
    column = np.minimum(np.floor(x).astype(int), columns - 2)
    row = np.minimum(np.floor(z).astype(int), rows - 2)
    u, v = x - column, z - row
    a, b, c, d = (
        heights[row + down, column + right].astype(np.float64)
        for down, right in ((1, 0), (1, 1), (0, 1), (0, 0))
    )
    return np.where(
        u + v <= 1.0,
        (1.0 - u - v) * d + u * c + v * a,
        (u + v - 1.0) * b + (1.0 - u) * a + (1.0 - v) * c,
    )


def ball_depth(heights, centers, radii):
    """Return how far the deepest sample of any ball lies below the ground; negative above."""
    points = _BALL * np.reshape(radii, (-1, 1, 1)) + np.reshape(centers, (-1, 1, 3))
    return float((surface(heights, points[..., 0], points[..., 2]) - points[..., 1]).max())


def box_depth(heights, center, half_extents, rotation):
    """Return the same of a box: its surface under the ground, or the ground's samples inside it."""
    half_extents = np.asarray(half_extents)
    points = (_BOX * half_extents) @ rotation.T + center
    below = float((surface(heights, points[:, 0], points[:, 2]) - points[:, 1]).max())
    reach = np.linalg.norm(half_extents)
    row_0, column_0 = (max(int(center[i] - reach), 0) for i in (2, 0))
    row_1 = min(int(center[2] + reach) + 2, heights.shape[0])
    column_1 = min(int(center[0] + reach) + 2, heights.shape[1])
    if row_1 <= row_0 or column_1 <= column_0:
        return below
    rows, columns = np.mgrid[row_0:row_1, column_0:column_1]
    samples = np.stack([columns, heights[rows, columns], rows], axis=-1).reshape(-1, 3) - center
    inside = (half_extents - np.abs(samples @ rotation)).min(axis=1).max()
    return max(below, float(inside))
