"""Oriented box against triangle: the separating axis test, read as geometry.

The box misses the triangle exactly when the box's center lies outside the Minkowski sum of the
triangle and the (mirrored) box. That sum is a polytope with 26 faces; their normals are the 13 axes
of the separating axis test (the triangle's normal, the box's axes, the products of triangle edges
and box axes), each in both directions (Gottschalk, Lin, Manocha: OBBTree, 1996). The overlap on an
axis is the distance from the center to that face. So the shortest way out is the nearest face, and
the way out along a line is where the line crosses the first face.

All of it happens in the box's own frame, with the box's center as the origin. There the products
with box axes are exact, and the errors made in getting there move the triangle's corners by a few
units in the last place: the answer is that of a problem so close to the one asked.
"""

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.closest_point import triangle_normal
from terrain_physics._kernels.vec3 import Mat3, Vec3, dot, length, scale, subtract

FACE_COUNT = 26

# An edge this close to parallel with a box axis (sine of the angle) has no product worth testing.
PARALLEL = 1e-12

# Overlaps that differ by less than this part of the sizes are a tie: the earlier axis is taken.
TIE = 1e-12

# Slack of "not against the front normal" for directions square to it.
SQUARE = 1e-12


@kernel(inline=True)
def to_box(m: Mat3, v: Vec3) -> Vec3:
    """Return a world vector in the frame of a box, whose axes are the columns of ``m``."""
    return (
        m[0] * v[0] + m[3] * v[1] + m[6] * v[2],
        m[1] * v[0] + m[4] * v[1] + m[7] * v[2],
        m[2] * v[0] + m[5] * v[1] + m[8] * v[2],
    )


@kernel(inline=True)
def to_world(m: Mat3, v: Vec3) -> Vec3:
    """Return a vector of the box's frame in the world."""
    return (
        m[0] * v[0] + m[1] * v[1] + m[2] * v[2],
        m[3] * v[0] + m[4] * v[1] + m[5] * v[2],
        m[6] * v[0] + m[7] * v[1] + m[8] * v[2],
    )


@kernel
def _put_faces(
    axis: Vec3,
    a: Vec3,
    b: Vec3,
    c: Vec3,
    half: Vec3,
    faces: NDArray[np.float64],
    count: int,
    margin: float,
) -> bool:
    """Write the faces of +axis and -axis; return whether one has the center outside by > margin."""
    pa, pb, pc = dot(axis, a), dot(axis, b), dot(axis, c)
    reach = abs(axis[0]) * half[0] + abs(axis[1]) * half[1] + abs(axis[2]) * half[2]
    forward = max(pa, pb, pc) + reach
    backward = reach - min(pa, pb, pc)
    faces[count, 0] = axis[0]
    faces[count, 1] = axis[1]
    faces[count, 2] = axis[2]
    faces[count, 3] = forward
    faces[count + 1, 0] = -axis[0]
    faces[count + 1, 1] = -axis[1]
    faces[count + 1, 2] = -axis[2]
    faces[count + 1, 3] = backward
    return forward < -margin or backward < -margin


@kernel
def put_difference_faces(
    a: Vec3, b: Vec3, c: Vec3, half: Vec3, faces: NDArray[np.float64], margin: float
) -> tuple[int, bool]:
    """Write the faces of the Minkowski difference; return (how many, whether normals come first).

    ``faces`` (26, 4) receives rows of a unit normal and the distance from the box's center to that
    face, positive inside. In order: face normal, box axes, products edge by edge, each forward and
    backward. Axes that vanish are left out. The count is -1 if some axis shows box and triangle to
    be more than ``margin`` apart.
    """
    has_area, normal = triangle_normal(a, b, c)
    count = 0
    if has_area:
        if _put_faces(normal, a, b, c, half, faces, count, margin):
            return -1, has_area
        count += 2
    for k in range(3):
        axis = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
        if _put_faces(axis, a, b, c, half, faces, count, margin):
            return -1, has_area
        count += 2
    for k in range(9):
        if k < 3:
            edge = subtract(b, a)
        elif k < 6:
            edge = subtract(c, b)
        else:
            edge = subtract(a, c)
        if k % 3 == 0:
            axis = (0.0, edge[2], -edge[1])
        elif k % 3 == 1:
            axis = (-edge[2], 0.0, edge[0])
        else:
            axis = (edge[1], -edge[0], 0.0)
        size = length(axis)
        if not size > PARALLEL * length(edge):
            continue
        if _put_faces(scale(axis, 1.0 / size), a, b, c, half, faces, count, margin):
            return -1, has_area
        count += 2
    return count, has_area


@kernel(inline=True)
def face_normal(faces: NDArray[np.float64], k: int) -> Vec3:
    """Return the unit normal of one face."""
    return (float(faces[k, 0]), float(faces[k, 1]), float(faces[k, 2]))


@kernel
def way_out(faces: NDArray[np.float64], count: int, direction: Vec3) -> float:
    """Return how far from the center, inside, the polytope is left in a unit direction."""
    shortest = np.inf
    for k in range(count):
        slope = dot(face_normal(faces, k), direction)
        if slope > 0.0:
            shortest = min(shortest, float(faces[k, 3]) / slope)
    return shortest


@kernel
def tie_slack(a: Vec3, b: Vec3, c: Vec3, half: Vec3) -> float:
    """Return the difference in meters below which two overlaps are a tie."""
    return TIE * (length(half) + max(length(a), length(b), length(c)))


@kernel
def _nearest_way_out(
    faces: NDArray[np.float64], count: int, has_area: bool, two_sided: bool, slack: float
) -> Vec3:
    """Return the shortest allowed move out of the polytope."""
    nearest, distance = 0, np.inf
    for k in range(count):
        if float(faces[k, 3]) < distance - slack:
            nearest, distance = k, float(faces[k, 3])
    front = face_normal(faces, 0)
    if two_sided or not has_area or dot(face_normal(faces, nearest), front) >= -SQUARE:
        return scale(face_normal(faces, nearest), distance)
    # The nearest face lies behind the front. The next best face need not be hit by the foot of its
    # own perpendicular, so measure along each direction where the polytope really ends.
    distance = np.inf
    for k in range(count):
        direction = face_normal(faces, k)
        if dot(direction, front) >= -SQUARE:
            way = way_out(faces, count, direction)
            if way < distance - slack:
                nearest, distance = k, way
    return scale(face_normal(faces, nearest), distance)


@kernel
def obb_triangle(
    center: Vec3,
    half: Vec3,
    rotation: Mat3,
    a: Vec3,
    b: Vec3,
    c: Vec3,
    two_sided: bool,
    faces: NDArray[np.float64],
) -> tuple[bool, Vec3]:
    """Return (whether they touch, penetration of the box); ``faces`` (26, 4) is scratch."""
    a = to_box(rotation, subtract(a, center))
    b = to_box(rotation, subtract(b, center))
    c = to_box(rotation, subtract(c, center))
    count, has_area = put_difference_faces(a, b, c, half, faces, 0.0)
    if count < 0:
        return False, (0.0, 0.0, 0.0)
    move = _nearest_way_out(faces, count, has_area, two_sided, tie_slack(a, b, c, half))
    return True, to_world(rotation, move)
