"""The point of a ground nearest to a point: of its maps, their sides and undersides, its meshes.

Sides and undersides are seen from outside only. Which of equally near points counts: see `hits.py`.
"""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._intrinsics import borrow, keep
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.ground.hits import (
    NOWHERE,
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
    parts_in,
    terrain_of,
    upside_down,
)
from terrain_physics._kernels.heightmap.clipping import AHEAD, Terrain, fetch_ahead
from terrain_physics._kernels.heightmap.closest.point import MANY_NODES, closest
from terrain_physics._kernels.heightmap.grid import height, unpack_grid
from terrain_physics._kernels.heightmap.solid.reach import meets_surface
from terrain_physics._kernels.heightmap.solid.sides import lowered, underside_id
from terrain_physics._kernels.math.rows import row3
from terrain_physics._kernels.math.vec3 import Vec3, add
from terrain_physics._kernels.mesh.part_tree import items_near, widened
from terrain_physics._kernels.mesh.parts import ID_BITS, MeshPart, Parts, part_at, row_count
from terrain_physics._kernels.mesh.queries import (
    Scratch,
    borrowed,
    keep_scratch,
    make_scratch,
    nearest_of_all,
    nearest_slot,
)
from terrain_physics._kernels.surface.ground_arrays import MAP_LAYERS, MESHES, SIDES
from terrain_physics._kernels.tolerances import CULLING_SLACK
from terrain_physics._kernels.types import Floats, Int64s


@kernel(inline=True)
def reach_of(distance: float) -> float:
    """Return how far to look for what is not farther, whatever is rounded."""
    return distance * (1.0 + CULLING_SLACK)


@kernel(inline=True)
def box_around(place: Vec3, distance: float) -> tuple[Vec3, Vec3]:
    """Return the box around all that is not farther from a place."""
    x, y, z = place
    return widened(
        (x - distance, y - distance, z - distance), (x + distance, y + distance, z + distance)
    )


@kernel(noinline=True)
def nodes_of(maps: Int64s) -> int:
    """Return how many nodes the scratch of a search of each map has to hold."""
    levels = 1
    for row in range(len(maps)):
        levels = max(levels, terrain_of(maps, row).levels)
    return MANY_NODES * levels


@kernel(inline=True, no_refcount=True)
def fetch_soon(maps: Int64s, place: Vec3) -> None:
    """Prefetch the heights of all maps around a place that is asked about soon."""
    for row in range(len(maps)):
        heights, cells, _, frame = map_arrays(maps, row)
        fetch_ahead(unpack_grid(heights, cells, frame), place)


@kernel(inline=True, no_refcount=True)
def _with_surface(
    maps: Int64s, row: int, place: Vec3, stack: Int64s, bounds: Floats, hit: GroundHit
) -> GroundHit:
    """Return the nearest point after one of the surface of a map."""
    triangle, distance, point, cell = closest(terrain_of(maps, row), place, stack, bounds)
    if distance == math.inf:
        return hit
    return nearer(maps, row, SURFACE, distance, point, NOWHERE, triangle, cell, hit)


@kernel(inline=True, no_refcount=True)
def _is_in(turned: Terrain, place: Vec3, thickness: float) -> bool:
    """Tell whether a place is in a map; both are upside down."""
    level = height(turned.grid, place[0], place[2])
    return bool(level > place[1] and level - thickness < place[1])


@kernel(noinline=True, no_refcount=True)
def _with_underside(
    maps: Int64s, row: int, place: Vec3, stack: Int64s, bounds: Floats, hit: GroundHit
) -> GroundHit:
    """Return the nearest point after one of the underside of a map: the surface upside down."""
    terrain = terrain_of(maps, row)
    lower, upper = box_around(place, hit.distance)
    if not meets_surface(lowered(terrain.grid), terrain.blocks, lower, upper):
        return hit
    turned, below = upside_down(terrain), (place[0], -place[1], place[2])
    if _is_in(turned, below, terrain.grid.thickness):
        return hit
    triangle, distance, point, cell = closest(turned, below, stack, bounds)
    if distance == math.inf:
        return hit
    own = underside_id(terrain.grid, 0, triangle >> 1, triangle & 1) if triangle >= 0 else -1
    point = (point[0], 0.0 - point[1], point[2])
    return nearer(maps, row, UNDERSIDE, distance, point, NOWHERE, own, cell, hit)


@kernel(inline=True)
def _with_face(
    maps: Int64s, rows: Int64s, at: int, part: MeshPart, slot: int, square: float, place: Vec3,
    offset: Vec3, hit: GroundHit,
) -> GroundHit:  # fmt: skip
    """Return the nearest point after one of a face of a mesh, or of sides."""
    own, distance = face_in(maps, rows, at, int(part.order[slot])), math.sqrt(square)
    if not is_before(own.rank, distance, own.part, own.row, hit):
        return hit
    point = add(add(place, offset), (0.0, 0.0, 0.0))  # never -0
    return GroundHit(
        own.rank, distance, point, NOWHERE, own.triangle, own.part, own.row, own.cell
    )  # fmt: skip


@kernel(noinline=True, no_refcount=True)
def _with_sides(
    maps: Int64s, sides: Parts, place: Vec3, scratch: Scratch, hit: GroundHit
) -> GroundHit:
    """Return the nearest point after one of the sides of maps."""
    lower, upper = box_around(place, hit.distance)
    for k in range(items_near(sides.tree, lower, upper, scratch.nodes, scratch.found)):
        at, far = int(scratch.found[k]), reach_of(hit.distance)
        part = part_at(sides.rows, at)
        slot, square, offset = nearest_slot(
            part, place, 0, far * far, scratch.stack, scratch.entries
        )
        if square < math.inf:
            hit = _with_face(maps, sides.rows, at, part, slot, square, place, offset, hit)
    return hit


class Searched(NamedTuple):
    """A ground as it is searched, and scratch for it."""

    maps: Int64s
    meshes: Parts
    sides: Parts
    stack: Int64s  # (nodes_of(maps),)
    bounds: Floats


@kernel(inline=True, no_refcount=True)
def _with_maps(ground: Searched, place: Vec3) -> GroundHit:
    """Return the nearest point of the surfaces of maps."""
    maps, hit = ground.maps, no_hit(math.inf)
    for row in range(len(maps)):
        if maps[row, MAP_LAYERS] & ground.meshes.tree.mask != 0:
            hit = _with_surface(maps, row, place, ground.stack, ground.bounds, hit)
    return hit


@kernel(inline=True, no_refcount=True)
def _with_others(
    ground: Searched, place: Vec3, row: int, slot: int, scratch: Scratch, hit: GroundHit
) -> tuple[GroundHit, int, int]:
    """Return the nearest point after all but surfaces of maps; row and slot of the nearest mesh.

    The latter may be a first guess before.
    """
    maps, meshes = ground.maps, ground.meshes
    if row_count(ground.sides.rows) > 1:
        hit = _with_sides(maps, ground.sides, place, scratch, hit)
    for own in range(len(maps)):
        if maps[own, MAP_LAYERS] & meshes.tree.mask != 0 and is_thin(maps, own):
            hit = _with_underside(maps, own, place, ground.stack, ground.bounds, hit)
    if row_count(meshes.rows) > 1:
        row, slot, square, offset = nearest_of_all(
            meshes, place, row, slot, reach_of(hit.distance), scratch
        )
        if row > 0:
            part = part_at(meshes.rows, row)
            hit = _with_face(maps, meshes.rows, row, part, slot, square, place, offset, hit)
    return hit, row, slot


@kernel
def closest_one(
    table: Int64s, mask: int, x: float, y: float, z: float
) -> tuple[float, Vec3, int, int, int]:
    """Return (distance, point, triangle, cell, row of the map) of the nearest point; inf: none.

    The cell of a mesh is its material.
    """
    tables, place = borrow(table), (x, y, z)
    maps = maps_in(tables)
    meshes, sides = parts_in(tables, MESHES, mask), parts_in(tables, SIDES, mask)
    nodes = nodes_of(maps)
    stack, bounds = np.empty(nodes, np.int64), np.empty(nodes, np.float64)
    ground = Searched(maps, meshes, sides, borrow(stack), borrow(bounds))
    hit = _with_maps(ground, place)
    if has_others(maps, meshes, sides):
        memory = make_scratch(more_of(meshes, sides))
        hit, _, _ = _with_others(ground, place, 0, 0, borrowed(memory), hit)
        keep_scratch(memory)
    keep(stack)
    keep(bounds)
    return hit.distance, hit.point, hit.triangle, hit.cell, hit.row


@kernel
def closest_rows(
    table: Int64s,
    mask: int,
    queries: Floats,
    visits: Int64s,
    first: int,
    last: int,
    distances: Floats,
    points: Floats,
    whole: Int64s,
) -> None:
    """Write the nearest points to the places (n, 3) in ``visits`` from first to last.

    Where there is none, distances (n,) are infinite and points (n, 3) NaN; ``whole`` (2, n) are
    whole numbers, see `hits.py`.
    """
    tables = borrow(table)
    maps = maps_in(tables)
    meshes, sides = parts_in(tables, MESHES, mask), parts_in(tables, SIDES, mask)
    nodes, are_others = nodes_of(maps), has_others(maps, meshes, sides)
    stack, bounds = np.empty(nodes, np.int64), np.empty(nodes, np.float64)
    ground = Searched(maps, meshes, sides, borrow(stack), borrow(bounds))
    memory = make_scratch(more_of(meshes, sides))
    scratch, near, slot = borrowed(memory), 0, 0
    for visit in range(first, last):
        fetch_soon(maps, row3(queries, int(visits[min(visit + AHEAD, last - 1)])))
        index = int(visits[visit])
        place = row3(queries, index)
        hit = _with_maps(ground, place)
        if are_others:
            # Places often come in order: the last one's triangle is a first guess.
            hit, near, slot = _with_others(ground, place, near, slot, scratch, hit)
        distances[index], whole[TRIANGLE, index] = hit.distance, hit.triangle
        whole[PLACE, index] = hit.row << ID_BITS | hit.cell
        for axis in range(3):
            points[index, axis] = hit.point[axis]
    keep_scratch(memory)
    keep(stack)
    keep(bounds)
