"""Listed halves of cells, and boxes, read so that loops over many of them are vectorized.

Places are unsigned, and no load depends on a choice: that is what a compiler needs to gather.
"""

import numpy as np

from terrain_physics._kernels._intrinsics import array_at
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.heightmap.grid import HEIGHTS_AT, Grid, lined_up, tile_in
from terrain_physics._kernels.math.vec3 import Mat3, Vec3
from terrain_physics._kernels.types import Float32s, Floats

_Lines = tuple[np.int64, np.int64, np.int64, np.int64]

# Touches per step.
STEP = 240

# Length of a column: eight numbers may be written at the last place. It is no power of two, since
# columns would compete for the same cache lines.
ROOM = STEP + 8


@kernel(inline=True)
def lines_of(grid: Grid, row: np.int64, column: np.int64) -> _Lines:
    """Return where the lines of samples above and below a cell begin, and which samples it has."""
    one, none = np.int64(1), np.int64(0)
    rows, columns = np.int64(grid.rows), np.int64(grid.columns)
    across = columns + one
    top, bottom = min(max(row, none), rows) * across, min(max(row + one, none), rows) * across
    left, right = min(max(column, none), columns), min(max(column + one, none), columns)
    return top, bottom, left, right


@kernel(inline=True)
def lines_in_tiles(grid: Grid, row: np.int64, column: np.int64) -> _Lines:
    """Return what `lines_of` does, for a cell with ground of a map in tiles."""
    table = array_at(grid.tiles, (grid.tiles_size,), np.int64)
    at = tile_in(table, grid.rows, row, column)
    top, down, _ = lined_up(table, at + HEIGHTS_AT, row, np.int64(0))
    return top, top + down, column, column + np.int64(1)


@kernel(inline=True)
def half_at(
    heights: Float32s,
    grid: Grid,
    lines: _Lines,
    row: np.int64,
    code: np.int64,
) -> tuple[Vec3, Vec3, Vec3]:
    """Return the corners of a listed half, as `broad_phase.half_triangle` does."""
    one, none = np.int64(1), np.int64(0)
    column, is_second, is_flipped = (
        code >> np.int64(2),
        code & one != none,
        code & np.int64(2) != none,
    )
    top, bottom, left, right = lines
    west, east = grid.x0 + column * grid.cell_x, grid.x0 + (column + one) * grid.cell_x
    north, south = grid.z0 + row * grid.cell_z, grid.z0 + (row + one) * grid.cell_z
    # Corner a is at the south, c at the north, b at the east.
    a_is_east, c_is_east = is_flipped & is_second, (not is_flipped) & (not is_second)
    place_a = np.uint64(bottom + (right if a_is_east else left))
    place_b = np.uint64((top if is_second else bottom) + right)
    place_c = np.uint64(top + (right if c_is_east else left))
    return (
        (
            east if a_is_east else west,
            grid.y0 + grid.height_scale * np.float64(heights[place_a]),
            south,
        ),
        (
            east,
            grid.y0 + grid.height_scale * np.float64(heights[place_b]),
            north if is_second else south,
        ),
        (
            east if c_is_east else west,
            grid.y0 + grid.height_scale * np.float64(heights[place_c]),
            north,
        ),
    )


@kernel(inline=True)
def vector_at(numbers: Floats, k: int) -> Vec3:
    """Return a vector of columns (.., ROOM)."""
    return (numbers[k], numbers[ROOM + k], numbers[2 * ROOM + k])


@kernel(inline=True)
def corners_at(corners: Floats, k: int) -> tuple[Vec3, Vec3, Vec3]:
    """Return a triangle of columns (9, ROOM)."""
    return (
        vector_at(corners, k),
        vector_at(corners, 3 * ROOM + k),
        vector_at(corners, 6 * ROOM + k),
    )


@kernel(inline=True)
def box_at(boxes: Floats, k: int) -> tuple[Vec3, Vec3, Mat3]:
    """Return (center, half extents, rotation) of a box of columns (15, ROOM)."""
    first, second, third = corners_at(boxes, 6 * ROOM + k)
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
    return vector_at(boxes, k), vector_at(boxes, 3 * ROOM + k), rotation
