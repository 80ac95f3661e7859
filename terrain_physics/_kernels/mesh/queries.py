"""Rays and points against meshes: the first triangle a ray hits, and the closest to a point.

Trees only leave out triangles, with float32 boxes and a margin for their rounding; the pair
kernels in float64 decide which is hit, and where. So every answer is that of a test of all
triangles one by one. Ties go to the lowest id, whatever the order of the trees.
"""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._intrinsics import (
    borrow,
    count_trailing_zeros,
    keep,
    prefer_wide_vectors,
)
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.closest_point import closest_on_triangle, triangle_normal
from terrain_physics._kernels.geometry.rays import ray_frame, ray_frame_triangle
from terrain_physics._kernels.math.rows import corners_in
from terrain_physics._kernels.math.sorting import push_sorted
from terrain_physics._kernels.math.space_curve import frame_around, triangle_keys
from terrain_physics._kernels.math.vec3 import Vec3, add, add_scaled, dot, length, scale, subtract
from terrain_physics._kernels.mesh.facing import is_own_touch, is_seen, meets_front
from terrain_physics._kernels.mesh.part_tree import (
    LEFT,
    NODES_ON_PATH,
    RIGHT,
    ROOT,
    gap2,
    is_met,
    items_near,
)
from terrain_physics._kernels.mesh.parts import (
    SIDE,
    MeshPart,
    Parts,
    bounds_of_part,
    part_at,
    path_in_tree,
    point_in_tree,
    row_count,
    triangle_of,
)
from terrain_physics._kernels.mesh.traversal import (
    NO_WIDTH,
    entry_of,
    lanes_on_path,
    limit_of,
    path_in_frame,
)
from terrain_physics._kernels.mesh.tree import LANES, STACK, Float32
from terrain_physics._kernels.tolerances import POINT_MARGIN
from terrain_physics._kernels.types import Float32s, Floats, Int32s, Int64s

_FAR = 2.0**20

_NO_FACE = 1 << 31  # behind all others

_NONE = np.int32(0)
_ZERO = np.float32(0.0)
_DOWN = (0.0, -1.0, 0.0)
_NO_PATH = (0.0, 0.0, 0.0)  # added, it turns -0 into 0


@kernel(noinline=True)
def first_hit(
    part: MeshPart, origin: Vec3, direction: Vec3, longest: float, stack: Int32s, entries: Float32s
) -> tuple[int, float, int]:
    """Return (face, distance, slot) of the first hit of a ray with one mesh; -1 and inf: none.

    ``stack`` and ``entries`` (STACK,) are scratch.
    """
    order, boxes, children = part.order, part.boxes, part.children
    best, face, found = longest, -1, -1
    start, ahead, wide, factor = path_in_tree(part, origin, direction, NO_WIDTH)
    is_near, skipped, margin, rows, near, far, steps = path_in_frame(start, ahead, wide)
    shear = ray_frame(direction)
    limit = limit_of(best, skipped, factor, margin)
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
                a, b, c = triangle_of(part, slot)
                along = ray_frame_triangle(origin, shear, a, b, c)
                if along <= best and not meets_front(part.facing, direction, a, b, c):
                    continue
                if along < best or (along == best and (face < 0 or order[slot] < face)):
                    # inf is no distance, though it is not more than ``longest``.
                    if along < math.inf:
                        best, face, found = along, int(order[slot]), slot
                        limit = limit_of(best, skipped, factor, margin)
                continue
            # Farther ones lie deeper in the stack.
            entry = entry_of(boxes, node, lane, rows, near, steps)
            height = push_sorted(stack, entries, base, height, child + lane, entry)
    return face, best if face >= 0 else math.inf, found


class Scratch(NamedTuple):
    """Memory for the traversal of both kinds of trees."""

    nodes: Int64s  # (NODES_ON_PATH,)
    found: Int64s  # (rows,)
    starts: Floats  # (rows,)
    stack: Int32s  # (STACK,)
    entries: Float32s  # (STACK,)


@kernel(inline=True)
def make_scratch(parts: Parts) -> Scratch:
    rows = row_count(parts.rows)
    return Scratch(
        np.empty(NODES_ON_PATH, np.int64),
        np.empty(rows, np.int64),
        np.empty(rows, np.float64),
        np.empty(STACK, np.int32),
        np.empty(STACK, np.float32),
    )


@kernel(inline=True)
def borrowed(scratch: Scratch) -> Scratch:
    return Scratch(
        borrow(scratch.nodes),
        borrow(scratch.found),
        borrow(scratch.starts),
        borrow(scratch.stack),
        borrow(scratch.entries),
    )


@kernel(inline=True)
def keep_scratch(scratch: Scratch) -> None:
    keep(scratch.nodes)
    keep(scratch.found)
    keep(scratch.starts)
    keep(scratch.stack)
    keep(scratch.entries)


@kernel(inline=True)
def point_and_normal(
    part: MeshPart, slot: int, origin: Vec3, direction: Vec3, distance: float
) -> tuple[Vec3, Vec3]:
    """Return where a ray hits a triangle, and its normal."""
    point, normal = add_scaled(origin, direction, distance), normal_of(triangle_of(part, slot))
    return add(point, _NO_PATH), add(normal, _NO_PATH)


@kernel(noinline=True)
def highest(parts: Parts, x: float, z: float, scratch: Scratch) -> tuple[float, Vec3]:
    """Return (height, normal) of the highest surface over a place; NaN where there is none.

    Each mesh is asked as if it were alone: by a ray straight down from its own top.
    """
    best, row, slot = np.nan, 0, -1
    lower, upper = (x, -np.inf, z), (x, np.inf, z)
    count = items_near(parts.tree, lower, upper, scratch.nodes, scratch.found)
    for k in range(count):
        part = part_at(parts.rows, int(scratch.found[k]))
        top = bounds_of_part(part)[1][1]
        face, along, place = first_hit(
            part, (x, top, z), _DOWN, math.inf, scratch.stack, scratch.entries
        )
        if face >= 0 and (slot < 0 or top - along > best):
            best, row, slot = top - along, int(scratch.found[k]), place
    if slot < 0:
        return np.nan, (np.nan, np.nan, np.nan)
    return best, add(normal_of(triangle_of(part_at(parts.rows, row), slot)), _NO_PATH)


@kernel(inline=True)
def normal_of(corners: tuple[Vec3, Vec3, Vec3]) -> Vec3:
    """Return the unit normal of a triangle, +Y without area."""
    has_area, normal = triangle_normal(corners[0], corners[1], corners[2])
    return normal if has_area else (0.0, 1.0, 0.0)


@kernel
def face_normals(corners: Floats, order: Int32s) -> Floats:
    """Return the unit normals (n, 3) of all faces, +Y without area."""
    normals = np.empty((len(order), 3), np.float64)
    for slot in range(len(order)):
        normal = normal_of(corners_in(corners, slot))
        for axis in range(3):
            normals[order[slot], axis] = normal[axis] + 0.0
    return normals


@kernel(inline=True)
def _gap(boxes: Float32s, node: int, lane: int, axis: int, place: Float32) -> Float32:
    """Return how far a coordinate is outside of a box's side."""
    below = boxes[node, axis, lane] - place
    above = place - boxes[node, axis + 3, lane]
    below = above if above > below else below
    return below if below > _ZERO else _ZERO


@kernel(inline=True)
def _gap2(boxes: Float32s, node: int, lane: int, x: Float32, y: Float32, z: Float32) -> Float32:
    """Return the squared distance of a point to a box."""
    x = _gap(boxes, node, lane, 0, x)
    y = _gap(boxes, node, lane, 1, y)
    z = _gap(boxes, node, lane, 2, z)
    return x * x + y * y + z * z


@kernel(inline=True)
def _lanes_near(
    boxes: Float32s, node: int, x: Float32, y: Float32, z: Float32, limit: Float32
) -> np.int32:
    """Return bits: which of sixteen boxes are within the root of ``limit`` of a point."""
    prefer_wide_vectors()
    bits = _NONE
    for k in range(LANES):
        near = _gap2(boxes, node, k, x, y, z) <= limit
        bits = np.int32(bits | (np.int32(1 << k) if near else _NONE))
    return bits


@kernel(inline=True)
def _seen_from(part: MeshPart, slot: int, point: Vec3) -> tuple[Vec3, Vec3, Vec3]:
    """Return the corners of a triangle relative to a point."""
    a, b, c = triangle_of(part, slot)
    return subtract(a, point), subtract(b, point), subtract(c, point)


@kernel(inline=True)
def _closest(a: Vec3, b: Vec3, c: Vec3) -> Vec3:
    """Return the point of a triangle closest to the origin."""
    has_area, normal = triangle_normal(a, b, c)
    return closest_on_triangle(a, b, c, has_area, normal)[1]


@kernel(inline=True)
def _is_beyond(a: Vec3, b: Vec3, c: Vec3, factor: float, limit: Float32) -> bool:
    """Tell whether a triangle is surely farther from the origin than the root of ``limit``.

    It is if all corners are that far along the line to the triangle's middle. A box reaches nearer
    than its triangle: for a point far from the surface this saves nine exact tests of ten.
    """
    line = add(add(a, b), c)
    along = min(dot(a, line), dot(b, line), dot(c, line)) * factor
    return along > 0.0 and along * along > float(limit) * dot(line, line)


@kernel(inline=True)
def _counts(part: MeshPart, slot: int, query: Vec3, nearest: Vec3) -> bool:
    """Tell whether the nearest point of a triangle, relative to a query, is an answer to it."""
    return part.facing != SIDE or _is_outside(part.corners, slot, query, nearest)


@kernel(noinline=True)
def _is_outside(corners: Floats, slot: int, query: Vec3, nearest: Vec3) -> bool:
    """Tell whether a query is outside a side of a map, and its nearest point not on the surface."""
    a, b, c = corners_in(corners, slot)
    a, b, c = subtract(a, query), subtract(b, query), subtract(c, query)
    size = length(nearest)
    away = scale(nearest, -1.0 / size) if size > 0.0 else _NO_PATH
    return is_seen(SIDE, a, b, c) and is_own_touch(SIDE, away)


@kernel(noinline=True)
def nearest_slot(
    part: MeshPart, query: Vec3, slot: int, most: float, stack: Int32s, gaps: Float32s
) -> tuple[int, float, Vec3]:
    """Return (slot, squared distance, closest point relative to the query) of the nearest triangle.

    This is for one mesh. ``slot`` is a first guess; only what is farther than the root of ``most``
    does not count where the guess does not; ``stack`` and ``gaps`` (STACK,) are scratch.
    """
    order, boxes, children = part.order, part.boxes, part.children
    place, factor, slack = point_in_tree(part, query)
    size = max(abs(place[0]), abs(place[1]), abs(place[2])) + slack
    margin = POINT_MARGIN * (1.0 + size) + slack
    a, b, c = _seen_from(part, slot, query)
    nearest = _closest(a, b, c)
    best, face = dot(nearest, nearest), int(order[slot])
    if not _counts(part, slot, query, nearest):
        best, face = most, _NO_FACE
    limit = _limit2(best, factor, margin)
    x, y, z, within = _ZERO, _ZERO, _ZERO, 0.0
    if size < _FAR:
        within = factor
        x, y, z = np.float32(place[0]), np.float32(place[1]), np.float32(place[2])
    else:
        limit = np.float32(1e30)  # look at all
    stack[0], gaps[0] = len(children) - 1, _ZERO
    height = 1
    while height > 0:
        height -= 1
        if gaps[height] > limit:
            continue
        node = int(stack[height])
        child = int(children[node])
        bits = _lanes_near(boxes, node, x, y, z, limit)
        base = height
        while bits != 0:
            lane = count_trailing_zeros(bits)
            bits = np.int32(bits & (bits - 1))
            if child < 0:
                spot = ~child + lane
                a, b, c = _seen_from(part, spot, query)
                if _is_beyond(a, b, c, within, limit):
                    continue
                other = _closest(a, b, c)
                square = dot(other, other)
                if square < best or (square == best and order[spot] < face):
                    if not _counts(part, spot, query, other):
                        continue
                    best, face, nearest, slot = square, int(order[spot]), other, spot
                    if size < _FAR:
                        limit = _limit2(best, factor, margin)
                continue
            # Farther ones lie deeper in the stack.
            gap = _gap2(boxes, node, lane, x, y, z)
            height = push_sorted(stack, gaps, base, height, child + lane, gap)
    return slot, best if face != _NO_FACE else math.inf, nearest


@kernel(noinline=True)
def nearest_of_all(
    parts: Parts, query: Vec3, row: int, slot: int, within: float, scratch: Scratch
) -> tuple[int, int, float, Vec3]:
    """Return (row, slot, squared distance, closest point relative to the query) of the nearest.

    Row 0 means none, up to a distance ``within``. ``row`` and ``slot`` are a first guess, if the
    row is not 0.
    """
    rows, boxes, links = parts.rows, parts.tree.boxes, parts.tree.links
    guess, guessed, limit = row, slot, within * within
    if guess > 0:
        known = part_at(rows, guess)
        a, b, c = _seen_from(known, slot, query)
        near = _closest(a, b, c)
        if _counts(known, slot, query, near):
            limit = min(limit, dot(near, near))
    best, triangle, nearest = math.inf, -1, _NO_PATH
    scratch.nodes[0], scratch.starts[0] = links[0, ROOT], 0.0
    height = 1
    while height > 0:
        height -= 1
        node = int(scratch.nodes[height])
        if not is_met(parts.tree, node) or gap2(boxes, node, query) > limit:
            continue
        left, right = int(links[node, LEFT]), int(links[node, RIGHT])
        if left != 0:  # the nearer one is searched first
            is_left = gap2(boxes, left, query) <= gap2(boxes, right, query)
            scratch.nodes[height] = right if is_left else left
            scratch.nodes[height + 1] = left if is_left else right
            height += 2
            continue
        part = part_at(rows, right)
        place, square, near = nearest_slot(
            part, query, guessed if right == guess else 0, limit, scratch.stack, scratch.entries
        )
        own = part.first_id + int(part.order[place])
        if square < best or (square == best < math.inf and own < triangle):
            best, triangle, nearest, row, slot = square, own, near, right, place
            limit = min(limit, best)
    return row if triangle >= 0 else 0, slot, best, nearest


@kernel(inline=True)
def _limit2(best: float, factor: float, margin: float) -> Float32:
    """Return the square of a distance in the frame, widened by the margin."""
    radius = math.sqrt(best) * factor + margin
    return np.float32(min(radius * radius * (1.0 + 1e-6), 1e30))


def along_a_curve(points: Floats) -> Int64s:
    """Return an order of points in which neighbors lie near each other."""
    count = len(points)
    if count < 256:
        return np.arange(count)
    keys = np.empty(count, np.uint64)
    # Column by column: twenty times as fast as the minimum along an axis of rows.
    columns = points.T
    frame = frame_around(np.array([*map(np.min, columns)]), np.array([*map(np.max, columns)]))
    triangle_keys(np.tile(points, 3), 0, count, frame, keys)  # a point: three equal corners
    keys.sort()
    return (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)
