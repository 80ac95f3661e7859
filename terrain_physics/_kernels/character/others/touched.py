"""What a body remembers of others: those it touches, and how far its heading turns among them."""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.others.half_planes import (
    A_WALL,
    ALONE_DISPLACEMENT,
    BEYOND,
    COUNT,
    HALF_PLANE_SIZE,
    HALF_PLANES,
    OTHER,
    TOUCHES,
)
from terrain_physics._kernels.character.state.layout import (
    CIRCLING,
    LAST_HEADING,
    MOST_TOUCHED,
    TOUCHED,
)
from terrain_physics._kernels.types import Floats

# Turn of a heading after which a body no longer goes aside, nor pushes more than its mass lets it:
# its goal is near, so that it would go round and round the others there.
_MOST_TURN = 0.5  # radians

# A turn is forgotten as fast as a body gets on, from a least share of its own displacement on.
_FORGOTTEN = 4.0  # shares of _MOST_TURN per second
_LEAST_PROGRESS = 0.1


@kernel(no_refcount=True)
def is_touched(state: Floats, other: float) -> bool:
    """Tell whether a body touched another one, known by its rank, as the last update ended."""
    for t in range(MOST_TOUCHED):
        if state[TOUCHED + t] == other:
            return True
    return False


@kernel(no_refcount=True)
def _remember_touched(state: Floats, crowd: Floats) -> None:
    """Write the others that a body touches, the nearest first."""
    count = 0
    for k in range(int(crowd[COUNT])):
        line = HALF_PLANES + k * HALF_PLANE_SIZE
        if count < MOST_TOUCHED and crowd[line + BEYOND] != A_WALL and crowd[line + TOUCHES] == 1.0:
            state[TOUCHED + count] = crowd[line + OTHER]
            count += 1
    for t in range(count, MOST_TOUCHED):
        state[TOUCHED + t] = 0.0


@kernel(no_refcount=True)
def _remember_heading(
    state: Floats, x: float, z: float, to_x: float, to_z: float, seconds: float
) -> None:
    """Write the heading of a body, and how far it turns while the body hardly gets on.

    The body wanted to go by (x, z), and went by (to_x, to_z).
    """
    far, turn, progress = math.sqrt(x * x + z * z), 0.0, 1.0
    if far > 0.0:
        progress = (x * to_x + z * to_z) / (far * far)
        x, z = x / far, z / far
        before_x, before_z = float(state[LAST_HEADING]), float(state[LAST_HEADING + 1])
        turn = abs(before_x * z - before_z * x)
        if before_x * x + before_z * z < 0.0:
            turn = 1.0
    forgotten = _FORGOTTEN * seconds * min(max(progress - _LEAST_PROGRESS, 0.0), 1.0)
    circling = state[CIRCLING] + turn / _MOST_TURN - forgotten
    state[LAST_HEADING], state[LAST_HEADING + 1] = x + 0.0, z + 0.0
    state[CIRCLING] = min(max(circling, 0.0), 1.0)


@kernel(noinline=True, no_refcount=True)
def remember_others(
    state: Floats, crowd: Floats, carried_x: float, carried_z: float, x: float, z: float,
    seconds: float,
) -> None:  # fmt: skip
    """Write what a body remembers of the others, after it has gone by (x, z) in an update.

    Its moving base has carried it by the first two numbers. Far from all others it forgets them.
    """
    _remember_touched(state, crowd)
    if crowd[COUNT] > 0.0:
        wanted_x, wanted_z = crowd[ALONE_DISPLACEMENT], crowd[ALONE_DISPLACEMENT + 1]
        _remember_heading(
            state, wanted_x - carried_x, wanted_z - carried_z, x - carried_x, z - carried_z, seconds
        )
    else:
        state[LAST_HEADING] = state[LAST_HEADING + 1] = state[CIRCLING] = 0.0


@kernel(inline=True, no_refcount=True)
def remembers_others(state: Floats, crowd: Floats) -> bool:
    """Tell whether there are others that a body may remember, or has remembered."""
    return len(crowd) > 0 and (
        crowd[COUNT] > 0.0
        or state[LAST_HEADING] != 0.0
        or state[LAST_HEADING + 1] != 0.0
        or state[TOUCHED] != 0.0
        or state[CIRCLING] != 0.0
    )
