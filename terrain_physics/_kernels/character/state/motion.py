"""Values that an update hands from step to step: its fixed rules, and the changing motion."""

from typing import NamedTuple

from terrain_physics._kernels._intrinsics import replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.vec3 import Vec3


class MovementRules(NamedTuple):
    """The rules that a body moves by. They hold for a whole update."""

    body_offset: Vec3  # from the character's position to the body's center, in meters
    max_rounds: int  # of pushing out
    guarded: bool  # whether no push leads it down through a face, as it came here by itself
    jammed: bool  # whether there was no room for it; then it leaves in steps, as nobody leaps
    gravity: float  # during a flight, in m/s^2; 0 by the sum rule, which adds it at the start
    friction: float  # on the ground, in m/s^2; 0 where the game drives it
    speed: float  # factor on the velocity that the game sees, of the material it stood on
    by_sum: bool  # whether the sum rule decides what is ground
    walks: bool  # whether it walks where it is grounded; else it flies there too
    cosine: float  # of the slope limit
    walkable: float  # the least y of a walkable unit normal: the cosine, less its slack
    along_surface: bool  # whether its speed is that along the ground, not the horizontal one
    step_height: float  # of the highest step it climbs, in meters; 0: none
    snap: float  # how far a step may set it down to stay on the ground, in meters
    drop: float  # how far steps that share one look may set it down together, in meters


class Footing(NamedTuple):
    """A body's hold on the ground."""

    grounded: bool
    walking: bool  # whether its next step is along the ground, not through the air
    normal: Vec3  # of the ground it stands on
    stepping: bool  # whether it is on its way up a step
    step_foot: float  # if so: the height of its foot before the step, in meters in the world


@kernel(inline=True)
def in_air(normal: Vec3) -> Footing:
    """Return the footing of a body in the air, with the normal of the ground that it left."""
    return Footing(grounded=False, walking=False, normal=normal, stepping=False, step_foot=0.0)


@kernel(inline=True)
def walking_on(normal: Vec3) -> Footing:
    """Return the footing of a body that walks on ground of a normal, on its way up no step."""
    return Footing(grounded=True, walking=True, normal=normal, stepping=False, step_foot=0.0)


class Tally(NamedTuple):
    """Results of the steps of an update so far."""

    contacts: int  # how many the scene lists where the body is now
    depth: float  # how deep the body still is in the ground, in meters
    rounds: int  # of pushing out, the most that a step took
    lifted: float  # by all steps together, in meters
    landing: float  # the greatest speed at which it came down on ground, in m/s
    air_time: float  # time since it left the ground if the update ends in the air, in seconds
    hits: int  # how many the update's log has
    below: bool  # whether the last step ended a walk with the center below the surface of a map


class Motion(NamedTuple):
    """Place, velocity and footing of a body before or after a step."""

    origin: Vec3  # the origin of the scene, in meters in the world
    offset: Vec3  # from there to the body's center, in meters
    velocity: Vec3  # in m/s
    footing: Footing
    tally: Tally


@kernel(inline=True)
def with_hits(motion: Motion, hits: int) -> Motion:
    """Return the motion with another number of hits in its tally."""
    return replaced(motion, tally=replaced(motion.tally, hits=hits))


# Ends of a walk.
FREE, BLOCKED, OFF_GROUND, NOWHERE, ON_EDGE = 0, 1, 2, 3, 4


class Walked(NamedTuple):
    """Result of a walk.

    FREE and BLOCKED leave the body on walkable ground; BLOCKED means that walls cut its
    displacement. ON_EDGE is FREE on an edge that may be steep, with walkable ground below it.
    OFF_GROUND leaves the body in the air, at the end of the displacement, out of all walls. NOWHERE
    leaves it at its start.
    """

    ended: int
    offset: Vec3
    planes: int  # of walls met, in the scene
    contacts: int  # how many the scene lists where the body is
    depth: float  # left there, in meters
    rounds: int  # of pushing out
