"""The triangles of a ground in boxes: of one box as arrays, of many as ids.

They come map by map, each by row, column and half, then mesh by mesh, each by face. Who asks puts
them in the order of the parts that own them: maps that are united have their triangles mixed.
"""

from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._intrinsics import borrow
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.ground.owners import map_arrays, maps_in, owner_in, parts_in
from terrain_physics._kernels.heightmap.batch_contacts.broad_phase import CHUNK, RANGE, put_cells
from terrain_physics._kernels.heightmap.grid import (
    Grid,
    cell_span,
    corner_heights,
    half_corners,
    half_slopes,
    has_ground,
    in_map,
    is_flipped,
    slope_normal,
    unpack_grid,
    vertex,
)
from terrain_physics._kernels.math.rows import row_vector
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.mesh.contacts import triangles_near
from terrain_physics._kernels.mesh.parts import ID_BITS, Parts, corners_of, row_count
from terrain_physics._kernels.mesh.queries import normal_of
from terrain_physics._kernels.surface.ground_arrays import (
    MAP_LAYERS,
    MAP_NUMBER,
    MAP_NUMBERS,
    MESHES,
)
from terrain_physics._kernels.types import Float32s, Floats, Int64s

# Cells looked for at a time.
_CELLS = 64


class _Found(NamedTuple):
    """Room for ids (n,), and for corners (n, 3, 3) and normals (n, 3) unless they are none."""

    ids: Int64s
    vertices: Floats
    normals: Floats


class _CellMemory(NamedTuple):
    """Memory of `put_cells`."""

    ranges: Int64s
    place: Int64s
    rows: Int64s
    columns: Int64s


@kernel
def _room(count: int, corners: int) -> _Found:
    return _Found(np.empty(count, np.int64), np.empty((corners, 3, 3)), np.empty((corners, 3)))


@kernel
def _scratch() -> _CellMemory:
    memory = np.empty(RANGE * CHUNK + 2 * _CELLS + 2, np.int64)  # at once, it is quicker
    rows, columns, ranges = memory[2:], memory[2 + _CELLS :], memory[2 + 2 * _CELLS :]
    return _CellMemory(ranges, memory[:2], rows[:_CELLS], columns[:_CELLS])


@kernel(inline=True)
def _overlaps(grid: Grid, row: int, column: int, lower: Vec3, upper: Vec3) -> bool:
    """Tell whether the closed box around a cell's triangles overlaps the box.

    `cell_span` leaves out the cells outside a map with an open border.
    """
    if (
        grid.x0 + column * grid.cell_x > upper[0]
        or grid.x0 + (column + 1) * grid.cell_x < lower[0]
        or grid.z0 + row * grid.cell_z > upper[2]
        or grid.z0 + (row + 1) * grid.cell_z < lower[2]
    ):
        return False
    a, b, c, d = corner_heights(grid, row, column)
    if min(a, b, c, d) > upper[1] or max(a, b, c, d) < lower[1]:
        return False
    return has_ground(grid, row, column)


@kernel(noinline=True)
def _put_half(grid: Grid, row: int, column: int, half: int, k: int, out: _Found) -> None:
    """Write the corners and the normal of a half of a cell."""
    flipped = is_flipped(grid, row, column)
    corners = half_corners(flipped, half)
    for i in range(3):
        place = vertex(grid, row + corners[2 * i], column + corners[2 * i + 1])
        out.vertices[k, i, 0], out.vertices[k, i, 1], out.vertices[k, i, 2] = place
    along_x, along_z = half_slopes(grid, flipped, half, *corner_heights(grid, row, column))
    normal = slope_normal(along_x, along_z)
    for axis in range(3):
        out.normals[k, axis] = normal[axis] + 0.0


@kernel(inline=True)
def _search(grid: Grid, lower: Vec3, upper: Vec3, most_cells: float, scratch: _CellMemory) -> bool:
    """Begin to look for cells, see `put_cells`; tell whether they are not too many."""
    ranges, place = scratch.ranges, scratch.place
    row_0, row_1 = cell_span(lower[2], upper[2], grid.z0, grid.cell_z, grid.rows, grid.extend)
    column_0, column_1 = cell_span(
        lower[0], upper[0], grid.x0, grid.cell_x, grid.columns, grid.extend
    )
    ranges[0], ranges[CHUNK] = row_0, row_1
    ranges[2 * CHUNK], ranges[3 * CHUNK] = column_0, column_1
    place[0], place[1] = row_0, column_0
    if column_0 >= column_1:
        place[0] = row_1
    return float(row_1 - row_0) * float(column_1 - column_0) <= most_cells


@kernel(noinline=True)
def _put_map(
    maps: Int64s, at: int, grid: Grid, blocks: Float32s, lower: Vec3, upper: Vec3, most: int,
    scratch: _CellMemory, count: int, out: _Found,
) -> int:  # fmt: skip
    """Write the triangles of a map behind ``count`` others; return how many there are then."""
    ranges, place, rows, columns = scratch
    is_united, own = maps[at, MAP_NUMBERS + 1] > 1, int(maps[at, MAP_NUMBER]) << ID_BITS
    while place[0] < ranges[CHUNK] and count <= most:
        found = put_cells(grid, blocks, ranges, 0, lower[1], upper[1], place, rows, columns)
        for j in range(found):
            row, column = int(rows[j]), int(columns[j])
            if not _overlaps(grid, row, column, lower, upper):
                continue
            is_inside, first = in_map(grid, row, column), 2 * (row * grid.columns + column) | own
            for half in range(2):
                if count < len(out.ids):
                    number = first + half
                    if is_united:
                        number = owner_in(maps, at, number - own)[0]
                    out.ids[count] = number if is_inside else -1
                if count < len(out.normals):
                    _put_half(grid, row, column, half, count, out)
                count += 1
    return count


@kernel(noinline=True)
def _put_meshes(meshes: Parts, lower: Vec3, upper: Vec3, count: int, out: _Found) -> int:
    """Write the triangles of all meshes behind ``count`` others; return how many there are then."""
    found = triangles_near(meshes, lower, upper, out.ids[min(count, len(out.ids)) :])
    for k in range(count, min(count + found, len(out.normals))):
        a, b, c = corners_of(meshes.rows, int(out.ids[k]))
        normal = normal_of((a, b, c))
        for axis in range(3):
            out.vertices[k, 0, axis], out.vertices[k, 1, axis] = a[axis], b[axis]
            out.vertices[k, 2, axis], out.normals[k, axis] = c[axis], normal[axis] + 0.0
    return count + found


@kernel(noinline=True)
def _put_box(
    tables: Int64s, mask: int, lower: Vec3, upper: Vec3, most_cells: float, most: int,
    scratch: _CellMemory, out: _Found,
) -> int:  # fmt: skip
    """Write the triangles in a box as far as there is room; return how many there are.

    -1: more cells of a map than ``most_cells`` are in question. The search ends soon after
    ``most``, without the rest.
    """
    maps, meshes, count = maps_in(tables), parts_in(tables, MESHES, mask), 0
    for at in range(len(maps)):
        if maps[at, MAP_LAYERS] & mask != 0:
            heights, cells, blocks, frame = map_arrays(maps, at)
            grid = unpack_grid(borrow(heights), borrow(cells), frame)
            if not _search(grid, lower, upper, most_cells, scratch):
                return -1
            if scratch.place[0] < scratch.ranges[CHUNK]:  # most maps are elsewhere
                count = _put_map(
                    maps, at, grid, borrow(blocks), lower, upper, most, scratch, count, out
                )
    if row_count(meshes.rows) > 1 and count <= most:
        count = _put_meshes(meshes, lower, upper, count, out)
    return count


@kernel
def triangles_in(
    table: Int64s, mask: int, lower: Vec3, upper: Vec3, most_cells: float, most: int
) -> tuple[int, Floats, Floats, Int64s]:
    """Return (count, vertices (n, 3, 3), normals (n, 3), ids (n,)) of a box, see `_put_box`.

    They are empty if there are too many.
    """
    tables, scratch = borrow(table), _scratch()
    out = _room(0, 0)
    count = _put_box(tables, mask, lower, upper, most_cells, most, scratch, out)
    if 0 < count <= most:
        out = _room(count, count)
        _put_box(tables, mask, lower, upper, most_cells, most, scratch, out)
    return count, out.vertices, out.normals, out.ids


@kernel
def list_triangles(
    table: Int64s, mask: int, boxes: Floats, most_cells: float, most: int, offsets: Int64s
) -> tuple[int, Int64s]:
    """Return (count, ids) of boxes, and write where each box's begin, in order, and the end.

    ``boxes`` is flat: lower and upper corners. -1 - k: box k is over too many cells. This stops at
    a count above ``most``.
    """
    tables, scratch, total = borrow(table), _scratch(), 0
    ids = np.empty(16 * (len(offsets) - 1) + 1, np.int64)
    none = _room(0, 0)
    offsets[0] = 0
    for k in range(len(offsets) - 1):
        lower, upper = row_vector(boxes, 6 * k), row_vector(boxes, 6 * k + 3)
        out = _Found(ids[total:], none.vertices, none.normals)
        count = _put_box(tables, mask, lower, upper, most_cells, most - total, scratch, out)
        if count < 0:
            return -1 - k, ids
        if total + count > most:
            return total + count, ids
        if total + count > len(ids):
            more = np.empty(2 * (total + count), np.int64)
            for i in range(total):
                more[i] = ids[i]
            ids = more
            out = _Found(ids[total:], none.vertices, none.normals)
            _put_box(tables, mask, lower, upper, most_cells, most, scratch, out)
        total += count
        offsets[k + 1] = total
    return total, ids
