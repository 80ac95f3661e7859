"""Settling: a body that lies on steep ground is let go, and slides to where it stands.

A round body on a tread that is narrower than itself lies on a nosing that is too steep, slips, and
comes to stand between two nosings. Such places are beside the points of the grid.
"""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.state.layout import (
    GROUNDED,
    POSITION,
    STATE_SIZE,
    three_at,
    unpack_body,
)
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.surface.shapes import BOX
from terrain_physics._kernels.types import Floats, Int64s, UInt64s
from terrain_physics._kernels.walkability.layout import PlaceArrays, grid_point

# X of the aside of a place that is on the point of the grid after all: less than all rounding.
_ON_THE_POINT = np.float32(1e-30)

_GOES_ON, _STANDS, _IS_OFF = range(3)


class Settlers(NamedTuple):
    """Bodies that are let go: the first of k slots slide, the others are done."""

    states: Floats  # (k * STATE_SIZE,)
    draws: UInt64s  # (k,)
    numbers: Int64s  # (k,): which body is in a slot
    last: Floats  # (k, 3): their positions before the last update
    starts: Floats  # (k, 3): by their numbers: where they were let go
    found: Floats  # (k, 3): and where they stand


@kernel(inline=True)
def _verdict(
    position: Vec3, start: Vec3, last: Vec3, grounded: bool, farthest: float, deepest: float
) -> int:
    """Tell whether a body stands, slides on, or is too far from where it was let go."""
    x, z = position[0] - start[0], position[2] - start[2]
    if x * x + z * z > farthest * farthest or start[1] - position[1] > deepest:
        return _IS_OFF
    return _STANDS if grounded and position == last else _GOES_ON


@kernel(no_refcount=True)
def watch_settlers(settlers: Settlers, farthest: float, deepest: float, sliding: int) -> int:
    """Note which bodies have come to stand in an update; return how many of the first slide on.

    Those that are farther on the level than ``farthest`` from where they were let go, or deeper
    than ``deepest`` below, come to stand nowhere.
    """
    slot = 0
    while slot < sliding:
        number, place = int(settlers.numbers[slot]), slot * STATE_SIZE
        position = three_at(settlers.states, place + POSITION)
        start, last = three_at(settlers.starts[number], 0), three_at(settlers.last[slot], 0)
        grounded = settlers.states[place + GROUNDED] != 0.0
        verdict = _verdict(position, start, last, grounded, farthest, deepest)
        if verdict == _STANDS:
            for k in range(3):
                settlers.found[number, k] = position[k]
        if verdict == _GOES_ON:
            for k in range(3):
                settlers.last[slot, k] = position[k]
            slot += 1
        else:
            sliding -= 1
            _move(settlers, sliding, slot)
    return sliding


@kernel(inline=True, no_refcount=True)
def _move(settlers: Settlers, source: int, target: int) -> None:
    """Move a body to another slot, or the same."""
    settlers.numbers[target] = settlers.numbers[source]
    settlers.draws[target] = settlers.draws[source]
    for k in range(3):
        settlers.last[target, k] = settlers.last[source, k]
    for k in range(STATE_SIZE):
        settlers.states[target * STATE_SIZE + k] = settlers.states[source * STATE_SIZE + k]


@kernel(no_refcount=True)
def put_settled(places: PlaceArrays, numbers: Int64s, found: Floats, rules: Floats) -> None:
    """Write the places (n, 3) where bodies have come to stand that were let go above columns (n,).

    NaN: nowhere. ``rules`` is their row of rules. A place where a body would overlap one on another
    place of the column is the same again, and left out. Others get a level between those there, if
    one is left.
    """
    body = unpack_body(rules)
    tall = 2.0 * body.half_extents[1]
    for i in range(len(numbers)):
        column = int(numbers[i])
        level = _level_for(places, column, float(found[i, 1]), tall)
        if level >= 0:
            place = level * places.rows * places.columns + column
            x, z = grid_point(places, column)
            places.heights[place] = np.float32(found[i, 1])
            places.asides[place, 0] = np.float32(found[i, 0] - x)
            places.asides[place, 1] = np.float32(found[i, 2] - z)
            is_on_point = places.asides[place, 0] == 0.0 and places.asides[place, 1] == 0.0
            if is_on_point and body.kind != BOX:  # a box that keeps its balance stands as any other
                places.asides[place, 0] = _ON_THE_POINT


@kernel(no_refcount=True)
def _level_for(places: PlaceArrays, column: int, height: float, tall: float) -> int:
    """Return an empty level for a height, and raise those above it; -1: there is none."""
    size, level, last = places.rows * places.columns, 0, places.levels - 1
    if math.isnan(height) or not math.isnan(places.heights[last * size + column]):
        return -1
    for other in range(last):
        there = float(np.float64(places.heights[other * size + column]))
        if abs(there - height) < tall:
            return -1
        level += 1 if there < height else 0
    for other in range(last, level, -1):
        to, source = other * size + column, (other - 1) * size + column
        places.heights[to] = places.heights[source]
        places.asides[to, 0] = places.asides[source, 0]
        places.asides[to, 1] = places.asides[source, 1]
    return level
