"""One step of a character in a crowd: within its half-planes, and on top of characters below."""

import math
from typing import NamedTuple

from terrain_physics._kernels._intrinsics import replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.scene import Scene, look
from terrain_physics._kernels.character.moving_base.squeeze import moved_until_blocked
from terrain_physics._kernels.character.others.half_planes import (
    A_WALL,
    ALONE_DISPLACEMENT,
    APPROACH,
    BEYOND,
    COUNT,
    HALF_PLANE_SIZE,
    HALF_PLANES,
    IS_TRIED,
    KEPT,
    LIMIT,
    LOSS,
    PUSHED_DISPLACEMENT,
    TOUCHES,
    UNPUSHED_DISPLACEMENT,
    WILL_TOUCH,
    is_among_others,
    is_outside_half_planes,
    is_pushed,
    within_half_planes,
    without,
)
from terrain_physics._kernels.character.others.standing_on_characters import (
    is_over_characters,
    stand_on_character,
    step_onto_character,
)
from terrain_physics._kernels.character.others.touched import remember_others
from terrain_physics._kernels.character.others.walls import put_walls
from terrain_physics._kernels.character.reports.hits import HitLog, note_character
from terrain_physics._kernels.character.state.free_motion import along_ground
from terrain_physics._kernels.character.state.motion import (
    Motion,
    MovementRules,
    with_hits,
)
from terrain_physics._kernels.character.state.substeps import STEP_SHARE, Pace
from terrain_physics._kernels.character.steps.step import take_step
from terrain_physics._kernels.ground.table import GroundTable
from terrain_physics._kernels.math.vec3 import Vec3, add, add_scaled
from terrain_physics._kernels.tolerances import HALF_PLANE_REACHED
from terrain_physics._kernels.types import Floats

_Place = tuple[float, float]
"""A horizontal displacement from where the update began, in meters."""

# Attempts at a step that ended outside a half-plane, one after another.
_TO_HALF_PLANES, _TO_WALLS, _ASIDE, _STAY = range(4)


class Others(NamedTuple):
    """Constraints of a body among others in an update."""

    crowd: Floats  # its row (CROWD_SIZE,); empty if it ignores others
    spot: Vec3  # center of the body before the update, and before its moving base carried it
    carried: Vec3  # displacement by its moving base
    keeps_off_ledges: bool  # whether a push that leads off the ground is left out
    seconds: float  # time of the update


class Encounter(NamedTuple):
    """Results of the steps among others so far."""

    initial_velocity: Vec3  # of the update: pushed, own, or deflected by half-planes
    is_on_character: bool


class _Step(NamedTuple):
    """The start of a step among others."""

    movement: MovementRules
    motion: Motion
    pace: Pace


@kernel(inline=True, no_refcount=True)
def minds_others(crowd: Floats) -> bool:
    """Tell whether the steps of a body are steps among others."""
    return is_among_others(crowd) or is_over_characters(crowd)


@kernel(inline=True, no_refcount=True)
def velocity_with_push(others: Others, up: float) -> Vec3:
    """Return the velocity of the displacement that the crowd solver found, with ``up`` as its Y."""
    return _velocity_to(others, PUSHED_DISPLACEMENT, up)


@kernel(noinline=True)
def step_among_others(
    others: Others,
    encounter: Encounter,
    movement: MovementRules,
    motion: Motion,
    pace: Pace,
    scene: Scene,
    ground: GroundTable,
    log: HitLog,
) -> tuple[Scene, Motion, Pace, Encounter]:
    """Move a body by one step among others. Returns as `take_step`, and the encounter.

    The step leads no lower than the top of a character below, and ends within the half-planes.
    """
    crowd, is_bound, rules, start = others.crowd, False, movement, motion
    if is_over_characters(crowd):
        is_bound, rules, start = step_onto_character(
            crowd, movement, motion, pace, scene.body, encounter.is_on_character
        )
    scene, ahead, rest = take_step(rules, start, pace, scene, ground, log)
    initial_velocity, is_on_character = encounter.initial_velocity, False
    # A landing at the very end of an update leaves a step without time, which leads nowhere.
    has_time = pace.seconds > 0.0
    if has_time and is_among_others(crowd) and _must_repeat(others, start, ahead):
        scene, ahead, rest, initial_velocity = _repeat_step(
            others, initial_velocity, _Step(rules, start, pace), scene, ground, log, ahead, rest
        )
    if is_bound:
        is_on_character, ahead = stand_on_character(
            crowd, movement, motion, ahead, pace.seconds, scene.body, log, encounter.is_on_character
        )
    return scene, ahead, rest, Encounter(initial_velocity, is_on_character)


@kernel(noinline=True, no_refcount=True)
def end_among_others(
    others: Others, encounter: Encounter, log: HitLog, motion: Motion, radius: float
) -> Motion:
    """Return the motion of a body that has met others as its update ends: with hits, without push.

    ``radius`` is that of the upright cylinder.
    """
    crowd, motion = others.crowd, _note_others(others, log, motion, radius)
    if is_pushed(crowd):
        kept_x, kept_z = float(crowd[KEPT]), float(crowd[KEPT + 1])
        motion = _with_own_velocity(motion, kept_x, kept_z, encounter.initial_velocity)
    return motion


@kernel(inline=True, no_refcount=True)
def remember_encounters(state: Floats, others: Others, motion: Motion) -> None:
    """Write what a body remembers of the others that it has been near in an update."""
    x, z = _displacement_from(others.spot, motion)
    carried_x, _, carried_z = others.carried
    remember_others(state, others.crowd, carried_x, carried_z, x, z, others.seconds)


@kernel(inline=True, no_refcount=True)
def _velocity_to(others: Others, column: int, up: float) -> Vec3:
    """Return the velocity of a displacement in the body's row, with ``up`` as its Y."""
    x = (float(others.crowd[column]) - others.carried[0]) / others.seconds
    return (x, up, (float(others.crowd[column + 1]) - others.carried[2]) / others.seconds)


@kernel(inline=True)
def _with_velocity(motion: Motion, x: float, z: float) -> Motion:
    """Return a motion with another horizontal velocity."""
    velocity = (x, motion.velocity[1], z)
    return replaced(motion, velocity=velocity)


@kernel
def _with_own_velocity(
    motion: Motion, kept_x: float, kept_z: float, initial_velocity: Vec3
) -> Motion:
    """Return a motion with the part of a body's own velocity that walls have left.

    Walls take from it the same change that they made to ``initial_velocity``.
    """
    taken_x, taken_z = (
        motion.velocity[0] - initial_velocity[0],
        motion.velocity[2] - initial_velocity[2],
    )
    x, z = without(kept_x, kept_z, taken_x, taken_z)
    return _with_velocity(motion, x, z)


@kernel(inline=True)
def _displacement_from(spot: Vec3, motion: Motion) -> tuple[float, float]:
    """Return the horizontal displacement of a body from its spot before the update."""
    x = motion.origin[0] + motion.offset[0] - spot[0]
    return x, motion.origin[2] + motion.offset[2] - spot[2]


@kernel(inline=True, no_refcount=True)
def _leads_off_ledge(others: Others, before: Motion, ahead: Motion) -> bool:
    """Tell whether a push has led a step off the ground that the body keeps to."""
    leaves = before.footing.grounded and not ahead.footing.grounded
    return leaves and others.keeps_off_ledges and is_pushed(others.crowd)


@kernel(inline=True, no_refcount=True)
def _must_repeat(others: Others, before: Motion, ahead: Motion) -> bool:
    """Tell whether a step has led off a ledge by a push, or out of the half-planes."""
    if _leads_off_ledge(others, before, ahead):
        return True
    x, z = _displacement_from(others.spot, ahead)
    return is_outside_half_planes(others.crowd, x, z)


@kernel(noinline=True)
def _repeat_step(
    others: Others,
    initial_velocity: Vec3,
    step: _Step,
    scene: Scene,
    ground: GroundTable,
    log: HitLog,
    ahead: Motion,
    rest: Pace,
) -> tuple[Scene, Motion, Pace, Vec3]:
    """Repeat a step that has led off a ledge by a push, or out of the half-planes.

    Off a ledge, the step is taken without the push first. Out of the half-planes, a first attempt
    leads to the nearest place within them. If walls deflect it, the second stays within the
    half-planes of walls too. The third is aimed farther inside, by the distance that the second
    ended outside. With the last, the body stays on its moving base.

    Parameters
    ----------
    others : Others
    initial_velocity : Vec3
        As of `Encounter`.
    step, scene, ground, log
        As of `take_step`; ``step`` holds motion and pace from before the step.
    ahead, rest : Motion, Pace
        The result of the step.

    Returns
    -------
    tuple of Scene, Motion, Pace and Vec3
        The result of the last attempt, and its initial velocity, which may lack the push.
    """
    crowd, (movement, motion, pace) = others.crowd, step
    if _leads_off_ledge(others, motion, ahead):
        initial_velocity = _velocity_to(others, UNPUSHED_DISPLACEMENT, 0.0)
        motion = _with_velocity(motion, initial_velocity[0], initial_velocity[2])
        scene = look(scene, ground, motion.origin, pace.far, movement.drop, 0.0)
        scene, ahead, rest = take_step(movement, motion, pace, scene, ground, log)
        step = replaced(step, motion=motion)
        x, z = _displacement_from(others.spot, ahead)
        if not is_outside_half_planes(crowd, x, z):
            return scene, ahead, rest, initial_velocity
    crowd[IS_TRIED], own = 1.0, motion.velocity
    scene, ahead, rest, velocity = _try_within(others, step, scene, ground, log, ahead, rest)
    if not is_pushed(crowd):
        kept = without(own[0], own[2], velocity[0] - own[0], velocity[2] - own[2])
        _, (x, _, z) = along_ground((kept[0], 0.0, kept[1]), movement.friction, pace.seconds)
        ahead = _with_own_velocity(ahead, x, z, velocity)
    return scene, ahead, rest, velocity


@kernel(noinline=True)
def _try_within(
    others: Others,
    step: _Step,
    scene: Scene,
    ground: GroundTable,
    log: HitLog,
    ahead: Motion,
    rest: Pace,
) -> tuple[Scene, Motion, Pace, Vec3]:
    """Try a step with one displacement after another until it ends within the half-planes.

    Arguments and results are those of `_repeat_step`.
    """
    crowd, spot, (movement, motion, pace) = others.crowd, others.spot, step
    velocity, seconds = motion.velocity, pace.seconds
    start = from_x, from_z = _displacement_from(spot, motion)
    aim = to = (from_x + velocity[0] * seconds, from_z + velocity[2] * seconds)
    frictionless, longest = replaced(movement, friction=0.0), STEP_SHARE * scene.body.least
    for attempt in range(_STAY + 1):
        end = _displacement_from(spot, ahead)
        if attempt > 0 and not is_outside_half_planes(crowd, end[0], end[1]):
            break
        if attempt == _TO_HALF_PLANES and within_half_planes(crowd, aim[0], aim[1]) == aim:
            continue  # the step was already aimed there
        scene = look(scene, ground, motion.origin, pace.far, movement.drop, 0.0)
        if attempt == _TO_WALLS:
            to_x, to_z = aim[0] - from_x, aim[1] - from_z
            near = math.sqrt(to_x * to_x + to_z * to_z)
            put_walls(crowd, scene, motion.offset, movement.walkable, near, from_x, from_z)
        to = _next_aim(crowd, attempt, start, aim, to, end)
        begun, way = motion, (to[0] - from_x, to[1] - from_z)
        if way[0] * way[0] + way[1] * way[1] > longest * longest:
            begun, way = _brought_near(scene, ground, motion, way, 0.5 * pace.farthest)
            scene = look(scene, ground, begun.origin, pace.far, movement.drop, 0.0)
        begun = _with_velocity(begun, way[0] / seconds, way[1] / seconds)
        scene, ahead, rest = take_step(frictionless, begun, pace, scene, ground, log)
    return scene, ahead, rest, begun.velocity


@kernel(noinline=True)
def _brought_near(
    scene: Scene, ground: GroundTable, motion: Motion, way: _Place, step: float
) -> tuple[Motion, _Place]:
    """Return a motion that has gone a long way but for a last step, and that step.

    Where a part has pushed a body far into others, the way back may lead through the part: so the
    ground may block it. The scene is overwritten.
    """
    left = step / math.sqrt(way[0] * way[0] + way[1] * way[1])
    center = add(motion.origin, motion.offset)
    near = add_scaled(center, (way[0], 0.0, way[1]), 1.0 - left)
    begun = moved_until_blocked(scene, ground, center, near)
    motion = replaced(motion, origin=begun, offset=(0.0, 0.0, 0.0))
    return motion, (left * way[0], left * way[1])


@kernel(inline=True, no_refcount=True)
def _next_aim(
    crowd: Floats, attempt: int, start: _Place, aim: _Place, last_aim: _Place, end: _Place
) -> _Place:
    """Return the aim of the next attempt at a step, after one that ended at ``end``."""
    if attempt == _ASIDE:
        x, z = within_half_planes(crowd, end[0], end[1])
        return last_aim[0] + (x - end[0]), last_aim[1] + (z - end[1])
    if attempt == _STAY:
        return within_half_planes(crowd, start[0], start[1])  # a moving base still carries it
    return within_half_planes(crowd, aim[0], aim[1])


@kernel(inline=True, no_refcount=True)
def _note_others(others: Others, log: HitLog, motion: Motion, radius: float) -> Motion:
    """Note the characters that a body hit in an update; return the motion with the count of hits.

    A character that it touched before the update blocks it, but has no impact speed.
    """
    crowd, seconds = others.crowd, others.seconds
    (x, z), count = _displacement_from(others.spot, motion), motion.tally.hits
    center = add(motion.origin, motion.offset)
    for k in range(int(crowd[COUNT])):
        line = HALF_PLANES + k * HALF_PLANE_SIZE
        nx, nz, character = float(crowd[line]), float(crowd[line + 1]), float(crowd[line + BEYOND])
        along = nx * x + nz * z
        is_reached = along >= crowd[line + LIMIT] - HALF_PLANE_REACHED
        if character == A_WALL or not (is_reached or crowd[line + TOUCHES] == WILL_TOUCH):
            continue
        crowd[line + TOUCHES], normal, impact = 1.0, (-nx, 0.0, -nz), float(crowd[line + APPROACH])
        wanted = nx * float(crowd[ALONE_DISPLACEMENT]) + nz * float(crowd[ALONE_DISPLACEMENT + 1])
        taken = max((wanted - along) / seconds, float(crowd[line + LOSS]))
        point = add_scaled(center, normal, -radius)
        count = note_character(log, count, character, point, normal, impact, taken)
    return with_hits(motion, count)
