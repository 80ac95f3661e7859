"""The contacts of many shapes with the surface of a map in a ground's table, in stages.

See `heightmap.batch_contacts`.
"""

from terrain_physics._kernels._intrinsics import borrow
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.ground.owners import maps_in, owner_in, terrain_of
from terrain_physics._kernels.heightmap.batch_contacts import contact_rows
from terrain_physics._kernels.heightmap.batch_contacts.broad_phase import Touches
from terrain_physics._kernels.heightmap.batch_contacts.find_contacts import Place, find_contacts
from terrain_physics._kernels.types import Floats, Int64s

# Kernels compile once for each list of types: arrays of a table have those of arrays from Python.


@kernel
def find_on_map(
    table: Int64s, map_row: int, kind: int, shapes: Floats, place: Place, last: int
) -> tuple[int, Int64s, Int64s, Int64s, Place]:
    """See `find_contacts`."""
    return find_contacts(terrain_of(maps_in(borrow(table)), map_row), kind, shapes, place, last)


@kernel
def put_on_map(
    table: Int64s, map_row: int, kind: int, shapes: Floats,
    shape: Int64s, row: Int64s, code: Int64s, ints: Int64s, floats: Floats, start: int, count: int,
) -> None:  # fmt: skip
    """See `contact_rows.put_contacts`."""
    grid = terrain_of(maps_in(borrow(table)), map_row).grid
    touches = Touches(shape, row, code)
    contact_rows.put_contacts(grid, kind, shapes, touches, ints, floats, start, count)


@kernel
def put_deepest_on_map(
    table: Int64s, map_row: int, kind: int, shapes: Floats,
    shape: Int64s, row: Int64s, code: Int64s, places: Int64s, ints: Int64s, floats: Floats,
) -> int:  # fmt: skip
    """See `contact_rows.put_deepest`."""
    grid = terrain_of(maps_in(borrow(table)), map_row).grid
    touches = Touches(shape, row, code)
    return contact_rows.put_deepest(grid, kind, shapes, touches, places, ints, floats)


@kernel
def put_cells_on_map(table: Int64s, map_row: int, row: Int64s, code: Int64s, out: Int64s) -> None:
    """See `contact_rows.put_nearest_cells`."""
    grid = terrain_of(maps_in(borrow(table)), map_row).grid
    contact_rows.put_nearest_cells(grid.rows, grid.columns, row, code, out)


@kernel
def put_owners_on_map(table: Int64s, map_row: int, triangles: Int64s, parts: Int64s) -> None:
    """Write the ground's ids over those of triangles (n,) of a map, and the parts that own them."""
    maps = maps_in(borrow(table))
    for k in range(len(triangles)):
        triangles[k], parts[k] = owner_in(maps, map_row, int(triangles[k]))
