"""Pairs of spheres, boxes and capsules: the shortest move that takes the first out of the second.

The question for each pair is where the origin lies in the Minkowski difference of the shapes. For
spheres and capsules, and for a box and a sphere, the difference is a core (a point, segment,
parallelogram or box) grown by the radii. If the origin is outside of the core, the shortest move
leads straight away from the core's nearest point. If it is on a core without volume, the move is
perpendicular to the core; inside a box, it leads through the nearest face.
"""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.closest_point import (
    closest_on_segment,
    direction_off_segment,
)
from terrain_physics._kernels.geometry.segments import direction_across, gap_between_segments
from terrain_physics._kernels.math.rigid import turned, turned_back
from terrain_physics._kernels.math.vec3 import Mat3, Vec3, dot, length, scale, subtract
from terrain_physics._kernels.tolerances import ON_FEATURE_SHARE, TIE_SHARE

APART = 0
AWAY = 1
ON = 2


@kernel
def push_from_core(gap: Vec3, radii: float, size: float) -> tuple[int, Vec3]:
    """Return (APART, AWAY or ON the core, the move if AWAY).

    ``gap`` leads from the second shape's core to the first one's, ``radii`` is the sum of the
    radii, ``size`` the sum of all lengths on which rounding errors depend.
    """
    distance2 = dot(gap, gap)
    if distance2 > radii * radii:
        return APART, (0.0, 0.0, 0.0)
    distance = math.sqrt(distance2)
    if distance <= ON_FEATURE_SHARE * size:
        return ON, (0.0, 0.0, 0.0)
    return AWAY, scale(gap, max(radii - distance, 0.0) / distance)


@kernel
def sphere_sphere(
    center: Vec3, radius: float, other_center: Vec3, other_radius: float
) -> tuple[bool, Vec3]:
    """Return (whether they touch, penetration of the first sphere)."""
    radii = radius + other_radius
    where, move = push_from_core(subtract(center, other_center), radii, radii)
    if where == ON:
        move = (0.0, radii, 0.0)
    return where != APART, move


@kernel
def capsule_sphere(
    a: Vec3, b: Vec3, radius: float, center: Vec3, other_radius: float
) -> tuple[bool, Vec3]:
    """Return (whether they touch, penetration of the capsule)."""
    a, b = subtract(a, center), subtract(b, center)
    radii = radius + other_radius
    gap = closest_on_segment(a, b)
    where, move = push_from_core(gap, radii, radii + length(subtract(b, a)))
    if where == ON:
        move = scale(direction_off_segment(a, b, b), radii)
    return where != APART, move


@kernel
def capsule_capsule(
    a: Vec3, b: Vec3, radius: float, other_a: Vec3, other_b: Vec3, other_radius: float
) -> tuple[bool, Vec3]:
    """Return (whether they touch, penetration of the first capsule).

    If the axes cross, the origin lies in the parallelogram that is their difference. After
    a move, its distance from the origin is at most the length of the move, and exactly that for a
    move perpendicular to it. So the shortest move is the sum of the radii in that direction.
    """
    a, b = subtract(a, other_a), subtract(b, other_a)
    axis, other_axis = subtract(b, a), subtract(other_b, other_a)
    radii = radius + other_radius
    gap = gap_between_segments(a, b, (0.0, 0.0, 0.0), other_axis)
    where, move = push_from_core(gap, radii, radii + length(axis) + length(other_axis))
    if where == ON:
        move = scale(direction_across(axis, other_axis), radii)
    return where != APART, move


@kernel
def move_through_nearest_face(lower: Vec3, upper: Vec3, slack: float) -> Vec3:
    """Return the shortest move that takes a box off the origin, which it contains.

    Ties are decided in the order x, y, z, each first forward and then backward.
    """
    least = -lower[0]
    move = (least, 0.0, 0.0)
    if upper[0] < least - slack:
        least = upper[0]
        move = (-least, 0.0, 0.0)
    if -lower[1] < least - slack:
        least = -lower[1]
        move = (0.0, least, 0.0)
    if upper[1] < least - slack:
        least = upper[1]
        move = (0.0, -least, 0.0)
    if -lower[2] < least - slack:
        least = -lower[2]
        move = (0.0, 0.0, least)
    if upper[2] < least - slack:
        least = upper[2]
        move = (0.0, 0.0, -least)
    return move


@kernel
def aabb_aabb(lower: Vec3, upper: Vec3, other_lower: Vec3, other_upper: Vec3) -> tuple[bool, Vec3]:
    """Return (whether they touch, penetration of the first box)."""
    low, high = subtract(lower, other_upper), subtract(upper, other_lower)
    if max(low[0], low[1], low[2]) > 0.0 or min(high[0], high[1], high[2]) < 0.0:
        return False, (0.0, 0.0, 0.0)
    return True, move_through_nearest_face(low, high, 0.0)


@kernel
def _box_sphere(lower: Vec3, upper: Vec3, radius: float) -> tuple[bool, Vec3]:
    """Return (whether they touch, penetration of the box) for a sphere around the origin."""
    gap = (
        max(lower[0], min(upper[0], 0.0)),
        max(lower[1], min(upper[1], 0.0)),
        max(lower[2], min(upper[2], 0.0)),
    )
    size = radius + length(subtract(upper, lower))
    where, move = push_from_core(gap, radius, size)
    if where == ON:
        grown_lower = (lower[0] - radius, lower[1] - radius, lower[2] - radius)
        grown_upper = (upper[0] + radius, upper[1] + radius, upper[2] + radius)
        move = move_through_nearest_face(grown_lower, grown_upper, TIE_SHARE * size)
    return where != APART, move


@kernel
def aabb_sphere(lower: Vec3, upper: Vec3, center: Vec3, radius: float) -> tuple[bool, Vec3]:
    """Return (whether they touch, penetration of the box)."""
    return _box_sphere(subtract(lower, center), subtract(upper, center), radius)


@kernel
def obb_sphere(
    box_center: Vec3, half: Vec3, rotation: Mat3, center: Vec3, radius: float
) -> tuple[bool, Vec3]:
    """Return (whether they touch, penetration of the box)."""
    middle = turned_back(rotation, subtract(box_center, center))
    lower = subtract(middle, half)
    upper = (middle[0] + half[0], middle[1] + half[1], middle[2] + half[2])
    touching, move = _box_sphere(lower, upper, radius)
    return touching, turned(rotation, move)
