"""Grounds of the behaviour scenarios."""

import math

import numpy as np

from terrain_physics import HeightMap, TriangleMesh
from tests.helpers.draws import Draws
from tests.helpers.portable import tan


def tilted(along_x, along_z=0.0):
    """Return a plane with such slopes, exact: whole heights with a scale, or parts of 1/8 m."""
    z, x = np.mgrid[:200, :200]
    if along_z == 0.0 and along_x != 0.0:
        return HeightMap(x, height_scale=along_x)
    return HeightMap(x * along_x + z * along_z)


def foot_of_slope(degrees):
    """Return ground that is flat up to x = 20 and rises beyond; cells of 0.25 m."""
    rise = np.maximum(np.arange(400) - 80.0, 0.0)
    return HeightMap(
        np.tile(rise, (400, 1)), cell_size=0.25, height_scale=0.25 * tan(math.radians(degrees))
    )


STAIRS_AT, STAIRS_WIDE = 5.0, 24.0


def stairs_map(rise, tread, count=8):
    """Return stairs up along x from x = 5; risers are one cell of 0.05 m."""
    x = np.arange(round((STAIRS_AT + tread * count + 5.0) / 0.05)) * 0.05
    level = np.clip(np.floor((x - STAIRS_AT) / tread + 1e-9), 0, count)
    return HeightMap(
        np.tile(level, (round(STAIRS_WIDE / 0.05), 1)), cell_size=0.05, height_scale=rise
    )


def boxes(*spans):
    """Return a mesh of boxes, each from a low to a high corner."""
    vertices: list[list[float]] = []
    faces: list[list[int]] = []
    for low, high in spans:
        start = len(vertices)
        vertices += [
            [(low, high)[i][0], (low, high)[j][1], (low, high)[k][2]]
            for i in range(2)
            for j in range(2)
            for k in range(2)
        ]
        for a, b, c, d in (
            (0, 1, 3, 2),
            (4, 6, 7, 5),
            (0, 4, 5, 1),
            (2, 3, 7, 6),
            (0, 2, 6, 4),
            (1, 5, 7, 3),
        ):
            faces += [[start + a, start + b, start + c], [start + a, start + c, start + d]]
    return TriangleMesh(vertices, faces)


def stairs_mesh(rise, tread, count=8):
    """Return the same stairs as boxes that stand side by side, the last one long."""
    far = STAIRS_AT + tread * count + 5.0
    spans = [((-10.0, -1.0, -STAIRS_WIDE), (STAIRS_AT, 0.0, STAIRS_WIDE))]
    for k in range(count):
        start = STAIRS_AT + k * tread
        end = start + tread if k < count - 1 else far
        spans.append(((start, -1.0, -STAIRS_WIDE), (end, (k + 1) * rise, STAIRS_WIDE)))
    return boxes(*spans)


def triangulated(seed, rough=0.0, size=40, draws=Draws):
    """Return a floor of random triangles: corners moved, diagonals and windings at random."""
    rng = draws(seed)
    z, x = np.mgrid[: size + 1, : size + 1].astype(np.float64)
    moved = rng.uniform(-0.3, 0.3, 2, size + 1, size + 1)
    y = rng.uniform(0.0, rough, *x.shape) if rough else np.zeros_like(x)
    vertices = np.stack([x + moved[0], y, z + moved[1]], axis=-1).reshape(-1, 3)
    corner = np.arange((size + 1) ** 2).reshape(size + 1, size + 1)
    a, b = corner[:-1, :-1].ravel(), corner[:-1, 1:].ravel()
    c, d = corner[1:, 1:].ravel(), corner[1:, :-1].ravel()
    other = rng.uniform(0.0, 1.0, len(a)) < 0.5
    first = np.where(other[:, None], np.stack([a, b, c], 1), np.stack([b, c, d], 1))
    second = np.where(other[:, None], np.stack([a, c, d], 1), np.stack([b, d, a], 1))
    faces = np.concatenate([first, second])[rng.order(2 * len(a))]
    flipped = rng.uniform(0.0, 1.0, len(faces)) < 0.5
    faces[flipped] = faces[flipped][:, ::-1]
    return TriangleMesh(vertices, faces)


def scattered(seed, size=40, draws=Draws):
    """Return a floor of separate triangles that share no corners with those beside them.

    Each cell is cut into a fan of 3 to 8 triangles around a point in it.
    """
    rng = draws(seed)
    corners = []
    for row in range(size):
        for column in range(size):
            middle = rng.uniform(0.3, 0.7, 2)
            cuts = np.sort(np.concatenate([np.arange(4.0), rng.uniform(0.0, 4.0, rng.below(5))]))
            rim = [_around(cut) for cut in cuts]
            for p, q in zip(rim, [*rim[1:], rim[0]], strict=True):
                for u, v in (middle, p, q):
                    corners.append((column + u, 0.0, row + v))
    return TriangleMesh(corners, np.arange(len(corners)).reshape(-1, 3))


def _around(cut):
    """Return a point on the border of the unit square, 0 <= cut < 4."""
    side, part = int(cut), cut - int(cut)
    return ((part, 0.0), (1.0, part), (1.0 - part, 1.0), (0.0, 1.0 - part))[side]


def folded(left, right, *, gutter=0.0):
    """Return two flanks that meet at x = 20, of these slopes along x, and one along z."""
    z, x = np.mgrid[:41, :41].astype(np.float64)
    return HeightMap(np.where(x < 20, (20 - x) * left, (x - 20) * right) + z * gutter)


def pit(degrees):
    """Return a corner: three flanks that fall towards one point."""
    z, x = np.mgrid[:41, :41].astype(np.float64)
    steep = tan(math.radians(degrees))
    return HeightMap(steep * np.maximum(np.maximum(20 - x, x - 20), 20 - z))


def room(*, ceiling=None, gap=None):
    """Return a floor with a low ceiling, or with two walls ``gap`` apart along z at x = 0."""
    spans = [((-20.0, -1.0, -20.0), (20.0, 0.0, 20.0))]
    if ceiling is not None:
        spans.append(((-20.0, ceiling, -20.0), (20.0, ceiling + 1.0, 20.0)))
    if gap is not None:
        spans.append(((-20.0, -1.0, -10.0), (-gap / 2, 5.0, 10.0)))
        spans.append(((gap / 2, -1.0, -10.0), (20.0, 5.0, 10.0)))
    return boxes(*spans)
