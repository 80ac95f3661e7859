"""The owners of the triangles of a map in tiles, and the tiles that are missing."""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.heightmap.grid import (
    NO_TILE,
    TILE_COLUMN,
    TILE_COLUMNS,
    TILE_NUMBER,
    TILE_ROW,
    TILE_ROWS,
    Grid,
    in_map,
    tile_in,
    tile_of,
)
from terrain_physics._kernels.heightmap.solid.sides import SIDES_OF_CELL
from terrain_physics._kernels.types import Bytes, Floats, Int64s

# The number of a tile that there is, but not in memory.
MISSING_TILE = -2


@kernel(no_refcount=True)
def is_missing(grid: Grid, row: int, column: int) -> bool:
    """Tell whether a cell is in a tile that there is, but not in memory."""
    if grid.tiles == 0 or not in_map(grid, row, column):
        return False
    table, at = tile_of(grid, row, column)
    return int(table[at + TILE_NUMBER]) == MISSING_TILE


@kernel(inline=True)
def _tiles_over(
    low: float, high: float, start: float, per_meter: float, count: int
) -> tuple[int, int]:
    """Return the range [first, last) of tiles that low..high touches on one axis, borders too."""
    first, last = (low - start) * per_meter, (high - start) * per_meter
    if not (last >= 0.0 and first <= count):  # also for NaN
        return 0, 0
    # A border belongs to the tiles on both sides.
    least, most = math.ceil(max(first, 0.0)) - 1, math.floor(min(last, float(count))) + 1
    return max(least, 0), min(most, count)


@kernel
def find_missing(
    boxes: Floats, missing: Bytes, columns: int, x0: float, z0: float, per_x: float, per_z: float,
    marks: Bytes, wanted: Bytes,
) -> int:  # fmt: skip
    """Write 1 to the marks (n,) of boxes that touch missing tiles, and to ``wanted`` for these.

    ``boxes`` (n * 4,) are least x and z, greatest x and z. ``missing`` and ``wanted`` have a number
    for each tile, row by row, and ``columns`` of them to a row; ``per_x`` and ``per_z`` are tiles
    for each meter. Returns how many boxes are marked.
    """
    rows, count = len(missing) // columns, 0
    for i in range(len(marks)):
        marks[i] = 0
        row_0, row_1 = _tiles_over(boxes[4 * i + 1], boxes[4 * i + 3], z0, per_z, rows)
        column_0, column_1 = _tiles_over(boxes[4 * i], boxes[4 * i + 2], x0, per_x, columns)
        for row in range(row_0, row_1):
            for column in range(column_0, column_1):
                if missing[row * columns + column] != 0:
                    wanted[row * columns + column] = 1
                    marks[i] = 1
        count += marks[i]
    return count


@kernel(inline=True)
def _owner(table: Int64s, rows: int, columns: int, triangle: int) -> tuple[int, int]:
    """Return the number of the tile that owns a triangle, or NO_TILE, and the triangle's own id.

    A side of a cell is owned by the tile of the cell.
    """
    side = triangle - 2 * rows * columns
    each = 2 if side < 0 else SIDES_OF_CELL
    place = triangle if side < 0 else side
    row = place // each // columns
    column = place // each - row * columns
    at = int(tile_in(table, rows, row, column))
    below, beside = row - int(table[at + TILE_ROW]), column - int(table[at + TILE_COLUMN])
    own_columns = int(table[at + TILE_COLUMNS])
    own = each * (below * own_columns + beside) + place % each
    if side >= 0:
        own += 2 * int(table[at + TILE_ROWS]) * own_columns
    return int(table[at + TILE_NUMBER]), own


@kernel
def owner_of(
    table: Int64s, rows: int, columns: int, first_ids: Int64s, parts: Int64s, triangle: int
) -> tuple[int, int]:
    """Return what `put_owners` writes for one triangle: its own id and the part that owns it."""
    tile, own = _owner(table, rows, columns, triangle) if triangle >= 0 else (NO_TILE, -1)
    if tile == NO_TILE:
        return -1, int(parts[0])
    return int(first_ids[tile]) + own, int(parts[tile])


@kernel
def put_owners(
    table: Int64s,
    rows: int,
    columns: int,
    first_ids: Int64s,
    parts: Int64s,
    triangles: Int64s,
    owners: Int64s,
) -> None:
    """Write the parts that own triangles (n,) of a map, and their own ids over the triangles.

    ``first_ids`` and ``parts`` (k,) belong to the tiles in its table, see `grid.tile_of`. A
    triangle of no tile gets the id -1 and the first part, and so does -1.
    """
    for i in range(triangles.shape[0]):
        triangle = int(triangles[i])
        triangles[i], owners[i] = owner_of(table, rows, columns, first_ids, parts, triangle)
