"""Climbing: where a way that walls cut short leads up a step instead."""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.body import CONTACT_MARGIN, SLOP
from terrain_physics._kernels.character.grounding import rise_of_slope
from terrain_physics._kernels.character.lift import lift
from terrain_physics._kernels.character.motion import Motion, Mover
from terrain_physics._kernels.character.resolve import (
    DEPTH,
    PUSH,
    Scene,
    empty_scene,
    is_buried,
    list_contacts,
    make_memory,
    push_out,
)
from terrain_physics._kernels.character.substeps import Pace, look
from terrain_physics._kernels.character.walls import MOST_CLEARANCE, flat, make_walls
from terrain_physics._kernels.ground.candidates import NORMAL, surface_at, three
from terrain_physics._kernels.math.vec3 import Vec3, add, add_scaled, subtract
from terrain_physics._kernels.surface.ground_arrays import Ground
from terrain_physics._kernels.surface.shapes import BOX

# Looks from the middle of a body to twice its reach for the ground beyond a riser.
_PROBES = 24

# How often walls beside a step push the body away.
_WALL_ROUNDS = 2


@kernel
def _leads_to_a_step(scene: Scene, offset: Vec3, way: Vec3, highest: float, cosine: float) -> bool:
    """Tell whether ``way`` leads over a riser to walkable ground, not higher than ``highest``.

    Looks from under the body to ahead of its foremost point. A riser is steep ground, or ground
    that rises more between two looks than walkable ground can.
    """
    size, ahead = flat(way)
    if size == 0.0:
        return False
    reach = scene.body.reach
    stride = (abs(ahead[0]) * reach[0] + abs(ahead[2]) * reach[2]) * (2.0 / _PROBES)
    steepest = rise_of_slope(stride, cosine)
    foot = offset[1] - reach[1] + MOST_CLEARANCE
    before, beyond_riser = np.inf, False
    for k in range(_PROBES + 1):
        surface, which = surface_at(
            scene.candidates,
            scene.size,
            offset[0] + ahead[0] * (stride * k),
            offset[2] + ahead[2] * (stride * k),
            highest,
            False,
        )
        is_walkable = which >= 0 and abs(scene.candidates[which, NORMAL + 1]) >= cosine
        if not is_walkable or surface - before > steepest:
            beyond_riser = True
        if is_walkable and beyond_riser and surface > foot:
            return True
        before = surface
    return False


@kernel(apart=True, lent=True)
def _is_clear(scene: Scene, offset: Vec3) -> bool:
    """Tell whether a body is out of everything at an offset."""
    _, deepest, overlapping = list_contacts(scene, offset)
    return deepest <= SLOP and overlapping <= SLOP and not is_buried(scene, offset)


@kernel
def _into_walls(scene: Scene, place: Vec3, cosine: float) -> Vec3:
    """Return the horizontal direction, of any length, into the walls at a place."""
    count, _, _ = list_contacts(scene, place)
    walls, _ = make_walls(scene.contacts, count, cosine)
    total = (0.0, 0.0, 0.0)
    for i in range(walls):
        depth = float(scene.contacts[i, DEPTH])
        total = add_scaled(total, three(scene.contacts, i, PUSH), -depth)
    return total


@kernel(apart=True, lent=True)
def step_up(
    scene: Scene,
    start: Vec3,
    way: Vec3,
    into: Vec3,
    farthest: float,
    highest: float,
    cosine: float,
) -> tuple[bool, Vec3]:
    """Return (whether a way that ends in a wall leads up a step, where the body is then).

    ``into`` is what the wall took of the way: it leads to the step however aslant the way is. The
    body's foot may come to be as high as ``highest``, and the body ``farthest`` from the start.
    """
    ahead = add(start, way)
    up = 0.0
    for k in range(scene.size):
        best = lift(scene.candidates, k, ahead, scene.body, scene.faces)
        if best > up and ahead[1] - scene.body.reach[1] + best <= highest:
            up = best
    ahead = add(ahead, (0.0, up, 0.0))
    if up == 0.0 or not (
        _leads_to_a_step(scene, start, into, highest, cosine)
        or _leads_to_a_step(scene, start, way, highest, cosine)
        # Straight into the riser, where the whole way was lost and leads far aside.
        or _leads_to_a_step(
            scene, start, _into_walls(scene, add(start, way), cosine), highest, cosine
        )
    ):
        return False, start
    # Walls beside the step only turn the way aside.
    for _ in range(_WALL_ROUNDS):
        count, _, _ = list_contacts(scene, ahead)
        walls, overhead = make_walls(scene.contacts, count, cosine)
        if overhead or walls == 0:
            break
        ahead, _ = push_out(scene, ahead, walls, int(np.int64(0)), True)
    aside, _ = flat(subtract(ahead, start))
    # The way up must be free too: a ceiling stops it.
    raised = add(start, (0.0, up, 0.0))
    return aside <= farthest and _is_clear(scene, raised) and _is_clear(scene, ahead), ahead


@kernel(apart=True)
def climb(
    mover: Mover, motion: Motion, pace: Pace, way: Vec3, reached: Vec3, scene: Scene, ground: Ground
) -> tuple[bool, Vec3, float]:
    """Try to go up a step by a horizontal ``way`` of which a walk got only as far as ``reached``.

    Looks at the ground by itself, beyond the scene of the walk, which it leaves as it is. Advances
    the random numbers where walls beside the step push the body.

    Returns
    -------
    tuple of bool, Vec3 and float
        Whether it leads up a step; if so, the body's offset there, on the step or its edge and out
        of everything else; how high the foot was before the step, in meters in the world. That
        height counts from update to update until the body stands on the step: a step that takes
        several of them is no higher than ``step_height`` altogether.
    """
    offset, body, footing = motion.offset, scene.body, motion.footing
    foot = footing.step_foot
    if not footing.stepping:
        # A round body on the edge of a step hangs over it a little.
        round_off = 0.0
        if body.kind != BOX and footing.normal[1] >= mover.walkable:
            round_off = body.radius * (1.0 - footing.normal[1])
        foot = motion.base[1] + (offset[1] - body.reach[1]) + round_off
    highest = foot - motion.base[1] + mover.step_height + CONTACT_MARGIN
    into = subtract(add(offset, way), (reached[0], offset[1], reached[2]))
    scene = empty_scene(body, scene.resolver, scene.random_state, make_memory())
    scene = look(scene, ground, motion.base, pace.far, mover.drop, mover.step_height)
    leads_up, place = step_up(scene, offset, way, into, pace.reach, highest, mover.walkable)
    return leads_up, place, foot
