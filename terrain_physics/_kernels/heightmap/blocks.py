"""Least and greatest heights of blocks of cells, in levels, so that queries skip far.

A block of the lowest level is 8 x 8 cells, one of the next 8 x 8 blocks of the one below, up to a
single block. A block counts all samples at its cells' corners but holes, so that it bounds every
triangle there. Two float32 for 64 cells: 3.2 % of the memory of the heights, all levels together.
"""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.heightmap.grid import COLUMNS, ROWS, Grid
from terrain_physics._kernels.types import Float32s, Floats

BLOCK_BITS = 3
BLOCK = 1 << BLOCK_BITS

# Rows of samples that are looked at together; a block has three times as many.
_AT_ONCE = 3

_NONE_LOW, _NONE_HIGH = np.float32(np.inf), np.float32(-np.inf)


@kernel(inline=True)
def blocks_across(cells: int, level: int) -> int:
    """Return how many blocks of a level lie side by side over a number of cells."""
    size = BLOCK_BITS * (level + 1)
    return (cells + (1 << size) - 1) >> size


@kernel
def level_count(rows: int, columns: int) -> int:
    """Return the number of levels; the last has one block."""
    level = 0
    while blocks_across(rows, level) * blocks_across(columns, level) > 1:
        level += 1
    return level + 1


@kernel
def level_start(rows: int, columns: int, level: int) -> int:
    """Return how many blocks the levels below one have."""
    start = 0
    for below in range(level):
        start += blocks_across(rows, below) * blocks_across(columns, below)
    return start


@kernel(inline=True)
def block_span(grid: Grid, blocks: Float32s, place: int) -> tuple[float, float]:
    """Return the least and the greatest height of a block in meters; inf, -inf without ground.

    Heights are rounded the same way as those of samples, so that none lies outside.
    """
    low, high = np.float64(blocks[2 * place]), np.float64(blocks[2 * place + 1])
    if grid.height_scale < 0.0:
        low, high = high, low
    return grid.y0 + grid.height_scale * low, grid.y0 + grid.height_scale * high


@kernel
def put_blocks(
    heights: Float32s, frame: Floats, row_0: int, row_1: int, column_0: int, column_1: int,
    blocks: Float32s,
) -> None:  # fmt: skip
    """Write the blocks over cells [row_0, row_1) x [column_0, column_1), and all above them."""
    rows, columns = int(frame[ROWS]), int(frame[COLUMNS])
    row_0, row_1 = row_0 >> BLOCK_BITS, ((row_1 - 1) >> BLOCK_BITS) + 1
    column_0, column_1 = column_0 >> BLOCK_BITS, ((column_1 - 1) >> BLOCK_BITS) + 1
    put_lowest_blocks(heights, rows, columns, row_0, row_1, column_0, column_1, blocks)
    put_upper_blocks(rows, columns, row_0, row_1, column_0, column_1, blocks)


@kernel
def put_lowest_blocks(
    heights: Float32s, rows: int, columns: int,
    row_0: int, row_1: int, column_0: int, column_1: int, blocks: Float32s,
) -> bool:  # fmt: skip
    """Write the blocks of the lowest level at [row_0, row_1) x [column_0, column_1).

    ``rows`` and ``columns`` are those of cells. Tells whether any sample there is a hole.
    """
    left = column_0 * BLOCK
    width = min(column_1 * BLOCK, columns) + 1 - left
    lows, highs = np.empty(width, dtype=np.float32), np.empty(width, dtype=np.float32)
    has_holes = False
    for block_row in range(row_0, row_1):
        # Down the columns first: a loop of selects over neighboring samples is vectorized.
        lows[:] = _NONE_LOW
        highs[:] = _NONE_HIGH
        for row in range(block_row * BLOCK, block_row * BLOCK + BLOCK + 1, _AT_ONCE):
            first = left + min(row, rows) * (columns + 1)
            second = left + min(row + 1, rows) * (columns + 1)
            third = left + min(row + 2, rows) * (columns + 1)
            has_holes |= _fold(
                heights[first : first + width],
                heights[second : second + width],
                heights[third : third + width],
                lows,
                highs,
            )
        for block_column in range(column_0, column_1):
            low, high = _NONE_LOW, _NONE_HIGH
            begin = block_column * BLOCK - left
            for k in range(begin, min(begin + BLOCK + 1, width)):
                low = min(low, lows[k])
                high = max(high, highs[k])
            place = block_row * blocks_across(columns, 0) + block_column
            blocks[2 * place] = low
            blocks[2 * place + 1] = high
    return has_holes


@kernel
def _fold(
    first: Float32s, second: Float32s, third: Float32s, lows: Float32s, highs: Float32s
) -> bool:
    """Take three rows of samples into the least and the greatest; tell whether one is a hole."""
    has_holes = False
    for k in range(len(lows)):
        a, b, c = first[k], second[k], third[k]
        has_holes |= np.isnan(a) | np.isnan(b) | np.isnan(c)
        # Comparisons with NaN are false: holes do not count.
        low, high = lows[k], highs[k]
        low = a if a < low else low
        low = b if b < low else low
        low = c if c < low else low
        high = a if a > high else high
        high = b if b > high else high
        high = c if c > high else high
        lows[k], highs[k] = low, high
    return has_holes


@kernel
def put_upper_blocks(
    rows: int, columns: int, row_0: int, row_1: int, column_0: int, column_1: int, blocks: Float32s
) -> None:
    """Write all blocks above those of the lowest level at [row_0, row_1) x [column_0, column_1)."""
    for level in range(1, level_count(rows, columns)):
        row_0, row_1 = row_0 >> BLOCK_BITS, ((row_1 - 1) >> BLOCK_BITS) + 1
        column_0, column_1 = column_0 >> BLOCK_BITS, ((column_1 - 1) >> BLOCK_BITS) + 1
        put_level(rows, columns, level, row_0, row_1, column_0, column_1, blocks)


@kernel
def put_level(
    rows: int, columns: int, level: int, row_0: int, row_1: int, column_0: int, column_1: int,
    blocks: Float32s,
) -> None:  # fmt: skip
    """Write the blocks of a level above the lowest at [row_0, row_1) x [column_0, column_1)."""
    below, here = level_start(rows, columns, level - 1), level_start(rows, columns, level)
    below_rows, below_columns = blocks_across(rows, level - 1), blocks_across(columns, level - 1)
    here_columns = blocks_across(columns, level)
    for row in range(row_0, row_1):
        for column in range(column_0, column_1):
            low, high = _NONE_LOW, _NONE_HIGH
            for r in range(row * BLOCK, min(row * BLOCK + BLOCK, below_rows)):
                for c in range(column * BLOCK, min(column * BLOCK + BLOCK, below_columns)):
                    place = below + r * below_columns + c
                    low = min(low, blocks[2 * place])
                    high = max(high, blocks[2 * place + 1])
            place = here + row * here_columns + column
            blocks[2 * place] = low
            blocks[2 * place + 1] = high
