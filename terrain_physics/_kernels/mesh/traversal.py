"""Tree traversal by a ray or a moving shape: the boxes of a mesh that its path enters, and where.

Boxes are grown by the half extents of the box around the shape, so that the shape becomes a point.
"""

import math

import numpy as np

from terrain_physics._kernels._intrinsics import prefer_wide_vectors
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.vec3 import Vec3, add, add_scaled, subtract
from terrain_physics._kernels.mesh.tree import LANES, Float32, Place
from terrain_physics._kernels.tolerances import MESH_RAY_MARGIN, MESH_SHAPE_MARGIN, NODE_MARGIN
from terrain_physics._kernels.types import Float32s

NO_WIDTH = (0.0, 0.0, 0.0)

_STEEPEST = 1e20  # stands for 1 / 0, and stays finite in float32 when multiplied by a length

# Shapes this much larger than the mesh are near to all of it.
_HUGE = 2.0**20

_NONE = np.int32(0)
_ZERO = np.float32(0.0)


@kernel(inline=True)
def lanes_on_path(
    boxes: Float32s,
    node: int,
    rows: tuple[int, int, int],
    near: Place,
    far: Place,
    steps: Place,
    best: Float32,
) -> np.int32:
    """Return bits: which of sixteen boxes a path enters before ``best``."""
    prefer_wide_vectors()
    bits = _NONE
    i, j, h = rows
    p, q, r = 3 - i, 5 - j, 7 - h
    for k in range(LANES):
        start = (boxes[node, i, k] - near[0]) * steps[0]
        end = (boxes[node, p, k] - far[0]) * steps[0]
        y = (boxes[node, j, k] - near[1]) * steps[1]
        start = y if y > start else start
        y = (boxes[node, q, k] - far[1]) * steps[1]
        end = y if y < end else end
        z = (boxes[node, h, k] - near[2]) * steps[2]
        start = z if z > start else start
        z = (boxes[node, r, k] - far[2]) * steps[2]
        end = z if z < end else end
        enters = (start <= end) & (end >= _ZERO) & (start <= best)
        bits = np.int32(bits | (np.int32(1 << k) if enters else _NONE))
    return bits


@kernel(inline=True)
def entry_of(
    boxes: Float32s,
    node: int,
    lane: int,
    rows: tuple[int, int, int],
    near: Place,
    steps: Place,
) -> Float32:
    """Return where a path enters a box."""
    x = (boxes[node, rows[0], lane] - near[0]) * steps[0]
    y = (boxes[node, rows[1], lane] - near[1]) * steps[1]
    z = (boxes[node, rows[2], lane] - near[2]) * steps[2]
    x = y if y > x else x
    return z if z > x else x


@kernel(inline=True)
def _enter_cube(start: Vec3, direction: Vec3, wide: Vec3) -> tuple[bool, float]:
    """Return (whether a path hits the mesh's cube, where it enters it if it starts far off).

    The cube is -1.5..1.5, grown by ``wide``.
    """
    if (
        abs(start[0]) <= 2.0 + wide[0]
        and abs(start[1]) <= 2.0 + wide[1]
        and abs(start[2]) <= 2.0 + wide[2]
    ):
        return True, 0.0
    enter, leave = 0.0, math.inf
    for axis in range(3):
        along, extent = direction[axis], 1.5 + wide[axis]
        if along == 0.0:
            if abs(start[axis]) > extent:
                return False, 0.0
            continue
        side = extent if along > 0.0 else -extent
        enter = max(enter, (-side - start[axis]) / along)
        leave = min(leave, (side - start[axis]) / along)
    return enter <= leave, enter


@kernel(inline=True)
def _single(v: Vec3) -> Place:
    return np.float32(v[0]), np.float32(v[1]), np.float32(v[2])


@kernel(inline=True)
def _step(along: float) -> float:
    """Return 1 / along, of limited size."""
    if abs(along) * _STEEPEST > 1.0:
        return 1.0 / along
    return math.copysign(_STEEPEST, along)


@kernel(inline=True)
def path_in_frame(
    start: Vec3, direction: Vec3, wide: Vec3
) -> tuple[bool, float, float, tuple[int, int, int], Place, Place, Place]:
    """Return (whether a path comes near the mesh, where, margin, then arguments of the tests).

    All is in the mesh's frame; ``wide`` are half extents, `NO_WIDTH` for a ray. The tests measure
    from where the path comes near. Their arguments are the rows of the boxes' near sides, the
    places to subtract from those and from the far sides, and reciprocals.
    """
    widest = max(wide[0], wide[1], wide[2])
    is_near, skipped = _enter_cube(start, direction, wide)
    distance = max(abs(start[0]), abs(start[1]), abs(start[2]))
    rounding = MESH_SHAPE_MARGIN if widest > 0.0 else MESH_RAY_MARGIN
    margin = min(NODE_MARGIN * (1.0 + widest) + rounding * distance, 4.0)
    if widest > _HUGE:
        start, wide, skipped, margin, is_near = NO_WIDTH, NO_WIDTH, 0.0, _HUGE, True
    start = add_scaled(start, direction, skipped)
    step = (_step(direction[0]), _step(direction[1]), _step(direction[2]))
    ahead = (
        math.copysign(wide[0] + margin, step[0]),
        math.copysign(wide[1] + margin, step[1]),
        math.copysign(wide[2] + margin, step[2]),
    )
    rows = (0 if step[0] > 0.0 else 3, 1 if step[1] > 0.0 else 4, 2 if step[2] > 0.0 else 5)
    near, far = _single(add(start, ahead)), _single(subtract(start, ahead))
    return is_near, skipped, margin, rows, near, far, _single(step)


@kernel(inline=True)
def limit_of(best: float, skipped: float, factor: float, margin: float) -> Float32:
    """Return the distance ``best`` in the frame, from where the path enters it, rounded up."""
    return np.float32(min((best * factor - skipped) * (1.0 + 1e-6) + margin, 1e30))
