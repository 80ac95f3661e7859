"""Where one horizontal way along the ground leads a body.

On the ground a body goes its horizontal way, and the ground gives its height. So a walk moves the
body horizontally, sets it on what is walkable there, and treats everything steeper as a wall: no
slope, no edge between faces and no order of contacts changes the speed or the line of a walk, and
no pushing climbs a steep slope.
"""

from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.body import CONTACT_MARGIN, SLOP, contact
from terrain_physics._kernels.character.grounding import add_plane, rise_of_slope
from terrain_physics._kernels.character.lift import lift
from terrain_physics._kernels.character.resolve import (
    CANDIDATE,
    DEPTH,
    PUSH,
    STUCK,
    Scene,
    Touching,
    clearing_lift,
    list_contacts,
    push_out,
)
from terrain_physics._kernels.character.walls import MOST_CLEARANCE, flat, make_walls
from terrain_physics._kernels.ground.candidates import A, B, C
from terrain_physics._kernels.math.vec3 import Vec3, add, scale, subtract

# Depth in walkable ground from which a walk sets a body right.
LEAST_RISE = 1e-9  # meters

# Walls may lead a way that comes down a step this many times its length away from its start.
FARTHEST_ASIDE = 1.5

# How a walk ended.
FREE, BLOCKED, OFF_GROUND = 0, 1, 2


class Walked(NamedTuple):
    """Where a walk led.

    FREE and BLOCKED leave the body on walkable ground, BLOCKED where walls took part of the way.
    OFF_GROUND leaves it in the air, at the end of the way, out of all walls.
    """

    ended: int
    offset: Vec3
    planes: int  # of walls met, in the scene
    contacts: int  # that the scene lists, for where the body is
    depth: float  # that is left, in meters
    rounds: int  # of pushing out


class _Place(NamedTuple):
    """A place that a walk tries."""

    offset: Vec3
    touching: Touching  # what it touches there, listed in the scene
    planes: int  # of walls met so far, in the scene
    on_ground: bool  # whether it was set on walkable ground, and no wall moved it since
    blocked: bool  # whether walls moved it


@kernel(apart=True, lent=True)
def _rise(scene: Scene, offset: Vec3, count: int, cosine: float) -> float:
    """Return how far up the walkable contacts among those listed push the body."""
    best = 0.0
    for i in range(count):
        if scene.contacts[i, DEPTH] > LEAST_RISE and scene.contacts[i, PUSH + 1] >= cosine:
            which = int(scene.contacts[i, CANDIDATE])
            best = max(best, lift(scene.candidates, which, offset, scene.body, scene.faces))
    return best


@kernel(apart=True, lent=True)
def support(scene: Scene, offset: Vec3, lowest: float, cosine: float) -> tuple[float, float]:
    """Return the greatest lifts that set the body down on the ground, from ``lowest`` to 0 (SLOP).

    The first is on walkable ground, the second, not less, on any. -inf if there is none.
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
def _push_once(
    scene: Scene, start: Vec3, place: _Place, highest: float, farthest: float, cosine: float
) -> tuple[bool, _Place]:
    """Set a body up on the walkable ground it is in, then push it out of the walls it is in.

    Returns (whether the walk goes on, the place then). It does not go on where the offset would
    come above ``highest``, a wall is overhead or moves the body more than ``farthest`` from the
    start, or nothing pushes the body although it is too deep.
    """
    offset, touching, on_ground = place.offset, place.touching, place.on_ground
    up = _rise(scene, offset, touching.contacts, cosine)
    if offset[1] + up > highest:
        return False, place
    if up > 0.0:
        offset, on_ground = add(offset, (0.0, up, 0.0)), True
        touching = list_contacts(scene, offset)
    walls, overhead = make_walls(scene.contacts, touching.contacts, cosine)
    if overhead:
        return False, _Place(offset, touching, place.planes, on_ground, place.blocked)
    if walls == 0:
        if up == 0.0:
            touching = Touching(touching.contacts, 0.0, touching.overlap)
        nowhere = up == 0.0 and place.touching.depth > SLOP
        return not nowhere, _Place(offset, touching, place.planes, on_ground, place.blocked)
    offset, planes = push_out(scene, offset, walls, place.planes, True)
    aside, _ = flat(subtract(offset, start))
    if aside > farthest:
        return False, _Place(start, touching, planes, False, True)
    return True, _Place(offset, list_contacts(scene, offset), planes, False, True)


@kernel
def _raised(scene: Scene, place: _Place, up: float, on_ground: bool) -> _Place:
    """Return the place that is ``up`` meters higher."""
    offset = add(place.offset, (0.0, up, 0.0))
    touching = list_contacts(scene, offset)
    return _Place(offset, touching, place.planes, on_ground, place.blocked)


@kernel(inline=True)
def _walked(ended: int, offset: Vec3, planes: int, touching: Touching, rounds: int) -> Walked:
    depth = max(touching.depth, touching.overlap)
    return Walked(ended, offset, planes, touching.contacts, depth, rounds)


@kernel
def _give_up(
    scene: Scene, start: Vec3, ahead: Vec3, place: _Place, edge: Vec3, has_edge: bool, rounds: int
) -> Walked:
    """End a walk that found no place to stand: on an edge, a little higher, or at the start.

    ``edge`` is where the body lies on the edge of a step that it would have come down, if it has
    one; ``ahead`` the unit direction of the way, zero if that has no length.
    """
    if has_edge:
        # Down beside a step the body would be thrown off its edge: it goes over the edge.
        touching = list_contacts(scene, edge)
        if max(touching.depth, touching.overlap) <= SLOP:
            ended = BLOCKED if place.blocked else FREE
            return _walked(ended, edge, place.planes, touching, rounds)
    # Between walls that close in on each other: a little higher, or back to the start.
    up = clearing_lift(scene, place.offset, False)
    if up <= MOST_CLEARANCE:
        offset = add(place.offset, (0.0, up, 0.0))
        touching = list_contacts(scene, offset)
        if touching.depth <= SLOP:
            return _walked(BLOCKED, offset, place.planes, touching, rounds)
    planes = place.planes
    if ahead[0] != 0.0 or ahead[2] != 0.0:
        planes = add_plane(scene.planes, planes, scale(ahead, -1.0))
    return _walked(BLOCKED, start, planes, list_contacts(scene, start), rounds)


@kernel(apart=True, lent=True)
def walk(
    scene: Scene,
    start: Vec3,
    way: Vec3,
    farthest: float,
    snap: float,
    cosine: float,
    max_rounds: int,
) -> Walked:
    """Move a body along the ground by a horizontal way.

    Walls may lead it ``farthest`` from the start, and it comes down by at most ``snap``. A slope of
    ``cosine`` is the steepest that is walkable. After more than ``max_rounds`` pushes the walk
    gives up. The scene is left with the planes of the walls met and the contacts where the body is.
    """
    size, ahead = flat(way)
    # What is higher is not a slope but a step, even if it is level on top.
    highest = start[1] + (rise_of_slope(size, cosine) + MOST_CLEARANCE)
    edge, held = start, -np.inf
    rounds, lifted = 0, False
    offset = add(start, way)
    none = int(np.int64(0))  # for a literal 0, functions would compile twice
    place = _Place(offset, list_contacts(scene, offset), none, False, False)
    while rounds <= max_rounds:
        if place.touching.depth > LEAST_RISE:
            rounds += 1
            goes_on, place = _push_once(scene, start, place, highest, farthest, cosine)
            if not goes_on:
                break
        elif place.touching.overlap > STUCK and not lifted:
            # Ground that no contact leads out of, such as a peak in a corner of a box.
            lifted = True
            up = clearing_lift(scene, place.offset, False)
            if place.offset[1] + up <= highest:
                place = _raised(scene, place, up, place.on_ground)
        elif place.on_ground:
            aside, _ = flat(subtract(place.offset, start))
            if held > -np.inf and aside > FARTHEST_ASIDE * size:
                break
            ended = BLOCKED if place.blocked else FREE
            return _walked(ended, place.offset, place.planes, place.touching, rounds)
        else:
            down, held_at = support(scene, place.offset, -snap - MOST_CLEARANCE, cosine)
            touching = place.touching
            if down == -np.inf:
                return Walked(
                    OFF_GROUND,
                    place.offset,
                    place.planes,
                    touching.contacts,
                    touching.depth,
                    rounds,
                )
            if held_at > down:
                held, edge = held_at, add(place.offset, (0.0, held_at, 0.0))
            if down < -SLOP:
                place = _raised(scene, place, down, True)
            else:
                place = _Place(place.offset, touching, place.planes, True, place.blocked)
    return _give_up(scene, start, ahead, place, edge, held > -np.inf, rounds)


@kernel(apart=True, lent=True)
def stays_on_ground(
    scene: Scene, offset: Vec3, way: Vec3, farthest: float, snap: float, cosine: float
) -> bool:
    """Tell whether a body that landed is still on walkable ground after its next step.

    Else it only grazes an edge, and goes on falling. The scene's planes and contacts are left as
    those of that step.
    """
    size, _ = flat(way)
    snap = max(snap, rise_of_slope(size, cosine))
    return bool(walk(scene, offset, way, farthest, snap, cosine, 1).ended != OFF_GROUND)
