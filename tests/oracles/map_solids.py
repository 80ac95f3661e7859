"""The solid of height maps as closed boxes of cells: a slow, obviously correct oracle of sides."""

import numpy as np
from numpy.typing import NDArray

from terrain_physics import HeightMap

Floats = NDArray[np.float64]

# How deep ground of unlimited thickness is here.
DEPTH = 4096.0


def faces_of(
    land: HeightMap, diagonal: str | NDArray[np.bool_], *, endless: bool = False
) -> Floats:
    """Return the triangles (n, 3, 3) of all cells, each a closed solid, fronts outwards.

    ``endless`` ground goes on for ten cells around the map. A diagonal for each cell tells which
    go from b to d.
    """
    around = 10 if endless else 0
    heights = np.pad(land.heights.astype(np.float64), around, mode="edge") * land.height_scale
    holes = np.pad(land.holes[:], around, mode="edge")
    (x0, y0, z0), (cell_x, cell_z) = land.origin64, land.cell_size
    triangles: list[list[Floats]] = []
    depth = min(land.thickness, DEPTH)
    flipped = _flipped(diagonal, around, holes.shape)
    for row, column in np.argwhere(~holes):
        own = heights[row : row + 2, column : column + 2]
        if np.isnan(own).any():
            continue
        xs = x0 + (column - around + np.arange(2)) * cell_x
        zs = z0 + (row - around + np.arange(2)) * cell_z
        top = np.array([[[xs[i], y0 + own[j, i], zs[j]] for i in range(2)] for j in range(2)])
        triangles += _cell(top, depth, bool(flipped[row, column]))
    return np.array(triangles).reshape(-1, 3, 3)


def _flipped(
    diagonal: str | NDArray[np.bool_], around: int, shape: tuple[int, ...]
) -> NDArray[np.bool_]:
    if not isinstance(diagonal, str):
        return np.pad(diagonal, around, mode="edge")
    rows, columns = np.indices(shape) - around
    if diagonal == "alternating":
        return np.asarray((rows + columns) % 2 != 0)
    return np.full(shape, diagonal == "b-d")


def _cell(top: Floats, depth: float, flipped: bool) -> list[list[Floats]]:
    """Return the triangles of one cell; ``top`` (2, 2, 3) are its corners by row and column."""
    d, c, a, b = top.reshape(4, 3)
    halves = [(a, b, d), (b, c, d)] if flipped else [(a, b, c), (a, c, d)]
    down = np.array([0.0, depth, 0.0])
    found = [[p, q, r] for p, q, r in halves]
    found += [[p - down, r - down, q - down] for p, q, r in halves]
    for p, q in ((a, b), (b, c), (c, d), (d, a)):
        if tuple(p) < tuple(q):  # split alike from both sides
            found += [[p, p - down, q - down], [p, q - down, q]]
        else:
            found += [[q, p - down, q - down], [q, p, p - down]]
    return found


def outer_faces(triangles: Floats) -> Floats:
    """Return the triangles of cells of one map without the walls between two cells."""
    keys = np.sort(np.round(triangles, 9).view("f8,f8,f8").reshape(-1, 3), axis=1)
    _, index, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    outer: Floats = triangles[counts[index.reshape(-1)] == 1]
    return outer


def ray_hits(triangles: Floats, origin: Floats, direction: Floats, slack: float = 0.0) -> float:
    """Return how far a ray from outside goes until it enters; infinity if it never does.

    Triangles are larger by a share, ``slack``, or smaller: their edges are hit, or are not.
    """
    a = triangles[:, 0]
    u, v = triangles[:, 1] - a, triangles[:, 2] - a
    normal = np.cross(u, v)
    slope = normal @ direction
    with np.errstate(divide="ignore", invalid="ignore"):
        along = ((a - origin) * normal).sum(axis=1) / slope
        point = origin + along[:, np.newaxis] * direction - a
        square = (normal * normal).sum(axis=1)
        s = (np.cross(point, v) * normal).sum(axis=1) / square
        t = (np.cross(u, point) * normal).sum(axis=1) / square
    hit = (slope < 0.0) & (along >= 0.0)
    hit &= (s >= -slack) & (t >= -slack) & (s + t <= 1.0 + slack)
    return float(along[hit].min(initial=np.inf))


def closest(triangles: Floats, point: Floats) -> tuple[float, Floats]:
    """Return the distance of a point outside from the solid, and the nearest point."""
    a, b, c = triangles.swapaxes(0, 1)
    normal = np.cross(b - a, c - a)
    square = (normal * normal).sum(axis=1, keepdims=True)
    foot = point - (((point - a) * normal).sum(axis=1, keepdims=True) / square) * normal
    inside = np.ones(len(a), dtype=bool)
    for p, q in ((a, b), (b, c), (c, a)):
        inside &= (np.cross(q - p, foot - p) * normal).sum(axis=1) >= 0.0
    found = [foot[inside]]
    for p, q in ((a, b), (b, c), (c, a)):
        line = q - p
        share = ((point - p) * line).sum(axis=1) / (line * line).sum(axis=1)
        found.append(p + np.clip(share, 0.0, 1.0)[:, np.newaxis] * line)
    places = np.concatenate(found)
    distances = np.sqrt(((places - point) ** 2).sum(axis=1))
    return float(distances.min()), places[distances.argmin()]


def travel(triangles: Floats, radius: float, start: Floats, motion: Floats) -> float:
    """Return the part of a motion that a ball outside makes until it touches; 1 if it is free."""
    length = float(np.sqrt(motion @ motion))
    direction, along = motion / length, 0.0
    while along < length:
        gap = closest(triangles, start + along * direction)[0] - radius
        if gap < 1e-9:
            break
        along += gap
    return min(along / length, 1.0)
