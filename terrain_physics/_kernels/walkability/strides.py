"""A straight walk in strides: of several updates at once where the ground is even, else of one.

The walk of a stride is that of a character. Where no wall meets it and the ground is even, it leads
as far whether it is cut into updates or not. Where a wall stops it, it is done again as an update
does it: along the wall, up a step, through a crease, or off the ground.
"""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._intrinsics import replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.find_contacts import list_contacts
from terrain_physics._kernels.character.contacts.grounding import ground_by_planes, rise_of_slope
from terrain_physics._kernels.character.contacts.scene import Scene, gathered, look
from terrain_physics._kernels.character.reports.hits import HitLog
from terrain_physics._kernels.character.reports.report import contact_planes
from terrain_physics._kernels.character.state import layout as at
from terrain_physics._kernels.character.state.layout import three_at, unpack_body
from terrain_physics._kernels.character.state.motion import (
    FREE,
    Footing,
    Motion,
    MovementRules,
    Tally,
    walking_on,
)
from terrain_physics._kernels.character.state.substeps import MOST_CUTS, Pace, one_less
from terrain_physics._kernels.character.steps.step_among_others import Others
from terrain_physics._kernels.character.steps.take_steps import begin_motion
from terrain_physics._kernels.character.walk.step import walk_step
from terrain_physics._kernels.character.walk.walk import WalkLimits, walk
from terrain_physics._kernels.ground.candidates import NORMAL, OF_MOVER
from terrain_physics._kernels.ground.movers import is_one_way_near
from terrain_physics._kernels.ground.table import GroundTable, has_movers, with_step_start
from terrain_physics._kernels.math.vec3 import Vec3, add, dot, scale, subtract
from terrain_physics._kernels.surface.shapes import BOX, Body
from terrain_physics._kernels.tolerances import CONTACT_MARGIN, SLOP, WALL_CLEARANCE
from terrain_physics._kernels.types import Floats
from terrain_physics._kernels.walkability.layout import NO_EDGE, STEP, WALK
from terrain_physics._kernels.walkability.resting import highest_rise
from terrain_physics._kernels.walkability.sheet import closed_part

# What proofs cannot tell: a character has to walk there.
DOUBT = 4

# A stride is no longer than these shares of the body's least half extent, and of the spacing.
_BODY_SHARE, _SPACING_SHARE = 0.5, 0.2

# A walk is sure to stay on slopes that rise in so many updates by no more than the snap: on a ridge
# it comes down from where it is lifted.
_HELD_UPDATES = 2.0

# Updates that lead farther than this share of the spacing may leap over the other place.
_LEAP_SHARE = 0.4

# Along the surface, walks up steeper slopes might take too long.
_SLOWEST_ADVANCE = 0.4

# Where a walk comes on by less than this share of its displacement for so many updates, it is held
# up for good. Along a slope it may come free before.
_SLOW_SHARE, _SLOW_UPDATES = 0.2, 8

# Beyond all ground, in meters.
_FAR = 1e30


class Strider(NamedTuple):
    """How a character walks straight."""

    body: Body
    center: Vec3  # from its position to the center of its body
    movement: MovementRules
    pace: Pace  # of an update
    seconds: float  # of an update
    speed: float
    spacing: float
    updates: int  # in a stride
    held: float  # the least y of normals of slopes that a walk is sure to stay on
    is_known: bool  # whether anything can be proved of its walks


class StraightWay(NamedTuple):
    """A straight way from where a character is at rest, on the level."""

    origin: Vec3  # the center of its body there, in the world
    heading: Vec3  # a unit vector
    length: float
    low: float  # heights of the center that the way may lead through, from the origin
    high: float


class Headway(NamedTuple):
    """How far a straight walk has come."""

    offset: Vec3  # of the center, from the origin of the course
    updates: float  # that it took
    has_riser: bool  # whether it rose or fell more in an update than walkable slopes do


@kernel(noinline=True)
def walker_of(rules: Floats, speed: float, spacing: float, seconds: float) -> Strider:
    """Return how a character of some rules (RULES_SIZE,) walks in updates of ``seconds``."""
    body, state, alone = unpack_body(rules), np.zeros(at.STATE_SIZE), np.zeros(0)
    state[at.GROUNDED] = state[at.DRIVEN] = 1.0
    state[at.VELOCITY] = speed
    others = Others(alone, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), False, seconds)
    movement, _, pace = begin_motion(state, rules, body, others, seconds)
    most = min(_BODY_SHARE * body.least, _SPACING_SHARE * spacing)
    updates = int(max(math.floor(most / (speed * seconds) + SLOP), 1.0))
    is_known = movement.walks and pace.steps == 1 and speed * seconds <= _LEAP_SHARE * spacing
    if movement.along_surface and movement.walkable < _SLOWEST_ADVANCE:
        is_known = False
    center = three_at(rules, at.OFFSET)
    steepest = movement.snap / (_HELD_UPDATES * speed * seconds)  # that it is sure to stay on
    held = 1.0 / math.sqrt(1.0 + steepest * steepest)
    return Strider(body, center, movement, pace, seconds, speed, spacing, updates, held, is_known)


@kernel(inline=True)
def _size(walker: Strider) -> float:
    """Return the length of an update's walk, in meters."""
    return walker.speed * walker.seconds


@kernel(inline=True)
def rise_in_update(walker: Strider) -> float:
    """Return how far a walk rises in an update on walkable slopes."""
    return rise_of_slope(_size(walker), walker.movement.walkable) + WALL_CLEARANCE


@kernel(noinline=True)
def course_between(walker: Strider, start: Vec3, end: Vec3) -> StraightWay:
    """Return the way between two positions of a character at rest, which are not above each other.

    From the heights of its ends it may rise and fall as far as walkable slopes lead.
    """
    way = subtract(end, start)
    size = math.sqrt(way[0] * way[0] + way[2] * way[2])
    heading = (way[0] / size, 0.0, way[2] / size)
    slack = min(rise_of_slope(0.5 * size, walker.movement.walkable), 2.0 * size)
    low, high = min(way[1], 0.0) - slack, max(way[1], 0.0) + slack
    return StraightWay(add(start, walker.center), heading, size, low, high)


@kernel(inline=True)
def _half_stride(walker: Strider) -> float:
    return 0.5 * _size(walker) * walker.updates


@kernel(noinline=True)
def scene_along(scene: Scene, walker: Strider, course: StraightWay, ground: GroundTable) -> Scene:
    """Return a scene of the triangles along a way, and half a stride beside and beyond it."""
    half, side = walker.body.half_extents, _half_stride(walker)
    end = scale(course.heading, course.length)
    lower = (
        min(end[0], 0.0) - half[0] - side,
        course.low - half[1] - walker.movement.snap - side,
        min(end[2], 0.0) - half[2] - side,
    )
    upper = (
        max(end[0], 0.0) + half[0] + side,
        course.high + half[1] + walker.movement.step_height + side,
        max(end[2], 0.0) + half[2] + side,
    )
    there = with_step_start(ground, course.origin, np.inf)
    lower, upper = add(course.origin, lower), add(course.origin, upper)
    return gathered(scene, there, course.origin, lower, upper)


@kernel(inline=True)
def _beside(course: StraightWay, offset: Vec3) -> float:
    """Return how far an offset is beside the line of a way."""
    return abs(offset[0] * course.heading[2] - offset[2] * course.heading[0])


@kernel(no_refcount=True)
def is_at_mover(scene: Scene, ground: GroundTable) -> bool:
    """Tell whether a scene just gathered has any part that carries bodies, or is one-way.

    One-way parts count even where they let the body pass: farther on they may not.
    """
    if not has_movers(ground):
        return False
    if is_one_way_near(ground.part_shifts):
        return True
    for k in range(scene.size):
        if scene.candidates[k, OF_MOVER] != 0.0:
            return True
    return False


@kernel(noinline=True)
def may_meet_mover(scene: Scene, walker: Strider, course: StraightWay, ground: GroundTable) -> bool:
    """Tell whether a walk that stays within half a spacing of its way may meet such a part.

    At any height, as nobody knows how far it climbs. Parts farther off decide nothing: a map holds
    what is made of a place until something near to it changes.
    """
    if not has_movers(ground):
        return False
    half, side = walker.body.half_extents, 0.5 * walker.spacing + _size(walker) + CONTACT_MARGIN
    end = scale(course.heading, course.length)
    lower = (min(end[0], 0.0) - half[0] - side, -_FAR, min(end[2], 0.0) - half[2] - side)
    upper = (max(end[0], 0.0) + half[0] + side, _FAR, max(end[2], 0.0) + half[2] + side)
    there = with_step_start(ground, course.origin, np.inf)
    lower, upper = add(course.origin, lower), add(course.origin, upper)
    return is_at_mover(gathered(scene, there, course.origin, lower, upper), ground)


@kernel(noinline=True, no_refcount=True)
def _stride(
    scene: Scene, walker: Strider, course: StraightWay, walked: Headway, updates: float
) -> tuple[bool, Headway]:
    """Walk on by a stride of several updates; return (whether the ground is even, the walk then).

    It is not if a wall meets the walk, or if it rises or falls by more than in an update.
    """
    size = _size(walker) * updates
    farthest = 2.0 * max(size, 0.1 * walker.body.least)
    movement = walker.movement
    limits = WalkLimits(farthest, movement.snap, movement.walkable, movement.max_rounds)
    ahead = walk(scene, walked.offset, scale(course.heading, size), limits)
    even = abs(ahead.offset[1] - walked.offset[1]) <= rise_in_update(walker)
    free = ahead.ended == FREE
    if not free or (updates > 1.0 and not even):
        return False, walked
    return True, Headway(ahead.offset, walked.updates + updates, walked.has_riser or not even)


@kernel(noinline=True, no_refcount=True)
def _next_stride(
    scene: Scene, walker: Strider, course: StraightWay, walked: Headway, updates: float
) -> tuple[bool, Headway, float]:
    """Return (whether the ground is even, the walk then, updates of the stride), cut if needed."""
    free, ahead = _stride(scene, walker, course, walked, updates)
    while not free and updates > 1.0:
        updates = max(0.5 * updates, 1.0)
        free, ahead = _stride(scene, walker, course, walked, updates)
    return free, ahead, updates


@kernel(noinline=True, no_refcount=True)
def _is_even(scene: Scene, walker: Strider, course: StraightWay, rise: float) -> bool:
    """Tell whether no stride along a way meets a wall or a riser.

    ``rise`` is that of its end above its start. On open parts of the way there is nothing to meet.
    """
    first, last = closed_part(scene, course.heading, course.length, walker.movement.walkable)
    if first == np.inf:
        return True
    offset = scale(course.heading, first)
    if first > 0.0:
        offset = add(offset, (0.0, highest_rise(scene, offset), 0.0))
    walked, left = Headway(offset, 0.0, False), (last - first) / _size(walker)
    updates, most = float(walker.updates), float(walker.updates)
    while left > SLOP:
        free, ahead, updates = _next_stride(scene, walker, course, walked, min(left, updates))
        if not free or ahead.has_riser:
            return False
        is_steep = abs(ahead.offset[1] - walked.offset[1]) > 0.5 * rise_in_update(walker)
        walked, left = ahead, left - updates
        updates = updates if is_steep else min(2.0 * updates, most)
    if last < course.length:
        end = scale(course.heading, last)
        rise = highest_rise(scene, end)
    return abs(walked.offset[1] - rise) <= WALL_CLEARANCE


@kernel(noinline=True, no_refcount=True)
def _may_leave_ground(scene: Scene, walker: Strider) -> bool:
    """Tell whether a walk may leave walkable ground, as the snap is too short for its slopes."""
    if walker.held <= walker.movement.walkable:
        return False
    for k in range(scene.size):
        if scene.candidates[k, NORMAL + 1] < walker.held:
            return True
    return False


@kernel(noinline=True)
def _leads_evenly(
    scene: Scene, walker: Strider, start: Vec3, end: Vec3, ground: GroundTable
) -> bool:
    """Tell whether a way between two positions is even, and at no part that moves or is one-way."""
    course = course_between(walker, start, end)
    scene = scene_along(scene, walker, course, ground)
    if is_at_mover(scene, ground) or _may_leave_ground(scene, walker):
        return False
    return _is_even(scene, walker, course, end[1] - start[1])


@kernel(noinline=True)
def is_even_both_ways(
    scene: Scene, walker: Strider, start: Vec3, end: Vec3, ground: GroundTable
) -> bool:
    """Tell whether a body walks evenly between two positions, there and back.

    The way back is tried for a box only: other edges of it meet the ground then.
    """
    if not _leads_evenly(scene, walker, start, end, ground):
        return False
    return walker.body.kind != BOX or _leads_evenly(scene, walker, end, start, ground)


@kernel(noinline=True)
def _footing_at(walker: Strider, center: Vec3, scene: Scene, ground: GroundTable) -> Footing:
    """Return the footing of a body that has walked freely, on its way up no step."""
    there = with_step_start(ground, center, np.inf)
    scene = look(scene, there, center, walker.pace.far, walker.movement.drop, 0.0)
    manifold = list_contacts(scene, (0.0, 0.0, 0.0))
    planes = contact_planes(scene, manifold.contacts)
    _, normal = ground_by_planes(scene.planes, planes, walker.movement.cosine)
    return walking_on(normal)


@kernel(noinline=True)
def _update(
    walker: Strider, heading: Vec3, center: Vec3, footing: Footing, scene: Scene,
    ground: GroundTable, log: HitLog,
) -> Motion:  # fmt: skip
    """Return the motion of a body after an update on the ground, as a character has it."""
    tally = Tally(0, 0.0, 0, 0.0, 0.0, 0.0, 0, False)
    velocity, there = scale(heading, walker.speed), with_step_start(ground, center, np.inf)
    motion = Motion(center, (0.0, 0.0, 0.0), velocity, footing, tally)
    pace = replaced(walker.pace, cuts=MOST_CUTS)  # none asks where exactly it leaves the ground
    scene = look(scene, there, center, pace.far, walker.movement.drop, 0.0)
    motion, _ = walk_step(walker.movement, motion, one_less(pace, False), scene, there, log)
    return motion


@kernel(inline=True)
def _level_at(walker: Strider, course: StraightWay, levels: Vec3, offset: Vec3) -> int:
    """Return which of the levels at the end of a way an offset is near enough to; -1: none."""
    best, nearest = -1, 0.0625 * walker.spacing * walker.spacing
    x = offset[0] - course.heading[0] * course.length
    z = offset[2] - course.heading[2] * course.length
    for level in range(3):
        y = offset[1] - levels[level]
        squared = x * x + y * y + z * z
        if squared < nearest:
            best, nearest = level, squared
    return best


@kernel(inline=True)
def _is_lost(walker: Strider, course: StraightWay, walked: Headway) -> bool:
    """Tell whether a walk is too far off its way to come back, or cannot end in time."""
    along, slack = dot(walked.offset, course.heading), 0.5 * walker.spacing
    left = (3.0 * course.length / _size(walker) - walked.updates) * _size(walker)
    return bool(
        _beside(course, walked.offset) > slack
        or along < -slack
        or along > course.length + slack
        or course.length - along - 0.5 * slack > left
    )


@kernel(inline=True)
def _is_along(walker: Strider, course: StraightWay, offset: Vec3) -> bool:
    """Tell whether the scene along a way has all that a stride from an offset may meet."""
    side = _half_stride(walker)
    along = dot(offset, course.heading)
    return bool(
        _beside(course, offset) <= side
        and -side <= along <= course.length - side
        and course.low <= offset[1] <= course.high
    )


@kernel(noinline=True)
def walk_straight(
    scene: Scene, own: Scene, walker: Strider, course: StraightWay, levels: Vec3,
    ground: GroundTable, log: HitLog,
) -> tuple[int, int]:  # fmt: skip
    """Walk straight from the start of a way; return the kind of its edge, and its level.

    No part that carries bodies or is one-way is near. ``scene`` has the triangles along the way;
    ``own`` works in a memory of its own. ``levels`` are the heights at the end, from those of the
    start; NaN: none.
    """
    walked, slow, footing = Headway((0.0, 0.0, 0.0), 0.0, False), 0, walking_on((0.0, 1.0, 0.0))
    is_known = False  # the footing
    while True:
        level = _level_at(walker, course, levels, walked.offset)
        if level >= 0:
            return (STEP if walked.has_riser else WALK), level
        if _is_lost(walker, course, walked) or slow == _SLOW_UPDATES:
            return NO_EDGE, 0
        free = False
        if not footing.stepping and _is_along(walker, course, walked.offset):
            free, walked = _stride(scene, walker, course, walked, 1.0)
        if free:
            is_known, slow = False, 0
            continue
        center = add(course.origin, walked.offset)
        if not is_known:
            footing = _footing_at(walker, center, own, ground)
        motion = _update(walker, course.heading, center, footing, own, ground, log)
        if not motion.footing.walking:
            return DOUBT, 0
        footing, is_known = motion.footing, True
        on = add(subtract(motion.origin, center), motion.offset)
        if on == (0.0, 0.0, 0.0) and not footing.stepping:
            return NO_EDGE, 0  # so it stays for ever
        slow = slow + 1 if _is_slow(walker, course, on, footing) else 0
        has_riser = walked.has_riser or abs(on[1]) > rise_in_update(walker)
        walked = Headway(add(walked.offset, on), walked.updates + 1.0, has_riser)


@kernel(inline=True)
def _is_slow(walker: Strider, course: StraightWay, displacement: Vec3, footing: Footing) -> bool:
    """Tell whether an update has come on by very little, on the way up no step."""
    return not footing.stepping and dot(displacement, course.heading) < _SLOW_SHARE * _size(walker)
