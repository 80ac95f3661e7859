"""The point of one cell of a height map nearest to a point, and lower bounds to skip cells by.

A bound is below every distance as computed, rounding included. So skipping a cell beyond it never
changes an answer, not even the choice among triangles that are equally near.
"""

import math
from typing import NamedTuple

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.closest_point import closest_on_triangle, triangle_normal
from terrain_physics._kernels.heightmap.clipping import clamp, half_of
from terrain_physics._kernels.heightmap.grid import (
    CELL_HOLE,
    Grid,
    cell_bits,
    corner_heights,
    is_flipped,
)
from terrain_physics._kernels.math.vec3 import Vec3, add, dot
from terrain_physics._kernels.tolerances import CULLING_SLACK

# Rounding makes a triangle seem nearer by at most this part of the distance of its corners.
# Triangles thinner than FLAT_ANGLE would differ by more, but count as segments.
MOST_DOUBT = CULLING_SLACK * 1e10

# The place of the nearest ground. Of equally near ground, the lower number is taken.
ON_MAP, OUTSIDE, NOWHERE = range(3)


class CellAxis(NamedTuple):
    """One axis of a map, and the place of the query point on it."""

    place: float
    start: float  # of the map
    size: float  # of a cell
    cells: int


class Nearest(NamedTuple):
    """The nearest point of the ground found so far. The first fields put equals in order."""

    square: float  # of its distance
    where: int
    row: int
    column: int
    half: int
    offset: Vec3  # from the query point


@kernel(inline=True, no_refcount=True)
def axis_x(grid: Grid, point: Vec3) -> CellAxis:
    return CellAxis(point[0], grid.x0, grid.cell_x, grid.columns)


@kernel(inline=True, no_refcount=True)
def axis_z(grid: Grid, point: Vec3) -> CellAxis:
    return CellAxis(point[2], grid.z0, grid.cell_z, grid.rows)


@kernel(inline=True)
def line(axis: CellAxis, index: int) -> float:
    """Return the offset of a line of samples, rounded as that of a corner of a triangle is."""
    return axis.start + index * axis.size - axis.place


@kernel(inline=True)
def cell_at(axis: CellAxis, place: float) -> int:
    """Return the index of the map's cell nearest to a place."""
    return clamp((place - axis.start) / axis.size, 0.0, axis.cells - 1.0)


@kernel(inline=True)
def gap(low: float, high: float) -> float:
    """Return the distance of 0 from an interval."""
    return max(low, -high, 0.0)


@kernel(inline=True, no_refcount=True)
def bound(grid: Grid, square: float, rise: float) -> float:
    """Return a lower bound of the computed distances of all triangles in a box.

    ``square`` is the squared distance of the box and ``rise`` its height. The offsets of corners
    from the point are rounded here as they are there. Only the rounding of the normal may differ,
    by a part of the distance of the corners: the thinner the triangle, the larger the part.
    """
    distance, extent = math.sqrt(square), grid.cell_x + grid.cell_z + rise
    doubt = min(CULLING_SLACK * (extent / grid.cell_x) * (extent / grid.cell_z), MOST_DOUBT)
    return distance - doubt * (distance + extent)


@kernel(no_refcount=True)
def ask_cell(grid: Grid, point: Vec3, row: int, column: int, nearest: Nearest) -> Nearest:
    """Return the nearest point so far, after a search of one more cell of the map."""
    a_y, b_y, c_y, d_y = corner_heights(grid, row, column)
    a_y, b_y, c_y, d_y = a_y - point[1], b_y - point[1], c_y - point[1], d_y - point[1]
    along_x, along_z = axis_x(grid, point), axis_z(grid, point)
    left, right = line(along_x, column), line(along_x, column + 1)
    near, far = line(along_z, row), line(along_z, row + 1)
    low, high = min(a_y, b_y, c_y, d_y), max(a_y, b_y, c_y, d_y)
    x, y, z = gap(left, right), gap(low, high), gap(near, far)
    best = math.sqrt(nearest.square)
    if bound(grid, x * x + y * y + z * z, high - low) > best:
        return nearest
    if math.isnan(a_y + b_y + c_y + d_y):
        return nearest
    if grid.has_table and cell_bits(grid, row, column) & CELL_HOLE:
        return nearest
    a, b, c, d = (left, a_y, far), (right, b_y, far), (right, c_y, near), (left, d_y, near)
    # A box reaches nearer than its triangles. These lie beyond the plane through their first corner
    # that is perpendicular to the direction of their middle. Far from the ground, this skips most.
    middle = add(add(a, b), add(c, d))
    along = min(dot(a, middle), dot(b, middle), dot(c, middle), dot(d, middle))
    if along > 0.0 and bound(grid, along / dot(middle, middle) * along, high - low) > best:
        return nearest
    flipped = is_flipped(grid, row, column)
    for half in range(2):
        p, q, r = half_of(a, b, c, d, flipped, half)
        has_area, normal = triangle_normal(p, q, r)
        offset = closest_on_triangle(p, q, r, has_area, normal)[1]
        square = dot(offset, offset)
        if (square, ON_MAP, row, column, half) < nearest[:5]:
            nearest = Nearest(square, ON_MAP, row, column, half, offset)
    return nearest
