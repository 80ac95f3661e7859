"""One update of a character: moving base, depenetration, steps of walk or flight, and sleep."""

import numpy as np

from terrain_physics._kernels._intrinsics import borrow, keep
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.body import upright_radius
from terrain_physics._kernels.character.contacts.find_contacts import list_contacts
from terrain_physics._kernels.character.contacts.scene import (
    Memory,
    Scene,
    borrow_memory,
    empty_scene,
    look,
    make_memory,
)
from terrain_physics._kernels.character.moving_base.moving_base import (
    find_moving_base,
    ignore_moves,
    no_moving_base,
    see_moves,
    settle_moving_base,
)
from terrain_physics._kernels.character.moving_base.squeeze import carry_and_squeeze, is_disturbed
from terrain_physics._kernels.character.others.half_planes import (
    CROWD_SIZE,
    IS_TRIED,
    PUSHED_DISPLACEMENT,
)
from terrain_physics._kernels.character.others.standing_on_characters import (
    is_over_characters,
    report_character_below,
    stand_on_character,
    step_onto_character,
)
from terrain_physics._kernels.character.others.walls import forget_walls, note_walls
from terrain_physics._kernels.character.reports.hits import HITS_SIZE, OWN, WORK, HitLog, find_steps
from terrain_physics._kernels.character.reports.settle import settle
from terrain_physics._kernels.character.rescue import is_worse, rescue, rise
from terrain_physics._kernels.character.sleep.sleep import (
    is_asleep,
    note_contact_signature,
    stays_asleep,
)
from terrain_physics._kernels.character.state.initial_motion import initial_motion
from terrain_physics._kernels.character.state.layout import (
    AIR_TIME,
    ALONG_SURFACE,
    BASE_PART,
    BELOW,
    BY_WORK,
    CONVERGED,
    GROUND_KIND,
    GROUND_NORMAL,
    GROUND_PART,
    GROUNDED,
    HITS,
    KEEP_OFF_LEDGES,
    LIFTED,
    MASK,
    MAX_ROUNDS,
    MOVED,
    MOVES_SEEN,
    NO_LIMIT,
    OFFSET,
    ON_CHARACTER,
    ON_MOVING_BASE,
    OWN_VELOCITY,
    PENETRATION,
    POSITION,
    RESOLVER,
    ROUNDS,
    RULES_SIZE,
    SLOPE_COSINE,
    SNAP,
    SQUEEZED_BY,
    STATE_SIZE,
    STEP_FOOT,
    STEPPING,
    SURFACE_SPEED,
    WALLS,
    WAS_GROUNDED,
    put_three_at,
    three_at,
    unpack_body,
)
from terrain_physics._kernels.character.state.motion import Footing, Motion, MovementRules, Tally
from terrain_physics._kernels.character.state.substeps import (
    STEPS_TOGETHER,
    Pace,
    cut,
    largest_component,
    must_look,
    one_less,
    recentered,
)
from terrain_physics._kernels.character.state.teleport import step_height, teleport_or_nudge
from terrain_physics._kernels.character.state.work import (
    LAST_LOOK,
    MOST_WORK,
    STEP,
    begin,
    done,
    is_spent,
    spend,
)
from terrain_physics._kernels.character.step import (
    Others,
    among_others,
    has_met_others,
    is_among_others,
    is_pushable,
    is_pushed,
    note_others,
    take_step,
    velocity_to,
    without_push,
)
from terrain_physics._kernels.character.walk.step import walk_step
from terrain_physics._kernels.ground.candidates import fetch_ahead
from terrain_physics._kernels.ground.movers import COUNT_OF_MOVES, end_part_shifts
from terrain_physics._kernels.ground.table import (
    GroundTable,
    ground_at,
    has_movers,
    movers_of,
    moves_counted,
    with_step_start,
)
from terrain_physics._kernels.math.vec3 import Vec3, add, scale, subtract
from terrain_physics._kernels.surface.shapes import Body
from terrain_physics._kernels.tolerances import CONTACT_MARGIN, SLOPE_SLACK
from terrain_physics._kernels.types import Floats, Int64s, UInt64s


@kernel(inline=True, no_refcount=True)
def _begin_motion(
    state: Floats, rules: Floats, body: Body, others: Others, delta_time: float
) -> tuple[MovementRules, Motion, Pace]:
    """Return the movement rules, the motion before the first step, and the steps to take.

    By the sum rule a body flies, and gets the downward speed of the whole update at once. A pushed
    character moves along its solved displacement at constant speed.
    """
    center, out = three_at(rules, OFFSET), initial_motion(state, rules)
    cosine = float(rules[SLOPE_COSINE])
    velocity, gravity, friction = out.velocity, out.gravity, out.friction
    if is_pushed(others.crowd):
        velocity, friction = velocity_to(others, PUSHED_DISPLACEMENT, velocity[1]), 0.0
    if out.by_sum:
        velocity = (velocity[0], velocity[1] - gravity * delta_time, velocity[2])
        gravity = 0.0
    footing = Footing(
        out.grounded,
        out.walking,
        three_at(state, GROUND_NORMAL),
        state[STEPPING] != 0.0,
        float(state[STEP_FOOT]),
    )
    origin = add(three_at(state, POSITION), center)
    tally = Tally(0, 0.0, 0, 0.0, 0.0, float(state[AIR_TIME]) + delta_time, 0)
    motion = Motion(origin, (0.0, 0.0, 0.0), velocity, footing, tally)
    pace = cut(velocity, 0.0 if out.walking else gravity, delta_time, body.least)

    snap = float(rules[SNAP])
    movement = MovementRules(
        center,
        int(rules[MAX_ROUNDS]),
        gravity,
        friction,
        out.speed,
        out.by_sum,
        out.walks,
        cosine,
        cosine - SLOPE_SLACK,
        int(rules[SURFACE_SPEED]) == ALONG_SURFACE,
        step_height(rules, body),
        snap,
        snap * min(STEPS_TOGETHER, pace.steps),
    )
    return movement, motion, pace


@kernel(noinline=True)
def cut_short(
    motion: Motion, pace: Pace, scene: Scene, ground: GroundTable
) -> tuple[Scene, Motion]:
    """End an update before a step that would be too much work, with its time left over.

    Takes motion and pace from before that step. Returns the scene there, with the contacts of the
    body, and the motion as after a shorter update.
    """
    begin(scene.work, MOST_WORK - LAST_LOOK)
    motion, tally = recentered(motion), motion.tally
    scene = look(scene, ground, motion.origin, CONTACT_MARGIN, 0.0, 0.0)
    manifold = list_contacts(scene, motion.offset)
    contacts, depth = manifold.contacts, max(manifold.depth, manifold.overlap)
    if is_spent(scene.work):  # unknown
        contacts, depth = 0, tally.depth
    air_time = max(tally.air_time - pace.seconds * pace.steps, 0.0)
    tally = Tally(contacts, depth, tally.rounds, tally.lifted, tally.landing, air_time, tally.hits)
    return scene, Motion(motion.origin, motion.offset, motion.velocity, motion.footing, tally)


@kernel(inline=True, no_refcount=True)
def _remember_walls(
    state: Floats, crowd: Floats, movement: MovementRules, motion: Motion, scene: Scene,
    start: Vec3, displacement: Vec3, met_walls: bool,
) -> None:  # fmt: skip
    """Write the walls that block a body at the end of an update, if others may push it into them.

    Its initial motion was from ``start`` by ``displacement``. Where nothing took speed from it, a
    slope may have shortened its path, or it climbed.
    """
    if is_pushable(crowd):
        aside = subtract(subtract(add(motion.origin, motion.offset), start), displacement)
        if not (met_walls or crowd[IS_TRIED] != 0.0):
            aside = (0.0, 0.0, 0.0)
        note_walls(state, scene, motion.offset, movement.walkable, aside)
    elif state[WALLS] != 0.0 or state[WALLS + 1] != 0.0:
        forget_walls(state)


@kernel(noinline=True)
def advance(
    state: Floats,
    random_state: UInt64s,
    rules: Floats,
    hits: Floats,
    crowd: Floats,
    ground: GroundTable,
    delta_time: float,
    memory: Memory,
) -> None:
    """Advance ``state`` by one update, even if the character sleeps.

    ``state``, ``random_state`` (where the resolver draws), ``hits`` (HITS_SIZE,) and ``memory`` are
    written to. ``crowd`` is its row, empty if it ignores others.
    """
    log = HitLog(hits)
    body = unpack_body(rules)
    is_teleported = teleport_or_nudge(state, rules, body)
    is_squeezed = state[SQUEEZED_BY] >= 0.0 or state[SQUEEZED_BY + 1] >= 0.0
    spot = add(three_at(state, POSITION), three_at(rules, OFFSET))
    moving_base, has_moving_ground = (
        no_moving_base(state),
        has_movers(ground) or state[ON_MOVING_BASE] != 0.0 or is_squeezed,
    )
    if has_moving_ground:
        if state[MOVES_SEEN] < 0.0:
            ignore_moves(state, float(movers_of(ground)[0, COUNT_OF_MOVES]))
        moving_base = find_moving_base(state, rules, body, ground, delta_time, is_teleported)
        scene = empty_scene(body, int(rules[RESOLVER]), random_state, memory)
        center = add(three_at(state, POSITION), three_at(rules, OFFSET))
        ground = with_step_start(ground, center, float(state[MOVES_SEEN]))
        moving_base = carry_and_squeeze(state, rules, scene, ground, moving_base, delta_time)
    start = three_at(state, POSITION)
    put_three_at(hits, OWN, three_at(state, OWN_VELOCITY))
    depth = 0.0 if is_teleported else float(state[PENETRATION])
    is_below = not is_teleported and state[BELOW] != 0.0
    carried = subtract(add(start, three_at(rules, OFFSET)), spot)
    others = Others(crowd, spot, carried, rules[KEEP_OFF_LEDGES] != 0.0, delta_time)
    movement, motion, pace = _begin_motion(state, rules, body, others, delta_time)
    crowded, origin = is_among_others(crowd), motion.origin
    over_characters, is_on_character = is_over_characters(crowd), state[GROUND_KIND] == ON_CHARACTER
    first_velocity = initial_velocity = motion.velocity
    scene = empty_scene(body, int(rules[RESOLVER]), random_state, memory)
    scene = look(scene, ground, motion.origin, pace.far, movement.drop, 0.0)
    before, before_pace = motion, pace
    # Treat a body that did not converge as newly placed: the same happens after a load, so both
    # continue identically.
    misplaced = not motion.footing.grounded or state[MOVED] != 0.0 or state[CONVERGED] == 0.0
    if misplaced and motion.footing.walking:
        misplaced = is_worse(scene, motion.offset, depth, is_below)
        if misplaced:  # it is depenetrated at once, however far
            far = pace.far + largest_component(body.half_extents)
            scene = look(scene, ground, motion.origin, far, movement.drop, 0.0)
    if misplaced:
        motion, left = rescue(movement, motion, scene, delta_time, is_below)
        if left > 0.0 and not is_spent(scene.work):
            put_three_at(state, OWN_VELOCITY, (0.0, 0.0, 0.0))
            rise(state, scene, motion, left, delta_time)
            if has_moving_ground:
                settle_moving_base(state, rules, body, ground, moving_base, start, delta_time)
            return
    if not is_spent(scene.work):
        begin(scene.work, 0.0)  # the same budget with and without another look
    while pace.steps > 0 and not is_spent(scene.work):
        before, before_pace = motion, pace
        spend(scene.work, STEP)
        looks = must_look(pace, motion.offset)
        if looks:
            motion = recentered(motion)
            if has_moving_ground:
                ground = with_step_start(ground, motion.origin, np.inf)
            scene = look(scene, ground, motion.origin, pace.far, movement.drop, 0.0)
        pace = one_less(pace, looks)
        movement_of_step, is_bound = movement, False
        if over_characters:
            is_bound, movement_of_step, motion = step_onto_character(
                crowd, movement, motion, pace, body, is_on_character
            )
        if motion.footing.walking:  # the most common step, in the scene that there is
            ahead, rest = walk_step(movement_of_step, motion, pace, scene, ground, log)
        else:
            scene, ahead, rest = take_step(movement_of_step, motion, pace, scene, ground, log)
        if crowded:
            scene, ahead, rest, initial_velocity = among_others(
                others,
                initial_velocity,
                movement_of_step,
                motion,
                pace,
                scene,
                ground,
                log,
                ahead,
                rest,
            )
        if over_characters:
            if is_bound:
                is_on_character, ahead = stand_on_character(
                    crowd, movement, before, ahead, pace.seconds, body, log, is_on_character
                )
            else:
                is_on_character = False
        motion, pace = ahead, rest
        put_three_at(hits, OWN, motion.velocity)
    hits[WORK], limit = done(scene.work), NO_LIMIT
    if is_spent(scene.work):
        scene, motion = cut_short(before, before_pace, scene, ground)
        put_three_at(hits, OWN, motion.velocity)
        limit = BY_WORK
    met_walls = motion.tally.hits > 0
    if has_met_others(crowd):
        own, radius = three_at(state, OWN_VELOCITY), upright_radius(body)
        motion = note_others(others, log, motion, own, radius)
    if is_pushed(crowd):
        motion = without_push(crowd, motion, initial_velocity)
        put_three_at(hits, OWN, motion.velocity)
    put_three_at(state, OWN_VELOCITY, three_at(hits, OWN))
    settle(state, movement, motion, scene, delta_time, limit)
    if over_characters and is_on_character:
        report_character_below(state, add(motion.origin, motion.offset), body)
    if has_moving_ground:
        settle_moving_base(state, rules, body, ground, moving_base, start, delta_time)
    else:
        state[BASE_PART] = state[GROUND_PART] if state[GROUNDED] != 0.0 else -1.0
    _remember_walls(
        state, crowd, movement, motion, scene, origin, scale(first_velocity, delta_time), met_walls
    )
    if motion.tally.hits > 0:
        find_steps(log, motion.tally.hits, movement, scene, ground)


@kernel(inline=True)
def _row(values: Floats, i: int, size: int) -> Floats:
    """Return the numbers of one character."""
    return values[i * size : (i + 1) * size]


@kernel(inline=True, no_refcount=True)
def _sleeps(state: Floats, rules: Floats) -> bool:
    """Tell whether a character sleeps; if so, clear the report of the update before its sleep."""
    sleeps = is_asleep(state, rules)
    if sleeps:
        state[ROUNDS] = state[LIFTED] = state[HITS] = 0.0
        state[WAS_GROUNDED] = 1.0
    return sleeps


@kernel
def update_characters(
    states: Floats,
    random_states: UInt64s,
    rules: Floats,
    hits: Floats,
    crowd: Floats,
    delta_time: float,
    first: int,
    last: int,
    table: Int64s,
) -> bool:
    """Advance characters first..last by one update.

    ``states`` (n * STATE_SIZE,), ``random_states`` (n,), ``rules`` (n * RULES_SIZE,) and ``hits``
    (n * HITS_SIZE,): the rows of all characters, one after another. ``crowd`` (n * CROWD_SIZE,):
    the constraints of each, as of `put_half_planes`; empty (0,) if each is as if it were alone. A
    sleeping character that nothing disturbed stays as it is, bit for bit, and so does one that
    wakes with the same contact signature. Tells whether any hit something.
    """
    states, random_states, rules = borrow(states), borrow(random_states), borrow(rules)
    hits, crowd = borrow(hits), borrow(crowd)
    moves = moves_counted(table)
    while (
        first < last
        and not is_pushed(_row(crowd, first, CROWD_SIZE))
        and _sleeps(_row(states, first, STATE_SIZE), _row(rules, first, RULES_SIZE))
    ):
        if moves > 0.0:
            ignore_moves(_row(states, first, STATE_SIZE), moves)
        first += 1
    if first == last:
        return False  # without memory: most characters sleep most of the time
    memory, any_hits = make_memory(), False
    for i in range(first, last):
        state, own_rules = _row(states, i, STATE_SIZE), _row(rules, i, RULES_SIZE)
        draws, own_memory = random_states[i : i + 1], borrow_memory(memory)
        ground = ground_at(table, int(own_rules[MASK]), own_memory.part_shifts)
        own_crowd = _row(crowd, i, CROWD_SIZE)
        pushed = is_pushed(own_crowd)
        if not pushed and _sleeps(state, own_rules):
            if moves > 0.0:
                ignore_moves(state, moves)
            continue
        begin(own_memory.work, 0.0)
        may_sleep = not (pushed or (has_movers(ground) and is_disturbed(state, own_rules, ground)))
        if may_sleep and stays_asleep(state, own_rules, draws, ground, own_memory):
            ignore_moves(state, moves)
            continue
        own_hits = _row(hits, i, HITS_SIZE)
        end_part_shifts(own_memory.part_shifts, 0)
        if i + 1 < last:
            fetch_ahead(ground, three_at(_row(states, i + 1, STATE_SIZE), POSITION))
        advance(state, draws, own_rules, own_hits, own_crowd, ground, delta_time, own_memory)
        end_part_shifts(own_memory.part_shifts, 0)
        note_contact_signature(state, own_rules, draws, ground, own_memory)
        see_moves(state, moves)
        any_hits = any_hits or state[HITS] > 0.0
    keep(memory)
    return any_hits
