"""Substeps of an update: their length, and the look at the ground that some of them begin with."""

import math
from typing import NamedTuple

from terrain_physics._kernels._intrinsics import replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.state.free_motion import through_air
from terrain_physics._kernels.character.state.motion import Motion
from terrain_physics._kernels.math.vec3 import Vec3, add, length

# A step moves a body by at most this share of its least half extent, so that its center never
# passes through a surface.
STEP_SHARE = 0.5

# Far more steps than the work budget allows.
_MOST_STEPS = 1e15

# Steps that share one look at the ground, which gathers the triangles in reach.
STEPS_TOGETHER = 4

# Most times in an update that the time left is cut anew because a body lands, leaves the ground or
# hits a ceiling. After that, steps run to their ends.
MOST_CUTS = 8


class Pace(NamedTuple):
    """Steps that the rest of an update is cut into."""

    steps: int  # how many are left
    seconds: float  # length of each
    farthest: float  # how far a step may move the body, pushes and slopes included, in meters
    far: float  # the same for all steps that share a look
    since_look: int  # steps done since the ground was looked at
    cuts: int  # how often the time has been cut anew in this update


@kernel(inline=True)
def largest_component(v: Vec3) -> float:
    """Return the largest absolute component of a vector."""
    return max(abs(v[0]), abs(v[1]), abs(v[2]))


@kernel
def cut(velocity: Vec3, gravity: float, seconds: float, least: float) -> Pace:
    """Return the pace of a body with half extents of at least ``least`` for some time.

    In the air it is fastest at the start or at the end.
    """
    _, last = through_air(velocity, gravity, seconds)
    distance = max(length(velocity), length(last)) * seconds
    step = STEP_SHARE * least
    steps = max(math.ceil(min(distance / step, _MOST_STEPS)), 1)
    each = seconds / steps
    if distance > step * _MOST_STEPS:  # the rest of the time is never reached
        each *= step * _MOST_STEPS / distance
    # This is more than the displacement, as pushes and slopes may lead aside.
    farthest = 2.0 * max(min(distance / steps, step), 0.1 * least)
    far = max(0.75 * min(STEPS_TOGETHER, steps), 1.0) * farthest
    return Pace(steps, each, farthest, far, 0, 0)


@kernel
def cut_anew(pace: Pace, velocity: Vec3, gravity: float, seconds: float, least: float) -> Pace:
    """Return the pace for the ``seconds`` left of an update after the body's motion has changed.

    The next step begins with a look at the ground.
    """
    new = look_next(cut(velocity, gravity, seconds, least))
    return replaced(new, cuts=pace.cuts + 1)


@kernel(inline=True)
def must_look(pace: Pace, offset: Vec3) -> bool:
    """Tell whether the next step may lead beyond the triangles gathered."""
    return bool(
        pace.since_look == STEPS_TOGETHER or largest_component(offset) > pace.far - pace.farthest
    )


@kernel(inline=True)
def one_less(pace: Pace, looked: bool) -> Pace:
    """Return the pace as the next step begins; ``looked`` tells whether it starts with a look."""
    since_look = 1 if looked else pace.since_look + 1
    return replaced(pace, steps=pace.steps - 1, since_look=since_look)


@kernel(inline=True)
def look_next(pace: Pace) -> Pace:
    """Return the pace with a look at the ground before the next step."""
    return replaced(pace, since_look=STEPS_TOGETHER)


@kernel
def recentered(motion: Motion) -> Motion:
    """Return the same motion with its origin at the body's center, for a look from there."""
    origin = add(motion.origin, motion.offset)
    return replaced(motion, origin=origin, offset=(0.0, 0.0, 0.0))
