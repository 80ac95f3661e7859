"""Moves of meshes: places in the table of meshes, rows of movers, and the boxes that change."""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.ground.movers import (
    COUNT_OF_MOVES,
    MOST_COUNTED,
    column_of,
    move_mover,
)
from terrain_physics._kernels.math.rotations import put_frames
from terrain_physics._kernels.math.rows import all_within
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.mesh.parts import (
    MESH,
    NUMBER,
    PLACED,
    bounds_of_row,
    place_part,
    row_count,
    row_of_number,
)
from terrain_physics._kernels.mesh.places import POSITION, SCALE
from terrain_physics._kernels.surface.changes import (
    CHANGE_LOWER,
    CHANGE_SPAN,
    CHANGE_UPPER,
    CHANGE_VERSION,
)
from terrain_physics._kernels.surface.shapes import FARTHEST
from terrain_physics._kernels.types import Floats, Int64s

# Fewer changes are looked at one by one.
_MANY = 8


@kernel(inline=True)
def _row_of(table: Int64s, number: int) -> int:
    """Return the row of a mesh, -1 if none has the number."""
    row = row_of_number(table, number)
    is_there = row < row_count(table) and table[row, NUMBER] == number
    return int(row) if is_there and table[row, MESH] != 0 else -1


@kernel
def find_parts(
    table: Int64s, reaches: Floats, count: int, numbers: Int64s, rows: Int64s, places: Int64s
) -> tuple[int, bool, bool]:
    """Write the rows of meshes (n,) in their table, and in that of ``count`` movers, 0 for none.

    Returns n, or else the index of the first number that no mesh has; whether each is there once,
    as far as it is plain: numbers that ascend are; and whether all are movers.
    """
    ascend, move = True, True
    for k in range(len(numbers)):
        number = int(numbers[k])
        row = _row_of(table, number)
        if row < 0:
            return k, ascend, move
        ascend = ascend and (k == 0 or numbers[k - 1] < number)
        rows[k], places[k] = row, column_of(reaches, count, float(number)) + 1
        move = move and places[k] > 0
    return len(numbers), ascend, move


@kernel(inline=True)
def _put_box(changes: Floats, row: int, version: float, lower: Vec3, upper: Vec3) -> None:
    changes[row, CHANGE_VERSION], changes[row, CHANGE_SPAN] = version, 0.0
    for axis in range(3):
        changes[row, CHANGE_LOWER + axis] = lower[axis]
        changes[row, CHANGE_UPPER + axis] = upper[axis]


@kernel
def _put_change(
    changes: Floats, row: int, version: float, before: tuple[Vec3, Vec3], now: tuple[Vec3, Vec3]
) -> int:
    """Write where a part was and is: one box if they touch, else two; return how many."""
    touch = True
    for axis in range(3):
        touch = touch and before[0][axis] <= now[1][axis] and now[0][axis] <= before[1][axis]
    if not touch:
        _put_box(changes, row, version, before[0], before[1])
        _put_box(changes, row + 1, version, now[0], now[1])
        return 2
    a, b = before[0], now[0]
    c, d = before[1], now[1]
    lower = (min(a[0], b[0]), min(a[1], b[1]), min(a[2], b[2]))
    upper = (max(c[0], d[0]), max(c[1], d[1]), max(c[2], d[2]))
    _put_box(changes, row, version, lower, upper)
    return 1


@kernel
def _put_span(changes: Floats, count: int, version: float) -> None:
    """Write the box around the first ``count`` rows behind them."""
    _put_box(changes, count, version, (np.inf, np.inf, np.inf), (-np.inf, -np.inf, -np.inf))
    changes[count, CHANGE_SPAN] = count
    for row in range(count):
        for axis in range(3):
            lower, upper = CHANGE_LOWER + axis, CHANGE_UPPER + axis
            changes[count, lower] = min(changes[count, lower], changes[row, lower])
            changes[count, upper] = max(changes[count, upper], changes[row, upper])


@kernel
def _move(
    table: Int64s, boxes: Floats, links: Int64s, spots: Floats, movers: Floats, reaches: Floats,
    row: int, place: int, poses: Floats, k: int, seconds: float, version: float,
    changes: Floats, end: int,
) -> int:  # fmt: skip
    """Move the mesh of a row and of a place among movers; return how many changes that makes."""
    before = bounds_of_row(table, spots, row)
    now = place_part(table, boxes, links, spots, row, poses, k)
    movers[0, COUNT_OF_MOVES] += 1.0
    if place > 0:
        move_mover(movers, reaches, place, poses, k, now, seconds)
    return _put_change(changes, end, version, before, now)


@kernel(holds_gil=True)
def move_one(
    table: Int64s, boxes: Floats, links: Int64s, spots: Floats, movers: Floats, reaches: Floats,
    count: int, number: int, matrix: Floats, turns: bool, tolerance: float, seconds: float,
    version: float, changes: Floats, end: int, pose: Floats,
) -> int:  # fmt: skip
    """Move one of ``count`` movers as `move_parts` does; -1 if it needs another way to be moved.

    ``matrix`` (16,) is rigid within ``tolerance``; unless it ``turns``, only its position counts.
    The changes are written behind the first ``end``; returns how many there are then. ``pose``
    (1, POSE_SIZE) is room for the pose.
    """
    row, place = _row_of(table, number), column_of(reaches, count, float(number)) + 1
    if row < 0 or place == 0 or movers[0, COUNT_OF_MOVES] + 1.0 == movers[0, COUNT_OF_MOVES]:
        return -1
    if turns:
        if spots[row, SCALE] != 1.0 or put_frames(matrix, tolerance, FARTHEST, pose[0]) == 0:
            return -1
    else:
        for k in range(POSITION):
            own = 1.0 if k % 4 == 0 else 0.0
            pose[0, k] = spots[row, k] if table[row, PLACED] != 0 else own
        for axis in range(3):
            pose[0, POSITION + axis] = matrix[4 * axis + 3]
    tree = table, boxes, links, spots
    return end + _move(*tree, movers, reaches, row, place, pose, 0, seconds, version, changes, end)


@kernel
def move_parts(
    table: Int64s, boxes: Floats, links: Int64s, spots: Floats, movers: Floats, reaches: Floats,
    rows: Int64s, places: Int64s, poses: Floats, seconds: Floats, version: float, changes: Floats,
) -> int:  # fmt: skip
    """Move meshes one after another, each a move that the ground counts.

    ``rows`` and ``places`` (n,) are as of `find_parts`. They move to ``poses`` (n, POSE_SIZE) in so
    many ``seconds`` (n,), or are teleported in 0. Nobody may read meanwhile. Writes the boxes in
    which something has changed to ``changes`` (2 n + 1, CHANGE_SIZE); returns how many rows.
    """
    count = 0
    for k in range(len(rows)):
        count += _move(
            table, boxes, links, spots, movers, reaches, int(rows[k]), int(places[k]), poses, k,
            float(seconds[k]), version, changes, count,
        )  # fmt: skip
    if count < _MANY:
        return count
    _put_span(changes, count, version)
    return count + 1


@kernel
def _put_places(table: Int64s, spots: Floats, rows: Int64s, places: Floats, poses: Floats) -> None:
    """Write the poses of meshes at other places (flat, 3 numbers each); they turn as before."""
    for k in range(len(rows)):
        row = int(rows[k])
        for i in range(POSITION):
            own = 1.0 if i % 4 == 0 else 0.0
            poses[k, i] = spots[row, i] if table[row, PLACED] != 0 else own
        for axis in range(3):
            poses[k, POSITION + axis] = places[3 * k + axis]


@kernel
def move_all(
    table: Int64s, boxes: Floats, links: Int64s, spots: Floats, movers: Floats, reaches: Floats,
    count: int, numbers: Int64s, found: Int64s, given: Floats, turns: bool, tolerance: float,
    seconds: Floats, version: float, changes: Floats, poses: Floats,
) -> int:  # fmt: skip
    """Move many of ``count`` movers as `move_parts` does; -1 if they need another way to be moved.

    Their ``numbers`` (n,) must ascend. ``given`` is flat: matrices that are rigid within
    ``tolerance``, or unless it ``turns``, places. ``found`` (2, n) and ``poses`` (n, POSE_SIZE) are
    room for what they tell.
    """
    many = len(numbers)
    rows, places = found[0], found[1]
    known, ascend, move = find_parts(table, reaches, count, numbers, rows, places)
    if known < many or not ascend or not move or movers[0, COUNT_OF_MOVES] > MOST_COUNTED - many:
        return -1
    if turns:
        for k in range(many):
            if spots[rows[k], SCALE] != 1.0:
                return -1
            if put_frames(given[16 * k : 16 * k + 16], tolerance, FARTHEST, poses[k]) == 0:
                return -1
    else:
        if not all_within(given, FARTHEST):
            return -1
        _put_places(table, spots, rows, given, poses)
    return move_parts(
        table, boxes, links, spots, movers, reaches, rows, places, poses, seconds, version, changes
    )
