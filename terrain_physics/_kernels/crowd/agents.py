"""Agents: the characters of a crowd as upright cylinders, and a grid that finds neighbors.

The grid is the broad phase. The order of characters changes only the order in which it finds them.
"""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.body import center_of, upright_radius
from terrain_physics._kernels.character.moving_base.moving_base import (
    carried_to,
    find_moving_base,
    ignore_moves,
)
from terrain_physics._kernels.character.needs import is_left_out
from terrain_physics._kernels.character.reports.hits import HITS_SIZE
from terrain_physics._kernels.character.state import layout as at
from terrain_physics._kernels.character.state.initial_motion import (
    free_displacement,
    initial_motion,
)
from terrain_physics._kernels.character.state.layout import center_at, unpack_body
from terrain_physics._kernels.character.state.teleport import teleport_or_nudge
from terrain_physics._kernels.ground.movers import COUNT_OF_MOVES, no_part_shifts
from terrain_physics._kernels.ground.table import (
    GroundTable,
    ground_at,
    has_movers,
    mover_filtered,
    movers_of,
)
from terrain_physics._kernels.math.vec3 import Vec3, subtract
from terrain_physics._kernels.surface.shapes import Body
from terrain_physics._kernels.tolerances import CROWD_SLOP, ON_TOP_MARGIN
from terrain_physics._kernels.types import Floats, Int64s, UInt64s

# Columns of an agent. Places and displacements are horizontal, two numbers (x, z) each, in meters;
# displacements are of one update.
X, Z, RADIUS = 0, 1, 2
AGENT_MASS = 3  # in kg; 0: immovable
BOTTOM, TOP = 4, 5  # heights of the cylinder's ends
SWEPT_BOTTOM, SWEPT_TOP = 6, 7  # least and greatest height of the ends during its displacement
OWN_DISPLACEMENT = 8  # displacement if it were alone, with that of its moving base
VELOCITY = 10  # after its own displacement, two numbers
AGENT_LAYERS, AGENT_MASK = 12, 13  # layers that it is on, and layers that it collides with
HEADING = 14  # unit direction in which it walks, two numbers; zeros: none
INVERSE_MASS = 16  # in 1 / _UNIT_MASS; 0: immovable
PREFERRED = 17  # preferred displacement among others, and its length, three numbers
COUPLING = 20  # largest eigenvalue of the sum of n n^T over its contacts; 0: it has none
WALL_NORMAL = 21  # unit normals of walls that block it, two numbers each; zeros: none
WALL_GAP = WALL_NORMAL + 2 * at.MOST_WALLS  # distances to those walls
WALL_IMPULSE = WALL_GAP + at.MOST_WALLS  # for each wall: contact impulse, extrapolated impulse
# Displacement of its moving base, two numbers; how far that raises it.
BASE_DISPLACEMENT = WALL_IMPULSE + 2 * at.MOST_WALLS
BASE_RISE = BASE_DISPLACEMENT + 2
IS_OFF_GROUND = BASE_DISPLACEMENT + 3  # 1: in the air or on a character
IS_ON_CHARACTER = BASE_DISPLACEMENT + 4  # 1: on a character
# Height at which a fall onto the character below ends; -inf: none is below. The index of the
# character below in its group. 1: the character below is not in the air itself.
FLOOR_HEIGHT = BASE_DISPLACEMENT + 5
FLOOR_CHARACTER = BASE_DISPLACEMENT + 6
FLOOR_HOLDS = BASE_DISPLACEMENT + 7
SLIDE = BASE_DISPLACEMENT + 8  # displacement that slides it off the characters below
SECONDS_IN_AIR = BASE_DISPLACEMENT + 10
# How far its foot may be below the top of a character that it rolls onto over an edge of ground.
ROLL_DEPTH = BASE_DISPLACEMENT + 11
TRAVEL = BASE_DISPLACEMENT + 12  # length of the longer of its own and its solved displacement
# A number that follows from its key, -1..1: it breaks ties, and tells agents apart.
RANK = BASE_DISPLACEMENT + 13
ZEAL = BASE_DISPLACEMENT + 14  # share that is left of the rules for those who meet; see CIRCLING
MEETING = BASE_DISPLACEMENT + 15  # how squarely it meets another agent at most, 0..1
COMPANY = BASE_DISPLACEMENT + 16  # how well it walks along with a near agent at most, 0..1
OWN_TRAVEL = BASE_DISPLACEMENT + 17  # length of its own displacement
SPEED = BASE_DISPLACEMENT + 18  # length of its velocity
AGENT_SIZE = BASE_DISPLACEMENT + 19

# Columns of a pair, which is a contact of one agent with another one near it. Impulses are
# displacements times mass, as in position-based dynamics, in meters times _UNIT_MASS.
NORMAL = 0  # unit direction from the agent to the other one, two numbers
GAP = 2  # distance between their surfaces; < 0: they overlap
MASS_SHARE = 3  # the agent's share of the mass of both
ALLOWED_APPROACH = 4  # how far they may approach without an impulse; < 0: how far to part them
OWN_INVERSE_MASS, OTHER_INVERSE_MASS = 5, 6  # in this contact: an agent ahead yields less
EFFECTIVE_MASS = 7  # impulse per meter of missing gap; 0: they cannot touch in this update
IMPULSE = 8  # accumulated contact impulse
EXTRAPOLATED_IMPULSE = 9  # contact impulse, extrapolated by Nesterov's acceleration
# Direction in which the agent gives way to the other one, which it meets, two numbers; its length
# is how squarely they meet, 0..1.
WAY_ASIDE = 10
FOLLOWS = 12  # how alike the headings of both are, 0..1
WAITS = 13  # 1: the agent moves after the other one, which it pushes away
PAIR_SIZE = 14

# Largest speed at which overlapping agents are parted.
DEPENETRATION_SPEED = 3.0  # m/s, of both together

# Gap that a character keeps to another one that it follows, as a share of both radii together.
_FOLLOWING_GAP = 0.2

# The unit of mass in impulses, and the range that masses are clamped to, in kg.
_UNIT_MASS, _LEAST_MASS, _MOST_MASS = 80.0, 1e-9, 1e15

# ROLL_DEPTH of every agent, as a share of its radius.
_ROLL_SHARE = 0.3

# Most pairs of one agent; it keeps its nearest neighbors.
MOST_PAIRS = 64

# Cells are numbered in a range in which floats hold them exactly.
_MOST_CELLS = 1e15


class AgentGrid(NamedTuple):
    """The n agents of a crowd, sorted by the cells of a grid."""

    rows: Floats  # (n, AGENT_SIZE)
    order: Int64s  # (n,): the character of each agent
    cells: Int64s  # (n, 2): row and column of each
    starts: Int64s  # (buckets + 1,): where the agents of a bucket begin, 2^k buckets


class Pairs(NamedTuple):
    """The pairs of n agents, with room for a number of pairs of each."""

    counts: Int64s  # (n,): how many, at most MOST_PAIRS
    others: Int64s  # (n, room): the other agents, the nearest first
    rows: Floats  # (n, room, PAIR_SIZE)


@kernel(inline=True)
def _inverse_mass(mass: float) -> float:
    return _UNIT_MASS / min(max(mass, _LEAST_MASS), _MOST_MASS) if mass != 0.0 else 0.0


@kernel
def _may_be_on_moving_base(state: Floats, ground: GroundTable) -> bool:
    """Tell whether a character may stand on a moving base, which carries it before it moves."""
    if state[at.GROUNDED] == 0.0 or state[at.BASE_PART] < 0.0:
        return False
    return bool(
        state[at.ON_MOVING_BASE] != 0.0
        or (has_movers(ground) and mover_filtered(ground, float(state[at.BASE_PART])) > 0)
    )


@kernel
def _put_base_displacement(
    state: Floats, rules: Floats, body: Body, center: Vec3, seconds: float, ground: GroundTable,
    agent: Floats,
) -> None:  # fmt: skip
    """Write the displacement of a moving base, and the initial motion to the state."""
    is_teleported = teleport_or_nudge(state, rules, body)
    if state[at.MOVES_SEEN] < 0.0:
        ignore_moves(state, float(movers_of(ground)[0, COUNT_OF_MOVES]))
    moving_base = find_moving_base(state, rules, body, ground, seconds, is_teleported)
    if moving_base.row > 0:
        x, y, z = subtract(center_of(carried_to(moving_base, 1.0), body), center)
        agent[BASE_DISPLACEMENT], agent[BASE_DISPLACEMENT + 1], agent[BASE_RISE] = x, z, y


@kernel
def _put_agent(
    state: Floats, rules: Floats, seconds: float, ground: GroundTable, holds: bool, scratch: Floats,
    agent: Floats,
) -> None:  # fmt: skip
    """Write the agent of a character."""
    body, center = unpack_body(rules), center_at(state, rules)
    agent[X], agent[Z] = center[0], center[2]
    agent[BASE_DISPLACEMENT], agent[BASE_DISPLACEMENT + 1], agent[BASE_RISE] = 0.0, 0.0, 0.0
    if _may_be_on_moving_base(state, ground):
        for column in range(at.STATE_SIZE):
            scratch[column] = state[column]
        state = scratch
        _put_base_displacement(state, rules, body, center, seconds, ground, agent)
    height = center[1] + agent[BASE_RISE]
    agent[BOTTOM], agent[TOP] = height - body.half_extents[1], height + body.half_extents[1]
    motion = initial_motion(state, rules)
    displacement, velocity = free_displacement(motion, seconds)
    agent[RADIUS] = upright_radius(body)
    agent[AGENT_MASS], agent[INVERSE_MASS] = rules[at.MASS], _inverse_mass(float(rules[at.MASS]))
    agent[SWEPT_BOTTOM] = agent[BOTTOM] + min(displacement[1], 0.0)
    agent[SWEPT_TOP] = agent[TOP] + max(displacement[1], 0.0)
    agent[OWN_DISPLACEMENT], agent[OWN_DISPLACEMENT + 1] = (
        agent[BASE_DISPLACEMENT] + displacement[0],
        agent[BASE_DISPLACEMENT + 1] + displacement[2],
    )
    size = math.sqrt(displacement[0] * displacement[0] + displacement[2] * displacement[2])
    agent[HEADING] = displacement[0] / size if size > 0.0 else 0.0
    agent[HEADING + 1] = displacement[2] / size if size > 0.0 else 0.0
    agent[VELOCITY], agent[VELOCITY + 1] = velocity[0], velocity[2]
    agent[AGENT_LAYERS], agent[AGENT_MASK] = rules[at.LAYERS], rules[at.MASK]
    for k in range(2 * at.MOST_WALLS):
        agent[WALL_NORMAL + k] = state[at.WALLS + k]
    for k in range(at.MOST_WALLS):
        agent[WALL_GAP + k] = state[at.WALL_GAPS + k]
    on_character = state[at.GROUND_KIND] == at.ON_CHARACTER
    agent[IS_ON_CHARACTER] = 1.0 if on_character else 0.0
    agent[IS_OFF_GROUND] = 1.0 if on_character or state[at.GROUNDED] == 0.0 else 0.0
    agent[FLOOR_HEIGHT], agent[FLOOR_CHARACTER], agent[FLOOR_HOLDS] = -np.inf, -1.0, 0.0
    agent[SLIDE], agent[SLIDE + 1], agent[SECONDS_IN_AIR] = 0.0, 0.0, state[at.AIR_TIME]
    agent[ROLL_DEPTH] = _ROLL_SHARE * agent[RADIUS] if holds else -np.inf
    agent[ZEAL] = 1.0 - state[at.CIRCLING] if motion.walking else 0.0


@kernel(inline=True)
def _cell(x: float, size: float) -> int:
    return math.floor(min(max(x / size, -_MOST_CELLS), _MOST_CELLS))


@kernel(inline=True)
def _bucket(row: int, column: int, buckets: int) -> int:
    """Return the bucket of a cell in a hash table; ``buckets`` is a power of two.

    Adjacent cells of a row have adjacent buckets.
    """
    return ((row & 0xFFFFF) * 83492791 + column) & (buckets - 1)


@kernel(inline=True, no_refcount=True)
def _pin(agent: Floats) -> None:
    """Let an agent stand where it is, even in the air, and nobody push it."""
    agent[AGENT_MASS] = agent[INVERSE_MASS] = 0.0
    agent[BOTTOM], agent[TOP] = agent[BOTTOM] - agent[BASE_RISE], agent[TOP] - agent[BASE_RISE]
    agent[SWEPT_BOTTOM], agent[SWEPT_TOP] = agent[BOTTOM], agent[TOP]
    for column in (OWN_DISPLACEMENT, VELOCITY, HEADING, BASE_DISPLACEMENT):
        agent[column] = agent[column + 1] = 0.0
    agent[BASE_RISE] = agent[ZEAL] = agent[IS_OFF_GROUND] = agent[IS_ON_CHARACTER] = 0.0


@kernel
def _put_in_turn(
    states: Floats, rules: Floats, hits: Floats, seconds: float, table: Int64s, holds: bool,
    agents: Floats,
) -> tuple[float, float, float, bool]:  # fmt: skip
    """Write the agents of all characters, unsorted; arguments and results as of `put_agents`."""
    scratch, part_shifts = np.empty(at.STATE_SIZE), no_part_shifts()
    total, widest, longest, any_carried = 0.0, 0.0, 0.0, False
    for i in range(len(agents)):
        agent = agents[i]
        _put_agent(
            states[i * at.STATE_SIZE : (i + 1) * at.STATE_SIZE],
            rules[i * at.RULES_SIZE : (i + 1) * at.RULES_SIZE],
            seconds,
            ground_at(table, int(rules[i * at.RULES_SIZE + at.MASK]), part_shifts),
            holds,
            scratch,
            agent,
        )
        if is_left_out(hits[i * HITS_SIZE : (i + 1) * HITS_SIZE]):
            _pin(agent)
        total += agent[RADIUS]
        widest = max(widest, float(agent[RADIUS]))
        agent[OWN_TRAVEL], agent[SPEED] = (
            length_2d(agent, OWN_DISPLACEMENT),
            length_2d(agent, VELOCITY),
        )
        longest = max(longest, float(agent[OWN_TRAVEL]))
        any_carried = any_carried or length_2d(agent, BASE_DISPLACEMENT) != 0.0
    return 2.0 * total / len(agents), widest, longest, any_carried


@kernel
def _sort_by_cells(unsorted: Floats, size: float, grid: AgentGrid) -> None:
    """Write agents to a grid with cells of ``size`` by a counting sort over the buckets."""
    starts, buckets = grid.starts, len(grid.starts) - 1
    places = np.empty((len(unsorted), 3), dtype=np.int64)
    for b in range(buckets + 1):
        starts[b] = 0
    for i in range(len(unsorted)):
        row, column = _cell(float(unsorted[i, Z]), size), _cell(float(unsorted[i, X]), size)
        bucket = _bucket(row, column, buckets)
        places[i, 0], places[i, 1], places[i, 2] = row, column, bucket
        starts[bucket] += 1
    end = 0
    for b in range(buckets + 1):
        end += starts[b]
        starts[b] = end
    for i in range(len(unsorted)):
        bucket = places[i, 2]
        starts[bucket] -= 1
        k = starts[bucket]
        grid.order[k], grid.cells[k, 0], grid.cells[k, 1] = i, places[i, 0], places[i, 1]
        for column in range(AGENT_SIZE):
            grid.rows[k, column] = unsorted[i, column]


@kernel
def put_agents(
    states: Floats, rules: Floats, hits: Floats, seconds: float, table: Int64s, holds: bool,
    grid: AgentGrid,
) -> tuple[float, float, float, bool]:  # fmt: skip
    """Write the agents of n characters, sorted by cells.

    ``states``, ``rules``, ``hits`` and ``table`` are as of `update_characters`; ``holds`` tells
    whether characters stand on each other. Returns (size of a cell, greatest radius, longest own
    displacement, whether a moving base carries any).
    """
    unsorted = np.empty((len(grid.order), AGENT_SIZE))
    size, widest, longest, any_carried = _put_in_turn(
        states, rules, hits, seconds, table, holds, unsorted
    )
    _sort_by_cells(unsorted, size, grid)
    return size, widest, longest, any_carried


@kernel(inline=True, no_refcount=True)
def length_2d(values: Floats, column: int) -> float:
    """Return the length of a horizontal vector that begins at a column."""
    return math.sqrt(values[column] * values[column] + values[column + 1] * values[column + 1])


@kernel(inline=True, no_refcount=True)
def distance2_of(agents: Floats, i: int, k: int) -> float:
    x, z = agents[k, X] - agents[i, X], agents[k, Z] - agents[i, Z]
    return float(x * x + z * z)


@kernel(no_refcount=True)
def list_near(grid: AgentGrid, size: float, i: int, search_radius: float, near: Int64s) -> int:
    """Write the other agents with centers within a radius of agent i's; return how many."""
    agents, cells, starts = grid.rows, grid.cells, grid.starts
    x, z, buckets, found = float(agents[i, X]), float(agents[i, Z]), len(starts) - 1, 0
    first, last = _cell(x - search_radius, size), _cell(x + search_radius, size)
    low, high = _cell(z - search_radius, size), _cell(z + search_radius, size)
    most = search_radius * search_radius
    if (last - first + 1.0) * (high - low + 1.0) > len(agents):
        for k in range(len(agents)):
            if distance2_of(agents, i, k) <= most and k != i:
                near[found] = k
                found += 1
        return found
    for row in range(low, high + 1):
        column = first
        while column <= last:
            bucket = _bucket(row, column, buckets)
            run = min(last - column + 1, buckets - bucket)
            for k in range(starts[bucket], starts[bucket + run]):
                if cells[k, 0] == row and first <= cells[k, 1] <= last:
                    if distance2_of(agents, i, k) <= most and k != i:
                        near[found] = k
                        found += 1
            column += run
    return found


@kernel(inline=True, no_refcount=True)
def should_collide(agents: Floats, i: int, k: int) -> bool:
    """Tell whether the layers and masks of two agents let them collide."""
    a, b = (
        int(agents[i, AGENT_LAYERS]) & int(agents[k, AGENT_MASK]),
        int(agents[k, AGENT_LAYERS]) & int(agents[i, AGENT_MASK]),
    )
    return a != 0 and b != 0


@kernel(inline=True, no_refcount=True)
def is_above(agents: Floats, i: int, k: int) -> bool:
    """Tell whether an agent is high enough above another one to stand on it."""
    if (
        agents[i, IS_OFF_GROUND] == 0.0
        and agents[i, BOTTOM] < agents[k, TOP] - agents[i, ROLL_DEPTH]
    ):
        return False
    return bool(2.0 * agents[i, BOTTOM] >= agents[k, BOTTOM] + agents[k, TOP])


@kernel(inline=True, no_refcount=True)
def is_over_top(agents: Floats, i: int, k: int) -> bool:
    """Tell whether an agent is on or above another one, and overlaps it as seen from above."""
    radii = agents[i, RADIUS] + agents[k, RADIUS] - CROWD_SLOP
    return bool(distance2_of(agents, i, k) < radii * radii and is_above(agents, i, k))


@kernel
def _is_beside(agents: Floats, i: int, k: int, distance2: float, radii: float) -> bool:
    """Tell whether the heights of two agents overlap, now or anywhere along their displacements.

    Agents that overlap as seen from above are compared by their present heights only, and are
    never beside each other where one stands on the other.
    """
    if distance2 >= radii * radii:
        return bool(
            agents[i, SWEPT_BOTTOM] < agents[k, SWEPT_TOP] - ON_TOP_MARGIN
            and agents[k, SWEPT_BOTTOM] < agents[i, SWEPT_TOP] - ON_TOP_MARGIN
        )
    if is_over_top(agents, i, k) or is_over_top(agents, k, i):
        return False
    return bool(
        agents[i, BOTTOM] < agents[k, TOP] - ON_TOP_MARGIN
        and agents[k, BOTTOM] < agents[i, TOP] - ON_TOP_MARGIN
    )


@kernel(inline=True)
def _rank(word: np.uint64) -> float:
    """Return a number between -1 and 1, chosen by a random word; 0 is left out."""
    return float(word >> np.uint64(12)) * 2.0**-51 - (1.0 - 2.0**-52)


@kernel(inline=True)
def any_direction(word: np.uint64) -> tuple[float, float]:
    """Return a unit direction toward positive X, chosen by a random word."""
    t = float(word >> np.uint64(12)) * 2.0**-51 - 1.0
    return (1.0 - t * t) / (1.0 + t * t), 2.0 * t / (1.0 + t * t)


@kernel(inline=True)
def _drawn_direction(words: UInt64s, order: Int64s, i: int, k: int) -> tuple[float, float]:
    """Return a unit direction drawn from the words of two agents.

    Seen from the other agent the direction is the opposite, bit for bit.
    """
    a, b = words[order[i]], words[order[k]]
    x, z = any_direction(a ^ b)
    return (x, z) if a < b else (-x, -z)


@kernel
def _normal_and_gap(
    agents: Floats, words: UInt64s, order: Int64s, i: int, k: int
) -> tuple[float, float, float]:
    """Return (contact normal from one agent to another, two numbers; the gap between them).

    Seen from the other agent the normal is the opposite, bit for bit. For two agents at the same
    place, their words decide it.
    """
    x, z = float(agents[k, X] - agents[i, X]), float(agents[k, Z] - agents[i, Z])
    distance = math.sqrt(x * x + z * z)
    gap = distance - float(agents[i, RADIUS] + agents[k, RADIUS])
    if distance > 0.0:
        return x / distance, z / distance, gap
    x, z = _drawn_direction(words, order, i, k)
    return x, z, gap


@kernel(inline=True, no_refcount=True)
def mass_share(agents: Floats, i: int, k: int) -> float:
    """Return an agent's share of the mass of two; an immovable one has all."""
    own, other = float(agents[i, AGENT_MASS]), float(agents[k, AGENT_MASS])
    if own == 0.0:
        return 0.5 if other == 0.0 else 1.0
    return 0.0 if other == 0.0 else own / (own + other)


@kernel(no_refcount=True)
def _meeting_and_company(
    agents: Floats, i: int, k: int, x: float, z: float, gap: float
) -> tuple[float, float]:
    """Return how squarely two agents walk into each other, and how well along, 0..1 each.

    (x, z) is their normal. They do not meet if their headings differ by less than 60 degrees, nor
    are they company from 90 degrees on; far from each other they are neither. An agent that hardly
    moves, as at its goal, hardly meets others.
    """
    reach = float(agents[i, OWN_TRAVEL] + agents[k, OWN_TRAVEL])
    own, other = float(agents[i, SPEED]), float(agents[k, SPEED])
    if gap > reach + following_gap(agents, i, k) or min(own, other) <= 0.0:
        return 0.0, 0.0
    a, b = float(agents[i, HEADING]), float(agents[i, HEADING + 1])
    c, d = float(agents[k, HEADING]), float(agents[k, HEADING + 1])
    same, zeal = a * c + b * d, min(float(agents[i, ZEAL]), float(agents[k, ZEAL]))
    slower, faster = min(own, other), max(own, other)
    company = zeal * same * slower / faster if same > 0.0 else 0.0
    toward, back, facing = a * x + b * z, -(c * x + d * z), min(0.5 - same, 1.0)
    if min(toward, back, facing) <= 0.0:
        return 0.0, company
    return zeal * toward * back * facing * slower / faster, company


@kernel
def _put_pair(
    agents: Floats, words: UInt64s, order: Int64s, i: int, k: int, pair: Floats
) -> None:  # fmt: skip
    """Write what a pair of agents is before anyone moves, and what it makes of agent i."""
    x, z, gap = _normal_and_gap(agents, words, order, i, k)
    pair[NORMAL], pair[NORMAL + 1], pair[GAP] = x, z, gap
    pair[MASS_SHARE], pair[WAITS] = mass_share(agents, i, k), 0.0
    meeting, company = _meeting_and_company(agents, i, k, x, z, gap)
    agents[i, COMPANY] = max(float(agents[i, COMPANY]), company)
    pair[WAY_ASIDE], pair[WAY_ASIDE + 1] = 0.0, 0.0
    if meeting > 0.0:
        x, z = _drawn_direction(words, order, i, k)
        pair[WAY_ASIDE], pair[WAY_ASIDE + 1] = meeting * x, meeting * z
        agents[i, MEETING] = max(float(agents[i, MEETING]), meeting)


@kernel(inline=True)
def _common(a: float, b: float) -> float:
    """Return the common part of two displacements along a line; 0 if they are opposite."""
    return math.copysign(min(abs(a), abs(b)), a) if a * b > 0.0 else 0.0


@kernel(inline=True, no_refcount=True)
def common_base_displacement(agents: Floats, i: int, k: int, x: float, z: float) -> float:
    """Return how far moving bases carry two agents together in a direction.

    Seen from the other agent, in the opposite direction, the result is the opposite, bit for bit.
    """
    if agents[i, BASE_DISPLACEMENT] == 0.0 and agents[i, BASE_DISPLACEMENT + 1] == 0.0:
        return 0.0
    a = float(agents[i, BASE_DISPLACEMENT] * x + agents[i, BASE_DISPLACEMENT + 1] * z)
    return _common(
        a, float(agents[k, BASE_DISPLACEMENT] * x + agents[k, BASE_DISPLACEMENT + 1] * z)
    )


@kernel(inline=True, no_refcount=True)
def common_displacement(
    agents: Floats, displacements: Floats, i: int, k: int, x: float, z: float
) -> float:
    """Return how far moving bases carry two agents together, limited by their displacements."""
    carried = common_base_displacement(agents, i, k, x, z)
    if carried == 0.0:
        return 0.0
    carried = _common(carried, float(displacements[i, 0] * x + displacements[i, 1] * z))
    return _common(carried, float(displacements[k, 0] * x + displacements[k, 1] * z))


@kernel(inline=True, no_refcount=True)
def following_gap(agents: Floats, i: int, k: int) -> float:
    """Return the gap that an agent keeps to another one that it follows."""
    return _FOLLOWING_GAP * float(agents[i, RADIUS] + agents[k, RADIUS])


@kernel(no_refcount=True)
def _insert_nearest(
    near: Int64s, gaps: Floats, keys: UInt64s, count: int, k: int, gap: float, key: np.uint64
) -> int:
    """Insert a neighbor among the nearest, which are sorted; return how many there are."""
    place = min(count, MOST_PAIRS)
    while place > 0:
        before = float(gaps[place - 1])
        if before < gap or (before == gap and keys[place - 1] < key):
            break
        if place < MOST_PAIRS:
            near[place], gaps[place], keys[place] = near[place - 1], before, keys[place - 1]
        place -= 1
    if place < MOST_PAIRS:
        near[place], gaps[place], keys[place] = k, gap, key
    return min(count + 1, MOST_PAIRS)


@kernel
def list_pairs(
    grid: AgentGrid, size: float, widest: float, most: float, words: UInt64s, pairs: Pairs,
    first: int, last: int,
) -> int:  # fmt: skip
    """Write the pairs of agents first..last; two agents approach by at most ``most`` meters.

    The agents and the sizes are those of `put_agents`, after `find_characters_below`. ``words``
    (n,) are random words of the characters, all different. Returns the room that is needed; pairs
    without room are left out.
    """
    agents, order, counts, others = grid.rows, grid.order, pairs.counts, pairs.others
    found = np.empty(len(agents), dtype=np.int64)
    near, gaps = np.empty(MOST_PAIRS, dtype=np.int64), np.empty(MOST_PAIRS)
    keys = np.empty(MOST_PAIRS, dtype=np.uint64)
    needed, room = 0, others.shape[1]
    for i in range(first, last):
        radius = float(agents[i, RADIUS])
        search_radius = radius + widest + most + _FOLLOWING_GAP * (radius + widest)
        count = 0
        for j in range(list_near(grid, size, i, search_radius, found)):
            k, distance2 = found[j], distance2_of(agents, i, found[j])
            radii = radius + float(agents[k, RADIUS])
            farthest = radii + most + _FOLLOWING_GAP * radii
            if distance2 <= farthest * farthest and should_collide(agents, i, k):
                if _is_beside(agents, i, k, distance2, radii):
                    gap = math.sqrt(distance2) - radii
                    count = _insert_nearest(near, gaps, keys, count, k, gap, words[order[k]])
        needed, counts[i] = max(needed, count), min(count, room)
        agents[i, RANK] = _rank(words[order[i]])
        agents[i, MEETING] = agents[i, COMPANY] = 0.0
        for j in range(counts[i]):
            others[i, j] = near[j]
            _put_pair(agents, words, order, i, near[j], pairs.rows[i, j])
    return needed
