"""The point of a height map's surface nearest to a point.

This is branch and bound. The cell below the point gives a first answer. Blocks, the nearest first,
then narrow down the cells that may be nearer. Blocks only leave out cells; the kernel of one
triangle decides, so the answer is the same as that of a loop over all triangles.
"""

import math

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.heightmap.blocks import (
    BLOCK,
    BLOCK_BITS,
    block_span,
    blocks_across,
    level_start,
)
from terrain_physics._kernels.heightmap.clipping import Terrain
from terrain_physics._kernels.heightmap.closest.cell import (
    NOWHERE,
    ON_MAP,
    CellAxis,
    Nearest,
    ask_cell,
    axis_x,
    axis_z,
    bound,
    cell_at,
    gap,
    line,
)
from terrain_physics._kernels.heightmap.closest.outside import is_out, search_outside
from terrain_physics._kernels.heightmap.grid import Grid
from terrain_physics._kernels.math.sorting import push_sorted
from terrain_physics._kernels.math.vec3 import Vec3, add
from terrain_physics._kernels.tolerances import CULLING_SLACK
from terrain_physics._kernels.types import Floats, Int64s

# A search begins with no more nodes than this. It is also how many blocks a block has.
MANY_NODES = BLOCK * BLOCK

# Bits of a node in the stack that hold its level.
LEVEL_BITS = 5


@kernel(no_refcount=True)
def _ask_cells(
    grid: Grid, point: Vec3, row_0: int, row_1: int, column_0: int, column_1: int, nearest: Nearest
) -> Nearest:
    """Return the nearest point so far, after cells [row_0, row_1) x [column_0, column_1)."""
    for row in range(row_0, row_1):
        for column in range(column_0, column_1):
            nearest = ask_cell(grid, point, row, column, nearest)
    return nearest


@kernel(no_refcount=True)
def _push_blocks(
    terrain: Terrain, point: Vec3, level: int, row_0: int, row_1: int, column_0: int, column_1: int,
    best: float, stack: Int64s, bounds: Floats, height: int,
) -> int:  # fmt: skip
    """Push the blocks that may be as near as ``best``, the nearest last; return the new height."""
    grid, base = terrain.grid, height
    across, shift = blocks_across(grid.columns, level), BLOCK_BITS * (level + 1)
    start = level_start(grid.rows, grid.columns, level)
    along_x, along_z = axis_x(grid, point), axis_z(grid, point)
    for row in range(row_0, row_1):
        near = line(along_z, row << shift)
        far = line(along_z, min((row + 1) << shift, grid.rows))
        for column in range(column_0, column_1):
            place = row * across + column
            low, high = block_span(grid, terrain.blocks, start + place)
            if not low <= high:
                continue
            left = line(along_x, column << shift)
            right = line(along_x, min((column + 1) << shift, grid.columns))
            x, z = gap(left, right), gap(near, far)
            y = gap(low - point[1], high - point[1])
            least = bound(grid, x * x + y * y + z * z, high - low)
            if least > best:
                continue
            node = place << LEVEL_BITS | level
            height = push_sorted(stack, bounds, base, height, node, least)
    return height


@kernel(inline=True)
def _cells_within(axis: CellAxis, radius: float) -> tuple[int, int]:
    """Return the range [first, last) of a map's cells within a radius on one axis; never empty."""
    wide = radius + CULLING_SLACK * (abs(axis.place) + abs(axis.start) + axis.cells * axis.size)
    return cell_at(axis, axis.place - wide), cell_at(axis, axis.place + wide) + 1


@kernel(no_refcount=True)
def _search_map(
    terrain: Terrain, point: Vec3, nearest: Nearest, stack: Int64s, bounds: Floats
) -> Nearest:
    """Return the nearest point so far, after a search of all cells of the map that may hold it."""
    grid, best = terrain.grid, math.sqrt(nearest.square)
    row_0, row_1, column_0, column_1 = 0, grid.rows, 0, grid.columns
    if nearest.where != NOWHERE:
        # Twice the slack of a bound is added, for a triangle as high as the whole map.
        radius = best + 2.0 * (best - bound(grid, nearest.square, terrain.high - terrain.low))
        row_0, row_1 = _cells_within(axis_z(grid, point), radius)
        column_0, column_1 = _cells_within(axis_x(grid, point), radius)
    level = -1
    while (row_1 - row_0) * (column_1 - column_0) > MANY_NODES and level < terrain.levels - 1:
        level += 1
        row_0, row_1 = row_0 >> BLOCK_BITS, ((row_1 - 1) >> BLOCK_BITS) + 1
        column_0, column_1 = column_0 >> BLOCK_BITS, ((column_1 - 1) >> BLOCK_BITS) + 1
    if level < 0:
        return _ask_cells(grid, point, row_0, row_1, column_0, column_1, nearest)
    height = _push_blocks(
        terrain, point, level, row_0, row_1, column_0, column_1, best, stack, bounds, 0
    )
    while height > 0:
        height -= 1
        best = math.sqrt(nearest.square)
        if float(bounds[height]) > best:
            continue
        node = int(stack[height])
        place, level = node >> LEVEL_BITS, node & ((1 << LEVEL_BITS) - 1)
        across = blocks_across(grid.columns, level)
        row_0, column_0 = place // across * BLOCK, place % across * BLOCK
        row_1, column_1 = row_0 + BLOCK, column_0 + BLOCK
        if level == 0:
            row_1, column_1 = min(row_1, grid.rows), min(column_1, grid.columns)
            nearest = _ask_cells(grid, point, row_0, row_1, column_0, column_1, nearest)
            continue
        row_1 = min(row_1, blocks_across(grid.rows, level - 1))
        column_1 = min(column_1, blocks_across(grid.columns, level - 1))
        height = _push_blocks(
            terrain, point, level - 1, row_0, row_1, column_0, column_1, best, stack, bounds, height
        )
    return nearest


@kernel(noinline=True, no_refcount=True)
def closest(
    terrain: Terrain, point: Vec3, stack: Int64s, bounds: Floats
) -> tuple[int, float, Vec3, int]:
    """Return (triangle, distance, point of the ground, nearest cell); -1, inf, NaN, 0: no ground.

    The triangle is -1 outside the map. Of several equally near, it is the first by row, column and
    half, those of the map before the ground outside. ``stack`` and ``bounds`` (nodes,) are
    scratch, of MANY_NODES for each level of blocks.
    """
    grid = terrain.grid
    nearest = Nearest(math.inf, NOWHERE, 0, 0, 0, point)
    if terrain.low <= terrain.high:
        along_x, along_z = axis_x(grid, point), axis_z(grid, point)
        row, column = cell_at(along_z, point[2]), cell_at(along_x, point[0])
        nearest = ask_cell(grid, point, row, column, nearest)
        beside_x = is_out(along_x, False) or is_out(along_x, True)
        is_over = not (beside_x or is_out(along_z, False) or is_out(along_z, True))
        # The ground at the point comes first: its answer excludes most of the rest.
        for turn in range(2):
            if is_over == (turn == 0):
                nearest = _search_map(terrain, point, nearest, stack, bounds)
            elif grid.extend:
                nearest = search_outside(terrain, point, nearest)
    if nearest.where == NOWHERE:
        return -1, math.inf, (np.nan, np.nan, np.nan), 0
    row = min(max(nearest.row, 0), grid.rows - 1)
    column = min(max(nearest.column, 0), grid.columns - 1)
    cell = row * grid.columns + column
    found = add(add(point, nearest.offset), (0.0, 0.0, 0.0))  # never -0
    triangle = 2 * cell + nearest.half if nearest.where == ON_MAP else -1
    return triangle, math.sqrt(nearest.square), found, cell
