"""Narrow phase of meshes: contacts of shapes by the kernel of each pair; faces near boxes.

Trees only leave out triangles: those with boxes away from the box around a shape, by a margin wider
than all rounding. The contacts are those that a test of all triangles would give.
"""

import numpy as np

from terrain_physics._kernels._intrinsics import (
    array_at,
    borrow,
    count_trailing_zeros,
    keep,
    on_stack,
)
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.closest_point import triangle_normal
from terrain_physics._kernels.geometry.obb_triangle import FACE_COUNT
from terrain_physics._kernels.math.rows import row_vector
from terrain_physics._kernels.math.sorting import sort_range
from terrain_physics._kernels.math.vec3 import Vec3, dot, length, scale, subtract
from terrain_physics._kernels.mesh.facing import is_seen
from terrain_physics._kernels.mesh.inside import OUTSIDE, place_in
from terrain_physics._kernels.mesh.near import SLOT_BITS, faces_near
from terrain_physics._kernels.mesh.part_tree import NODES_ON_PATH, items_near, widened
from terrain_physics._kernels.mesh.parts import (
    ID_BITS,
    INSIDE_OUT,
    SIDE,
    SKIN,
    MeshPart,
    Parts,
    box_in_tree,
    part_at,
    parts_at,
    row_count,
    triangle_of,
)
from terrain_physics._kernels.mesh.tree import STACK, Place, box_in_frame, lanes_in_box
from terrain_physics._kernels.surface.contact import contact, put_vector
from terrain_physics._kernels.surface.shapes import (
    body_at,
    bounds_at,
    center_at,
    extent_along,
)
from terrain_physics._kernels.tolerances import (
    FRAME_DISTANCE_MARGIN,
    FRAME_MARGIN,
    FRONT_COSINE,
)
from terrain_physics._kernels.types import Floats, Int64s

# The contacts to keep of each shape: all, the deepest, or their number alone.
ALL, DEEPEST, NUMBER = range(3)

# Room for contacts at first, besides one for each shape.
_ROOM = 64

# A row has room for so many vectors: penetration, direction, point; then the number of the mesh.
_VECTORS, _ROW = 3, 4
_NUMBER, _WIDTH = 3 * _VECTORS, 3 * _ROW


@kernel(inline=True)
def _box_in_tree(part: MeshPart, lower: Vec3, upper: Vec3) -> tuple[Place, Place]:
    """Return (lower, upper) of the box around a shape in the mesh's frame, grown by the margin."""
    lower, upper, middle, factor = box_in_tree(part, lower, upper)
    x, y, z = middle
    far = max(abs(lower[0] - x), abs(lower[1] - y), abs(lower[2] - z))
    far = max(far, abs(upper[0] - x), abs(upper[1] - y), abs(upper[2] - z))
    margin = FRAME_MARGIN + FRAME_DISTANCE_MARGIN * far * factor
    return box_in_frame(lower, upper, middle, factor, margin)


@kernel(noinline=True)
def _is_outside(kind: int, shapes: Floats, index: int, a: Vec3, b: Vec3, c: Vec3) -> bool:
    """Tell whether the center of a shape sees a triangle of a side."""
    center = center_at(kind, shapes, index)
    return is_seen(SIDE, subtract(a, center), subtract(b, center), subtract(c, center))


@kernel(noinline=True)
def _led_out(
    kind: int, shapes: Floats, index: int, a: Vec3, b: Vec3, c: Vec3, move: Vec3, direction: Vec3
) -> tuple[Vec3, Vec3]:
    """Return (move, unit direction) of a shape with its center inside a solid, never led inwards.

    A push off an edge may do so: then the way out is through the face.
    """
    center, body = body_at(kind, shapes, index)
    a, b, c = subtract(a, center), subtract(b, center), subtract(c, center)
    has_area, normal = triangle_normal(a, b, c)
    if not has_area or dot(direction, normal) >= -FRONT_COSINE:
        return move, direction
    return scale(normal, max(extent_along(body, normal) + dot(normal, a), 0.0)), normal


@kernel(noinline=True)
def _find_contacts(
    parts: Parts,
    kind: int,
    shapes: Floats,
    visits: Int64s,
    first: int,
    last: int,
    kept: int,
    counts: Int64s,
    most: int,
    so_far: Int64s,
) -> tuple[Int64s, Floats]:
    """See `list_contacts`."""
    stack, nodes = np.empty(STACK, np.int32), np.empty(NODES_ON_PATH, np.int64)
    near = np.empty(row_count(parts.rows), np.int64)
    scratch = on_stack(FACE_COUNT, 4)
    room = last - first + _ROOM
    rows, keys = np.empty(_WIDTH * room), np.empty(room, np.int64)
    count = 0
    for visit in range(first, last):
        index = int(visits[visit])
        lower, upper = bounds_at(kind, shapes, index)
        begin, touched, deepest, found = count, 0, 0.0, -1
        around = widened(lower, upper)
        for k in range(items_near(parts.tree, around[0], around[1], borrow(nodes), borrow(near))):
            part, begin_of_part = part_at(parts.rows, int(near[k])), count
            order, boxes, children = part.order, part.boxes, part.children
            low, high = _box_in_tree(part, lower, upper)
            is_inside = (
                part.facing != SKIN
                and part.facing != SIDE
                and place_in(part, center_at(kind, shapes, index), borrow(stack)) != OUTSIDE
            )
            stack[0] = len(children) - 1
            height = 1
            while height > 0:
                height -= 1
                node = int(stack[height])
                child = int(children[node])
                bits = lanes_in_box(boxes, node, low, high)
                while bits != 0:
                    lane = count_trailing_zeros(bits)
                    bits = np.int32(bits & (bits - 1))
                    if child >= 0:
                        stack[height] = child + lane
                        height += 1
                        continue
                    slot = ~child + lane
                    a, b, c = triangle_of(part, slot)
                    if part.facing == SIDE and not _is_outside(kind, shapes, index, a, b, c):
                        continue
                    if part.facing == INSIDE_OUT:
                        b, c = c, b
                    touching, move, direction, point = contact(
                        kind, shapes, index, a, b, c, not is_inside, scratch
                    )
                    if not touching:
                        continue
                    if is_inside:
                        move, direction = _led_out(kind, shapes, index, a, b, c, move, direction)
                    touched += 1
                    if kept == NUMBER:
                        continue
                    face = int(order[slot])
                    if kept == DEEPEST:
                        depth, own = length(move), part.first_id + face
                        if found >= 0 and (depth < deepest or (depth == deepest and own > found)):
                            continue
                        deepest, found = depth, own
                        count = begin_of_part = begin
                    if count == room:
                        if max(int(so_far[0]) + count - begin, count) >= most:
                            return keys[:0], rows
                        room = min(2 * room, most)
                        rows, keys = _grown(rows, keys, count, room)
                    keys[count] = face << 32 | count
                    put_vector(rows, _ROW * count, move)
                    put_vector(rows, _ROW * count + 1, direction)
                    put_vector(rows, _ROW * count + 2, point)
                    rows[_WIDTH * count + _NUMBER] = (
                        near[k] if part.facing == SIDE else part.first_id >> ID_BITS
                    )
                    count += 1
            sort_range(keys, begin_of_part, count)
        counts[index] = touched if kept == NUMBER else count - begin
        so_far[0] += count - begin
    keep(nodes)
    keep(near)
    return keys, rows


@kernel
def _grown(rows: Floats, keys: Int64s, count: int, room: int) -> tuple[Floats, Int64s]:
    """Return larger arrays with the same contents."""
    more_rows, more_keys = np.empty(_WIDTH * room), np.empty(room, np.int64)
    for k in range(_WIDTH * count):
        more_rows[k] = rows[k]
    for k in range(count):
        more_keys[k] = keys[k]
    return more_rows, more_keys


@kernel
def list_contacts(
    table: Int64s,
    mask: int,
    kind: int,
    shapes: Floats,
    visits: Int64s,
    first: int,
    last: int,
    kept: int,
    counts: Int64s,
    most: int,
    so_far: Int64s,
) -> tuple[Int64s, Floats]:
    """Return the contacts of the shapes in ``visits`` from first to last.

    ``counts`` (n,) receives how many are kept of each shape; with `NUMBER`, how many there are, and
    none is kept. Of contacts equally deep the lowest id is kept. The results are for
    `put_contacts`: sorted keys of faces and rows, shape by shape, mesh by mesh; rows of
    penetration, unit direction, point and number of the mesh.

    The search stops and returns no keys if there are more than ``most``. All threads count theirs
    in ``so_far`` (1,). Threads that add at the same time may lose some, so that number is never too
    great.
    """
    return _find_contacts(
        parts_at(table, mask), kind, shapes, visits, first, last, kept, counts, most, so_far
    )


@kernel
def put_contacts(
    visits: Int64s,
    first: int,
    last: int,
    keys: Int64s,
    rows: Floats,
    ends: Int64s,
    counts: Int64s,
    ints: Int64s,
    floats: Floats,
) -> None:
    """Write the results of `list_contacts` for first to last to their place among all results.

    Contacts of each shape end before ``ends`` (n,). ``ints`` (2, m) are shapes and ids,
    ``floats`` (3, m, 3) penetrations, unit directions and points.
    """
    k = 0
    for visit in range(first, last):
        index = int(visits[visit])
        for place in range(int(ends[index] - counts[index]), int(ends[index])):
            row = int(keys[k] & 0xFFFFFFFF)
            number = int(rows[_WIDTH * row + _NUMBER])
            ints[0, place], ints[1, place] = index, number << ID_BITS | keys[k] >> 32
            k += 1
            for part in range(_VECTORS):
                for axis in range(3):
                    floats[part, place, axis] = rows[_WIDTH * row + 3 * part + axis]


@kernel
def add_contacts(
    parts: Parts, kind: int, shape: Floats, kept: int, most: int,
    ints: Int64s, floats: Floats, start: int, room: int,
) -> int:  # fmt: skip
    """Write the contacts of the only shape behind ``start`` others, see `put_contacts`.

    Returns how many there are then, -1 if they may be more than ``most``. Those for which there is
    no ``room`` are not written.
    """
    counts, so_far = np.empty(1, np.int64), np.zeros(1, np.int64)
    visits = array_at(so_far.ctypes.data, (1,), np.int64)  # 0 whenever it is read
    keys, rows = _find_contacts(parts, kind, shape, visits, 0, 1, kept, counts, most, so_far)
    if len(keys) == 0 or counts[0] > most:
        return -1
    so_far[0] = 0
    end = start + int(counts[0])
    if end <= room:
        ends = np.full(1, end)
        put_contacts(visits, 0, 1, keys, rows, ends, counts, ints, floats)
    keep(so_far)
    return end


@kernel
def triangles_near(table: Int64s, mask: int, lower: Vec3, upper: Vec3, out: Int64s) -> int:
    """Write the ids of triangles near a box to out (k,), ascending: their closed boxes overlap it.

    Returns how many there are; if that is more than k, ``out`` holds any k of them.
    """
    parts = parts_at(table, mask)
    stack, nodes = np.empty(STACK, np.int32), np.empty(NODES_ON_PATH, np.int64)
    near = np.empty(row_count(parts.rows), np.int64)
    count = 0
    for k in range(items_near(parts.tree, lower, upper, borrow(nodes), borrow(near))):
        part = part_at(parts.rows, int(near[k]))
        rest = out[min(count, len(out)) :]
        found = faces_near(part, lower, upper, np.inf, borrow(stack), borrow(rest))
        kept = rest[: min(found, len(rest))]
        kept.sort()
        for i in range(len(kept)):
            kept[i] = part.first_id + (kept[i] >> SLOT_BITS)
        count += found
    keep(stack)
    keep(nodes)
    keep(near)
    return count


@kernel
def list_near(
    table: Int64s, mask: int, queries: Floats, most: int, offsets: Int64s
) -> tuple[int, Int64s]:
    """Return (how many, the ids near each of n boxes); see `triangles_near`.

    ``queries`` is flat. ``offsets`` (n + 1,) receives where each box's ids begin, and end. This
    stops at more than ``most``.
    """
    ids, total = np.empty(256, np.int64), 0
    offsets[0] = 0
    for k in range(len(offsets) - 1):
        lower, upper = row_vector(queries, 6 * k), row_vector(queries, 6 * k + 3)
        count = triangles_near(table, mask, lower, upper, ids[total:])
        if total + count > most:
            return total + count, ids
        if total + count > len(ids):
            more = np.empty(2 * (total + count), np.int64)
            for i in range(total):
                more[i] = ids[i]
            ids = more
            triangles_near(table, mask, lower, upper, ids[total:])
        total += count
        offsets[k + 1] = total
    return total, ids[:total].copy()
