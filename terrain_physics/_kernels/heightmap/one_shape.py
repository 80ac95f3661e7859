"""The contacts of one shape over few cells of a height map: the short way for single queries.

The function of that pair tests each triangle near the shape, one after the other. For a few this is
quicker than the stages for many, which fill arrays before they begin.
"""

import numpy as np

from terrain_physics._kernels._intrinsics import on_stack
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.obb_triangle import FACE_COUNT
from terrain_physics._kernels.geometry.sphere_triangle import (
    APART,
    IN_DOUBT,
    sphere_at_origin,
    sphere_on_edge,
)
from terrain_physics._kernels.heightmap.batch_contacts.broad_phase import (
    half_triangle,
    height_limits,
    near_cells,
)
from terrain_physics._kernels.heightmap.batch_contacts.contact_rows import (
    is_deeper,
    nearest_cell,
    put_sphere_rows,
)
from terrain_physics._kernels.heightmap.batch_contacts.triangle_columns import (
    ROOM,
    PushOuts,
    corners_at,
    put_columns,
)
from terrain_physics._kernels.heightmap.grid import (
    Grid,
    corner_heights,
    in_map,
    is_flipped,
    is_ground,
    unpack_grid,
)
from terrain_physics._kernels.math.rows import row_vector
from terrain_physics._kernels.math.vec3 import Vec3, length, subtract
from terrain_physics._kernels.surface.contact import contact, put_vector
from terrain_physics._kernels.surface.shapes import (
    FARTHEST,
    SPHERE,
    bounds_at,
    center_at,
)
from terrain_physics._kernels.types import Bytes, Float32s, Floats, Int64s

# Halves of cells that the shape may lie over at most.
MOST_HALVES = 128

# Halves are padded to a multiple of this: a vector loop would do the rest one by one.
LANES = 8

# A search has memory for so many numbers: columns of a vector loop; penetrations, directions and
# points; halves; verdicts. What it has found is in the rows and halves then.
_COLUMNS, _ROWS, _HALVES = 0, 13 * ROOM, 13 * ROOM + 9 * MOST_HALVES
_VERDICTS = _HALVES + 2 * MOST_HALVES
SCRATCH = _VERDICTS + MOST_HALVES // 2


@kernel
def _list_halves(
    grid: Grid, lower: Vec3, upper: Vec3, most: float, first: int, halves: Int64s
) -> tuple[int, int]:
    """List the halves of cells at the heights of a shape within lower..upper.

    ``halves`` is flat, with two numbers for each: its row, and the code of `broad_phase.pack`. This
    begins with the ``first`` of the cells below the shape, and returns how many halves it has
    listed, and the cell to go on with, -1 after the last one. A count of -1 means that the shape
    lies over more than ``most`` halves.
    """
    row_0, row_1 = near_cells(lower[2], upper[2], grid.z0, grid.cell_z, grid.rows, grid.extend)
    column_0, column_1 = near_cells(
        lower[0], upper[0], grid.x0, grid.cell_x, grid.columns, grid.extend
    )
    if 2.0 * (row_1 - row_0) * (column_1 - column_0) > most:
        return -1, -1
    # Rounding moves a touch by no more than that part of the sizes of shape and triangle.
    low, high = height_limits(lower, upper, 1e-9 * (grid.cell_x + grid.cell_z))
    across, n = max(int(column_1 - column_0), 1), 0
    row, column = int(row_0) + first // across, int(column_0) + first % across
    while row < int(row_1):
        while column < int(column_1):
            a, b, c, d = corner_heights(grid, row, column)
            least, greatest = min(a, b, c, d), max(a, b, c, d)
            slack = 1e-12 * (greatest - least)
            is_near = least - slack <= high and greatest + slack >= low
            if is_near and is_ground(grid, row, column, a, b, c, d):
                if n == MOST_HALVES:
                    return n, (row - int(row_0)) * across + column - int(column_0)
                flipped = 1 if is_flipped(grid, row, column) else 0
                for half in range(2):
                    halves[2 * n], halves[2 * n + 1] = row, 4 * column + 2 * flipped + half
                    n += 1
            column += 1
        row, column = row + 1, int(column_0)
    return n, -1


@kernel(inline=True)
def _rows_of(scratch: Floats) -> Floats:
    return scratch[_ROWS:_HALVES]


@kernel(inline=True)
def _halves_of(scratch: Floats) -> Int64s:
    return scratch[_HALVES:_VERDICTS].view(np.int64)


@kernel(inline=True)
def _half(halves: Int64s, k: int) -> tuple[int, int]:
    return int(halves[2 * k]), int(halves[2 * k + 1])


@kernel(inline=True)
def _corners(grid: Grid, halves: Int64s, k: int) -> tuple[Vec3, Vec3, Vec3]:
    row, code = _half(halves, k)
    return half_triangle(grid, row, code >> 2, (code >> 1) & 1, code & 1)


@kernel
def _put_contact(
    grid: Grid, center: Vec3, halves: Int64s, rows: Floats, k: int,
    move: Vec3, direction: Vec3, point: Vec3, count: int, deepest: bool,
) -> int:  # fmt: skip
    """Keep the contact of half k, after ``count`` others or, if it is deeper, in their place."""
    if deepest and count > 0:
        depth, rise = length(row_vector(rows, 0)), float(rows[3 * MOST_HALVES + 1])
        if not is_deeper(grid, center, length(move), direction[1], depth, rise):
            return count
        count = 0
    halves[2 * count], halves[2 * count + 1] = halves[2 * k], halves[2 * k + 1]
    put_vector(rows, count, move)
    put_vector(rows, MOST_HALVES + count, direction)
    put_vector(rows, 2 * MOST_HALVES + count, point)
    return count + 1


@kernel(noinline=True)
def put_found(
    grid: Grid, scratch: Floats, count: int, ints: Int64s, floats: Floats, start: int
) -> None:
    """Write the contacts that `search` has found to places from ``start`` on.

    The first whole numbers are queries, all 0, triangles and nearest cells.
    """
    halves, rows = _halves_of(scratch), _rows_of(scratch)
    for k in range(count):
        row, code = _half(halves, k)
        column, place = code >> 2, start + k
        is_inside = in_map(grid, row, column)
        ints[0, place] = 0
        ints[1, place] = 2 * (row * grid.columns + column) + (code & 1) if is_inside else -1
        ints[2, place] = nearest_cell(grid.rows, grid.columns, row, column)
        for part in range(3):
            for i in range(3):
                floats[part, place, i] = rows[3 * (part * MOST_HALVES + k) + i]


@kernel
def _result(grid: Grid, scratch: Floats, count: int) -> tuple[Int64s, Floats]:
    """Return what was found; for less than none one contact with the query -1."""
    ints, floats = np.full((3, abs(count)), -1, np.int64), np.empty((3, abs(count), 3))
    put_found(grid, scratch, count, ints, floats, 0)
    return ints, floats


@kernel(noinline=True)
def _search_of_sphere(
    grid: Grid, center: Vec3, radius: float, deepest: bool, most: float, first: int, scratch: Floats
) -> tuple[int, int]:
    """Do what `search` does, for a sphere; its vector loop needs no other pairs."""
    halves, rows, (x, y, z), count = _halves_of(scratch), _rows_of(scratch), center, 0
    lower, upper = (x - radius, y - radius, z - radius), (x + radius, y + radius, z + radius)
    n, place = _list_halves(grid, lower, upper, most, first, halves)
    if n <= 0:
        return n, place
    spheres, corners = scratch[: 4 * ROOM], scratch[4 * ROOM : _ROWS]
    verdicts, full = scratch[_VERDICTS:].view(np.int32), (n + LANES - 1) // LANES * LANES
    for k in range(full):
        spheres[k], spheres[ROOM + k], spheres[2 * ROOM + k] = x, y, z
        spheres[3 * ROOM + k] = radius
        a, b, c = _corners(grid, halves, min(k, n - 1))
        put_columns(corners, k, subtract(a, center), subtract(b, center), subtract(c, center))
    moves, directions = rows[: 3 * MOST_HALVES], rows[3 * MOST_HALVES : 6 * MOST_HALVES]
    points = rows[6 * MOST_HALVES :]
    put_sphere_rows(spheres, corners, PushOuts(moves, directions, verdicts[:full]), points)
    for k in range(n):
        if verdicts[k] == APART:
            continue
        move, direction = row_vector(moves, 3 * k), row_vector(directions, 3 * k)
        point = row_vector(points, 3 * k)
        if verdicts[k] == IN_DOUBT:
            a, b, c = corners_at(corners, k)
            _, move, direction, off = sphere_at_origin(radius, a, b, c, False)
            move, direction = sphere_on_edge(radius, a, b, c, move, direction, off)
        count = _put_contact(grid, center, halves, rows, k, move, direction, point, count, deepest)
    return count, place


@kernel
def contacts_of_sphere(
    heights: Float32s,
    cells: Bytes,
    frame: Floats,
    x: float,
    y: float,
    z: float,
    radius: float,
    deepest: bool,
) -> tuple[Int64s, Floats]:
    """Return the same as `contacts_of_shape` for a sphere."""
    grid, count, scratch = unpack_grid(heights, cells, frame), -1, np.empty(SCRATCH)
    if max(abs(x), abs(y), abs(z), radius) < FARTHEST:
        count, _ = _search_of_sphere(grid, (x, y, z), radius, deepest, MOST_HALVES, 0, scratch)
    return _result(grid, scratch, count)


@kernel(noinline=True)
def search(
    grid: Grid, kind: int, shape: Floats, deepest: bool, most: float, first: int, scratch: Floats
) -> tuple[int, int]:
    """Find contacts, or only the deepest (see `is_deeper`), the first of equals, for `put_found`.

    Returns (how many, place): -1 means that the shape lies over more than ``most`` halves of cells.
    The search begins at a place, at first 0, and ends after `MOST_HALVES`: then the place is that
    to go on at, -1 if all is done. ``scratch`` (SCRATCH,) receives them.
    """
    if kind == SPHERE:
        center, radius = row_vector(shape, 0), float(shape[3])
        return _search_of_sphere(grid, center, radius, deepest, most, first, scratch)
    halves, rows, count = _halves_of(scratch), _rows_of(scratch), 0
    lower, upper = bounds_at(kind, shape, 0)
    n, place = _list_halves(grid, lower, upper, most, first, halves)
    faces = on_stack(FACE_COUNT, 4)
    for k in range(n):
        a, b, c = _corners(grid, halves, k)
        touching, move, direction, point = contact(kind, shape, 0, a, b, c, False, faces)
        if touching:
            center = center_at(kind, shape, 0)
            count = _put_contact(
                grid, center, halves, rows, k, move, direction, point, count, deepest
            )
    return min(n, count), place


@kernel
def contacts_of_shape(
    heights: Float32s,
    cells: Bytes,
    frame: Floats,
    kind: int,
    shape: Floats,
    deepest: bool,
) -> tuple[Int64s, Floats]:
    """Return (whole numbers (3, n), penetrations, directions and points (3, n, 3)) of a shape.

    See `search`, `put_found`. n = 1 with the query -1 means that it lies over too many cells.
    """
    grid, count, scratch = unpack_grid(heights, cells, frame), -1, np.empty(SCRATCH)
    is_far = False
    for k in range(shape.shape[0]):
        is_far = is_far or abs(float(shape[k])) >= FARTHEST
    if not is_far:
        count, _ = search(grid, kind, shape, deepest, MOST_HALVES, 0, scratch)
    return _result(grid, scratch, count)
