"""Grid traversal: the cells of a height map that a ray or a moving shape passes, in order.

The *path* is the straight line of the ray or of the shape's center. All is computed in the map's
own units (columns, rows and stored heights) and in meters along it. The path is cut into *slabs*
across the axis along which it crosses more cells: from one line between columns (or rows) of cells
to the next, or to the next line of blocks of 8, 64, ... cells. A slab is skipped if the shape,
while in it, is above or below all blocks it passes over. Else it is cut into 8, down to a *stretch*
of columns that are visited cell by cell: those in which the path is between the least and the
greatest height of the blocks. Nothing is summed along the path: each slab is clipped from the line
itself and widened by more than rounding, so no cell is skipped if the exact tests would hit one of
its triangles. Only those tests decide.

If the ground extends outside the map, the cells of the border reach as far as this path goes: the
ground there is flat or a prism, and so one cell. A path has up to three *parts*, before, on and
behind the map along its axis; the outer parts are traversed along the other axis. So the work is
bounded by the number of cells along one side of the map, however long the path is.
"""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.heightmap.blocks import BLOCK_BITS, blocks_across, level_start
from terrain_physics._kernels.heightmap.clipping import (
    BEYOND_CELLS,
    Terrain,
    clamp,
    clip,
    ends_of_path,
    inverse_of,
)
from terrain_physics._kernels.heightmap.grid import Grid, stored_corners
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.tolerances import CULLING_SLACK, LEAST_CULLING_SLACK

# A traversal starts with slabs of a level at which it has at most this many. One that crosses few
# cells does not read the blocks.
MANY_SLABS = 40
FEW_CELLS = 4

BEFORE, ON, BEHIND = range(3)


class MapLine(NamedTuple):
    """A straight line over a map: places, rates for each meter, and what widens it on each side."""

    u: float  # in columns
    v: float  # in rows
    level: float  # in stored heights
    rate_u: float
    rate_v: float
    rate_level: float
    inverse_u: float  # meters for each column, row and stored height
    inverse_v: float
    inverse_level: float
    wide_u: float
    wide_v: float
    wide_level: float
    start: float  # meters along it between which there may be ground
    end: float


class Strip(NamedTuple):
    """A part of a path and its axis of traversal: ``place`` along it, ``cross`` across."""

    along_u: bool
    place: float
    rate: float
    inverse: float
    wide: float
    cells: int  # along the map
    first: int  # lines between which the path is, in its order
    last: int
    step: int  # 1 or -1: the direction in which the lines are passed
    cross: float
    cross_rate: float
    cross_wide: float
    cross_least: float  # cells across that there are
    cross_most: float
    start: float  # meters along the path
    end: float


class Slab(NamedTuple):
    """The part of a path between two lines: cells across, and its least and greatest height."""

    start: float  # meters along the path
    end: float
    first: int
    last: int
    low: float
    high: float


class Stretch(NamedTuple):
    """Columns of cells that may hold a hit: from line to line, in the order of the path."""

    first: int
    last: int
    done: int  # the line where the traversal resumes
    level: int  # of the blocks to resume with; -1: without blocks


NOT_BEGUN = Stretch(0, 0, 0, -2)
"""Before the first one of a strip."""


class Blocks(NamedTuple):
    """The blocks of a level, along a strip and across it."""

    shift: int  # cells to blocks
    start: int
    step: int
    cross_step: int
    most: int
    cross_most: int


@kernel(inline=True, no_refcount=True)
def path_over(
    terrain: Terrain, origin: Vec3, direction: Vec3, half_extents: Vec3, length: float
) -> MapLine:
    """Return the path of a shape; a ray has half extents 0."""
    grid = terrain.grid
    size_x, size_z = (grid.columns + 1) * grid.cell_x, (grid.rows + 1) * grid.cell_z
    heights = abs(grid.y0) + abs(terrain.low) + abs(terrain.high)
    wide = (
        half_extents[0] + CULLING_SLACK * (abs(origin[0]) + abs(grid.x0) + size_x),
        half_extents[1] + CULLING_SLACK * (abs(origin[1]) + heights) + LEAST_CULLING_SLACK,
        half_extents[2] + CULLING_SLACK * (abs(origin[2]) + abs(grid.z0) + size_z),
    )
    inverse = (inverse_of(direction[0]), inverse_of(direction[1]), inverse_of(direction[2]))
    start, end = ends_of_path(terrain, origin, direction, inverse, wide, length)
    per_x, per_z, per_y = 1.0 / grid.cell_x, 1.0 / grid.cell_z, inverse_of(grid.height_scale)
    return MapLine(
        (origin[0] - grid.x0) * per_x,
        (origin[2] - grid.z0) * per_z,
        (origin[1] - grid.y0) * per_y,
        direction[0] * per_x,
        direction[2] * per_z,
        direction[1] * per_y,
        inverse[0] * grid.cell_x,
        inverse[2] * grid.cell_z,
        inverse[1] * grid.height_scale,
        wide[0] * per_x,
        wide[2] * per_z,
        wide[1] * abs(per_y),
        start,
        end,
    )


@kernel(inline=True, no_refcount=True)
def parts_of(terrain: Terrain, path: MapLine) -> tuple[int, int]:
    """Return the range of the parts that a path has, in its order; see `strip_of`."""
    if path.start > path.end:
        return ON, ON
    along_u = abs(path.rate_u) >= abs(path.rate_v)
    place, rate, wide, count = (
        (path.u, path.rate_u, path.wide_u, terrain.grid.columns)
        if along_u
        else (path.v, path.rate_v, path.wide_v, terrain.grid.rows)
    )
    near, far = place + path.start * rate, place + path.end * rate
    if not terrain.grid.extend or (min(near, far) > wide and max(near, far) + wide < count):
        return ON, ON + 1
    return BEFORE, BEHIND + 1


@kernel(inline=True, no_refcount=True)
def strip_of(terrain: Terrain, path: MapLine, turn: int, limit: float) -> Strip:
    """Return a part of a path, up to a limit; ``turn`` counts the parts in the path's order."""
    on_u = abs(path.rate_u) >= abs(path.rate_v)
    place, rate, inverse, wide, count = (
        (path.u, path.rate_u, path.inverse_u, path.wide_u, terrain.grid.columns)
        if on_u
        else (path.v, path.rate_v, path.inverse_v, path.wide_v, terrain.grid.rows)
    )
    cross, cross_rate, cross_inverse, cross_wide, cross_count = (
        (path.v, path.rate_v, path.inverse_v, path.wide_v, terrain.grid.rows)
        if on_u
        else (path.u, path.rate_u, path.inverse_u, path.wide_u, terrain.grid.columns)
    )
    part = turn if rate >= 0.0 else BEHIND - turn
    low = -BEYOND_CELLS if part == BEFORE else (0.0 if part == ON else float(count))
    high = 0.0 if part == BEFORE else (float(count) if part == ON else BEYOND_CELLS)
    start, end = clip(place, inverse, low - wide, high + wide, path.start, min(path.end, limit))
    outside = 1 if terrain.grid.extend else 0
    least, most = 0, count - 1
    cross_least, cross_most = -outside, cross_count - 1 + outside
    if part != ON:
        # Along the other axis: outside, the border cells are as long as the path.
        cross_least = cross_most = -1 if part == BEFORE else count
        place, rate, inverse, wide, count, cross, cross_rate, cross_wide = (
            cross, cross_rate, cross_inverse, cross_wide, cross_count, place, rate, wide,
        )  # fmt: skip
        least, most = -1, count
    near, far = place + start * rate, place + end * rate
    low_line = clamp(min(near, far) - wide, float(least), float(most))
    high_line = clamp(max(near, far) + wide, float(least), float(most)) + 1
    if start > end:
        high_line = low_line
    forward = rate >= 0.0
    return Strip(
        on_u == (part == ON), place, rate, inverse, wide, count,
        low_line if forward else high_line, high_line if forward else low_line,
        1 if forward else -1,
        cross, cross_rate, cross_wide, float(cross_least), float(cross_most), start, end,
    )  # fmt: skip


@kernel(inline=True)
def crossing(strip: Strip, line: int) -> float:
    """Return where a path crosses a line, in meters; outside the map cells extend for ever."""
    place = float(line)
    if line < 0:
        place = -BEYOND_CELLS
    elif line > strip.cells:
        place = BEYOND_CELLS
    return (place - strip.place) * strip.inverse


@kernel(inline=True)
def slab_of(path: MapLine, strip: Strip, near: float, far: float, limit: float) -> Slab:
    """Return the slab between two crossings."""
    slack = strip.wide * abs(strip.inverse)
    start, end = max(near - slack, strip.start), min(far + slack, strip.end, limit)
    one, other = strip.cross + start * strip.cross_rate, strip.cross + end * strip.cross_rate
    first = clamp(min(one, other) - strip.cross_wide, strip.cross_least, strip.cross_most)
    last = clamp(max(one, other) + strip.cross_wide, strip.cross_least, strip.cross_most)
    one, other = path.level + start * path.rate_level, path.level + end * path.rate_level
    low, high = min(one, other) - path.wide_level, max(one, other) + path.wide_level
    return Slab(start, end, first, last, low, high)


@kernel(inline=True, no_refcount=True)
def misses_column(grid: Grid, strip: Strip, slab: Slab, index: int) -> bool:
    """Tell whether a path is above or below all cells of a column that it passes.

    Most paths pass one or two: both are read at once, so that no branch depends on which.
    """
    if grid.tiles != 0:
        return slab.last < slab.first + 2 and (
            _misses_in_tiles(grid, strip, slab, index, slab.first)
            and _misses_in_tiles(grid, strip, slab, index, slab.last)
        )
    row_step, column_step = grid.columns + 1, 1
    step, cross_step = (column_step, row_step) if strip.along_u else (row_step, column_step)
    cross_count = grid.rows if strip.along_u else grid.columns
    here = min(max(index, 0), strip.cells) * step
    there = min(max(index + 1, 0), strip.cells) * step
    low, high = math.inf, -math.inf
    for k in range(3):
        across = slab.first + k if k < 2 else slab.last + 1
        place = min(max(across, 0), cross_count) * cross_step
        one, other = np.float64(grid.heights[here + place]), np.float64(grid.heights[there + place])
        low, high = min(low, one, other), max(high, one, other)
    return slab.last < slab.first + 2 and (low > slab.high or high < slab.low)


@kernel(inline=True, no_refcount=True)
def _misses_in_tiles(grid: Grid, strip: Strip, slab: Slab, index: int, across: int) -> bool:
    """Tell whether a path is above or below one of the cells of a column."""
    row, column = (across, index) if strip.along_u else (index, across)
    a, b, c, d = stored_corners(grid, row, column)
    return bool(min(a, b, c, d) > slab.high or max(a, b, c, d) < slab.low)


@kernel(inline=True)
def misses_cell(slab: Slab, corners: tuple[float, float, float, float]) -> bool:
    """Tell whether a path is above or below a cell of a slab, or one of its corners is a hole."""
    a, b, c, d = corners
    if min(a, b, c, d) > slab.high or max(a, b, c, d) < slab.low:
        return True
    return math.isnan(a + b + c + d)


@kernel(no_refcount=True)
def _blocks_of(terrain: Terrain, strip: Strip, level: int) -> Blocks:
    """Return the blocks of a level."""
    across, down = (
        blocks_across(terrain.grid.columns, level),
        blocks_across(terrain.grid.rows, level),
    )
    start = level_start(terrain.grid.rows, terrain.grid.columns, level)
    shift = BLOCK_BITS * (level + 1)
    if strip.along_u:
        return Blocks(shift, start, 1, across, across - 1, down - 1)
    return Blocks(shift, start, across, 1, down - 1, across - 1)


@kernel(inline=True, no_refcount=True)
def _span(terrain: Terrain, blocks: Blocks, slab: Slab, cell: int) -> tuple[float, float]:
    """Return the least and greatest stored height of the blocks of a slab that has this cell."""
    place = blocks.start + min(max(cell, 0) >> blocks.shift, blocks.most) * blocks.step
    first = min(max(slab.first, 0) >> blocks.shift, blocks.cross_most)
    last = min(max(slab.last, 0) >> blocks.shift, blocks.cross_most)
    # Mostly there are one or two: both are read at once, so that no branch depends on it.
    one, other = 2 * (place + first * blocks.cross_step), 2 * (place + last * blocks.cross_step)
    low = min(np.float64(terrain.blocks[one]), np.float64(terrain.blocks[other]))
    high = max(np.float64(terrain.blocks[one + 1]), np.float64(terrain.blocks[other + 1]))
    for between in range(first + 1, last):
        one = 2 * (place + between * blocks.cross_step)
        low = min(low, np.float64(terrain.blocks[one]))
        high = max(high, np.float64(terrain.blocks[one + 1]))
    return low, high


@kernel(inline=True)
def _between_heights(
    path: MapLine,
    strip: Strip,
    slab: Slab,
    low: float,
    high: float,
    near: int,
    far: int,
    level: int,
) -> Stretch:
    """Return the columns between two lines in which a path is between two stored heights."""
    start, end = clip(
        path.level, path.inverse_level, low - path.wide_level, high + path.wide_level,
        slab.start, slab.end,
    )  # fmt: skip
    one, other = strip.place + start * strip.rate, strip.place + end * strip.rate
    least, most = float(min(near, far)), float(max(near, far) - 1)
    low_line = clamp(min(one, other) - strip.wide, least, most)
    high_line = clamp(max(one, other) + strip.wide, least, most) + 1
    if strip.step > 0:
        return Stretch(low_line, high_line, far, level)
    return Stretch(high_line, low_line, far, level)


@kernel(inline=True, no_refcount=True)
def first_stretch(terrain: Terrain, strip: Strip) -> Stretch:
    """Return what `next_stretch` begins with."""
    size, level = abs(strip.last - strip.first), 0
    while level < terrain.levels - 1 and size >> (BLOCK_BITS * (level + 1)) > MANY_SLABS:
        level += 1
    return Stretch(strip.first, strip.first, strip.first, level if size > FEW_CELLS else -1)


@kernel(inline=True, no_refcount=True)
def next_stretch(
    terrain: Terrain, path: MapLine, strip: Strip, before: Stretch, top: int, limit: float
) -> Stretch:
    """Return the next columns of cells that may hold a hit before a limit; none at the end.

    ``top`` is the level to climb to: that of the first stretch.
    """
    line, level = before.done, before.level
    if level < 0:
        return Stretch(line, strip.last, strip.last, level)
    forward = strip.step > 0
    blocks = _blocks_of(terrain, strip, level)
    near = crossing(strip, line)
    while line != strip.last:
        cell = line if forward else line - 1
        stop = ((cell >> blocks.shift) + (1 if forward else 0)) << blocks.shift
        stop = min(stop, strip.last) if forward else max(stop, strip.last)
        far = crossing(strip, stop)
        slab = slab_of(path, strip, near, far, limit)
        if slab.start > limit:
            break
        low, high = _span(terrain, blocks, slab, cell)
        if not (low > slab.high or high < slab.low):
            if level == 0:
                return _between_heights(path, strip, slab, low, high, line, stop, level)
            level -= 1
            blocks = _blocks_of(terrain, strip, level)
            continue
        line, near = stop, far
        while level < top and line & ((1 << (blocks.shift + BLOCK_BITS)) - 1) == 0:
            level += 1
            blocks = _blocks_of(terrain, strip, level)
    return Stretch(line, line, line, level)
