"""A tree of triangles for the counter: sixteen triangles a leaf, sixteen leaves a block, and so on.

Triangles are sorted along a Hilbert curve and cut into leaves of sixteen. A leaf is a row of
sixteen float32 values for each component, so that a loop over it is one vector operation; the
boxes of sixteen leaves (a block), and of sixteen blocks, lie side by side in the same way.
Coordinates are taken from the middle of the triangles' box and scaled by a power of two, so that
none exceeds 1 and float32 neither overflows nor underflows.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels._jit import kernel

LANES = 16
BLOCK = LANES * LANES
ROW_BITS = np.uint64(0xFFFFFFFF)  # of a key; the place on the curve is above
HILBERT_BITS = 10
_CELL_BITS = np.uint32((1 << HILBERT_BITS) - 1)

Single = Any  # a float32, to be kept one: mixed with a float it would become float64

# A place no sphere can come near, for the unused lanes of the last leaf; its square is finite.
NOWHERE = np.float32(1e8)

_ZERO = np.float32(0.0)
_UNDERFLOWS = np.float32(1e-11)  # a product of three squares this small leaves float32
_KEY_ZERO = np.uint32(0)
_LARGEST_FLOAT = float(np.finfo(np.float64).max)


class Tree(NamedTuple):
    """Triangles as the counter wants them; arrays only, so that kernels take it as it is."""

    triangles: NDArray[np.float64]  # (n, 9), the caller's
    order: NDArray[np.int64]  # (leaves * 16,), the row of each lane
    leaves: NDArray[np.float32]  # (leaves, 10, 16): ax .. cz, enclosing circle's squared radius
    leaf_boxes: NDArray[np.float32]  # (blocks, 6, 16): lower x y z, upper x y z
    block_boxes: NDArray[np.float32]  # (ceil(blocks / 16), 6, 16)
    frame: NDArray[np.float64]  # (8,): middle x y z, factor; scaled half extents, the largest


def frame_around(lower: NDArray[np.float64], upper: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ``frame`` (8,) of a `Tree` for triangles within a box (3,), (3,)."""
    middle = 0.5 * lower + 0.5 * upper
    half = np.maximum(upper - middle, middle - lower)
    largest = float(half.max())
    # A power of two scales exactly. Below 2^-33 m all is one point to the tolerance: scale no more.
    exponent = max(math.frexp(largest)[1], -33) if largest > 0.0 else 0
    factor = math.ldexp(1.0, -exponent)
    return np.array([*middle, factor, *(half * factor), largest * factor])


@kernel
def column_bounds(
    values: NDArray[np.float64],
    first: int,
    last: int,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
) -> bool:
    """Widen lower and upper (columns,) by rows first..last; tell whether all are finite."""
    finite = True
    for row in range(first, last):
        for column in range(values.shape[1]):
            value = float(values[row, column])
            finite &= abs(value) <= _LARGEST_FLOAT
            if value < lower[column]:
                lower[column] = value
            if value > upper[column]:
                upper[column] = value
    return finite


@kernel(inline=True)
def _hilbert(x: np.uint32, y: np.uint32, z: np.uint32) -> np.uint32:
    """Return the place of a cell on the Hilbert curve.

    Source: J. Skilling, "Programming the Hilbert curve" (2004), with selects instead of branches.
    """
    for level in range(HILBERT_BITS - 1, 0, -1):
        bit = np.uint32(1 << level)
        below = np.uint32((1 << level) - 1)
        x = np.uint32(x ^ (below if (x & bit) != _KEY_ZERO else _KEY_ZERO))
        flip = (y & bit) != _KEY_ZERO
        swap = np.uint32((x ^ y) & (_KEY_ZERO if flip else below))
        x = np.uint32(x ^ swap ^ (below if flip else _KEY_ZERO))
        y = np.uint32(y ^ swap)
        flip = (z & bit) != _KEY_ZERO
        swap = np.uint32((x ^ z) & (_KEY_ZERO if flip else below))
        x = np.uint32(x ^ swap ^ (below if flip else _KEY_ZERO))
        z = np.uint32(z ^ swap)
    y = np.uint32(y ^ x)
    z = np.uint32(z ^ y)
    turn = _KEY_ZERO
    for level in range(HILBERT_BITS - 1, 0, -1):
        odd = (z & np.uint32(1 << level)) != _KEY_ZERO
        turn = np.uint32(turn ^ (np.uint32((1 << level) - 1) if odd else _KEY_ZERO))
    x, y, z = np.uint32(x ^ turn), np.uint32(y ^ turn), np.uint32(z ^ turn)
    return np.uint32((spread_3(x) << np.uint32(2)) | (spread_3(y) << np.uint32(1)) | spread_3(z))


@kernel(inline=True)
def spread_3(bits: np.uint32) -> np.uint32:
    """Return ten bits with two zeros between each."""
    bits = np.uint32((bits | (bits << np.uint32(16))) & np.uint32(0x030000FF))
    bits = np.uint32((bits | (bits << np.uint32(8))) & np.uint32(0x0300F00F))
    bits = np.uint32((bits | (bits << np.uint32(4))) & np.uint32(0x030C30C3))
    return np.uint32((bits | (bits << np.uint32(2))) & np.uint32(0x09249249))


@kernel(inline=True)
def cell_of(value: float, cells: float) -> np.uint32:
    """Return the cell 0 .. cells - 1 of a value of -1 .. 1; values beyond go to the end cells."""
    cell = (value + 1.0) * (0.5 * cells)
    cell = cell if cell > 0.0 else 0.0
    return np.uint32(cell if cell < cells - 1.0 else cells - 1.0)


@kernel
def triangle_keys(
    triangles: NDArray[np.float64],
    first: int,
    last: int,
    frame: NDArray[np.float64],
    keys: NDArray[np.uint64],
) -> None:
    """Set keys[first:last] to (Hilbert place << 32) + row, by each triangle's centroid."""
    x0, y0, z0 = float(frame[0]), float(frame[1]), float(frame[2])
    half = float(frame[7])
    third = float(frame[3]) / (3.0 * half) if half > 0.0 else 0.0
    cells = float(1 << HILBERT_BITS)
    for row in range(first, last):
        ax, ay, az = triangles[row, 0] - x0, triangles[row, 1] - y0, triangles[row, 2] - z0
        bx, by, bz = triangles[row, 3] - x0, triangles[row, 4] - y0, triangles[row, 5] - z0
        cx, cy, cz = triangles[row, 6] - x0, triangles[row, 7] - y0, triangles[row, 8] - z0
        # Scaled before they are added: the sum of three may be too large for float64.
        x = cell_of(ax * third + bx * third + cx * third, cells)
        y = cell_of(ay * third + by * third + cy * third, cells)
        z = cell_of(az * third + bz * third + cz * third, cells)
        keys[row] = (x << np.uint32(2 * HILBERT_BITS)) | (y << np.uint32(HILBERT_BITS)) | z
    # A loop of its own, over a slice, is vectorized: six times as fast.
    part = keys[first:last]
    for k in range(len(part)):
        cell = np.uint32(part[k])
        place = _hilbert(
            cell >> np.uint32(2 * HILBERT_BITS),
            (cell >> np.uint32(HILBERT_BITS)) & _CELL_BITS,
            cell & _CELL_BITS,
        )
        part[k] = (np.uint64(place) << np.uint64(32)) | np.uint64(first + k)


@kernel
def fill_leaves(
    triangles: NDArray[np.float64],
    keys: NDArray[np.uint64],
    first: int,
    last: int,
    frame: NDArray[np.float64],
    order: NDArray[np.int64],
    leaves: NDArray[np.float32],
    leaf_boxes: NDArray[np.float32],
) -> None:
    """Fill leaves first..last, their boxes and the order, from the sorted keys."""
    x0, y0, z0 = float(frame[0]), float(frame[1]), float(frame[2])
    factor = float(frame[3])
    count = len(keys)
    for leaf in range(first, last):
        filled = min(LANES, count - leaf * LANES)
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
def _circle_square(leaves: NDArray[np.float32], leaf: int, lane: int) -> Single:
    """Return a little more than the squared radius of the smallest circle around a triangle.

    The stored value is at least rho^2 (1 + 2e-3) with rho of the rounded corners; ``touch_count``
    says what the surplus is for. Half the longest edge where the angle facing it is not acute,
    else the circle through the corners; or, where the shortest edge is below 1/8 of the longest
    and float32 would lose its area, Jung's bound: a third of the longest square.
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
