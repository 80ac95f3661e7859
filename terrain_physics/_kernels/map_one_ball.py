"""The contacts of a single small ball with a height map: what a game asks between frames."""

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.grid import (
    Cells,
    Floats,
    Heights,
    has_ground,
    in_map,
    is_flipped,
    unpack_grid,
)
from terrain_physics._kernels.map_cells import half_triangle, near_cells
from terrain_physics._kernels.shape_touch import put_vector
from terrain_physics._kernels.sphere_triangle import (
    APART,
    IN_DOUBT,
    ball_at_origin,
    ball_on_edge,
)
from terrain_physics._kernels.vec3 import add, subtract

# Halves of cells that a ball may lie over to be answered this way.
MOST_HALVES = 64


@kernel
def ball_contacts(
    heights: Heights, cells: Cells, frame: Floats, x: float, y: float, z: float, radius: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return (queries and triangles (2, n), penetrations, directions and points (3, n, 3)).

    The quick way for a single small ball: no list, nothing in float32. n = 1 with the query -1
    means that it may have more than `MOST_HALVES` contacts.
    """
    grid = unpack_grid(heights, cells, frame)
    row_0, row_1 = near_cells(z - radius, z + radius, grid.z0, grid.cell_z, grid.rows, grid.extend)
    column_0, column_1 = near_cells(
        x - radius, x + radius, grid.x0, grid.cell_x, grid.columns, grid.extend
    )
    if 2.0 * (row_1 - row_0) * (column_1 - column_0) > MOST_HALVES:
        return np.full((2, 1), -1, dtype=np.int64), np.zeros((3, 1, 3), dtype=np.float64)
    ids = np.empty(MOST_HALVES, dtype=np.int64)
    rows = np.empty(9 * MOST_HALVES, dtype=np.float64)
    n = 0
    center = (x, y, z)
    for row in range(int(row_0), int(row_1)):
        for column in range(int(column_0), int(column_1)):
            if not has_ground(grid, row, column):
                continue
            flipped = 1 if is_flipped(grid, row, column) else 0
            for half in range(2):
                a, b, c = half_triangle(grid, row, column, flipped, half)
                a, b, c = subtract(a, center), subtract(b, center), subtract(c, center)
                verdict, move, direction, point = ball_at_origin(radius, a, b, c, False)
                if verdict == APART:
                    continue
                if verdict == IN_DOUBT:
                    move, direction = ball_on_edge(radius, a, b, c, move, direction, point)
                inside = in_map(grid, row, column)
                ids[n] = 2 * (row * grid.columns + column) + half if inside else -1
                put_vector(rows, 3 * n, move)
                put_vector(rows, 3 * n + 1, direction)
                put_vector(rows, 3 * n + 2, add(point, center))
                n += 1
    ints, floats = np.empty((2, n), dtype=np.int64), np.empty((3, n, 3), dtype=np.float64)
    for k in range(n):
        ints[0, k], ints[1, k] = 0, ids[k]
        for part in range(3):
            for i in range(3):
                floats[part, k, i] = rows[9 * k + 3 * part + i]
    return ints, floats
