"""Winding numbers by solid angles: the sum of those under which a point sees all faces.

A. Van Oosterom, J. Strackee, "The Solid Angle of a Plane Triangle" (1983). Not for points on faces.
"""

import numpy as np


def winding_numbers(corners, points):
    """Return how often triangles (n, 3, 3) wind around points (m, 3), before it is rounded."""
    result = np.empty(len(points))
    for start in range(0, len(points), 256):
        some = points[start : start + 256]
        a, b, c = (corners[None, :, k] - some[:, None] for k in range(3))
        la, lb, lc = (np.linalg.norm(v, axis=2) for v in (a, b, c))
        volumes = np.einsum("ijk,ijk->ij", a, np.cross(b, c))
        spread = (
            la * lb * lc
            + np.einsum("ijk,ijk->ij", a, b) * lc
            + np.einsum("ijk,ijk->ij", b, c) * la
            + np.einsum("ijk,ijk->ij", c, a) * lb
        )
        result[start : start + 256] = np.arctan2(volumes, spread).sum(axis=1) / (2.0 * np.pi)
    return result
