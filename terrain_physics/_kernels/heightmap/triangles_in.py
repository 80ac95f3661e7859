"""The triangles of a height map within a box, written out as arrays."""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.heightmap.grid import (
    Grid,
    cell_span,
    corner_heights,
    half_corners,
    half_slopes,
    has_ground,
    in_map,
    is_flipped,
    slope_normal,
    unpack_grid,
    vertex,
)
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.types import Bytes, Floats, Longs, Singles

# Cells looked at in one query: half a second of work.
MOST_CELLS = 1e8


@kernel
def meets(grid: Grid, row: int, column: int, lower: Vec3, upper: Vec3) -> bool:
    """Tell whether the closed box around a cell's triangles meets the box.

    `cell_span` leaves out the cells outside a map with an open border.
    """
    if (
        grid.x0 + column * grid.cell_x > upper[0]
        or grid.x0 + (column + 1) * grid.cell_x < lower[0]
        or grid.z0 + row * grid.cell_z > upper[2]
        or grid.z0 + (row + 1) * grid.cell_z < lower[2]
    ):
        return False
    a, b, c, d = corner_heights(grid, row, column)
    if min(a, b, c, d) > upper[1] or max(a, b, c, d) < lower[1]:
        return False
    return has_ground(grid, row, column)


@kernel
def triangles_in(
    heights: Singles,
    cells: Bytes,
    frame: Floats,
    lower: Vec3,
    upper: Vec3,
    most: int,
) -> tuple[int, Floats, Floats, Longs]:
    """Return (count, vertices (n, 3, 3), normals (n, 3), ids (n,)); empty if count > ``most``.

    Both triangles of every cell whose closed box meets lower..upper, by row, column, half.
    """
    grid = unpack_grid(heights, cells, frame)
    rows, columns = grid.rows, grid.columns
    row_0, row_1 = cell_span(lower[2], upper[2], grid.z0, grid.cell_z, rows, grid.extend)
    column_0, column_1 = cell_span(lower[0], upper[0], grid.x0, grid.cell_x, columns, grid.extend)
    count = 0
    if float(row_1 - row_0) * float(column_1 - column_0) > MOST_CELLS:
        count, row_1 = most + 1, row_0
    for row in range(row_0, row_1):
        for column in range(column_0, column_1):
            if meets(grid, row, column, lower, upper):
                count += 2
        if count > most:
            break
    size = count if count <= most else 0
    vertices = np.empty((size, 3, 3), dtype=np.float64)
    normals = np.empty((size, 3), dtype=np.float64)
    ids = np.empty(size, dtype=np.int64)
    k = 0
    for row in range(row_0, row_1):
        if k == size:
            break
        for column in range(column_0, column_1):
            if not meets(grid, row, column, lower, upper):
                continue
            flipped = is_flipped(grid, row, column)
            a, b, c, d = corner_heights(grid, row, column)
            for half in range(2):
                corners = half_corners(flipped, half)
                for i in range(3):
                    x, y, z = vertex(grid, row + corners[2 * i], column + corners[2 * i + 1])
                    vertices[k, i, 0], vertices[k, i, 1], vertices[k, i, 2] = x, y, z
                along_x, along_z = half_slopes(grid, flipped, half, a, b, c, d)
                normals[k, 0], normals[k, 1], normals[k, 2] = slope_normal(along_x, along_z)
                inside = in_map(grid, row, column)
                ids[k] = 2 * (row * columns + column) + half if inside else -1
                k += 1
    return count, vertices, normals, ids
