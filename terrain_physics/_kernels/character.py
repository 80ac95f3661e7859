"""One update of one character: rise if buried, then walk or fly step by step, and settle."""

import math

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels._jit import borrow, keep, kernel
from terrain_physics._kernels.body import (
    BOX,
    CAPSULE,
    CONTACT_MARGIN,
    SLOP,
    Body,
    reach_along,
)
from terrain_physics._kernels.grid import COLUMNS, FRAME_SIZE, Cells, Floats, Heights
from terrain_physics._kernels.ground import (
    COLUMN,
    HALF,
    MESH_PART,
    PART,
    ROW,
    Ground,
    Ints,
    Singles,
    borrow_ground,
    gather_candidates,
    three,
)
from terrain_physics._kernels.ground_state import (
    COSINE_SLACK,
    add_plane,
    along_planes,
    ground_by_planes,
    ground_by_sum,
    settle_velocity,
)
from terrain_physics._kernels.resolve import (
    CANDIDATE,
    PUSH,
    Memory,
    Scene,
    as_wall,
    borrow_memory,
    clearing_lift,
    is_buried,
    list_contacts,
    make_memory,
    make_scene,
    resolve,
    stop_at_side,
    touched_normals,
)
from terrain_physics._kernels.vec3 import (
    Mat3,
    Vec3,
    add,
    add_scaled,
    dot,
    length,
    scale,
    subtract,
)
from terrain_physics._kernels.walk import (
    BLOCKED,
    OFF_GROUND,
    stays_on_ground,
    step_up,
    support,
    walk,
)

# Places in the array of what changes from update to update.
POSITION, VELOCITY, GROUNDED, GROUND_NORMAL = 0, 3, 6, 7
CONTACTS, PENETRATION, CONVERGED, ROUNDS, LIFTED = 10, 11, 12, 13, 14
UNDISTURBED, DRIVEN, MOVED = 15, 16, 17  # left alone by the game; velocity set; place or shape set
GROUND_KIND, GROUND_POINT, GROUND_PART, GROUND_TRIANGLE = 18, 19, 22, 23
AIR_TIME, LANDING_SPEED, GROUND_VERSION = 24, 25, 26
STEPPING, STEP_FOOT = 27, 28  # whether on the way up a step; how high the foot was before
STATE_SIZE = 29

# Kinds of ground.
AIRBORNE, STEEP, WEDGED, WALKABLE = 0, 1, 2, 3

# Places in the array of what the game sets: the shape in the world, and the rules.
KIND, EXTENTS, OFFSET, ROTATION = 0, 1, 4, 7
GRAVITY, GRAVITY_SCALE, SLOPE_LIMIT, SLOPE_COSINE = 16, 17, 18, 19
GROUND_RULE, FRICTION, MAX_ROUNDS = 20, 21, 22
RESOLVER, SNAP, STEP_OFFSET, SURFACE_SPEED = 23, 24, 25, 26
RULES_SIZE = 27

RULE_CONTACT, RULE_SUM = 0, 1

# A step moves a body by at most this part of its least half extent, so that its center never
# passes a surface unseen.
STEP_PART = 0.5
MAX_SUBSTEPS = 20_000

# Steps that share one look at the ground.
STEPS_TOGETHER = 4

# How often in a step a body that is pushed away looks at the ground again.
MOST_LOOKS = 16

# Depth that may stay at the end of an update that counts as converged, in meters.
CONVERGED_DEPTH = 1e-5

# How fast a body comes out of the ground from deep below, in m/s; and how far in any update.
RESCUE_SPEED = 30.0
RESCUE_STEP = 0.3


@kernel(inline=True)
def _three(values: Floats, start: int) -> Vec3:
    return (float(values[start]), float(values[start + 1]), float(values[start + 2]))


@kernel(inline=True)
def _put_three(values: Floats, start: int, v: Vec3) -> None:
    values[start] = v[0]
    values[start + 1] = v[1]
    values[start + 2] = v[2]


@kernel(inline=True)
def _extent(v: Vec3) -> float:
    return max(abs(v[0]), abs(v[1]), abs(v[2]))


@kernel
def unpack_body(rules: Floats) -> Body:
    """Return the shape that the rules hold."""
    kind = int(rules[KIND])
    e = _three(rules, EXTENTS)
    x, y, z = _three(rules, ROTATION), _three(rules, ROTATION + 3), _three(rules, ROTATION + 6)
    m: Mat3 = (x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2])
    axis = (0.0, 0.0, 0.0)
    reach, radius, least = e, e[0], min(e[0], e[1], e[2])
    if kind == CAPSULE:
        axis = (m[1] * e[1], m[4] * e[1], m[7] * e[1])
        if axis[1] < 0.0:
            axis = scale(axis, -1.0)
        reach = (abs(axis[0]) + radius, abs(axis[1]) + radius, abs(axis[2]) + radius)
        e, least = (0.0, e[1], 0.0), radius
    elif kind == BOX:
        reach = (
            abs(m[0]) * e[0] + abs(m[1]) * e[1] + abs(m[2]) * e[2],
            abs(m[3]) * e[0] + abs(m[4]) * e[1] + abs(m[5]) * e[2],
            abs(m[6]) * e[0] + abs(m[7]) * e[1] + abs(m[8]) * e[2],
        )
    return Body(kind, radius, e, m, axis, reach, least)


@kernel(apart=True)
def _look(
    ground: Ground,
    base: Vec3,
    body: Body,
    far: float,
    drop: float,
    step: float,
    resolver: int,
    random_state: NDArray[np.uint64],
    memory: Memory,
) -> Scene:
    """Return the scene around a body that may move by ``far`` any way, and down by ``drop``."""
    wide = (body.reach[0] + far, body.reach[1] + far, body.reach[2] + far)
    if step > 0.0:  # a step is looked for beyond the body
        wide = (2.0 * wide[0], wide[1] + step, 2.0 * wide[2])
    lower = subtract(base, (wide[0], wide[1] + drop, wide[2]))
    candidates, count = gather_candidates(ground, base, lower, add(base, wide), memory.candidates)
    return make_scene(candidates, count, body, resolver, random_state, memory)


@kernel
def _cut(way: float, least: float) -> tuple[int, bool, float, float]:
    """Return (steps to go a way in, whether they are leaps, how far one leads, and all together).

    Leaps are too long not to pass anything unseen: each looks at the ground where it ends.
    """
    step = STEP_PART * least
    substeps = max(math.ceil(min(way / step, float(MAX_SUBSTEPS))), 1)
    # More than the way: pushes and slopes may lead aside.
    reach = 2.0 * max(min(way / substeps, step), 0.1 * least)
    far = max(0.75 * min(STEPS_TOGETHER, substeps), 1.0) * reach
    return substeps, way / substeps > step * (1.0 + 1e-9), reach, far


@kernel
def _planes_touched(scene: Scene, count: int) -> int:
    planes = int(np.int64(0))
    for i in range(count):
        planes = add_plane(scene.planes, planes, three(scene.contacts, i, PUSH))
    return planes


@kernel
def _most_upright(scene: Scene, planes: int) -> float:
    """Return how upright the most upright of the planes is."""
    best = -1.0
    for i in range(planes):
        best = max(best, float(scene.planes[i, 1]))
    return best


@kernel(apart=True)
def _not_into_steep(scene: Scene, offset: Vec3, velocity: Vec3, cosine: float) -> Vec3:
    """Return a velocity whose horizontal part leads into no steep slope that is touched.

    Else the slope would turn pushing into climbing.
    """
    count, _, _ = list_contacts(scene, offset)
    planes = int(np.int64(0))
    for i in range(count):
        if 0.0 <= scene.contacts[i, PUSH + 1] < cosine:
            depth, wall = as_wall(1.0, three(scene.contacts, i, PUSH))
            if depth > 0.0:
                planes = add_plane(scene.planes, planes, wall)
    flat = along_planes(scene.planes, planes, (velocity[0], 0.0, velocity[2]))
    return (flat[0], velocity[1], flat[2])


@kernel
def _over_surface(way: Vec3, normal: Vec3) -> Vec3:
    """Return a horizontal way shortened so that along the surface it is as long as it was."""
    size = math.sqrt(way[0] * way[0] + way[2] * way[2])
    if size == 0.0 or not normal[1] > 0.0:
        return way
    rise = (normal[0] * way[0] + normal[2] * way[2]) / (size * normal[1])
    return scale(way, 1.0 / math.sqrt(1.0 + rise * rise))


@kernel(apart=True)
def _report_ground(
    state: Floats, frames: Floats, scene: Scene, center: Vec3, count: int, normal: Vec3, kind: int
) -> None:
    """Write what the body stands on or touches: kind, point, part and triangle."""
    state[GROUND_KIND] = kind
    state[GROUND_PART] = state[GROUND_TRIANGLE] = -1.0
    _put_three(state, GROUND_POINT, (0.0, 0.0, 0.0))
    if kind == AIRBORNE:
        return
    best = -1
    for i in range(count):
        if best < 0 or (
            dot(three(scene.contacts, i, PUSH), normal)
            > dot(three(scene.contacts, best, PUSH), normal)
        ):
            best = i
    deep = reach_along(scene.body, normal)
    _put_three(state, GROUND_POINT, add_scaled(center, normal, -deep))
    if best < 0:
        return
    k = int(scene.contacts[best, CANDIDATE])
    part, row, column = (
        int(scene.candidates[k, PART]),
        int(scene.candidates[k, ROW]),
        int(scene.candidates[k, COLUMN]),
    )
    state[GROUND_PART] = part
    if part == MESH_PART:
        state[GROUND_TRIANGLE] = row
    else:
        columns = int(frames[part * FRAME_SIZE + COLUMNS])
        rows = int(frames[part * FRAME_SIZE + COLUMNS - 1])
        if 0 <= row < rows and 0 <= column < columns:
            half = int(scene.candidates[k, HALF])
            state[GROUND_TRIANGLE] = 2 * (row * columns + column) + half


@kernel(apart=True)
def advance(
    state: Floats,
    random_state: NDArray[np.uint64],
    rules: Floats,
    ground: Ground,
    delta_time: float,
    memory: Memory,
) -> None:
    """Advance ``state`` by one update, whether at rest or not."""
    gravity = float(rules[GRAVITY]) * float(rules[GRAVITY_SCALE])
    body = unpack_body(rules)
    center = _three(rules, OFFSET)
    cosine = float(rules[SLOPE_COSINE])
    walkable = cosine - COSINE_SLACK
    by_sum = int(rules[GROUND_RULE]) == RULE_SUM
    resolver, max_rounds = int(rules[RESOLVER]), int(rules[MAX_ROUNDS])
    # Whom the game put somewhere is not drawn to the ground below.
    snap = float(rules[SNAP]) if state[MOVED] == 0.0 else 0.0
    step_height = min(float(rules[STEP_OFFSET]), body.reach[1])

    position, velocity = _three(state, POSITION), _three(state, VELOCITY)
    was_grounded = state[GROUNDED] != 0.0
    grounded, normal = was_grounded, _three(state, GROUND_NORMAL)
    stepping, step_foot = state[STEPPING] != 0.0, float(state[STEP_FOOT])
    walking = grounded and velocity[1] <= 0.0 and gravity > 0.0 and not by_sum
    if walking:
        velocity = (velocity[0], 0.0, velocity[2])
    else:
        velocity = (velocity[0], velocity[1] - gravity * delta_time, velocity[2])
    substeps, leaps, reach, far = _cut(length(velocity) * delta_time, body.least)
    part = delta_time / substeps
    drop = snap * min(STEPS_TOGETHER, substeps)

    base = add(position, center)
    scene = _look(ground, base, body, far, drop, 0.0, resolver, random_state, memory)
    offset = (0.0, 0.0, 0.0)
    count, deepest, most_rounds, total_lift, landing = 0, 0.0, 0, 0.0, 0.0
    if not was_grounded or state[MOVED] != 0.0:
        if is_buried(scene, offset):
            up = clearing_lift(scene, offset, True)
            most = max(RESCUE_STEP, RESCUE_SPEED * delta_time)
            if up > most:
                _put_three(state, POSITION, add(position, (0.0, most, 0.0)))
                _put_three(state, VELOCITY, (0.0, 0.0, 0.0))
                state[GROUNDED] = state[CONTACTS] = state[CONVERGED] = state[ROUNDS] = 0.0
                state[PENETRATION], state[LIFTED] = up - most, most
                state[UNDISTURBED], state[DRIVEN], state[MOVED] = 1.0, 0.0, 0.0
                state[AIR_TIME] += delta_time
                _report_ground(state, ground.frames, scene, base, 0, (0.0, 0.0, 0.0), AIRBORNE)
                return
            offset = (0.0, up, 0.0)
            total_lift = up
        if walking:
            offset, _, count, deepest, most_rounds, lifted = resolve(scene, offset, max_rounds)
            total_lift += lifted
    since_look, substep = 0, 0
    while substep < substeps:
        substep += 1
        if leaps or since_look == STEPS_TOGETHER or _extent(offset) > far - reach:
            since_look = 0
            base, offset = add(base, offset), (0.0, 0.0, 0.0)
            if leaps:
                offset = scale(velocity, -part)
                base = subtract(base, offset)
            scene = _look(ground, base, body, far, drop, 0.0, resolver, random_state, memory)
        since_look += 1
        if walking:
            ahead = (velocity[0] * part, 0.0, velocity[2] * part)
            if rules[SURFACE_SPEED] != 0.0:
                ahead = _over_surface(ahead, normal)
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
                around = _look(
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
            touched = _planes_touched(scene, count)
            on_planes, plane = ground_by_planes(scene.planes, touched, cosine)
            if on_planes:
                normal = plane
            if ended == OFF_GROUND and not on_planes:
                walking = grounded = False
                left = part * (substeps - substep)
                velocity = (velocity[0], -gravity * left, velocity[2])
                if substep < substeps:  # it falls faster than it walked
                    substep, since_look = 0, STEPS_TOGETHER
                    substeps, leaps, reach, far = _cut(length(velocity) * left, body.least)
                    part = left / substeps
            continue
        if not by_sum:
            velocity = _not_into_steep(scene, offset, velocity, walkable)
        before = offset
        moved = add_scaled(offset, velocity, part)
        blocked, moved, wall = stop_at_side(scene, offset, moved)
        offset, planes, count, deepest, rounds, lifted = resolve(scene, moved, max_rounds)
        looks = 0
        while _extent(offset) > far and looks < MOST_LOOKS:
            # Pushed to where it has not looked yet.
            looks += 1
            base, offset = add(base, offset), (0.0, 0.0, 0.0)
            wide = far + body.least * looks
            scene = _look(ground, base, body, wide, drop, 0.0, resolver, random_state, memory)
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
                planes = _planes_touched(scene, count)
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
                if _most_upright(scene, planes) >= walkable:
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
    _put_three(state, POSITION, position)
    _put_three(state, VELOCITY, velocity)
    kind = WALKABLE if grounded else AIRBORNE
    if count > 0 and not (grounded and (by_sum or stepping)):
        touched = _planes_touched(scene, count)
        best = 0
        for i in range(1, touched):
            if scene.planes[i, 1] > scene.planes[best, 1]:
                best = i
        if grounded:
            kind = WALKABLE if scene.planes[best, 1] >= walkable else WEDGED
        elif scene.planes[best, 1] > 0.0 and (by_sum or scene.planes[best, 1] < walkable):
            kind, normal = STEEP, three(scene.planes, best, 0)
    _report_ground(state, ground.frames, scene, add(base, offset), count, normal, kind)
    state[GROUNDED] = 1.0 if grounded else 0.0
    _put_three(state, GROUND_NORMAL, normal)
    state[CONTACTS] = count
    state[PENETRATION] = deepest
    state[CONVERGED] = 1.0 if deepest <= CONVERGED_DEPTH else 0.0
    state[ROUNDS] = most_rounds
    state[LIFTED] = total_lift
    state[UNDISTURBED], state[DRIVEN], state[MOVED] = 1.0, 0.0, 0.0
    if grounded:
        if not was_grounded:
            state[LANDING_SPEED] = landing
        state[AIR_TIME] = 0.0
    else:
        state[AIR_TIME] += delta_time
    state[STEPPING] = 1.0 if grounded and stepping else 0.0
    state[STEP_FOOT] = step_foot if grounded and stepping else 0.0


@kernel(inline=True)
def is_at_rest(state: Floats, rules: Floats) -> bool:
    return bool(
        state[UNDISTURBED] != 0.0
        and state[GROUNDED] != 0.0
        and state[VELOCITY] == 0.0
        and state[VELOCITY + 1] == 0.0
        and state[VELOCITY + 2] == 0.0
        and rules[GRAVITY] * rules[GRAVITY_SCALE] >= 0.0
    )


@kernel
def update_character(
    state: Floats,
    random_state: NDArray[np.uint64],
    rules: Floats,
    delta_time: float,
    heights: Heights,
    cells: Cells,
    blocks: Heights,
    frames: Floats,
    corners: Floats,
    boxes: Singles,
    children: Ints,
    mesh_frame: Floats,
) -> None:
    """Advance ``state`` by one update.

    A character at rest that nobody disturbed stays as it is, bit for bit.
    """
    if is_at_rest(state, rules):
        # What happened when it came to rest is no news.
        state[ROUNDS] = state[LIFTED] = 0.0
        return
    ground = borrow_ground(heights, cells, blocks, frames, corners, boxes, children, mesh_frame)
    memory = make_memory()
    advance(
        borrow(state),
        borrow(random_state),
        borrow(rules),
        ground,
        delta_time,
        borrow_memory(memory),
    )
    keep(memory)
