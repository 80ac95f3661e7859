"""The shortest allowed push-out of many boxes: float32 finds it, float64 computes it.

These are boxes with their nearest face behind the front. The 13 axes of `geometry/obb_triangle.py`
are turned to the front; each is one allowed direction u. The push-out along it ends at the first
of all faces v: 1 / push-out is the greatest of (u . v) / distance. In float32 these shares are
bounded from above. The direction and the face that seem to decide are measured in float64. If that
push-out is shorter than the bounds allow for all others, it is the answer, with the bits of the
pair's own function.
"""

import numpy as np

from terrain_physics._kernels._intrinsics import prefer_wide_vectors
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.obb_triangle import box_face_distances, tie_slack
from terrain_physics._kernels.geometry.sphere_triangle import IN_DOUBT, TOUCHING
from terrain_physics._kernels.heightmap.batch_contacts.box_faces import (
    EDGES,
    HALF,
    LARGEST,
    NORMAL,
    OFF_DISTANCE,
    Measure,
    Vec3f,
    across,
    along_box,
    along_normal,
    axis_at,
    least_square,
    sum_of,
)
from terrain_physics._kernels.heightmap.batch_contacts.triangle_columns import (
    PushOuts,
    box_at,
    corners_at,
    vector_at,
)
from terrain_physics._kernels.math.rigid import turned
from terrain_physics._kernels.math.vec3 import Vec3, choose, dot, scale
from terrain_physics._kernels.surface.contact import put_vector
from terrain_physics._kernels.types import Float32s, Floats, Int32s

# Touches worked on at once.
LANES = 64
AXES = 13

# An axis has nine numbers in the table: the direction u; u / far distance, and the most that its
# rounding adds to a share; -far / near distance, and the most that its rounding adds.
STEP_OF_AXIS = 9 * LANES
TABLE_SIZE = AXES * STEP_OF_AXIS

# In units of 2^-24, an axis is off by 6, and a product of two by 20.
_OFF_SLOPE = 32.0 * 2.0**-24

# Another push-out is longer for sure if it is so by this part, or by a thousand ties.
_LONGER_RATIO = 1e-6

# An axis that faces the front by less than this may be allowed both ways.
_LEAST_FACING = 1e-5


@kernel(inline=True, contract=True)
def _put_axis(
    table: Float32s, place: int, axis: Vec3f, measure: Measure, front: Vec3f, off: np.float32
) -> np.bool_:
    """Write an axis, turned to the front; return whether float32 can judge it."""
    low, high, extent, inverse = measure
    one, none = np.float32(1.0), np.float32(0.0)
    forward, backward = (high + extent) * inverse - off, (extent - low) * inverse - off
    facing = (axis[0] * front[0] + axis[1] * front[1] + axis[2] * front[2]) * inverse
    is_turned = facing < none
    factor = -inverse if is_turned else inverse
    far, near = backward if is_turned else forward, forward if is_turned else backward
    is_plain = (far > none) & (near > none) & (abs(facing) > np.float32(_LEAST_FACING))
    by_far, by_near = one / (far if is_plain else one), one / (near if is_plain else one)
    x, y, z = axis[0] * factor, axis[1] * factor, axis[2] * factor
    table[place] = x
    table[place + LANES] = y
    table[place + 2 * LANES] = z
    table[place + 3 * LANES] = x * by_far
    table[place + 4 * LANES] = y * by_far
    table[place + 5 * LANES] = z * by_far
    table[place + 6 * LANES] = np.float32(_OFF_SLOPE) * by_far
    table[place + 7 * LANES] = -far * by_near
    table[place + 8 * LANES] = np.float32(_OFF_SLOPE) * by_near
    return is_plain


@kernel(inline=True, contract=True)
def _put_across(
    table: Float32s, place: int, edge: Vec3f, p: Vec3f, q: Vec3f, half: Vec3f, front: Vec3f,
    off: np.float32,
) -> np.bool_:  # fmt: skip
    """Write the three axes across an edge and each axis of the box, in the same way."""
    step, none, least = STEP_OF_AXIS, np.float32(0.0), least_square(edge)
    x, y, z = edge
    measure, is_x = across(y, z, p[1], p[2], q[1], q[2], half[1], half[2], least)
    is_x &= _put_axis(table, place, (none, z, -y), measure, front, off)
    measure, is_y = across(z, x, p[2], p[0], q[2], q[0], half[2], half[0], least)
    is_y &= _put_axis(table, place + step, (-z, none, x), measure, front, off)
    measure, is_z = across(x, y, p[0], p[1], q[0], q[1], half[0], half[1], least)
    is_z &= _put_axis(table, place + 2 * step, (y, -x, none), measure, front, off)
    return is_x & is_y & is_z


@kernel(noinline=True, noalias=True, contract=True)
def _put_axes(singles: Float32s, chosen: Int32s, table: Float32s, rivals: Float32s) -> None:
    """Write the axes of n chosen touches, ``table`` (AXES, 9, LANES).

    A rival is the greatest share of another push-out: none so far, or infinite where float32 cannot
    tell.
    """
    prefer_wide_vectors()
    one, none, step = np.float32(1.0), np.float32(0.0), STEP_OF_AXIS
    for k in range(chosen.shape[0]):
        at = int(np.uint32(chosen[k]))
        a, b, c = corners_at(singles, at)
        ab, bc, ca = corners_at(singles, EDGES + at)
        front, half = vector_at(singles, NORMAL + at), vector_at(singles, HALF + at)
        sizes = sum_of(half) + sum_of(a) + sum_of(b) + sum_of(c)
        off = np.float32(OFF_DISTANCE) * sizes
        is_plain = sizes < np.float32(LARGEST)
        is_plain &= _put_axis(table, k, front, along_normal(front, b, half), front, off)
        measure = along_box(a[0], b[0], c[0], half[0])
        is_plain &= _put_axis(table, k + step, (one, none, none), measure, front, off)
        measure = along_box(a[1], b[1], c[1], half[1])
        is_plain &= _put_axis(table, k + 2 * step, (none, one, none), measure, front, off)
        measure = along_box(a[2], b[2], c[2], half[2])
        is_plain &= _put_axis(table, k + 3 * step, (none, none, one), measure, front, off)
        is_plain &= _put_across(table, k + 4 * step, ab, a, c, half, front, off)
        is_plain &= _put_across(table, k + 7 * step, bc, b, a, half, front, off)
        is_plain &= _put_across(table, k + 10 * step, ca, c, b, half, front, off)
        rivals[k] = none if is_plain else np.float32(np.inf)


@kernel(inline=True, contract=True)
def _share(table: Float32s, place: int, u: Vec3f) -> tuple[np.float32, np.float32]:
    """Return upper bounds of the shares of an axis's two faces in a push-out along u."""
    x, y, z = table[place + 3 * LANES], table[place + 4 * LANES], table[place + 5 * LANES]
    slope = u[0] * x + u[1] * y + u[2] * z
    far = slope + table[place + 6 * LANES]
    return far, slope * table[place + 7 * LANES] + table[place + 8 * LANES]


@kernel(inline=True, contract=True)
def _most(table: Float32s, place: int, u: Vec3f, most: np.float32) -> np.float32:
    """Return the greatest share so far, with those of an axis."""
    far, near = _share(table, place, u)
    most = far if far > most else most
    return near if near > most else most


@kernel(noinline=True, noalias=True, contract=True)
def _put_shares(table: Float32s, count: int, shares: Float32s) -> None:
    """Write upper bounds of the shares in n push-outs along all axes, (AXES, LANES)."""
    prefer_wide_vectors()
    step = STEP_OF_AXIS
    for axis in range(AXES):
        for k in range(count):
            place = axis * step + k
            u = (table[place], table[place + LANES], table[place + 2 * LANES])
            most = _most(table, k, u, np.float32(0.0))
            most = _most(table, k + step, u, most)
            most = _most(table, k + 2 * step, u, most)
            most = _most(table, k + 3 * step, u, most)
            most = _most(table, k + 4 * step, u, most)
            most = _most(table, k + 5 * step, u, most)
            most = _most(table, k + 6 * step, u, most)
            most = _most(table, k + 7 * step, u, most)
            most = _most(table, k + 8 * step, u, most)
            most = _most(table, k + 9 * step, u, most)
            most = _most(table, k + 10 * step, u, most)
            most = _most(table, k + 11 * step, u, most)
            shares[axis * LANES + k] = _most(table, k + 12 * step, u, most)


@kernel(noinline=True, noalias=True, contract=True)
def _choose_axes(shares: Float32s, best: Float32s, rivals: Float32s, axes: Int32s) -> None:
    """Write the axes of the push-outs that seem shortest, n, and the best share of another."""
    prefer_wide_vectors()
    for axis in range(AXES):
        own = np.int32(axis)
        for k in range(axes.shape[0]):
            share = shares[axis * LANES + k]
            most = np.float32(0.0) if axis == 0 else best[k]
            is_best = share > most
            passed = most if is_best else share
            rivals[k] = passed if passed > rivals[k] else rivals[k]
            best[k] = share if is_best else most
            axes[k] = own if is_best | (axis == 0) else axes[k]


# The greatest share so far, the greatest of all others, and the axis of the first.
_End = tuple[np.float32, np.float32, np.int32]


@kernel(inline=True, contract=True)
def _nearer_end(table: Float32s, k: int, axis: int, u: Vec3f, end: _End) -> _End:
    """Return where a push-out along u seems to end, with the faces of one more axis."""
    far, near = _share(table, axis * STEP_OF_AXIS + k, u)
    share, other = far if far > near else near, near if far > near else far
    most, second, own = end
    is_most = share > most
    passed = most if is_most else share
    second = other if other > second else second
    second = passed if passed > second else second
    return share if is_most else most, second, np.int32(axis) if is_most else own


@kernel(noinline=True, noalias=True, contract=True)
def _choose_ends(table: Float32s, axes: Int32s, rivals: Float32s, ends: Int32s) -> None:
    """Write the axes with the faces at which n push-outs seem to end; all others are rivals."""
    prefer_wide_vectors()
    none = np.float32(0.0)
    for k in range(axes.shape[0]):
        place = np.uint32(np.uint32(axes[k]) * np.uint32(STEP_OF_AXIS) + np.uint32(k))
        u = (
            table[place],
            table[np.uint32(place + np.uint32(LANES))],
            table[np.uint32(place + np.uint32(2 * LANES))],
        )
        end = (none, none, np.int32(0))
        end = _nearer_end(table, k, 0, u, end)
        end = _nearer_end(table, k, 1, u, end)
        end = _nearer_end(table, k, 2, u, end)
        end = _nearer_end(table, k, 3, u, end)
        end = _nearer_end(table, k, 4, u, end)
        end = _nearer_end(table, k, 5, u, end)
        end = _nearer_end(table, k, 6, u, end)
        end = _nearer_end(table, k, 7, u, end)
        end = _nearer_end(table, k, 8, u, end)
        end = _nearer_end(table, k, 9, u, end)
        end = _nearer_end(table, k, 10, u, end)
        end = _nearer_end(table, k, 11, u, end)
        _, second, ends[k] = _nearer_end(table, k, 12, u, end)
        rivals[k] = second if second > rivals[k] else rivals[k]


@kernel(inline=True)
def _front_axis(seen: Floats, k: int, number: int, half: Vec3) -> tuple[Vec3, float, float]:
    """Return (axis turned to the front, distance of its far face, of its near one) in float64."""
    axis = axis_at(seen, k, number)
    a, b, c = corners_at(seen, k)
    forward, backward = box_face_distances(axis, a, b, c, half)
    is_turned = dot(axis, vector_at(seen, NORMAL + k)) < 0.0
    far, near = backward if is_turned else forward, forward if is_turned else backward
    return choose(is_turned, scale(axis, -1.0), axis), far, near


@kernel(noinline=True, noalias=True)
def _put_push_outs(
    boxes: Floats,
    seen: Floats,
    chosen: Int32s,
    axes: Int32s,
    ends: Int32s,
    rivals: Float32s,
    found: PushOuts,
) -> None:
    """Write penetrations and directions of n chosen touches; the verdict is IN_DOUBT if unsure."""
    prefer_wide_vectors()
    moves, directions, verdicts = found
    for k in range(chosen.shape[0]):
        at = int(np.uint32(chosen[k]))
        _, half, m = box_at(boxes, at)
        u, _, _ = _front_axis(seen, at, int(axes[k]), half)
        v, far, near = _front_axis(seen, at, int(ends[k]), half)
        slope = dot(v, u)
        # No push-out ends at a face parallel to it: this one would be found by rounding.
        ends_there = slope != 0.0
        push_out = (far if slope > 0.0 else near) / (abs(slope) if ends_there else 1.0)
        put_vector(moves, k, turned(m, scale(u, push_out)))
        put_vector(directions, k, turned(m, u))
        a, b, c = corners_at(seen, at)
        longer = push_out * (1.0 + _LONGER_RATIO) + 1e3 * tie_slack(a, b, c, half)
        is_sure = ends_there & (longer * np.float64(rivals[k]) < 1.0)
        verdicts[k] = np.int32(TOUCHING) if is_sure else np.int32(IN_DOUBT)


@kernel(noinline=True)
def put_clear_push_outs(
    boxes: Floats, seen: Floats, singles: Float32s, chosen: Int32s, found: PushOuts
) -> None:
    """Write what is found of at most LANES chosen touches."""
    n = chosen.shape[0]
    table, shares = np.empty(TABLE_SIZE, np.float32), np.empty(AXES * LANES, np.float32)
    best, rivals = np.empty(n, np.float32), np.empty(n, np.float32)
    axes, ends = np.empty(n, np.int32), np.empty(n, np.int32)
    _put_axes(singles, chosen, table, rivals)
    _put_shares(table, n, shares)
    _choose_axes(shares, best, rivals, axes)
    _choose_ends(table, axes, rivals, ends)
    _put_push_outs(boxes, seen, chosen, axes, ends, rivals, found)
