"""Initial motion of a body: its own motion as an update begins."""

from typing import NamedTuple

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.state import layout as at
from terrain_physics._kernels.character.state.free_motion import along_ground, through_air
from terrain_physics._kernels.character.state.layout import gravity_of, three_at
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.types import Floats


class InitialMotion(NamedTuple):
    """A body's own motion as an update begins, as if nothing were in its way."""

    velocity: Vec3  # in m/s; horizontal for a walker, at its real speed
    grounded: bool
    walking: bool
    walks: bool  # whether it walks where it is grounded
    by_sum: bool  # whether the sum rule decides what is ground
    gravity: float  # in m/s^2
    friction: float  # in m/s^2; 0 where the game drives it
    speed: float  # factor on the velocity that the game sees


@kernel
def initial_motion(state: Floats, rules: Floats) -> InitialMotion:
    """Return a body's initial motion. A grounded one walks unless its velocity leads upward.

    The material under a walker may make it faster or slower than the velocity that the game sees.
    The velocity and the friction returned are those of its real motion.
    """
    gravity = gravity_of(rules)
    by_sum = int(rules[at.GROUND_RULE]) == at.RULE_SUM
    walks = gravity > 0.0 and not by_sum
    velocity, grounded = three_at(state, at.VELOCITY), state[at.GROUNDED] != 0.0
    walking = grounded and velocity[1] <= 0.0 and walks
    friction, speed = (float(rules[at.FRICTION]) if state[at.DRIVEN] == 0.0 else 0.0), 1.0
    if rules[at.MATERIAL_RULES] != 0.0:
        friction *= float(rules[at.FRICTION_FACTOR])
        if walking:
            speed = float(rules[at.SPEED_FACTOR])
            friction *= speed
    if walking:
        velocity = (speed * velocity[0], 0.0, speed * velocity[2])
    return InitialMotion(velocity, grounded, walking, walks, by_sum, gravity, friction, speed)


@kernel
def free_displacement(initial: InitialMotion, seconds: float) -> tuple[Vec3, Vec3]:
    """Return (displacement, velocity at its end) of a body with nothing in its way."""
    displacement, velocity = along_ground(initial.velocity, initial.friction, seconds)
    if initial.walking:
        return displacement, velocity
    gravity = 0.0 if initial.grounded and initial.by_sum else initial.gravity
    displacement, flown = through_air(initial.velocity, gravity, seconds)
    return displacement, velocity if initial.grounded and not initial.walks else flown
