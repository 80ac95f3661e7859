"""One step of an update on the ground: along it, up a step, or off it."""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.climb import climb
from terrain_physics._kernels.character.grounding import along_planes, ground_by_planes
from terrain_physics._kernels.character.gully import follow_gully
from terrain_physics._kernels.character.motion import Footing, Motion, Mover, Tally
from terrain_physics._kernels.character.report import planes_touched
from terrain_physics._kernels.character.resolve import Scene
from terrain_physics._kernels.character.substeps import Pace, cut, look_next
from terrain_physics._kernels.character.walk import BLOCKED, FREE, OFF_GROUND, walk
from terrain_physics._kernels.character.walls import flat
from terrain_physics._kernels.math.vec3 import Vec3, dot, scale
from terrain_physics._kernels.surface.ground_arrays import Ground


@kernel
def _over_surface(way: Vec3, normal: Vec3) -> Vec3:
    """Return a horizontal way shortened so that along the surface it is as long as it was."""
    size = math.sqrt(way[0] * way[0] + way[2] * way[2])
    if size == 0.0 or not normal[1] > 0.0:
        return way
    rise = (normal[0] * way[0] + normal[2] * way[2]) / (size * normal[1])
    return scale(way, 1.0 / math.sqrt(1.0 + rise * rise))


@kernel
def _leave_ground(mover: Mover, motion: Motion, pace: Pace, least: float) -> tuple[Motion, Pace]:
    """Let a body fall that walked off the ground.

    It gets the downward speed of the time that is left, and that time is cut anew: the body falls
    faster than it walked.
    """
    footing, left = motion.footing, pace.seconds * pace.steps
    velocity = (motion.velocity[0], -mover.gravity * left, motion.velocity[2])
    footing = Footing(False, False, footing.normal, False, 0.0)
    if pace.steps > 0:
        pace = look_next(cut(velocity, left, least))
    return Motion(motion.base, motion.offset, velocity, footing, motion.tally), pace


@kernel(apart=True)
def walk_step(
    mover: Mover, motion: Motion, pace: Pace, scene: Scene, ground: Ground
) -> tuple[Motion, Pace]:
    """Move a walking body by one step.

    The body goes the horizontal way of its velocity along the ground. Where a wall or the end of
    the ground stops it, it climbs a step if one is there. Walls take from its velocity what leads
    into them.

    Parameters
    ----------
    mover : Mover
    motion : Motion
        Grounded and walking; its velocity is horizontal.
    pace : Pace
        Of this step and those after it.
    scene : Scene
        What was looked at around the body. Left with the contacts of the walk, also where the body
        has climbed since.
    ground : Ground
        Looked at again for a climb.

    Returns
    -------
    tuple of Motion and Pace
        It still walks, on ground of the normal that it now has; or it climbs (``stepping``), and
        looks at the ground before the next step; or it has left the ground, out of all walls, and
        falls: neither grounded nor walking, with the time that is left cut anew.
    """
    base, velocity, footing, tally = motion.base, motion.velocity, motion.footing, motion.tally
    way = (velocity[0] * pace.seconds, 0.0, velocity[2] * pace.seconds)
    if mover.along_surface:
        way = _over_surface(way, footing.normal)
    walked = walk(
        scene, motion.offset, way, pace.reach, mover.snap, mover.walkable, mover.max_rounds
    )
    rounds = max(tally.rounds, walked.rounds)
    left_ground = walked.ended == OFF_GROUND
    may_climb = walked.ended == BLOCKED or (left_ground and footing.stepping)
    if mover.step_height > 0.0 and may_climb and (way[0] != 0.0 or way[2] != 0.0):
        climbs, offset, foot = climb(mover, motion, pace, way, walked.offset, scene, ground)
        if climbs:
            tally = Tally(walked.contacts, walked.depth, rounds, tally.lifted, tally.landing)
            footing = Footing(True, True, footing.normal, True, foot)
            return Motion(base, offset, velocity, footing, tally), look_next(pace)
    if walked.planes > 0:
        velocity = along_planes(scene.planes, walked.planes, velocity)
    if walked.ended != FREE:
        in_gully, line, walked = follow_gully(
            scene, motion.offset, way, mover.snap, walked, mover.walkable
        )
        if in_gully:
            _, ahead = flat(line)
            velocity, left_ground = scale(ahead, dot(ahead, motion.velocity)), False
    tally = Tally(walked.contacts, walked.depth, rounds, tally.lifted, tally.landing)
    touched = planes_touched(scene, walked.contacts)
    on_planes, normal = ground_by_planes(scene.planes, touched, mover.cosine)
    footing = Footing(True, True, normal if on_planes else footing.normal, False, 0.0)
    motion = Motion(base, walked.offset, velocity, footing, tally)
    if left_ground and not on_planes:
        return _leave_ground(mover, motion, pace, scene.body.least)
    return motion, pace
