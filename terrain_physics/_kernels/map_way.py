"""What the ways of rays and moving shapes over a height map are reckoned with."""

import math
from typing import NamedTuple

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.blocks import block_span, level_count, level_start
from terrain_physics._kernels.grid import (
    FARTHEST_CELL,
    FIRST_BLOCK,
    Cells,
    Floats,
    Heights,
    slope_normal,
    unpack_grid,
)
from terrain_physics._kernels.vec3 import Vec3, dot, subtract

# Slack of all culling, as a part of the sizes of the coordinates: 2^-53 is the rounding of one
# operation, there are fewer than 20 from a coordinate to a bound, and their errors add up.
SLACK = 2.0**-46

# Rates below this move nothing: ways end at 1e99 m, and lengths of 1e-100 m are nothing either.
STILL = 1e-200
FARTHEST = 1e99
LEAST = 1e-90  # meters that make the slack of a map at height 0
BEYOND = 1e18  # cells; farther than any way

# A walk starts with slabs of a level at which it has no more than this many.
MANY_SLABS = 40
FEW_CELLS = 4


class Ends(NamedTuple):
    """Where the ground that goes on for ever ends for one way."""

    x0: float
    x1: float
    z0: float
    z1: float


class Land(NamedTuple):
    """A map without its arrays: to hand on a tuple with arrays would count references each time."""

    rows: int  # of cells
    columns: int
    x0: float
    y0: float
    z0: float
    cell_x: float
    cell_z: float
    height_scale: float
    extend: bool
    diagonal: int
    has_table: bool
    first_height: int
    first_cell: int
    first_block: int
    levels: int  # of blocks
    low: float  # of all heights
    high: float


@kernel
def survey(heights: Heights, cells: Cells, blocks: Heights, frame: Floats) -> Land:
    """Return a map without its arrays."""
    grid = unpack_grid(heights, cells, frame)
    rows, columns, first_block = grid.rows, grid.columns, int(frame[FIRST_BLOCK])
    levels = level_count(rows, columns)
    top = first_block + level_start(rows, columns, levels - 1)
    low, high = block_span(grid, blocks, top)
    return Land(
        rows,
        columns,
        grid.x0,
        grid.y0,
        grid.z0,
        grid.cell_x,
        grid.cell_z,
        grid.height_scale,
        grid.extend,
        grid.diagonal,
        grid.has_table,
        grid.first_height,
        grid.first_cell,
        first_block,
        levels,
        low,
        high,
    )


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

    Empty, the first greater than the second, if there is none. What does not move is as slow as
    can be: its place must not be exactly low or high, which slack takes care of.
    """
    first, second = (low - place) * inverse, (high - place) * inverse
    return max(start, min(first, second)), min(end, max(first, second))


@kernel(inline=True)
def clamp(value: float, low: int, high: int) -> int:
    return math.floor(min(max(value, float(low)), float(high)))


@kernel(inline=True)
def cell_triangle(
    x0: float,
    x1: float,
    z0: float,
    z1: float,
    levels: tuple[float, float, float, float],
    flipped: bool,
    half: int,
) -> tuple[Vec3, Vec3, Vec3]:
    """Return the corners of a half, from the sides of its cell and the heights at a, b, c, d."""
    a, b = (x0, levels[0], z1), (x1, levels[1], z1)
    c, d = (x1, levels[2], z0), (x0, levels[3], z0)
    if flipped:
        return (a, b, d) if half == 0 else (b, c, d)
    return (a, b, c) if half == 0 else (a, c, d)


@kernel(inline=True)
def side(index: int, count: int, start: float, size: float, least: float, most: float) -> float:
    """Return the place of a line of samples; outside the map, where the ground ends."""
    if index < 0:
        return least
    return most if index > count else start + index * size


@kernel(inline=True)
def front_normal(
    land: Land, heights: tuple[float, float, float, float], flipped: bool, half: int
) -> Vec3:
    """Return the unit normal of a half; see `half_slopes`."""
    a, b, c, d = heights
    if half == 0:
        along_x, along_z = b - a, (a - d if flipped else b - c)
    else:
        along_x, along_z = c - d, (b - c if flipped else a - d)
    return slope_normal(along_x / land.cell_x, along_z / land.cell_z)


@kernel(inline=True)
def from_plane(distance: float, origin: Vec3, direction: Vec3, point: Vec3, normal: Vec3) -> float:
    """Return the distance of a hit from the plane through a point near by.

    A triangle whose corners are far tells the place of a hit badly; the plane knows better, unless
    the ray runs along it.
    """
    slope = dot(normal, direction)
    if slope == 0.0:
        return distance
    plane = dot(normal, subtract(point, origin)) / slope
    return plane + 0.0 if abs(plane - distance) <= 1e-3 * distance else distance


@kernel(inline=True)
def ends_of_way(
    land: Land,
    origin: Vec3,
    direction: Vec3,
    inverse: Vec3,
    wide: Vec3,
    length: float,
) -> tuple[float, float]:
    """Return the part of a way on which there may be ground; empty if the first is greater."""
    start, end = 0.0, min(length, FARTHEST)
    if not (
        land.low <= land.high and max(abs(origin[0]), abs(origin[1]), abs(origin[2])) <= FARTHEST
    ):
        return 1.0, 0.0
    start, end = clip(origin[1], inverse[1], land.low - wide[1], land.high + wide[1], start, end)
    size_x, size_z = land.columns * land.cell_x, land.rows * land.cell_z
    left, right = land.x0 - wide[0], land.x0 + size_x + wide[0]
    near, far = land.z0 - wide[2], land.z0 + size_z + wide[2]
    if not land.extend:
        start, end = clip(origin[0], inverse[0], left, right, start, end)
        return clip(origin[2], inverse[2], near, far, start, end)
    farthest = FARTHEST_CELL * (land.cell_x + land.cell_z) + size_x + size_z
    farthest += abs(origin[0] - land.x0) + abs(origin[2] - land.z0)
    end = min(end, farthest * min(abs(inverse[0]), abs(inverse[2])))
    if abs(direction[1]) < STILL:
        # Behind the last line of samples nothing changes any more for a level way.
        last = 0.0
        if abs(direction[0]) >= STILL:
            last = max((left - origin[0]) * inverse[0], (right - origin[0]) * inverse[0], last)
        if abs(direction[2]) >= STILL:
            last = max((near - origin[2]) * inverse[2], (far - origin[2]) * inverse[2], last)
        end = min(end, last)
    return start, end


@kernel(inline=True)
def ends_of_ground(
    land: Land, origin: Vec3, direction: Vec3, reach: Vec3, start: float, end: float
) -> Ends:
    """Return sides of the ground that are farther out than anything on the way."""
    x0, x1 = origin[0] + start * direction[0], origin[0] + end * direction[0]
    z0, z1 = origin[2] + start * direction[2], origin[2] + end * direction[2]
    wide_x = reach[0] + land.cell_x + 1e-3 * abs(x1 - x0)
    wide_z = reach[2] + land.cell_z + 1e-3 * abs(z1 - z0)
    return Ends(
        min(land.x0, x0, x1) - wide_x,
        max(land.x0 + land.columns * land.cell_x, x0, x1) + wide_x,
        min(land.z0, z0, z1) - wide_z,
        max(land.z0 + land.rows * land.cell_z, z0, z1) + wide_z,
    )
