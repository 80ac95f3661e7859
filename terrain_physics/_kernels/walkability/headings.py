"""Headings of others: whether somebody comes against a character that is led.

They are kept by squares of the level, as bits of eight directions: no order of characters counts.
"""

import math
from typing import NamedTuple

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.state.layout import (
    LAST_HEADING,
    POSITION,
    STATE_SIZE,
    VELOCITY,
)
from terrain_physics._kernels.types import Bytes, Floats, Int64s

# In m/s: whoever is slower goes nowhere.
_SLOWEST = 0.1


class Headings(NamedTuple):
    """Squares of the level, and which ways others go there."""

    lower_x: float  # in m
    lower_z: float
    size: float  # of a square, in m
    octants: Bytes  # (rows, columns): a bit for each eighth of the turn


@kernel(inline=True)
def _octant(x: float, z: float) -> int:
    """Return the eighth of the turn that a direction is in; that of the opposite is 4 more."""
    eighth = 4 if z < 0.0 or (z == 0.0 and x < 0.0) else 0
    if eighth == 4:
        x, z = -x, -z
    if x > 0.0:
        return eighth + (0 if x > z else 1)
    return eighth + (2 if z > -x else 3)


@kernel(inline=True, no_refcount=True)
def _square(headings: Headings, x: float, z: float) -> tuple[int, int]:
    """Return the row and column of the square of a point, or of the one nearest to it."""
    rows, columns = headings.octants.shape
    row, column = (z - headings.lower_z) / headings.size, (x - headings.lower_x) / headings.size
    return int(min(max(row, 0.0), rows - 1.0)), int(min(max(column, 0.0), columns - 1.0))


@kernel(no_refcount=True)
def put_headings(headings: Headings, states: Floats, others: Int64s) -> None:
    """Write which ways others go, who have these rows: where they want to go, if that is known."""
    for k in range(len(others)):
        state = states[int(others[k]) * STATE_SIZE :]
        x, z = float(state[LAST_HEADING]), float(state[LAST_HEADING + 1])
        if x == 0.0 and z == 0.0:
            x, z = float(state[VELOCITY]), float(state[VELOCITY + 2])
            if math.sqrt(x * x + z * z) < _SLOWEST:
                continue
        row, column = _square(headings, float(state[POSITION]), float(state[POSITION + 2]))
        headings.octants[row, column] |= 1 << _octant(x, z)


@kernel(no_refcount=True)
def is_opposed(headings: Headings, at_x: float, at_z: float, x: float, z: float) -> bool:
    """Tell whether somebody near a point goes against a direction, or nearly so."""
    if x == 0.0 and z == 0.0:
        return False
    opposite = _octant(x, z) + 4
    against = 0
    for turn in range(-1, 2):
        against |= 1 << ((opposite + turn) % 8)
    rows, columns = headings.octants.shape
    row, column = _square(headings, at_x, at_z)
    for near_row in range(max(row - 1, 0), min(row + 2, rows)):
        for near_column in range(max(column - 1, 0), min(column + 2, columns)):
            if int(headings.octants[near_row, near_column]) & against != 0:
                return True
    return False
