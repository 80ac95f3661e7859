"""Where the edges of cells are, and the triangles of pieces of sides on them.

A piece is a trapezoid over a stretch of an edge: a row of numbers, see the columns below.
"""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.heightmap.grid import COLUMNS, EXTEND, ROWS
from terrain_physics._kernels.heightmap.solid.sides import EAST, NORTH, SIDES_OF_CELL, SOUTH
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.types import Floats, Int64s

# Ground of unlimited thickness has sides that reach so far below its surface; an endless map goes
# on so far beyond its border.
DEEPEST_SIDE = 4096.0

# Columns of a piece: the number of its edge; where it begins and ends along the edge; the heights
# of its upper line there, then those of its lower line. More columns may follow.
EDGE, BEGIN, HIGH, LOW = 0, 1, 3, 5


@kernel(inline=True)
def _line_place(frame: Floats, axis: int, count: int, line: int) -> float:
    """Return where a line of samples is, rounded as its samples are: along x (0) or z (2).

    The lines before the first and behind the last one are one cell outside, or far outside of an
    endless map.
    """
    start, size = float(frame[axis]), float(frame[3 + axis // 2])
    if frame[EXTEND] != 0.0 and line < 0:
        return start - DEEPEST_SIDE
    if frame[EXTEND] != 0.0 and line > count:
        return start + count * size + DEEPEST_SIDE
    return start + line * size


@kernel(inline=True)
def _place_of(frame: Floats, edges: Int64s, k: int) -> tuple[float, float, float]:
    """Return the plane that an edge is in, and where it begins and ends in it."""
    row, column, side = int(edges[k, 0]), int(edges[k, 1]), int(edges[k, 2])
    rows, columns = int(frame[ROWS]), int(frame[COLUMNS])
    if side <= EAST:
        plane = _line_place(frame, 0, columns, column + int(side == EAST))
        return plane, _line_place(frame, 2, rows, row), _line_place(frame, 2, rows, row + 1)
    plane = _line_place(frame, 2, rows, row + int(side == SOUTH))
    begin, end = _line_place(frame, 0, columns, column), _line_place(frame, 0, columns, column + 1)
    return plane, begin, end


@kernel
def put_places(frame: Floats, edges: Int64s, planes: Floats, ends: Floats) -> None:
    """Write the planes (n,) of edges (n, EDGE_SIZE), and where they begin and end there (n, 2)."""
    for k in range(len(edges)):
        planes[k], ends[k, 0], ends[k, 1] = _place_of(frame, edges, k)


@kernel(inline=True)
def _put_triangle(
    corners: Floats, of_corners: Int64s, count: int, edge: int, is_turned: bool,
    a: Vec3, b: Vec3, c: Vec3,
) -> int:  # fmt: skip
    """Write a triangle and its edge; return how many there are now."""
    second, third = (c, b) if is_turned else (b, c)
    for axis in range(3):
        corners[count, axis] = a[axis]
        corners[count, 3 + axis] = second[axis]
        corners[count, 6 + axis] = third[axis]
    of_corners[count] = edge
    return count + 1


@kernel(inline=True)
def _point(along_z: bool, plane: float, along: float, y: float) -> Vec3:
    return (plane, y, along) if along_z else (along, y, plane)


@kernel
def put_triangles(
    frame: Floats, edges: Int64s, pieces: Floats, corners: Floats, of_corners: Int64s
) -> int:
    """Write the triangles (2 m, 9) of pieces (m, ...), fronts outwards, and their edges (2 m,).

    Returns how many there are: a piece that ends in a point is one triangle.
    """
    count = 0
    for k in range(len(pieces)):
        edge = int(pieces[k, EDGE])
        side = int(edges[edge, 2])
        plane, along_z = _place_of(frame, edges, edge)[0], side <= EAST
        is_turned = side not in (EAST, NORTH)
        begin, end = float(pieces[k, BEGIN]), float(pieces[k, BEGIN + 1])
        upper = _point(along_z, plane, begin, float(pieces[k, HIGH]))
        lower = _point(along_z, plane, begin, float(pieces[k, LOW]))
        end_upper = _point(along_z, plane, end, float(pieces[k, HIGH + 1]))
        end_lower = _point(along_z, plane, end, float(pieces[k, LOW + 1]))
        if end_upper[1] > end_lower[1]:
            count = _put_triangle(
                corners, of_corners, count, edge, is_turned, upper, end_upper, end_lower
            )
        if upper[1] > lower[1]:
            count = _put_triangle(
                corners, of_corners, count, edge, is_turned, upper, end_lower, lower
            )
    return count


@kernel
def put_ids(frame: Floats, edges: Int64s, of_triangles: Int64s, ids: Int64s, cells: Int64s) -> None:
    """Write the ids (n,) of triangles of edges, and the cells that they are sides of.

    Outside of an endless map they have the id -1 and the nearest cell.
    """
    rows, columns = int(frame[ROWS]), int(frame[COLUMNS])
    for k in range(len(of_triangles)):
        edge = of_triangles[k]
        row, column, side = int(edges[edge, 0]), int(edges[edge, 1]), int(edges[edge, 2])
        cells[k] = min(max(row, 0), rows - 1) * columns + min(max(column, 0), columns - 1)
        is_inside = 0 <= row < rows and 0 <= column < columns
        ids[k] = 2 * rows * columns + SIDES_OF_CELL * cells[k] + side if is_inside else -1
