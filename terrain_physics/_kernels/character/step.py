"""One step of an update: along the ground or through the air, and among others of a crowd."""

import math
from typing import NamedTuple

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.scene import Scene, look
from terrain_physics._kernels.character.flight.flight import fly, follow, land, strays, take_aim
from terrain_physics._kernels.character.flight.time_of_impact import stop_at_impact
from terrain_physics._kernels.character.others.half_planes import (
    A_WALL,
    ALONE_DISPLACEMENT,
    BEYOND,
    COUNT,
    HALF_PLANE_SIZE,
    HALF_PLANES,
    IS_PUSHABLE,
    IS_PUSHED,
    IS_TRIED,
    KEPT,
    LIMIT,
    UNPUSHED_DISPLACEMENT,
    is_outside_half_planes,
    within_half_planes,
    without,
)
from terrain_physics._kernels.character.others.walls import put_walls
from terrain_physics._kernels.character.reports.hits import HitLog, note_character
from terrain_physics._kernels.character.state.free_motion import along_ground
from terrain_physics._kernels.character.state.motion import (
    Motion,
    MovementRules,
    with_forces,
    with_hits,
)
from terrain_physics._kernels.character.state.substeps import Pace
from terrain_physics._kernels.character.walk.step import walk_step
from terrain_physics._kernels.ground.table import GroundTable
from terrain_physics._kernels.math.vec3 import Vec3, add, add_scaled, dot
from terrain_physics._kernels.tolerances import HALF_PLANE_REACHED
from terrain_physics._kernels.types import Floats

# Attempts at a step that ended outside a half-plane, one after another.
_TO_HALF_PLANES, _TO_WALLS, _ASIDE, _STAY = range(4)


class Others(NamedTuple):
    """Constraints of a body among others in an update."""

    crowd: Floats  # its row (CROWD_SIZE,)
    spot: Vec3  # where the body was before the update, and before its moving base carried it
    carried: Vec3  # how far it was carried from there
    keeps_off_ledges: bool  # whether a step that a push takes off the ground is taken without it
    seconds: float  # how long the update is


@kernel(noinline=True)
def take_step(
    movement: MovementRules,
    motion: Motion,
    pace: Pace,
    scene: Scene,
    ground: GroundTable,
    log: HitLog,
) -> tuple[Scene, Motion, Pace]:
    """Move a body by one step. Returns the scene with its contacts then, motion and pace."""
    if motion.footing.walking:
        motion, pace = walk_step(movement, motion, pace, scene, ground, log)
        return scene, motion, pace
    aim = take_aim(movement, motion, pace, scene)
    has_impact, stopped, rest = stop_at_impact(movement, motion, pace, scene, aim, log)
    if has_impact:
        return scene, stopped, rest
    flight = fly(movement, motion, scene, aim)
    if strays(flight, pace):
        scene, flight = follow(movement, pace, scene, ground, flight)
    return scene, land(movement, motion, pace, scene, flight, log), pace


@kernel(inline=True, no_refcount=True)
def is_pushed(crowd: Floats) -> bool:
    """Tell whether contact impulses change the displacement of a character."""
    return len(crowd) > 0 and crowd[IS_PUSHED] != 0.0


@kernel(inline=True, no_refcount=True)
def has_met_others(crowd: Floats) -> bool:
    """Tell whether others pushed or blocked a character in an update."""
    return len(crowd) > 0 and (crowd[IS_PUSHED] != 0.0 or crowd[IS_TRIED] != 0.0)


@kernel(inline=True, no_refcount=True)
def is_among_others(crowd: Floats) -> bool:
    """Tell whether others matter to how a character moves."""
    return len(crowd) > 0 and (crowd[COUNT] > 0.0 or crowd[IS_PUSHED] != 0.0)


@kernel(inline=True, no_refcount=True)
def is_pushable(crowd: Floats) -> bool:
    """Tell whether others may push a character, so that walls near it matter to them."""
    return len(crowd) > 0 and crowd[IS_PUSHABLE] != 0.0


@kernel(inline=True, no_refcount=True)
def velocity_to(others: Others, column: int, up: float) -> Vec3:
    """Return the velocity of a displacement in the body's row, with ``up`` as its Y."""
    x = (float(others.crowd[column]) - others.carried[0]) / others.seconds
    return (x, up, (float(others.crowd[column + 1]) - others.carried[2]) / others.seconds)


@kernel(inline=True)
def _with_velocity(motion: Motion, x: float, z: float) -> Motion:
    """Return a motion with another horizontal velocity."""
    velocity = (x, motion.velocity[1], z)
    return Motion(motion.origin, motion.offset, velocity, motion.footing, motion.tally)


@kernel
def _with_own_velocity(
    motion: Motion, kept_x: float, kept_z: float, initial_velocity: Vec3
) -> Motion:
    """Return a motion with the rest of a body's own velocity.

    Walls take from it what they took from ``initial_velocity``.
    """
    taken_x, taken_z = (
        motion.velocity[0] - initial_velocity[0],
        motion.velocity[2] - initial_velocity[2],
    )
    x, z = without(kept_x, kept_z, taken_x, taken_z)
    return _with_velocity(motion, x, z)


@kernel(inline=True)
def without_push(crowd: Floats, motion: Motion, initial_velocity: Vec3) -> Motion:
    """Return a motion at the end of an update with the body's own velocity.

    ``initial_velocity`` is the velocity that it was pushed with.
    """
    return _with_own_velocity(motion, float(crowd[KEPT]), float(crowd[KEPT + 1]), initial_velocity)


@kernel(inline=True)
def _displacement_from(spot: Vec3, motion: Motion) -> tuple[float, float]:
    """Return the horizontal displacement of a body from where it was."""
    x = motion.origin[0] + motion.offset[0] - spot[0]
    return x, motion.origin[2] + motion.offset[2] - spot[2]


@kernel(noinline=True)
def among_others(
    others: Others,
    initial_velocity: Vec3,
    movement: MovementRules,
    motion: Motion,
    pace: Pace,
    scene: Scene,
    ground: GroundTable,
    log: HitLog,
    ahead: Motion,
    rest: Pace,
) -> tuple[Scene, Motion, Pace, Vec3]:
    """Take a step that ended outside a half-plane again, by another displacement.

    The new displacement leads to the nearest place within the half-planes; where walls deflect it,
    to the nearest one within those of walls too; where it still ends outside, then aimed farther
    inside by as much as it came out; at last the body stays with its moving base.

    Parameters
    ----------
    others : Others
    initial_velocity : Vec3
        The velocity that the update began with, pushed or own.
    movement, motion, pace, scene, ground, log
        As of `take_step`; motion and pace from before the step.
    ahead, rest : Motion, Pace
        The result of the step.

    Returns
    -------
    tuple of Scene, Motion, Pace and Vec3
        The result of the last step, and its initial velocity, which may be one without a push.
    """
    crowd, spot, pushed = others.crowd, others.spot, others.crowd[IS_PUSHED] != 0.0
    leaves = motion.footing.grounded and not ahead.footing.grounded
    if leaves and others.keeps_off_ledges and pushed:
        initial_velocity = velocity_to(others, UNPUSHED_DISPLACEMENT, 0.0)
        motion = _with_velocity(motion, initial_velocity[0], initial_velocity[2])
        scene = look(scene, ground, motion.origin, pace.far, movement.drop, 0.0)
        scene, ahead, rest = take_step(movement, motion, pace, scene, ground, log)
    own, seconds = motion.velocity, pace.seconds
    from_x, from_z = _displacement_from(spot, motion)
    aim_x, aim_z = from_x + own[0] * seconds, from_z + own[2] * seconds
    to_x, to_z = aim_x, aim_z
    frictionless, is_tried = with_forces(movement, movement.gravity, 0.0), False
    for attempt in range(_STAY + 1):
        x, z = _displacement_from(spot, ahead)
        if not is_outside_half_planes(crowd, x, z):
            break
        is_tried = True
        in_x, in_z = within_half_planes(crowd, aim_x, aim_z)
        if attempt == _TO_HALF_PLANES and in_x == aim_x and in_z == aim_z:
            continue  # that was the aim of the step
        scene = look(scene, ground, motion.origin, pace.far, movement.drop, 0.0)
        if attempt == _TO_WALLS:
            near = math.sqrt((aim_x - from_x) ** 2 + (aim_z - from_z) ** 2)
            put_walls(crowd, scene, motion.offset, movement.walkable, near, from_x, from_z)
            in_x, in_z = within_half_planes(crowd, aim_x, aim_z)
        elif attempt == _ASIDE:
            in_x, in_z = within_half_planes(crowd, x, z)
            in_x, in_z = to_x + (in_x - x), to_z + (in_z - z)
        elif attempt == _STAY:
            in_x, in_z = within_half_planes(crowd, from_x, from_z)  # its moving base goes on
        to_x, to_z = in_x, in_z
        motion = _with_velocity(motion, (to_x - from_x) / seconds, (to_z - from_z) / seconds)
        scene, ahead, rest = take_step(frictionless, motion, pace, scene, ground, log)
    if not is_tried:
        return scene, ahead, rest, initial_velocity
    crowd[IS_TRIED] = 1.0
    if not pushed:
        initial_velocity = motion.velocity
        kept = without(own[0], own[2], initial_velocity[0] - own[0], initial_velocity[2] - own[2])
        _, (x, _, z) = along_ground((kept[0], 0.0, kept[1]), movement.friction, seconds)
        ahead = _with_own_velocity(ahead, x, z, initial_velocity)
    return scene, ahead, rest, motion.velocity


@kernel(noinline=True)
def note_others(others: Others, log: HitLog, motion: Motion, before: Vec3, radius: float) -> Motion:
    """Note the characters that a body hit in an update; return the motion with that many hits.

    ``before`` is its velocity when the last update ended. Those that it pushes along block it, but
    at no impact speed.
    """
    crowd, seconds, carried = others.crowd, others.seconds, others.carried
    (x, z), count = _displacement_from(others.spot, motion), motion.tally.hits
    center = add(motion.origin, motion.offset)
    for k in range(int(crowd[COUNT])):
        at = HALF_PLANES + k * HALF_PLANE_SIZE
        nx, nz, character = float(crowd[at]), float(crowd[at + 1]), float(crowd[at + BEYOND])
        along = nx * x + nz * z
        if character == A_WALL or along < crowd[at + LIMIT] - HALF_PLANE_REACHED:
            continue
        normal = (-nx, 0.0, -nz)
        impact = max(-dot(normal, before) - (along + dot(normal, carried)) / seconds, 0.0)
        wanted = nx * float(crowd[ALONE_DISPLACEMENT]) + nz * float(crowd[ALONE_DISPLACEMENT + 1])
        taken = max((wanted - along) / seconds, 0.0)
        point = add_scaled(center, normal, -radius)
        count = note_character(log, count, character, point, normal, impact, taken)
    return with_hits(motion, count)
