"""The crowd solver: contact impulses that keep agents apart and out of walls.

Preferred displacements are projected, weighted by mass, on the nearest ones without overlap: the
model of Maury and Venel (A discrete contact model for crowd motion, 2011). Contact impulses are
found in parallel (Jacobi) rounds with Nesterov's accelerated gradients (as by Mazhar et al. for
rigid bodies, 2015). Each pair has its own step size, by the contacts of both agents. One rule is
not in that model: an agent is hardly pushed by another one behind it with the same heading.
"""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.state.layout import MOST_WALLS
from terrain_physics._kernels.crowd.agents import (
    ALLOWED_APPROACH,
    BASE_DISPLACEMENT,
    COUPLING,
    EFFECTIVE_MASS,
    EXTRAPOLATED_IMPULSE,
    FOLLOWS,
    GAP,
    IMPULSE,
    MASS_SHARE,
    NORMAL,
    OTHER_INVERSE_MASS,
    OWN_INVERSE_MASS,
    OWN_TRAVEL,
    PREFERRED,
    TRAVEL,
    WALL_GAP,
    WALL_IMPULSE,
    WALL_NORMAL,
    Pairs,
    common_base_displacement,
    length_2d,
    mass_share,
)
from terrain_physics._kernels.tolerances import CROWD_DISTANCE
from terrain_physics._kernels.types import Floats

# Solver rounds of an update. A push travels through one agent in a row per round.
_ROUNDS = 32


@kernel(inline=True)
def _may_collide(agents: Floats, i: int, k: int, pair: Floats) -> bool:
    """Tell whether two agents may touch in an update."""
    preferred = agents[i, PREFERRED + 2] + agents[k, PREFERRED + 2]
    return bool(
        pair[GAP] <= preferred + CROWD_DISTANCE
        and pair[OWN_INVERSE_MASS] + pair[OTHER_INVERSE_MASS] > 0.0
    )


@kernel(inline=True)
def _displacement_together(agents: Floats, i: int, k: int, pair: Floats) -> float:
    """Return how far two agents would move along the normal after an inelastic collision.

    The displacement by moving bases that carry both is left out. A follower keeps that gap, so that
    it never enters a place where the agent ahead was before the update.
    """
    x, z, own = float(pair[NORMAL]), float(pair[NORMAL + 1]), float(pair[MASS_SHARE])
    carried = common_base_displacement(agents, i, k, x, z)
    first = agents[i, PREFERRED] * x + agents[i, PREFERRED + 1] * z - carried
    second = agents[k, PREFERRED] * x + agents[k, PREFERRED + 1] * z - carried
    return abs(float(own * first + mass_share(agents, k, i) * second))


@kernel
def _find_coupling(
    agents: Floats, pairs: Pairs, displacements: Floats, next_displacements: Floats
) -> float:
    """Write which pairs are active, and the coupling of each agent.

    The coupling is the largest eigenvalue of the sum of n n^T over its contacts and walls. All
    agents start with their preferred displacements, and agents without contacts keep them. Returns
    the length of the longest one.
    """
    longest = 0.0
    for i in range(len(agents)):
        xx, xz, zz = 0.0, 0.0, 0.0
        for j in range(pairs.counts[i]):
            k, pair = pairs.others[i, j], pairs.rows[i, j]
            pair[IMPULSE], pair[EXTRAPOLATED_IMPULSE], pair[EFFECTIVE_MASS] = 0.0, 0.0, 0.0
            if _may_collide(agents, i, k, pair):
                pair[EFFECTIVE_MASS] = 1.0
                if pair[ALLOWED_APPROACH] > 0.0 and pair[FOLLOWS] > 0.0:
                    together = pair[FOLLOWS] * _displacement_together(agents, i, k, pair)
                    pair[ALLOWED_APPROACH] = max(pair[ALLOWED_APPROACH] - together, 0.0)
                x, z = float(pair[NORMAL]), float(pair[NORMAL + 1])
                xx, xz, zz = xx + x * x, xz + x * z, zz + z * z
        alone = xx + zz == 0.0  # without contacts, the walk itself handles walls
        for w in range(MOST_WALLS):
            if alone:
                agents[i, WALL_NORMAL + 2 * w], agents[i, WALL_NORMAL + 2 * w + 1] = 0.0, 0.0
            x, z = float(agents[i, WALL_NORMAL + 2 * w]), float(agents[i, WALL_NORMAL + 2 * w + 1])
            xx, xz, zz = xx + x * x, xz + x * z, zz + z * z
            agents[i, WALL_IMPULSE + 2 * w], agents[i, WALL_IMPULSE + 2 * w + 1] = 0.0, 0.0
        half = 0.5 * (xx - zz)
        agents[i, COUPLING] = 0.5 * (xx + zz) + math.sqrt(half * half + xz * xz)
        displacements[i, 0], displacements[i, 1] = agents[i, PREFERRED], agents[i, PREFERRED + 1]
        next_displacements[i, 0], next_displacements[i, 1] = (
            agents[i, PREFERRED],
            agents[i, PREFERRED + 1],
        )
        longest = max(longest, float(agents[i, PREFERRED + 2]))
    return longest


@kernel
def _find_effective_masses(agents: Floats, pairs: Pairs) -> None:
    """Write the effective mass of each active pair."""
    for i in range(len(agents)):
        for j in range(pairs.counts[i]):
            pair = pairs.rows[i, j]
            if pair[EFFECTIVE_MASS] != 0.0:
                own = pair[OWN_INVERSE_MASS] * agents[i, COUPLING]
                pair[EFFECTIVE_MASS] = 1.0 / (
                    own + pair[OTHER_INVERSE_MASS] * agents[pairs.others[i, j], COUPLING]
                )


@kernel(inline=True)
def _extrapolated(impulse: float, before: float, momentum: float) -> float:
    """Return an impulse extrapolated from the last two rounds."""
    return max(impulse + momentum * (impulse - before), 0.0)


@kernel(inline=True)
def _pushed_by_others(
    agents: Floats, pairs: Pairs, displacements: Floats, i: int, momentum: float
) -> tuple[float, float]:
    """Return the next displacement of an agent after the impulses of its pairs; write those."""
    x, z = float(displacements[i, 0]), float(displacements[i, 1])
    to_x, to_z = float(agents[i, PREFERRED]), float(agents[i, PREFERRED + 1])
    for j in range(pairs.counts[i]):
        pair = pairs.rows[i, j]
        if pair[EFFECTIVE_MASS] == 0.0:
            continue
        k, nx, nz = pairs.others[i, j], float(pair[NORMAL]), float(pair[NORMAL + 1])
        slack = float(
            pair[ALLOWED_APPROACH]
            + ((displacements[k, 0] - x) * nx + (displacements[k, 1] - z) * nz)
        )
        impulse = max(float(pair[EXTRAPOLATED_IMPULSE] - slack * pair[EFFECTIVE_MASS]), 0.0)
        extrapolated = _extrapolated(impulse, float(pair[IMPULSE]), momentum)
        pair[IMPULSE], pair[EXTRAPOLATED_IMPULSE] = impulse, extrapolated
        to_x, to_z = (
            to_x - pair[OWN_INVERSE_MASS] * extrapolated * nx,
            to_z - pair[OWN_INVERSE_MASS] * extrapolated * nz,
        )
    return to_x, to_z


@kernel(inline=True)
def _pushed_by_walls(
    agents: Floats, displacements: Floats, i: int, to_x: float, to_z: float, momentum: float
) -> tuple[float, float]:
    """Return a displacement of an agent after the impulses of its walls; write those."""
    x, z = float(displacements[i, 0]), float(displacements[i, 1])
    for w in range(MOST_WALLS):
        nx, nz = float(agents[i, WALL_NORMAL + 2 * w]), float(agents[i, WALL_NORMAL + 2 * w + 1])
        if nx == 0.0 and nz == 0.0:
            continue
        column = WALL_IMPULSE + 2 * w
        along = (x - agents[i, BASE_DISPLACEMENT]) * nx + (
            z - agents[i, BASE_DISPLACEMENT + 1]
        ) * nz
        slack = float(agents[i, WALL_GAP + w] + along)
        impulse = max(float(agents[i, column + 1] - slack / agents[i, COUPLING]), 0.0)
        extrapolated = _extrapolated(impulse, float(agents[i, column]), momentum)
        agents[i, column], agents[i, column + 1] = impulse, extrapolated
        to_x, to_z = to_x + extrapolated * nx, to_z + extrapolated * nz
    return to_x, to_z


@kernel
def _solve_round(
    agents: Floats, pairs: Pairs, displacements: Floats, next_displacements: Floats,
    momentum: float,
) -> float:  # fmt: skip
    """Write the displacements of agents with contacts after one more round; return the longest.

    Impulses are extrapolated by ``momentum`` times their last change.
    """
    longest = 0.0
    for i in range(len(agents)):
        if agents[i, COUPLING] == 0.0:
            continue
        to_x, to_z = _pushed_by_others(agents, pairs, displacements, i, momentum)
        to_x, to_z = _pushed_by_walls(agents, displacements, i, to_x, to_z, momentum)
        next_displacements[i, 0], next_displacements[i, 1] = to_x, to_z
        longest = max(longest, length_2d(next_displacements[i], 0))
    return longest


@kernel(inline=True)
def may_be_pushed(pairs: Pairs, i: int) -> bool:
    """Tell whether an agent has an active pair, after `solve_contact_impulses`."""
    for j in range(pairs.counts[i]):
        if pairs.rows[i, j, EFFECTIVE_MASS] != 0.0:
            return True
    return False


@kernel
def solve_contact_impulses(
    agents: Floats, pairs: Pairs, displacements: Floats, next_displacements: Floats
) -> float:
    """Write solved displacements (n, 2), and TRAVEL; return the length of the longest.

    It follows `find_preferred_velocities`; ``next_displacements`` (n, 2) is working memory. The
    number of rounds is fixed, so that a crowd far away changes no bit here.
    """
    longest = _find_coupling(agents, pairs, displacements, next_displacements)
    _find_effective_masses(agents, pairs)
    for i in range(0, _ROUNDS, 2):
        _solve_round(agents, pairs, displacements, next_displacements, i / (i + 3.0))
        momentum = (i + 1.0) / (i + 4.0) if i + 2 < _ROUNDS else 0.0
        far = _solve_round(agents, pairs, next_displacements, displacements, momentum)
        longest = max(longest, far)
    for i in range(len(agents)):
        agents[i, TRAVEL] = max(float(agents[i, OWN_TRAVEL]), length_2d(displacements[i], 0))
    return longest
