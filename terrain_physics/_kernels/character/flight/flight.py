"""One step of an update through the air: move, push out of the ground, land or slide."""

from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._intrinsics import replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.find_contacts import (
    Manifold,
    as_wall,
    list_contacts,
    touched_normals,
)
from terrain_physics._kernels.character.contacts.grounding import (
    add_plane,
    along_planes,
    ground_by_planes,
    ground_by_sum,
    leads_into_none,
    settle_velocity,
)
from terrain_physics._kernels.character.contacts.resolve import (
    Resolved,
    is_pressed,
    resolve,
)
from terrain_physics._kernels.character.contacts.scene import PUSH, Scene, look
from terrain_physics._kernels.character.reports.hits import (
    HitLog,
    candidate_of,
    note_flight,
    note_landing,
)
from terrain_physics._kernels.character.reports.report import contact_planes
from terrain_physics._kernels.character.state.free_motion import through_air
from terrain_physics._kernels.character.state.motion import Footing, Motion, MovementRules, Tally
from terrain_physics._kernels.character.state.substeps import Pace, largest_component
from terrain_physics._kernels.character.walk.crease import settle_in_crease
from terrain_physics._kernels.character.walk.walk import stays_on_ground, support
from terrain_physics._kernels.ground.candidates import three
from terrain_physics._kernels.ground.table import GroundTable
from terrain_physics._kernels.math.vec3 import Vec3, add, add_scaled, length, scale, subtract
from terrain_physics._kernels.tolerances import CONTACT_MARGIN, CONVERGED_DEPTH, SLOP

# Most looks in a step at the ground around a body that is pushed beyond the look before.
_MOST_LOOKS = 16


class Aim(NamedTuple):
    """Aim of a step through the air, before anything pushes the body."""

    velocity: Vec3  # as the step begins, in m/s
    last: Vec3  # as it ends, in m/s
    offset: Vec3  # where it ends
    manifold: Manifold  # there, listed in the scene


class Flight(NamedTuple):
    """A step through the air, before it is known whether the body lands."""

    origin: Vec3  # the origin of the scene, in meters in the world
    velocity: Vec3  # at the end of the move, in m/s
    out: Resolved  # of the ground, at the end of the move
    strayed: bool  # whether pushes led beyond the ground looked at first
    stuck: bool  # if so: whether it went back to its start


@kernel(inline=True, no_refcount=True)
def _slide(scene: Scene, count: int, velocity: Vec3, cosine: float) -> Vec3:
    """Return the horizontal velocity that ``count`` steep planes give to a fall.

    The downward speed stays as it is, as it comes from sliding so far: a body driven against the
    slope would lose a part of it at each update, and so slide more slowly at a higher update rate.
    Zeros if the fall leads into no plane, or if the planes hold the body up.
    """
    nowhere = (0.0, 0.0, 0.0)
    if not velocity[1] < 0.0 or leads_into_none(scene.planes, count, velocity, 0.0):
        return nowhere
    led = along_planes(scene.planes, count, (0.0, velocity[1], 0.0))
    kept = led[1] / velocity[1]
    if kept <= 1.0 - cosine * cosine:  # no line down is steeper than the slope limit
        return nowhere
    return (led[0] / kept, 0.0, led[2] / kept)


@kernel(noinline=True, no_refcount=True)
def _not_into_steep(scene: Scene, offset: Vec3, velocity: Vec3, cosine: float) -> Vec3:
    """Return the velocity without its horizontal part into the steep slopes that a body touches.

    A slope would turn that part into climbing. A body that slides down such a slope slides on.
    """
    count, _, _ = list_contacts(scene, offset)
    steep = planes = int(np.int64(0))
    for i in range(count):
        if 0.0 <= scene.contacts[i, PUSH + 1] < cosine:
            steep = add_plane(scene.planes, steep, three(scene.contacts, i, PUSH))
    slide = _slide(scene, steep, velocity, cosine)
    for i in range(count):
        if 0.0 <= scene.contacts[i, PUSH + 1] < cosine:
            depth, wall = as_wall(1.0, three(scene.contacts, i, PUSH))
            if depth > 0.0:
                planes = add_plane(scene.planes, planes, wall)
    level = (velocity[0] - slide[0], 0.0, velocity[2] - slide[2])
    level = add(slide, along_planes(scene.planes, planes, level))
    return (level[0], velocity[1], level[2])


@kernel(noinline=True, no_refcount=True)
def take_aim(movement: MovementRules, motion: Motion, pace: Pace, scene: Scene) -> Aim:
    """Return where its parabola leads a body that does not walk in one step.

    Steep ground that it touches takes from its horizontal velocity the part that leads into the
    ground. The scene is left with the contacts at the end of the parabola.
    """
    start, velocity = motion.offset, motion.velocity
    if not movement.by_sum:
        velocity = _not_into_steep(scene, start, velocity, movement.walkable)
    displacement, last = through_air(velocity, movement.gravity, pace.seconds)
    aimed = add(start, displacement)
    return Aim(velocity, last, aimed, list_contacts(scene, aimed))


@kernel(inline=True)
def _near(movement: MovementRules) -> float:
    """Return the greatest gap to ground that a body meets; one that will walk must touch it."""
    return SLOP if movement.walks else CONTACT_MARGIN


@kernel(noinline=True, no_refcount=True)
def fly(movement: MovementRules, motion: Motion, scene: Scene, aim: Aim) -> Flight:
    """Move a body to where it is aimed, and push it out of the ground.

    The scene is left with the planes met, and with the contacts where the body is.
    """
    out = resolve(
        scene, aim.offset, aim.manifold, movement.max_rounds, _near(movement), movement.guarded
    )
    return Flight(motion.origin, aim.last, out, False, False)


@kernel(inline=True)
def strays(flight: Flight, pace: Pace) -> bool:
    """Tell whether pushes led a body beyond the ground looked at."""
    return largest_component(flight.out.offset) > pace.far


@kernel(noinline=True, no_refcount=True)
def _depth_at(scene: Scene, offset: Vec3) -> float:
    """Return how deep in the ground a body is at an offset."""
    _, depth, overlap = list_contacts(scene, offset)
    return max(depth, overlap)


@kernel(inline=True, no_refcount=True)
def _is_stuck(scene: Scene, depth: float, start: Vec3, out: Resolved) -> bool:
    """Tell whether a body is deeper in the ground, or in any part of it, than at its start."""
    return depth < out.depth or is_pressed(scene, start, out.offset)


@kernel(noinline=True, no_refcount=True)
def _stopped_at(scene: Scene, start: Vec3, out: Resolved) -> Resolved:
    """Return the result of a flight that stays at its start."""
    contacts, depth, overlap = list_contacts(scene, start)
    planes = contact_planes(scene, contacts)
    return Resolved(start, planes, contacts, max(depth, overlap), out.rounds, 0.0)


@kernel(noinline=True)
def follow(
    movement: MovementRules, motion: Motion, pace: Pace, scene: Scene, ground: GroundTable,
    flight: Flight,
) -> tuple[Scene, Flight]:  # fmt: skip
    """Gather triangles where pushes have led a body, and push on, until it stays within them.

    Returns the scene there, which holds planes and contacts as after `fly`, and the flight relative
    to its base. A body that is stuck there goes back to its start, and so does the scene. One that
    had no room before goes part of a long way out, and is stuck there: nobody leaps.
    """
    origin, out, looks = flight.origin, flight.out, 0
    depth = _depth_at(scene, motion.offset)
    while largest_component(out.offset) > pace.far and looks < _MOST_LOOKS:
        looks += 1
        origin = add(origin, out.offset)
        wide = pace.far + scene.body.least * looks
        scene = look(scene, ground, origin, wide, movement.drop, 0.0)
        here = (0.0, 0.0, 0.0)
        manifold = list_contacts(scene, here)
        more = resolve(
            scene, here, manifold, movement.max_rounds, _near(movement), movement.guarded
        )
        out = replaced(more, rounds=out.rounds + more.rounds, lifted=out.lifted + more.lifted)
    start = subtract(add(motion.origin, motion.offset), origin)
    if out.depth > CONVERGED_DEPTH and _is_stuck(scene, depth, start, out):
        scene = look(scene, ground, motion.origin, pace.far, movement.drop, 0.0)
        out = _stopped_at(scene, motion.offset, out)
        return scene, replaced(flight, out=out, strayed=True, stuck=True)
    way, most = subtract(out.offset, start), scene.body.least
    if movement.jammed and length(way) > most:
        origin = add(origin, add_scaled(start, way, most / length(way)))
        scene = look(scene, ground, origin, pace.far, movement.drop, 0.0)
        out = _stopped_at(scene, (0.0, 0.0, 0.0), out)
        return scene, Flight(origin, flight.velocity, out, True, True)
    return scene, replaced(flight, origin=origin, out=out, strayed=True)


@kernel
def _back_if_stuck(scene: Scene, start: Vec3, out: Resolved) -> tuple[bool, Resolved]:
    """Return (whether a body is stuck, the result of its flight).

    It is stuck if it was less deep in the ground at its start: then it stays there.
    """
    if _is_stuck(scene, _depth_at(scene, start), start, out):
        return True, _stopped_at(scene, start, out)
    contacts, _, _ = list_contacts(scene, out.offset)
    return False, replaced(out, contacts=contacts)


@kernel
def _most_upright(scene: Scene, planes: int) -> float:
    """Return the greatest y of the planes' normals."""
    best = -1.0
    for i in range(planes):
        best = max(best, float(scene.planes[i, 1]))
    return best


@kernel
def _find_ground(movement: MovementRules, scene: Scene, out: Resolved) -> tuple[bool, Vec3]:
    """Return (grounded, ground normal) by the body's ground rule."""
    if movement.by_sum:
        touched, total = touched_normals(scene, out.offset)
        return ground_by_sum(touched, total, movement.cosine)
    return ground_by_planes(scene.planes, out.planes, movement.cosine)


@kernel
def _lands(
    movement: MovementRules, pace: Pace, scene: Scene, out: Resolved, velocity: Vec3,
    falling: float, is_walkable: bool,
) -> tuple[bool, int]:  # fmt: skip
    """Tell whether a body that met ground, by the contact rule, stays there.

    Returns (whether it does, how many contacts the scene lists now). It does not stay where it
    brushes a slope on its way up, or an edge on its way over it.
    """
    if falling < 0.0:
        return not velocity[1] > 0.0, out.contacts
    if not is_walkable:
        return True, out.contacts
    displacement = scale(velocity, pace.seconds)
    stays = stays_on_ground(
        scene, out.offset, displacement, pace.farthest, movement.snap, movement.walkable
    )
    contacts, _, _ = list_contacts(scene, out.offset)
    return stays, contacts


@kernel
def _snaps_back(
    movement: MovementRules, scene: Scene, offset: Vec3, velocity: Vec3, contacts: int
) -> tuple[bool, Vec3, int]:
    """Set a body down on walkable ground that it met, and that other pushes have led it off.

    Returns as `_comes_down`. If the ground is out of reach now, the body falls on.
    """
    if _most_upright(scene, contact_planes(scene, contacts)) >= movement.walkable:
        return True, offset, contacts
    best, held_at, _ = support(scene, offset, velocity, -movement.snap, movement.walkable)
    if best == -np.inf:
        return False, offset, contacts
    offset = add(offset, (0.0, held_at, 0.0))
    return True, offset, list_contacts(scene, offset).contacts


@kernel
def _comes_down(
    movement: MovementRules,
    scene: Scene,
    out: Resolved,
    velocity: Vec3,
    contacts: int,
    is_walkable: bool,
) -> tuple[bool, Vec3, int]:
    """Set a body down on the ground that it met, which may be a contact margin away.

    Returns (whether the ground holds it, where it is then, how many contacts the scene lists).
    A body that met several steep faces is wedged only if together they hold it at one place.
    """
    offset = out.offset
    down, _, _ = support(scene, offset, velocity, -2.0 * CONTACT_MARGIN, movement.walkable)
    if down > -np.inf:
        if down < -SLOP:
            offset = add(offset, (0.0, down, 0.0))
        return True, offset, contacts
    if is_walkable:
        return _snaps_back(movement, scene, offset, velocity, contacts)
    drop = out.lifted + 2.0 * CONTACT_MARGIN
    return settle_in_crease(scene, offset, drop, movement.walkable)


@kernel(inline=True, no_refcount=True)
def _end_of_flight(scene: Scene, start: Vec3, flight: Flight) -> tuple[bool, Resolved]:
    """Return (whether a body is stuck, the result of its flight from ``start``)."""
    out = flight.out
    if out.depth > CONVERGED_DEPTH and not flight.strayed:
        return _back_if_stuck(scene, start, out)
    return flight.stuck, out


@kernel(inline=True, no_refcount=True)
def _holds(
    movement: MovementRules, pace: Pace, scene: Scene, out: Resolved, velocity: Vec3, falling: float
) -> tuple[bool, Vec3, int]:
    """Tell whether the ground that a body met holds it.

    Returns (whether it does, where the body is then, how many contacts the scene lists).
    """
    holds, contacts = True, out.contacts
    is_walkable = _most_upright(scene, out.planes) >= movement.walkable
    if movement.walks:
        holds, contacts = _lands(movement, pace, scene, out, velocity, falling, is_walkable)
    if holds and not movement.by_sum:
        return _comes_down(movement, scene, out, velocity, contacts, is_walkable)
    return holds, out.offset, contacts


@kernel(noinline=True, no_refcount=True)
def land(
    movement: MovementRules, motion: Motion, pace: Pace, scene: Scene, flight: Flight, log: HitLog
) -> Motion:
    """End a step through the air: on the ground, or along the planes that the body met.

    Takes the motion from before the step, and the scene as the flight left it. Returns the motion
    after the step. It is grounded if the body met ground by its ground rule and stays there, and
    walks if its rules let it walk. Its velocity leads into no plane met. The body is out of the
    ground, but for the depth in the tally. The scene lists the contacts where the body is. Planes
    that took speed from it are noted in the log.
    """
    tally, falling = motion.tally, -flight.velocity[1]
    coming = (motion.velocity[0], flight.velocity[1], motion.velocity[2])
    stuck, out = _end_of_flight(scene, motion.offset, flight)
    hits, landing = tally.hits, tally.landing
    if out.planes > 0:
        hits = note_flight(log, movement, motion, flight.origin, coming, out, scene)
    grounded, normal = _find_ground(movement, scene, out)
    landed_on = candidate_of(scene, out.planes, normal)
    velocity = (0.0, 0.0, 0.0) if stuck else flight.velocity
    slid = settle_velocity(scene.planes, out.planes, velocity, False)
    velocity = settle_velocity(scene.planes, out.planes, velocity, grounded)
    offset, contacts = out.offset, out.contacts
    if grounded:
        if movement.walks and falling >= 0.0:  # it walks from now on: going up is no jump
            velocity = (velocity[0], 0.0, velocity[2])
        grounded, offset, contacts = _holds(movement, pace, scene, out, velocity, falling)
        velocity = velocity if grounded else slid
    if grounded:
        landing = max(landing, falling)
        if not motion.footing.grounded and landed_on >= 0:
            hits = note_landing(
                log, hits, movement, flight.origin, out.offset, coming, scene, landed_on, normal
            )
    elif not movement.by_sum and velocity[1] > max(-falling, 0.0):
        level = (velocity[0], max(-falling, 0.0), velocity[2])
        velocity = _not_into_steep(scene, offset, level, movement.walkable)
    footing = Footing(
        grounded, grounded and movement.walks and velocity[1] <= 0.0, normal, False, 0.0
    )
    rounds, lifted = max(tally.rounds, out.rounds), tally.lifted + out.lifted
    tally = Tally(contacts, out.depth, rounds, lifted, landing, tally.air_time, hits, False)
    return Motion(flight.origin, offset, velocity, footing, tally)
