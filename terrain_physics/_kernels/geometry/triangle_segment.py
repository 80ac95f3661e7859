"""The point of a triangle that is nearest to a line segment."""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.closest_point import (
    closest_on_segment,
    closest_on_triangle,
    triangle_normal,
)
from terrain_physics._kernels.math.vec3 import Vec3, add, add_scaled, cross, dot, subtract


@kernel
def _nearer(best: tuple[float, Vec3, Vec3], place: Vec3, point: Vec3) -> tuple[float, Vec3, Vec3]:
    """Return the nearer of the best (squared distance, place, point) and another pair."""
    gap = subtract(place, point)
    square = dot(gap, gap)
    return (square, place, point) if square < best[0] else best


@kernel
def nearest_to_segment(start: Vec3, end: Vec3, a: Vec3, b: Vec3, c: Vec3) -> tuple[Vec3, Vec3]:
    """Return (a point of the segment, a point of the triangle) where they are nearest.

    Ties go to the start of the segment, then its end, then the edges of the triangle in order.
    """
    has_area, normal = triangle_normal(subtract(a, start), subtract(b, start), subtract(c, start))
    axis = subtract(end, start)
    if has_area:
        first, last = dot(normal, subtract(start, a)), dot(normal, subtract(end, a))
        if min(first, last) <= 0.0 <= max(first, last) and first != last:
            place = add_scaled(start, axis, first / (first - last))
            if _is_over(place, a, b, c, normal):
                return place, place
    _, point = closest_on_triangle(
        subtract(a, start), subtract(b, start), subtract(c, start), has_area, normal
    )
    best = (dot(point, point), start, add(start, point))
    _, point = closest_on_triangle(
        subtract(a, end), subtract(b, end), subtract(c, end), has_area, normal
    )
    best = _nearer(best, end, add(end, point))
    for k in range(3):
        p = a if k == 0 else (b if k == 1 else c)
        q = b if k == 0 else (c if k == 1 else a)
        best = _nearer(best, add(p, closest_on_segment(subtract(start, p), subtract(end, p))), p)
        edge = subtract(q, p)
        across = cross(axis, edge)
        size = dot(across, across)
        if size > 0.0:
            share = dot(cross(subtract(p, start), edge), across) / size
            place = add_scaled(start, axis, min(max(share, 0.0), 1.0))
            point = closest_on_segment(subtract(p, place), subtract(q, place))
            best = _nearer(best, place, add(place, point))
    return best[1], best[2]


@kernel(inline=True)
def _is_over(point: Vec3, a: Vec3, b: Vec3, c: Vec3, normal: Vec3) -> bool:
    """Tell whether a point's foot lies on the face, borders included."""
    p, q, r = subtract(a, point), subtract(b, point), subtract(c, point)
    return (
        dot(normal, cross(p, subtract(q, p))) >= 0.0
        and dot(normal, cross(q, subtract(r, q))) >= 0.0
        and dot(normal, cross(r, subtract(p, r))) >= 0.0
    )
