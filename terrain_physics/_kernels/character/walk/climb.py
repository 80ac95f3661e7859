"""Climbing: a displacement that walls cut short is led up a step."""

import numpy as np

from terrain_physics._kernels._intrinsics import keep, replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.body import contact
from terrain_physics._kernels.character.contacts.depenetrate_upward import rise_onto
from terrain_physics._kernels.character.contacts.find_contacts import is_buried, list_contacts
from terrain_physics._kernels.character.contacts.grounding import (
    add_plane,
    plane_normal,
    rise_of_slope,
)
from terrain_physics._kernels.character.contacts.resolve import push_out
from terrain_physics._kernels.character.contacts.scene import (
    PUSH,
    Scene,
    borrow_memory,
    empty_scene,
    look,
    make_memory,
)
from terrain_physics._kernels.character.state.layout import SIMULTANEOUS
from terrain_physics._kernels.character.state.motion import Motion, MovementRules
from terrain_physics._kernels.character.state.substeps import Pace
from terrain_physics._kernels.character.state.work import goes_on, spend
from terrain_physics._kernels.character.walk.walk import FARTHEST, WalkLimits, support, walk
from terrain_physics._kernels.character.walk.walls import make_walls
from terrain_physics._kernels.ground.candidates import NORMAL, A, B, C, three
from terrain_physics._kernels.ground.nearby import column_of, next_near
from terrain_physics._kernels.ground.table import GroundTable
from terrain_physics._kernels.math.vec3 import Vec3, add, add_scaled, dot, flat, scale, subtract
from terrain_physics._kernels.surface.shapes import BOX, extent_along
from terrain_physics._kernels.tolerances import CONTACT_MARGIN, SLOP, WALL_CLEARANCE

# Most rounds in which walls beside a step push the body away.
_WALL_ROUNDS = 2

# Number of strides over a body's own extent in which it looks for a place to stand behind a riser.
_FOOTHOLDS = 10

# Least part of each stride that walls beside a step must leave.
_LEAST_SHARE = 0.25


@kernel(noinline=True, no_refcount=True)
def _is_clear(scene: Scene, offset: Vec3) -> bool:
    """Tell whether a body at an offset overlaps nothing."""
    _, deepest, overlapping = list_contacts(scene, offset)
    return deepest <= SLOP and overlapping <= SLOP and not is_buried(scene, offset)


@kernel(noinline=True, no_refcount=True)
def _touches_below(
    scene: Scene, k: int, offset: Vec3, up: float, highest: float, upright: float
) -> bool:
    """Tell whether a body raised by ``up`` lies on triangle k no higher than ``highest``.

    A round body lies on an edge with its side, so that the edge may be higher than the foot.
    """
    body = scene.body
    if body.kind == BOX:
        return True
    raised = add(offset, (0.0, up, 0.0))
    _, normal, _ = contact(scene.candidates, scene.size, k, raised, body, scene.work)
    foot = raised[1] - body.half_extents[1]
    return foot + body.radius * (upright - normal[1]) <= highest


@kernel
def _raise_onto(scene: Scene, offset: Vec3, highest: float, walkable: float) -> float:
    """Return how far up a body comes to lie on ground, with its foot no higher than ``highest``.

    A steep face that reaches higher is a wall, and a face that is wholly higher is the top of a
    wall: neither lifts a body. A round body touches a slope a little above its foot.
    """
    candidates, radius = scene.candidates, 0.0 if scene.body.kind == BOX else scene.body.radius
    up, most = 0.0, highest - (offset[1] - scene.body.half_extents[1])
    # Only ground higher than the foot lifts a body.
    lower, upper = column_of(
        offset, scene.body.half_extents, offset[1] - scene.body.half_extents[1]
    )
    k = next_near(candidates, scene.size, 0, lower, upper)
    while k < scene.size and goes_on(scene.work, k):
        spend(scene.work, 1.0)
        a, b, c = candidates[k, A + 1], candidates[k, B + 1], candidates[k, C + 1]
        upright = abs(candidates[k, NORMAL + 1])
        is_wall = max(a, b, c) > highest and upright < walkable
        if not is_wall and min(a, b, c) <= highest + radius * (1.0 - upright):
            best = rise_onto(candidates, k, offset, scene.body, scene.work)
            if up < best <= most and _touches_below(scene, k, offset, best, highest, upright):
                up = best
        k = next_near(candidates, scene.size, k + 1, lower, upper)
    return up


@kernel(noinline=True, no_refcount=True)
def _beside_walls(scene: Scene, place: Vec3, walkable: float) -> Vec3:
    """Return a place after walls beside a step have pushed the body aside."""
    for _ in range(_WALL_ROUNDS):
        count, _, _ = list_contacts(scene, place)
        walls, _ = make_walls(scene.contacts, count, walkable)
        if walls == 0:
            break
        place, _ = push_out(scene, place, walls, int(np.int64(0)), True)
    return place


@kernel(noinline=True, no_refcount=True)
def _held(scene: Scene, offset: Vec3) -> float:
    """Return the greatest y of the normals of a body's contacts at an offset; at least 0."""
    count, _, _ = list_contacts(scene, offset)
    best = 0.0
    for i in range(count):
        best = max(best, float(scene.contacts[i, PUSH + 1]))
    return best


@kernel(noinline=True, no_refcount=True)
def _has_foothold(
    scene: Scene, start: Vec3, direction: Vec3, stopped: Vec3, highest: float, walkable: float
) -> bool:
    """Tell whether a body that goes up a riser along ``direction`` comes to stand behind it.

    The body goes up the riser and on over its edge, by its own extent at most, until walkable
    ground holds it, or a wall or a ceiling stops it. ``stopped`` is the displacement on the ground
    before the riser that walls have stopped.
    """
    size, ahead = flat(direction)
    if size == 0.0:
        return False
    blocked = dot(stopped, ahead)
    stride = extent_along(scene.body, ahead) / _FOOTHOLDS
    steepest = rise_of_slope(stride, walkable) + WALL_CLEARANCE
    place, over_riser = start, False
    for k in range(_FOOTHOLDS + 1):
        before = place
        straight = add_scaled((place[0], start[1], place[2]), ahead, stride)
        straight = add(straight, (0.0, _raise_onto(scene, straight, highest, walkable), 0.0))
        place = _beside_walls(scene, straight, walkable)
        if dot(subtract(place, before), ahead) < _LEAST_SHARE * stride:
            return False
        if not _is_clear(scene, place):
            return False
        stands = _held(scene, place) >= walkable
        if (
            not stands
            or place[1] - before[1] > steepest
            # Beyond the place where the walk was stopped, and no wall deflects it higher up.
            or (stride * (k + 1) >= blocked and place == straight)
        ):
            over_riser = True
        if stands and over_riser and place[1] - start[1] > WALL_CLEARANCE:
            return True
    return False


@kernel
def _finds_a_step(
    scene: Scene, start: Vec3, displacement: Vec3, into: Vec3, highest: float, walkable: float
) -> bool:
    """Tell whether a displacement that ends in walls leads up a step, even at a flat angle.

    Three kinds of directions are tried: the part that the walls took, the displacement itself, and
    straight into each of the walls.
    """
    if _has_foothold(scene, start, into, displacement, highest, walkable) or _has_foothold(
        scene, start, displacement, displacement, highest, walkable
    ):
        return True
    count, _, _ = list_contacts(scene, add(start, displacement))
    walls, _ = make_walls(scene.contacts, count, walkable)
    planes = int(np.int64(0))
    for i in range(walls):
        planes = add_plane(scene.planes, planes, three(scene.contacts, i, PUSH))
    for i in range(planes):
        straight = scale(plane_normal(scene.planes, i), -1.0)
        if dot(straight, displacement) > 0.0 and _has_foothold(
            scene, start, straight, displacement, highest, walkable
        ):
            return True
    return False


@kernel(noinline=True, no_refcount=True)
def _step_up(
    scene: Scene,
    start: Vec3,
    displacement: Vec3,
    into: Vec3,
    highest: float,
    walkable: float,
    stepping: bool,
) -> tuple[bool, Vec3]:
    """Return (whether a displacement that ends in a wall leads up a step, where the body is then).

    ``into`` is the part that the wall took of it, which points at the step even if the displacement
    meets it at a flat angle. ``highest`` is the greatest height of the body's foot. A body that is
    ``stepping`` has room on the step, which was found before its first lift.
    """
    ahead = add(start, displacement)
    up = _raise_onto(scene, ahead, highest, walkable)
    if up == 0.0 or not (
        stepping or _finds_a_step(scene, start, displacement, into, highest, walkable)
    ):
        return False, start
    straight = add(ahead, (0.0, up, 0.0))
    ahead = _beside_walls(scene, straight, walkable)
    size, _ = flat(displacement)
    aside, _ = flat(subtract(ahead, start))
    if aside > FARTHEST * size + SLOP or dot(subtract(ahead, start), displacement) < 0.0:
        return False, start
    # If walls pushed it aside, it may be too high: ground that it only leans against holds nothing.
    lower = (ahead[0], start[1], ahead[2])
    _, off = flat(subtract(ahead, straight))
    up = _raise_onto(scene, add_scaled(lower, off, SLOP), highest, walkable)
    if up == 0.0 and not stepping:
        return False, start
    ahead = add(lower, (0.0, up, 0.0))
    # The path up must be free too: a ceiling stops it.
    raised = add(start, (0.0, up, 0.0))
    return _is_clear(scene, raised) and _is_clear(scene, ahead), ahead


@kernel(noinline=True, no_refcount=True)
def _goes_on(
    scene: Scene,
    movement: MovementRules,
    place: Vec3,
    displacement: Vec3,
    farthest: float,
    highest: float,
) -> bool:
    """Tell whether the same displacement, repeated, leads on up a step, and not down beside it."""
    limits = WalkLimits(farthest, movement.snap, movement.walkable, movement.max_rounds)
    walked = walk(scene, place, displacement, limits)
    if walked.planes == 0 or walked.offset[1] >= place[1] - WALL_CLEARANCE:
        return True
    into = subtract(add(place, displacement), (walked.offset[0], place[1], walked.offset[2]))
    leads_up, _ = _step_up(scene, place, displacement, into, highest, movement.walkable, True)
    return leads_up


@kernel(noinline=True)
def climb(
    movement: MovementRules,
    motion: Motion,
    pace: Pace,
    displacement: Vec3,
    reached: Vec3,
    scene: Scene,
    ground: GroundTable,
) -> tuple[bool, Vec3, float]:
    """Try to go up a step by a horizontal ``displacement`` that a walk cut short at ``reached``.

    It gathers its own triangles, in a wider box than the scene of the walk, which stays as it is.
    Before the first lift it checks whether the body has room and can stand behind the riser.

    Returns
    -------
    tuple of bool, Vec3 and float
        Whether the displacement leads up a step; if so, the body's offset there, on the step or its
        edge and out of everything else; the height of the foot before the step, in meters in the
        world. That height is kept from update to update until the body can stand on the step: a
        step that takes several updates is no higher than ``step_height`` altogether.
    """
    offset, body, footing = motion.offset, scene.body, motion.footing
    memory = make_memory()
    own = borrow_memory(memory)
    own = replaced(own, work=scene.work)
    scene = empty_scene(body, SIMULTANEOUS, scene.random_state, own)
    scene = look(scene, ground, motion.origin, pace.far, movement.drop, movement.step_height)
    stands, stepping, foot = offset, footing.stepping, footing.step_foot
    if stepping:
        # On its way up the body may have come over one step, where it can stand, to the next step.
        size, _ = flat(displacement)
        most = rise_of_slope(size, movement.walkable) + WALL_CLEARANCE
        down, _, _ = support(scene, offset, displacement, -most, movement.walkable)
        if down > -np.inf:
            stands, stepping = add(offset, (0.0, down, 0.0)), False
    if not stepping:
        # The foot of a round body on the edge of a step is a little lower than the edge.
        upright = _held(scene, stands) if footing.stepping else footing.normal[1]
        round_off = 0.0
        if body.kind != BOX and upright >= movement.walkable:
            round_off = body.radius * (1.0 - upright)
        foot = motion.origin[1] + (stands[1] - body.half_extents[1]) + round_off
        # Along a face that it climbs at a flat angle it is still over the ground it came from.
        stepping = footing.stepping and abs(foot - footing.step_foot) <= WALL_CLEARANCE
    highest = foot - motion.origin[1] + movement.step_height + CONTACT_MARGIN
    into = subtract(add(offset, displacement), (reached[0], offset[1], reached[2]))
    leads_up, place = _step_up(
        scene, offset, displacement, into, highest, movement.walkable, stepping
    )
    if leads_up and not footing.stepping:
        leads_up = _goes_on(scene, movement, place, displacement, pace.farthest, highest)
    keep(memory)
    return leads_up, place, foot
