"""One step of an update on the ground: along it, up a step, or off it."""

import math

from terrain_physics._kernels._intrinsics import replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.find_contacts import is_buried
from terrain_physics._kernels.character.contacts.grounding import along_planes, ground_by_planes
from terrain_physics._kernels.character.contacts.scene import Scene
from terrain_physics._kernels.character.reports.hits import HitLog, note_walk
from terrain_physics._kernels.character.reports.report import contact_planes
from terrain_physics._kernels.character.state.free_motion import along_ground
from terrain_physics._kernels.character.state.motion import (
    BLOCKED,
    FREE,
    OFF_GROUND,
    Motion,
    MovementRules,
    Tally,
    Walked,
    in_air,
    walking_on,
)
from terrain_physics._kernels.character.state.substeps import MOST_CUTS, Pace, cut_anew, look_next
from terrain_physics._kernels.character.walk.climb import climb
from terrain_physics._kernels.character.walk.crease import follow_crease
from terrain_physics._kernels.character.walk.walk import WalkLimits, walk
from terrain_physics._kernels.ground.table import GroundTable
from terrain_physics._kernels.math.vec3 import Vec3, dot, flat, scale
from terrain_physics._kernels.tolerances import LEAVING_TIME


@kernel
def _over_surface(displacement: Vec3, normal: Vec3) -> Vec3:
    """Return a horizontal displacement, shortened so that its length is kept along the surface."""
    size = math.sqrt(displacement[0] * displacement[0] + displacement[2] * displacement[2])
    if size == 0.0 or not normal[1] > 0.0:
        return displacement
    rise = (normal[0] * displacement[0] + normal[2] * displacement[2]) / (size * normal[1])
    return scale(displacement, 1.0 / math.sqrt(1.0 + rise * rise))


@kernel(inline=True)
def _displacement(movement: MovementRules, motion: Motion, seconds: float) -> tuple[Vec3, Vec3]:
    """Return (horizontal displacement, velocity at its end) of a walk of ``seconds``."""
    displacement, velocity = along_ground(motion.velocity, movement.friction, seconds)
    if movement.along_surface:
        displacement = _over_surface(displacement, motion.footing.normal)
    return displacement, velocity


@kernel(inline=True)
def _limits(movement: MovementRules, pace: Pace) -> WalkLimits:
    """Return the limits of a step along the ground."""
    return WalkLimits(pace.farthest, movement.snap, movement.walkable, movement.max_rounds)


@kernel(noinline=True, no_refcount=True)
def _last_hold(
    movement: MovementRules, motion: Motion, pace: Pace, scene: Scene
) -> tuple[float, Vec3, Vec3]:
    """Return (seconds, offset, velocity) at which a step off the ground last holds a body."""
    held, off, limits = 0.0, pace.seconds, _limits(movement, pace)
    offset, velocity = motion.offset, motion.velocity
    while off - held > LEAVING_TIME:
        seconds = 0.5 * (held + off)
        displacement, slowed = _displacement(movement, motion, seconds)
        walked = walk(scene, motion.offset, displacement, limits)
        if walked.ended == OFF_GROUND:
            off = seconds
        else:
            held, offset, velocity = seconds, walked.offset, slowed
    return held, offset, velocity


@kernel(no_refcount=True)
def _leave_ground(
    movement: MovementRules, motion: Motion, ahead: Motion, pace: Pace, scene: Scene
) -> tuple[Motion, Pace]:
    """Let a body fall from the place in a step where the ground ends; cut the time left anew.

    ``ahead`` is the motion at the end of the step, where no ground is left.
    """
    left, offset, velocity = pace.seconds * pace.steps, ahead.offset, ahead.velocity
    if pace.cuts < MOST_CUTS:
        held, offset, velocity = _last_hold(movement, motion, pace, scene)
        left += pace.seconds - held
    tally = replaced(ahead.tally, air_time=left)
    footing = in_air(ahead.footing.normal)
    if left > 0.0:
        pace = cut_anew(pace, velocity, movement.gravity, left, scene.body.least)
    ahead = replaced(ahead, offset=offset, velocity=velocity, footing=footing, tally=tally)
    return ahead, pace


@kernel(inline=True)
def _walked_by(tally: Tally, walked: Walked) -> Tally:
    """Return a tally with the results of a walk."""
    rounds = max(tally.rounds, walked.rounds)
    return replaced(tally, contacts=walked.contacts, depth=walked.depth, rounds=rounds)


@kernel(inline=True, no_refcount=True)
def _try_to_climb(
    movement: MovementRules, motion: Motion, pace: Pace, displacement: Vec3, walked: Walked,
    scene: Scene, ground: GroundTable,
) -> tuple[bool, Vec3, float]:  # fmt: skip
    """Call `climb` if a walk has ended at a wall, or off the ground on its way up a step."""
    stopped = walked.ended == BLOCKED or (walked.ended == OFF_GROUND and motion.footing.stepping)
    is_on_its_way = displacement[0] != 0.0 or displacement[2] != 0.0
    if not (movement.step_height > 0.0 and stopped and is_on_its_way):
        return False, motion.offset, 0.0
    return climb(movement, motion, pace, displacement, walked.offset, scene, ground)


@kernel(inline=True, no_refcount=True)
def _follow_ground(
    movement: MovementRules, motion: Motion, scene: Scene, walked: Walked, displacement: Vec3,
    slowed: Vec3, log: HitLog,
) -> tuple[bool, Walked, Motion]:  # fmt: skip
    """Return (whether the ground has ended, the walk, the motion after it) if there is no climb.

    Walls and creases deflect the velocity. Walls that take speed from it are noted as hits.
    """
    has_ended, velocity, tally = (
        walked.ended == OFF_GROUND,
        slowed,
        _walked_by(motion.tally, walked),
    )
    hits = tally.hits
    if walked.planes > 0:
        hits = note_walk(log, movement, motion, walked, scene)
        velocity = along_planes(scene.planes, walked.planes, velocity)
    if walked.ended != FREE:
        in_crease, line, walked = follow_crease(
            scene, motion.offset, displacement, movement.snap, walked, movement.walkable
        )
        if in_crease:
            _, along = flat(line)
            velocity, has_ended = scale(along, dot(along, slowed)), False
            if line != (0.0, 0.0, 0.0):  # a crease is ground: its deflection is no hit
                hits = tally.hits
    tally = replaced(tally, contacts=walked.contacts, depth=walked.depth, hits=hits)
    ahead = replaced(motion, offset=walked.offset, velocity=velocity, tally=tally)
    return has_ended, walked, ahead


@kernel(noinline=True, no_refcount=True)
def walk_step(
    movement: MovementRules, motion: Motion, pace: Pace, scene: Scene, ground: GroundTable,
    log: HitLog,
) -> tuple[Motion, Pace]:  # fmt: skip
    """Move a walking body by one step.

    The body follows its horizontal velocity along the ground, slowed by friction. Where a wall or
    the end of the ground stops it, it climbs a step if one is there. Walls take from its velocity
    the part that leads into them.

    Parameters
    ----------
    movement : MovementRules
    motion : Motion
        Grounded and walking; its velocity is horizontal.
    pace : Pace
        Of this step and those after it.
    scene : Scene
        The triangles around the body. Left with the contacts of the walk, even if the body has
        climbed since.
    ground : GroundTable
        Read again for a climb.
    log : HitLog
        Walls that take speed from the body are noted here.

    Returns
    -------
    tuple of Motion and Pace
        The body still walks, and has the normal of the ground there; or it climbs (``stepping``),
        and the next step begins with a look at the ground; or it falls from where it has left the
        ground, neither grounded nor walking, with the time left cut anew.
    """
    footing = motion.footing
    displacement, slowed = _displacement(movement, motion, pace.seconds)
    limits = _limits(movement, pace)
    walked = walk(scene, motion.offset, displacement, limits)
    below = is_buried(scene, walked.offset)
    motion = replaced(motion, tally=replaced(motion.tally, below=below))
    climbs, offset, foot = _try_to_climb(
        movement, motion, pace, displacement, walked, scene, ground
    )
    if climbs:
        footing = replaced(walking_on(footing.normal), stepping=True, step_foot=foot)
        tally = _walked_by(motion.tally, walked)
        ahead = replaced(motion, offset=offset, velocity=slowed, footing=footing, tally=tally)
        return ahead, look_next(pace)
    has_ended, walked, ahead = _follow_ground(
        movement, motion, scene, walked, displacement, slowed, log
    )
    touched = contact_planes(scene, walked.contacts)
    on_planes, normal = ground_by_planes(scene.planes, touched, movement.cosine)
    footing = walking_on(normal if on_planes else footing.normal)
    ahead = replaced(ahead, footing=footing)
    if has_ended and not on_planes:
        return _leave_ground(movement, motion, ahead, pace, scene)
    return ahead, pace
