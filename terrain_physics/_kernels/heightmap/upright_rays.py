"""Many vertical rays against a height map in vector loops, with the same bits as one by one."""

from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.heightmap.grid import Grid
from terrain_physics._kernels.heightmap.heights import (
    MOST_SAMPLES,
    Spans,
    put_spans,
    slopes_to_normals,
)
from terrain_physics._kernels.math.rows import row_of
from terrain_physics._kernels.types import Floats, Int32s, Int64s


class RayRows(NamedTuple):
    """Rays as rows, an array of one row serves for all; and their hits with surfaces of maps."""

    origins: Floats
    directions: Floats
    limits: Floats  # of the distances
    distances: Floats  # (n,), NaN where there is none, as for points and normals
    points: Floats  # (n, 3)
    normals: Floats
    whole: Int64s  # (2, n): triangles and the nearest cells


@kernel
def are_upright(directions: Floats, first: int, last: int) -> bool:
    """Tell whether rays [first, last) are all vertical."""
    for index in range(row_of(directions, first), row_of(directions, last - 1) + 1):
        if directions[index, 0] != 0.0 or directions[index, 2] != 0.0:
            return False
    return True


@kernel(inline=True)
def can_be_looked_up(grid: Grid) -> bool:
    """Tell whether vector loops take a map: it is one array, and its places fit 32 bits."""
    return bool(grid.tiles == 0 and (grid.rows + 1) * (grid.columns + 1) <= MOST_SAMPLES)


@kernel(noinline=True)
def put_upright_hits(
    grid: Grid, rows: RayRows, first: int, work: Floats, marks: Int32s, triangles: Int64s
) -> None:
    """Write hits of vertical rays as `map_hits` does; 1 in ``marks`` (n,) for those left out.

    These are outside of the cells of the map, or in one with a hole. The n rays are those from
    first on; ``work`` (5, n) and ``triangles`` (n,) are working memory for as many or more.
    """
    count = len(marks)
    xs, zs, levels = work[0, :count], work[1, :count], work[4, :count]
    across, along = work[2, :count], work[3, :count]
    origins, directions, most, distances, points, normals, whole = rows
    for k in range(count):
        origin = row_of(origins, first + k)
        xs[k], zs[k] = origins[origin, 0], origins[origin, 2]
    spans = Spans(across, along, levels, marks, triangles)
    put_spans(grid.heights, grid.cells, grid, xs, zs, spans)
    for k in range(count):
        index = first + k
        level, y = float(levels[k]), float(origins[row_of(origins, index), 1])
        downward = -float(directions[row_of(directions, index), 1])
        distance = (y - level) * downward + 0.0
        hit = 0.0 <= distance <= most[row_of(most, index)]
        distances[index] = distance if hit else np.nan
        points[index, 0] = xs[k] + 0.0 if hit else np.nan
        points[index, 1] = level + 0.0 if hit else np.nan
        points[index, 2] = zs[k] + 0.0 if hit else np.nan
        whole[0, index] = triangles[k] if hit else -1
        whole[1, index] = triangles[k] >> 1 if hit else 0
    slopes_to_normals(across, along, grid.cell_x, grid.cell_z, levels)
    for k in range(count):
        index = first + k
        hit = whole[0, index] >= 0
        normals[index, 0] = across[k] + 0.0 if hit else np.nan
        normals[index, 1] = levels[k] + 0.0 if hit else np.nan
        normals[index, 2] = along[k] + 0.0 if hit else np.nan
