"""One step of a body that stands on the ground: along, over and off it.

On the ground, where a body goes is its horizontal way; its height is the ground's. So a step moves
it horizontally, sets it on what is walkable there, and lets everything steeper be a wall: no slope,
no edge between faces and no order of contacts changes the speed or the line of a walk, and no
pushing climbs a steep slope.
"""

import math

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.body import CONTACT_MARGIN, SLOP, contact
from terrain_physics._kernels.character.grounding import add_plane
from terrain_physics._kernels.character.lift import lift
from terrain_physics._kernels.character.resolve import (
    CANDIDATE,
    DEPTH,
    PUSH,
    STUCK,
    Scene,
    as_wall,
    clearing_lift,
    is_buried,
    list_contacts,
    push_out,
)
from terrain_physics._kernels.ground.candidates import NORMAL, A, B, C, put_three, surface_at, three
from terrain_physics._kernels.math.vec3 import Vec3, add, add_scaled, scale, subtract
from terrain_physics._kernels.types import Floats

# Contacts whose normals are more upright than this, up or down, cannot be left horizontally.
OVERHEAD = 0.995

# Looks from the middle of a body to twice its reach for the ground beyond a riser.
_PROBES = 24

# How far a body is lifted where wall and ground lead into each other, in meters.
MOST_CLEARANCE = 1e-3

# Depth in walkable ground from which a step sets a body right, in meters.
LEVEL = 1e-9

# Times its own step that walls may move a body which comes down a step.
FARTHEST_ASIDE = 1.5

# How often walls beside a step push the body away.
_WALL_ROUNDS = 2

# How a step ended.
FREE, BLOCKED, OFF_GROUND = 0, 1, 2


@kernel(inline=True)
def _flat(normal: Vec3) -> tuple[float, Vec3]:
    """Return (length of the horizontal part, its direction)."""
    size = math.sqrt(normal[0] * normal[0] + normal[2] * normal[2])
    if size == 0.0:
        return 0.0, (0.0, 0.0, 0.0)
    return size, (normal[0] / size, 0.0, normal[2] / size)


@kernel(apart=True)
def _rise(scene: Scene, offset: Vec3, count: int, cosine: float) -> float:
    """Return how far up the walkable contacts among those listed push the body."""
    best = 0.0
    for i in range(count):
        if scene.contacts[i, DEPTH] > LEVEL and scene.contacts[i, PUSH + 1] >= cosine:
            which = int(scene.contacts[i, CANDIDATE])
            best = max(best, lift(scene.candidates, which, offset, scene.body, scene.faces))
    return best


@kernel
def _make_walls(contacts: Floats, count: int, cosine: float) -> tuple[int, bool]:
    """Turn penetrating steep contacts into upright walls, leave out the rest.

    Returns (how many, whether one of them is overhead, with no way out along the ground).
    """
    kept = 0
    for i in range(count):
        if contacts[i, DEPTH] <= SLOP or contacts[i, PUSH + 1] >= cosine:
            continue
        if contacts[i, PUSH + 1] < -OVERHEAD:
            return kept, True
        depth, push = as_wall(float(contacts[i, DEPTH]), three(contacts, i, PUSH))
        contacts[kept, CANDIDATE] = contacts[i, CANDIDATE]
        contacts[kept, DEPTH] = depth
        put_three(contacts, kept, PUSH, push)
        kept += 1
    return kept, False


@kernel(apart=True)
def support(scene: Scene, offset: Vec3, lowest: float, cosine: float) -> tuple[float, float]:
    """Return the greatest lifts <= 0, not below ``lowest``, that set the body on the ground.

    The first on walkable ground, the second, not less, on any. -inf if there is none.
    """
    best, held = -np.inf, -np.inf
    candidates, foot = scene.candidates, offset[1] - scene.body.reach[1]
    for k in range(scene.size):
        least = max(best, lowest)
        top = max(candidates[k, A + 1], candidates[k, B + 1], candidates[k, C + 1])
        if top - foot <= least:  # no part of it is that high
            continue
        up = lift(candidates, k, offset, scene.body, scene.faces)
        if not (least < up <= SLOP):
            continue
        depth, normal, _ = contact(
            scene.candidates,
            scene.size,
            k,
            add(offset, (0.0, up, 0.0)),
            scene.body,
            scene.faces,
        )
        if depth >= -CONTACT_MARGIN and normal[1] > 0.0:
            held = max(held, up)
        if normal[1] >= cosine:
            best = up
    return best, max(best, held)


@kernel
def _leads_to_a_step(scene: Scene, offset: Vec3, way: Vec3, highest: float, cosine: float) -> bool:
    """Tell whether ``way`` leads over a riser to walkable ground, not higher than ``highest``.

    Looked for from under the body to ahead of its foremost point. A riser is steep ground, or
    ground that between two looks rises more than walkable ground can.
    """
    size, ahead = _flat(way)
    if size == 0.0:
        return False
    reach = scene.body.reach
    stride = (abs(ahead[0]) * reach[0] + abs(ahead[2]) * reach[2]) * (2.0 / _PROBES)
    steepest = stride * math.sqrt(1.0 - cosine * cosine) / max(cosine, 1e-9)
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


@kernel(apart=True)
def _clear(scene: Scene, offset: Vec3) -> bool:
    _, deepest, overlapping = list_contacts(scene, offset)
    return deepest <= SLOP and overlapping <= SLOP and not is_buried(scene, offset)


@kernel
def _into_walls(scene: Scene, place: Vec3, cosine: float) -> Vec3:
    """Return the horizontal direction, of any length, that leads into the walls at a place."""
    count, _, _ = list_contacts(scene, place)
    walls, _ = _make_walls(scene.contacts, count, cosine)
    total = (0.0, 0.0, 0.0)
    for i in range(walls):
        depth = float(scene.contacts[i, DEPTH])
        total = add_scaled(total, three(scene.contacts, i, PUSH), -depth)
    return total


@kernel(apart=True)
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

    ``into`` is what the wall took of the way: it leads to the step however aslant the way is.
    ``highest`` is how high the body's foot may come to be.
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
        # Where the whole way was lost and leads far aside, straight into the riser.
        or _leads_to_a_step(
            scene, start, _into_walls(scene, add(start, way), cosine), highest, cosine
        )
    ):
        return False, start
    # Walls beside the step only turn the way aside.
    for _ in range(_WALL_ROUNDS):
        count, _, _ = list_contacts(scene, ahead)
        walls, overhead = _make_walls(scene.contacts, count, cosine)
        if overhead or walls == 0:
            break
        ahead, _ = push_out(scene, ahead, walls, int(np.int64(0)), True)
    aside, _ = _flat(subtract(ahead, start))
    # The way up must be free too: a ceiling stops it.
    raised = add(start, (0.0, up, 0.0))
    return aside <= farthest and _clear(scene, raised) and _clear(scene, ahead), ahead


@kernel(apart=True)
def walk(
    scene: Scene,
    start: Vec3,
    way: Vec3,
    farthest: float,
    snap: float,
    cosine: float,
    max_rounds: int,
) -> tuple[int, Vec3, int, int, float, int]:
    """Move along the ground by a horizontal way, with what walls do no more than ``farthest``.

    Returns (how it ended, offset, planes, contacts, depth left, rounds). FREE and BLOCKED leave the
    body on walkable ground; BLOCKED where walls took part of the way away; OFF_GROUND in the air,
    out of all walls. Walls met are planes in the scene, and so are the contacts listed there.
    """
    offset = add(start, way)
    size, ahead = _flat(way)
    # What is higher is no slope but a step, though it be level on top.
    highest_rise = size * math.sqrt(1.0 - cosine * cosine) / max(cosine, 1e-9) + MOST_CLEARANCE
    planes, rounds = int(np.int64(0)), 0
    on_ground, blocked = False, False
    above, held = offset, -np.inf
    count, deepest, overlapping = list_contacts(scene, offset)
    lifted = False
    while rounds <= max_rounds:
        if deepest > LEVEL:
            rounds += 1
            up = _rise(scene, offset, count, cosine)
            if offset[1] + up > start[1] + highest_rise:
                break
            if up > 0.0:
                offset = add(offset, (0.0, up, 0.0))
                on_ground = True
                count, deepest, overlapping = list_contacts(scene, offset)
            walls, overhead = _make_walls(scene.contacts, count, cosine)
            if overhead:
                break
            if walls > 0:
                blocked, on_ground = True, False
                offset, planes = push_out(scene, offset, walls, planes, True)
                aside, _ = _flat(subtract(offset, start))
                if aside > farthest:
                    offset = start
                    break
                count, deepest, overlapping = list_contacts(scene, offset)
            elif up == 0.0:
                if deepest > SLOP:
                    break
                deepest = 0.0
        elif overlapping > STUCK and not lifted:
            # Ground that no contact leads out of, such as a peak in a corner of a box.
            lifted = True
            up = clearing_lift(scene, offset, False)
            if offset[1] + up <= start[1] + highest_rise:
                offset = add(offset, (0.0, up, 0.0))
                count, deepest, overlapping = list_contacts(scene, offset)
        elif on_ground:
            aside, _ = _flat(subtract(offset, start))
            if held > -np.inf and aside > FARTHEST_ASIDE * size:
                break
            deepest = max(deepest, overlapping)
            return (BLOCKED if blocked else FREE), offset, planes, count, deepest, rounds
        else:
            down, highest = support(scene, offset, -snap - MOST_CLEARANCE, cosine)
            if down == -np.inf:
                return OFF_GROUND, offset, planes, count, deepest, rounds
            on_ground = True
            if highest > down:
                above, held = offset, highest
            if down < -SLOP:
                offset = add(offset, (0.0, down, 0.0))
                count, deepest, overlapping = list_contacts(scene, offset)
    if held > -np.inf:
        # Down beside a step it would be thrown off its edge: it goes over the edge.
        above = add(above, (0.0, held, 0.0))
        count, deepest, overlapping = list_contacts(scene, above)
        deepest = max(deepest, overlapping)
        if deepest <= SLOP:
            return (BLOCKED if blocked else FREE), above, planes, count, deepest, rounds
    # Between walls that close in on each other: a little higher, or back to the start.
    up = clearing_lift(scene, offset, False)
    if up <= MOST_CLEARANCE:
        offset = add(offset, (0.0, up, 0.0))
        count, deepest, overlapping = list_contacts(scene, offset)
        if deepest <= SLOP:
            deepest = max(deepest, overlapping)
            return BLOCKED, offset, planes, count, deepest, rounds
    if size > 0.0:
        planes = add_plane(scene.planes, planes, scale(ahead, -1.0))
    count, deepest, overlapping = list_contacts(scene, start)
    return BLOCKED, start, planes, count, max(deepest, overlapping), rounds


@kernel(apart=True)
def stays_on_ground(
    scene: Scene, offset: Vec3, way: Vec3, farthest: float, snap: float, cosine: float
) -> bool:
    """Tell whether a body that landed still is on walkable ground after its next step.

    Else it only grazes an edge, and goes on falling.
    """
    size, _ = _flat(way)
    slope = size * math.sqrt(1.0 - cosine * cosine) / max(cosine, 1e-9)
    ended, _, _, _, _, _ = walk(scene, offset, way, farthest, max(snap, slope), cosine, 1)
    return bool(ended != OFF_GROUND)
