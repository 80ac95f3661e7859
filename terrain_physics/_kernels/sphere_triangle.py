"""Sphere against triangle: the move that takes the sphere out."""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.closest_point import (
    FACE,
    ON_FEATURE,
    closest_on_triangle,
    direction_off_segment,
    triangle_normal,
)
from terrain_physics._kernels.vec3 import Vec3, dot, length, scale, subtract


@kernel
def sphere_triangle(
    center: Vec3, radius: float, a: Vec3, b: Vec3, c: Vec3, two_sided: bool
) -> tuple[bool, Vec3]:
    """Return (whether they touch, penetration of the sphere)."""
    # Everything relative to the center: exact near it, whatever the distance from the origin.
    a, b, c = subtract(a, center), subtract(b, center), subtract(c, center)
    has_area, normal = triangle_normal(a, b, c)
    feature, point = closest_on_triangle(a, b, c, has_area, normal)
    distance2 = dot(point, point)
    if distance2 > radius * radius:
        return False, (0.0, 0.0, 0.0)
    if feature == FACE:
        above = -dot(normal, a)
        if two_sided and above < 0.0:
            return True, scale(normal, -(radius + above))
        return True, scale(normal, max(radius - above, 0.0))
    distance = math.sqrt(distance2)
    if distance <= ON_FEATURE * (radius + length(a) + length(b) + length(c)):
        if not has_area:
            normal = direction_off_segment(a, b, c)
        return True, scale(normal, radius)
    return True, scale(point, -max(radius - distance, 0.0) / distance)
