"""The nearest of the 26 faces of a box and a triangle, in float32: many at a time.

One face makes the contact, see `geometry/obb_triangle.py`. Float32 decides which, if its distance
is less than all others by more than their rounding.
"""

import math

import numpy as np

from terrain_physics._kernels._intrinsics import prefer_wide_vectors
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.closest_point import triangle_normal
from terrain_physics._kernels.heightmap.batch_contacts.triangle_columns import (
    ROOM,
    box_at,
    corners_at,
    put_column,
    put_columns,
    vector_at,
)
from terrain_physics._kernels.math.rigid import turned_back
from terrain_physics._kernels.math.vec3 import Vec3, choose, cross, dot, scale, subtract
from terrain_physics._kernels.types import Float32s, Floats, Int32s

Vec3f = tuple[np.float32, np.float32, np.float32]

# Columns (.., ROOM) of a triangle in the frame of its box: corners and unit normal. In float32
# follow the edges a-b, b-c, c-a, and the half extents of the box.
SEEN_PARTS, SINGLE_PARTS = 12, 24
NORMAL, EDGES, HALF = 9 * ROOM, 12 * ROOM, 21 * ROOM

# A distance is off by less than this part of the sizes. In units of 2^-24: corners, edges and
# normal are rounded once. A product of an edge and an axis is off by 4 of that edge's part across
# the axis, times lengths; a distance by 5, and divided by that part by 10 of the lengths.
OFF_DISTANCE = 16.0 * 2.0**-24

# Float32 cannot decide beyond these: edges all but parallel to an axis, squares that vanish or
# overflow.
LEAST_SINE2, LEAST_SQUARE, LARGEST = 1e-12, 1e-30, 1e9

UNKNOWN = -1  # the nearest face, where two are too close to tell


@kernel(noinline=True, noalias=True)
def put_seen(boxes: Floats, corners: Floats, count: int, seen: Floats, singles: Float32s) -> None:
    """Write n triangles in the frames of their boxes."""
    prefer_wide_vectors()
    for k in range(count):
        _, half, m = box_at(boxes, k)
        p, q, r = corners_at(corners, k)
        a, b, c = turned_back(m, p), turned_back(m, q), turned_back(m, r)
        _, normal = triangle_normal(a, b, c)
        put_columns(seen, k, a, b, c)
        put_column(seen, NORMAL + k, normal)
        put_columns(singles, k, a, b, c)
        put_column(singles, NORMAL + k, normal)
        put_columns(singles, EDGES + k, subtract(b, a), subtract(c, b), subtract(a, c))
        put_column(singles, HALF + k, half)


@kernel(inline=True, contract=True)
def sum_of(v: Vec3f) -> np.float32:
    """Return the sum of a vector's sizes along the axes."""
    return abs(v[0]) + abs(v[1]) + abs(v[2])


# A triangle and a box along an axis: the ends of the triangle, the extent of the box, and how many
# meters these units are.
Measure = tuple[np.float32, np.float32, np.float32, np.float32]

# The least distance so far, the least of all others, and the number of the nearest face.
_Nearest = tuple[np.float32, np.float32, np.int32]


@kernel(inline=True, contract=True)
def along_normal(normal: Vec3f, b: Vec3f, half: Vec3f) -> Measure:
    """Measure along the triangle's normal."""
    place = normal[0] * b[0] + normal[1] * b[1] + normal[2] * b[2]
    extent = abs(normal[0]) * half[0] + abs(normal[1]) * half[1] + abs(normal[2]) * half[2]
    return place, place, extent, np.float32(1.0)


@kernel(inline=True, contract=True)
def along_box(p: np.float32, q: np.float32, r: np.float32, half: np.float32) -> Measure:
    """Measure along an axis of the box, given the corners' coordinates and the half extent."""
    low, high = p if p < q else q, q if p < q else p
    return low if low < r else r, high if high > r else r, half, np.float32(1.0)


@kernel(inline=True, contract=True)
def across(
    u: np.float32, v: np.float32, p_u: np.float32, p_v: np.float32, q_u: np.float32,
    q_v: np.float32, half_u: np.float32, half_v: np.float32, least: np.float32,
) -> tuple[Measure, np.bool_]:  # fmt: skip
    """Measure across an edge and an axis of the box; return also whether they are not parallel.

    ``u`` and ``v`` are the edge's parts along the other axes; p is a corner on it, q is not.
    """
    one, square = np.float32(1.0), u * u + v * v
    is_axis = square > least
    p, q = v * p_u - u * p_v, v * q_u - u * q_v
    extent = abs(v) * half_u + abs(u) * half_v
    inverse = one / np.sqrt(square if is_axis else one)
    return (p if p < q else q, q if p < q else p, extent, inverse), is_axis


@kernel(inline=True, contract=True)
def least_square(edge: Vec3f) -> np.float32:
    """Return the square above which an edge's part across an axis is good enough."""
    square = edge[0] * edge[0] + edge[1] * edge[1] + edge[2] * edge[2]
    return np.float32(LEAST_SINE2) * square + np.float32(LEAST_SQUARE)


@kernel(inline=True, contract=True)
def _nearer(nearest: _Nearest, measure: Measure, number: int) -> _Nearest:
    """Return the nearest face so far, with the faces ``number`` and ``number + 1`` of an axis."""
    (best, second, face), (low, high, extent, inverse) = nearest, measure
    forward, backward = (high + extent) * inverse, (extent - low) * inverse
    is_backward = backward < forward
    near, far = backward if is_backward else forward, forward if is_backward else backward
    own = np.int32(number + 1) if is_backward else np.int32(number)
    is_nearer = near < best
    passed = best if is_nearer else near
    second = far if far < second else second
    second = passed if passed < second else second
    return near if is_nearer else best, second, own if is_nearer else face


@kernel(inline=True, contract=True)
def _nearer_across(
    nearest: _Nearest, edge: Vec3f, p: Vec3f, q: Vec3f, half: Vec3f, number: int
) -> tuple[_Nearest, np.bool_]:
    """Return the nearest face so far, with those across an edge and each axis of the box."""
    least = least_square(edge)
    measure, is_x = across(edge[1], edge[2], p[1], p[2], q[1], q[2], half[1], half[2], least)
    nearest = _nearer(nearest, measure, number)
    measure, is_y = across(edge[2], edge[0], p[2], p[0], q[2], q[0], half[2], half[0], least)
    nearest = _nearer(nearest, measure, number + 2)
    measure, is_z = across(edge[0], edge[1], p[0], p[1], q[0], q[1], half[0], half[1], least)
    return _nearer(nearest, measure, number + 4), is_x & is_y & is_z


@kernel(noinline=True, noalias=True, contract=True)
def find_faces(singles: Float32s, faces: Int32s) -> None:
    """Write the face nearest to each of n triangles, or UNKNOWN.

    Faces are numbered as `nearest_face` goes through them: 2 * axis, and 1 more backward.
    """
    prefer_wide_vectors()
    infinite = np.float32(np.inf)
    for k in range(faces.shape[0]):
        a, b, c = corners_at(singles, k)
        ab, bc, ca = corners_at(singles, EDGES + k)
        normal, half = vector_at(singles, NORMAL + k), vector_at(singles, HALF + k)
        nearest = (infinite, infinite, np.int32(0))
        nearest = _nearer(nearest, along_normal(normal, b, half), 0)
        nearest = _nearer(nearest, along_box(a[0], b[0], c[0], half[0]), 2)
        nearest = _nearer(nearest, along_box(a[1], b[1], c[1], half[1]), 4)
        nearest = _nearer(nearest, along_box(a[2], b[2], c[2], half[2]), 6)
        nearest, is_ab = _nearer_across(nearest, ab, a, c, half, 8)
        nearest, is_bc = _nearer_across(nearest, bc, b, a, half, 14)
        nearest, is_ca = _nearer_across(nearest, ca, c, b, half, 20)
        best, second, face = nearest
        sizes = sum_of(half) + sum_of(a) + sum_of(b) + sum_of(c)
        # A triangle without area has no normal.
        is_plain = is_ab & is_bc & is_ca & (sum_of(normal) > np.float32(0.0))
        is_plain &= sizes < np.float32(LARGEST)
        is_ahead = is_plain & (second - best > np.float32(2.0 * OFF_DISTANCE) * sizes)
        faces[k] = face if is_ahead else np.int32(UNKNOWN)


@kernel(inline=True)
def axis_at(seen: Floats, k: int, number: int) -> Vec3:
    """Return an axis of a listed triangle in float64, as `nearest_face` has it.

    Of the 13, in its order: the triangle's normal, the box's axes, those across both.
    """
    a, b, c = corners_at(seen, k)
    is_first, is_second = number < 7, number < 10
    edge = choose(is_first, subtract(b, a), choose(is_second, subtract(c, b), subtract(a, c)))
    first = 4 if is_first else (7 if is_second else 10)
    is_x, is_y = (number == first) | (number == 1), (number == first + 1) | (number == 2)
    x, y, z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    own = choose(is_x, x, choose(is_y, y, z))
    across = cross(edge, own)
    square = dot(across, across)
    across = scale(across, 1.0 / math.sqrt(square if square > 0.0 else 1.0))
    return choose(number == 0, vector_at(seen, NORMAL + k), choose(number < 4, own, across))
