"""Sweeps: the time of impact of shapes that move straight over a map, and the first touch."""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._intrinsics import borrow, keep
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.obb_triangle import FACE_COUNT
from terrain_physics._kernels.heightmap.clipping import (
    AHEAD,
    FARTHEST,
    Ends,
    Terrain,
    corner_points,
    ends_of_ground,
    fetch_ahead,
    half_of,
    survey,
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
from terrain_physics._kernels.math.rows import row3, row_of
from terrain_physics._kernels.math.vec3 import Vec3, add_scaled, subtract
from terrain_physics._kernels.surface.shapes import Body, body_at, row_vector, row_width
from terrain_physics._kernels.surface.sweep import split_motion, travel
from terrain_physics._kernels.types import Bytes, Float32s, Floats, Int64s


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
) -> Touch:  # fmt: skip
    """Return the first touch of a moving body."""
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
    return found


@kernel
def sweep_hits(
    heights: Float32s,
    cells: Bytes,
    blocks: Float32s,
    frame: Floats,
    kind: int,
    shapes: Floats,
    motions: Floats,
    first: int,
    last: int,
    numbers: Floats,
    whole: Int64s,
) -> None:
    """Write the first touches of shapes [first, last) of n, each on its path.

    ``shapes``, flat rows of one kind, and ``motions`` (n, 3) may have one row for all. ``numbers``
    (n, 8): distance, point, normal, part of the path, NaN without a touch; ``whole`` (n, 2):
    triangle and nearest cell, -1 and 0. Of ties the first by row, column, half.
    """
    terrain = survey(heights, cells, blocks, frame)
    grid = terrain.grid
    memory = np.empty((FACE_COUNT, 4), dtype=np.float64)
    faces = borrow(memory)
    width = row_width(kind)
    step = 1 if shapes.shape[0] > width else 0
    for index in range(first, last):
        fetch_ahead(grid, row_vector(shapes, width * step * min(index + AHEAD, last - 1)))
        center, body = body_at(kind, shapes, step * index)
        distance, direction = split_motion(row3(motions, row_of(motions, index)))
        touch = Touch(math.inf, 0, 0, -1, direction)
        if distance > 0.0:
            touch = _first_touch(terrain, body, center, direction, distance, faces)
        if touch.half < 0:
            for k in range(8):
                numbers[index, k] = np.nan
            whole[index, 0], whole[index, 1] = -1, 0
            continue
        center = add_scaled(center, direction, touch.distance)
        point = place_of_touch(
            grid, body, center, touch.row, touch.column, touch.half, touch.normal, faces
        )
        numbers[index, 0] = touch.distance
        for k in range(3):
            numbers[index, 1 + k], numbers[index, 4 + k] = point[k] + 0.0, touch.normal[k] + 0.0
        numbers[index, 7] = min(touch.distance / distance, 1.0)
        row = min(max(touch.row, 0), grid.rows - 1)
        column = min(max(touch.column, 0), grid.columns - 1)
        cell = row * grid.columns + column
        inside = in_map(grid, touch.row, touch.column)
        whole[index, 0], whole[index, 1] = 2 * cell + touch.half if inside else -1, cell
    keep(memory)
