"""Broad phase: the cells of a map that a shape may touch, in chunks for the stages of a query.

A shape's cells are a rectangle of rows and columns. The cells of many small shapes are written one
shape after the other; those of one large shape row by row, skipping the blocks that are wholly
above or below it.
"""

from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._intrinsics import copy_eight, prefer_wide_vectors, put_eight
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.heightmap.blocks import (
    BLOCK_BITS,
    block_span,
    blocks_across,
    level_count,
    level_start,
)
from terrain_physics._kernels.heightmap.grid import (
    CELL_FLIPPED,
    CELL_HOLE,
    DIAGONAL_ALTERNATING,
    DIAGONAL_BD,
    DIAGONAL_TABLE,
    FARTHEST_CELL,
    HEIGHTS_AT,
    Grid,
    cell_bits,
    lined_up,
    sample_places,
    tile_of,
    vertex,
)
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.types import Float32s, Int32s, Int64s

# Cells that one query may look at: half a second of work.
MOST_CELLS = 1e8

# Cells per chunk: with so many, the arrays of the stages fit the first-level cache.
PAIRS = 1008
# Shapes per chunk.
CHUNK = 256
# Cells are written eight at a time, needed or not.
WIDTH = 8

# Shapes over more cells than this are searched one by one, block by block.
MOST_SMALL = 900

# Parts of ranges, each for CHUNK shapes: row from, row to, column from, column to, kind.
RANGE = 5
NO_COLUMN = 2**62

# float32 holds the fourth powers of lengths and slopes up to this.
LARGEST = 1e8
SMALLEST = 1e-6
HUGE = 1e30
# Indices of cells farther out than this do not fit 32 bits.
FARTHEST_SMALL_CELL = 2.0**27

# Kinds of shapes. A shape that float32 cannot hold is LARGE too.
NOTHING, SMALL, LARGE, REFUSED = range(4)


# What `outline` returns: least height, greatest, slack, greatest extent.
Outline = tuple[float, float, float, float]


class Chunk(NamedTuple):
    """The cells of CHUNK shapes, and the shapes in float32."""

    ranges: Int64s  # (RANGE, CHUNK)
    corners: Int32s  # (2, CHUNK): the first row and column again, if they fit
    parts: Float32s  # (.., CHUNK): what the filter of their kind reads


class Touches(NamedTuple):
    """A list of touches of shapes and halves of cells."""

    shape: Int64s  # numbers of the shapes
    row: Int64s  # of the cells
    code: Int64s  # of the halves, see `put_codes`


@kernel(inline=True)
def _greater(a: float, b: float) -> float:
    return a if a > b else b


@kernel(inline=True)
def _less(a: float, b: float) -> float:
    return a if a < b else b


@kernel(inline=True)
def near_cells(
    low: float, high: float, start: float, size: float, count: int, extend: bool
) -> tuple[float, float]:
    """Return the range [first, last) of cells that may touch low..high on one axis, as floats.

    It is wider than exact by a millionth of a cell and by the rounding of the coordinates, so that
    no touch is lost to rounding.
    """
    inverse = 1.0 / size
    pad = 1e-6 + 8e-16 * (abs(low) + abs(high) + abs(start)) * inverse
    first = np.floor((low - start) * inverse - pad)
    last = np.floor((high - start) * inverse + pad) + 1.0
    least, most = -FARTHEST_CELL if extend else 0.0, FARTHEST_CELL if extend else float(count)
    return _less(_greater(first, least), most), _less(_greater(last, least), most)


@kernel
def outline(grid: Grid, blocks: Float32s) -> Outline:
    """Return bounds for all queries of a map.

    All in meters. The slack is more than rounding moves a touch up or down. float32 holds shapes up
    to the greatest extent; -1 if this map does not fit float32.
    """
    top = level_count(grid.rows, grid.columns) - 1
    place = level_start(grid.rows, grid.columns, top)
    low, high = block_span(grid, blocks, place)
    if low > high:
        return low, high, 0.0, -1.0
    slack = 1e-9 * (grid.cell_x + grid.cell_z) + 1e-12 * (high - low)
    size = abs(grid.height_scale)
    widest, least = max(grid.cell_x, grid.cell_z), min(grid.cell_x, grid.cell_z)
    fits = (
        widest <= LARGEST
        and least >= SMALLEST
        and high - low <= LARGEST * min(least, 1.0)
        and max(abs(low - grid.y0), abs(high - grid.y0)) <= size * HUGE
        and 1.0 / HUGE <= size <= HUGE
        and (grid.rows + 1) * (grid.columns + 1) < 2**31
    )
    return low, high, slack, min(LARGEST, size * HUGE) if fits else -1.0


@kernel(inline=True)
def height_limits(lower: Vec3, upper: Vec3, slack: float) -> tuple[float, float]:
    """Return the least and greatest height of ground that a shape within lower..upper may touch."""
    pad = slack + 1e-9 * (upper[1] - lower[1]) + 4e-16 * (abs(lower[1]) + abs(upper[1]))
    return lower[1] - pad, upper[1] + pad


@kernel(inline=True)
def put_range(grid: Grid, edges: Outline, lower: Vec3, upper: Vec3, k: int, chunk: Chunk) -> None:
    """Write the range of shape k, which is within lower..upper, and where it begins."""
    ranges, corners, _ = chunk
    row_0, row_1 = near_cells(lower[2], upper[2], grid.z0, grid.cell_z, grid.rows, grid.extend)
    column_0, column_1 = near_cells(
        lower[0], upper[0], grid.x0, grid.cell_x, grid.columns, grid.extend
    )
    count = _greater(row_1 - row_0, 0.0) * _greater(column_1 - column_0, 0.0)
    farthest = _greater(_greater(-row_0, row_1), _greater(-column_0, column_1))
    extent = (upper[0] - lower[0]) + (upper[1] - lower[1]) + (upper[2] - lower[2])
    is_small = (count <= MOST_SMALL) & (farthest <= FARTHEST_SMALL_CELL) & (extent <= edges[3])
    low, high = height_limits(lower, upper, edges[2])
    is_near = (count > 0.0) & (low <= edges[1]) & (high >= edges[0])
    kind = SMALL if is_small else (REFUSED if count > MOST_CELLS else LARGE)
    ranges[k] = np.int64(row_0)
    ranges[CHUNK + k] = np.int64(row_1)
    ranges[2 * CHUNK + k] = np.int64(column_0)
    ranges[3 * CHUNK + k] = np.int64(column_1)
    ranges[4 * CHUNK + k] = np.int64(kind if is_near else NOTHING)
    corners[k] = np.int32(row_0 if is_small else 0.0)
    corners[CHUNK + k] = np.int32(column_0 if is_small else 0.0)


@kernel(inline=True)
def _lines(grid: Grid, row_0: int, row_1: int, column_0: int, column_1: int) -> tuple[int, int]:
    """Return where the sample at row 0 and column 0 would be, and the step to the next row.

    This is for a range of cells, read WIDTH by WIDTH to a row. The step is 0 unless the lines of
    one map hold all their samples.
    """
    end = column_0 + (column_1 - column_0 + WIDTH - 1) // WIDTH * WIDTH
    if row_0 < 0 or row_1 > grid.rows or column_0 < 0 or end > grid.columns:
        return 0, 0
    if grid.tiles == 0:
        return 0, grid.columns + 1
    table, at = tile_of(grid, row_0, column_0)
    if at != tile_of(grid, row_1 - 1, end - 1)[1]:
        return 0, 0
    first, down, _ = lined_up(table, at + HEIGHTS_AT, 0, 0)
    return first, down


@kernel(noinline=True, noalias=True)
def put_pairs(
    heights: Float32s,
    grid: Grid,
    chunk: Chunk,
    first: int,
    count: int,
    places: Int32s,
    samples: Float32s,
    numbers: Float32s,
) -> tuple[np.int64, int]:
    """Write the cells of shapes first, first + 1, ...; return (how many, the next shape).

    This stops at a shape that is not small, and when the arrays are full. ``places`` (3, PAIRS)
    receives the shape's number in the chunk, row and column; ``samples`` (4, PAIRS) those at a, b,
    c and d.
    The first parts of the shapes are x and z of the center; ``numbers`` (.., PAIRS) receives the
    parts, relative to each cell.
    """
    ranges, _, parts = chunk
    size_x, size_z = np.float32(grid.cell_x), np.float32(grid.cell_z)
    zero, none = np.int32(0), np.float32(0.0)
    step, two, three = np.uint64(PAIRS), np.uint64(2), np.uint64(3)
    n, k = np.uint64(0), first
    while k < count:
        kind = ranges[4 * CHUNK + k]
        if kind == NOTHING:
            k += 1
            continue
        row_0, row_1 = ranges[k], ranges[CHUNK + k]
        column_0, column_1 = ranges[2 * CHUNK + k], ranges[3 * CHUNK + k]
        if kind != SMALL or np.int64(n) + (row_1 - row_0) * (column_1 - column_0) > PAIRS - WIDTH:
            break
        first_place, across = _lines(grid, row_0, row_1, column_0, column_1)
        for row in range(row_0, row_1):
            z = parts[CHUNK + k] - np.float32(row - row_0) * size_z
            for column in range(column_0, column_1, WIDTH):
                x = parts[k] - np.float32(column - column_0) * size_x
                put_eight(places, n, np.int32(k), zero)
                put_eight(places, n + step, np.int32(row), zero)
                put_eight(places, n + two * step, np.int32(column), np.int32(1))
                put_eight(numbers, n, x, -size_x)
                put_eight(numbers, n + step, z, none)
                for part in range(2, parts.shape[0] // CHUNK):
                    put_eight(numbers, n + np.uint64(part * PAIRS), parts[part * CHUNK + k], none)
                if across != 0:
                    top = first_place + row * across + column
                    bottom = top + across
                    copy_eight(samples, n, heights, np.uint64(bottom))
                    copy_eight(samples, n + step, heights, np.uint64(bottom + 1))
                    copy_eight(samples, n + two * step, heights, np.uint64(top + 1))
                    copy_eight(samples, n + three * step, heights, np.uint64(top))
                else:
                    for j in range(WIDTH):
                        at = n + np.uint64(j)
                        a, b, c, d = sample_places(grid, row, column + j)
                        samples[at] = heights[a]
                        samples[at + step] = heights[b]
                        samples[at + two * step] = heights[c]
                        samples[at + three * step] = heights[d]
                n += np.uint64(min(WIDTH, column_1 - column))
        k += 1
    return np.int64(n), k


@kernel
def _next_column(
    grid: Grid, blocks: Float32s, row: int, column: int, low: float, high: float
) -> int:
    """Return the first column from ``column`` on in a block that may hold heights in low..high.

    Outside the map the blocks of the border count.
    """
    row = min(max(row, 0), grid.rows - 1)
    at = min(max(column, 0), grid.columns - 1)
    found, start, level = column, 0, 0
    while True:
        bits = BLOCK_BITS * (level + 1)
        across = blocks_across(grid.columns, level)
        block = at >> bits
        least, greatest = block_span(grid, blocks, start + (row >> bits) * across + block)
        if least <= high and greatest >= low:
            return found
        down = blocks_across(grid.rows, level)
        # The last block has no end.
        found = (block + 1) << bits if block + 1 < across else NO_COLUMN
        if across * down == 1:
            return found
        start += across * down
        level += 1


@kernel
def put_cells(
    grid: Grid,
    blocks: Float32s,
    ranges: Int64s,
    k: int,
    low: float,
    high: float,
    place: Int64s,
    rows: Int64s,
    columns: Int64s,
) -> int:
    """Write cells of shape k with heights in low..high, by row and column; return how many.

    This resumes at ``place`` (row, column) and writes there where to resume: at the row after the
    last once all are written.
    """
    row, column = place[0], place[1]
    row_1, column_0, column_1 = (
        ranges[CHUNK + k], ranges[2 * CHUNK + k], ranges[3 * CHUNK + k]
    )  # fmt: skip
    n = 0
    while row < row_1 and n + WIDTH <= rows.shape[0]:
        found = _next_column(grid, blocks, row, column, low, high)
        if found == column:
            found = min((column | (WIDTH - 1)) + 1, column_1)
            for c in range(column, found):
                rows[n] = row
                columns[n] = c
                n += 1
        column = found
        if column >= column_1:
            row, column = row + 1, column_0
    place[0], place[1] = row, column
    return n


@kernel(noalias=True)
def put_codes(grid: Grid, places: Int32s, samples: Float32s, codes: Int32s) -> None:
    """Write codes of n pairs' cells; a cell marked as a hole loses its samples.

    A code is 4 * column + 2 * (whether the cell is split from b to d) + half.
    """
    four = np.int32(4)
    always = np.int32(2 if grid.diagonal == DIAGONAL_BD else 0)
    mixed = np.int32(1 if grid.diagonal == DIAGONAL_ALTERNATING else 0)
    for k in range(codes.shape[0]):
        row, column = places[PAIRS + k], places[2 * PAIRS + k]
        odd = np.int32((row ^ column) & mixed)
        codes[k] = np.int32(four * column + always + odd + odd)
    if not grid.has_table:
        return
    for k in range(codes.shape[0]):
        bits = cell_bits(grid, int(places[PAIRS + k]), int(places[2 * PAIRS + k]))
        if grid.diagonal == DIAGONAL_TABLE and bits & CELL_FLIPPED:
            codes[k] = np.int32(codes[k] | 2)
        if bits & CELL_HOLE:
            samples[k] = np.nan


@kernel(inline=True)
def corner_places(flipped: int, half: int) -> tuple[int, int, int, int, int, int]:
    """Return what `grid.half_corners` does, without branches; ``flipped`` is 0 or 1."""
    return (1, flipped & half, 1 - half, 1, 0, (1 - flipped) & (1 - half))


@kernel(inline=True)
def half_triangle(
    grid: Grid, row: int, column: int, flipped: int, half: int
) -> tuple[Vec3, Vec3, Vec3]:
    """Return the corners of half a cell."""
    corners = corner_places(flipped, half)
    return (
        vertex(grid, row + corners[0], column + corners[1]),
        vertex(grid, row + corners[2], column + corners[3]),
        vertex(grid, row + corners[4], column + corners[5]),
    )


@kernel(inline=True)
def part_of(touches: Touches, first: int, last: int) -> Touches:
    """Return the touches first .. last of a list."""
    shape, row, code = touches
    return Touches(shape[first:last], row[first:last], code[first:last])


@kernel
def with_room(values: Int64s, count: int, room: int) -> Int64s:
    """Return an array with the first values and room for as many more, at least doubled."""
    if count + room <= values.shape[0]:
        return values
    wider = np.empty(max(2 * values.shape[0], count + room), dtype=np.int64)
    for k in range(count):  # numba compiles for seconds to assign a slice
        wider[k] = values[k]
    return wider


@kernel
def pack(verdicts: Int32s, hits: Int32s) -> np.int64:
    """Write 2 * pair + half for each half touched; return how many.

    ``hits`` has room for one more than all.
    """
    # No branch, since no processor could predict it: each half is written, and the next one is
    # written over it unless it is touched.
    n = np.uint64(0)
    for k in range(verdicts.shape[0]):
        verdict = verdicts[np.uint64(k)]
        hits[n] = 2 * k
        n += np.uint64(verdict & 1)
        hits[n] = 2 * k + 1
        n += np.uint64((verdict >> 1) & 1)
    return np.int64(n)


@kernel(noalias=True)
def put_touches(hits: Int32s, first: int, places: Int32s, codes: Int32s, touches: Touches) -> None:
    """Write n touches to a list."""
    prefer_wide_vectors()
    for k in range(hits.shape[0]):
        hit = np.uint32(hits[k])
        at = np.uint32(hit >> np.uint32(1))
        touches.shape[k] = first + np.int64(places[at])
        touches.row[k] = np.int64(places[np.uint32(at + np.uint32(PAIRS))])
        touches.code[k] = np.int64(codes[at]) + np.int64(hit & np.uint32(1))
