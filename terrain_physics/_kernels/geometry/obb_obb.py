"""Oriented box against oriented box, by the 15 axes of the separating axis test.

Box axes and cross products of box axes are the normals of all faces of the Minkowski difference of
two boxes (Gottschalk, Lin, Manocha: OBBTree, 1996), so the least overlap is the shortest move out.
All is computed in the first box's frame. There a cross product with one of its axes is exact, and
boxes with the same rotation give exact answers.
"""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.rigid import turned, turned_back
from terrain_physics._kernels.math.vec3 import Mat3, Vec3, dot, length, scale, subtract
from terrain_physics._kernels.tolerances import PARALLEL_AXES_SINE, TIE_SHARE


@kernel(inline=True)
def _overlap(
    axis: Vec3, half: Vec3, x: Vec3, y: Vec3, z: Vec3, other: Vec3, offset: float
) -> float:
    """Return the overlap on an axis, times the axis's length; x, y, z are the other box's axes.

    All three are projected, even onto an axis made perpendicular to one of them: so the overlap is
    true for the axis as rounded.
    """
    return (
        (abs(axis[0]) * half[0] + abs(axis[1]) * half[1] + abs(axis[2]) * half[2])
        + (
            abs(dot(axis, x)) * other[0]
            + abs(dot(axis, y)) * other[1]
            + abs(dot(axis, z)) * other[2]
        )
        - abs(offset)
    )


@kernel
def obb_obb(
    center: Vec3,
    half: Vec3,
    rotation: Mat3,
    other_center: Vec3,
    other_half: Vec3,
    other_rotation: Mat3,
) -> tuple[bool, Vec3]:
    """Return (whether they touch, penetration of the first box).

    On each axis the box leaves on the side of its center, forward if the centers are level. Ties
    go to the axes of the first box, then those of the second, then the cross products in order.

    Cross products of axes that are parallel within ``PARALLEL_AXES_SINE`` are left out. For exactly
    parallel axes the problem is one of two rectangles, which the face normals decide; rotating a
    box by that angle moves no corner farther than that share of its size.
    """
    away = turned_back(rotation, subtract(center, other_center))
    m = other_rotation
    x = turned_back(rotation, (m[0], m[3], m[6]))
    y = turned_back(rotation, (m[1], m[4], m[7]))
    z = turned_back(rotation, (m[2], m[5], m[8]))
    slack = TIE_SHARE * (length(half) + length(other_half))
    best = (1.0, 0.0, 0.0)
    least = math.inf
    for k in range(15):
        size2 = 1.0
        if k < 3:
            axis = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
        else:
            axis = x if k % 3 == 0 else (y if k % 3 == 1 else z)
            if k >= 6:
                if k < 9:
                    axis = (0.0, -axis[2], axis[1])
                elif k < 12:
                    axis = (axis[2], 0.0, -axis[0])
                else:
                    axis = (-axis[1], axis[0], 0.0)
                size2 = dot(axis, axis)
                if not size2 > PARALLEL_AXES_SINE * PARALLEL_AXES_SINE:
                    continue
        offset = dot(axis, away)
        overlap = _overlap(axis, half, x, y, z, other_half, offset)
        if overlap < 0.0:
            return False, (0.0, 0.0, 0.0)
        size = math.sqrt(size2)
        overlap /= size
        if overlap < least - slack:
            least = overlap
            best = scale(axis, (-1.0 if offset < -slack * size else 1.0) / size)
    return True, turned(rotation, scale(best, least))
