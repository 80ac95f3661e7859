"""Capsule against triangle: the move that takes the capsule out.

The capsule touches the triangle if its axis is no farther away than the radius. If the axis does
not hit the triangle, the capsule moves straight away from the nearest point. If the axis passes
through the triangle, the origin lies in the Minkowski difference of triangle and axis. That is a
slanted prism: its two caps are parallel to the face, and each of its three sides is parallel to the
axis and one edge. The shortest move leads through the nearest of these five, plus the radius.
"""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.closest_point import triangle_normal
from terrain_physics._kernels.geometry.segments import direction_across, gap_between_segments
from terrain_physics._kernels.geometry.sphere_triangle import sphere_triangle
from terrain_physics._kernels.math.vec3 import Vec3, add_scaled, cross, dot, length, scale, subtract
from terrain_physics._kernels.tolerances import (
    FARTHER_SHARE,
    FRONT_COSINE,
    ON_FEATURE_SHARE,
    PARALLEL_AXES_SINE,
    TIE_SHARE,
)

Corners = tuple[Vec3, Vec3, Vec3]

FACE = 0
EDGE = 1
THROUGH = 2

MAX_ROUNDS = 60

# Newton's method stops at this distance, as a part of the sizes: rounding hides smaller steps.
CLOSE = 1e-14


@kernel
def _heights_over_face(
    start: Vec3, end: Vec3, corners: Corners, normal: Vec3
) -> tuple[bool, float, float]:
    """Return (whether a part of a segment projects onto the face, heights of this part's ends)."""
    low, high = 0.0, 1.0
    for k in range(3):
        inward = cross(normal, subtract(corners[(k + 1) % 3], corners[k]))
        first = dot(inward, subtract(start, corners[k]))
        last = dot(inward, subtract(end, corners[k]))
        if first < 0.0 and last < 0.0:
            return False, 0.0, 0.0
        if first < 0.0:
            low = max(low, first / (first - last))
        elif last < 0.0:
            high = min(high, first / (first - last))
    if low > high:
        return False, 0.0, 0.0
    first = dot(normal, subtract(start, corners[0]))
    last = dot(normal, subtract(end, corners[0]))
    return True, first * (1.0 - low) + last * low, first * (1.0 - high) + last * high


@kernel(inline=True)
def _is_farther(start: Vec3, end: Vec3, c: Vec3, d: Vec3, limit2: float) -> bool:
    """Tell whether the boxes around two segments are certainly farther apart than a limit."""
    x = max(min(c[0], d[0]) - max(start[0], end[0]), min(start[0], end[0]) - max(c[0], d[0]), 0.0)
    y = max(min(c[1], d[1]) - max(start[1], end[1]), min(start[1], end[1]) - max(c[1], d[1]), 0.0)
    z = max(min(c[2], d[2]) - max(start[2], end[2]), min(start[2], end[2]) - max(c[2], d[2]), 0.0)
    return x * x + y * y + z * z > limit2


@kernel
def nearest_on_triangle(
    start: Vec3, end: Vec3, corners: Corners, has_area: bool, normal: Vec3, limit: float
) -> tuple[int, Vec3, float]:
    """Return (FACE, EDGE or THROUGH, the shortest vector from triangle to segment, height).

    The height is the least height of the segment over the face, +inf if no part of it is over the
    face. FACE means that this is the least distance, or that it ties with an edge within rounding,
    as for an axis parallel to the face. If the vector is longer than ``limit``, it may be any that
    is: most edges near a body are not near it, and exact distances take longer.
    """
    limit2 = limit * limit * (1.0 + FARTHER_SHARE)
    is_over, first, last = False, 0.0, 0.0
    if has_area:
        is_over, first, last = _heights_over_face(start, end, corners, normal)
        if is_over:
            if min(first, last) <= 0.0 <= max(first, last):
                return THROUGH, (0.0, 0.0, 0.0), 0.0
            height = first if abs(first) < abs(last) else last
            one_end = dot(normal, subtract(start, corners[0]))
            other_end = dot(normal, subtract(end, corners[0]))
            if abs(height) <= min(abs(one_end), abs(other_end)) and one_end * other_end > 0.0:
                return FACE, scale(normal, height), height  # no edge is nearer than the plane
    edge_gap = (math.inf, math.inf, math.inf)
    for k in range(3):
        if _is_farther(start, end, corners[k], corners[(k + 1) % 3], limit2):
            continue
        gap = gap_between_segments(start, end, corners[k], corners[(k + 1) % 3])
        if dot(gap, gap) < dot(edge_gap, edge_gap):
            edge_gap = gap
    if not is_over:
        return EDGE, edge_gap, math.inf
    height = first if abs(first) < abs(last) else last
    distance = length(edge_gap)
    if abs(height) <= distance:
        return FACE, scale(normal, height), height
    return FACE if abs(height) <= distance * (1.0 + ON_FEATURE_SHARE) else EDGE, edge_gap, height


@kernel(inline=True)
def _prism_extent(axis: Vec3, corners: Corners, direction: Vec3) -> float:
    """Return how far the prism extends in a unit direction; exact for the direction as rounded."""
    return max(
        dot(direction, corners[0]), dot(direction, corners[1]), dot(direction, corners[2])
    ) - min(0.0, dot(direction, axis))


@kernel(noinline=True)
def _distance_out(
    axis: Vec3,
    radius: float,
    corners: Corners,
    normal: Vec3,
    direction: Vec3,
    size: float,
    limit: float,
) -> float:
    """Return how far the capsule must move in a unit direction until the shapes separate for good.

    The distance between axis and triangle is a convex function of the travel. Newton's method
    starts where the shapes are certainly apart, approaches the answer from above and never passes
    it. Answers longer than ``limit`` are not needed: started there, the method ends there.
    """
    travel = min(limit, radius + _prism_extent(axis, corners, direction))
    for _ in range(MAX_ROUNDS):
        start = scale(direction, travel)
        end = add_scaled(axis, direction, travel)
        _, gap, _ = nearest_on_triangle(start, end, corners, True, normal, math.inf)
        distance = length(gap)
        over = distance - radius
        slope = dot(gap, direction)
        if over <= CLOSE * size or slope <= 0.0:
            break
        travel -= over * distance / slope
    return max(travel, 0.0)


@kernel(noinline=True)
def _move_off_face(
    axis: Vec3, radius: float, corners: Corners, normal: Vec3, two_sided: bool, size: float
) -> Vec3:
    """Return the move to the prism's nearest side, for a capsule with its axis through the face.

    One-sided, it does not lead against the front; see `_least_allowed`. Ties are decided in the
    order front, back, edges.
    """
    best, least = normal, _prism_extent(axis, corners, normal)
    back = scale(normal, -1.0)
    extent = _prism_extent(axis, corners, back)
    if extent < least - TIE_SHARE * size:
        best, least = back, extent
    for k in range(3):
        edge = subtract(corners[(k + 1) % 3], corners[k])
        side = cross(axis, edge)
        span = length(side)
        if not span > PARALLEL_AXES_SINE * length(axis) * length(edge):
            continue
        if dot(side, subtract(corners[k], corners[(k + 2) % 3])) < 0.0:
            span = -span
        side = scale(side, 1.0 / span)
        extent = _prism_extent(axis, corners, side)
        if extent < least - TIE_SHARE * size:
            best, least = side, extent
    if two_sided or dot(best, normal) >= -FRONT_COSINE:
        return scale(best, max(radius + least, 0.0))
    return _least_allowed(axis, radius, corners, normal, size)


@kernel(noinline=True)
def _least_allowed(axis: Vec3, radius: float, corners: Corners, normal: Vec3, size: float) -> Vec3:
    """Return the least move along the directions of the prism that do not lead against the front.

    These are the front normal, past each edge in the plane of the face, and perpendicular to each
    edge and the axis. A direction may leave the prism elsewhere than through its own side unless
    that side is the nearest, so each direction is measured to where the shapes separate.
    """
    best, least = normal, _distance_out(axis, radius, corners, normal, normal, size, math.inf)
    for k in range(6):
        edge = subtract(corners[(k + 1) % 3], corners[k % 3])
        direction = cross(edge, normal)
        if k >= 3:
            side = cross(axis, edge)
            if not length(side) > PARALLEL_AXES_SINE * length(axis) * length(edge):
                continue
            direction = scale(side, -1.0 if dot(side, direction) < 0.0 else 1.0)
        direction = scale(direction, 1.0 / length(direction))
        if dot(direction, normal) < -FRONT_COSINE:
            continue
        push_out = _distance_out(axis, radius, corners, normal, direction, size, least)
        if push_out < least - TIE_SHARE * size:
            best, least = direction, push_out
    return scale(best, least)


@kernel
def capsule_triangle(
    start: Vec3, end: Vec3, radius: float, a: Vec3, b: Vec3, c: Vec3, two_sided: bool
) -> tuple[bool, Vec3]:
    """Return (whether they touch, penetration of the capsule)."""
    if start == end:
        return sphere_triangle(start, radius, a, b, c, two_sided)
    axis = subtract(end, start)
    corners = (subtract(a, start), subtract(b, start), subtract(c, start))
    has_area, normal = triangle_normal(corners[0], corners[1], corners[2])
    size = radius + length(axis) + length(corners[0]) + length(corners[1]) + length(corners[2])
    slack = ON_FEATURE_SHARE * size
    feature, gap, height = nearest_on_triangle(
        (0.0, 0.0, 0.0), axis, corners, has_area, normal, radius
    )
    distance2 = dot(gap, gap)
    if distance2 > radius * radius:
        return False, (0.0, 0.0, 0.0)
    distance = math.sqrt(distance2)
    if distance <= slack:
        if has_area:
            return True, _move_off_face(axis, radius, corners, normal, two_sided, size)
        return True, scale(direction_across(axis, _longest_edge(corners)), radius)
    if not has_area or two_sided or dot(gap, normal) >= -FRONT_COSINE * distance:
        if feature == FACE:
            return True, scale(normal, math.copysign(max(radius - distance, 0.0), height))
        return True, scale(gap, max(radius - distance, 0.0) / distance)
    if feature == FACE:
        push_out = _distance_out(axis, radius, corners, normal, normal, size, math.inf)
        return True, scale(normal, push_out)
    if -radius <= height < 0.0:
        return True, _least_allowed(axis, radius, corners, normal, size)
    return True, scale(gap, max(radius - distance, 0.0) / distance)


@kernel
def capsule_touches(start: Vec3, end: Vec3, radius: float, a: Vec3, b: Vec3, c: Vec3) -> bool:
    """Tell whether they touch, as `capsule_triangle` does: the way out may take much longer."""
    if start == end:
        return sphere_triangle(start, radius, a, b, c, False)[0]
    axis = subtract(end, start)
    corners = (subtract(a, start), subtract(b, start), subtract(c, start))
    has_area, normal = triangle_normal(corners[0], corners[1], corners[2])
    size = radius + length(axis) + length(corners[0]) + length(corners[1]) + length(corners[2])
    # Often the axis is farther off along the normal than the radius.
    far, last = radius + ON_FEATURE_SHARE * size, dot(normal, axis)
    first, second, third = dot(normal, corners[0]), dot(normal, corners[1]), dot(normal, corners[2])
    if min(0.0, last) - max(first, second, third) > far:
        return False
    if min(first, second, third) - max(0.0, last) > far:
        return False
    _, gap, _ = nearest_on_triangle((0.0, 0.0, 0.0), axis, corners, has_area, normal, radius)
    return dot(gap, gap) <= radius * radius


@kernel
def _longest_edge(corners: Corners) -> Vec3:
    """Return the longest edge of a triangle."""
    edge = subtract(corners[1], corners[0])
    for k in range(1, 3):
        other = subtract(corners[(k + 1) % 3], corners[k])
        if dot(other, other) > dot(edge, edge):
            edge = other
    return edge
