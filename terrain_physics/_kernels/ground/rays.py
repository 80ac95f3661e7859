"""Rays against a ground: its maps, their sides and undersides, and its meshes, from its one table.

Of equally near hits that of the lowest part counts; of those of one map, the surface comes before
the sides, and these before the underside. Sides and undersides are hit from outside only.
"""

from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._intrinsics import array_at, borrow, keep, replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.ground.owners import MESH, map_arrays, owner_in
from terrain_physics._kernels.heightmap.blocks import block_span, level_start
from terrain_physics._kernels.heightmap.clipping import Terrain, survey
from terrain_physics._kernels.heightmap.grid import THICKNESS
from terrain_physics._kernels.heightmap.rays import cast, map_hits
from terrain_physics._kernels.heightmap.solid.reach import meets_surface
from terrain_physics._kernels.heightmap.solid.sides import lowered, underside_id
from terrain_physics._kernels.math.rows import row3, row_of
from terrain_physics._kernels.math.vec3 import Vec3, add_scaled, dot
from terrain_physics._kernels.mesh.part_tree import items_on_path
from terrain_physics._kernels.mesh.parts import (
    ID_BITS,
    NUMBER,
    OWNER,
    SIDE,
    Parts,
    ids_at,
    material_in,
    part_at,
    parts_at,
    row_count,
)
from terrain_physics._kernels.mesh.queries import (
    Scratch,
    borrowed,
    first_hit,
    keep_scratch,
    make_scratch,
    point_and_normal,
)
from terrain_physics._kernels.mesh.traversal import NO_WIDTH
from terrain_physics._kernels.surface.ground_arrays import (
    MAP_LAYERS,
    MAP_NUMBER,
    MAP_NUMBERS,
    MAP_ROW_SIZE,
    MAPS,
    MESH_ROW_SIZE,
    MESHES,
    SIDES,
)
from terrain_physics._kernels.types import Floats, Int64s

# Ranks of what is hit of one map; those of sides ascend with the numbers of their patches. The rank
# of a mesh is its number.
NOTHING, SURFACE, FIRST_SIDE, UNDERSIDE = -1, 0, 1, 1 << ID_BITS

# Rows of the whole numbers of hits: the ground's id of the triangle, and the place: the row of its
# map in the table, shifted by ID_BITS, and the nearest cell; or MESH, and the material.
TRIANGLE, PLACE = range(2)
FACE = (1 << ID_BITS) - 1

# A ray that comes out of the ground looks for more so far beyond, in meters, and so often.
_ONWARD, _MOST_WAYS_OUT = 1e-6, 64

_NOWHERE = (np.nan, np.nan, np.nan)


class GroundHit(NamedTuple):
    """The nearest hit of a ray so far; NOTHING at the end of the ray if there is none."""

    rank: int
    distance: float
    point: Vec3
    normal: Vec3
    triangle: int
    part: int
    row: int
    cell: int


@kernel(inline=True)
def _no_hit(longest: float) -> GroundHit:
    return GroundHit(NOTHING, longest, _NOWHERE, _NOWHERE, -1, -1, MESH, 0)


@kernel(inline=True)
def _is_before(rank: int, distance: float, part: int, row: int, hit: GroundHit) -> bool:
    """Tell whether another hit counts, which is as near as one or nearer."""
    if hit.rank == NOTHING or distance < hit.distance:
        return True
    return rank < hit.rank if row == hit.row else part < hit.part


@kernel(noinline=True, no_refcount=True)
def _nearer(
    maps: Int64s, row: int, rank: int, distance: float, point: Vec3, normal: Vec3, triangle: int,
    cell: int, hit: GroundHit,
) -> GroundHit:  # fmt: skip
    """Return that of two hits which counts; one is of a triangle of a map."""
    found, part = owner_in(maps, row, triangle)
    if not _is_before(rank, distance, part, row, hit):
        return hit
    return GroundHit(rank, distance, point, normal, found, part, row, cell)


@kernel(inline=True)
def _maps_in(tables: Int64s) -> Int64s:
    maps: Int64s = array_at(tables[MAPS, 0], (tables[MAPS, 1], MAP_ROW_SIZE), np.int64)
    return maps


@kernel(inline=True)
def _terrain_of(maps: Int64s, row: int) -> Terrain:
    heights, cells, blocks, frame = map_arrays(maps, row)
    return survey(heights, cells, blocks, frame)


@kernel(inline=True)
def _is_thin(maps: Int64s, row: int) -> bool:
    """Tell whether a map has an underside."""
    return bool(map_arrays(maps, row)[3][THICKNESS] < np.inf)


@kernel(inline=True, no_refcount=True)
def _with_surface(
    maps: Int64s, row: int, origin: Vec3, direction: Vec3, hit: GroundHit
) -> GroundHit:
    """Return the nearest hit after one with the surface of a map."""
    terrain = _terrain_of(maps, row)
    distance, point, normal, triangle, cell = cast(terrain, origin, direction, hit.distance)
    if np.isnan(distance):
        return hit
    return _nearer(maps, row, SURFACE, distance, point, normal, triangle, cell, hit)


@kernel(inline=True)
def _upside_down(terrain: Terrain) -> Terrain:
    """Return the map whose surface is the underside of one, seen from below: y is -y."""
    own = terrain.grid
    grid = replaced(own, y0=own.thickness - own.y0, height_scale=-own.height_scale)
    top = level_start(grid.rows, grid.columns, terrain.levels - 1)
    low, high = block_span(grid, terrain.blocks, top)
    return replaced(terrain, grid=grid, low=low, high=high)


@kernel(inline=True)
def _end(place: float, rate: float, length: float) -> float:
    return place + rate * length if rate != 0.0 else place  # the length may be infinite


@kernel(noinline=True, no_refcount=True)
def _with_underside(
    maps: Int64s, row: int, origin: Vec3, direction: Vec3, hit: GroundHit
) -> GroundHit:
    """Return the nearest hit after one with the underside of a map.

    It is the surface upside down. Rays that come out of the ground do not see it, and go on.
    """
    terrain = _terrain_of(maps, row)
    grid, (x, y, z), (dx, dy, dz) = terrain.grid, origin, direction
    u, v, w = _end(x, dx, hit.distance), _end(y, dy, hit.distance), _end(z, dz, hit.distance)
    lower, upper = (min(x, u), min(y, v), min(z, w)), (max(x, u), max(y, v), max(z, w))
    if not meets_surface(lowered(grid), terrain.blocks, lower, upper):
        return hit
    turned, start, way, begin = _upside_down(terrain), (x, -y, z), (dx, -dy, dz), 0.0
    for _ in range(_MOST_WAYS_OUT):
        far, point, normal, triangle, cell = cast(
            turned, add_scaled(start, way, begin), way, hit.distance - begin
        )
        if np.isnan(far):
            return hit
        far += begin
        if dot(way, normal) <= 0.0:
            own = underside_id(grid, 0, triangle >> 1, triangle & 1) if triangle >= 0 else -1
            point = (point[0], 0.0 - point[1], point[2])
            normal = (normal[0], 0.0 - normal[1], normal[2])
            return _nearer(maps, row, UNDERSIDE, far, point, normal, own, cell, hit)
        begin = far + _ONWARD
    return hit


@kernel(noinline=True, no_refcount=True)
def _with_parts(
    parts: Parts, maps: Int64s, origin: Vec3, direction: Vec3, hit: GroundHit, scratch: Scratch
) -> GroundHit:
    """Return the nearest hit after one with the meshes, or with the sides of maps."""
    count = items_on_path(
        parts.tree, origin, direction, NO_WIDTH, hit.distance,
        scratch.nodes, scratch.found, scratch.starts,
    )  # fmt: skip
    for k in range(count):
        if scratch.starts[k] > hit.distance:
            break
        at = int(scratch.found[k])
        part, number = part_at(parts.rows, at), int(parts.rows[at, NUMBER])
        face, distance, slot = first_hit(
            part, origin, direction, hit.distance, scratch.stack, scratch.entries
        )
        if face < 0:
            continue
        if part.facing == SIDE:
            ids, row, rank = ids_at(parts.rows, at), 0, FIRST_SIDE + number
            while maps[row, MAP_NUMBER] != parts.rows[at, OWNER]:
                row += 1
            cell = int(ids[len(ids) // 2 + face])  # the cells stand behind the ids
            triangle, owner = owner_in(maps, row, int(ids[face]))
        else:
            row, rank, cell = MESH, number, material_in(parts.rows, at, face)
            triangle, owner = part.first_id + face, number
        if _is_before(rank, distance, owner, row, hit):
            point, normal = point_and_normal(part, slot, origin, direction, distance)
            hit = GroundHit(rank, distance, point, normal, triangle, owner, row, cell)
    return hit


@kernel(inline=True, no_refcount=True)
def _with_others(
    maps: Int64s, meshes: Parts, sides: Parts, origin: Vec3, direction: Vec3, hit: GroundHit,
    scratch: Scratch,
) -> GroundHit:  # fmt: skip
    """Return the nearest hit after one with all but the surfaces of maps."""
    mask = meshes.tree.mask
    for row in range(len(maps)):
        if maps[row, MAP_LAYERS] & mask != 0 and _is_thin(maps, row):
            hit = _with_underside(maps, row, origin, direction, hit)
    if row_count(meshes.rows) > 1:
        hit = _with_parts(meshes, maps, origin, direction, hit, scratch)
    if row_count(sides.rows) > 1:
        hit = _with_parts(sides, maps, origin, direction, hit, scratch)
    return hit


@kernel(inline=True)
def _parts_in(tables: Int64s, which: int, mask: int) -> Parts:
    """Return the meshes of the ground, or the sides of its maps."""
    return parts_at(array_at(tables[which, 0], (tables[which, 1], MESH_ROW_SIZE), np.int64), mask)


@kernel(noinline=True, no_refcount=True)
def _has_others(maps: Int64s, meshes: Parts, sides: Parts) -> bool:
    """Tell whether there is more than surfaces of maps."""
    if row_count(meshes.rows) > 1 or row_count(sides.rows) > 1:
        return True
    for row in range(len(maps)):
        if _is_thin(maps, row):
            return True
    return False


@kernel
def ray_hit(
    table: Int64s,
    mask: int,
    x: float,
    y: float,
    z: float,
    dx: float,
    dy: float,
    dz: float,
    longest: float,
) -> tuple[float, Vec3, Vec3, int, int, int]:
    """Return (distance, point, normal, triangle, cell, row of the map) of a hit; NaN: none.

    The cell of a mesh is its material.
    """
    tables, origin, direction, hit = borrow(table), (x, y, z), (dx, dy, dz), _no_hit(longest)
    maps = _maps_in(tables)
    for row in range(len(maps)):
        if maps[row, MAP_LAYERS] & mask != 0:
            hit = _with_surface(maps, row, origin, direction, hit)
    meshes, sides = _parts_in(tables, MESHES, mask), _parts_in(tables, SIDES, mask)
    if _has_others(maps, meshes, sides):
        memory = make_scratch(meshes if row_count(meshes.rows) > row_count(sides.rows) else sides)
        hit = _with_others(maps, meshes, sides, origin, direction, hit, borrowed(memory))
        keep_scratch(memory)
    distance = np.nan if hit.rank == NOTHING else hit.distance
    return distance, hit.point, hit.normal, hit.triangle, hit.cell, hit.row


class RayRows(NamedTuple):
    """Rays as rows, an array of one row serves for all; and their hits, which are SURFACE."""

    origins: Floats
    directions: Floats
    limits: Floats  # of the distances
    distances: Floats  # (n,), NaN where there is none, as for points and normals
    points: Floats  # (n, 3)
    normals: Floats
    whole: Int64s  # (2, n)


@kernel(inline=True)
def _hit_at(maps: Int64s, rows: RayRows, k: int) -> GroundHit:
    """Return the hit of a row."""
    distance, triangle = float(rows.distances[k]), int(rows.whole[TRIANGLE, k])
    if np.isnan(distance):
        return _no_hit(float(rows.limits[row_of(rows.limits, k)]))
    place = int(rows.whole[PLACE, k])
    row = place >> ID_BITS
    part = triangle >> ID_BITS if triangle >= 0 else int(maps[row, MAP_NUMBER])
    return GroundHit(
        SURFACE, distance, row3(rows.points, k), row3(rows.normals, k), triangle, part, row,
        place & FACE,
    )  # fmt: skip


@kernel(inline=True)
def _put_hit(rows: RayRows, k: int, hit: GroundHit) -> None:
    """Write the hit of a row."""
    rows.distances[k] = np.nan if hit.rank == NOTHING else hit.distance
    for axis in range(3):
        rows.points[k, axis], rows.normals[k, axis] = hit.point[axis], hit.normal[axis]
    rows.whole[TRIANGLE, k], rows.whole[PLACE, k] = hit.triangle, hit.row << ID_BITS | hit.cell


@kernel(noinline=True)
def _cast_all(maps: Int64s, row: int, rows: RayRows, first: int, last: int) -> None:
    """Write the hits with the surface of one map, by its own ids and cells."""
    heights, cells, blocks, frame = map_arrays(maps, row)
    map_hits(
        heights, cells, blocks, frame, rows.origins, rows.directions, rows.limits, first, last,
        rows.distances, rows.points, rows.normals, rows.whole,
    )  # fmt: skip


@kernel(noinline=True)
def _put_first(maps: Int64s, row: int, rows: RayRows, first: int, last: int) -> None:
    """Write the hits with the surface of the first map."""
    _cast_all(maps, row, rows, first, last)
    is_union, first_id = maps[row, MAP_NUMBERS + 1] > 1, maps[row, MAP_NUMBER] << ID_BITS
    if not is_union and first_id == 0 and row == 0:
        return
    whole = rows.whole
    for k in range(first, last):
        own = int(whole[TRIANGLE, k])
        whole[PLACE, k] |= row << ID_BITS
        if own >= 0:
            whole[TRIANGLE, k] = owner_in(maps, row, own)[0] if is_union else own | first_id


@kernel(noinline=True)
def _put_nearer(maps: Int64s, row: int, rows: RayRows, first: int, last: int) -> None:
    """Write the hits with the surface of one more map over those that are farther."""
    more = RayRows(  # what is not written to costs nothing
        rows.origins, rows.directions, np.empty(last),
        np.empty(last), np.empty((last, 3)), np.empty((last, 3)), np.empty((2, last), np.int64),
    )  # fmt: skip
    for k in range(first, last):
        more.limits[k] = _hit_at(maps, rows, k).distance
    _cast_all(maps, row, more, first, last)
    for k in range(first, last):
        if not np.isnan(more.distances[k]):
            hit = _nearer(
                maps, row, SURFACE, float(more.distances[k]), row3(more.points, k),
                row3(more.normals, k), int(more.whole[TRIANGLE, k]), int(more.whole[PLACE, k]),
                _hit_at(maps, rows, k),
            )  # fmt: skip
            _put_hit(rows, k, hit)


@kernel
def ray_hits(
    table: Int64s,
    mask: int,
    origins: Floats,
    directions: Floats,
    longest: Floats,
    first: int,
    last: int,
    distances: Floats,
    points: Floats,
    normals: Floats,
    whole: Int64s,
) -> None:
    """Write the first hits of the rays first..last of n, those with each map in stages.

    Origins and unit directions (n, 3) and limits ``longest`` (n,) may be a single row for all.
    Where nothing is hit, distances (n,), points and normals (n, 3) are NaN; ``whole`` (2, n)
    are whole numbers.
    """
    tables = borrow(table)
    maps, are_put, limits = _maps_in(tables), False, np.empty(len(longest))
    for k in range(len(limits)):
        limits[k] = longest[k]
    rows = RayRows(
        borrow(origins), borrow(directions), borrow(limits),
        borrow(distances), borrow(points), borrow(normals), borrow(whole),
    )  # fmt: skip
    for row in range(len(maps)):
        if maps[row, MAP_LAYERS] & mask == 0:
            continue
        if are_put:
            _put_nearer(maps, row, rows, first, last)
        else:
            _put_first(maps, row, rows, first, last)
        are_put = True
    if not are_put:
        for k in range(first, last):
            _put_hit(rows, k, _no_hit(0.0))
    meshes, sides = _parts_in(tables, MESHES, mask), _parts_in(tables, SIDES, mask)
    if _has_others(maps, meshes, sides):
        memory = make_scratch(meshes if row_count(meshes.rows) > row_count(sides.rows) else sides)
        scratch = borrowed(memory)
        for k in range(first, last):
            origin = row3(rows.origins, row_of(rows.origins, k))
            direction = row3(rows.directions, row_of(rows.directions, k))
            known = _hit_at(maps, rows, k)
            hit = _with_others(maps, meshes, sides, origin, direction, known, scratch)
            _put_hit(rows, k, hit)
        keep_scratch(memory)
    keep(limits)
