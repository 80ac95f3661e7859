"""Depenetration upward: the rise of a body until it lies on one triangle.

Steps and snapping to the ground use it too. The rise is negative where the body must sink.
"""

import math

import numpy as np

from terrain_physics._kernels._intrinsics import on_stack
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.body import corners_from
from terrain_physics._kernels.character.state.work import near_cost, spend
from terrain_physics._kernels.geometry.obb_triangle import (
    FACE_COUNT,
    face_normal,
    put_difference_faces,
)
from terrain_physics._kernels.math.rigid import turned_back
from terrain_physics._kernels.math.vec3 import (
    Mat3,
    Vec3,
    add,
    add_scaled,
    cross,
    dot,
    length,
    scale,
    subtract,
)
from terrain_physics._kernels.surface.shapes import CAPSULE, SPHERE, Body
from terrain_physics._kernels.tolerances import FRONT_COSINE, HIGHER_SHARE
from terrain_physics._kernels.types import Floats


@kernel
def _edge_rise(p: Vec3, q: Vec3, radius: float) -> float:
    """Return how far up a sphere around the origin comes to lie on a segment; -inf: nowhere."""
    best = -np.inf
    beside2 = p[0] * p[0] + p[2] * p[2]
    if beside2 <= radius * radius:
        best = p[1] + math.sqrt(radius * radius - beside2)
    edge = subtract(q, p)
    # Early out, seen from above: two roots are saved where the line is certainly too far away.
    side, level2 = p[0] * edge[2] - p[2] * edge[0], edge[0] * edge[0] + edge[2] * edge[2]
    if side * side - radius * radius * level2 > HIGHER_SHARE * dot(p, p) * dot(edge, edge):
        return best
    size = length(edge)
    if size == 0.0:
        return best
    # Raised by t, the sphere touches the line p + s * edge where |(p - tY) x edge| = radius.
    edge = scale(edge, 1.0 / size)
    along = dot(p, edge)
    level2 = 1.0 - edge[1] * edge[1]
    half_b = p[1] - along * edge[1]
    root = half_b * half_b - level2 * (dot(p, p) - along * along - radius * radius)
    if root >= 0.0 and level2 > 0.0:
        t = (half_b + math.sqrt(root)) / level2
        s = t * edge[1] - along
        if 0.0 <= s <= size:
            best = max(best, t)
    return best


@kernel
def _sphere_rise(a: Vec3, b: Vec3, c: Vec3, normal: Vec3, radius: float) -> float:
    """Return how far up a sphere around the origin comes to lie on top of a triangle.

    It is the greatest of the rises onto a corner, an edge and the face. -inf if the sphere and the
    triangle do not overlap as seen from above.
    """
    best = max(_edge_rise(a, b, radius), _edge_rise(b, c, radius), _edge_rise(c, a, radius))
    if normal[1] < 0.0:
        normal = scale(normal, -1.0)
    if not normal[1] > FRONT_COSINE:
        return best
    # On the face it touches at -radius * normal below the center.
    foot_x, foot_z = -radius * normal[0], -radius * normal[2]
    t = (dot(normal, a) + radius) / normal[1]
    inside, outside = True, True
    for k in range(3):
        p, q = (a, b) if k == 0 else ((b, c) if k == 1 else (c, a))
        # Counter-clockwise from above: the inside is where z -> x turns positive.
        turn = (q[2] - p[2]) * (foot_x - p[0]) - (q[0] - p[0]) * (foot_z - p[2])
        inside &= turn >= 0.0
        outside &= turn <= 0.0
    return max(best, t) if inside or outside else best


@kernel
def _capsule_rise(a: Vec3, b: Vec3, c: Vec3, normal: Vec3, radius: float, axis: Vec3) -> float:
    """Return how far up a capsule around the origin comes to lie on top of a triangle.

    It can lie on its ends, which are spheres, with its side on a corner, and with its side across
    an edge.
    """
    best = _sphere_rise(add(a, axis), add(b, axis), add(c, axis), normal, radius)
    if axis[0] == 0.0 and axis[2] == 0.0:
        return best  # upright: a point that could touch its side is over its lower end
    best = max(
        best, _sphere_rise(subtract(a, axis), subtract(b, axis), subtract(c, axis), normal, radius)
    )
    for k in range(3):
        p, q = (a, b) if k == 0 else ((b, c) if k == 1 else (c, a))
        best = max(best, _edge_rise(add(p, axis), subtract(p, axis), radius))
        edge = subtract(q, p)
        side = cross(edge, axis)
        size = length(side)
        if not size > FRONT_COSINE * length(edge) * length(axis):
            continue
        side = scale(side, (1.0 if side[1] > 0.0 else -1.0) / size)
        if not side[1] > FRONT_COSINE:
            continue
        # Raised by t, the sphere at the center touches p + s * edge + u * axis, -1 <= u <= 1.
        t = (dot(side, p) + radius) / side[1]
        foot = subtract(add_scaled((0.0, t, 0.0), side, -radius), p)
        s = dot(cross(foot, axis), cross(edge, axis)) / (size * size)
        u = -dot(cross(foot, edge), cross(edge, axis)) / (size * size)
        if 0.0 <= s <= 1.0 and -1.0 <= u <= 1.0:
            best = max(best, t)
    return best


@kernel
def _box_rise(a: Vec3, b: Vec3, c: Vec3, extents: Vec3, rotation: Mat3) -> float:
    """Return how far up a box around the origin comes to lie on top of a triangle."""
    faces = on_stack(FACE_COUNT, 4)
    up = turned_back(rotation, (0.0, 1.0, 0.0))
    a, b, c = turned_back(rotation, a), turned_back(rotation, b), turned_back(rotation, c)
    count, _ = put_difference_faces(a, b, c, extents, faces, np.inf)
    # Clip the line through the center along +Y by the faces, to find where it leaves the polytope.
    enter, leave = -np.inf, np.inf
    for k in range(count):
        slope = dot(face_normal(faces, k), up)
        distance = float(faces[k, 3])
        if slope > FRONT_COSINE:
            leave = min(leave, distance / slope)
        elif slope < -FRONT_COSINE:
            enter = max(enter, distance / slope)
        elif distance < 0.0:
            return -np.inf
    return leave if count > 0 and enter <= leave else -np.inf


@kernel(noinline=True, no_refcount=True)
def rise_onto(candidates: Floats, k: int, offset: Vec3, body: Body, work: Floats) -> float:
    """Return how far up a body must go to lie on top of a candidate; may be < 0.

    -inf if the triangle is neither above nor below the body.
    """
    a, b, c, normal = corners_from(candidates, k, offset)
    if (
        min(a[0], b[0], c[0]) > body.half_extents[0]
        or max(a[0], b[0], c[0]) < -body.half_extents[0]
        or min(a[2], b[2], c[2]) > body.half_extents[2]
        or max(a[2], b[2], c[2]) < -body.half_extents[2]
    ):
        return -np.inf
    spend(work, near_cost(body.kind))
    if body.kind == SPHERE:
        return _sphere_rise(a, b, c, normal, body.radius)
    if body.kind == CAPSULE:
        return _capsule_rise(a, b, c, normal, body.radius, body.axis)
    return _box_rise(a, b, c, body.extents, body.rotation)
