"""The contacts of many shapes with the surface of a map in a ground's table, in stages.

See `heightmap.batch_contacts`.
"""

from terrain_physics._kernels._intrinsics import borrow
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.ground.owners import map_arrays, maps_in, owner_in
from terrain_physics._kernels.heightmap.batch_contacts import contact_rows
from terrain_physics._kernels.heightmap.batch_contacts.find_contacts import Place, find_contacts
from terrain_physics._kernels.heightmap.grid import COLUMNS, ROWS
from terrain_physics._kernels.types import Floats, Int64s

# Kernels compile once for each list of types: arrays of a table have those of arrays from Python.


@kernel
def find_on_map(
    table: Int64s,
    map_row: int,
    kind: int,
    shapes: Floats,
    first: int,
    from_row: int,
    from_column: int,
    last: int,
) -> tuple[int, Int64s, Int64s, Int64s, Place]:
    """See `find_contacts`."""
    heights, cells, blocks, frame = map_arrays(maps_in(borrow(table)), map_row)
    return find_contacts(
        heights, cells, blocks, frame, kind, shapes, first, from_row, from_column, last
    )


@kernel
def put_on_map(
    table: Int64s, map_row: int, kind: int, shapes: Floats,
    shape: Int64s, row: Int64s, code: Int64s, ints: Int64s, floats: Floats, start: int, count: int,
) -> None:  # fmt: skip
    """See `contact_rows.put_contacts`."""
    heights, cells, _, frame = map_arrays(maps_in(borrow(table)), map_row)
    contact_rows.put_contacts(
        heights, cells, frame, kind, shapes, shape, row, code, ints, floats, start, count
    )


@kernel
def put_deepest_on_map(
    table: Int64s, map_row: int, kind: int, shapes: Floats,
    shape: Int64s, row: Int64s, code: Int64s, places: Int64s, ints: Int64s, floats: Floats,
) -> int:  # fmt: skip
    """See `contact_rows.put_deepest`."""
    heights, cells, _, frame = map_arrays(maps_in(borrow(table)), map_row)
    return contact_rows.put_deepest(
        heights, cells, frame, kind, shapes, shape, row, code, places, ints, floats
    )


@kernel
def put_cells_on_map(table: Int64s, map_row: int, row: Int64s, code: Int64s, out: Int64s) -> None:
    """See `contact_rows.put_nearest_cells`."""
    frame = map_arrays(maps_in(borrow(table)), map_row)[3]
    contact_rows.put_nearest_cells(int(frame[ROWS]), int(frame[COLUMNS]), row, code, out)


@kernel
def put_owners_on_map(table: Int64s, map_row: int, triangles: Int64s, parts: Int64s) -> None:
    """Write the ground's ids over those of triangles (n,) of a map, and the parts that own them."""
    maps = maps_in(borrow(table))
    for k in range(len(triangles)):
        triangles[k], parts[k] = owner_in(maps, map_row, int(triangles[k]))
