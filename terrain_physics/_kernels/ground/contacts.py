"""The contacts of a shape with a ground: with all of its maps and meshes, from its one table.

A map is solid. A shape with its center beside it, or below it, does not see the surface from
behind: the sides or the underside are in between. The triangles of a side are one side, of which
the deepest contact counts.
"""

from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._intrinsics import array_at, borrow, keep, replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.ground.beside import NEAR_SIDES, is_near_sides
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
from terrain_physics._kernels.heightmap.grid import Grid, height, normal
from terrain_physics._kernels.heightmap.one_shape import MOST_HALVES, SCRATCH, put_found, search
from terrain_physics._kernels.heightmap.solid.reach import meets_surface
from terrain_physics._kernels.heightmap.solid.sides import lowered, underside_id
from terrain_physics._kernels.math.rows import row_vector
from terrain_physics._kernels.math.sorting import sort_range
from terrain_physics._kernels.math.vec3 import Vec3, dot, length, subtract
from terrain_physics._kernels.mesh.contacts import ALL, DEEPEST, add_contacts
from terrain_physics._kernels.mesh.facing import is_own_touch
from terrain_physics._kernels.mesh.part_tree import ROOT, is_met
from terrain_physics._kernels.mesh.parts import (
    ID_BITS,
    NUMBER,
    OWNER,
    SIDE,
    Parts,
    ids_at,
    material_of,
    row_count,
)
from terrain_physics._kernels.surface.ground_arrays import MAP_LAYERS, MAP_NUMBER, MESHES, SIDES
from terrain_physics._kernels.surface.shapes import (
    BOX,
    CAPSULE,
    FARTHEST,
    bounds_at,
    center_at,
    read_capsule,
    row_width,
)
from terrain_physics._kernels.tolerances import ON_FEATURE_SHARE
from terrain_physics._kernels.types import Bytes, Floats, Int64s

# Rows of the whole numbers of contacts: the index of the shape; the ground's id of the triangle;
# the nearest cell of its map, or the material of a mesh; the part that owns it; the row of its map
# in the table, MESH for a mesh.
QUERY, TRIANGLE, CELL, PART, MAP_ROW = range(5)
_WHOLE = 5

# Contacts with meshes, or with sides, that a short question finds at most.
MOST_WITH_MESHES = 1024

NO_END = 1 << 62

# Bits of the index of a contact among all.
_INDEX_BITS = 32

# In the place of how many contacts there are: a short question does not find them all; the shape is
# over too many cells; there is no room for them.
_TOO_MANY, _REFUSED, _NO_ROOM = -1, -2, -3

# Room for contacts at first.
_ROOM = 64


class Asked(NamedTuple):
    """One shape, what is asked about it, and where its contacts go.

    They go behind others, in arrays that nobody makes larger meanwhile: references to these would
    have to be counted, which takes longer than all else. The contacts with triangles of sides are
    behind the room, until each side has its own.
    """

    tables: Int64s  # see `surface.ground_arrays`
    mask: int
    kind: int
    shape: Floats
    query: int  # the number of the shape
    is_short: bool
    is_beside: bool  # it is near a side of some map
    scratch: Floats  # see `heightmap.one_shape.search`
    ints: Int64s  # (_WHOLE, n)
    floats: Floats  # (3, n, 3): penetrations, directions and points
    room: int  # how many contacts there may be


@kernel(inline=True)
def _put(asked: Asked, place: int, k: int) -> None:
    """Write a contact to another place."""
    for part in range(_WHOLE):
        asked.ints[part, place] = asked.ints[part, k]
    for part in range(3):
        for axis in range(3):
            asked.floats[part, place, axis] = asked.floats[part, k, axis]


@kernel(inline=True)
def _depth(asked: Asked, k: int) -> float:
    return length(row_vector(asked.floats[0, k], 0))


@kernel(noinline=True)
def _put_in_order(asked: Asked, start: int, count: int, rows: Int64s) -> int:
    """Put the contacts from ``start`` on in the order of their rows; return ``count``."""
    if count + len(rows) > asked.room:
        return _NO_ROOM
    for k in range(len(rows)):
        _put(asked, count + k, int(rows[k]))
    for k in range(len(rows)):
        _put(asked, start + k, count + k)
    return count


# One map. Functions are given how many contacts there are, and return how many there are then.


@kernel(noinline=True, no_refcount=True)
def _add_surface(terrain: Terrain, asked: Asked, deepest: bool, count: int) -> int:
    """Add the contacts with the surface of a map; ids are its own."""
    grid, ints, floats, first, place = terrain.grid, asked.ints, asked.floats, count, 0
    center = center_at(asked.kind, asked.shape, 0)
    most = float(MOST_HALVES) if asked.is_short else 2.0 * MOST_CELLS
    while place >= 0:
        more, place = search(grid, asked.kind, asked.shape, deepest, most, place, asked.scratch)
        if more < 0:
            lower, upper = bounds_at(asked.kind, asked.shape, 0)
            slack = 1e-9 * (grid.cell_x + grid.cell_z) + 1e-12 * (terrain.high - terrain.low)
            low, high = height_limits(lower, upper, slack)
            is_away = low > terrain.high or high < terrain.low
            return _TOO_MANY if asked.is_short else count if is_away else _REFUSED
        if count + more > asked.room:
            return _NO_ROOM
        put_found(grid, asked.scratch, more, ints, floats, count)
        if not deepest or count == first or more == 0:
            count += more
        elif is_deeper(
            grid, center, _depth(asked, count), float(floats[1, count, 1]),
            _depth(asked, first), float(floats[1, first, 1]),
        ):  # fmt: skip
            _put(asked, first, count)
    return count


@kernel(noinline=True, no_refcount=True)
def _is_from_behind(grid: Grid, center: Vec3, point: Vec3, lead: Vec3) -> bool:
    """Tell whether a contact leads a shape from behind a triangle to its front.

    A capsule whose axis passes through a triangle may be led aside: along the triangle.
    """
    away = subtract(center, point)
    along = dot(away, lead)
    if abs(along) <= ON_FEATURE_SHARE * length(away):
        along = dot(away, normal(grid, point[0], point[2]))
    return along < 0.0


@kernel(noinline=True, no_refcount=True)
def _leave_behind(grid: Grid, asked: Asked, first: int, count: int, center: Vec3) -> int:
    """Leave out the contacts from ``first`` on that lead from behind a triangle."""
    kept = first
    for k in range(first, count):
        point, lead = row_vector(asked.floats[2, k], 0), row_vector(asked.floats[1, k], 0)
        if not _is_from_behind(grid, center, point, lead):
            _put(asked, kept, k)
            kept += 1
    return kept


@kernel(inline=True)
def _is_of_side(asked: Asked, k: int) -> bool:
    """Tell whether a touch is one of a side, and not of the surface above it.

    A capsule whose axis passes through the side may be led up, over its edge.
    """
    if is_own_touch(SIDE, row_vector(asked.floats[1, k], 0)):
        return True
    return asked.kind == CAPSULE and _depth(asked, k) >= read_capsule(asked.shape, 0)[2]


@kernel(noinline=True)
def _add_sides(sides: Parts, number: int, asked: Asked, of_sides: bool, count: int) -> int:
    """Add the deepest contact with each side of a map, or with the surface above it."""
    ints, first, own = asked.ints, asked.room, 0
    keys = np.empty(ints.shape[1] - first, np.int64)
    for k in range(first, ints.shape[1]):
        at = ints[TRIANGLE, k] >> ID_BITS
        if sides.rows[at, OWNER] == number and _is_of_side(asked, k) == of_sides:
            keys[own] = sides.rows[at, NUMBER] << _INDEX_BITS | k
            own += 1
    sort_range(keys, 0, own)
    if count + own > first:
        return _NO_ROOM
    patch, edge, deepest = -1, -1, 0.0
    for i in range(own):
        k = int(keys[i] & ((1 << _INDEX_BITS) - 1))
        triangle, depth = int(ints[TRIANGLE, k]), _depth(asked, k)
        at, face = triangle >> ID_BITS, triangle & ((1 << ID_BITS) - 1)
        named = ids_at(sides.rows, at)
        size = len(named) // 3  # ids, cells and edges of the faces
        if at == patch and named[2 * size + face] == edge:
            if depth <= deepest:
                continue
            count -= 1
        patch, edge, deepest = at, int(named[2 * size + face]), depth
        _put(asked, count, k)
        ints[TRIANGLE, count], ints[CELL, count] = named[face], named[size + face]
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
def _add_underside(terrain: Terrain, asked: Asked, start: int, count: int) -> int:
    """Add the contacts with the underside of a map, seen from below.

    Who is below it is led aside by none from behind, unless there is no other contact.
    """
    below, memory = upside_down(terrain), _upside_down_row(asked.kind, asked.shape)
    turned = array_at(memory.ctypes.data, (len(memory),), np.float64)
    center, first = center_at(asked.kind, turned, 0), count
    level = height(below.grid, center[0], center[2])
    if not level > center[1]:
        count = _add_surface(below, replaced(asked, shape=turned), False, count)
    keep(memory)
    if count > first:
        end = _leave_behind(below.grid, asked, first, count, center)
        count = end if end > start or not level <= center[1] else count
    for k in range(first, count):
        triangle = int(asked.ints[TRIANGLE, k])
        if triangle >= 0:
            asked.ints[TRIANGLE, k] = underside_id(terrain.grid, 0, triangle >> 1, triangle & 1)
        for part in range(3):
            x, y, z = row_vector(asked.floats[part, k], 0)
            asked.floats[part, k, 0], asked.floats[part, k, 1] = x + 0.0, 0.0 - y
            asked.floats[part, k, 2] = z + 0.0
    return count


@kernel(noinline=True)
def _order_behind(asked: Asked, first: int, count: int) -> int:
    """Put the contacts from ``first`` on in order of ids; no two have the same, but for -1."""
    ints, is_in_order = asked.ints, True
    for k in range(first + 1, count):
        is_in_order = is_in_order and ints[TRIANGLE, k - 1] < ints[TRIANGLE, k]
    if is_in_order:
        return count
    rows, ids, outside = np.empty(count - first, np.int64), np.empty(count - first, np.int64), 0
    for k in range(first, count):
        ids[k - first] = ints[TRIANGLE, k]
    sort_range(ids, 0, len(ids))
    for k in range(first, count):
        place, end = 0, count - first
        if ints[TRIANGLE, k] < 0:
            place, outside = outside, outside + 1
        else:
            while place < end:
                middle = (place + end) // 2
                if ids[middle] < ints[TRIANGLE, k]:
                    place = middle + 1
                else:
                    end = middle
        rows[place] = k
    return _put_in_order(asked, first, count, rows)


@kernel(noinline=True, no_refcount=True)
def _keep_deepest(
    asked: Asked, start: int, first: int, count: int, center: Vec3, levels: tuple[float, float]
) -> int:
    """Leave the deepest contact alone from ``start`` on; those before ``first`` are the surface's.

    Who is in the ground is led up, out of it.
    """
    row, deepest = start, -1.0
    is_in = levels[0] > center[1] and levels[1] < center[1]
    for k in range(start, count):
        depth = _depth(asked, k)
        if k < first and is_in and asked.floats[1, k, 1] > 0.0:
            depth = np.inf
        if depth > deepest:
            row, deepest = k, depth
    _put(asked, start, row)
    return start + 1


@kernel(noinline=True)
def _add_map(maps: Int64s, row: int, sides: Parts, asked: Asked, deepest: bool, count: int) -> int:
    """Add the contacts with a map; ids are its own."""
    terrain, number = terrain_of(maps, row), int(maps[row, MAP_NUMBER])
    lower, upper = bounds_at(asked.kind, asked.shape, 0)
    is_low = is_thin(maps, row) and meets_surface(
        lowered(terrain.grid), terrain.blocks, lower, upper
    )
    if not is_low and not (asked.is_beside and is_near_sides(sides, number, lower, upper)):
        return _add_surface(terrain, asked, deepest, count)
    start, center = count, center_at(asked.kind, asked.shape, 0)
    levels = levels_of(maps, row, center)
    is_outside = not levels[1] < center[1]  # also where is no ground
    count = _add_surface(terrain, asked, deepest and not is_outside, count)
    if count > start and is_outside:
        count = _leave_behind(terrain.grid, asked, start, count, center)
    first = count
    if count >= 0 and asked.is_beside:
        count = _add_sides(sides, number, asked, True, count)
    if count >= 0 and is_low:
        count = _add_underside(terrain, asked, start, count)
    if count == start and asked.is_beside:
        # A box or capsule may lean over an edge and be led up, though it is behind the surface.
        count = _add_sides(sides, number, asked, False, count)
    if count - start < 2 or (count == first and not (deepest and is_outside)):
        return count
    if deepest:
        return _keep_deepest(asked, start, first, count, center, levels)
    return _order_behind(asked, first, count)


# All maps and meshes


@kernel(noinline=True, no_refcount=True)
def _is_buried(maps: Int64s, mask: int, center: Vec3) -> bool:
    """Tell whether a place is in a map."""
    for row in range(len(maps)):
        if maps[row, MAP_LAYERS] & mask != 0:
            surface, underside = levels_of(maps, row, center)
            if surface > center[1] and underside < center[1]:
                return True
    return False


@kernel(noinline=True, no_refcount=True)
def _name(maps: Int64s, row: int, meshes: Parts, asked: Asked, first: int, count: int) -> None:
    """Write whose the contacts from ``first`` on are, of the map of a row, or of meshes."""
    ints = asked.ints
    for k in range(first, count):
        triangle = int(ints[TRIANGLE, k])
        number = triangle >> ID_BITS
        if row != MESH:
            triangle, number = owner_in(maps, row, triangle)
        else:
            ints[CELL, k] = material_of(meshes.rows, triangle)
        ints[QUERY, k], ints[TRIANGLE, k] = asked.query, triangle
        ints[PART, k], ints[MAP_ROW, k] = number, row


@kernel(noinline=True)
def _add_meshes(parts: Parts, kept: int, asked: Asked, count: int) -> int:
    """Add the contacts with meshes, or with triangles of sides."""
    most = MOST_WITH_MESHES if asked.is_short else NO_END
    end = add_contacts(
        parts, asked.kind, asked.shape, kept, most, asked.ints, asked.floats, count, asked.room
    )
    return _TOO_MANY if end < 0 else _NO_ROOM if end > asked.room else end


@kernel(noinline=True)
def _add_all(asked: Asked, deepest: bool, count: int) -> tuple[int, int]:
    """Add all contacts, or with ``deepest`` one of each member; tell also how many members are."""
    maps, members, mask = maps_in(asked.tables), 0, asked.mask
    meshes, sides = parts_in(asked.tables, MESHES, mask), parts_in(asked.tables, SIDES, mask)
    if row_count(meshes.rows) > 1:
        first, count = count, _add_meshes(meshes, DEEPEST if deepest else ALL, asked, count)
        _name(maps, MESH, meshes, asked, first, count)
        members = int(is_met(meshes.tree, int(meshes.tree.links[0, ROOT])))
    if asked.is_beside and count >= 0:
        end = _add_meshes(sides, ALL, asked, count)
        room = asked.room - (end - count)
        if end < 0 or end > room:
            return end if end < 0 else _NO_ROOM, 0
        for k in range(end - count):
            _put(asked, room + k, count + k)
        asked = replaced(asked, room=room)
    for row in range(len(maps)):
        if maps[row, MAP_LAYERS] & mask != 0 and count >= 0:
            first, count = count, _add_map(maps, row, sides, asked, deepest, count)
            _name(maps, row, meshes, asked, first, count)
            members += 1
    return count, members


@kernel(noinline=True, no_refcount=True)
def _deepest_row(asked: Asked, start: int, count: int, only_up: bool) -> int:
    """Return the deepest contact, of the lowest part if several are; -1 if there is none."""
    ints, best, deepest = asked.ints, -1, -1.0
    for k in range(start, count):
        if only_up and not asked.floats[1, k, 1] > 0.0:
            continue
        depth = _depth(asked, k)
        if depth > deepest or (depth == deepest and ints[PART, k] < ints[PART, best]):
            best, deepest = k, depth
    return best


@kernel(inline=True)
def _keep_row(asked: Asked, start: int, row: int) -> int:
    """Leave one contact from ``start`` on, or none for -1."""
    if row < 0:
        return start
    _put(asked, start, row)
    return start + 1


@kernel(noinline=True)
def _add_way_out(asked: Asked, start: int) -> int:
    """Add the deepest contact that leads up, if there is one."""
    count, _ = _add_all(asked, False, start)
    if count < 0:
        return count
    return _keep_row(asked, start, _deepest_row(asked, start, count, True))


@kernel(noinline=True)
def _add_deepest(asked: Asked, start: int) -> int:
    """Add the deepest contact; one that leads up if the center is in a map, and there is one."""
    count, members = _add_all(asked, True, start)
    if count < 0:
        return count
    leads_down, best = False, _deepest_row(asked, start, count, False)
    for k in range(start, count):
        leads_down = leads_down or not asked.floats[1, k, 1] > 0.0
    if members > 1 and leads_down:
        # A map knows whether a center is in it, but the others do not.
        center = center_at(asked.kind, asked.shape, 0)
        if _is_buried(maps_in(asked.tables), asked.mask, center):
            end = _add_way_out(asked, count)
            if end < 0:
                return end
            best = count if end > count else best
    return _keep_row(asked, start, best)


@kernel(noinline=True)
def _add_in_order(asked: Asked, start: int) -> int:
    """Add all contacts by their parts."""
    count, _ = _add_all(asked, False, start)
    ints, is_in_order = asked.ints, True
    for k in range(start + 1, count):
        is_in_order = is_in_order and ints[PART, k - 1] <= ints[PART, k]
    if is_in_order:
        return count
    rows = np.empty(count - start, np.int64)
    for k in range(len(rows)):
        rows[k] = ints[PART, start + k] << _INDEX_BITS | start + k
    sort_range(rows, 0, len(rows))
    for k in range(len(rows)):
        rows[k] &= (1 << _INDEX_BITS) - 1
    return _put_in_order(asked, start, count, rows)


@kernel(noinline=True)
def _with_room(ints: Int64s, floats: Floats, count: int, room: int) -> tuple[Int64s, Floats]:
    """Return some contacts in arrays with room for so many."""
    new_ints, new_floats = np.empty((_WHOLE, room), np.int64), np.empty((3, room, 3))
    for k in range(count):
        for part in range(_WHOLE):
            new_ints[part, k] = ints[part, k]
        for part in range(3):
            for axis in range(3):
                new_floats[part, k, axis] = floats[part, k, axis]
    return new_ints, new_floats


@kernel
def contacts_with_ground(
    table: Int64s, mask: int, kind: int, shape: Floats, deepest: bool
) -> tuple[Int64s, Floats]:
    """Return (whole numbers (5, n), penetrations, directions and points (3, n, 3)) of one shape.

    They are in the order of their parts, or it is the deepest contact alone. The numbers have no
    rows if this, the short way, does not find them all.
    """
    count = _NO_ROOM
    for k in range(shape.shape[0]):
        if abs(float(shape[k])) >= FARTHEST:
            count = _TOO_MANY
    ints, floats = np.empty((_WHOLE, _ROOM), np.int64), np.empty((3, _ROOM, 3))
    tables, scratch = borrow(table), np.empty(SCRATCH)
    lower, upper = bounds_at(kind, shape, 0)
    is_beside = count == _NO_ROOM and is_near_sides(parts_in(tables, SIDES, mask), -1, lower, upper)
    while count == _NO_ROOM:
        asked = Asked(
            tables, mask, kind, borrow(shape), 0, True, is_beside, borrow(scratch),
            borrow(ints), borrow(floats), ints.shape[1],
        )  # fmt: skip
        count = _add_deepest(asked, 0) if deepest else _add_in_order(asked, 0)
        keep(ints)
        keep(floats)
        if count == _NO_ROOM:
            ints, floats = _with_room(ints, floats, 0, 4 * ints.shape[1])
    keep(scratch)
    if count < 0:
        return np.empty((0, 0), np.int64), np.empty((3, 0, 3))
    return _with_room(ints, floats, count, count)


@kernel
def contacts_of_rows(
    table: Int64s, mask: int, kind: int, shapes: Floats, rows: Int64s, are_beside: Bytes,
    first: int, last: int, deepest: bool, most: int,
) -> tuple[int, Int64s, Floats]:  # fmt: skip
    """Return how many contacts some of many shapes have, and them, as `contacts_with_ground`.

    The shapes are those in ``rows`` from first to last; ``are_beside`` (n,) is of all, see
    `beside.py`. This stops at more than ``most`` contacts, and with -1 - k at shape k, which is
    over too many cells.
    """
    count, at, width, scratch = 0, first, row_width(kind), np.empty(SCRATCH)
    room = _ROOM + last - first
    ints, floats = np.empty((_WHOLE, room), np.int64), np.empty((3, room, 3))
    while at < last and count <= most:
        index, end = int(rows[at]), count
        shape = borrow(shapes[width * index : width * (index + 1)])
        is_beside, is_led_up = are_beside[index] == NEAR_SIDES, deepest and are_beside[index] == 0
        asked = Asked(
            borrow(table), mask, kind, shape, index, False, is_beside, borrow(scratch),
            borrow(ints), borrow(floats), ints.shape[1],
        )  # fmt: skip
        if is_led_up:  # it is here as it is in a map and led down
            end = _add_way_out(asked, count)
        if not deepest:
            end = _add_in_order(asked, count)
        elif end == count:
            end = _add_deepest(asked, count)
        keep(ints)
        keep(floats)
        if end == _NO_ROOM:
            ints, floats = _with_room(ints, floats, count, 2 * ints.shape[1])
        elif end < 0:
            count, at = -1 - index, last
        else:
            count, at = end, at + 1
    keep(scratch)
    return count, ints, floats


@kernel
def put_buried(
    table: Int64s, mask: int, kind: int, shapes: Floats, rows: Int64s, are_buried: Bytes
) -> None:
    """Tell which of the shapes in ``rows`` (n,) have their center in a map."""
    maps = maps_in(borrow(table))
    for k in range(len(rows)):
        are_buried[k] = _is_buried(maps, mask, center_at(kind, shapes, int(rows[k])))
