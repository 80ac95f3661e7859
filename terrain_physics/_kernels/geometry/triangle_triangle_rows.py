"""Rows of pairs of triangles: loops around the kernels of one pair."""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.coplanar_triangles import CROSSING
from terrain_physics._kernels.geometry.triangle_triangle import triangles_cross, triangles_touch
from terrain_physics._kernels.math.rows import triangle_at
from terrain_physics._kernels.types import Bools, Floats


@kernel
def triangles_touch_rows(first: Floats, second: Floats, out: Bools) -> None:
    """Write whether triangles (n, 3, 3) touch (n,); both inputs have n rows or one."""
    for i in range(out.shape[0]):
        out[i] = triangles_touch(*triangle_at(first, i), *triangle_at(second, i))


@kernel
def triangles_cross_rows(first: Floats, second: Floats, out: Floats) -> None:
    """Write the ends (n, 2, 3) of what triangles (n, 3, 3) share; NaN if it is not a segment."""
    for i in range(out.shape[0]):
        kind, start, end = triangles_cross(*triangle_at(first, i), *triangle_at(second, i))
        for axis in range(3):
            out[i, 0, axis] = start[axis] if kind == CROSSING else np.nan
            out[i, 1, axis] = end[axis] if kind == CROSSING else np.nan
