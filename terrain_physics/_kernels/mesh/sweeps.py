"""Sweeps: the time of impact of shapes that move straight against meshes, and the first touch.

Trees only leave out triangles, see `traversal.py`. So the first touch is that of a test of all
triangles one by one, and ties go to the lowest id.
"""

import math

import numpy as np

from terrain_physics._kernels._intrinsics import count_trailing_zeros
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.closest_point import triangle_normal
from terrain_physics._kernels.geometry.sweep_sphere import FREE, stopped
from terrain_physics._kernels.math.sorting import push_sorted
from terrain_physics._kernels.math.vec3 import Vec3, dot, scale, subtract
from terrain_physics._kernels.mesh.facing import is_own_touch, is_seen
from terrain_physics._kernels.mesh.parts import (
    MeshPart,
    Skin,
    path_in_tree,
    triangle_of,
    vertex_of,
)
from terrain_physics._kernels.mesh.traversal import entry_of, lanes_on_path, limit_of, path_in_frame
from terrain_physics._kernels.surface.shapes import Body
from terrain_physics._kernels.surface.sweep import point_of_touch, travel
from terrain_physics._kernels.tolerances import LEVEL_SHARE
from terrain_physics._kernels.types import Float32s, Floats, Int32s

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


@kernel(noinline=True)
def touch_of_mesh(
    part: MeshPart,
    skin: Skin,
    body: Body,
    center: Vec3,
    direction: Vec3,
    length: float,
    most: float,
    stack: Int32s,
    entries: Float32s,
    scratch: Floats,
) -> tuple[int, float, Vec3, int]:
    """Return (face, distance, normal, slot) of the first touch up to ``most``; -1: none.

    ``stack`` and ``entries`` (STACK,) and ``scratch`` (FACE_COUNT, 4) are scratch.
    """
    order, boxes, children = part.order, part.boxes, part.children
    first, best, normal, found = -1, most, direction, 0
    start, ahead, wide, factor = path_in_tree(part, center, direction, body.half_extents)
    is_near, skipped, margin, rows, near, far, steps = path_in_frame(start, ahead, wide)
    limit = limit_of(min(best, length), skipped, factor, margin)
    stack[0], entries[0] = len(children) - 1, _ZERO
    height = 1 if is_near else 0
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
                a, b, c = triangle_of(part, slot)
                a, b, c = subtract(a, center), subtract(b, center), subtract(c, center)
                if not is_seen(part.facing, a, b, c):
                    continue
                # The test takes the whole path, not its rest: bits must not depend on the order.
                along, front = travel(body, direction, length, a, b, c, True, scratch)
                if along == math.inf or along > best:
                    continue
                if not is_own_touch(part.facing, front):
                    continue
                if along == best and first >= 0 and face > first:
                    continue
                along, front = touch_of_skin(skin, face, direction, a, b, c, along, front)
                if along < math.inf:
                    first, best, normal, found = face, along, front, slot
                    limit = limit_of(along, skipped, factor, margin)
                continue
            # Farther ones lie deeper in the stack.
            entry = entry_of(boxes, node, lane, rows, near, steps)
            height = push_sorted(stack, entries, base, height, child + lane, entry)
    return first, best, normal, found


@kernel(noinline=True)
def place_of_slot(
    part: MeshPart, slot: int, body: Body, center: Vec3, normal: Vec3, scratch: Floats
) -> Vec3:
    """Return a point of a triangle that a body touches where its center is now."""
    a, b, c = triangle_of(part, slot)
    return point_of_touch(body, center, a, b, c, normal, scratch)
