"""How far the characters of a crowd may go in an update, each by itself.

All follows from where everyone was before the update and what everyone wants, so there is no order
of turns. What is summed up is ordered by the words of characters: neither their order in a group
nor who works on them changes a bit.
"""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.others.half_planes import (
    A_WALL,
    ALONE_WAY,
    CROWD_SIZE,
    HEAD,
    HOLDS,
    IS_HELD,
    IS_PUSHED,
    IS_TRIED,
    KEPT,
    PUSHED_WAY,
    ROOM,
    UNPUSHED_WAY,
    WHOSE_HEAD,
    clear_fences,
    put_fence,
    within_fences,
    without,
)
from terrain_physics._kernels.character.sleep.sleep import is_left_alone
from terrain_physics._kernels.character.state.layout import MOST_WALLS, RULES_SIZE, STATE_SIZE
from terrain_physics._kernels.crowd.agents import (
    ACROSS,
    FLOOR,
    FLOOR_HOLDS,
    GAP,
    MOST_PAIRS,
    OWN_WAY,
    RADIUS,
    REACH,
    RIDE,
    SHARE,
    SPEED,
    UNDER,
    WALL,
    WALL_GAP,
    common_way,
    travel,
)
from terrain_physics._kernels.crowd.solver import may_be_pushed
from terrain_physics._kernels.types import Floats, Longs

# How much farther than its way walls may lead a character aside.
ASIDE = 0.02  # meters

# Times the radii of both that two overlap from which on they are in a heap, where everyone would be
# in everyone's way.
_DEEP = 0.25


# How far off its own way a push leads: in meters, and as a share of that way. Walls and others that
# only stand in the way are found to rounds, not exactly.
_PUSHED, _PUSHED_SHARE = 1e-6, 1e-3


@kernel
def _part_of_gap(gap: float, own: float, other: float, part: float) -> float:
    """Return how far into a gap one of two bodies may go that want to go so far into it.

    Each has its part; what it does not want of that is the other's. What both do not want, they
    halve: walls may lead either of them there.
    """
    if own + other <= gap:
        return own + 0.5 * (gap - own - other)
    if other <= (1.0 - part) * gap:
        return gap - other
    return min(own, part * gap)


@kernel
def put_fences(
    states: Floats,
    rules: Floats,
    discs: Floats,
    order: Longs,
    counts: Longs,
    others: Longs,
    pairs: Floats,
    ways: Floats,
    certain: Floats,
    ends: Floats,
    seconds: float,
    holds: bool,
    crowd: Floats,
    first: int,
    last: int,
) -> None:
    """Write the rows (CROWD_SIZE,) of the characters of discs first..last to ``crowd``.

    The arrays are as of `list_pairs`, for pairs as far apart as the longest of ``ways`` (n, 2) and
    ASIDE lead both. ``certain`` (n, 2): how far all get at least, in the direction of what carries
    them, and ``ends`` (n, 2) how far fences let them. ``holds`` tells whether one stands on heads.
    """
    for i in range(first, last):
        which = order[i]
        row = crowd[which * CROWD_SIZE : (which + 1) * CROWD_SIZE]
        clear_fences(row)
        row[IS_PUSHED], row[IS_HELD], row[IS_TRIED] = 0.0, 0.0, 0.0
        row[HEAD], row[WHOSE_HEAD] = discs[i, FLOOR], discs[i, UNDER]
        row[HOLDS] = discs[i, FLOOR_HOLDS] if holds else 0.0
        to_x, to_z = float(ways[i, 0]), float(ways[i, 1])
        ends[i, 0], ends[i, 1] = to_x, to_z
        own_x, own_z = float(discs[i, OWN_WAY]), float(discs[i, OWN_WAY + 1])
        differs = to_x != own_x or to_z != own_z
        if not differs and is_left_alone(
            states[which * STATE_SIZE : (which + 1) * STATE_SIZE],
            rules[which * RULES_SIZE : (which + 1) * RULES_SIZE],
        ):
            continue
        row[ROOM] = discs[i, REACH] + ASIDE
        if counts[i] == MOST_PAIRS and pairs[i, MOST_PAIRS - 1, GAP] >= 0.0:
            row[ROOM] = min(row[ROOM], 0.5 * float(pairs[i, MOST_PAIRS - 1, GAP]))
        in_heap = False  # the deepest come first
        for j in range(counts[i]):
            k, pair = others[i, j], pairs[i, j]
            in_heap = in_heap or pair[GAP] < -_DEEP * (discs[i, RADIUS] + discs[k, RADIUS])
            if in_heap and pair[GAP] < 0.0:
                continue
            if pair[GAP] > row[ROOM] + discs[k, REACH] + ASIDE:
                continue  # whoever else there is: others that are fast are no reason
            x, z, gap = float(pair[ACROSS]), float(pair[ACROSS + 1]), max(float(pair[GAP]), 0.0)
            together = common_way(discs, certain, i, k, x, z)
            own = max(to_x * x + to_z * z - together, 0.0)
            other = max(together - float(ways[k, 0] * x + ways[k, 1] * z), 0.0)
            limit = together + _part_of_gap(gap, own, other, float(pair[SHARE]))
            if limit < row[ROOM]:
                put_fence(row, x, z, limit, float(order[k]))
        if may_be_pushed(counts, pairs, i):
            row[IS_HELD] = 1.0
            for w in range(MOST_WALLS):
                x, z = float(discs[i, WALL + 2 * w]), float(discs[i, WALL + 2 * w + 1])
                if x != 0.0 or z != 0.0:
                    ride = float(discs[i, RIDE] * x + discs[i, RIDE + 1] * z)
                    put_fence(row, -x, -z, float(discs[i, WALL_GAP + w]) - ride, A_WALL)
        row[ALONE_WAY], row[ALONE_WAY + 1] = own_x, own_z
        end_x, end_z = within_fences(row, to_x, to_z)
        ends[i, 0], ends[i, 1] = end_x, end_z
        if not differs:
            continue
        held_x, held_z = within_fences(row, own_x, own_z)
        slack = _PUSHED + _PUSHED_SHARE * travel(discs[i], OWN_WAY)
        if abs(end_x - held_x) <= slack and abs(end_z - held_z) <= slack:
            continue  # fences see to that, where its way leads behind one: walls may bend it before
        row[IS_PUSHED], row[PUSHED_WAY], row[PUSHED_WAY + 1] = 1.0, end_x, end_z
        row[UNPUSHED_WAY], row[UNPUSHED_WAY + 1] = held_x, held_z
        row[KEPT], row[KEPT + 1] = without(
            float(discs[i, SPEED]),
            float(discs[i, SPEED + 1]),
            (end_x - own_x) / seconds,
            (end_z - own_z) / seconds,
        )
