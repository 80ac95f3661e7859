"""Steps of an update: cut from its time, taken one after another, and ended by the work budget."""

import numpy as np

from terrain_physics._kernels._intrinsics import replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.find_contacts import list_contacts
from terrain_physics._kernels.character.contacts.scene import Scene, look
from terrain_physics._kernels.character.others.half_planes import is_pushed
from terrain_physics._kernels.character.reports.hits import OWN, WORK, HitLog
from terrain_physics._kernels.character.state import layout as at
from terrain_physics._kernels.character.state.initial_motion import initial_motion
from terrain_physics._kernels.character.state.layout import put_three_at, three_at
from terrain_physics._kernels.character.state.motion import Footing, Motion, MovementRules, Tally
from terrain_physics._kernels.character.state.substeps import (
    STEPS_TOGETHER,
    Pace,
    cut,
    must_look,
    one_less,
    recentered,
)
from terrain_physics._kernels.character.state.teleport import step_height
from terrain_physics._kernels.character.state.work import (
    LAST_LOOK,
    MOST_WORK,
    STEP,
    begin,
    done,
    is_spent,
    spend,
)
from terrain_physics._kernels.character.steps.step import take_step
from terrain_physics._kernels.character.steps.step_among_others import (
    Encounter,
    Others,
    minds_others,
    step_among_others,
    velocity_with_push,
)
from terrain_physics._kernels.ground.table import GroundTable, with_step_start
from terrain_physics._kernels.math.vec3 import add
from terrain_physics._kernels.surface.shapes import Body
from terrain_physics._kernels.tolerances import CONTACT_MARGIN, SLOPE_SLACK
from terrain_physics._kernels.types import Floats


@kernel(inline=True, no_refcount=True)
def begin_motion(
    state: Floats, rules: Floats, body: Body, others: Others, delta_time: float
) -> tuple[MovementRules, Motion, Pace]:
    """Return the movement rules, the motion before the first step, and the steps to take.

    By the sum rule a body always flies, and gets the downward speed of the whole update at the
    start. A pushed character moves along its solved displacement at constant speed.
    """
    center, own = three_at(rules, at.OFFSET), initial_motion(state, rules)
    velocity, gravity, friction = own.velocity, own.gravity, own.friction
    if is_pushed(others.crowd):
        velocity, friction = velocity_with_push(others, velocity[1]), 0.0
    if own.by_sum:
        velocity = (velocity[0], velocity[1] - gravity * delta_time, velocity[2])
        gravity = 0.0
    pace = cut(velocity, 0.0 if own.walking else gravity, delta_time, body.least)
    cosine, snap = float(rules[at.SLOPE_COSINE]), float(rules[at.SNAP])
    movement = MovementRules(
        body_offset=center,
        max_rounds=int(rules[at.MAX_ROUNDS]),
        guarded=True,
        jammed=state[at.LIMIT] == at.BY_ROOM,
        gravity=gravity,
        friction=friction,
        speed=own.speed,
        by_sum=own.by_sum,
        walks=own.walks,
        cosine=cosine,
        walkable=cosine - SLOPE_SLACK,
        along_surface=int(rules[at.SURFACE_SPEED]) == at.ALONG_SURFACE,
        step_height=step_height(rules, body),
        snap=snap,
        drop=snap * min(STEPS_TOGETHER, pace.steps),
    )
    is_stepping, step_foot = state[at.STEPPING] != 0.0, float(state[at.STEP_FOOT])
    normal = three_at(state, at.GROUND_NORMAL)
    footing = Footing(own.grounded, own.walking, normal, is_stepping, step_foot)
    origin = add(three_at(state, at.POSITION), center)
    tally = Tally(0, 0.0, 0, 0.0, 0.0, float(state[at.AIR_TIME]) + delta_time, 0, False)
    return movement, Motion(origin, (0.0, 0.0, 0.0), velocity, footing, tally), pace


@kernel(inline=True)
def take_steps(
    others: Others,
    movement: MovementRules,
    motion: Motion,
    pace: Pace,
    scene: Scene,
    ground: GroundTable,
    log: HitLog,
    is_on_character: bool,
) -> tuple[Scene, GroundTable, Motion, Encounter, int]:
    """Take the steps of an update, until its time is over or its work budget is spent.

    Returns
    -------
    tuple of Scene, GroundTable, Motion, Encounter and int
        The scene with the contacts of the body where it is now, the ground as it was last looked
        at, the motion, the encounter with others, and `BY_WORK` if the work budget ended the update
        early, else `NO_LIMIT`.
    """
    minds, encounter = minds_others(others.crowd), Encounter(motion.velocity, is_on_character)
    before, before_pace, limit = motion, pace, at.NO_LIMIT
    while pace.steps > 0 and not is_spent(scene.work):
        before, before_pace = motion, pace
        spend(scene.work, STEP)
        looks = must_look(pace, motion.offset)
        if looks:
            motion = recentered(motion)
            ground = with_step_start(ground, motion.origin, np.inf)
            scene = look(scene, ground, motion.origin, pace.far, movement.drop, 0.0)
        pace = one_less(pace, looks)
        if minds:
            scene, motion, pace, encounter = step_among_others(
                others, encounter, movement, motion, pace, scene, ground, log
            )
        else:
            scene, motion, pace = take_step(movement, motion, pace, scene, ground, log)
        put_three_at(log.rows, OWN, motion.velocity)
    log.rows[WORK] = done(scene.work)
    if is_spent(scene.work):
        scene, motion = _cut_short(before, before_pace, scene, ground)
        limit = at.BY_WORK
    return scene, ground, motion, encounter, limit


@kernel(noinline=True)
def _cut_short(
    motion: Motion, pace: Pace, scene: Scene, ground: GroundTable
) -> tuple[Scene, Motion]:
    """End an update before the step that went over the work budget; the time left is lost.

    Takes motion and pace from before that step. Returns the scene there, with the contacts of the
    body, and the motion as after a shorter update.
    """
    begin(scene.work, MOST_WORK - LAST_LOOK)
    motion, tally = recentered(motion), motion.tally
    scene = look(scene, ground, motion.origin, CONTACT_MARGIN, 0.0, 0.0)
    manifold = list_contacts(scene, motion.offset)
    contacts, depth = manifold.contacts, max(manifold.depth, manifold.overlap)
    if is_spent(scene.work):  # the contacts are incomplete
        contacts, depth = 0, tally.depth
    air_time = max(tally.air_time - pace.seconds * pace.steps, 0.0)
    tally = replaced(tally, contacts=contacts, depth=depth, air_time=air_time)
    return scene, replaced(motion, tally=tally)
