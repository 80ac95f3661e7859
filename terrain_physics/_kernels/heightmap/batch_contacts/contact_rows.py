"""The contacts of listed touches of shapes and a height map: ids, penetration, direction, point.

``floats`` is flat: penetrations (n, 3), then unit directions, then points. The bits are those of
the pair's own function with the corners that `triangles_in.py` gives.
"""

import numpy as np

from terrain_physics._kernels._intrinsics import prefer_wide_vectors, put_eight
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.obb_triangle import FACE_COUNT
from terrain_physics._kernels.geometry.sphere_triangle import IN_DOUBT, sphere_at_origin
from terrain_physics._kernels.heightmap.batch_contacts.box_rows import put_box_rows
from terrain_physics._kernels.heightmap.batch_contacts.broad_phase import (
    Touches,
    half_triangle,
    part_of,
)
from terrain_physics._kernels.heightmap.batch_contacts.triangle_columns import (
    ROOM,
    STEP,
    PushOuts,
    corners_at,
    half_at,
    lines_in_tiles,
    lines_of,
    put_columns,
    vector_at,
)
from terrain_physics._kernels.heightmap.grid import Grid, height
from terrain_physics._kernels.math.rows import row_vector
from terrain_physics._kernels.math.vec3 import Vec3, add, length, subtract
from terrain_physics._kernels.surface.contact import contact, put_vector
from terrain_physics._kernels.surface.shapes import (
    BOX,
    BOX_WIDTH,
    SPHERE,
    SPHERE_WIDTH,
    center_at,
)
from terrain_physics._kernels.types import Float32s, Floats, Int64s


@kernel(noalias=True)
def put_ids(grid: Grid, touches: Touches, queries: Int64s, triangles: Int64s) -> None:
    """Write shapes' numbers and triangles' ids of n touches."""
    prefer_wide_vectors()
    for k in range(queries.shape[0]):
        row, code = touches.row[k], touches.code[k]
        column = code >> 2
        is_inside = (row >= 0) & (row < grid.rows) & (column >= 0) & (column < grid.columns)
        queries[k] = touches.shape[k]
        triangles[k] = 2 * (row * grid.columns + column) + (code & 1) if is_inside else -1


@kernel
def put_numbers(bodies: Floats, width: int, shapes: Int64s, numbers: Floats) -> None:
    """Write the rows of n shapes as columns (width, ROOM)."""
    # Each shape is written eight times, needed or not: most have several touches in a row.
    k = 0
    while k < shapes.shape[0]:
        index = shapes[k]
        for part in range(width):
            put_eight(numbers, np.uint64(part * ROOM + k), bodies[width * index + part], 0.0)
        k += 1
        end = min(k + 7, shapes.shape[0])
        while k < end and shapes[k] == index:
            k += 1


@kernel(noinline=True, noalias=True)
def put_corners(
    heights: Float32s, grid: Grid, numbers: Floats, touches: Touches, corners: Floats
) -> None:
    """Write the corners of n halves of cells relative to the shapes' centers, (9, ROOM)."""
    prefer_wide_vectors()
    for k in range(touches.row.shape[0]):
        row, code = touches.row[k], touches.code[k]
        a, b, c = half_at(heights, grid, lines_of(grid, row, code >> np.int64(2)), row, code)
        center = vector_at(numbers, k)
        put_columns(corners, k, subtract(a, center), subtract(b, center), subtract(c, center))


@kernel(noinline=True, noalias=True)
def put_corners_in_tiles(
    heights: Float32s, grid: Grid, numbers: Floats, touches: Touches, corners: Floats
) -> None:
    """Write corners as `put_corners` does, for a map in tiles."""
    prefer_wide_vectors()
    for k in range(touches.row.shape[0]):
        row, code = touches.row[k], touches.code[k]
        a, b, c = half_at(heights, grid, lines_in_tiles(grid, row, code >> np.int64(2)), row, code)
        center = vector_at(numbers, k)
        put_columns(corners, k, subtract(a, center), subtract(b, center), subtract(c, center))


@kernel(inline=True)
def _put_corners(grid: Grid, numbers: Floats, touches: Touches, corners: Floats) -> None:
    """Write corners as `put_corners` does, for any map."""
    if grid.tiles != 0:
        put_corners_in_tiles(grid.heights, grid, numbers, touches, corners)
    else:
        put_corners(grid.heights, grid, numbers, touches, corners)


@kernel(noinline=True, noalias=True)
def put_sphere_rows(spheres: Floats, corners: Floats, found: PushOuts, points: Floats) -> int:
    """Write n touches of spheres; return the greatest verdict."""
    prefer_wide_vectors()
    moves, directions, verdicts = found
    worst = np.int32(0)
    for k in range(verdicts.shape[0]):
        a, b, c = corners_at(corners, k)
        verdict, move, direction, point = sphere_at_origin(spheres[3 * ROOM + k], a, b, c, False)
        put_vector(moves, k, move)
        put_vector(directions, k, direction)
        put_vector(points, k, add(point, vector_at(spheres, k)))
        verdicts[k] = np.int32(verdict)
        worst = max(worst, np.int32(verdict))
    return int(worst)


@kernel
def _put_one_by_one(
    grid: Grid, kind: int, shapes: Floats, touches: Touches, found: PushOuts, points: Floats
) -> None:
    """Write those of n touches that have the verdict IN_DOUBT."""
    faces = np.empty((FACE_COUNT, 4), dtype=np.float64)
    for k in range(touches.shape.shape[0]):
        if found.verdicts[k] != IN_DOUBT:
            continue
        code = int(touches.code[k])
        a, b, c = half_triangle(grid, int(touches.row[k]), code >> 2, (code >> 1) & 1, code & 1)
        index = int(touches.shape[k])
        _, move, direction, point = contact(kind, shapes, index, a, b, c, False, faces)
        put_vector(found.moves, k, move)
        put_vector(found.directions, k, direction)
        put_vector(points, k, point)


@kernel(noinline=True)
def put_contacts(
    grid: Grid,
    kind: int,
    shapes: Floats,
    touches: Touches,
    ints: Int64s,
    floats: Floats,
    start: int,
    count: int,
) -> None:
    """Write n touches of a list to places start .. start + count of the results.

    ``ints`` is flat: the shapes' numbers, then the triangles' ids.
    """
    size, room = ints.shape[0] // 2, floats.shape[0] // 3
    verdicts = np.empty(STEP, dtype=np.int32)
    numbers, corners = np.empty(BOX_WIDTH * ROOM), np.empty(9 * ROOM)
    for begin in range(0, count, STEP):
        n = min(STEP, count - begin)
        some, first = part_of(touches, begin, begin + n), start + begin
        put_ids(grid, some, ints[first : first + n], ints[size + first : size + first + n])
        moves = floats[3 * first : 3 * (first + n)]
        directions = floats[room + 3 * first : room + 3 * (first + n)]
        points = floats[2 * room + 3 * first : 2 * room + 3 * (first + n)]
        found = PushOuts(moves, directions, verdicts[:n])
        worst = IN_DOUBT
        verdicts[:n] = IN_DOUBT
        if kind == SPHERE:
            put_numbers(shapes, SPHERE_WIDTH, some.shape, numbers)
            _put_corners(grid, numbers, some, corners)
            worst = put_sphere_rows(numbers, corners, found, points)
        if kind == BOX:
            put_numbers(shapes, BOX_WIDTH, some.shape, numbers)
            _put_corners(grid, numbers, some, corners)
            put_box_rows(numbers, corners, found, points)
        if worst == IN_DOUBT:
            _put_one_by_one(grid, kind, shapes, some, found, points)


@kernel(inline=True)
def is_deeper(
    grid: Grid, center: Vec3, depth: float, rise: float, deepest: float, rise_of_deepest: float
) -> bool:
    """Tell whether a contact of a shape is kept in place of the deepest so far.

    ``rise`` is the upward part of its direction. If the center of the shape is in the ground, a
    contact whose direction leads up, which is out of a map, comes before all that lead down.
    """
    deeper, leads_up = depth > deepest, rise > 0.0
    if deeper == leads_up or leads_up == (rise_of_deepest > 0.0):
        return deeper
    # NaN, where there is no ground, is above nothing.
    surface = height(grid, center[0], center[2])
    return leads_up == (surface > center[1] and surface - grid.thickness < center[1])


@kernel(inline=True)
def _deepest_of_run(
    grid: Grid, center: Vec3,
    depths: Floats, rises: Floats, start: int, end: int, deepest: float, rise_of_deepest: float,
) -> int:  # fmt: skip
    """Return which of the contacts start .. end of a shape is kept, -1 if the deepest so far is.

    As a rule all lead to one side of the level, and the depth alone decides, without a branch.
    """
    kept, most, up, is_one_side = -1, deepest, rise_of_deepest > 0.0, True
    for k in range(start, end):
        is_one_side &= (rises[k] > 0.0) == up
        is_more = depths[k] > most
        kept = k if is_more else kept
        most = depths[k] if is_more else most
    if is_one_side:
        return kept
    kept = -1
    for k in range(start, end):
        depth, rise = float(depths[k]), float(rises[k])
        if is_deeper(grid, center, depth, rise, deepest, rise_of_deepest):
            kept, deepest, rise_of_deepest = k, depth, rise
    return kept


@kernel
def put_deepest(
    grid: Grid,
    kind: int,
    shapes: Floats,
    touches: Touches,
    places: Int64s,
    ints: Int64s,
    floats: Floats,
) -> int:
    """Write the deepest touch of each shape that has any, as of `is_deeper`; the first of equals.

    ``places`` receives where in the list it is. Return how many they are.
    """
    step_ints, step_floats = np.empty(2 * STEP, dtype=np.int64), np.empty(9 * STEP)
    depths, rises = np.empty(STEP), np.empty(STEP)
    size, room = ints.shape[0] // 2, floats.shape[0] // 3
    last, current, deepest, rise_of_deepest = -1, -1, 0.0, 0.0
    for begin in range(0, touches.shape.shape[0], STEP):
        n = min(STEP, touches.shape.shape[0] - begin)
        some = part_of(touches, begin, begin + n)
        put_contacts(grid, kind, shapes, some, step_ints, step_floats, 0, n)
        for k in range(n):
            depths[k] = length(row_vector(step_floats, 3 * k))
            rises[k] = step_floats[3 * STEP + 3 * k + 1]
        k = 0
        while k < n:
            start, index = k, int(step_ints[k])
            while k < n and step_ints[k] == index:
                k += 1
            if index != current:
                last, current, deepest, rise_of_deepest = last + 1, index, -1.0, float(rises[start])
            kept = _deepest_of_run(
                grid, center_at(kind, shapes, index),
                depths, rises, start, k, deepest, rise_of_deepest,
            )  # fmt: skip
            if kept < 0:
                continue
            deepest, rise_of_deepest = float(depths[kept]), float(rises[kept])
            places[last] = begin + kept
            ints[last], ints[size + last] = index, step_ints[STEP + kept]
            for i in range(3):
                for part in range(3):
                    floats[part * room + 3 * last + i] = step_floats[part * 3 * STEP + 3 * kept + i]
    return last + 1


@kernel(inline=True)
def nearest_cell(rows: int, columns: int, row: int, column: int) -> int:
    """Return row * columns + column of a cell, outside the map of the nearest one."""
    return min(max(row, 0), rows - 1) * columns + min(max(column, 0), columns - 1)


@kernel
def put_nearest_cells(rows: int, columns: int, row: Int64s, code: Int64s, out: Int64s) -> None:
    """Write the cells of n touches, row * columns + column, outside the map the nearest one."""
    for k in range(out.shape[0]):
        out[k] = nearest_cell(rows, columns, int(row[k]), int(code[k]) >> 2)
