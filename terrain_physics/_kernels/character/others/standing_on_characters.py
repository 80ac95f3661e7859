"""Standing on characters: steps that end on top of another character, or slide off it."""

import numpy as np

from terrain_physics._kernels._intrinsics import replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.body import foot_of
from terrain_physics._kernels.character.others.half_planes import CHARACTER_BELOW, HOLDS, TOP_BELOW
from terrain_physics._kernels.character.reports.hits import HitLog, note_character
from terrain_physics._kernels.character.state.free_motion import along_ground, through_air
from terrain_physics._kernels.character.state.layout import (
    GROUND_KIND,
    GROUND_NORMAL,
    GROUND_PART,
    GROUND_POINT,
    GROUND_TRIANGLE,
    ON_CHARACTER,
    put_three_at,
)
from terrain_physics._kernels.character.state.motion import Footing, Motion, MovementRules, in_air
from terrain_physics._kernels.character.state.substeps import Pace
from terrain_physics._kernels.math.vec3 import Vec3, add
from terrain_physics._kernels.surface.shapes import Body
from terrain_physics._kernels.tolerances import ON_CHARACTER_SLACK
from terrain_physics._kernels.types import Floats

_UP: Vec3 = (0.0, 1.0, 0.0)


@kernel(inline=True, no_refcount=True)
def is_over_characters(crowd: Floats) -> bool:
    """Tell by a character's row of the crowd whether it is above another one."""
    return len(crowd) > 0 and crowd[TOP_BELOW] > -np.inf


@kernel
def step_onto_character(
    crowd: Floats,
    movement: MovementRules,
    motion: Motion,
    pace: Pace,
    body: Body,
    was_on_character: bool,
) -> tuple[bool, MovementRules, Motion]:
    """Return (whether the top below bounds a step, the rules and the motion of that step).

    The step leads no lower than the top. A body that ``was_on_character`` before the step follows
    the top down by up to its snap distance.
    """
    velocity = motion.velocity
    rise = float(crowd[TOP_BELOW]) - foot_of(add(motion.origin, motion.offset), body)[1]
    (_, fall, _), _ = through_air(velocity, movement.gravity, pace.seconds)
    is_pulled = velocity[1] <= 0.0 and (movement.gravity > 0.0 or movement.by_sum)
    follows = was_on_character and is_pulled and rise >= -movement.snap
    if fall >= rise and not follows:
        return False, movement, motion
    velocity = (velocity[0], rise / pace.seconds, velocity[2])
    footing = in_air(_UP)
    motion = replaced(motion, velocity=velocity, footing=footing)
    return True, replaced(movement, gravity=0.0), motion


@kernel(noinline=True)
def stand_on_character(
    crowd: Floats, movement: MovementRules, before: Motion, ahead: Motion, seconds: float,
    body: Body, log: HitLog, was_on_character: bool,
) -> tuple[bool, Motion]:  # fmt: skip
    """Return (whether a step has ended on a character, the motion after it).

    ``before`` is the motion before a step that the top below bounded. If the character below holds
    the body, it is grounded then, and friction slows it. A hit is noted, unless the body
    ``was_on_character`` before the step.
    """
    foot = foot_of(add(ahead.origin, ahead.offset), body)
    if ahead.footing.grounded or foot[1] > crowd[TOP_BELOW] + ON_CHARACTER_SLACK:
        return False, ahead
    falling, tally = max(-before.velocity[1], 0.0), ahead.tally
    hits = tally.hits
    if not was_on_character:
        character = float(crowd[CHARACTER_BELOW])
        hits = note_character(log, hits, character, foot, _UP, falling, 0.0)
    holds = crowd[HOLDS] != 0.0
    velocity = (ahead.velocity[0], 0.0, ahead.velocity[2])
    if holds and movement.walks:
        _, velocity = along_ground(velocity, movement.friction, seconds)
    tally = replaced(tally, landing=max(tally.landing, falling), hits=hits)
    footing = Footing(holds, holds and movement.walks, _UP, False, 0.0)
    return True, replaced(ahead, velocity=velocity, footing=footing, tally=tally)


@kernel
def report_character_below(state: Floats, center: Vec3, body: Body) -> None:
    """Write that a body stands on a character, or slides off it."""
    state[GROUND_KIND], state[GROUND_PART], state[GROUND_TRIANGLE] = ON_CHARACTER, -1.0, -1.0
    put_three_at(state, GROUND_NORMAL, _UP)
    put_three_at(state, GROUND_POINT, foot_of(center, body))
