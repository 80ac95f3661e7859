"""Teleports and nudges: a body that the game has put elsewhere."""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.state.layout import (
    LAST_PLACE,
    MOVES_SEEN,
    POSITION,
    STEP_OFFSET,
    ZERO_IN_THE_AIR,
    three_at,
)
from terrain_physics._kernels.math.vec3 import length, subtract
from terrain_physics._kernels.surface.shapes import Body
from terrain_physics._kernels.types import Floats


@kernel(inline=True, no_refcount=True)
def step_height(rules: Floats, body: Body) -> float:
    """Return the height of the highest step that a body climbs, in meters."""
    return min(float(rules[STEP_OFFSET]), body.half_extents[1])


@kernel(no_refcount=True)
def teleport_or_nudge(state: Floats, rules: Floats, body: Body) -> bool:
    """Tell whether the game has put a body elsewhere since the last update.

    Up to the height of the highest step, or the body's least half extent if that is more, it is a
    nudge: the body keeps its footing. Farther it is a teleport: the body is in the air.
    """
    displacement = subtract(three_at(state, POSITION), three_at(state, LAST_PLACE))
    if displacement == (0.0, 0.0, 0.0):
        return False
    if length(displacement) > max(step_height(rules, body), body.least):
        for place in ZERO_IN_THE_AIR:
            state[place] = 0.0
        state[MOVES_SEEN] = -1.0
    return True
