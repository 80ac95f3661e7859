"""One update of one character: rise if buried, then walk or fly step by step, and settle."""

import math

import numpy as np

from terrain_physics._kernels._intrinsics import borrow, keep
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.body import CONTACT_MARGIN, SLOP
from terrain_physics._kernels.character.grounding import (
    COSINE_SLACK,
    add_plane,
    along_planes,
    ground_by_planes,
    ground_by_sum,
    settle_velocity,
)
from terrain_physics._kernels.character.layout import (
    AIR_TIME,
    AIRBORNE,
    CONTACTS,
    CONVERGED,
    DRIVEN,
    FRICTION,
    GRAVITY,
    GRAVITY_SCALE,
    GROUND_NORMAL,
    GROUND_RULE,
    GROUNDED,
    LANDING_SPEED,
    LIFTED,
    MAX_ROUNDS,
    MOVED,
    OFFSET,
    PENETRATION,
    POSITION,
    RESOLVER,
    ROUNDS,
    RULE_SUM,
    RULES_SIZE,
    SLOPE_COSINE,
    SNAP,
    STATE_SIZE,
    STEP_FOOT,
    STEP_OFFSET,
    STEPPING,
    SURFACE_SPEED,
    UNDISTURBED,
    VELOCITY,
    WALKABLE,
    put_three_at,
    three_at,
    unpack_body,
)
from terrain_physics._kernels.character.report import kind_of_ground, planes_touched, report_ground
from terrain_physics._kernels.character.resolve import (
    Memory,
    borrow_memory,
    clearing_lift,
    is_buried,
    list_contacts,
    make_memory,
    resolve,
    stop_at_side,
    touched_normals,
)
from terrain_physics._kernels.character.substeps import (
    STEPS_TOGETHER,
    cut,
    extent,
    look,
    most_upright,
    not_into_steep,
    over_surface,
)
from terrain_physics._kernels.character.walk import (
    BLOCKED,
    OFF_GROUND,
    stays_on_ground,
    step_up,
    support,
    walk,
)
from terrain_physics._kernels.math.vec3 import add, add_scaled, length, scale, subtract
from terrain_physics._kernels.surface.ground_arrays import Ground, ground_at
from terrain_physics._kernels.surface.shapes import BOX
from terrain_physics._kernels.types import Floats, Longs, Words

# How often in a step a body that is pushed away looks at the ground again.
MOST_LOOKS = 16

# Depth that may stay at the end of an update that counts as converged, in meters.
CONVERGED_DEPTH = 1e-5

# How fast a body comes out of the ground from deep below, in m/s; and how far in any update.
RESCUE_SPEED = 30.0
RESCUE_STEP = 0.3


@kernel(apart=True)
def advance(
    state: Floats,
    random_state: Words,
    rules: Floats,
    ground: Ground,
    delta_time: float,
    memory: Memory,
) -> None:
    """Advance ``state`` by one update, whether at rest or not."""
    gravity = float(rules[GRAVITY]) * float(rules[GRAVITY_SCALE])
    body = unpack_body(rules)
    center = three_at(rules, OFFSET)
    cosine = float(rules[SLOPE_COSINE])
    walkable = cosine - COSINE_SLACK
    by_sum = int(rules[GROUND_RULE]) == RULE_SUM
    resolver, max_rounds = int(rules[RESOLVER]), int(rules[MAX_ROUNDS])
    # Whom the game put somewhere is not drawn to the ground below.
    snap = float(rules[SNAP]) if state[MOVED] != 1.0 else 0.0
    step_height = min(float(rules[STEP_OFFSET]), body.reach[1])

    position, velocity = three_at(state, POSITION), three_at(state, VELOCITY)
    was_grounded = state[GROUNDED] != 0.0
    grounded, normal = was_grounded, three_at(state, GROUND_NORMAL)
    stepping, step_foot = state[STEPPING] != 0.0, float(state[STEP_FOOT])
    walking = grounded and velocity[1] <= 0.0 and gravity > 0.0 and not by_sum
    if walking:
        velocity = (velocity[0], 0.0, velocity[2])
    else:
        velocity = (velocity[0], velocity[1] - gravity * delta_time, velocity[2])
    substeps, leaps, reach, far = cut(length(velocity) * delta_time, body.least)
    part = delta_time / substeps
    drop = snap * min(STEPS_TOGETHER, substeps)

    base = add(position, center)
    scene = look(ground, base, body, far, drop, 0.0, resolver, random_state, memory)
    offset = (0.0, 0.0, 0.0)
    count, deepest, most_rounds, total_lift, landing = 0, 0.0, 0, 0.0, 0.0
    if not was_grounded or state[MOVED] != 0.0:
        if is_buried(scene, offset):
            up = clearing_lift(scene, offset, True)
            most = max(RESCUE_STEP, RESCUE_SPEED * delta_time)
            if up > most:
                put_three_at(state, POSITION, add(position, (0.0, most, 0.0)))
                put_three_at(state, VELOCITY, (0.0, 0.0, 0.0))
                state[GROUNDED] = state[CONTACTS] = state[CONVERGED] = state[ROUNDS] = 0.0
                state[PENETRATION], state[LIFTED] = up - most, most
                state[UNDISTURBED], state[DRIVEN], state[MOVED] = 1.0, 0.0, 0.0
                state[AIR_TIME] += delta_time
                report_ground(state, ground.frames, scene, base, 0, (0.0, 0.0, 0.0), AIRBORNE)
                return
            offset = (0.0, up, 0.0)
            total_lift = up
        if walking:
            offset, _, count, deepest, most_rounds, lifted = resolve(scene, offset, max_rounds)
            total_lift += lifted
    since_look, substep = 0, 0
    while substep < substeps:
        substep += 1
        if leaps or since_look == STEPS_TOGETHER or extent(offset) > far - reach:
            since_look = 0
            base, offset = add(base, offset), (0.0, 0.0, 0.0)
            if leaps:
                offset = scale(velocity, -part)
                base = subtract(base, offset)
            scene = look(ground, base, body, far, drop, 0.0, resolver, random_state, memory)
        since_look += 1
        if walking:
            ahead = (velocity[0] * part, 0.0, velocity[2] * part)
            if rules[SURFACE_SPEED] != 0.0:
                ahead = over_surface(ahead, normal)
            ended, reached, planes, count, deepest, rounds = walk(
                scene, offset, ahead, reach, snap, walkable, max_rounds
            )
            most_rounds = max(most_rounds, rounds)
            if (
                step_height > 0.0
                and (ended == BLOCKED or (ended == OFF_GROUND and stepping))
                and (ahead[0] != 0.0 or ahead[2] != 0.0)
            ):
                # Heights of the foot are kept in the world's frame, from update to update.
                if not stepping:
                    # A round body on the edge of a step hangs over it a little.
                    round_off = 0.0
                    if body.kind != BOX and normal[1] >= walkable:
                        round_off = body.radius * (1.0 - normal[1])
                    step_foot = base[1] + (offset[1] - body.reach[1]) + round_off
                highest = step_foot - base[1] + step_height + CONTACT_MARGIN
                into = subtract(add(offset, ahead), (reached[0], offset[1], reached[2]))
                # The scene's own memory holds the contacts of the walk.
                around = look(
                    ground,
                    base,
                    body,
                    far,
                    drop,
                    step_height,
                    resolver,
                    random_state,
                    make_memory(),
                )
                stepping, reached_up = step_up(
                    around, offset, ahead, into, reach, highest, walkable
                )
                if stepping:
                    offset = reached_up
                    since_look = STEPS_TOGETHER
                    continue
            stepping = False
            offset = reached
            if planes > 0:
                velocity = along_planes(scene.planes, planes, velocity)
            touched = planes_touched(scene, count)
            on_planes, plane = ground_by_planes(scene.planes, touched, cosine)
            if on_planes:
                normal = plane
            if ended == OFF_GROUND and not on_planes:
                walking = grounded = False
                left = part * (substeps - substep)
                velocity = (velocity[0], -gravity * left, velocity[2])
                if substep < substeps:  # it falls faster than it walked
                    substep, since_look = 0, STEPS_TOGETHER
                    substeps, leaps, reach, far = cut(length(velocity) * left, body.least)
                    part = left / substeps
            continue
        if not by_sum:
            velocity = not_into_steep(scene, offset, velocity, walkable)
        before = offset
        moved = add_scaled(offset, velocity, part)
        blocked, moved, wall = stop_at_side(scene, offset, moved)
        offset, planes, count, deepest, rounds, lifted = resolve(scene, moved, max_rounds)
        looks = 0
        while extent(offset) > far and looks < MOST_LOOKS:
            # Pushed to where it has not looked yet.
            looks += 1
            base, offset = add(base, offset), (0.0, 0.0, 0.0)
            wide = far + body.least * looks
            scene = look(ground, base, body, wide, drop, 0.0, resolver, random_state, memory)
            offset, planes, count, deepest, more, lifted_more = resolve(scene, offset, max_rounds)
            rounds, lifted = rounds + more, lifted + lifted_more
        if blocked:
            planes = add_plane(scene.planes, planes, wall)
        stuck = False
        if deepest > CONVERGED_DEPTH and looks == 0:
            count, depth_before, overlapping = list_contacts(scene, before)
            stuck = max(depth_before, overlapping) < deepest
            if stuck:
                offset, lifted, deepest = before, 0.0, max(depth_before, overlapping)
                planes = planes_touched(scene, count)
            else:
                count, _, _ = list_contacts(scene, offset)
        most_rounds = max(most_rounds, rounds)
        total_lift += lifted
        if by_sum:
            touched, total = touched_normals(scene, offset)
            grounded, normal = ground_by_sum(touched, total, cosine)
        else:
            grounded, normal = ground_by_planes(scene.planes, planes, cosine)
        falling = -velocity[1]
        if stuck:  # no way out ahead: it stays where it was
            velocity = (0.0, 0.0, 0.0)
        slid = settle_velocity(scene.planes, planes, velocity, False)
        velocity = settle_velocity(scene.planes, planes, velocity, grounded)
        if grounded and gravity > 0.0 and not by_sum:
            if falling >= 0.0:
                # From now on it walks: what would be its way up a slope is no jump.
                velocity = (velocity[0], 0.0, velocity[2])
                if most_upright(scene, planes) >= walkable:
                    ahead = scale(velocity, part)
                    grounded = stays_on_ground(scene, offset, ahead, reach, snap, walkable)
                    count, _, _ = list_contacts(scene, offset)
            elif velocity[1] > 0.0:
                grounded = False  # it brushes a slope on its way up
            if not grounded:
                velocity = slid
        if grounded:
            landing = max(landing, falling)
            if not by_sum:  # contacts reach a little farther than what really touches
                down, _ = support(scene, offset, -2.0 * CONTACT_MARGIN, walkable)
                if down < -SLOP and down > -np.inf:
                    offset = add(offset, (0.0, down, 0.0))
            walking = gravity > 0.0 and velocity[1] <= 0.0 and not by_sum

    if grounded and state[DRIVEN] == 0.0:
        speed = math.sqrt(velocity[0] * velocity[0] + velocity[2] * velocity[2])
        left = speed - float(rules[FRICTION]) * delta_time
        keep = left / speed if left > 0.0 else 0.0
        velocity = (velocity[0] * keep, velocity[1], velocity[2] * keep)

    # What was not moved keeps its bits.
    if base == add(position, center):
        position = add(position, offset)
    else:
        position = subtract(add(base, offset), center)
    put_three_at(state, POSITION, position)
    put_three_at(state, VELOCITY, velocity)
    kind = WALKABLE if grounded else AIRBORNE
    if count > 0 and not (grounded and (by_sum or stepping)):
        kind, normal = kind_of_ground(scene, count, grounded, normal, walkable, by_sum)
    report_ground(state, ground.frames, scene, add(base, offset), count, normal, kind)
    state[GROUNDED] = 1.0 if grounded else 0.0
    put_three_at(state, GROUND_NORMAL, normal)
    state[CONTACTS] = count
    state[PENETRATION] = deepest
    state[CONVERGED] = 1.0 if deepest <= CONVERGED_DEPTH else 0.0
    state[ROUNDS] = most_rounds
    state[LIFTED] = total_lift
    state[UNDISTURBED], state[DRIVEN], state[MOVED] = 1.0, 0.0, 0.0
    if grounded:
        if not was_grounded:
            state[LANDING_SPEED] = landing + 0.0
        state[AIR_TIME] = 0.0
    else:
        state[AIR_TIME] += delta_time
    state[STEPPING] = 1.0 if grounded and stepping else 0.0
    state[STEP_FOOT] = step_foot if grounded and stepping else 0.0


@kernel(inline=True)
def _row(values: Floats, i: int, size: int) -> Floats:
    """Return the numbers of one character."""
    return values[i * size : (i + 1) * size]


@kernel(inline=True)
def _rests(state: Floats, rules: Floats) -> bool:
    """Tell whether a character stays where it is; what happened when it came to rest is no news."""
    rests = bool(
        state[UNDISTURBED] != 0.0
        and state[GROUNDED] != 0.0
        and state[VELOCITY] == 0.0
        and state[VELOCITY + 1] == 0.0
        and state[VELOCITY + 2] == 0.0
        and rules[GRAVITY] * rules[GRAVITY_SCALE] >= 0.0
    )
    if rests:
        state[ROUNDS] = state[LIFTED] = 0.0
    return rests


@kernel
def update_characters(
    states: Floats,
    random_states: Words,
    rules: Floats,
    delta_time: float,
    first: int,
    last: int,
    table: Longs,
) -> None:
    """Advance characters first..last by one update, each as if it were alone.

    ``states`` (n * STATE_SIZE,), ``random_states`` (n,) and ``rules`` (n * RULES_SIZE,): those of
    one character behind those of another. One at rest that nothing disturbed stays as it is, bit
    for bit.
    """
    states, random_states, rules = borrow(states), borrow(random_states), borrow(rules)
    while first < last and _rests(_row(states, first, STATE_SIZE), _row(rules, first, RULES_SIZE)):
        first += 1
    if first == last:
        return  # without memory: most characters rest most of the time
    ground, memory = ground_at(table), make_memory()
    for i in range(first, last):
        state, own_rules = _row(states, i, STATE_SIZE), _row(rules, i, RULES_SIZE)
        if not _rests(state, own_rules):
            draws = random_states[i : i + 1]
            advance(state, draws, own_rules, ground, delta_time, borrow_memory(memory))
    keep(memory)
