"""A 64-bit hash of the numbers of each character, to compare two runs of a game often.

Each number counts by its bits: 0.0 and -0.0 differ, and NaNs are words like others. The words of a
row go around four lanes, and the lanes are put together with the constants of xxHash64 (Collet
2012). Products and sums wrap; plain Python gives the same bits, where NumPy is told not to warn.
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
from terrain_physics._kernels.types import UInt64s

_LANES = 4

_A = np.uint64(0x9E3779B185EBCA87)
_B = np.uint64(0xC2B2AE3D27D4EB4F)
_C = np.uint64(0x165667B19E3779F9)
_D = np.uint64(0x85EBCA77C2B2AE63)
_ZERO = np.uint64(0)


def _hashed(layout: Layout) -> UInt64s:
    """Return the places of hashed columns; the last one counts again until all lanes have one."""
    places = layout.hashed()
    return np.array(places + places[-1:] * (-len(places) % _LANES), dtype=np.uint64)


# Constants, and unsigned: so they take half the time of arguments that could be below 0.
_IN_STATE, _IN_RULES = _hashed(STATE), _hashed(RULES)
_STATE, _RULES, _LINEAR = np.uint64(STATE_SIZE), np.uint64(RULES_SIZE), np.uint64(LINEAR_SIZE)


@kernel(inline=True, no_refcount=True)
def _taken_in(lane: np.uint64, word: np.uint64) -> np.uint64:
    """Return a lane with one more word."""
    both = lane ^ word
    return ((both << np.uint64(31)) | (both >> np.uint64(33))) * _A


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
    out: UInt64s,
) -> None:
    """Write a hash of the bits of each of n rows, which are flat, to ``out`` (n,)."""
    for i in range(len(out)):
        row = np.uint64(i)
        state, rule, turn = row * _STATE, row * _RULES, row * _LINEAR
        a, b, c, d = _A + _B, _B, _ZERO, _C
        for k in range(0, len(_IN_STATE), _LANES):
            a = _taken_in(a, states[state + _IN_STATE[k]])
            b = _taken_in(b, states[state + _IN_STATE[k + 1]])
            c = _taken_in(c, states[state + _IN_STATE[k + 2]])
            d = _taken_in(d, states[state + _IN_STATE[k + 3]])
        for k in range(0, len(_IN_RULES), _LANES):
            a = _taken_in(a, rules[rule + _IN_RULES[k]])
            b = _taken_in(b, rules[rule + _IN_RULES[k + 1]])
            c = _taken_in(c, rules[rule + _IN_RULES[k + 2]])
            d = _taken_in(d, rules[rule + _IN_RULES[k + 3]])
        for k in range(0, LINEAR_SIZE, 3):
            place = turn + np.uint64(k)
            a = _taken_in(a, linear[place])
            b = _taken_in(b, linear[place + np.uint64(1)])
            c = _taken_in(c, linear[place + np.uint64(2)])
        out[i] = _put_together(a, b, c, _taken_in(d, draws[row]))
