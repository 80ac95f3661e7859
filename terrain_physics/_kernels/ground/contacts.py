"""The contacts of one shape with a ground: with all of its maps and meshes, from its one table.

This is the short way, for a shape over few triangles. It knows the surfaces of maps, and tells
where that is not all: near a side, below an underside and for many triangles others answer.
"""

import numpy as np

from terrain_physics._kernels._intrinsics import array_at, borrow
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.ground.owners import (
    MESH,
    is_thin,
    levels_of,
    map_arrays,
    maps_in,
    owner_in,
    parts_in,
    terrain_of,
    upside_down,
)
from terrain_physics._kernels.heightmap.grid import THICKNESS, height
from terrain_physics._kernels.heightmap.one_shape import contacts_of_shape, contacts_of_sphere
from terrain_physics._kernels.heightmap.solid.reach import meets_surface
from terrain_physics._kernels.heightmap.solid.sides import lowered
from terrain_physics._kernels.math.sorting import sort_range
from terrain_physics._kernels.math.vec3 import Vec3, length
from terrain_physics._kernels.mesh.contacts import ALL, DEEPEST, contacts_of_one
from terrain_physics._kernels.mesh.near import faces_near
from terrain_physics._kernels.mesh.part_tree import NODES_ON_PATH, items_near, widened
from terrain_physics._kernels.mesh.parts import (
    ID_BITS,
    Parts,
    part_at,
    row_count,
)
from terrain_physics._kernels.mesh.tree import STACK
from terrain_physics._kernels.surface.ground_arrays import (
    MAP_LAYERS,
    MESH_ROW_SIZE,
    MESHES,
    SIDES,
)
from terrain_physics._kernels.surface.shapes import (
    FARTHEST,
    SPHERE,
    bounds_at,
    center_at,
    row_vector,
)
from terrain_physics._kernels.types import Floats, Int64s

# Rows of the whole numbers of contacts: 0, as it is one shape; the ground's id of the triangle; the
# part that owns it; the row of its map in the table, MESH for a mesh; the nearest cell of the map.
QUERY, TRIANGLE, PART, MAP_ROW, CELL = range(5)
_WHOLE = 5

# Contacts with meshes that this finds at most.
MOST_WITH_MESHES = 1024

# Bits of the index of a contact among all.
_INDEX_BITS = 32


@kernel
def _nothing_known() -> tuple[Int64s, Floats]:
    return np.empty((0, 0), np.int64), np.empty((3, 0, 3))


@kernel(noinline=True)
def _is_near_sides(sides: Parts, lower: Vec3, upper: Vec3) -> bool:
    """Tell whether a box meets that of any triangle of a side."""
    nodes, found = np.empty(NODES_ON_PATH, np.int64), np.empty(row_count(sides.rows), np.int64)
    stack, faces = np.empty(STACK, np.int32), np.empty(1, np.int64)
    for k in range(items_near(sides.tree, lower, upper, nodes, found)):
        part = part_at(sides.rows, int(found[k]))
        if faces_near(part, lower, upper, 1.0, stack, faces) > 0:
            return True
    return False


@kernel(noinline=True)
def _may_touch_underside(maps: Int64s, row: int, center: Vec3, lower: Vec3, upper: Vec3) -> bool:
    """Tell whether a shape in a box may touch the underside of a map: only from below."""
    if not is_thin(maps, row):
        return False
    terrain = terrain_of(maps, row)
    if not meets_surface(lowered(terrain.grid), terrain.blocks, lower, upper):
        return False
    return not height(upside_down(terrain).grid, center[0], center[2]) > -center[1]


@kernel(noinline=True)
def _is_seen(maps: Int64s, row: int, center: Vec3, has_sides: bool) -> bool:
    """Tell whether a shape sees the surface of a map, and does not touch it from behind."""
    frame = map_arrays(maps, row)[3]
    if not has_sides and frame[THICKNESS] == np.inf:
        return True
    return levels_of(maps, row, center)[1] < center[1]  # not where there is no ground


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
def _of_map(
    maps: Int64s, row: int, kind: int, shape: Floats, deepest: bool
) -> tuple[Int64s, Floats]:
    """Return the contacts with the surface of a map, see `heightmap.one_shape`."""
    heights, cells, _, frame = map_arrays(maps, row)
    if kind == SPHERE:
        x, y, z = row_vector(shape, 0)
        radius = float(shape[3])
        return contacts_of_sphere(heights, cells, frame, x, y, z, radius, deepest)
    return contacts_of_shape(heights, cells, frame, kind, shape, deepest)


@kernel(noinline=True)
def _with_more(
    ints: Int64s, floats: Floats, count: int, own: Int64s, vectors: Floats, maps: Int64s, row: int
) -> tuple[Int64s, Floats]:
    """Return the contacts, of which there are ``count``, and behind them those of one member."""
    if count == 0:
        ints, floats = np.empty((_WHOLE, own.shape[1]), np.int64), vectors
    elif count + own.shape[1] > ints.shape[1]:
        room = 2 * (count + own.shape[1])
        more_ints, more_floats = np.empty((_WHOLE, room), np.int64), np.empty((3, room, 3))
        for k in range(count):
            for part in range(_WHOLE):
                more_ints[part, k] = ints[part, k]
            for part in range(3):
                for axis in range(3):
                    more_floats[part, k, axis] = floats[part, k, axis]
        ints, floats = more_ints, more_floats
    for k in range(own.shape[1]):
        triangle, cell = int(own[1, k]), 0
        number = triangle >> ID_BITS
        if row != MESH:
            cell = int(own[2, k])
            triangle, number = owner_in(maps, row, triangle)
        place = count + k
        ints[QUERY, place], ints[TRIANGLE, place], ints[PART, place] = 0, triangle, number
        ints[MAP_ROW, place], ints[CELL, place] = row, cell
        if count > 0:
            for part in range(3):
                for axis in range(3):
                    floats[part, place, axis] = vectors[part, k, axis]
    return ints, floats


@kernel(noinline=True)
def _found(
    table: Int64s, mask: int, kind: int, shape: Floats, visits: Int64s, deepest: bool
) -> tuple[int, int, Int64s, Floats]:
    """Return how many contacts there are, -1 if they are not known, of how many members, and them.

    With ``deepest`` it is one of each member.
    """
    ints, floats, count, members = np.empty((_WHOLE, 0), np.int64), np.empty((3, 0, 3)), 0, 0
    maps = maps_in(table)
    meshes = array_at(table[MESHES, 0], (table[MESHES, 1], MESH_ROW_SIZE), np.int64)
    if row_count(meshes) > 1:
        kept = DEEPEST if deepest else ALL
        own, vectors = contacts_of_one(meshes, mask, kind, shape, visits, kept, MOST_WITH_MESHES)
        if len(own) == 0 or own.shape[1] > MOST_WITH_MESHES:
            return -1, 0, ints, floats
        ints, floats = _with_more(ints, floats, count, own, vectors, maps, MESH)
        members, count = min(own.shape[1], 1), own.shape[1]
    center = center_at(kind, shape, 0)
    has_sides = row_count(parts_in(table, SIDES, mask).rows) > 1
    lower, upper = bounds_at(kind, shape, 0)
    for row in range(len(maps)):
        if maps[row, MAP_LAYERS] & mask == 0:
            continue
        own, vectors = _of_map(maps, row, kind, shape, deepest)
        if (own.size > 0 and own[QUERY, 0] < 0) or _may_touch_underside(
            maps, row, center, lower, upper
        ):
            return -1, 0, ints, floats
        if own.size > 0 and not _is_seen(maps, row, center, has_sides):
            return -1, 0, ints, floats
        ints, floats = _with_more(ints, floats, count, own, vectors, maps, row)
        members, count = members + 1, count + own.shape[1]
    return count, members, ints, floats


@kernel(noinline=True)
def _chosen(count: int, ints: Int64s, floats: Floats, rows: Int64s) -> tuple[Int64s, Floats]:
    """Return some of the contacts, in the order of their rows."""
    some, vectors = np.empty((_WHOLE, count), np.int64), np.empty((3, count, 3))
    for k in range(count):
        row = int(rows[k] & ((1 << _INDEX_BITS) - 1))
        for part in range(_WHOLE):
            some[part, k] = ints[part, row]
        for part in range(3):
            for axis in range(3):
                vectors[part, k, axis] = floats[part, row, axis]
    return some, vectors


@kernel(noinline=True)
def _deepest_row(count: int, ints: Int64s, floats: Floats, only_up: bool) -> int:
    """Return the deepest contact, of the lowest part if several are; -1 if there is none."""
    best, deepest = -1, -1.0
    for k in range(count):
        if only_up and not floats[1, k, 1] > 0.0:
            continue
        depth = length((float(floats[0, k, 0]), float(floats[0, k, 1]), float(floats[0, k, 2])))
        if depth > deepest or (depth == deepest and ints[PART, k] < ints[PART, best]):
            best, deepest = k, depth
    return best


@kernel(noinline=True)
def _deepest(
    table: Int64s, mask: int, kind: int, shape: Floats, visits: Int64s
) -> tuple[Int64s, Floats]:
    """Return the deepest contact; one that leads up if the center is in a map, and there is one."""
    count, members, ints, floats = _found(table, mask, kind, shape, visits, True)
    leads_down, best = False, _deepest_row(count, ints, floats, False)
    for k in range(count):
        leads_down = leads_down or not floats[1, k, 1] > 0.0
    maps = maps_in(table)
    if members > 1 and leads_down and _is_buried(maps, mask, center_at(kind, shape, 0)):
        # A map knows whether a center is in it, but the others do not.
        total, _, all_ints, all_floats = _found(table, mask, kind, shape, visits, False)
        up = _deepest_row(total, all_ints, all_floats, True)
        if up >= 0:
            count, ints, floats, best = total, all_ints, all_floats, up
        elif total < 0:
            count = total
    if count < 0:
        return _nothing_known()
    if count < 2:
        return ints, floats
    rows = np.empty(1, np.int64)
    rows[0] = best
    return _chosen(1, ints, floats, rows)


@kernel
def contacts_with_ground(
    table: Int64s, mask: int, kind: int, shape: Floats, visits: Int64s, deepest: bool
) -> tuple[Int64s, Floats]:
    """Return (whole numbers (5, n), penetrations, directions and points (3, n, 3)).

    They are in the order of their parts, or it is the deepest contact alone. The numbers have no
    rows if this does not know the answer. ``visits`` (1,) is 0.
    """
    for k in range(shape.shape[0]):
        if abs(float(shape[k])) >= FARTHEST:
            return _nothing_known()
    tables = borrow(table)
    lower, upper = bounds_at(kind, shape, 0)
    low, high = widened(lower, upper)
    sides = parts_in(tables, SIDES, mask)
    if row_count(sides.rows) > 1 and _is_near_sides(sides, low, high):
        return _nothing_known()
    if deepest:
        return _deepest(tables, mask, kind, shape, visits)
    count, _, ints, floats = _found(tables, mask, kind, shape, visits, False)
    if count < 0:
        return _nothing_known()
    is_in_order = count == ints.shape[1]
    for k in range(1, count):
        is_in_order = is_in_order and ints[PART, k - 1] <= ints[PART, k]
    if is_in_order:
        return ints, floats
    rows = np.empty(count, np.int64)
    for k in range(count):
        rows[k] = ints[PART, k] << _INDEX_BITS | k
    sort_range(rows, 0, count)
    return _chosen(count, ints, floats, rows)
