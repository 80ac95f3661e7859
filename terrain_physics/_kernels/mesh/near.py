"""The triangles of one mesh near a box, as numbers that sort by face."""

import numpy as np

from terrain_physics._kernels._intrinsics import count_trailing_zeros
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.mesh.parts import MeshPart, triangle_of, world_in_tree
from terrain_physics._kernels.mesh.places import lanes_around
from terrain_physics._kernels.mesh.tree import box_in_frame, box_overlaps, lanes_in_box
from terrain_physics._kernels.types import Int32s, Int64s

# A found triangle is its face, shifted by so many bits, plus its slot.
SLOT_BITS = 32
SLOT = (1 << SLOT_BITS) - 1


@kernel(noinline=True)
def faces_near(
    part: MeshPart, lower: Vec3, upper: Vec3, most: float, stack: Int32s, out: Int64s
) -> int:
    """Write the triangles near a box to out (k,), in any order: their closed boxes overlap it.

    Returns how many there are; if that is more than k, ``out`` holds any k of them. The search ends
    soon after ``most``, without the rest. ``stack`` (STACK,) is scratch.
    """
    order, boxes, children = part.order, part.boxes, part.children
    middle, factor, margin = world_in_tree(part)
    low, high = box_in_frame(lower, upper, middle, factor, margin)
    stack[0] = len(children) - 1
    height, count = 1, 0
    while height > 0 and count < most:
        height -= 1
        node = int(stack[height])
        first = int(children[node])
        if part.place == 0:
            bits = lanes_in_box(boxes, node, low, high)
        else:
            bits = lanes_around(boxes, node, part.place, low, high)
        while bits != 0:
            lane = count_trailing_zeros(bits)
            bits = np.int32(bits & (bits - 1))
            if first >= 0:
                stack[height] = first + lane
                height += 1
                continue
            slot = ~first + lane
            a, b, c = triangle_of(part, slot)
            if box_overlaps(a, b, c, lower, upper):
                if count < len(out):
                    out[count] = np.int64(order[slot]) << SLOT_BITS | slot
                count += 1
    return count
