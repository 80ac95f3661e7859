"""Sphere against a triangle: travel to the first touch, the time of impact at unit speed.

A sphere touches a triangle when its center is in the rounded triangle: all points within the
radius. The rounded triangle is bounded by two planes a radius off, cylinders around the edges and
spheres around the corners, and is convex. So a line from outside enters where it hits the first of
these, and the touch is with that feature (Ericson, Real-Time Collision Detection, 5.5.6).
"""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.closest_point import (
    FACE,
    closest_on_triangle,
    direction_off_segment,
    triangle_normal,
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
from terrain_physics._kernels.tolerances import (
    BEHIND_SHARE,
    LEAST_GAP_SHARE,
    NEAREST_POINT_SHARE,
    ON_FEATURE_SHARE,
    SLIDE_SINE,
)

FREE = (math.inf, (0.0, 0.0, 0.0))


@kernel(inline=True)
def stopped(travel: float, direction: Vec3, normal: Vec3) -> tuple[float, Vec3]:
    """Return a touch after some travel, or FREE if the motion leads out of it or along it."""
    if dot(direction, normal) < -SLIDE_SINE:
        return travel, normal
    return FREE


@kernel(inline=True)
def is_inside(point: Vec3, normal: Vec3, a: Vec3, b: Vec3, c: Vec3) -> bool:
    """Tell whether the foot of a point is in a triangle, borders included."""
    a, b, c = subtract(a, point), subtract(b, point), subtract(c, point)
    return bool(
        dot(normal, cross(a, b)) >= 0.0
        and dot(normal, cross(b, c)) >= 0.0
        and dot(normal, cross(c, a)) >= 0.0
    )


@kernel(inline=True)
def stays_before(
    radius: float, direction: Vec3, distance: float, towards: Vec3, size: float
) -> bool:
    """Tell whether a rounded shape surely does not reach a triangle.

    ``towards`` is the shortest vector from the shape's core to the triangle. All of the triangle
    lies behind the plane through its end that is perpendicular to it. ``size`` is the sum of all
    sizes.
    """
    gap = length(towards)
    room = gap - radius - NEAREST_POINT_SHARE * size
    return bool(
        room > 0.0
        and gap > LEAST_GAP_SHARE * size
        and room * gap > dot(direction, towards) * distance
    )


@kernel(inline=True)
def size_of(a: Vec3, b: Vec3, c: Vec3) -> float:
    """Return the sum of the corners' coordinates, without signs."""
    return (
        (abs(a[0]) + abs(a[1]) + abs(a[2]))
        + (abs(b[0]) + abs(b[1]) + abs(b[2]))
        + (abs(c[0]) + abs(c[1]) + abs(c[2]))
    )


@kernel
def intersect_sphere(direction: Vec3, center: Vec3, radius: float) -> float:
    """Return how far along a line from outside it hits a sphere; infinity if it misses."""
    along = dot(center, direction)
    # By the closest approach, so that the square of the distance does not swallow the radius.
    miss = add_scaled(center, direction, -along)
    discriminant = radius * radius - dot(miss, miss)
    if along <= 0.0 or discriminant < 0.0:
        return math.inf
    return max(along - math.sqrt(discriminant), 0.0)


@kernel
def intersect_side(direction: Vec3, p: Vec3, q: Vec3, radius: float) -> tuple[float, Vec3]:
    """Return how far along a line from outside it hits a cylinder's side around p-q, and where.

    The place is the point of p-q. The distance is infinity if the line misses or is parallel.
    """
    edge = subtract(q, p)
    size = length(edge)
    if size == 0.0:
        return FREE
    edge = scale(edge, 1.0 / size)
    # Relative to the line's closest approach to the middle: errors do not grow with the distance.
    middle = scale(add(p, q), 0.5)
    along = dot(middle, direction)
    place = subtract(scale(direction, along), middle)
    across = cross(direction, edge)
    square = dot(across, across)
    offset = dot(place, across)
    discriminant = radius * radius * square - offset * offset
    if square == 0.0 or discriminant < 0.0:
        return FREE
    onward = -(dot(cross(place, edge), across) + math.sqrt(discriminant)) / square
    height = dot(place, edge) + onward * dot(direction, edge)
    if abs(height) > 0.5 * size or along + onward < 0.0:
        return FREE
    return along + onward, add_scaled(middle, edge, height)


@kernel
def start_normal(
    gap: Vec3,
    radius: float,
    above: float,
    has_area: bool,
    normal: Vec3,
    size: float,
    aside: Vec3,
    two_sided: bool,
) -> Vec3:
    """Return the normal of a touch at the start.

    ``gap`` is the shortest vector from the triangle to the middle of the shape, ``above`` the
    middle's height over the face, ``size`` the sum of all sizes, ``aside`` the normal of last
    resort.
    """
    distance = length(gap)
    if has_area and not two_sided and above < 0.0 and distance < radius * (1.0 - BEHIND_SHARE):
        return normal
    if distance <= ON_FEATURE_SHARE * size:
        return normal if has_area else aside
    return scale(gap, 1.0 / distance)


@kernel
def _look_at_start(
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
    feature, point = closest_on_triangle(a, b, c, has_area, normal)
    if dot(point, point) > radius * radius:
        size = radius + distance + size_of(a, b, c)
        return stays_before(radius, direction, distance, point, size), *FREE
    above = -dot(normal, a)
    gap = scale(normal, above) if feature == FACE else scale(point, -1.0)
    size = radius + length(a) + length(b) + length(c)
    aside = normal if has_area else direction_off_segment(a, b, c)
    start = start_normal(gap, radius, above, has_area, normal, size, aside, two_sided)
    travel, start = stopped(0.0, direction, start)
    return True, travel, start


@kernel
def sweep_sphere(
    radius: float, direction: Vec3, distance: float, a: Vec3, b: Vec3, c: Vec3, two_sided: bool
) -> tuple[float, Vec3]:
    """Return (travel until they touch, unit normal towards the sphere); infinity: free.

    Corners are relative to the center; ``direction`` has length 1. A sphere that touches at the
    start and moves further in is stopped at 0.0; one that moves out or along is free. A sphere that
    starts behind the front leaves through the front, or, if ``two_sided``, on its own side.
    """
    has_area, normal = triangle_normal(a, b, c)
    near = True
    if has_area:
        above = -dot(normal, a)
        front = normal if above >= 0.0 else scale(normal, -1.0)
        approach = -dot(front, direction)
        gap = abs(above) - radius
        if gap > 0.0:
            if gap > approach * distance:  # also if it moves away
                return FREE
            travel = gap / approach
            if is_inside(scale(direction, travel), normal, a, b, c):
                return stopped(travel, direction, front)
            near = False
    if near:
        is_told, travel, start = _look_at_start(
            radius, direction, distance, a, b, c, has_area, normal, two_sided
        )
        if is_told:
            return travel, start
    best, foot = math.inf, a
    for k in range(3):
        p, q = (a, b) if k == 0 else ((b, c) if k == 1 else (c, a))
        travel = intersect_sphere(direction, p, radius)
        if travel < best:
            best, foot = travel, p
        travel, place = intersect_side(direction, p, q, radius)
        if travel < best:
            best, foot = travel, place
    if best > distance:
        return FREE
    gap_there = subtract(scale(direction, best), foot)
    size = length(gap_there)
    if size <= ON_FEATURE_SHARE * best:  # a point, in effect, without a normal of its own
        return best, scale(direction, -1.0)
    return stopped(best, direction, scale(gap_there, 1.0 / size))
