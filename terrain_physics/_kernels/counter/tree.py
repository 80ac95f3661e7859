"""A tree of triangles for the counter: sixteen triangles a leaf, sixteen leaves a block, and so on.

Triangles are sorted along a Hilbert curve and cut into leaves of sixteen. A leaf is a row of
sixteen float32 values for each component, so that a loop over it is one vector operation. The
boxes of sixteen leaves (a block), and of sixteen blocks, lie side by side in the same way.
Coordinates are relative to the middle of the triangles' box and scaled by a power of two, so that
none exceeds 1 and float32 neither overflows nor underflows.
"""

from typing import Any, NamedTuple

import numpy as np

from terrain_physics._kernels._intrinsics import prefetch
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.space_curve import ROW_BITS
from terrain_physics._kernels.types import Float32s, Floats, Int64s, UInt64s

LANES = 16
BLOCK = LANES * LANES

Float32 = Any  # a float32; an operation with a float would make it a float64

# A coordinate that no sphere comes near, for unused lanes of the last leaf; its square is finite.
NOWHERE = np.float32(1e8)

_ZERO = np.float32(0.0)
_UNDERFLOWS = np.float32(1e-11)  # the product of three smaller squares may underflow


class Tree(NamedTuple):
    """Triangles as the counter needs them; only arrays, so that kernels take it as it is."""

    triangles: Floats  # (n, 9), the caller's
    order: Int64s  # (leaves * 16,), the row of each lane, -1 if unused
    leaves: Float32s  # (leaves, 10, 16): ax .. cz, squared radius of the enclosing circle
    leaf_boxes: Float32s  # (blocks, 6, 16): lower x y z, upper x y z
    block_boxes: Float32s  # (ceil(blocks / 16), 6, 16)
    frame: Floats  # (8,): middle x y z, factor; scaled half extents, the largest


@kernel
def fill_leaves(
    triangles: Floats,
    keys: UInt64s,
    first: int,
    last: int,
    frame: Floats,
    order: Int64s,
    leaves: Float32s,
    leaf_boxes: Float32s,
) -> None:
    """Fill leaves first..last, their boxes and the order, from the sorted keys."""
    x0, y0, z0 = float(frame[0]), float(frame[1]), float(frame[2])
    factor = float(frame[3])
    count = len(keys)
    for leaf in range(first, last):
        filled = min(LANES, count - leaf * LANES)
        for ahead in range((leaf + 1) * LANES, min((leaf + 2) * LANES, count)):
            place = 9 * (keys[ahead] & ROW_BITS)
            prefetch(triangles, place)  # of the next leaf, anywhere in memory, in two cache lines
            prefetch(triangles, place + 8)
        for lane in range(filled):
            row = np.int64(keys[leaf * LANES + lane] & ROW_BITS)
            order[leaf * LANES + lane] = row
            for corner in range(0, 9, 3):
                leaves[leaf, corner, lane] = (float(triangles[row, corner]) - x0) * factor
                leaves[leaf, corner + 1, lane] = (float(triangles[row, corner + 1]) - y0) * factor
                leaves[leaf, corner + 2, lane] = (float(triangles[row, corner + 2]) - z0) * factor
        for axis in range(3):
            lower, upper = leaves[leaf, axis, 0], leaves[leaf, axis, 0]
            for corner in range(axis, 9, 3):
                for lane in range(filled):
                    value = leaves[leaf, corner, lane]
                    lower = value if value < lower else lower
                    upper = value if value > upper else upper
            leaf_boxes[leaf // LANES, axis, leaf % LANES] = lower
            leaf_boxes[leaf // LANES, axis + 3, leaf % LANES] = upper
        for lane in range(LANES):
            leaves[leaf, 9, lane] = _circle_square(leaves, leaf, lane)


@kernel(inline=True)
def _circle_square(leaves: Float32s, leaf: int, lane: int) -> Float32:
    """Return a little more than the squared radius of the smallest circle around a triangle.

    The stored value is at least rho^2 (1 + 2e-3), with rho of the rounded corners;
    ``sphere_groups`` explains the surplus. The radius is half the longest edge if the angle
    opposite to it is not acute, else that of the circle through the corners. If the shortest edge
    is below 1/8 of the longest, float32 would lose the area; then the square is Jung's bound, a
    third of the longest edge's square.
    """
    ax, ay, az = leaves[leaf, 0, lane], leaves[leaf, 1, lane], leaves[leaf, 2, lane]
    bx, by, bz = leaves[leaf, 3, lane], leaves[leaf, 4, lane], leaves[leaf, 5, lane]
    cx, cy, cz = leaves[leaf, 6, lane], leaves[leaf, 7, lane], leaves[leaf, 8, lane]
    ux, uy, uz = bx - ax, by - ay, bz - az
    vx, vy, vz = cx - ax, cy - ay, cz - az
    wx, wy, wz = cx - bx, cy - by, cz - bz
    uu = ux * ux + uy * uy + uz * uz
    vv = vx * vx + vy * vy + vz * vz
    ww = wx * wx + wy * wy + wz * wz
    longest = max(uu, vv, ww)
    shortest = min(uu, vv, ww)
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    area = np.float32(4.0) * (nx * nx + ny * ny + nz * nz)
    sound = (shortest * np.float32(64.0) > longest) & (area > _ZERO) & (longest > _UNDERFLOWS)
    around = (uu * vv) * ww / (area if sound else np.float32(1.0))
    square = around if sound else longest * np.float32(1.0 / 3.0)
    obtuse = longest + longest >= uu + vv + ww
    return (longest * np.float32(0.25) if obtuse else square) * np.float32(1.0025)
