"""Oriented box against triangle: the separating axis test, read as geometry.

The box misses the triangle exactly when the box's center lies outside the Minkowski sum of the
triangle and the (mirrored) box. That sum is a polytope with 26 faces. Their normals are the 13 axes
of the separating axis test (the triangle's normal, the box's axes, the cross products of triangle
edges and box axes), each in both directions (Gottschalk, Lin, Manocha: OBBTree, 1996). The overlap
on an axis is the distance from the center to that face. So the shortest move out leads to the
nearest face, and a line leaves the polytope where it crosses the first face.

All is computed in the box's own frame, with the box's center as the origin. There the cross
products with box axes are exact. Errors of the transformation move the triangle's corners by a few
units in the last place, so the answer is exact for a problem that close to the given one.
"""

import math

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.closest_point import triangle_normal
from terrain_physics._kernels.math.rigid import turned, turned_back
from terrain_physics._kernels.math.vec3 import Mat3, Vec3, choose, dot, length, scale, subtract
from terrain_physics._kernels.tolerances import FRONT_COSINE, PARALLEL_AXES_SINE, TIE_SHARE
from terrain_physics._kernels.types import Floats

FACES = 26

# Rows of scratch memory: all faces, a copy of the faces that matter, and one more.
FACE_COUNT = 2 * FACES + 1


@kernel(inline=True)
def box_face_distances(axis: Vec3, a: Vec3, b: Vec3, c: Vec3, half: Vec3) -> tuple[float, float]:
    """Return the distances from the center to the faces of +axis and -axis."""
    pa, pb, pc = dot(axis, a), dot(axis, b), dot(axis, c)
    extent = abs(axis[0]) * half[0] + abs(axis[1]) * half[1] + abs(axis[2]) * half[2]
    return max(pa, pb, pc) + extent, extent - min(pa, pb, pc)


@kernel(inline=True)
def edge_axis(edge: Vec3, k: int) -> tuple[bool, Vec3]:
    """Return (whether they are not parallel, the unit normal of an edge and box axis k)."""
    x, y, z = edge
    if k == 0:
        axis = (0.0, z, -y)
    elif k == 1:
        axis = (-z, 0.0, x)
    else:
        axis = (y, -x, 0.0)
    size = dot(axis, axis)
    is_axis = size > PARALLEL_AXES_SINE * PARALLEL_AXES_SINE * dot(edge, edge)
    factor = 1.0 / math.sqrt(size if is_axis else 1.0)
    return is_axis, scale(axis, factor)


@kernel
def _put_faces(
    axis: Vec3,
    a: Vec3,
    b: Vec3,
    c: Vec3,
    half: Vec3,
    faces: Floats,
    count: int,
    margin: float,
) -> bool:
    """Write the faces of +axis and -axis; return whether one has the center outside by > margin."""
    forward, backward = box_face_distances(axis, a, b, c, half)
    for k in range(3):
        faces[count, k], faces[count + 1, k] = axis[k], -axis[k]
    faces[count, 3], faces[count + 1, 3] = forward, backward
    return forward < -margin or backward < -margin


@kernel
def put_difference_faces(
    a: Vec3, b: Vec3, c: Vec3, half: Vec3, faces: Floats, margin: float
) -> tuple[int, bool]:
    """Write the faces of the Minkowski difference; return (how many, whether normals come first).

    Each row of ``faces`` (FACE_COUNT, 4) receives a unit normal and the distance from the box's
    center to that face, positive inside. The order is: face normal, box axes, cross products edge
    by edge, each forward and backward. Axes that vanish are left out. The count is -1 if box and
    triangle are more than ``margin`` apart on some axis.
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
        edge = subtract(b, a) if k < 3 else subtract(c, b) if k < 6 else subtract(a, c)
        is_axis, axis = edge_axis(edge, k % 3)
        if not is_axis:
            continue
        if _put_faces(axis, a, b, c, half, faces, count, margin):
            return -1, has_area
        count += 2
    return count, has_area


@kernel(inline=True)
def face_normal(faces: Floats, k: int) -> Vec3:
    """Return the unit normal of one face."""
    return (float(faces[k, 0]), float(faces[k, 1]), float(faces[k, 2]))


@kernel(inline=True)
def tie_slack(a: Vec3, b: Vec3, c: Vec3, half: Vec3) -> float:
    """Return the difference in meters below which two overlaps are a tie."""
    return TIE_SHARE * (length(half) + max(length(a), length(b), length(c)))


@kernel(inline=True)
def _consider(
    axis: Vec3, is_axis: bool, a: Vec3, b: Vec3, c: Vec3, half: Vec3, slack: float,
    nearest: Vec3, distance: float, least: float,
) -> tuple[Vec3, float, float]:  # fmt: skip
    """Return (direction of the nearest face so far, its distance, the least of all distances)."""
    forward, backward = box_face_distances(axis, a, b, c, half)
    forward = forward if is_axis else np.inf
    backward = backward if is_axis else np.inf
    is_nearer = forward < distance - slack
    nearest = choose(is_nearer, axis, nearest)
    distance = forward if is_nearer else distance
    is_nearer = backward < distance - slack
    nearest = choose(is_nearer, scale(axis, -1.0), nearest)
    distance = backward if is_nearer else distance
    lesser = forward if forward < backward else backward
    return nearest, distance, lesser if lesser < least else least


@kernel(inline=True)
def _consider_edge(
    edge: Vec3, a: Vec3, b: Vec3, c: Vec3, half: Vec3, slack: float,
    nearest: Vec3, distance: float, least: float,
) -> tuple[Vec3, float, float]:  # fmt: skip
    """Return what `_consider` returns, for the cross products of an edge and the box axes."""
    is_axis, axis = edge_axis(edge, 0)
    nearest, distance, least = _consider(
        axis, is_axis, a, b, c, half, slack, nearest, distance, least
    )
    is_axis, axis = edge_axis(edge, 1)
    nearest, distance, least = _consider(
        axis, is_axis, a, b, c, half, slack, nearest, distance, least
    )
    is_axis, axis = edge_axis(edge, 2)
    return _consider(axis, is_axis, a, b, c, half, slack, nearest, distance, least)


@kernel(inline=True)
def nearest_face(
    a: Vec3, b: Vec3, c: Vec3, half: Vec3
) -> tuple[bool, bool, Vec3, float, Vec3, float]:
    """Return the result of all 26 faces, for a box at the origin along the axes.

    The result is (whether box and triangle touch, whether the move through the nearest face does
    not lead against the front, the triangle's normal, the slack of a tie in meters, the unit normal
    of the nearest face, its distance). There are no branches and no arrays, so that loops over many
    pairs are vectorized. Faces come in the order of `put_difference_faces`.
    """
    has_area, normal = triangle_normal(a, b, c)
    slack = tie_slack(a, b, c, half)
    out, distance, least = _consider(
        normal, has_area, a, b, c, half, slack, (0.0, 0.0, 0.0), np.inf, np.inf
    )
    x, y, z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    out, distance, least = _consider(x, True, a, b, c, half, slack, out, distance, least)
    out, distance, least = _consider(y, True, a, b, c, half, slack, out, distance, least)
    out, distance, least = _consider(z, True, a, b, c, half, slack, out, distance, least)
    out, distance, least = _consider_edge(
        subtract(b, a), a, b, c, half, slack, out, distance, least
    )
    out, distance, least = _consider_edge(
        subtract(c, b), a, b, c, half, slack, out, distance, least
    )
    out, distance, least = _consider_edge(
        subtract(a, c), a, b, c, half, slack, out, distance, least
    )
    is_allowed = (not has_area) | (dot(out, normal) >= -FRONT_COSINE)
    return not least < 0.0, is_allowed, normal, slack, out, distance


@kernel
def _nearest_allowed(faces: Floats, count: int, front: Vec3, slack: float) -> tuple[Vec3, float]:
    """Return (unit direction, length) of the shortest move out that is not against the front.

    The perpendicular to another than the nearest face may miss that face, so each allowed direction
    is measured to where it leaves the polytope.
    """
    # Along an allowed direction the polytope ends at that direction's face at the latest. So only
    # faces no farther than the nearest of these can end the shortest move: few, copied behind all.
    limit = np.inf
    for k in range(count):
        if dot(face_normal(faces, k), front) >= -FRONT_COSINE:
            limit = min(limit, float(faces[k, 3]))
    limit = limit * (1.0 + 1e-9) + 1e3 * slack
    last = FACES
    for k in range(count):
        for i in range(4):
            faces[last, i] = faces[k, i]
        last += 1 if faces[k, 3] <= limit else 0
    nearest, distance = 0, np.inf
    for k in range(count):
        direction = face_normal(faces, k)
        if dot(direction, front) < -FRONT_COSINE:
            continue
        push_out = np.inf
        for other in range(FACES, last):
            slope = dot(face_normal(faces, other), direction)
            end = float(faces[other, 3]) / (slope if slope > 0.0 else 1.0)
            push_out = end if (slope > 0.0) & (end < push_out) else push_out
        if push_out < distance - slack:
            nearest, distance = k, push_out
    return face_normal(faces, nearest), distance


@kernel(noinline=True)
def obb_contact(
    center: Vec3,
    half: Vec3,
    rotation: Mat3,
    a: Vec3,
    b: Vec3,
    c: Vec3,
    two_sided: bool,
    faces: Floats,
) -> tuple[bool, Vec3, Vec3]:
    """Return (whether they touch, penetration of the box, its unit direction)."""
    a = turned_back(rotation, subtract(a, center))
    b = turned_back(rotation, subtract(b, center))
    c = turned_back(rotation, subtract(c, center))
    # The box's own axes first: most triangles near it are apart along one of them.
    for k in range(3):
        if max(a[k], b[k], c[k]) + half[k] < 0.0 or half[k] - min(a[k], b[k], c[k]) < 0.0:
            return False, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    touching, is_allowed, front, slack, direction, distance = nearest_face(a, b, c, half)
    if not touching:
        return False, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if not (two_sided or is_allowed):
        count, _ = put_difference_faces(a, b, c, half, faces, np.inf)
        direction, distance = _nearest_allowed(faces, count, front, slack)
    move = turned(rotation, scale(direction, distance))
    return True, move, turned(rotation, direction)


@kernel(noinline=True)
def obb_triangle(
    center: Vec3,
    half: Vec3,
    rotation: Mat3,
    a: Vec3,
    b: Vec3,
    c: Vec3,
    two_sided: bool,
    faces: Floats,
) -> tuple[bool, Vec3]:
    """Return (whether they touch, penetration of the box); ``faces`` (FACE_COUNT, 4) is scratch."""
    touching, move, _ = obb_contact(center, half, rotation, a, b, c, two_sided, faces)
    return touching, move
