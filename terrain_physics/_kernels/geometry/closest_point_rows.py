"""Rows of closest points: loops around the kernels of closest points."""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.closest_point import (
    closest_on_segment,
    closest_on_triangle,
    triangle_normal,
)
from terrain_physics._kernels.math.rows import segment_at, triangle_at, vector_at
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


@kernel(inline=True)
def _put(out: Floats, i: int, closest: Vec3) -> None:
    for k in range(3):
        out[i, k] = closest[k] + 0.0  # never -0


@kernel
def closest_on_triangle_rows(points: Floats, triangles: Floats, out: Floats) -> None:
    """Write closest points (n, 3) of triangles (n, 3, 3); both inputs have n rows or one."""
    for i in range(out.shape[0]):
        _put(out, i, point_to_triangle(vector_at(points, i), *triangle_at(triangles, i)))


@kernel
def closest_on_segment_rows(points: Floats, segments: Floats, out: Floats) -> None:
    """Write closest points (n, 3) of segments (n, 2, 3); both inputs have n rows or one."""
    for i in range(out.shape[0]):
        _put(out, i, point_to_segment(vector_at(points, i), *segment_at(segments, i)))
