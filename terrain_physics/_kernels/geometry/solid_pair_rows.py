"""Rows of pairs of spheres, boxes and capsules: every input has n rows, or one row for all."""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.capsule_box import capsule_aabb, capsule_obb
from terrain_physics._kernels.geometry.capsule_triangle import capsule_triangle
from terrain_physics._kernels.geometry.obb_obb import obb_obb
from terrain_physics._kernels.geometry.solid_pairs import (
    aabb_aabb,
    aabb_sphere,
    capsule_capsule,
    capsule_sphere,
    obb_sphere,
    sphere_sphere,
)
from terrain_physics._kernels.math.rows import (
    aabb_at,
    capsule_at,
    obb_at,
    put_move,
    sphere_at,
    triangle_at,
)
from terrain_physics._kernels.types import Floats


@kernel
def sphere_sphere_rows(spheres: Floats, others: Floats, out: Floats) -> None:
    """Write penetrations (n, 3) of spheres x y z r."""
    for i in range(out.shape[0]):
        put_move(out, i, sphere_sphere(*sphere_at(spheres, i), *sphere_at(others, i)))


@kernel
def aabb_aabb_rows(
    lowers: Floats, uppers: Floats, other_lowers: Floats, other_uppers: Floats, out: Floats
) -> None:
    """Write penetrations (n, 3) of axis-aligned boxes."""
    for i in range(out.shape[0]):
        other = aabb_at(other_lowers, other_uppers, i)
        put_move(out, i, aabb_aabb(*aabb_at(lowers, uppers, i), *other))


@kernel
def aabb_sphere_rows(lowers: Floats, uppers: Floats, spheres: Floats, out: Floats) -> None:
    """Write penetrations (n, 3) of axis-aligned boxes, out of spheres x y z r."""
    for i in range(out.shape[0]):
        put_move(out, i, aabb_sphere(*aabb_at(lowers, uppers, i), *sphere_at(spheres, i)))


@kernel
def obb_sphere_rows(
    centers: Floats, half_extents: Floats, rotations: Floats, spheres: Floats, out: Floats
) -> None:
    """Write penetrations (n, 3) of oriented boxes, out of spheres x y z r."""
    for i in range(out.shape[0]):
        box = obb_at(centers, half_extents, rotations, i)
        put_move(out, i, obb_sphere(*box, *sphere_at(spheres, i)))


@kernel
def obb_obb_rows(
    centers: Floats,
    half_extents: Floats,
    rotations: Floats,
    other_centers: Floats,
    other_half_extents: Floats,
    other_rotations: Floats,
    out: Floats,
) -> None:
    """Write penetrations (n, 3) of oriented boxes."""
    for i in range(out.shape[0]):
        box = obb_at(centers, half_extents, rotations, i)
        other = obb_at(other_centers, other_half_extents, other_rotations, i)
        put_move(out, i, obb_obb(*box, *other))


@kernel
def capsule_sphere_rows(capsules: Floats, spheres: Floats, out: Floats) -> None:
    """Write penetrations (n, 3) of capsules ax ay az bx by bz r, out of spheres x y z r."""
    for i in range(out.shape[0]):
        put_move(out, i, capsule_sphere(*capsule_at(capsules, i), *sphere_at(spheres, i)))


@kernel
def capsule_capsule_rows(capsules: Floats, others: Floats, out: Floats) -> None:
    """Write penetrations (n, 3) of capsules ax ay az bx by bz r."""
    for i in range(out.shape[0]):
        put_move(out, i, capsule_capsule(*capsule_at(capsules, i), *capsule_at(others, i)))


@kernel
def capsule_aabb_rows(capsules: Floats, lowers: Floats, uppers: Floats, out: Floats) -> None:
    """Write penetrations (n, 3) of capsules ax ay az bx by bz r, out of axis-aligned boxes."""
    for i in range(out.shape[0]):
        put_move(out, i, capsule_aabb(*capsule_at(capsules, i), *aabb_at(lowers, uppers, i)))


@kernel
def capsule_obb_rows(
    capsules: Floats, centers: Floats, half_extents: Floats, rotations: Floats, out: Floats
) -> None:
    """Write penetrations (n, 3) of capsules ax ay az bx by bz r, out of oriented boxes."""
    for i in range(out.shape[0]):
        box = obb_at(centers, half_extents, rotations, i)
        put_move(out, i, capsule_obb(*capsule_at(capsules, i), *box))


@kernel
def capsule_triangle_rows(
    capsules: Floats, triangles: Floats, two_sided: bool, out: Floats
) -> None:
    """Write penetrations (n, 3) of capsules ax ay az bx by bz r, out of triangles."""
    for i in range(out.shape[0]):
        triangle = triangle_at(triangles, i)
        put_move(out, i, capsule_triangle(*capsule_at(capsules, i), *triangle, two_sided))
