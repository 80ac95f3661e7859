"""Moves of meshes: places in the table of meshes, rows of movers, and the boxes that change."""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.ground.movers import COUNT_OF_MOVES, column_of, move_mover
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.mesh.parts import (
    MESH,
    NUMBER,
    bounds_of_row,
    place_part,
    row_count,
    row_of_number,
)
from terrain_physics._kernels.surface.changes import (
    CHANGE_LOWER,
    CHANGE_SPAN,
    CHANGE_UPPER,
    CHANGE_VERSION,
)
from terrain_physics._kernels.types import Floats, Int64s

# Fewer changes are looked at one by one.
_MANY = 8


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
        row = row_of_number(table, number)
        is_there = row < row_count(table) and table[row, NUMBER] == number
        if not is_there or table[row, MESH] == 0:
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
        row, place = int(rows[k]), int(places[k])
        before = bounds_of_row(table, spots, row)
        now = place_part(table, boxes, links, spots, row, poses, k)
        movers[0, COUNT_OF_MOVES] += 1.0
        if place > 0:
            move_mover(movers, reaches, place, poses, k, now, float(seconds[k]))
        count += _put_change(changes, count, version, before, now)
    if count < _MANY:
        return count
    _put_span(changes, count, version)
    return count + 1
