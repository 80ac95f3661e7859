"""All pairs of objects of a loose octree that overlap, each once."""

from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._intrinsics import count_trailing_zeros, prefer_wide_vectors
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.octree.build import Octrees
from terrain_physics._kernels.types import Floats, Int64s

ROW_BITS = 32  # the low bits of a key hold the greater row, the bits above the lesser one
ROW_MASK = (1 << ROW_BITS) - 1

LANES = 32  # objects of a chunk, compared by one vector loop
GATHERED = 1024  # the most objects gathered before they are compared with a leaf
_CHUNKS = GATHERED // LANES + 1

_NONE = np.int64(0)


class _Gathered(NamedTuple):
    """Objects that are compared with those of a leaf, in chunks."""

    shapes: Floats  # (chunks, 6, LANES): the columns of each chunk
    slots: Int64s  # (chunks * LANES,)


@kernel(inline=True)
def boxes_meet(a: Floats, i: int, b: Floats, j: int) -> bool:
    """Return whether two boxes overlap or touch."""
    return bool(
        (a[i, 0] <= b[j, 3])
        & (b[j, 0] <= a[i, 3])
        & (a[i, 1] <= b[j, 4])
        & (b[j, 1] <= a[i, 4])
        & (a[i, 2] <= b[j, 5])
        & (b[j, 2] <= a[i, 5])
    )


@kernel(inline=True)
def is_within(dx: float, dy: float, dz: float, radius: float) -> bool:
    """Return whether a vector is no longer than ``radius``. This decides whether spheres touch."""
    return bool(dx * dx + dy * dy + dz * dz <= radius * radius)


@kernel(inline=True)
def _overlapping_spheres(near: Floats, chunk: int, spheres: Floats, slot: int) -> np.int64:
    """Return as bits which spheres of a chunk one sphere overlaps or touches."""
    x, y, z, radius = spheres[slot, 0], spheres[slot, 1], spheres[slot, 2], spheres[slot, 3]
    prefer_wide_vectors()
    bits = _NONE
    for k in range(LANES):
        dx, dy, dz = near[chunk, 0, k] - x, near[chunk, 1, k] - y, near[chunk, 2, k] - z
        overlaps = is_within(dx, dy, dz, near[chunk, 3, k] + radius)
        bits = np.int64(bits | (np.int64(1 << k) if overlaps else _NONE))
    return bits


@kernel(inline=True)
def _overlapping_boxes(near: Floats, chunk: int, boxes: Floats, slot: int) -> np.int64:
    """Return as bits which boxes of a chunk one box overlaps or touches."""
    x0, y0, z0 = boxes[slot, 0], boxes[slot, 1], boxes[slot, 2]
    x1, y1, z1 = boxes[slot, 3], boxes[slot, 4], boxes[slot, 5]
    prefer_wide_vectors()
    bits = _NONE
    for k in range(LANES):
        overlaps = (
            (near[chunk, 0, k] <= x1)
            & (near[chunk, 1, k] <= y1)
            & (near[chunk, 2, k] <= z1)
            & (near[chunk, 3, k] >= x0)
            & (near[chunk, 4, k] >= y0)
            & (near[chunk, 5, k] >= z0)
        )
        bits = np.int64(bits | (np.int64(1 << k) if overlaps else _NONE))
    return bits


@kernel(inline=True)
def _gather(shapes: Floats, slot: int, place: int, near: _Gathered) -> None:
    chunk, lane = place // LANES, place % LANES
    for k in range(shapes.shape[1]):
        near.shapes[chunk, k, lane] = shapes[slot, k]
    near.slots[place] = slot


@kernel
def _compare(
    trees: Octrees, first: int, last: int, near: _Gathered, gathered: int, count: int, keys: Int64s
) -> tuple[int, int]:
    """Add the pairs of slots first..last with gathered objects; return (pairs, pairs tested).

    Returns (-1, 0) if ``keys`` is too short. Without any room in it, pairs are only counted.
    """
    for place in range(gathered, gathered - gathered % LANES + LANES):
        near.shapes[place // LANES, 0, place % LANES] = np.nan
    chunks = (gathered + LANES - 1) // LANES
    tests = 0
    for slot in range(first, last):
        # The leaf's own objects come first, in order; pairs up to this slot are done.
        done = max(slot + 1 - int(near.slots[0]), 0)
        if done >= gathered:
            break
        tests += gathered - done
        if len(keys) == 0:
            continue
        if count + gathered > len(keys):
            return -1, 0
        row = int(trees.rows[slot])
        for chunk in range(done // LANES, chunks):
            if len(trees.spheres) > 0:
                bits = _overlapping_spheres(near.shapes, chunk, trees.spheres, slot)
            else:
                bits = _overlapping_boxes(near.shapes, chunk, trees.boxes, slot)
            if chunk == done // LANES:
                bits = np.int64(bits & (-1 << done % LANES))
            while bits != 0:
                place = chunk * LANES + count_trailing_zeros(bits)
                other = int(trees.rows[near.slots[place]])
                bits = np.int64(bits & (bits - 1))
                keys[count] = (min(row, other) << ROW_BITS) | max(row, other)
                count += 1
    return count, tests


@kernel
def overlapping_pairs(
    trees: Octrees, node: int, count: int, tests: int, keys: Int64s
) -> tuple[int, int, int]:
    """Add a key for each overlapping pair; return (the node to continue with, pairs, pairs tested).

    Each leaf is compared with itself and the leaves after it, starting with leaf ``node``: first
    the objects that overlap the leaf's box are gathered, then each object of the leaf is compared
    with these, a chunk at a time. If ``keys`` is too short, the node is that leaf, else the number
    of nodes. Room for `GATHERED` more keys than there are pairs is enough. With no room at all
    there are no keys, only the number of pairs tested.
    """
    boxes, node_boxes, spans = trees.boxes, trees.node_boxes, trees.spans
    shapes = trees.spheres if len(trees.spheres) > 0 else boxes
    slots = np.zeros(_CHUNKS * LANES, dtype=np.int64)
    near = _Gathered(np.full((_CHUNKS, 6, LANES), np.nan), slots)
    nodes = len(spans)
    while node < nodes:
        if int(spans[node, 2]) != node + 1:
            node += 1
            continue
        first, last = int(spans[node, 0]), int(spans[node, 1])
        found, tested = count, tests
        gathered = 0
        for slot in range(first, last):
            _gather(shapes, slot, gathered, near)
            gathered += 1
            if gathered == GATHERED:
                found, more = _compare(trees, first, last, near, gathered, found, keys)
                if found < 0:
                    return node, count, tests
                tested += more
                gathered = 0
        other = node + 1
        while other < nodes:
            if not boxes_meet(node_boxes, node, node_boxes, other):
                other = int(spans[other, 2])
                continue
            if int(spans[other, 2]) == other + 1:
                for slot in range(int(spans[other, 0]), int(spans[other, 1])):
                    _gather(shapes, slot, gathered, near)
                    gathered += 1 if boxes_meet(boxes, slot, node_boxes, node) else 0
                    if gathered == GATHERED:
                        found, more = _compare(trees, first, last, near, gathered, found, keys)
                        if found < 0:
                            return node, count, tests
                        tested += more
                        gathered = 0
            other += 1
        found, more = _compare(trees, first, last, near, gathered, found, keys)
        if found < 0:
            return node, count, tests
        count, tests = found, tested + more
        node += 1
    return node, count, tests


@kernel
def split_keys(keys: Int64s, ids: Int64s, pairs: Int64s) -> None:
    """Write the ids (m, 2) of the rows in each key."""
    for i in range(len(pairs)):
        key = int(keys[i])
        pairs[i, 0] = ids[key >> ROW_BITS]
        pairs[i, 1] = ids[key & ROW_MASK]
