"""Sines, cosines and slopes, rounded correctly.

Those of C libraries differ in their last bits: glibc, musl and Windows disagree on the cosines of
53, 55 and 63 degrees. Here whole numbers hold the terms of the power series, in units of 2^-256. No
float64 has a cosine so near to the middle of two others that more bits were needed.
"""

from functools import lru_cache
from math import isqrt

_BITS = 256
_ONE = 1 << _BITS

# So often is an angle halved before the series of its arc tangent.
_HALVINGS = 8


@lru_cache(maxsize=1024)
def cosine(angle: float) -> float:
    """Return the cosine of an angle from 0 to 2 pi."""
    return _series(_ONE, _units(angle), 1)


def sine(angle: float) -> float:
    """Return the sine of an angle from 0 to 2 pi."""
    x = _units(angle)
    return _series(x, x, 2)


def slope(x: float, y: float, z: float) -> float:
    """Return the angle between a vector and +Y, which it does not lead away from.

    It is that of the two lengths across and along, as float64 numbers.
    """
    across = isqrt(_units(x) ** 2 + _units(z) ** 2) / _ONE
    sine, cosine = _units(across), _units(y)
    for _ in range(_HALVINGS):
        cosine += isqrt(sine * sine + cosine * cosine)
    tangent = (sine << _BITS) // cosine
    square, total, k = tangent * tangent >> _BITS, 0, 1
    while tangent:
        total += tangent // k
        tangent = tangent * square >> _BITS
        total -= tangent // (k + 2)
        tangent = tangent * square >> _BITS
        k += 4
    return (total << _HALVINGS) / _ONE


def _units(number: float) -> int:
    above, below = number.as_integer_ratio()
    return (above << _BITS) // below


def _series(term: int, x: int, k: int) -> float:
    """Return the sum of a first term and those after it, each x^2 / (k (k + 1)) of the one before.

    Every second one is subtracted.
    """
    square, total = x * x >> _BITS, 0
    while term:
        total += term
        term = (term * square >> _BITS) // (k * (k + 1))
        total -= term
        term = (term * square >> _BITS) // ((k + 2) * (k + 3))
        k += 4
    return total / _ONE  # a quotient of whole numbers is rounded correctly
