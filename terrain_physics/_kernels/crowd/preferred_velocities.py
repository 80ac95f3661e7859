"""The preferred velocity of each agent, as a displacement of one update: following, yielding."""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.others.half_planes import (
    clear_half_planes,
    put_half_plane,
    within_half_planes,
)
from terrain_physics._kernels.crowd.agents import (
    ALLOWED_APPROACH,
    COMPANY,
    DEPENETRATION_SPEED,
    FOLLOWS,
    GAP,
    HEADING,
    INVERSE_MASS,
    MEETING,
    NORMAL,
    OTHER_INVERSE_MASS,
    OWN_DISPLACEMENT,
    OWN_INVERSE_MASS,
    PREFERRED,
    RADIUS,
    RANK,
    SLIDE,
    WAY_ASIDE,
    ZEAL,
    Pairs,
    common_base_displacement,
    following_gap,
)
from terrain_physics._kernels.tolerances import CROWD_SLOP
from terrain_physics._kernels.types import Floats

# Lead from which an agent has full right of way, as a share of both radii together.
_AHEAD = 0.125

# How much more an agent behind yields than one beside. At 1 an agent ahead would never yield.
_FAVOR = 0.9

# How much an agent that meets others yields by its rank. At 1 the highest would never yield.
_FAVOR_MEETING = 0.9

# How far agents that meet go aside, as a share of their displacement: enough to leave a line on
# which they face each other.
_ASIDE_SHARE = 0.1

# The same for streams that keep to a side: enough to leave the line of one who pushes against them.
_STREAM_ASIDE_SHARE = 2.0


@kernel(inline=True)
def _following(
    agents: Floats, i: int, k: int, x: float, z: float, gap: float
) -> tuple[float, float]:
    """Return (how alike two headings are, 0..1; how far the second agent is ahead, -1..1).

    The second is in the direction (x, z) of the first. Seen from the other agent, the first number
    is the same and the second the opposite, bit for bit.
    """
    a, b = float(agents[i, HEADING]), float(agents[i, HEADING + 1])
    c, d = float(agents[k, HEADING]), float(agents[k, HEADING + 1])
    same = a * c + b * d
    if same <= 0.0:
        return 0.0, 0.0
    to_x, to_z = a + c, b + d
    radii = float(agents[i, RADIUS] + agents[k, RADIUS])
    far = _AHEAD * radii * math.sqrt(to_x * to_x + to_z * to_z)
    ahead = (gap + radii) * (x * to_x + z * to_z)
    if abs(ahead) >= far:
        return same, math.copysign(1.0, ahead)
    return same, ahead / far


@kernel(inline=True)
def _right_of_way(agents: Floats, i: int, k: int, ahead: float) -> float:
    """Return by how much an agent is less behind another one beside it, -1..1.

    Side by side the one of higher rank counts as ahead, so that two who come to a door at once do
    not block each other. Seen from the other agent the result is the opposite, bit for bit.
    """
    zeal = min(float(agents[i, ZEAL]), float(agents[k, ZEAL]))
    return math.copysign(zeal * (1.0 - abs(ahead)), float(agents[i, RANK] - agents[k, RANK]))


@kernel(inline=True)
def _share_to_stay_back(same: float, ahead: float) -> float:
    """Return how far an agent stays back from one that goes the same way, 0..1.

    Side by side both stay back by half, where they walk along. Where their ways cross, one alone
    does: five who cross the middle of a ring would all wait for their neighbors.
    """
    along = max(2.0 * same - 1.0, 0.0)  # 0 from 60 degrees on
    return same * (max(ahead, 0.0) + 0.5 * along * (1.0 - abs(ahead)))


@kernel(inline=True)
def _depenetration(gap: float, seconds: float) -> float:
    """Return the allowed approach of two overlapping agents; < 0: how far an update parts them."""
    return -min(max(-gap - CROWD_SLOP, 0.0), DEPENETRATION_SPEED * seconds)


@kernel(inline=True)
def _inverse_mass_meeting(agents: Floats, i: int) -> float:
    """Return the inverse mass of an agent; those who meet others yield by their ranks."""
    yields = _FAVOR_MEETING * agents[i, MEETING] * agents[i, RANK]
    return float(agents[i, INVERSE_MASS] * (1.0 - yields))


@kernel(inline=True)
def _gone_aside(x: float, z: float, aside_x: float, aside_z: float) -> tuple[float, float]:
    """Return a displacement that is turned aside; it gets no longer."""
    if aside_x == 0.0 and aside_z == 0.0:
        return x, z
    far = math.sqrt(x * x + z * z)
    x, z = x + _ASIDE_SHARE * far * aside_x, z + _ASIDE_SHARE * far * aside_z
    longer = math.sqrt(x * x + z * z)
    return (x * far / longer, z * far / longer) if longer > far else (x, z)


@kernel(inline=True)
def _opposed(agents: Floats, i: int, k: int) -> float:
    """Return how nearly opposite the headings of two agents are, 0..1; 0: up to 120 degrees.

    Those who come to a door from both of its sides are no streams.
    """
    a, b = float(agents[i, HEADING]), float(agents[i, HEADING + 1])
    c, d = float(agents[k, HEADING]), float(agents[k, HEADING + 1])
    return min(max(-2.0 * (a * c + b * d) - 1.0, 0.0), 1.0)


@kernel
def _kept_to_a_side(
    agents: Floats, pairs: Pairs, side: float, i: int, aside_x: float, aside_z: float
) -> tuple[float, float]:
    """Return where an agent goes aside that meets others: in a stream, to the side it keeps to.

    It is in a stream as far as it has company, or one that it meets head on has.
    """
    own, stream = float(agents[i, COMPANY]), 0.0
    for j in range(pairs.counts[i]):
        k, pair = pairs.others[i, j], pairs.rows[i, j]
        if pair[WAY_ASIDE] != 0.0 or pair[WAY_ASIDE + 1] != 0.0:
            stream = max(stream, _opposed(agents, i, k) * max(own, float(agents[k, COMPANY])))
    share = stream * side * (_STREAM_ASIDE_SHARE / _ASIDE_SHARE)
    return (
        (1.0 - stream) * aside_x - share * agents[i, HEADING + 1],
        (1.0 - stream) * aside_z + share * agents[i, HEADING],
    )


@kernel
def find_preferred_velocities(
    agents: Floats,
    pairs: Pairs,
    seconds: float,
    side: float,
    scratch: Floats,
    first: int,
    last: int,
) -> None:
    """Write preferred displacements of agents first..last, and the inverse masses of their pairs.

    An agent ahead of another one with the same heading has right of way: the other one stays a
    little back, and yields. So a crowd does not jam, and the agent at a door finds room. Agents
    that meet go aside. Ranks and directions that follow from keys decide what places leave open.
    ``side`` is the side that streams keep to: 1: right, -1: left, 0: none. ``scratch``
    (CROWD_SIZE,) is overwritten.
    """
    for i in range(first, last):
        clear_half_planes(scratch)
        own_x = float(agents[i, OWN_DISPLACEMENT] + agents[i, SLIDE])
        own_z = float(agents[i, OWN_DISPLACEMENT + 1] + agents[i, SLIDE + 1])
        inverse_mass, aside_x, aside_z = _inverse_mass_meeting(agents, i), 0.0, 0.0
        for j in range(pairs.counts[i]):
            k, pair = pairs.others[i, j], pairs.rows[i, j]
            x, z, gap = float(pair[NORMAL]), float(pair[NORMAL + 1]), float(pair[GAP])
            same, ahead = _following(agents, i, k, x, z, gap)
            pair[FOLLOWS], ahead = same, ahead - _right_of_way(agents, i, k, ahead)
            pair[ALLOWED_APPROACH], favor = gap, _FAVOR * same * ahead
            if gap < 0.0:
                pair[ALLOWED_APPROACH], favor = _depenetration(gap, seconds), 0.0
            pair[OWN_INVERSE_MASS] = inverse_mass * (1.0 + favor)
            pair[OTHER_INVERSE_MASS] = _inverse_mass_meeting(agents, k) * (1.0 - favor)
            back = _share_to_stay_back(same, ahead) * following_gap(agents, i, k)
            aside_x, aside_z = aside_x + pair[WAY_ASIDE], aside_z + pair[WAY_ASIDE + 1]
            limit = common_base_displacement(agents, i, k, x, z) + max(gap - back, 0.0)
            if back > 0.0 and own_x * x + own_z * z > limit:
                put_half_plane(scratch, x, z, limit, float(k))
        if side != 0.0 and agents[i, MEETING] > 0.0:
            aside_x, aside_z = _kept_to_a_side(agents, pairs, side, i, aside_x, aside_z)
        x, z = within_half_planes(scratch, *_gone_aside(own_x, own_z, aside_x, aside_z))
        agents[i, PREFERRED], agents[i, PREFERRED + 1], agents[i, PREFERRED + 2] = (
            x,
            z,
            math.sqrt(x * x + z * z),
        )
