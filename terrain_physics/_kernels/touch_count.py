"""Count the triangles each sphere touches: sixteen at a time in float32, exactly where that is unsure.

Spheres are sorted (x, y, z and radius interleaved) and cut into groups of sixteen and chunks of
sixteen groups, each with a box, so that spheres and triangles are pruned as two trees against each
other: a box wholly outside a sphere is skipped, and so is one wholly inside.

**The error band.** Let u = 2^-24, o the middle of the triangles' box, S the largest coordinate of a triangle and X of
the sphere, both measured from o. Points are stored as float32(x - o), off by at most u per coordinate, so a
difference of a corner and the center is off by at most

    eps = sqrt(3) u (S + X) * 1.0001 + tolerance

plus u times its length (1.0001: the float64 subtraction of o; the tolerance is that of ``touches``). Three squares and
two sums, fused or not, add a factor 1 +- 3 u. So the computed square D of a true distance d obeys
abs(D - d^2) <= 2 eps d + 5 u d^2 + eps^2 + O(u^2), and with

    E = 2 eps r + 10 u r^2 + eps^2,   low = r^2 - E,   high = r^2 + E

D <= low proves d <= r, and D > high proves d > r; with D >= high, d >= r, and with D < low, d < r: each by more than
the tolerance. Boxes are boxes of stored corners, so their gaps and farthest corners obey the same.

*All corners outside.* If rho is the radius of the smallest circle around a triangle and its closest point is c, then
some corner v has abs(p - v)^2 <= abs(p - c)^2 + rho^2 (c inside: p - c is normal to the plane, and a corner lies within rho of c; c on
an edge: half its length is <= rho). Rounding corners moves rho by less than eps. So the triangle is out of reach if
the least D exceeds high + rho^2 (1 + 5 u) + 4 eps rho + 3 eps^2; and 4 eps rho <= rho^2 / 1000 + 4000 eps^2. That is
stored as ``reach`` = high + 4096 eps^2 for the sphere and 1.0025 rho^2 for the triangle.

What is still open goes to ``verdict`` in float32, and from there to ``touches``.
"""

import math

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels._jit import count_trailing_zeros, kernel
from terrain_physics._kernels.bvh import LANES, NOWHERE, ROW_BITS, Tree, cell_of
from terrain_physics._kernels.touch_certificate import TOUCHING, UNDECIDED, verdict
from terrain_physics._kernels.touch_exact import TOLERANCE, touches

# Rows of a box of centers, lower x y z and upper x y z, then the least low and the greatest high of its
# spheres. A group of spheres has the same rows, the center being both corners, and two more.
_X, _Y, _Z, _LOW, _HIGH, _REACH, _BAND = 0, 1, 2, 6, 7, 8, 9
BOX_ROWS = 8
SPHERE_ROWS = 10

_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)
_SHARE = np.float32(64.0 * 2.0**-24)
_NONE, _ONE_TOUCHED, _OPEN = np.int32(0), np.int32(1), np.int32(1 << 8)
_SINGLE = 2.0**-24
_FARTHEST = 2.0**29  # of a center, in half extents: fourth powers of it stay finite in float32
_NEVER = np.float32(-1.0)  # a square no distance is below
_ALWAYS = 100.0  # a square no stored distance from the middle reaches
_SPREAD = math.sqrt(3.0) * _SINGLE * 1.0001
_DEAD_KEY = np.uint32(0xFFFFFFFF)


@kernel(inline=True)
def _spread_4(bits: np.uint32) -> np.uint32:
    """Return eight bits with three zeros between each."""
    bits = np.uint32((bits | (bits << np.uint32(12))) & np.uint32(0x000F000F))
    bits = np.uint32((bits | (bits << np.uint32(6))) & np.uint32(0x03030303))
    return np.uint32((bits | (bits << np.uint32(3))) & np.uint32(0x11111111))


@kernel(inline=True)
def _is_out(spheres: NDArray[np.float64], row: int, frame: NDArray[np.float64]) -> bool:
    """Tell whether a sphere certainly touches nothing: the box of all triangles is outside or within it."""
    factor = float(frame[3])
    radius = float(spheres[row, 0]) * factor
    gap, far = 0.0, 0.0
    for axis in range(3):
        half = float(frame[4 + axis])
        offset = abs((float(spheres[row, 1 + axis]) - float(frame[axis])) * factor)
        gap += max(offset - half, 0.0) * max(offset - half, 0.0)
        far += (offset + half) * (offset + half)
    gap, far = math.sqrt(gap), math.sqrt(far)
    # The frame and the lengths are off by a few 1e-16 of themselves.
    margin = 1e-12 * (far + radius) + 2.0 * TOLERANCE * factor
    return gap > radius + margin or far < radius - margin


@kernel
def sphere_keys(
    spheres: NDArray[np.float64],
    first: int,
    last: int,
    frame: NDArray[np.float64],
    window: NDArray[np.float64],
    keys: NDArray[np.uint64],
) -> None:
    """Set keys[first:last] to (Morton place << 32) + row; spheres that touch nothing come last.

    ``window`` (5,): middle r x y z of the spheres and the factor that brings them within -1 .. 1.
    """
    factor = float(window[4])
    for row in range(first, last):
        places = np.uint32(0)
        for column in range(4):
            value = (float(spheres[row, column]) - float(window[column])) * factor
            places = np.uint32((places << np.uint32(1)) | _spread_4(cell_of(value, 256.0)))
        if _is_out(spheres, row, frame):
            places = _DEAD_KEY
        keys[row] = (np.uint64(places) << np.uint64(32)) | np.uint64(row)


@kernel
def fill_groups(
    spheres: NDArray[np.float64],
    keys: NDArray[np.uint64],
    first: int,
    last: int,
    frame: NDArray[np.float64],
    groups: NDArray[np.float32],
    boxes: NDArray[np.float32],
) -> None:
    """Fill groups first..last (groups, 10, 16) and their boxes (chunks, 8, 16) from the sorted keys."""
    factor, half = float(frame[3]), float(frame[7])
    tolerance = TOLERANCE * factor
    for group in range(first, last):
        for lane in range(LANES):
            for part in range(SPHERE_ROWS):
                groups[group, part, lane] = _NEVER
        chunk, place = group // LANES, group % LANES
        for axis in range(3):
            boxes[chunk, axis, place] = NOWHERE
            boxes[chunk, axis + 3, place] = -NOWHERE
        boxes[chunk, _LOW, place] = NOWHERE
        boxes[chunk, _HIGH, place] = _NEVER
        for lane in range(max(0, min(LANES, len(keys) - group * LANES))):
            row = np.int64(keys[group * LANES + lane] & ROW_BITS)
            if _is_out(spheres, row, frame):
                continue
            x = (float(spheres[row, 1]) - float(frame[0])) * factor
            y = (float(spheres[row, 2]) - float(frame[1])) * factor
            z = (float(spheres[row, 3]) - float(frame[2])) * factor
            radius = float(spheres[row, 0]) * factor
            largest = max(max(abs(x), abs(y)), abs(z))
            if largest <= _FARTHEST:
                error = _SPREAD * (half + largest) + tolerance
                band = 2.0 * error * radius + 10.0 * _SINGLE * radius * radius + error * error
                low, high = radius * radius - band, radius * radius + band
                reach = high + 4096.0 * error * error
            else:  # beyond float32: every triangle is asked exactly
                x, y, z, band, low, high, reach = 0.0, 0.0, 0.0, 0.0, -1.0, _ALWAYS, _ALWAYS
            for part, value in enumerate((x, y, z, x, y, z, low, high, reach, 2.0 * band)):
                groups[group, part, lane] = value
            for part in range(BOX_ROWS):
                stored, bound = groups[group, part, lane], boxes[chunk, part, place]
                is_lower = (part < 3) | (part == _LOW)
                boxes[chunk, part, place] = stored if (stored < bound) == is_lower else bound


@kernel(inline=True, contract=True)
def _apart(lower: np.float32, upper: np.float32, a: np.float32, b: np.float32) -> np.float32:
    """Return the squared gap between two intervals."""
    gap = lower - b if lower - b > a - upper else a - upper
    gap = gap if gap > _ZERO else _ZERO
    return gap * gap


@kernel(inline=True, contract=True)
def _across(lower: np.float32, upper: np.float32, a: np.float32, b: np.float32) -> np.float32:
    """Return the squared largest difference of two numbers of two intervals."""
    far = upper - a if upper - a > b - lower else b - lower
    return far * far


@kernel(inline=True, contract=True)
def _boxes_met(
    boxes: NDArray[np.float32],
    index: int,
    ax: np.float32,
    ay: np.float32,
    az: np.float32,
    bx: np.float32,
    by: np.float32,
    bz: np.float32,
    low: np.float32,
    high: np.float32,
) -> np.int32:
    """Return bits: which of sixteen boxes the surface of some sphere centered within a..b may meet."""
    bits = _NONE
    for k in range(LANES):
        gap = (
            _apart(boxes[index, 0, k], boxes[index, 3, k], ax, bx)
            + _apart(boxes[index, 1, k], boxes[index, 4, k], ay, by)
            + _apart(boxes[index, 2, k], boxes[index, 5, k], az, bz)
        )
        far = (
            _across(boxes[index, 0, k], boxes[index, 3, k], ax, bx)
            + _across(boxes[index, 1, k], boxes[index, 4, k], ay, by)
            + _across(boxes[index, 2, k], boxes[index, 5, k], az, bz)
        )
        bits = np.int32(bits | (np.int32(1 << k) if (gap <= high) & (far >= low) else _NONE))
    return bits


@kernel(inline=True, contract=True)
def _balls_met(
    balls: NDArray[np.float32],
    index: int,
    boxes: NDArray[np.float32],
    row: int,
    lane: int,
) -> np.int32:
    """Return bits: which of sixteen spheres, or groups of them, may have a surface meeting a box."""
    ax, ay, az = boxes[row, 0, lane], boxes[row, 1, lane], boxes[row, 2, lane]
    bx, by, bz = boxes[row, 3, lane], boxes[row, 4, lane], boxes[row, 5, lane]
    bits = _NONE
    for k in range(LANES):
        gap = (
            _apart(balls[index, 0, k], balls[index, 3, k], ax, bx)
            + _apart(balls[index, 1, k], balls[index, 4, k], ay, by)
            + _apart(balls[index, 2, k], balls[index, 5, k], az, bz)
        )
        far = (
            _across(balls[index, 0, k], balls[index, 3, k], ax, bx)
            + _across(balls[index, 1, k], balls[index, 4, k], ay, by)
            + _across(balls[index, 2, k], balls[index, 5, k], az, bz)
        )
        keep = (gap <= balls[index, _HIGH, k]) & (far >= balls[index, _LOW, k])
        bits = np.int32(bits | (np.int32(1 << k) if keep else _NONE))
    return bits


@kernel(contract=True)
def count_chunks(
    tree: Tree,
    spheres: NDArray[np.float64],
    keys: NDArray[np.uint64],
    groups: NDArray[np.float32],
    boxes: NDArray[np.float32],
    first: int,
    last: int,
    counts: NDArray[np.int64],
) -> None:
    """Add to counts (q,) the triangles touched by each sphere of chunks first..last."""
    # Taken out here, once: each access to a field counts references, which threads would fight over.
    triangles, order, leaves = tree.triangles, tree.order, tree.leaves
    leaf_boxes, block_boxes = tree.leaf_boxes, tree.block_boxes
    box = np.empty(BOX_ROWS, np.float32)
    for chunk in range(first, last):
        for part in range(BOX_ROWS):
            value = boxes[chunk, part, 0]
            for k in range(1, LANES):
                other = boxes[chunk, part, k]
                is_lower = (part < 3) | (part == _LOW)
                value = other if (other < value) == is_lower else value
            box[part] = value
        if box[_HIGH] < _ZERO:
            continue
        for upper in range(len(block_boxes)):
            blocks = _boxes_met(
                block_boxes,
                upper,
                box[0],
                box[1],
                box[2],
                box[3],
                box[4],
                box[5],
                box[_LOW],
                box[_HIGH],
            )
            while blocks != 0:
                lane = count_trailing_zeros(blocks)
                blocks = np.int32(blocks & (blocks - 1))
                block = upper * LANES + lane
                met = _balls_met(boxes, chunk, block_boxes, upper, lane)
                while met != 0:
                    group = chunk * LANES + count_trailing_zeros(met)
                    met = np.int32(met & (met - 1))
                    balls = _balls_met(groups, group, block_boxes, upper, lane)
                    while balls != 0:
                        ball = count_trailing_zeros(balls)
                        balls = np.int32(balls & (balls - 1))
                        row = np.int64(keys[group * LANES + ball] & ROW_BITS)
                        counts[row] += _count_ball(
                            triangles,
                            order,
                            leaves,
                            leaf_boxes,
                            block,
                            spheres,
                            row,
                            groups,
                            group,
                            ball,
                        )


@kernel(inline=True, contract=True)
def _count_ball(
    triangles: NDArray[np.float64],
    order: NDArray[np.int64],
    leaves: NDArray[np.float32],
    leaf_boxes: NDArray[np.float32],
    block: int,
    spheres: NDArray[np.float64],
    row: int,
    groups: NDArray[np.float32],
    group: int,
    ball: int,
) -> int:
    """Return how many triangles of a block a sphere touches."""
    x, y, z = groups[group, _X, ball], groups[group, _Y, ball], groups[group, _Z, ball]
    low, high = groups[group, _LOW, ball], groups[group, _HIGH, ball]
    reach = groups[group, _REACH, ball]
    total = 0
    met = _boxes_met(leaf_boxes, block, x, y, z, x, y, z, low, high)
    while met != 0:
        leaf = block * LANES + count_trailing_zeros(met)
        met = np.int32(met & (met - 1))
        touched = _count_leaf(leaves, leaf, x, y, z, low, high, reach)
        if touched >= _OPEN:
            band = groups[group, _BAND, ball]
            touched = _count_leaf_closely(leaves, leaf, x, y, z, low, high, band)
            if touched >= _OPEN:
                unsure = touched // _OPEN
                touched = touched % _OPEN + _count_exactly(
                    triangles, order, leaf, unsure, spheres, row
                )
        total += touched
    return total


@kernel(inline=True, contract=True)
def _count_leaf(
    leaves: NDArray[np.float32],
    leaf: int,
    x: np.float32,
    y: np.float32,
    z: np.float32,
    low: np.float32,
    high: np.float32,
    reach: np.float32,
) -> np.int32:
    """Return how many of sixteen triangles are touched; _OPEN or more if the corners cannot tell."""
    touched = _NONE
    for k in range(LANES):
        ux, uy, uz = leaves[leaf, 0, k] - x, leaves[leaf, 1, k] - y, leaves[leaf, 2, k] - z
        vx, vy, vz = leaves[leaf, 3, k] - x, leaves[leaf, 4, k] - y, leaves[leaf, 5, k] - z
        wx, wy, wz = leaves[leaf, 6, k] - x, leaves[leaf, 7, k] - y, leaves[leaf, 8, k] - z
        a = ux * ux + uy * uy + uz * uz
        b = vx * vx + vy * vy + vz * vz
        c = wx * wx + wy * wy + wz * wz
        least = a if a < b else b
        least = c if c < least else least
        most = a if a > b else b
        most = c if c > most else most
        yes = (least <= low) & (most >= high)
        no = (most < low) | (least - leaves[leaf, 9, k] > reach)
        # Stays 32 bits wide only if every step says so; a 64-bit counter halves the speed.
        touched = np.int32(touched + (_ONE_TOUCHED if yes else (_NONE if no else _OPEN)))
    return touched


@kernel(inline=True)
def _count_leaf_closely(
    leaves: NDArray[np.float32],
    leaf: int,
    x: np.float32,
    y: np.float32,
    z: np.float32,
    low: np.float32,
    high: np.float32,
    band: np.float32,
) -> np.int32:
    """Return how many of sixteen triangles are touched, plus bits, from _OPEN up, of those still unsure.

    All sixteen again: were only the open ones decided here, each would be decided by two roundings.
    """
    touched, unsure = _NONE, _NONE
    for k in range(LANES):
        a = (x - leaves[leaf, 0, k], y - leaves[leaf, 1, k], z - leaves[leaf, 2, k])
        b = (x - leaves[leaf, 3, k], y - leaves[leaf, 4, k], z - leaves[leaf, 5, k])
        c = (x - leaves[leaf, 6, k], y - leaves[leaf, 7, k], z - leaves[leaf, 8, k])
        result = verdict(a, b, c, low, high, low, high, band, _SHARE, _ZERO, _ONE)
        touched = np.int32(touched + (_ONE_TOUCHED if result == TOUCHING else _NONE))
        unsure = np.int32(unsure | (np.int32(1 << k) if result == UNDECIDED else _NONE))
    return np.int32(touched + unsure * _OPEN)


@kernel
def _count_exactly(
    triangles: NDArray[np.float64],
    order: NDArray[np.int64],
    leaf: int,
    lanes: int,
    spheres: NDArray[np.float64],
    row: int,
) -> int:
    """Return how many triangles are touched, of those whose lane is set in the bits of ``lanes``."""
    total = 0
    for lane in range(LANES):
        i = order[leaf * LANES + lane]
        if (
            (lanes >> lane) & 1 == 1
            and i >= 0
            and touches(
                (float(triangles[i, 0]), float(triangles[i, 1]), float(triangles[i, 2])),
                (float(triangles[i, 3]), float(triangles[i, 4]), float(triangles[i, 5])),
                (float(triangles[i, 6]), float(triangles[i, 7]), float(triangles[i, 8])),
                (float(spheres[row, 1]), float(spheres[row, 2]), float(spheres[row, 3])),
                float(spheres[row, 0]),
            )
        ):
            total += 1
    return total
