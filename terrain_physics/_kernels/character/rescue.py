"""Rescue of a body that was put into the ground, before it moves."""

from terrain_physics._kernels._intrinsics import replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.find_contacts import is_buried, list_contacts
from terrain_physics._kernels.character.contacts.resolve import clearing_rise, resolve, rise_of_feet
from terrain_physics._kernels.character.contacts.scene import Scene, look
from terrain_physics._kernels.character.reports.report import report_ground
from terrain_physics._kernels.character.state import layout as at
from terrain_physics._kernels.character.state.layout import put_three_at, three_at
from terrain_physics._kernels.character.state.motion import Motion, MovementRules
from terrain_physics._kernels.character.state.substeps import Pace, largest_component
from terrain_physics._kernels.character.state.work import is_spent
from terrain_physics._kernels.ground.table import GroundTable
from terrain_physics._kernels.math.vec3 import Vec3, add
from terrain_physics._kernels.tolerances import CONTACT_MARGIN
from terrain_physics._kernels.types import Floats

# Speed of a body that rises from deep below the ground, and its least rise in an update.
_RESCUE_SPEED = 30.0  # m/s
_RESCUE_STEP = 0.3  # meters


@kernel(inline=True)
def depenetrate(
    state: Floats,
    movement: MovementRules,
    motion: Motion,
    pace: Pace,
    scene: Scene,
    ground: GroundTable,
    delta_time: float,
    is_teleported: bool,
) -> tuple[Scene, Motion, float]:
    """Take a body out of the ground that it was put into, before its first step.

    A body in the air is lifted out of a map in every update. A walker that nothing has disturbed is
    not checked. A jammed walker, one that did not converge in its last update, is treated as newly
    placed: the same happens after a load, so both continue identically.

    Returns
    -------
    tuple of Scene, Motion and float
        The scene, gathered farther if the body had to be moved, and the result of `_rescue`. If
        that was too much work: the motion given, and 0.
    """
    walking = motion.footing.walking
    is_checked = not motion.footing.grounded or state[at.MOVED] != 0.0 or state[at.CONVERGED] == 0.0
    is_below = not is_teleported and state[at.BELOW] != 0.0
    if is_checked and walking:
        depth = 0.0 if is_teleported else float(state[at.PENETRATION])
        is_checked = _is_worse(scene, motion.offset, depth, is_below)
        if is_checked:  # its depenetration takes one update, however far it leads
            far = pace.far + largest_component(scene.body.half_extents)
            scene = look(scene, ground, motion.origin, far, movement.drop, 0.0)
    if not is_checked:
        return scene, motion, 0.0
    out, left = _rescue(movement, motion, scene, delta_time, is_below)
    if is_spent(scene.work):
        return scene, motion, 0.0
    return scene, out, left


@kernel(noinline=True, no_refcount=True)
def _is_worse(scene: Scene, offset: Vec3, depth: float, is_below: bool) -> bool:
    """Tell whether a body is deeper in the ground than ``depth``, or its center newly in it.

    A contact margin more counts as no deeper. If neither holds, the check changes nothing.
    """
    manifold = list_contacts(scene, offset)
    is_deeper = max(manifold.depth, manifold.overlap) > depth + CONTACT_MARGIN
    return is_deeper or (is_buried(scene, offset) and not is_below)


@kernel(noinline=True, no_refcount=True)
def _rescue(
    movement: MovementRules, motion: Motion, scene: Scene, delta_time: float, is_below: bool
) -> tuple[Motion, float]:
    """Lift a body with its center below the surface of a map, and depenetrate a walking one.

    Takes a motion at the base of its scene, before the first step. A body that the last update left
    below the surface is not lifted.

    Returns
    -------
    tuple of Motion and float
        The motion, with an updated tally, and how much farther the body must rise, in meters. This
        is more than 0 only for a body deep below: it rises by the most that one update allows, and
        does nothing else in this update. Any other body is out of the ground, but a flying one may
        still overlap ground that its first step pushes it out of.
    """
    offset, tally = motion.offset, motion.tally
    if is_buried(scene, offset) and not is_below:
        up = clearing_rise(scene, offset, True)
        most = max(_RESCUE_STEP, _RESCUE_SPEED * delta_time)
        lifted = min(up, most)
        offset = (0.0, lifted, 0.0)
        tally = replaced(tally, lifted=lifted)
        if up > most:
            return replaced(motion, offset=offset, tally=tally), up - most
    if not motion.footing.walking:
        return replaced(motion, offset=offset, tally=tally), 0.0
    # Walkable ground only lifts the body, as in a walk.
    manifold, most = list_contacts(scene, offset), max(movement.step_height, scene.body.least)
    up = rise_of_feet(scene, offset, manifold.contacts, most, movement.walkable)
    offset = add(offset, (0.0, up, 0.0))
    out = resolve(scene, offset, list_contacts(scene, offset), movement.max_rounds, CONTACT_MARGIN)
    tally = replaced(
        tally,
        contacts=out.contacts,
        depth=out.depth,
        rounds=out.rounds,
        lifted=tally.lifted + out.lifted,
    )
    return replaced(motion, offset=out.offset, tally=tally), 0.0


@kernel
def rise(state: Floats, scene: Scene, motion: Motion, left: float, delta_time: float) -> None:
    """Write the state of a body that is still ``left`` meters too low after its rescue."""
    put_three_at(state, at.OWN_VELOCITY, (0.0, 0.0, 0.0))
    put_three_at(state, at.POSITION, add(three_at(state, at.POSITION), motion.offset))
    put_three_at(state, at.VELOCITY, (0.0, 0.0, 0.0))
    state[at.WAS_GROUNDED] = state[at.GROUNDED]
    state[at.HITS] = 0.0
    state[at.GROUNDED] = state[at.CONTACTS] = state[at.CONVERGED] = state[at.ROUNDS] = 0.0
    state[at.STEPPING] = state[at.STEP_FOOT] = state[at.BELOW] = 0.0
    state[at.LIMIT] = at.BY_DEPTH
    state[at.PENETRATION], state[at.LIFTED] = left, motion.tally.lifted
    state[at.UNDISTURBED], state[at.DRIVEN], state[at.MOVED] = 1.0, 0.0, 0.0
    state[at.AIR_TIME] += delta_time
    report_ground(state, scene, motion.origin, 0, (0.0, 0.0, 0.0), at.AIRBORNE)
