"""What the characters of a crowd want among each other: who follows whom, and who gives way."""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.others.half_planes import (
    clear_half_planes,
    put_half_plane,
    within_half_planes,
)
from terrain_physics._kernels.crowd.agents import (
    ACROSS,
    GAP,
    HEADING,
    LEFT,
    LIGHTNESS,
    OTHER_YIELDS,
    OWN_DISPLACEMENT,
    PARTING_SPEED,
    PREFERRED,
    RADIUS,
    SLIDE,
    YIELDS,
    common_carry,
    room_between,
)
from terrain_physics._kernels.tolerances import CROWD_SLOP
from terrain_physics._kernels.types import Floats, Int64s

# How far one is ahead of another, times the radii of both, for the other to leave it the way.
_AHEAD = 0.125

# How much more one yields that is behind than one that is beside; 1: whoever is ahead never does.
_FAVOR = 0.9


@kernel(inline=True)
def _lead(agents: Floats, i: int, k: int, x: float, z: float, gap: float) -> tuple[float, float]:
    """Return (how far two go the same way, 0..1; how far the second is ahead of the first, -1..1).

    The second is in the direction (x, z) of the first. Seen from the other they are the same, and
    the opposite, bit for bit.
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
def _to_part(gap: float, seconds: float) -> float:
    """Return how far two that overlap are to part in an update, < 0."""
    return -min(max(-gap - CROWD_SLOP, 0.0), PARTING_SPEED * seconds)


@kernel
def find_preferred_velocities(
    agents: Floats,
    counts: Int64s,
    others: Int64s,
    pairs: Floats,
    seconds: float,
    scratch: Floats,
    first: int,
    last: int,
) -> None:
    """Write what discs first..last want, and how far each of a pair goes if they push each other.

    Who goes the same way as another one behind it has the way: the other one stays a little back,
    and is the one that yields. So crowds do not pack until nobody can move: whoever is at a door
    finds room. Arrays are as of `list_pairs`; ``scratch`` (CROWD_SIZE,) is written to.
    """
    for i in range(first, last):
        clear_half_planes(scratch)
        own_x = float(agents[i, OWN_DISPLACEMENT] + agents[i, SLIDE])
        own_z = float(agents[i, OWN_DISPLACEMENT + 1] + agents[i, SLIDE + 1])
        lightness = float(agents[i, LIGHTNESS])
        for j in range(counts[i]):
            k, pair = others[i, j], pairs[i, j]
            x, z, gap = float(pair[ACROSS]), float(pair[ACROSS + 1]), float(pair[GAP])
            same, ahead = _lead(agents, i, k, x, z, gap)
            pair[LEFT], favor = gap, _FAVOR * same * ahead
            if gap < 0.0:
                pair[LEFT], favor = _to_part(gap, seconds), 0.0
            pair[YIELDS] = lightness * (1.0 + favor)
            pair[OTHER_YIELDS] = agents[k, LIGHTNESS] * (1.0 - favor)
            back = 0.5 * same * (1.0 + ahead) * room_between(agents, i, k)
            limit = common_carry(agents, i, k, x, z) + max(gap - back, 0.0)
            if back > 0.0 and own_x * x + own_z * z > limit:
                put_half_plane(scratch, x, z, limit, float(k))
        x, z = within_half_planes(scratch, own_x, own_z)
        agents[i, PREFERRED], agents[i, PREFERRED + 1], agents[i, PREFERRED + 2] = (
            x,
            z,
            math.sqrt(x * x + z * z),
        )
