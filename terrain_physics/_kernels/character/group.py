"""Many characters by one call: each as if it were alone."""

from terrain_physics._kernels._intrinsics import borrow, keep
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.layout import LIFTED, ROUNDS
from terrain_physics._kernels.character.resolve import borrow_memory, make_memory
from terrain_physics._kernels.character.update import advance, is_at_rest
from terrain_physics._kernels.surface.ground_arrays import ground_at
from terrain_physics._kernels.types import Floats, Longs, Words


@kernel
def update_many(
    states: Floats,
    random_states: Words,
    rules: Floats,
    delta_time: float,
    first: int,
    last: int,
    table: Longs,
) -> None:
    """Advance characters first..last by one update: (n, STATE_SIZE), (n,), (n, RULES_SIZE)."""
    ground = ground_at(table)
    memory = make_memory()
    states, random_states, rules = borrow(states), borrow(random_states), borrow(rules)
    for i in range(first, last):
        if is_at_rest(states[i], rules[i]):
            states[i, ROUNDS] = states[i, LIFTED] = 0.0
        else:
            advance(
                states[i],
                random_states[i : i + 1],
                rules[i],
                ground,
                delta_time,
                borrow_memory(memory),
            )
    keep(memory)
