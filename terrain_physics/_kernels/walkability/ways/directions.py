"""Directions of a field: towards the farthest place on the way that is surely in sight.

The next place lies in one of eight directions. Where the land around is open, as all edges around
are walks, a character may as well go straight to a place farther on, as with the lazy Theta* of
Nash, Koenig and Tovey (2010). The *clearance* of a place says how far it is open on all sides, so
that a line is judged in few steps, as by sphere tracing.
"""

import math

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.types import Bytes, Floats, Int32s
from terrain_physics._kernels.walkability.layout import (
    PlaceArrays,
    column_of,
    direction_by,
    end_of,
    row_of,
)
from terrain_physics._kernels.walkability.open_cells import corners, is_open
from terrain_physics._kernels.walkability.ways.buckets import Buckets
from terrain_physics._kernels.walkability.ways.field import WaysToGoals
from terrain_physics._kernels.walkability.ways.lengths import Lengths, factor_at

_ALL_WALKS = 0x5555  # kinds of all eight directions

_OPEN, _STEPS_CLEAR = 128, 127  # bits of a place: its cell towards +X and +Z is open; its clearance

_STRAIGHT_RATIO = (
    1.0 + 1.0 / 16.0
)  # a way is as good as straight up to this ratio of squared lengths

_WALKED = 16  # steps at most in which a sheet is followed where there are several levels


@kernel(inline=True, no_refcount=True)
def _is_even(places: PlaceArrays, lengths: Lengths, place: int) -> bool:
    """Tell whether a cell is open, and costs the same at all its corners."""
    if not is_open(places, place):
        return False
    if len(lengths.materials) == 0:
        return True
    (east, south, far), factor = corners(places, place), factor_at(lengths, place)
    return bool(
        factor_at(lengths, east) == factor
        and factor_at(lengths, south) == factor
        and factor_at(lengths, far) == factor
    )


@kernel(inline=True, no_refcount=True)
def _least(places: PlaceArrays, clearance: Bytes, place: int, first: int) -> int:
    """Return the least clearance of four neighbors of an open place, from a direction on."""
    least = _STEPS_CLEAR - 1
    for direction in range(first, first + 4):
        least = min(least, int(clearance[end_of(places, place, direction)]) & _STEPS_CLEAR)
    return least


@kernel(inline=True, no_refcount=True)
def _is_open_around(places: PlaceArrays, clearance: Bytes, place: int) -> bool:
    """Tell whether all four cells around a place are open."""
    if clearance[place] < _OPEN or places.kinds[place] != _ALL_WALKS:
        return False
    west, north = end_of(places, place, 4), end_of(places, place, 6)
    corner = end_of(places, place, 5)
    if clearance[west] < _OPEN or clearance[corner] < _OPEN or clearance[north] < _OPEN:
        return False
    return bool(
        end_of(places, west, 0) == place
        and end_of(places, corner, 1) == place
        and end_of(places, north, 2) == place
    )


@kernel(inline=True, no_refcount=True)
def _put_clearance(places: PlaceArrays, lengths: Lengths, clearance: Bytes) -> None:
    """Write how many steps of the grid away from each place all cells are open, at most 127.

    Two passes, as of a distance transform: each place looks at neighbors that are done.
    """
    size = places.rows * places.columns
    for place in range(places.levels * size):
        clearance[place] = _OPEN if _is_even(places, lengths, place) else 0
    for cell in range(size):
        for above in range(places.levels):
            place = cell + above * size
            if _is_open_around(places, clearance, place):
                clearance[place] = _OPEN | (1 + _least(places, clearance, place, 4))
    for cell in range(size - 1, -1, -1):
        for above in range(places.levels):
            place = cell + above * size
            if int(clearance[place]) & _STEPS_CLEAR > 0:
                least = 1 + _least(places, clearance, place, 0)
                if least < int(clearance[place]) & _STEPS_CLEAR:
                    clearance[place] = _OPEN | least


@kernel(inline=True)
def _sign(number: int) -> int:
    return (1 if number > 0 else 0) - (1 if number < 0 else 0)


@kernel(inline=True, no_refcount=True)
def _follow(places: PlaceArrays, place: int, rows: int, columns: int) -> int:
    """Return the place that walks lead to, so many rows and columns away, within open land."""
    for _ in range(max(abs(rows), abs(columns))):
        r, c = _sign(rows), _sign(columns)
        place = end_of(places, place, direction_by(r, c))
        rows, columns = rows - r, columns - c
    return place


@kernel(inline=True, no_refcount=True)
def _is_only(places: PlaceArrays, place: int) -> bool:
    """Tell whether a place of level 0 is the only one of its column."""
    return places.levels == 1 or math.isnan(places.heights[place + places.rows * places.columns])


@kernel(inline=True, no_refcount=True)
def _is_in_sight(
    places: PlaceArrays, clearance: Bytes, place: int, far: int, rows: int, columns: int
) -> bool:
    """Tell whether the line between two places stays in open cells, one sheet of them.

    Where a place is the only one of its column, it is on the sheet that leads there.
    """
    steps, size = max(abs(rows), abs(columns)), places.rows * places.columns
    done, start = int(clearance[place]) & _STEPS_CLEAR, place % size
    is_near = steps <= min(done, _WALKED)
    if places.levels > 1 and is_near and _follow(places, place, rows, columns) == far:
        return True
    needed = steps - (int(clearance[far]) & _STEPS_CLEAR)
    row_rise, column_rise = rows / steps, columns / steps
    while True:
        along = min(done, steps)
        row = int(along * row_rise + (steps + 0.5)) - steps  # rounded: steps make it positive
        column = int(along * column_rise + (steps + 0.5)) - steps
        there = start + row * places.columns + column
        if not _is_only(places, there):
            return False
        if done >= needed:
            return True
        clear = int(clearance[there]) & _STEPS_CLEAR
        if clear < 2:
            return False
        done += clear - 1  # the line may pass half a step beside this place


@kernel(inline=True, no_refcount=True)
def _can_skip(
    places: PlaceArrays,
    lengths: Lengths,
    distances: Floats,
    clearance: Bytes,
    place: int,
    far: int,
) -> bool:
    """Tell whether a character may go straight from a place to one on its way.

    The way has to be as good as straight on the grid, and its end in sight.
    """
    row, far_row = row_of(places, place), row_of(places, far)
    rows = far_row - row
    columns = column_of(places, far, far_row) - column_of(places, place, row)
    many, few = max(abs(rows), abs(columns)), min(abs(rows), abs(columns))
    on_level = (many - few) * lengths.straight + few * lengths.diagonal
    rise = np.float64(places.heights[far]) - np.float64(places.heights[place])
    length = float(distances[place]) - float(distances[far])
    if len(lengths.materials) > 0:
        length /= factor_at(lengths, place)
    is_straight = bool(length * length <= _STRAIGHT_RATIO * (on_level * on_level + rise * rise))
    return is_straight and _is_in_sight(places, clearance, place, far, rows, columns)


@kernel(inline=True, no_refcount=True)
def _target(
    places: PlaceArrays, lengths: Lengths, ways: WaysToGoals, clearance: Bytes, place: int
) -> int:
    """Return the place that a character at a place may go straight to."""
    distances, nexts, targets, _ = ways
    following = int(nexts[place])
    if int(clearance[place]) & _STEPS_CLEAR == 0:
        return following
    far = int(targets[following])
    if far == following or _can_skip(places, lengths, distances, clearance, place, far):
        return far
    for ahead in (4, 2):
        far = place
        for _ in range(ahead):
            far = int(nexts[far]) if nexts[far] >= 0 else far
        if _can_skip(places, lengths, distances, clearance, place, far):
            return far
    return following


@kernel(inline=True, no_refcount=True)
def _put_unit_vectors(places: PlaceArrays, targets: Int32s, directions: Floats) -> None:
    """Write the directions of places to their targets, place by place as they are in memory."""
    for level in range(places.levels):
        for row in range(places.rows):
            first = (level * places.rows + row) * places.columns
            for column in range(places.columns):
                far = int(targets[first + column])
                if far < 0 or far == first + column:
                    continue
                far_row = row_of(places, far)
                x, z = float(column_of(places, far, far_row) - column), float(far_row - row)
                length = math.sqrt(x * x + z * z)
                directions[first + column, 0] = x / length
                directions[first + column, 1] = z / length


@kernel(no_refcount=True)
def put_directions(
    places: PlaceArrays, lengths: Lengths, ways: WaysToGoals, settled: Buckets, clearance: Bytes
) -> None:
    """Write the target of each place that has a way, and its direction.

    ``settled`` lists these places as `put_distances` leaves them, each behind the next place on its
    way. ``clearance`` (n,) is working memory.
    """
    _put_clearance(places, lengths, clearance)
    place = int(settled.heads[0])
    while place >= 0:
        is_goal = ways.next_places[place] < 0
        ways.targets[place] = place if is_goal else _target(places, lengths, ways, clearance, place)
        place = int(settled.after[place])
    _put_unit_vectors(places, ways.targets, ways.directions)
