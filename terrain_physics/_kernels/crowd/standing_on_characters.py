"""Heads: what characters of a crowd fall on that are above others."""

import math

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.crowd.agents import (
    FALLS,
    FLOOR,
    FLOOR_HOLDS,
    HIGH,
    HIGHEST,
    IN_AIR,
    IS_ON_HEAD,
    LIFT,
    LOW,
    LOWEST,
    PARTING_SPEED,
    RADIUS,
    SLIDE,
    UNDER,
    X,
    Z,
    any_direction,
    distance2_of,
    is_above,
    is_over_head,
    list_near,
    meets,
)
from terrain_physics._kernels.tolerances import CROWD_SLOP, ON_TOP_MARGIN
from terrain_physics._kernels.types import Floats, Longs, Words

# For how long one is in the air and tries the nearest side, before it goes a long way.
_PATIENCE = 0.5  # seconds

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@kernel
def find_heads(
    discs: Floats,
    order: Longs,
    cells: Longs,
    starts: Longs,
    size: float,
    widest: float,
    seconds: float,
    holds: bool,
    words: Words,
    first: int,
    last: int,
) -> None:
    """Write how far discs first..last may fall that have others below them: onto their heads.

    Who has come into a head from above is lifted onto it as that rises, and no faster than others
    are parted besides. If heads do not ``holds``, it is also written where it slides off them. The
    arrays are as of `list_pairs`, ``words`` too.
    """
    near, around = np.empty(len(discs), dtype=np.int64), np.empty(len(discs), dtype=np.int64)
    for i in range(first, last):
        if discs[i, FALLS] == 0.0 and not holds:
            continue
        reach = float(discs[i, RADIUS]) + widest
        count = 0
        for j in range(list_near(discs, cells, starts, size, i, reach, near)):
            if is_over_head(discs, i, near[j]) and meets(discs, i, near[j]):
                near[count] = near[j]
                count += 1
        if count == 0:
            continue
        under = _highest(discs, order, words, near, count)
        _put_floor(discs, order, i, under, seconds)
        if not holds and discs[i, LOW] <= discs[under, HIGHEST] + ON_TOP_MARGIN:
            nearest = _nearest(discs, order, words, i, near, count)
            x, z = _away(discs, i, nearest)
            is_free = count == 1 and _is_free_beside(
                discs, cells, starts, size, widest, i, nearest, x, z, around
            )
            if (x == 0.0 and z == 0.0) or (not is_free and discs[i, IN_AIR] > _PATIENCE):
                x, z = _long_way(words[order[i]], float(discs[i, IN_AIR]))
            far = PARTING_SPEED * seconds
            discs[i, SLIDE], discs[i, SLIDE + 1] = far * x, far * z


@kernel
def _highest(discs: Floats, order: Longs, words: Words, heads: Longs, count: int) -> int:
    """Return whose of some heads gets highest; of several that do, the one of the least word."""
    best = heads[0]
    for j in range(1, count):
        k = heads[j]
        head, height = float(discs[k, HIGHEST]), float(discs[best, HIGHEST])
        if head > height or (head == height and words[order[k]] < words[order[best]]):
            best = k
    return int(best)


@kernel
def _put_floor(discs: Floats, order: Longs, i: int, under: int, seconds: float) -> None:
    """Write that a character falls onto a head at most, unless it stands beside it and as high."""
    low, height = float(discs[i, LOW]), float(discs[under, HIGHEST])
    if discs[i, FALLS] == 0.0 and low >= height:
        return
    rise = max(float(height - discs[under, HIGH] + discs[under, LIFT]), 0.0)
    discs[i, FLOOR] = min(height, low + rise + PARTING_SPEED * seconds)
    discs[i, LOWEST] = max(float(discs[i, LOWEST]), min(height, low))
    discs[i, UNDER] = float(order[under])
    discs[i, FLOOR_HOLDS] = 0.0 if discs[under, FALLS] > discs[under, IS_ON_HEAD] else 1.0


@kernel
def _nearest(discs: Floats, order: Longs, words: Words, i: int, heads: Longs, count: int) -> int:
    """Return whose head is nearest as seen from above; of equally near ones, the least word's."""
    best = heads[0]
    for j in range(1, count):
        k = heads[j]
        here, least = distance2_of(discs, i, k), distance2_of(discs, i, best)
        if here < least or (here == least and words[order[k]] < words[order[best]]):
            best = k
    return int(best)


@kernel
def _away(discs: Floats, i: int, head: int) -> tuple[float, float]:
    """Return the unit direction to the nearest side of a head; zeros exactly over its middle."""
    distance = math.sqrt(distance2_of(discs, i, head))
    if distance == 0.0:
        return 0.0, 0.0
    x = float(discs[i, X] - discs[head, X]) / distance
    return x, float(discs[i, Z] - discs[head, Z]) / distance


@kernel
def _is_free_beside(
    discs: Floats,
    cells: Longs,
    starts: Longs,
    size: float,
    widest: float,
    i: int,
    head: int,
    x: float,
    z: float,
    around: Longs,
) -> bool:
    """Tell whether no other head is below a character once it is off one in a direction.

    ``around`` (n,) is written to.
    """
    radius = float(discs[i, RADIUS])
    left = radius + float(discs[head, RADIUS]) - math.sqrt(distance2_of(discs, i, head))
    reach = left + radius + widest
    for j in range(list_near(discs, cells, starts, size, i, reach, around)):
        k = around[j]
        away_x = float(discs[k, X] - discs[i, X]) - left * x
        away_z = float(discs[k, Z] - discs[i, Z]) - left * z
        radii = radius + float(discs[k, RADIUS]) - CROWD_SLOP
        is_there = away_x * away_x + away_z * away_z < radii * radii
        if k != head and is_there and is_above(discs, i, k) and meets(discs, i, k):
            return False
    return True


@kernel
def _long_way(word: np.uint64, in_air: float) -> tuple[float, float]:
    """Return the unit direction in which a character leaves a crowd over its heads.

    It follows from a word, and is another one after 1, 3, 7, 15 ... seconds: a wall may be in the
    way, and a crowd may be large.
    """
    turn, end = 1, 1.0
    while end <= in_air:
        turn, end = turn + 1, 2.0 * end + 1.0
    mixed = word ^ (np.uint64(turn) * _GOLDEN)
    x, z = any_direction(mixed)
    return (x, z) if mixed & np.uint64(1) else (-x, -z)
