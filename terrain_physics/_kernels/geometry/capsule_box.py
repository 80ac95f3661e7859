"""Capsule against box: the shortest move that takes the capsule out.

The capsule touches the box if its axis, a segment, is no farther away than the radius. If they do
not meet, the capsule moves straight away from the nearest point. If they meet, the origin lies in
the Minkowski difference of box and segment. Its faces are perpendicular to the axes of the box, and
to cross products of these with the segment; the move leads through the nearest, plus the radius.

All is computed along the axes of the box, with the first end of the segment as the origin, and for
a box that moves. So a capsule whose ends coincide has the bits of a sphere in `solid_pairs.py`.
"""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.solid_pairs import (
    APART,
    ON,
    move_through_nearest_face,
    push_from_core,
)
from terrain_physics._kernels.math.rigid import turned, turned_back
from terrain_physics._kernels.math.vec3 import Mat3, Vec3, add, dot, length, scale, subtract
from terrain_physics._kernels.tolerances import PARALLEL_AXES_SINE, TIE_SHARE


@kernel(inline=True)
def _gap_at(place: Vec3, lower: Vec3, upper: Vec3) -> Vec3:
    """Return the shortest vector from a point to a box; zero inside."""
    return (
        max(lower[0] - place[0], min(upper[0] - place[0], 0.0)),
        max(lower[1] - place[1], min(upper[1] - place[1], 0.0)),
        max(lower[2] - place[2], min(upper[2] - place[2], 0.0)),
    )


@kernel(inline=True)
def _shorter(gap: Vec3, best: Vec3) -> Vec3:
    """Return the shorter of two vectors; of equal ones the second."""
    return gap if dot(gap, gap) < dot(best, best) else best


@kernel
def _gap_at_planes(axis: Vec3, lower: Vec3, upper: Vec3, best: Vec3) -> Vec3:
    """Return the shortest of a gap and those where the segment crosses the plane of a face.

    Along the normal of that plane the gap is zero there, without rounding. Products are divided, so
    that a segment through an edge or a corner meets it exactly where these are whole numbers.
    """
    for k in range(3):
        whole = axis[k]
        for bound in (lower[k], upper[k]):
            if min(whole, 0.0) < bound < max(whole, 0.0):
                place = scale(axis, bound)
                place = (place[0] / whole, place[1] / whole, place[2] / whole)
                x, y, z = _gap_at(place, lower, upper)
                gap = (0.0 if k == 0 else x, 0.0 if k == 1 else y, 0.0 if k == 2 else z)
                best = _shorter(gap, best)
    return best


@kernel
def _next_plane(axis: Vec3, lower: Vec3, upper: Vec3, start: float) -> float:
    """Return the least share above ``start`` where a segment crosses a face's plane, or 1."""
    end = 1.0
    for k in range(3):
        if axis[k] != 0.0:
            for bound in (lower[k], upper[k]):
                share = bound / axis[k]
                if start < share < end:
                    end = share
    return end


@kernel
def gap_to_box(axis: Vec3, lower: Vec3, upper: Vec3) -> Vec3:
    """Return the shortest vector from a segment to a box; zero where they meet.

    The segment leads from the origin to ``axis``. The planes of the faces cut it into up to seven
    pieces. On each the gap has components along the same axes of the box, and its square is a
    parabola. So the least is at an end of a piece or at the parabola's vertex.
    """
    best = _shorter(_gap_at(axis, lower, upper), _gap_at((0.0, 0.0, 0.0), lower, upper))
    best = _gap_at_planes(axis, lower, upper, best)
    start = 0.0
    while start < 1.0:
        end = _next_plane(axis, lower, upper, start)
        middle = 0.5 * (start + end)
        gap = _gap_at(scale(axis, middle), lower, upper)
        slope = (
            axis[0] if gap[0] != 0.0 else 0.0,
            axis[1] if gap[1] != 0.0 else 0.0,
            axis[2] if gap[2] != 0.0 else 0.0,
        )
        size = dot(slope, slope)
        vertex = middle + dot(slope, gap) / (size if size > 0.0 else 1.0)
        if start < vertex < end:
            best = _shorter(_gap_at(scale(axis, vertex), lower, upper), best)
        start = end
    return best


@kernel
def _move_through_face(lower: Vec3, upper: Vec3, axis: Vec3, radius: float, slack: float) -> Vec3:
    """Return the shortest move that takes a box off a capsule whose axis it meets.

    Ties are decided in the order x, y, z, then their cross products with the capsule's axis; each
    first forward and then backward. The first component of a cross product that is not zero is
    positive, so that the ends of the capsule may be swapped.
    """
    move = move_through_nearest_face(
        (
            lower[0] - max(axis[0], 0.0) - radius,
            lower[1] - max(axis[1], 0.0) - radius,
            lower[2] - max(axis[2], 0.0) - radius,
        ),
        (
            upper[0] - min(axis[0], 0.0) + radius,
            upper[1] - min(axis[1], 0.0) + radius,
            upper[2] - min(axis[2], 0.0) + radius,
        ),
        slack,
    )
    least = length(move)
    for k in range(3):
        normal = (
            (0.0, -axis[2], axis[1])
            if k == 0
            else ((axis[2], 0.0, -axis[0]) if k == 1 else (-axis[1], axis[0], 0.0))
        )
        size2 = dot(normal, normal)
        if not size2 > PARALLEL_AXES_SINE * PARALLEL_AXES_SINE * dot(axis, axis):
            continue
        if normal < (0.0, 0.0, 0.0):
            normal = scale(normal, -1.0)
        size, along = math.sqrt(size2), dot(normal, axis)
        low, high = 0.0, 0.0
        for i in range(3):
            low += min(normal[i] * lower[i], normal[i] * upper[i])
            high += max(normal[i] * lower[i], normal[i] * upper[i])
        forward = max(radius + (max(along, 0.0) - low) / size, 0.0)
        if forward < least - slack:
            least, move = forward, scale(normal, forward / size)
        backward = max(radius + (high - min(along, 0.0)) / size, 0.0)
        if backward < least - slack:
            least, move = backward, scale(normal, -backward / size)
    return move


@kernel(noinline=True)
def _box_capsule(lower: Vec3, upper: Vec3, axis: Vec3, radius: float) -> tuple[bool, Vec3]:
    """Return (whether they touch, penetration of the box); the capsule begins at the origin."""
    for k in range(3):  # most pairs that are apart are so along an axis of the box
        if lower[k] - max(axis[k], 0.0) > radius or upper[k] - min(axis[k], 0.0) < -radius:
            return False, (0.0, 0.0, 0.0)
    size = radius + length(subtract(upper, lower)) + length(axis)
    where, move = push_from_core(gap_to_box(axis, lower, upper), radius, size)
    if where == ON:
        move = _move_through_face(lower, upper, axis, radius, TIE_SHARE * size)
    return where != APART, move


@kernel
def capsule_aabb(a: Vec3, b: Vec3, radius: float, lower: Vec3, upper: Vec3) -> tuple[bool, Vec3]:
    """Return (whether they touch, penetration of the capsule)."""
    touching, move = _box_capsule(subtract(lower, a), subtract(upper, a), subtract(b, a), radius)
    return touching, scale(move, -1.0)


@kernel
def capsule_obb(
    a: Vec3, b: Vec3, radius: float, center: Vec3, half: Vec3, rotation: Mat3
) -> tuple[bool, Vec3]:
    """Return (whether they touch, penetration of the capsule)."""
    middle = turned_back(rotation, subtract(center, a))
    axis = turned_back(rotation, subtract(b, a))
    touching, move = _box_capsule(subtract(middle, half), add(middle, half), axis, radius)
    return touching, scale(turned(rotation, move), -1.0)
