"""The triangles of a height map within boxes: of one box as arrays, of many as ids."""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.heightmap.batch_contacts.broad_phase import (
    CHUNK,
    MOST_CELLS,
    RANGE,
    outline,
    put_cells,
    with_room,
)
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
from terrain_physics._kernels.types import Bytes, Float32s, Floats, Int64s

# Cells looked for at a time.
_CELLS = 64


@kernel
def _overlaps(grid: Grid, row: int, column: int, lower: Vec3, upper: Vec3) -> bool:
    """Tell whether the closed box around a cell's triangles overlaps the box.

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
    heights: Float32s,
    cells: Bytes,
    frame: Floats,
    lower: Vec3,
    upper: Vec3,
    most: int,
) -> tuple[int, Floats, Floats, Int64s]:
    """Return (count, vertices (n, 3, 3), normals (n, 3), ids (n,)); empty if count > ``most``.

    If the closed box of a cell overlaps lower..upper, both triangles are in: by row, column, half.
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
            if _overlaps(grid, row, column, lower, upper):
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
            if not _overlaps(grid, row, column, lower, upper):
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


@kernel
def list_triangles(
    heights: Float32s,
    cells: Bytes,
    blocks: Float32s,
    frame: Floats,
    boxes: Floats,
    most: int,
    offsets: Int64s,
) -> tuple[int, Int64s]:
    """Return (count, ids); write where each box's begin. -1 - k: box k is over too many cells.

    ``boxes`` is flat: lower and upper corners. This stops at a count above ``most``.
    """
    grid = unpack_grid(heights, cells, frame)
    edges = outline(grid, blocks)
    ranges, place = np.empty(RANGE * CHUNK, dtype=np.int64), np.empty(2, dtype=np.int64)
    rows, columns = np.empty(_CELLS, dtype=np.int64), np.empty(_CELLS, dtype=np.int64)
    ids = np.empty(16 * (offsets.shape[0] - 1) + 1, dtype=np.int64)
    total = 0
    for k in range(offsets.shape[0] - 1):
        i = 6 * k
        lower = (float(boxes[i]), float(boxes[i + 1]), float(boxes[i + 2]))
        upper = (float(boxes[i + 3]), float(boxes[i + 4]), float(boxes[i + 5]))
        row_0, row_1 = cell_span(lower[2], upper[2], grid.z0, grid.cell_z, grid.rows, grid.extend)
        column_0, column_1 = cell_span(
            lower[0], upper[0], grid.x0, grid.cell_x, grid.columns, grid.extend
        )
        if float(row_1 - row_0) * float(column_1 - column_0) > MOST_CELLS:
            return -1 - k, ids
        ranges[0], ranges[CHUNK] = row_0, row_1
        ranges[2 * CHUNK], ranges[3 * CHUNK] = column_0, column_1
        place[0], place[1] = row_0, column_0
        if column_0 >= column_1 or edges[0] > edges[1]:
            place[0] = row_1
        while place[0] < row_1:
            n = put_cells(grid, blocks, ranges, 0, lower[1], upper[1], place, rows, columns)
            ids = with_room(ids, total, 2 * n)
            for j in range(n):
                row, column = int(rows[j]), int(columns[j])
                if not _overlaps(grid, row, column, lower, upper):
                    continue
                triangle = 2 * (row * grid.columns + column)
                inside = in_map(grid, row, column)
                ids[total] = triangle if inside else -1
                ids[total + 1] = triangle + 1 if inside else -1
                total += 2
            if total > most:
                return total, ids
        offsets[k + 1] = total
    return total, ids
