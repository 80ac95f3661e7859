"""Queries of a loose octree: the objects that overlap a sphere or a box, the first hit of a ray."""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.rays import ray_aabb, ray_sphere
from terrain_physics._kernels.math.rows import row3, row_of, vector_at
from terrain_physics._kernels.math.sorting import push_sorted
from terrain_physics._kernels.math.vec3 import Vec3, subtract
from terrain_physics._kernels.octree.build import Octrees, sphere_side
from terrain_physics._kernels.octree.pairs import ROW_BITS, boxes_meet, is_within
from terrain_physics._kernels.tolerances import OCTREE_RAY_SLACK
from terrain_physics._kernels.types import Floats, Int64s

_MISSED = -1
_CHILDREN = 9
_ROOM = 32  # for waiting nodes, at first; more than there are trees

# A smaller part of a unit direction counts as this much: its inverse stays finite.
_PARALLEL = 1e-300

# Origin, and the inverse of each part of the direction.
_Ray = tuple[Vec3, Vec3]


class _Waiting(NamedTuple):
    """A stack of nodes, and how far along a ray it enters them."""

    nodes: Int64s
    entries: Floats


@kernel(inline=True)
def _spheres_overlap(a: Floats, i: int, b: Floats, j: int) -> bool:
    dx, dy, dz = a[i, 0] - b[j, 0], a[i, 1] - b[j, 1], a[i, 2] - b[j, 2]
    return is_within(dx, dy, dz, a[i, 3] + b[j, 3])


@kernel(inline=True)
def _sphere_overlaps_box(spheres: Floats, i: int, boxes: Floats, j: int) -> bool:
    x, y, z = float(spheres[i, 0]), float(spheres[i, 1]), float(spheres[i, 2])
    dx = max(float(boxes[j, 0]) - x, 0.0, x - float(boxes[j, 3]))
    dy = max(float(boxes[j, 1]) - y, 0.0, y - float(boxes[j, 4]))
    dz = max(float(boxes[j, 2]) - z, 0.0, z - float(boxes[j, 5]))
    return is_within(dx, dy, dz, spheres[i, 3])


@kernel
def overlapping_objects(
    trees: Octrees, queries: Floats, query: int, count: int, keys: Int64s
) -> tuple[int, int]:
    """Add a key, the query above the row, for each object that overlaps; return (query, keys).

    Queries are spheres (q, 4) or boxes (q, 6), answered from ``query`` on. The query returned is
    the unfinished one if ``keys`` is too short, else the number of queries.
    """
    spheres, boxes, rows, node_boxes, spans = trees
    by_sphere, of_spheres = queries.shape[1] == 4, len(spheres) > 0
    bounds = np.empty((1, 6))
    while query < len(queries):
        for k in range(3):
            if by_sphere:
                middle, radius = float(queries[query, k]), float(queries[query, 3])
                bounds[0, k] = sphere_side(middle, radius, -1.0)
                bounds[0, k + 3] = sphere_side(middle, radius, 1.0)
            else:
                bounds[0, k], bounds[0, k + 3] = queries[query, k], queries[query, k + 3]
        count_before = count
        node = 0
        while node < len(spans):
            if not boxes_meet(node_boxes, node, bounds, 0):
                node = int(spans[node, 2])
                continue
            node += 1
            if int(spans[node - 1, 2]) != node:
                continue
            first, last = int(spans[node - 1, 0]), int(spans[node - 1, 1])
            if count + last - first > len(keys):
                return query, count_before
            for slot in range(first, last):
                if not boxes_meet(boxes, slot, bounds, 0):
                    continue
                if by_sphere and of_spheres:
                    overlaps = _spheres_overlap(queries, query, spheres, slot)
                elif by_sphere:
                    overlaps = _sphere_overlaps_box(queries, query, boxes, slot)
                elif of_spheres:
                    overlaps = _sphere_overlaps_box(spheres, slot, queries, query)
                else:
                    overlaps = True
                if overlaps:
                    keys[count] = (query << ROW_BITS) | int(rows[slot])
                    count += 1
        query += 1
    return query, count


@kernel(inline=True)
def _upper(boxes: Floats, i: int) -> Vec3:
    """Return the upper corner of a box."""
    return (float(boxes[i, 3]), float(boxes[i, 4]), float(boxes[i, 5]))


@kernel(inline=True)
def _entry(node_boxes: Floats, node: int, ray: _Ray) -> float:
    """Return how far along a ray it enters the widened box of a node, infinity if it misses."""
    origin, inverse = ray
    lower = subtract(row3(node_boxes, node), origin)
    upper = subtract(_upper(node_boxes, node), origin)
    farthest = max(
        abs(lower[0]), abs(lower[1]), abs(lower[2]), abs(upper[0]), abs(upper[1]), abs(upper[2])
    )
    slack = farthest * OCTREE_RAY_SLACK
    near, far = 0.0, math.inf
    for k in range(3):
        first, second = (lower[k] - slack) * inverse[k], (upper[k] + slack) * inverse[k]
        near = max(near, min(first, second))
        far = min(far, max(first, second))
    return near if near <= far else math.inf


@kernel(inline=True)
def _inverse(part: float) -> float:
    """Return 1 / part, limited so that it is finite."""
    if abs(part) < _PARALLEL:
        return 1.0 / _PARALLEL
    return 1.0 / part


@kernel(inline=True)
def _push(
    trees: Octrees, node: int, end: int, ray: _Ray, best: float, top: int, waiting: _Waiting
) -> int:
    """Add the siblings node..end that a ray enters within ``best``, the nearest on top."""
    base = top
    while node < end:
        entry = _entry(trees.node_boxes, node, ray)
        if entry <= best and entry < math.inf:
            top = push_sorted(waiting.nodes, waiting.entries, base, top, node, entry)
        node = int(trees.spans[node, 2])
    return top


@kernel
def _doubled(waiting: _Waiting, top: int) -> _Waiting:
    """Return a stack twice as long that starts with the same nodes."""
    size = 2 * len(waiting.nodes)
    more = _Waiting(np.empty(size, dtype=np.int64), np.empty(size))
    for k in range(top):
        more.nodes[k], more.entries[k] = waiting.nodes[k], waiting.entries[k]
    return more


@kernel
def first_hits(
    trees: Octrees,
    origins: Floats,
    directions: Floats,
    limits: Floats,
    distances: Floats,
    nearest: Int64s,
) -> None:
    """Write the distance (q,) and the row of each ray's first object; NaN and -1 if it hits none.

    Origins, directions of length 1, and limits (q,) have q rows or one. Of equal distances the
    lesser row wins.
    """
    spheres, boxes, rows, _, spans = trees
    waiting = _Waiting(np.empty(_ROOM, dtype=np.int64), np.empty(_ROOM))
    nodes = len(spans)
    for ray in range(len(distances)):
        origin, direction = vector_at(origins, ray), vector_at(directions, ray)
        inverse = (_inverse(direction[0]), _inverse(direction[1]), _inverse(direction[2]))
        own = origin, inverse
        best, best_row = float(limits[row_of(limits, ray)]), _MISSED
        top = _push(trees, 0, nodes, own, best, 0, waiting)
        while top > 0:
            top -= 1
            node = int(waiting.nodes[top])
            end = int(spans[node, 2])
            if waiting.entries[top] > best:
                continue
            if end > node + 1:
                if top + _CHILDREN > len(waiting.nodes):
                    waiting = _doubled(waiting, top)
                top = _push(trees, node + 1, end, own, best, top, waiting)
                continue
            for slot in range(int(spans[node, 0]), int(spans[node, 1])):
                if boxes[slot, 0] > boxes[slot, 3]:  # removed
                    continue
                if len(spheres) > 0:
                    distance = ray_sphere(
                        origin, direction, row3(spheres, slot), float(spheres[slot, 3])
                    )
                else:
                    box = row3(boxes, slot), _upper(boxes, slot)
                    distance = ray_aabb(origin, direction, *box)
                row = int(rows[slot])
                nearer = distance < best or (
                    distance == best and (best_row == _MISSED or row < best_row)
                )
                if nearer and distance < math.inf:
                    best, best_row = distance, row
        distances[ray] = best if best_row != _MISSED else np.nan
        nearest[ray] = best_row
