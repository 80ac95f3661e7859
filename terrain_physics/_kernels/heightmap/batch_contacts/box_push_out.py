"""The shortest allowed push-out of many boxes that have their nearest face behind the front.

This does what `geometry/obb_triangle.py` does one by one, to the bit. The 13 axes are turned to the
front, so that each is one allowed direction u; where it leaves the polytope, 1 / push-out is the
greatest of (u . v) / distance over all faces v. That is found with rounded inverses first. The best
direction, the first of those tied, is measured again as it is defined. If another one is nearly as
good but not tied, the case is left in doubt.
"""

import numpy as np

from terrain_physics._kernels._intrinsics import prefer_wide_vectors
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.closest_point import triangle_normal
from terrain_physics._kernels.geometry.obb_triangle import box_face_distances, edge_axis, tie_slack
from terrain_physics._kernels.geometry.sphere_triangle import IN_DOUBT, TOUCHING
from terrain_physics._kernels.heightmap.batch_contacts.triangle_columns import (
    PushOuts,
    box_at,
    corners_at,
)
from terrain_physics._kernels.math.rigid import turned
from terrain_physics._kernels.math.vec3 import Vec3, choose, dot, scale, subtract
from terrain_physics._kernels.surface.contact import put_vector
from terrain_physics._kernels.tolerances import FRONT_COSINE
from terrain_physics._kernels.types import Floats, Int32s

# Boxes worked on at once.
LANES = 64
AXES = 13

# Numbers of one axis: the direction, the distances of its two faces, and their inverses.
NUMBERS = 7

# A push-out longer by less than this part, or than a thousand ties, is nearly as good.
NEARLY_RATIO = 1e-9

# A tie is at most this part of a push-out; otherwise the push-out is in doubt.
SHORTEST_TIE = 1e-3

# Push-outs that differ by less than this part of a tie are tied, whatever the rounding.
SURE_TIE_RATIO = 0.1


@kernel(inline=True)
def _put_axis(
    table: Floats, place: int, axis: Vec3, is_axis: bool, front: Vec3,
    a: Vec3, b: Vec3, c: Vec3, half: Vec3,
) -> bool:  # fmt: skip
    """Write an axis turned to the front; return whether both its directions may be allowed."""
    forward, backward = box_face_distances(axis, a, b, c, half)
    facing = dot(axis, front)
    turned = facing < 0.0
    axis = choose(turned, scale(axis, -1.0), axis)
    axis = choose(is_axis, axis, (0.0, 0.0, 0.0))
    far, near = backward if turned else forward, forward if turned else backward
    far, near = far if is_axis else 1.0, near if is_axis else 1.0
    table[place] = axis[0]
    table[place + LANES] = axis[1]
    table[place + 2 * LANES] = axis[2]
    table[place + 3 * LANES] = far
    table[place + 4 * LANES] = near
    table[place + 5 * LANES] = 1.0 / (far if far > 0.0 else 1.0)
    table[place + 6 * LANES] = 1.0 / (near if near > 0.0 else 1.0)
    return (is_axis & (abs(facing) <= 2.0 * FRONT_COSINE)) | (far <= 0.0) | (near <= 0.0)


@kernel(inline=True)
def _put_edge(
    table: Floats, place: int, edge: Vec3, front: Vec3, a: Vec3, b: Vec3, c: Vec3, half: Vec3
) -> bool:
    """Write the three axes across an edge and each box axis, in the same way."""
    step = NUMBERS * LANES
    is_axis, axis = edge_axis(edge, 0)
    doubt = _put_axis(table, place, axis, is_axis, front, a, b, c, half)
    is_axis, axis = edge_axis(edge, 1)
    doubt |= _put_axis(table, place + step, axis, is_axis, front, a, b, c, half)
    is_axis, axis = edge_axis(edge, 2)
    doubt |= _put_axis(table, place + 2 * step, axis, is_axis, front, a, b, c, half)
    return doubt


@kernel(noinline=True, noalias=True)
def _put_axes(
    boxes: Floats,
    seen: Floats,
    chosen: Int32s,
    table: Floats,
    slacks: Floats,
    doubts: Int32s,
) -> None:
    """Write the axes of n cases, ``table`` (AXES, NUMBERS, LANES)."""
    prefer_wide_vectors()
    step = NUMBERS * LANES
    for k in range(chosen.shape[0]):
        at = int(np.uint32(chosen[k]))
        _, half, _ = box_at(boxes, at)
        a, b, c = corners_at(seen, at)
        has_area, front = triangle_normal(a, b, c)
        doubt = _put_axis(table, k, front, has_area, front, a, b, c, half)
        x, y, z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
        doubt |= _put_axis(table, k + step, x, True, front, a, b, c, half)
        doubt |= _put_axis(table, k + 2 * step, y, True, front, a, b, c, half)
        doubt |= _put_axis(table, k + 3 * step, z, True, front, a, b, c, half)
        doubt |= _put_edge(table, k + 4 * step, subtract(b, a), front, a, b, c, half)
        doubt |= _put_edge(table, k + 7 * step, subtract(c, b), front, a, b, c, half)
        doubt |= _put_edge(table, k + 10 * step, subtract(a, c), front, a, b, c, half)
        slacks[k] = tie_slack(a, b, c, half)
        doubts[k] = np.int32(1 if doubt | (not has_area) else 0)


@kernel(inline=True)
def _share(table: Floats, place: int, u: Vec3, most: float) -> float:
    """Return the greatest inverse push-out so far, counting the faces of one more axis."""
    slope = u[0] * table[place] + u[1] * table[place + LANES] + u[2] * table[place + 2 * LANES]
    forward, backward = slope * table[place + 5 * LANES], -slope * table[place + 6 * LANES]
    share = forward if slope > 0.0 else backward
    return share if share > most else most


@kernel(noinline=True, noalias=True)
def _put_shares(table: Floats, count: int, shares: Floats) -> None:
    """Write the inverse push-outs along all axes (AXES, LANES) of n cases."""
    prefer_wide_vectors()
    step = NUMBERS * LANES
    for axis in range(AXES):
        for k in range(count):
            place = axis * step + k
            u = (table[place], table[place + LANES], table[place + 2 * LANES])
            most = _share(table, k, u, 0.0)
            most = _share(table, k + step, u, most)
            most = _share(table, k + 2 * step, u, most)
            most = _share(table, k + 3 * step, u, most)
            most = _share(table, k + 4 * step, u, most)
            most = _share(table, k + 5 * step, u, most)
            most = _share(table, k + 6 * step, u, most)
            most = _share(table, k + 7 * step, u, most)
            most = _share(table, k + 8 * step, u, most)
            most = _share(table, k + 9 * step, u, most)
            most = _share(table, k + 10 * step, u, most)
            most = _share(table, k + 11 * step, u, most)
            shares[axis * LANES + k] = _share(table, k + 12 * step, u, most)


@kernel(noinline=True, noalias=True)
def _choose_axes(
    shares: Floats, slacks: Floats, best: Floats, doubts: Int32s, which: Int32s
) -> None:
    """Write for n cases the axis of the shortest push-out, the first of equals.

    If another one is nearly as short, the case is in doubt. ``best`` is scratch.
    """
    prefer_wide_vectors()
    for axis in range(AXES):
        for k in range(doubts.shape[0]):
            # An axis that vanished has the share 0: no push-out.
            share = shares[axis * LANES + k]
            best[k] = share if (axis == 0) | (share > best[k]) else best[k]
    for k in range(doubts.shape[0]):
        # A push-out of only a few ties: the loop below compares inverses, and would call all tied.
        doubts[k] = np.int32(1) if slacks[k] * best[k] > SHORTEST_TIE else doubts[k]
    for axis in range(AXES - 1, -1, -1):
        own = np.int32(axis)
        for k in range(doubts.shape[0]):
            # 1 / share - 1 / best, without the divisions. The axes of an aligned box coincide with
            # the map's lines, but for rounding: that is far below a tie.
            longer = best[k] - shares[axis * LANES + k]
            slack = slacks[k] * best[k] * best[k]
            is_equal = longer <= SURE_TIE_RATIO * slack
            is_clear = longer > NEARLY_RATIO * best[k] + 1e3 * slack
            which[k] = own if is_equal else which[k]
            doubts[k] = doubts[k] if is_equal | is_clear else np.int32(1)


@kernel(inline=True)
def _end(table: Floats, place: int, u: Vec3, least: float) -> float:
    """Return the shortest push-out so far in direction u, counting the faces of one more axis."""
    slope = dot((table[place], table[place + LANES], table[place + 2 * LANES]), u)
    far, near = table[place + 3 * LANES], table[place + 4 * LANES]
    push_out = (far if slope > 0.0 else near) / (abs(slope) if slope != 0.0 else 1.0)
    return push_out if (slope != 0.0) & (push_out < least) else least


@kernel(noinline=True, noalias=True)
def _put_push_outs(
    boxes: Floats,
    chosen: Int32s,
    table: Floats,
    which: Int32s,
    doubts: Int32s,
    found: PushOuts,
) -> None:
    """Write what is found of n cases."""
    prefer_wide_vectors()
    moves, directions, verdicts = found
    step = NUMBERS * LANES
    for k in range(chosen.shape[0]):
        place = np.uint32(np.uint32(which[k]) * np.uint32(step) + np.uint32(k))
        u = (
            table[place],
            table[np.uint32(place + np.uint32(LANES))],
            table[np.uint32(place + np.uint32(2 * LANES))],
        )
        push_out = _end(table, k, u, np.inf)
        push_out = _end(table, k + step, u, push_out)
        push_out = _end(table, k + 2 * step, u, push_out)
        push_out = _end(table, k + 3 * step, u, push_out)
        push_out = _end(table, k + 4 * step, u, push_out)
        push_out = _end(table, k + 5 * step, u, push_out)
        push_out = _end(table, k + 6 * step, u, push_out)
        push_out = _end(table, k + 7 * step, u, push_out)
        push_out = _end(table, k + 8 * step, u, push_out)
        push_out = _end(table, k + 9 * step, u, push_out)
        push_out = _end(table, k + 10 * step, u, push_out)
        push_out = _end(table, k + 11 * step, u, push_out)
        push_out = _end(table, k + 12 * step, u, push_out)
        _, _, m = box_at(boxes, int(np.uint32(chosen[k])))
        move, direction = turned(m, scale(u, push_out)), turned(m, u)
        put_vector(moves, k, move)
        put_vector(directions, k, direction)
        verdicts[k] = np.int32(TOUCHING if doubts[k] == np.int32(0) else IN_DOUBT)


@kernel(noinline=True)
def put_allowed_push_outs(boxes: Floats, seen: Floats, chosen: Int32s, found: PushOuts) -> None:
    """Write what is found of at most LANES chosen touches.

    The verdict is IN_DOUBT where a contact must be computed alone.
    """
    n = chosen.shape[0]
    table = np.empty(AXES * NUMBERS * LANES)
    shares, best, slacks = np.empty(AXES * LANES), np.empty(n), np.empty(n)
    which, doubts = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    _put_axes(boxes, seen, chosen, table, slacks, doubts)
    _put_shares(table, n, shares)
    _choose_axes(shares, slacks, best, doubts, which)
    _put_push_outs(boxes, chosen, table, which, doubts, found)
