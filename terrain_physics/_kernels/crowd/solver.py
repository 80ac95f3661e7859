"""How the characters of a crowd push each other along: all go as near to their wants as they can.

The ways that are wanted go to the nearest ways that keep all apart and nobody in a wall, by mass:
the model of Maury and Venel (A discrete contact model for crowd motion, 2011). Pushes between two
are found in rounds in which all move at once, after Nesterov's accelerated gradients (as Mazhar et
al. do it for rigid bodies, 2015), with a step for each pair that its surroundings allow. Who goes
the same way as one behind it is hardly pushed by that one, though, which is none of the model.
"""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.state.layout import MOST_WALLS
from terrain_physics._kernels.crowd.agents import (
    ACROSS,
    EASE,
    GAP,
    LEFT,
    OTHER_YIELDS,
    OWN_WAY,
    PUSH,
    REACH,
    RIDE,
    SHARE,
    STIFFNESS,
    TAKEN_PUSH,
    WALL,
    WALL_GAP,
    WALL_PUSH,
    WANT,
    YIELDS,
    common_ride,
    share,
    travel,
)
from terrain_physics._kernels.tolerances import CROWD_DISTANCE
from terrain_physics._kernels.types import Floats, Longs

# How many times pushes are handed on in an update: so many characters in a row one can push.
_ROUNDS = 32


@kernel(inline=True)
def _may_push(discs: Floats, i: int, k: int, pair: Floats) -> bool:
    """Tell whether two may push each other in an update."""
    wanted = discs[i, WANT + 2] + discs[k, WANT + 2]
    return bool(pair[GAP] <= wanted + CROWD_DISTANCE and pair[YIELDS] + pair[OTHER_YIELDS] > 0.0)


@kernel(inline=True)
def _way_together(discs: Floats, i: int, k: int, pair: Floats) -> float:
    """Return how far two would go along the line between them after a collision without a bounce.

    That is beside what carries both. Who follows keeps that gap: it never goes where the other one
    was not gone before the update.
    """
    x, z, own = float(pair[ACROSS]), float(pair[ACROSS + 1]), float(pair[SHARE])
    ride = common_ride(discs, i, k, x, z)
    first = discs[i, WANT] * x + discs[i, WANT + 1] * z - ride
    second = discs[k, WANT] * x + discs[k, WANT + 1] * z - ride
    return abs(float(own * first + share(discs, k, i) * second))


@kernel
def _find_stiffness(
    discs: Floats, counts: Longs, others: Longs, pairs: Floats, ways: Floats, next_ways: Floats
) -> float:
    """Write who may push each disc, and how many hold it, by direction.

    That is the largest eigenvalue of the sum of n n^T over all who do, and walls. All go as they
    want at first, and those whom nothing holds to the end. Returns the longest of these ways.
    """
    longest = 0.0
    for i in range(len(discs)):
        xx, xz, zz = 0.0, 0.0, 0.0
        for j in range(counts[i]):
            pair = pairs[i, j]
            pair[PUSH], pair[TAKEN_PUSH], pair[EASE] = 0.0, 0.0, 0.0
            if _may_push(discs, i, others[i, j], pair):
                pair[EASE] = 1.0
                if pair[LEFT] > 0.0:
                    together = _way_together(discs, i, others[i, j], pair)
                    pair[LEFT] = max(pair[LEFT] - together, 0.0)
                x, z = float(pair[ACROSS]), float(pair[ACROSS + 1])
                xx, xz, zz = xx + x * x, xz + x * z, zz + z * z
        alone = xx + zz == 0.0  # then walls see to themselves
        for w in range(MOST_WALLS):
            if alone:
                discs[i, WALL + 2 * w], discs[i, WALL + 2 * w + 1] = 0.0, 0.0
            x, z = float(discs[i, WALL + 2 * w]), float(discs[i, WALL + 2 * w + 1])
            xx, xz, zz = xx + x * x, xz + x * z, zz + z * z
            discs[i, WALL_PUSH + 2 * w], discs[i, WALL_PUSH + 2 * w + 1] = 0.0, 0.0
        half = 0.5 * (xx - zz)
        discs[i, STIFFNESS] = 0.5 * (xx + zz) + math.sqrt(half * half + xz * xz)
        ways[i, 0], ways[i, 1] = discs[i, WANT], discs[i, WANT + 1]
        next_ways[i, 0], next_ways[i, 1] = discs[i, WANT], discs[i, WANT + 1]
        longest = max(longest, float(discs[i, WANT + 2]))
    return longest


@kernel
def _find_ease(discs: Floats, counts: Longs, others: Longs, pairs: Floats) -> None:
    """Write how hard each pair pushes for each meter."""
    for i in range(len(discs)):
        for j in range(counts[i]):
            pair = pairs[i, j]
            if pair[EASE] != 0.0:
                own = pair[YIELDS] * discs[i, STIFFNESS]
                pair[EASE] = 1.0 / (own + pair[OTHER_YIELDS] * discs[others[i, j], STIFFNESS])


@kernel(inline=True)
def _taken(push: float, before: float, ahead: float) -> float:
    """Return how hard a push is taken to be, of which two rounds are known."""
    return max(push + ahead * (push - before), 0.0)


@kernel
def _push_on(
    discs: Floats,
    counts: Longs,
    others: Longs,
    pairs: Floats,
    ways: Floats,
    next_ways: Floats,
    ahead: float,
) -> float:
    """Write the next ways of all that are held, after the ways of all; return the longest.

    Pushes are taken to go on as they changed, ``ahead`` times.
    """
    longest = 0.0
    for i in range(len(discs)):
        if discs[i, STIFFNESS] == 0.0:
            continue
        x, z = float(ways[i, 0]), float(ways[i, 1])
        to_x, to_z = float(discs[i, WANT]), float(discs[i, WANT + 1])
        for j in range(counts[i]):
            pair = pairs[i, j]
            if pair[EASE] == 0.0:
                continue
            k, nx, nz = others[i, j], float(pair[ACROSS]), float(pair[ACROSS + 1])
            left = float(pair[LEFT] + ((ways[k, 0] - x) * nx + (ways[k, 1] - z) * nz))
            push = max(float(pair[TAKEN_PUSH] - left * pair[EASE]), 0.0)
            taken = _taken(push, float(pair[PUSH]), ahead)
            pair[PUSH], pair[TAKEN_PUSH] = push, taken
            to_x, to_z = to_x - pair[YIELDS] * taken * nx, to_z - pair[YIELDS] * taken * nz
        for w in range(MOST_WALLS):
            nx, nz = float(discs[i, WALL + 2 * w]), float(discs[i, WALL + 2 * w + 1])
            if nx == 0.0 and nz == 0.0:
                continue
            at = WALL_PUSH + 2 * w
            along = (x - discs[i, RIDE]) * nx + (z - discs[i, RIDE + 1]) * nz
            left = float(discs[i, WALL_GAP + w] + along)
            push = max(float(discs[i, at + 1] - left / discs[i, STIFFNESS]), 0.0)
            taken = _taken(push, float(discs[i, at]), ahead)
            discs[i, at], discs[i, at + 1] = push, taken
            to_x, to_z = to_x + taken * nx, to_z + taken * nz
        next_ways[i, 0], next_ways[i, 1] = to_x, to_z
        longest = max(longest, travel(next_ways[i], 0))
    return longest


@kernel(inline=True)
def may_be_pushed(counts: Longs, pairs: Floats, i: int) -> bool:
    """Tell whether any other is near enough to push a character, after `push_each_other`."""
    for j in range(counts[i]):
        if pairs[i, j, EASE] != 0.0:
            return True
    return False


@kernel
def push_each_other(
    discs: Floats, counts: Longs, others: Longs, pairs: Floats, ways: Floats, next_ways: Floats
) -> float:
    """Write the ways (n, 2) that all go, and how far each gets; return the longest.

    Arrays are as of `list_pairs`, after `find_wants`; ``next_ways`` (n, 2) is working memory. The
    rounds are the same for everyone: a crowd far away changes no bit here.
    """
    longest = _find_stiffness(discs, counts, others, pairs, ways, next_ways)
    _find_ease(discs, counts, others, pairs)
    known = (discs, counts, others, pairs)
    for i in range(0, _ROUNDS, 2):
        _push_on(*known, ways, next_ways, i / (i + 3.0))
        ahead = (i + 1.0) / (i + 4.0) if i + 2 < _ROUNDS else 0.0
        longest = max(longest, _push_on(*known, next_ways, ways, ahead))
    for i in range(len(discs)):
        discs[i, REACH] = max(travel(discs[i], OWN_WAY), travel(ways[i], 0))
    return longest
