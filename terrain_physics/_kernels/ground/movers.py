"""Movers: the parts of a ground that move, are conveyors or are one-way, as rows of a table.

Python writes the rows (`terrain_physics.ground.movers`). A part gets one when it is first moved
with a time, made a conveyor or one-way; all others stand still, and cost nothing here.

Characters may be updated at other times than parts are moved. So a ground counts its moves, a row
remembers the part's frame before each of the latest moves, and a character remembers the count that
it saw last.
"""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.rigid import Rigid, point_velocity, turned, turning
from terrain_physics._kernels.math.vec3 import Vec3, add, subtract
from terrain_physics._kernels.surface.ground_arrays import (
    BOX_SIZE,
    BOXES,
    BOXES_TOGETHER,
    MOST_MOVES,
    MOVE_SIZE,
    MOVES,
    MOVES_TOGETHER,
)
from terrain_physics._kernels.types import Floats

# Row 0, the header: how many moves the ground has counted.
COUNT_OF_MOVES = 0

# The most moves that are counted: characters remember their count as float64.
MOST_COUNTED = 2**53

# Columns: the part's number; whether it has ever been moved with a time; the seconds of its last
# move, 0 if there was none; its frame; the velocity of the frame in m/s and its spin in rad/s; the
# velocity of its surface in its frame; the direction that it holds up in its frame, 0 if all; the
# box around it and around all places that the row remembers; the ground's count of moves when it
# was last teleported (moved without a time); the number of moves that the row remembers; where the
# latest one is in the ring of moves, and the ground's count with it, -1 if none is remembered; the
# box around the part as it is.
NUMBER, IS_MOBILE, SECONDS = 0, 1, 2
FRAME, VELOCITY, SPIN, SURFACE, ONE_WAY = 3, 15, 18, 21, 24
LOWER, UPPER = 27, 30
PUT, REMEMBERED, LATEST, LATEST_STAMP = 33, 34, 35, 36
BOX = 37

# Rows of the reaches: the numbers of the parts, ascending; the lower and the upper corner of the
# box LOWER..UPPER of those that were ever moved with a time. Others reach nowhere.
REACH_NUMBER, REACH_LOWER, REACH_UPPER = 0, 1, 4

# The shift of a part, as one body sees it. A part that squeezes the body against something still is
# shifted back by its depenetration debt; the moving base is shifted by the rest of its own
# displacement. Columns: the part's number, -1 after the last one; its shift, in meters; infinity
# along X: the part is absent.
SHIFTED_PART, SHIFT = 0, 1
SHIFT_SIZE = 4
MOST_SHIFTED = 8

# The row behind all shifts: the one-way part that the body drops through, -1 if there is none, and
# where its center would be if it still were on the part.
_DROPPED = MOST_SHIFTED

# The row behind it: whether the latest look at the ground came upon a one-way part.
_ONE_WAY_NEAR = MOST_SHIFTED + 1

# The last row: the box around all looks at the ground since the looks began, seen from above: least
# x and z, greatest x and z, in meters.
_LOOKED = MOST_SHIFTED + 2

# Columns of the moves, a ring of them: the ground's count with this move, the frame before it.
STAMP, BEFORE = 0, 1


@kernel(inline=True)
def _vector(movers: Floats, row: int, place: int) -> Vec3:
    return (float(movers[row, place]), float(movers[row, place + 1]), float(movers[row, place + 2]))


@kernel(inline=True)
def _frame(movers: Floats, row: int, place: int) -> Rigid:
    x, y, z = (
        _vector(movers, row, place),
        _vector(movers, row, place + 3),
        _vector(movers, row, place + 6),
    )
    return Rigid(
        (x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2]), _vector(movers, row, place + 9)
    )


@kernel(noinline=True, no_refcount=True)
def column_of(reaches: Floats, count: int, number: float) -> int:
    """Return the column of a part among the first ``count``, -1 if it has none."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if reaches[REACH_NUMBER, middle] < number:
            low = middle + 1
        else:
            high = middle
    return low if low < count and reaches[REACH_NUMBER, low] == number else -1


@kernel(inline=True, no_refcount=True)
def move_at(movers: Floats, row: int, k: int) -> int:
    """Return the first column of the k-th move that a mover remembers, the latest first."""
    place = int(movers[row, LATEST]) - k
    return MOVES + MOVE_SIZE * (place if place >= 0 else place + MOST_MOVES)


@kernel(inline=True)
def frame_now(movers: Floats, row: int) -> Rigid:
    """Return the frame of a mover as it is."""
    return _frame(movers, row, FRAME)


@kernel
def frame_seen(movers: Floats, row: int, seen: float) -> Rigid:
    """Return the frame as it was when the ground had counted ``seen`` moves.

    That is the frame before the earliest move since, or the frame now if there was none.
    """
    place = FRAME
    for k in range(int(movers[row, REMEMBERED])):
        move = move_at(movers, row, k)
        if movers[row, move + STAMP] <= seen:
            break
        place = move + BEFORE
    return _frame(movers, row, place)


@kernel(inline=True)
def has_moved(movers: Floats, row: int, seen: float) -> bool:
    """Tell whether a mover has been moved with a time since the ground counted ``seen`` moves."""
    return bool(movers[row, LATEST_STAMP] > seen)


@kernel(inline=True)
def remembers(movers: Floats, row: int, seen: float) -> bool:
    """Tell whether a mover still knows its frame at the ground's count of ``seen`` moves."""
    known = int(movers[row, REMEMBERED])
    return bool(known < MOST_MOVES or movers[row, move_at(movers, row, known - 1) + STAMP] <= seen)


@kernel(inline=True)
def is_conveyor(movers: Floats, row: int) -> bool:
    """Tell whether the surface of a mover has a velocity of its own."""
    return bool(
        movers[row, SURFACE] != 0.0
        or movers[row, SURFACE + 1] != 0.0
        or movers[row, SURFACE + 2] != 0.0
    )


@kernel(inline=True)
def surface_velocity(movers: Floats, row: int) -> Vec3:
    """Return the velocity of a conveyor's surface, in its frame."""
    return _vector(movers, row, SURFACE)


@kernel
def velocity_at(movers: Floats, row: int, point: Vec3, moves: bool) -> Vec3:
    """Return the velocity of a point of the world on a mover; if not ``moves``, its frame rests."""
    frame = frame_now(movers, row)
    velocity = turned(frame.rotation, surface_velocity(movers, row))
    if moves:
        arm = subtract(point, frame.position)
        spin = _vector(movers, row, SPIN)
        velocity = add(velocity, point_velocity(_vector(movers, row, VELOCITY), spin, arm))
    return velocity


@kernel(inline=True)
def is_one_way(movers: Floats, row: int) -> bool:
    """Tell whether a mover lets bodies through from behind."""
    return bool(
        movers[row, ONE_WAY] != 0.0
        or movers[row, ONE_WAY + 1] != 0.0
        or movers[row, ONE_WAY + 2] != 0.0
    )


@kernel(inline=True)
def one_way(movers: Floats, row: int) -> Vec3:
    """Return the direction that a one-way mover holds up, in the world."""
    return turned(frame_now(movers, row).rotation, _vector(movers, row, ONE_WAY))


@kernel(inline=True)
def may_meet(movers: Floats, row: int, lower: Vec3, upper: Vec3) -> bool:
    """Tell whether a mover may have come into a box, on any move that it remembers."""
    return bool(
        movers[row, LOWER] <= upper[0]
        and movers[row, UPPER] >= lower[0]
        and movers[row, LOWER + 1] <= upper[1]
        and movers[row, UPPER + 1] >= lower[1]
        and movers[row, LOWER + 2] <= upper[2]
        and movers[row, UPPER + 2] >= lower[2]
    )


@kernel(inline=True)
def may_touch(movers: Floats, row: int, lower: Vec3, upper: Vec3) -> bool:
    """Tell whether the box of a mover as it is overlaps a box."""
    return bool(
        movers[row, BOX] <= upper[0]
        and movers[row, BOX + 3] >= lower[0]
        and movers[row, BOX + 1] <= upper[1]
        and movers[row, BOX + 4] >= lower[1]
        and movers[row, BOX + 2] <= upper[2]
        and movers[row, BOX + 5] >= lower[2]
    )


@kernel(noinline=True, no_refcount=True)
def any_reaches(reaches: Floats, count: int, lower: Vec3, upper: Vec3) -> bool:
    """Tell whether any of the first ``count`` movers may have come into a box; see `may_meet`."""
    found = 0
    for k in range(count):  # all of them, so that several are compared at once
        found |= (
            (reaches[REACH_LOWER, k] <= upper[0])
            & (reaches[REACH_UPPER, k] >= lower[0])
            & (reaches[REACH_LOWER + 1, k] <= upper[1])
            & (reaches[REACH_UPPER + 1, k] >= lower[1])
            & (reaches[REACH_LOWER + 2, k] <= upper[2])
            & (reaches[REACH_UPPER + 2, k] >= lower[2])
        )
    return found != 0


@kernel
def no_part_shifts() -> Floats:
    """Return an empty list of shifts, with room for all."""
    part_shifts = np.empty((MOST_SHIFTED + 3, SHIFT_SIZE), dtype=np.float64)
    part_shifts[0, SHIFTED_PART] = part_shifts[_DROPPED, SHIFTED_PART] = -1.0
    return part_shifts


@kernel
def count_part_shifts(part_shifts: Floats) -> int:
    """Return how many parts are shifted."""
    count = 0
    while count < MOST_SHIFTED and part_shifts[count, SHIFTED_PART] >= 0.0:
        count += 1
    return count


@kernel(inline=True, no_refcount=True)
def end_part_shifts(part_shifts: Floats, count: int) -> None:
    """End the list of shifts after ``count`` of them."""
    if count < MOST_SHIFTED:
        part_shifts[count, SHIFTED_PART] = -1.0


@kernel
def put_part_shift(part_shifts: Floats, k: int, number: float, shift: Vec3) -> None:
    """Write the shift of a part as the k-th and last."""
    part_shifts[k, SHIFTED_PART] = number
    for axis in range(3):
        part_shifts[k, SHIFT + axis] = shift[axis]
    end_part_shifts(part_shifts, k + 1)


@kernel(inline=True, no_refcount=True)
def put_dropped(part_shifts: Floats, number: float, start: Vec3) -> None:
    """Write the part that a body drops through, -1 for none, and where the body was on it."""
    part_shifts[_DROPPED, SHIFTED_PART] = number
    for axis in range(3):
        part_shifts[_DROPPED, SHIFT + axis] = start[axis]


@kernel(inline=True)
def dropped(part_shifts: Floats) -> tuple[float, Vec3]:
    """Return what `put_dropped` wrote."""
    return float(part_shifts[_DROPPED, SHIFTED_PART]), _vector(part_shifts, _DROPPED, SHIFT)


@kernel(inline=True, no_refcount=True)
def note_one_way(part_shifts: Floats, is_near: float) -> None:
    """Note whether a look at the ground came upon a one-way part."""
    part_shifts[_ONE_WAY_NEAR, 0] = is_near


@kernel(inline=True, no_refcount=True)
def is_one_way_near(part_shifts: Floats) -> bool:
    """Return what `note_one_way` wrote."""
    return bool(part_shifts[_ONE_WAY_NEAR, 0] != 0.0)


@kernel(inline=True, no_refcount=True)
def begin_looks(part_shifts: Floats) -> None:
    """Forget all looks at the ground."""
    part_shifts[_LOOKED, 0] = part_shifts[_LOOKED, 1] = np.inf
    part_shifts[_LOOKED, 2] = part_shifts[_LOOKED, 3] = -np.inf


@kernel(inline=True, no_refcount=True)
def note_look(part_shifts: Floats, lower: Vec3, upper: Vec3) -> None:
    """Note a look at the ground in the box lower..upper."""
    part_shifts[_LOOKED, 0] = min(part_shifts[_LOOKED, 0], lower[0])
    part_shifts[_LOOKED, 1] = min(part_shifts[_LOOKED, 1], lower[2])
    part_shifts[_LOOKED, 2] = max(part_shifts[_LOOKED, 2], upper[0])
    part_shifts[_LOOKED, 3] = max(part_shifts[_LOOKED, 3], upper[2])


@kernel(inline=True, no_refcount=True)
def looked(part_shifts: Floats) -> tuple[float, float, float, float]:
    """Return the box around all looks since `begin_looks`: least x and z, greatest x and z."""
    return (
        float(part_shifts[_LOOKED, 0]),
        float(part_shifts[_LOOKED, 1]),
        float(part_shifts[_LOOKED, 2]),
        float(part_shifts[_LOOKED, 3]),
    )


@kernel(inline=True)
def part_shift_at(part_shifts: Floats, k: int) -> Vec3:
    """Return the k-th shift."""
    return _vector(part_shifts, k, SHIFT)


@kernel
def part_shift_of(part_shifts: Floats, number: float) -> Vec3:
    """Return the shift of a part, zero if it has none."""
    k = 0
    while k < MOST_SHIFTED and part_shifts[k, SHIFTED_PART] >= 0.0:
        if part_shifts[k, SHIFTED_PART] == number:
            return part_shift_at(part_shifts, k)
        k += 1
    return (0.0, 0.0, 0.0)


@kernel(inline=True)
def largest_part_shift(part_shifts: Floats) -> float:
    """Return the largest component of all shifts, without those of absent parts."""
    k, most = 0, 0.0
    while k < MOST_SHIFTED and part_shifts[k, SHIFTED_PART] >= 0.0:
        x, y, z = part_shift_at(part_shifts, k)
        if abs(x) < np.inf:
            most = max(most, abs(x), abs(y), abs(z))
        k += 1
    return most


@kernel
def _put_motion(movers: Floats, row: int, seconds: float) -> None:
    """Write a mover's velocity and spin to its row, by its latest move and time."""
    before, now = _frame(movers, row, move_at(movers, row, 0) + BEFORE), _frame(movers, row, FRAME)
    displacement, spin = (
        subtract(now.position, before.position),
        turning(before.rotation, now.rotation, seconds),
    )
    for axis in range(3):
        movers[row, VELOCITY + axis] = displacement[axis] / seconds
        movers[row, SPIN + axis] = spin[axis]
    movers[row, SECONDS] = seconds


@kernel(inline=True)
def _around(movers: Floats, row: int, box: int, low: Vec3, high: Vec3) -> tuple[Vec3, Vec3]:
    """Return the box around the box low..high and that of some columns.

    All axes in one go: the processor takes the smaller of each at the same time.
    """
    a, b = _vector(movers, row, box), _vector(movers, row, box + 3)
    return (
        (min(low[0], a[0]), min(low[1], a[1]), min(low[2], a[2])),
        (max(high[0], b[0]), max(high[1], b[1]), max(high[2], b[2])),
    )


@kernel
def _put_together(movers: Floats, row: int, part: int) -> None:
    """Write the box around the places that a mover remembers in a part of its ring of moves."""
    low, high = (np.inf, np.inf, np.inf), (-np.inf, -np.inf, -np.inf)
    latest, known = int(movers[row, LATEST]), int(movers[row, REMEMBERED])
    for place in range(MOVES_TOGETHER * part, MOVES_TOGETHER * (part + 1)):
        moves_ago = latest - place if place <= latest else latest - place + MOST_MOVES
        if moves_ago < known:
            box = BOXES + BOX_SIZE * place
            low, high = _around(movers, row, box, low, high)
    start = BOXES_TOGETHER + BOX_SIZE * part
    for axis in range(3):
        movers[row, start + axis], movers[row, start + 3 + axis] = low[axis], high[axis]


@kernel(inline=True)
def _remembered_box(movers: Floats, row: int) -> tuple[Vec3, Vec3]:
    """Return the box around a mover and all places that it remembers."""
    low, high = _vector(movers, row, BOX), _vector(movers, row, BOX + 3)
    for part in range(MOST_MOVES // MOVES_TOGETHER):
        low, high = _around(movers, row, BOXES_TOGETHER + BOX_SIZE * part, low, high)
    return low, high


@kernel
def settle_mover(movers: Floats, reaches: Floats, row: int) -> None:
    """Write what follows from the moves that a mover remembers: boxes, velocity, reach."""
    for part in range(MOST_MOVES // MOVES_TOGETHER):
        _put_together(movers, row, part)
    _put_rest(movers, reaches, row)


@kernel
def _put_rest(movers: Floats, reaches: Floats, row: int) -> None:
    """Write what follows from the boxes around the places that a mover remembers."""
    known, seconds = int(movers[row, REMEMBERED]), float(movers[row, SECONDS])
    lower, upper = _remembered_box(movers, row)
    reached = movers[row, IS_MOBILE] != 0.0
    for axis in range(3):
        low, high = lower[axis], upper[axis]
        movers[row, LOWER + axis], movers[row, UPPER + axis] = low, high
        reaches[REACH_LOWER + axis, row - 1] = low if reached else np.inf
        reaches[REACH_UPPER + axis, row - 1] = high if reached else -np.inf
        movers[row, VELOCITY + axis] = movers[row, SPIN + axis] = 0.0
    movers[row, LATEST_STAMP] = movers[row, move_at(movers, row, 0) + STAMP] if known > 0 else -1.0
    reaches[REACH_NUMBER, row - 1] = movers[row, NUMBER]
    if seconds > 0.0:
        _put_motion(movers, row, seconds)


@kernel
def move_mover(
    movers: Floats, reaches: Floats, row: int, frames: Floats, i: int, box: tuple[Vec3, Vec3],
    seconds: float,
) -> None:  # fmt: skip
    """Move a mover to the i-th frame and a box; it is the latest move that the ground has counted.

    It takes some seconds, or it is a teleport in 0.
    """
    count = movers[0, COUNT_OF_MOVES]
    part, end = 0, MOST_MOVES // MOVES_TOGETHER
    if seconds > 0.0:
        place = (int(movers[row, LATEST]) + 1) % MOST_MOVES
        movers[row, LATEST] = place
        movers[row, REMEMBERED] = min(movers[row, REMEMBERED] + 1.0, float(MOST_MOVES))
        movers[row, MOVES + MOVE_SIZE * place + STAMP] = count
        for k in range(12):
            movers[row, MOVES + MOVE_SIZE * place + BEFORE + k] = movers[row, FRAME + k]
        for k in range(BOX_SIZE):
            movers[row, BOXES + BOX_SIZE * place + k] = movers[row, BOX + k]
        movers[row, IS_MOBILE] = 1.0
        part = place // MOVES_TOGETHER  # the others stay as they are
        end = part + 1
    else:
        movers[row, REMEMBERED], movers[row, PUT] = 0.0, count
    movers[row, SECONDS] = seconds
    for k in range(12):
        movers[row, FRAME + k] = frames[i, k]
    for axis in range(3):
        movers[row, BOX + axis], movers[row, BOX + 3 + axis] = box[0][axis], box[1][axis]
    for k in range(part, end):
        _put_together(movers, row, k)
    _put_rest(movers, reaches, row)
