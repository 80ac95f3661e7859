"""Pairs of shapes by the row: the loops around the pair kernels."""

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.obb_triangle import FACE_COUNT, obb_triangle
from terrain_physics._kernels.sphere_triangle import sphere_triangle
from terrain_physics._kernels.vec3 import Mat3, Vec3

Floats = NDArray[np.float64]


@kernel(inline=True)
def row_of(values: Floats, i: int) -> int:
    """Return the row that serves pair i: the only one, if there is one."""
    return i if values.shape[0] > 1 else 0


@kernel(inline=True)
def row3(values: Floats, i: int) -> Vec3:
    """Return the first three numbers of a row."""
    return (float(values[i, 0]), float(values[i, 1]), float(values[i, 2]))


@kernel(inline=True)
def corner(triangles: Floats, i: int, k: int) -> Vec3:
    """Return corner k of triangle i."""
    return (float(triangles[i, k, 0]), float(triangles[i, k, 1]), float(triangles[i, k, 2]))


@kernel(inline=True)
def matrix(rotations: Floats, i: int) -> Mat3:
    """Return matrix i row by row."""
    return (
        float(rotations[i, 0, 0]),
        float(rotations[i, 0, 1]),
        float(rotations[i, 0, 2]),
        float(rotations[i, 1, 0]),
        float(rotations[i, 1, 1]),
        float(rotations[i, 1, 2]),
        float(rotations[i, 2, 0]),
        float(rotations[i, 2, 1]),
        float(rotations[i, 2, 2]),
    )


@kernel(inline=True)
def put_move(out: Floats, i: int, touching: bool, move: Vec3) -> None:
    """Write a penetration, NaN where the shapes are apart."""
    for k in range(3):
        out[i, k] = move[k] if touching else np.nan


@kernel
def sphere_triangle_rows(spheres: Floats, triangles: Floats, two_sided: bool, out: Floats) -> None:
    """Write penetrations (n, 3) of spheres and triangles; both inputs have n rows or one."""
    for i in range(out.shape[0]):
        s = row_of(spheres, i)
        t = row_of(triangles, i)
        touching, move = sphere_triangle(
            row3(spheres, s),
            float(spheres[s, 3]),
            corner(triangles, t, 0),
            corner(triangles, t, 1),
            corner(triangles, t, 2),
            two_sided,
        )
        put_move(out, i, touching, move)


@kernel
def obb_triangle_rows(
    centers: Floats,
    half_extents: Floats,
    rotations: Floats,
    triangles: Floats,
    two_sided: bool,
    out: Floats,
) -> None:
    """Write penetrations (n, 3) of boxes and triangles; every input has n rows or one."""
    faces = np.empty((FACE_COUNT, 4), dtype=np.float64)
    for i in range(out.shape[0]):
        t = row_of(triangles, i)
        touching, move = obb_triangle(
            row3(centers, row_of(centers, i)),
            row3(half_extents, row_of(half_extents, i)),
            matrix(rotations, row_of(rotations, i)),
            corner(triangles, t, 0),
            corner(triangles, t, 1),
            corner(triangles, t, 2),
            two_sided,
            faces,
        )
        put_move(out, i, touching, move)
