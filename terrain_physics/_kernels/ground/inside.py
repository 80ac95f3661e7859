"""Whether points are in solid ground, and how far they are from its faces, below 0 in it.

All faces count: sides and undersides of maps are near from inside as from outside.
"""

import math

import numpy as np

from terrain_physics._kernels._intrinsics import borrow, keep, replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.ground.closest import (
    Searched,
    box_around,
    fetch_soon,
    nodes_of,
    reach_of,
)
from terrain_physics._kernels.ground.owners import (
    levels_of,
    map_arrays,
    maps_in,
    more_of,
    parts_in,
    terrain_of,
)
from terrain_physics._kernels.heightmap.clipping import AHEAD
from terrain_physics._kernels.heightmap.closest.point import closest
from terrain_physics._kernels.heightmap.grid import THICKNESS
from terrain_physics._kernels.heightmap.heights import surface_at
from terrain_physics._kernels.math.rows import row3
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.mesh.inside import OUTSIDE, depth_in, place_in
from terrain_physics._kernels.mesh.part_tree import items_near
from terrain_physics._kernels.mesh.parts import OWNER, SKIN, Parts, part_at, row_count
from terrain_physics._kernels.mesh.queries import (
    Scratch,
    borrowed,
    keep_scratch,
    make_scratch,
    nearest_of_all,
    nearest_slot,
)
from terrain_physics._kernels.surface.ground_arrays import MAP_LAYERS, MAP_NUMBER, MESHES, SIDES
from terrain_physics._kernels.types import Bytes, Floats, Int64s


@kernel(inline=True)
def _is_in_mesh(meshes: Parts, place: Vec3, scratch: Scratch) -> bool:
    """Tell whether a place is in a solid mesh, or on a face."""
    for k in range(items_near(meshes.tree, place, place, scratch.nodes, scratch.found)):
        part = part_at(meshes.rows, int(scratch.found[k]))
        if place_in(part, place, scratch.stack) != OUTSIDE:
            return True
    return False


@kernel
def contains_one(table: Int64s, mask: int, x: float, y: float, z: float) -> bool:
    """Tell whether a point is in something solid, or on a surface."""
    tables, place = borrow(table), (x, y, z)
    maps, meshes = maps_in(tables), parts_in(tables, MESHES, mask)
    for row in range(len(maps)):
        if maps[row, MAP_LAYERS] & mask != 0:
            surface, underside = levels_of(maps, row, place)
            if underside <= y <= surface:
                return True
    if row_count(meshes.rows) <= 1:
        return False
    memory = make_scratch(meshes)
    is_in = _is_in_mesh(meshes, place, borrowed(memory))
    keep_scratch(memory)
    return is_in


@kernel
def contains_rows(
    table: Int64s, mask: int, points: Floats, first: int, last: int, out: Bytes
) -> None:
    """Write 1 for the points first..last of (n, 3) that are in something solid, else 0."""
    tables, count = borrow(table), last - first
    maps, meshes = maps_in(tables), parts_in(tables, MESHES, mask)
    xs, zs, levels = np.empty(count), np.empty(count), np.empty((count, 1))
    for k in range(count):
        xs[k], zs[k], out[first + k] = points[first + k, 0], points[first + k, 2], 0
    for row in range(len(maps)):
        if maps[row, MAP_LAYERS] & mask != 0:
            heights, cells, _, frame = map_arrays(maps, row)
            surface_at(heights, cells, frame, xs, zs, 0, count, False, levels)
            thickness = float(frame[THICKNESS])
            for k in range(count):
                y, level = float(points[first + k, 1]), float(levels[k, 0])
                if level - thickness <= y <= level:
                    out[first + k] = 1
    if row_count(meshes.rows) > 1:
        memory = make_scratch(meshes)
        for k in range(first, last):
            if out[k] == 0 and _is_in_mesh(meshes, row3(points, k), borrowed(memory)):
                out[k] = 1
        keep_scratch(memory)


@kernel(noinline=True, no_refcount=True)
def _to_sides(
    maps: Int64s, row: int, sides: Parts, place: Vec3, distance: float, scratch: Scratch
) -> float:
    """Return the distance to the sides of a map, or a lesser one."""
    lower, upper = box_around(place, distance)
    for k in range(items_near(sides.tree, lower, upper, scratch.nodes, scratch.found)):
        at, far = int(scratch.found[k]), reach_of(distance)
        if sides.rows[at, OWNER] == maps[row, MAP_NUMBER]:
            part = replaced(part_at(sides.rows, at), facing=SKIN)
            square = nearest_slot(part, place, 0, far * far, scratch.stack, scratch.entries)[1]
            distance = min(distance, math.sqrt(square))
    return distance


@kernel(noinline=True, no_refcount=True)
def _to_map(ground: Searched, row: int, place: Vec3, scratch: Scratch) -> float:
    """Return the distance to the faces of a map, below 0 in it; infinite without ground."""
    maps, (x, y, z) = ground.maps, place
    terrain, (surface, underside) = terrain_of(maps, row), levels_of(maps, row, place)
    if y in (surface, underside):
        return 0.0
    distance = closest(terrain, place, ground.stack, ground.bounds)[1]
    thickness = terrain.grid.thickness
    if thickness < math.inf:  # the underside is the surface, that much farther down
        raised = (x, y + thickness, z)
        distance = min(distance, closest(terrain, raised, ground.stack, ground.bounds)[1])
    if row_count(ground.sides.rows) > 1:
        distance = _to_sides(maps, row, ground.sides, place, distance, scratch)
    return 0.0 - distance if underside < y < surface else distance


@kernel(noinline=True, no_refcount=True)
def _to_all(
    ground: Searched, place: Vec3, near: int, slot: int, scratch: Scratch
) -> tuple[float, int, int]:
    """Return the distance to the nearest face, below 0 inside; row and slot of the nearest mesh.

    The latter may be a first guess before.
    """
    maps, meshes, best = ground.maps, ground.meshes, math.inf
    for row in range(len(maps)):
        if maps[row, MAP_LAYERS] & meshes.tree.mask != 0:
            best = min(best, _to_map(ground, row, place, scratch))
    if row_count(meshes.rows) > 1:
        depth = depth_in(meshes, place, scratch)
        if depth >= 0.0:
            best = min(best, 0.0 - depth)
        elif best > 0.0:
            near, slot, square, _ = nearest_of_all(
                meshes, place, near, slot, reach_of(best), scratch
            )
            best = min(best, math.sqrt(square))
    return best, near, slot


@kernel
def signed_distance_one(table: Int64s, mask: int, x: float, y: float, z: float) -> float:
    """Return the distance of one point to the nearest face, see `signed_distance_rows`."""
    tables = borrow(table)
    maps = maps_in(tables)
    meshes, sides = parts_in(tables, MESHES, mask), parts_in(tables, SIDES, mask)
    nodes = nodes_of(maps)
    stack, bounds = np.empty(nodes, np.int64), np.empty(nodes, np.float64)
    ground = Searched(maps, meshes, sides, borrow(stack), borrow(bounds))
    memory = make_scratch(more_of(meshes, sides))
    best = _to_all(ground, (x, y, z), 0, 0, borrowed(memory))[0]
    keep_scratch(memory)
    keep(stack)
    keep(bounds)
    return best


@kernel
def signed_distance_rows(
    table: Int64s, mask: int, points: Floats, visits: Int64s, first: int, last: int, out: Floats
) -> None:
    """Write the distances of the points (n, 3) in ``visits`` from first to last.

    They are those to the nearest face, below 0 inside: of several solid meshes, to the faces of
    the one that the point is deepest in. They are infinite where the mask selects nothing.
    """
    tables = borrow(table)
    maps = maps_in(tables)
    meshes, sides = parts_in(tables, MESHES, mask), parts_in(tables, SIDES, mask)
    nodes = nodes_of(maps)
    stack, bounds = np.empty(nodes, np.int64), np.empty(nodes, np.float64)
    ground = Searched(maps, meshes, sides, borrow(stack), borrow(bounds))
    memory = make_scratch(more_of(meshes, sides))
    scratch, near, slot = borrowed(memory), 0, 0
    for visit in range(first, last):
        fetch_soon(maps, row3(points, int(visits[min(visit + AHEAD, last - 1)])))
        index = int(visits[visit])
        # Points often come in order: the last one's triangle is a first guess.
        out[index], near, slot = _to_all(ground, row3(points, index), near, slot, scratch)
    keep_scratch(memory)
    keep(stack)
    keep(bounds)
