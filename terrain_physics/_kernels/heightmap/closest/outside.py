"""The nearest point of the endless ground outside of a height map.

Each border cell continues outward as an endless strip, and each corner as a quarter of a plane. All
are level in the direction away from the map, so the nearest point follows without any cells.
"""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.closest_point import closest_on_segment
from terrain_physics._kernels.heightmap.clipping import Terrain
from terrain_physics._kernels.heightmap.closest.cell import (
    OUTSIDE,
    CellAxis,
    Nearest,
    axis_x,
    axis_z,
    bound,
    cell_at,
    gap,
    line,
)
from terrain_physics._kernels.heightmap.grid import Grid, corner_heights, has_ground, sample
from terrain_physics._kernels.math.vec3 import Vec3, dot


@kernel(inline=True)
def _outward(axis: CellAxis, after: bool) -> float:
    """Return the offset of the ground before the first line of samples, or after the last one.

    It is 0 for a point over that ground.
    """
    return max(line(axis, axis.cells), 0.0) if after else min(line(axis, 0), 0.0)


@kernel(inline=True)
def is_out(axis: CellAxis, after: bool) -> bool:
    """Tell whether a point is before the first line of samples, or after the last one."""
    return line(axis, axis.cells) < 0.0 if after else line(axis, 0) > 0.0


@kernel(inline=True)
def _border(axis: CellAxis, after: bool) -> tuple[int, int]:
    """Return the index of the border cell on one side, and that of the strip outside of it."""
    return (axis.cells - 1, axis.cells) if after else (0, -1)


@kernel(inline=True, no_refcount=True)
def _axes(grid: Grid, point: Vec3, along_z: bool) -> tuple[CellAxis, CellAxis]:
    """Return the axis along a side of the map, and the one across it."""
    if along_z:
        return axis_z(grid, point), axis_x(grid, point)
    return axis_x(grid, point), axis_z(grid, point)


@kernel(no_refcount=True)
def _ask_strip(
    grid: Grid, point: Vec3, along_z: bool, after: bool, index: int, nearest: Nearest
) -> Nearest:
    """Return the nearest point so far, after a search of the strip outside one border cell."""
    axis, across = _axes(grid, point, along_z)
    inner, outer = _border(across, after)
    row, column = (index, outer) if along_z else (outer, index)
    a, _, c, d = corner_heights(grid, row, column)
    one, other = d - point[1], (a if along_z else c) - point[1]
    first, last, away = line(axis, index), line(axis, index + 1), _outward(across, after)
    y, side = gap(min(one, other), max(one, other)), gap(first, last)
    if bound(grid, away * away + y * y + side * side, abs(other - one)) > math.sqrt(nearest.square):
        return nearest
    if not has_ground(grid, row, column):
        return nearest
    # For a point that is not out there, the nearest point is on the border line, part of the map.
    row_in, column_in = (index, inner) if along_z else (inner, index)
    if not is_out(across, after) and has_ground(grid, row_in, column_in):
        return nearest
    if along_z:
        offset = closest_on_segment((away, one, first), (away, other, last))
    else:
        offset = closest_on_segment((first, one, away), (last, other, away))
    square = dot(offset, offset)
    if (square, OUTSIDE, row, column, 0) < nearest[:5]:
        return Nearest(square, OUTSIDE, row, column, 0, offset)
    return nearest


@kernel(no_refcount=True)
def _search_side(
    terrain: Terrain, point: Vec3, along_z: bool, after: bool, nearest: Nearest
) -> Nearest:
    """Return the nearest point so far, after a search of the ground outside one side of the map.

    The search goes both ways from the strip beside the point, until all further strips are too far.
    """
    axis, across = _axes(terrain.grid, point, along_z)
    away, y = _outward(across, after), gap(terrain.low - point[1], terrain.high - point[1])
    middle = cell_at(axis, axis.place)
    for path in range(2):
        index, step = (middle, 1) if path == 0 else (middle - 1, -1)
        while 0 <= index < axis.cells:
            side = max(line(axis, index) if step > 0 else -line(axis, index + 1), 0.0)
            least = bound(
                terrain.grid, away * away + y * y + side * side, terrain.high - terrain.low
            )
            if least > math.sqrt(nearest.square):
                break
            nearest = _ask_strip(terrain.grid, point, along_z, after, index, nearest)
            index += step
    return nearest


@kernel(no_refcount=True)
def _ask_corner(
    grid: Grid, point: Vec3, row_after: bool, column_after: bool, nearest: Nearest
) -> Nearest:
    """Return the nearest point so far, after the level ground outside one corner of the map."""
    along_x, along_z = axis_x(grid, point), axis_z(grid, point)
    (row_in, row), (column_in, column) = _border(along_z, row_after), _border(along_x, column_after)
    level = sample(grid, row, column) - point[1]
    offset = (_outward(along_x, column_after), level, _outward(along_z, row_after))
    square = dot(offset, offset)
    if not (square, OUTSIDE, row, column, 0) < nearest[:5] or not has_ground(grid, row, column):
        return nearest
    # For a point that is not out there, the nearest point is the corner itself, part of the map.
    beside = is_out(along_x, column_after) or is_out(along_z, row_after)
    if not beside and has_ground(grid, row_in, column_in):
        return nearest
    return Nearest(square, OUTSIDE, row, column, 0, offset)


@kernel(no_refcount=True)
def search_outside(terrain: Terrain, point: Vec3, nearest: Nearest) -> Nearest:
    """Return the nearest point so far, after a search of all ground outside the map."""
    for side in range(4):
        nearest = _ask_corner(terrain.grid, point, side > 1, side % 2 == 1, nearest)
    for side in range(4):
        nearest = _search_side(terrain, point, side > 1, side % 2 == 1, nearest)
    return nearest
