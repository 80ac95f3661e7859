"""How far the characters of a crowd may go in an update, each by itself.

All follows from where everyone was before the update and what everyone wants, so there is no order
of turns. What is summed up is ordered by the words of characters: neither their order in a group
nor who works on them changes a bit.
"""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.others.half_planes import (
    A_WALL,
    ALONE_DISPLACEMENT,
    CHARACTER_BELOW,
    CROWD_SIZE,
    HOLDS,
    IS_HELD,
    IS_PUSHED,
    IS_TRIED,
    KEPT,
    PUSHED_DISPLACEMENT,
    ROOM,
    TOP_BELOW,
    UNPUSHED_DISPLACEMENT,
    clear_half_planes,
    put_half_plane,
    within_half_planes,
    without,
)
from terrain_physics._kernels.character.sleep.sleep import is_asleep
from terrain_physics._kernels.character.state.layout import MOST_WALLS, RULES_SIZE, STATE_SIZE
from terrain_physics._kernels.crowd.agents import (
    ACROSS,
    CARRIED,
    FLOOR,
    FLOOR_HOLDS,
    GAP,
    MOST_PAIRS,
    OWN_DISPLACEMENT,
    RADIUS,
    SHARE,
    SPEED,
    TRAVEL,
    UNDER,
    WALL,
    WALL_GAP,
    common_displacement,
    travel,
)
from terrain_physics._kernels.crowd.solver import may_be_pushed
from terrain_physics._kernels.types import Floats, Int64s

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
def put_half_planes(
    states: Floats,
    rules: Floats,
    agents: Floats,
    order: Int64s,
    counts: Int64s,
    others: Int64s,
    pairs: Floats,
    displacements: Floats,
    certain: Floats,
    ends: Floats,
    seconds: float,
    holds: bool,
    crowd: Floats,
    first: int,
    last: int,
) -> None:
    """Write the rows (CROWD_SIZE,) of the characters of discs first..last to ``crowd``.

    The arrays are as of `list_pairs`, for pairs as far apart as the longest of ``displacements`` (n, 2) and
    ASIDE lead both. ``certain`` (n, 2): how far all get at least, in the direction of what carries
    them, and ``ends`` (n, 2) how far fences let them. ``holds`` tells whether one stands on heads.
    """
    for i in range(first, last):
        which = order[i]
        row = crowd[which * CROWD_SIZE : (which + 1) * CROWD_SIZE]
        clear_half_planes(row)
        row[IS_PUSHED], row[IS_HELD], row[IS_TRIED] = 0.0, 0.0, 0.0
        row[TOP_BELOW], row[CHARACTER_BELOW] = agents[i, FLOOR], agents[i, UNDER]
        row[HOLDS] = agents[i, FLOOR_HOLDS] if holds else 0.0
        to_x, to_z = float(displacements[i, 0]), float(displacements[i, 1])
        ends[i, 0], ends[i, 1] = to_x, to_z
        own_x, own_z = float(agents[i, OWN_DISPLACEMENT]), float(agents[i, OWN_DISPLACEMENT + 1])
        differs = to_x != own_x or to_z != own_z
        if not differs and is_asleep(
            states[which * STATE_SIZE : (which + 1) * STATE_SIZE],
            rules[which * RULES_SIZE : (which + 1) * RULES_SIZE],
        ):
            continue
        row[ROOM] = agents[i, TRAVEL] + ASIDE
        if counts[i] == MOST_PAIRS and pairs[i, MOST_PAIRS - 1, GAP] >= 0.0:
            row[ROOM] = min(row[ROOM], 0.5 * float(pairs[i, MOST_PAIRS - 1, GAP]))
        in_heap = False  # the deepest come first
        for j in range(counts[i]):
            k, pair = others[i, j], pairs[i, j]
            in_heap = in_heap or pair[GAP] < -_DEEP * (agents[i, RADIUS] + agents[k, RADIUS])
            if in_heap and pair[GAP] < 0.0:
                continue
            if pair[GAP] > row[ROOM] + agents[k, TRAVEL] + ASIDE:
                continue  # whoever else there is: others that are fast are no reason
            x, z, gap = float(pair[ACROSS]), float(pair[ACROSS + 1]), max(float(pair[GAP]), 0.0)
            together = common_displacement(agents, certain, i, k, x, z)
            own = max(to_x * x + to_z * z - together, 0.0)
            other = max(together - float(displacements[k, 0] * x + displacements[k, 1] * z), 0.0)
            limit = together + _part_of_gap(gap, own, other, float(pair[SHARE]))
            if limit < row[ROOM]:
                put_half_plane(row, x, z, limit, float(order[k]))
        if may_be_pushed(counts, pairs, i):
            row[IS_HELD] = 1.0
            for w in range(MOST_WALLS):
                x, z = float(agents[i, WALL + 2 * w]), float(agents[i, WALL + 2 * w + 1])
                if x != 0.0 or z != 0.0:
                    carried = float(agents[i, CARRIED] * x + agents[i, CARRIED + 1] * z)
                    put_half_plane(row, -x, -z, float(agents[i, WALL_GAP + w]) - carried, A_WALL)
        row[ALONE_DISPLACEMENT], row[ALONE_DISPLACEMENT + 1] = own_x, own_z
        end_x, end_z = within_half_planes(row, to_x, to_z)
        ends[i, 0], ends[i, 1] = end_x, end_z
        if not differs:
            continue
        held_x, held_z = within_half_planes(row, own_x, own_z)
        slack = _PUSHED + _PUSHED_SHARE * travel(agents[i], OWN_DISPLACEMENT)
        if abs(end_x - held_x) <= slack and abs(end_z - held_z) <= slack:
            continue  # fences see to that, where its way leads behind one: walls may bend it before
        row[IS_PUSHED], row[PUSHED_DISPLACEMENT], row[PUSHED_DISPLACEMENT + 1] = 1.0, end_x, end_z
        row[UNPUSHED_DISPLACEMENT], row[UNPUSHED_DISPLACEMENT + 1] = held_x, held_z
        row[KEPT], row[KEPT + 1] = without(
            float(agents[i, SPEED]),
            float(agents[i, SPEED + 1]),
            (end_x - own_x) / seconds,
            (end_z - own_z) / seconds,
        )
