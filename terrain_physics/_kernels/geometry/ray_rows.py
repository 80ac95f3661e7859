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
from terrain_physics._kernels.math.rows import (
    aabb_at,
    capsule_at,
    obb_at,
    sphere_at,
    triangle_at,
    vector_at,
)
from terrain_physics._kernels.types import Floats


@kernel(inline=True)
def _put(out: Floats, i: int, distance: float) -> None:
    out[i] = distance + 0.0 if distance < math.inf else math.nan  # + 0.0: never -0


@kernel
def ray_triangle_rows(origins: Floats, directions: Floats, triangles: Floats, out: Floats) -> None:
    """Write distances to triangles (n, 3, 3)."""
    for i in range(out.shape[0]):
        origin, direction = vector_at(origins, i), vector_at(directions, i)
        _put(out, i, ray_triangle(origin, direction, *triangle_at(triangles, i)))


@kernel
def ray_sphere_rows(origins: Floats, directions: Floats, spheres: Floats, out: Floats) -> None:
    """Write distances to spheres (n, 4)."""
    for i in range(out.shape[0]):
        origin, direction = vector_at(origins, i), vector_at(directions, i)
        _put(out, i, ray_sphere(origin, direction, *sphere_at(spheres, i)))


@kernel
def ray_aabb_rows(
    origins: Floats, directions: Floats, lowers: Floats, uppers: Floats, out: Floats
) -> None:
    """Write distances to boxes between corners (n, 3)."""
    for i in range(out.shape[0]):
        origin, direction = vector_at(origins, i), vector_at(directions, i)
        _put(out, i, ray_aabb(origin, direction, *aabb_at(lowers, uppers, i)))


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
        origin, direction = vector_at(origins, i), vector_at(directions, i)
        _put(out, i, ray_obb(origin, direction, *obb_at(centers, half_extents, rotations, i)))


@kernel
def ray_capsule_rows(origins: Floats, directions: Floats, capsules: Floats, out: Floats) -> None:
    """Write distances to capsules (n, 7)."""
    for i in range(out.shape[0]):
        origin, direction = vector_at(origins, i), vector_at(directions, i)
        _put(out, i, ray_capsule(origin, direction, *capsule_at(capsules, i)))
