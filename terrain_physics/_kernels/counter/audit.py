"""Checks of the counter: a recount by the definition, and the pairs that pruning leaves."""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.counter.tree import LANES, Tree
from terrain_physics._kernels.geometry.sphere_surface import touches
from terrain_physics._kernels.math.rows import corners_in
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.types import Float32s, Floats, Int64s


@kernel
def recount(triangles: Floats, spheres: Floats, first: int, last: int, counts: Int64s) -> None:
    """Add to counts (q,) the triangles first..last that each sphere touches, by brute force."""
    for row in range(len(spheres)):
        radius = float(spheres[row, 0])
        center = (float(spheres[row, 1]), float(spheres[row, 2]), float(spheres[row, 3]))
        for i in range(first, last):
            counts[row] += touches(*corners_in(triangles, i), center, radius)


@kernel(inline=True)
def _may_touch(boxes: Float32s, index: int, lane: int, center: Vec3, square: float) -> bool:
    """Tell whether the surface of a sphere may reach into a box."""
    gap, far = 0.0, 0.0
    for axis in range(3):
        below = float(np.float64(boxes[index, axis, lane])) - center[axis]
        above = center[axis] - float(np.float64(boxes[index, axis + 3, lane]))
        apart = max(below, above, 0.0)
        across = max(-below, -above)
        gap += apart * apart
        far += across * across
    return gap <= square and far >= square


@kernel
def pairs_tested(tree: Tree, spheres: Floats, first: int, last: int) -> int:
    """Return the number of triangles in leaves that the surfaces of spheres first..last touch.

    These are the pairs that the counter tests, except for a few leaves that are too close for
    float32 to prune.
    """
    x0, y0, z0 = float(tree.frame[0]), float(tree.frame[1]), float(tree.frame[2])
    factor = float(tree.frame[3])
    leaf_boxes, block_boxes = tree.leaf_boxes, tree.block_boxes
    pairs = 0
    for row in range(first, last):
        radius = float(spheres[row, 0]) * factor
        x = (float(spheres[row, 1]) - x0) * factor
        y = (float(spheres[row, 2]) - y0) * factor
        z = (float(spheres[row, 3]) - z0) * factor
        center, square = (x, y, z), radius * radius
        for block in range(len(leaf_boxes)):
            if not _may_touch(block_boxes, block // LANES, block % LANES, center, square):
                continue
            for lane in range(LANES):
                if _may_touch(leaf_boxes, block, lane, center, square):
                    left = len(tree.triangles) - (block * LANES + lane) * LANES
                    pairs += min(max(left, 0), LANES)
    return pairs
