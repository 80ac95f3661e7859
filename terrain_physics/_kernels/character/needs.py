"""Needs: the ground that each character may look at in an update, where a part may not be there.

Before an update each awake character gets a box of ground, seen from above, and what brings the
ground tells which characters must wait. Those are left out of the update. The box is a bound for
all usual ways. It need not hold for all: an update that looks farther is undone, and the character
has strayed. So no result ever depends on ground that was not asked for.
"""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.body import foot_of
from terrain_physics._kernels.character.reports.hits import HITS_SIZE, NEED, NEED_MARK
from terrain_physics._kernels.character.sleep.sleep import is_asleep
from terrain_physics._kernels.character.state import layout as at
from terrain_physics._kernels.character.state.layout import (
    center_at,
    gravity_of,
    three_at,
    unpack_body,
)
from terrain_physics._kernels.ground.movers import (
    IS_MOBILE,
    PUT,
    any_reaches,
    frame_now,
    frame_seen,
    has_moved,
    looked,
    may_meet,
    no_part_shifts,
    surface_velocity,
)
from terrain_physics._kernels.ground.table import (
    GroundTable,
    ground_at,
    has_movers,
    maps_of,
    mover_filtered,
    movers_of,
    reaches_of,
)
from terrain_physics._kernels.math.rigid import to_local, to_world
from terrain_physics._kernels.math.vec3 import Vec3, add, length, subtract
from terrain_physics._kernels.surface.ground_arrays import MAP_LAYERS
from terrain_physics._kernels.surface.shapes import Body
from terrain_physics._kernels.types import Floats, Int64s

# Marks. On ground that is all there, and between updates, a character is not bound to a box, or has
# waited for the last update. Asleep, it needs nothing, but others may push it. Those that go need
# the box; those that wait are left out, as are those that are done, when others are updated once
# more. An update leaves those strayed that looked beyond the box, and those woken that were asleep,
# and have moved within it.
UNBOUND, HAS_WAITED, ASLEEP, GOES, WOKEN, STRAYED, WAITS, DONE = range(8)

# Room around the box for all that has no bound of its own, such as pushes out of walls; and how far
# within it all looks must stay, for the rounding of other boxes. Unit: m.
_ROOM, _WITHIN = 0.1, 0.01

# Farthest way that a box is made for, as a box holds all directions. Who goes farther strays, and
# then gets the box of its way alone. Unit: m.
_FARTHEST = 256.0


@kernel(inline=True, no_refcount=True)
def is_left_out(row: Floats) -> bool:
    """Tell whether an update leaves out a character, by its row of hits."""
    return bool(row[NEED_MARK] >= WAITS)


@kernel(inline=True, no_refcount=True)
def is_bound(row: Floats) -> bool:
    """Tell whether a character may look at the ground in its box alone, by its row of hits."""
    return bool(row[NEED_MARK] > HAS_WAITED)


@kernel(inline=True, no_refcount=True)
def strays(row: Floats, part_shifts: Floats) -> bool:
    """Tell whether a character has looked beyond its box, and mark it.

    The box of one that has strayed grows by what it looked at.
    """
    least_x, least_z, most_x, most_z = looked(part_shifts)
    least_x, least_z = least_x - _WITHIN, least_z - _WITHIN
    most_x, most_z = most_x + _WITHIN, most_z + _WITHIN
    if (
        least_x >= row[NEED]
        and least_z >= row[NEED + 1]
        and most_x <= row[NEED + 2]
        and most_z <= row[NEED + 3]
    ):
        if row[NEED_MARK] == ASLEEP:
            row[NEED_MARK] = WOKEN
        return False
    row[NEED_MARK] = STRAYED
    row[NEED] = min(row[NEED], least_x - _ROOM)
    row[NEED + 1] = min(row[NEED + 1], least_z - _ROOM)
    row[NEED + 2] = max(row[NEED + 2], most_x + _ROOM)
    row[NEED + 3] = max(row[NEED + 3], most_z + _ROOM)
    return True


@kernel(inline=True, no_refcount=True)
def _distance(state: Floats, rules: Floats, seconds: float) -> float:
    """Return how far a body may go in an update, whatever turns it: all of its speed, and a fall.

    It may also take the velocity of its base along. Only who is faster than anything real goes
    farther.
    """
    speed = length(three_at(state, at.VELOCITY)) + length(three_at(state, at.BASE_VELOCITY))
    if rules[at.MATERIAL_RULES] != 0.0:
        speed *= max(float(rules[at.SPEED_FACTOR]), 1.0)
    distance = (speed + float(state[at.EXCESS]) + abs(gravity_of(rules)) * seconds) * seconds
    return min(distance, _FARTHEST)


@kernel(inline=True, no_refcount=True)
def _reach(half: float, least: float, distance: float) -> float:
    """Return how far from a body of a half extent an update looks, which may move it so far.

    Steps that share a look go up to ``far``, see `substeps.cut`; one up a step looks twice as wide.
    """
    far = max(min(2.0 * distance, 3.0 * least), 0.2 * least)
    return distance + 2.0 * (half + far) + _ROOM


@kernel(inline=True)
def _carried(state: Floats, ground: GroundTable, foot: Vec3, seen: float) -> tuple[Vec3, float]:
    """Return the displacement of a body by its moving base, and the speed of the base's surface."""
    none = (0.0, 0.0, 0.0)
    if state[at.GROUNDED] == 0.0 or state[at.BASE_PART] < 0.0:
        return none, 0.0
    movers, row = movers_of(ground), mover_filtered(ground, float(state[at.BASE_PART]))
    if row == 0 or movers[row, PUT] > seen:
        return none, 0.0
    start = to_local(frame_seen(movers, row, seen), foot)
    if state[at.ON_MOVING_BASE] != 0.0:
        start = three_at(state, at.BASE_POINT)
    end = to_world(frame_now(movers, row), start)
    return subtract(end, foot), length(surface_velocity(movers, row))


@kernel(inline=True)
def _pushed(ground: GroundTable, center: Vec3, seen: float, reach: float) -> float:
    """Return how far moving parts within reach of a body may push it."""
    movers, most, wide = movers_of(ground), 0.0, (reach, reach, reach)
    lower, upper = subtract(center, wide), add(center, wide)
    if not any_reaches(reaches_of(ground), len(movers) - 1, lower, upper):
        return 0.0
    for row in range(1, len(movers)):
        if (
            movers[row, IS_MOBILE] != 0.0
            and has_moved(movers, row, seen)
            and may_meet(movers, row, lower, upper)
        ):
            before, now = frame_seen(movers, row, seen), frame_now(movers, row)
            most = max(most, length(subtract(to_world(now, to_local(before, center)), center)))
    return 2.0 * most  # it may be pushed on at the speed of the part


@kernel(noinline=True, no_refcount=True)
def _widen_by_parts(
    state: Floats, ground: GroundTable, body: Body, center: Vec3, seconds: float, reach: float,
    need: Floats,
) -> None:  # fmt: skip
    """Widen a box by how far moving parts carry, push and squeeze the body."""
    seen = float(state[at.MOVES_SEEN])
    if seen < 0.0:
        seen = np.inf
    carried, speed = _carried(state, ground, foot_of(center, body), seen)
    more = speed * seconds + _pushed(ground, center, seen, reach)
    for k in range(at.SQUEEZED, at.SQUEEZED + 3 * at.MOST_SQUEEZING):
        more = max(more, abs(state[k]))
    need[0] += min(carried[0], 0.0) - more
    need[1] += min(carried[2], 0.0) - more
    need[2] += max(carried[0], 0.0) + more
    need[3] += max(carried[2], 0.0) + more


@kernel(inline=True, no_refcount=True)
def _has_land(ground: GroundTable) -> bool:
    """Tell whether any map exists for a character, on the layers of its mask."""
    maps = maps_of(ground)
    for which in range(len(maps)):
        if maps[which, MAP_LAYERS] & ground.mask != 0:
            return True
    return False


@kernel(no_refcount=True)
def _put_need(
    state: Floats, rules: Floats, seconds: float, ground: GroundTable, need: Floats
) -> float:
    """Write the box of ground that a character needs; return how far it may go by itself."""
    body, center = unpack_body(rules), center_at(state, rules)
    distance = _distance(state, rules, seconds)
    reach_x = _reach(body.half_extents[0], body.least, distance)
    reach_z = _reach(body.half_extents[2], body.least, distance)
    need[0], need[1] = center[0] - reach_x, center[2] - reach_z
    need[2], need[3] = center[0] + reach_x, center[2] + reach_z
    if has_movers(ground):
        reach = max(reach_x, reach_z) + body.half_extents[1]
        _widen_by_parts(state, ground, body, center, seconds, reach, need)
    return distance


@kernel
def put_needs(
    states: Floats,
    rules: Floats,
    hits: Floats,
    seconds: float,
    in_crowd: bool,
    which: Int64s,
    boxes: Floats,
    table: Int64s,
) -> tuple[int, float]:
    """Write the needs of all n characters in an update to their rows of ``hits``.

    The arrays are as of `update_characters`. In a crowd those asleep get a box too, for a push.
    Those that go are also listed, in ``which`` (n,) and ``boxes`` (n, 4). Returns how many go, and
    how far they go at most.
    """
    count, farthest, part_shifts = 0, 0.0, no_part_shifts()
    for i in range(len(which)):
        state = states[i * at.STATE_SIZE : (i + 1) * at.STATE_SIZE]
        own_rules = rules[i * at.RULES_SIZE : (i + 1) * at.RULES_SIZE]
        sleeps = is_asleep(state, own_rules)
        if sleeps and not in_crowd:
            continue  # its row of hits need not be read: most characters sleep most of the time
        row = hits[i * HITS_SIZE : (i + 1) * HITS_SIZE]
        ground = ground_at(table, int(own_rules[at.MASK]), part_shifts)
        if not _has_land(ground):
            row[NEED_MARK] = UNBOUND
            continue
        row[NEED_MARK] = ASLEEP if sleeps else GOES
        distance = _put_need(state, own_rules, seconds, ground, row[NEED:NEED_MARK])
        if not sleeps:
            which[count] = i
            for k in range(4):
                boxes[count, k] = row[NEED + k]
            count, farthest = count + 1, max(farthest, distance)
    return count, farthest


@kernel
def list_marked(hits: Floats, mark: float, which: Int64s, boxes: Floats) -> int:
    """List the characters with a mark, as `put_needs` does those that go; return how many."""
    count = 0
    for i in range(len(which)):
        row = hits[i * HITS_SIZE : (i + 1) * HITS_SIZE]
        if row[NEED_MARK] == mark:
            which[count] = i
            for k in range(4):
                boxes[count, k] = row[NEED + k]
            count += 1
    return count
