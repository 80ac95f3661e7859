"""Half-plane constraints: the region in which each character of a crowd moves on its own.

They follow from the places before the update and the displacements of the crowd solver, those of a
later pass also from where the characters before have ended. So the characters of a pass move
independently, in any order. Sums are ordered by the words of characters: neither
the order in a group nor the number of threads changes a bit.
"""

import math
from typing import NamedTuple

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.others.half_planes import (
    A_WALL,
    ALONE_DISPLACEMENT,
    APPROACH,
    CHARACTER_BELOW,
    CROWD_SIZE,
    HOLDS,
    IS_PUSHABLE,
    IS_PUSHED,
    IS_TRIED,
    KEPT,
    LOSS,
    OTHER,
    PUSHED_DISPLACEMENT,
    ROOM,
    TOP_BELOW,
    TOUCHES,
    TURN,
    UNPUSHED_DISPLACEMENT,
    WILL_TOUCH,
    clear_half_planes,
    put_half_plane,
    within_half_planes,
    without,
)
from terrain_physics._kernels.character.others.touched import is_touched
from terrain_physics._kernels.character.sleep.sleep import is_asleep
from terrain_physics._kernels.character.state.layout import (
    MOST_WALLS,
    RULES_SIZE,
    STATE_SIZE,
    center_at,
)
from terrain_physics._kernels.crowd.agents import (
    BASE_DISPLACEMENT,
    FLOOR_CHARACTER,
    FLOOR_HEIGHT,
    FLOOR_HOLDS,
    GAP,
    IMPULSE,
    MASS_SHARE,
    MOST_PAIRS,
    NORMAL,
    OWN_DISPLACEMENT,
    OWN_TRAVEL,
    RADIUS,
    RANK,
    TRAVEL,
    VELOCITY,
    WAITS,
    WALL_GAP,
    WALL_NORMAL,
    AgentGrid,
    Pairs,
    X,
    Z,
    common_displacement,
)
from terrain_physics._kernels.crowd.solver import may_be_pushed
from terrain_physics._kernels.tolerances import (
    CROWD_DISTANCE,
    CROWD_SLOP,
    LEAST_IMPACT,
    PUSH_SLACK,
    PUSH_SLACK_SHARE,
)
from terrain_physics._kernels.types import Floats, Int64s

# How much farther than its displacement a character may get where walls deflect it.
ASIDE = 0.02  # meters

# Overlap, as a share of both radii together, from which two agents are in a heap. There half-planes
# would block all of them.
_HEAP_OVERLAP = 0.25

# Most passes before that in which an agent moves.
_MOST_TURNS = 8


@kernel
def _limit_in_gap(gap: float, own: float, other: float, share: float) -> float:
    """Return how far into a gap one of two bodies may go.

    Its displacement into the gap is ``own``, that of the other body is ``other``. Each body has a
    share of the gap; the other body may use the part that it does not need. The part that neither
    needs is shared equally, because a wall may deflect either into it.
    """
    if own + other <= gap:
        return own + 0.5 * (gap - own - other)
    if other <= (1.0 - share) * gap:
        return gap - other
    return min(own, share * gap)


class Displacements(NamedTuple):
    """Displacements of n agents in an update, each (n, 2), in meters."""

    solved: Floats  # by the crowd solver
    guaranteed: Floats  # the least in the direction of the agent's moving base
    ends: Floats  # within the half-planes, or where it has ended; written
    turns: Int64s  # (n,): the passes before the one in which it moves


@kernel(inline=True, no_refcount=True)
def _clear(row: Floats, agents: Floats, i: int, holds: bool) -> None:
    """Write the row of an agent without half-planes and push, with the top of the one below it."""
    clear_half_planes(row)
    row[IS_PUSHED], row[IS_PUSHABLE], row[IS_TRIED] = 0.0, 0.0, 0.0
    row[TOP_BELOW], row[CHARACTER_BELOW] = agents[i, FLOOR_HEIGHT], agents[i, FLOOR_CHARACTER]
    row[HOLDS] = agents[i, FLOOR_HOLDS] if holds else 0.0


@kernel(inline=True, no_refcount=True)
def _room(agents: Floats, pairs: Pairs, i: int) -> float:
    """Return how far an agent may get, by its displacement and its farthest known neighbor."""
    room = float(agents[i, TRAVEL]) + ASIDE
    if pairs.counts[i] == MOST_PAIRS and pairs.rows[i, MOST_PAIRS - 1, GAP] >= 0.0:
        room = min(room, 0.5 * float(pairs.rows[i, MOST_PAIRS - 1, GAP]))
    return room


@kernel(inline=True, no_refcount=True)
def _limit_toward(
    agents: Floats, displacements: Displacements, pair: Floats, i: int, k: int
) -> float:
    """Return how far agent i may go toward agent k: farther if that has moved away before it."""
    solved, ends, turns = displacements.solved, displacements.ends, displacements.turns
    x, z, gap = float(pair[NORMAL]), float(pair[NORMAL + 1]), max(float(pair[GAP]), 0.0)
    if turns[k] < turns[i]:
        return gap + float(ends[k, 0] * x + ends[k, 1] * z)
    together = common_displacement(agents, displacements.guaranteed, i, k, x, z)
    own = max(float(solved[i, 0]) * x + float(solved[i, 1]) * z - together, 0.0)
    other = max(together - float(solved[k, 0] * x + solved[k, 1] * z), 0.0)
    return together + _limit_in_gap(gap, own, other, float(pair[MASS_SHARE]))


@kernel(no_refcount=True)
def _approach(agents: Floats, pair: Floats, i: int, k: int) -> float:
    """Return how far two agents alone would approach in an update, along their line at contact.

    If they would pass each other by, it is along their line as the update begins.
    """
    x, z, radii = (
        float(pair[NORMAL]),
        float(pair[NORMAL + 1]),
        agents[i, RADIUS] + agents[k, RADIUS],
    )
    to_x = float(agents[i, OWN_DISPLACEMENT] - agents[k, OWN_DISPLACEMENT])
    to_z = float(agents[i, OWN_DISPLACEMENT + 1] - agents[k, OWN_DISPLACEMENT + 1])
    along, across = to_x * x + to_z * z, to_x * z - to_z * x
    distance = float(pair[GAP] + radii)
    # At contact the distance is ``radii``, and the part of it across the displacement is as before.
    part = distance * across / radii
    rest2 = along * along + across * across - part * part
    if along <= 0.0 or rest2 <= 0.0 or distance <= radii:
        return max(along, 0.0)
    return math.sqrt(rest2)


@kernel(no_refcount=True)
def _put_contact(
    row: Floats, line: int, state: Floats, agents: Floats, solved: Floats, pair: Floats, i: int,
    k: int, seconds: float,
) -> None:  # fmt: skip
    """Write to the half-plane of agent k how agent i meets it, which has the state.

    Only one that runs into another itself has an approach speed. They touch on as long as they
    stay close.
    """
    x, z, gap = float(pair[NORMAL]), float(pair[NORMAL + 1]), float(pair[GAP])
    own = float(agents[i, OWN_DISPLACEMENT] * x + agents[i, OWN_DISPLACEMENT + 1] * z)
    base = float(agents[i, BASE_DISPLACEMENT] * x + agents[i, BASE_DISPLACEMENT + 1] * z)
    left = gap - float((solved[i, 0] - solved[k, 0]) * x + (solved[i, 1] - solved[k, 1]) * z)
    known = is_touched(state, float(agents[k, RANK]))
    runs = not known and own - base > LEAST_IMPACT * seconds
    row[line + APPROACH] = _approach(agents, pair, i, k) / seconds if runs else 0.0
    row[line + LOSS] = (1.0 - pair[MASS_SHARE]) * row[line + APPROACH]
    row[line + OTHER] = agents[k, RANK]
    row[line + TOUCHES] = 0.0
    if runs:
        row[line + TOUCHES] = WILL_TOUCH if pair[IMPULSE] > 0.0 and left <= CROWD_SLOP else 0.0
    elif gap <= CROWD_SLOP or (known and (gap <= CROWD_DISTANCE or left <= CROWD_SLOP)):
        row[line + TOUCHES] = 1.0


@kernel(inline=True, no_refcount=True)
def _put_others(
    row: Floats, state: Floats, grid: AgentGrid, pairs: Pairs, displacements: Displacements, i: int,
    seconds: float,
) -> None:  # fmt: skip
    """Write the half-planes of the agents near agent i, which has the state."""
    agents, solved = grid.rows, displacements.solved
    in_heap = False  # the deepest overlap comes first
    for j in range(pairs.counts[i]):
        k, pair = pairs.others[i, j], pairs.rows[i, j]
        pair[WAITS] = 0.0
        heap_gap = -_HEAP_OVERLAP * (agents[i, RADIUS] + agents[k, RADIUS])
        in_heap = in_heap or pair[GAP] < heap_gap
        if in_heap and pair[GAP] < 0.0:
            continue
        if pair[GAP] > row[ROOM] + agents[k, TRAVEL] + ASIDE:
            continue  # out of reach; fast agents elsewhere only made the list longer
        limit = _limit_toward(agents, displacements, pair, i, k)
        if limit < row[ROOM]:
            line = put_half_plane(
                row, float(pair[NORMAL]), float(pair[NORMAL + 1]), limit, float(grid.order[k])
            )
            if line >= 0:
                _put_contact(row, line, state, agents, solved, pair, i, k, seconds)
            x, z = float(pair[NORMAL]), float(pair[NORMAL + 1])
            is_far = solved[i, 0] * x + solved[i, 1] * z > limit + PUSH_SLACK
            if is_far and solved[k, 0] * x + solved[k, 1] * z > PUSH_SLACK:
                pair[WAITS] = 1.0


@kernel(inline=True, no_refcount=True)
def _put_walls(row: Floats, agents: Floats, i: int) -> None:
    """Write the half-planes of the walls near an agent."""
    for w in range(MOST_WALLS):
        column = WALL_NORMAL + 2 * w
        x, z = float(agents[i, column]), float(agents[i, column + 1])
        if x != 0.0 or z != 0.0:
            carried = float(agents[i, BASE_DISPLACEMENT] * x + agents[i, BASE_DISPLACEMENT + 1] * z)
            put_half_plane(row, -x, -z, float(agents[i, WALL_GAP + w]) - carried, A_WALL)


@kernel(inline=True, no_refcount=True)
def _put_push(
    row: Floats, agents: Floats, i: int, end_x: float, end_z: float, seconds: float
) -> None:
    """Write the push of an agent if it ends elsewhere than the half-planes alone would lead it."""
    own_x, own_z = float(agents[i, OWN_DISPLACEMENT]), float(agents[i, OWN_DISPLACEMENT + 1])
    unpushed_x, unpushed_z = within_half_planes(row, own_x, own_z)
    slack = PUSH_SLACK + PUSH_SLACK_SHARE * float(agents[i, OWN_TRAVEL])
    if abs(end_x - unpushed_x) <= slack and abs(end_z - unpushed_z) <= slack:
        return  # the half-planes alone lead the body to its end, unless walls deflect it before
    row[IS_PUSHED], row[PUSHED_DISPLACEMENT], row[PUSHED_DISPLACEMENT + 1] = 1.0, end_x, end_z
    row[UNPUSHED_DISPLACEMENT], row[UNPUSHED_DISPLACEMENT + 1] = unpushed_x, unpushed_z
    row[KEPT], row[KEPT + 1] = without(
        float(agents[i, VELOCITY]),
        float(agents[i, VELOCITY + 1]),
        (end_x - own_x) / seconds,
        (end_z - own_z) / seconds,
    )


@kernel
def put_half_planes(
    states: Floats, rules: Floats, grid: AgentGrid, pairs: Pairs, displacements: Displacements,
    seconds: float, holds: bool, crowd: Floats, turn: int, first: int, last: int,
) -> None:  # fmt: skip
    """Write the rows (CROWD_SIZE,) of the characters of agents first..last to ``crowd``.

    The pairs are as of `list_pairs`, for agents that approach by up to the longest solved
    displacement and ASIDE each. ``holds`` tells whether characters stand on each other. In the
    first pass, turn 0, all rows are written, and later those whose ``turn`` it is.
    """
    agents, solved, ends = grid.rows, displacements.solved, displacements.ends
    for i in range(first, last):
        character = grid.order[i]
        row = crowd[character * CROWD_SIZE : (character + 1) * CROWD_SIZE]
        row[TURN] = displacements.turns[i] - turn
        if row[TURN] != 0.0 and turn > 0:
            continue
        _clear(row, agents, i, holds)
        to_x, to_z = float(solved[i, 0]), float(solved[i, 1])
        ends[i, 0], ends[i, 1] = to_x, to_z
        own_x, own_z = float(agents[i, OWN_DISPLACEMENT]), float(agents[i, OWN_DISPLACEMENT + 1])
        differs = to_x != own_x or to_z != own_z
        state = states[character * STATE_SIZE : (character + 1) * STATE_SIZE]
        if not differs and is_asleep(
            state, rules[character * RULES_SIZE : (character + 1) * RULES_SIZE]
        ):
            continue
        row[ROOM] = _room(agents, pairs, i)
        _put_others(row, state, grid, pairs, displacements, i, seconds)
        if may_be_pushed(pairs, i):
            row[IS_PUSHABLE] = 1.0
            _put_walls(row, agents, i)
        row[ALONE_DISPLACEMENT], row[ALONE_DISPLACEMENT + 1] = own_x, own_z
        end_x, end_z = within_half_planes(row, to_x, to_z)
        ends[i, 0], ends[i, 1] = end_x, end_z
        if differs:
            _put_push(row, agents, i, end_x, end_z, seconds)


@kernel(no_refcount=True)
def find_turns(grid: AgentGrid, pairs: Pairs, turns: Int64s, crowd: Floats) -> int:
    """Write after how many passes each agent moves, also to ``crowd``; return how many there are.

    An agent moves after those that it pushes away: then it is known how far they have gone. In a
    long chain, or a circle, the last move together, and share their gaps.
    """
    last, found = 0, True
    for i in range(len(turns)):
        turns[i] = 0
    while found:
        found = False
        for i in range(len(turns)):
            for j in range(pairs.counts[i]):
                after = min(turns[pairs.others[i, j]] + 1, _MOST_TURNS)
                if pairs.rows[i, j, WAITS] != 0.0 and turns[i] < after:
                    turns[i], found = after, True
                    last = max(last, after)
    for i in range(len(turns)):
        crowd[grid.order[i] * CROWD_SIZE + TURN] = turns[i]
    return last + 1


@kernel(no_refcount=True)
def put_ends(
    states: Floats, rules: Floats, grid: AgentGrid, displacements: Displacements, turn: int
) -> None:
    """Write where the agents have ended that move before a turn."""
    for i in range(len(grid.order)):
        k = grid.order[i]
        if displacements.turns[i] < turn:
            center = center_at(
                states[k * STATE_SIZE : (k + 1) * STATE_SIZE],
                rules[k * RULES_SIZE : (k + 1) * RULES_SIZE],
            )
            displacements.ends[i, 0] = center[0] - grid.rows[i, X]
            displacements.ends[i, 1] = center[2] - grid.rows[i, Z]
