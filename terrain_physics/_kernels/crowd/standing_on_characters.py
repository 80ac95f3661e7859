"""Standing on characters: the top on which an agent above others lands, or from which it slides."""

import math

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.crowd.agents import (
    BASE_RISE,
    BOTTOM,
    DEPENETRATION_SPEED,
    FLOOR_CHARACTER,
    FLOOR_HEIGHT,
    FLOOR_HOLDS,
    IS_OFF_GROUND,
    IS_ON_CHARACTER,
    RADIUS,
    SECONDS_IN_AIR,
    SLIDE,
    SWEPT_BOTTOM,
    SWEPT_TOP,
    TOP,
    AgentGrid,
    X,
    Z,
    any_direction,
    distance2_of,
    is_above,
    is_over_top,
    list_near,
    should_collide,
)
from terrain_physics._kernels.tolerances import CROWD_SLOP, ON_TOP_MARGIN
from terrain_physics._kernels.types import Floats, Int64s, UInt64s

# Time in the air after which an agent gives up on the nearest side and crosses the crowd.
_PATIENCE = 0.5  # seconds

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@kernel
def find_characters_below(
    grid: AgentGrid, size: float, widest: float, seconds: float, holds: bool, words: UInt64s,
    first: int, last: int,
) -> None:  # fmt: skip
    """Write the height down to which agents first..last may fall: the top of the agent below.

    An agent that overlaps a top from above rises with it, and by the depenetration speed besides.
    Unless ``holds``, the displacement that slides it off is written too. The arguments are as of
    `list_pairs`.
    """
    agents, order = grid.rows, grid.order
    near, neighbors = np.empty(len(agents), dtype=np.int64), np.empty(len(agents), dtype=np.int64)
    for i in range(first, last):
        if agents[i, IS_OFF_GROUND] == 0.0 and not holds:
            continue
        search_radius = float(agents[i, RADIUS]) + widest
        count = 0
        for j in range(list_near(grid, size, i, search_radius, near)):
            if is_over_top(agents, i, near[j]) and should_collide(agents, i, near[j]):
                near[count] = near[j]
                count += 1
        if count == 0:
            continue
        below_it = _highest(agents, order, words, near, count)
        _put_floor(agents, order, i, below_it, seconds)
        if not holds and agents[i, BOTTOM] <= agents[below_it, SWEPT_TOP] + ON_TOP_MARGIN:
            nearest = _nearest(agents, order, words, i, near, count)
            x, z = _away(agents, i, nearest)
            is_free = count == 1 and _is_free_beside(
                grid, size, widest, i, nearest, x, z, neighbors
            )
            if (x == 0.0 and z == 0.0) or (not is_free and agents[i, SECONDS_IN_AIR] > _PATIENCE):
                x, z = _leaving_direction(words[order[i]], float(agents[i, SECONDS_IN_AIR]))
            far = DEPENETRATION_SPEED * seconds
            agents[i, SLIDE], agents[i, SLIDE + 1] = far * x, far * z


@kernel(no_refcount=True)
def _highest(agents: Floats, order: Int64s, words: UInt64s, candidates: Int64s, count: int) -> int:
    """Return the agent whose top gets highest; of equal ones, that of the least word."""
    best = candidates[0]
    for j in range(1, count):
        k = candidates[j]
        below, height = float(agents[k, SWEPT_TOP]), float(agents[best, SWEPT_TOP])
        if below > height or (below == height and words[order[k]] < words[order[best]]):
            best = k
    return int(best)


@kernel
def _put_floor(agents: Floats, order: Int64s, i: int, below_it: int, seconds: float) -> None:
    """Write the top below an agent, where its fall ends, unless it stands on ground as high."""
    low, height = float(agents[i, BOTTOM]), float(agents[below_it, SWEPT_TOP])
    if agents[i, IS_OFF_GROUND] == 0.0 and low >= height:
        return
    rise = max(float(height - agents[below_it, TOP] + agents[below_it, BASE_RISE]), 0.0)
    agents[i, FLOOR_HEIGHT] = min(height, low + rise + DEPENETRATION_SPEED * seconds)
    agents[i, SWEPT_BOTTOM] = max(float(agents[i, SWEPT_BOTTOM]), min(height, low))
    agents[i, FLOOR_CHARACTER] = float(order[below_it])
    agents[i, FLOOR_HOLDS] = (
        0.0 if agents[below_it, IS_OFF_GROUND] > agents[below_it, IS_ON_CHARACTER] else 1.0
    )


@kernel(no_refcount=True)
def _nearest(
    agents: Floats, order: Int64s, words: UInt64s, i: int, candidates: Int64s, count: int
) -> int:
    """Return the agent nearest as seen from above; of equal ones, that of the least word."""
    best = candidates[0]
    for j in range(1, count):
        k = candidates[j]
        here, least = distance2_of(agents, i, k), distance2_of(agents, i, best)
        if here < least or (here == least and words[order[k]] < words[order[best]]):
            best = k
    return int(best)


@kernel
def _away(agents: Floats, i: int, below: int) -> tuple[float, float]:
    """Return the unit direction off the nearest side of an agent below; zeros over its middle."""
    distance = math.sqrt(distance2_of(agents, i, below))
    if distance == 0.0:
        return 0.0, 0.0
    x = float(agents[i, X] - agents[below, X]) / distance
    return x, float(agents[i, Z] - agents[below, Z]) / distance


@kernel(no_refcount=True)
def _is_free_beside(
    grid: AgentGrid, size: float, widest: float, i: int, below: int, x: float, z: float,
    neighbors: Int64s,
) -> bool:  # fmt: skip
    """Tell whether agent i comes down free of others if it slides off the one below toward (x, z).

    ``neighbors`` (n,) is overwritten.
    """
    agents = grid.rows
    radius = float(agents[i, RADIUS])
    left = radius + float(agents[below, RADIUS]) - math.sqrt(distance2_of(agents, i, below))
    search_radius = left + radius + widest
    for j in range(list_near(grid, size, i, search_radius, neighbors)):
        k = neighbors[j]
        away_x = float(agents[k, X] - agents[i, X]) - left * x
        away_z = float(agents[k, Z] - agents[i, Z]) - left * z
        radii = radius + float(agents[k, RADIUS]) - CROWD_SLOP
        is_there = away_x * away_x + away_z * away_z < radii * radii
        if k != below and is_there and is_above(agents, i, k) and should_collide(agents, i, k):
            return False
    return True


@kernel
def _leaving_direction(word: np.uint64, in_air: float) -> tuple[float, float]:
    """Return the unit direction in which an agent leaves a crowd that it is on top of.

    A random word decides it. It changes after 1, 3, 7, 15 ... seconds, because a wall may block the
    way, in longer and longer intervals, because a crowd may be large.
    """
    turn, end = 1, 1.0
    while end <= in_air:
        turn, end = turn + 1, 2.0 * end + 1.0
    mixed = word ^ (np.uint64(turn) * _GOLDEN)
    x, z = any_direction(mixed)
    return (x, z) if mixed & np.uint64(1) else (-x, -z)
