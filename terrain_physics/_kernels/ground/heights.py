"""Heights and normals of a ground: of the highest surface of its maps and meshes over a place.

Of equally high ones the part with the lowest number counts; all meshes are one part, the first.
"""

from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._intrinsics import borrow
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.ground.hits import NOWHERE
from terrain_physics._kernels.ground.owners import map_arrays, maps_in, parts_in
from terrain_physics._kernels.heightmap.grid import height_at, normal_at
from terrain_physics._kernels.heightmap.heights import surface_at
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.mesh.parts import MESH, NUMBER, Parts, row_count
from terrain_physics._kernels.mesh.queries import (
    borrowed,
    highest,
    keep_scratch,
    make_scratch,
)
from terrain_physics._kernels.surface.ground_arrays import MAP_LAYERS, MAP_NUMBER, MESHES
from terrain_physics._kernels.types import Floats, Int64s


@kernel(inline=True)
def _is_higher(level: float, best: float) -> bool:
    return level > best or np.isnan(best)


@kernel(noinline=True, no_refcount=True)
def _first_of(meshes: Parts) -> int:
    """Return the lowest number of a mesh. Numbers ascend; rows that meshes have left are empty."""
    row, count = 1, row_count(meshes.rows)
    while row < count - 1 and meshes.rows[row, MESH] == 0:
        row += 1
    return int(meshes.rows[row, NUMBER])


@kernel(inline=True)
def _place_of_meshes(maps: Int64s, meshes: Parts) -> int:
    """Return the row of the first map behind the meshes; below 0: there are none."""
    if row_count(meshes.rows) <= 1:
        return -1
    row = 0
    if len(maps) > 0:
        first = _first_of(meshes)
        while row < len(maps) and maps[row, MAP_NUMBER] < first:
            row += 1
    return row


@kernel
def surface_over(table: Int64s, mask: int, x: float, z: float) -> tuple[float, Vec3]:
    """Return (height, normal) of the highest surface over a place; NaN: no ground."""
    tables, best, normal, highest_map = borrow(table), np.nan, NOWHERE, -1
    maps, meshes = maps_in(tables), parts_in(tables, MESHES, mask)
    behind = _place_of_meshes(maps, meshes)
    for row in range(len(maps) + 1):
        if row == behind:
            memory = make_scratch(meshes)
            level, upright = highest(meshes, x, z, borrowed(memory))
            keep_scratch(memory)
            if _is_higher(level, best):
                best, normal, highest_map = level, upright, -1
        if row < len(maps) and maps[row, MAP_LAYERS] & mask != 0:
            heights, cells, _, frame = map_arrays(maps, row)
            level = height_at(heights, cells, frame, x, z)
            if _is_higher(level, best):
                best, highest_map = level, row
    if highest_map >= 0:
        heights, cells, _, frame = map_arrays(maps, highest_map)
        normal = normal_at(heights, cells, frame, x, z)
    return best, normal


class _Levels(NamedTuple):
    """Heights (n, 1) and normals (n, 3) of places; one of no rows is not wanted."""

    levels: Floats
    normals: Floats


@kernel(inline=True)
def _room_like(own: _Levels, last: int) -> _Levels:
    """Return room for what another member has over the same places."""
    rows = last if len(own.normals) > 0 else 0
    return _Levels(np.empty((last, 1)), np.empty((rows, 3)))  # unwritten, it costs nothing


@kernel(noinline=True)
def _put_map(
    maps: Int64s, row: int, xs: Floats, zs: Floats, first: int, last: int, own: _Levels
) -> None:
    """Write what a map has over the places first..last."""
    heights, cells, _, frame = map_arrays(maps, row)
    if len(own.levels) > 0:
        surface_at(heights, cells, frame, xs, zs, first, last, False, own.levels)
    if len(own.normals) > 0:
        surface_at(heights, cells, frame, xs, zs, first, last, True, own.normals)


@kernel(noinline=True)
def _put_meshes(meshes: Parts, xs: Floats, zs: Floats, first: int, last: int, own: _Levels) -> None:
    """Write what all meshes have over the places first..last."""
    memory = make_scratch(meshes)
    scratch = borrowed(memory)
    for k in range(first, last):
        level, normal = highest(meshes, float(xs[k]), float(zs[k]), scratch)
        if len(own.levels) > 0:
            own.levels[k, 0] = level
        if len(own.normals) > 0:
            own.normals[k, 0], own.normals[k, 1], own.normals[k, 2] = normal
    keep_scratch(memory)


@kernel(noinline=True)
def _raise_to(more: _Levels, first: int, last: int, own: _Levels) -> None:
    """Write what is higher over what is there."""
    for k in range(first, last):
        if _is_higher(float(more.levels[k, 0]), float(own.levels[k, 0])):
            own.levels[k, 0] = more.levels[k, 0]
            if len(own.normals) > 0:
                for axis in range(3):
                    own.normals[k, axis] = more.normals[k, axis]


@kernel
def put_surface(
    table: Int64s,
    mask: int,
    xs: Floats,
    zs: Floats,
    first: int,
    last: int,
    levels: Floats,
    normals: Floats,
) -> None:
    """Write heights (n, 1) and normals (n, 3) of the highest surface over places first..last.

    They are NaN without ground. One of them may have no rows: it is not wanted.
    """
    tables, own, count = borrow(table), _Levels(levels, normals), 0
    maps, meshes = maps_in(tables), parts_in(tables, MESHES, mask)
    behind = _place_of_meshes(maps, meshes)
    members = int(behind >= 0)
    for row in range(len(maps)):
        members += int(maps[row, MAP_LAYERS] & mask != 0)
    if members > 1 and len(levels) == 0:
        own = _Levels(np.empty((last, 1)), normals)
    more = _room_like(own, last) if members > 1 else own
    for row in range(len(maps) + 1):
        if row == behind:
            _put_meshes(meshes, xs, zs, first, last, more if count > 0 else own)
            if count > 0:
                _raise_to(more, first, last, own)
            count += 1
        if row < len(maps) and maps[row, MAP_LAYERS] & mask != 0:
            _put_map(maps, row, xs, zs, first, last, more if count > 0 else own)
            if count > 0:
                _raise_to(more, first, last, own)
            count += 1
    if count == 0:
        for k in range(first, last):
            if len(levels) > 0:
                levels[k, 0] = np.nan
            if len(normals) > 0:
                normals[k, 0], normals[k, 1], normals[k, 2] = NOWHERE
