"""All triangles asked one by one, in NumPy; nothing is taken from the library."""

from collections import defaultdict
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def closest_distances(points: Array, corners: Array) -> Array:
    """Return the distances (m, n) of points (m, 3) to triangles (n, 3, 3)."""
    a, b, c = (corners[None, :, k] - points[:, None] for k in range(3))
    best = np.full(a.shape[:2], np.inf)
    for start, end in ((a, b), (b, c), (c, a)):
        edge = end - start
        square = (edge * edge).sum(-1)
        share = -(start * edge).sum(-1) / np.where(square > 0, square, 1.0)
        foot = start + np.clip(share, 0, 1)[..., None] * edge
        best = np.minimum(best, np.linalg.norm(foot, axis=-1))
    # Inside the face: where the barycentric weights of the foot are all positive.
    normal = np.cross(b - a, c - a)
    square = (normal * normal).sum(-1)
    weights = [(np.cross(p, q) * normal).sum(-1) for p, q in ((a, b), (b, c), (c, a))]
    inside = (np.min(weights, axis=0) >= 0) & (square > 0)
    height = np.abs((a * normal).sum(-1)) / np.sqrt(np.where(square > 0, square, 1.0))
    return np.where(inside, np.minimum(best, height), best)


def axis_distances(starts: Array, ends: Array, corners: Array) -> Array:
    """Return the distances (m, n) of segments, two points (m, 3), to triangles (n, 3, 3).

    An end of the segment is nearest, or a corner, or it passes an edge or crosses the face.
    """
    best = np.minimum(closest_distances(starts, corners), closest_distances(ends, corners))
    a, way = starts[:, None], (ends - starts)[:, None]
    length = np.maximum((way * way).sum(-1), 1e-300)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    low = ((a - corners[:, 0]) * normal).sum(-1)
    high = low + (way * normal).sum(-1)
    crosses = (low * high <= 0) & (low != high)
    through = a + (low / np.where(crosses, low - high, 1.0))[..., None] * way
    for k in range(3):
        corner, edge = corners[:, k], corners[:, (k + 1) % 3] - corners[:, k]
        crosses &= (np.cross(normal, edge) * (through - corner)).sum(-1) >= 0
        square, across = (edge * edge).sum(-1), (way * edge).sum(-1)
        apart = a - corner
        bottom = length * square - across**2
        top = across * (apart * edge).sum(-1) - square * (apart * way).sum(-1)
        for share in (top / np.where(bottom > 0, bottom, 1.0), -(apart * way).sum(-1) / length):
            place = apart + np.clip(share, 0, 1)[..., None] * way
            along = np.clip((place * edge).sum(-1) / square, 0, 1)
            best = np.minimum(best, np.linalg.norm(place - along[..., None] * edge, axis=-1))
    return np.where(crosses, 0.0, best)


def boxes_meet(corners: Array, lower: Array, upper: Array) -> NDArray[np.bool_]:
    """Tell which closed boxes of triangles (n, 3, 3) meet a box."""
    low, high = corners.min(axis=1), corners.max(axis=1)
    return np.asarray(((low <= upper) & (high >= lower)).all(axis=1))


def touch(first: Array, second: Array) -> NDArray[np.bool_]:
    """Tell for rows of triangles or segments (m, k, 3), one of a pair with area, if they touch.

    Separating axes: exact where all coordinates are small whole numbers.
    """
    edges = [np.roll(rows, -1, axis=1) - rows for rows in (first, second)]
    normals = [np.cross(rows[:, 0], rows[:, 1]) for rows in edges]
    axes = [*normals]
    for i in range(first.shape[1]):
        axes += [np.cross(edges[0][:, i], edges[1][:, j]) for j in range(second.shape[1])]
    for normal in normals:
        for rows in edges:
            axes += [np.cross(normal, rows[:, k]) for k in range(rows.shape[1])]
    apart = np.zeros(len(first), bool)
    for axis in axes:
        one, two = ((rows * axis[:, None]).sum(-1) for rows in (first, second))
        apart |= (one.max(1) < two.min(1)) | (one.min(1) > two.max(1))
    return ~apart


def touching_pairs(first: Array, second: Array) -> NDArray[np.int64]:
    """Return which of triangles (n, 3, 3) and (m, 3, 3) touch, sorted."""
    i, j = (part.ravel() for part in np.indices((len(first), len(second))))
    yes = touch(first[i], second[j])
    return np.stack([i[yes], j[yes]], axis=1)


def self_pairs(vertices: Array, faces: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return which faces i < j meet, by the rules of `TriangleMesh.self_intersections`.

    Every face must have an area and vertices must be at different places.
    """
    alike: defaultdict[int, list[Array]] = defaultdict(list)
    found = []
    for i, j in combinations(range(len(faces)), 2):
        common = sorted(set(faces[i]) & set(faces[j]))
        own = [k for k in faces[i] if k not in common]
        other = [k for k in faces[j] if k not in common]
        if len(common) == 2:
            a, b = vertices[common]
            p, q = (np.cross(b - a, vertices[k[0]] - a) for k in (own, other))
            if not np.cross(p, q).any() and p @ q > 0:
                found.append((i, j))
        elif len(common) == 3:
            found.append((i, j))
        else:
            alike[len(common)].append(np.array([i, j, *faces[i], *faces[j], *own, *other]))
    for shared, rows in alike.items():
        places = np.split(np.array(rows), [2, 5, 8, 11 - shared], axis=1)
        one, two, side, other_side = (vertices[corners] for corners in places[1:])
        meet = touch(side, two)  # without a common corner, a side is the whole triangle
        if shared:
            meet |= touch(other_side, one)
        found += map(tuple, places[0][meet].tolist())
    return np.array(sorted(found), np.int64).reshape(-1, 2)
