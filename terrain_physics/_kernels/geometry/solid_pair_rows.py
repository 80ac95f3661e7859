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
from terrain_physics._kernels.math.rows import corner, matrix, put_move, row3, row_of
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.types import Floats


@kernel(inline=True)
def _second_end(capsules: Floats, i: int) -> Vec3:
    return (float(capsules[i, 3]), float(capsules[i, 4]), float(capsules[i, 5]))


@kernel
def sphere_sphere_rows(spheres: Floats, others: Floats, out: Floats) -> None:
    """Write penetrations (n, 3) of spheres x y z r."""
    for i in range(out.shape[0]):
        s, t = row_of(spheres, i), row_of(others, i)
        touching, move = sphere_sphere(
            row3(spheres, s), float(spheres[s, 3]), row3(others, t), float(others[t, 3])
        )
        put_move(out, i, touching, move)


@kernel
def aabb_aabb_rows(
    lowers: Floats, uppers: Floats, other_lowers: Floats, other_uppers: Floats, out: Floats
) -> None:
    """Write penetrations (n, 3) of axis-aligned boxes."""
    for i in range(out.shape[0]):
        touching, move = aabb_aabb(
            row3(lowers, row_of(lowers, i)),
            row3(uppers, row_of(uppers, i)),
            row3(other_lowers, row_of(other_lowers, i)),
            row3(other_uppers, row_of(other_uppers, i)),
        )
        put_move(out, i, touching, move)


@kernel
def aabb_sphere_rows(lowers: Floats, uppers: Floats, spheres: Floats, out: Floats) -> None:
    """Write penetrations (n, 3) of axis-aligned boxes, out of spheres x y z r."""
    for i in range(out.shape[0]):
        s = row_of(spheres, i)
        touching, move = aabb_sphere(
            row3(lowers, row_of(lowers, i)),
            row3(uppers, row_of(uppers, i)),
            row3(spheres, s),
            float(spheres[s, 3]),
        )
        put_move(out, i, touching, move)


@kernel
def obb_sphere_rows(
    centers: Floats, half_extents: Floats, rotations: Floats, spheres: Floats, out: Floats
) -> None:
    """Write penetrations (n, 3) of oriented boxes, out of spheres x y z r."""
    for i in range(out.shape[0]):
        s = row_of(spheres, i)
        touching, move = obb_sphere(
            row3(centers, row_of(centers, i)),
            row3(half_extents, row_of(half_extents, i)),
            matrix(rotations, row_of(rotations, i)),
            row3(spheres, s),
            float(spheres[s, 3]),
        )
        put_move(out, i, touching, move)


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
        touching, move = obb_obb(
            row3(centers, row_of(centers, i)),
            row3(half_extents, row_of(half_extents, i)),
            matrix(rotations, row_of(rotations, i)),
            row3(other_centers, row_of(other_centers, i)),
            row3(other_half_extents, row_of(other_half_extents, i)),
            matrix(other_rotations, row_of(other_rotations, i)),
        )
        put_move(out, i, touching, move)


@kernel
def capsule_sphere_rows(capsules: Floats, spheres: Floats, out: Floats) -> None:
    """Write penetrations (n, 3) of capsules ax ay az bx by bz r, out of spheres x y z r."""
    for i in range(out.shape[0]):
        c, s = row_of(capsules, i), row_of(spheres, i)
        touching, move = capsule_sphere(
            row3(capsules, c),
            _second_end(capsules, c),
            float(capsules[c, 6]),
            row3(spheres, s),
            float(spheres[s, 3]),
        )
        put_move(out, i, touching, move)


@kernel
def capsule_capsule_rows(capsules: Floats, others: Floats, out: Floats) -> None:
    """Write penetrations (n, 3) of capsules ax ay az bx by bz r."""
    for i in range(out.shape[0]):
        c, d = row_of(capsules, i), row_of(others, i)
        touching, move = capsule_capsule(
            row3(capsules, c),
            _second_end(capsules, c),
            float(capsules[c, 6]),
            row3(others, d),
            _second_end(others, d),
            float(others[d, 6]),
        )
        put_move(out, i, touching, move)


@kernel
def capsule_aabb_rows(capsules: Floats, lowers: Floats, uppers: Floats, out: Floats) -> None:
    """Write penetrations (n, 3) of capsules ax ay az bx by bz r, out of axis-aligned boxes."""
    for i in range(out.shape[0]):
        c = row_of(capsules, i)
        touching, move = capsule_aabb(
            row3(capsules, c),
            _second_end(capsules, c),
            float(capsules[c, 6]),
            row3(lowers, row_of(lowers, i)),
            row3(uppers, row_of(uppers, i)),
        )
        put_move(out, i, touching, move)


@kernel
def capsule_obb_rows(
    capsules: Floats, centers: Floats, half_extents: Floats, rotations: Floats, out: Floats
) -> None:
    """Write penetrations (n, 3) of capsules ax ay az bx by bz r, out of oriented boxes."""
    for i in range(out.shape[0]):
        c = row_of(capsules, i)
        touching, move = capsule_obb(
            row3(capsules, c),
            _second_end(capsules, c),
            float(capsules[c, 6]),
            row3(centers, row_of(centers, i)),
            row3(half_extents, row_of(half_extents, i)),
            matrix(rotations, row_of(rotations, i)),
        )
        put_move(out, i, touching, move)


@kernel
def capsule_triangle_rows(
    capsules: Floats, triangles: Floats, two_sided: bool, out: Floats
) -> None:
    """Write penetrations (n, 3) of capsules ax ay az bx by bz r, out of triangles."""
    for i in range(out.shape[0]):
        c, t = row_of(capsules, i), row_of(triangles, i)
        touching, move = capsule_triangle(
            row3(capsules, c),
            _second_end(capsules, c),
            float(capsules[c, 6]),
            corner(triangles, t, 0),
            corner(triangles, t, 1),
            corner(triangles, t, 2),
            two_sided,
        )
        put_move(out, i, touching, move)
