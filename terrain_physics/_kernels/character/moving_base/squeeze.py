"""Moving parts that carry, push and squeeze a body before it moves itself.

The displacement of the parts since the body's last update is cut into steps, as a body's own is, so
that no part tunnels through the body. A part is tested in its present frame: the body is placed
relative to the part, and the push is turned back. A body is never squeezed into ground that stands
still: penetration that a push could not resolve becomes the part's *depenetration debt* to the
body. For that body alone the part lies farther back by its debt, so that the body can stand on the
part, or leave it.

A debt leads from the body to its *free place*, where it would touch the part from the side that the
part came from. The part takes this place along, and it follows the body only as far as the part
lets it: so the side stays the same, however deep the body is. A debt ends when the part has passed
the body.
"""

import math
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._intrinsics import replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.body import center_of
from terrain_physics._kernels.character.contacts.find_contacts import is_buried, list_contacts
from terrain_physics._kernels.character.contacts.one_way import end_drop
from terrain_physics._kernels.character.contacts.resolve import resolve, rise_of_feet
from terrain_physics._kernels.character.contacts.scene import Scene, gathered
from terrain_physics._kernels.character.moving_base.moving_base import (
    MovingBase,
    carried_to,
    debt_of,
    find_moving_base_in_air,
    ignore_moves,
    leave_base,
)
from terrain_physics._kernels.character.state import layout as at
from terrain_physics._kernels.character.state.free_motion import through_air
from terrain_physics._kernels.character.state.layout import (
    SIMULTANEOUS,
    center_at,
    gravity_of,
    put_three_at,
    three_at,
    unpack_body,
)
from terrain_physics._kernels.character.state.substeps import STEP_SHARE
from terrain_physics._kernels.character.state.teleport import step_height
from terrain_physics._kernels.character.state.work import STEP, is_spent, spend
from terrain_physics._kernels.ground.movers import (
    COUNT_OF_MOVES,
    IS_MOBILE,
    MOST_SHIFTED,
    NUMBER,
    PUT,
    any_reaches,
    count_part_shifts,
    end_part_shifts,
    frame_now,
    frame_seen,
    has_moved,
    is_conveyor,
    may_meet,
    may_touch,
    put_dropped,
    put_part_shift,
)
from terrain_physics._kernels.ground.table import (
    STILL_PARTS,
    GroundTable,
    mover_filtered,
    mover_of,
    movers_of,
    only_of,
    reaches_of,
    with_base_part,
    with_step_start,
)
from terrain_physics._kernels.math.rigid import (
    between,
    to_local,
    to_world,
    turn_between,
    turned_back,
)
from terrain_physics._kernels.math.vec3 import (
    Vec3,
    add,
    add_scaled,
    dot,
    length,
    scale,
    subtract,
)
from terrain_physics._kernels.surface.shapes import Body, turned_body
from terrain_physics._kernels.tolerances import (
    CONTACT_MARGIN,
    CONVERGED_DEPTH,
    SLOP,
    SLOPE_SLACK,
    SQUEEZE_DISTANCE,
    STUCK_DEPTH,
)
from terrain_physics._kernels.types import Floats

# Columns of the parts near a body: row, whether the part has a debt, and the body's free place as
# seen from the part's present frame.
_ROW, _OWES, _FREE_PLACE = 0, 1, 2
_NEAR_SIZE = 5

# Most pushes of a body out of a part, each blocked by still ground; then the rest becomes a debt.
_MOST_PUSHES = 5

# Rounds of depenetration, as in an update.
_MOST_ROUNDS = 16

# Step of a body that is pushed, as a share of its least half extent. Its least progress in a step,
# as a share of the step.
_MOVE_SHARE, _LEAST_PROGRESS = 0.125, 1e-3

# Speed at which a body is pushed out of a part that owes that, beside the speed of the part.
_DEBT_SPEED = 3.0  # m/s

# Steps that the displacement of a part is cut into, at most.
_MOST_STEPS = 4096


class _NearParts(NamedTuple):
    """Parts that may hit or squeeze a body, and the limits within which they may raise it."""

    rows: Floats  # (MOST_SHIFTED, _NEAR_SIZE)
    parts: int  # how many
    most_push: float  # farthest that each may push it in an update, in meters
    most_rise: float  # farthest that their walkable faces may raise it, in meters; 0 in the air
    walkable: float  # the least y of a walkable unit normal


class _Fall(NamedTuple):
    """The free fall of a body in the air in an update, as others push it."""

    start: Vec3  # of its center, in meters in the world
    velocity: Vec3  # at the start, in m/s
    gravity: float  # in m/s^2
    seconds: float


@kernel(noinline=True)
def moved_until_blocked(scene: Scene, ground: GroundTable, center: Vec3, end: Vec3) -> Vec3:
    """Return where a body ends that is moved toward a place until the ground blocks it.

    Its steps are short: deep in a mesh, which is only a skin, the nearest way out may be on the
    other side.
    """
    displacement = subtract(end, center)
    size = length(displacement)
    steps = max(math.ceil(min(size / (_MOVE_SHARE * scene.body.least), _MOST_STEPS)), 1)
    # Ground that it meets may turn it aside: into any direction, as far as it is moved.
    far = size + (steps + 1) * CONTACT_MARGIN
    wide = add(scene.body.half_extents, (far, far, far))
    scene = replaced(scene, resolver=SIMULTANEOUS)
    scene = gathered(scene, ground, center, subtract(center, wide), add(center, wide))
    if scene.size == 0:
        return end
    step, offset, is_free = scale(displacement, 1.0 / steps), (0.0, 0.0, 0.0), True
    for _ in range(steps):
        ahead = add(offset, step)
        touching = list_contacts(scene, ahead)
        if max(touching.depth, touching.overlap) > SLOP or is_buried(scene, ahead):
            is_free = False
            out = resolve(scene, ahead, touching, _MOST_ROUNDS, SLOP, True)
            moved = subtract(out.offset, offset)
            is_out = out.depth <= CONVERGED_DEPTH and length(moved) <= size / steps + CONTACT_MARGIN
            if not is_out or dot(moved, step) <= _LEAST_PROGRESS * dot(step, step):
                break
            ahead = out.offset
        offset = ahead
        if is_spent(scene.work):
            break
    return end if is_free else add(center, offset)


@kernel(noinline=True)
def _depenetration(
    scene: Scene, part: GroundTable, place: Vec3, most_rise: float, walkable: float
) -> Vec3:
    """Return the displacement that takes a body out of a part; walkable faces may raise it."""
    body = scene.body
    half_extents = body.half_extents
    wide = (
        half_extents[0] + CONTACT_MARGIN,
        half_extents[1] + CONTACT_MARGIN,
        half_extents[2] + CONTACT_MARGIN,
    )
    scene = replaced(scene, resolver=SIMULTANEOUS)
    scene = gathered(scene, part, place, subtract(place, wide), add(place, wide))
    offset = (0.0, 0.0, 0.0)
    touching = list_contacts(scene, offset)
    if touching.depth <= SLOP and touching.overlap <= STUCK_DEPTH:
        return offset
    if most_rise > 0.0:
        up = rise_of_feet(scene, offset, touching.contacts, most_rise, walkable)
        if up > 0.0:
            offset = (0.0, up, 0.0)
            touching = list_contacts(scene, offset)
    out = resolve(scene, offset, touching, _MOST_ROUNDS, SLOP, True)
    if length(out.offset) > 2.0 * body.least:  # it was teleported, not moved
        return (0.0, 0.0, 0.0)
    return out.offset


@kernel(noinline=True)
def _push_from(
    scene: Scene, ground: GroundTable, near: Floats, share: float, center: Vec3, most_rise: float,
    walkable: float,
) -> Vec3:  # fmt: skip
    """Return the push that takes a body out of a part, after a share of the part's displacement.

    It leads to the body's free place, which is written to the part's row ``near``. Where the part
    has no debt yet, its walkable faces raise the body by up to ``most_rise``, which is 0 for a body
    in the air.
    """
    movers, row = movers_of(ground), int(near[_ROW])
    before, now = frame_seen(movers, row, ground.seen), frame_now(movers, row)
    then = between(before, now, share)
    place, turn = to_world(now, to_local(then, center)), turn_between(then.rotation, now.rotation)
    is_turned = then.rotation != now.rotation
    if is_turned:
        scene, most_rise = replaced(scene, body=turned_body(scene.body, turn)), 0.0
    began = to_world(now, to_local(before, ground.step_start))
    part = with_step_start(only_of(ground, int(movers[row, NUMBER])), began, np.inf)
    if near[_OWES] != 0.0:
        free = three_at(near, _FREE_PLACE)
        free = add(free, _depenetration(scene, part, free, 0.0, walkable))
        free = moved_until_blocked(scene, part, free, place)
        push = subtract(free, place)
    else:
        push = _depenetration(scene, part, place, most_rise, walkable)
        free = add(place, push)
    put_three_at(near, _FREE_PLACE, free)
    return turned_back(turn, push) if is_turned else push


@kernel
def _largest_squeeze(state: Floats) -> float:
    most = 0.0
    for k in range(3 * at.MOST_SQUEEZING):
        most = max(most, abs(state[at.SQUEEZED + k]))
    return most


@kernel
def _box_around(state: Floats, half: Vec3, center: Vec3, end: Vec3) -> tuple[Vec3, Vec3]:
    """Return the box in which parts are near a body of half extents that moves to ``end``."""
    margin = SQUEEZE_DISTANCE + _largest_squeeze(state)
    wide = add(half, (margin, margin, margin))
    lower = (min(center[0], end[0]), min(center[1], end[1]), min(center[2], end[2]))
    upper = (max(center[0], end[0]), max(center[1], end[1]), max(center[2], end[2]))
    return subtract(lower, wide), add(upper, wide)


@kernel
def _list_near_parts(
    state: Floats, ground: GroundTable, body: Body, center: Vec3, end: Vec3, far: float,
    near: Floats,
) -> int:  # fmt: skip
    """Broad phase: write the parts near a body that moves to ``end``; return how many.

    It may be pushed ``far`` from its way.
    """
    movers, count = movers_of(ground), 0
    lower, upper = _box_around(state, add(body.half_extents, (far, far, far)), center, end)
    for row in range(1, len(movers)):
        if (
            count < MOST_SHIFTED
            and movers[row, IS_MOBILE] != 0.0
            and may_meet(movers, row, lower, upper)
            and mover_filtered(ground, float(movers[row, NUMBER])) > 0
        ):
            debt = debt_of(state, movers[row, NUMBER])
            owes = debt != (0.0, 0.0, 0.0) and movers[row, PUT] <= ground.seen
            before, now = frame_seen(movers, row, ground.seen), frame_now(movers, row)
            near[count, _ROW], near[count, _OWES] = row, 1.0 if owes else 0.0
            free = to_world(now, to_local(before, add(center, debt)))
            put_three_at(near[count], _FREE_PLACE, free)
            count += 1
    return count


@kernel
def _longest_displacement(
    ground: GroundTable, body: Body, center: Vec3, end: Vec3, near: Floats, count: int
) -> float:
    """Return the longest displacement of the body, in the world or relative to a part near it."""
    most, movers = length(subtract(end, center)), movers_of(ground)
    for k in range(count):
        row = int(near[k, _ROW])
        before, now = frame_seen(movers, row, ground.seen), frame_now(movers, row)
        distance = length(subtract(to_local(now, end), to_local(before, center)))
        turn = 0.0
        for i in range(9):
            turn += (now.rotation[i] - before.rotation[i]) * (now.rotation[i] - before.rotation[i])
        most = max(most, distance + math.sqrt(turn) * length(body.half_extents))
    return most


@kernel(inline=True)
def _at_most(start: Vec3, end: Vec3, most: float, most_rise: float) -> Vec3:
    """Return the place on the way to another one that is at most so far, a rise not counted."""
    way = subtract(end, start)
    size = length((way[0], way[1] - min(max(way[1], 0.0), most_rise), way[2]))
    return end if size <= most else add_scaled(start, way, most / size)


@kernel
def _pushed_by(
    scene: Scene, ground: GroundTable, near: _NearParts, k: int, share: float, center: Vec3
) -> Vec3:
    """Return where a part pushes a body, after a share of its displacement; owe a rest as debt.

    It pushes no farther than it moves, unless it was put there: so nobody leaps.
    """
    part, still, start = near.rows[k], only_of(ground, STILL_PARTS), center
    is_put = movers_of(ground)[int(part[_ROW]), PUT] > ground.seen
    most = np.inf if is_put else near.most_push
    for trial in range(_MOST_PUSHES):
        push = _push_from(scene, ground, part, share, center, near.most_rise, near.walkable)
        if push == (0.0, 0.0, 0.0):
            part[_OWES] = 0.0
        if push == (0.0, 0.0, 0.0) or is_spent(scene.work):
            break
        moved, end = center, _at_most(start, add(center, push), most, near.most_rise)
        if trial + 1 < _MOST_PUSHES:
            moved = moved_until_blocked(scene, still, center, end)
        if moved == center:
            part[_OWES] = 1.0
            break
        center = moved
    return center


@kernel(inline=True)
def _place_in(fall: _Fall, share: float) -> Vec3:
    """Return where the center of a body is after a share of its fall."""
    displacement, _ = through_air(fall.velocity, fall.gravity, share * fall.seconds)
    return add(fall.start, displacement)


@kernel
def _first_overlap(
    scene: Scene, ground: GroundTable, row: int, fall: _Fall, is_there: bool
) -> float:
    """Return the share of an update after which a part and a body in the air first overlap.

    The share is exact to one step; it is infinity if they do not overlap. The part moves along its
    displacement since the last update, or ``is_there`` from the start.
    """
    body = scene.body
    near = np.zeros((1, _NEAR_SIZE))
    near[0, _ROW] = row  # and it has no debt
    longest = _longest_displacement(ground, body, fall.start, _place_in(fall, 1.0), near, 1)
    steps = max(math.ceil(min(longest / (STEP_SHARE * body.least), _MOST_STEPS)), 1)
    for k in range(0 if is_there else 1, steps + 1):
        share = k / steps
        spend(scene.work, STEP)
        of_part, place = 1.0 if is_there else share, _place_in(fall, share)
        push = _push_from(scene, ground, near[0], of_part, place, 0.0, 1.0)
        if push != (0.0, 0.0, 0.0) or is_spent(scene.work):
            return share
    return np.inf


@kernel
def _shares_of_hits(
    scene: Scene, ground: GroundTable, near: Floats, count: int, fall: _Fall
) -> Floats:
    """Return the share of an update after which each part without a debt hits a body in the air.

    It is infinity for parts that do not. If none does, a part that the body outruns hits it at the
    end: it would come upon the body where a wall or others stop its flight.
    """
    shares, is_hit = np.full(MOST_SHIFTED, np.inf), False
    for k in range(count):
        row = int(near[k, _ROW])
        if near[k, _OWES] == 0.0 and has_moved(movers_of(ground), row, ground.seen):
            shares[k] = _first_overlap(scene, ground, row, fall, False)
            is_hit = is_hit or shares[k] < np.inf
    if is_hit:
        return shares
    stopped = _Fall(fall.start, (0.0, 0.0, 0.0), 0.0, fall.seconds)
    for k in range(count):
        row = int(near[k, _ROW])
        if near[k, _OWES] == 0.0 and has_moved(movers_of(ground), row, ground.seen):
            if _first_overlap(scene, ground, row, stopped, False) < np.inf:
                shares[k] = 1.0
                break
    return shares


@kernel(noinline=True)
def _first_hit(
    scene: Scene, ground: GroundTable, near: Floats, count: int, fall: _Fall
) -> tuple[int, int]:
    """Return (row of the moving part that a body in the air hits first, 0 if none; how many left).

    The list keeps the part that the body hits first and the parts with debts. Parts that the body
    does not hit, and that end on its way, are taken out of this update: they already are at their
    final places, so the body would run into them. All others stay, in case that something turns the
    body aside.
    """
    movers, part_shifts = movers_of(ground), ground.part_shifts
    first, earliest, absent, left = 0, np.inf, 0, 0
    shares = _shares_of_hits(scene, ground, near, count, fall)
    for k in range(count):
        row, share = int(near[k, _ROW]), float(shares[k])
        had_debt = near[k, _OWES] != 0.0
        if not had_debt and not has_moved(movers, row, ground.seen):
            continue
        if share < earliest:
            first, earliest = row, share
        if had_debt or share < np.inf:
            for column in range(_NEAR_SIZE):
                near[left, column] = near[k, column]
            left += 1
        elif absent < MOST_SHIFTED and _first_overlap(scene, ground, row, fall, True) < np.inf:
            put_part_shift(part_shifts, absent, movers[row, NUMBER], (np.inf, 0.0, 0.0))
            absent += 1
    kept = 0
    for k in range(left):
        if near[k, _ROW] == first or near[k, _OWES] != 0.0:
            for column in range(_NEAR_SIZE):
                near[kept, column] = near[k, column]
            kept += 1
    return first, kept


@kernel
def _add_debts(scene: Scene, ground: GroundTable, near: Floats, count: int, center: Vec3) -> None:
    """Add debts to parts into which other parts have pushed the body."""
    for k in range(count):
        push = _push_from(scene, ground, near[k], 1.0, center, 0.0, 1.0)
        near[k, _OWES] = 1.0 if push != (0.0, 0.0, 0.0) else 0.0


@kernel
def _forget_debts(state: Floats) -> None:
    for k in range(at.MOST_SQUEEZING):
        state[at.SQUEEZED_BY + k] = -1.0
        put_three_at(state, at.SQUEEZED + 3 * k, (0.0, 0.0, 0.0))


@kernel
def _put_squeezed(
    state: Floats, near: Floats, count: int, ground: GroundTable, body: Body, center: Vec3
) -> None:
    """Write all debts to the ground, and the largest ones to the body's state.

    A debt ends where the part has passed the body: nothing leads back to the side it came from.
    """
    _forget_debts(state)
    rows, movers = count_part_shifts(ground.part_shifts), movers_of(ground)
    lower, upper = subtract(center, body.half_extents), add(center, body.half_extents)
    for k in range(count):
        debt = subtract(three_at(near[k], _FREE_PLACE), center)
        if near[k, _OWES] == 0.0 or length(debt) <= CONTACT_MARGIN or rows == MOST_SHIFTED:
            continue
        if not may_touch(movers, int(near[k, _ROW]), lower, upper):
            continue
        number = float(movers[int(near[k, _ROW]), NUMBER])
        put_part_shift(ground.part_shifts, rows, number, scale(debt, -1.0))
        rows += 1
        least = 0
        for i in range(1, at.MOST_SQUEEZING):
            if length(three_at(state, at.SQUEEZED + 3 * i)) < length(
                three_at(state, at.SQUEEZED + 3 * least)
            ):
                least = i
        if length(debt) > length(three_at(state, at.SQUEEZED + 3 * least)):
            state[at.SQUEEZED_BY + least] = number
            put_three_at(state, at.SQUEEZED + 3 * least, debt)


@kernel
def _free_end(state: Floats, body: Body, moving_base: MovingBase, fall: _Fall) -> Vec3:
    """Return where the center of a body ends if nothing stops it: on its base, or falling."""
    if moving_base.row > 0:
        return center_of(carried_to(moving_base, 1.0), body)
    return fall.start if state[at.GROUNDED] != 0.0 else _place_in(fall, 1.0)


@kernel(inline=True)
def _most_rise(state: Floats, rules: Floats, body: Body) -> float:
    """Return how far walkable faces of a part may raise a body."""
    if state[at.GROUNDED] == 0.0 or state[at.VELOCITY + 1] > 0.0:
        return 0.0
    return max(step_height(rules, body), body.least)


@kernel(inline=True)
def _move_with_parts(
    scene: Scene, ground: GroundTable, moving_base: MovingBase, base_part: int, near: _NearParts,
    center: Vec3, spot: Vec3, end: Vec3, longest: float,
) -> Vec3:  # fmt: skip
    """Return where a body is after its base has carried it and the other parts have pushed it.

    They all move together, in steps. The base alone (the part ``base_part``, or -1 for none) would
    carry the body from its free place ``spot`` to ``end``. ``longest`` is the longest displacement
    among them.
    """
    body, on_base_part = scene.body, with_base_part(ground, base_part)
    still = only_of(ground, STILL_PARTS)
    steps = max(math.ceil(min(longest / (STEP_SHARE * body.least), _MOST_STEPS)), 1)
    near = replaced(near, most_push=near.most_push / steps)
    for k in range(1, steps + 1):
        share = k / steps
        spend(scene.work, STEP)
        if moving_base.row > 0:
            aside = subtract(center, spot)
            spot = center_of(carried_to(moving_base, share), body)
            if add(spot, aside) != center:
                center = moved_until_blocked(scene, still, center, add(spot, aside))
        if base_part >= 0:  # shift the base to its place after this share, for the other parts
            put_part_shift(ground.part_shifts, 0, base_part, subtract(spot, end))
        for i in range(near.parts):
            if int(near.rows[i, _ROW]) != moving_base.row:
                center = _pushed_by(scene, on_base_part, near, i, share, center)
        if is_spent(scene.work):
            break
    if base_part >= 0:
        end_part_shifts(ground.part_shifts, 0)
    return center


@kernel(noinline=True)
def carry_and_squeeze(
    state: Floats, rules: Floats, scene: Scene, ground: GroundTable, moving_base: MovingBase,
    velocity: Vec3, delta_time: float, is_put: bool,
) -> MovingBase:  # fmt: skip
    """Carry a body with its moving base, and push it out of parts that hit or squeeze it.

    In the air it flies on with a ``velocity``, which others may have changed. A body that was put
    there itself (``is_put``) may be pushed any distance.
    Writes the body's place to the state, and the debts of parts to the ground.

    Returns
    -------
    MovingBase
        The one given; for a body in the air that a part hits, the one of that part.
    """
    body, offset, rows = (
        scene.body,
        three_at(rules, at.OFFSET),
        np.empty((MOST_SHIFTED, _NEAR_SIZE)),
    )
    start = add(three_at(state, at.POSITION), offset)
    fall = _Fall(start, velocity, gravity_of(rules), delta_time)
    end = _free_end(state, body, moving_base, fall)
    count = _list_near_parts(state, ground, body, start, end, 0.0, rows)
    if count > 0 and state[at.GROUNDED] != 0.0:  # one may push it into another one
        far = _longest_displacement(ground, body, start, end, rows, count)
        count = _list_near_parts(state, ground, body, start, end, far, rows)
    if state[at.GROUNDED] == 0.0:
        row, count = _first_hit(scene, ground, rows, count, fall)
        end = start
        if row > 0:
            moving_base = find_moving_base_in_air(state, rules, body, ground, row, delta_time)
            end = center_of(carried_to(moving_base, 1.0), body)
    walkable = float(rules[at.SLOPE_COSINE]) - SLOPE_SLACK
    base_part, spot = -1, start
    if moving_base.row > 0 and state[at.GROUNDED] != 0.0:
        base_part = int(movers_of(ground)[moving_base.row, NUMBER])
        spot = add(start, debt_of(state, float(base_part)))
    longest = _longest_displacement(ground, body, spot, end, rows, count)
    most_push = np.inf if is_put else longest + _DEBT_SPEED * delta_time
    near = _NearParts(rows, count, most_push, _most_rise(state, rules, body), walkable)
    center = _move_with_parts(
        scene, ground, moving_base, base_part, near, start, spot, end, longest
    )
    for i in range(count):
        if int(rows[i, _ROW]) == moving_base.row:  # the moving base pushes last
            center = _pushed_by(scene, ground, near, i, 1.0, center)
    if count > 1:
        _add_debts(scene, ground, rows, count, center)
    _put_squeezed(state, rows, count, ground, body, center)
    if center != start:
        put_three_at(state, at.POSITION, subtract(center, offset))
        state[at.STEP_FOOT] += center[1] - start[1]
    return moving_base


@kernel
def _has_part_near(ground: GroundTable, seen: float, lower: Vec3, upper: Vec3) -> bool:
    """Tell whether a part that was ever moved with a time comes near a box.

    A part that has not moved since the body looked is where it is, whatever its row remembers.
    """
    movers = movers_of(ground)
    if not any_reaches(reaches_of(ground), len(movers) - 1, lower, upper):
        return False
    for row in range(1, len(movers)):
        if (
            movers[row, IS_MOBILE] != 0.0
            and may_meet(movers, row, lower, upper)
            and (has_moved(movers, row, seen) or may_touch(movers, row, lower, upper))
        ):
            return True
    return False


@kernel(inline=True)
def _leave_alone(state: Floats, rules: Floats, ground: GroundTable, center: Vec3) -> None:
    """Write what an update with moving parts writes to the state of a body far from all."""
    put_dropped(ground.part_shifts, -1.0, center)
    if state[at.GROUNDED] != 0.0 or state[at.MOVES_SEEN] < 0.0:
        end_drop(state)
    if state[at.MOVES_SEEN] < 0.0:
        ignore_moves(state, float(movers_of(ground)[0, COUNT_OF_MOVES]))
    if state[at.GROUNDED] != 0.0 and state[at.BASE_PART] >= 0.0:
        leave_base(state, rules)
    _forget_debts(state)


@kernel(noinline=True)
def is_left_alone(
    state: Floats, rules: Floats, half: Vec3, ground: GroundTable, velocity: Vec3, delta_time: float
) -> bool:
    """Tell whether parts neither carry, push nor squeeze a body, and it drops through none.

    In the air it flies on with a ``velocity``, which others may have changed. If so, write to the
    state what even that changes.

    So the body, of half extents ``half``, is without a moving base and without debts, and far from
    all parts that ever moved. Most bodies are, and are spared the search for what no part does.
    """
    if (
        state[at.ON_MOVING_BASE] != 0.0
        or state[at.SQUEEZED_BY] >= 0.0
        or state[at.SQUEEZED_BY + 1] >= 0.0
        or state[at.DROPPED] >= 0.0
        or mover_of(ground, float(state[at.BASE_PART])) > 0
        or mover_of(ground, float(state[at.GROUND_PART])) > 0
    ):
        return False
    center, seen = center_at(state, rules), float(state[at.MOVES_SEEN])
    end = center
    if state[at.GROUNDED] == 0.0:
        end = _place_in(_Fall(center, velocity, gravity_of(rules), delta_time), 1.0)
    lower, upper = _box_around(state, half, center, end)
    if _has_part_near(ground, seen if seen >= 0.0 else np.inf, lower, upper):
        return False
    _leave_alone(state, rules, ground, center)
    return True


@kernel(noinline=True)
def is_disturbed(state: Floats, rules: Floats, ground: GroundTable) -> bool:
    """Tell whether moving parts may wake a body that would sleep."""
    movers, seen = movers_of(ground), float(state[at.MOVES_SEEN])
    if state[at.ON_MOVING_BASE] != 0.0:
        row = mover_filtered(ground, float(state[at.BASE_PART]))
        if row == 0 or is_conveyor(movers, row) or has_moved(movers, row, seen):
            return True
    center = center_at(state, rules)
    lower, upper = _box_around(state, unpack_body(rules).half_extents, center, center)
    if not any_reaches(reaches_of(ground), len(movers) - 1, lower, upper):
        return False
    for row in range(1, len(movers)):
        if has_moved(movers, row, seen) and may_meet(movers, row, lower, upper):
            return True
    return False
