"""Internal edges of a map: which pushes leave the solid ground, and which lead into a neighbor.

This answers the question of `character/contacts/internal_edges.py` for a traversal of cells. That
has no list of the triangles around: the neighbors are looked up on the grid.

A height map is solid, and its triangles are its skin. A push out of one triangle at an edge or a
corner is a contact only if no neighbor reaches beyond it in the direction of the push: then the
point is the nearest of the ground, and not of the triangle alone. On level ground this leaves only
the face normals, so that a body never trips over the edge between two faces. On a ridge it leaves
the directions between the normals of the two flanks.
"""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.heightmap.grid import (
    Grid,
    half_corners,
    has_ground,
    is_flipped,
    vertex,
)
from terrain_physics._kernels.math.vec3 import Vec3, dot, subtract
from terrain_physics._kernels.tolerances import LEVEL_SHARE

BLOCKED, FREE, RIM = 0, 1, 2


@kernel(inline=True, no_refcount=True)
def _reaches_beyond(grid: Grid, start: Vec3, row: int, column: int, push: Vec3) -> bool:
    """Tell whether a sample lies beyond ``start`` in the direction of the push."""
    line = subtract(vertex(grid, row, column), start)
    return dot(line, push) > LEVEL_SHARE * (abs(line[0]) + abs(line[1]) + abs(line[2]))


@kernel(no_refcount=True)
def _at_corner(grid: Grid, row: int, column: int, push: Vec3) -> int:
    """Look at the edges around a sample: each must fall away from the push."""
    start = vertex(grid, row, column)
    result = FREE
    for k in range(4):
        cell_row, cell_column = row - 1 + k // 2, column - 1 + k % 2
        if not has_ground(grid, cell_row, cell_column):
            result = RIM
            continue
        other_row, other_column = 2 * cell_row + 1 - row, 2 * cell_column + 1 - column
        if _reaches_beyond(grid, start, other_row, column, push) or _reaches_beyond(
            grid, start, row, other_column, push
        ):
            return BLOCKED
        # The cell's diagonal runs through this sample if both say "b-d" or both "a-c".
        through = (row == cell_row) == (column == cell_column)
        if is_flipped(grid, cell_row, cell_column) == through and _reaches_beyond(
            grid, start, other_row, other_column, push
        ):
            return BLOCKED
    return result


@kernel(no_refcount=True)
def _at_edge(
    grid: Grid, cell_row: int, cell_column: int, r1: int, c1: int, r2: int, c2: int, push: Vec3
) -> int:
    """Look at the triangle across the edge of a cell's half: its third corner must fall away."""
    start = vertex(grid, r1, c1)
    if (
        r1 != r2 and c1 != c2
    ):  # the diagonal: across lies the other half, look at both corners off it
        if _reaches_beyond(grid, start, r1, c2, push) or _reaches_beyond(grid, start, r2, c1, push):
            return BLOCKED
        return FREE
    row, column = min(r1, r2), min(c1, c2)
    if r1 == r2:
        row = 2 * r1 - 1 - cell_row  # of the cells above and below the edge, the other one
    else:
        column = 2 * c1 - 1 - cell_column
    if not has_ground(grid, row, column):
        return RIM
    # The triangle over an edge has its third corner at the far end of the cell's diagonal, which
    # starts at one of the edge's ends.
    first = ((r1 == row) == (c1 == column)) == is_flipped(grid, row, column)
    r, c = (r1, c1) if first else (r2, c2)
    if _reaches_beyond(grid, start, 2 * row + 1 - r, 2 * column + 1 - c, push):
        return BLOCKED
    return FREE


@kernel(no_refcount=True)
def look_around(
    grid: Grid, row: int, column: int, half: int, a: Vec3, b: Vec3, c: Vec3, push: Vec3
) -> int:
    """Tell whether a neighbor of one triangle blocks a unit push out of that triangle.

    BLOCKED, FREE, or RIM if no neighbor is, but there is no ground beside the triangle. ``a``,
    ``b``, ``c`` are the triangle's corners from any origin. The corners farthest along the push
    decide what is checked: one corner, an edge, or the face.
    """
    along_a, along_b, along_c = dot(a, push), dot(b, push), dot(c, push)
    top = max(along_a, along_b, along_c)
    slack = LEVEL_SHARE * (grid.cell_x + grid.cell_z)
    at_a, at_b, at_c = along_a >= top - slack, along_b >= top - slack, along_c >= top - slack
    if at_a and at_b and at_c:
        return FREE
    ra, ca, rb, cb, rc, cc = half_corners(is_flipped(grid, row, column), half)
    ra, ca, rb, cb, rc, cc = row + ra, column + ca, row + rb, column + cb, row + rc, column + cc
    if at_a and at_b:
        return _at_edge(grid, row, column, ra, ca, rb, cb, push)
    if at_b and at_c:
        return _at_edge(grid, row, column, rb, cb, rc, cc, push)
    if at_c and at_a:
        return _at_edge(grid, row, column, rc, cc, ra, ca, push)
    if at_a:
        return _at_corner(grid, ra, ca, push)
    if at_b:
        return _at_corner(grid, rb, cb, push)
    return _at_corner(grid, rc, cc, push)
