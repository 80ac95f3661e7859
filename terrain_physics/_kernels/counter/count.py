"""The count of triangles that each sphere touches: exact, and sixteen triangles at a time.

Spheres and triangles are two trees that are pruned against each other, down to one sphere and a
leaf of sixteen triangles. Boxes wholly outside a sphere are skipped, and so are boxes wholly inside
it.

The distances of the three corners decide nearly every triangle. One corner inside and one outside
is a touch; all inside is no touch. All outside is no touch either, unless the closest corner is so
near that the face may reach into the sphere. ``sphere_groups`` explains what float32 may decide,
and why. Undecided triangles go to ``verdict``, and from there to ``touches``, so that the counts
are exactly those of ``touches``.
"""

import numpy as np

from terrain_physics._kernels._intrinsics import count_trailing_zeros, prefer_wide_vectors
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.counter.sphere_groups import (
    BAND,
    BOX_ROWS,
    CUTOFF,
    HIGH,
    LOW,
    X,
    Y,
    Z,
)
from terrain_physics._kernels.counter.tree import BLOCK, LANES, Float32, Tree
from terrain_physics._kernels.geometry.sphere_surface import touches
from terrain_physics._kernels.geometry.sphere_surface_bounds import TOUCHING, UNDECIDED, verdict
from terrain_physics._kernels.math.rows import corners_in
from terrain_physics._kernels.math.space_curve import ROW_BITS
from terrain_physics._kernels.types import Float32s, Floats, Int32s, Int64s, UInt64s

Place = tuple[Float32, Float32, Float32]

_ZERO: Float32 = np.float32(0.0)
_ONE: Float32 = np.float32(1.0)
_SHARE: Float32 = np.float32(64.0 * 2.0**-24)

# A count of at most 256 triangles; from _OPEN up, bits that mark undecided ones.
_NONE, _ONE_TOUCHED, _OPEN = np.int32(0), np.int32(1), np.int32(1 << 9)


@kernel(inline=True, contract=True)
def _apart(lower: Float32, upper: Float32, a: Float32, b: Float32) -> Float32:
    """Return the squared gap between two intervals."""
    gap = lower - b if lower - b > a - upper else a - upper
    gap = gap if gap > _ZERO else _ZERO
    return gap * gap


@kernel(inline=True, contract=True)
def _across(lower: Float32, upper: Float32, a: Float32, b: Float32) -> Float32:
    """Return the squared largest difference between numbers of two intervals."""
    far = upper - a if upper - a > b - lower else b - lower
    return far * far


@kernel(inline=True, contract=True)
def _gap_and_far(
    boxes: Float32s, index: int, k: int, a: Place, b: Place
) -> tuple[Float32, Float32]:
    """Return the squares of the least and the greatest distance of a box from another, a..b."""
    gap = (
        _apart(boxes[index, 0, k], boxes[index, 3, k], a[0], b[0])
        + _apart(boxes[index, 1, k], boxes[index, 4, k], a[1], b[1])
        + _apart(boxes[index, 2, k], boxes[index, 5, k], a[2], b[2])
    )
    far = (
        _across(boxes[index, 0, k], boxes[index, 3, k], a[0], b[0])
        + _across(boxes[index, 1, k], boxes[index, 4, k], a[1], b[1])
        + _across(boxes[index, 2, k], boxes[index, 5, k], a[2], b[2])
    )
    return gap, far


@kernel(inline=True, contract=True)
def _boxes_in_range(
    boxes: Float32s, index: int, a: Place, b: Place, low: Float32, high: Float32
) -> np.int32:
    """Return as bits which of sixteen boxes a sphere with its center within a..b may touch."""
    prefer_wide_vectors()
    bits = _NONE
    for k in range(LANES):
        gap, far = _gap_and_far(boxes, index, k, a, b)
        bits = np.int32(bits | (np.int32(1 << k) if (gap <= high) & (far >= low) else _NONE))
    return bits


@kernel(inline=True, contract=True)
def _spheres_in_range(
    spheres: Float32s, index: int, boxes: Float32s, row: int, lane: int
) -> np.int32:
    """Return as bits which of sixteen spheres, or groups of spheres, may touch a box."""
    a = (boxes[row, 0, lane], boxes[row, 1, lane], boxes[row, 2, lane])
    b = (boxes[row, 3, lane], boxes[row, 4, lane], boxes[row, 5, lane])
    prefer_wide_vectors()
    bits = _NONE
    for k in range(LANES):
        gap, far = _gap_and_far(spheres, index, k, a, b)
        keep = (gap <= spheres[index, HIGH, k]) & (far >= spheres[index, LOW, k])
        bits = np.int32(bits | (np.int32(1 << k) if keep else _NONE))
    return bits


@kernel(contract=True)
def count_chunks(
    tree: Tree,
    spheres: Floats,
    keys: UInt64s,
    groups: Float32s,
    boxes: Float32s,
    first: int,
    last: int,
    counts: Int64s,
) -> None:
    """Write to counts (q,), zeros so far, what each sphere of chunks first..last touches."""
    # Read once, here: each access to a field counts references, for which threads would compete.
    triangles, order, leaves = tree.triangles, tree.order, tree.leaves
    leaf_boxes, block_boxes = tree.leaf_boxes, tree.block_boxes
    box = np.empty(BOX_ROWS, np.float32)
    unsure = np.empty(LANES, np.int32)
    found = np.empty(BLOCK, np.int64)  # counts of a chunk: rows of counts lie anywhere in memory
    for chunk in range(first, last):
        for part in range(BOX_ROWS):
            value = boxes[chunk, part, 0]
            for k in range(1, LANES):
                other = boxes[chunk, part, k]
                is_lower = (part < 3) | (part == LOW)
                value = other if (other < value) == is_lower else value
            box[part] = value
        if box[HIGH] < _ZERO:
            continue
        start = chunk * BLOCK
        for k in range(BLOCK):
            found[k] = 0
        for upper in range(len(block_boxes)):
            blocks = _boxes_in_range(
                block_boxes, upper, (box[0], box[1], box[2]), (box[3], box[4], box[5]),
                box[LOW], box[HIGH],
            )  # fmt: skip
            while blocks != 0:
                lane = count_trailing_zeros(blocks)
                blocks = np.int32(blocks & (blocks - 1))
                block = upper * LANES + lane
                in_range = _spheres_in_range(boxes, chunk, block_boxes, upper, lane)
                while in_range != 0:
                    group = chunk * LANES + count_trailing_zeros(in_range)
                    in_range = np.int32(in_range & (in_range - 1))
                    members = _spheres_in_range(groups, group, block_boxes, upper, lane)
                    while members != 0:
                        member = count_trailing_zeros(members)
                        members = np.int32(members & (members - 1))
                        place = group * LANES + member
                        touched = _count_sphere(
                            leaves, leaf_boxes, block, groups, group, member, unsure
                        )
                        if touched >= _OPEN:
                            row = int(np.int64(keys[place] & ROW_BITS))
                            found[place - start] += _count_exactly(
                                triangles, order, block, int(touched // _OPEN), unsure, spheres, row
                            )
                        found[place - start] += int(touched % _OPEN)
        for place in range(start, min(start + BLOCK, len(keys))):
            counts[int(np.int64(keys[place] & ROW_BITS))] = found[place - start]


@kernel(inline=True, contract=True)
def _count_sphere(
    leaves: Float32s,
    leaf_boxes: Float32s,
    block: int,
    groups: Float32s,
    group: int,
    member: int,
    unsure: Int32s,
) -> np.int32:
    """Return how many triangles of a block a sphere touches, plus bits, from _OPEN up, of leaves.

    The bits mark leaves with undecided triangles; the bits of these triangles are written to
    ``unsure`` (16,). They are not decided here: for a call that is not inlined, numba would count
    references of every array for every sphere, which takes as long as everything else.
    """
    center = (groups[group, X, member], groups[group, Y, member], groups[group, Z, member])
    low, high = groups[group, LOW, member], groups[group, HIGH, member]
    cutoff, band = groups[group, CUTOFF, member], groups[group, BAND, member]
    total = _NONE
    in_range = _boxes_in_range(leaf_boxes, block, center, center, low, high)
    while in_range != 0:
        place = count_trailing_zeros(in_range)
        leaf = block * LANES + place
        touched = _count_leaf(leaves, leaf, center, low, high, cutoff)
        if touched >= _OPEN:
            touched = _count_leaf_closely(leaves, leaf, center, low, high, band)
            if touched >= _OPEN:
                unsure[place] = touched // _OPEN
                touched = np.int32((touched % _OPEN) + (_OPEN << place))
        in_range = np.int32(in_range & (in_range - 1))
        total = np.int32(total + touched)
    return total


@kernel(inline=True, contract=True)
def _count_leaf(
    leaves: Float32s, leaf: int, center: Place, low: Float32, high: Float32, cutoff: Float32
) -> np.int32:
    """Return how many of sixteen triangles are touched; _OPEN or more if corners cannot tell."""
    prefer_wide_vectors()
    (x, y, z), touched, unsure = center, _NONE, _NONE
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
        no = (most < low) | (least - leaves[leaf, 9, k] > cutoff)
        # Two counters of 32 bits compile to two masks and `popcnt`; one for both, or one of 64
        # bits, would be summed lane by lane.
        touched = np.int32(touched + np.int32(yes))
        unsure = np.int32(unsure + np.int32(not (yes | no)))
    return np.int32(touched + unsure * _OPEN)


@kernel(inline=True)
def _count_leaf_closely(
    leaves: Float32s, leaf: int, center: Place, low: Float32, high: Float32, band: Float32
) -> np.int32:
    """Return how many of sixteen triangles are touched, plus bits, from _OPEN up, of the unsure.

    All sixteen are judged again. If only the open ones were, two different roundings would decide
    about each.
    """
    prefer_wide_vectors()
    (x, y, z), touched, unsure = center, _NONE, _NONE
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
    triangles: Floats,
    order: Int64s,
    block: int,
    leaves: int,
    unsure: Int32s,
    spheres: Floats,
    row: int,
) -> int:
    """Return how many of the ``unsure`` triangles are touched, in leaves with their bit set."""
    center, total = (float(spheres[row, 1]), float(spheres[row, 2]), float(spheres[row, 3])), 0
    for place in range(BLOCK):
        leaf, lane = place // LANES, place % LANES
        if (leaves >> leaf) & 1 == 0 or (int(unsure[leaf]) >> lane) & 1 == 0:
            continue
        i = order[block * BLOCK + place]
        if i >= 0 and touches(*corners_in(triangles, i), center, float(spheres[row, 0])):
            total += 1
    return total
