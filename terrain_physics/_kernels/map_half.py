"""Listed halves of cells and boxes, read so that loops over many of them are vectorized.

Unsigned places, and no choice between loads: what a compiler needs to gather.
"""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.grid import Floats, Grid, Heights
from terrain_physics._kernels.shape_rows import BOX
from terrain_physics._kernels.vec3 import Mat3, Vec3


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
def _three(bodies: Floats, i: np.uint64) -> Vec3:
    """Return what `row_vector` does, for loops that are to be vectorized."""
    return (bodies[i], bodies[i + np.uint64(1)], bodies[i + np.uint64(2)])


@kernel(inline=True)
def box_at(bodies: Floats, who: np.int64) -> tuple[Vec3, Vec3, Mat3]:
    """Return (center, half extents, rotation) of a box."""
    i = np.uint64(BOX * who)
    first = _three(bodies, i + np.uint64(6))
    second = _three(bodies, i + np.uint64(9))
    third = _three(bodies, i + np.uint64(12))
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
    return _three(bodies, i), _three(bodies, i + np.uint64(3)), rotation
