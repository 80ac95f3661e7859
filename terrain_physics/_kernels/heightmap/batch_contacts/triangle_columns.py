"""Listed halves of cells, and boxes, read so that loops over many of them are vectorized.

Places are unsigned, and no load depends on a choice: that is what a compiler needs to gather.
"""

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels._intrinsics import array_at
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.heightmap.grid import HEIGHTS_AT, Grid, lined_up, tile_in
from terrain_physics._kernels.math.vec3 import Mat3, Vec3
from terrain_physics._kernels.types import Float32s, Floats, Int32s

_Number = TypeVar("_Number", np.float32, np.float64)
_Vectors = tuple[
    tuple[_Number, _Number, _Number],
    tuple[_Number, _Number, _Number],
    tuple[_Number, _Number, _Number],
]

_Lines = tuple[np.int64, np.int64, np.int64, np.int64]

# Touches per step.
STEP = 240

# Length of a column: eight numbers may be written at the last place. It is no power of two, since
# columns would compete for the same cache lines.
ROOM = STEP + 8


class PushOuts(NamedTuple):
    """What is found of n touches."""

    moves: Floats  # (3 * n,): penetrations
    directions: Floats  # (3 * n,): their unit directions
    verdicts: Int32s  # (n,)


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
    column, is_second = code >> np.int64(2), code & one != none
    is_flipped = code & np.int64(2) != none
    top, bottom, left, right = lines
    west, east = grid.x0 + column * grid.cell_x, grid.x0 + (column + one) * grid.cell_x
    north, south = grid.z0 + row * grid.cell_z, grid.z0 + (row + one) * grid.cell_z
    # Corner a is at the south, c at the north, b at the east.
    a_is_east, c_is_east = is_flipped & is_second, (not is_flipped) & (not is_second)
    place_a = np.uint64(bottom + (right if a_is_east else left))
    place_b = np.uint64((top if is_second else bottom) + right)
    place_c = np.uint64(top + (right if c_is_east else left))
    level_a = grid.y0 + grid.height_scale * np.float64(heights[place_a])
    level_b = grid.y0 + grid.height_scale * np.float64(heights[place_b])
    level_c = grid.y0 + grid.height_scale * np.float64(heights[place_c])
    return (
        (east if a_is_east else west, level_a, south),
        (east, level_b, north if is_second else south),
        (east if c_is_east else west, level_c, north),
    )


@kernel(inline=True)
def vector_at(numbers: NDArray[_Number], k: int) -> tuple[_Number, _Number, _Number]:
    """Return a vector of columns (.., ROOM)."""
    return (numbers[k], numbers[ROOM + k], numbers[2 * ROOM + k])


@kernel(inline=True)
def corners_at(corners: NDArray[_Number], k: int) -> _Vectors[_Number]:
    """Return a triangle, or any three vectors, of columns (9, ROOM)."""
    a, b = vector_at(corners, k), vector_at(corners, 3 * ROOM + k)
    return a, b, vector_at(corners, 6 * ROOM + k)


@kernel(inline=True)
def put_column(columns: Floats | Float32s, k: int, v: Vec3) -> None:
    """Write a vector to columns, rounded to their type."""
    columns[k], columns[ROOM + k], columns[2 * ROOM + k] = v[0], v[1], v[2]


@kernel(inline=True)
def put_columns(columns: Floats | Float32s, k: int, a: Vec3, b: Vec3, c: Vec3) -> None:
    """Write a triangle, or any three vectors, to columns (9, ROOM)."""
    put_column(columns, k, a)
    put_column(columns, 3 * ROOM + k, b)
    put_column(columns, 6 * ROOM + k, c)


@kernel(inline=True)
def box_at(boxes: Floats, k: int) -> tuple[Vec3, Vec3, Mat3]:
    """Return (center, half extents, rotation) of a box of columns (15, ROOM)."""
    x, y, z = corners_at(boxes, 6 * ROOM + k)
    return vector_at(boxes, k), vector_at(boxes, 3 * ROOM + k), (*x, *y, *z)
