"""Time of impact of a flight with ground or a ceiling, and the update from there on."""

import math

import numpy as np

from terrain_physics._kernels._intrinsics import replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.find_contacts import list_contacts
from terrain_physics._kernels.character.contacts.grounding import along_planes, ground_by_planes
from terrain_physics._kernels.character.contacts.scene import CANDIDATE, DEPTH, PUSH, Scene
from terrain_physics._kernels.character.flight.flight import Aim
from terrain_physics._kernels.character.reports.hits import HitLog, note_bump, note_landing
from terrain_physics._kernels.character.reports.report import contact_planes
from terrain_physics._kernels.character.state.free_motion import through_air
from terrain_physics._kernels.character.state.motion import (
    BLOCKED,
    FREE,
    Motion,
    MovementRules,
    in_air,
    walking_on,
    with_hits,
)
from terrain_physics._kernels.character.state.substeps import MOST_CUTS, Pace, cut_anew
from terrain_physics._kernels.character.walk.walk import WalkLimits, stays_on_ground, walk
from terrain_physics._kernels.ground.candidates import NORMAL, three
from terrain_physics._kernels.math.vec3 import Vec3, add, dot
from terrain_physics._kernels.tolerances import CONVERGED_DEPTH, SAME_NORMAL_COSINE, SLOP

# Most times tried. Two find a face, since the depth in its plane is a parabola too.
_MOST_TRIES = 32


@kernel
def _entry_time(
    depth: float, normal: Vec3, velocity: Vec3, gravity: float, seconds: float
) -> float:
    """Return when a fall enters a plane that it is ``depth`` deep in after ``seconds``; at least 0.

    ``velocity`` is the initial one; the final one leads into the plane. 0 if the fall starts inside
    and never leaves.
    """
    # The gap is c + b t - a t^2; its last root is where it ends.
    a, b = 0.5 * gravity * normal[1], dot(normal, velocity)
    c = -depth - (b - a * seconds) * seconds
    square = b * b + 4.0 * a * c
    if square < 0.0:
        return 0.0
    root = math.sqrt(square)
    if b < 0.0:
        return max(2.0 * c / (root - b), 0.0)
    return (b + root) / (2.0 * a) if a > 0.0 else 0.0


@kernel
def _ends_flight(scene: Scene, i: int, walkable: float, rims: bool) -> bool:
    """Tell whether a contact ends a flight: ground, a ceiling, or a rim that may be ground.

    A ceiling is no steeper than walkable ground. At a rim the contact normal changes as the body
    goes deeper.
    """
    normal = three(scene.contacts, i, PUSH)
    if abs(normal[1]) >= walkable:
        return True
    face = three(scene.candidates, int(scene.contacts[i, CANDIDATE]), NORMAL)
    return rims and normal[1] > 0.0 and abs(dot(normal, face)) < SAME_NORMAL_COSINE


@kernel
def _first_entry(
    scene: Scene, count: int, aim: Aim, gravity: float, seconds: float, walkable: float, rims: bool
) -> tuple[int, float]:
    """Return (the deepest contact that ends the flight or -1, the earliest time of entry into one).

    The scene lists the contacts after ``seconds``.
    """
    _, velocity = through_air(aim.velocity, gravity, seconds)
    deepest, first = -1, np.inf
    for i in range(count):
        depth, normal = float(scene.contacts[i, DEPTH]), three(scene.contacts, i, PUSH)
        if dot(normal, velocity) < 0.0 and _ends_flight(scene, i, walkable, rims):
            first = min(first, _entry_time(depth, normal, aim.velocity, gravity, seconds))
            if deepest < 0 or depth > scene.contacts[deepest, DEPTH]:
                deepest = i
    return deepest, first


@kernel
def _time_of_impact(
    movement: MovementRules, motion: Motion, pace: Pace, scene: Scene, aim: Aim
) -> tuple[int, float]:
    """Return (the contact of the first impact in a step or -1, its time in seconds).

    The scene lists the contacts at the end of the step, and is left with those of the impact if
    there is one. Rims count only where no other contact ends the flight.
    """
    count, time, low, high = aim.manifold.contacts, pace.seconds, -1.0, pace.seconds
    gravity, walkable, rims = movement.gravity, movement.walkable, False
    for trial in range(_MOST_TRIES):
        deepest, entry = _first_entry(scene, count, aim, gravity, time, walkable, rims)
        if trial == 0 and deepest < 0:
            rims = True
            deepest, entry = _first_entry(scene, count, aim, gravity, time, walkable, rims)
        depth = float(scene.contacts[deepest, DEPTH]) if deepest >= 0 else -np.inf
        if trial == 0 and depth < -SLOP:
            return -1, 0.0
        if abs(depth) <= SLOP or (depth > 0.0 and time == 0.0):
            return deepest, time
        if depth > 0.0:
            high = time
        else:
            low = time
        time = entry
        if not low < time < high:
            time = 0.5 * (max(low, 0.0) + high)
        displacement, _ = through_air(aim.velocity, gravity, time)
        count, _, _ = list_contacts(scene, add(motion.offset, displacement))
    list_contacts(scene, aim.offset)
    return -1, 0.0


@kernel
def _land(
    movement: MovementRules,
    motion: Motion,
    pace: Pace,
    scene: Scene,
    place: Vec3,
    velocity: Vec3,
    left: float,
) -> tuple[bool, Motion, Pace]:
    """Set a body on the ground that it meets at a place, to walk for the time that is left.

    The first value is False, and the flight goes on, if the body cannot stand there or only brushes
    an edge.
    """
    limits = WalkLimits(pace.farthest, 0.0, movement.walkable, movement.max_rounds)
    down = walk(scene, place, (0.0, 0.0, 0.0), limits)
    touched = contact_planes(scene, down.contacts)
    on_planes, normal = ground_by_planes(scene.planes, touched, movement.cosine)
    stands = down.ended == FREE or down.ended == BLOCKED
    if not stands or not on_planes or down.depth > CONVERGED_DEPTH:
        return False, motion, pace
    falling = -velocity[1]
    velocity = (velocity[0], 0.0, velocity[2])
    rest = cut_anew(pace, velocity, 0.0, left, scene.body.least)
    displacement = (velocity[0] * rest.seconds, 0.0, velocity[2] * rest.seconds)
    if not stays_on_ground(
        scene, down.offset, displacement, rest.farthest, movement.snap, movement.walkable
    ):
        return False, motion, pace
    tally = motion.tally
    tally = replaced(
        tally,
        contacts=down.contacts,
        depth=down.depth,
        rounds=max(tally.rounds, down.rounds),
        landing=max(tally.landing, falling),
    )
    footing = walking_on(normal)
    landed = replaced(motion, offset=down.offset, velocity=velocity, footing=footing, tally=tally)
    return True, landed, rest


@kernel
def _bump(
    movement: MovementRules, motion: Motion, scene: Scene, place: Vec3, velocity: Vec3, left: float
) -> tuple[bool, Motion]:
    """Stop a body at the ceiling that it meets at a place, to the end of the step.

    At the end it has the speed of a fall that began at the impact, so that its time in the air is
    the same for steps of any length. The first value is False, and the flight goes on, if it
    penetrates something else at the impact.
    """
    manifold, tally = list_contacts(scene, place), motion.tally
    if manifold.depth > CONVERGED_DEPTH:
        return False, motion
    velocity = along_planes(scene.planes, contact_planes(scene, manifold.contacts), velocity)
    _, velocity = through_air(velocity, movement.gravity, left)
    tally = replaced(tally, contacts=manifold.contacts, depth=manifold.depth)
    footing = in_air(motion.footing.normal)
    return True, replaced(motion, offset=place, velocity=velocity, footing=footing, tally=tally)


@kernel(noinline=True, no_refcount=True)
def stop_at_impact(
    movement: MovementRules, motion: Motion, pace: Pace, scene: Scene, aim: Aim, log: HitLog
) -> tuple[bool, Motion, Pace]:
    """End a step through the air at its time of impact with walkable ground or a ceiling.

    Takes the motion from before the step, and the scene with the contacts of where it is aimed.
    The impact is noted in the log.

    Returns
    -------
    tuple of bool, Motion and Pace
        Whether there is an impact. If so: the motion then, and the steps that are left. The body is
        where its parabola has led it: set on the ground, straight up or down, and walking, or
        stopped by the ceiling for this step. Without an impact the scene is as before.
    """
    if not movement.walks or aim.manifold.contacts == 0:
        return False, motion, pace
    if pace.cuts == MOST_CUTS:
        return False, motion, pace
    which, seconds = _time_of_impact(movement, motion, pace, scene, aim)
    if which >= 0:
        upright = float(scene.contacts[which, PUSH + 1])
        displacement, velocity = through_air(aim.velocity, movement.gravity, seconds)
        place, left = (
            add(motion.offset, displacement),
            pace.seconds - seconds + pace.seconds * pace.steps,
        )
        k, normal = int(scene.contacts[which, CANDIDATE]), three(scene.contacts, which, PUSH)
        if upright >= movement.walkable:
            lands, landed, rest = _land(movement, motion, pace, scene, place, velocity, left)
            if lands:
                hits = note_landing(
                    log,
                    motion.tally.hits,
                    movement,
                    motion.origin,
                    place,
                    velocity,
                    scene,
                    k,
                    normal,
                )
                return True, with_hits(landed, hits), rest
        elif upright < 0.0 and scene.contacts[which, DEPTH] <= SLOP:
            left = pace.seconds - seconds
            bumps, bumped = _bump(movement, motion, scene, place, velocity, left)
            if bumps:
                hits = note_bump(log, movement, motion, place, velocity, scene, k, normal)
                return True, with_hits(bumped, hits), pace
        list_contacts(scene, aim.offset)
    return False, motion, pace
