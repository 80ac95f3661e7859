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
    CARRIED,
    EASE,
    GAP,
    IMPULSE,
    LEFT,
    OTHER_YIELDS,
    OWN_DISPLACEMENT,
    PREFERRED,
    SHARE,
    STIFFNESS,
    TAKEN_IMPULSE,
    TRAVEL,
    WALL,
    WALL_GAP,
    WALL_IMPULSE,
    YIELDS,
    common_carry,
    share,
    travel,
)
from terrain_physics._kernels.tolerances import CROWD_DISTANCE
from terrain_physics._kernels.types import Floats, Int64s

# How many times pushes are handed on in an update: so many characters in a row one can push.
_ROUNDS = 32


@kernel(inline=True)
def _may_collide(agents: Floats, i: int, k: int, pair: Floats) -> bool:
    """Tell whether two may push each other in an update."""
    wanted = agents[i, PREFERRED + 2] + agents[k, PREFERRED + 2]
    return bool(pair[GAP] <= wanted + CROWD_DISTANCE and pair[YIELDS] + pair[OTHER_YIELDS] > 0.0)


@kernel(inline=True)
def _displacement_together(agents: Floats, i: int, k: int, pair: Floats) -> float:
    """Return how far two would go along the line between them after a collision without a bounce.

    That is beside what carries both. Who follows keeps that gap: it never goes where the other one
    was not gone before the update.
    """
    x, z, own = float(pair[ACROSS]), float(pair[ACROSS + 1]), float(pair[SHARE])
    carried = common_carry(agents, i, k, x, z)
    first = agents[i, PREFERRED] * x + agents[i, PREFERRED + 1] * z - carried
    second = agents[k, PREFERRED] * x + agents[k, PREFERRED + 1] * z - carried
    return abs(float(own * first + share(agents, k, i) * second))


@kernel
def _find_stiffness(
    agents: Floats,
    counts: Int64s,
    others: Int64s,
    pairs: Floats,
    displacements: Floats,
    next_displacements: Floats,
) -> float:
    """Write who may push each disc, and how many hold it, by direction.

    That is the largest eigenvalue of the sum of n n^T over all who do, and walls. All go as they
    want at first, and those whom nothing holds to the end. Returns the longest of these ways.
    """
    longest = 0.0
    for i in range(len(agents)):
        xx, xz, zz = 0.0, 0.0, 0.0
        for j in range(counts[i]):
            pair = pairs[i, j]
            pair[IMPULSE], pair[TAKEN_IMPULSE], pair[EASE] = 0.0, 0.0, 0.0
            if _may_collide(agents, i, others[i, j], pair):
                pair[EASE] = 1.0
                if pair[LEFT] > 0.0:
                    together = _displacement_together(agents, i, others[i, j], pair)
                    pair[LEFT] = max(pair[LEFT] - together, 0.0)
                x, z = float(pair[ACROSS]), float(pair[ACROSS + 1])
                xx, xz, zz = xx + x * x, xz + x * z, zz + z * z
        alone = xx + zz == 0.0  # then walls see to themselves
        for w in range(MOST_WALLS):
            if alone:
                agents[i, WALL + 2 * w], agents[i, WALL + 2 * w + 1] = 0.0, 0.0
            x, z = float(agents[i, WALL + 2 * w]), float(agents[i, WALL + 2 * w + 1])
            xx, xz, zz = xx + x * x, xz + x * z, zz + z * z
            agents[i, WALL_IMPULSE + 2 * w], agents[i, WALL_IMPULSE + 2 * w + 1] = 0.0, 0.0
        half = 0.5 * (xx - zz)
        agents[i, STIFFNESS] = 0.5 * (xx + zz) + math.sqrt(half * half + xz * xz)
        displacements[i, 0], displacements[i, 1] = agents[i, PREFERRED], agents[i, PREFERRED + 1]
        next_displacements[i, 0], next_displacements[i, 1] = (
            agents[i, PREFERRED],
            agents[i, PREFERRED + 1],
        )
        longest = max(longest, float(agents[i, PREFERRED + 2]))
    return longest


@kernel
def _find_ease(agents: Floats, counts: Int64s, others: Int64s, pairs: Floats) -> None:
    """Write how hard each pair pushes for each meter."""
    for i in range(len(agents)):
        for j in range(counts[i]):
            pair = pairs[i, j]
            if pair[EASE] != 0.0:
                own = pair[YIELDS] * agents[i, STIFFNESS]
                pair[EASE] = 1.0 / (own + pair[OTHER_YIELDS] * agents[others[i, j], STIFFNESS])


@kernel(inline=True)
def _taken(push: float, before: float, ahead: float) -> float:
    """Return how hard a push is taken to be, of which two rounds are known."""
    return max(push + ahead * (push - before), 0.0)


@kernel
def _pass_on(
    agents: Floats,
    counts: Int64s,
    others: Int64s,
    pairs: Floats,
    displacements: Floats,
    next_displacements: Floats,
    ahead: float,
) -> float:
    """Write the next ways of all that are held, after the ways of all; return the longest.

    Pushes are taken to go on as they changed, ``ahead`` times.
    """
    longest = 0.0
    for i in range(len(agents)):
        if agents[i, STIFFNESS] == 0.0:
            continue
        x, z = float(displacements[i, 0]), float(displacements[i, 1])
        to_x, to_z = float(agents[i, PREFERRED]), float(agents[i, PREFERRED + 1])
        for j in range(counts[i]):
            pair = pairs[i, j]
            if pair[EASE] == 0.0:
                continue
            k, nx, nz = others[i, j], float(pair[ACROSS]), float(pair[ACROSS + 1])
            left = float(
                pair[LEFT] + ((displacements[k, 0] - x) * nx + (displacements[k, 1] - z) * nz)
            )
            push = max(float(pair[TAKEN_IMPULSE] - left * pair[EASE]), 0.0)
            taken = _taken(push, float(pair[IMPULSE]), ahead)
            pair[IMPULSE], pair[TAKEN_IMPULSE] = push, taken
            to_x, to_z = to_x - pair[YIELDS] * taken * nx, to_z - pair[YIELDS] * taken * nz
        for w in range(MOST_WALLS):
            nx, nz = float(agents[i, WALL + 2 * w]), float(agents[i, WALL + 2 * w + 1])
            if nx == 0.0 and nz == 0.0:
                continue
            at = WALL_IMPULSE + 2 * w
            along = (x - agents[i, CARRIED]) * nx + (z - agents[i, CARRIED + 1]) * nz
            left = float(agents[i, WALL_GAP + w] + along)
            push = max(float(agents[i, at + 1] - left / agents[i, STIFFNESS]), 0.0)
            taken = _taken(push, float(agents[i, at]), ahead)
            agents[i, at], agents[i, at + 1] = push, taken
            to_x, to_z = to_x + taken * nx, to_z + taken * nz
        next_displacements[i, 0], next_displacements[i, 1] = to_x, to_z
        longest = max(longest, travel(next_displacements[i], 0))
    return longest


@kernel(inline=True)
def may_be_pushed(counts: Int64s, pairs: Floats, i: int) -> bool:
    """Tell whether any other is near enough to push a character, after `solve_contact_impulses`."""
    for j in range(counts[i]):
        if pairs[i, j, EASE] != 0.0:
            return True
    return False


@kernel
def solve_contact_impulses(
    agents: Floats,
    counts: Int64s,
    others: Int64s,
    pairs: Floats,
    displacements: Floats,
    next_displacements: Floats,
) -> float:
    """Write the ways (n, 2) that all go, and how far each gets; return the longest.

    Arrays are as of `list_pairs`, after `find_preferred_velocities`; ``next_displacements`` (n, 2) is working memory. The
    rounds are the same for everyone: a crowd far away changes no bit here.
    """
    longest = _find_stiffness(agents, counts, others, pairs, displacements, next_displacements)
    _find_ease(agents, counts, others, pairs)
    known = (agents, counts, others, pairs)
    for i in range(0, _ROUNDS, 2):
        _pass_on(*known, displacements, next_displacements, i / (i + 3.0))
        ahead = (i + 1.0) / (i + 4.0) if i + 2 < _ROUNDS else 0.0
        longest = max(longest, _pass_on(*known, next_displacements, displacements, ahead))
    for i in range(len(agents)):
        agents[i, TRAVEL] = max(travel(agents[i], OWN_DISPLACEMENT), travel(displacements[i], 0))
    return longest
