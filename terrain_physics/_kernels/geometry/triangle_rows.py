"""Rows of spheres or boxes and triangles: loops around the kernels of one pair."""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.obb_triangle import FACE_COUNT, obb_triangle
from terrain_physics._kernels.geometry.sphere_triangle import sphere_triangle
from terrain_physics._kernels.math.rows import corner, matrix, put_move, row3, row_of
from terrain_physics._kernels.types import Floats


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
