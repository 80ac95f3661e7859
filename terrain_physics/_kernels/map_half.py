"""Listed halves of cells and boxes, read so that loops over many of them are vectorized.

Unsigned places, and no choice between loads: what a compiler needs to gather.
"""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.grid import Floats, Grid, Heights
from terrain_physics._kernels.vec3 import Mat3, Vec3

# Touches worked on at once. Not a power of two: columns would compete for the same cache lines.
STEP = 248


@kernel(inline=True)
def _vertex(heights: Heights, grid: Grid, row: np.int64, column: np.int64) -> Vec3:
    """Return what `grid.vertex` does, for loops that are to be vectorized."""
    rows, columns = np.int64(grid.rows), np.int64(grid.columns)
    inner_row = min(max(row, np.int64(0)), rows)
    inner_column = min(max(column, np.int64(0)), columns)
    place = np.uint64(inner_row * (columns + np.int64(1)) + inner_column)
    return (
        grid.x0 + column * grid.cell_x,
        grid.y0 + grid.height_scale * np.float64(heights[place]),
        grid.z0 + row * grid.cell_z,
    )


@kernel(inline=True)
def half_at(heights: Heights, grid: Grid, row: np.int64, code: np.int64) -> tuple[Vec3, Vec3, Vec3]:
    """Return the corners of a listed half."""
    one = np.int64(1)
    column, flipped, half = code >> np.int64(2), (code >> one) & one, code & one
    return (
        _vertex(heights, grid, row + one, column + (flipped & half)),
        _vertex(heights, grid, row + one - half, column + one),
        _vertex(heights, grid, row, column + ((one - flipped) & (one - half))),
    )


@kernel(inline=True)
def vector_at(numbers: Floats, k: int) -> Vec3:
    """Return a vector of columns (.., STEP)."""
    return (numbers[k], numbers[STEP + k], numbers[2 * STEP + k])


@kernel(inline=True)
def corners_at(corners: Floats, k: int) -> tuple[Vec3, Vec3, Vec3]:
    """Return a triangle of columns (9, STEP)."""
    return (
        vector_at(corners, k),
        vector_at(corners, 3 * STEP + k),
        vector_at(corners, 6 * STEP + k),
    )


@kernel(inline=True)
def box_at(boxes: Floats, k: int) -> tuple[Vec3, Vec3, Mat3]:
    """Return (center, half extents, rotation) of a box of columns (15, STEP)."""
    first, second, third = corners_at(boxes, 6 * STEP + k)
    rotation = (
        first[0],
        first[1],
        first[2],
        second[0],
        second[1],
        second[2],
        third[0],
        third[1],
        third[2],
    )
    return vector_at(boxes, k), vector_at(boxes, 3 * STEP + k), rotation
