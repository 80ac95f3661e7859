"""Whether a point is inside a solid mesh, and how deep: by its winding number, exactly.

A ray straight up leaves the mesh as often as it enters it, once more for each time that the mesh
winds around the point. Crossings are decided by exact signs. A ray through an edge or a corner is
read as one beside it, beside the same side of all faces that meet there: so it crosses each sheet
of them once.
"""

import math

import numpy as np

from terrain_physics._kernels._intrinsics import count_trailing_zeros
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.orientation import line_side, plane_side
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.mesh.part_tree import items_near
from terrain_physics._kernels.mesh.parts import (
    MeshPart,
    Parts,
    bounds_of_part,
    box_in_tree,
    is_solid,
    part_at,
    triangle_of,
)
from terrain_physics._kernels.mesh.queries import (
    Scratch,
    nearest_slot,
)
from terrain_physics._kernels.mesh.tree import box_in_frame, box_overlaps, lanes_in_box
from terrain_physics._kernels.tolerances import BOX_ROUNDING
from terrain_physics._kernels.types import Int32s

# Where a point is with regard to a mesh.
OUTSIDE, ON_FACE, INSIDE = range(3)


@kernel
def _turn(ax: float, az: float, bx: float, bz: float, x: float, z: float) -> int:
    """Return 1, -1 or 0: how often an edge goes by a place, which lies on it as if beside it."""
    if az <= z < bz and line_side(ax, az, bx, bz, x, z) > 0:
        return 1
    if bz <= z < az and line_side(ax, az, bx, bz, x, z) < 0:
        return -1
    return 0


@kernel(noinline=True)
def _exits(a: Vec3, b: Vec3, c: Vec3, place: Vec3) -> int:
    """Return 1 if a ray straight up leaves a mesh by a face, -1 if it comes in by it, else 0."""
    x, z = place[0], place[2]
    turn = (
        _turn(a[0], a[2], b[0], b[2], x, z)
        + _turn(b[0], b[2], c[0], c[2], x, z)
        + _turn(c[0], c[2], a[0], a[2], x, z)
    )
    # Seen from above, x runs to the right and z down: a face that looks up turns clockwise.
    return -turn if turn != 0 and plane_side(a, b, c, place) == turn else 0


@kernel
def _covers(
    ax: float, ay: float, bx: float, by: float, cx: float, cy: float, x: float, y: float
) -> bool:
    """Tell whether a place in the box around a triangle in 2D lies in it, closed."""
    one, two = line_side(ax, ay, bx, by, x, y), line_side(bx, by, cx, cy, x, y)
    three = line_side(cx, cy, ax, ay, x, y)
    return bool(min(one, two, three) >= 0 or max(one, two, three) <= 0)


@kernel(noinline=True)
def _is_on(a: Vec3, b: Vec3, c: Vec3, p: Vec3) -> bool:
    """Tell whether a point in the box around a triangle lies on it: from all three sides seen."""
    return bool(
        plane_side(a, b, c, p) == 0
        and _covers(a[0], a[1], b[0], b[1], c[0], c[1], p[0], p[1])
        and _covers(a[1], a[2], b[1], b[2], c[1], c[2], p[1], p[2])
        and _covers(a[2], a[0], b[2], b[0], c[2], c[0], p[2], p[0])
    )


@kernel(inline=True)
def _is_within(place: Vec3, lower: Vec3, upper: Vec3) -> bool:
    """Tell whether a point is in a box."""
    for axis in range(3):
        if not lower[axis] <= place[axis] <= upper[axis]:
            return False
    return True


@kernel(noinline=True)
def place_in(part: MeshPart, place: Vec3, stack: Int32s) -> int:
    """Return where a point is: OUTSIDE, ON_FACE or INSIDE of a mesh; a skin has no inside.

    ``stack`` (STACK,) is scratch.
    """
    boxes, children = part.boxes, part.children
    lower, upper = bounds_of_part(part)
    if not _is_within(place, lower, upper):
        return OUTSIDE
    above = (place[0], upper[1] if is_solid(part) else place[1], place[2])
    low, high, middle, factor = box_in_tree(part, place, above)
    lowest, highest = box_in_frame(low, high, middle, factor, BOX_ROUNDING)
    stack[0] = len(children) - 1
    height, winding = 1, 0
    while height > 0:
        height -= 1
        node = int(stack[height])
        child = int(children[node])
        bits = lanes_in_box(boxes, node, lowest, highest)
        while bits != 0:
            lane = count_trailing_zeros(bits)
            bits = np.int32(bits & (bits - 1))
            if child >= 0:
                stack[height] = child + lane
                height += 1
                continue
            a, b, c = triangle_of(part, ~child + lane)
            if box_overlaps(a, b, c, place, place) and _is_on(a, b, c, place):
                return ON_FACE
            winding += _exits(a, b, c, place)
    return INSIDE if winding != 0 and is_solid(part) else OUTSIDE


@kernel(noinline=True)
def depth_in(parts: Parts, place: Vec3, scratch: Scratch) -> float:
    """Return how deep a point is in the mesh that it is deepest in; 0 on a face, -1 in none."""
    deepest = -1.0
    for k in range(items_near(parts.tree, place, place, scratch.nodes, scratch.found)):
        part = part_at(parts.rows, int(scratch.found[k]))
        where, depth = place_in(part, place, scratch.stack), 0.0
        if where == INSIDE:
            _, square, _ = nearest_slot(part, place, 0, math.inf, scratch.stack, scratch.entries)
            depth = math.sqrt(square)
        if where != OUTSIDE:
            deepest = max(deepest, depth)
    return deepest
