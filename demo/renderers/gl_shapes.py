"""Unit shapes as triangles: rows of a place and of what tells a shape's parts apart, (n, 6)."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def ball() -> Floats:
    """Return a ball of radius 1; the last column is the sign of z, for capsules to part at."""
    around, up = 32, 16
    turn = np.linspace(0.0, 2.0 * np.pi, around + 1)
    # Twice the equator, once for each half.
    rise = np.concatenate([np.linspace(-0.5, 0.0, up // 2 + 1), np.linspace(0.0, 0.5, up // 2 + 1)])
    sign = np.repeat([-1.0, 1.0], up // 2 + 1)
    rows = []
    for k in range(len(rise)):
        height, wide = np.sin(np.pi * rise[k]), np.cos(np.pi * rise[k])
        ring = np.zeros((around + 1, 6))
        ring[:, 0], ring[:, 1], ring[:, 2] = wide * np.cos(turn), wide * np.sin(turn), height
        ring[:, 5] = sign[k]
        rows.append(ring)
    grid = np.stack(rows)
    a, b, c, d = grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]
    return np.stack([a, b, c, a, c, d], axis=2).reshape(-1, 6)


def box() -> Floats:
    """Return a box of half extents 1, and normals."""
    rows = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            for p, q in ((-1, -1), (1, -1), (1, 1), (-1, -1), (1, 1), (-1, 1)):
                place, normal = np.zeros(3), np.zeros(3)
                place[axis] = normal[axis] = sign
                place[(axis + 1) % 3], place[(axis + 2) % 3] = p * sign, q
                rows.append(np.concatenate([place, normal]))
    return np.stack(rows)


SHAPES = (ball, box, ball)
