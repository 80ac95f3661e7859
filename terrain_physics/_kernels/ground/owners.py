"""The maps and meshes in a ground's table: their arrays, and the parts that own their triangles."""

import numpy as np

from terrain_physics._kernels._intrinsics import array_at, replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.heightmap.blocks import block_span, level_start
from terrain_physics._kernels.heightmap.clipping import Terrain, survey
from terrain_physics._kernels.heightmap.grid import (
    COLUMNS,
    NO_TILE,
    ROWS,
    THICKNESS,
    TILES,
    TILES_SIZE,
    height_at,
)
from terrain_physics._kernels.heightmap.tiles import tile_of_triangle
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.mesh.parts import ID_BITS, Parts, parts_at, row_count
from terrain_physics._kernels.surface.ground_arrays import (
    MAP_BLOCKS,
    MAP_CELLS,
    MAP_FRAME,
    MAP_HEIGHTS,
    MAP_NUMBERS,
    MAP_ROW_SIZE,
    MAPS,
    MESH_ROW_SIZE,
)
from terrain_physics._kernels.types import Bytes, Float32s, Floats, Int64s

# In an answer, in the place of the row of a map: it is of a mesh, or of nothing.
MESH = -1


@kernel(inline=True)
def maps_in(tables: Int64s) -> Int64s:
    maps: Int64s = array_at(tables[MAPS, 0], (tables[MAPS, 1], MAP_ROW_SIZE), np.int64)
    return maps


@kernel(inline=True)
def map_arrays(maps: Int64s, row: int) -> tuple[Float32s, Bytes, Float32s, Floats]:
    """Return heights, cells, blocks and frame of a map."""
    return (
        array_at(maps[row, MAP_HEIGHTS], (maps[row, MAP_HEIGHTS + 1],), np.float32),
        array_at(maps[row, MAP_CELLS], (maps[row, MAP_CELLS + 1],), np.uint8),
        array_at(maps[row, MAP_BLOCKS], (maps[row, MAP_BLOCKS + 1],), np.float32),
        array_at(maps[row, MAP_FRAME], (maps[row, MAP_FRAME + 1],), np.float64),
    )


@kernel(inline=True)
def terrain_of(maps: Int64s, row: int) -> Terrain:
    heights, cells, blocks, frame = map_arrays(maps, row)
    return survey(heights, cells, blocks, frame)


@kernel(inline=True)
def is_thin(maps: Int64s, row: int) -> bool:
    """Tell whether a map has an underside."""
    return bool(map_arrays(maps, row)[3][THICKNESS] < np.inf)


@kernel(inline=True)
def upside_down(terrain: Terrain) -> Terrain:
    """Return the map whose surface is the underside of one, seen from below: y is -y."""
    own = terrain.grid
    grid = replaced(own, y0=own.thickness - own.y0, height_scale=-own.height_scale)
    top = level_start(grid.rows, grid.columns, terrain.levels - 1)
    low, high = block_span(grid, terrain.blocks, top)
    return replaced(terrain, grid=grid, low=low, high=high)


@kernel(noinline=True)
def levels_of(maps: Int64s, row: int, place: Vec3) -> tuple[float, float]:
    """Return the heights of the surface and the underside of a map at a place; NaN: no ground."""
    heights, cells, _, frame = map_arrays(maps, row)
    surface = height_at(heights, cells, frame, place[0], place[2])
    return surface, surface - float(frame[THICKNESS])


@kernel(inline=True)
def parts_in(tables: Int64s, which: int, mask: int) -> Parts:
    """Return the meshes of the ground, or the sides of its maps."""
    return parts_at(array_at(tables[which, 0], (tables[which, 1], MESH_ROW_SIZE), np.int64), mask)


@kernel(noinline=True, no_refcount=True)
def has_others(maps: Int64s, meshes: Parts, sides: Parts) -> bool:
    """Tell whether there is more than surfaces of maps."""
    if row_count(meshes.rows) > 1 or row_count(sides.rows) > 1:
        return True
    for row in range(len(maps)):
        if is_thin(maps, row):
            return True
    return False


@kernel(inline=True)
def more_of(meshes: Parts, sides: Parts) -> Parts:
    """Return those with more rows: scratch for them serves both."""
    return meshes if row_count(meshes.rows) > row_count(sides.rows) else sides


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
