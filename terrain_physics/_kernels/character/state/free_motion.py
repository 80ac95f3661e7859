"""Free motion: displacement and velocity with nothing in the way, in the air and on the ground."""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.vec3 import Vec3, scale


@kernel(inline=True)
def through_air(velocity: Vec3, gravity: float, seconds: float) -> tuple[Vec3, Vec3]:
    """Return (displacement, velocity at its end) of a free fall."""
    fall = gravity * seconds
    rise = velocity[1] * seconds - 0.5 * fall * seconds
    displacement = (velocity[0] * seconds, rise, velocity[2] * seconds)
    return displacement, (velocity[0], velocity[1] - fall, velocity[2])


@kernel(inline=True)
def along_ground(velocity: Vec3, friction: float, seconds: float) -> tuple[Vec3, Vec3]:
    """Return (horizontal displacement, final velocity) under friction, down to a standstill."""
    loss = friction * seconds
    if loss == 0.0:
        return (velocity[0] * seconds, 0.0, velocity[2] * seconds), velocity
    speed = math.sqrt(velocity[0] * velocity[0] + velocity[2] * velocity[2])
    left = speed - loss
    if left <= 0.0:
        displacement = scale(velocity, 0.5 * speed / friction)
        return (displacement[0], 0.0, displacement[2]), (0.0, velocity[1], 0.0)
    share = left / speed
    displacement = scale(velocity, 0.5 * (1.0 + share) * seconds)
    return (displacement[0], 0.0, displacement[2]), (
        velocity[0] * share,
        velocity[1],
        velocity[2] * share,
    )
