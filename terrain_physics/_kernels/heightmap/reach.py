"""Which of many shapes come near the sides of a map, and near its underside.

Most do not. To tell so takes a few nanoseconds each, a query of the sides hundreds.
"""

import numpy as np

from terrain_physics._kernels._intrinsics import borrow, keep
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.heightmap.blocks import BLOCK, block_span, blocks_across
from terrain_physics._kernels.heightmap.grid import Grid, cell_span, unpack_grid
from terrain_physics._kernels.math.rows import row3
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.mesh.near import faces_near
from terrain_physics._kernels.mesh.parts import part_at, parts_at
from terrain_physics._kernels.mesh.tree import STACK
from terrain_physics._kernels.surface.ground_arrays import ALL_LAYERS
from terrain_physics._kernels.surface.shapes import bounds_at
from terrain_physics._kernels.types import Bytes, Float32s, Floats, Int64s

# Shapes over more blocks than this may be near the underside, whatever its height.
_MOST_BLOCKS = 16


@kernel
def list_near_sides(
    table: Int64s, clear: Floats, kind: int, shapes: Floats, count: int, out: Int64s
) -> int:
    """Write which shapes come near a face of a mesh, the only one of a table; return how many.

    ``shapes`` are flat rows. No face is within ``clear``, its least x and z, and its greatest.
    """
    parts, found = parts_at(table, ALL_LAYERS), 0
    part = part_at(parts.rows, 1)
    stack, one = np.empty(STACK, np.int32), np.empty(1, np.int64)
    for index in range(count):
        lower, upper = bounds_at(kind, shapes, index)
        if (
            lower[0] > clear[0] and lower[2] > clear[1]
            and upper[0] < clear[2] and upper[2] < clear[3]
        ):  # fmt: skip
            continue
        if faces_near(part, lower, upper, 1.0, borrow(stack), borrow(one)) > 0:
            out[found] = index
            found += 1
    keep(stack)
    keep(one)
    return found


@kernel(no_refcount=True)
def _may_meet(grid: Grid, blocks: Float32s, lower: Vec3, upper: Vec3) -> bool:
    """Tell whether a box may meet a surface."""
    row_0, row_1 = cell_span(lower[2], upper[2], grid.z0, grid.cell_z, grid.rows, grid.extend)
    column_0, column_1 = cell_span(
        lower[0], upper[0], grid.x0, grid.cell_x, grid.columns, grid.extend
    )
    wide = blocks_across(grid.columns, 0)
    row_0, column_0 = max(row_0, 0) // BLOCK, max(column_0, 0) // BLOCK
    row_1 = (min(max(row_1, 1), grid.rows) - 1) // BLOCK
    column_1 = (min(max(column_1, 1), grid.columns) - 1) // BLOCK
    row_0, column_0 = min(row_0, row_1), min(column_0, column_1)
    if float(row_1 - row_0 + 1) * float(column_1 - column_0 + 1) > _MOST_BLOCKS:
        return True
    for row in range(row_0, row_1 + 1):
        for column in range(column_0, column_1 + 1):
            low, high = block_span(grid, blocks, row * wide + column)
            if low <= upper[1] and high >= lower[1]:
                return True
    return False


@kernel(holds_gil=True)
def box_meets_surface(
    heights: Float32s, cells: Bytes, blocks: Float32s, frame: Floats, lower: Vec3, upper: Vec3
) -> bool:
    """Tell whether a box may meet the surface of a map."""
    return _may_meet(unpack_grid(heights, cells, frame), blocks, lower, upper)


@kernel
def list_boxes_near_surface(
    heights: Float32s, cells: Bytes, blocks: Float32s, frame: Floats,
    lower: Floats, upper: Floats, out: Int64s,
) -> int:  # fmt: skip
    """Write which boxes (n, 3), (n, 3) may meet the surface of a map; return how many."""
    grid, found = unpack_grid(heights, cells, frame), 0
    for index in range(len(lower)):
        if _may_meet(grid, blocks, row3(lower, index), row3(upper, index)):
            out[found] = index
            found += 1
    return found


@kernel
def list_near_surface(
    heights: Float32s, cells: Bytes, blocks: Float32s, frame: Floats,
    kind: int, shapes: Floats, count: int, out: Int64s,
) -> int:  # fmt: skip
    """Write which shapes, as flat rows, may come near the surface of a map; return how many."""
    grid, found = unpack_grid(heights, cells, frame), 0
    for index in range(count):
        lower, upper = bounds_at(kind, shapes, index)
        if _may_meet(grid, blocks, lower, upper):
            out[found] = index
            found += 1
    return found
