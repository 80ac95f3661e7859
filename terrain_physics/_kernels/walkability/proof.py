"""Proofs of edges: whether a character that walks straight from a place comes to stand on another.

The cheapest proof comes first:

1. The ground around the way is open: it is walked both ways. See `sheet.py`.
2. The way is even: no wall and no riser meets a walk, there and back. See `even_ways.py`.

All other edges are in doubt, and so are those from and to places that are aside: a real character
walks them.
"""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._intrinsics import borrow, keep
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.scene import (
    Scene,
    borrow_memory,
    empty_scene,
    make_memory,
)
from terrain_physics._kernels.character.state.layout import MASK, SIMULTANEOUS
from terrain_physics._kernels.ground.table import GroundTable, ground_at
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.types import Floats, Int64s
from terrain_physics._kernels.walkability.even_ways import (
    StraightWalker,
    is_even_both_ways,
    walker_of,
)
from terrain_physics._kernels.walkability.layout import (
    DIRECTIONS,
    MOST_LEVELS,
    NO_EDGE,
    WALK,
    PlaceArrays,
    column_step,
    grid_point,
    is_aside,
    put_edge,
    row_step,
)

# Directions that lead forward, from columns of lower numbers, and pairs of levels at both ends.
_FORWARD, _PAIRS = DIRECTIONS // 2, MOST_LEVELS * MOST_LEVELS


class _Land(NamedTuple):
    """Places, the ground that they are on, and who walks there."""

    places: PlaceArrays
    walker: StraightWalker
    ground: GroundTable
    scene: Scene  # for the triangles along a way
    proves: bool
    known: Int64s  # (k,), k a power of two: ways that are known to be even or not: see `_ways_in`


@kernel(no_refcount=True)
def _neighbor(places: PlaceArrays, column: int, direction: int) -> int:
    """Return the column of the grid in a direction from another; -1: none."""
    row = column // places.columns + row_step(direction)
    on_row = column % places.columns + column_step(direction)
    if not (0 <= row < places.rows and 0 <= on_row < places.columns):
        return -1
    return row * places.columns + on_row


@kernel(no_refcount=True)
def _height(places: PlaceArrays, column: int, level: int) -> float:
    """Return the height at which a character rests; NaN: none."""
    if level >= places.levels:
        return np.nan
    return float(np.float64(places.heights[level * places.rows * places.columns + column]))


@kernel(no_refcount=True)
def _position(land: _Land, column: int, height: float) -> Vec3:
    """Return the position of a character that rests on a place."""
    x, z = grid_point(land.places, column)
    return (x, height, z)


@kernel(no_refcount=True)
def _is_aside(land: _Land, column: int, level: int) -> bool:
    """Tell whether a place is beside the point of the grid, from where nothing is proved."""
    return is_aside(land.places, level * land.places.rows * land.places.columns + column)


@kernel(noinline=True)
def _even_ways(land: _Land, column: int, direction: int) -> int:
    """Return which ways from a column forward are even: a bit for each two levels of its ends."""
    end, bits = _neighbor(land.places, column, direction), 0
    if end < 0:
        return 0
    for level in range(land.places.levels):
        height = _height(land.places, column, level)
        for other in range(land.places.levels):
            to = _height(land.places, end, other)
            if math.isnan(height) or math.isnan(to):
                continue
            if _is_aside(land, column, level) or _is_aside(land, end, other):
                continue
            start, stop = _position(land, column, height), _position(land, end, to)
            if is_even_both_ways(land.scene, land.walker, start, stop, land.ground):
                bits |= 1 << (MOST_LEVELS * level + other)
    return bits


@kernel(noinline=True)
def _ways_in(land: _Land, column: int, direction: int) -> int:
    """Return the bits of `_even_ways` for a direction, found from the end that it leads forward.

    They are kept with the number of the way in front, where another way may replace them.
    """
    start, forward = column, direction % _FORWARD
    if direction >= _FORWARD:
        start = _neighbor(land.places, column, direction)
    if start < 0 or not land.proves:
        return 0
    way = _FORWARD * start + forward
    slot = way & (len(land.known) - 1)
    kept = int(land.known[slot])
    if kept >> _PAIRS == way + 1:
        return kept & ((1 << _PAIRS) - 1)
    bits = _even_ways(land, start, forward)
    land.known[slot] = (way + 1) << _PAIRS | bits
    return bits


@kernel(no_refcount=True)
def _even_level(bits: int, level: int, is_forward: bool) -> int:
    """Return the level at the other end of an even way from a level; -1: there is none."""
    for other in range(MOST_LEVELS):
        shift = MOST_LEVELS * level + other if is_forward else MOST_LEVELS * other + level
        if bits >> shift & 1 != 0:
            return other
    return -1


@kernel(no_refcount=True)
def _has_place(places: PlaceArrays, column: int) -> bool:
    """Tell whether a character can rest anywhere above a column."""
    return not math.isnan(_height(places, column, 0))


@kernel(noinline=True)
def _put_edges_from(land: _Land, column: int, direction: int, doubts: Int64s, count: int) -> int:
    """Write the edges of a column in a direction; return how many doubts there are now."""
    places, bits = land.places, _ways_in(land, column, direction)
    end = _neighbor(places, column, direction)
    for level in range(places.levels):
        place, other = level * places.rows * places.columns + column, -1
        if end >= 0 and not math.isnan(_height(places, column, level)):
            other = _even_level(bits, level, direction < _FORWARD)
            if other < 0 and _has_place(places, end):
                doubts[count] = DIRECTIONS * place + direction
                count += 1
        put_edge(places, place, direction, WALK if other >= 0 else NO_EDGE, max(other, 0))
    return count


@kernel
def prove_edges(
    places: PlaceArrays, speed: float, seconds: float, table: Int64s, rules: Floats,
    numbers: Int64s, first: int, last: int, proves: bool, known: Int64s, doubts: Int64s,
) -> int:  # fmt: skip
    """Write the edges from columns of places numbers[first:last].

    Edges in doubt are written as none, and listed in ``doubts``: `DIRECTIONS` times place plus
    direction, from where all edges of the columns before the first would end. Returns how many
    there are; all, unless ``proves``. ``seconds`` are those of an update, ``rules`` is the row of
    rules of a character; ``known`` (k,), k a power of two, is zeros at first, and remembers which
    ways are even while the ground stays as it is. What is found for a column depends on no others.
    """
    memory, draws = make_memory(), np.zeros(1, dtype=np.uint64)
    known, doubts = borrow(known), borrow(doubts)
    walker, lent = walker_of(rules, speed, places.spacing, seconds), borrow_memory(memory)
    ground = ground_at(table, int(rules[MASK]), lent.part_shifts)
    scene = empty_scene(walker.body, SIMULTANEOUS, borrow(draws), lent)
    land = _Land(places, walker, ground, scene, proves and walker.is_known, known)
    begin = DIRECTIONS * places.levels * first
    count = begin
    for i in range(first, last):
        for direction in range(DIRECTIONS):
            count = _put_edges_from(land, int(numbers[i]), direction, doubts, count)
    keep(memory)
    keep(draws)
    return count - begin
