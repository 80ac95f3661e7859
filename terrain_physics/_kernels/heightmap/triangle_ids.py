"""The ids of a height map's triangles within each of many boxes."""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.heightmap.broad_phase import (
    CHUNK,
    MOST_CELLS,
    RANGE,
    outline,
    put_cells,
    with_room,
)
from terrain_physics._kernels.heightmap.grid import FIRST_BLOCK, cell_span, in_map, unpack_grid
from terrain_physics._kernels.heightmap.triangles_in import meets
from terrain_physics._kernels.types import Bytes, Floats, Longs, Singles

_CELLS = 64


@kernel
def list_triangles(
    heights: Singles, cells: Bytes, blocks: Singles, frame: Floats, boxes: Floats, offsets: Longs
) -> tuple[int, Longs]:
    """Return (count, ids); write where each box's begin. -1 - k: box k is over too many cells.

    ``boxes`` is flat: lower and upper corners.
    """
    grid = unpack_grid(heights, cells, frame)
    first_block = int(frame[FIRST_BLOCK])
    edges = outline(grid, blocks, frame)
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
            n = put_cells(
                grid, blocks, first_block, ranges, 0, lower[1], upper[1], place, rows, columns
            )
            ids = with_room(ids, total, 2 * n)
            for j in range(n):
                row, column = int(rows[j]), int(columns[j])
                if not meets(grid, row, column, lower, upper):
                    continue
                triangle = 2 * (row * grid.columns + column)
                inside = in_map(grid, row, column)
                ids[total] = triangle if inside else -1
                ids[total + 1] = triangle + 1 if inside else -1
                total += 2
        offsets[k + 1] = total
    return total, ids
