"""Rows of closest points: loops around the kernels of closest points."""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.closest_point import (
    closest_on_segment,
    closest_on_triangle,
    triangle_normal,
)
from terrain_physics._kernels.math.rows import corner, row3, row_of
from terrain_physics._kernels.math.vec3 import Vec3, add, subtract
from terrain_physics._kernels.types import Floats


@kernel
def point_to_triangle(point: Vec3, a: Vec3, b: Vec3, c: Vec3) -> Vec3:
    """Return the point of a triangle closest to a point."""
    a, b, c = subtract(a, point), subtract(b, point), subtract(c, point)
    has_area, normal = triangle_normal(a, b, c)
    _, closest = closest_on_triangle(a, b, c, has_area, normal)
    return add(closest, point)


@kernel
def point_to_segment(point: Vec3, a: Vec3, b: Vec3) -> Vec3:
    """Return the point of a segment closest to a point."""
    return add(closest_on_segment(subtract(a, point), subtract(b, point)), point)


@kernel
def closest_on_triangle_rows(points: Floats, triangles: Floats, out: Floats) -> None:
    """Write closest points (n, 3) of triangles (n, 3, 3); both inputs have n rows or one."""
    for i in range(out.shape[0]):
        t = row_of(triangles, i)
        closest = point_to_triangle(
            row3(points, row_of(points, i)),
            corner(triangles, t, 0),
            corner(triangles, t, 1),
            corner(triangles, t, 2),
        )
        for k in range(3):
            out[i, k] = closest[k] + 0.0  # never -0


@kernel
def closest_on_segment_rows(points: Floats, segments: Floats, out: Floats) -> None:
    """Write closest points (n, 3) of segments (n, 2, 3); both inputs have n rows or one."""
    for i in range(out.shape[0]):
        s = row_of(segments, i)
        closest = point_to_segment(
            row3(points, row_of(points, i)),
            corner(segments, s, 0),
            corner(segments, s, 1),
        )
        for k in range(3):
            out[i, k] = closest[k] + 0.0  # never -0
