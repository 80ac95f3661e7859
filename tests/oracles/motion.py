"""Rigid motions as matrices of float64, from their definitions."""

import numpy as np

from tests.helpers.portable import cos, length_of, sin, times


def turn(axis, angle):
    """Return the matrix (3, 3) that turns about an axis, in radians (Rodrigues)."""
    x, y, z = np.asarray(axis, dtype=np.float64) / length_of(axis)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + sin(angle) * cross + (1.0 - cos(angle)) * times(cross, cross)


def pose(position, rotation=None):
    """Return the matrix (4, 4) that turns and then shifts."""
    matrix = np.eye(4)
    matrix[:3, 3] = position
    if rotation is not None:
        matrix[:3, :3] = rotation
    return matrix


def out_of(frame, point):
    """Return where a point of a frame (4, 4) is in the world."""
    return frame[:3, :3] @ np.asarray(point) + frame[:3, 3]


def into(frame, point):
    """Return where a point of the world is in a frame (4, 4)."""
    return frame[:3, :3].T @ (np.asarray(point) - frame[:3, 3])
