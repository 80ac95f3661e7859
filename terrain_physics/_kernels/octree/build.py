"""A loose octree as flat arrays: objects sorted into cells, the cells listed in preorder.

The center of an object decides its cell, which is no smaller than the object (T. Ulrich, "Loose
Octrees", Game Programming Gems, 2000). So an object on the border of two cells gets as deep as any.
Cells only decide which objects are grouped together; a cell stores the box around its objects and
nothing else.

The arrays are `Octrees`. A sphere's box is a little larger than the sphere, so that spheres with
boxes that are apart fail the sphere test as well. For a removed object the lower corner is infinity
and the upper minus infinity.

Several trees may follow each other in the same arrays; a traversal treats them as one.
"""

from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.tolerances import OCTREE_ROUNDING
from terrain_physics._kernels.types import Bytes, Floats, Int64s

# More than the rounding of the sphere test, and of the box made here.
_WIDER = 1.0 + 2.0**-50
_UNDERFLOWS = 1e-150  # meters; the square of a shorter distance may vanish

_GROUPS = 9  # objects too large for the eight children, and the eight children


class Octrees(NamedTuple):
    """The slots of objects, in the order of the cells, and the nodes of the cells."""

    spheres: Floats  # (slots, 4): x, y, z, radius, NaN where removed; no rows if objects are boxes
    boxes: Floats  # (slots, 6): lower and upper corner
    rows: Int64s  # (slots,): the row of the object in the `Forest`
    node_boxes: Floats  # (nodes, 6)
    # (nodes, 3): first slot, last slot (exclusive), and the node that follows when this one is
    # skipped. For a leaf that is the next node.
    spans: Int64s


class _Tasks(NamedTuple):
    """A stack of tasks: parts of the objects that are still to be divided."""

    cells: Floats  # (.., 4): center and half edge of the cell of each task
    tasks: Int64s  # (.., 5): first object, last one (exclusive), depth, by size, parent


@kernel(inline=True)
def sphere_side(middle: float, radius: float, sign: float) -> float:
    """Return the lower (sign -1) or upper (1) coordinate of a sphere's box."""
    side = middle + sign * (radius * _WIDER + _UNDERFLOWS)
    return side + sign * (abs(side) * OCTREE_ROUNDING)


@kernel
def object_boxes(shapes: Floats, members: Int64s, out: Floats) -> None:
    """Write the boxes (k, 6) of the shapes (n, 4) or (n, 6) in the rows ``members``."""
    for i in range(len(members)):
        row = int(members[i])
        for k in range(3):
            if shapes.shape[1] == 4:
                middle, radius = float(shapes[row, k]), float(shapes[row, 3])
                out[i, k] = sphere_side(middle, radius, -1.0)
                out[i, k + 3] = sphere_side(middle, radius, 1.0)
            else:
                out[i, k] = shapes[row, k]
                out[i, k + 3] = shapes[row, k + 3]


@kernel
def _places(boxes: Floats, out: Floats) -> None:
    """Write the center and the longest edge (k, 4) of each box."""
    for i in range(len(boxes)):
        longest = 0.0
        for k in range(3):
            lower, upper = float(boxes[i, k]), float(boxes[i, k + 3])
            out[i, k] = 0.5 * lower + 0.5 * upper
            longest = max(longest, upper - lower)
        out[i, 3] = longest


@kernel
def _spread(places: Floats, out: Floats) -> None:
    """Write the least and the greatest (2, 4) of each column."""
    x0, y0, z0, least = places[0, 0], places[0, 1], places[0, 2], places[0, 3]
    x1, y1, z1, largest = x0, y0, z0, least
    for i in range(1, len(places)):
        x, y, z, size = places[i, 0], places[i, 1], places[i, 2], places[i, 3]
        x0, y0, z0, least = min(x0, x), min(y0, y), min(z0, z), min(least, size)
        x1, y1, z1, largest = max(x1, x), max(y1, y), max(z1, z), max(largest, size)
    out[0, 0], out[0, 1], out[0, 2], out[0, 3] = x0, y0, z0, least
    out[1, 0], out[1, 1], out[1, 2], out[1, 3] = x1, y1, z1, largest


@kernel
def _split(
    places: Floats,
    order: Int64s,
    cell: Floats,
    limit: float,
    codes: Bytes,
    spare_places: Floats,
    spare_order: Int64s,
    ends: Int64s,
) -> None:
    """Sort by child: first objects longer than ``limit``, then the octants around x, y, z.

    ``ends`` (9,) receives the end of each group.
    """
    for group in range(_GROUPS):
        ends[group] = 0
    x, y, z = cell[0], cell[1], cell[2]
    for i in range(len(places)):
        octant = (
            (1 if places[i, 0] >= x else 0)
            + (2 if places[i, 1] >= y else 0)
            + (4 if places[i, 2] >= z else 0)
        )
        code = 0 if places[i, 3] > limit else octant + 1
        codes[i] = code
        ends[code] += 1
    start = 0
    for group in range(_GROUPS):
        size = int(ends[group])
        ends[group] = start
        start += size
    for i in range(len(places)):
        code = int(codes[i])
        target = int(ends[code])
        ends[code] = target + 1
        for k in range(4):
            spare_places[target, k] = places[i, k]
        spare_order[target] = order[i]
    for i in range(len(places)):
        for k in range(4):
            places[i, k] = spare_places[i, k]
        order[i] = spare_order[i]


@kernel
def _enclose(boxes: Floats, cell: Floats) -> int:
    """Double a cell (4,) until it contains all boxes; return how often. Size 0 is set first."""
    extent = 0.0
    for i in range(len(boxes)):
        for k in range(3):
            extent = max(extent, cell[k] - boxes[i, k], boxes[i, k + 3] - cell[k])
    if cell[3] <= 0.0:
        cell[3] = extent
    doublings = 0
    while cell[3] < extent:
        cell[3] *= 2.0
        doublings += 1
    return doublings


@kernel(inline=True)
def _side(lower: float, upper: float, middle: float) -> int:
    """Return the side of the middle on which an interval lies, -1 or 1, or 0 if on both."""
    if lower >= middle:
        return 1
    return 0 if upper >= middle else -1


@kernel
def _sink(
    spread: Floats, depth: int, max_depth: int, by_size: bool, cell: Floats
) -> tuple[int, bool]:
    """Shrink a cell until its objects separate, so that no cell with one child gets a node.

    Returns (its depth, whether some objects are too large for the children and others are not).
    """
    while depth < max_depth:
        half = cell[3]
        by_size = by_size and spread[0, 3] <= half
        if by_size and spread[1, 3] > half:
            break
        x = _side(spread[0, 0], spread[1, 0], cell[0])
        y = _side(spread[0, 1], spread[1, 1], cell[1])
        z = _side(spread[0, 2], spread[1, 2], cell[2])
        if x == 0 or y == 0 or z == 0:
            break
        half *= 0.5
        depth += 1
        cell[0], cell[1], cell[2] = cell[0] + x * half, cell[1] + y * half, cell[2] + z * half
        cell[3] = half
    return depth, by_size


@kernel(inline=True)
def _wait(
    waiting: _Tasks, top: int, task: tuple[int, int, int, int, int], cell: Floats, octant: int
) -> int:
    """Push a task on the stack, in an octant of a cell or in all of it (-1); return the top."""
    cells, tasks = waiting
    quarter = 0.5 * cell[3]
    for k in range(3):
        cells[top, k] = cell[k]
        if octant >= 0:
            cells[top, k] = cell[k] + (quarter if octant >> k & 1 else -quarter)
    cells[top, 3] = quarter if octant >= 0 else cell[3]
    for k in range(5):
        tasks[top, k] = task[k]
    return top + 1


@kernel
def build_tree(
    boxes: Floats,
    cube: Floats,
    max_depth: int,
    leaf_capacity: int,
    order: Int64s,
    node_boxes: Floats,
    spans: Int64s,
) -> int:
    """Build a tree over k boxes, k > 0; return the number of its nodes, fewer than 2 k.

    ``cube`` (4,) is the center and half the edge of the root's cell, which is doubled until it
    contains everything. ``order`` (k,) receives the box of each slot; slots and nodes are counted
    from 0. Objects too large for the children of their cell become an extra child, which is divided
    by octants regardless of size.
    """
    count = len(boxes)
    places, spare_places = np.empty((count, 4)), np.empty((count, 4))
    spare_order, codes = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.uint8)
    parents = np.empty(2 * count, dtype=np.int64)
    ends, spread, cell = np.empty(_GROUPS, dtype=np.int64), np.empty((2, 4)), np.empty(4)
    for k in range(4):
        cell[k] = cube[k]
    _places(boxes, places)
    for i in range(count):
        order[i] = i

    depth = -_enclose(boxes, cell)
    # Each level leaves at most eight tasks waiting; it may be visited twice, by size and without.
    room = _GROUPS * (2 * (max_depth - depth) + 2)
    waiting = _Tasks(np.empty((room, 4)), np.empty((room, 5), dtype=np.int64))
    cells, tasks = waiting
    top, nodes = _wait(waiting, 0, (0, count, depth, 1, -1), cell, -1), 0
    while top > 0:
        top -= 1
        first, last, depth = int(tasks[top, 0]), int(tasks[top, 1]), int(tasks[top, 2])
        by_size = int(tasks[top, 3]) != 0
        for k in range(4):
            cell[k] = cells[top, k]
        node = nodes
        nodes += 1
        parents[node] = tasks[top, 4]
        spans[node, 0], spans[node, 1] = first, last
        if last - first <= leaf_capacity:
            continue
        part = places[first:last]
        _spread(part, spread)
        if spread[0, 0] == spread[1, 0] and spread[0, 1] == spread[1, 1]:
            if spread[0, 2] == spread[1, 2]:
                continue
        depth, by_size = _sink(spread, depth, max_depth, by_size, cell)
        if depth >= max_depth:
            continue
        half = float(cell[3])
        limit = half if by_size else np.inf
        _split(part, order[first:last], cell, limit, codes, spare_places, spare_order, ends)

        # Pushed last to first, so that they are popped in order; small neighbors share a leaf.
        sized, end, group = 1 if by_size else 0, last - first, _GROUPS - 1
        while group > 0:
            octant = group - 1
            while group > 1 and end - int(ends[group - 2]) <= leaf_capacity:
                group -= 1
            start = int(ends[group - 1])
            if start < end:
                task = first + start, first + end, depth + 1, sized, node
                top = _wait(waiting, top, task, cell, octant)
            end = start
            group -= 1
        if end > 0:
            top = _wait(waiting, top, (first, first + end, depth, 0, node), cell, -1)
    _close(boxes, order, nodes, parents, node_boxes, spans)
    return nodes


@kernel
def _close(
    boxes: Floats, order: Int64s, nodes: int, parents: Int64s, node_boxes: Floats, spans: Int64s
) -> None:
    """Set the boxes of the nodes, and the node that follows the descendants of each."""
    for node in range(nodes):
        spans[node, 2] = 1  # for now, the number of nodes from this one to its last descendant
        for k in range(3):
            node_boxes[node, k] = np.inf
            node_boxes[node, k + 3] = -np.inf
    for node in range(nodes - 1, -1, -1):
        x0, y0, z0 = node_boxes[node, 0], node_boxes[node, 1], node_boxes[node, 2]
        x1, y1, z1 = node_boxes[node, 3], node_boxes[node, 4], node_boxes[node, 5]
        size = int(spans[node, 2])
        if size == 1:
            for slot in range(int(spans[node, 0]), int(spans[node, 1])):
                i = int(order[slot])
                x0, y0, z0 = min(x0, boxes[i, 0]), min(y0, boxes[i, 1]), min(z0, boxes[i, 2])
                x1, y1, z1 = max(x1, boxes[i, 3]), max(y1, boxes[i, 4]), max(z1, boxes[i, 5])
            node_boxes[node, 0], node_boxes[node, 1], node_boxes[node, 2] = x0, y0, z0
            node_boxes[node, 3], node_boxes[node, 4], node_boxes[node, 5] = x1, y1, z1
        spans[node, 2] = node + size
        up = int(parents[node])
        if up >= 0:
            spans[up, 2] += size
            node_boxes[up, 0] = min(x0, node_boxes[up, 0])
            node_boxes[up, 1] = min(y0, node_boxes[up, 1])
            node_boxes[up, 2] = min(z0, node_boxes[up, 2])
            node_boxes[up, 3] = max(x1, node_boxes[up, 3])
            node_boxes[up, 4] = max(y1, node_boxes[up, 4])
            node_boxes[up, 5] = max(z1, node_boxes[up, 5])


@kernel
def fill_slots(
    shapes: Floats,
    members: Int64s,
    member_boxes: Floats,
    order: Int64s,
    first_slot: int,
    trees: Octrees,
    row_slots: Int64s,
) -> None:
    """Write the objects of a new tree, with their boxes and rows, into its slots."""
    for i in range(len(order)):
        k, slot = int(order[i]), first_slot + i
        row = int(members[k])
        trees.rows[slot] = row
        row_slots[row] = slot
        for axis in range(6):
            trees.boxes[slot, axis] = member_boxes[k, axis]
        if shapes.shape[1] == 4:
            for axis in range(4):
                trees.spheres[slot, axis] = shapes[row, axis]
