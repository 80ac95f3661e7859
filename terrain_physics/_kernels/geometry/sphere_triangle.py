"""Sphere against triangle: the move that takes the sphere out."""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.closest_point import (
    FACE,
    ON_FEATURE,
    closest_on_triangle,
    direction_off_segment,
    triangle_normal,
)
from terrain_physics._kernels.math.vec3 import Vec3, choose, dot, length, scale, subtract

# What `ball_at_origin` says. IN_DOUBT: touching, and the center may lie on an edge.
APART = 0
TOUCHING = 1
IN_DOUBT = 2


@kernel(inline=True)
def ball_at_origin(
    radius: float, a: Vec3, b: Vec3, c: Vec3, two_sided: bool
) -> tuple[int, Vec3, Vec3, Vec3]:
    """Return (verdict, penetration, its unit direction, the closest point of the triangle).

    Without branches, so that loops over many pairs are vectorized. In doubt, what follows the
    verdict may be wrong: `ball_on_edge` knows.
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
    # No less than the sum of lengths that decides, and quicker: hardly any need that one.
    sizes = (
        radius
        + (abs(a[0]) + abs(a[1]) + abs(a[2]))
        + (abs(b[0]) + abs(b[1]) + abs(b[2]))
        + (abs(c[0]) + abs(c[1]) + abs(c[2]))
    )
    near_edge = (not at_face) & (distance <= 2.0 * ON_FEATURE * sizes)
    verdict = (IN_DOUBT if near_edge else TOUCHING) if touching else APART
    return verdict, choose(at_face, out, off), choose(at_face, front, away), point


@kernel
def ball_on_edge(
    radius: float, a: Vec3, b: Vec3, c: Vec3, move: Vec3, direction: Vec3, point: Vec3
) -> tuple[Vec3, Vec3]:
    """Return (penetration, unit direction) in doubt; the rest is what `ball_at_origin` said."""
    if length(point) > ON_FEATURE * (radius + length(a) + length(b) + length(c)):
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
    # Everything relative to the center: exact near it, whatever the distance from the origin.
    a, b, c = subtract(a, center), subtract(b, center), subtract(c, center)
    verdict, move, direction, point = ball_at_origin(radius, a, b, c, two_sided)
    if verdict == APART:
        return False, (0.0, 0.0, 0.0)
    if verdict == IN_DOUBT:
        move, _ = ball_on_edge(radius, a, b, c, move, direction, point)
    return True, move
