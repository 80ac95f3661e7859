"""How an update is cut into steps, and where they look at the ground."""

import math
from typing import NamedTuple

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.free_motion import through_air
from terrain_physics._kernels.character.motion import Motion, Mover
from terrain_physics._kernels.character.resolve import Scene, filled
from terrain_physics._kernels.ground.candidates import gather_candidates
from terrain_physics._kernels.math.vec3 import Vec3, add, length, scale, subtract
from terrain_physics._kernels.surface.ground_arrays import Ground

# A step moves a body by at most this share of its least half extent, so that its center never
# passes a surface unseen.
STEP_SHARE = 0.5
MAX_SUBSTEPS = 20_000

# Steps that share one look at the ground.
STEPS_TOGETHER = 4

# How often the time that is left is cut anew where a body lands, leaves the ground or hits a
# ceiling. Steps after that end where they end.
MOST_CUTS = 8


class Pace(NamedTuple):
    """How the rest of an update is cut into steps."""

    steps: int  # that are left
    leaps: bool  # whether they are too long not to pass anything unseen
    seconds: float  # that each takes
    reach: float  # how far one may lead, pushes and slopes included, in meters
    far: float  # the same for all that share a look
    since_look: int  # steps done since the ground was looked at
    cuts: int  # how often the time has been cut anew in this update


@kernel(inline=True)
def extent(v: Vec3) -> float:
    """Return the greatest of three sizes."""
    return max(abs(v[0]), abs(v[1]), abs(v[2]))


@kernel(apart=True)
def look(scene: Scene, ground: Ground, base: Vec3, far: float, drop: float, step: float) -> Scene:
    """Return a scene of the same body at ``base``, which may move by ``far`` any way.

    Down it may move by ``drop`` more. For a body that may climb, ``step`` > 0 is how high: the
    scene reaches that much higher and twice as wide. It works in the memory of the scene before,
    whose candidates are gone.
    """
    body = scene.body
    wide = (body.reach[0] + far, body.reach[1] + far, body.reach[2] + far)
    if step > 0.0:  # a step is looked for beyond the body
        wide = (2.0 * wide[0], wide[1] + step, 2.0 * wide[2])
    lower = subtract(base, (wide[0], wide[1] + drop, wide[2]))
    candidates, count = gather_candidates(ground, base, lower, add(base, wide), scene.candidates)
    return filled(scene, candidates, count)


@kernel
def cut(velocity: Vec3, gravity: float, seconds: float, least: float) -> Pace:
    """Return the pace of a body with half extents of at least ``least`` for some time.

    In the air it is fastest at first or in the end. Leaps are longer than a step may be: each looks
    at the ground where it ends.
    """
    _, last = through_air(velocity, gravity, seconds)
    way = max(length(velocity), length(last)) * seconds
    step = STEP_SHARE * least
    steps = max(math.ceil(min(way / step, float(MAX_SUBSTEPS))), 1)
    # More than the way: pushes and slopes may lead aside.
    reach = 2.0 * max(min(way / steps, step), 0.1 * least)
    far = max(0.75 * min(STEPS_TOGETHER, steps), 1.0) * reach
    leaps = way / steps > step * (1.0 + 1e-9)
    return Pace(steps, leaps, seconds / steps, reach, far, 0, 0)


@kernel
def cut_anew(pace: Pace, velocity: Vec3, gravity: float, seconds: float, least: float) -> Pace:
    """Return the pace for the time that is left to a body that moves otherwise from now on.

    The next step looks at the ground.
    """
    new = look_next(cut(velocity, gravity, seconds, least))
    return Pace(
        new.steps, new.leaps, new.seconds, new.reach, new.far, new.since_look, pace.cuts + 1
    )


@kernel(inline=True)
def must_look(pace: Pace, offset: Vec3) -> bool:
    """Tell whether the next step may lead out of what was looked at."""
    return bool(
        pace.leaps or pace.since_look == STEPS_TOGETHER or extent(offset) > pace.far - pace.reach
    )


@kernel(inline=True)
def one_less(pace: Pace, looked: bool) -> Pace:
    """Return the pace as the next step begins; ``looked`` tells whether it starts with a look."""
    since_look = 1 if looked else pace.since_look + 1
    return Pace(
        pace.steps - 1, pace.leaps, pace.seconds, pace.reach, pace.far, since_look, pace.cuts
    )


@kernel(inline=True)
def look_next(pace: Pace) -> Pace:
    """Return the pace with a look at the ground before the next step."""
    return Pace(
        pace.steps, pace.leaps, pace.seconds, pace.reach, pace.far, STEPS_TOGETHER, pace.cuts
    )


@kernel
def recentered(mover: Mover, motion: Motion, pace: Pace) -> Motion:
    """Return the same motion from the base at which the next step looks at the ground."""
    base, offset = add(motion.base, motion.offset), (0.0, 0.0, 0.0)
    if pace.leaps:  # where the leap ends
        gravity = 0.0 if motion.footing.walking else mover.gravity
        way, _ = through_air(motion.velocity, gravity, pace.seconds)
        offset = scale(way, -1.0)
        base = subtract(base, offset)
    return Motion(base, offset, motion.velocity, motion.footing, motion.tally)
