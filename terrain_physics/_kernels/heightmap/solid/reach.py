"""Which boxes come near the underside of a map.

Most do not. To tell so takes a few nanoseconds each, a question to the underside hundreds.
"""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.heightmap.blocks import BLOCK, block_span, blocks_across
from terrain_physics._kernels.heightmap.grid import Grid, sample
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.types import Float32s

# How far outward the blocks around a box reach, in blocks: farther than all rounding.
_OUTWARD = 0.01

# A box over more cells than this is not looked at sample by sample.
_MOST_CELLS = 36

# A box over more blocks than this may be near.
_MOST_BLOCKS = 16


@kernel(inline=True)
def _block_of(place: float, start: float, per_meter: float, count: int, outward: float) -> int:
    """Return the block of a place along an axis, or the one beside it; outside, the nearest one."""
    return int(min(max((place - start) * per_meter + outward, 0.0), count - 1.0))


@kernel(no_refcount=True)
def _meets_samples(grid: Grid, lower: Vec3, upper: Vec3) -> bool:
    """Tell whether a box comes near the surface within the cells around it."""
    low_x, high_x = (lower[0] - grid.x0) / grid.cell_x, (upper[0] - grid.x0) / grid.cell_x
    low_z, high_z = (lower[2] - grid.z0) / grid.cell_z, (upper[2] - grid.z0) / grid.cell_z
    if (high_x - low_x + 2.0) * (high_z - low_z + 2.0) > _MOST_CELLS:
        return True
    if not (-1e9 < low_x and high_x < 1e9 and -1e9 < low_z and high_z < 1e9):
        return True
    column_0, column_1 = int(np.floor(low_x - _OUTWARD)), int(np.floor(high_x + _OUTWARD)) + 1
    row_0, row_1 = int(np.floor(low_z - _OUTWARD)), int(np.floor(high_z + _OUTWARD)) + 1
    low, high = np.inf, -np.inf
    for row in range(row_0, row_1 + 1):
        for column in range(column_0, column_1 + 1):
            height = sample(grid, row, column)
            if height < low:
                low = height
            if height > high:
                high = height
    return bool(low <= upper[1] and high >= lower[1])


@kernel(inline=True)
def _blocks_around(grid: Grid, lower: Vec3, upper: Vec3) -> tuple[int, int, int, int]:
    """Return the first and last row, first and last column of the lowest blocks around a box."""
    rows, columns = blocks_across(grid.rows, 0), blocks_across(grid.columns, 0)
    per_x, per_z = 1.0 / (BLOCK * grid.cell_x), 1.0 / (BLOCK * grid.cell_z)
    return (
        _block_of(lower[2], grid.z0, per_z, rows, -_OUTWARD),
        _block_of(upper[2], grid.z0, per_z, rows, _OUTWARD),
        _block_of(lower[0], grid.x0, per_x, columns, -_OUTWARD),
        _block_of(upper[0], grid.x0, per_x, columns, _OUTWARD),
    )


@kernel(no_refcount=True)
def meets_surface(grid: Grid, blocks: Float32s, lower: Vec3, upper: Vec3) -> bool:
    """Tell whether a box may come near the surface of a map."""
    row_0, row_1, column_0, column_1 = _blocks_around(grid, lower, upper)
    if (row_1 - row_0 + 1) * (column_1 - column_0 + 1) > _MOST_BLOCKS:
        return True
    columns = blocks_across(grid.columns, 0)
    for row in range(row_0, row_1 + 1):
        for column in range(column_0, column_1 + 1):
            low, high = block_span(grid, blocks, row * columns + column)
            if low <= upper[1] and high >= lower[1]:
                return _meets_samples(grid, lower, upper)
    return False
