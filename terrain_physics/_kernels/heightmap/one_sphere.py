"""The contacts of one small sphere with a height map: what a game asks between frames."""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.sphere_triangle import (
    APART,
    IN_DOUBT,
    sphere_at_origin,
    sphere_on_edge,
)
from terrain_physics._kernels.heightmap.broad_phase import half_triangle, near_cells
from terrain_physics._kernels.heightmap.contact_rows import put_sphere_rows, put_triangle
from terrain_physics._kernels.heightmap.grid import has_ground, in_map, is_flipped, unpack_grid
from terrain_physics._kernels.heightmap.triangle_columns import ROOM, corners_at
from terrain_physics._kernels.math.vec3 import subtract
from terrain_physics._kernels.surface.contact import put_vector
from terrain_physics._kernels.surface.shapes import FARTHEST
from terrain_physics._kernels.types import Bytes, Floats, Longs, Singles

# Halves of cells that a sphere may lie over at most.
MOST_HALVES = 64

# Halves are padded to a multiple of this: a vector loop would do the rest one by one.
LANES = 8


@kernel
def contacts_of_sphere(
    heights: Singles, cells: Bytes, frame: Floats, x: float, y: float, z: float, radius: float
) -> tuple[Longs, Floats]:
    """Return (queries and triangles (2, n), penetrations, directions and points (3, n, 3)).

    This is quick for one small sphere: it makes no list and nothing in float32. n = 1 with the
    query -1 means that there may be more than `MOST_HALVES` contacts, or the sphere is too far off.
    """
    grid = unpack_grid(heights, cells, frame)
    row_0, row_1 = near_cells(z - radius, z + radius, grid.z0, grid.cell_z, grid.rows, grid.extend)
    column_0, column_1 = near_cells(
        x - radius, x + radius, grid.x0, grid.cell_x, grid.columns, grid.extend
    )
    is_far = max(abs(x), abs(y), abs(z), radius) >= FARTHEST
    if is_far or 2.0 * (row_1 - row_0) * (column_1 - column_0) > MOST_HALVES:
        return np.full((2, 1), -1, dtype=np.int64), np.zeros((3, 1, 3), dtype=np.float64)
    ids, verdicts = (
        np.empty(MOST_HALVES, dtype=np.int64),
        np.empty(MOST_HALVES, dtype=np.int32),
    )
    columns, rows = np.empty(13 * ROOM), np.empty(9 * MOST_HALVES)
    sphere, corners = columns[: 4 * ROOM], columns[4 * ROOM :]
    center = (x, y, z)
    n = 0
    for row in range(int(row_0), int(row_1)):
        for column in range(int(column_0), int(column_1)):
            if not has_ground(grid, row, column):
                continue
            flipped = 1 if is_flipped(grid, row, column) else 0
            inside = in_map(grid, row, column)
            for half in range(2):
                a, b, c = half_triangle(grid, row, column, flipped, half)
                a, b, c = subtract(a, center), subtract(b, center), subtract(c, center)
                put_triangle(corners, n, a, b, c)
                ids[n] = 2 * (row * grid.columns + column) + half if inside else -1
                n += 1
    full = (n + LANES - 1) // LANES * LANES
    for k in range(full):
        sphere[k], sphere[ROOM + k], sphere[2 * ROOM + k], sphere[3 * ROOM + k] = x, y, z, radius
    for k in range(n, full):
        a, b, c = corners_at(corners, 0)
        put_triangle(corners, k, a, b, c)
    room = 3 * MOST_HALVES
    moves, directions, points = rows[:room], rows[room : 2 * room], rows[2 * room :]
    put_sphere_rows(sphere, corners, moves, directions, points, verdicts[:full])
    count = 0
    for k in range(n):
        count += 1 if verdicts[k] != APART else 0
    ints, floats = np.empty((2, count), dtype=np.int64), np.empty((3, count, 3), dtype=np.float64)
    at = 0
    for k in range(n):
        if verdicts[k] == APART:
            continue
        if verdicts[k] == IN_DOUBT:
            a, b, c = corners_at(corners, k)
            _, move, direction, point = sphere_at_origin(radius, a, b, c, False)
            move, direction = sphere_on_edge(radius, a, b, c, move, direction, point)
            put_vector(moves, k, move)
            put_vector(directions, k, direction)
        ints[0, at], ints[1, at] = 0, ids[k]
        for i in range(3):
            floats[0, at, i] = moves[3 * k + i]
            floats[1, at, i] = directions[3 * k + i]
            floats[2, at, i] = points[3 * k + i]
        at += 1
    return ints, floats
