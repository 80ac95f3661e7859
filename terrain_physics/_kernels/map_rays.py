"""Rays on a height map: one, and many by the row."""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.grid import Cells, Floats, Heights, in_map, unpack_grid
from terrain_physics._kernels.map_touch import meet_upright
from terrain_physics._kernels.map_walk import Ints, walk
from terrain_physics._kernels.map_way import survey
from terrain_physics._kernels.sweep_body import RAY


@kernel
def ray_hits(
    heights: Heights,
    cells: Cells,
    blocks: Heights,
    frame: Floats,
    origins: Floats,
    directions: Floats,
    most: float,
    first: int,
    last: int,
    numbers: Floats,
    whole: Ints,
) -> None:
    """Write the hits of rays [first, last), see `walk`: numbers (n, 8), whole (n, 2)."""
    land = survey(heights, cells, blocks, frame)
    faces = np.empty((0, 4), dtype=np.float64)
    walk(
        RAY, heights, cells, blocks, frame, land, origins, directions, most, first, last,
        numbers, whole, faces,
    )  # fmt: skip


@kernel
def ray_hit(
    heights: Heights,
    cells: Cells,
    blocks: Heights,
    frame: Floats,
    x: float,
    y: float,
    z: float,
    dx: float,
    dy: float,
    dz: float,
    most: float,
) -> tuple[float, float, float, float, float, float, float, int, int]:
    """Return (distance, point, normal, triangle, nearest cell) of one ray; NaN: missed."""
    if dx == 0.0 and dz == 0.0:  # without the rows of a walk
        distance, level, normal, row, column, half = meet_upright(
            heights, cells, frame, (x, y, z), -dy, most
        )
        if half < 0:
            distance = np.nan
        grid = unpack_grid(heights, cells, frame)
        inside = in_map(grid, row, column)
        row = min(max(row, 0), grid.rows - 1)
        column = min(max(column, 0), grid.columns - 1)
        cell = row * grid.columns + column
        return (
            distance, x + 0.0, level + 0.0, z + 0.0,
            normal[0] + 0.0, normal[1] + 0.0, normal[2] + 0.0,
            2 * cell + half if inside else -1, cell,
        )  # fmt: skip
    rows = np.empty((2, 1, 3), dtype=np.float64)
    rows[0, 0, 0], rows[0, 0, 1], rows[0, 0, 2] = x, y, z
    rows[1, 0, 0], rows[1, 0, 1], rows[1, 0, 2] = dx, dy, dz
    numbers = np.empty((1, 8), dtype=np.float64)
    whole = np.empty((1, 2), dtype=np.int64)
    ray_hits(heights, cells, blocks, frame, rows[0], rows[1], most, 0, 1, numbers, whole)
    return (
        float(numbers[0, 0]),
        float(numbers[0, 1]),
        float(numbers[0, 2]),
        float(numbers[0, 3]),
        float(numbers[0, 4]),
        float(numbers[0, 5]),
        float(numbers[0, 6]),
        int(whole[0, 0]),
        int(whole[0, 1]),
    )
