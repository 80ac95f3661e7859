"""The contacts of a shape with a ground: with all of its maps and meshes, from its one table.

A map is solid. A shape with its center beside it, or below it, does not see the surface from
behind: the sides or the underside are in between. The triangles of a side are one side, of which
the deepest contact counts.
"""

import numpy as np

from terrain_physics._kernels._intrinsics import array_at, borrow, keep
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.ground.beside import NEAR_SIDES
from terrain_physics._kernels.ground.owners import (
    MESH,
    is_thin,
    levels_of,
    maps_in,
    owner_in,
    parts_in,
    terrain_of,
    upside_down,
)
from terrain_physics._kernels.heightmap.batch_contacts.broad_phase import MOST_CELLS, height_limits
from terrain_physics._kernels.heightmap.batch_contacts.contact_rows import is_deeper
from terrain_physics._kernels.heightmap.clipping import Terrain
from terrain_physics._kernels.heightmap.grid import height
from terrain_physics._kernels.heightmap.one_shape import MOST_HALVES, contacts_on
from terrain_physics._kernels.heightmap.solid.reach import meets_surface
from terrain_physics._kernels.heightmap.solid.sides import lowered, underside_id
from terrain_physics._kernels.math.sorting import sort_range
from terrain_physics._kernels.math.vec3 import Vec3, dot, length, subtract
from terrain_physics._kernels.mesh.contacts import ALL, DEEPEST, contacts_of_one
from terrain_physics._kernels.mesh.near import faces_near
from terrain_physics._kernels.mesh.part_tree import (
    NODES_ON_PATH,
    ROOT,
    is_met,
    items_near,
    widened,
)
from terrain_physics._kernels.mesh.parts import (
    ID_BITS,
    NUMBER,
    OWNER,
    Parts,
    ids_at,
    part_at,
    row_count,
)
from terrain_physics._kernels.mesh.tree import STACK
from terrain_physics._kernels.surface.ground_arrays import MAP_LAYERS, MAP_NUMBER, MESHES, SIDES
from terrain_physics._kernels.surface.shapes import (
    BOX,
    CAPSULE,
    FARTHEST,
    bounds_at,
    center_at,
    row_vector,
    row_width,
)
from terrain_physics._kernels.types import Bytes, Floats, Int64s

# Rows of the whole numbers of contacts: the index of the shape; the ground's id of the triangle;
# the part that owns it; the row of its map in the table, MESH for a mesh; the nearest cell of the
# map.
QUERY, TRIANGLE, PART, MAP_ROW, CELL = range(5)
_WHOLE = 5

# Contacts with meshes, or with sides, that a short question finds at most.
MOST_WITH_MESHES = 1024

NO_END = 1 << 62

# Bits of the index of a contact among all.
_INDEX_BITS = 32

# In the place of how many contacts there are: a short question does not find them all; the shape is
# over too many cells.
_TOO_MANY, _REFUSED = -1, -2


@kernel
def _nothing_known() -> tuple[Int64s, Floats]:
    return np.empty((0, 0), np.int64), np.empty((3, 0, 3))


@kernel(inline=True)
def _put(ints: Int64s, floats: Floats, place: int, own: Int64s, vectors: Floats, k: int) -> None:
    """Write another contact to a place."""
    for part in range(min(len(ints), len(own))):
        ints[part, place] = own[part, k]
    for part in range(3):
        for axis in range(3):
            floats[part, place, axis] = vectors[part, k, axis]


@kernel(noinline=True)
def _with_room(ints: Int64s, floats: Floats, count: int, more: int) -> tuple[Int64s, Floats]:
    """Return arrays with the same contacts, of which there are ``count``, and room for more."""
    if count + more <= ints.shape[1]:
        return ints, floats
    room = 2 * (count + more)
    new_ints, new_floats = np.empty((len(ints), room), np.int64), np.empty((3, room, 3))
    for k in range(count):
        _put(new_ints, new_floats, k, ints, floats, k)
    return new_ints, new_floats


@kernel(noinline=True)
def _some(ints: Int64s, floats: Floats, rows: Int64s) -> tuple[Int64s, Floats]:
    """Return some of the contacts, in the order of their rows."""
    some, vectors = np.empty((len(ints), len(rows)), np.int64), np.empty((3, len(rows), 3))
    for k in range(len(rows)):
        _put(some, vectors, k, ints, floats, int(rows[k]))
    return some, vectors


# One map


@kernel(noinline=True)
def _of_surface(
    terrain: Terrain, kind: int, shape: Floats, deepest: bool, is_short: bool
) -> tuple[int, Int64s, Floats]:
    """Return how many contacts there are with the surface of a map, and them as `contacts_on`."""
    grid, (lower, upper) = terrain.grid, bounds_at(kind, shape, 0)
    most = float(MOST_HALVES) if is_short else 2.0 * MOST_CELLS
    ints, floats, place = contacts_on(grid, kind, shape, deepest, most, 0)
    count = ints.shape[1]
    if count > 0 and ints[0, 0] < 0:
        slack = 1e-9 * (grid.cell_x + grid.cell_z) + 1e-12 * (terrain.high - terrain.low)
        low, high = height_limits(lower, upper, slack)
        is_away = low > terrain.high or high < terrain.low
        return _TOO_MANY if is_short else 0 if is_away else _REFUSED, ints, floats
    center = center_at(kind, shape, 0)
    while place >= 0:
        own, vectors, place = contacts_on(grid, kind, shape, deepest, most, place)
        more = own.shape[1]
        if deepest and count > 0 and more > 0:
            is_more = is_deeper(
                grid, center, length(row_vector(vectors[0, 0], 0)), float(vectors[1, 0, 1]),
                length(row_vector(floats[0, 0], 0)), float(floats[1, 0, 1]),
            )  # fmt: skip
            if not is_more:
                continue
            count = 0
        ints, floats = _with_room(ints, floats, count, more)
        for k in range(more):
            _put(ints, floats, count + k, own, vectors, k)
        count += more
    return count, ints, floats


@kernel(inline=True)
def _is_from_behind(center: Vec3, floats: Floats, k: int) -> bool:
    """Tell whether a contact leads a shape through the triangle to its front."""
    away = subtract(center, row_vector(floats[2, k], 0))
    return dot(away, row_vector(floats[1, k], 0)) < 0.0


@kernel(noinline=True)
def _leave_behind(count: int, ints: Int64s, floats: Floats, center: Vec3) -> int:
    """Leave out the contacts that are from behind; return how many there are without them."""
    kept = 0
    for k in range(count):
        if not _is_from_behind(center, floats, k):
            _put(ints, floats, kept, ints, floats, k)
            kept += 1
    return kept


@kernel(noinline=True)
def _is_near_sides(sides: Parts, number: int, lower: Vec3, upper: Vec3) -> bool:
    """Tell whether a box meets that of any triangle of a side of a map, or of any map for -1."""
    nodes, found = np.empty(NODES_ON_PATH, np.int64), np.empty(row_count(sides.rows), np.int64)
    stack, faces = np.empty(STACK, np.int32), np.empty(1, np.int64)
    for k in range(items_near(sides.tree, lower, upper, nodes, found)):
        if number >= 0 and sides.rows[found[k], OWNER] != number:
            continue
        part = part_at(sides.rows, int(found[k]))
        if faces_near(part, lower, upper, 1.0, stack, faces) > 0:
            return True
    return False


@kernel(noinline=True)
def _put_sides(
    sides: Parts, number: int, walls: Int64s, vectors: Floats, ints: Int64s, floats: Floats,
    count: int,
) -> int:  # fmt: skip
    """Put the deepest contact with each side of a map behind others; return how many there are.

    ``walls`` and ``vectors`` are those with triangles of all maps' sides, see `contacts_of_one`.
    """
    keys, found = np.empty(walls.shape[1], np.int64), 0
    for k in range(walls.shape[1]):
        at = walls[1, k] >> ID_BITS
        if sides.rows[at, OWNER] == number:
            keys[found] = sides.rows[at, NUMBER] << _INDEX_BITS | k
            found += 1
    sort_range(keys, 0, found)
    patch, edge, deepest = -1, -1, 0.0
    for i in range(found):
        k = int(keys[i] & ((1 << _INDEX_BITS) - 1))
        at, face = int(walls[1, k] >> ID_BITS), int(walls[1, k] & ((1 << ID_BITS) - 1))
        named, depth = ids_at(sides.rows, at), length(row_vector(vectors[0, k], 0))
        size = len(named) // 3  # ids, cells and edges of the faces
        if at == patch and named[2 * size + face] == edge:
            if depth <= deepest:
                continue
            count -= 1
        patch, edge, deepest = at, int(named[2 * size + face]), depth
        _put(ints, floats, count, walls, vectors, k)
        ints[1, count], ints[2, count] = named[face], named[size + face]
        count += 1
    return count


@kernel(noinline=True)
def _upside_down_row(kind: int, shape: Floats) -> Floats:
    """Return a shape whose y is -y. A rotation stays one: its third axis becomes its opposite."""
    turned = shape.copy()
    turned[1] = -shape[1]
    if kind == CAPSULE:
        turned[4] = -shape[4]
    if kind == BOX:
        for k in (8, 9, 10, 14):
            turned[k] = -shape[k]
    return turned


@kernel(noinline=True)
def _of_underside(
    terrain: Terrain, kind: int, shape: Floats, is_short: bool
) -> tuple[int, Int64s, Floats]:
    """Return how many contacts there are with the underside of a map, seen from below, and them."""
    below, memory = upside_down(terrain), _upside_down_row(kind, shape)
    turned = array_at(memory.ctypes.data, (len(memory),), np.float64)
    center = center_at(kind, turned, 0)
    count, ints, floats = 0, np.empty((3, 0), np.int64), np.empty((3, 0, 3))
    if not height(below.grid, center[0], center[2]) > center[1]:
        count, ints, floats = _of_surface(below, kind, turned, False, is_short)
    keep(memory)
    if count <= 0:
        return count, ints, floats
    count = _leave_behind(count, ints, floats, center)
    for k in range(count):
        triangle = int(ints[1, k])
        if triangle >= 0:
            ints[1, k] = underside_id(terrain.grid, 0, triangle >> 1, triangle & 1)
        for part in range(3):
            x, y, z = row_vector(floats[part, k], 0)
            floats[part, k, 0], floats[part, k, 1] = x + 0.0, 0.0 - y
            floats[part, k, 2] = z + 0.0
    return count, ints, floats


@kernel(noinline=True)
def _order_behind(ints: Int64s, first: int, count: int) -> Int64s:
    """Return the order of contacts: the ``first`` ones, then the others by their ids.

    No two have the same id, but for -1.
    """
    rows, ids, outside = np.empty(count, np.int64), np.empty(count - first, np.int64), first
    for k in range(first, count):
        ids[k - first] = ints[1, k]
    sort_range(ids, 0, len(ids))
    for k in range(count):
        place, end = k, count
        if k >= first and ints[1, k] < 0:
            place, outside = outside, outside + 1
        elif k >= first:
            place = first
            while place < end:
                middle = (place + end) // 2
                if ids[middle - first] < ints[1, k]:
                    place = middle + 1
                else:
                    end = middle
        rows[place] = k
    return rows


@kernel(noinline=True)
def _deepest_of_map(
    first: int, count: int, floats: Floats, center: Vec3, levels: tuple[float, float]
) -> Int64s:
    """Return the row of the deepest contact; the ``first`` ones are with the surface.

    Who is in the ground is led up, out of it.
    """
    rows, deepest = np.zeros(1, np.int64), -1.0
    is_in = levels[0] > center[1] and levels[1] < center[1]
    for k in range(count):
        depth = length(row_vector(floats[0, k], 0))
        if k < first and is_in and floats[1, k, 1] > 0.0:
            depth = np.inf
        if depth > deepest:
            rows[0], deepest = k, depth
    return rows


@kernel(noinline=True)
def _best_of(
    first: int, count: int, ints: Int64s, floats: Floats,
    center: Vec3, levels: tuple[float, float], deepest: bool,
) -> tuple[int, Int64s, Floats]:  # fmt: skip
    """Return all contacts with a map in order, or the deepest one; the first are the surface's."""
    if count < 2:
        return count, ints, floats
    if deepest:
        rows = _deepest_of_map(first, count, floats, center, levels)
    else:
        is_in_order = True
        for k in range(first + 1, count):
            is_in_order = is_in_order and ints[1, k - 1] < ints[1, k]
        if is_in_order:
            return count, ints, floats
        rows = _order_behind(ints, first, count)
    ints, floats = _some(ints, floats, rows)
    return len(rows), ints, floats


@kernel(noinline=True)
def _of_map(
    maps: Int64s, row: int, sides: Parts, walls: Int64s, vectors: Floats, kind: int, shape: Floats,
    deepest: bool, is_short: bool,
) -> tuple[int, Int64s, Floats]:  # fmt: skip
    """Return how many contacts there are with a map, and them: see `heightmap.one_shape`."""
    terrain, is_deep = terrain_of(maps, row), is_thin(maps, row)
    if row_count(sides.rows) <= 1 and not is_deep:
        return _of_surface(terrain, kind, shape, deepest, is_short)
    number, center = int(maps[row, MAP_NUMBER]), center_at(kind, shape, 0)
    lower, upper = bounds_at(kind, shape, 0)
    levels = levels_of(maps, row, center)
    is_low = is_deep and meets_surface(lowered(terrain.grid), terrain.blocks, lower, upper)
    is_outside = not levels[1] < center[1]  # also where is no ground
    if is_outside and not is_low:
        low, high = widened(lower, upper)
        is_outside = row_count(sides.rows) > 1 and _is_near_sides(sides, number, low, high)
    count, ints, floats = _of_surface(terrain, kind, shape, deepest and not is_outside, is_short)
    if count > 0 and is_outside:
        count = _leave_behind(count, ints, floats, center)
    first = count
    if count >= 0 and walls.shape[1] > 0:
        ints, floats = _with_room(ints, floats, count, walls.shape[1])
        count = _put_sides(sides, number, walls, vectors, ints, floats, count)
    if count >= 0 and is_low:
        more, own, own_vectors = _of_underside(terrain, kind, shape, is_short)
        if more < 0:
            return more, own, own_vectors
        if count == 0:
            return _best_of(0, more, own, own_vectors, center, levels, deepest)
        ints, floats = _with_room(ints, floats, count, more)
        for k in range(more):
            _put(ints, floats, count + k, own, own_vectors, k)
        count += more
    if count < 2 or (count == first and not (deepest and is_outside)):
        return count, ints, floats
    return _best_of(first, count, ints, floats, center, levels, deepest)


# All maps and meshes


@kernel(noinline=True)
def _is_buried(maps: Int64s, mask: int, center: Vec3) -> bool:
    """Tell whether a place is in a map."""
    for row in range(len(maps)):
        if maps[row, MAP_LAYERS] & mask != 0:
            surface, underside = levels_of(maps, row, center)
            if surface > center[1] and underside < center[1]:
                return True
    return False


@kernel(noinline=True)
def _with_more(
    ints: Int64s, floats: Floats, count: int, own: Int64s, vectors: Floats, more: int,
    maps: Int64s, row: int,
) -> tuple[Int64s, Floats]:  # fmt: skip
    """Return the contacts, of which there are ``count``, and behind them ``more`` of one member."""
    is_first = count == 0 and vectors.shape[1] == more
    if is_first:
        ints, floats = np.empty((_WHOLE, more), np.int64), vectors
    else:
        ints, floats = _with_room(ints, floats, count, more)
    for k in range(more):
        if not is_first:
            _put(ints, floats, count + k, own, vectors, k)
        triangle, cell = int(own[1, k]), 0
        number = triangle >> ID_BITS
        if row != MESH:
            cell = int(own[2, k])
            triangle, number = owner_in(maps, row, triangle)
        place = count + k
        ints[QUERY, place], ints[TRIANGLE, place], ints[PART, place] = 0, triangle, number
        ints[MAP_ROW, place], ints[CELL, place] = row, cell
    return ints, floats


@kernel(noinline=True)
def _found(
    tables: Int64s, mask: int, kind: int, shape: Floats, visits: Int64s, deepest: bool,
    is_short: bool, is_beside: bool,
) -> tuple[int, int, Int64s, Floats]:  # fmt: skip
    """Return how many contacts there are, or why they are not known, of how many members, and them.

    With ``deepest`` it is one of each member. Sides are searched only if it ``is_beside`` them.
    """
    ints, floats, count, members = np.empty((_WHOLE, 0), np.int64), np.empty((3, 0, 3)), 0, 0
    walls, wall_vectors = np.empty((2, 0), np.int64), np.empty((3, 0, 3))
    maps, most = maps_in(tables), MOST_WITH_MESHES if is_short else NO_END
    meshes, sides = parts_in(tables, MESHES, mask), parts_in(tables, SIDES, mask)
    if row_count(meshes.rows) > 1:
        kept = DEEPEST if deepest else ALL
        own, vectors = contacts_of_one(meshes.rows, mask, kind, shape, visits, kept, most)
        if len(own) == 0 or own.shape[1] > most:
            return _TOO_MANY, 0, ints, floats
        count = own.shape[1]
        ints, floats = _with_more(ints, floats, 0, own, vectors, count, maps, MESH)
        members = int(is_met(meshes.tree, int(meshes.tree.links[0, ROOT])))
    if row_count(sides.rows) > 1 and is_beside:
        walls, wall_vectors = contacts_of_one(sides.rows, mask, kind, shape, visits, ALL, most)
        if len(walls) == 0 or walls.shape[1] > most:
            return _TOO_MANY, 0, ints, floats
    for row in range(len(maps)):
        if maps[row, MAP_LAYERS] & mask == 0:
            continue
        more, own, vectors = _of_map(
            maps, row, sides, walls, wall_vectors, kind, shape, deepest, is_short
        )
        if more < 0:
            return more, 0, ints, floats
        ints, floats = _with_more(ints, floats, count, own, vectors, more, maps, row)
        members, count = members + 1, count + more
    return count, members, ints, floats


@kernel(noinline=True)
def _deepest_row(count: int, ints: Int64s, floats: Floats, only_up: bool) -> int:
    """Return the deepest contact, of the lowest part if several are; -1 if there is none."""
    best, deepest = -1, -1.0
    for k in range(count):
        if only_up and not floats[1, k, 1] > 0.0:
            continue
        depth = length(row_vector(floats[0, k], 0))
        if depth > deepest or (depth == deepest and ints[PART, k] < ints[PART, best]):
            best, deepest = k, depth
    return best


@kernel(noinline=True)
def _way_out(
    tables: Int64s,
    mask: int,
    kind: int,
    shape: Floats,
    visits: Int64s,
    is_short: bool,
    is_beside: bool,
) -> tuple[int, Int64s, Floats]:
    """Return the deepest contact that leads up, if there is one."""
    count, _, ints, floats = _found(tables, mask, kind, shape, visits, False, is_short, is_beside)
    if count < 0:
        return count, ints, floats
    up = _deepest_row(count, ints, floats, True)
    rows = np.full(1 if up >= 0 else 0, up)
    ints, floats = _some(ints, floats, rows)
    return len(rows), ints, floats


@kernel(noinline=True)
def _deepest(
    tables: Int64s,
    mask: int,
    kind: int,
    shape: Floats,
    visits: Int64s,
    is_short: bool,
    is_beside: bool,
) -> tuple[int, Int64s, Floats]:
    """Return the deepest contact; one that leads up if the center is in a map, and there is one."""
    count, members, ints, floats = _found(
        tables, mask, kind, shape, visits, True, is_short, is_beside
    )
    leads_down, best = False, _deepest_row(count, ints, floats, False)
    for k in range(count):
        leads_down = leads_down or not floats[1, k, 1] > 0.0
    maps = maps_in(tables)
    if members > 1 and leads_down and _is_buried(maps, mask, center_at(kind, shape, 0)):
        # A map knows whether a center is in it, but the others do not.
        up, own, vectors = _way_out(tables, mask, kind, shape, visits, is_short, is_beside)
        if up != 0:
            return up, own, vectors
    if count < 0 or (count < 2 and count == ints.shape[1]):
        return count, ints, floats
    rows = np.full(min(count, 1), best)
    ints, floats = _some(ints, floats, rows)
    return len(rows), ints, floats


@kernel(noinline=True)
def _in_order(
    tables: Int64s,
    mask: int,
    kind: int,
    shape: Floats,
    visits: Int64s,
    is_short: bool,
    is_beside: bool,
) -> tuple[int, Int64s, Floats]:
    """Return how many contacts there are, or why they are not known, and them by their parts."""
    count, _, ints, floats = _found(tables, mask, kind, shape, visits, False, is_short, is_beside)
    is_in_order = count == ints.shape[1] or count < 0
    for k in range(1, count):
        is_in_order = is_in_order and ints[PART, k - 1] <= ints[PART, k]
    if is_in_order:
        return count, ints, floats
    rows = np.empty(count, np.int64)
    for k in range(count):
        rows[k] = ints[PART, k] << _INDEX_BITS | k
    sort_range(rows, 0, count)
    for k in range(count):
        rows[k] &= (1 << _INDEX_BITS) - 1
    ints, floats = _some(ints, floats, rows)
    return count, ints, floats


@kernel
def contacts_with_ground(
    table: Int64s, mask: int, kind: int, shape: Floats, visits: Int64s, deepest: bool
) -> tuple[Int64s, Floats]:
    """Return (whole numbers (5, n), penetrations, directions and points (3, n, 3)) of one shape.

    They are in the order of their parts, or it is the deepest contact alone. The numbers have no
    rows if this, the short way, does not find them all. ``visits`` (1,) is 0.
    """
    for k in range(shape.shape[0]):
        if abs(float(shape[k])) >= FARTHEST:
            return _nothing_known()
    tables = borrow(table)
    if deepest:
        count, ints, floats = _deepest(tables, mask, kind, shape, visits, True, True)
    else:
        count, ints, floats = _in_order(tables, mask, kind, shape, visits, True, True)
    if count < 0:
        return _nothing_known()
    return ints, floats


@kernel
def contacts_of_rows(
    table: Int64s, mask: int, kind: int, shapes: Floats, rows: Int64s, are_beside: Bytes,
    visits: Int64s, first: int, last: int, deepest: bool, most: int,
) -> tuple[int, Int64s, Floats]:  # fmt: skip
    """Return how many contacts some of many shapes have, and them, as `contacts_with_ground`.

    The shapes are those in ``rows`` from first to last; ``are_beside`` (n,) is of all, see
    `beside.py`. This stops at more than ``most`` contacts, and with -1 - k at shape k, which is
    over too many cells.
    """
    ints, floats, count = np.empty((_WHOLE, 0), np.int64), np.empty((3, 0, 3)), 0
    tables, width = borrow(table), row_width(kind)
    for at in range(first, last):
        index = int(rows[at])
        shape = shapes[width * index : width * (index + 1)]
        is_beside, more, own, vectors = are_beside[index] == NEAR_SIDES, 0, ints, floats
        if deepest and are_beside[index] == 0:  # it is here as it is in a map and led down
            more, own, vectors = _way_out(tables, mask, kind, shape, visits, False, is_beside)
        if deepest and more == 0:
            more, own, vectors = _deepest(tables, mask, kind, shape, visits, False, is_beside)
        elif not deepest:
            more, own, vectors = _in_order(tables, mask, kind, shape, visits, False, is_beside)
        if more < 0:
            return -1 - index, ints, floats
        ints, floats = _with_room(ints, floats, count, more)
        for k in range(more):
            _put(ints, floats, count + k, own, vectors, k)
            ints[QUERY, count + k] = index
        count += more
        if count > most:
            break
    return count, ints, floats


@kernel
def put_buried(
    table: Int64s, mask: int, kind: int, shapes: Floats, rows: Int64s, are_buried: Bytes
) -> None:
    """Tell which of the shapes in ``rows`` (n,) have their center in a map."""
    maps = maps_in(borrow(table))
    for k in range(len(rows)):
        are_buried[k] = _is_buried(maps, mask, center_at(kind, shapes, int(rows[k])))
