"""Heights and normals at many points in vector loops, with the same bits as one by one.

A loop without branches does the points inside cells of the map. It marks those that `locate` must
decide on: on the far border, outside, in cells without ground.
"""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._intrinsics import array_at, prefer_wide_vectors
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.heightmap.grid import (
    CELL_FLIPPED,
    CELL_HOLE,
    CELLS_AT,
    DIAGONAL_ALTERNATING,
    DIAGONAL_BD,
    HEIGHTS_AT,
    TURNED,
    TURNED_IF_ODD,
    Grid,
    height,
    lined_up,
    normal,
    tile_in,
    unpack_grid,
)
from terrain_physics._kernels.types import Bytes, Float32s, Floats, Int32s, Int64s

# Points at a time: their working memory stays in the first-level cache.
CHUNK = 512

# The most samples of a map that vector loops take: their places fit 32 bits.
MOST_SAMPLES = 2**31 - 1


class Spans(NamedTuple):
    """What is found at n points."""

    across: Floats  # (n,): rise across the half of a cell
    along: Floats  # (n,)
    levels: Floats  # (n,): heights
    marks: Int32s  # (n,): 1 at points that have to be computed again, one by one
    triangles: Int64s  # (n,)


@kernel(inline=True)
def _rises_and_height(
    a: float, b: float, c: float, d: float, u: float, v: float, flipped: bool
) -> tuple[float, float, float, bool]:
    """Return rise across and along the half at a place in a cell, height, and whether in half 1."""
    high = (u >= v) if flipped else (u + v <= 1.0)
    from_d = flipped | high
    rise_x = c - d if high else b - a
    rise_z = b - c if high == flipped else a - d
    share_x, share_z = (u if from_d else -(1.0 - u)), (v if from_d else -(1.0 - v))
    return rise_x, rise_z, (d if from_d else b) + share_x * rise_x + share_z * rise_z, high


@kernel(inline=True)
def _flips(grid: Grid) -> tuple[np.int32, np.int32]:
    """Return 1 if all cells are flipped but for the table, and 1 if each second one is."""
    base, alternate = grid.diagonal == DIAGONAL_BD, grid.diagonal == DIAGONAL_ALTERNATING
    return np.int32(1 if base else 0), np.int32(1 if alternate else 0)


@kernel(inline=True)
def _cell_at(
    heights: Float32s, cells: Bytes, grid: Grid, x: float, z: float
) -> tuple[float, float, float, float, float, float, bool, bool, np.uint32]:
    """Return the cell at a point: the levels of a, b, c and d; the place in it; how it is split.

    Then whether the point is inside a cell of the map that has ground, and the cell's number.
    """
    y0, height_scale = grid.y0, grid.height_scale
    width = np.uint32(grid.columns + 1)
    table_width = np.uint32(grid.columns if grid.has_table else 0)
    table_step = np.uint32(1 if grid.has_table else 0)
    u, v = (x - grid.x0) / grid.cell_x, (z - grid.z0) / grid.cell_z
    inside = (u >= 0.0) & (u < float(grid.columns)) & (v >= 0.0) & (v < float(grid.rows))
    u, v = (u if inside else 0.0), (v if inside else 0.0)
    column, row = np.uint32(np.int32(u)), np.uint32(np.int32(v))
    u, v = u - float(np.int32(column)), v - float(np.int32(row))
    place = np.uint32(row * width + column)
    d = y0 + height_scale * np.float64(heights[place])
    c = y0 + height_scale * np.float64(heights[np.uint32(place + np.uint32(1))])
    place = np.uint32(place + width)
    a = y0 + height_scale * np.float64(heights[place])
    b = y0 + height_scale * np.float64(heights[np.uint32(place + np.uint32(1))])
    bits = np.int32(cells[np.uint32(row * table_width + column * table_step)])
    parity = np.int32((row + column) & np.uint32(1))
    base, alternate = _flips(grid)
    flip = np.int32(base ^ (parity & alternate) ^ (bits & np.int32(CELL_FLIPPED)))
    # NaN at a corner that the half does not touch is a hole too.
    whole = (a + b) + (c + d)
    good = inside & (not math.isnan(whole)) & ((bits & np.int32(CELL_HOLE)) == 0)
    return a, b, c, d, u, v, flip != 0, good, np.uint32(row * np.uint32(grid.columns) + column)


@kernel(noinline=True, noalias=True)
def put_spans(
    heights: Float32s, cells: Bytes, grid: Grid, xs: Floats, zs: Floats, spans: Spans
) -> None:
    """Write what is at each point.

    ``heights`` and ``cells`` begin with those of the map; a map without a table passes a table of
    one cell.
    """
    prefer_wide_vectors()
    across, along, levels, marks, triangles = spans
    for k in range(marks.shape[0]):
        a, b, c, d, u, v, flipped, good, cell = _cell_at(
            heights, cells, grid, float(xs[k]), float(zs[k])
        )
        across[k], along[k], levels[k], high = _rises_and_height(a, b, c, d, u, v, flipped)
        marks[k] = np.int32(0) if good else np.int32(1)
        triangles[k] = 2 * np.int64(cell) + (1 if high else 0)


@kernel(inline=True)
def _within(place: float, start: float, size: float, count: int) -> tuple[bool, np.int64, float]:
    """Return whether a place is on one axis of a map, then the index of a cell and where in it."""
    u = (place - start) / size
    inside = (u >= 0.0) & (u < float(count))
    u = u if inside else 0.0
    index = np.int64(np.int32(u))
    return inside, index, u - float(index)


@kernel(noinline=True, noalias=True)
def _bits_in_tiles(
    cells: Bytes, table: Int64s, grid: Grid, xs: Floats, zs: Floats, bits: Int32s
) -> None:
    """Write the bits of the cell at each point of a map in tiles."""
    prefer_wide_vectors()
    for k in range(bits.shape[0]):
        _, column, _ = _within(float(xs[k]), grid.x0, grid.cell_x, grid.columns)
        _, row, _ = _within(float(zs[k]), grid.z0, grid.cell_z, grid.rows)
        at = tile_in(table, grid.rows, row, column)
        place, _, _ = lined_up(table, at + CELLS_AT, row, column)
        turned = table[np.uint64(at + TURNED)] ^ (
            table[np.uint64(at + TURNED_IF_ODD)] & (row + column)
        )
        bits[k] = np.int32(np.int64(cells[np.uint64(place)]) ^ turned)


@kernel(noinline=True, noalias=True)
def _spans_in_tiles(
    heights: Float32s,
    table: Int64s,
    grid: Grid,
    xs: Floats,
    zs: Floats,
    bits: Int32s,
    spans: Spans,
) -> None:
    """Write the results of `put_spans` without triangles, for a map in tiles with these bits."""
    prefer_wide_vectors()
    across, along, levels, marks, _ = spans
    (base, alternate), y0, height_scale = _flips(grid), grid.y0, grid.height_scale
    for k in range(marks.shape[0]):
        is_across, column, u = _within(float(xs[k]), grid.x0, grid.cell_x, grid.columns)
        is_along, row, v = _within(float(zs[k]), grid.z0, grid.cell_z, grid.rows)
        at = tile_in(table, grid.rows, row, column)
        place, down, right = lined_up(table, at + HEIGHTS_AT, row, column)
        d = y0 + height_scale * np.float64(heights[np.uint64(place)])
        c = y0 + height_scale * np.float64(heights[np.uint64(place + right)])
        place += down
        a = y0 + height_scale * np.float64(heights[np.uint64(place)])
        b = y0 + height_scale * np.float64(heights[np.uint64(place + right)])
        parity = np.int32((row + column) & np.int64(1))
        flip = base ^ (parity & alternate) ^ bits[k]
        across[k], along[k], levels[k], _ = _rises_and_height(
            a, b, c, d, u, v, np.int32(flip & np.int32(CELL_FLIPPED)) != 0
        )
        whole = (a + b) + (c + d)
        good = (
            is_across & is_along & (not math.isnan(whole)) & ((bits[k] & np.int32(CELL_HOLE)) == 0)
        )
        marks[k] = np.int32(0) if good else np.int32(1)


@kernel(noinline=True, noalias=True)
def slopes_to_normals(
    across: Floats, along: Floats, cell_x: float, cell_z: float, levels: Floats
) -> None:
    """Turn rises into the x and z of unit normals, and write their y; as `slope_normal` does."""
    prefer_wide_vectors()
    for k in range(across.shape[0]):
        along_x, along_z = float(across[k]) / cell_x, float(along[k]) / cell_z
        size = 1.0 / math.sqrt(1.0 + along_x * along_x + along_z * along_z)
        across[k], along[k], levels[k] = -along_x * size, -along_z * size, size


@kernel
def surface_at(
    heights: Float32s,
    cells: Bytes,
    frame: Floats,
    xs: Floats,
    zs: Floats,
    first: int,
    last: int,
    wants_normals: bool,
    out: Floats,
) -> None:
    """Write heights (n, 1), or normals (n, 3), at points [first, last) of n."""
    grid = unpack_grid(heights, cells, frame)
    samples = (grid.rows + 1) * (grid.columns + 1)
    across = np.empty(CHUNK, dtype=np.float64)
    along = np.empty(CHUNK, dtype=np.float64)
    levels = np.empty(CHUNK, dtype=np.float64)
    marks, bits = np.empty(CHUNK, dtype=np.int32), np.zeros(CHUNK, dtype=np.int32)
    triangles = np.empty(CHUNK, dtype=np.int64)
    for begin in range(first, last, CHUNK):
        count = min(CHUNK, last - begin)
        here, there = xs[begin : begin + count], zs[begin : begin + count]
        spans = Spans(across, along, levels, marks[:count], triangles)
        if grid.tiles != 0:
            table = array_at(grid.tiles, (grid.tiles_size,), np.int64)
            if grid.has_table:
                _bits_in_tiles(cells, table, grid, here, there, bits[:count])
            _spans_in_tiles(heights, table, grid, here, there, bits, spans)
        elif samples <= MOST_SAMPLES:
            put_spans(heights, cells, grid, here, there, spans)
        else:
            for k in range(count):
                marks[k] = 1
        if wants_normals:
            slopes_to_normals(across[:count], along[:count], grid.cell_x, grid.cell_z, levels)
            for k in range(count):
                out[begin + k, 0] = across[k] + 0.0
                out[begin + k, 1] = levels[k]
                out[begin + k, 2] = along[k] + 0.0
        else:
            for k in range(count):
                out[begin + k, 0] = levels[k]
        redo = 0
        for k in range(count):
            redo += marks[k]
        if redo == 0:
            continue
        for k in range(count):
            if marks[k] != 0:
                x, z = float(xs[begin + k]), float(zs[begin + k])
                if wants_normals:
                    slope_x, up, slope_z = normal(grid, x, z)
                    out[begin + k, 0], out[begin + k, 1] = slope_x + 0.0, up
                    out[begin + k, 2] = slope_z + 0.0
                else:
                    out[begin + k, 0] = height(grid, x, z)
