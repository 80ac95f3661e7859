"""The maps in a ground's table: their arrays, and the parts that own their triangles."""

import numpy as np

from terrain_physics._kernels._intrinsics import array_at
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.heightmap.grid import COLUMNS, NO_TILE, ROWS, TILES, TILES_SIZE
from terrain_physics._kernels.heightmap.tiles import tile_of_triangle
from terrain_physics._kernels.mesh.parts import ID_BITS
from terrain_physics._kernels.surface.ground_arrays import (
    MAP_BLOCKS,
    MAP_CELLS,
    MAP_FRAME,
    MAP_HEIGHTS,
    MAP_NUMBERS,
)
from terrain_physics._kernels.types import Bytes, Float32s, Floats, Int64s

# In an answer, in the place of the row of a map: it is of a mesh, or of nothing.
MESH = -1


@kernel(inline=True)
def map_arrays(maps: Int64s, row: int) -> tuple[Float32s, Bytes, Float32s, Floats]:
    """Return heights, cells, blocks and frame of a map."""
    return (
        array_at(maps[row, MAP_HEIGHTS], (maps[row, MAP_HEIGHTS + 1],), np.float32),
        array_at(maps[row, MAP_CELLS], (maps[row, MAP_CELLS + 1],), np.uint8),
        array_at(maps[row, MAP_BLOCKS], (maps[row, MAP_BLOCKS + 1],), np.float32),
        array_at(maps[row, MAP_FRAME], (maps[row, MAP_FRAME + 1],), np.float64),
    )


@kernel(noinline=True)
def owner_in(maps: Int64s, row: int, triangle: int) -> tuple[int, int]:
    """Return the ground's id of a triangle of a map or a union, and the part that owns it.

    A triangle of no part has the id -1 and the first one.
    """
    numbers = array_at(maps[row, MAP_NUMBERS], (maps[row, MAP_NUMBERS + 1],), np.int64)
    first = int(numbers[0])
    if triangle < 0:
        return -1, first
    if len(numbers) == 1:
        return triangle | first << ID_BITS, first
    frame = array_at(maps[row, MAP_FRAME], (maps[row, MAP_FRAME + 1],), np.float64)
    table = array_at(int(frame[TILES]), (int(frame[TILES_SIZE]),), np.int64)
    tile, own = tile_of_triangle(table, int(frame[ROWS]), int(frame[COLUMNS]), triangle)
    if tile == NO_TILE:
        return -1, first
    number = int(numbers[tile])
    return number << ID_BITS | own, number
