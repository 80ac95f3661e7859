"""Rays against the surface of a height map: one, or many as rows."""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.rays import RayFrame, ray_frame, shear, sheared_triangle
from terrain_physics._kernels.heightmap.approach import (
    APPROACH_SIZE,
    BATCH,
    approach,
    approach_at,
    are_blocks_fetched,
    fetch_blocks,
    put_approach,
)
from terrain_physics._kernels.heightmap.clipping import (
    AHEAD,
    FARTHEST,
    Ends,
    Terrain,
    corner_points,
    ends_of_ground,
    fetch_ahead,
    from_plane,
    front_normal,
    half_of,
    survey,
)
from terrain_physics._kernels.heightmap.grid import (
    CELL_HOLE,
    Grid,
    cell_bits,
    height_within,
    in_map,
    is_flipped,
    locate,
    stored_corners,
    vertex,
)
from terrain_physics._kernels.heightmap.heights import CHUNK
from terrain_physics._kernels.heightmap.traversal import (
    NOT_BEGUN,
    MapLine,
    Stretch,
    crossing,
    first_stretch,
    misses_cell,
    misses_column,
    next_stretch,
    parts_of,
    path_over,
    slab_of,
    strip_of,
)
from terrain_physics._kernels.heightmap.upright_rays import (
    RayRows,
    are_upright,
    can_be_looked_up,
    put_upright_hits,
)
from terrain_physics._kernels.math.rows import row_of, vector_at
from terrain_physics._kernels.math.vec3 import Vec3, add_scaled
from terrain_physics._kernels.types import Bytes, Float32s, Floats


class Hit(NamedTuple):
    """The nearest triangle hit so far; half -1: none."""

    distance: float
    row: int
    column: int
    half: int


@kernel(inline=True, no_refcount=True)
def _hit_cell(
    grid: Grid, ends: Ends, origin: Vec3, direction: Vec3, frame: RayFrame, limit: float,
    row: int, column: int, stored: tuple[float, float, float, float], hit: Hit,
) -> Hit:  # fmt: skip
    """Return the nearest hit up to a limit, after one more cell."""
    y0, height_scale = grid.y0, grid.height_scale
    levels = (
        y0 + height_scale * stored[0],
        y0 + height_scale * stored[1],
        y0 + height_scale * stored[2],
        y0 + height_scale * stored[3],
    )
    a, b, c, d = corner_points(grid, ends, row, column, levels)
    a, b = shear(origin, frame, a), shear(origin, frame, b)
    c, d = shear(origin, frame, c), shear(origin, frame, d)
    flipped = is_flipped(grid, row, column)
    for half in range(2):
        p, q, r = half_of(a, b, c, d, flipped, half)
        distance = sheared_triangle(p, q, r, frame[3])
        if distance < math.inf and not in_map(grid, row, column):
            near = vertex(grid, min(max(row, 0), grid.rows), min(max(column, 0), grid.columns))
            front = front_normal(grid, row, column, half)
            distance = from_plane(distance, origin, direction, near, front)
        if distance <= limit and (distance, row, column, half) < hit:
            limit = distance
            hit = Hit(distance, row, column, half)
    return hit


@kernel(noinline=True, no_refcount=True)
def _first_hit(
    terrain: Terrain, origin: Vec3, direction: Vec3, most: float, path: MapLine, stretch: Stretch
) -> Hit:
    """Return the first hit of an oblique ray, from a stretch of its first strip on."""
    grid, frame = terrain.grid, ray_frame(direction)
    ends = ends_of_ground(grid, origin, direction, (0.0, 0.0, 0.0), path.start, path.end)
    hit, limit = Hit(math.inf, 0, 0, -1), min(most, FARTHEST)
    first_turn, last_turn = parts_of(terrain, path)
    for turn in range(first_turn, last_turn):
        strip = strip_of(terrain, path, turn, limit)
        begin = first_stretch(terrain, strip)
        if turn > first_turn or stretch.level == NOT_BEGUN.level:
            stretch = begin
        while True:
            line, near = stretch.first, crossing(strip, stretch.first)
            while line != stretch.last:
                far = crossing(strip, line + strip.step)
                slab = slab_of(path, strip, near, far, limit)
                if slab.start > limit:
                    break
                index = min(line, line + strip.step)
                line, near = line + strip.step, far
                if misses_column(grid, strip, slab, index):
                    continue
                for across in range(slab.first, slab.last + 1):
                    row, column = (across, index) if strip.along_u else (index, across)
                    stored = stored_corners(grid, row, column)
                    if misses_cell(slab, stored):
                        continue
                    if grid.has_table and cell_bits(grid, row, column) & CELL_HOLE:
                        continue
                    hit = _hit_cell(
                        grid, ends, origin, direction, frame, limit, row, column, stored, hit
                    )
                    limit = min(limit, hit.distance)
            stretch = next_stretch(terrain, path, strip, stretch, begin.level, limit)
            if stretch.first == stretch.last:
                break
    return hit


@kernel(no_refcount=True)
def _upright_hit(grid: Grid, origin: Vec3, downward: float, most: float) -> tuple[Hit, float]:
    """Return the hit of a vertical ray, and the height there."""
    row, column, half, u, v = locate(grid, origin[0], origin[2])
    if half >= 0:
        level = height_within(grid, row, column, half, u, v)
        distance = (origin[1] - level) * downward + 0.0
        if 0.0 <= distance <= most:
            return Hit(distance, row, column, half), level
    return Hit(math.inf, 0, 0, -1), 0.0


@kernel(inline=True)
def _is_upright(direction: Vec3) -> bool:
    return bool(direction[0] == 0.0 and direction[2] == 0.0)


@kernel(inline=True, no_refcount=True)
def _cast(
    terrain: Terrain, origin: Vec3, direction: Vec3, most: float, path: MapLine, stretch: Stretch
) -> tuple[float, Vec3, Vec3, int, int]:
    """Return (distance, point, normal, triangle, nearest cell) of one ray; NaN: missed.

    An oblique ray resumes at a stretch of its path.
    """
    grid = terrain.grid
    if _is_upright(direction):
        hit, level = _upright_hit(grid, origin, -direction[1], most)
        point = (origin[0], level, origin[2])
    else:
        hit = _first_hit(terrain, origin, direction, most, path, stretch)
        point = add_scaled(origin, direction, hit.distance)
    if hit.half < 0:
        return np.nan, (np.nan, np.nan, np.nan), (np.nan, np.nan, np.nan), -1, 0
    normal = front_normal(grid, hit.row, hit.column, hit.half)
    row = min(max(hit.row, 0), grid.rows - 1)
    column = min(max(hit.column, 0), grid.columns - 1)
    cell = row * grid.columns + column
    inside = in_map(grid, hit.row, hit.column)
    return (
        hit.distance,
        (point[0] + 0.0, point[1] + 0.0, point[2] + 0.0),
        (normal[0] + 0.0, normal[1] + 0.0, normal[2] + 0.0),
        2 * cell + hit.half if inside else -1,
        cell,
    )


@kernel(noinline=True, no_refcount=True)
def cast(
    terrain: Terrain, origin: Vec3, direction: Vec3, most: float
) -> tuple[float, Vec3, Vec3, int, int]:
    """Return (distance, point, normal, triangle, nearest cell) of one ray; NaN: missed."""
    path = path_over(terrain, origin, direction, (0.0, 0.0, 0.0), most)
    return _cast(terrain, origin, direction, most, path, NOT_BEGUN)


@kernel
def map_hits(
    heights: Float32s,
    cells: Bytes,
    blocks: Float32s,
    frame: Floats,
    rows: RayRows,
    first: int,
    last: int,
) -> None:
    """Write the hits of rays [first, last) of n: NaN where a ray misses.

    Whole numbers are triangles and the nearest cells, -1 and 0.
    """
    origins, directions, most, distances, points, normals, whole = rows
    terrain = survey(heights, cells, blocks, frame)
    work, triangles = np.empty((5, CHUNK)), np.empty(CHUNK, dtype=np.int64)
    marks = np.empty(CHUNK, dtype=np.int32)
    approaches = np.zeros((BATCH, APPROACH_SIZE))  # upright rays leave their rows as they are
    fetches_blocks = are_blocks_fetched(terrain)
    looked_up = can_be_looked_up(terrain.grid)
    for begin in range(first, last, CHUNK):
        end = min(begin + CHUNK, last)
        left = marks[: end - begin]
        for k in range(end - begin):  # to assign a slice compiles for longer
            left[k] = 1
        if looked_up and are_upright(directions, begin, end):
            put_upright_hits(terrain.grid, rows, begin, work, left, triangles)
        for start in range(begin, end, BATCH):
            stop = min(start + BATCH, end)
            for index in range(start, stop):
                origin, direction = vector_at(origins, index), vector_at(directions, index)
                limit = float(most[row_of(most, index)])
                if _is_upright(direction):
                    if left[index - begin] != 0:
                        fetch_ahead(terrain.grid, origin)
                    continue
                if fetches_blocks:
                    ahead = min(index + AHEAD, last - 1)
                    towards = vector_at(directions, ahead)
                    if not _is_upright(towards):
                        fetch_blocks(terrain, vector_at(origins, ahead), towards)
                path, stretch = approach(terrain, origin, direction, limit)
                put_approach(approaches, index - start, path, stretch)
            for index in range(start, stop):
                if left[index - begin] == 0:
                    continue
                origin, direction = vector_at(origins, index), vector_at(directions, index)
                limit = float(most[row_of(most, index)])
                path, stretch = approach_at(approaches, index - start)
                distance, point, normal, triangle, cell = _cast(
                    terrain, origin, direction, limit, path, stretch
                )
                distances[index] = distance
                for k in range(3):
                    points[index, k], normals[index, k] = point[k], normal[k]
                whole[0, index], whole[1, index] = triangle, cell
