"""The hull of ``boxes.py`` in float64, for many boxes at once: quick, but not exact."""

from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

SIGNS = np.array(list(product((-1.0, 1.0), repeat=3)))
TRIPLES = np.array(list(combinations(range(24), 3)))


def depths(
    centers: NDArray[np.float64],
    half_extents: NDArray[np.float64],
    rotations: NDArray[np.float64],
    triangles: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the shortest moves out in meters, shape (n,); negative where apart.

    The plane through every three of the 24 corner differences gives a direction; how far the
    differences reach that way is enough to get out, whichever way it is. The least is the depth,
    since the facets are among the planes.
    """
    result = np.empty(len(centers))
    for i in range(len(centers)):
        corners = centers[i] + SIGNS * half_extents[i] @ rotations[i].T
        points = (triangles[i][:, None] - corners[None]).reshape(24, 3)
        a, b, c = points[TRIPLES[:, 0]], points[TRIPLES[:, 1]], points[TRIPLES[:, 2]]
        normals = np.cross(b - a, c - a)
        lengths = np.linalg.norm(normals, axis=1)
        # Three points all but on one line point nowhere.
        kept = lengths > 1e-12 * np.ptp(points) ** 2
        heights = (normals[kept] / lengths[kept, None]) @ points.T
        result[i] = min(heights.max(axis=1).min(), (-heights.min(axis=1)).min())
    return result
