"""One step of an update: along the ground or through the air, and among others of a crowd."""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.fences import (
    A_WALL,
    ALONE_WAY,
    BEHIND,
    COUNT,
    FENCE_SIZE,
    FENCES,
    IS_HELD,
    IS_LED,
    IS_PUSHED,
    IS_TRIED,
    KEPT,
    LED_WAY,
    LIMIT,
    UNPUSHED_WAY,
    is_behind_fence,
    within_fences,
    without,
)
from terrain_physics._kernels.character.flight import fly, follow, land, strays, take_aim
from terrain_physics._kernels.character.hits import HitLog, note_character
from terrain_physics._kernels.character.meeting import meet
from terrain_physics._kernels.character.motion import Motion, Mover, with_hits
from terrain_physics._kernels.character.resolve import Scene
from terrain_physics._kernels.character.substeps import Pace, look
from terrain_physics._kernels.character.walk_step import walk_step
from terrain_physics._kernels.character.walls import put_walls
from terrain_physics._kernels.ground.table import Ground
from terrain_physics._kernels.math.vec3 import Vec3, add, add_scaled, dot
from terrain_physics._kernels.types import Floats

# How often a step that leads behind a fence is tried with a shorter way before there is none.
_MOST_TRIES = 3

# How near a fence a body has come to what is behind it.
_REACHED = 1e-6  # meters


@kernel
def take_step(
    mover: Mover, motion: Motion, pace: Pace, scene: Scene, ground: Ground, log: HitLog
) -> tuple[Scene, Motion, Pace]:
    """Move a body by one step. Returns the scene, with what it touches then, motion and pace."""
    if motion.footing.walking:
        motion, pace = walk_step(mover, motion, pace, scene, ground, log)
        return scene, motion, pace
    aim = take_aim(mover, motion, pace, scene)
    meets, met, rest = meet(mover, motion, pace, scene, aim, log)
    if meets:
        return scene, met, rest
    flight = fly(mover, motion, scene, aim)
    if strays(flight, pace):
        scene, flight = follow(mover, pace, scene, ground, flight)
    return scene, land(mover, motion, pace, scene, flight, log), pace


@kernel(inline=True)
def is_led(crowd: Floats) -> bool:
    """Tell whether others have a character go another way than its own."""
    return len(crowd) > 0 and crowd[IS_LED] != 0.0


@kernel(inline=True)
def is_among_others(crowd: Floats) -> bool:
    """Tell whether others matter to how a character moves."""
    return len(crowd) > 0 and (crowd[COUNT] > 0.0 or crowd[IS_PUSHED] != 0.0)


@kernel(inline=True)
def is_held(crowd: Floats) -> bool:
    """Tell whether others may push a character, so that walls in its way matter to them."""
    return len(crowd) > 0 and crowd[IS_HELD] != 0.0


@kernel(inline=True)
def led_velocity(crowd: Floats, velocity: Vec3, seconds: float) -> Vec3:
    """Return a velocity that leads where the others have a character go."""
    return (float(crowd[LED_WAY]) / seconds, velocity[1], float(crowd[LED_WAY + 1]) / seconds)


@kernel(inline=True)
def _with_velocity(motion: Motion, x: float, z: float) -> Motion:
    """Return a motion with another horizontal velocity."""
    velocity = (x, motion.velocity[1], z)
    return Motion(motion.base, motion.offset, velocity, motion.footing, motion.tally)


@kernel(inline=True)
def by_itself(crowd: Floats, motion: Motion, led: Vec3) -> Motion:
    """Return a motion at the end of an update without what was not the body's own.

    ``led`` is the velocity that it set out with. What walls took of that, they took of its own.
    """
    taken_x, taken_z = motion.velocity[0] - led[0], motion.velocity[2] - led[2]
    x, z = without(float(crowd[KEPT]), float(crowd[KEPT + 1]), taken_x, taken_z)
    return _with_velocity(motion, x, z)


@kernel(inline=True)
def _way_from(spot: Vec3, motion: Motion) -> tuple[float, float]:
    """Return how far a body has come from where it was."""
    x = motion.base[0] + motion.offset[0] - spot[0]
    return x, motion.base[2] + motion.offset[2] - spot[2]


@kernel(apart=True)
def among_others(
    crowd: Floats,
    spot: Vec3,
    stays: bool,
    led: Vec3,
    seconds: float,
    mover: Mover,
    motion: Motion,
    pace: Pace,
    scene: Scene,
    ground: Ground,
    log: HitLog,
    ahead: Motion,
    rest: Pace,
) -> tuple[Scene, Motion, Pace, Vec3]:
    """Take a step again, with a shorter way, that walls have led behind a fence.

    Parameters
    ----------
    crowd : ndarray (CROWD_SIZE,)
    spot : Vec3
        Where the body was before the update.
    stays : bool
        Whether no push may take it off the ground: then the step is one without the push.
    led : Vec3
        The velocity that it set out with.
    seconds : float
        How long the update is.
    mover, motion, pace, scene, ground, log
        As of `take_step`; motion and pace from before the step.
    ahead, rest : Motion, Pace
        What came of the step.

    Returns
    -------
    tuple of Scene, Motion, Pace and Vec3
        What comes of the step, and the velocity that it set out with or would have without a push.
    """
    pushed = crowd[IS_PUSHED] != 0.0
    if stays and pushed and motion.footing.grounded and not ahead.footing.grounded:
        led = (float(crowd[UNPUSHED_WAY]) / seconds, 0.0, float(crowd[UNPUSHED_WAY + 1]) / seconds)
        motion = _with_velocity(motion, led[0], led[2])
        scene = look(scene, ground, motion.base, pace.far, mover.drop, 0.0)
        scene, ahead, rest = take_step(mover, motion, pace, scene, ground, log)
    from_x, from_z = _way_from(spot, motion)
    aim_x = from_x + motion.velocity[0] * pace.seconds
    aim_z = from_z + motion.velocity[2] * pace.seconds
    for tries in range(_MOST_TRIES + 1):
        x, z = _way_from(spot, ahead)
        if not is_behind_fence(crowd, x, z):
            break
        scene = look(scene, ground, motion.base, pace.far, mover.drop, 0.0)
        to_x, to_z = from_x, from_z
        if tries == 0:
            crowd[IS_TRIED] = 1.0
            near = math.sqrt((aim_x - from_x) ** 2 + (aim_z - from_z) ** 2)
            put_walls(crowd, scene, motion.offset, mover.walkable, near, from_x, from_z)
            to_x, to_z = within_fences(crowd, aim_x, aim_z)
        elif tries < _MOST_TRIES:  # nearer by, walls are straight
            to_x, to_z = 0.5 * (from_x + aim_x), 0.5 * (from_z + aim_z)
        motion = _with_velocity(
            motion, (to_x - from_x) / pace.seconds, (to_z - from_z) / pace.seconds
        )
        scene, ahead, rest = take_step(mover, motion, pace, scene, ground, log)
        aim_x, aim_z = to_x, to_z
        led = motion.velocity  # what fences took of the step, it keeps for the next one
    return scene, ahead, rest, led


@kernel(apart=True)
def note_others(
    crowd: Floats, log: HitLog, motion: Motion, spot: Vec3, before: Vec3, radius: float,
    seconds: float,
) -> Motion:  # fmt: skip
    """Note at the end of an update whom a body ran into; return the motion with that many hits.

    ``before`` is how it moved when the last update ended. Those that it goes along with, pushing
    them, are in its way, but nothing that it comes upon.
    """
    (x, z), count = _way_from(spot, motion), motion.tally.hits
    center = add(motion.base, motion.offset)
    for k in range(int(crowd[COUNT])):
        at = FENCES + k * FENCE_SIZE
        nx, nz, who = float(crowd[at]), float(crowd[at + 1]), float(crowd[at + BEHIND])
        along = nx * x + nz * z
        if who == A_WALL or along < crowd[at + LIMIT] - _REACHED:
            continue
        normal, went = (-nx, 0.0, -nz), along / seconds
        impact = max(-dot(normal, before) - went, 0.0)
        wanted = nx * float(crowd[ALONE_WAY]) + nz * float(crowd[ALONE_WAY + 1])
        taken = max(wanted / seconds - went, 0.0)
        point = add_scaled(center, normal, -radius)
        count = note_character(log, count, who, point, normal, impact, taken)
    return with_hits(motion, count)
