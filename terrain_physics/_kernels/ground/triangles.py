"""What a triangle is that kernels give by part and number: its id, its cell, or its material."""

import numpy as np

from terrain_physics._kernels._intrinsics import array_at, borrow
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.ground.hits import PLACE, TRIANGLE
from terrain_physics._kernels.ground.owners import MESH, map_arrays, maps_in, owner_in
from terrain_physics._kernels.heightmap.grid import CELL_SIZE, COLUMNS, ORIGIN, ROWS
from terrain_physics._kernels.heightmap.solid.sides import SIDES_OF_CELL
from terrain_physics._kernels.mesh.parts import (
    ID_BITS,
    NUMBER,
    face_count,
    material_in,
    row_count,
    row_of_number,
)
from terrain_physics._kernels.surface.ground_arrays import (
    MAP_NUMBER,
    MAP_NUMBERS,
    MESH_ROW_SIZE,
    MESHES,
)
from terrain_physics._kernels.types import Bytes, Floats, Int64s


@kernel(inline=True)
def _nearest(steps: float, count: int) -> int:
    """Return the nearest of a line of cells to a place, so many cells behind its start."""
    return int(min(steps, count - 1.0)) if steps > 0.0 else 0


@kernel(noinline=True, no_refcount=True)
def _on_map(maps: Int64s, at: int, triangle: int, x: float, z: float) -> tuple[int, int, int, bool]:
    frame = map_arrays(maps, at)[3]
    rows, columns = int(frame[ROWS]), int(frame[COLUMNS])
    surface = 2 * rows * columns
    if triangle >= surface + SIDES_OF_CELL * rows * columns:
        return -1, 0, MESH, False
    found, _ = owner_in(maps, at, triangle)
    if triangle >= surface:
        cell = (triangle - surface) // SIDES_OF_CELL
    elif triangle >= 0:
        cell = triangle // 2
    else:
        row = _nearest((z - float(frame[ORIGIN + 2])) / float(frame[CELL_SIZE + 1]), rows)
        column = _nearest((x - float(frame[ORIGIN])) / float(frame[CELL_SIZE]), columns)
        cell = row * columns + column
    # Beside all tiles of a union there may be no tile.
    return found, cell, at, found >= 0 or maps[at, MAP_NUMBERS + 1] == 1


@kernel(noinline=True, no_refcount=True)
def _in_tables(
    tables: Int64s, part: int, triangle: int, x: float, z: float
) -> tuple[int, int, int, bool]:
    maps = maps_in(tables)
    for at in range(len(maps)):
        if maps[at, MAP_NUMBER] == part:
            return _on_map(maps, at, triangle, x, z)
    rows = array_at(tables[MESHES, 0], (tables[MESHES, 1], MESH_ROW_SIZE), np.int64)
    at = row_of_number(rows, part)
    if at >= row_count(rows) or rows[at, NUMBER] != part or triangle < 0:
        return -1, 0, MESH, False
    if triangle >= face_count(rows, at):
        return -1, 0, MESH, False
    return part << ID_BITS | triangle, material_in(rows, at, triangle), MESH, True


@kernel
def triangle_at(
    table: Int64s, part: int, triangle: int, x: float, z: float
) -> tuple[int, int, int, bool]:
    """Return (id, nearest cell, row of its map, whether it is there) of a triangle at a place.

    Of a mesh it is (id, material, MESH, ...).
    """
    return _in_tables(borrow(table), part, triangle, x, z)


@kernel
def put_triangles(
    table: Int64s, parts: Int64s, triangles: Int64s, xs: Floats, zs: Floats,
    whole: Int64s, known: Bytes,
) -> None:  # fmt: skip
    """Write ids and places (2, n), see `hits.py`, of triangles (n,), and which are there."""
    tables = borrow(table)
    for k in range(len(parts)):
        found, cell, row, is_known = _in_tables(
            tables, int(parts[k]), int(triangles[k]), float(xs[k]), float(zs[k])
        )
        whole[TRIANGLE, k], whole[PLACE, k] = found, row << ID_BITS | cell
        known[k] = is_known
