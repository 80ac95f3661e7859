"""How far a body in a crowd may go in one update: fences between it and those around it.

Two bodies share the gap that was between them before the update, so that neither meets the other,
whatever else happens to them. What a body may not cross is an upright plane, a fence; those around
it bound a convex region that it starts in.
"""

import math

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.tolerances import HALF_PLANE_SLACK, PARALLEL_HALF_PLANES_SINE
from terrain_physics._kernels.types import Floats

# Columns of a row of a crowd. Ways and velocities are horizontal, two numbers each; ways are from
# where the body was before the update, and before anything carried it.
COUNT = 0  # of fences
ROOM = 1  # how far it may go in any direction: farther nobody looked, or found room for fences
ALONE_DISPLACEMENT = 2  # that it would go if it were alone, in meters
IS_PUSHED = 4  # 1: others have it go another way than its own
PUSHED_DISPLACEMENT = 5  # that it goes then
UNPUSHED_DISPLACEMENT = 7  # how far it would get without that
KEPT = 9  # its own velocity after that, in m/s
IS_HELD = 11  # 1: others may push it, so that walls matter to them
IS_TRIED = 12  # 1: a step led behind a fence
TOP_BELOW = 13  # how high the head is that it falls on at most; -inf: none is below it
CHARACTER_BELOW = 14  # the place of that character in its group
HOLDS = 15  # 1: it stands on heads; 0: it slides off them
HALF_PLANES = 16

# Fences that a body has at most: the nearest.
MOST_HALF_PLANES = 32

# Columns of a fence: a unit normal, how far along it the body may go, and who is behind it: the
# place of a character in its group, or A_WALL.
LIMIT, BEHIND = 2, 3
HALF_PLANE_SIZE = 4

A_WALL = -1.0

CROWD_SIZE = HALF_PLANES + MOST_HALF_PLANES * HALF_PLANE_SIZE


@kernel(inline=True, no_refcount=True)
def clear_half_planes(row: Floats) -> None:
    """Take all fences away."""
    row[COUNT], row[ROOM] = 0.0, np.inf


@kernel
def put_half_plane(row: Floats, x: float, z: float, limit: float, behind: float) -> None:
    """Add a fence to those of a row, in the order of their numbers; the farthest makes room."""
    count = int(row[COUNT])
    place = count
    while place > 0:
        at = HALF_PLANES + (place - 1) * HALF_PLANE_SIZE
        a, b, c = float(row[at + LIMIT]), float(row[at]), float(row[at + 1])
        if a < limit or (a == limit and (b < x or (b == x and c <= z))):
            break
        if place == MOST_HALF_PLANES:
            row[ROOM] = min(row[ROOM], max(a, 0.0))
        else:
            for column in range(at, at + HALF_PLANE_SIZE):
                row[column + HALF_PLANE_SIZE] = row[column]
        place -= 1
    if place == MOST_HALF_PLANES:
        row[ROOM] = min(row[ROOM], limit)
        return
    at = HALF_PLANES + place * HALF_PLANE_SIZE
    row[at], row[at + 1], row[at + LIMIT], row[at + BEHIND] = x, z, limit, behind
    row[COUNT] = min(count + 1, MOST_HALF_PLANES)


@kernel
def _project_on_half_plane(row: Floats, k: int, x: float, z: float) -> tuple[float, float]:
    """Return the place nearest to another one that lies on a fence and not behind those before."""
    at = HALF_PLANES + k * HALF_PLANE_SIZE
    nx, nz, limit = float(row[at]), float(row[at + 1]), float(row[at + LIMIT])
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
    if low > high:  # to rounding, where the body started is all there is
        return 0.0, 0.0
    t = min(max(z * nx - x * nz, low), high)
    return limit * nx - t * nz, limit * nz + t * nx


@kernel
def within_half_planes(row: Floats, x: float, z: float) -> tuple[float, float]:
    """Return the place nearest to another one that is behind no fence.

    Fences are met one after another; the place nearest to where the way leads is always the one
    for those that were met, so the answer is the same in any order but for rounding.
    """
    to_x, to_z = x, z
    for k in range(int(row[COUNT])):
        at = HALF_PLANES + k * HALF_PLANE_SIZE
        if row[at] * to_x + row[at + 1] * to_z > row[at + LIMIT]:
            to_x, to_z = _project_on_half_plane(row, k, x, z)
    size = math.sqrt(to_x * to_x + to_z * to_z)
    if size > row[ROOM]:
        share = float(row[ROOM]) / size
        to_x, to_z = share * to_x, share * to_z
    return to_x, to_z


@kernel
def is_behind_half_plane(row: Floats, x: float, z: float) -> bool:
    """Tell whether a place, relative to where the body started, is behind one of its fences.

    Walls see to themselves.
    """
    room = float(row[ROOM]) + HALF_PLANE_SLACK
    if x * x + z * z > room * room:
        return True
    for k in range(int(row[COUNT])):
        at = HALF_PLANES + k * HALF_PLANE_SIZE
        along = row[at] * x + row[at + 1] * z
        if row[at + BEHIND] != A_WALL and along > row[at + LIMIT] + HALF_PLANE_SLACK:
            return True
    return False


@kernel(inline=True)
def without(x: float, z: float, taken_x: float, taken_z: float) -> tuple[float, float]:
    """Return a velocity without its part against what was taken, and no more than that."""
    size2 = taken_x * taken_x + taken_z * taken_z
    along = x * taken_x + z * taken_z
    if size2 == 0.0 or along >= 0.0:
        return x, z
    part = max(along / size2, -1.0)
    return x - part * taken_x, z - part * taken_z
