"""The owners of the triangles of a map in tiles."""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.heightmap.grid import (
    NO_TILE,
    TILE_COLUMN,
    TILE_COLUMNS,
    TILE_NUMBER,
    TILE_ROW,
    TILE_ROWS,
    tile_in,
)
from terrain_physics._kernels.heightmap.solid.sides import SIDES_OF_CELL
from terrain_physics._kernels.types import Int64s


@kernel(inline=True)
def tile_of_triangle(table: Int64s, rows: int, columns: int, triangle: int) -> tuple[int, int]:
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
        triangle, tile, own = int(triangles[i]), NO_TILE, -1
        if triangle >= 0:
            tile, own = tile_of_triangle(table, rows, columns, triangle)
        if tile == NO_TILE:
            triangles[i], owners[i] = -1, parts[0]
        else:
            triangles[i], owners[i] = first_ids[tile] + own, parts[tile]
