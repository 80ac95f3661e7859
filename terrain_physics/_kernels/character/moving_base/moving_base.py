"""Moving bases, which carry the bodies that stand on them.

An update takes place in the frame of the part that the body stands on as the update begins. The
part carries the body along with its displacement. There the body moves as on ground that stands
still, with a velocity relative to the part. If it ends on another part, its velocity is made
relative to that part.
"""

import math
from typing import NamedTuple

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.contacts.body import center_of, foot_of
from terrain_physics._kernels.character.state import layout as at
from terrain_physics._kernels.character.state.free_motion import through_air
from terrain_physics._kernels.character.state.layout import (
    center_at,
    gravity_of,
    put_three_at,
    three_at,
)
from terrain_physics._kernels.ground.movers import (
    PUT,
    SECONDS,
    frame_now,
    frame_seen,
    has_moved,
    remembers,
    surface_velocity,
    velocity_at,
)
from terrain_physics._kernels.ground.table import GroundTable, mover_filtered, movers_of
from terrain_physics._kernels.math.rigid import (
    Rigid,
    angle_of,
    between,
    to_local,
    to_world,
    turn_between,
    turned,
    turned_back,
)
from terrain_physics._kernels.math.vec3 import Vec3, add, add_scaled, dot, length, scale, subtract
from terrain_physics._kernels.surface.shapes import Body
from terrain_physics._kernels.tolerances import (
    ASTRAY_DISTANCE,
    ASTRAY_SHARE,
    CONTACT_MARGIN,
    MOVING_BASE_ROUNDING,
)
from terrain_physics._kernels.types import Floats


class MovingBase(NamedTuple):
    """The frame of an update, and the body's place in it at the start."""

    row: int  # of the mover; 0: the world's frame
    before: Rigid  # the frame at the body's last update
    now: Rigid  # the present frame
    start: Vec3  # the foot in the frame
    end: Vec3  # the foot in the frame after a conveyor has carried it
    velocity: Vec3  # of the frame, which has been subtracted from that of a body in the air
    excess: float  # see `_excess`
    age: float  # how long ago the latest move of the part began, in seconds
    falling: Vec3  # of a body in the air: its final velocity if it hit nothing
    turn: float  # by which the frame has turned about +Y, in radians
    was_grounded: bool


@kernel
def _is_moving(ground: GroundTable, row: int, state: Floats, delta_time: float) -> bool:
    """Tell whether the latest move of a part still goes on, for a body that has not stood on it.

    The move goes on if it began no longer ago than its duration, as far as the moves that the last
    updates saw can tell.
    """
    updates = math.ceil(
        min(movers_of(ground)[row, SECONDS] / delta_time - MOVING_BASE_ROUNDING, at.UPDATES_SEEN)
    )
    return has_moved(movers_of(ground), row, float(state[at.MOVES_SEEN + max(updates, 1) - 1]))


@kernel(inline=True)
def _goes_on(movers: Floats, row: int, age: float) -> bool:
    """Tell whether the latest move of a part, which began ``age`` ago, still goes on."""
    return bool(age < movers[row, SECONDS] * (1.0 - MOVING_BASE_ROUNDING))


@kernel(inline=True, no_refcount=True)
def see_moves(state: Floats, counted: float) -> None:
    """Note at the end of an update how many moves the ground has counted."""
    for k in range(at.UPDATES_SEEN - 1, 0, -1):
        state[at.MOVES_SEEN + k] = state[at.MOVES_SEEN + k - 1] if counted > 0.0 else 0.0
    state[at.MOVES_SEEN] = counted


@kernel(inline=True, no_refcount=True)
def ignore_moves(state: Floats, counted: float) -> None:
    """Mark all moves up to now as seen by a body that was asleep or not there."""
    for k in range(at.UPDATES_SEEN):
        state[at.MOVES_SEEN + k] = counted


@kernel
def _kept(rules: Floats, velocity: Vec3) -> Vec3:
    """Return the part of its base's velocity that a body keeps when it leaves the base."""
    rule = int(rules[at.LEAVE])
    if rule == at.KEEPS_NONE:
        return (0.0, 0.0, 0.0)
    if rule == at.KEEPS_UPWARD:
        return (velocity[0], max(velocity[1], 0.0), velocity[2])
    return velocity


@kernel(inline=True)
def _add_velocity(state: Floats, more: Vec3) -> None:
    put_three_at(state, at.VELOCITY, add(three_at(state, at.VELOCITY), more))
    put_three_at(state, at.OWN_VELOCITY, add(three_at(state, at.OWN_VELOCITY), more))


@kernel
def _excess(state: Floats, rules: Floats, now: Vec3, seconds: float) -> float:
    """Return how much faster than its base a body would rise in free flight, in m/s.

    It is above 0 where a rising base slows down or turns round faster than gravity would slow the
    body, and where a base falls faster than the body would. A rising base throws off no body that
    keeps nothing of its velocity.
    """
    base_rise = float(state[at.BASE_VELOCITY + 1])
    keeps_none = int(rules[at.LEAVE]) == at.KEEPS_NONE
    if (keeps_none and base_rise > 0.0) or (base_rise <= 0.0 and now[1] >= 0.0):
        return 0.0
    held = gravity_of(rules) * seconds
    more = float(state[at.EXCESS]) + (base_rise - now[1]) - held
    return more if more > MOVING_BASE_ROUNDING * held else 0.0


@kernel
def _is_thrown(state: Floats, rules: Floats, excess: float, seconds: float) -> bool:
    """Tell whether a body in free flight would be over its base, beyond the snap distance.

    Over a base that rises, it would come to be. Over one that falls ever faster, it would be by
    now: at excess^2 / 2a, if the excess has grown by a per second.
    """
    snap = float(rules[at.SNAP])
    if state[at.BASE_VELOCITY + 1] > 0.0:
        return excess * excess > 2.0 * gravity_of(rules) * snap
    grown = excess - float(state[at.EXCESS])
    return grown > 0.0 and excess * excess * seconds > 2.0 * grown * snap


@kernel
def debt_of(state: Floats, number: float) -> Vec3:
    """Return the debt of a part to a body; see `squeeze.py`."""
    for k in range(at.MOST_SQUEEZING):
        if state[at.SQUEEZED_BY + k] == number:
            return three_at(state, at.SQUEEZED + 3 * k)
    return (0.0, 0.0, 0.0)


@kernel
def _stands_there(
    ground: GroundTable, row: int, seen: float, before: Rigid, start: Vec3, foot: Vec3, body: Body
) -> bool:
    """Tell whether a foot is where its base left it; if not, the body stands on other ground.

    A wide body gets more slack in height, as its foot is above the slope that it stands on.
    """
    if not remembers(movers_of(ground), row, seen):
        return True
    slack = ASTRAY_DISTANCE + ASTRAY_SHARE * (abs(foot[0]) + abs(foot[1]) + abs(foot[2]))
    off = subtract(to_world(before, start), foot)
    high = slack + body.half_extents[0] + body.half_extents[2]
    return abs(off[0]) <= slack and abs(off[1]) <= high and abs(off[2]) <= slack


@kernel(no_refcount=True)
def no_moving_base(state: Floats) -> MovingBase:
    """Return the moving base of an update in the world's frame, which stands for none."""
    none = Rigid((1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0))
    zero = (0.0, 0.0, 0.0)
    return MovingBase(
        0, none, none, zero, zero, zero, 0.0, 0.0, zero, 0.0, state[at.GROUNDED] != 0.0
    )


@kernel
def _turn(state: Floats, before: Rigid, now: Rigid) -> float:
    """Return the angle by which the part that a body stands on has turned about +Y."""
    if state[at.ON_MOVING_BASE] != 0.0:
        ahead = turned(now.rotation, three_at(state, at.BASE_AHEAD))
    else:
        ahead = turned(turn_between(before.rotation, now.rotation), (0.0, 0.0, 1.0))
    return angle_of(ahead[0], ahead[2])


@kernel
def leave_base(state: Floats, rules: Floats) -> None:
    """Leave a body that stood on a base as much of the base's velocity as its rules allow."""
    _add_velocity(state, _kept(rules, three_at(state, at.BASE_VELOCITY)))


@kernel(inline=True)
def _throw_off(state: Floats, rules: Floats) -> None:
    """Throw a body off its base, at the speed at which it would rise in free flight."""
    velocity = three_at(state, at.BASE_VELOCITY)
    up = (velocity[0], velocity[1] + float(state[at.EXCESS]), velocity[2])
    _add_velocity(state, _kept(rules, up))
    state[at.GROUNDED] = 0.0


@kernel(noinline=True)
def find_moving_base(
    state: Floats, rules: Floats, body: Body, ground: GroundTable, delta_time: float,
    is_teleported: bool,
) -> MovingBase:  # fmt: skip
    """Return the moving base of an update.

    It is the part that the body stands on, unless the part is gone, was teleported (moved without a
    duration), or throws the body off: then the body keeps of the part's velocity as much as its
    rules allow. A body that is not where the part left it has no moving base, and keeps nothing.
    Writes velocity and GROUNDED to the state.
    """
    none = no_moving_base(state)
    if state[at.GROUNDED] == 0.0 or state[at.BASE_PART] < 0.0:
        return none
    movers, seen = movers_of(ground), float(state[at.MOVES_SEEN])
    row = mover_filtered(ground, float(state[at.BASE_PART]))
    if row == 0 or movers[row, PUT] > seen:
        leave_base(state, rules)
        return none
    before, now = frame_seen(movers, row, seen), frame_now(movers, row)
    foot = foot_of(center_at(state, rules), body)
    start = to_local(before, foot)
    if state[at.ON_MOVING_BASE] != 0.0 and not is_teleported:
        start = three_at(state, at.BASE_POINT)
        free = add(foot, debt_of(state, float(state[at.BASE_PART])))
        if not _stands_there(ground, row, seen, before, start, free, body):
            return none
    age = 0.0 if has_moved(movers, row, seen) else float(state[at.MOVE_AGE])
    goes_on, seconds = _goes_on(movers, row, age), max(delta_time, float(movers[row, SECONDS]))
    velocity, excess = velocity_at(movers, row, foot, goes_on), float(state[at.EXCESS])
    if age == 0.0 or not goes_on:  # else it still makes the move whose excess is known
        excess = _excess(state, rules, velocity, seconds)
    if state[at.SQUEEZED_BY] < 0.0 and _is_thrown(state, rules, excess, seconds):
        _throw_off(state, rules)
        return none
    end = add_scaled(start, surface_velocity(movers, row), delta_time)
    turn = _turn(state, before, now)
    return MovingBase(
        row, before, now, start, end, velocity, excess, age, velocity, turn, none.was_grounded
    )


@kernel
def carried_center(state: Floats, rules: Floats, body: Body, ground: GroundTable) -> Vec3:
    """Return the center of a body after its moving base has carried it."""
    number = float(state[at.BASE_PART])
    row = mover_filtered(ground, number) if state[at.ON_MOVING_BASE] != 0.0 else 0
    if row > 0:
        foot = to_world(frame_now(movers_of(ground), row), three_at(state, at.BASE_POINT))
        return center_of(subtract(foot, debt_of(state, number)), body)
    return center_at(state, rules)


@kernel(inline=True)
def carried_to(moving_base: MovingBase, share: float) -> Vec3:
    """Return the foot's place in the world after a share of an update, from the base alone."""
    on_part = moving_base.end
    if share < 1.0:
        on_part = add(scale(moving_base.start, 1.0 - share), scale(moving_base.end, share))
    return to_world(between(moving_base.before, moving_base.now, share), on_part)


@kernel
def find_moving_base_in_air(
    state: Floats, rules: Floats, body: Body, ground: GroundTable, row: int, delta_time: float
) -> MovingBase:
    """Return the moving base of a body in the air that a part hits.

    In the part's frame the body lands on the part, or is pushed by it, as if the part stood still.
    The velocity of the frame is the part's displacement since the last update divided by this
    update's time, even if the move took another time.
    """
    movers = movers_of(ground)
    before, now = frame_seen(movers, row, float(state[at.MOVES_SEEN])), frame_now(movers, row)
    foot = foot_of(center_at(state, rules), body)
    start = to_local(before, foot)
    velocity = scale(subtract(to_world(now, start), foot), 1.0 / delta_time)
    gravity = gravity_of(rules)
    _, falling = through_air(three_at(state, at.VELOCITY), gravity, delta_time)
    _add_velocity(state, scale(velocity, -1.0))
    return MovingBase(row, before, now, start, start, velocity, 0.0, 0.0, falling, 0.0, False)


@kernel
def _pushed_velocity(
    state: Floats, ground: GroundTable, moving_base: MovingBase, foot: Vec3
) -> Vec3:
    """Return the velocity that takes a body in the air from the frame of a part that it hit.

    In the frame the part's displacement takes one update, which may be shorter or longer than the
    move took. A body that is pushed gets the part's real velocity along the push.
    """
    in_frame, end = (
        three_at(state, at.VELOCITY),
        add(three_at(state, at.VELOCITY), moving_base.velocity),
    )
    push = subtract(end, moving_base.falling)
    size, of_part = length(push), velocity_at(movers_of(ground), moving_base.row, foot, True)
    difference = length(subtract(of_part, moving_base.velocity))
    if size == 0.0 or difference <= MOVING_BASE_ROUNDING * (1.0 + length(of_part)):
        return moving_base.velocity
    normal = scale(push, 1.0 / size)
    gained = max(dot(subtract(of_part, moving_base.falling), normal), 0.0)
    return subtract(add_scaled(moving_base.falling, normal, gained), in_frame)


@kernel(inline=True)
def _part_stood_on(state: Floats, ground: GroundTable) -> tuple[float, int]:
    """Return (number, row of the mover) of the part that a body ends on; -1 and 0 in the air."""
    if state[at.GROUNDED] == 0.0:
        return -1.0, 0
    number = float(state[at.GROUND_PART])
    if number < 0.0:
        number = float(state[at.BASE_PART])  # for example on its way up a step
    return number, mover_filtered(ground, number)


@kernel(inline=True)
def _change_base(
    state: Floats, rules: Floats, ground: GroundTable, moving_base: MovingBase, foot: Vec3,
    after: Vec3,
) -> None:  # fmt: skip
    """Make the velocity relative to the base that a body ends on; ``after`` is the base's own."""
    movers, row = movers_of(ground), moving_base.row
    grounded, was_grounded = state[at.GROUNDED] != 0.0, moving_base.was_grounded
    before = moving_base.velocity
    if row > 0 and was_grounded:
        before = velocity_at(movers, row, foot, _goes_on(movers, row, moving_base.age))
    elif row > 0 and not grounded:
        before = _pushed_velocity(state, ground, moving_base, foot)
    keeps_all = grounded or not was_grounded
    _add_velocity(state, subtract(before, after) if keeps_all else _kept(rules, before))
    if grounded:
        state[at.VELOCITY + 1] = 0.0
    if grounded and not was_grounded:
        landing = state[at.LANDING_SPEED] + (after[1] - before[1])
        state[at.LANDING_SPEED] = max(landing, 0.0)


@kernel
def _is_pushed(moving_base: MovingBase, foot: Vec3) -> bool:
    """Tell whether a foot is beside the place to which the base alone would have carried it."""
    aside = subtract(foot, carried_to(moving_base, 1.0))
    return abs(aside[0]) > CONTACT_MARGIN or abs(aside[2]) > CONTACT_MARGIN


@kernel(noinline=True)
def settle_moving_base(
    state: Floats, rules: Floats, body: Body, ground: GroundTable, moving_base: MovingBase,
    place: Vec3, delta_time: float,
) -> None:  # fmt: skip
    """Write the moving base as an update ends, and make the body's velocity relative to it.

    ``place`` is where the body began to move by itself. If that is where the base had carried it
    and it has not moved from there, it stays at the same point of the part, to the last bit. The
    point of a body that the part squeezes is that below its free place.
    """
    movers, position = movers_of(ground), three_at(state, at.POSITION)
    foot = foot_of(add(position, three_at(rules, at.OFFSET)), body)
    number, row = _part_stood_on(state, ground)
    stayed_on = row == moving_base.row and moving_base.was_grounded
    age, after = moving_base.age, (0.0, 0.0, 0.0)
    if row > 0 and not stayed_on:
        goes_on = _is_moving(ground, row, state, delta_time)
        age = 0.0 if goes_on else float(movers[row, SECONDS])
    if row > 0:
        after = velocity_at(movers, row, foot, _goes_on(movers, row, age))
    if max(row, moving_base.row) > 0 and not stayed_on:
        _change_base(state, rules, ground, moving_base, foot, after)
    state[at.WAS_GROUNDED] = 1.0 if moving_base.was_grounded else 0.0
    state[at.BASE_PART], state[at.TURN] = number, moving_base.turn
    state[at.ON_MOVING_BASE], state[at.EXCESS] = (
        (1.0, moving_base.excess) if row > 0 else (0.0, 0.0)
    )
    state[at.MOVE_AGE] = age + delta_time if row > 0 else 0.0
    on_part, ahead = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if row > 0:
        frame = frame_now(movers, row)
        is_still = stayed_on and position[0] == place[0] and position[2] == place[2]
        is_still = is_still and not _is_pushed(moving_base, foot)
        free = add(foot, debt_of(state, number))
        on_part = moving_base.end if is_still else to_local(frame, free)
        ahead = turned_back(frame.rotation, (0.0, 0.0, 1.0))
    put_three_at(state, at.BASE_POINT, on_part)
    put_three_at(state, at.BASE_AHEAD, ahead)
    put_three_at(state, at.BASE_VELOCITY, after)


@kernel(inline=True)
def stays_alone(state: Floats, ground: GroundTable, moving_base: MovingBase) -> bool:
    """Tell whether a body without a moving base ends on none; if so, write that to the state."""
    number, row = _part_stood_on(state, ground)
    if row > 0:
        return False
    state[at.WAS_GROUNDED] = 1.0 if moving_base.was_grounded else 0.0
    state[at.BASE_PART] = number
    state[at.TURN] = state[at.ON_MOVING_BASE] = state[at.EXCESS] = state[at.MOVE_AGE] = 0.0
    put_three_at(state, at.BASE_POINT, (0.0, 0.0, 0.0))
    put_three_at(state, at.BASE_AHEAD, (0.0, 0.0, 0.0))
    put_three_at(state, at.BASE_VELOCITY, (0.0, 0.0, 0.0))
    return True
