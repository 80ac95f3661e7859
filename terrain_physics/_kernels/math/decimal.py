"""Numbers as decimal text: whole numbers, and floats in the fewest digits that read back the same.

Raffaello Giulietti, "The Schubfach way to render doubles", 2020. The decimal numbers that read back
as a float are those between the middles to its neighbors. The largest power of ten that is not
longer than this interval has a multiple in it, or several; a multiple of ten times that power has
fewer digits, and wins if one is there. Only whole numbers are compared: the float and the ends of
its interval in quarters of the power, cut off, and made odd if anything was cut. They are products
with 126 bits of the power, from a table, and no product is rounded.
"""

import math
from functools import cache

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.types import Bytes, Int64s, read_only

_ZERO, _POINT, _MINUS, _PLUS, _E = 48, 46, 45, 43, 101

# Of a float64: bits of its fraction, and the exponent of a subnormal's last bit.
_FRACTION_BITS, _LEAST_EXPONENT = 52, -1074
_MAGNITUDE = (1 << 63) - 1
_FRACTION = (1 << _FRACTION_BITS) - 1

# Products are made of pieces of 30 bits, so that they and their sums stay below 2^63.
_PIECE_BITS = 30
_PIECE = (1 << _PIECE_BITS) - 1
_PIECES = 5

_LOG10_OF_2, _LOG2_OF_10 = 0.3010299956639812, 3.321928094887362
_LOG10_OF_3_QUARTERS = -0.12493873660829993

_MANY, _MANY_ZEROS = 10**8, 8

# `repr` writes an exponent for numbers of 1e16 and more, and for numbers below 1e-4.
_MOST_BEFORE_POINT, _MOST_ZEROS = 16, 4

LONGEST = 24
"""The most bytes of a float: ``-2.2250738585072014e-308``."""


@cache
def powers_of_ten() -> Int64s:
    """Return the table for `put_float`: (2, 2047, 6).

    Each row belongs to one exponent of a float64. It holds the exponent k of the power of ten, then
    a factor: quarters of the float's last bit times this factor are quarters of 10^k. The factor is
    multiplied by 2^127 and stands in pieces of 30 bits, the lowest first. The second half of the
    table is for powers of two: their interval is a quarter shorter, because their lower neighbor is
    half as far away.
    """
    table = np.empty((2, 2047, 1 + _PIECES), dtype=np.int64)
    for half, own in enumerate((0.0, _LOG10_OF_3_QUARTERS)):
        for field in range(table.shape[1]):
            exponent = max(field, 1) - 1 + _LEAST_EXPONENT
            # No power of two comes so near to one of ten that float64 could be wrong about these.
            k = math.floor(exponent * _LOG10_OF_2 + own)
            size = math.floor(-k * _LOG2_OF_10)
            above = 10 ** max(-k, 0) << max(125 - size, 0)
            below = 10 ** max(k, 0) << max(size - 125, 0)
            reciprocal = above // below + 1 << size + exponent + 2
            table[half, field, 0] = k
            for piece in range(_PIECES):
                table[half, field, 1 + piece] = reciprocal >> piece * _PIECE_BITS & _PIECE
    (result,) = read_only(table)
    return result


@kernel(inline=True)
def _quarters(power: Int64s, number: int) -> int:
    """Return how many quarters of 10^k a number below 2^60 is, cut off; odd if anything was."""
    low, high = number & _PIECE, number >> _PIECE_BITS
    first = low * power[1]
    second = (first >> _PIECE_BITS) + low * power[2] + high * power[1]
    third = (second >> _PIECE_BITS) + low * power[3] + high * power[2]
    fourth = (third >> _PIECE_BITS) + low * power[4] + high * power[3]
    fifth = (fourth >> _PIECE_BITS) + low * power[5] + high * power[4]
    sixth = (fifth >> _PIECE_BITS) + high * power[5]
    # The product's bits from 127 on. Of the bits below, the last 64 are doubtful, since the power
    # was rounded up; the bits between decide (Giulietti's "rop").
    between = (third & _PIECE) >> 4 | (fourth & _PIECE) | (fifth & 127)
    return int(sixth << 23 | (fifth & _PIECE) >> 7 | (between != 0))


@kernel(no_refcount=True)
def _shortest(magnitude: int, powers: Int64s) -> tuple[int, int]:
    """Return (digits, exponent) of a float > 0 from its bits: digits * 10^exponent reads as it."""
    field, fraction = magnitude >> _FRACTION_BITS, magnitude & _FRACTION
    whole = fraction | (1 << _FRACTION_BITS if field > 0 else 0)
    is_power = fraction == 0 and field > 1
    power = powers[1 if is_power else 0, field]
    exponent = int(power[0])
    own = _quarters(power, 4 * whole)
    # The ends of the interval read as the float if its last bit is 0: ties go to even.
    open_ends = whole & 1
    low = _quarters(power, 4 * whole - (1 if is_power else 2)) + open_ends
    high = _quarters(power, 4 * whole + 2) - open_ends
    below = own >> 2
    tens = below // 10
    is_less, is_more = low <= 40 * tens, 40 * (tens + 1) <= high
    if below >= 10 and is_less != is_more:
        digits = tens if is_less else tens + 1
        exponent += 1
    else:
        is_less, is_more = low <= 4 * below, 4 * (below + 1) <= high
        if is_less == is_more:  # the nearer one, or the even one
            half = 4 * below + 2
            is_less = own < half or (own == half and below % 2 == 0)
        digits = below if is_less else below + 1
    if digits % _MANY == 0:  # most whole numbers: half of the zeros at once
        digits //= _MANY
        exponent += _MANY_ZEROS
    while digits % 10 == 0:
        digits //= 10
        exponent += 1
    return digits, exponent


@kernel(inline=True)
def _width(number: int) -> int:
    """Return how many digits a number >= 0 has."""
    width = 1
    limit = 10
    while width < 19 and number >= limit:
        width += 1
        limit *= 10
    return width


@kernel(inline=True)
def put_whole(number: int, text: Bytes, end: int) -> int:
    """Write a number >= 0 at ``end``; return the new end."""
    return _put_digits(number, _width(number), text, end)


@kernel(inline=True)
def _put_digits(number: int, width: int, text: Bytes, end: int) -> int:
    start, end = end, end + width
    k = end
    while k - start > 1:  # two at a time: each division waits for the one before
        k -= 2
        pair = number % 100
        text[k], text[k + 1] = _ZERO + pair // 10, _ZERO + pair % 10
        number //= 100
    if k > start:
        text[start] = _ZERO + number
    return end


@kernel(inline=True)
def _put_zeros(count: int, text: Bytes, end: int) -> int:
    for k in range(end, end + count):
        text[k] = _ZERO
    return end + count


@kernel(inline=True)
def _put_with_point(digits: int, width: int, before: int, text: Bytes, end: int) -> int:
    """Write digits with a point behind the first ``before`` of them, fewer than all."""
    start, end = end, _put_digits(digits, width, text, end + 1)
    for k in range(start, start + before):
        text[k] = text[k + 1]
    text[start + before] = _POINT
    return end


@kernel(inline=True)
def _put_scientific(digits: int, width: int, exponent: int, text: Bytes, end: int) -> int:
    """Write digits with a point behind the first one, and an exponent of two digits or three."""
    if width > 1:
        end = _put_with_point(digits, width, 1, text, end)
    else:
        end = _put_digits(digits, width, text, end)
    text[end], text[end + 1] = _E, (_MINUS if exponent < 0 else _PLUS)
    end = _put_zeros(1 if abs(exponent) < 10 else 0, text, end + 2)
    return put_whole(abs(exponent), text, end)


@kernel(no_refcount=True)
def put_float(bits: int, powers: Int64s, text: Bytes, end: int) -> int:
    """Write a finite float at ``end`` as ``repr`` does, but 0.0 for -0.0; return the new end.

    ``bits`` is the float's bit pattern, ``powers`` the table of `powers_of_ten`.
    """
    magnitude = bits & _MAGNITUDE
    digits, exponent = 0, 0
    if magnitude > 0:
        digits, exponent = _shortest(magnitude, powers)
        if bits < 0:
            text[end] = _MINUS
            end += 1
    width = _width(digits)
    before = width + exponent  # digits before the point
    if before > _MOST_BEFORE_POINT or before <= -_MOST_ZEROS:
        return _put_scientific(digits, width, before - 1, text, end)
    if before >= width:
        end = _put_zeros(exponent, text, _put_digits(digits, width, text, end))
        text[end], text[end + 1] = _POINT, _ZERO
        return end + 2
    if before > 0:
        return _put_with_point(digits, width, before, text, end)
    text[end], text[end + 1] = _ZERO, _POINT
    return _put_digits(digits, width, text, _put_zeros(-before, text, end + 2))
