"""Rays against a ground: its maps, their sides and undersides, and its meshes, from its one table.

Sides and undersides are hit from outside only. Which of equally near hits counts: see `hits.py`.
"""

import math

import numpy as np

from terrain_physics._kernels._intrinsics import borrow, keep
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.ground.hits import (
    FACE,
    NOTHING,
    PLACE,
    SURFACE,
    TRIANGLE,
    UNDERSIDE,
    GroundHit,
    face_in,
    is_before,
    nearer,
    no_hit,
)
from terrain_physics._kernels.ground.owners import (
    has_others,
    is_thin,
    map_arrays,
    maps_in,
    more_of,
    owner_in,
    parts_in,
    terrain_of,
    upside_down,
)
from terrain_physics._kernels.heightmap.rays import cast, map_hits
from terrain_physics._kernels.heightmap.solid.reach import meets_surface
from terrain_physics._kernels.heightmap.solid.sides import lowered, underside_id
from terrain_physics._kernels.heightmap.upright_rays import RayRows
from terrain_physics._kernels.math.rows import row3, row_of
from terrain_physics._kernels.math.vec3 import Vec3, add_scaled, dot
from terrain_physics._kernels.mesh.part_tree import items_on_path, widened
from terrain_physics._kernels.mesh.parts import ID_BITS, Parts, part_at, row_count
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
    MESHES,
    SIDES,
)
from terrain_physics._kernels.types import Floats, Int64s

# A ray that comes out of the ground looks for more so far beyond, in meters, and so often.
_ONWARD, _MOST_WAYS_OUT = 1e-6, 64


@kernel(inline=True, no_refcount=True)
def _with_surface(
    maps: Int64s, row: int, origin: Vec3, direction: Vec3, hit: GroundHit
) -> GroundHit:
    """Return the nearest hit after one with the surface of a map."""
    terrain = terrain_of(maps, row)
    distance, point, normal, triangle, cell = cast(terrain, origin, direction, hit.distance)
    if np.isnan(distance):
        return hit
    return nearer(maps, row, SURFACE, distance, point, normal, triangle, cell, hit)


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
    terrain = terrain_of(maps, row)
    grid, (x, y, z), (dx, dy, dz) = terrain.grid, origin, direction
    u, v, w = _end(x, dx, hit.distance), _end(y, dy, hit.distance), _end(z, dz, hit.distance)
    lower, upper = (min(x, u), min(y, v), min(z, w)), (max(x, u), max(y, v), max(z, w))
    if hit.distance < math.inf:  # a hit exactly at the end may be rounded beyond it
        lower, upper = widened(lower, upper)
    if not meets_surface(lowered(grid), terrain.blocks, lower, upper):
        return hit
    turned, start, way, begin = upside_down(terrain), (x, -y, z), (dx, -dy, dz), 0.0
    for _ in range(_MOST_WAYS_OUT):
        far, point, normal, triangle, cell = cast(
            turned, add_scaled(start, way, begin), way, hit.distance
        )
        far += begin
        if not far <= hit.distance:  # nor is NaN
            return hit
        if dot(way, normal) <= 0.0:
            own = underside_id(grid, 0, triangle >> 1, triangle & 1) if triangle >= 0 else -1
            point = (point[0], 0.0 - point[1], point[2])
            normal = (normal[0], 0.0 - normal[1], normal[2])
            return nearer(maps, row, UNDERSIDE, far, point, normal, own, cell, hit)
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
        part = part_at(parts.rows, at)
        face, distance, slot = first_hit(
            part, origin, direction, hit.distance, scratch.stack, scratch.entries
        )
        if face < 0:
            continue
        own = face_in(maps, parts.rows, at, face)
        if is_before(own.rank, distance, own.part, own.row, hit):
            point, normal = point_and_normal(part, slot, origin, direction, distance)
            hit = GroundHit(
                own.rank, distance, point, normal, own.triangle, own.part, own.row, own.cell
            )  # fmt: skip
    return hit


@kernel(inline=True, no_refcount=True)
def _with_others(
    maps: Int64s, meshes: Parts, sides: Parts, origin: Vec3, direction: Vec3, hit: GroundHit,
    scratch: Scratch,
) -> GroundHit:  # fmt: skip
    """Return the nearest hit after one with all but the surfaces of maps."""
    mask = meshes.tree.mask
    for row in range(len(maps)):
        if maps[row, MAP_LAYERS] & mask != 0 and is_thin(maps, row):
            hit = _with_underside(maps, row, origin, direction, hit)
    if row_count(meshes.rows) > 1:
        hit = _with_parts(meshes, maps, origin, direction, hit, scratch)
    if row_count(sides.rows) > 1:
        hit = _with_parts(sides, maps, origin, direction, hit, scratch)
    return hit


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
    tables, origin, direction, hit = borrow(table), (x, y, z), (dx, dy, dz), no_hit(longest)
    maps = maps_in(tables)
    for row in range(len(maps)):
        if maps[row, MAP_LAYERS] & mask != 0:
            hit = _with_surface(maps, row, origin, direction, hit)
    meshes, sides = parts_in(tables, MESHES, mask), parts_in(tables, SIDES, mask)
    if has_others(maps, meshes, sides):
        memory = make_scratch(more_of(meshes, sides))
        hit = _with_others(maps, meshes, sides, origin, direction, hit, borrowed(memory))
        keep_scratch(memory)
    distance = np.nan if hit.rank == NOTHING else hit.distance
    return distance, hit.point, hit.normal, hit.triangle, hit.cell, hit.row


@kernel(inline=True)
def _hit_at(maps: Int64s, rows: RayRows, k: int) -> GroundHit:
    """Return the hit of a row."""
    distance, triangle = float(rows.distances[k]), int(rows.whole[TRIANGLE, k])
    if np.isnan(distance):
        return no_hit(float(rows.limits[row_of(rows.limits, k)]))
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
    map_hits(heights, cells, blocks, frame, rows, first, last)


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
            hit = nearer(
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
    maps, are_put, limits = maps_in(tables), False, np.empty(len(longest))
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
            _put_hit(rows, k, no_hit(0.0))
    meshes, sides = parts_in(tables, MESHES, mask), parts_in(tables, SIDES, mask)
    if has_others(maps, meshes, sides):
        memory = make_scratch(more_of(meshes, sides))
        scratch = borrowed(memory)
        for k in range(first, last):
            origin = row3(rows.origins, row_of(rows.origins, k))
            direction = row3(rows.directions, row_of(rows.directions, k))
            known = _hit_at(maps, rows, k)
            hit = _with_others(maps, meshes, sides, origin, direction, known, scratch)
            _put_hit(rows, k, hit)
        keep_scratch(memory)
    keep(limits)
