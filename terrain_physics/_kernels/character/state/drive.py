"""A velocity that the game gives a character, by a walk or by writing to it."""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.state.layout import (
    DRIVEN,
    UNDISTURBED,
    VELOCITY,
    put_three_at,
)
from terrain_physics._kernels.types import Floats


@kernel(no_refcount=True, holds_gil=True)
def drive(state: Floats, x: float, y: float, z: float) -> None:
    """Give a character a velocity: it wakes, and friction does not slow it in the next update."""
    put_three_at(state, VELOCITY, (x, y, z))
    state[DRIVEN], state[UNDISTURBED] = 1.0, 0.0
