"""Rows of rays and shapes: loops around the kernels of rays.

All inputs have n rows or one; ``out`` (n,) receives distances, NaN where missed. Directions have
length 1.
"""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.rays import (
    ray_aabb,
    ray_capsule,
    ray_obb,
    ray_sphere,
    ray_triangle,
)
from terrain_physics._kernels.math.rows import corner, matrix, row3, row_of
from terrain_physics._kernels.types import Floats


@kernel(inline=True)
def _put(out: Floats, i: int, distance: float) -> None:
    out[i] = distance + 0.0 if distance < math.inf else math.nan  # + 0.0: never -0


@kernel
def ray_triangle_rows(origins: Floats, directions: Floats, triangles: Floats, out: Floats) -> None:
    """Write distances to triangles (n, 3, 3)."""
    for i in range(out.shape[0]):
        origin = row3(origins, row_of(origins, i))
        direction = row3(directions, row_of(directions, i))
        t = row_of(triangles, i)
        a, b, c = corner(triangles, t, 0), corner(triangles, t, 1), corner(triangles, t, 2)
        _put(out, i, ray_triangle(origin, direction, a, b, c))


@kernel
def ray_sphere_rows(origins: Floats, directions: Floats, spheres: Floats, out: Floats) -> None:
    """Write distances to spheres (n, 4)."""
    for i in range(out.shape[0]):
        origin = row3(origins, row_of(origins, i))
        direction = row3(directions, row_of(directions, i))
        s = row_of(spheres, i)
        _put(out, i, ray_sphere(origin, direction, row3(spheres, s), float(spheres[s, 3])))


@kernel
def ray_aabb_rows(
    origins: Floats, directions: Floats, lowers: Floats, uppers: Floats, out: Floats
) -> None:
    """Write distances to boxes between corners (n, 3)."""
    for i in range(out.shape[0]):
        origin = row3(origins, row_of(origins, i))
        direction = row3(directions, row_of(directions, i))
        lower, upper = row3(lowers, row_of(lowers, i)), row3(uppers, row_of(uppers, i))
        _put(out, i, ray_aabb(origin, direction, lower, upper))


@kernel
def ray_obb_rows(
    origins: Floats,
    directions: Floats,
    centers: Floats,
    half_extents: Floats,
    rotations: Floats,
    out: Floats,
) -> None:
    """Write distances to boxes: centers and half extents (n, 3), rotations (n, 3, 3)."""
    for i in range(out.shape[0]):
        origin = row3(origins, row_of(origins, i))
        direction = row3(directions, row_of(directions, i))
        center = row3(centers, row_of(centers, i))
        half = row3(half_extents, row_of(half_extents, i))
        axes = matrix(rotations, row_of(rotations, i))
        _put(out, i, ray_obb(origin, direction, center, half, axes))


@kernel
def ray_capsule_rows(origins: Floats, directions: Floats, capsules: Floats, out: Floats) -> None:
    """Write distances to capsules (n, 7)."""
    for i in range(out.shape[0]):
        origin = row3(origins, row_of(origins, i))
        direction = row3(directions, row_of(directions, i))
        c = row_of(capsules, i)
        end = (float(capsules[c, 3]), float(capsules[c, 4]), float(capsules[c, 5]))
        radius = float(capsules[c, 6])
        _put(out, i, ray_capsule(origin, direction, row3(capsules, c), end, radius))
