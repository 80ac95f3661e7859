"""Sweeps: the time of impact of shapes that move straight against meshes, and the first touch.

Trees only leave out triangles, see `traversal.py`. So the first touch is that of a test of all
triangles one by one, and ties go to the lowest id.
"""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._intrinsics import borrow, count_trailing_zeros, keep
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.closest_point import triangle_normal
from terrain_physics._kernels.geometry.obb_triangle import FACE_COUNT
from terrain_physics._kernels.geometry.sweep_sphere import FREE, stopped
from terrain_physics._kernels.math.rows import row3
from terrain_physics._kernels.math.vec3 import Vec3, add_scaled, dot, scale, subtract
from terrain_physics._kernels.mesh.facing import is_own_touch, is_seen
from terrain_physics._kernels.mesh.part_tree import NODES_ON_PATH, items_on_path
from terrain_physics._kernels.mesh.parts import (
    MeshPart,
    Skin,
    part_at,
    parts_at,
    path_in_tree,
    row_count,
    skin_at,
    triangle_of,
    vertex_of,
)
from terrain_physics._kernels.mesh.traversal import entry_of, lanes_on_path, limit_of, path_in_frame
from terrain_physics._kernels.mesh.tree import STACK
from terrain_physics._kernels.surface.shapes import Body, body_at, row_width
from terrain_physics._kernels.surface.sweep import point_of_touch, split_motion, travel
from terrain_physics._kernels.tolerances import LEVEL_SHARE
from terrain_physics._kernels.types import Float32s, Floats, Int32s, Int64s

_ZERO = np.float32(0.0)


@kernel(inline=True)
def _sum_of_components(v: Vec3) -> float:
    return abs(v[0]) + abs(v[1]) + abs(v[2])


@kernel(inline=True)
def _is_beyond(skin: Skin, vertex: int, start: int, push: Vec3) -> bool:
    """Tell whether a vertex lies beyond another in the direction of a push."""
    line = subtract(vertex_of(skin, vertex), vertex_of(skin, start))
    return dot(line, push) > LEVEL_SHARE * _sum_of_components(line)


@kernel
def leads_into_neighbor(skin: Skin, face: int, a: Vec3, b: Vec3, c: Vec3, push: Vec3) -> bool:
    """Tell whether a unit push out of one face leads into a face at the same edge or corner.

    ``a``, ``b``, ``c`` are the corners from any origin; those farthest along the push decide which
    neighbors are checked. A face that reaches beyond was touched before, so this is not the first.
    At an edge of more than two faces no neighbor is checked.
    """
    faces, neighbors = skin.faces, skin.neighbors
    welded, across, ring = neighbors.welded, neighbors.across, neighbors.ring
    along = (dot(a, push), dot(b, push), dot(c, push))
    slack = LEVEL_SHARE * (
        _sum_of_components(subtract(b, a))
        + _sum_of_components(subtract(c, b))
        + _sum_of_components(subtract(a, c))
    )
    limit = max(along[0], along[1], along[2]) - slack
    at_top, first, away = 0, 0, 0
    for k in range(3):
        if along[k] >= limit:
            at_top += 1
            first = k
        else:
            away = k
    if at_top == 3:
        return False
    if at_top == 1:
        start = int(welded[faces[face, first]])
        for k in range(neighbors.ring_offsets[start], neighbors.ring_offsets[start + 1]):
            if _is_beyond(skin, int(ring[k]), start, push):
                return True
        return False
    edge = (away + 1) % 3
    other = int(across[face, edge])
    if other < 0:
        return False
    start, end = int(welded[faces[face, edge]]), int(welded[faces[face, (edge + 1) % 3]])
    for k in range(3):
        vertex = int(welded[faces[other, k]])
        if vertex not in (start, end):
            return _is_beyond(skin, vertex, start, push)
    return False


@kernel
def touch_of_skin(
    skin: Skin,
    face: int,
    direction: Vec3,
    a: Vec3,
    b: Vec3,
    c: Vec3,
    distance: float,
    normal: Vec3,
) -> tuple[float, Vec3]:
    """Return the touch of a face as one of the whole surface, corners relative to the center.

    Without care, the next face's edge, an internal edge, would stop a shape that is in the surface
    by a hair. So a touch with a normal that leads into a neighbor counts as one of the face, and
    stops only a motion into the face.
    """
    if not leads_into_neighbor(skin, face, a, b, c, normal):
        return distance, normal
    has_area, front = triangle_normal(a, b, c)
    if not has_area:
        return FREE
    return stopped(distance, direction, scale(front, -1.0) if dot(front, a) > 0.0 else front)


class _MeshTouch(NamedTuple):
    """The first touch so far: how far along the path, the normal there, and of which triangle."""

    along: float
    normal: Vec3
    triangle: int  # -1: none
    row: int
    slot: int


@kernel(noinline=True)
def _first_touch(
    part: MeshPart,
    skin: Skin,
    row: int,
    body: Body,
    center: Vec3,
    direction: Vec3,
    length: float,
    first: _MeshTouch,
    stack: Int32s,
    entries: Float32s,
    scratch: Floats,
) -> _MeshTouch:
    """Return the first touch so far, after a test of one more mesh.

    ``stack`` and ``entries`` (STACK,) and ``scratch`` (FACE_COUNT, 4) are scratch.
    """
    order, boxes, children = part.order, part.boxes, part.children
    start, ahead, wide, factor = path_in_tree(part, center, direction, body.half_extents)
    is_near, skipped, margin, rows, near, far, steps = path_in_frame(start, ahead, wide)
    if not is_near:
        return first
    limit = limit_of(min(first.along, length), skipped, factor, margin)
    stack[0], entries[0] = len(children) - 1, _ZERO
    height = 1
    while height > 0:
        height -= 1
        if entries[height] > limit:
            continue
        node = int(stack[height])
        child = int(children[node])
        bits = lanes_on_path(boxes, node, rows, near, far, steps, limit)
        base = height
        while bits != 0:
            lane = count_trailing_zeros(bits)
            bits = np.int32(bits & (bits - 1))
            if child < 0:
                slot = ~child + lane
                face = int(order[slot])
                own = part.first_id + face
                a, b, c = triangle_of(part, slot)
                a, b, c = subtract(a, center), subtract(b, center), subtract(c, center)
                if not is_seen(part.facing, a, b, c):
                    continue
                # The test takes the whole path, not its rest: bits must not depend on the order.
                along, front = travel(body, direction, length, a, b, c, True, scratch)
                if along == math.inf or along > first.along:
                    continue
                if not is_own_touch(part.facing, front):
                    continue
                if along == first.along and own > first.triangle:
                    continue
                along, front = touch_of_skin(skin, face, direction, a, b, c, along, front)
                if along < math.inf:
                    first = _MeshTouch(along, front, own, row, slot)
                    limit = limit_of(along, skipped, factor, margin)
                continue
            # Farther ones lie deeper in the stack.
            entry = entry_of(boxes, node, lane, rows, near, steps)
            place = height
            while place > base and entries[place - 1] < entry:
                entries[place], stack[place] = entries[place - 1], stack[place - 1]
                place -= 1
            entries[place], stack[place] = entry, child + lane
            height += 1
    return first


@kernel
def sweep_rows(
    table: Int64s,
    mask: int,
    kind: int,
    shapes: Floats,
    motions: Floats,
    visits: Int64s,
    first: int,
    last: int,
    numbers: Floats,
    triangles: Int64s,
) -> None:
    """Write the first touches of the shapes in ``visits`` from first to last.

    ``shapes``, flat rows of one kind, and ``motions`` (n, 3); either may have one row for all.
    ``numbers`` (n, 8): distance, point, normal, part of the path, NaN where nothing is touched;
    ``triangles`` (n,): the id, or -1. Ties go to the lowest id.
    """
    parts = parts_at(table, mask)
    stack, entries = np.empty(STACK, np.int32), np.empty(STACK, np.float32)
    nodes, memory = np.empty(NODES_ON_PATH, np.int64), np.empty((FACE_COUNT, 4))
    found, starts = np.empty(row_count(parts.rows), np.int64), np.empty(row_count(parts.rows))
    scratch = borrow(memory)
    is_many = len(shapes) > row_width(kind)
    for visit in range(first, last):
        index = int(visits[visit])
        for k in range(8):
            numbers[index, k] = np.nan
        triangles[index] = -1
        center, body = body_at(kind, shapes, index if is_many else 0)
        length, direction = split_motion(row3(motions, index if len(motions) > 1 else 0))
        if length == 0.0:
            continue
        touch = _MeshTouch(math.inf, direction, -1, 0, 0)
        count = items_on_path(
            parts.tree, center, direction, body.half_extents, length,
            borrow(nodes), borrow(found), borrow(starts),
        )  # fmt: skip
        for k in range(count):
            if starts[k] > touch.along:
                break
            row = int(found[k])
            touch = _first_touch(
                part_at(parts.rows, row), skin_at(parts.rows, row), row,
                body, center, direction, length, touch, borrow(stack), borrow(entries), scratch,
            )  # fmt: skip
        if touch.triangle < 0:
            continue
        a, b, c = triangle_of(part_at(parts.rows, touch.row), touch.slot)
        end = add_scaled(center, direction, touch.along)
        point = point_of_touch(body, end, a, b, c, touch.normal, scratch)
        for k in range(3):
            numbers[index, 1 + k], numbers[index, 4 + k] = point[k] + 0.0, touch.normal[k] + 0.0
        numbers[index, 0], numbers[index, 7] = touch.along, min(touch.along / length, 1.0)
        triangles[index] = touch.triangle
    keep(memory)
    keep(stack)
    keep(entries)
    keep(nodes)
    keep(found)
    keep(starts)
