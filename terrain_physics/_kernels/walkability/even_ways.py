"""Even ways: no wall and no riser meets a body that walks them straight.

Each update of the walk is that of a character on the ground. It is cheap, as nothing else is known:
triangles are gathered for the whole way, and a walk that meets anything proves nothing.
"""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.grounding import rise_of_slope
from terrain_physics._kernels.character.contacts.scene import Scene, gathered
from terrain_physics._kernels.character.state import layout as at
from terrain_physics._kernels.character.state.layout import three_at, unpack_body
from terrain_physics._kernels.character.state.motion import FREE, MovementRules
from terrain_physics._kernels.character.steps.step_among_others import Others
from terrain_physics._kernels.character.steps.take_steps import begin_motion
from terrain_physics._kernels.character.walk.walk import WalkLimits, walk
from terrain_physics._kernels.ground.candidates import NORMAL, OF_MOVER
from terrain_physics._kernels.ground.movers import is_one_way_near
from terrain_physics._kernels.ground.table import GroundTable, has_movers, with_step_start
from terrain_physics._kernels.math.vec3 import Vec3, add, scale, subtract
from terrain_physics._kernels.surface.shapes import BOX, Body
from terrain_physics._kernels.tolerances import SLOP, WALL_CLEARANCE
from terrain_physics._kernels.types import Floats
from terrain_physics._kernels.walkability.resting import highest_rise
from terrain_physics._kernels.walkability.sheet import closed_part

# A walk is sure to stay on slopes that rise in so many updates by no more than the snap: on a ridge
# it comes down from where it is lifted.
_HELD_UPDATES = 2.0

# Updates that lead farther than this share of the spacing may leap over the other place.
_LEAP_SHARE = 0.4

# Along the surface, walks up steeper slopes might take too long.
_SLOWEST_ADVANCE = 0.4


class StraightWalker(NamedTuple):
    """How a character walks straight."""

    body: Body
    center: Vec3  # from its position to the center of its body
    movement: MovementRules
    seconds: float  # of an update
    speed: float
    spacing: float
    held: float  # the least y of normals of slopes that a walk is sure to stay on
    is_known: bool  # whether anything can be proved of its walks


class StraightWay(NamedTuple):
    """A straight way from where a character is at rest, on the level."""

    origin: Vec3  # the center of its body there, in the world
    heading: Vec3  # a unit vector
    length: float
    low: float  # heights of the center that the way may lead through, from the origin
    high: float


@kernel(noinline=True)
def walker_of(rules: Floats, speed: float, spacing: float, seconds: float) -> StraightWalker:
    """Return how a character of some rules (RULES_SIZE,) walks in updates of ``seconds``."""
    body, state, alone = unpack_body(rules), np.zeros(at.STATE_SIZE), np.zeros(0)
    state[at.GROUNDED] = state[at.DRIVEN] = 1.0
    state[at.VELOCITY] = speed
    others = Others(alone, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), False, seconds)
    movement, _, pace = begin_motion(state, rules, body, others, seconds)
    is_known = movement.walks and pace.steps == 1 and speed * seconds <= _LEAP_SHARE * spacing
    if movement.along_surface and movement.walkable < _SLOWEST_ADVANCE:
        is_known = False
    center = three_at(rules, at.OFFSET)
    steepest = movement.snap / (_HELD_UPDATES * speed * seconds)  # that it is sure to stay on
    held = 1.0 / math.sqrt(1.0 + steepest * steepest)
    return StraightWalker(body, center, movement, seconds, speed, spacing, held, is_known)


@kernel(inline=True)
def _size(walker: StraightWalker) -> float:
    """Return the length of an update's walk, in meters."""
    return walker.speed * walker.seconds


@kernel(inline=True)
def _rise_in_update(walker: StraightWalker) -> float:
    """Return how far a walk rises in an update on walkable slopes."""
    return rise_of_slope(_size(walker), walker.movement.walkable) + WALL_CLEARANCE


@kernel(noinline=True)
def course_between(walker: StraightWalker, start: Vec3, end: Vec3) -> StraightWay:
    """Return the way between two positions of a character at rest, which are not above each other.

    From the heights of its ends it may rise and fall as far as walkable slopes lead.
    """
    way = subtract(end, start)
    size = math.sqrt(way[0] * way[0] + way[2] * way[2])
    heading = (way[0] / size, 0.0, way[2] / size)
    slack = min(rise_of_slope(0.5 * size, walker.movement.walkable), 2.0 * size)
    low, high = min(way[1], 0.0) - slack, max(way[1], 0.0) + slack
    return StraightWay(add(start, walker.center), heading, size, low, high)


@kernel(noinline=True)
def scene_along(
    scene: Scene, walker: StraightWalker, course: StraightWay, ground: GroundTable
) -> Scene:
    """Return a scene of the triangles along a way, and half an update beside and beyond it."""
    half, side = walker.body.half_extents, 0.5 * _size(walker)
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


@kernel(noinline=True, no_refcount=True)
def _walk_on(
    scene: Scene, walker: StraightWalker, course: StraightWay, offset: Vec3, share: float
) -> tuple[bool, Vec3]:
    """Walk on by a share of an update; return (whether that is even, the offset then).

    It is not if a wall meets the walk, or if it rises or falls by more than walkable slopes do.
    """
    size = _size(walker) * share
    farthest = 2.0 * max(size, 0.1 * walker.body.least)
    movement = walker.movement
    limits = WalkLimits(farthest, movement.snap, movement.walkable, movement.max_rounds)
    ahead = walk(scene, offset, scale(course.heading, size), limits)
    rise = abs(ahead.offset[1] - offset[1])
    return ahead.ended == FREE and rise <= _rise_in_update(walker), ahead.offset


@kernel(noinline=True, no_refcount=True)
def _is_even(scene: Scene, walker: StraightWalker, course: StraightWay, rise: float) -> bool:
    """Tell whether no walk along a way meets a wall or a riser.

    ``rise`` is that of its end above its start. On open parts of the way there is nothing to meet.
    """
    first, last = closed_part(scene, course.heading, course.length, walker.movement.walkable)
    if first == np.inf:
        return True
    offset = scale(course.heading, first)
    if first > 0.0:
        offset = add(offset, (0.0, highest_rise(scene, offset), 0.0))
    left = (last - first) / _size(walker)
    while left > SLOP:
        even, offset = _walk_on(scene, walker, course, offset, min(left, 1.0))
        if not even:
            return False
        left -= 1.0
    if last < course.length:
        end = scale(course.heading, last)
        rise = highest_rise(scene, end)
    return abs(offset[1] - rise) <= WALL_CLEARANCE


@kernel(noinline=True, no_refcount=True)
def _may_leave_ground(scene: Scene, walker: StraightWalker) -> bool:
    """Tell whether a walk may leave walkable ground, as the snap is too short for its slopes."""
    if walker.held <= walker.movement.walkable:
        return False
    for k in range(scene.size):
        if scene.candidates[k, NORMAL + 1] < walker.held:
            return True
    return False


@kernel(noinline=True)
def _leads_evenly(
    scene: Scene, walker: StraightWalker, start: Vec3, end: Vec3, ground: GroundTable
) -> bool:
    """Tell whether a way between two positions is even, and at no part that moves or is one-way."""
    course = course_between(walker, start, end)
    scene = scene_along(scene, walker, course, ground)
    if is_at_mover(scene, ground) or _may_leave_ground(scene, walker):
        return False
    return _is_even(scene, walker, course, end[1] - start[1])


@kernel(noinline=True)
def is_even_both_ways(
    scene: Scene, walker: StraightWalker, start: Vec3, end: Vec3, ground: GroundTable
) -> bool:
    """Tell whether a body walks evenly between two positions, there and back.

    The way back is tried for a box only: other edges of it meet the ground then.
    """
    if not _leads_evenly(scene, walker, start, end, ground):
        return False
    return walker.body.kind != BOX or _leads_evenly(scene, walker, end, start, ground)
