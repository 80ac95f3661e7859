"""Half-plane constraints: the region that each character of a crowd may move in, by itself.

They follow from the places before the update and the displacements of the crowd solver, so
characters need no turns. Sums are ordered by the words of characters: neither the order in a group
nor the number of threads changes a bit.
"""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.others.half_planes import (
    A_WALL,
    ALONE_DISPLACEMENT,
    CHARACTER_BELOW,
    CROWD_SIZE,
    HOLDS,
    IS_PUSHABLE,
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
    BASE_DISPLACEMENT,
    FLOOR_CHARACTER,
    FLOOR_HEIGHT,
    FLOOR_HOLDS,
    GAP,
    MASS_SHARE,
    MOST_PAIRS,
    NORMAL,
    OWN_DISPLACEMENT,
    RADIUS,
    TRAVEL,
    VELOCITY,
    WALL_GAP,
    WALL_NORMAL,
    common_displacement,
    length_2d,
)
from terrain_physics._kernels.crowd.solver import may_be_pushed
from terrain_physics._kernels.tolerances import PUSH_SLACK, PUSH_SLACK_SHARE
from terrain_physics._kernels.types import Floats, Int64s

# How much farther than its displacement walls may deflect a character.
ASIDE = 0.02  # meters

# Overlap, as a share of the radii of both, from which two agents are in a heap, where half-planes
# would block everyone.
_HEAP_OVERLAP = 0.25


@kernel
def _limit_in_gap(gap: float, own: float, other: float, share: float) -> float:
    """Return how far into a gap one of two bodies may go, by how far each is to go.

    Each has its share; what it leaves of that is the other's. What both leave is shared equally,
    because a wall may deflect either into it.
    """
    if own + other <= gap:
        return own + 0.5 * (gap - own - other)
    if other <= (1.0 - share) * gap:
        return gap - other
    return min(own, share * gap)


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
    guaranteed: Floats,
    ends: Floats,
    seconds: float,
    holds: bool,
    crowd: Floats,
    first: int,
    last: int,
) -> None:
    """Write the rows (CROWD_SIZE,) of the characters of agents first..last to ``crowd``.

    The arrays are as of `list_pairs`, for pairs as far apart as two agents may come by the longest
    of ``displacements`` (n, 2) and ASIDE. ``guaranteed`` (n, 2): the least displacement of each in
    the direction of its moving base; ``ends`` (n, 2): where half-planes let each go. ``holds``
    tells whether characters stand on each other.
    """
    for i in range(first, last):
        character = order[i]
        row = crowd[character * CROWD_SIZE : (character + 1) * CROWD_SIZE]
        clear_half_planes(row)
        row[IS_PUSHED], row[IS_PUSHABLE], row[IS_TRIED] = 0.0, 0.0, 0.0
        row[TOP_BELOW], row[CHARACTER_BELOW] = agents[i, FLOOR_HEIGHT], agents[i, FLOOR_CHARACTER]
        row[HOLDS] = agents[i, FLOOR_HOLDS] if holds else 0.0
        to_x, to_z = float(displacements[i, 0]), float(displacements[i, 1])
        ends[i, 0], ends[i, 1] = to_x, to_z
        own_x, own_z = float(agents[i, OWN_DISPLACEMENT]), float(agents[i, OWN_DISPLACEMENT + 1])
        differs = to_x != own_x or to_z != own_z
        if not differs and is_asleep(
            states[character * STATE_SIZE : (character + 1) * STATE_SIZE],
            rules[character * RULES_SIZE : (character + 1) * RULES_SIZE],
        ):
            continue
        row[ROOM] = agents[i, TRAVEL] + ASIDE
        if counts[i] == MOST_PAIRS and pairs[i, MOST_PAIRS - 1, GAP] >= 0.0:
            row[ROOM] = min(row[ROOM], 0.5 * float(pairs[i, MOST_PAIRS - 1, GAP]))
        in_heap = False  # the deepest overlap comes first
        for j in range(counts[i]):
            k, pair = others[i, j], pairs[i, j]
            in_heap = in_heap or pair[GAP] < -_HEAP_OVERLAP * (
                agents[i, RADIUS] + agents[k, RADIUS]
            )
            if in_heap and pair[GAP] < 0.0:
                continue
            if pair[GAP] > row[ROOM] + agents[k, TRAVEL] + ASIDE:
                continue  # so fast agents elsewhere change nothing here
            x, z, gap = float(pair[NORMAL]), float(pair[NORMAL + 1]), max(float(pair[GAP]), 0.0)
            together = common_displacement(agents, guaranteed, i, k, x, z)
            own = max(to_x * x + to_z * z - together, 0.0)
            other = max(together - float(displacements[k, 0] * x + displacements[k, 1] * z), 0.0)
            limit = together + _limit_in_gap(gap, own, other, float(pair[MASS_SHARE]))
            if limit < row[ROOM]:
                put_half_plane(row, x, z, limit, float(order[k]))
        if may_be_pushed(counts, pairs, i):
            row[IS_PUSHABLE] = 1.0
            for w in range(MOST_WALLS):
                x, z = (
                    float(agents[i, WALL_NORMAL + 2 * w]),
                    float(agents[i, WALL_NORMAL + 2 * w + 1]),
                )
                if x != 0.0 or z != 0.0:
                    carried = float(
                        agents[i, BASE_DISPLACEMENT] * x + agents[i, BASE_DISPLACEMENT + 1] * z
                    )
                    put_half_plane(row, -x, -z, float(agents[i, WALL_GAP + w]) - carried, A_WALL)
        row[ALONE_DISPLACEMENT], row[ALONE_DISPLACEMENT + 1] = own_x, own_z
        end_x, end_z = within_half_planes(row, to_x, to_z)
        ends[i, 0], ends[i, 1] = end_x, end_z
        if not differs:
            continue
        unpushed_x, unpushed_z = within_half_planes(row, own_x, own_z)
        slack = PUSH_SLACK + PUSH_SLACK_SHARE * length_2d(agents[i], OWN_DISPLACEMENT)
        if abs(end_x - unpushed_x) <= slack and abs(end_z - unpushed_z) <= slack:
            continue  # half-planes alone do it, if walls do not deflect the body before
        row[IS_PUSHED], row[PUSHED_DISPLACEMENT], row[PUSHED_DISPLACEMENT + 1] = 1.0, end_x, end_z
        row[UNPUSHED_DISPLACEMENT], row[UNPUSHED_DISPLACEMENT + 1] = unpushed_x, unpushed_z
        row[KEPT], row[KEPT + 1] = without(
            float(agents[i, VELOCITY]),
            float(agents[i, VELOCITY + 1]),
            (end_x - own_x) / seconds,
            (end_z - own_z) / seconds,
        )
