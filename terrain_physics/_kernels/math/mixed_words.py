"""Mixing of words to hashes of 64 bits, with the constants of xxHash64 (Collet 2012).

Products and sums wrap; plain Python gives the same bits, where NumPy is told not to warn.
"""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.types import UInt32s, UInt64s

A = np.uint64(0x9E3779B185EBCA87)
B = np.uint64(0xC2B2AE3D27D4EB4F)
C = np.uint64(0x165667B19E3779F9)
_D = np.uint64(0x85EBCA77C2B2AE63)
ZERO = np.uint64(0)

# Bits of float32.
_SIGN, _INFINITE, _NAN = np.uint64(0x80000000), np.uint64(0x7F800000), np.uint64(0x7FC00000)


@kernel(inline=True, no_refcount=True)
def taken_in(lane: np.uint64, word: np.uint64) -> np.uint64:
    """Return a lane with one more word."""
    both = lane ^ word
    return ((both << np.uint64(31)) | (both >> np.uint64(33))) * A


@kernel(inline=True, no_refcount=True)
def put_together(a: np.uint64, b: np.uint64, c: np.uint64, d: np.uint64) -> np.uint64:
    """Return 64 bits of which each depends on all bits of four lanes."""
    mixed = _D
    mixed = (mixed ^ taken_in(ZERO, a)) * A + _D
    mixed = (mixed ^ taken_in(ZERO, b)) * A + _D
    mixed = (mixed ^ taken_in(ZERO, c)) * A + _D
    mixed = (mixed ^ taken_in(ZERO, d)) * A + _D
    mixed = (mixed ^ (mixed >> np.uint64(33))) * B
    mixed = (mixed ^ (mixed >> np.uint64(29))) * C
    return mixed ^ (mixed >> np.uint64(32))


@kernel(no_refcount=True)
def put_square_hash(words: UInt32s, row: int, column: int, out: UInt64s) -> None:
    """Write the hash of a square of a map at a row and a column to ``out`` (1,).

    Its words (n,) are the bits of float32, or numbers of 8 bits. Values count: zeros of both signs
    are equal, and so are all NaNs.
    """
    lane = B
    for k in range(len(words)):
        word = np.uint64(words[k])
        size = word & ~_SIGN
        if size > _INFINITE:
            word = _NAN
        elif size == np.uint64(0):
            word = size
        lane = taken_in(lane, word)
    out[0] = put_together(lane, np.uint64(len(words)), np.uint64(row), np.uint64(column))
