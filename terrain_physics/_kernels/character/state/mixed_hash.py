"""A 64-bit hash of the numbers of each character, to compare two runs of a game often.

Each number counts by its bits: 0.0 and -0.0 differ, and NaNs are words like others. The words of a
row go around four lanes, and the lanes are put together, as in xxHash64 (Collet 2012). Products and
sums wrap; plain Python gives the same bits, where NumPy is told not to warn of that.
"""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.character.state.layout import LINEAR_SIZE, RULES_SIZE, STATE_SIZE
from terrain_physics._kernels.types import UInt64s

LANES = 4

_A = np.uint64(0x9E3779B185EBCA87)
_B = np.uint64(0xC2B2AE3D27D4EB4F)
_C = np.uint64(0x165667B19E3779F9)
_D = np.uint64(0x85EBCA77C2B2AE63)
_ZERO = np.uint64(0)

# Places of columns are unsigned, as these take a third less time.
_STATE, _RULES, _LINEAR = np.uint64(STATE_SIZE), np.uint64(RULES_SIZE), np.uint64(LINEAR_SIZE)


@kernel(inline=True, no_refcount=True)
def _taken_in(lane: np.uint64, word: np.uint64) -> np.uint64:
    """Return a lane with one more word."""
    lane = lane + word * _B
    lane = (lane << np.uint64(31)) | (lane >> np.uint64(33))
    return lane * _A


@kernel(inline=True, no_refcount=True)
def _put_together(a: np.uint64, b: np.uint64, c: np.uint64, d: np.uint64) -> np.uint64:
    """Return 64 bits of which each depends on all bits of the lanes."""
    mixed = _D
    mixed = (mixed ^ _taken_in(_ZERO, a)) * _A + _D
    mixed = (mixed ^ _taken_in(_ZERO, b)) * _A + _D
    mixed = (mixed ^ _taken_in(_ZERO, c)) * _A + _D
    mixed = (mixed ^ _taken_in(_ZERO, d)) * _A + _D
    mixed = (mixed ^ (mixed >> np.uint64(33))) * _B
    mixed = (mixed ^ (mixed >> np.uint64(29))) * _C
    return mixed ^ (mixed >> np.uint64(32))


@kernel(no_refcount=True)
def put_mixed_hashes(
    states: UInt64s,
    rules: UInt64s,
    linear: UInt64s,
    draws: UInt64s,
    in_state: UInt64s,
    in_rules: UInt64s,
    out: UInt64s,
) -> None:
    """Write a hash of the bits of each of n rows to ``out`` (n,).

    The rows are flat. ``in_state`` and ``in_rules`` are the places of the columns that count, a
    multiple of `LANES` of each; all of ``linear`` and ``draws`` counts.
    """
    for i in range(len(out)):
        row = np.uint64(i)
        state, rule, turn = row * _STATE, row * _RULES, row * _LINEAR
        a, b, c, d = _A + _B, _B, _ZERO, _C
        for k in range(0, len(in_state), LANES):
            a = _taken_in(a, states[state + in_state[k]])
            b = _taken_in(b, states[state + in_state[k + 1]])
            c = _taken_in(c, states[state + in_state[k + 2]])
            d = _taken_in(d, states[state + in_state[k + 3]])
        for k in range(0, len(in_rules), LANES):
            a = _taken_in(a, rules[rule + in_rules[k]])
            b = _taken_in(b, rules[rule + in_rules[k + 1]])
            c = _taken_in(c, rules[rule + in_rules[k + 2]])
            d = _taken_in(d, rules[rule + in_rules[k + 3]])
        for k in range(0, LINEAR_SIZE, 3):
            place = turn + np.uint64(k)
            a = _taken_in(a, linear[place])
            b = _taken_in(b, linear[place + np.uint64(1)])
            c = _taken_in(c, linear[place + np.uint64(2)])
        out[i] = _put_together(a, b, c, _taken_in(d, draws[row]))
