"""Two meshes, or one with itself: the pairs of triangles that touch.

Both trees are descended at once. That leaves pairs of triangles with float32 boxes that overlap;
the exact test of two triangles decides each.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from terrain_physics._kernels._intrinsics import count_trailing_zeros
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.triangle_triangle import triangles_touch
from terrain_physics._kernels.math.orientation import line_side, plane_side
from terrain_physics._kernels.math.rows import corners_in, row3
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.mesh.tree import LANES, Mesh, Place, lanes_in_box
from terrain_physics._kernels.tolerances import BOX_ROUNDING
from terrain_physics._kernels.types import Float32s, Floats, Int32s, Int64s

Box = tuple[Place, Place]  # the lower and the upper corner
Face = tuple[int, int, int]  # three vertices
Run = Callable[[Callable[[int, int], Any], int, float], list[Any]]

# Pairs of nodes to begin with: enough for all threads, few enough to cost nothing.
_STARTS = 512

_START_COST = 20_000  # nanoseconds for one such pair on one thread, roughly

# Pairs of triangles to find before they are tested.
_ROOM = 1 << 14

# A pair of nodes puts at most 256 on the stack, and each level of both trees is passed once.
_STACK = 16 * LANES * LANES


class Trees(NamedTuple):
    """The trees of two meshes, and how boxes are brought from one to the other."""

    boxes: Float32s
    children: Int32s
    others: Float32s
    other_children: Int32s
    places: Floats  # (2, 5): to the first mesh's frame, and back; see `_places`
    same: bool  # they are one mesh


@kernel(inline=True)
def _moved(corner: Place, ratio: float, shift: Vec3, margin: float) -> Place:
    """Return the corner of a box of one mesh in the frame of the other, limited to -2..2."""
    x = min(max(float(corner[0]) * ratio + shift[0] + margin, -2.0), 2.0)
    y = min(max(float(corner[1]) * ratio + shift[1] + margin, -2.0), 2.0)
    z = min(max(float(corner[2]) * ratio + shift[2] + margin, -2.0), 2.0)
    return np.float32(x), np.float32(y), np.float32(z)


@kernel(inline=True)
def _overlapping_lanes(boxes: Float32s, node: int, box: Box, places: Floats, k: int) -> np.int32:
    """Return bits: which of sixteen boxes of one mesh overlap a box of the other."""
    shift, ratio, margin = row3(places, k), float(places[k, 3]), float(places[k, 4])
    lower, upper = _moved(box[0], ratio, shift, -margin), _moved(box[1], ratio, shift, margin)
    return lanes_in_box(boxes, node, lower, upper)


@kernel(inline=True)
def _lane_box(boxes: Float32s, node: int, lane: int) -> Box:
    lower = (boxes[node, 0, lane], boxes[node, 1, lane], boxes[node, 2, lane])
    return lower, (boxes[node, 3, lane], boxes[node, 4, lane], boxes[node, 5, lane])


@kernel(inline=True)
def _node_box(boxes: Float32s, node: int) -> Box:
    """Return the box around all sixteen."""
    (x0, y0, z0), (x1, y1, z1) = _lane_box(boxes, node, 0)
    for k in range(1, LANES):
        x0 = boxes[node, 0, k] if boxes[node, 0, k] < x0 else x0
        y0 = boxes[node, 1, k] if boxes[node, 1, k] < y0 else y0
        z0 = boxes[node, 2, k] if boxes[node, 2, k] < z0 else z0
        x1 = boxes[node, 3, k] if boxes[node, 3, k] > x1 else x1
        y1 = boxes[node, 4, k] if boxes[node, 4, k] > y1 else y1
        z1 = boxes[node, 5, k] if boxes[node, 5, k] > z1 else z1
    return (x0, y0, z0), (x1, y1, z1)


@kernel(inline=True)
def _expand(trees: Trees, one: int, two: int, pairs: Int32s, count: int) -> int:
    """Append the pairs of overlapping boxes in two nodes; return the new count.

    Two lowest nodes give pairs of slots. Other nodes give pairs of nodes; a lowest node is in them
    itself. ``pairs`` must have room for 256.
    """
    boxes, others, places = trees.boxes, trees.others, trees.places
    child, below = int(trees.children[one]), int(trees.other_children[two])
    lowest = child < 0 and below < 0
    overlapping = np.int32(0)
    lanes = _overlapping_lanes(others, two, _node_box(boxes, one), places, 1)
    while lanes != 0:
        lane = count_trailing_zeros(lanes)
        lanes = np.int32(lanes & (lanes - 1))
        bits = _overlapping_lanes(boxes, one, _lane_box(others, two, lane), places, 0)
        if child < 0 <= below:
            if bits != 0:
                pairs[count, 0], pairs[count, 1] = one, below + lane
                count += 1
        elif below < 0 <= child:
            overlapping = np.int32(overlapping | bits)
        else:
            second = ~below + lane if lowest else below + lane
            while bits != 0:
                k = count_trailing_zeros(bits)
                bits = np.int32(bits & (bits - 1))
                first = ~child + k if lowest else child + k
                if not trees.same or first < second or (first == second and not lowest):
                    pairs[count, 0], pairs[count, 1] = first, second
                    count += 1
    while overlapping != 0:
        pairs[count, 0], pairs[count, 1] = child + count_trailing_zeros(overlapping), two
        overlapping = np.int32(overlapping & (overlapping - 1))
        count += 1
    return count


@kernel(no_refcount=True)
def next_pairs(trees: Trees, pairs: Int32s, out: Int32s) -> int:
    """Write to ``out`` the pairs of nodes one level below ``pairs`` (m, 2); return how many.

    Pairs of two lowest nodes stay. ``out`` must have room for 256 of each.
    """
    count = 0
    for k in range(len(pairs)):
        one, two = int(pairs[k, 0]), int(pairs[k, 1])
        if trees.children[one] < 0 and trees.other_children[two] < 0:
            out[count, 0], out[count, 1] = one, two
            count += 1
        else:
            count = _expand(trees, one, two, out, count)
    return count


@kernel(no_refcount=True)
def candidate_pairs(trees: Trees, stack: Int32s, height: int, out: Int32s) -> tuple[int, int]:
    """Write to ``out`` (k, 2) the slots of overlapping boxes below the pairs of nodes on the stack.

    Returns (how many, the height of the stack to resume with); the height is 0 if these are all.
    ``out`` must have room for 256.
    """
    count = 0
    while height > 0 and count + LANES * LANES <= len(out):
        height -= 1
        one, two = int(stack[height, 0]), int(stack[height, 1])
        if trees.children[one] >= 0 or trees.other_children[two] >= 0:
            height = _expand(trees, one, two, stack, height)
        else:
            count = _expand(trees, one, two, out, count)
    return count, height


@kernel(inline=True)
def _boxes_apart(corners: Floats, slot: int, others: Floats, other: int) -> bool:
    """Tell whether the boxes of two triangles are apart, exactly."""
    apart = False
    for axis in range(3):
        a, b = float(corners[slot, axis]), float(corners[slot, 3 + axis])
        c = float(corners[slot, 6 + axis])
        d, e = float(others[other, axis]), float(others[other, 3 + axis])
        f = float(others[other, 6 + axis])
        apart = apart | (min(a, b, c) > max(d, e, f)) | (max(a, b, c) < min(d, e, f))
    return apart


@kernel
def keep_touching(
    corners: Floats, order: Int32s, others: Floats, other_order: Int32s, slots: Int32s, keys: Int64s
) -> int:
    """Write first face * faces of the other + second face of the pairs that touch; how many."""
    count = 0
    for k in range(len(slots)):
        one, two = int(slots[k, 0]), int(slots[k, 1])
        if _boxes_apart(corners, one, others, two):
            continue
        a, b, c = corners_in(corners, one)
        d, e, f = corners_in(others, two)
        if triangles_touch(a, b, c, d, e, f):
            keys[count] = np.int64(order[one]) * len(other_order) + np.int64(other_order[two])
            count += 1
    return count


@kernel
def _faces_intersect(
    face: Face, other: Face, a: Vec3, b: Vec3, c: Vec3, d: Vec3, e: Vec3, f: Vec3
) -> bool:
    """Tell whether two triangles of a mesh, a, b, c and d, e, f, intersect beyond common vertices.

    The rules are those of `TriangleMesh.self_intersections`.
    """
    own, first, last = _own_corners(face, other)
    others, third, fourth = _own_corners(other, face)
    if own == 3:
        return triangles_touch(a, b, c, d, e, f)
    if own == 0 or others == 0:  # a triangle shares nothing more with its own side or corner
        return own == others
    p, q = _pick(a, b, c, first), _pick(a, b, c, last)
    r, s = _pick(d, e, f, third), _pick(d, e, f, fourth)
    i, j = (first + 1) % 3, (first + 2) % 3
    if own == 2 or face[i] == face[j]:
        return triangles_touch(p, q, q, d, e, f) or triangles_touch(r, s, s, a, b, c)
    return _folded(_pick(a, b, c, i), _pick(a, b, c, j), p, r)


@kernel(inline=True)
def _own_corners(face: Face, other: Face) -> tuple[int, int, int]:
    """Return how many corners of a face are not the other's, the first of them, and the last.

    Opposite to one common vertex these are the ends of a side, opposite to two a corner, twice.
    """
    count, first, last = 0, 0, 0
    for k in range(3):
        if face[k] != other[0] and face[k] != other[1] and face[k] != other[2]:
            first = k if count == 0 else first
            last = k
            count += 1
    return count, first, last


@kernel(inline=True)
def _pick(a: Vec3, b: Vec3, c: Vec3, k: int) -> Vec3:
    return a if k == 0 else b if k == 1 else c


@kernel
def _folded(a: Vec3, b: Vec3, p: Vec3, q: Vec3) -> bool:
    """Tell whether the triangles a, b, p and a, b, q lie in one plane on one side of a-b."""
    if plane_side(a, b, p, q) != 0:
        return False
    for k in range(3):
        x, y = (k + 1) % 3, (k + 2) % 3
        side = line_side(a[x], a[y], b[x], b[y], p[x], p[y])
        if side * line_side(a[x], a[y], b[x], b[y], q[x], q[y]) > 0:
            return True
    return False


@kernel
def keep_intersecting(
    corners: Floats, order: Int32s, faces: Int32s, slots: Int32s, keys: Int64s
) -> int:
    """Write face i * faces + face j, i < j, of intersecting pairs of one mesh; return how many.

    ``faces`` (n, 3) are the welded vertices of the triangles, by slot.
    """
    count = 0
    for k in range(len(slots)):
        one, two = int(slots[k, 0]), int(slots[k, 1])
        if _boxes_apart(corners, one, corners, two):
            continue
        a, b, c = corners_in(corners, one)
        d, e, f = corners_in(corners, two)
        face = (int(faces[one, 0]), int(faces[one, 1]), int(faces[one, 2]))
        other = (int(faces[two, 0]), int(faces[two, 1]), int(faces[two, 2]))
        if _faces_intersect(face, other, a, b, c, d, e, f):
            i, j = np.int64(order[one]), np.int64(order[two])
            keys[count] = min(i, j) * len(order) + max(i, j)
            count += 1
    return count


def _places(mesh: Mesh, other: Mesh) -> Floats:
    """Return how boxes of the other mesh are brought to this mesh's frame, and back (2, 5).

    A row is shift x y z, ratio and margin.
    """
    rows = []
    for to, off in ((mesh.frame, other.frame), (other.frame, mesh.frame)):
        shift = (off[:3] - to[:3]) * to[3]
        margin = BOX_ROUNDING + 2.0**-48 * float(np.abs(shift).max())
        rows.append([*shift, to[3] / off[3], margin])
    return np.array(rows)


def touching_pairs(run: Run, mesh: Mesh, other: Mesh, most: int) -> Int64s | None:
    """Return the faces (m, 2) of two meshes that touch, sorted; None for more than ``most``.

    ``run`` is that of `Workers`.
    """

    def keep(slots: Int32s, keys: Int64s) -> int:
        return keep_touching(mesh.corners, mesh.order, other.corners, other.order, slots, keys)

    return _pairs(run, mesh, other, keep, most, same=False)


def self_pairs(run: Run, mesh: Mesh, welded: Int32s, most: int) -> Int64s | None:
    """Return the faces i < j (m, 2) of a mesh that intersect, sorted; None for more than ``most``.

    Vertices are ``welded`` (v,); ``run`` is that of `Workers`.
    """
    faces = welded[mesh.faces[mesh.order]]

    def keep(slots: Int32s, keys: Int64s) -> int:
        return keep_intersecting(mesh.corners, mesh.order, faces, slots, keys)

    return _pairs(run, mesh, mesh, keep, most, same=True)


def _pairs(
    run: Run,
    mesh: Mesh,
    other: Mesh,
    keep: Callable[[Int32s, Int64s], int],
    most: int,
    *,
    same: bool,
) -> Int64s | None:
    places = _places(mesh, other)
    trees = Trees(mesh.boxes, mesh.children, other.boxes, other.children, places, same)
    starts = np.array([[len(mesh.children) - 1, len(other.children) - 1]], np.int32)
    while len(starts) < _STARTS:
        out = np.empty((len(starts) * LANES * LANES, 2), np.int32)
        below = out[: next_pairs(trees, starts, out)]
        if np.array_equal(below, starts):  # all are lowest nodes, or none is left
            break
        starts = below

    found: list[Int64s] = []
    total = [0]  # of all threads; two that add at once may lose some, so it is never too great

    def search(first: int, last: int) -> None:
        stack, height = np.empty((_STACK + last - first, 2), np.int32), last - first
        stack[:height] = starts[first:last]
        slots, keys = np.empty((_ROOM, 2), np.int32), np.empty(_ROOM, np.int64)
        while height > 0 and total[0] <= most:
            count, height = candidate_pairs(trees, stack, height, slots)
            count = keep(slots[:count], keys)
            total[0] += count
            found.append(keys[:count].copy())

    run(search, len(starts), _START_COST)
    if sum(map(len, found)) > most:
        return None
    keys = np.concatenate([np.empty(0, np.int64), *found])
    keys.sort()
    return np.stack(np.divmod(keys, len(other.order)), axis=1)
