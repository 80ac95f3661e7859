"""Rows of spheres or boxes and triangles: loops around the kernels of one pair."""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.obb_triangle import FACE_COUNT, obb_triangle
from terrain_physics._kernels.geometry.sphere_triangle import sphere_triangle
from terrain_physics._kernels.math.rows import obb_at, put_move, sphere_at, triangle_at
from terrain_physics._kernels.types import Floats


@kernel
def sphere_triangle_rows(spheres: Floats, triangles: Floats, two_sided: bool, out: Floats) -> None:
    """Write penetrations (n, 3) of spheres and triangles; both inputs have n rows or one."""
    for i in range(out.shape[0]):
        found = sphere_triangle(*sphere_at(spheres, i), *triangle_at(triangles, i), two_sided)
        put_move(out, i, found)


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
        box, triangle = obb_at(centers, half_extents, rotations, i), triangle_at(triangles, i)
        put_move(out, i, obb_triangle(*box, *triangle, two_sided, faces))
