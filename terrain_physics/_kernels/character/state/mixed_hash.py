"""A 64-bit hash of the numbers of each character, to compare two runs of a game often.

Each number counts by its bits: 0.0 and -0.0 differ, and NaNs are words like others. The words of a
row go around four lanes, and the lanes are put together.
"""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.state.columns import Layout
from terrain_physics._kernels.character.state.layout import (
    LINEAR_SIZE,
    RULES,
    RULES_SIZE,
    STATE,
    STATE_SIZE,
)
from terrain_physics._kernels.math.mixed_words import ZERO, A, B, C, put_together, taken_in
from terrain_physics._kernels.types import UInt64s

_LANES = 4


def _hashed(layout: Layout) -> UInt64s:
    """Return the places of hashed columns; the last one counts again until all lanes have one."""
    places = layout.hashed()
    return np.array(places + places[-1:] * (-len(places) % _LANES), dtype=np.uint64)


# Constants, and unsigned: so they take half the time of arguments that could be below 0.
_IN_STATE, _IN_RULES = _hashed(STATE), _hashed(RULES)
_STATE, _RULES, _LINEAR = np.uint64(STATE_SIZE), np.uint64(RULES_SIZE), np.uint64(LINEAR_SIZE)


@kernel(no_refcount=True)
def put_mixed_hashes(
    states: UInt64s,
    rules: UInt64s,
    linear: UInt64s,
    draws: UInt64s,
    out: UInt64s,
) -> None:
    """Write a hash of the bits of each of n rows, which are flat, to ``out`` (n,)."""
    for i in range(len(out)):
        row = np.uint64(i)
        state, rule, turn = row * _STATE, row * _RULES, row * _LINEAR
        a, b, c, d = A + B, B, ZERO, C
        for k in range(0, len(_IN_STATE), _LANES):
            a = taken_in(a, states[state + _IN_STATE[k]])
            b = taken_in(b, states[state + _IN_STATE[k + 1]])
            c = taken_in(c, states[state + _IN_STATE[k + 2]])
            d = taken_in(d, states[state + _IN_STATE[k + 3]])
        for k in range(0, len(_IN_RULES), _LANES):
            a = taken_in(a, rules[rule + _IN_RULES[k]])
            b = taken_in(b, rules[rule + _IN_RULES[k + 1]])
            c = taken_in(c, rules[rule + _IN_RULES[k + 2]])
            d = taken_in(d, rules[rule + _IN_RULES[k + 3]])
        for k in range(0, LINEAR_SIZE, 3):
            place = turn + np.uint64(k)
            a = taken_in(a, linear[place])
            b = taken_in(b, linear[place + np.uint64(1)])
            c = taken_in(c, linear[place + np.uint64(2)])
        out[i] = put_together(a, b, c, taken_in(d, draws[row]))
