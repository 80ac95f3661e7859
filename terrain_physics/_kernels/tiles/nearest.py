"""The nearest marked tile of points."""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.rows import row3
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.tiles.boxes import (
    Lattice,
    heights_at,
    index_at,
    lattice_of,
    slack_at,
)
from terrain_physics._kernels.tolerances import CULLING_SLACK
from terrain_physics._kernels.types import Bytes, Floats, Int64s


@kernel(inline=True)
def _gap(place: float, low: float, high: float) -> float:
    """Return how far a place is outside of two numbers."""
    return max(low - place, place - high, 0.0)


@kernel(inline=True, no_refcount=True)
def _squared_distance(lattice: Lattice, point: Vec3, slack: Vec3, row: int, column: int) -> float:
    """Return the square of the least distance that a point may have to a tile's box."""
    number = row * lattice.columns + column
    if lattice.marks[number] == 0 or lattice.low[number] > lattice.high[number]:
        return math.inf
    x, z = lattice.x0 + column * lattice.size_x, lattice.z0 + row * lattice.size_z
    aside = _gap(point[0], x - slack[0], x + lattice.size_x + slack[0])
    beyond = _gap(point[2], z - slack[2], z + lattice.size_z + slack[2])
    low, high = heights_at(lattice, number, slack[1])
    over = _gap(point[1], low, high)
    return aside * aside + beyond * beyond + over * over


@kernel(no_refcount=True)
def _nearest(lattice: Lattice, point: Vec3, within: float) -> int:
    """Return the number of the nearest marked tile up to a distance; -1: none.

    Rings of tiles around the point are looked at, until all that are left are farther.
    """
    slack = slack_at(lattice, point)
    row = index_at(point[2], lattice.z0, lattice.size_z, lattice.rows)
    column = index_at(point[0], lattice.x0, lattice.size_x, lattice.columns)
    size = min(lattice.size_x, lattice.size_z)
    farthest = within + CULLING_SLACK * within
    best, found, ring = farthest * farthest, -1, 0
    while ring < max(lattice.rows, lattice.columns):
        gap = max(ring - 1, 0) * size - slack[0] - slack[2]
        if gap > 0.0 and gap * gap > best:
            break
        for own in range(max(row - ring, 0), min(row + ring, lattice.rows - 1) + 1):
            step = 1 if abs(own - row) == ring else max(2 * ring, 1)
            for across in range(column - ring, column + ring + 1, step):
                if 0 <= across < lattice.columns:
                    away = _squared_distance(lattice, point, slack, own, across)
                    if away <= best and away < math.inf:
                        best, found = away, own * lattice.columns + across
        ring += 1
    return found


@kernel
def put_nearest(
    marks: Bytes, low: Floats, high: Floats, columns: int, place: Floats,
    points: Floats, within: Floats, begin: int, end: int, numbers: Int64s,
) -> None:  # fmt: skip
    """Write the nearest marked tiles of points [begin, end), up to distances (n,); -1: none."""
    lattice = lattice_of(marks, low, high, columns, place)
    for k in range(begin, end):
        numbers[k] = _nearest(lattice, row3(points, k), float(within[k]))
