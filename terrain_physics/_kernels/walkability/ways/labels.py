"""Strongly connected parts of a map, and all places that one leads to."""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.types import Bools, Bytes, Int32s
from terrain_physics._kernels.walkability.layout import (
    DIRECTIONS,
    NO_EDGE,
    PlaceArrays,
    end_of,
    kind_of,
)

_IS_ROOT = 16  # a bit of ``progress``, above the number of a direction


@kernel(inline=True, no_refcount=True)
def _next_unvisited(places: PlaceArrays, ranks: Int32s, progress: Bytes, place: int) -> int:
    """Go on with the edges of a place; return the first end that is new, or -1 after the last."""
    rank, state = int(ranks[place]), int(progress[place])
    direction, is_root = state % _IS_ROOT, state >= _IS_ROOT
    found = -1
    while direction < DIRECTIONS and found < 0:
        if kind_of(places, place, direction) != NO_EDGE:
            end = end_of(places, place, direction)
            if ranks[end] == 0:
                found = end
                break  # it is looked at once more when its own edges are done
            if ranks[end] < rank:
                rank, is_root = int(ranks[end]), False
        direction += 1
    ranks[place] = rank
    progress[place] = direction + (_IS_ROOT if is_root else 0)
    return found


@kernel(inline=True, no_refcount=True)
def _visit(
    places: PlaceArrays,
    first: int,
    ranks: Int32s,
    progress: Bytes,
    stack: Int32s,
    rank: int,
    part: int,
    kept: int,
) -> tuple[int, int, int]:
    """Visit all that a place leads to and that is new; return the next rank, part and ``kept``.

    Ranks of visits grow from 1, those of finished parts fall from the number of places: so one
    comparison tells an end of an unfinished part from others. ``stack`` holds the way to the place
    that is visited from its start, and from its end visited places of parts that are unfinished.
    """
    on_way = 1
    stack[0], ranks[first], progress[first] = first, rank, _IS_ROOT
    rank += 1
    while on_way > 0:
        place = int(stack[on_way - 1])
        end = _next_unvisited(places, ranks, progress, place)
        if end >= 0:
            stack[on_way], ranks[end], progress[end] = end, rank, _IS_ROOT
            on_way += 1
            rank += 1
            continue
        on_way -= 1
        if progress[place] < _IS_ROOT:
            kept -= 1
            stack[kept] = place
            continue
        rank -= 1
        while kept < len(stack) and ranks[place] <= ranks[stack[kept]]:
            ranks[stack[kept]] = part
            kept += 1
            rank -= 1
        ranks[place] = part
        part -= 1
    return rank, part, kept


@kernel(no_refcount=True)
def put_labels(places: PlaceArrays, labels: Int32s, progress: Bytes, stack: Int32s) -> int:
    """Write the number of each place's strongly connected part; return how many parts there are.

    Parts are numbered from 1 by their first places; 0 where nothing can stand. After Pearce, "A
    space-efficient algorithm for finding strongly connected components", 2016. ``labels`` (n,) are
    0 before; ``progress`` (n,) and ``stack`` (n,) are working memory.
    """
    count = len(labels)
    rank, part, kept = 1, count, count
    for place in range(count):
        if not math.isnan(places.heights[place]) and labels[place] == 0:
            rank, part, kept = _visit(places, place, labels, progress, stack, rank, part, kept)
    for k in range(count):
        stack[k] = 0
    parts = 0
    for place in range(count):
        found = int(labels[place])
        if found > 0:
            if stack[found - 1] == 0:
                parts += 1
                stack[found - 1] = parts
            labels[place] = stack[found - 1]
    return parts


@kernel(no_refcount=True)
def put_reachable(places: PlaceArrays, start: int, reached: Bools, stack: Int32s) -> None:
    """Write which places (n,) one leads to, itself among them; ``reached`` are False before."""
    stack[0], reached[start], waiting = start, True, 1
    while waiting > 0:
        waiting -= 1
        place = int(stack[waiting])
        for direction in range(DIRECTIONS):
            if kind_of(places, place, direction) != NO_EDGE:
                end = end_of(places, place, direction)
                if not reached[end]:
                    reached[end] = True
                    stack[waiting] = end
                    waiting += 1
