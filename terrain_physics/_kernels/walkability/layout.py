"""Places of a walkability map in kernels: their numbers, and the edges that lead from them.

Places stand on a grid, up to `MOST_LEVELS` above each other, the lowest on level 0. The number of a
place is ``(level * rows + row) * columns + column``. Edges lead in eight directions to places in
neighboring columns of the grid: direction 0 leads along +X, and each next one is turned by 45
degrees towards +Z. The opposite of direction d is ``(d + 4) % 8``.

On a few of them, such as on stairs, a character comes to rest only beside the point of the grid:
those places are aside.
"""

from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.types import Float32s, UInt16s

# Kinds of edges.
NO_EDGE, WALK, STEP, DROP = 0, 1, 2, 3

DIRECTIONS, MOST_LEVELS = 8, 3

# Rows and columns by which directions lead.
ROW_STEPS = (0, 1, 1, 1, 0, -1, -1, -1)
COLUMN_STEPS = (1, 1, 0, -1, -1, -1, 0, 1)
_BY_STEPS = (5, 6, 7, 4, 0, 0, 3, 2, 1)  # by 3 * row step + column step + 4


class PlaceArrays(NamedTuple):
    """The places of a map, and their edges; n is ``levels * rows * columns``."""

    heights: Float32s  # (n,): y of the position of a character that rests there; NaN: none can
    kinds: UInt16s  # (n,): two bits for each direction, the kind of the edge
    targets: UInt16s  # (n,): two bits for each direction, its level; (0,) if there is one level
    asides: Float32s  # (n, 2): x and z of where it rests, from the point of the grid; or (0, 2)
    levels: int
    rows: int
    columns: int
    lower_x: float  # where row 0 and column 0 are, in m
    lower_z: float
    spacing: float


@kernel(inline=True)
def row_step(direction: int) -> int:
    """Return by how many rows a direction leads."""
    return ROW_STEPS[direction]


@kernel(inline=True)
def column_step(direction: int) -> int:
    """Return by how many columns a direction leads."""
    return COLUMN_STEPS[direction]


@kernel(inline=True)
def direction_by(rows: int, columns: int) -> int:
    """Return the direction that leads by so many rows and columns, -1, 0 or 1 each."""
    return _BY_STEPS[3 * rows + columns + 4]


@kernel(inline=True, no_refcount=True)
def kind_of(places: PlaceArrays, place: int, direction: int) -> int:
    """Return the kind of the edge that leads from a place in a direction."""
    return (int(places.kinds[place]) >> (2 * direction)) & 3


@kernel(inline=True, no_refcount=True)
def level_at_end(places: PlaceArrays, place: int, direction: int) -> int:
    """Return the level that an edge leads to."""
    if places.levels == 1:
        return 0
    return (int(places.targets[place]) >> (2 * direction)) & 3


@kernel(inline=True, no_refcount=True)
def level_of(places: PlaceArrays, place: int) -> int:
    """Return the level of a place."""
    size = places.rows * places.columns
    return (1 if place >= size else 0) + (1 if place >= 2 * size else 0)


@kernel(inline=True, no_refcount=True)
def is_aside(places: PlaceArrays, place: int) -> bool:
    """Tell whether a character on a place rests beside the point of the grid."""
    if len(places.asides) == 0:
        return False
    return bool(places.asides[place, 0] != 0.0 or places.asides[place, 1] != 0.0)


@kernel(inline=True, no_refcount=True)
def aside_of(places: PlaceArrays, place: int) -> tuple[float, float]:
    """Return x and z of where a character on a place rests, from the point of the grid."""
    if len(places.asides) == 0:
        return 0.0, 0.0
    return float(np.float64(places.asides[place, 0])), float(np.float64(places.asides[place, 1]))


@kernel(inline=True, no_refcount=True)
def row_of(places: PlaceArrays, place: int) -> int:
    """Return the row of a place.

    Rounding is less than the half column that is added; to divide whole numbers takes ten times as
    long.
    """
    cell = place - level_of(places, place) * places.rows * places.columns
    return int((cell + 0.5) * (1.0 / places.columns))


@kernel(inline=True, no_refcount=True)
def column_of(places: PlaceArrays, place: int, row: int) -> int:
    """Return the column of a place in a row."""
    return place - (level_of(places, place) * places.rows + row) * places.columns


@kernel(inline=True, no_refcount=True)
def grid_point(places: PlaceArrays, column: int) -> tuple[float, float]:
    """Return x and z of the point of the grid that a place of level 0 is at, or beside."""
    x = places.lower_x + places.spacing * (column % places.columns)
    return x, places.lower_z + places.spacing * (column // places.columns)


@kernel(inline=True, no_refcount=True)
def number_step(places: PlaceArrays, direction: int) -> int:
    """Return by how much the number of a place grows in a direction, on one level."""
    return row_step(direction) * places.columns + column_step(direction)


@kernel(inline=True, no_refcount=True)
def end_of(places: PlaceArrays, place: int, direction: int) -> int:
    """Return the place that an edge leads to; it is in the grid, as edges lead nowhere else."""
    if places.levels == 1:
        return place + number_step(places, direction)
    levels = level_at_end(places, place, direction) - level_of(places, place)
    return place + number_step(places, direction) + levels * places.rows * places.columns


@kernel(inline=True, no_refcount=True)
def put_edge(places: PlaceArrays, place: int, direction: int, kind: int, level: int) -> None:
    """Write an edge, or that there is none; ``level`` is the one that it leads to."""
    shift = 2 * direction
    places.kinds[place] = (int(places.kinds[place]) & ~(3 << shift)) | (int(kind) << shift)
    if places.levels > 1:
        places.targets[place] = (int(places.targets[place]) & ~(3 << shift)) | (level << shift)
