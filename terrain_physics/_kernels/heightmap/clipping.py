"""Clipping of rays and sweeps against a height map, and the geometry of its cells on the path."""

import math
from typing import NamedTuple

from terrain_physics._kernels._intrinsics import borrow, prefetch
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.heightmap.blocks import block_span, level_count, level_start
from terrain_physics._kernels.heightmap.grid import (
    FARTHEST_CELL,
    Grid,
    corner_heights,
    half_slopes,
    is_flipped,
    sample_places,
    slope_normal,
    unpack_grid,
)
from terrain_physics._kernels.math.vec3 import Vec3, dot, subtract
from terrain_physics._kernels.types import Bytes, Float32s, Floats

# Rates below this move nothing: paths end at 1e99 m, and lengths of 1e-100 m count as none.
STILL = 1e-200
FARTHEST = 1e99  # meters
BEYOND_CELLS = 1e18  # farther than any path

# A batch prefetches the heights around a query this many queries ahead.
AHEAD = 8


class Ends(NamedTuple):
    """The sides at which endless ground is cut off for one ray or sweep."""

    x0: float
    x1: float
    z0: float
    z1: float


class Terrain(NamedTuple):
    """A map, its blocks, and the bounds of its heights."""

    grid: Grid
    blocks: Float32s
    levels: int  # of blocks
    low: float  # of all heights, in meters
    high: float


@kernel(inline=True)
def survey(heights: Float32s, cells: Bytes, blocks: Float32s, frame: Floats) -> Terrain:
    """Return a map as one value, of borrowed arrays: for kernels without reference counts."""
    grid = unpack_grid(borrow(heights), borrow(cells), frame)
    levels = level_count(grid.rows, grid.columns)
    top = level_start(grid.rows, grid.columns, levels - 1)
    low, high = block_span(grid, blocks, top)
    return Terrain(grid, borrow(blocks), levels, low, high)


@kernel(inline=True, no_refcount=True)
def fetch_ahead(grid: Grid, place: Vec3) -> None:
    """Prefetch the heights around a place that is queried soon.

    On a map larger than all caches, a query waits for memory longer than it computes.
    """
    column = int(min(max((place[0] - grid.x0) / grid.cell_x, 0.0), grid.columns - 1.0))
    row = int(min(max((place[2] - grid.z0) / grid.cell_z, 0.0), grid.rows - 1.0))
    if grid.tiles != 0:
        a, _, _, d = sample_places(grid, row, column)
        for k in range(-1, 3):
            prefetch(grid.heights, d + k * (a - d))
        return
    for near in range(row - 1, row + 3):
        line = min(max(near, 0), grid.rows)
        prefetch(grid.heights, line * (grid.columns + 1) + column)


@kernel(inline=True)
def inverse_of(rate: float) -> float:
    if abs(rate) >= STILL:
        return 1.0 / rate
    return 1.0 / STILL if rate >= 0.0 else -1.0 / STILL


@kernel(inline=True)
def clip(
    place: float, inverse: float, low: float, high: float, start: float, end: float
) -> tuple[float, float]:
    """Return the part of start..end in which place + t / inverse is in low..high.

    It is empty, the first greater than the second, if there is none. A place that does not move
    counts as moving very slowly; the callers' slack keeps it from being exactly low or high.
    """
    first, second = (low - place) * inverse, (high - place) * inverse
    return max(start, min(first, second)), min(end, max(first, second))


@kernel(inline=True)
def clamp(value: float, low: float, high: float) -> int:
    return math.floor(min(max(value, low), high))


@kernel(inline=True)
def half_of(
    a: Vec3, b: Vec3, c: Vec3, d: Vec3, flipped: bool, half: int
) -> tuple[Vec3, Vec3, Vec3]:
    """Return the corners of a half, from those of its cell."""
    if flipped:
        return (a, b, d) if half == 0 else (b, c, d)
    return (a, b, c) if half == 0 else (a, c, d)


@kernel(inline=True, no_refcount=True)
def corner_points(
    grid: Grid, ends: Ends, row: int, column: int, levels: tuple[float, float, float, float]
) -> tuple[Vec3, Vec3, Vec3, Vec3]:
    """Return the corners a, b, c, d of a cell as points; endless ground is cut off."""
    left = _side(column, grid.columns, grid.x0, grid.cell_x, ends.x0, ends.x1)
    right = _side(column + 1, grid.columns, grid.x0, grid.cell_x, ends.x0, ends.x1)
    near = _side(row, grid.rows, grid.z0, grid.cell_z, ends.z0, ends.z1)
    far = _side(row + 1, grid.rows, grid.z0, grid.cell_z, ends.z0, ends.z1)
    a, b = (left, levels[0], far), (right, levels[1], far)
    return a, b, (right, levels[2], near), (left, levels[3], near)


@kernel(inline=True)
def _side(index: int, count: int, start: float, size: float, least: float, most: float) -> float:
    """Return the coordinate of a line of samples; outside the map, where the ground is cut off."""
    if index < 0:
        return least
    return most if index > count else start + index * size


@kernel(inline=True, no_refcount=True)
def front_normal(grid: Grid, row: int, column: int, half: int) -> Vec3:
    """Return the unit normal of a half."""
    a, b, c, d = corner_heights(grid, row, column)
    along_x, along_z = half_slopes(grid, is_flipped(grid, row, column), half, a, b, c, d)
    return slope_normal(along_x, along_z)


@kernel(inline=True)
def from_plane(distance: float, origin: Vec3, direction: Vec3, point: Vec3, normal: Vec3) -> float:
    """Return the distance of a hit from the plane through a point near by.

    A triangle with far corners gives the place of a hit badly. The plane gives it better, unless
    the ray runs along it.
    """
    slope = dot(normal, direction)
    if slope == 0.0:
        return distance
    plane = dot(normal, subtract(point, origin)) / slope
    return plane + 0.0 if abs(plane - distance) <= 1e-3 * distance else distance


@kernel(inline=True, no_refcount=True)
def ends_of_path(
    terrain: Terrain,
    origin: Vec3,
    direction: Vec3,
    inverse: Vec3,
    wide: Vec3,
    length: float,
) -> tuple[float, float]:
    """Return the part of a path on which there may be ground; empty if the first is greater."""
    grid = terrain.grid
    start, end = 0.0, min(length, FARTHEST)
    if not (
        terrain.low <= terrain.high
        and max(abs(origin[0]), abs(origin[1]), abs(origin[2])) <= FARTHEST
    ):
        return 1.0, 0.0
    start, end = clip(
        origin[1], inverse[1], terrain.low - wide[1], terrain.high + wide[1], start, end
    )
    size_x, size_z = grid.columns * grid.cell_x, grid.rows * grid.cell_z
    left, right = grid.x0 - wide[0], grid.x0 + size_x + wide[0]
    near, far = grid.z0 - wide[2], grid.z0 + size_z + wide[2]
    if not grid.extend:
        start, end = clip(origin[0], inverse[0], left, right, start, end)
        return clip(origin[2], inverse[2], near, far, start, end)
    farthest = FARTHEST_CELL * (grid.cell_x + grid.cell_z) + size_x + size_z
    farthest += abs(origin[0] - grid.x0) + abs(origin[2] - grid.z0)
    end = min(end, farthest * min(abs(inverse[0]), abs(inverse[2])))
    if abs(direction[1]) < STILL:
        # A level path hits nothing new beyond the last line of samples.
        last = 0.0
        if abs(direction[0]) >= STILL:
            last = max((left - origin[0]) * inverse[0], (right - origin[0]) * inverse[0], last)
        if abs(direction[2]) >= STILL:
            last = max((near - origin[2]) * inverse[2], (far - origin[2]) * inverse[2], last)
        end = min(end, last)
    return start, end


@kernel(inline=True, no_refcount=True)
def ends_of_ground(
    grid: Grid, origin: Vec3, direction: Vec3, half_extents: Vec3, start: float, end: float
) -> Ends:
    """Return sides for endless ground, farther out than anything on a path."""
    x0, x1 = origin[0] + start * direction[0], origin[0] + end * direction[0]
    z0, z1 = origin[2] + start * direction[2], origin[2] + end * direction[2]
    wide_x = half_extents[0] + grid.cell_x + 1e-3 * abs(x1 - x0)
    wide_z = half_extents[2] + grid.cell_z + 1e-3 * abs(z1 - z0)
    return Ends(
        min(grid.x0, x0, x1) - wide_x,
        max(grid.x0 + grid.columns * grid.cell_x, x0, x1) + wide_x,
        min(grid.z0, z0, z1) - wide_z,
        max(grid.z0 + grid.rows * grid.cell_z, z0, z1) + wide_z,
    )
