"""Broad phase: a tree over the boxes of meshes that come, go and move, changed in logarithmic time.

It is binary. A new leaf goes down to where boxes grow little, and rotations on the way back up keep
the tree balanced: an AVL tree, with the rotations of the dynamic tree of Box2D. The form of
the tree changes no answer, only the order of the search.
"""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.sorting import sort_range
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.tolerances import (
    LEAF_MOVE_MARGIN,
    LEAF_PLACE_MARGIN,
    LEAF_SIZE_MARGIN,
    LEAF_TRAVEL_MARGIN,
)
from terrain_physics._kernels.types import Floats, Int64s

# Columns of a node. A leaf has no left child, and its right child is its item. The parent of a free
# node is the next free one. The layers of a node are all those of the leaves below it.
PARENT, LEFT, RIGHT, HEIGHT, LAYERS = range(5)
NODE_SIZE = 5

# Node 0 stands for no node, and is on no layer. Its row holds the root and the first free node.
NONE, ROOT, FREE = 0, 0, 1

# Room of a stack of nodes. A balanced tree of 2^23 leaves is 33 high.
NODES_ON_PATH = 64


class PartTree(NamedTuple):
    """The tree as queries take it."""

    boxes: Floats  # (n, 6): lower x y z, upper x y z of each node
    links: Int64s  # (n, NODE_SIZE)
    mask: int  # leaves on none of these layers are skipped


@kernel
def clear(links: Int64s) -> None:
    """Make an empty tree of all nodes."""
    count = len(links)
    for node in range(1, count):
        links[node, PARENT] = node + 1 if node + 1 < count else NONE
    links[NONE, ROOT], links[NONE, FREE] = NONE, 1 if count > 1 else NONE
    links[NONE, LAYERS] = 0


@kernel
def add_room(links: Int64s, first: int) -> None:
    """Add the nodes from ``first`` on to the free ones."""
    for node in range(len(links) - 1, first - 1, -1):
        links[node, PARENT] = links[NONE, FREE]
        links[NONE, FREE] = node


@kernel(inline=True)
def _take_free(links: Int64s) -> int:
    node = int(links[NONE, FREE])
    links[NONE, FREE] = links[node, PARENT]
    return node


@kernel(inline=True)
def _give_back(links: Int64s, node: int) -> None:
    links[node, PARENT] = links[NONE, FREE]
    links[NONE, FREE] = node


@kernel(inline=True)
def _half_area(boxes: Floats, node: int, other: int) -> float:
    """Return half the surface of the box around two nodes."""
    x = max(boxes[node, 3], boxes[other, 3]) - min(boxes[node, 0], boxes[other, 0])
    y = max(boxes[node, 4], boxes[other, 4]) - min(boxes[node, 1], boxes[other, 1])
    z = max(boxes[node, 5], boxes[other, 5]) - min(boxes[node, 2], boxes[other, 2])
    return float(x * y + y * z + z * x)


@kernel
def _fit(boxes: Floats, links: Int64s, node: int) -> None:
    """Compute box, height and layers of a node from its children."""
    left, right = int(links[node, LEFT]), int(links[node, RIGHT])
    for axis in range(3):
        boxes[node, axis] = min(boxes[left, axis], boxes[right, axis])
        boxes[node, 3 + axis] = max(boxes[left, 3 + axis], boxes[right, 3 + axis])
    links[node, HEIGHT] = 1 + max(links[left, HEIGHT], links[right, HEIGHT])
    links[node, LAYERS] = links[left, LAYERS] | links[right, LAYERS]


@kernel
def _put_in_place(links: Int64s, node: int, other: int) -> None:
    """Put a node in the place of another one below that one's parent."""
    parent = int(links[other, PARENT])
    links[node, PARENT] = parent
    if parent == NONE:
        links[NONE, ROOT] = node
    elif links[parent, LEFT] == other:
        links[parent, LEFT] = node
    else:
        links[parent, RIGHT] = node


@kernel
def _balanced(boxes: Floats, links: Int64s, node: int) -> int:
    """Balance a node and return the node at its place: a child too high replaces its parent."""
    left, right = int(links[node, LEFT]), int(links[node, RIGHT])
    lean = int(links[right, HEIGHT] - links[left, HEIGHT])
    if -1 <= lean <= 1:
        return node
    side = RIGHT if lean > 1 else LEFT
    high = int(links[node, side])
    kept, given = int(links[high, LEFT]), int(links[high, RIGHT])
    if links[given, HEIGHT] > links[kept, HEIGHT]:
        kept, given = given, kept
    _put_in_place(links, high, node)
    links[high, LEFT], links[high, RIGHT] = node, kept
    links[node, PARENT] = high
    links[node, side] = given
    links[given, PARENT] = node
    _fit(boxes, links, node)
    _fit(boxes, links, high)
    return high


@kernel
def _mend(boxes: Floats, links: Int64s, node: int) -> None:
    """Balance and fit all nodes from one up to the root."""
    while node != NONE:
        node = _balanced(boxes, links, node)
        _fit(boxes, links, node)
        node = int(links[node, PARENT])


@kernel
def _best_sibling(boxes: Floats, links: Int64s, leaf: int) -> int:
    """Return the leaf beside which a new leaf makes the boxes grow little.

    A node higher up would sometimes grow less, but then the tree could lean by any height.
    """
    node = int(links[NONE, ROOT])
    while links[node, LEFT] != NONE:
        left, right = int(links[node, LEFT]), int(links[node, RIGHT])
        to_left = _half_area(boxes, left, leaf) - _half_area(boxes, left, left)
        to_right = _half_area(boxes, right, leaf) - _half_area(boxes, right, right)
        if to_left == to_right:
            node = left if links[left, HEIGHT] < links[right, HEIGHT] else right
        else:
            node = left if to_left < to_right else right
    return node


@kernel
def _put_box(boxes: Floats, leaf: int, lower: Vec3, upper: Vec3, share: float) -> None:
    """Write the box of a leaf, wider than lower..upper by a share of the size, and a little."""
    size, place = 0.0, 0.0  # of all axes: a mesh that is flat along one of them may be turned
    for axis in range(3):
        low, high = float(lower[axis]), float(upper[axis])
        size, place = max(size, high - low), max(place, abs(low), abs(high))
    margin = share * size + LEAF_PLACE_MARGIN * place
    for axis in range(3):
        boxes[leaf, axis], boxes[leaf, 3 + axis] = lower[axis] - margin, upper[axis] + margin


@kernel
def put_leaf(
    boxes: Floats, links: Int64s, item: int, layers: int, lower: Vec3, upper: Vec3,
    share: float,
) -> int:  # fmt: skip
    """Add a leaf for an item within lower..upper; return its node. There must be two free nodes.

    Its box is wider by a ``share`` of the size.
    """
    leaf = _take_free(links)
    _put_box(boxes, leaf, lower, upper, share)
    links[leaf, LEFT], links[leaf, RIGHT], links[leaf, HEIGHT] = NONE, item, 0
    links[leaf, LAYERS], links[leaf, PARENT] = layers, NONE
    if links[NONE, ROOT] == NONE:
        links[NONE, ROOT] = leaf
        return leaf
    sibling = _best_sibling(boxes, links, leaf)
    parent = _take_free(links)
    _put_in_place(links, parent, sibling)
    links[parent, LEFT], links[parent, RIGHT] = sibling, leaf
    links[sibling, PARENT] = links[leaf, PARENT] = parent
    _fit(boxes, links, parent)
    _mend(boxes, links, int(links[parent, PARENT]))
    return leaf


@kernel
def take_leaf(boxes: Floats, links: Int64s, leaf: int) -> None:
    """Remove a leaf."""
    parent = int(links[leaf, PARENT])
    if parent == NONE:
        links[NONE, ROOT] = NONE
    else:
        left, right = int(links[parent, LEFT]), int(links[parent, RIGHT])
        _put_in_place(links, right if left == leaf else left, parent)
        _mend(boxes, links, int(links[parent, PARENT]))
        _give_back(links, parent)
    _give_back(links, leaf)


@kernel(inline=True)
def _holds(boxes: Floats, leaf: int, lower: Vec3, upper: Vec3) -> bool:
    """Tell whether the box of a leaf is wider than lower..upper by all rounding, and not far."""
    size, place, least, most = 0.0, 0.0, np.inf, 0.0
    for axis in range(3):
        low, high = float(lower[axis]), float(upper[axis])
        size, place = max(size, high - low), max(place, abs(low), abs(high))
        under, over = low - boxes[leaf, axis], boxes[leaf, 3 + axis] - high
        least, most = min(least, under, over), max(most, under, over)
    rounding = LEAF_SIZE_MARGIN * size + LEAF_PLACE_MARGIN * place
    return bool(least >= rounding and most <= 4.0 * LEAF_MOVE_MARGIN * size + rounding)


@kernel
def move_leaf(boxes: Floats, links: Int64s, leaf: int, lower: Vec3, upper: Vec3) -> int:
    """Move a leaf to lower..upper; return its node.

    Most moves are short: a leaf that has moved has a box that is wide enough for some more moves,
    as in the dynamic tree of Box2D. Within the box of its grandparent it stays where it is in the
    tree, so that only its parent and grandparent change. A leaf that goes farther is added anew.
    """
    if _holds(boxes, leaf, lower, upper):
        return leaf
    item, layers = int(links[leaf, RIGHT]), int(links[leaf, LAYERS])
    parent = int(links[leaf, PARENT])
    above = int(links[parent, PARENT]) if parent != NONE else NONE
    if above != NONE:
        _put_box(boxes, leaf, lower, upper, LEAF_MOVE_MARGIN)
        is_within = True
        for axis in range(3):
            is_within = is_within and boxes[leaf, axis] >= boxes[above, axis]
            is_within = is_within and boxes[leaf, 3 + axis] <= boxes[above, 3 + axis]
        if is_within:
            _fit(boxes, links, parent)
            _fit(boxes, links, above)
            return leaf
    take_leaf(boxes, links, leaf)
    return put_leaf(boxes, links, item, layers, lower, upper, LEAF_MOVE_MARGIN)


@kernel(inline=True)
def is_met(tree: PartTree, node: int) -> bool:
    """Tell whether the mask selects any leaf at or below a node; `NONE` has none."""
    return bool(tree.links[node, LAYERS] & tree.mask != 0)


@kernel(inline=True)
def widened(lower: Vec3, upper: Vec3) -> tuple[Vec3, Vec3]:
    """Return a box grown by more than the rounding of its coordinates."""
    far = max(abs(lower[0]), abs(lower[1]), abs(lower[2]))
    margin = LEAF_PLACE_MARGIN * max(far, abs(upper[0]), abs(upper[1]), abs(upper[2]))
    return (
        (lower[0] - margin, lower[1] - margin, lower[2] - margin),
        (upper[0] + margin, upper[1] + margin, upper[2] + margin),
    )


@kernel(inline=True)
def overlaps(tree: PartTree, node: int, lower: Vec3, upper: Vec3) -> bool:
    """Tell whether the mask selects any leaf below a node, and the node's box meets another."""
    boxes = tree.boxes
    return bool(
        is_met(tree, node)
        & (boxes[node, 0] <= upper[0])
        & (boxes[node, 3] >= lower[0])
        & (boxes[node, 1] <= upper[1])
        & (boxes[node, 4] >= lower[1])
        & (boxes[node, 2] <= upper[2])
        & (boxes[node, 5] >= lower[2])
    )


@kernel
def items_near(tree: PartTree, lower: Vec3, upper: Vec3, stack: Int64s, found: Int64s) -> int:
    """Write the items near a box, ascending, to ``found``; return how many: their boxes overlap it.

    The only item of a tree is found without a test of its box. ``stack`` (NODES_ON_PATH,) is
    scratch.
    """
    links = tree.links
    count, height, node = 0, 0, int(links[NONE, ROOT])
    if is_met(tree, node):
        stack[0], height = node, 1
    while height > 0:
        height -= 1
        node = int(stack[height])
        left, right = int(links[node, LEFT]), int(links[node, RIGHT])
        if left == NONE:
            found[count] = right
            count += 1
            continue
        if overlaps(tree, left, lower, upper):
            stack[height] = left
            height += 1
        if overlaps(tree, right, lower, upper):
            stack[height] = right
            height += 1
    sort_range(found, 0, count)
    return count


@kernel(inline=True)
def _entry(
    boxes: Floats, node: int, start: Vec3, inverse: Vec3, grown: Vec3, longest: float
) -> float:
    """Return where a path from ``start`` enters the box of a node; inf if it does not."""
    first, last = 0.0, longest
    for axis in range(3):
        low = float(boxes[node, axis]) - grown[axis] - start[axis]
        high = float(boxes[node, 3 + axis]) + grown[axis] - start[axis]
        near = (low - LEAF_TRAVEL_MARGIN * abs(low)) * inverse[axis]
        far = (high + LEAF_TRAVEL_MARGIN * abs(high)) * inverse[axis]
        first, last = max(first, min(near, far)), min(last, max(near, far))
    return first if first <= last else math.inf


@kernel(inline=True)
def _inverse(direction: float) -> float:
    """Return a reciprocal; instead of infinity, which times 0 is NaN, something very large."""
    return 1.0 / direction if abs(direction) > 1e-200 else math.copysign(1e200, direction)


@kernel
def items_on_path(
    tree: PartTree,
    start: Vec3,
    direction: Vec3,
    half_extents: Vec3,
    longest: float,
    stack: Int64s,
    found: Int64s,
    entries: Floats,
) -> int:
    """Write the items on the path of a box, nearest first, and where it enters theirs; how many.

    The box, of ``half_extents``, moves from ``start`` along a unit ``direction``, at most
    ``longest``. The only item of a tree is found without a test, at 0. ``stack`` (NODES_ON_PATH,)
    is scratch.
    """
    boxes, links = tree.boxes, tree.links
    inverse = (_inverse(direction[0]), _inverse(direction[1]), _inverse(direction[2]))
    far = max(abs(start[0]), abs(start[1]), abs(start[2]))
    grown = (
        half_extents[0] + LEAF_PLACE_MARGIN * (far + half_extents[0]),
        half_extents[1] + LEAF_PLACE_MARGIN * (far + half_extents[1]),
        half_extents[2] + LEAF_PLACE_MARGIN * (far + half_extents[2]),
    )
    count, height, node = 0, 0, int(links[NONE, ROOT])
    if is_met(tree, node):
        stack[0], height = node, 1
        if links[node, LEFT] == NONE:
            found[0], entries[0] = links[node, RIGHT], 0.0
            return 1
    while height > 0:
        height -= 1
        node = int(stack[height])
        for side in range(LEFT, RIGHT + 1):
            child = int(links[node, side])
            if not is_met(tree, child):
                continue
            entry = _entry(boxes, child, start, inverse, grown, longest)
            if entry == math.inf:
                continue
            if links[child, LEFT] != NONE:
                stack[height] = child
                height += 1
                continue
            place = count
            while place > 0 and entries[place - 1] > entry:
                entries[place], found[place] = entries[place - 1], found[place - 1]
                place -= 1
            entries[place], found[place] = entry, links[child, RIGHT]
            count += 1
    return count


@kernel(inline=True)
def gap2(boxes: Floats, node: int, point: Vec3) -> float:
    """Return the squared distance of a point to the box of a node, not rounded up."""
    total = 0.0
    for axis in range(3):
        gap = max(
            float(boxes[node, axis]) - point[axis], point[axis] - float(boxes[node, 3 + axis])
        )
        gap = max(gap, 0.0)
        total += gap * gap
    return total * (1.0 - LEAF_PLACE_MARGIN)
