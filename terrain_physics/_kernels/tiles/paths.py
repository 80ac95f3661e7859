"""The first marked tile that a path comes to: of a ray, or of the box around a moving shape."""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.rows import vector_at
from terrain_physics._kernels.math.vec3 import Vec3, add
from terrain_physics._kernels.surface.shapes import FARTHEST
from terrain_physics._kernels.tiles.boxes import (
    Lattice,
    PathPart,
    clipped,
    heights_at,
    index_at,
    lattice_of,
    slack_at,
)
from terrain_physics._kernels.types import Bytes, Floats, Int64s

# A path that does not end is so long, in meters: beyond all that there is.
_ENDLESS = 100.0 * FARTHEST


@kernel(inline=True, no_refcount=True)
def _first_in_row(
    lattice: Lattice, start: Vec3, way: Vec3, wide: Vec3, row: int, strip: PathPart, best: float
) -> tuple[float, int]:
    """Return where a path comes to the first marked tile of a row of tiles, and its number.

    ``strip`` is the part of the path that is over the row. -1: to none before ``best``.
    """
    one, other = start[0] + strip.start * way[0], start[0] + strip.end * way[0]
    left = index_at(min(one, other) - wide[0], lattice.x0, lattice.size_x, lattice.columns)
    right = index_at(max(one, other) + wide[0], lattice.x0, lattice.size_x, lattice.columns)
    forward, found = way[0] >= 0.0, -1
    for k in range(right - left + 1):
        column = left + k if forward else right - k
        low = lattice.x0 + column * lattice.size_x - wide[0]
        high = lattice.x0 + (column + 1) * lattice.size_x + wide[0]
        over = clipped(strip, start[0], way[0], low, high)
        if over.start > best:
            break
        number = row * lattice.columns + column
        if lattice.marks[number] == 0 or lattice.low[number] > lattice.high[number]:
            continue
        low, high = heights_at(lattice, number, wide[1])
        over = clipped(over, start[1], way[1], low, high)
        if over.start <= over.end and over.start < best:
            best, found = over.start, number
    return best, found


@kernel(no_refcount=True)
def _first_on_path(
    lattice: Lattice, start: Vec3, way: Vec3, extents: Vec3, most: float
) -> tuple[float, int]:
    """Return how far along a path it comes to the first marked tile, and its number; -1: to none.

    ``way`` is the path for each unit of the answer.
    """
    slack = slack_at(lattice, start)
    wide = add(extents, slack)
    across, along = lattice.columns * lattice.size_x, lattice.rows * lattice.size_z
    span = PathPart(0.0, min(most, _ENDLESS))
    span = clipped(span, start[0], way[0], lattice.x0 - wide[0], lattice.x0 + across + wide[0])
    span = clipped(span, start[2], way[2], lattice.z0 - wide[2], lattice.z0 + along + wide[2])
    best, found = math.inf, -1
    if span.start > span.end:
        return best, found
    near, far = start[2] + span.start * way[2], start[2] + span.end * way[2]
    first = index_at(min(near, far) - wide[2], lattice.z0, lattice.size_z, lattice.rows)
    last = index_at(max(near, far) + wide[2], lattice.z0, lattice.size_z, lattice.rows)
    for k in range(last - first + 1):
        row = first + k if way[2] >= 0.0 else last - k
        low = lattice.z0 + row * lattice.size_z - wide[2]
        high = lattice.z0 + (row + 1) * lattice.size_z + wide[2]
        strip = clipped(span, start[2], way[2], low, high)
        if strip.start > best:
            break
        if strip.start <= strip.end:
            place, number = _first_in_row(lattice, start, way, wide, row, strip, best)
            if number >= 0:
                best, found = place, number
    return best, found


@kernel
def put_first_on_paths(
    marks: Bytes, low: Floats, high: Floats, columns: int, place: Floats,
    starts: Floats, ways: Floats, extents: Floats, most: Floats,
    begin: int, end: int, places: Floats, numbers: Int64s,
) -> None:  # fmt: skip
    """Write how far along paths [begin, end) they come to the first marked tile, and its number.

    Paths are from ``starts`` along ``ways`` (n, 3) or (1, 3), up to ``most`` (n,) times the way; of
    boxes with half ``extents`` (n, 3) or (1, 3). The number is -1 where they come to none.
    """
    lattice = lattice_of(marks, low, high, columns, place)
    for k in range(begin, end):
        start, way, extent = vector_at(starts, k), vector_at(ways, k), vector_at(extents, k)
        places[k], numbers[k] = _first_on_path(lattice, start, way, extent, float(most[k]))
