"""Narrow phase: one body against one triangle, as a part of solid ground."""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._intrinsics import on_stack
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.internal_edges import leads_out
from terrain_physics._kernels.character.state.work import IN_BOX, near_cost, spend
from terrain_physics._kernels.geometry.capsule_triangle import FACE as CAPSULE_FACE
from terrain_physics._kernels.geometry.capsule_triangle import THROUGH, nearest_on_triangle
from terrain_physics._kernels.geometry.closest_point import FACE, closest_on_triangle
from terrain_physics._kernels.geometry.obb_triangle import (
    FACE_COUNT,
    face_normal,
    put_difference_faces,
    tie_slack,
)
from terrain_physics._kernels.ground.candidates import (
    BESIDE,
    NORMAL,
    THICKNESS,
    A,
    B,
    C,
    surface_at,
    three,
)
from terrain_physics._kernels.math.rigid import turned, turned_back
from terrain_physics._kernels.math.vec3 import Vec3, add, cross, dot, length, scale, subtract
from terrain_physics._kernels.surface.shapes import BOX, CAPSULE, SPHERE, Body, extent_along
from terrain_physics._kernels.tolerances import (
    CONTACT_MARGIN,
    FARTHER_SHARE,
    FRONT_COSINE,
    LEVEL_SHARE,
    ON_FEATURE_SHARE,
    SAME_SUPPORT_SHARE,
    SLOP,
)
from terrain_physics._kernels.types import Floats

NO_CONTACT = -np.inf


@kernel(inline=True)
def foot_of(center: Vec3, body: Body) -> Vec3:
    """Return the point under the center of a body at the height of its lowest point."""
    return (center[0], center[1] - body.half_extents[1], center[2])


@kernel(inline=True)
def center_of(foot: Vec3, body: Body) -> Vec3:
    """Return the center of a body from its foot."""
    return (foot[0], foot[1] + body.half_extents[1], foot[2])


@kernel(inline=True)
def _end_against(side: Vec3, normal: Vec3) -> Vec3:
    """Return the end of a segment, from its middle, farthest against a normal; zeros: both are."""
    along = dot(side, normal)
    if abs(along) <= SAME_SUPPORT_SHARE * length(side):
        return (0.0, 0.0, 0.0)
    return scale(side, -math.copysign(1.0, along))


@kernel(no_refcount=True)
def foremost(body: Body, normal: Vec3) -> Vec3:
    """Return the support point of a body against a unit normal, from its center.

    If a whole edge or face is equally far, it is the middle of that edge or face.
    """
    if body.kind != BOX:
        return subtract(_end_against(body.axis, normal), scale(normal, body.radius))
    m, e = body.rotation, body.extents
    x = _end_against((m[0] * e[0], m[3] * e[0], m[6] * e[0]), normal)
    y = _end_against((m[1] * e[1], m[4] * e[1], m[7] * e[1]), normal)
    z = _end_against((m[2] * e[2], m[5] * e[2], m[8] * e[2]), normal)
    return add(add(x, y), z)


@kernel(no_refcount=True)
def corners_from(candidates: Floats, k: int, offset: Vec3) -> tuple[Vec3, Vec3, Vec3, Vec3]:
    """Return a candidate's corners relative to a body's center, and its normal."""
    return (
        subtract(three(candidates, k, A), offset),
        subtract(three(candidates, k, B), offset),
        subtract(three(candidates, k, C), offset),
        three(candidates, k, NORMAL),
    )


@kernel(inline=True)
def is_near(a: Vec3, b: Vec3, c: Vec3, half_extents: Vec3) -> bool:
    """Tell whether the bounding box of a triangle comes near the box around the origin."""
    return (
        min(a[0], b[0], c[0]) <= half_extents[0] + CONTACT_MARGIN
        and max(a[0], b[0], c[0]) >= -half_extents[0] - CONTACT_MARGIN
        and min(a[1], b[1], c[1]) <= half_extents[1] + CONTACT_MARGIN
        and max(a[1], b[1], c[1]) >= -half_extents[1] - CONTACT_MARGIN
        and min(a[2], b[2], c[2]) <= half_extents[2] + CONTACT_MARGIN
        and max(a[2], b[2], c[2]) >= -half_extents[2] - CONTACT_MARGIN
    )


@kernel(inline=True)
def _is_apart(center: Vec3, a: Vec3, b: Vec3, c: Vec3, normal: Vec3, distance: float) -> bool:
    """Tell whether a triangle is certainly farther than ``distance`` from a point.

    This is an early out by plane and edges: most triangles near a body are apart from it, and exact
    distances take longer.
    """
    beside = subtract(center, a)
    above = dot(normal, beside)
    distance += FARTHER_SHARE * (abs(beside[0]) + abs(beside[1]) + abs(beside[2]))
    left = distance * distance - above * above
    if left < 0.0:
        return True
    for k in range(3):
        p, q = (a, b) if k == 0 else ((b, c) if k == 1 else (c, a))
        edge = subtract(q, p)
        inward = dot(cross(normal, edge), subtract(center, p))
        if inward < 0.0 and inward * inward > left * dot(edge, edge):
            return True
    return False


@kernel(inline=True)
def _is_ball_apart(body: Body, a: Vec3, b: Vec3, c: Vec3, normal: Vec3) -> bool:
    """Tell whether a triangle is certainly apart from a sphere, or from a capsule's lower end.

    The lower end counts only if no other point of the capsule can be nearer; boxes are not tested.
    """
    low = scale(body.axis, -1.0)
    # A triangle wholly below the lower end of an upright axis is nearest to that end.
    as_ball = low[0] == 0.0 and low[2] == 0.0 and max(a[1], b[1], c[1]) <= low[1]
    if body.kind == BOX or not (as_ball or body.kind == SPHERE):
        return False
    return _is_apart(low, a, b, c, normal, body.radius + CONTACT_MARGIN)


@kernel(inline=True, no_refcount=True)
def _round_contact(
    candidates: Floats, count: int, k: int, offset: Vec3, body: Body, work: Floats
) -> tuple[float, Vec3, float, bool]:
    """Return (depth, normal, overlap, through) of a sphere or capsule.

    If ``through``, the axis pierces the triangle, and `_angular_contact` finds the contact instead.
    A triangle of a map or of a solid mesh has one side. One of a skin has two: the side of the
    center counts.
    """
    a, b, c, normal = corners_from(candidates, k, offset)
    radius = body.radius
    if body.kind == SPHERE:
        feature, point = closest_on_triangle(a, b, c, True, normal)
        gap, on_face, over = scale(point, -1.0), feature == FACE, -dot(normal, a)
    else:
        feature, gap, over = nearest_on_triangle(
            scale(body.axis, -1.0), body.axis, (a, b, c), True, normal, radius + CONTACT_MARGIN
        )
        on_face = feature == CAPSULE_FACE
        if feature == THROUGH:
            return NO_CONTACT, normal, radius, True
    distance2 = dot(gap, gap)
    if distance2 > (radius + CONTACT_MARGIN) * (radius + CONTACT_MARGIN):
        return NO_CONTACT, normal, NO_CONTACT, False
    distance = math.sqrt(distance2)
    on_feature = ON_FEATURE_SHARE * (radius + length(a) + length(b) + length(c))
    if on_face:
        thickness = float(candidates[k, THICKNESS])
        if over < -on_feature:
            if thickness > 0.0 or thickness == BESIDE:
                # The center is behind this face, in the ground: a nearer face lies between.
                return NO_CONTACT, normal, radius - distance, False
            if thickness < 0.0:
                # Out of a solid mesh, all of the body. The push of a nearer face may end this one.
                return extent_along(body, normal) + dot(normal, a), normal, radius - distance, False
            return radius + over, scale(normal, -1.0), radius - distance, False
        return radius - over, normal, radius - distance, False
    if distance > on_feature:
        normal = scale(gap, 1.0 / distance)
    if not leads_out(candidates, count, k, normal, work):
        return NO_CONTACT, normal, radius - distance, False
    return radius - distance, normal, radius - distance, False


@kernel(no_refcount=True)
def _is_that_deep(
    candidates: Floats, count: int, k: int, offset: Vec3, body: Body, normal: Vec3, depth: float,
    work: Floats,
) -> bool:  # fmt: skip
    """Tell whether a box's deepest corner is as deep under the ground as under a face's plane."""
    if candidates[k, THICKNESS] <= 0.0:
        return True  # no surface of a map; other contacts tell whether this one is needed
    n = turned_back(body.rotation, normal)
    corner = (
        -body.extents[0] if n[0] > 0.0 else body.extents[0],
        -body.extents[1] if n[1] > 0.0 else body.extents[1],
        -body.extents[2] if n[2] > 0.0 else body.extents[2],
    )
    x, y, z = add(offset, turned(body.rotation, corner))
    surface, _, looked_at = surface_at(candidates, count, x, z, np.inf, True)
    spend(work, looked_at)
    return surface - y >= depth / normal[1] - LEVEL_SHARE * (abs(depth) + length(body.extents))


class _Polytope(NamedTuple):
    """A triangle minus a box around the origin, in the box's frame: see obb_triangle.py."""

    faces: Floats
    sides: int  # how many
    front: int  # the face on the side that counts as outside
    normal: Vec3  # of that face, in the world
    slack: float  # distances that differ by less count as equal


@kernel(inline=True)
def _radius_around(body: Body) -> float:
    """Return the radius around a body's core: a capsule's around its axis, 0 around a box."""
    return body.radius if body.kind == CAPSULE else 0.0


@kernel(inline=True, no_refcount=True)
def _is_cut_off(polytope: _Polytope, direction: Vec3, distance: float) -> bool:
    """Tell whether another face cuts off the foot of the perpendicular on a face."""
    faces, slack = polytope.faces, polytope.slack
    for other in range(polytope.sides):
        if float(faces[other, 3]) < distance * dot(face_normal(faces, other), direction) - slack:
            return True
    return False


@kernel(inline=True, no_refcount=True)
def _is_way_out(
    candidates: Floats, count: int, k: int, offset: Vec3, body: Body, work: Floats,
    polytope: _Polytope, face: int,
) -> bool:  # fmt: skip
    """Tell whether a face leads out of the ground and the body would really lie against it."""
    faces, front = polytope.faces, polytope.front
    direction, distance = face_normal(faces, face), float(faces[face, 3])
    if dot(direction, face_normal(faces, front)) < -FRONT_COSINE:
        return False
    cut_off = _is_cut_off(polytope, direction, distance)
    if face != front:
        outward = turned(body.rotation, direction)
        return not cut_off and leads_out(candidates, count, k, outward, work)
    depth = distance + _radius_around(body)
    return not cut_off or _is_that_deep(
        candidates, count, k, offset, body, polytope.normal, depth, work
    )


@kernel(no_refcount=True)
def _angular_contact(
    candidates: Floats, count: int, k: int, offset: Vec3, body: Body, work: Floats
) -> tuple[float, Vec3, float]:
    """Return (depth, normal, overlap) of a box, or of a capsule whose axis goes through.

    The overlap is the length of the least move out of this triangle alone, wherever that leads. The
    contact is the nearest face of the polytope (triangle minus box) that leads out of the ground
    *and* that the box would really lie against: no other face may cut off the foot of the
    perpendicular on it, or the overlap would be with the endless plane, not with the triangle. (In
    a valley, each slope cuts off the feet on the other slope. There the plane counts if the ground
    over the deepest corner of the box is as high as the plane.) A capsule is a segment with a
    radius around it.
    """
    faces = on_stack(FACE_COUNT, 4)
    a, b, c, normal = corners_from(candidates, k, offset)
    is_behind = dot(normal, a) > 0.0
    if is_behind and candidates[k, THICKNESS] == BESIDE:
        return NO_CONTACT, normal, NO_CONTACT  # the center is in the ground, or above the surface
    m = body.rotation
    a, b, c = turned_back(m, a), turned_back(m, b), turned_back(m, c)
    sides, _ = put_difference_faces(a, b, c, body.extents, faces, CONTACT_MARGIN)
    if sides < 0:
        return NO_CONTACT, normal, NO_CONTACT
    spend(work, IN_BOX)
    front = 0
    if candidates[k, THICKNESS] == 0.0 and is_behind:
        front, normal = 1, scale(normal, -1.0)
    polytope = _Polytope(faces, sides, front, normal, tie_slack(a, b, c, body.extents))
    depth, nearest, overlap = np.inf, -1, np.inf
    for i in range(sides):
        distance = float(faces[i, 3])
        overlap = min(overlap, distance)
        if distance < depth - polytope.slack and _is_way_out(
            candidates, count, k, offset, body, work, polytope, i
        ):
            depth, nearest = distance, i
    radius = _radius_around(body)
    overlap += radius
    if nearest < 0 or (overlap <= SLOP < depth + radius):
        return NO_CONTACT, normal, overlap
    if nearest != front:
        normal = turned(body.rotation, face_normal(faces, nearest))
    return depth + radius, normal, overlap


@kernel(noinline=True, no_refcount=True)
def _near_contact(
    candidates: Floats, count: int, k: int, offset: Vec3, body: Body, work: Floats
) -> tuple[float, Vec3, float]:
    """Return the same as `contact` for a candidate that passed the early outs.

    It reads the corners again, which is faster than to pass them as arguments.
    """
    if body.kind != BOX:
        depth, normal, overlap, through = _round_contact(candidates, count, k, offset, body, work)
        if not through:
            return depth, normal, overlap
    return _angular_contact(candidates, count, k, offset, body, work)


@kernel(inline=True, no_refcount=True)
def contact(
    candidates: Floats,
    count: int,
    k: int,
    offset: Vec3,
    body: Body,
    work: Floats,
) -> tuple[float, Vec3, float]:
    """Return (depth, normal, overlap) of a body against a candidate; depth -inf: no contact.

    The body's center is at ``offset`` from the candidates' base, above the surface. A depth down to
    -CONTACT_MARGIN is a contact: the shapes are that far apart. The overlap is with this triangle
    alone.
    """
    a, b, c, normal = corners_from(candidates, k, offset)
    if not is_near(a, b, c, body.half_extents):
        return NO_CONTACT, normal, NO_CONTACT
    spend(work, near_cost(body.kind))
    if _is_ball_apart(body, a, b, c, normal):
        return NO_CONTACT, normal, NO_CONTACT
    return _near_contact(candidates, count, k, offset, body, work)


@kernel(noinline=True, no_refcount=True)
def touches(candidates: Floats, k: int, offset: Vec3, body: Body, work: Floats) -> bool:
    """Tell whether a body comes within CONTACT_MARGIN of a candidate."""
    a, b, c, normal = corners_from(candidates, k, offset)
    if not is_near(a, b, c, body.half_extents):
        return False
    spend(work, near_cost(body.kind))
    if body.kind == BOX:
        m = body.rotation
        a, b, c = turned_back(m, a), turned_back(m, b), turned_back(m, c)
        faces = on_stack(FACE_COUNT, 4)
        count, _ = put_difference_faces(a, b, c, body.extents, faces, CONTACT_MARGIN)
        return count >= 0
    radius, low = body.radius + CONTACT_MARGIN, scale(body.axis, -1.0)
    if body.kind == SPHERE:
        _, gap = closest_on_triangle(a, b, c, True, normal)
    else:
        _, gap, _ = nearest_on_triangle(low, body.axis, (a, b, c), True, normal, radius)
    return dot(gap, gap) <= radius * radius


@kernel(noinline=True, no_refcount=True)
def overlap_alone(candidates: Floats, k: int, offset: Vec3, body: Body, work: Floats) -> float:
    """Return how deep a body is in a candidate alone, by the least move out; <= 0 if apart."""
    a, b, c, normal = corners_from(candidates, k, offset)
    if not is_near(a, b, c, body.half_extents):
        return NO_CONTACT
    spend(work, near_cost(body.kind))
    if body.kind == SPHERE:
        _, gap = closest_on_triangle(a, b, c, True, normal)
        return body.radius - length(gap)
    if body.kind == CAPSULE:
        low = scale(body.axis, -1.0)
        _, gap, _ = nearest_on_triangle(low, body.axis, (a, b, c), True, normal, math.inf)
        return body.radius - length(gap)
    faces = on_stack(FACE_COUNT, 4)
    m = body.rotation
    a, b, c = turned_back(m, a), turned_back(m, b), turned_back(m, c)
    count, _ = put_difference_faces(a, b, c, body.extents, faces, 0.0)
    overlap = np.inf
    for i in range(count):
        overlap = min(overlap, float(faces[i, 3]))
    return overlap if count > 0 else NO_CONTACT


@kernel
def upright_radius(body: Body) -> float:
    """Return the radius of the upright cylinder around a body."""
    if body.kind != BOX:
        x, _, z = body.axis
        return body.radius + math.sqrt(x * x + z * z)
    m, e, most = body.rotation, body.extents, 0.0
    for k in range(4):
        b, c = (1.0 if k & 1 else -1.0) * e[1], (1.0 if k & 2 else -1.0) * e[2]
        x = m[0] * e[0] + m[1] * b + m[2] * c
        z = m[6] * e[0] + m[7] * b + m[8] * c
        most = max(most, math.sqrt(x * x + z * z))
    return most
