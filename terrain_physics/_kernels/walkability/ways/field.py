"""Distances of all places to the nearest goal, by Dijkstra's algorithm from the goals backwards.

No edge is shorter than the spacing, so places whose distances differ by less cannot shorten each
other's ways: they share a bucket, and are taken from it in any order (Denardo and Fox, "Shortest-
route methods: 1. Reaching, pruning, and buckets", 1979). Distances and next places do not depend
on that order, as ties are decided by number.
"""

import math
from typing import NamedTuple

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.types import Floats, Int32s, Int64s
from terrain_physics._kernels.walkability.layout import (
    DIRECTIONS,
    NO_EDGE,
    PlaceArrays,
    kind_of,
    level_at_end,
    level_of,
    number_step,
)
from terrain_physics._kernels.walkability.ways.buckets import SLOTS, Buckets, clear, put, take_out
from terrain_physics._kernels.walkability.ways.lengths import Lengths, edge_length, flat_length

_WIDTH = 0.96  # of a bucket, in spacings: shorter than any edge, however lengths were rounded


class WaysToGoals(NamedTuple):
    """The ways of n places to the nearest of some goals."""

    distances: Floats  # (n,): in meters, times costs; inf: no way
    next_places: Int32s  # (n,): the next place on the way; -1 at goals, and where there is no way
    # (n,): the farthest place on the way that is surely in sight; goals: themselves
    targets: Int32s
    directions: Floats  # (n, 2): x and z of a unit vector; zeros where there is no next place


@kernel(inline=True, no_refcount=True)
def _shorten(
    ways: WaysToGoals, buckets: Buckets, other: int, place: int, far: float, scale: float, now: int
) -> int:
    """Note a shorter way of a place, or one as short; return how many places it adds."""
    distances, nexts = ways.distances, ways.next_places
    known = float(distances[other])
    if far == known:
        nexts[other] = min(int(nexts[other]), place)
        return 0
    distances[other], nexts[other] = far, place
    turn = int(far * scale)
    if known == math.inf:
        put(buckets, other, turn, now)
        return 1
    if int(known * scale) != turn:
        take_out(buckets, other)
        put(buckets, other, turn, now)
    return 0


@kernel(inline=True, no_refcount=True)
def _settle(
    places: PlaceArrays,
    lengths: Lengths,
    ways: WaysToGoals,
    buckets: Buckets,
    place: int,
    scale: float,
    now: int,
) -> int:
    """Look at all edges that lead to a place; return how many places came into the queue."""
    size = places.rows * places.columns
    distances = ways.distances
    level, near = level_of(places, place), float(distances[place])
    added = 0
    for k in range(DIRECTIONS * places.levels):
        direction, base = k % DIRECTIONS, k // DIRECTIONS * size
        other = place + base - level * size - number_step(places, direction)
        # Off a side of the grid it is the end of another row, which has no such edge.
        if not base <= other < base + size:
            continue
        flat = flat_length(lengths, direction)
        if near + flat > distances[other] or kind_of(places, other, direction) == NO_EDGE:
            continue
        if level_at_end(places, other, direction) == level:
            far = near + edge_length(places, lengths, flat, other, place)
            if far <= distances[other]:
                added += _shorten(ways, buckets, other, place, far, scale, now)
    return added


@kernel(no_refcount=True)
def put_distances(
    places: PlaceArrays, lengths: Lengths, goals: Int64s, ways: WaysToGoals, buckets: Buckets
) -> int:
    """Write the distance of each place to its nearest goal, and the next place on the way.

    Distances are infinite before, next places -1. Return how many places have a way; they are a
    list then, nearest buckets first: the first is ``buckets.heads[0]``.
    """
    clear(buckets)
    distances = ways.distances
    scale = 1.0 / (_WIDTH * lengths.straight)
    waiting = 0
    for k in range(len(goals)):
        goal = int(goals[k])
        if distances[goal] > 0.0:
            distances[goal] = 0.0
            put(buckets, goal, 0, 0)
            waiting += 1
    now, settled, first, last = 0, 0, -1, -1
    while waiting > 0:
        place = int(buckets.heads[now % SLOTS])
        if place < 0:
            now += 1
            continue
        take_out(buckets, place)
        turn = int(float(distances[place]) * scale)
        if turn > now:  # it was beyond the ring
            put(buckets, place, turn, now)
            continue
        waiting += _settle(places, lengths, ways, buckets, place, scale, now) - 1
        if last < 0:
            first = place
        else:
            buckets.after[last] = place
        buckets.after[place] = -1
        last = place
        settled += 1
    buckets.heads[0] = first
    return settled
