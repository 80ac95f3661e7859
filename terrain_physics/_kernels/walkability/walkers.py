"""Walkers, which decide edges by walking them: steered, judged and replaced between two updates.

A walker is placed at rest on the start of its edge and told to walk straight towards the end. If
it was in the air above the end or past it and did not arrive, it goes on from there once more, and
is told to stop. Walkers stand in slots; the next edge takes the slot of one that is
done. Each walks alone, so neither slots nor their order matter.
"""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.grounding import rise_of_slope
from terrain_physics._kernels.character.state.layout import (
    DRIVEN,
    GROUNDED,
    POSITION,
    SLOPE_COSINE,
    STATE_SIZE,
    STEP_OFFSET,
    UNDISTURBED,
    VELOCITY,
    gravity_of,
    three_at,
)
from terrain_physics._kernels.tolerances import WALL_CLEARANCE
from terrain_physics._kernels.types import Bytes, Floats, Int64s, UInt64s
from terrain_physics._kernels.walkability.layout import (
    DROP,
    NO_EDGE,
    STEP,
    WALK,
    PlaceArrays,
    aside_of,
    column_step,
    grid_point,
    is_aside,
    row_step,
)

# A walker has arrived if it stands within this share of the spacing of the other place; where one
# of both is aside, as on stairs, within that on the level, and a riser above: one a riser below has
# yet to climb. It has lost its way if it is farther from the way than the next share; it stops in
# the air within the last.
_ARRIVED_SHARE, _LOST_SHARE, _STOP_SHARE = 0.25, 0.5, 0.125

# It has so many times the time that its way takes.
_TIMES = 3.0

# Columns of a walker: its edge; the updates that it has left; the height at which it was last on
# the ground; how far it has fallen; whether it was in the air now and ever, over its end, and took
# a riser; whether it is to stop, and has; its last position.
EDGE, LEFT, GROUND_HEIGHT, FALLEN, IN_AIR, WAS_IN_AIR, WAS_OVER_END, TOOK_RISER = range(8)
MAY_STOP, STOPS, LAST_X, LAST_Y, LAST_Z = range(8, 13)
WALKER_SIZE = 13

# Verdicts on a walker: how its edge stands.
_GOES_ON, _FAILS, _LACKS_TIME, _ARRIVES = 0, 1, 2, 3

# Progress of all: the next edge that no walker has begun, and how many slots walk.
NEXT, WALKING = 0, 1
PROGRESS_SIZE = 2


class Edges(NamedTuple):
    """Edges to walk, and walkers at rest on their starts."""

    starts: Int64s  # (n,): numbers of places
    directions: Int64s  # (n,)
    at_rest: Int64s  # (n,): the row of the walker at rest on the start
    states: Floats  # (m * STATE_SIZE,): those at rest
    draws: UInt64s  # (m,)
    kinds: Bytes  # (n,): what was found
    levels: Bytes  # (n,)


class Slots(NamedTuple):
    """Walkers at work."""

    states: Floats  # (k * STATE_SIZE,)
    draws: UInt64s  # (k,)
    walkers: Floats  # (k, WALKER_SIZE)
    states_before: Floats  # (k * STATE_SIZE,): before the last update
    draws_before: UInt64s  # (k,)
    states_over_end: Floats  # (k * STATE_SIZE,): when they were in the air over the end first
    draws_over_end: UInt64s  # (k,)
    walkers_over_end: Floats  # (k, WALKER_SIZE)


class Way(NamedTuple):
    """How all walk; in meters and seconds."""

    speed: float
    max_drop: float
    step_offset: float
    slope_cosine: float
    fall_time: float  # of a fall by ``max_drop``
    rate: float  # of updates, in 1/s


class _Course(NamedTuple):
    """The straight line of one edge."""

    start_x: float
    start_z: float
    ahead_x: float
    ahead_z: float
    length: float
    column: int  # of the end: its place on level 0
    is_aside: bool  # its start


@kernel(inline=True, no_refcount=True)
def way_of(speed: float, max_drop: float, rate: float, rules: Floats) -> Way:
    """Return how characters of some rules (RULES_SIZE,) walk."""
    gravity = gravity_of(rules)
    fall_time = math.sqrt(2.0 * max_drop / gravity) if gravity > 0.0 else 0.0
    step, cosine = float(rules[STEP_OFFSET]), float(rules[SLOPE_COSINE])
    return Way(speed, max_drop, step, cosine, fall_time, rate)


@kernel(no_refcount=True)
def _course(places: PlaceArrays, start: int, direction: int) -> _Course:
    """Return the line of an edge, whose end is in the grid."""
    on_level = start % (places.rows * places.columns)
    row, column = on_level // places.columns, on_level % places.columns
    rows, columns = row_step(direction), column_step(direction)
    steps = math.sqrt(float(rows * rows + columns * columns))
    course = _Course(
        places.lower_x + places.spacing * column,
        places.lower_z + places.spacing * row,
        columns / steps,
        rows / steps,
        places.spacing * steps,
        (row + rows) * places.columns + column + columns,
        is_aside(places, start),
    )
    end = _end_ahead(places, start, course.column)
    if not (course.is_aside or is_aside(places, end)):
        return course
    (x, z), (to_x, to_z) = aside_of(places, start), aside_of(places, end)
    dx, dz = places.spacing * columns + to_x - x, places.spacing * rows + to_z - z
    size = math.sqrt(dx * dx + dz * dz)
    ahead_x, ahead_z = (dx / size, dz / size) if size > 0.0 else (0.0, 0.0)
    start_x, start_z = course.start_x + x, course.start_z + z
    return _Course(start_x, start_z, ahead_x, ahead_z, size, course.column, course.is_aside)


@kernel(no_refcount=True)
def _end_ahead(places: PlaceArrays, start: int, column: int) -> int:
    """Return the place of a column that is nearest in height to a start; on level 0 if none is."""
    if len(places.asides) == 0:
        return column
    best, least = column, math.inf
    for level in range(places.levels):
        place = level * places.rows * places.columns + column
        apart = abs(np.float64(places.heights[place]) - np.float64(places.heights[start]))
        if apart < least:
            best, least = place, apart
    return best


@kernel(no_refcount=True)
def _has_ends(places: PlaceArrays, start: int, direction: int) -> bool:
    """Tell whether a character can rest on the start of an edge and above its end."""
    size = places.rows * places.columns
    row = start % size // places.columns + row_step(direction)
    column = start % places.columns + column_step(direction)
    if not (0 <= row < places.rows and 0 <= column < places.columns):
        return False
    end = row * places.columns + column
    return not (math.isnan(places.heights[start]) or math.isnan(places.heights[end]))


@kernel(no_refcount=True)
def _nearest_level(
    places: PlaceArrays, way: Way, course: _Course, x: float, y: float, z: float
) -> int:
    """Return the level of the end that a position is near enough to; -1: none."""
    size = places.rows * places.columns
    limit = _ARRIVED_SHARE * places.spacing
    best, nearest = -1, math.inf
    end_x, end_z = grid_point(places, course.column)
    dx, dz = x - end_x, z - end_z
    for level in range(places.levels):
        place = level * size + course.column
        aside_x, aside_z = aside_of(places, place)
        flat = (dx - aside_x) * (dx - aside_x) + (dz - aside_z) * (dz - aside_z)
        dy = y - float(places.heights[place])
        squared = flat + dy * dy
        is_near = squared <= limit * limit
        if course.is_aside or is_aside(places, place):  # on stairs, a walker may be a step higher
            is_near = flat <= limit * limit and -limit <= dy <= max(limit, way.step_offset)
        if is_near and squared < nearest:
            best, nearest = level, squared
    return best


@kernel
def _updates(way: Way, length: float, may_stop: bool) -> float:
    """Return how many updates a walker has for a way."""
    seconds = _TIMES * length / way.speed + (way.fall_time if may_stop else 0.0)
    return math.floor(seconds * way.rate + 1e-9)


@kernel(no_refcount=True)
def _put_at_rest(edges: Edges, slots: Slots, way: Way, slot: int, length: float) -> None:
    """Put a walker that has its edge on the start of it, with its time."""
    walkers, edge = slots.walkers, int(slots.walkers[slot, EDGE])
    at_rest = int(edges.at_rest[edge])
    for k in range(STATE_SIZE):
        slots.states[slot * STATE_SIZE + k] = edges.states[at_rest * STATE_SIZE + k]
    slots.draws[slot] = edges.draws[at_rest]
    for k in range(LEFT, WALKER_SIZE):
        walkers[slot, k] = 0.0
    walkers[slot, LEFT] = _updates(way, length, False)
    place = slot * STATE_SIZE + POSITION
    for k in range(3):
        walkers[slot, LAST_X + k] = slots.states[place + k]
    walkers[slot, GROUND_HEIGHT] = slots.states[place + 1]
    slots.states_before[slot * STATE_SIZE] = math.inf  # no state is the same


@kernel(no_refcount=True)
def _begin_next(
    places: PlaceArrays, way: Way, edges: Edges, slots: Slots, progress: Int64s, slot: int
) -> bool:
    """Put a walker on the next edge that has both ends; tell whether there was one."""
    while progress[NEXT] < len(edges.starts):
        edge = int(progress[NEXT])
        progress[NEXT] += 1
        start, direction = int(edges.starts[edge]), int(edges.directions[edge])
        edges.kinds[edge], edges.levels[edge] = NO_EDGE, 0
        at_rest = int(edges.at_rest[edge]) * STATE_SIZE
        if _has_ends(places, start, direction) and edges.states[at_rest + GROUNDED] != 0.0:
            slots.walkers[slot, EDGE] = edge
            _put_at_rest(edges, slots, way, slot, _course(places, start, direction).length)
            return True
    return False


@kernel(no_refcount=True)
def _steer(slots: Slots, way: Way, course: _Course, slot: int) -> bool:
    """Tell a walker to walk on, or to stop; tell whether its state differs from the last one.

    An update of the same state gives the same again.
    """
    start, states, before = slot * STATE_SIZE, slots.states, slots.states_before
    speed = 0.0 if slots.walkers[slot, STOPS] != 0.0 else way.speed
    states[start + VELOCITY] = speed * course.ahead_x
    states[start + VELOCITY + 2] = speed * course.ahead_z
    states[start + DRIVEN], states[start + UNDISTURBED] = 1.0, 0.0
    differs = bool(slots.draws[slot] != slots.draws_before[slot])
    slots.draws_before[slot] = slots.draws[slot]
    for k in range(start, start + STATE_SIZE):
        if before[k] != states[k]:
            differs, before[k] = True, states[k]
    return differs


@kernel(no_refcount=True)
def _note_heights(slots: Slots, way: Way, slot: int) -> bool:
    """Note how a walker rose and fell in an update; tell whether it fell too far."""
    own, place = slots.walkers, slot * STATE_SIZE + POSITION
    x, y, z = three_at(slots.states, place)
    dx, dy, dz = x - own[slot, LAST_X], y - own[slot, LAST_Y], z - own[slot, LAST_Z]
    rise = rise_of_slope(math.sqrt(dx * dx + dz * dz), way.slope_cosine)
    if abs(dy) > rise + WALL_CLEARANCE:
        own[slot, TOOK_RISER] = 1.0
    own[slot, LAST_X], own[slot, LAST_Y], own[slot, LAST_Z] = x, y, z
    fallen = own[slot, GROUND_HEIGHT] - y
    if slots.states[slot * STATE_SIZE + GROUNDED] == 0.0:
        own[slot, IN_AIR] = own[slot, WAS_IN_AIR] = 1.0
        return bool(fallen > way.max_drop)
    if own[slot, IN_AIR] != 0.0:
        own[slot, FALLEN] = max(own[slot, FALLEN], fallen)
    own[slot, IN_AIR], own[slot, GROUND_HEIGHT] = 0.0, y
    return bool(own[slot, FALLEN] > way.max_drop)


@kernel(no_refcount=True)
def _judge(
    places: PlaceArrays, way: Way, course: _Course, slots: Slots, slot: int
) -> tuple[int, int]:
    """Return the verdict on a walker after an update, and the level that it arrived at."""
    own = slots.walkers
    if _note_heights(slots, way, slot):
        return _FAILS, 0
    x, y, z = float(own[slot, LAST_X]), float(own[slot, LAST_Y]), float(own[slot, LAST_Z])
    if own[slot, IN_AIR] == 0.0:
        level = _nearest_level(places, way, course, x, y, z)
        if level >= 0:
            return _ARRIVES, level
    dx, dz = x - course.start_x, z - course.start_z
    along = dx * course.ahead_x + dz * course.ahead_z
    aside = abs(dx * course.ahead_z - dz * course.ahead_x)
    beyond, lost = along - course.length, _LOST_SHARE * places.spacing
    if aside > lost or along < -lost or beyond > lost:
        return _FAILS, 0
    own[slot, LEFT] -= 1.0
    off, near = max(-beyond, 0.0), _STOP_SHARE * places.spacing
    is_over_end = off * off + aside * aside <= near * near or beyond >= 0.0
    if is_over_end and own[slot, IN_AIR] != 0.0:
        if own[slot, WAS_OVER_END] == 0.0:
            own[slot, WAS_OVER_END] = 1.0
            _keep_over_end(slots, slot)
        own[slot, STOPS] = own[slot, MAY_STOP]
    return (_LACKS_TIME, 0) if own[slot, LEFT] <= 0.0 else (_GOES_ON, 0)


@kernel(no_refcount=True)
def _keep_over_end(slots: Slots, slot: int) -> None:
    """Keep a walker as it is, to let it stop here if it does not arrive."""
    for k in range(WALKER_SIZE):
        slots.walkers_over_end[slot, k] = slots.walkers[slot, k]
    slots.draws_over_end[slot] = slots.draws[slot]
    for k in range(slot * STATE_SIZE, (slot + 1) * STATE_SIZE):
        slots.states_over_end[k] = slots.states[k]


@kernel(no_refcount=True)
def _put_over_end(slots: Slots, slot: int) -> None:
    """Put a walker back to where it was over the end first, and let it stop."""
    for k in range(WALKER_SIZE):
        slots.walkers[slot, k] = slots.walkers_over_end[slot, k]
    slots.draws[slot] = slots.draws_over_end[slot]
    for k in range(slot * STATE_SIZE, (slot + 1) * STATE_SIZE):
        slots.states[k] = slots.states_over_end[k]
    slots.states_before[slot * STATE_SIZE] = math.inf  # no state is the same
    slots.walkers[slot, STOPS] = 1.0


@kernel(no_refcount=True)
def _tries_again(slots: Slots, slot: int, verdict: int) -> bool:
    """Tell whether a walker that failed might arrive if it may stop in the air.

    One that was never over its end would walk the same again, unless it lacked time.
    """
    own = slots.walkers
    if own[slot, MAY_STOP] != 0.0 or own[slot, WAS_IN_AIR] == 0.0:
        return False
    return bool(own[slot, WAS_OVER_END] != 0.0 or verdict == _LACKS_TIME)


@kernel(no_refcount=True)
def _kind_walked(slots: Slots, slot: int, step_offset: float) -> int:
    """Return the kind of an edge whose walker has arrived."""
    if slots.walkers[slot, FALLEN] > step_offset:
        return DROP
    return STEP if slots.walkers[slot, TOOK_RISER] != 0.0 else WALK


@kernel(no_refcount=True)
def _goes_on(places: PlaceArrays, way: Way, edges: Edges, slots: Slots, slot: int) -> bool:
    """Judge a walker; tell whether it walks on, perhaps once more from over its end."""
    edge = int(slots.walkers[slot, EDGE])
    course = _course(places, int(edges.starts[edge]), int(edges.directions[edge]))
    verdict, level = _judge(places, way, course, slots, slot)
    if verdict == _ARRIVES:
        edges.kinds[edge] = _kind_walked(slots, slot, way.step_offset)
        edges.levels[edge] = level
        return False
    if verdict == _GOES_ON and not _steer(slots, way, course, slot):
        verdict = _FAILS  # it stays as it is for ever
    if verdict == _GOES_ON:
        return True
    if not _tries_again(slots, slot, verdict):
        return False
    own = slots.walkers
    if own[slot, WAS_OVER_END] != 0.0:
        _put_over_end(slots, slot)
    own[slot, MAY_STOP] = 1.0
    own[slot, LEFT] += _updates(way, course.length, True) - _updates(way, course.length, False)
    _steer(slots, way, course, slot)
    return bool(own[slot, LEFT] > 0.0)


@kernel(no_refcount=True)
def _take_slot(
    places: PlaceArrays, way: Way, edges: Edges, slots: Slots, progress: Int64s, slot: int
) -> bool:
    """Let a walker of the next edge begin in a slot; tell whether there is one."""
    if not _begin_next(places, way, edges, slots, progress, slot):
        return False
    edge = int(slots.walkers[slot, EDGE])
    course = _course(places, int(edges.starts[edge]), int(edges.directions[edge]))
    _steer(slots, way, course, slot)
    return True


@kernel(no_refcount=True)
def _move(slots: Slots, source: int, target: int) -> None:
    """Move a walker to another slot."""
    for k in range(WALKER_SIZE):
        slots.walkers[target, k] = slots.walkers[source, k]
    slots.draws[target] = slots.draws[source]
    slots.draws_before[target] = slots.draws_before[source]
    for k in range(STATE_SIZE):
        to, at = target * STATE_SIZE + k, source * STATE_SIZE + k
        slots.states[to], slots.states_before[to] = slots.states[at], slots.states_before[at]
    if slots.walkers[source, WAS_OVER_END] != 0.0:
        for k in range(WALKER_SIZE):
            slots.walkers_over_end[target, k] = slots.walkers_over_end[source, k]
        slots.draws_over_end[target] = slots.draws_over_end[source]
        for k in range(STATE_SIZE):
            to, at = target * STATE_SIZE + k, source * STATE_SIZE + k
            slots.states_over_end[to] = slots.states_over_end[at]


@kernel
def steer_walkers(
    places: PlaceArrays,
    speed: float,
    max_drop: float,
    rate: float,
    rules: Floats,
    edges: Edges,
    slots: Slots,
    progress: Int64s,
) -> int:
    """Judge all walkers after an update, and steer them for the next one; return how many walk.

    ``rules`` (RULES_SIZE,) are those of each. Those that walk are in the first slots. ``progress``
    (PROGRESS_SIZE,) begins with zeros. All edges are done when none walks.
    """
    way = way_of(speed, max_drop, rate, rules)
    slot, walking = 0, int(progress[WALKING])
    while slot < walking:
        if not _goes_on(places, way, edges, slots, slot) and not _take_slot(
            places, way, edges, slots, progress, slot
        ):
            walking -= 1
            if slot < walking:
                _move(slots, walking, slot)
            continue
        slot += 1
    while walking < len(slots.draws) and _take_slot(places, way, edges, slots, progress, walking):
        walking += 1
    progress[WALKING] = walking
    return walking
