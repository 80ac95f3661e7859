"""Shapes that move over a ground: the first touch of its maps, their sides and undersides, meshes.

Each map and mesh is swept along the whole path: bits must not depend on what else is there. Sides
and undersides are touched from outside only. Which of equally near touches counts: see `hits.py`.
"""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._intrinsics import borrow, keep
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.obb_triangle import FACE_COUNT
from terrain_physics._kernels.ground.closest import fetch_soon, reach_of
from terrain_physics._kernels.ground.hits import (
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
    maps_in,
    more_of,
    parts_in,
    terrain_of,
    upside_down,
)
from terrain_physics._kernels.heightmap.clipping import AHEAD
from terrain_physics._kernels.heightmap.grid import height
from terrain_physics._kernels.heightmap.solid.reach import meets_surface
from terrain_physics._kernels.heightmap.solid.sides import lowered, underside_id
from terrain_physics._kernels.heightmap.sweeps import first_touch
from terrain_physics._kernels.math.rows import row3, row_of, row_vector
from terrain_physics._kernels.math.vec3 import Vec3, add, add_scaled
from terrain_physics._kernels.mesh.part_tree import items_on_path, widened
from terrain_physics._kernels.mesh.parts import ID_BITS, Parts, part_at, row_count, skin_at
from terrain_physics._kernels.mesh.queries import Scratch, borrowed, keep_scratch, make_scratch
from terrain_physics._kernels.mesh.sweeps import place_of_slot, touch_of_mesh
from terrain_physics._kernels.surface.ground_arrays import MAP_LAYERS, MESHES, SIDES
from terrain_physics._kernels.surface.shapes import (
    Body,
    body_at,
    row_width,
    upside_down_body,
)
from terrain_physics._kernels.surface.sweep import split_motion
from terrain_physics._kernels.types import Floats, Int64s

_ZERO = (0.0, 0.0, 0.0)


class Moving(NamedTuple):
    """A body on its path, and scratch for its touches."""

    body: Body
    center: Vec3
    direction: Vec3
    length: float
    faces: Floats  # (FACE_COUNT, 4)


@kernel(inline=True, no_refcount=True)
def _with_surface(maps: Int64s, row: int, moving: Moving, hit: GroundHit) -> GroundHit:
    """Return the first touch after one of the surface of a map."""
    distance, point, normal, triangle, cell = first_touch(
        terrain_of(maps, row), moving.body, moving.center, moving.direction, moving.length,
        moving.faces,
    )  # fmt: skip
    if distance == math.inf:
        return hit
    return nearer(maps, row, SURFACE, distance, point, normal, triangle, cell, hit)


@kernel(inline=True)
def _box_on_path(moving: Moving, length: float) -> tuple[Vec3, Vec3]:
    """Return the box around all of a path up to a length."""
    x, y, z = moving.center
    u, v, w = add_scaled(moving.center, moving.direction, length)
    wide, tall, deep = moving.body.half_extents
    return widened(
        (min(x, u) - wide, min(y, v) - tall, min(z, w) - deep),
        (max(x, u) + wide, max(y, v) + tall, max(z, w) + deep),
    )


@kernel(noinline=True, no_refcount=True)
def _with_underside(maps: Int64s, row: int, moving: Moving, hit: GroundHit) -> GroundHit:
    """Return the first touch after one of the underside of a map: the surface upside down."""
    terrain, (x, y, z), (dx, dy, dz) = terrain_of(maps, row), moving.center, moving.direction
    grid = terrain.grid
    lower, upper = _box_on_path(moving, reach_of(hit.distance))
    if not meets_surface(lowered(grid), terrain.blocks, lower, upper):
        return hit
    turned = upside_down(terrain)
    level = height(turned.grid, x, z)
    is_above = level > -y
    if is_above and level - grid.thickness < -y:
        return hit  # its center is in the ground
    distance, point, normal, triangle, cell = first_touch(
        turned, upside_down_body(moving.body), (x, -y, z), (dx, -dy, dz), moving.length,
        moving.faces,
    )  # fmt: skip
    # Who stands on ground thinner than its size touches the underside from behind.
    if distance == math.inf or (is_above and distance / moving.length == 0.0):
        return hit
    own = underside_id(grid, 0, triangle >> 1, triangle & 1) if triangle >= 0 else -1
    point = (point[0], 0.0 - point[1], point[2])
    normal = (normal[0], 0.0 - normal[1], normal[2])
    return nearer(maps, row, UNDERSIDE, distance, point, normal, own, cell, hit)


@kernel(inline=True, no_refcount=True)
def _with_parts(
    parts: Parts, maps: Int64s, moving: Moving, hit: GroundHit, scratch: Scratch
) -> GroundHit:
    """Return the first touch after one of the meshes, or of the sides of maps."""
    body, center, direction, length, faces = moving
    count = items_on_path(
        parts.tree, center, direction, body.half_extents, hit.distance,
        scratch.nodes, scratch.found, scratch.starts,
    )  # fmt: skip
    for k in range(count):
        if scratch.starts[k] > hit.distance:
            break
        at = int(scratch.found[k])
        part, most = part_at(parts.rows, at), math.inf if hit.rank == NOTHING else hit.distance
        face, distance, normal, slot = touch_of_mesh(
            part, skin_at(parts.rows, at), body, center, direction, length, most,
            scratch.stack, scratch.entries, faces,
        )  # fmt: skip
        if face < 0:
            continue
        own = face_in(maps, parts.rows, at, face)
        if is_before(own.rank, distance, own.part, own.row, hit):
            end = add_scaled(center, direction, distance)
            point = place_of_slot(part, slot, body, end, normal, faces)
            hit = GroundHit(
                own.rank, distance, point, normal, own.triangle, own.part, own.row, own.cell
            )  # fmt: skip
    return hit


@kernel(inline=True, no_refcount=True)
def _with_others(
    maps: Int64s, meshes: Parts, sides: Parts, moving: Moving, hit: GroundHit, scratch: Scratch
) -> GroundHit:
    """Return the first touch after all but the surfaces of maps."""
    for row in range(len(maps)):
        if maps[row, MAP_LAYERS] & meshes.tree.mask != 0 and is_thin(maps, row):
            hit = _with_underside(maps, row, moving, hit)
    for parts in (sides, meshes):
        if row_count(parts.rows) > 1:
            hit = _with_parts(parts, maps, moving, hit, scratch)
    return hit


@kernel(noinline=True, no_refcount=True)
def _first_touch(
    maps: Int64s, meshes: Parts, sides: Parts, moving: Moving, are_others: bool, scratch: Scratch
) -> GroundHit:
    """Return the first touch with maps and meshes."""
    hit = no_hit(moving.length)
    if moving.length > 0.0:
        for row in range(len(maps)):
            if maps[row, MAP_LAYERS] & meshes.tree.mask != 0:
                hit = _with_surface(maps, row, moving, hit)
        if are_others:
            hit = _with_others(maps, meshes, sides, moving, hit, scratch)
    return hit


@kernel(inline=True)
def _parts_of_path(hit: GroundHit, length: float) -> tuple[float, float]:
    """Return how far a touch is, in meters and as a part of the path; NaN: there is none."""
    if hit.rank == NOTHING:
        return np.nan, np.nan
    return hit.distance, min(hit.distance / length, 1.0)


@kernel(inline=True)
def _put(hit: GroundHit, length: float, index: int, numbers: Floats, whole: Int64s) -> None:
    """Write a touch, or that there is none."""
    count = whole.shape[1]
    whole[TRIANGLE, index], whole[PLACE, index] = hit.triangle, hit.row << ID_BITS | hit.cell
    numbers[index], numbers[count + index] = _parts_of_path(hit, length)
    for k in range(3):
        place = 2 * count + 3 * index + k
        numbers[place], numbers[place + 3 * count] = hit.point[k] + 0.0, hit.normal[k] + 0.0


@kernel
def sweep_one(
    table: Int64s, mask: int, kind: int, shape: Floats, dx: float, dy: float, dz: float
) -> tuple[float, float, Vec3, Vec3, int, int, int]:
    """Return (distance, part of the path, point, normal, triangle, cell, row of the map) of one.

    NaN: there is no touch. The cell of a mesh is its material.
    """
    tables, faces = borrow(table), np.empty((FACE_COUNT, 4), np.float64)
    maps = maps_in(tables)
    meshes, sides = parts_in(tables, MESHES, mask), parts_in(tables, SIDES, mask)
    memory = make_scratch(more_of(meshes, sides))
    center, body = body_at(kind, shape, 0)
    length, direction = split_motion((dx, dy, dz))
    moving = Moving(body, center, direction, length, borrow(faces))
    are_others = has_others(maps, meshes, sides)
    hit = _first_touch(maps, meshes, sides, moving, are_others, borrowed(memory))
    keep(faces)
    keep_scratch(memory)
    distance, fraction = _parts_of_path(hit, length)
    point, normal = add(hit.point, _ZERO), add(hit.normal, _ZERO)  # no negative zeros
    return distance, fraction, point, normal, hit.triangle, hit.cell, hit.row


@kernel
def sweep_rows(
    table: Int64s,
    mask: int,
    kind: int,
    shapes: Floats,
    motions: Floats,
    visits: Int64s,
    first: int,
    last: int,
    numbers: Floats,
    whole: Int64s,
) -> None:
    """Write the first touches of the shapes in ``visits`` from first to last, each on its path.

    ``shapes``, flat rows of one kind, and ``motions`` (n, 3) may have one row for all. ``numbers``
    (8 n,) are all distances, parts of paths, points and normals, NaN without a touch; ``whole``
    (2, n) are whole numbers, see `hits.py`.
    """
    tables = borrow(table)
    maps = maps_in(tables)
    meshes, sides = parts_in(tables, MESHES, mask), parts_in(tables, SIDES, mask)
    are_others, width = has_others(maps, meshes, sides), row_width(kind)
    memory, faces = make_scratch(more_of(meshes, sides)), np.empty((FACE_COUNT, 4), np.float64)
    scratch, step = borrowed(memory), 1 if len(shapes) > width else 0
    for visit in range(first, last):
        soon = int(visits[min(visit + AHEAD, last - 1)])
        fetch_soon(maps, row_vector(shapes, width * step * soon))
        index = int(visits[visit])
        center, body = body_at(kind, shapes, step * index)
        length, direction = split_motion(row3(motions, row_of(motions, index)))
        moving = Moving(body, center, direction, length, borrow(faces))
        hit = _first_touch(maps, meshes, sides, moving, are_others, scratch)
        _put(hit, length, index, numbers, whole)
    keep(faces)
    keep_scratch(memory)
