"""A walk: one horizontal displacement of a body along the ground.

The displacement is horizontal, and the ground gives the body its height. So a walk moves the body
horizontally, sets it on walkable ground there, and treats everything steeper as a wall: no
slope, no edge between faces and no order of contacts changes the speed or the line of a walk, and
no pushing climbs a steep slope.
"""

from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._intrinsics import replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.body import contact
from terrain_physics._kernels.character.contacts.depenetrate_upward import rise_onto
from terrain_physics._kernels.character.contacts.find_contacts import Manifold, list_contacts
from terrain_physics._kernels.character.contacts.grounding import (
    along_planes,
    plane_normal,
    rise_of_slope,
)
from terrain_physics._kernels.character.contacts.resolve import (
    clearing_rise,
    note_plane,
    push_out,
    rise_of_feet,
)
from terrain_physics._kernels.character.contacts.scene import (
    CANDIDATE,
    NO_CANDIDATE,
    PLANE_CANDIDATE,
    PUSH,
    Scene,
)
from terrain_physics._kernels.character.state.layout import SIMULTANEOUS
from terrain_physics._kernels.character.state.motion import (
    BLOCKED,
    FREE,
    NOWHERE,
    OFF_GROUND,
    ON_EDGE,
    Walked,
)
from terrain_physics._kernels.character.state.work import goes_on, spend
from terrain_physics._kernels.character.walk.walls import make_walls
from terrain_physics._kernels.ground.candidates import NORMAL, THICKNESS, A, B, C, three
from terrain_physics._kernels.ground.nearby import column_of, next_near
from terrain_physics._kernels.math.vec3 import Vec3, add, add_scaled, dot, flat, scale, subtract
from terrain_physics._kernels.tolerances import (
    CONTACT_MARGIN,
    CORNER_SLACK,
    LEAST_RISE,
    PROGRESS_SHARE,
    SAME_NORMAL_COSINE,
    SLOP,
    STUCK_DEPTH,
    WALL_CLEARANCE,
)

# Farthest that a displacement may lead, as a multiple of its length: walls only cut it short.
# _FARTHEST_ASIDE is for one that ends beside a steep face that does not fall away along it.
FARTHEST = 1.0 + 1e-6
_FARTHEST_ASIDE = 1.5

# Farthest that walls may push a body that starts in them, as a multiple of its overlap.
_FARTHEST_OUT = 4.0

# Most of the walls touched that a body tries to slide along.
_MOST_TRIED = 4


class WalkLimits(NamedTuple):
    """Limits of a walk."""

    farthest: float  # how far it may move the body, pushes included, in meters
    snap: float  # how far down it may set the body to stay on the ground, in meters
    walkable: float  # the least y of a walkable unit normal
    max_rounds: int  # of pushing out; one more is made


class _TriedPlace(NamedTuple):
    """A place that a walk tries."""

    offset: Vec3
    manifold: Manifold  # there, listed in the scene
    planes: int  # of walls met so far, in the scene
    on_ground: bool  # whether the body was set on walkable ground, and no wall has moved it since
    blocked: bool  # whether walls moved it


class _Edge(NamedTuple):
    """An edge that a walk comes over, such as that of a step down."""

    is_there: bool
    place: _TriedPlace  # of a body that lies on it
    farthest: float  # that a walk may end from its start, as a multiple of its length


@kernel
def _falls_away(normal: Vec3, face: Vec3, direction: Vec3) -> bool:
    """Tell whether a contact with a triangle falls away along a displacement.

    ``normal`` is the contact's, ``face`` the triangle's. At an edge, each direction off the edge
    falls away. On a steep face, a direction falls away if it leads more down the face than along
    it: else a body that walks downhill beside a steep bank would walk on into the bank.
    """
    off = dot(normal, direction)
    if abs(dot(normal, face)) < SAME_NORMAL_COSINE:
        return off > 0.0
    size, _ = flat(direction)
    steep, _ = flat(normal)
    return off * off > 0.5 * (size * size) * (steep * steep) and off > 0.0


@kernel(noinline=True, no_refcount=True)
def support(
    scene: Scene, offset: Vec3, direction: Vec3, lowest: float, walkable: float
) -> tuple[float, float, bool]:
    """Return the greatest lifts <= 0, not below ``lowest``, that set the body on the ground.

    The first lift is onto walkable ground, the second onto any ground, so it is not less; -inf if
    there is none. The third value tells whether the ground of the second falls away along
    ``direction``.
    """
    best, held, falls = -np.inf, -np.inf, False
    candidates, foot = scene.candidates, offset[1] - scene.body.half_extents[1]
    lower, upper = column_of(offset, scene.body.half_extents, foot + lowest)
    k = next_near(candidates, scene.size, 0, lower, upper)
    while k < scene.size and goes_on(scene.work, k):
        spend(scene.work, 1.0)
        least = max(best, lowest)
        top = max(candidates[k, A + 1], candidates[k, B + 1], candidates[k, C + 1])
        up = -np.inf
        if top - foot > least:  # part of the triangle is high enough
            up = rise_onto(candidates, k, offset, scene.body, scene.work)
        if least < up <= SLOP:
            raised = add(offset, (0.0, up, 0.0))
            depth, normal, _ = contact(candidates, scene.size, k, raised, scene.body, scene.work)
            upright = normal[1]
            if depth < -CONTACT_MARGIN:  # an adjacent triangle covers it: its face counts too
                face = float(candidates[k, NORMAL + 1])
                upright = min(upright, face if candidates[k, THICKNESS] != 0.0 else abs(face))
            elif upright > 0.0 and up > held:
                held = up
                falls = _falls_away(normal, three(candidates, k, NORMAL), direction)
            if upright >= walkable:
                best = up
        k = next_near(candidates, scene.size, k + 1, lower, upper)
    return best, max(best, held), falls


@kernel(inline=True, no_refcount=True)
def _push_once(
    scene: Scene, start: Vec3, place: _TriedPlace, highest: float, limits: WalkLimits
) -> tuple[bool, _TriedPlace]:
    """Lift a body onto the walkable ground it is in, then push it out of the walls it is in.

    Returns (whether the place is of use, the place then). It is of no use if a wall is overhead, if
    walls move the body too far from the start, or if the body is in something that is neither a
    wall nor ground up to ``highest``.
    """
    offset, manifold, on_ground = place.offset, place.manifold, place.on_ground
    up = rise_of_feet(scene, offset, manifold.contacts, highest - offset[1], limits.walkable)
    if up > 0.0:
        offset, on_ground = add(offset, (0.0, up, 0.0)), True
        manifold = list_contacts(scene, offset)
    walls, overhead = make_walls(scene.contacts, manifold.contacts, limits.walkable)
    if walls == 0:
        is_nowhere = overhead or (up == 0.0 and place.manifold.depth > SLOP)
        if up == 0.0 and not overhead:
            manifold = replaced(manifold, depth=0.0)
        place = replaced(place, offset=offset, manifold=manifold, on_ground=on_ground)
        return not is_nowhere, place
    offset, planes = push_out(scene, offset, walls, place.planes, True)
    aside, _ = flat(subtract(offset, start))
    if aside > limits.farthest:
        return False, replaced(place, planes=planes, on_ground=False, blocked=True)
    return True, _TriedPlace(offset, list_contacts(scene, offset), planes, False, True)


@kernel(inline=True, no_refcount=True)
def _foothold(
    scene: Scene, start: Vec3, displacement: Vec3, place: _TriedPlace, limits: WalkLimits
) -> tuple[float, float, bool]:
    """Return as `support` for a place, without ground that the body only leans against.

    Walls have pushed the body off such ground after it was lifted onto it, as onto the bar of a
    railing.
    """
    lowest, walkable = -limits.snap - WALL_CLEARANCE, limits.walkable
    down, held_at, falls = support(scene, place.offset, displacement, lowest, walkable)
    if place.blocked and place.offset[1] > start[1] + WALL_CLEARANCE:
        _, off = flat(subtract(place.offset, add(start, displacement)))
        beside = add_scaled(place.offset, off, SLOP)
        lower, held_there, falls_there = support(scene, beside, displacement, lowest, walkable)
        if lower < down - WALL_CLEARANCE:
            return lower, held_there, falls_there
    return down, held_at, falls


@kernel(no_refcount=True)
def _raised(scene: Scene, place: _TriedPlace, up: float, on_ground: bool) -> _TriedPlace:
    """Return a place ``up`` meters higher."""
    offset = add(place.offset, (0.0, up, 0.0))
    manifold = list_contacts(scene, offset)
    return replaced(place, offset=offset, manifold=manifold, on_ground=on_ground)


@kernel(inline=True)
def _walked(ended: int, offset: Vec3, planes: int, manifold: Manifold, rounds: int) -> Walked:
    depth = max(manifold.depth, manifold.overlap)
    return Walked(ended, offset, planes, manifold.contacts, depth, rounds)


@kernel(noinline=True, no_refcount=True)
def _is_thrown(scene: Scene, start: Vec3, offset: Vec3, farthest: float) -> bool:
    """Tell whether a walk has led a body farther than ``farthest`` meters from its start.

    A corner that cuts into another may be pushed out beyond it: no walk leads through there. A body
    that starts in a wall is pushed out of it, too.
    """
    aside, _ = flat(subtract(offset, start))
    if aside <= farthest + SLOP:
        return False
    overlap = list_contacts(scene, start).overlap
    list_contacts(scene, offset)
    return aside > farthest + _FARTHEST_OUT * overlap


@kernel(no_refcount=True)
def _give_up(scene: Scene, start: Vec3, place: _TriedPlace, farthest: float, rounds: int) -> Walked:
    """End a walk that found no place to stand: a little higher, or nowhere, at its start."""
    # Between walls that narrow, a little higher may be room.
    up = clearing_rise(scene, place.offset, False)
    if up <= WALL_CLEARANCE and not _is_thrown(scene, start, place.offset, farthest):
        offset = add(place.offset, (0.0, up, 0.0))
        manifold = list_contacts(scene, offset)
        if manifold.depth <= SLOP:
            return _walked(BLOCKED, offset, place.planes, manifold, rounds)
    return _walked(NOWHERE, start, place.planes, place.manifold, rounds)


@kernel(inline=True)
def _arrived(place: _TriedPlace, rounds: int) -> Walked:
    """End a walk where the body stands."""
    ended = BLOCKED if place.blocked else FREE
    return _walked(ended, place.offset, place.planes, place.manifold, rounds)


@kernel(inline=True, no_refcount=True)
def _set_down(
    scene: Scene, start: Vec3, displacement: Vec3, place: _TriedPlace, edge: _Edge,
    limits: WalkLimits,
) -> tuple[int, _TriedPlace, _Edge]:  # fmt: skip
    """Set a body down on the ground under a place.

    Returns how the walk ends (FREE: it goes on), the place then, and the edge on which the body
    lies before it comes down to that place.
    """
    down, held_at, falls = _foothold(scene, start, displacement, place, limits)
    if held_at > down and falls and down == -np.inf:
        # Ground out of reach from the place may be in reach from the edge.
        lower = _raised(scene, place, held_at, True)
        lowest = -limits.snap - WALL_CLEARANCE
        further, _, _ = support(scene, lower.offset, displacement, lowest, limits.walkable)
        if further > -np.inf:
            return ON_EDGE, place, replaced(edge, is_there=True, place=lower)
    if down == -np.inf:
        return OFF_GROUND, place, edge
    if held_at > down and not edge.is_there:
        farthest = FARTHEST if falls else _FARTHEST_ASIDE
        edge = _Edge(True, _raised(scene, place, held_at, True), farthest)
    if down < -SLOP:
        return FREE, _raised(scene, place, down, True), edge
    return FREE, replaced(place, on_ground=True), edge


@kernel(inline=True, no_refcount=True)
def _back_to_edge(
    scene: Scene, start: Vec3, place: _TriedPlace, edge: _Edge, farthest: float, rounds: int
) -> Walked:
    """End a walk that found no place to stand on the edge that it came over, if there is one."""
    there = edge.place
    if edge.is_there and max(there.manifold.depth, there.manifold.overlap) <= SLOP:
        # Set down beside a step, the body would be thrown off: it stays on the edge instead.
        list_contacts(scene, there.offset)
        ended = BLOCKED if there.blocked else ON_EDGE
        return _walked(ended, there.offset, there.planes, there.manifold, rounds)
    return _give_up(scene, start, place, farthest, rounds)


@kernel(noinline=True, no_refcount=True)
def _try_displacement(
    scene: Scene, start: Vec3, displacement: Vec3, limits: WalkLimits, planes: int
) -> Walked:
    """Return as `walk` for the whole of one displacement; NOWHERE if it ends between walls.

    The scene has ``planes`` planes already.
    """
    size, _ = flat(displacement)
    # Ground higher than the steepest slope is a step, even if it is level on top.
    highest = start[1] + (rise_of_slope(size, limits.walkable) + WALL_CLEARANCE)
    offset = add(start, displacement)
    place = _TriedPlace(offset, list_contacts(scene, offset), planes, False, planes > 0)
    rounds, is_lifted, edge = 0, False, _Edge(False, place, FARTHEST)
    while rounds <= limits.max_rounds:
        if place.manifold.depth > LEAST_RISE:
            rounds += 1
            leads_on, place = _push_once(scene, start, place, highest, limits)
            if not leads_on:
                break
        elif place.manifold.overlap > STUCK_DEPTH and not is_lifted:
            # Ground that no contact leads out of, such as a peak in a corner of a box.
            is_lifted, up = True, clearing_rise(scene, place.offset, False)
            if place.offset[1] + up <= highest:
                place = _raised(scene, place, up, place.on_ground)
        elif place.blocked and _is_thrown(scene, start, place.offset, edge.farthest * size):
            break
        elif place.on_ground:
            return _arrived(place, rounds)
        else:
            ended, place, edge = _set_down(scene, start, displacement, place, edge, limits)
            if ended == OFF_GROUND:
                manifold = replaced(place.manifold, overlap=0.0)
                return _walked(OFF_GROUND, place.offset, place.planes, manifold, rounds)
            if ended == ON_EDGE:
                break
    return _back_to_edge(scene, start, place, edge, edge.farthest * size, rounds)


@kernel(no_refcount=True)
def _walls_touched(scene: Scene, offset: Vec3, displacement: Vec3, walkable: float) -> int:
    """Write the touched walls that a displacement leads into as planes; return how many."""
    contacts, planes = list_contacts(scene, offset).contacts, int(np.int64(0))
    for i in range(contacts):
        normal = three(scene.contacts, i, PUSH)
        _, wall = flat(normal)
        if abs(normal[1]) < walkable and dot(wall, displacement) < 0.0:
            planes = note_plane(scene, planes, wall, int(scene.contacts[i, CANDIDATE]))
    return planes


@kernel(no_refcount=True)
def _choose_wall(scene: Scene, start: Vec3, displacement: Vec3, walkable: float, i: int) -> Vec3:
    """Keep touched wall i as the scene's only plane; return the displacement along it."""
    _walls_touched(scene, start, displacement, walkable)
    wall, candidate = plane_normal(scene.planes, i), int(scene.planes[i, PLANE_CANDIDATE])
    note_plane(scene, int(np.int64(0)), wall, candidate)
    return add_scaled(displacement, wall, -dot(wall, displacement))


@kernel(noinline=True, no_refcount=True)
def _along_walls(
    scene: Scene, start: Vec3, displacement: Vec3, limits: WalkLimits, walked: Walked
) -> Walked:
    """Slide along one wall that a body touches at its start, if several walls have stopped it.

    Deep in a wall of several pieces, such as blocks, the body is pushed out of their sides too, and
    so stopped. Returns the walk by the displacement itself if no wall leads farther.
    """
    walls = min(_walls_touched(scene, start, displacement, limits.walkable), _MOST_TRIED)
    for i in range(walls):
        along = _choose_wall(scene, start, displacement, limits.walkable, i)
        slid = _try_displacement(scene, start, along, limits, int(np.int64(1)))
        far = dot(subtract(slid.offset, start), displacement)
        least = dot(subtract(walked.offset, start), displacement) + PROGRESS_SHARE * dot(
            displacement, displacement
        )
        if (slid.ended == FREE or slid.ended == BLOCKED) and far > least:
            return slid
    return _try_displacement(scene, start, displacement, limits, int(np.int64(0)))


@kernel(noinline=True, no_refcount=True)
def _leads_back(scene: Scene, start: Vec3, into: Vec3, walked: Walked, slack: float) -> bool:
    """Tell whether walls have pushed a body off, against ``into``, from a start clear of them.

    Where ground and wall lead into each other, as under a rail, a push along the ground is longer
    than the overlap: it may lead far back, and down from a ledge.
    """
    if walked.ended != BLOCKED or dot(subtract(walked.offset, start), into) >= -slack:
        return False
    manifold = list_contacts(scene, start)
    leads_back = manifold.depth <= SLOP and manifold.overlap <= SLOP
    list_contacts(scene, walked.offset)
    return leads_back


@kernel(noinline=True, no_refcount=True)
def _without_recoil(
    scene: Scene, start: Vec3, displacement: Vec3, limits: WalkLimits, walked: Walked
) -> Walked:
    """Slide along walls that would push a body off from where it starts.

    Returns NOWHERE if the displacement leads straight into them.
    """
    along = along_planes(scene.planes, walked.planes, displacement)
    _, into = flat(subtract(displacement, along))
    # Off an edge that it leans on, a round body is pushed a little too far, and sinks beside it.
    slack = SLOP if walked.offset[1] < start[1] - SLOP else CORNER_SLACK
    if _leads_back(scene, start, into, walked, slack):
        slid = _try_displacement(scene, start, along, limits, walked.planes)
        if slid.ended == BLOCKED and dot(subtract(slid.offset, walked.offset), into) > slack:
            return slid
        walked = _try_displacement(scene, start, displacement, limits, int(np.int64(0)))
    _, ahead = flat(displacement)
    if _leads_back(scene, start, ahead, walked, CONTACT_MARGIN):
        return replaced(walked, ended=NOWHERE)
    return walked


@kernel(noinline=True, no_refcount=True)
def _into_corner(
    scene: Scene, start: Vec3, displacement: Vec3, limits: WalkLimits, walked: Walked
) -> Walked:
    """Move a body by the largest possible part of a displacement.

    By the rest it slides along the walls that stop it, or a corner takes that. If it gets nowhere,
    the walk ends OFF_GROUND unless the body stands on ground at its start.
    """
    size, ahead = flat(displacement)
    share, part, offset = 0.0, 0.5, start
    along = along_planes(scene.planes, walked.planes, displacement)
    none = int(np.int64(0))  # for a literal 0, functions would compile twice
    while part * size > CORNER_SLACK:
        tried = _try_displacement(scene, start, scale(displacement, share + part), limits, none)
        if tried.ended == NOWHERE or _leads_back(scene, offset, displacement, tried, SLOP * size):
            along = along_planes(scene.planes, tried.planes, displacement)
        elif tried.ended != OFF_GROUND:
            share, offset = share + part, tried.offset
        part *= 0.5
    rest = scale(along, 1.0 - share)
    deflection, off = flat(subtract(along, displacement))
    if deflection > 0.0 and dot(rest, displacement) > 0.0:
        planes = note_plane(scene, none, off, NO_CANDIDATE)
        slid = _try_displacement(scene, offset, rest, limits, planes)
        if slid.ended == BLOCKED and not _leads_back(scene, offset, displacement, slid, 0.0):
            return slid
    ended = BLOCKED
    if share == 0.0:
        _, held_at, _ = support(scene, start, displacement, -WALL_CLEARANCE, limits.walkable)
        ended = BLOCKED if held_at > -np.inf else OFF_GROUND
    manifold = list_contacts(scene, offset)
    # The corner takes all of the speed ahead.
    planes = note_plane(scene, none, scale(ahead, -1.0), NO_CANDIDATE) if size > 0.0 else none
    return _walked(ended, offset, planes, manifold, walked.rounds)


@kernel(inline=True, no_refcount=True)
def walk(scene: Scene, start: Vec3, displacement: Vec3, limits: WalkLimits) -> Walked:
    """Move a body along the ground by a horizontal displacement, within limits.

    If the whole displacement leads nowhere, as into a corner, the body goes a part of it. The scene
    is left with the planes of the walls met, and the contacts where the body is.
    """
    # Pushed out of walls one after another, the body would slide farther for a longer displacement.
    scene = replaced(scene, resolver=SIMULTANEOUS)
    none = int(np.int64(0))  # for a literal 0, functions would compile twice
    walked = _try_displacement(scene, start, displacement, limits, none)
    if walked.planes > 1 or (walked.ended == NOWHERE and walked.planes > 0):
        walked = _along_walls(scene, start, displacement, limits, walked)
    if walked.ended == BLOCKED:
        walked = _without_recoil(scene, start, displacement, limits, walked)
    if walked.ended == NOWHERE:
        walked = _into_corner(scene, start, displacement, limits, walked)
    return walked


@kernel(noinline=True, no_refcount=True)
def stays_on_ground(
    scene: Scene, offset: Vec3, displacement: Vec3, farthest: float, snap: float, walkable: float
) -> bool:
    """Tell whether a body that landed is still on walkable ground after its next step.

    If not, it only grazes an edge, and goes on falling. The scene is left with the planes and
    contacts of that step.
    """
    size, _ = flat(displacement)
    limits = WalkLimits(farthest, max(snap, rise_of_slope(size, walkable)), walkable, 1)
    return bool(walk(scene, offset, displacement, limits).ended != OFF_GROUND)
