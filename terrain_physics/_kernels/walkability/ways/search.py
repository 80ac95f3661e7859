"""A shortest way between two places, by A* over a bucket queue.

The estimate of what is left is a length on the grid in eight directions, with the rise: no way is
shorter, as costs are at least 1. Places share a bucket where sums of way and estimate are nearly
the same, and the last one that came is taken first: so a search of open land goes straight to its
goal. A place whose way becomes shorter comes back into the queue, so that the way found is a
shortest one.
"""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.types import Floats, Int32s
from terrain_physics._kernels.walkability.layout import (
    DIRECTIONS,
    NO_EDGE,
    PlaceArrays,
    column_of,
    column_step,
    end_of,
    kind_of,
    row_of,
    row_step,
)
from terrain_physics._kernels.walkability.ways.buckets import (
    ABSENT,
    SLOTS,
    Buckets,
    clear,
    put,
    take_out,
)
from terrain_physics._kernels.walkability.ways.lengths import (
    QUANTUM,
    Lengths,
    edge_length,
    flat_length,
)

_A_SPACING = 96.0  # buckets in a spacing: wider ones have places looked at again on slopes


class Search(NamedTuple):
    """Working memory of searches over n places, which holds for those that have the stamp."""

    buckets: Buckets
    stamps: Int32s  # (n,): the last search that came to a place
    distances: Floats  # (n,): from the start
    parents: Int32s  # (n,): the place before on the way


class _Goal(NamedTuple):
    place: int
    row: int
    column: int
    height: float


@kernel(inline=True, no_refcount=True)
def _goal(places: PlaceArrays, place: int) -> _Goal:
    row = row_of(places, place)
    return _Goal(place, row, column_of(places, place, row), np.float64(places.heights[place]))


@kernel(inline=True, no_refcount=True)
def _estimate(lengths: Lengths, row: int, column: int, height: float, goal: _Goal) -> float:
    """Return a lower bound on the length of a way to the goal.

    On level land without obstacles it is exact. Elsewhere each edge may be rounded down by half a
    quantum, which is less than a share of its length.
    """
    rows, columns = abs(row - goal.row), abs(column - goal.column)
    many, few = max(rows, columns), min(rows, columns)
    level = (many - few) * lengths.straight + few * lengths.diagonal
    rise = height - goal.height
    length = math.sqrt(level * level + rise * rise)
    return max(level, length - length * (QUANTUM / lengths.straight))


@kernel(inline=True, no_refcount=True)
def _reach(search: Search, place: int, parent: int, far: float, turn: int, now: int) -> int:
    """Note a shorter way to a place, and put it into the queue; return how many places it adds."""
    buckets = search.buckets
    added = 1 if buckets.before[place] == ABSENT else 0
    if added == 0:
        take_out(buckets, place)
    search.distances[place], search.parents[place] = far, parent
    put(buckets, place, max(turn, now), now)
    return added


@kernel(inline=True, no_refcount=True)
def _expand(
    places: PlaceArrays,
    lengths: Lengths,
    place: int,
    row: int,
    column: int,
    goal: _Goal,
    scale: float,
    now: int,
    search: Search,
    stamp: int,
) -> int:
    """Look at all edges that lead from a place; return how many places came into the queue."""
    near, best = float(search.distances[place]), float(search.distances[goal.place])
    added = 0
    for direction in range(DIRECTIONS):
        if kind_of(places, place, direction) == NO_EDGE:
            continue
        other = end_of(places, place, direction)
        flat = flat_length(lengths, direction)
        is_new = search.stamps[other] != stamp
        if is_new:
            search.stamps[other] = stamp
            search.distances[other] = math.inf
            search.buckets.before[other] = ABSENT
        elif near + flat >= search.distances[other]:
            continue
        far = near + edge_length(places, lengths, flat, place, other)
        if far >= search.distances[other]:
            continue
        r, c = row + row_step(direction), column + column_step(direction)
        total = far + _estimate(lengths, r, c, np.float64(places.heights[other]), goal)
        if total < best:
            added += _reach(search, other, place, far, int(total * scale), now)
    return added


@kernel(inline=True, no_refcount=True)
def _put_way(search: Search, start: int, goal: int) -> int:
    """Write the places of a way that was found, from the goal back; return how many they are."""
    place, count = goal, 0
    while place != start:
        search.buckets.after[count] = place
        place = int(search.parents[place])
        count += 1
    search.buckets.after[count] = start
    return count + 1


@kernel(no_refcount=True)
def find_way(
    places: PlaceArrays, lengths: Lengths, start: int, goal: int, search: Search, stamp: int
) -> int:
    """Find a shortest way; return how many places it has, 0 if there is none.

    Its places are ``search.buckets.after`` then, from the goal to the start.
    """
    buckets = search.buckets
    clear(buckets)
    target = _goal(places, goal)
    scale = _A_SPACING / lengths.straight
    search.stamps[goal], search.distances[goal] = stamp, math.inf
    search.stamps[start], search.distances[start] = stamp, 0.0
    buckets.before[goal] = ABSENT
    put(buckets, start, 0, 0)
    now, waiting = 0, 1
    while waiting > 0:
        place = int(buckets.heads[now % SLOTS])
        while place < 0:  # buckets are narrow, and most of them empty
            now += 1
            place = int(buckets.heads[now % SLOTS])
        if search.distances[goal] * scale < now:
            break
        take_out(buckets, place)
        waiting -= 1
        row = row_of(places, place)
        column, height = column_of(places, place, row), np.float64(places.heights[place])
        total = search.distances[place] + _estimate(lengths, row, column, height, target)
        if int(total * scale) > now:  # it was beyond the ring
            put(buckets, place, int(total * scale), now)
            waiting += 1
        elif total < search.distances[goal]:
            waiting += _expand(
                places, lengths, place, row, column, target, scale, now, search, stamp
            )
    return _put_way(search, start, goal) if search.distances[goal] < math.inf else 0
