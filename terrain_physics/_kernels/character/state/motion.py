"""What an update hands from step to step: what stays the same, and what travels."""

from typing import NamedTuple

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.vec3 import Vec3


class MovementRules(NamedTuple):
    """The rules that a body moves by. They hold for a whole update."""

    center: Vec3  # of the body, in meters from the character's position
    max_rounds: int  # of pushing out
    gravity: float  # that bends its flight, in m/s^2; 0 by the sum rule, under which none does
    friction: float  # that slows it on the ground, in m/s^2; 0 where the game drives it
    speed: float  # times the velocity that the game knows, how fast it walks on what it stood on
    by_sum: bool  # whether the sum rule decides what is ground
    walks: bool  # whether it walks where it is grounded; else it flies there too
    cosine: float  # of the slope limit
    walkable: float  # the least y of a walkable unit normal: the cosine, less its slack
    along_surface: bool  # whether its speed counts along the ground, not horizontally
    step_height: float  # of the highest step it climbs, in meters; 0: none
    snap: float  # how far a step may set it down to stay on the ground, in meters
    drop: float  # how far steps that share one look may set it down together, in meters


class Footing(NamedTuple):
    """How a body stands."""

    grounded: bool
    walking: bool  # whether its next step is one along the ground, not through the air
    normal: Vec3  # of the ground it stands on
    stepping: bool  # whether it is on its way up a step
    step_foot: float  # if so: how high its foot was before, in meters in the world


class Tally(NamedTuple):
    """What the steps of an update have come to so far."""

    contacts: int  # how many the scene lists, for where the body is now
    depth: float  # that the body is still in the ground, in meters
    rounds: int  # of pushing out, the most that a step took
    lifted: float  # by all steps together, in meters
    landing: float  # the greatest speed at which it came down on ground, in m/s
    air_time: float  # how long it is off the ground if the update ends in the air, in seconds
    hits: int  # that the update's log has


class Motion(NamedTuple):
    """Where a body is, how it moves and stands: all that a step takes up and leaves."""

    base: Vec3  # the origin of the scene, in meters in the world
    offset: Vec3  # from there to the body's center, in meters
    velocity: Vec3  # in m/s
    footing: Footing
    tally: Tally


@kernel(inline=True)
def with_forces(mover: MovementRules, gravity: float, friction: float) -> MovementRules:
    """Return the rules with another gravity and another friction."""
    return MovementRules(
        mover.center,
        mover.max_rounds,
        gravity,
        friction,
        mover.speed,
        mover.by_sum,
        mover.walks,
        mover.cosine,
        mover.walkable,
        mover.along_surface,
        mover.step_height,
        mover.snap,
        mover.drop,
    )


@kernel(inline=True)
def with_hits(motion: Motion, hits: int) -> Motion:
    """Return the motion with another number of hits in its tally."""
    tally = motion.tally
    tally = Tally(
        tally.contacts,
        tally.depth,
        tally.rounds,
        tally.lifted,
        tally.landing,
        tally.air_time,
        hits,
    )
    return Motion(motion.base, motion.offset, motion.velocity, motion.footing, tally)


# How a walk ended.
FREE, BLOCKED, OFF_GROUND, NOWHERE, ON_EDGE = 0, 1, 2, 3, 4


class Walked(NamedTuple):
    """Where a walk led.

    FREE and BLOCKED leave the body on walkable ground, BLOCKED where walls took part of the way.
    ON_EDGE is FREE where what holds the body may be steep, with walkable ground below it.
    OFF_GROUND leaves it in the air, at the end of the way, out of all walls; NOWHERE at its start.
    """

    ended: int
    offset: Vec3
    planes: int  # of walls met, in the scene
    contacts: int  # that the scene lists, for where the body is
    depth: float  # that is left, in meters
    rounds: int  # of pushing out
