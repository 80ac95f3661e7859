"""Hits of an update: the surfaces that take speed from a body, the speed taken, and the reason.

A step leaves the planes of its contacts in its scene. Those that the velocity led into become rows
of the update's log. Most steps have none, so that most updates write nothing here.
"""

from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._intrinsics import replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.body import contact, corners_from, foremost
from terrain_physics._kernels.character.contacts.find_contacts import list_contacts
from terrain_physics._kernels.character.contacts.grounding import plane_normal, rise_of_slope
from terrain_physics._kernels.character.contacts.resolve import Resolved
from terrain_physics._kernels.character.contacts.scene import (
    CANDIDATE,
    DEPTH,
    NO_CANDIDATE,
    PLANE_CANDIDATE,
    PUSH,
    Scene,
    gathered,
)
from terrain_physics._kernels.character.state.layout import put_three_at, three_at
from terrain_physics._kernels.character.state.motion import Motion, MovementRules, Walked
from terrain_physics._kernels.character.state.work import goes_on, spend
from terrain_physics._kernels.geometry.closest_point import closest_on_triangle
from terrain_physics._kernels.ground.candidates import (
    BESIDE,
    NORMAL,
    PART,
    THICKNESS,
    TRIANGLE,
    A,
    B,
    C,
    surface_at,
    three,
)
from terrain_physics._kernels.ground.nearby import around_body, next_near
from terrain_physics._kernels.ground.table import GroundTable
from terrain_physics._kernels.math.vec3 import Vec3, add, add_scaled, dot, flat, scale, subtract
from terrain_physics._kernels.tolerances import (
    CONTACT_MARGIN,
    CORNER_SLACK,
    LEAST_IMPACT,
    OVERHEAD_COSINE,
    SAME_NORMAL_COSINE,
    SAME_SURFACE_COSINE,
    SLOP,
    WALL_CLEARANCE,
)
from terrain_physics._kernels.types import Floats

# Most rows kept of an update; the strongest hits stay.
MOST_HITS = 4

# Columns of a row: part and number of the triangle (of a character: -1 and its index in the group),
# the point in meters in the world, the unit normal, the approach speed of the body, the speed that
# the surface took from it (both in m/s), and the reason.
HIT_PART, HIT_TRIANGLE, HIT_POINT, HIT_NORMAL, IMPACT, TAKEN, REASON = 0, 1, 2, 5, 8, 9, 10

# Columns for a possible riser of a step: the height of its top (inf: no riser), and the heights of
# the body's foot and head, in meters in the world.
RISER, FOOT, HEAD = 11, 12, 13
HIT_SIZE = 14

# Behind the rows: the body's own velocity, in m/s, at the end of the last step, or before the first
# step at the end of the last update. The game may have set another one since.
OWN = MOST_HITS * HIT_SIZE

# Behind the velocity: the work of the last update, from its first step on.
WORK = OWN + 3

# Behind the work, on ground that may not be all there: the box of ground that the body needs in the
# update, seen from above (least x and z, greatest x and z, in meters), and a mark: see `needs.py`.
NEED, NEED_MARK = WORK + 1, WORK + 5
HITS_SIZE = NEED_MARK + 1

# Reasons why a surface blocks a body; LET_PASS if it does not.
LET_PASS, STEEP, WALL, STEP, CEILING, EDGE, CHARACTER = range(7)

# Greatest absolute y of the normal of an upright face.
_UPRIGHT = 0.1

# Faces with a lower y of the normal are ceilings, at any height.
_FACES_DOWN = -0.5

# Distance behind a riser's foremost point at which the top of the step is looked for.
_TREAD = 0.02  # meters


class HitLog(NamedTuple):
    """The log that hits are written to."""

    rows: Floats  # (HITS_SIZE,), with the body's own velocity and the work behind


class _HitPlace(NamedTuple):
    """Place of a body as it hits something."""

    origin: Vec3  # the origin of the scene, in meters in the world
    offset: Vec3  # from there to the body's center, in meters
    contacts: int  # how many the scene lists
    foot: float  # the height from which a step up is measured, in meters from the base


class _Met(NamedTuple):
    """A surface that a body hits."""

    candidate: int
    normal: Vec3
    impact: float  # the approach speed of the body, in m/s
    taken: float  # the speed that the surface took from it, in m/s


@kernel
def _faces_alike(rows: Floats, row: int, normal: Vec3) -> bool:
    """Tell whether the surface in a row has this normal, to rounding."""
    return dot(three_at(rows, row + HIT_NORMAL), normal) > SAME_SURFACE_COSINE


@kernel
def _slot(rows: Floats, count: int, normal: Vec3, strength: float) -> int:
    """Return the row for a surface: that of the same normal, a free one, or a weaker one; or -1."""
    weakest, least = -1, strength
    for i in range(count):
        row = i * HIT_SIZE
        if _faces_alike(rows, row, normal):
            return i
        known = max(float(rows[row + IMPACT]), float(rows[row + TAKEN]))
        if known < least:
            weakest, least = i, known
    return count if count < MOST_HITS else weakest


@kernel
def _contact_point(scene: Scene, offset: Vec3, k: int, normal: Vec3) -> Vec3:
    """Return the contact point of a body and a candidate for a given contact normal."""
    own = add(offset, foremost(scene.body, normal))
    if k < 0:
        return own
    a, b, c, face = corners_from(scene.candidates, k, own)
    _, point = closest_on_triangle(a, b, c, True, face)
    return add(own, point)


@kernel
def _span(
    movement: MovementRules, scene: Scene, place: _HitPlace, k: int, normal: Vec3
) -> tuple[float, float, bool]:
    """Return the lowest height of a surface, and the greatest of its part too steep to walk on.

    The surface consists of a candidate and all others that the body touches with the same normal.
    It is told, too, whether a side of a map is among them.
    """
    lowest, highest, is_side = np.inf, -np.inf, False
    for i in range(-1, place.contacts):
        j = k if i < 0 else int(scene.contacts[i, CANDIDATE])
        if i >= 0 and dot(three(scene.contacts, i, PUSH), normal) <= SAME_SURFACE_COSINE:
            continue
        a, b, c = (
            float(scene.candidates[j, A + 1]),
            float(scene.candidates[j, B + 1]),
            float(scene.candidates[j, C + 1]),
        )
        lowest = min(lowest, a, b, c)
        is_side = is_side or bool(scene.candidates[j, THICKNESS] == BESIDE)
        if abs(scene.candidates[j, NORMAL + 1]) < movement.walkable:
            highest = max(highest, a, b, c)
    return lowest, highest, is_side


@kernel(noinline=True, no_refcount=True)
def _put_reason(
    log: HitLog,
    row: int,
    movement: MovementRules,
    scene: Scene,
    place: _HitPlace,
    k: int,
    normal: Vec3,
) -> None:
    """Write why a surface blocks a body, and the heights of a possible riser."""
    rows = log.rows
    rows[row + RISER] = np.inf
    if k == NO_CANDIDATE:
        rows[row + REASON] = WALL
        return
    if normal[1] < _FACES_DOWN:
        rows[row + REASON] = CEILING
        return
    lowest, riser, is_side = _span(movement, scene, place, k, normal)
    if is_side:
        rows[row + REASON] = EDGE
        return
    if lowest > place.offset[1]:
        rows[row + REASON] = CEILING
        return
    upright = abs(float(scene.candidates[k, NORMAL + 1]))
    leans_back = normal[1] > 0.0 and _UPRIGHT < upright < movement.walkable
    rows[row + REASON] = STEEP if leans_back else WALL
    origin = place.origin[1]
    rows[row + RISER] = origin + riser
    rows[row + FOOT] = origin + place.foot
    rows[row + HEAD] = origin + place.offset[1] + scene.body.half_extents[1]


@kernel
def _put_place(
    log: HitLog, row: int, scene: Scene, place: _HitPlace, met: _Met, point: Vec3
) -> None:
    """Write the triangle that a body hit, the point, and the normal."""
    k = met.candidate
    log.rows[row + HIT_PART] = scene.candidates[k, PART] if k >= 0 else -1.0
    log.rows[row + HIT_TRIANGLE] = scene.candidates[k, TRIANGLE] if k >= 0 else -1.0
    put_three_at(log.rows, row + HIT_POINT, add(place.origin, point))
    put_three_at(log.rows, row + HIT_NORMAL, met.normal)


@kernel(noinline=True, no_refcount=True)
def _note(
    log: HitLog, count: int, movement: MovementRules, scene: Scene, place: _HitPlace, met: _Met
) -> int:
    """Write a hit to the log; return how many rows it has then.

    Surfaces of the same normal share a row: it holds the place of the strongest of them, and the
    greatest of each speed.
    """
    rows, strength = log.rows, max(met.impact, met.taken)
    slot = _slot(rows, count, met.normal, strength)
    if strength < LEAST_IMPACT or slot < 0:
        return count
    row = slot * HIT_SIZE
    if slot == count or not _faces_alike(rows, row, met.normal):
        rows[row + IMPACT] = rows[row + TAKEN] = rows[row + REASON] = 0.0
        rows[row + RISER] = np.inf
    point = _contact_point(scene, place.offset, met.candidate, met.normal)
    if strength > max(rows[row + IMPACT], rows[row + TAKEN]):
        _put_place(log, row, scene, place, met, point)
    if met.taken >= LEAST_IMPACT and met.taken > rows[row + TAKEN]:
        _put_reason(log, row, movement, scene, place, met.candidate, met.normal)
    rows[row + IMPACT] = max(rows[row + IMPACT], met.impact)
    rows[row + TAKEN] = max(rows[row + TAKEN], met.taken)
    return max(count, slot + 1)


@kernel(noinline=True, no_refcount=True)
def _approach_velocity(
    scene: Scene, offset: Vec3, velocity: Vec3, own: Vec3, upright: bool
) -> Vec3:
    """Return a velocity without its components into surfaces that a body touched before.

    These are its contacts at ``offset``, where the step begins, except those that its ``own``
    velocity leads into. ``upright`` turns them into walls.
    """
    candidates = scene.candidates
    lower, upper = around_body(offset, scene.body.half_extents, CONTACT_MARGIN)
    k = next_near(candidates, scene.size, 0, lower, upper)
    while k < scene.size and goes_on(scene.work, k):
        spend(scene.work, 1.0)
        depth, normal, _ = contact(candidates, scene.size, k, offset, scene.body, scene.work)
        if depth >= -CONTACT_MARGIN:
            if upright:
                _, normal = flat(normal)
            into = dot(normal, velocity)
            if into < 0.0 and dot(normal, own) > -LEAST_IMPACT:
                velocity = add_scaled(velocity, normal, -into)
        k = next_near(candidates, scene.size, k + 1, lower, upper)
    return velocity


@kernel
def _face_normal(scene: Scene, contacts: int, k: int, wall: Vec3) -> Vec3:
    """Return the normal of a candidate that stopped a walk as an upright ``wall``.

    If the body has slid past the candidate in the step, it is the normal of the candidate's face,
    provided that this leans the same way.
    """
    for i in range(contacts):
        if int(scene.contacts[i, CANDIDATE]) == k:
            return three(scene.contacts, i, PUSH)
    face = three(scene.candidates, k, NORMAL)
    _, facing = flat(face)
    if abs(dot(facing, wall)) <= SAME_SURFACE_COSINE:
        return wall
    return face if dot(facing, wall) > 0.0 else scale(face, -1.0)


@kernel
def _note_corner(
    log: HitLog,
    count: int,
    movement: MovementRules,
    scene: Scene,
    place: _HitPlace,
    velocity: Vec3,
    approach: Vec3,
) -> int:
    """Note the surfaces that stop a walk, as in a corner or under a ceiling.

    ``approach`` is the velocity at which the body reached them.
    """
    size, ahead = flat(velocity)
    beyond = add_scaled(place.offset, ahead, 2.0 * CORNER_SLACK)
    contacts = list_contacts(scene, beyond).contacts
    place = replaced(place, contacts=contacts)
    found = False
    for of_ground in range(2):  # walkable ground counts only if nothing else blocks
        for i in range(contacts):
            normal = three(scene.contacts, i, PUSH)
            if scene.contacts[i, DEPTH] <= SLOP or (normal[1] >= movement.walkable) != (
                of_ground == 1
            ):
                continue
            _, wall = flat(normal)
            taken = -dot(wall, velocity) if normal[1] >= -OVERHEAD_COSINE else size
            met = _Met(int(scene.contacts[i, CANDIDATE]), normal, -dot(normal, approach), taken)
            count = _note(log, count, movement, scene, place, met)
            found = found or taken >= LEAST_IMPACT
        if found:
            break
    list_contacts(scene, place.offset)
    if found:
        return count
    met = _Met(NO_CANDIDATE, scale(ahead, -1.0), dot(ahead, approach), size)
    return _note(log, count, movement, scene, place, met)


@kernel(noinline=True, no_refcount=True)
def note_walk(
    log: HitLog, movement: MovementRules, motion: Motion, walked: Walked, scene: Scene
) -> int:
    """Note the surfaces that took speed from a walking body; return how many hits there are then.

    Takes the motion from before the step, and the scene with the planes of the walk.
    """
    velocity, footing, count = motion.velocity, motion.footing, motion.tally.hits
    own = three_at(log.rows, OWN)
    moved = subtract(walked.offset, motion.offset)
    foot = motion.offset[1] - scene.body.half_extents[1]
    if footing.stepping:
        foot = footing.step_foot - motion.origin[1]
    place = _HitPlace(motion.origin, walked.offset, walked.contacts, foot)
    for i in range(walked.planes):
        wall = plane_normal(scene.planes, i)
        taken = -dot(wall, velocity)
        if taken < LEAST_IMPACT:
            continue
        approach = (0.0, 0.0, 0.0)
        if dot(wall, moved) < -CONTACT_MARGIN or dot(wall, own) < -LEAST_IMPACT:
            approach = _approach_velocity(scene, motion.offset, velocity, own, True)
        k = int(scene.planes[i, PLANE_CANDIDATE])
        if k == NO_CANDIDATE:
            count = _note_corner(log, count, movement, scene, place, velocity, approach)
            continue
        normal = _face_normal(scene, walked.contacts, k, wall)
        met = _Met(k, normal, -dot(normal, approach), taken)
        count = _note(log, count, movement, scene, place, met)
    return count


@kernel(inline=True)
def _in_the_air(scene: Scene, origin: Vec3, offset: Vec3, contacts: int) -> _HitPlace:
    """Return the place of a body that flies."""
    return _HitPlace(origin, offset, contacts, offset[1] - scene.body.half_extents[1])


@kernel(noinline=True, no_refcount=True)
def _note_in_flight(
    log: HitLog, count: int, movement: MovementRules, motion: Motion, scene: Scene,
    place: _HitPlace, velocity: Vec3, k: int, normal: Vec3,
) -> int:  # fmt: skip
    """Note a surface that a flying body hits at a velocity; return how many hits there are then.

    Takes the motion from before the step. Downward velocity is left out of the speed taken: ground
    that a body falls on or slides down does not block it.
    """
    moved = subtract(add(place.origin, place.offset), add(motion.origin, motion.offset))
    start, own = subtract(place.offset, moved), three_at(log.rows, OWN)
    approach = (0.0, 0.0, 0.0)
    if dot(normal, moved) < -CONTACT_MARGIN or dot(normal, own) < -LEAST_IMPACT:
        approach = _approach_velocity(scene, start, velocity, own, False)
    taken = 0.0
    if normal[1] < movement.walkable:
        taken = -dot(normal, (velocity[0], max(velocity[1], 0.0), velocity[2]))
    met = _Met(k, normal, -dot(normal, approach), taken)
    return _note(log, count, movement, scene, place, met)


@kernel(noinline=True, no_refcount=True)
def note_flight(
    log: HitLog, movement: MovementRules, motion: Motion, origin: Vec3, velocity: Vec3,
    out: Resolved, scene: Scene,
) -> int:  # fmt: skip
    """Note the surfaces that took speed from a flying body; return how many hits there are then.

    Takes the motion from before the step, the velocity at its end if it hit nothing, and the
    scene with the planes of the flight at ``origin``.
    """
    place, count = _in_the_air(scene, origin, out.offset, out.contacts), motion.tally.hits
    for i in range(out.planes):
        normal, k = plane_normal(scene.planes, i), int(scene.planes[i, PLANE_CANDIDATE])
        on_foot = normal[1] >= movement.walkable and motion.footing.grounded
        if not on_foot and -dot(normal, velocity) >= LEAST_IMPACT:
            count = _note_in_flight(log, count, movement, motion, scene, place, velocity, k, normal)
    return count


@kernel(noinline=True, no_refcount=True)
def note_bump(
    log: HitLog, movement: MovementRules, motion: Motion, offset: Vec3, velocity: Vec3,
    scene: Scene, k: int, normal: Vec3,
) -> int:  # fmt: skip
    """Note a candidate that a flying body hits at an offset and a velocity."""
    place, count = _in_the_air(scene, motion.origin, offset, 0), motion.tally.hits
    return _note_in_flight(log, count, movement, motion, scene, place, velocity, k, normal)


@kernel(noinline=True, no_refcount=True)
def note_landing(
    log: HitLog, count: int, movement: MovementRules, origin: Vec3, offset: Vec3, velocity: Vec3,
    scene: Scene, k: int, normal: Vec3,
) -> int:  # fmt: skip
    """Note that a body lands on a candidate, with all of its approach speed."""
    place = _in_the_air(scene, origin, offset, 0)
    return _note(log, count, movement, scene, place, _Met(k, normal, -dot(normal, velocity), 0.0))


@kernel(noinline=True)
def note_character(
    log: HitLog,
    count: int,
    character: float,
    point: Vec3,
    normal: Vec3,
    impact: float,
    taken: float,
) -> int:
    """Note another character that a body hits at a point; return how many hits there are then."""
    rows, strength = log.rows, max(impact, taken)
    slot = _slot(rows, count, normal, strength)
    if strength < LEAST_IMPACT or slot < 0:
        return count
    row = slot * HIT_SIZE
    if slot < count and strength <= max(rows[row + IMPACT], rows[row + TAKEN]):
        return count
    rows[row + HIT_PART], rows[row + HIT_TRIANGLE] = -1.0, character
    put_three_at(rows, row + HIT_POINT, point)
    put_three_at(rows, row + HIT_NORMAL, normal)
    rows[row + IMPACT], rows[row + TAKEN] = impact, taken
    rows[row + REASON], rows[row + RISER] = CHARACTER, np.inf
    return max(count, slot + 1)


@kernel
def candidate_of(scene: Scene, planes: int, normal: Vec3) -> int:
    """Return the candidate of the plane with a normal; NO_CANDIDATE if no plane has it."""
    for i in range(planes):
        if dot(plane_normal(scene.planes, i), normal) > SAME_NORMAL_COSINE:
            return int(scene.planes[i, PLANE_CANDIDATE])
    return NO_CANDIDATE


@kernel(noinline=True)
def _is_step(
    scene: Scene,
    ground: GroundTable,
    movement: MovementRules,
    rows: Floats,
    row: int,
    behind: float,
) -> bool:
    """Tell whether walkable ground too high to climb is ``behind`` meters behind a riser.

    The ground is higher than the highest step, about as high as the riser or higher, and below the
    body's head.
    """
    lowest = rows[row + FOOT] + max(movement.step_height, WALL_CLEARANCE)
    slack = rise_of_slope(behind, movement.walkable) + WALL_CLEARANCE
    if rows[row + RISER] > rows[row + HEAD] + slack:
        return False
    _, ahead = flat(three_at(rows, row + HIT_NORMAL))
    x, _, z = add_scaled(three_at(rows, row + HIT_POINT), ahead, -behind)
    origin, top = (x, lowest, z), rows[row + HEAD]
    scene = gathered(scene, ground, origin, origin, (x, top, z))
    found = scene.candidates
    tread, which, _ = surface_at(found, scene.size, 0.0, 0.0, top - lowest, False)
    return bool(
        tread > max(0.0, rows[row + RISER] - slack - lowest)
        and abs(found[which, NORMAL + 1]) >= movement.walkable
    )


@kernel(noinline=True)
def find_steps(
    log: HitLog, count: int, movement: MovementRules, scene: Scene, ground: GroundTable
) -> None:
    """Write which of the hits are steps that are too high. Overwrites the scene's candidates.

    Looks at the ground just behind each riser, and the body's least half extent behind it.
    """
    for i in range(count):
        row = i * HIT_SIZE
        if log.rows[row + RISER] < np.inf and (
            _is_step(scene, ground, movement, log.rows, row, _TREAD)
            or _is_step(scene, ground, movement, log.rows, row, scene.body.least)
        ):
            log.rows[row + REASON] = STEP
