"""Capsule against a triangle: travel to the first touch, the time of impact at unit speed.

A capsule touches a triangle when its middle is within the radius of the prism that the triangle
sweeps along the capsule's axis. Rounded by the radius, the prism is bounded by planes over its
faces (two triangles, three parallelograms), cylinders around its nine edges and spheres around
its six corners. A line from outside enters at the first that it hits.
"""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.closest_point import (
    closest_on_segment,
    closest_on_triangle,
    direction_off_segment,
    triangle_normal,
)
from terrain_physics._kernels.geometry.sweep_sphere import (
    FREE,
    intersect_side,
    intersect_sphere,
    is_inside,
    size_of,
    start_normal,
    stays_before,
    stopped,
)
from terrain_physics._kernels.math.vec3 import (
    Vec3,
    add,
    add_scaled,
    cross,
    dot,
    length,
    scale,
    subtract,
)
from terrain_physics._kernels.tolerances import FLAT_SINE, ON_FEATURE_SHARE

# Verdicts of the plane of a face on a sweep; see `_intersect_face`.
NEAR, DECIDED, BESIDE = 0, 1, 2


@kernel
def nearest_pair(
    half_axis: Vec3, a: Vec3, b: Vec3, c: Vec3, has_area: bool, normal: Vec3
) -> tuple[Vec3, Vec3]:
    """Return the nearest points of the segment -half_axis..half_axis and of a triangle."""
    start, end = scale(half_axis, -1.0), half_axis
    axis = scale(half_axis, 2.0)
    if has_area:
        low, high = dot(normal, subtract(start, a)), dot(normal, subtract(end, a))
        if min(low, high) <= 0.0 <= max(low, high) and low != high:
            through = add_scaled(start, axis, low / (low - high))
            if is_inside(through, normal, a, b, c):
                return through, through
    best2, on_axis, on_triangle = math.inf, start, a
    for k in range(2):
        tip = start if k == 0 else end
        _, point = closest_on_triangle(
            subtract(a, tip), subtract(b, tip), subtract(c, tip), has_area, normal
        )
        if dot(point, point) < best2:
            best2, on_axis, on_triangle = dot(point, point), tip, add(tip, point)
    for k in range(3):
        p, q = (a, b) if k == 0 else ((b, c) if k == 1 else (c, a))
        gap = closest_on_segment(subtract(start, p), subtract(end, p))
        if dot(gap, gap) < best2:
            best2, on_axis, on_triangle = dot(gap, gap), add(p, gap), p
        # By vector products: by scalar ones, nearly parallel lines lose half of the digits.
        edge = subtract(q, p)
        across = cross(axis, edge)
        size = dot(across, across)
        if size > 0.0:
            share = dot(cross(subtract(p, start), edge), across) / size
            place = add_scaled(start, axis, min(max(share, 0.0), 1.0))
            gap = closest_on_segment(subtract(p, place), subtract(q, place))
            if dot(gap, gap) < best2:
                best2, on_axis, on_triangle = dot(gap, gap), place, add(place, gap)
    return on_axis, on_triangle


@kernel
def _intersect_parallelogram(
    direction: Vec3, p: Vec3, edge: Vec3, half_axis: Vec3, radius: float
) -> tuple[float, Vec3]:
    """Return where the plane over a parallelogram around the edge from p is hit, and its normal."""
    axis = scale(half_axis, 2.0)
    normal = cross(edge, axis)
    size = length(normal)
    if not size > FLAT_SINE * length(edge) * length(axis):
        return FREE
    normal = scale(normal, 1.0 / size)
    corner = subtract(p, half_axis)
    above = -dot(normal, corner)
    front = normal if above >= 0.0 else scale(normal, -1.0)
    approach = -dot(front, direction)
    gap = abs(above) - radius
    if gap < 0.0 or approach <= 0.0:
        return FREE
    travel = gap / approach
    place = subtract(scale(direction, travel), corner)
    along_edge = dot(normal, cross(place, axis)) / size
    along_axis = dot(normal, cross(edge, place)) / size
    if 0.0 <= along_edge <= 1.0 and 0.0 <= along_axis <= 1.0:
        return travel, front
    return FREE


@kernel
def _look_at_start(
    half_axis: Vec3,
    radius: float,
    direction: Vec3,
    distance: float,
    a: Vec3,
    b: Vec3,
    c: Vec3,
    has_area: bool,
    normal: Vec3,
    two_sided: bool,
) -> tuple[bool, float, Vec3]:
    """Return (whether the start alone decides, the result): it touches there, or never can."""
    on_axis, on_triangle = nearest_pair(half_axis, a, b, c, has_area, normal)
    gap = subtract(on_axis, on_triangle)
    if dot(gap, gap) > radius * radius:
        x, y, z = half_axis
        size = radius + distance + (abs(x) + abs(y) + abs(z)) + size_of(a, b, c)
        return stays_before(radius, direction, distance, scale(gap, -1.0), size), *FREE
    above = dot(normal, subtract(on_axis, a))
    size = radius + length(half_axis) + length(a) + length(b) + length(c)
    aside = normal if has_area else direction_off_segment(a, b, c)
    # If the axis passes through the face, the capsule leaves on the side of its middle.
    front = scale(normal, -1.0) if two_sided and dot(normal, a) > 0.0 else normal
    start = start_normal(gap, radius, above, has_area, front, size, aside, two_sided)
    travel, start = stopped(0.0, direction, start)
    return True, travel, start


@kernel
def _intersect_face(
    half_axis: Vec3,
    radius: float,
    direction: Vec3,
    distance: float,
    a: Vec3,
    b: Vec3,
    c: Vec3,
    normal: Vec3,
) -> tuple[int, float, Vec3]:
    """Return (verdict, travel, normal) from the plane of the face.

    DECIDED: travel and normal are the answer of the sweep. NEAR: the capsule already crosses the
    plane, and may touch at the start. BESIDE: it hits the plane outside of the face.
    """
    above = -dot(normal, a)
    front = normal if above >= 0.0 else scale(normal, -1.0)
    approach = -dot(front, direction)
    lean = dot(front, half_axis)
    gap = abs(above) - abs(lean) - radius
    if not gap > 0.0:
        return NEAR, math.inf, normal
    if gap > approach * distance:  # also where it moves away
        return DECIDED, FREE[0], FREE[1]
    travel = gap / approach
    # The end of the axis that is nearer to the face; both where the axis is level.
    tip = scale(half_axis, -1.0) if lean > 0.0 else half_axis
    place = add_scaled(tip, direction, travel)
    other = subtract(place, scale(tip, 2.0))
    level = abs(lean) <= ON_FEATURE_SHARE * length(half_axis)
    if is_inside(place, normal, a, b, c) or (level and is_inside(other, normal, a, b, c)):
        travel, front = stopped(travel, direction, front)
        return DECIDED, travel, front
    return BESIDE, math.inf, normal


@kernel
def _intersect_rim(
    half_axis: Vec3, radius: float, direction: Vec3, a: Vec3, b: Vec3, c: Vec3
) -> tuple[float, bool, Vec3]:
    """Return the first hit of the rounded prism without its two faces; infinity if none.

    The result is (travel, whether a parallelogram is hit, vector). The vector is the normal of that
    parallelogram, else the point of the prism's edge that is nearest to the hit.
    """
    best, on_face, found = math.inf, True, a
    for k in range(3):
        p, q = (a, b) if k == 0 else ((b, c) if k == 1 else (c, a))
        travel, front = _intersect_parallelogram(direction, p, subtract(q, p), half_axis, radius)
        if travel < best:
            best, on_face, found = travel, True, front
        travel, place = intersect_side(direction, subtract(p, half_axis), add(p, half_axis), radius)
        if travel < best:
            best, on_face, found = travel, False, place
        for i in range(2):
            shift = half_axis if i == 0 else scale(half_axis, -1.0)
            travel = intersect_sphere(direction, add(p, shift), radius)
            if travel < best:
                best, on_face, found = travel, False, add(p, shift)
            travel, place = intersect_side(direction, add(p, shift), add(q, shift), radius)
            if travel < best:
                best, on_face, found = travel, False, place
    return best, on_face, found


@kernel
def sweep_capsule(
    half_axis: Vec3,
    radius: float,
    direction: Vec3,
    distance: float,
    a: Vec3,
    b: Vec3,
    c: Vec3,
    two_sided: bool,
) -> tuple[float, Vec3]:
    """Return (travel until they touch, unit normal towards the capsule); infinity: free.

    Corners are relative to the middle; the axis runs from -half_axis to half_axis; ``direction``
    has length 1. A capsule that touches at the start and moves further in is stopped at 0.0; one
    that moves out or along is free. A capsule that starts behind the front leaves through the
    front, unless ``two_sided``: then it leaves on its own side, which is that of its middle if the
    axis passes through the face.
    """
    has_area, normal = triangle_normal(a, b, c)
    known = NEAR
    if has_area:
        known, travel, front = _intersect_face(
            half_axis, radius, direction, distance, a, b, c, normal
        )
        if known == DECIDED:
            return travel, front
    if known == NEAR:
        is_told, travel, front = _look_at_start(
            half_axis, radius, direction, distance, a, b, c, has_area, normal, two_sided
        )
        if is_told:
            return travel, front
    best, on_face, found = _intersect_rim(half_axis, radius, direction, a, b, c)
    if best > distance:
        return FREE
    if on_face:
        return stopped(best, direction, found)
    gap = subtract(scale(direction, best), found)
    size = length(gap)
    if size <= ON_FEATURE_SHARE * best:  # the capsule has no radius
        return best, scale(direction, -1.0)
    return stopped(best, direction, scale(gap, 1.0 / size))
