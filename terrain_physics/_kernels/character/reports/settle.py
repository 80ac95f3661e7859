"""The end of an update: the state that it leaves, and friction for bodies that do not walk."""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.scene import Scene
from terrain_physics._kernels.character.reports.report import (
    kind_of_ground,
    report_ground,
)
from terrain_physics._kernels.character.state import layout as at
from terrain_physics._kernels.character.state.free_motion import along_ground
from terrain_physics._kernels.character.state.layout import put_three_at, three_at
from terrain_physics._kernels.character.state.motion import Footing, Motion, MovementRules, Tally
from terrain_physics._kernels.character.state.work import is_spent
from terrain_physics._kernels.math.vec3 import add, scale, subtract
from terrain_physics._kernels.tolerances import CONVERGED_DEPTH
from terrain_physics._kernels.types import Floats


@kernel
def _put_footing(state: Floats, footing: Footing, tally: Tally) -> None:
    """Write whether the body stands on ground, whether it stood before, and its time in the air."""
    state[at.WAS_GROUNDED] = state[at.GROUNDED]
    if footing.grounded:
        if state[at.GROUNDED] == 0.0:
            state[at.LANDING_SPEED] = tally.landing + 0.0
        state[at.AIR_TIME] = 0.0
    else:
        state[at.AIR_TIME] = tally.air_time
    stepping = footing.grounded and footing.stepping
    state[at.GROUNDED] = 1.0 if footing.grounded else 0.0
    state[at.STEPPING] = 1.0 if stepping else 0.0
    state[at.STEP_FOOT] = footing.step_foot if stepping else 0.0


@kernel(inline=True)
def _put_place(state: Floats, movement: MovementRules, motion: Motion, delta_time: float) -> None:
    """Write the position of a body, and its velocity as the game sees it, after friction."""
    velocity = motion.velocity
    if motion.footing.grounded and not movement.walks:
        _, velocity = along_ground(velocity, movement.friction, delta_time)
    elif motion.footing.grounded:
        velocity = scale(velocity, 1.0 / movement.speed)
    put_three_at(state, at.VELOCITY, velocity)

    position = three_at(state, at.POSITION)
    if motion.origin == add(position, movement.body_offset):
        # A body that did not move keeps its bits.
        position = add(position, motion.offset)
    else:
        position = subtract(add(motion.origin, motion.offset), movement.body_offset)
    put_three_at(state, at.POSITION, position)


@kernel(inline=True, no_refcount=True)
def settle(
    state: Floats, movement: MovementRules, motion: Motion, scene: Scene, delta_time: float,
    limit: int,
) -> None:  # fmt: skip
    """Write position, velocity and footing of a body; slow it on ground if it does not walk.

    Takes ``state`` from before the update, the motion after the last step, and the scene with the
    contacts of the body where it is now. The state is left undisturbed: neither driven nor moved by
    the game. ``limit`` is BY_WORK if the work budget ended the update, else NO_LIMIT.
    """
    footing, tally = motion.footing, motion.tally
    _put_place(state, movement, motion, delta_time)
    kind, normal = (at.WALKABLE if footing.grounded else at.AIRBORNE), footing.normal
    if tally.contacts > 0 and not (footing.grounded and (movement.by_sum or footing.stepping)):
        kind, normal = kind_of_ground(
            scene, tally.contacts, footing.grounded, normal, movement.walkable, movement.by_sum
        )
    center = add(motion.origin, motion.offset)
    report_ground(state, scene, center, tally.contacts, normal, kind)
    put_three_at(state, at.GROUND_NORMAL, normal)
    _put_footing(state, footing, tally)
    state[at.HITS] = tally.hits
    state[at.CONTACTS], state[at.ROUNDS], state[at.LIFTED] = (
        tally.contacts,
        tally.rounds,
        tally.lifted,
    )
    state[at.PENETRATION] = tally.depth
    if limit == at.NO_LIMIT and not tally.depth <= CONVERGED_DEPTH:
        limit = at.BY_ROOM
    state[at.LIMIT], state[at.CONVERGED] = limit, 1.0 if limit == at.NO_LIMIT else 0.0
    if not is_spent(scene.work):
        state[at.BELOW] = 1.0 if footing.grounded and tally.below else 0.0
    state[at.UNDISTURBED], state[at.DRIVEN], state[at.MOVED] = 1.0, 0.0, 0.0
