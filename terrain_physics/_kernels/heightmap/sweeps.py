"""Sweeps: the time of impact of shapes that move straight over a map, and the first touch."""

import math
from typing import NamedTuple

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.heightmap.clipping import (
    FARTHEST,
    Ends,
    Terrain,
    corner_points,
    ends_of_ground,
    half_of,
)
from terrain_physics._kernels.heightmap.grid import (
    CELL_HOLE,
    Grid,
    cell_bits,
    corner_heights,
    in_map,
    is_flipped,
    stored_corners,
)
from terrain_physics._kernels.heightmap.sweep_triangle import place_of_touch, stopped_by_ground
from terrain_physics._kernels.heightmap.traversal import (
    crossing,
    first_stretch,
    misses_cell,
    next_stretch,
    parts_of,
    path_over,
    slab_of,
    strip_of,
)
from terrain_physics._kernels.math.vec3 import Vec3, add_scaled, subtract
from terrain_physics._kernels.surface.shapes import Body
from terrain_physics._kernels.surface.sweep import travel
from terrain_physics._kernels.types import Floats


class Touch(NamedTuple):
    """The first touch found so far; half -1: none."""

    distance: float
    row: int
    column: int
    half: int
    normal: Vec3


@kernel(inline=True, no_refcount=True)
def _touch_cell(
    grid: Grid, ends: Ends, body: Body, center: Vec3, direction: Vec3, limit: float,
    row: int, column: int, found: Touch, faces: Floats,
) -> Touch:  # fmt: skip
    """Return the first touch within a limit, after one more cell."""
    levels = corner_heights(grid, row, column)
    a, b, c, d = corner_points(grid, ends, row, column, levels)
    a, b = subtract(a, center), subtract(b, center)
    c, d = subtract(c, center), subtract(d, center)
    flipped = is_flipped(grid, row, column)
    for half in range(2):
        if (0.0, row, column, half) > found[:4]:  # it touches an earlier one at its start
            continue
        p, q, r = half_of(a, b, c, d, flipped, half)
        distance, normal = travel(body, direction, limit, p, q, r, False, faces)
        if distance <= limit and (distance, row, column, half) < found[:4]:
            distance, normal = stopped_by_ground(
                grid, direction, row, column, half, p, q, r, distance, normal
            )
            if distance < math.inf:
                limit = distance
                found = Touch(distance, row, column, half, normal)
    return found


@kernel(noinline=True, no_refcount=True)
def _first_touch(
    terrain: Terrain, body: Body, center: Vec3, direction: Vec3, distance: float, faces: Floats
) -> tuple[Touch, Ends]:
    """Return the first touch of a moving body, and where endless ground was cut off for it."""
    grid = terrain.grid
    path = path_over(terrain, center, direction, body.half_extents, distance)
    ends = ends_of_ground(grid, center, direction, body.half_extents, path.start, path.end)
    found, limit = Touch(math.inf, 0, 0, -1, direction), min(distance, FARTHEST)
    first_turn, last_turn = parts_of(terrain, path)
    for turn in range(first_turn, last_turn):
        strip = strip_of(terrain, path, turn, limit)
        stretch = first_stretch(terrain, strip)
        top = stretch.level
        while True:
            stretch = next_stretch(terrain, path, strip, stretch, top, limit)
            if stretch.first == stretch.last:
                break
            line, near = stretch.first, crossing(strip, stretch.first)
            while line != stretch.last:
                far = crossing(strip, line + strip.step)
                slab = slab_of(path, strip, near, far, limit)
                if slab.start > limit:
                    break
                index = min(line, line + strip.step)
                line, near = line + strip.step, far
                for across in range(slab.first, slab.last + 1):
                    row, column = (across, index) if strip.along_u else (index, across)
                    if misses_cell(slab, stored_corners(grid, row, column)):
                        continue
                    if grid.has_table and cell_bits(grid, row, column) & CELL_HOLE:
                        continue
                    found = _touch_cell(
                        grid, ends, body, center, direction, limit, row, column, found, faces
                    )
                    limit = min(limit, found.distance)
    return found, ends


@kernel(inline=True, no_refcount=True)
def first_touch(
    terrain: Terrain, body: Body, center: Vec3, direction: Vec3, distance: float, faces: Floats
) -> tuple[float, Vec3, Vec3, int, int]:
    """Return (distance, point, normal, triangle, nearest cell) of a first touch; inf: none.

    The body moves so far along a unit direction. The triangle is -1 outside the map. Of ties the
    first by row, column, half. ``faces`` (FACE_COUNT, 4) is scratch.
    """
    grid = terrain.grid
    touch, ends = _first_touch(terrain, body, center, direction, distance, faces)
    if touch.half < 0:
        return math.inf, center, direction, -1, 0
    center = add_scaled(center, direction, touch.distance)
    point = place_of_touch(
        grid, ends, body, center, touch.row, touch.column, touch.half, touch.normal, faces
    )
    row = min(max(touch.row, 0), grid.rows - 1)
    column = min(max(touch.column, 0), grid.columns - 1)
    cell = row * grid.columns + column
    triangle = 2 * cell + touch.half if in_map(grid, touch.row, touch.column) else -1
    return touch.distance, point, touch.normal, triangle, cell
