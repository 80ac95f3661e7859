"""Sphere against triangle: the move that takes the sphere out."""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.closest_point import (
    FACE,
    closest_on_triangle,
    direction_off_segment,
    triangle_normal,
)
from terrain_physics._kernels.math.vec3 import Vec3, choose, dot, length, scale, subtract
from terrain_physics._kernels.tolerances import ON_FEATURE_SHARE

# Verdicts of `sphere_at_origin`. IN_DOUBT: touching, and the center may lie on an edge.
APART = 0
TOUCHING = 1
IN_DOUBT = 2


@kernel(inline=True)
def sphere_at_origin(
    radius: float, a: Vec3, b: Vec3, c: Vec3, two_sided: bool
) -> tuple[int, Vec3, Vec3, Vec3]:
    """Return (verdict, penetration, its unit direction, the closest point of the triangle).

    There are no branches, so that loops over many pairs are vectorized. If the verdict is IN_DOUBT,
    the values after it may be wrong: `sphere_on_edge` corrects them.
    """
    has_area, normal = triangle_normal(a, b, c)
    feature, point = closest_on_triangle(a, b, c, has_area, normal)
    distance2 = dot(point, point)
    touching = not distance2 > radius * radius
    at_face = feature == FACE
    above = -dot(normal, a)
    from_back = two_sided & (above < 0.0)
    front = choose(from_back, scale(normal, -1.0), normal)
    out = scale(front, radius + above if from_back else max(radius - above, 0.0))
    distance = math.sqrt(distance2)
    divisor = distance if distance > 0.0 else 1.0
    away = scale(point, -1.0 / divisor)
    off = scale(point, -max(radius - distance, 0.0) / divisor)
    # At least the sum of lengths that `sphere_on_edge` decides by, and faster; few pairs need that.
    sizes = (
        radius
        + (abs(a[0]) + abs(a[1]) + abs(a[2]))
        + (abs(b[0]) + abs(b[1]) + abs(b[2]))
        + (abs(c[0]) + abs(c[1]) + abs(c[2]))
    )
    near_edge = (not at_face) & (distance <= 2.0 * ON_FEATURE_SHARE * sizes)
    verdict = (IN_DOUBT if near_edge else TOUCHING) if touching else APART
    return verdict, choose(at_face, out, off), choose(at_face, front, away), point


@kernel
def sphere_on_edge(
    radius: float, a: Vec3, b: Vec3, c: Vec3, move: Vec3, direction: Vec3, point: Vec3
) -> tuple[Vec3, Vec3]:
    """Return (penetration, unit direction) in doubt; the arguments are from `sphere_at_origin`."""
    if length(point) > ON_FEATURE_SHARE * (radius + length(a) + length(b) + length(c)):
        return move, direction
    has_area, normal = triangle_normal(a, b, c)
    if not has_area:
        normal = direction_off_segment(a, b, c)
    return scale(normal, radius), normal


@kernel
def sphere_triangle(
    center: Vec3, radius: float, a: Vec3, b: Vec3, c: Vec3, two_sided: bool
) -> tuple[bool, Vec3]:
    """Return (whether they touch, penetration of the sphere)."""
    # Relative to the center: exact near it, however far from the origin.
    a, b, c = subtract(a, center), subtract(b, center), subtract(c, center)
    verdict, move, direction, point = sphere_at_origin(radius, a, b, c, two_sided)
    if verdict == APART:
        return False, (0.0, 0.0, 0.0)
    if verdict == IN_DOUBT:
        move, _ = sphere_on_edge(radius, a, b, c, move, direction, point)
    return True, move
