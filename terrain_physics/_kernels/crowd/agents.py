"""Characters of a crowd as upright cylinders, and the cells of a grid that find who is near.

Nothing here depends on the order of characters but the order in which they are found.
"""

import math

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.body import center_of, upright_radius
from terrain_physics._kernels.character.moving_base.moving_base import (
    carried_to,
    find_moving_base,
    ignore_moves,
)
from terrain_physics._kernels.character.state.initial_motion import (
    free_displacement,
    initial_motion,
)
from terrain_physics._kernels.character.state.layout import (
    AIR_TIME,
    BASE_PART,
    GROUND_KIND,
    GROUNDED,
    LAYERS,
    MASK,
    MASS,
    MOST_WALLS,
    MOVES_SEEN,
    OFFSET,
    ON_CHARACTER,
    ON_MOVING_BASE,
    POSITION,
    RULES_SIZE,
    STATE_SIZE,
    WALL_GAPS,
    WALLS,
    three_at,
    unpack_body,
)
from terrain_physics._kernels.character.state.teleport import teleport_or_nudge
from terrain_physics._kernels.ground.movers import COUNT_OF_MOVES, no_debts
from terrain_physics._kernels.ground.table import (
    GroundTable,
    ground_at,
    has_movers,
    mover_met,
    movers_of,
)
from terrain_physics._kernels.math.vec3 import Vec3, add, subtract
from terrain_physics._kernels.surface.shapes import Body
from terrain_physics._kernels.tolerances import CROWD_SLOP, ON_TOP_MARGIN
from terrain_physics._kernels.types import Floats, Int64s, UInt64s

# Columns of a disc: what others see of a character. Places and ways are horizontal.
X, Z, RADIUS = 0, 1, 2
WEIGHT = 3  # its mass; 0: immovable
LOW, HIGH = 4, 5  # heights of its ends
LOWEST, HIGHEST = 6, 7  # the same of all of its way
OWN_DISPLACEMENT = 8  # that it would go in this update if it were alone, two numbers; with its ride
SPEED = 10  # its velocity after that, two numbers
ON, MEETS = 12, 13  # layers that it is on, and that it meets
HEADING = 14  # unit direction in which it walks, two numbers; zeros: none
LIGHTNESS = 16  # how far it goes for a push of one; 0: nobody can push it
PREFERRED = 17  # the way that it wants to go among the others, two numbers, and how long it is
STIFFNESS = 20  # how much less it gives way because others and walls hold it; 0: nobody does
WALL = 21  # walls in its way: unit normals, two numbers each; zeros: none
WALL_GAP = WALL + 2 * MOST_WALLS  # how far away they are
WALL_IMPULSE = WALL_GAP + MOST_WALLS  # how hard each of them pushes it, and how hard it is taken to
CARRIED = WALL_IMPULSE + 2 * MOST_WALLS  # the way that what it stands on carries it, two numbers
CARRIED_UP = CARRIED + 2  # how far that carries it up
FALLS = CARRIED + 3  # 1: it stands on no ground, but may come to stand on somebody's head
IS_ON_CHARACTER = CARRIED + 4  # 1: it does
FLOOR = CARRIED + 5  # the height of that head, to which it falls at most; -inf: none is below
UNDER = CARRIED + 6  # whose it is
FLOOR_HOLDS = CARRIED + 7  # 1: that one does not fall itself
SLIDE = CARRIED + 8  # the way that it slides off heads, two numbers
IN_AIR = CARRIED + 10  # for how many seconds it has been off the ground
ROLLS = (
    CARRIED + 11
)  # how far below a head its foot may be that rolls over an edge of ground onto it
TRAVEL = CARRIED + 12  # how far it gets on its own way, or where others push it
AGENT_SIZE = CARRIED + 13

# Columns of a pair, of one character and another near it. Pushes are ways times mass.
ACROSS = 0  # unit direction from it to the other, two numbers
GAP = 2  # between the two; < 0: they overlap
SHARE = 3  # which share it has of the mass of both
LEFT = 4  # how far they may close up before they push each other; < 0: how far they are to part
YIELDS, OTHER_YIELDS = 5, 6  # how far each of the two goes for a push of one
EASE = 7  # how hard they push each other for each meter that they want too much
IMPULSE = 8  # how hard they do
TAKEN_IMPULSE = 9  # how hard they are taken to, which runs ahead
PAIR_SIZE = 10


# How fast those that overlap more are parted.
PARTING_SPEED = 3.0  # m/s, of both together

# How far characters stay from those that they follow, times the radii of both.
_ROOM_BETWEEN = 0.2

# Masses by which pushes are reckoned, in kg.
_UNIT_MASS, _LEAST_MASS, _MOST_MASS = 80.0, 1e-9, 1e15


# The same for all, times the radius.
_ROLL = 0.3

# Others that one character reckons with: the nearest.
MOST_PAIRS = 64

# Cells are numbered in a range in which their numbers are exact.
_MOST_CELLS = 1e15


@kernel(inline=True)
def _lightness(mass: float) -> float:
    return _UNIT_MASS / min(max(mass, _LEAST_MASS), _MOST_MASS) if mass != 0.0 else 0.0


@kernel
def _is_carried(state: Floats, ground: GroundTable) -> bool:
    """Tell whether what a character stands on may carry it before it moves."""
    if state[GROUNDED] == 0.0 or state[BASE_PART] < 0.0:
        return False
    return bool(
        state[ON_MOVING_BASE] != 0.0
        or (has_movers(ground) and mover_met(ground, float(state[BASE_PART])) > 0)
    )


@kernel
def _put_carried(
    state: Floats, rules: Floats, body: Body, center: Vec3, seconds: float, ground: GroundTable,
    agent: Floats,
) -> None:  # fmt: skip
    """Write how what a character stands on carries it; the state is as it sets out then."""
    is_teleported = teleport_or_nudge(state, rules, body)
    if state[MOVES_SEEN] < 0.0:
        ignore_moves(state, float(movers_of(ground)[0, COUNT_OF_MOVES]))
    carried = find_moving_base(state, rules, body, ground, seconds, is_teleported)
    if carried.row > 0:
        x, y, z = subtract(center_of(carried_to(carried, 1.0), body), center)
        agent[CARRIED], agent[CARRIED + 1], agent[CARRIED_UP] = x, z, y


@kernel
def _put_agent(
    state: Floats, rules: Floats, seconds: float, ground: GroundTable, holds: bool, scratch: Floats,
    agent: Floats,
) -> None:  # fmt: skip
    """Write what others see of a character."""
    body, center = unpack_body(rules), add(three_at(state, POSITION), three_at(rules, OFFSET))
    agent[X], agent[Z] = center[0], center[2]
    agent[CARRIED], agent[CARRIED + 1], agent[CARRIED_UP] = 0.0, 0.0, 0.0
    if _is_carried(state, ground):
        for column in range(STATE_SIZE):
            scratch[column] = state[column]
        state = scratch
        _put_carried(state, rules, body, center, seconds, ground, agent)
    height = center[1] + agent[CARRIED_UP]
    agent[LOW], agent[HIGH] = height - body.half_extents[1], height + body.half_extents[1]
    way, velocity = free_displacement(initial_motion(state, rules), seconds)
    agent[RADIUS] = upright_radius(body)
    agent[WEIGHT], agent[LIGHTNESS] = rules[MASS], _lightness(float(rules[MASS]))
    agent[LOWEST] = agent[LOW] + min(way[1], 0.0)
    agent[HIGHEST] = agent[HIGH] + max(way[1], 0.0)
    agent[OWN_DISPLACEMENT], agent[OWN_DISPLACEMENT + 1] = (
        agent[CARRIED] + way[0],
        agent[CARRIED + 1] + way[2],
    )
    size = math.sqrt(way[0] * way[0] + way[2] * way[2])
    agent[HEADING] = way[0] / size if size > 0.0 else 0.0
    agent[HEADING + 1] = way[2] / size if size > 0.0 else 0.0
    agent[SPEED], agent[SPEED + 1] = velocity[0], velocity[2]
    agent[ON], agent[MEETS] = rules[LAYERS], rules[MASK]
    for k in range(2 * MOST_WALLS):
        agent[WALL + k] = state[WALLS + k]
    for k in range(MOST_WALLS):
        agent[WALL_GAP + k] = state[WALL_GAPS + k]
    agent[IS_ON_CHARACTER] = 1.0 if state[GROUND_KIND] == ON_CHARACTER else 0.0
    agent[FALLS] = 1.0 if state[GROUNDED] == 0.0 or agent[IS_ON_CHARACTER] != 0.0 else 0.0
    agent[FLOOR], agent[UNDER], agent[FLOOR_HOLDS] = -np.inf, -1.0, 0.0
    agent[SLIDE], agent[SLIDE + 1], agent[IN_AIR] = 0.0, 0.0, state[AIR_TIME]
    agent[ROLLS] = _ROLL * agent[RADIUS] if holds else -np.inf


@kernel(inline=True)
def _cell(x: float, size: float) -> int:
    return math.floor(min(max(x / size, -_MOST_CELLS), _MOST_CELLS))


@kernel(inline=True)
def _bucket(row: int, column: int, buckets: int) -> int:
    """Return where a cell is in a table; ``buckets`` is a power of two.

    Cells beside each other in a row are beside each other there.
    """
    return ((row & 0xFFFFF) * 83492791 + column) & (buckets - 1)


@kernel
def put_agents(
    states: Floats,
    rules: Floats,
    seconds: float,
    table: Int64s,
    holds: bool,
    agents: Floats,
    order: Int64s,
    cells: Int64s,
    starts: Int64s,
) -> tuple[float, float, float, bool]:
    """Write the discs of n characters, sorted by cells.

    ``states``, ``rules`` and ``table`` are as of `update_characters`; ``holds`` tells whether one
    stands on heads. ``agents`` (n, AGENT_SIZE);
    ``order`` (n,): whose they are; ``cells`` (n, 2): row and column of each; ``starts`` (buckets +
    1,): where the discs of a bucket begin, with a power of two of buckets. Returns (size of a cell,
    greatest radius, longest way, whether anybody is carried).
    """
    count, buckets = len(order), len(starts) - 1
    found, debts = np.empty((count, AGENT_SIZE)), no_debts()
    scratch, rides = np.empty(STATE_SIZE), False
    total, widest, longest = 0.0, 0.0, 0.0
    for i in range(count):
        agent = found[i]
        _put_agent(
            states[i * STATE_SIZE : (i + 1) * STATE_SIZE],
            rules[i * RULES_SIZE : (i + 1) * RULES_SIZE],
            seconds,
            ground_at(table, int(rules[i * RULES_SIZE + MASK]), debts),
            holds,
            scratch,
            agent,
        )
        total += agent[RADIUS]
        widest = max(widest, float(agent[RADIUS]))
        longest = max(longest, travel(found[i], OWN_DISPLACEMENT))
        rides = rides or travel(found[i], CARRIED) != 0.0
    size = 2.0 * total / count
    places = np.empty((count, 3), dtype=np.int64)
    for b in range(buckets + 1):
        starts[b] = 0
    for i in range(count):
        row, column = _cell(float(found[i, Z]), size), _cell(float(found[i, X]), size)
        bucket = _bucket(row, column, buckets)
        places[i, 0], places[i, 1], places[i, 2] = row, column, bucket
        starts[bucket] += 1
    end = 0
    for b in range(buckets + 1):
        end += starts[b]
        starts[b] = end
    for i in range(count):
        bucket = places[i, 2]
        starts[bucket] -= 1
        k = starts[bucket]
        order[k], cells[k, 0], cells[k, 1] = i, places[i, 0], places[i, 1]
        for column in range(AGENT_SIZE):
            agents[k, column] = found[i, column]
    return size, widest, longest, rides


@kernel(inline=True, no_refcount=True)
def travel(values: Floats, way: int) -> float:
    """Return how long a way is that begins at a place of an array."""
    return math.sqrt(values[way] * values[way] + values[way + 1] * values[way + 1])


@kernel(inline=True, no_refcount=True)
def distance2_of(agents: Floats, i: int, k: int) -> float:
    x, z = agents[k, X] - agents[i, X], agents[k, Z] - agents[i, Z]
    return float(x * x + z * z)


@kernel
def list_near(
    agents: Floats,
    cells: Int64s,
    starts: Int64s,
    size: float,
    i: int,
    search_radius: float,
    near: Int64s,
) -> int:
    """Write which other discs have their centers within ``search_radius`` of one's; return how many."""
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
def meets(agents: Floats, i: int, k: int) -> bool:
    """Tell whether the layers of two characters let them meet."""
    a, b = int(agents[i, ON]) & int(agents[k, MEETS]), int(agents[k, ON]) & int(agents[i, MEETS])
    return a != 0 and b != 0


@kernel(inline=True, no_refcount=True)
def is_above(agents: Floats, i: int, k: int) -> bool:
    """Tell whether a character is so high above another one that it would be on its head."""
    if agents[i, FALLS] == 0.0 and agents[i, LOW] < agents[k, HIGH] - agents[i, ROLLS]:
        return False
    return bool(2.0 * agents[i, LOW] >= agents[k, LOW] + agents[k, HIGH])


@kernel(inline=True, no_refcount=True)
def is_over_top(agents: Floats, i: int, k: int) -> bool:
    """Tell whether a character is on another one's head or above it, by more than a touch."""
    radii = agents[i, RADIUS] + agents[k, RADIUS] - CROWD_SLOP
    return bool(distance2_of(agents, i, k) < radii * radii and is_above(agents, i, k))


@kernel
def _is_beside(agents: Floats, i: int, k: int, distance2: float, radii: float) -> bool:
    """Tell whether two characters are at the same height, or will be on their ways.

    Those above each other are not before they are, and not at all where one is on a head.
    """
    if distance2 >= radii * radii:
        return bool(
            agents[i, LOWEST] < agents[k, HIGHEST] - ON_TOP_MARGIN
            and agents[k, LOWEST] < agents[i, HIGHEST] - ON_TOP_MARGIN
        )
    if is_over_top(agents, i, k) or is_over_top(agents, k, i):
        return False
    return bool(
        agents[i, LOW] < agents[k, HIGH] - ON_TOP_MARGIN
        and agents[k, LOW] < agents[i, HIGH] - ON_TOP_MARGIN
    )


@kernel(inline=True)
def any_direction(word: np.uint64) -> tuple[float, float]:
    """Return a unit direction toward positive X that follows from a word."""
    t = float(word >> np.uint64(12)) * 2.0**-51 - 1.0
    return (1.0 - t * t) / (1.0 + t * t), 2.0 * t / (1.0 + t * t)


@kernel
def _between(
    agents: Floats, words: UInt64s, order: Int64s, i: int, k: int
) -> tuple[float, float, float]:
    """Return (unit direction from one character to another, two numbers; the gap between them).

    Seen from the other it is the opposite, bit for bit. Those at one place are in a direction that
    follows from their words.
    """
    x, z = float(agents[k, X] - agents[i, X]), float(agents[k, Z] - agents[i, Z])
    distance = math.sqrt(x * x + z * z)
    gap = distance - float(agents[i, RADIUS] + agents[k, RADIUS])
    if distance > 0.0:
        return x / distance, z / distance, gap
    a, b = words[order[i]], words[order[k]]
    x, z = any_direction(a ^ b)
    return (x, z, gap) if a < b else (-x, -z, gap)


@kernel(inline=True, no_refcount=True)
def share(agents: Floats, i: int, k: int) -> float:
    """Return which share a character has of the mass of two; one that is immovable has all."""
    own, other = float(agents[i, WEIGHT]), float(agents[k, WEIGHT])
    if own == 0.0:
        return 0.5 if other == 0.0 else 1.0
    return 0.0 if other == 0.0 else own / (own + other)


@kernel(inline=True)
def _common(a: float, b: float) -> float:
    """Return how far two ways along a line lead the same way."""
    return math.copysign(min(abs(a), abs(b)), a) if a * b > 0.0 else 0.0


@kernel(inline=True, no_refcount=True)
def common_carry(agents: Floats, i: int, k: int, x: float, z: float) -> float:
    """Return how far two are carried together in a direction.

    Seen from the other, in the opposite direction, it is the opposite, bit for bit.
    """
    if agents[i, CARRIED] == 0.0 and agents[i, CARRIED + 1] == 0.0:
        return 0.0
    a = float(agents[i, CARRIED] * x + agents[i, CARRIED + 1] * z)
    return _common(a, float(agents[k, CARRIED] * x + agents[k, CARRIED + 1] * z))


@kernel(inline=True, no_refcount=True)
def common_displacement(
    agents: Floats, displacements: Floats, i: int, k: int, x: float, z: float
) -> float:
    """Return how far two are carried together that get so far in the end."""
    carried = common_carry(agents, i, k, x, z)
    if carried == 0.0:
        return 0.0
    carried = _common(carried, float(displacements[i, 0] * x + displacements[i, 1] * z))
    return _common(carried, float(displacements[k, 0] * x + displacements[k, 1] * z))


@kernel(inline=True, no_refcount=True)
def room_between(agents: Floats, i: int, k: int) -> float:
    """Return how far a character stays from another one that it follows."""
    return _ROOM_BETWEEN * float(agents[i, RADIUS] + agents[k, RADIUS])


@kernel
def _put_near(
    near: Int64s, gaps: Floats, keys: UInt64s, count: int, k: int, gap: float, key: np.uint64
) -> int:
    """Add a character to the nearest ones listed, in order; return how many there are."""
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
    agents: Floats,
    order: Int64s,
    cells: Int64s,
    starts: Int64s,
    size: float,
    widest: float,
    most: float,
    words: UInt64s,
    counts: Int64s,
    others: Int64s,
    pairs: Floats,
    first: int,
    last: int,
) -> int:
    """Write whom discs first..last may meet that want no more than ``most`` meters together.

    ``counts`` (n,): how many, the nearest MOST_PAIRS at most; ``others`` (n, room) and ``pairs``
    (n, room, PAIR_SIZE): whom, the nearest first, and where. Other arrays are as of `put_agents`,
    with the numbers that it returned, after `find_characters_below`. ``words`` (n,) are those of the
    characters, all different.
    Returns how much room is needed; what there is no room for is left out.
    """
    found = np.empty(len(agents), dtype=np.int64)
    near, gaps = np.empty(MOST_PAIRS, dtype=np.int64), np.empty(MOST_PAIRS)
    keys = np.empty(MOST_PAIRS, dtype=np.uint64)
    needed, room = 0, others.shape[1]
    for i in range(first, last):
        radius = float(agents[i, RADIUS])
        search_radius = radius + widest + most + _ROOM_BETWEEN * (radius + widest)
        count = 0
        for j in range(list_near(agents, cells, starts, size, i, search_radius, found)):
            k, distance2 = found[j], distance2_of(agents, i, found[j])
            radii = radius + float(agents[k, RADIUS])
            farthest = radii + most + _ROOM_BETWEEN * radii
            if distance2 <= farthest * farthest and meets(agents, i, k):
                if _is_beside(agents, i, k, distance2, radii):
                    gap = math.sqrt(distance2) - radii
                    count = _put_near(near, gaps, keys, count, k, gap, words[order[k]])
        needed, counts[i] = max(needed, count), min(count, room)
        for j in range(counts[i]):
            k, pair = near[j], pairs[i, j]
            others[i, j] = k
            pair[ACROSS], pair[ACROSS + 1], pair[GAP] = _between(agents, words, order, i, k)
            pair[SHARE] = share(agents, i, k)
    return needed
