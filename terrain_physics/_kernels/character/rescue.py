"""Rescue of a body that was put into the ground, before it moves."""

from terrain_physics._kernels._intrinsics import replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.find_contacts import (
    Manifold,
    is_buried,
    list_contacts,
)
from terrain_physics._kernels.character.contacts.resolve import (
    Resolved,
    clearing_rise,
    is_pressed,
    out_of_maps,
    resolve,
    rise_of_feet,
)
from terrain_physics._kernels.character.contacts.scene import Scene, look
from terrain_physics._kernels.character.reports.report import report_ground
from terrain_physics._kernels.character.state import layout as at
from terrain_physics._kernels.character.state.layout import (
    SIMULTANEOUS,
    put_three_at,
    three_at,
)
from terrain_physics._kernels.character.state.motion import Motion, MovementRules
from terrain_physics._kernels.character.state.substeps import Pace, largest_component
from terrain_physics._kernels.character.state.work import is_spent
from terrain_physics._kernels.ground.table import GroundTable
from terrain_physics._kernels.math.vec3 import Vec3, add, subtract
from terrain_physics._kernels.tolerances import CONTACT_MARGIN, CONVERGED_DEPTH
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
    not checked. A jammed walker is treated as newly placed in every update, so that it comes free
    once there is room: the same happens after a load, so both continue identically.

    Returns
    -------
    tuple of Scene, Motion and float
        The scene, gathered farther if the body had to be moved, and the result of `_rescue`. If
        that was too much work: the motion given, and 0.
    """
    walking = motion.footing.walking
    is_carried = not is_teleported and state[at.ON_MOVING_BASE] != 0.0
    is_below = is_carried and state[at.BELOW] != 0.0
    is_jammed = state[at.CONVERGED] == 0.0 or (state[at.BELOW] != 0.0 and not is_carried)
    is_checked = not motion.footing.grounded or state[at.MOVED] != 0.0 or is_jammed
    if is_checked and walking:
        depth = _depth_left(state, is_teleported)
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


@kernel(inline=True, no_refcount=True)
def _depth_left(state: Floats, is_teleported: bool) -> float:
    """Return the depth at which moving parts are known to press a body against still ground."""
    is_squeezed = state[at.SQUEEZED_BY] >= 0.0 and not is_teleported
    return float(state[at.PENETRATION]) if is_squeezed else 0.0


@kernel(noinline=True, no_refcount=True)
def _is_worse(scene: Scene, offset: Vec3, depth: float, is_below: bool) -> bool:
    """Tell whether a body is deeper in the ground than ``depth``, or its center newly in it.

    A contact margin more counts as no deeper. If neither holds, the check changes nothing.
    """
    manifold = list_contacts(scene, offset)
    is_deeper = max(manifold.depth, manifold.overlap) > depth + CONTACT_MARGIN
    return is_deeper or (is_buried(scene, offset) and not is_below)


@kernel(inline=True, no_refcount=True)
def _unless_worse(scene: Scene, offset: Vec3, manifold: Manifold, out: Resolved) -> Resolved:
    """Return the result of depenetration from an offset, or of staying there if there is no room.

    A body that does not come free moves only if it is less deep then, and in nothing deeper than
    before. Maps push it out even so. Farther than it extends, nothing is known of meshes.
    """
    depth, (x, y, z) = max(manifold.depth, manifold.overlap), subtract(out.offset, offset)
    reach = largest_component(scene.body.half_extents)
    if largest_component((x, min(y, 0.0), z)) <= reach and (
        out.depth <= CONVERGED_DEPTH
        or (out.depth < depth - CONTACT_MARGIN and not is_pressed(scene, offset, out.offset))
    ):
        return out
    offset, _ = out_of_maps(scene, offset, out.planes)
    count, deepest, overlap = list_contacts(scene, offset)
    depth = max(deepest, overlap)
    return replaced(out, offset=offset, contacts=count, depth=depth, lifted=0.0)


@kernel(noinline=True, no_refcount=True)
def _rescue(
    movement: MovementRules, motion: Motion, scene: Scene, delta_time: float, is_below: bool
) -> tuple[Motion, float]:
    """Lift a body with its center below the surface of a map, and depenetrate a walking one.

    Takes a motion at the base of its scene, before the first step. A body that a moving base
    carries below the surface, as through a mountain, is not lifted.

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
        tally = replaced(tally, lifted=tally.lifted + lifted)
        if up > most:
            return replaced(motion, offset=offset, tally=tally), up - most
    if not motion.footing.walking:
        return replaced(motion, offset=offset, tally=tally), 0.0
    # As in a walk, walls push all at once, and walkable ground only lifts the body.
    scene = replaced(scene, resolver=SIMULTANEOUS)
    manifold, most = list_contacts(scene, offset), max(movement.step_height, scene.body.least)
    up = rise_of_feet(scene, offset, manifold.contacts, most, movement.walkable)
    offset = add(offset, (0.0, up, 0.0))
    manifold = list_contacts(scene, offset)
    out = resolve(scene, offset, manifold, movement.max_rounds, CONTACT_MARGIN, movement.guarded)
    out = _unless_worse(scene, offset, manifold, out)
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
    """Write the state of a body that is still ``left`` meters too low after its rescue.

    Or so far from where it leaves a solid mesh, or shut in there. It does nothing else in this
    update; others of a crowd and its own velocity would lead it back.
    """
    put_three_at(state, at.OWN_VELOCITY, (0.0, 0.0, 0.0))
    put_three_at(state, at.POSITION, add(three_at(state, at.POSITION), motion.offset))
    put_three_at(state, at.VELOCITY, (0.0, 0.0, 0.0))
    state[at.WAS_GROUNDED] = state[at.GROUNDED]
    state[at.HITS] = 0.0
    state[at.GROUNDED] = state[at.CONTACTS] = state[at.ROUNDS] = 0.0
    state[at.STEPPING] = state[at.STEP_FOOT] = state[at.BELOW] = 0.0
    state[at.LIMIT] = at.BY_DEPTH if left > 0.0 else at.NO_LIMIT
    state[at.CONVERGED] = 1.0 if left == 0.0 else 0.0
    state[at.PENETRATION], state[at.LIFTED] = left, motion.tally.lifted
    state[at.UNDISTURBED], state[at.DRIVEN], state[at.MOVED] = 1.0, 0.0, 0.0
    state[at.AIR_TIME] += delta_time
    report_ground(state, scene, motion.origin, 0, (0.0, 0.0, 0.0), at.AIRBORNE)
