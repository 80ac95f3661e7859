"""A tree of boxes over the triangles of a mesh: built, refitted, and searched near a box.

Triangles are sorted along a Hilbert curve. Sixteen that follow each other make a node, sixteen
nodes make one of the next level, up to one root. A node holds the boxes of what is in it, side by
side, so that a test of all sixteen is a few vector operations.

Boxes are float32, in a frame where the mesh fills -1..1 on its longest axis (a power of two scales
exactly), and rounded outwards: they find all that may be near. The corners in float64 decide.
"""

from typing import Any, NamedTuple

import numpy as np

from terrain_physics._kernels._intrinsics import prefer_wide_vectors
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.space_curve import column_bounds, frame_around, triangle_keys
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.tolerances import BOX_ROUNDING
from terrain_physics._kernels.types import Float32s, Floats, Int32s

Float32 = Any  # a float32, to be kept one: mixed with a float it would become float64

Place = tuple[Float32, Float32, Float32]  # in the frame

LANES = 16

# Room of a stack of nodes: the other fifteen of each level. Eight levels hold 2^32 triangles.
STACK = 8 * LANES

# Places in the frame: middle x y z, factor; lower and upper x y z of the box around all.
LOWER, UPPER = 4, 7
FRAME_SIZE = 10

_NONE = np.int32(0)


class Mesh(NamedTuple):
    """A mesh for kernels: arrays only. Places in tree order are called slots."""

    vertices: Floats  # (v, 3)
    faces: Int32s  # (n, 3), rows of vertices
    corners: Floats  # (n, 9) by slot: ax ay az bx by bz cx cy cz
    order: Int32s  # (n,), the face of each slot
    boxes: Float32s  # (nodes, 6, 16): lower x y z, upper x y z; upside down if empty
    children: Int32s  # (nodes,), the first node of the level below; of a lowest node, ~first slot
    frame: Floats  # (FRAME_SIZE,): boxes hold (place - middle) * factor


def build_mesh(vertices: Floats, faces: Int32s, order: Int32s | None = None) -> Mesh:
    """Return the tree of at least one triangle; vertices (v, 3) and faces (n, 3) are kept.

    ``order`` (n,) is that of a tree of the same faces; by default it follows a curve through them.
    """
    count = len(faces)
    corners = np.empty((count, 9))
    if order is None:
        order = _order_along_curve(vertices, faces, corners)

    # From the lowest level up; the root is the last node.
    level = -(-count // LANES)
    children = [~(LANES * np.arange(level, dtype=np.int32))]
    start = 0
    while level > 1:
        start, level, below = start + level, -(-level // LANES), start
        children.append(below + LANES * np.arange(level, dtype=np.int32))
    return refit_mesh(
        Mesh(
            vertices,
            faces,
            corners,
            order,
            np.empty((0, 6, LANES), np.float32),
            np.concatenate(children),
            np.empty(0),
        ),
        vertices,
    )


def _order_along_curve(vertices: Floats, faces: Int32s, corners: Floats) -> Int32s:
    """Return the faces (n,) in an order in which neighbors are near; ``corners`` is for work."""
    order = np.arange(len(faces), dtype=np.int32)
    order.setflags(write=False)
    gather_corners(vertices, faces, order, corners)
    keys = np.empty(len(faces), np.uint64)
    triangle_keys(corners, 0, len(faces), frame_around(*bounds_of(corners)), keys)
    keys.sort()
    order = (keys & np.uint64(0xFFFFFFFF)).astype(np.int32)
    order.setflags(write=False)
    return order


def refit_mesh(mesh: Mesh, vertices: Floats) -> Mesh:
    """Return the mesh with its vertices moved: the same order, new boxes."""
    corners = np.empty_like(mesh.corners)
    gather_corners(vertices, mesh.faces, mesh.order, corners)
    lower, upper = bounds_of(corners)
    frame = np.concatenate([frame_around(lower, upper)[:4], lower, upper])
    boxes = np.empty((len(mesh.children), 6, LANES), np.float32)
    fill_boxes(corners, mesh.children, frame, boxes)
    for values in (corners, mesh.order, boxes, mesh.children, frame):
        values.setflags(write=False)  # handed out, and kernels are compiled for one kind only
    return mesh._replace(vertices=vertices, corners=corners, boxes=boxes, frame=frame)


def bounds_of(corners: Floats) -> tuple[Floats, Floats]:
    """Return the lower and upper corner (3,), (3,) of the box around triangles (n, 9)."""
    lower, upper = np.full(9, np.inf), np.full(9, -np.inf)
    column_bounds(corners, 0, len(corners), lower, upper)
    return lower.reshape(3, 3).min(axis=0), upper.reshape(3, 3).max(axis=0)


def bounds_in(frame: Floats) -> tuple[Vec3, Vec3]:
    """Return the lower and upper corner of the box in a frame."""
    x0, y0, z0, x1, y1, z1 = frame[LOWER:].tolist()
    return (x0, y0, z0), (x1, y1, z1)


@kernel
def gather_corners(vertices: Floats, faces: Int32s, order: Int32s, corners: Floats) -> None:
    """Write the corners (n, 9) of faces in the order given."""
    for slot in range(len(order)):
        for k in range(3):
            vertex = int(faces[order[slot], k])
            for axis in range(3):
                corners[slot, 3 * k + axis] = vertices[vertex, axis]


@kernel
def fill_boxes(corners: Floats, children: Int32s, frame: Floats, boxes: Float32s) -> None:
    """Write all boxes (nodes, 6, 16), from the lowest level up."""
    factor = float(frame[3])
    level_start = 0
    for node in range(len(children)):
        first = int(children[node])
        if first == level_start:  # the first of its level
            level_start = node
        for lane in range(LANES):
            for axis in range(3):
                if first < 0:
                    slot = ~first + lane
                    if slot < len(corners):
                        a, b = float(corners[slot, axis]), float(corners[slot, 3 + axis])
                        c = float(corners[slot, 6 + axis])
                        middle = float(frame[axis])
                        low = (min(a, b, c) - middle) * factor - BOX_ROUNDING
                        high = (max(a, b, c) - middle) * factor + BOX_ROUNDING
                        boxes[node, axis, lane] = low
                        boxes[node, 3 + axis, lane] = high
                    else:
                        boxes[node, axis, lane] = np.inf
                        boxes[node, 3 + axis, lane] = -np.inf
                else:
                    below = first + lane
                    lower, upper = np.float32(np.inf), np.float32(-np.inf)
                    if below < level_start:
                        for k in range(LANES):
                            lower = min(lower, boxes[below, axis, k])
                            upper = max(upper, boxes[below, 3 + axis, k])
                    boxes[node, axis, lane] = lower
                    boxes[node, 3 + axis, lane] = upper


@kernel(inline=True)
def lanes_in_box(boxes: Float32s, node: int, lower: Place, upper: Place) -> np.int32:
    """Return bits: which of sixteen boxes overlap a box, closed, in the mesh's frame."""
    prefer_wide_vectors()
    (x0, y0, z0), (x1, y1, z1) = lower, upper
    bits = _NONE
    for k in range(LANES):
        overlaps = (
            (boxes[node, 0, k] <= x1)
            & (boxes[node, 3, k] >= x0)
            & (boxes[node, 1, k] <= y1)
            & (boxes[node, 4, k] >= y0)
            & (boxes[node, 2, k] <= z1)
            & (boxes[node, 5, k] >= z0)
        )
        bits = np.int32(bits | (np.int32(1 << k) if overlaps else _NONE))
    return bits


@kernel(inline=True)
def _in_frame(corner: Vec3, middle: Vec3, factor: float, outwards: float) -> Place:
    x = min(max((corner[0] - middle[0]) * factor + outwards, -2.0), 2.0)
    y = min(max((corner[1] - middle[1]) * factor + outwards, -2.0), 2.0)
    z = min(max((corner[2] - middle[2]) * factor + outwards, -2.0), 2.0)
    return np.float32(x), np.float32(y), np.float32(z)


@kernel(inline=True)
def box_in_frame(
    lower: Vec3, upper: Vec3, middle: Vec3, factor: float, margin: float
) -> tuple[Place, Place]:
    """Return a box in the mesh's frame, grown by a margin and limited to -2..2."""
    return _in_frame(lower, middle, factor, -margin), _in_frame(upper, middle, factor, margin)


@kernel(inline=True)
def box_overlaps(a: Vec3, b: Vec3, c: Vec3, lower: Vec3, upper: Vec3) -> bool:
    """Tell whether the closed box of a triangle overlaps lower..upper, exactly."""
    overlaps = True
    for axis in range(3):
        low, high = min(a[axis], b[axis], c[axis]), max(a[axis], b[axis], c[axis])
        overlaps = overlaps & (low <= upper[axis]) & (high >= lower[axis])
    return overlaps
