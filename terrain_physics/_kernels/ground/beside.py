"""Which of many shapes may touch a side or an underside of a map.

Most do not. To tell so by the tree of the sides takes longer than to find the contacts of a ball
with a surface: so sides are marked on a grid over all shapes, and the tree is asked near marks.
"""

import numpy as np

from terrain_physics._kernels._intrinsics import borrow, keep
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.ground.owners import (
    has_others,
    is_thin,
    maps_in,
    parts_in,
    terrain_of,
    upside_down,
)
from terrain_physics._kernels.heightmap.clipping import Terrain
from terrain_physics._kernels.heightmap.grid import height
from terrain_physics._kernels.heightmap.solid.reach import meets_surface
from terrain_physics._kernels.heightmap.solid.sides import lowered
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.mesh.near import faces_near
from terrain_physics._kernels.mesh.part_tree import (
    NODES_ON_PATH,
    NONE,
    ROOT,
    items_near,
    overlaps,
    widened,
)
from terrain_physics._kernels.mesh.parts import OWNER, MeshPart, Parts, part_at, row_count
from terrain_physics._kernels.mesh.tree import LANES, STACK
from terrain_physics._kernels.surface.ground_arrays import MAP_LAYERS, SIDES
from terrain_physics._kernels.surface.shapes import bounds_at, center_at
from terrain_physics._kernels.types import Bytes, Floats, Int64s

# What a shape is near; 0: nothing.
NEAR_SIDES, NEAR_UNDERSIDE = 1, 2

# Marks along each axis: those of a row are bits of one number.
_ACROSS = 62


@kernel(noinline=True)
def _bounds_of_all(kind: int, shapes: Floats, count: int) -> tuple[Vec3, Vec3]:
    """Return the box around the boxes of all shapes."""
    lower, upper = bounds_at(kind, shapes, 0)
    for index in range(1, count):
        (x, y, z), (u, v, w) = bounds_at(kind, shapes, index)
        lower = (min(lower[0], x), min(lower[1], y), min(lower[2], z))
        upper = (max(upper[0], u), max(upper[1], v), max(upper[2], w))
    return widened(lower, upper)


@kernel(inline=True)
def _mark_of(place: float, start: float, per_meter: float) -> int:
    """Return the mark of a place along an axis; outside, the nearest one."""
    return int(min(max((place - start) * per_meter, 0.0), _ACROSS - 1.0))


@kernel(inline=True)
def _marks_of(start: Vec3, per_meter: Vec3, lower: Vec3, upper: Vec3) -> tuple[int, int, int, int]:
    """Return the first and last mark of a box along x, then along z."""
    return (
        _mark_of(lower[0], start[0], per_meter[0]),
        _mark_of(upper[0], start[0], per_meter[0]),
        _mark_of(lower[2], start[2], per_meter[2]),
        _mark_of(upper[2], start[2], per_meter[2]),
    )


@kernel(noinline=True)
def _mark_sides(
    part: MeshPart, start: Vec3, end: Vec3, per_meter: Vec3, marks: Int64s, most: int
) -> bool:
    """Mark where the triangles of a patch may be; tell whether any is there.

    If there are more than ``most``, sixteen are marked as one.
    """
    x, _, z = (float(part.frame[0]), 0.0, float(part.frame[2]))
    nodes, factor, are_any = len(part.children), float(part.frame[3]), False
    is_small = nodes == 1 or LANES * nodes <= most
    for node in range(nodes):
        below = int(part.children[node])
        if is_small != (below < 0) or (not is_small and part.children[below] >= 0):
            continue
        for lane in range(LANES):
            box = part.boxes[node]
            if box[0, lane] > box[3, lane]:
                continue
            lower = (x + float(box[0, lane]) / factor, 0.0, z + float(box[2, lane]) / factor)
            upper = (x + float(box[3, lane]) / factor, 0.0, z + float(box[5, lane]) / factor)
            is_away = lower[0] > end[0] or lower[2] > end[2]
            if is_away or upper[0] < start[0] or upper[2] < start[2]:
                continue
            first, last, row_0, row_1 = _marks_of(start, per_meter, lower, upper)
            are_any = True
            for row in range(row_0, row_1 + 1):
                marks[row] |= (2 << last) - (1 << first)
    return are_any


@kernel(inline=True)
def _is_marked(start: Vec3, per_meter: Vec3, marks: Int64s, lower: Vec3, upper: Vec3) -> bool:
    """Tell whether a box is near a mark."""
    first, last, row_0, row_1 = _marks_of(start, per_meter, lower, upper)
    found = 0
    for row in range(row_0, row_1 + 1):
        found |= marks[row]
    return found & ((2 << last) - (1 << first)) != 0


@kernel(noinline=True)
def is_near_sides(sides: Parts, number: int, lower: Vec3, upper: Vec3) -> bool:
    """Tell whether a box meets that of any triangle of a side of a map, or of any map for -1."""
    low, high = widened(lower, upper)
    if row_count(sides.rows) <= 1:
        return False
    if not overlaps(sides.tree, int(sides.tree.links[NONE, ROOT]), low, high):
        return False  # most are far from all
    nodes, found = np.empty(NODES_ON_PATH, np.int64), np.empty(row_count(sides.rows), np.int64)
    stack, faces, is_near = np.empty(STACK, np.int32), np.empty(1, np.int64), False
    for k in range(items_near(sides.tree, low, high, borrow(nodes), borrow(found))):
        if number < 0 or sides.rows[found[k], OWNER] == number:
            part = part_at(sides.rows, int(found[k]))
            if faces_near(part, low, high, 1.0, borrow(stack), borrow(faces)) > 0:
                is_near = True
                break
    keep(nodes)
    keep(found)
    keep(stack)
    keep(faces)
    return is_near


@kernel(noinline=True)
def _put_near_sides(sides: Parts, kind: int, shapes: Floats, are_beside: Bytes) -> None:
    """Write which shapes are near a side: their boxes meet that of a triangle."""
    nodes, found = np.empty(NODES_ON_PATH, np.int64), np.empty(row_count(sides.rows), np.int64)
    marks, are_any = np.zeros(_ACROSS, np.int64), False
    start, end = _bounds_of_all(kind, shapes, len(are_beside))
    per_meter = (_ACROSS / (end[0] - start[0]), 0.0, _ACROSS / (end[2] - start[2]))
    for k in range(items_near(sides.tree, start, end, nodes, found)):
        part = part_at(sides.rows, int(found[k]))
        are_any |= _mark_sides(part, start, end, per_meter, marks, len(are_beside))
    for index in range(len(are_beside) if are_any else 0):
        lower, upper = bounds_at(kind, shapes, index)
        low, high = widened(lower, upper)
        if _is_marked(start, per_meter, marks, low, high) and is_near_sides(
            sides, -1, lower, upper
        ):
            are_beside[index] = NEAR_SIDES


@kernel(noinline=True)
def _is_below(terrain: Terrain, center: Vec3, lowest: float) -> bool:
    """Tell whether a center is not above the underside of a map, or where it has no ground.

    The shape reaches down to ``lowest``.
    """
    underside = height(terrain.grid, center[0], center[2]) - terrain.grid.thickness
    if underside < lowest:
        return False
    if not underside < center[1]:
        return True
    return not height(upside_down(terrain).grid, center[0], center[2]) > -center[1]


@kernel
def put_beside(table: Int64s, mask: int, kind: int, shapes: Floats, are_beside: Bytes) -> bool:
    """Write which of n shapes may touch a side or an underside of a map, or 0.

    They are 0 before; False is returned where there are no sides and undersides.
    """
    tables = borrow(table)
    maps, sides = maps_in(tables), parts_in(tables, SIDES, mask)
    if len(are_beside) == 0 or not has_others(maps, sides, sides):
        return False
    if row_count(sides.rows) > 1:
        _put_near_sides(sides, kind, shapes, are_beside)
    for row in range(len(maps)):
        if maps[row, MAP_LAYERS] & mask == 0 or not is_thin(maps, row):
            continue
        terrain = terrain_of(maps, row)
        under = lowered(terrain.grid)
        for index in range(len(are_beside)):
            if are_beside[index] != 0:
                continue
            lower, upper = bounds_at(kind, shapes, index)
            lowest, center = widened(lower, upper)[0][1], center_at(kind, shapes, index)
            is_near = meets_surface(under, terrain.blocks, lower, upper)
            if is_near and _is_below(terrain, center, lowest):
                are_beside[index] = NEAR_UNDERSIDE
    return True
