"""Random numbers from a uint64 that the caller keeps: splitmix64, and unbiased bounded integers.

Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014. Products and sums modulo
2**64 are put together from 32-bit halves, so that nothing ever wraps: plain Python, where NumPy
warns about wrapping, gives the same bits without a warning.
"""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.types import Int64s, UInt64s

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


@kernel
def _add(a: np.uint64, b: np.uint64) -> np.uint64:
    """Return a + b modulo 2**64."""
    low = (a & _LOW) + (b & _LOW)
    high = ((a >> _HALF) + (b >> _HALF) + (low >> _HALF)) & _LOW
    return (high << _HALF) | (low & _LOW)


@kernel
def _multiply(a: np.uint64, b: np.uint64) -> np.uint64:
    """Return a * b modulo 2**64."""
    low = (a & _LOW) * (b & _LOW)
    high = ((a >> _HALF) * (b & _LOW) & _LOW) + ((a & _LOW) * (b >> _HALF) & _LOW) + (low >> _HALF)
    return ((high & _LOW) << _HALF) | (low & _LOW)


@kernel
def mixed(z: np.uint64) -> np.uint64:
    """Return 64 bits of which each depends on all of another 64."""
    z = _multiply(z ^ (z >> np.uint64(30)), np.uint64(0xBF58476D1CE4E5B9))
    z = _multiply(z ^ (z >> np.uint64(27)), np.uint64(0x94D049BB133111EB))
    return z ^ (z >> np.uint64(31))


@kernel
def next_uint64(state: UInt64s) -> np.uint64:
    """Advance ``state`` (1,) and return 64 random bits."""
    state[0] = _add(state[0], np.uint64(0x9E3779B97F4A7C15))
    return mixed(state[0])


@kernel
def random_below(state: UInt64s, bound: int) -> int:
    """Return a uniform integer from 0 to bound - 1 (Lemire 2019); 1 <= bound < 2**32."""
    n = np.uint64(bound)
    threshold = (np.uint64(1 << 32) - n) % n
    while True:
        product = (next_uint64(state) >> _HALF) * n
        if (product & _LOW) >= threshold:
            return int(product >> _HALF)


@kernel
def shuffle(state: UInt64s, order: Int64s, count: int) -> None:
    """Shuffle the first ``count`` entries (Fisher-Yates); fewer than two draw no number."""
    for i in range(count - 1, 0, -1):
        k = random_below(state, i + 1)
        order[i], order[k] = order[k], order[i]
