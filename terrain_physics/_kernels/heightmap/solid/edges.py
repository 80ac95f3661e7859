"""The edges of cells at which the ground of a height map ends: at holes, and at open borders."""

import math

import numpy as np

from terrain_physics._kernels._intrinsics import replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.heightmap.grid import (
    CELL_HOLE,
    CELLS_AT,
    HEIGHTS_AT,
    TILE_NUMBER,
    Grid,
    corner_heights,
    has_ground,
    in_map,
    lined_up,
    tile_in,
    tile_of,
    unpack_grid,
)
from terrain_physics._kernels.heightmap.missing import MISSING_TILE
from terrain_physics._kernels.heightmap.solid.sides import EAST, NORTH, UNDERSIDE, WEST
from terrain_physics._kernels.types import Bytes, Float32s, Floats, Int64s

# Columns of an edge: the cell's row and column, and its side.
EDGE_SIZE = 3

# Columns of a line: the heights of the surface, then of the underside, at both ends of the edge.
LINE_SIZE = 4

# Of a cell that may have ground. It has the bit of those that do.
UNKNOWN = 3


@kernel(inline=True, no_refcount=True)
def _ends(grid: Grid, row: int, column: int, side: int) -> tuple[float, float]:
    """Return the heights at both ends of a side of a cell, along +x or +z."""
    a, b, c, d = corner_heights(grid, row, column)
    if side == WEST:
        return d, a
    if side == EAST:
        return c, b
    return (d, c) if side == NORTH else (a, b)


@kernel
def _put_line(grid: Grid, row: int, column: int, side: int, depth: float, out: Floats) -> None:
    """Write a row of a line (LINE_SIZE,)."""
    out[0], out[1] = _ends(grid, row, column, side)
    out[2], out[3] = _ends(replaced(grid, y0=grid.y0 - depth), row, column, side)


@kernel
def _put_ground(grid: Grid, row: int, first: int, out: Bytes) -> None:
    """Write which cells of a row have ground, from one before the first column on.

    That is 1, or UNKNOWN for cells of tiles that are not in memory: there may be ground.
    """
    k = 0
    while k < len(out):
        column = first - 1 + k
        if grid.tiles != 0 and in_map(grid, row, column):
            k = _put_ground_in_tile(grid, row, column, out, k)
        else:
            out[k] = has_ground(grid, row, column)
            k += 1


@kernel
def _put_ground_in_tile(grid: Grid, row: int, column: int, out: Bytes, k: int) -> int:
    """Write the same of a column and those after it in the same tile; return where these end."""
    table, at = tile_of(grid, row, column)
    stop = k + 1
    while (
        stop < len(out)
        and column + stop - k < grid.columns
        and tile_in(table, grid.rows, row, column + stop - k) == at
    ):
        stop += 1
    there = np.uint8(UNKNOWN if table[at + TILE_NUMBER] == MISSING_TILE else 0)
    d, down, right = lined_up(table, at + HEIGHTS_AT, row, column)
    bits, _, right_bits = lined_up(table, at + CELLS_AT, row, column)
    heights, cells = grid.heights, grid.cells
    for i in range(stop - k):
        c, b = d + right, d + right + down
        corners = np.float64(heights[d]) + heights[c] + heights[d + down] + heights[b]
        is_hole = grid.has_table and cells[bits] & CELL_HOLE != 0
        out[k + i] = there if is_hole or math.isnan(corners) else np.uint8(1)
        d, bits = c, bits + right_bits
    return stop


@kernel
def list_edges(
    heights: Float32s, cells: Bytes, frame: Floats, region: Int64s, depth: float,
    edges: Int64s, lines: Floats,
) -> int:  # fmt: skip
    """Write the edges of the cells [row_0, row_1) x [column_0, column_1) where the ground ends.

    ``edges`` (k, EDGE_SIZE) and ``lines`` (k, LINE_SIZE) have room for the first k, by row, column
    and side. The underside is ``depth`` below. Returns how many there are. Cells outside of an
    endless map count, too.
    """
    grid, count, first = unpack_grid(heights, cells, frame), 0, int(region[2])
    width = int(region[3]) - first
    ground = np.empty((3, width + 2), np.uint8)  # of three rows, in turn
    for row in range(region[0] - 1, region[0] + 1):
        _put_ground(grid, row, first, ground[row % 3])
    for row in range(region[0], region[1]):
        _put_ground(grid, row + 1, first, ground[(row + 1) % 3])
        before, here, after = ground[(row - 1) % 3], ground[row % 3], ground[(row + 1) % 3]
        for k in range(1, width + 1):
            if here[k] != 1 or here[k - 1] & here[k + 1] & before[k] & after[k]:
                continue
            beside = (here[k - 1], here[k + 1], before[k], after[k])
            for side in range(UNDERSIDE):
                if beside[side] != 0:
                    continue
                if count < len(edges):
                    column = first + k - 1
                    edges[count, 0], edges[count, 1], edges[count, 2] = row, column, side
                    _put_line(grid, row, column, side, depth, lines[count])
                count += 1
    return count


@kernel
def put_lines(
    heights: Float32s, cells: Bytes, frame: Floats, edges: Int64s, depth: float, lines: Floats
) -> None:
    """Write the lines (n, LINE_SIZE) of edges (n, EDGE_SIZE) of cells; NaN where is no ground."""
    grid = unpack_grid(heights, cells, frame)
    for k in range(len(edges)):
        row, column, side = int(edges[k, 0]), int(edges[k, 1]), int(edges[k, 2])
        if has_ground(grid, row, column):
            _put_line(grid, row, column, side, depth, lines[k])
        else:
            for i in range(LINE_SIZE):
                lines[k, i] = np.nan
