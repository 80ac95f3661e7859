"""One shape against one triangle of a height map: contact and lift, as parts of solid ground."""

import math

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.closest_point import (
    FACE,
    ON_FEATURE,
    closest_on_triangle,
)
from terrain_physics._kernels.grid import (
    Grid,
    corner_heights,
    half_corners,
    half_slopes,
    height,
    is_flipped,
    slope_normal,
    vertex,
)
from terrain_physics._kernels.obb_triangle import (
    SQUARE,
    face_normal,
    put_difference_faces,
    tie_slack,
    to_box,
    to_world,
)
from terrain_physics._kernels.vec3 import Mat3, Vec3, add, dot, length, scale, subtract
from terrain_physics._kernels.way_out import LEVEL, way_out_of_ground

SPHERE, BOX = 0, 1

# Surfaces closer than this count as touching, in meters.
CONTACT_MARGIN = 1e-4

# Overlap that is left alone, in meters: a thousandth of what anybody could see.
SLOP = 1e-6

NO_CONTACT = -np.inf


@kernel
def half_triangle(
    grid: Grid, row: int, column: int, half: int, center: Vec3
) -> tuple[Vec3, Vec3, Vec3, Vec3]:
    """Return the corners of a half relative to a point, and its normal."""
    flipped = is_flipped(grid, row, column)
    ra, ca, rb, cb, rc, cc = half_corners(flipped, half)
    a, b, c, d = corner_heights(grid, row, column)
    along_x, along_z = half_slopes(grid, flipped, half, a, b, c, d)
    return (
        subtract(vertex(grid, row + ra, column + ca), center),
        subtract(vertex(grid, row + rb, column + cb), center),
        subtract(vertex(grid, row + rc, column + cc), center),
        slope_normal(along_x, along_z),
    )


@kernel
def sphere_contact(
    grid: Grid, row: int, column: int, half: int, center: Vec3, radius: float
) -> tuple[float, Vec3]:
    """Return (depth, normal) of a sphere above ground against one triangle; depth -inf: no contact.

    A depth down to -CONTACT_MARGIN is a contact: the shapes are that far apart.
    """
    a, b, c, normal = half_triangle(grid, row, column, half, center)
    feature, point = closest_on_triangle(a, b, c, True, normal)
    distance2 = dot(point, point)
    if distance2 > (radius + CONTACT_MARGIN) * (radius + CONTACT_MARGIN):
        return NO_CONTACT, normal
    on_feature = ON_FEATURE * (radius + length(a) + length(b) + length(c))
    if feature == FACE:
        above = -dot(normal, a)
        # From behind, this face is seen through the ground: a nearer one lies between.
        return (radius - above if above >= -on_feature else NO_CONTACT), normal
    distance = math.sqrt(distance2)
    if distance > on_feature:
        normal = scale(point, -1.0 / distance)
    if not way_out_of_ground(grid, row, column, half, a, b, c, normal):
        return NO_CONTACT, normal
    return radius - distance, normal


@kernel
def sphere_lift(a: Vec3, b: Vec3, c: Vec3, normal: Vec3, radius: float) -> float:
    """Return how far up a sphere around the origin must go to lie on top of a triangle; may be < 0.

    The highest of the places where it can come to lie: on a corner, on an edge, on the face. -inf
    if the triangle is not under the sphere.
    """
    best = -np.inf
    for k in range(3):
        p, q = (a, b) if k == 0 else ((b, c) if k == 1 else (c, a))
        beside2 = p[0] * p[0] + p[2] * p[2]
        if beside2 <= radius * radius:
            best = max(best, p[1] + math.sqrt(radius * radius - beside2))
        # Raised by t, the sphere touches the line p + s * edge where |(p - tY) x edge| = radius.
        edge = subtract(q, p)
        edge = scale(edge, 1.0 / length(edge))
        along = dot(p, edge)
        level2 = 1.0 - edge[1] * edge[1]
        half_b = p[1] - along * edge[1]
        root = half_b * half_b - level2 * (dot(p, p) - along * along - radius * radius)
        if root >= 0.0 and level2 > 0.0:
            t = (half_b + math.sqrt(root)) / level2
            s = t * edge[1] - along
            if s >= 0.0 and s <= length(subtract(q, p)):
                best = max(best, t)
    # On the face it touches at -radius * normal below the center.
    foot_x, foot_z = -radius * normal[0], -radius * normal[2]
    t = (dot(normal, a) + radius) / normal[1]
    inside = True
    for k in range(3):
        p, q = (a, b) if k == 0 else ((b, c) if k == 1 else (c, a))
        # Counter-clockwise from above: the inside is where z -> x turns positive.
        inside &= (q[2] - p[2]) * (foot_x - p[0]) - (q[0] - p[0]) * (foot_z - p[2]) >= 0.0
    return max(best, t) if inside else best


@kernel
def _is_that_deep(
    grid: Grid, center: Vec3, extents: Vec3, rotation: Mat3, normal: Vec3, depth: float
) -> bool:
    """Tell whether the corner of a box that is deepest under a plane is as deep in the ground."""
    n = to_box(rotation, normal)
    corner = (
        -extents[0] if n[0] > 0.0 else extents[0],
        -extents[1] if n[1] > 0.0 else extents[1],
        -extents[2] if n[2] > 0.0 else extents[2],
    )
    x, y, z = add(center, to_world(rotation, corner))
    slack = LEVEL * (grid.cell_x + grid.cell_z)
    return height(grid, x, z) - y >= depth / normal[1] - slack


@kernel
def box_contact(
    grid: Grid,
    row: int,
    column: int,
    half: int,
    center: Vec3,
    extents: Vec3,
    rotation: Mat3,
    faces: NDArray[np.float64],
) -> tuple[float, Vec3, float]:
    """Return (depth, normal, overlap) of a box above ground against one triangle.

    The overlap is the shortest way out of this triangle alone, whatever lies there. The depth is
    -inf without contact. Of the faces of triangle minus box (see obb_triangle.py) it is the
    nearest one that leads out of the ground *and* that the box would really lie against: the foot
    on it must not be cut off by another face, else the overlap is with the endless plane, not with
    the triangle. (In a valley the feet on both slopes are cut off by the other slope; there the
    plane counts if the ground is as high as the plane over the box's deepest corner.)
    """
    a, b, c, normal = half_triangle(grid, row, column, half, center)
    box_a, box_b, box_c = to_box(rotation, a), to_box(rotation, b), to_box(rotation, c)
    count, _ = put_difference_faces(box_a, box_b, box_c, extents, faces, CONTACT_MARGIN)
    if count < 0:
        return NO_CONTACT, normal, NO_CONTACT
    slack = tie_slack(box_a, box_b, box_c, extents)
    front = face_normal(faces, 0)
    depth, nearest, overlap = np.inf, -1, np.inf
    for k in range(count):
        distance = float(faces[k, 3])
        overlap = min(overlap, distance)
        direction = face_normal(faces, k)
        if distance >= depth - slack or dot(direction, front) < -SQUARE:
            continue
        cut_off = False
        for other in range(count):
            if (
                float(faces[other, 3])
                < distance * dot(face_normal(faces, other), direction) - slack
            ):
                cut_off = True
                break
        if k == 0:
            if cut_off and not _is_that_deep(grid, center, extents, rotation, normal, distance):
                continue
        elif cut_off or not way_out_of_ground(
            grid, row, column, half, a, b, c, to_world(rotation, direction)
        ):
            continue
        depth, nearest = distance, k
    if nearest < 0 or (overlap <= SLOP < depth):
        return NO_CONTACT, normal, overlap
    if nearest == 0:
        return depth, normal, overlap
    return depth, to_world(rotation, face_normal(faces, nearest)), overlap


@kernel
def box_touches(
    a: Vec3, b: Vec3, c: Vec3, extents: Vec3, rotation: Mat3, faces: NDArray[np.float64]
) -> bool:
    """Tell whether a box around the origin comes within CONTACT_MARGIN of a triangle."""
    count, _ = put_difference_faces(
        to_box(rotation, a),
        to_box(rotation, b),
        to_box(rotation, c),
        extents,
        faces,
        CONTACT_MARGIN,
    )
    return count >= 0


@kernel
def box_lift(
    a: Vec3,
    b: Vec3,
    c: Vec3,
    extents: Vec3,
    rotation: Mat3,
    faces: NDArray[np.float64],
    buried: bool,
) -> float:
    """Return how far up a box around the origin must go to lie on top of a triangle; may be < 0.

    -inf if the triangle is neither above nor below the box; unless buried, also if it is not in it.
    """
    up = to_box(rotation, (0.0, 1.0, 0.0))
    box_a, box_b, box_c = to_box(rotation, a), to_box(rotation, b), to_box(rotation, c)
    margin = np.inf if buried else 0.0
    count, _ = put_difference_faces(box_a, box_b, box_c, extents, faces, margin)
    # The line through the center along +Y, clipped by the faces: where does it leave the polytope?
    enter, leave = -np.inf, np.inf
    for k in range(count):
        slope = dot(face_normal(faces, k), up)
        distance = float(faces[k, 3])
        if slope > SQUARE:
            leave = min(leave, distance / slope)
        elif slope < -SQUARE:
            enter = max(enter, distance / slope)
        elif distance < 0.0:
            return -np.inf
    return leave if count > 0 and enter <= leave else -np.inf
