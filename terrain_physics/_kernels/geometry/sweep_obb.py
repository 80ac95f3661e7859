"""Oriented box against a triangle: travel to the first touch, the time of impact at unit speed.

Separating axes with linear motion (Ericson, Real-Time Collision Detection, 5.5.7; Eberly, Dynamic
Collision Detection using Oriented Bounding Boxes): along each of the 13 axes the shapes overlap
during one interval of the motion. They touch where all intervals overlap. The first touch is at the
latest start of an interval, along the axis of that interval.
"""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.closest_point import triangle_normal
from terrain_physics._kernels.geometry.obb_triangle import (
    face_normal,
    put_difference_faces,
    tie_slack,
)
from terrain_physics._kernels.geometry.sweep_sphere import FREE, stopped
from terrain_physics._kernels.math.rigid import turned, turned_back
from terrain_physics._kernels.math.vec3 import Mat3, Vec3, dot, length, scale, subtract
from terrain_physics._kernels.tolerances import (
    BEHIND_SHARE,
    BOX_TOUCH_ROUNDING,
    BOX_TOUCH_SHARE,
    FRONT_COSINE,
    PARALLEL_AXES_SINE,
    TIE_SHARE,
)
from terrain_physics._kernels.types import Floats


@kernel(inline=True)
def _interval(
    axis: Vec3, a: Vec3, b: Vec3, c: Vec3, half: Vec3, direction: Vec3
) -> tuple[float, float]:
    """Return the travel where overlap along one axis begins and ends; inf, -inf if never."""
    pa, pb, pc = dot(axis, a), dot(axis, b), dot(axis, c)
    extent = abs(axis[0]) * half[0] + abs(axis[1]) * half[1] + abs(axis[2]) * half[2]
    low, high = min(pa, pb, pc) - extent, max(pa, pb, pc) + extent
    speed = dot(axis, direction)
    if speed > 0.0:
        return low / speed, high / speed
    if speed < 0.0:
        return high / speed, low / speed
    if low > 0.0 or high < 0.0:
        return math.inf, -math.inf
    return -math.inf, math.inf


@kernel(inline=True)
def _axis(k: int, normal: Vec3, ab: Vec3, bc: Vec3, ca: Vec3) -> Vec3:
    """Return one of the 13 axes in the frame of the box, of any length."""
    if k == 0:
        return normal
    if k < 4:
        return (1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0, 1.0 if k == 3 else 0.0)
    edge = ab if k < 7 else (bc if k < 10 else ca)
    which = (k - 4) % 3
    if which == 0:
        return (0.0, edge[2], -edge[1])
    if which == 1:
        return (-edge[2], 0.0, edge[0])
    return (edge[1], -edge[0], 0.0)


@kernel
def _touch_at_start(
    half: Vec3,
    direction: Vec3,
    a: Vec3,
    b: Vec3,
    c: Vec3,
    two_sided: bool,
    faces: Floats,
) -> tuple[float, Vec3]:
    """Return the result of the sweep for a box that touches at the start, in the box's frame."""
    count, has_area = put_difference_faces(a, b, c, half, faces, math.inf)
    nearest, least, slack = 0, math.inf, tie_slack(a, b, c, half)
    for k in range(count):
        if float(faces[k, 3]) < least - slack:
            nearest, least = k, float(faces[k, 3])
    normal = face_normal(faces, nearest)
    if has_area and not two_sided and least > BEHIND_SHARE * length(half):
        front = face_normal(faces, 0)
        if dot(normal, front) < -FRONT_COSINE:
            normal = front
    return stopped(0.0, direction, normal)


@kernel
def sweep_obb(
    half: Vec3,
    rotation: Mat3,
    direction: Vec3,
    distance: float,
    a: Vec3,
    b: Vec3,
    c: Vec3,
    two_sided: bool,
    faces: Floats,
) -> tuple[float, Vec3]:
    """Return (travel until they touch, unit normal towards the box); infinity: free.

    Corners are relative to the center; ``direction`` has length 1; ``faces`` (FACE_COUNT, 4) is
    scratch. A box that touches at the start and moves further in is stopped at 0.0; one that moves
    out or along is free. A box that starts behind the front leaves through the front, or, if
    ``two_sided``, by the shortest move. If the intervals of several axes start together, the face
    normal is taken first, then the box's axes, then the cross products.
    """
    a, b, c = turned_back(rotation, a), turned_back(rotation, b), turned_back(rotation, c)
    line = turned_back(rotation, direction)
    enter, leave, entered = -math.inf, distance, (0.0, 0.0, 0.0)
    has_area, normal = triangle_normal(a, b, c)
    ab, bc, ca = subtract(b, a), subtract(c, b), subtract(a, c)
    flat = PARALLEL_AXES_SINE * PARALLEL_AXES_SINE
    for k in range(0 if has_area else 1, 13):
        axis = _axis(k, normal, ab, bc, ca)
        if k >= 4:
            edge = ab if k < 7 else (bc if k < 10 else ca)
            if not dot(axis, axis) > flat * dot(edge, edge):
                continue
        begin, end = _interval(axis, a, b, c, half, line)
        if begin > enter:
            # Starts that differ by rounding count as equal, or rounding would choose the axis.
            if begin > enter + TIE_SHARE * (abs(begin) + distance):
                entered = axis
            enter = begin
        leave = min(leave, end)
        if enter > leave or leave < 0.0:
            return FREE
    if enter <= 0.0:
        travel, normal = _touch_at_start(half, line, a, b, c, two_sided, faces)
        return travel, turned(rotation, normal)
    size = 1.0 / length(entered)
    if dot(entered, line) > 0.0:
        size = -size
    return stopped(enter, direction, turned(rotation, scale(entered, size)))


@kernel
def _clip(faces: Floats, first: int, count: int, axis: int, side: float, extent: float) -> int:
    """Clip a polygon by a plane, from its rows at ``first`` to others; return the corner count."""
    other = 13 - first
    kept = 0
    for i in range(count):
        j = i + 1 if i + 1 < count else 0
        here = extent - side * float(faces[first + i, axis])
        there = extent - side * float(faces[first + j, axis])
        if here >= 0.0:
            for k in range(3):
                faces[other + kept, k] = faces[first + i, k]
            kept += 1
        if min(here, there) < 0.0 < max(here, there):
            share = here / (here - there)
            for k in range(3):
                start, end = float(faces[first + i, k]), float(faces[first + j, k])
                faces[other + kept, k] = start + share * (end - start)
            kept += 1
    return kept


@kernel
def touched_point(
    half: Vec3, rotation: Mat3, a: Vec3, b: Vec3, c: Vec3, normal: Vec3, faces: Floats
) -> Vec3:
    """Return the middle of the part of a triangle that a box around the origin just touches."""
    margin = BOX_TOUCH_SHARE * length(half) + BOX_TOUCH_ROUNDING * max(
        length(a), length(b), length(c)
    )
    for i in range(3):
        corner = turned_back(rotation, a if i == 0 else (b if i == 1 else c))
        for k in range(3):
            faces[i, k] = corner[k]
    first, count = 0, 3
    for k in range(6):
        count = _clip(faces, first, count, k // 2, 1.0 - 2.0 * (k % 2), half[k // 2] + margin)
        first = 13 - first
    if count == 0:  # by rounding: the corner of the box that is farthest against the normal
        n = turned_back(rotation, normal)
        corner = (
            -half[0] if n[0] > 0.0 else half[0],
            -half[1] if n[1] > 0.0 else half[1],
            -half[2] if n[2] > 0.0 else half[2],
        )
        return turned(rotation, corner)
    x, y, z = 0.0, 0.0, 0.0
    for i in range(count):
        x += float(faces[first + i, 0])
        y += float(faces[first + i, 1])
        z += float(faces[first + i, 2])
    return turned(rotation, (x / count, y / count, z / count))
