"""Heads: what characters of a crowd fall on that are above others."""

import math

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.crowd.agents import (
    CARRIED_UP,
    FALLS,
    FLOOR,
    FLOOR_HOLDS,
    HIGH,
    HIGHEST,
    IN_AIR,
    IS_ON_CHARACTER,
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
    is_over_top,
    list_near,
    meets,
)
from terrain_physics._kernels.tolerances import CROWD_SLOP, ON_TOP_MARGIN
from terrain_physics._kernels.types import Floats, Int64s, UInt64s

# For how long one is in the air and tries the nearest side, before it goes a long way.
_PATIENCE = 0.5  # seconds

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@kernel
def find_characters_below(
    agents: Floats,
    order: Int64s,
    cells: Int64s,
    starts: Int64s,
    size: float,
    widest: float,
    seconds: float,
    holds: bool,
    words: UInt64s,
    first: int,
    last: int,
) -> None:
    """Write how far discs first..last may fall that have others below them: onto their heads.

    Who has come into a head from above is lifted onto it as that rises, and no faster than others
    are parted besides. If heads do not ``holds``, it is also written where it slides off them. The
    arrays are as of `list_pairs`, ``words`` too.
    """
    near, around = np.empty(len(agents), dtype=np.int64), np.empty(len(agents), dtype=np.int64)
    for i in range(first, last):
        if agents[i, FALLS] == 0.0 and not holds:
            continue
        search_radius = float(agents[i, RADIUS]) + widest
        count = 0
        for j in range(list_near(agents, cells, starts, size, i, search_radius, near)):
            if is_over_top(agents, i, near[j]) and meets(agents, i, near[j]):
                near[count] = near[j]
                count += 1
        if count == 0:
            continue
        under = _highest(agents, order, words, near, count)
        _put_floor(agents, order, i, under, seconds)
        if not holds and agents[i, LOW] <= agents[under, HIGHEST] + ON_TOP_MARGIN:
            nearest = _nearest(agents, order, words, i, near, count)
            x, z = _away(agents, i, nearest)
            is_free = count == 1 and _is_free_beside(
                agents, cells, starts, size, widest, i, nearest, x, z, around
            )
            if (x == 0.0 and z == 0.0) or (not is_free and agents[i, IN_AIR] > _PATIENCE):
                x, z = _long_displacement(words[order[i]], float(agents[i, IN_AIR]))
            far = PARTING_SPEED * seconds
            agents[i, SLIDE], agents[i, SLIDE + 1] = far * x, far * z


@kernel
def _highest(agents: Floats, order: Int64s, words: UInt64s, heads: Int64s, count: int) -> int:
    """Return whose of some heads gets highest; of several that do, the one of the least word."""
    best = heads[0]
    for j in range(1, count):
        k = heads[j]
        below, height = float(agents[k, HIGHEST]), float(agents[best, HIGHEST])
        if below > height or (below == height and words[order[k]] < words[order[best]]):
            best = k
    return int(best)


@kernel
def _put_floor(agents: Floats, order: Int64s, i: int, under: int, seconds: float) -> None:
    """Write that a character falls onto a head at most, unless it stands beside it and as high."""
    low, height = float(agents[i, LOW]), float(agents[under, HIGHEST])
    if agents[i, FALLS] == 0.0 and low >= height:
        return
    rise = max(float(height - agents[under, HIGH] + agents[under, CARRIED_UP]), 0.0)
    agents[i, FLOOR] = min(height, low + rise + PARTING_SPEED * seconds)
    agents[i, LOWEST] = max(float(agents[i, LOWEST]), min(height, low))
    agents[i, UNDER] = float(order[under])
    agents[i, FLOOR_HOLDS] = 0.0 if agents[under, FALLS] > agents[under, IS_ON_CHARACTER] else 1.0


@kernel
def _nearest(
    agents: Floats, order: Int64s, words: UInt64s, i: int, heads: Int64s, count: int
) -> int:
    """Return whose head is nearest as seen from above; of equally near ones, the least word's."""
    best = heads[0]
    for j in range(1, count):
        k = heads[j]
        here, least = distance2_of(agents, i, k), distance2_of(agents, i, best)
        if here < least or (here == least and words[order[k]] < words[order[best]]):
            best = k
    return int(best)


@kernel
def _away(agents: Floats, i: int, below: int) -> tuple[float, float]:
    """Return the unit direction to the nearest side of a head; zeros exactly over its middle."""
    distance = math.sqrt(distance2_of(agents, i, below))
    if distance == 0.0:
        return 0.0, 0.0
    x = float(agents[i, X] - agents[below, X]) / distance
    return x, float(agents[i, Z] - agents[below, Z]) / distance


@kernel
def _is_free_beside(
    agents: Floats,
    cells: Int64s,
    starts: Int64s,
    size: float,
    widest: float,
    i: int,
    below: int,
    x: float,
    z: float,
    around: Int64s,
) -> bool:
    """Tell whether no other head is below a character once it is off one in a direction.

    ``around`` (n,) is written to.
    """
    radius = float(agents[i, RADIUS])
    left = radius + float(agents[below, RADIUS]) - math.sqrt(distance2_of(agents, i, below))
    search_radius = left + radius + widest
    for j in range(list_near(agents, cells, starts, size, i, search_radius, around)):
        k = around[j]
        away_x = float(agents[k, X] - agents[i, X]) - left * x
        away_z = float(agents[k, Z] - agents[i, Z]) - left * z
        radii = radius + float(agents[k, RADIUS]) - CROWD_SLOP
        is_there = away_x * away_x + away_z * away_z < radii * radii
        if k != below and is_there and is_above(agents, i, k) and meets(agents, i, k):
            return False
    return True


@kernel
def _long_displacement(word: np.uint64, in_air: float) -> tuple[float, float]:
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
