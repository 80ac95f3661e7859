"""Depenetration of a body from the ground: list its contacts, push, repeat, and lift if stuck.

The resolver pushes the body out of one contact after another in shuffled order, or out of all
contacts at once by the least move, which does not depend on their order.
"""

from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._intrinsics import replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.body import contact, overlap_alone
from terrain_physics._kernels.character.contacts.depenetrate_upward import rise_onto
from terrain_physics._kernels.character.contacts.find_contacts import (
    Manifold,
    as_wall,
    is_buried,
    list_contacts,
)
from terrain_physics._kernels.character.contacts.grounding import MOST_PLANES, add_plane
from terrain_physics._kernels.character.contacts.plane_solver import least_move
from terrain_physics._kernels.character.contacts.scene import (
    CANDIDATE,
    DEPTH,
    PLANE_CANDIDATE,
    PUSH,
    Scene,
)
from terrain_physics._kernels.character.state.layout import SIMULTANEOUS
from terrain_physics._kernels.character.state.work import (
    PLANE,
    goes_on,
    is_spent,
    spend,
)
from terrain_physics._kernels.ground.candidates import (
    NORMAL,
    PART,
    SKIN_THICKNESS,
    SOLID_MESH,
    THICKNESS,
    A,
    B,
    C,
    height_over,
    put_three,
    three,
)
from terrain_physics._kernels.ground.nearby import (
    around_body,
    column_of,
    next_near,
    widened,
)
from terrain_physics._kernels.math.random64 import shuffle
from terrain_physics._kernels.math.vec3 import (
    Vec3,
    add,
    add_scaled,
    cross,
    dot,
    length,
    subtract,
)
from terrain_physics._kernels.tolerances import (
    CONTACT_MARGIN,
    CONVERGED_DEPTH,
    LEAST_RISE,
    SAME_NORMAL_COSINE,
    SLOP,
    STUCK_DEPTH,
)

# Farthest that pushing out may move a body, as a multiple of the rise straight up.
_FARTHEST_PUSH = 2.0

# Farthest that a body is lifted out of what it overlaps, as a multiple of the overlap: the way up
# along a slope of more than 89 degrees.
_FARTHEST_RISE = 100.0

# Most lifts in a row. Each clears all that the body overlaps where it starts.
_MOST_RISES = 64


class Resolved(NamedTuple):
    """Result of pushing a body out of the ground."""

    offset: Vec3  # of the body after the push
    planes: int  # how many planes met are in the scene
    contacts: int  # how many the scene lists at the offset
    depth: float  # left at the offset, in meters
    rounds: int  # of pushing out
    lifted: float  # in meters


@kernel(no_refcount=True)
def note_plane(scene: Scene, planes: int, push: Vec3, candidate: int) -> int:
    """Remember in the scene, once, the plane of a candidate; return how many planes there are."""
    count = add_plane(scene.planes, planes, push)
    if count > planes:
        scene.planes[planes, PLANE_CANDIDATE] = candidate
    return count


@kernel(noinline=True, no_refcount=True)
def _is_ended(scene: Scene, offset: Vec3, i: int, first: int, last: int) -> bool:
    """Tell whether the push of one of the listed contacts first..last ends contact i."""
    contacts, which = scene.contacts, int(scene.contacts[i, CANDIDATE])
    for k in range(first, last):
        j = scene.order[k]
        moved = add_scaled(offset, three(contacts, j, PUSH), float(contacts[j, DEPTH]))
        if overlap_alone(scene.candidates, which, moved, scene.body, scene.work) <= SLOP:
            return True
    return False


@kernel(no_refcount=True)
def _deepest_alike(scene: Scene, offset: Vec3, i: int, count: int, kept: int) -> int:
    """Return the deepest contact with the normal of contact i that no push kept ends, or -1."""
    if not _is_ended(scene, offset, i, 0, kept):
        return i
    contacts, best, depth = scene.contacts, -1, SLOP
    push = three(contacts, i, PUSH)
    for j in range(count):
        if (
            contacts[j, DEPTH] > depth
            and dot(push, three(contacts, j, PUSH)) > SAME_NORMAL_COSINE
            and not _is_ended(scene, offset, j, 0, kept)
        ):
            best, depth = j, float(contacts[j, DEPTH])
    return best


@kernel(noinline=True, no_refcount=True)
def _list_penetrating(scene: Scene, offset: Vec3, count: int) -> int:
    """List the contacts to push out of, shallow ones first; return how many.

    Of contacts with the same normal only the deepest is listed: a body out of it is out of all. A
    contact is left out if the push of a shallower one ends it: a box with a corner in one flank of
    a ridge overlaps the triangles of the other flank too, by half its size, but a push out of the
    first flank takes it out of both.
    """
    contacts, order = scene.contacts, scene.order
    spend(scene.work, count * PLANE)
    directions = 0
    for i in range(count):
        if contacts[i, DEPTH] <= SLOP:
            continue
        push = three(contacts, i, PUSH)
        k = 0
        while k < directions and dot(push, three(contacts, order[k], PUSH)) <= SAME_NORMAL_COSINE:
            k += 1
        if k == MOST_PLANES:
            continue  # left to the next round
        if k == directions:
            order[k] = i
            directions += 1
        elif contacts[i, DEPTH] > contacts[order[k], DEPTH]:
            order[k] = i
    for k in range(1, directions):
        i, place = order[k], k
        while place > 0 and contacts[order[place - 1], DEPTH] > contacts[i, DEPTH]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = i
    kept = 0
    for k in range(directions):
        i = _deepest_alike(scene, offset, order[k], count, kept)
        if i >= 0:
            order[kept] = i
            kept += 1
    return kept


@kernel(noinline=True, no_refcount=True)
def _without_ended(scene: Scene, offset: Vec3, count: int) -> int:
    """Drop contacts that the push of a deeper one ends; return how many are left.

    A body stopped by one face of a solid also overlaps the adjacent faces from behind: the center
    of a box before one side of a pillar is on the inner side of the two sides next to it.
    """
    order, kept = scene.order, 0
    for k in range(count):
        if not _is_ended(scene, offset, order[k], k + 1, count):
            order[kept] = order[k]
            kept += 1
    return kept


@kernel(noinline=True, no_refcount=True)
def push_out(scene: Scene, offset: Vec3, count: int, planes: int, walls: bool) -> tuple[Vec3, int]:
    """Push a body once out of all penetrating ones among the listed contacts.

    Returns (the offset then, how many planes have been met).

    ``walls`` tells whether the contacts have been turned into upright walls.
    """
    contacts, order = scene.contacts, scene.order
    if is_spent(scene.work):
        return offset, planes
    penetrating = _list_penetrating(scene, offset, count)
    if walls:
        penetrating = _without_ended(scene, offset, penetrating)
    if scene.resolver == SIMULTANEOUS:
        spend(scene.work, penetrating * penetrating * penetrating)  # corners of planes
        for k in range(penetrating):
            i = order[k]
            planes = note_plane(
                scene, planes, three(contacts, i, PUSH), int(contacts[i, CANDIDATE])
            )
        return add(offset, least_move(contacts, order, penetrating)), planes
    shuffle(scene.random_state, order, penetrating)
    for k in range(penetrating):
        i = order[k]
        depth, push = float(contacts[i, DEPTH]), three(contacts, i, PUSH)
        if k > 0:  # the pushes before this one have moved the body
            depth, push, _ = contact(
                scene.candidates,
                scene.size,
                int(contacts[i, CANDIDATE]),
                offset,
                scene.body,
                scene.work,
            )
            if walls:
                depth, push = as_wall(depth, push)
        if depth > 0.0:
            offset = add_scaled(offset, push, depth)
            planes = note_plane(scene, planes, push, int(contacts[i, CANDIDATE]))
    return offset, planes


@kernel(no_refcount=True)
def _ceiling(scene: Scene, offset: Vec3) -> float:
    """Return how far the lowest ceiling is over the center; infinity if none is.

    That is a triangle of a mesh, or the underside of a map.
    """
    candidates, lowest = scene.candidates, np.inf
    lower, upper = column_of(offset, (0.0, 0.0, 0.0), offset[1])
    k = next_near(candidates, scene.size, 0, lower, upper)
    while k < scene.size:
        spend(scene.work, 1.0)
        if candidates[k, THICKNESS] <= 0.0:
            above = height_over(candidates, k, offset[0], offset[2]) - offset[1]
            if 0.0 < above < lowest:
                lowest = above
        k = next_near(candidates, scene.size, k + 1, lower, upper)
    return lowest


@kernel(noinline=True, no_refcount=True)
def clearing_rise(scene: Scene, offset: Vec3, buried: bool) -> float:
    """Return the least lift along +Y out of all triangles overlapped; if buried, over the surface.

    A wall of a mesh that is higher than the body, and a ceiling, leave no way up: then it is 0.
    """
    candidates, best, highest = scene.candidates, 0.0, 2.0 * scene.body.half_extents[1]
    lower, upper = around_body(offset, scene.body.half_extents, CONTACT_MARGIN)
    if buried:
        lower, upper = column_of(offset, scene.body.half_extents, lower[1])
    k = next_near(candidates, scene.size, 0, lower, upper)
    while k < scene.size and goes_on(scene.work, k):
        spend(scene.work, 1.0)
        depth = np.inf if buried else overlap_alone(candidates, k, offset, scene.body, scene.work)
        if depth > 0.0:
            up = rise_onto(candidates, k, offset, scene.body, scene.work)
            if up <= highest or candidates[k, THICKNESS] > 0.0:
                best = max(best, up)
            elif candidates[k, THICKNESS] == SOLID_MESH and not buried and depth > STUCK_DEPTH:
                return 0.0
        k = next_near(candidates, scene.size, k + 1, lower, upper)
    return best if buried or best < _ceiling(scene, offset) else 0.0


@kernel(inline=True)
def crosses(start: Vec3, end: Vec3, corners: tuple[Vec3, Vec3, Vec3], normal: Vec3) -> bool:
    """Tell whether a segment goes through a triangle; from a start on it, to behind its front."""
    a, b, c = corners
    before, after = dot(normal, subtract(start, a)), dot(normal, subtract(end, a))
    if before * after >= 0.0 and not before == 0.0 > after:
        return False
    place = add_scaled(start, subtract(end, start), before / (before - after))
    for k in range(3):
        p, q = (a, b) if k == 0 else ((b, c) if k == 1 else (c, a))
        if dot(cross(normal, subtract(q, p)), subtract(place, p)) < 0.0:
            return False
    return True


@kernel(noinline=True, no_refcount=True)
def _is_in(scene: Scene, offset: Vec3, part: float) -> bool:
    """Tell whether a body overlaps a triangle of a part."""
    candidates = scene.candidates
    lower, upper = around_body(offset, scene.body.half_extents, CONTACT_MARGIN)
    k = next_near(candidates, scene.size, 0, lower, upper)
    while k < scene.size and goes_on(scene.work, k):
        spend(scene.work, 1.0)
        if candidates[k, PART] == part:
            if overlap_alone(candidates, k, offset, scene.body, scene.work) > SLOP:
                return True
        k = next_near(candidates, scene.size, k + 1, lower, upper)
    return False


@kernel(noinline=True, no_refcount=True)
def _leads_through(scene: Scene, start: Vec3, end: Vec3, guarded: bool) -> bool:
    """Tell whether pushes lead the center of a body through a face where none may.

    Nobody is pushed through a front, as behind a thin wall, but one that was put into a part, out
    of that. Nobody else is pushed down through a face from behind: pushed by one block after
    another, it would end under the ground.
    """
    candidates, way = scene.candidates, subtract(end, start)
    lower, upper = widened(
        (min(start[0], end[0]), min(start[1], end[1]), min(start[2], end[2])),
        (max(start[0], end[0]), max(start[1], end[1]), max(start[2], end[2])),
    )
    k = next_near(candidates, scene.size, 0, lower, upper)
    while k < scene.size and goes_on(scene.work, k):
        spend(scene.work, 1.0)
        corners = (three(candidates, k, A), three(candidates, k, B), three(candidates, k, C))
        normal = three(candidates, k, NORMAL)
        is_front = dot(normal, way) < 0.0
        if (is_front or (guarded and way[1] < 0.0)) and crosses(start, end, corners, normal):
            if guarded or not _is_in(scene, start, float(candidates[k, PART])):
                return True
        k = next_near(candidates, scene.size, k + 1, lower, upper)
    return False


@kernel(noinline=True, no_refcount=True)
def is_pressed(scene: Scene, start: Vec3, end: Vec3) -> bool:
    """Tell whether a body is deeper in any triangle at the end of a move than at its start."""
    candidates, body, work = scene.candidates, scene.body, scene.work
    lower, upper = around_body(end, body.half_extents, CONTACT_MARGIN)
    k = next_near(candidates, scene.size, 0, lower, upper)
    while k < scene.size and goes_on(work, k):
        spend(work, 1.0)
        depth = overlap_alone(candidates, k, end, body, work) - CONTACT_MARGIN
        if depth > 0.0 and depth > overlap_alone(candidates, k, start, body, work):
            return True
        k = next_near(candidates, scene.size, k + 1, lower, upper)
    return False


@kernel(no_refcount=True)
def _of_maps(scene: Scene, count: int) -> tuple[int, float]:
    """Drop contacts with meshes from the list; return (how many are left, the greatest depth)."""
    contacts, kept, deepest = scene.contacts, 0, 0.0
    for i in range(count):
        thickness = scene.candidates[int(contacts[i, CANDIDATE]), THICKNESS]
        if thickness != SKIN_THICKNESS and thickness != SOLID_MESH:
            contacts[kept, CANDIDATE] = contacts[i, CANDIDATE]
            contacts[kept, DEPTH] = contacts[i, DEPTH]
            put_three(contacts, kept, PUSH, three(contacts, i, PUSH))
            deepest = max(deepest, float(contacts[i, DEPTH]))
            kept += 1
    return kept, deepest


@kernel(noinline=True, no_refcount=True)
def out_of_maps(scene: Scene, offset: Vec3, planes: int) -> tuple[Vec3, int]:
    """Return (where a body is after maps alone have pushed it out, all at once, planes).

    Between a map and a mesh that leave no room, the map has its way, also if the mesh is solid:
    that would press the body into the map.
    """
    scene = replaced(scene, resolver=SIMULTANEOUS)
    for _ in range(_MOST_RISES):
        count, deepest = _of_maps(scene, list_contacts(scene, offset).contacts)
        if deepest <= SLOP or is_spent(scene.work):
            break
        offset, planes = push_out(scene, offset, count, planes, False)
    return offset, planes


@kernel(inline=True, no_refcount=True)
def _push_in_rounds(
    scene: Scene, start: Vec3, manifold: Manifold, max_rounds: int, guarded: bool
) -> tuple[Vec3, int, Manifold, int]:
    """Return (offset, planes, manifold, rounds) of a body after rounds of pushing out.

    A body whose center they lead through a face is left at its start; ``guarded`` is false for one
    that was put into anything.
    """
    # No face is nearer to the center.
    nearest = scene.body.least - max(manifold.depth, manifold.overlap)
    rounds, planes, offset = 0, int(np.int64(0)), start  # for a literal 0, all compiles twice
    while manifold.depth > SLOP and rounds < max_rounds:
        rounds += 1
        offset, planes = push_out(scene, offset, manifold.contacts, planes, False)
        manifold = list_contacts(scene, offset)
    is_far = length(subtract(offset, start)) > nearest
    if is_far and _leads_through(scene, start, offset, guarded):
        return start, planes, list_contacts(scene, start), rounds
    return offset, planes, manifold, rounds


@kernel(inline=True, no_refcount=True)
def _lift_if_stuck(
    scene: Scene, offset: Vec3, manifold: Manifold, guarded: bool
) -> tuple[Vec3, Manifold, float]:
    """Return (offset, manifold, lift) of a body that is lifted if pushing has left it in something.

    A rest of a push is no reason for a lift that is far longer, as over a rim beside the body. One
    that was not put there is lifted by half its height at most, unless it is under a map: it would
    leap onto what is over it.
    """
    buried, lifts, lifted = is_buried(scene, offset), 0, 0.0
    while (manifold.depth > SLOP or manifold.overlap > STUCK_DEPTH or buried) and (
        lifts < _MOST_RISES
    ):
        lifts += 1
        up = clearing_rise(scene, offset, buried)
        most = _FARTHEST_RISE * max(manifold.depth, manifold.overlap)
        if guarded:
            most = min(most, scene.body.half_extents[1] - lifted)
        if up == 0.0 or (up > most and not buried):
            break
        offset = add(offset, (0.0, up, 0.0))
        lifted += up
        # Higher up, a long body may overlap triangles that it did not overlap before.
        manifold = list_contacts(scene, offset)
        buried = is_buried(scene, offset)
    return offset, manifold, lifted


@kernel(noinline=True, no_refcount=True)
def resolve(
    scene: Scene, offset: Vec3, manifold: Manifold, max_rounds: int, near: float, guarded: bool
) -> Resolved:
    """Push a body out of the ground by its ``manifold``, which the scene lists.

    Leaves in the scene the planes that pushed the body, those within ``near`` of it at the end, and
    the contacts at the end. The body's center must not be below the surface.
    """
    start, lifted = offset, 0.0
    offset, planes, manifold, rounds = _push_in_rounds(scene, offset, manifold, max_rounds, guarded)
    moved = length(subtract(offset, start))
    if moved > scene.body.least:
        # A long body deep in rough ground is better lifted if up is a much shorter way out.
        up = clearing_rise(scene, start, False)
        if 0.0 < up and moved > _FARTHEST_PUSH * up:
            offset, planes, lifted = add(start, (0.0, up, 0.0)), 0, up
            manifold = list_contacts(scene, offset)
    offset, manifold, up = _lift_if_stuck(scene, offset, manifold, guarded)
    lifted += up
    if max(manifold.depth, manifold.overlap) > CONVERGED_DEPTH:
        offset, planes = out_of_maps(scene, offset, planes)
        manifold = list_contacts(scene, offset)
    count, deepest, overlapping = manifold
    spend(scene.work, count * PLANE)
    for i in range(count):
        if scene.contacts[i, DEPTH] >= -near:
            which = int(scene.contacts[i, CANDIDATE])
            planes = note_plane(scene, planes, three(scene.contacts, i, PUSH), which)
    return Resolved(offset, planes, count, max(deepest, overlapping), rounds, lifted)


@kernel(noinline=True, no_refcount=True)
def rise_of_feet(scene: Scene, offset: Vec3, count: int, most: float, walkable: float) -> float:
    """Return how far up the walkable ones among the listed contacts push the body.

    A contact that would push it up by more than ``most`` is the top of a wall, and left out.
    """
    best = 0.0
    for i in range(count):
        if scene.contacts[i, DEPTH] > LEAST_RISE and scene.contacts[i, PUSH + 1] >= walkable:
            which = int(scene.contacts[i, CANDIDATE])
            up = rise_onto(scene.candidates, which, offset, scene.body, scene.work)
            if up <= most:
                best = max(best, up)
    return best
