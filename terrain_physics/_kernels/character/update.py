"""One update of a character, and of many.

In this order:

 1. `is_asleep`, `stays_asleep`: leave a sleeping body as it is; all others `advance`:
 2. `teleport_or_nudge`: see where the game has put the body since the last update.
 3. `find_dropped`, `find_moving_base`: find the one-way part that the body drops through, and the
    moving part that it stands on, or is thrown off. All that if not `is_left_alone` by them.
 4. `carry_and_squeeze`, `leave_solids`: let it carry the body, and other moving parts push and
    squeeze it; then take the body out of a solid mesh that its center is inside of, or some way.
 5. `begin_motion`: read rules and initial velocity, and cut the time into steps.
 6. `look`: gather the triangles near the body (broad phase); again where a step `must_look`.
 7. `depenetrate`: take the body out of what it was put into; deep below it can only `rise`.
    `find_footing`: a body that was put onto walkable ground stands there.
 8. `take_steps`: for each step,
 9.     `walk_step`: along the ground; up a step (`climb`), through a crease (`follow_crease`),
10.     or `fly_step`: through the air, to the time of impact (`stop_at_impact`, `land`);
11.     `step_among_others`: the same within the half-planes of a crowd, and over characters below.
12. `end_among_others`: note the characters that were hit, and take the push out of the velocity;
    `remember_encounters`: keep who is touched, and how far the heading turns among others.
13. `settle`, `report_character_below`: write place, velocity and ground to the state.
14. `remember_walls`, `find_steps`: keep the walls for the crowd, and tell steps among the hits.
15. `settle_moving_base`, `note_contact_signature`: make ready for the next update, or for sleep.
"""

from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._intrinsics import borrow, keep, replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.body import upright_radius
from terrain_physics._kernels.character.contacts.one_way import find_dropped
from terrain_physics._kernels.character.contacts.scene import (
    Memory,
    Scene,
    borrow_memory,
    empty_scene,
    look,
    make_memory,
)
from terrain_physics._kernels.character.leave_solids import leave_solids, report_shut_in
from terrain_physics._kernels.character.moving_base.moving_base import (
    MovingBase,
    find_moving_base,
    ignore_moves,
    no_moving_base,
    see_moves,
    settle_moving_base,
    stays_alone,
)
from terrain_physics._kernels.character.moving_base.squeeze import (
    carry_and_squeeze,
    is_disturbed,
    is_left_alone,
)
from terrain_physics._kernels.character.needs import is_bound, is_left_out, strays
from terrain_physics._kernels.character.others.half_planes import (
    CROWD_SIZE,
    has_met_others,
    has_turn,
    is_pushed,
)
from terrain_physics._kernels.character.others.standing_on_characters import (
    is_over_characters,
    report_character_below,
)
from terrain_physics._kernels.character.others.touched import remembers_others
from terrain_physics._kernels.character.others.walls import remember_walls
from terrain_physics._kernels.character.reports.hits import HITS_SIZE, OWN, HitLog, find_steps
from terrain_physics._kernels.character.reports.settle import settle
from terrain_physics._kernels.character.rescue import depenetrate, rise
from terrain_physics._kernels.character.sleep.sleep import (
    is_asleep,
    note_contact_signature,
    stays_asleep,
)
from terrain_physics._kernels.character.state import layout as at
from terrain_physics._kernels.character.state.layout import (
    center_at,
    put_three_at,
    three_at,
    unpack_body,
)
from terrain_physics._kernels.character.state.motion import Motion, MovementRules
from terrain_physics._kernels.character.state.substeps import Pace
from terrain_physics._kernels.character.state.teleport import teleport_or_nudge
from terrain_physics._kernels.character.state.work import STEP, begin, is_spent, spend
from terrain_physics._kernels.character.steps.first_step import find_footing
from terrain_physics._kernels.character.steps.step_among_others import (
    Others,
    end_among_others,
    remember_encounters,
    velocity_with_push,
)
from terrain_physics._kernels.character.steps.take_steps import begin_motion, take_steps
from terrain_physics._kernels.ground.candidates import fetch_ahead
from terrain_physics._kernels.ground.movers import (
    COUNT_OF_MOVES,
    begin_looks,
    end_part_shifts,
    put_dropped,
)
from terrain_physics._kernels.ground.table import (
    GroundTable,
    ground_at,
    has_movers,
    movers_of,
    moves_counted,
    with_step_start,
)
from terrain_physics._kernels.math.vec3 import Vec3, add, scale, subtract
from terrain_physics._kernels.types import Floats, Int64s, UInt64s


class _Character(NamedTuple):
    """The rows of one character. An update writes to all of them except the rules."""

    state: Floats  # (STATE_SIZE,)
    random_state: UInt64s  # (1,), where the resolver draws
    rules: Floats  # (RULES_SIZE,)
    hits: Floats  # (HITS_SIZE,)
    crowd: Floats  # (CROWD_SIZE,); empty if it ignores others


class _InitialPath(NamedTuple):
    """The initial motion carried on for an update, without gravity and friction."""

    start: Vec3  # of the body's center, in meters in the world
    displacement: Vec3  # in meters


@kernel(noinline=True)
def advance(character: _Character, ground: GroundTable, delta_time: float, memory: Memory) -> None:
    """Advance a character by one update, even if it sleeps; see the top of this file."""
    state, rules, log = character.state, character.rules, HitLog(character.hits)
    body = unpack_body(rules)
    is_teleported = teleport_or_nudge(state, rules, body)
    is_new = state[at.MOVES_SEEN] < 0.0  # it may be put into anything, and takes any way out
    moving_base, has_moving_ground = no_moving_base(state), _concerns_moving_parts(state, ground)
    scene = empty_scene(body, int(rules[at.RESOLVER]), character.random_state, memory)
    spot, is_alone = center_at(state, rules), False
    if has_moving_ground:
        moving_base, is_alone = _meet_parts(character, scene, ground, delta_time, is_teleported)
        ground = with_step_start(ground, spot, float(state[at.MOVES_SEEN]))
    leaving = leave_solids(state, rules, scene, ground, delta_time)
    place, center = three_at(state, at.POSITION), center_at(state, rules)
    carried, stays = subtract(center, spot), rules[at.KEEP_OFF_LEDGES] != 0.0
    others = Others(character.crowd, spot, carried, stays, delta_time)
    movement, motion, pace = begin_motion(state, rules, body, others, delta_time)
    movement = replaced(movement, guarded=not is_new, jammed=movement.jammed and not is_new)
    motion = replaced(motion, tally=replaced(motion.tally, lifted=leaving.moved))
    path = _InitialPath(motion.origin, scale(motion.velocity, delta_time))
    scene = look(scene, ground, motion.origin, pace.far, movement.drop, 0.0)
    left, stood = leaving.left, False
    is_rising = leaving.moved > 0.0 or leaving.depth > 0.0  # who is shut in stays where it is
    if not is_rising:
        scene, motion, left = depenetrate(
            state, movement, motion, pace, scene, ground, delta_time, is_teleported
        )
    if is_rising or left > 0.0:
        rise(state, scene, motion, left, delta_time)
    else:
        stood = _take_steps_and_settle(
            state, others, movement, path, motion, pace, scene, ground, log
        )
    if leaving.depth > 0.0:
        report_shut_in(state, leaving.depth)
    if has_moving_ground and not (is_alone and stays_alone(state, ground, moving_base)):
        settle_moving_base(state, rules, body, ground, moving_base, place, delta_time)
    elif not has_moving_ground and left == 0.0:
        state[at.BASE_PART] = state[at.GROUND_PART] if state[at.GROUNDED] != 0.0 else -1.0
    if stood:
        state[at.WAS_GROUNDED] = 1.0


@kernel(inline=True, no_refcount=True)
def _concerns_moving_parts(state: Floats, ground: GroundTable) -> bool:
    """Tell whether moving parts concern a body: now, or by a base or debt of its last update."""
    is_squeezed = state[at.SQUEEZED_BY] >= 0.0 or state[at.SQUEEZED_BY + 1] >= 0.0
    return has_movers(ground) or state[at.ON_MOVING_BASE] != 0.0 or is_squeezed


@kernel(inline=True, no_refcount=True)
def _velocity_in_air(character: _Character, delta_time: float) -> Vec3:
    """Return the velocity with which a body in the air flies on, which others may have changed."""
    velocity = three_at(character.state, at.VELOCITY)
    if not is_pushed(character.crowd):
        return velocity
    center = center_at(character.state, character.rules)
    others = Others(character.crowd, center, (0.0, 0.0, 0.0), False, delta_time)
    return velocity_with_push(others, velocity[1])


@kernel(inline=True)
def _meet_parts(
    character: _Character,
    scene: Scene,
    ground: GroundTable,
    delta_time: float,
    is_teleported: bool,
) -> tuple[MovingBase, bool]:
    """Let a body drop through a part, and moving parts carry and push it, unless none is near.

    Returns its moving base, and whether it was left alone.
    """
    state, rules, body = character.state, character.rules, scene.body
    center, velocity = center_at(state, rules), _velocity_in_air(character, delta_time)
    if is_left_alone(state, rules, body.half_extents, ground, velocity, delta_time):
        spend(scene.work, STEP)
        return no_moving_base(state), True
    find_dropped(state, body, center, ground, scene.candidates, scene.work)
    return _carry(character, scene, ground, delta_time, is_teleported), False


@kernel(noinline=True)
def _carry(
    character: _Character,
    scene: Scene,
    ground: GroundTable,
    delta_time: float,
    is_teleported: bool,
) -> MovingBase:
    """Let moving parts carry, push and squeeze a body; return its moving base.

    For a body in the air this is the part that hit it.
    """
    state, rules = character.state, character.rules
    is_put = is_teleported or state[at.MOVES_SEEN] < 0.0
    if state[at.MOVES_SEEN] < 0.0:
        ignore_moves(state, float(movers_of(ground)[0, COUNT_OF_MOVES]))
    body, center = scene.body, center_at(state, rules)
    moving_base = find_moving_base(state, rules, body, ground, delta_time, is_teleported)
    ground = with_step_start(ground, center, float(state[at.MOVES_SEEN]))
    velocity = _velocity_in_air(character, delta_time)
    return carry_and_squeeze(state, rules, scene, ground, moving_base, velocity, delta_time, is_put)


@kernel(inline=True)
def _take_steps_and_settle(
    state: Floats,
    others: Others,
    movement: MovementRules,
    path: _InitialPath,
    motion: Motion,
    pace: Pace,
    scene: Scene,
    ground: GroundTable,
    log: HitLog,
) -> bool:
    """Take the steps of an update, and write its results: state, hits, and walls near the body.

    Tells whether a body that was put on ground still stands, so that it has not landed.
    """
    crowd, stood = others.crowd, False
    if not (movement.guarded or motion.footing.grounded):
        stood, motion = find_footing(movement, motion, pace, scene)
    was_on_character = state[at.GROUND_KIND] == at.ON_CHARACTER
    put_three_at(log.rows, OWN, three_at(state, at.OWN_VELOCITY))
    if not is_spent(scene.work):
        begin(scene.work, 0.0)  # depenetration must not shorten the budget of the steps
    scene, ground, motion, encounter, limit = take_steps(
        others, movement, motion, pace, scene, ground, log, was_on_character
    )
    met_walls = motion.tally.hits > 0
    if has_met_others(crowd):
        radius = upright_radius(scene.body)
        motion = end_among_others(others, encounter, log, motion, radius)
    if remembers_others(state, crowd):
        remember_encounters(state, others, motion)
    put_three_at(state, at.OWN_VELOCITY, motion.velocity)
    settle(state, movement, motion, scene, others.seconds, limit)
    center = add(motion.origin, motion.offset)
    if is_over_characters(crowd) and encounter.is_on_character:
        report_character_below(state, center, scene.body)
    aside = subtract(subtract(center, path.start), path.displacement)
    walkable, step = movement.walkable, movement.step_height
    remember_walls(state, crowd, scene, motion.offset, walkable, step, aside, met_walls)
    if motion.tally.hits > 0:
        find_steps(log, motion.tally.hits, movement, scene, ground)
    return stood and motion.footing.grounded


@kernel(inline=True)
def _row(values: Floats, i: int, size: int) -> Floats:
    """Return the numbers of one character."""
    return values[i * size : (i + 1) * size]


@kernel(inline=True, no_refcount=True)
def _sleeps_on(state: Floats, rules: Floats, crowd: Floats, moves: float) -> bool:
    """Tell whether a character sleeps through an update; if so, clear its last reports."""
    if is_pushed(crowd) or not is_asleep(state, rules):
        return False
    state[at.ROUNDS] = state[at.LIFTED] = state[at.HITS] = 0.0
    state[at.WAS_GROUNDED] = 1.0
    if moves > 0.0:
        ignore_moves(state, moves)
    return True


@kernel(inline=True)
def _update(
    character: _Character, ground: GroundTable, delta_time: float, moves: float, memory: Memory
) -> bool:
    """Advance a character unless it still sleeps after a check; tell whether it hit something."""
    state, draws, rules = character.state, character.random_state, character.rules
    begin(memory.work, 0.0)
    rests = state[at.CONTACT_SIGNATURE] != 0.0 and not is_pushed(character.crowd)
    if rests and has_movers(ground) and is_disturbed(state, rules, ground):
        rests = False
    if rests and stays_asleep(state, rules, draws, ground, memory):
        ignore_moves(state, moves)
        return False
    end_part_shifts(memory.part_shifts, 0)
    advance(character, ground, delta_time, memory)
    end_part_shifts(memory.part_shifts, 0)
    put_dropped(memory.part_shifts, -1.0, (0.0, 0.0, 0.0))
    put_three_at(state, at.LAST_PLACE, three_at(state, at.POSITION))
    note_contact_signature(state, rules, draws, ground, memory)
    see_moves(state, moves)
    return bool(state[at.HITS] > 0.0)


@kernel(inline=True, no_refcount=True)
def _keep(state: Floats, kept: Floats) -> None:
    """Copy the numbers of a state to ``kept``, or back."""
    for k in range(at.STATE_SIZE):
        kept[k] = state[k]


@kernel(inline=True, no_refcount=True)
def _is_passed_over(
    state: Floats, rules: Floats, hits: Floats, crowd: Floats, moves: float
) -> bool:
    """Tell whether an update leaves a character as it is: out of turn, asleep, or left out."""
    return not has_turn(crowd) or is_left_out(hits) or _sleeps_on(state, rules, crowd, moves)


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
    (n * HITS_SIZE,) are the rows of all characters, one after another. ``crowd`` (n * CROWD_SIZE,)
    holds the constraints of each, as of `put_half_planes`, and only those move whose turn it is; it
    is empty (0,) if characters ignore each other. A sleeping character that nothing disturbed stays
    the same, bit for bit, and so does one that wakes with the same contact signature, one that is
    marked to wait, and one that would look beyond its box, see `needs.py`. Tells whether any
    character hit something.
    """
    states, random_states, rules = borrow(states), borrow(random_states), borrow(rules)
    hits, crowd = borrow(hits), borrow(crowd)
    moves = moves_counted(table)
    while first < last:
        state, own_rules = _row(states, first, at.STATE_SIZE), _row(rules, first, at.RULES_SIZE)
        own_crowd, own_hits = _row(crowd, first, CROWD_SIZE), _row(hits, first, HITS_SIZE)
        if not _is_passed_over(state, own_rules, own_hits, own_crowd, moves):
            break
        first += 1
    if first == last:
        return False  # saves the memory: most characters sleep most of the time
    memory, kept, any_hits = make_memory(), np.empty(at.STATE_SIZE), False
    before = borrow(kept)
    for i in range(first, last):
        state, own_rules = _row(states, i, at.STATE_SIZE), _row(rules, i, at.RULES_SIZE)
        own_crowd, own_hits = _row(crowd, i, CROWD_SIZE), _row(hits, i, HITS_SIZE)
        if _is_passed_over(state, own_rules, own_hits, own_crowd, moves):
            continue
        own_memory = borrow_memory(memory)
        ground = ground_at(table, int(own_rules[at.MASK]), own_memory.part_shifts)
        if i + 1 < last:
            fetch_ahead(ground, three_at(_row(states, i + 1, at.STATE_SIZE), at.POSITION))
        character = _Character(state, random_states[i : i + 1], own_rules, own_hits, own_crowd)
        bound, draw = is_bound(own_hits), random_states[i]
        if bound:
            _keep(state, before)
            begin_looks(own_memory.part_shifts)
        hits_something = _update(character, ground, delta_time, moves, own_memory)
        if bound and strays(own_hits, own_memory.part_shifts):
            _keep(before, state)
            random_states[i], hits_something = draw, False
        any_hits = hits_something or any_hits
    keep(memory)
    keep(kept)
    return any_hits
