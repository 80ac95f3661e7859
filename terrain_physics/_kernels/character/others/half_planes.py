"""Half-plane constraints of a body in a crowd, as in ORCA: the region that it may move in.

Two bodies share the gap that was between them before the update. Each body keeps within a
half-plane bounded by a line in that gap, so that they cannot collide, however each of them moves.
The half-planes of a body bound a convex region, in which it starts.
"""

import math

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.tolerances import HALF_PLANE_SLACK, PARALLEL_HALF_PLANES_SINE
from terrain_physics._kernels.types import Floats

# Columns of a row of a crowd. Displacements and velocities are horizontal, two numbers each;
# displacements are from the place before the update, and before a moving base carried the body.
COUNT = 0  # of half-planes
ROOM = 1  # how far it may go in any direction: neighbors farther away are not known
ALONE_DISPLACEMENT = 2  # its displacement if it were alone, in meters
IS_PUSHED = 4  # 1: contact impulses change its displacement
PUSHED_DISPLACEMENT = 5  # the displacement with them
UNPUSHED_DISPLACEMENT = 7  # without them, within the half-planes
KEPT = 9  # its own velocity after the push, in m/s
IS_PUSHABLE = 11  # 1: others may push it, so that the crowd solver needs the walls near it
IS_TRIED = 12  # 1: a step ended outside a half-plane
TOP_BELOW = 13  # height of the top of the character below, where a fall ends; -inf: none is below
CHARACTER_BELOW = 14  # the index of that character in its group
HOLDS = 15  # 1: it stands on that character; 0: it slides off
# How many characters that it pushes move before it, one after another; < 0: it has moved.
TURN = 16
HALF_PLANES = 17

# Most half-planes of a body; it keeps the nearest.
MOST_HALF_PLANES = 32

# Columns of a half-plane: a unit normal, how far along it the body may go, and the obstacle beyond
# its line: the index of a character in its group, or A_WALL. Of a character: the speed at which
# both approach each other, in m/s, and the part that the body loses, both 0 if they touched as the
# last update ended; the other's RANK; and 1 if they still touch, or WILL_TOUCH.
LIMIT, BEYOND, APPROACH, LOSS, OTHER, TOUCHES = 2, 3, 4, 5, 6, 7
HALF_PLANE_SIZE = 8

A_WALL = -1.0

# The crowd solver has them touch in this update.
WILL_TOUCH = 2.0

CROWD_SIZE = HALF_PLANES + MOST_HALF_PLANES * HALF_PLANE_SIZE


@kernel(inline=True, no_refcount=True)
def is_pushed(row: Floats) -> bool:
    """Tell whether contact impulses change the displacement of a character."""
    return len(row) > 0 and row[IS_PUSHED] != 0.0


@kernel(inline=True, no_refcount=True)
def has_turn(row: Floats) -> bool:
    """Tell whether it is a character's turn to move, in this pass over all."""
    return len(row) == 0 or row[TURN] == 0.0


@kernel(inline=True, no_refcount=True)
def is_pushable(row: Floats) -> bool:
    """Tell whether others may push a character, so that the solver needs the walls near it."""
    return len(row) > 0 and row[IS_PUSHABLE] != 0.0


@kernel(inline=True, no_refcount=True)
def is_among_others(row: Floats) -> bool:
    """Tell whether others push a character, or keep it within half-planes."""
    return len(row) > 0 and (row[COUNT] > 0.0 or row[IS_PUSHED] != 0.0)


@kernel(inline=True, no_refcount=True)
def has_met_others(row: Floats) -> bool:
    """Tell whether others pushed or blocked a character in an update."""
    return len(row) > 0 and (row[IS_PUSHED] != 0.0 or row[IS_TRIED] != 0.0)


@kernel(inline=True, no_refcount=True)
def clear_half_planes(row: Floats) -> None:
    """Remove all half-planes."""
    row[COUNT], row[ROOM] = 0.0, np.inf


@kernel
def put_half_plane(row: Floats, x: float, z: float, limit: float, beyond: float) -> int:
    """Insert a half-plane into a row, sorted by limit; a full row drops the farthest one.

    Returns its place in the row; -1 if it is dropped itself.
    """
    count = int(row[COUNT])
    place = count
    while place > 0:
        line = HALF_PLANES + (place - 1) * HALF_PLANE_SIZE
        a, b, c = float(row[line + LIMIT]), float(row[line]), float(row[line + 1])
        if a < limit or (a == limit and (b < x or (b == x and c <= z))):
            break
        if place == MOST_HALF_PLANES:
            row[ROOM] = min(row[ROOM], max(a, 0.0))
        else:
            for column in range(line, line + HALF_PLANE_SIZE):
                row[column + HALF_PLANE_SIZE] = row[column]
        place -= 1
    if place == MOST_HALF_PLANES:
        row[ROOM] = min(row[ROOM], limit)
        return -1
    line = HALF_PLANES + place * HALF_PLANE_SIZE
    row[line], row[line + 1], row[line + LIMIT], row[line + BEYOND] = x, z, limit, beyond
    row[COUNT] = min(count + 1, MOST_HALF_PLANES)
    return line


@kernel
def _project_on_half_plane(row: Floats, k: int, x: float, z: float) -> tuple[float, float]:
    """Return the nearest place on a half-plane's line that satisfies the half-planes before it."""
    line = HALF_PLANES + k * HALF_PLANE_SIZE
    nx, nz, limit = float(row[line]), float(row[line + 1]), float(row[line + LIMIT])
    low, high = -np.inf, np.inf
    for i in range(k):
        other = HALF_PLANES + i * HALF_PLANE_SIZE
        ox, oz = float(row[other]), float(row[other + 1])
        along = oz * nx - ox * nz
        left = float(row[other + LIMIT]) - limit * (ox * nx + oz * nz)
        if along > PARALLEL_HALF_PLANES_SINE:
            high = min(high, left / along)
        elif along < -PARALLEL_HALF_PLANES_SINE:
            low = max(low, left / along)
    if low > high:  # but for rounding, only the place where the body started is left
        return 0.0, 0.0
    t = min(max(z * nx - x * nz, low), high)
    return limit * nx - t * nz, limit * nz + t * nx


@kernel
def within_half_planes(row: Floats, x: float, z: float) -> tuple[float, float]:
    """Return the nearest place that satisfies all half-planes: a linear program, as in ORCA.

    Half-planes are added one after another. The place is always the nearest one for those added so
    far, so that their order changes the result by no more than rounding.
    """
    to_x, to_z = x, z
    for k in range(int(row[COUNT])):
        line = HALF_PLANES + k * HALF_PLANE_SIZE
        if row[line] * to_x + row[line + 1] * to_z > row[line + LIMIT]:
            to_x, to_z = _project_on_half_plane(row, k, x, z)
    size = math.sqrt(to_x * to_x + to_z * to_z)
    if size > row[ROOM]:
        share = float(row[ROOM]) / size
        to_x, to_z = share * to_x, share * to_z
    return to_x, to_z


@kernel
def is_outside_half_planes(row: Floats, x: float, z: float) -> bool:
    """Tell whether a place, relative to where the body started, is outside its half-planes.

    Half-planes of walls do not count, as the walk itself collides with walls.
    """
    room = float(row[ROOM]) + HALF_PLANE_SLACK
    if x * x + z * z > room * room:
        return True
    for k in range(int(row[COUNT])):
        line = HALF_PLANES + k * HALF_PLANE_SIZE
        along = row[line] * x + row[line + 1] * z
        if row[line + BEYOND] != A_WALL and along > row[line + LIMIT] + HALF_PLANE_SLACK:
            return True
    return False


@kernel(inline=True)
def without(x: float, z: float, taken_x: float, taken_z: float) -> tuple[float, float]:
    """Return a velocity without its component against a change, at most as long as the change."""
    size2 = taken_x * taken_x + taken_z * taken_z
    along = x * taken_x + z * taken_z
    if size2 == 0.0 or along >= 0.0:
        return x, z
    part = max(along / size2, -1.0)
    return x - part * taken_x, z - part * taken_z
