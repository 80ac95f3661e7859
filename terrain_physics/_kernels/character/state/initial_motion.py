"""How a body is about to move by itself as an update begins."""

from typing import NamedTuple

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.state.free_motion import along_ground, through_air
from terrain_physics._kernels.character.state.layout import (
    DRIVEN,
    FRICTION,
    FRICTION_FACTOR,
    GRAVITY,
    GRAVITY_SCALE,
    GROUND_RULE,
    GROUNDED,
    MATERIAL_RULES,
    RULE_SUM,
    SPEED_FACTOR,
    VELOCITY,
    three_at,
)
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.types import Floats


class InitialMotion(NamedTuple):
    """What moves a body, before anything is in its way."""

    velocity: Vec3  # in m/s; of a walker horizontal, and as fast as it really goes
    grounded: bool
    walking: bool
    walks: bool  # whether it walks where it is grounded
    by_sum: bool  # whether the sum rule decides what is ground
    gravity: float  # in m/s^2
    friction: float  # in m/s^2; 0 where the game drives it
    speed: float  # times the velocity that the game knows


@kernel
def initial_motion(state: Floats, rules: Floats) -> InitialMotion:
    """Return how a body sets out. A grounded one walks unless its velocity leads upward.

    What a walker stands on may have it walk faster or slower than its velocity says: then velocity
    and friction are those of its real way.
    """
    gravity = float(rules[GRAVITY]) * float(rules[GRAVITY_SCALE])
    by_sum = int(rules[GROUND_RULE]) == RULE_SUM
    walks = gravity > 0.0 and not by_sum
    velocity, grounded = three_at(state, VELOCITY), state[GROUNDED] != 0.0
    walking = grounded and velocity[1] <= 0.0 and walks
    friction, speed = (float(rules[FRICTION]) if state[DRIVEN] == 0.0 else 0.0), 1.0
    if rules[MATERIAL_RULES] != 0.0:
        friction *= float(rules[FRICTION_FACTOR])
        if walking:
            speed = float(rules[SPEED_FACTOR])
            friction *= speed
    if walking:
        velocity = (speed * velocity[0], 0.0, speed * velocity[2])
    return InitialMotion(velocity, grounded, walking, walks, by_sum, gravity, friction, speed)


@kernel
def free_displacement(out: InitialMotion, seconds: float) -> tuple[Vec3, Vec3]:
    """Return (way, velocity at its end) of a body that nothing is in the way of."""
    displacement, velocity = along_ground(out.velocity, out.friction, seconds)
    if out.walking:
        return displacement, velocity
    gravity = 0.0 if out.grounded and out.by_sum else out.gravity
    displacement, flown = through_air(out.velocity, gravity, seconds)
    return displacement, velocity if out.grounded and not out.walks else flown
