"""What a ray or a moving body meets on a height map, one triangle at a time, and where."""

import math

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.grid import (
    Cells,
    Floats,
    Heights,
    corner_heights,
    half_slopes,
    height,
    is_flipped,
    locate,
    slope_normal,
    unpack_grid,
)
from terrain_physics._kernels.map_way import Land, cell_triangle, ends_of_ground, side
from terrain_physics._kernels.map_way_out import BLOCKED, look_around
from terrain_physics._kernels.sweep_body import point_of_touch
from terrain_physics._kernels.sweep_sphere import stopped
from terrain_physics._kernels.vec3 import Mat3, Vec3, dot, scale


@kernel
def meet_upright(
    heights: Heights, cells: Cells, frame: Floats, origin: Vec3, downward: float, most: float
) -> tuple[float, float, Vec3, int, int, int]:
    """Return (distance, height, normal, row, column, half) of an upright ray: the height there."""
    grid = unpack_grid(heights, cells, frame)
    row, column, half, _, _ = locate(grid, origin[0], origin[2])
    if half >= 0:
        level = height(grid, origin[0], origin[2])
        distance = (origin[1] - level) * downward + 0.0
        if 0.0 <= distance <= most:
            a, b, c, d = corner_heights(grid, row, column)
            along_x, along_z = half_slopes(grid, is_flipped(grid, row, column), half, a, b, c, d)
            return distance, level, slope_normal(along_x, along_z), row, column, half
    return math.inf, 0.0, (0.0, 0.0, 0.0), 0, 0, -1


@kernel
def on_ground(
    heights: Heights,
    cells: Cells,
    frame: Floats,
    direction: Vec3,
    row: int,
    column: int,
    half: int,
    a: Vec3,
    b: Vec3,
    c: Vec3,
    front: Vec3,
    distance: float,
    normal: Vec3,
) -> tuple[float, Vec3]:
    """Return the touch of a triangle as one of the ground.

    A shape that lies in the ground by a hair would be stopped by the next triangle's edge. Such a
    touch, whose normal leads into a neighbour, is one of the face, which stops what moves into it.
    """
    grid = unpack_grid(heights, cells, frame)
    if look_around(grid, row, column, half, a, b, c, normal) != BLOCKED:
        return distance, normal
    return stopped(distance, direction, scale(front, -1.0) if dot(front, a) > 0.0 else front)


@kernel
def place_of_touch(
    heights: Heights,
    cells: Cells,
    frame: Floats,
    land: Land,
    kind: int,
    half_extents: Vec3,
    rotation: Mat3,
    reach: Vec3,
    center: Vec3,
    row: int,
    column: int,
    half: int,
    normal: Vec3,
    faces: NDArray[np.float64],
) -> Vec3:
    """Return a point of the triangle that a body touches where it is now."""
    grid = unpack_grid(heights, cells, frame)
    ends = ends_of_ground(land, center, (0.0, 0.0, 0.0), reach, 0.0, 0.0)
    a, b, c = cell_triangle(
        side(column, land.columns, land.x0, land.cell_x, ends.x0, ends.x1),
        side(column + 1, land.columns, land.x0, land.cell_x, ends.x0, ends.x1),
        side(row, land.rows, land.z0, land.cell_z, ends.z0, ends.z1),
        side(row + 1, land.rows, land.z0, land.cell_z, ends.z0, ends.z1),
        corner_heights(grid, row, column),
        is_flipped(grid, row, column),
        half,
    )
    return point_of_touch(kind, half_extents, rotation, center, a, b, c, normal, faces)
