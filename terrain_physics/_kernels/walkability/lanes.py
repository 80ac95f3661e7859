"""Lanes of a field: who keeps to a side is led there where walls are near on the other side.

All shortest ways touch the same corners of walls. Streams that come round one from both sides would
meet there in one line and block each other. One stream is quicker without lanes.
"""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.types import Bytes, Floats
from terrain_physics._kernels.walkability.layout import (
    DIRECTIONS,
    WALK,
    PlaceArrays,
    direction_by,
    end_of,
    kind_of,
)
from terrain_physics._kernels.walkability.lead_members import Steering


@kernel(no_refcount=True)
def _steps_free(places: PlaceArrays, place: int, x: float, z: float, most: int) -> int:
    """Return how many steps of the grid one walks from a place along a unit vector, up to some."""
    row, column = 0, 0
    for step in range(most):
        next_row = math.floor((step + 1) * z + 0.5)
        next_column = math.floor((step + 1) * x + 0.5)
        if next_row != row or next_column != column:
            direction = direction_by(next_row - row, next_column - column)
            if kind_of(places, place, direction) != WALK:
                return step
            place = end_of(places, place, direction)
        row, column = next_row, next_column
    return most


@kernel(no_refcount=True)
def _has_room(places: PlaceArrays, ways: Bytes, place: int, side: int, most: int) -> bool:
    """Tell whether one could walk so many steps of the way aside of it: no door is there."""
    for _ in range(most):
        way = int(ways[place])
        if way >= DIRECTIONS:  # it ends, or drops
            return True
        aside = (way + 2 * side) % DIRECTIONS
        if kind_of(places, place, aside) != WALK:
            return False
        if kind_of(places, end_of(places, place, aside), way) != WALK:
            return False
        place = end_of(places, place, way)
    return True


@kernel(no_refcount=True)
def put_lanes(
    places: PlaceArrays, field: Steering, directions: Floats, side: float, reach: float
) -> None:
    """Write the directions of a field for those who keep to a side: 1: right, -1: left.

    They differ from ``directions`` (n, 2), those of the shortest ways, where a place is nearer than
    ``reach`` to what ends a walk on its other side: it leads aside, by 45 degrees in the nearer
    half, unless its way is narrow. Near goals none does.
    """
    most = math.ceil(reach / places.spacing)
    for place in range(len(field.nexts)):
        x, z = float(directions[place, 0]), float(directions[place, 1])
        field.directions[place, 0], field.directions[place, 1] = x, z
        if field.ways[place] >= DIRECTIONS or field.distances[place] < 2.0 * reach:
            continue
        aside_x, aside_z = -side * z, side * x
        free = _steps_free(places, place, -aside_x, -aside_z, most)
        if free == most or not _has_room(places, field.ways, place, int(side), most):
            continue
        share = min(1.0, 2.0 * (1.0 - free / most))
        x, z = x + share * aside_x, z + share * aside_z
        length = math.sqrt(x * x + z * z)
        field.directions[place, 0], field.directions[place, 1] = x / length, z / length
        field.is_turned[place] = 1
