"""The height map as geometry: samples, cells, triangles, heights and normals.

Cell (row, column) has the corners d (row, column), c (row, column + 1), a (row + 1, column) and
b (row + 1, column + 1). Half 0 is (a, b, c) and half 1 (a, c, d); in a flipped cell half 0 is
(a, b, d) and half 1 (b, c, d). Corners run counter-clockwise seen from above. A cell with a hole
(NaN) at any corner, or marked as one, has no triangles.

The samples of a large map may lie in *tiles*: maps that share border lines, each with its own
arrays. A table holds the place of each cell's samples and bits: see `tile_of`.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from terrain_physics._kernels._intrinsics import array_at
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.types import Bytes, Float32s, Floats, Int64s

# Kinds of diagonal.
DIAGONAL_AC, DIAGONAL_BD, DIAGONAL_ALTERNATING, DIAGONAL_TABLE = range(4)

# Bits of a cell in the table of cells.
CELL_FLIPPED, CELL_HOLE = 1, 2

# Endless ground is cut off here, in cells: farther out, cells are smaller than the rounding of
# coordinates.
FARTHEST_CELL = 1e15

# Places in the array that describes a map to the kernels.
ORIGIN, CELL_SIZE, HEIGHT_SCALE, EXTEND, DIAGONAL, THICKNESS = 0, 3, 5, 6, 7, 8
ROWS, COLUMNS, HAS_TABLE = 9, 10, 11
FRAME_SIZE = 12

# A map in tiles adds this to HAS_TABLE, and two places follow: the address of the table of tiles,
# which float64 holds exactly, and its length.
IN_TILES = 2.0
TILES, TILES_SIZE = 12, 13
TILED_FRAME_SIZE = 14

# The table of tiles begins with a number for each row of cells, then one for each column. The sum
# of a cell's two numbers is a place in the table, and the number there is the place of its tile. A
# tile has these entries: where in `Grid.heights` the sample at row 0 and column 0 of the whole map
# would be, and the step to the next row; the same for `Grid.cells`; the bits that are turned in all
# cells, and those that are turned where row + column is odd; the number of the tile, its first row
# and column in the whole map, and its numbers of columns and rows. If the step to the next row is
# 0, so is the step to the next column: all cells share their bits, or, where no tile is, a missing
# sample.
HEIGHTS_AT, HEIGHTS_DOWN, CELLS_AT, CELLS_DOWN, TURNED, TURNED_IF_ODD = range(6)
TILE_NUMBER, TILE_ROW, TILE_COLUMN, TILE_COLUMNS, TILE_ROWS = range(6, 11)
TILE_SIZE = 11
NO_TILE = -1  # its number


class Grid(NamedTuple):
    """A height map inside a kernel. Samples outside the map repeat its border."""

    heights: Float32s  # ((rows + 1) * (columns + 1),), row by row; or the memory that tiles lie in
    cells: Bytes  # (rows * columns,): bits of each cell, if there is a table; or that memory
    rows: int  # of cells
    columns: int
    x0: float
    y0: float
    z0: float
    cell_x: float
    cell_z: float
    height_scale: float
    extend: bool  # whether there is ground outside the map
    diagonal: int
    has_table: bool
    thickness: float  # how far below its surface the ground is solid; may be inf
    tiles: int  # the address of the table of tiles, 0 if there are none
    tiles_size: int


@kernel(inline=True)
def unpack_grid(heights: Float32s, cells: Bytes, frame: Floats) -> Grid:
    """Return the map as one value. Passed from Python, a named tuple costs three times as much."""
    in_tiles = frame[HAS_TABLE] >= IN_TILES
    return Grid(
        heights,
        cells,
        int(frame[ROWS]),
        int(frame[COLUMNS]),
        float(frame[ORIGIN]),
        float(frame[ORIGIN + 1]),
        float(frame[ORIGIN + 2]),
        float(frame[CELL_SIZE]),
        float(frame[CELL_SIZE + 1]),
        float(frame[HEIGHT_SCALE]),
        frame[EXTEND] != 0.0,
        int(frame[DIAGONAL]),
        frame[HAS_TABLE] % IN_TILES != 0.0,
        float(frame[THICKNESS]),
        int(frame[TILES]) if in_tiles else 0,
        int(frame[TILES_SIZE]) if in_tiles else 0,
    )


@kernel(inline=True, no_refcount=True)
def tile_of(grid: Grid, row: int, column: int) -> tuple[Int64s, int]:
    """Return the table of tiles, and the place of a cell's tile in it."""
    table = array_at(grid.tiles, (grid.tiles_size,), np.int64)
    return table, tile_in(table, grid.rows, row, column)


@kernel(inline=True)
def tile_in(table: Int64s, rows: Any, row: Any, column: Any) -> Any:
    """Return the place of a cell's tile in the table of a map with so many rows."""
    # Places are unsigned: numba checks whether a signed one is negative and counts from the end.
    place = table[np.uint64(row)] + table[np.uint64(rows + column)]
    return table[np.uint64(place)]


@kernel(inline=True, no_refcount=True)
def cell_bits(grid: Grid, row: int, column: int) -> int:
    """Return the table's bits of a cell; outside the map, those of the nearest cell."""
    row = min(max(row, 0), grid.rows - 1)
    column = min(max(column, 0), grid.columns - 1)
    if grid.tiles != 0:
        table, at = tile_of(grid, row, column)
        place = lined_up(table, at + CELLS_AT, row, column)[0]
        turned = table[np.uint64(at + TURNED)]
        turned ^= table[np.uint64(at + TURNED_IF_ODD)] & (row + column)
        return int(grid.cells[np.uint64(place)]) ^ int(turned)
    return int(grid.cells[row * grid.columns + column])


@kernel(inline=True)
def lined_up(table: Int64s, at: Any, row: Any, column: Any) -> tuple[Any, Any, Any]:
    """Return the place of a tile's sample, or of its bits, and the steps to next row and column.

    ``at`` is where the table has these: see `HEIGHTS_AT` and `CELLS_AT`.
    """
    down = table[np.uint64(at + 1)]
    right = np.int64(down != 0)
    return table[np.uint64(at)] + row * down + column * right, down, right


@kernel(no_refcount=True)
def _sample_in_tiles(grid: Grid, row: int, column: int) -> int:
    """Return the place of a sample: in the tile of one of the cells around it."""
    place = 0
    for k in range(4):
        cell_row = min(max(row - k // 2, 0), grid.rows - 1)
        cell_column = min(max(column - k % 2, 0), grid.columns - 1)
        table, at = tile_of(grid, cell_row, cell_column)
        place, _, right = lined_up(table, at + HEIGHTS_AT, row, column)
        if right != 0:  # there is a tile
            break
    return place


@kernel(inline=True, no_refcount=True)
def sample(grid: Grid, row: int, column: int) -> float:
    """Return the height of a sample in meters, NaN in a hole; outside the map, the border's."""
    row = min(max(row, 0), grid.rows)
    column = min(max(column, 0), grid.columns)
    place = row * (grid.columns + 1) + column
    if grid.tiles != 0:
        place = _sample_in_tiles(grid, row, column)
    # float() of a float32 would stay float32 when compiled.
    return grid.y0 + grid.height_scale * np.float64(grid.heights[place])


@kernel(inline=True, no_refcount=True)
def vertex(grid: Grid, row: int, column: int) -> Vec3:
    """Return a sample as a point."""
    return (
        grid.x0 + column * grid.cell_x,
        sample(grid, row, column),
        grid.z0 + row * grid.cell_z,
    )


@kernel(inline=True, no_refcount=True)
def in_map(grid: Grid, row: int, column: int) -> bool:
    """Tell whether a cell lies inside the map."""
    return bool(0 <= row < grid.rows and 0 <= column < grid.columns)


@kernel(inline=True, no_refcount=True)
def sample_places(grid: Grid, row: int, column: int) -> tuple[int, int, int, int]:
    """Return the places of the samples at a, b, c and d of a cell."""
    if grid.tiles != 0:  # maps in tiles have no ground outside
        row, column = min(max(row, 0), grid.rows - 1), min(max(column, 0), grid.columns - 1)
        table, at = tile_of(grid, row, column)
        d, down, right = lined_up(table, at + HEIGHTS_AT, row, column)
        return d + down, d + down + right, d + right, d
    left = min(max(column, 0), grid.columns)
    right = min(max(column + 1, 0), grid.columns)
    near = min(max(row, 0), grid.rows) * (grid.columns + 1)
    far = min(max(row + 1, 0), grid.rows) * (grid.columns + 1)
    return far + left, far + right, near + right, near + left


@kernel(inline=True, no_refcount=True)
def stored_corners(grid: Grid, row: int, column: int) -> tuple[float, float, float, float]:
    """Return the heights at a, b, c and d of a cell as they are stored."""
    a, b, c, d = sample_places(grid, row, column)
    return (
        np.float64(grid.heights[a]),
        np.float64(grid.heights[b]),
        np.float64(grid.heights[c]),
        np.float64(grid.heights[d]),
    )


@kernel(inline=True, no_refcount=True)
def corner_heights(grid: Grid, row: int, column: int) -> tuple[float, float, float, float]:
    """Return the heights at a, b, c and d of a cell in meters."""
    a, b, c, d = stored_corners(grid, row, column)
    y0, height_scale = grid.y0, grid.height_scale
    return (
        y0 + height_scale * a,
        y0 + height_scale * b,
        y0 + height_scale * c,
        y0 + height_scale * d,
    )


@kernel(inline=True, no_refcount=True)
def is_ground(grid: Grid, row: int, column: int, a: float, b: float, c: float, d: float) -> bool:
    """Tell whether a cell has triangles: it exists, is not marked as a hole, and has no NaN."""
    if not (grid.extend or in_map(grid, row, column)):
        return False
    if grid.has_table and cell_bits(grid, row, column) & CELL_HOLE:
        return False
    return not math.isnan(a + b + c + d)


@kernel(no_refcount=True)
def has_ground(grid: Grid, row: int, column: int) -> bool:
    """Tell whether a cell has triangles; the heights of its corners are read for it."""
    a, b, c, d = corner_heights(grid, row, column)
    return is_ground(grid, row, column, a, b, c, d)


@kernel(no_refcount=True)
def is_flipped(grid: Grid, row: int, column: int) -> bool:
    """Tell whether a cell is split from b to d."""
    if grid.diagonal == DIAGONAL_TABLE:
        return cell_bits(grid, row, column) & CELL_FLIPPED != 0
    if grid.diagonal == DIAGONAL_ALTERNATING:
        return (row + column) % 2 != 0
    return grid.diagonal == DIAGONAL_BD


@kernel(inline=True)
def half_corners(flipped: bool, half: int) -> tuple[int, int, int, int, int, int]:
    """Return (row, column) of the three corners of a half, relative to the cell."""
    if flipped:
        if half == 0:
            return (1, 0, 1, 1, 0, 0)  # a b d
        return (1, 1, 0, 1, 0, 0)  # b c d
    if half == 0:
        return (1, 0, 1, 1, 0, 1)  # a b c
    return (1, 0, 0, 1, 0, 0)  # a c d


@kernel(inline=True, no_refcount=True)
def half_slopes(
    grid: Grid, flipped: bool, half: int, a: float, b: float, c: float, d: float
) -> tuple[float, float]:
    """Return the slopes of a half along x and along z, from the heights at the cell's corners."""
    if half == 0:
        along_x = b - a
        along_z = a - d if flipped else b - c
    else:
        along_x = c - d
        along_z = b - c if flipped else a - d
    return along_x / grid.cell_x, along_z / grid.cell_z


@kernel(inline=True)
def slope_normal(along_x: float, along_z: float) -> Vec3:
    """Return the unit normal of a surface with these slopes."""
    size = 1.0 / math.sqrt(1.0 + along_x * along_x + along_z * along_z)
    return (-along_x * size, size, -along_z * size)


@kernel(inline=True)
def border_side(place: float, start: float, size: float, index: int) -> int:
    """Return the neighbor of a cell that also contains a coordinate: -1, 1 or 0 for none.

    The coordinates of samples are rounded as everywhere, so that the corners of a triangle are on
    its ground.
    """
    if place <= start + index * size:
        return -1
    return 1 if place >= start + (index + 1) * size else 0


@kernel(no_refcount=True)
def locate(grid: Grid, x: float, z: float) -> tuple[int, int, int, float, float]:
    """Return (row, column, half, x and z within the cell from 0 to 1) of a point.

    Half -1 means that there is no ground. A point between cells belongs to the one of higher row
    and column that has ground, on the far border to the last cell; one on a diagonal to half 1.
    """
    rows, columns = grid.rows, grid.columns
    u, v = (x - grid.x0) / grid.cell_x, (z - grid.z0) / grid.cell_z
    if grid.extend:
        # Outside, the ground is level in the direction away from the map, so half a cell is enough.
        u = min(max(u, -0.5), columns + 0.5)
        v = min(max(v, -0.5), rows + 0.5)
    elif not (-0.5 <= u <= columns + 0.5 and -0.5 <= v <= rows + 0.5):
        return 0, 0, -1, 0.0, 0.0
    column, row = math.floor(u), math.floor(v)
    if u == columns:
        column = columns - 1
    if v == rows:
        row = rows - 1
    if not has_ground(grid, row, column):
        aside = border_side(x, grid.x0, grid.cell_x, column)
        along = border_side(z, grid.z0, grid.cell_z, row)
        if aside != 0 and has_ground(grid, row, column + aside):
            column += aside
        elif along != 0 and has_ground(grid, row + along, column):
            row += along
        elif aside != 0 and along != 0 and has_ground(grid, row + along, column + aside):
            row, column = row + along, column + aside
        else:
            return row, column, -1, 0.0, 0.0
    u, v = min(max(u - column, 0.0), 1.0), min(max(v - row, 0.0), 1.0)
    if is_flipped(grid, row, column):
        half = 1 if u >= v else 0
    else:
        half = 1 if u + v <= 1.0 else 0
    return row, column, half, u, v


@kernel(no_refcount=True)
def height(grid: Grid, x: float, z: float) -> float:
    """Return the height of the surface in meters; NaN where there is none."""
    row, column, half, u, v = locate(grid, x, z)
    return height_within(grid, row, column, half, u, v) if half >= 0 else np.nan


@kernel(no_refcount=True)
def height_within(grid: Grid, row: int, column: int, half: int, u: float, v: float) -> float:
    """Return the height in meters at a place within the half of a cell, see `locate`."""
    a, b, c, d = corner_heights(grid, row, column)
    # Differences, not weighted corners: on level ground the result is its height, to the last bit.
    if is_flipped(grid, row, column):
        if half == 0:
            return d + u * (b - a) + v * (a - d)
        return d + u * (c - d) + v * (b - c)
    if half == 0:
        return b - (1.0 - u) * (b - a) - (1.0 - v) * (b - c)
    return d + u * (c - d) + v * (a - d)


@kernel(no_refcount=True)
def normal(grid: Grid, x: float, z: float) -> Vec3:
    """Return the unit normal of the surface; NaN where there is none."""
    row, column, half, _, _ = locate(grid, x, z)
    if half < 0:
        return (np.nan, np.nan, np.nan)
    a, b, c, d = corner_heights(grid, row, column)
    along_x, along_z = half_slopes(grid, is_flipped(grid, row, column), half, a, b, c, d)
    return slope_normal(along_x, along_z)


@kernel
def cell_span(
    low: float, high: float, start: float, size: float, count: int, extend: bool
) -> tuple[int, int]:
    """Return the range [first, last) of cells that may touch low..high on one axis.

    It is up to a cell wider than needed at either end, so that rounding loses none.
    """
    least, most = (-FARTHEST_CELL, FARTHEST_CELL) if extend else (0.0, float(count))
    first = min(max((low - start) / size - 1.0, least), most)
    last = min(max((high - start) / size + 2.0, least), most)
    return math.floor(first), math.floor(last)


@kernel(holds_gil=True, noinline=True)
def height_at(
    heights: Float32s,
    cells: Bytes,
    frame: Floats,
    x: float,
    z: float,
) -> float:
    """Return the height at one point, as `height` does, from the arrays of a map."""
    return height(unpack_grid(heights, cells, frame), x, z)


@kernel(holds_gil=True)
def normal_at(
    heights: Float32s,
    cells: Bytes,
    frame: Floats,
    x: float,
    z: float,
) -> Vec3:
    """Return the normal at one point, for callers outside of kernels."""
    return normal(unpack_grid(heights, cells, frame), x, z)
