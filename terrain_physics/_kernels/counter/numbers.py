"""Numbers as bytes: a parser, the same as ``float()`` bit for bit, and a printer of integers."""

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.decimal import put_whole
from terrain_physics._kernels.math.double_double import two_product
from terrain_physics._kernels.tolerances import DECIMAL_ROUNDING
from terrain_physics._kernels.types import Bytes, Floats, Int64s

# Outcomes of a range of tokens: all parsed, or stopped at one that Python has to look at.
PARSED, ASK = 0, 1

_POWERS = np.array([float(10**k) for k in range(23)])  # exact in float64
_TEN = np.uint64(10)
_EXACT = np.uint64(1 << 53)
_LOW_BITS = np.uint64((1 << 11) - 1)
_LARGEST_EXPONENT = 100_000
_MOST_DIGITS = 19  # a number of so many digits fits in 64 bits
_BLOCK = 4096
_TAB, _RETURN, _SPACE = (
    np.uint8(9),
    np.uint8(13),
    np.uint8(32),
)  # of the type of text: int64 is not vectorized
_PLUS, _MINUS, _POINT, _ZERO, _UPPER_E, _LOWER_E = 43, 45, 46, 48, 69, 101


@kernel(inline=True)
def _is_space(byte: np.uint8) -> bool:
    return bool((byte == _SPACE) | ((byte >= _TAB) & (byte <= _RETURN)))


@kernel
def count_tokens(text: Bytes, first: int, last: int) -> int:
    """Return how many tokens start in text[first:last], first being 0 or behind white space."""
    if first >= last:
        return 0
    count = 1 - _is_space(text[first])
    for block in range(first + 1, last, _BLOCK):
        end = min(block + _BLOCK, last)
        # Two views, one byte apart: an index i - 1 might be negative and would not be vectorized.
        before, here = text[block - 1 : end - 1], text[block:end]
        starts = np.int32(0)
        for i in range(len(here)):
            starts = np.int32(starts + np.int32(_is_space(before[i]) & (_is_space(here[i]) ^ True)))
        count += int(starts)
    return count


@kernel(inline=True)
def _scaled(digits: np.uint64, exponent: int) -> tuple[bool, float]:
    """Return (True, digits * 10^exponent rounded as Python does), or (False, anything).

    Up to 2^53 and 10^22 both factors are exact, so that one operation rounds correctly (W. D.
    Clinger, "How to read floating point numbers accurately", 1990). Larger digits are split into
    two exact floats; the quotient or product of the first is corrected by its exact remainder and
    the second, and taken if it rounds to the same float whatever the last bits of the correction
    are.
    """
    if exponent < -22 or exponent > 22:
        return False, 0.0
    power = float(_POWERS[abs(exponent)])
    if digits <= _EXACT:
        whole = float(digits)
        return True, (whole / power if exponent < 0 else whole * power)
    high = float(digits & ~_LOW_BITS)
    low = float(digits & _LOW_BITS)
    if exponent < 0:
        value = high / power
        product, error = two_product(value, power)
        remainder = (high - product) - error  # exact, as of every correctly rounded quotient
        rest = (remainder + low) / power
        slack = DECIMAL_ROUNDING * abs(rest)
    else:
        value, error = two_product(high, power)
        rest = error + low * power
        slack = DECIMAL_ROUNDING * (abs(error) + low * power)
    return value + (rest - slack) == value + (rest + slack), value + rest


@kernel(inline=True)
def _is_digit(byte: int) -> bool:
    return _ZERO <= byte <= _ZERO + 9


@kernel(inline=True)
def _read_digits(text: Bytes, i: int, last: int) -> tuple[int, np.uint64, int]:
    """Read ``digits[.digits]``; return (position behind it, all digits, how many behind the point).

    The position is -1 if there is no digit, or there are more than fit.
    """
    digits, significant, places = np.uint64(0), 0, 0
    any_digit = behind_point = False
    while i < last:
        byte = int(text[i])
        if _is_digit(byte):
            if significant == _MOST_DIGITS:
                return -1, digits, places
            digits = digits * _TEN + np.uint64(byte - _ZERO)
            significant += digits != np.uint64(0)
            places += behind_point
            any_digit = True
        elif byte == _POINT and not behind_point:
            behind_point = True
        else:
            break
        i += 1
    return (i if any_digit else -1), digits, places


@kernel(inline=True)
def _read_exponent(text: Bytes, i: int, last: int) -> tuple[int, int]:
    """Read ``e[+-]digits`` if it is there; return (position behind it, exponent).

    The position is -1 if there is no digit, or the exponent is beyond that of any float.
    """
    if i >= last or not (int(text[i]) == _LOWER_E or int(text[i]) == _UPPER_E):
        return i, 0
    i += 1
    down = i < last and int(text[i]) == _MINUS
    if down or (i < last and int(text[i]) == _PLUS):
        i += 1
    first, exponent = i, 0
    while i < last and _is_digit(int(text[i])):
        exponent = exponent * 10 + int(text[i]) - _ZERO
        if exponent > _LARGEST_EXPONENT:
            return -1, 0
        i += 1
    return (i if i > first else -1), (-exponent if down else exponent)


@kernel
def parse_numbers(text: Bytes, first: int, last: int, values: Floats) -> tuple[int, int, int]:
    """Set values to the numbers in text[first:last]; return (outcome, tokens parsed, position).

    A number is ``[+-]digits[.digits][e[+-]digits]``, with digits on at least one side of the
    point. The kernel stops (ASK) at the first token that it cannot parse, a bad one or only a long
    one. The position is then the token's first byte; the caller stores its value and resumes behind
    it. The kernel never reads behind ``last``, which is the end of the text or white space, and
    parses no more than ``len(values)`` tokens.
    """
    i = first
    parsed = 0
    while parsed < len(values):
        while i < last and _is_space(text[i]):
            i += 1
        if i >= last:
            break
        start = i
        negative = int(text[i]) == _MINUS
        if negative or int(text[i]) == _PLUS:
            i += 1
        i, digits, places = _read_digits(text, i, last)
        if i < 0:
            return ASK, parsed, start
        i, exponent = _read_exponent(text, i, last)
        if i < 0 or (i < last and not _is_space(text[i])):
            return ASK, parsed, start
        sound, value = _scaled(digits, exponent - places)
        if not sound:
            return ASK, parsed, start
        values[parsed] = -value if negative else value
        parsed += 1
    return PARSED, parsed, i


@kernel
def print_integers(numbers: Int64s, text: Bytes) -> int:
    """Write each number >= 0 on a line of its own; return how many bytes of text were used.

    ``text`` needs room for the longest number and a line feed, times the numbers.
    """
    end = 0
    for row in range(len(numbers)):
        end = put_whole(int(numbers[row]), text, end)
        text[end] = 10
        end += 1
    return end
