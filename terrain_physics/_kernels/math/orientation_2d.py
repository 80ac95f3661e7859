"""The side of a line on which a 2D point lies: the exact sign.

J. R. Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates"
(1997): float64 decides outside of its error band, a sum of floats that is never rounded within it.
"""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.double_double import two_product, two_sum
from terrain_physics._kernels.types import Floats

BAND = 4.0 * 2.0**-53
"""A difference of two products, of two differences each, is off by less than this part of the sum
of the products' sizes, plus ``SMALLEST``."""
SMALLEST = 2.0**-1000
"""More than what is lost where products vanish. It is a normal number: a fused multiply-add with a
subnormal one takes 20 times as long."""

TERM_COUNT = 12
_EXPONENT = 480  # products and their splitting stay finite


@kernel(inline=True)
def largest_exponent(p: float, a: float, b: float, c: float) -> int:
    """Return the exponent with which `math.ldexp` scales four numbers to just below 2^480."""
    return _EXPONENT - math.frexp(max(abs(p), abs(a), abs(b), abs(c)))[1]


@kernel
def orientation_sign(
    px: float, py: float, ax: float, ay: float, bx: float, by: float, terms: Floats
) -> int:
    """Return the sign of cross(a - p, b - p); ``terms`` is scratch (12,).

    Numbers must be below 2^480. The sign is exact if all that are not 0 are above 2^-485.
    """
    left, right = (ax - px) * (by - py), (ay - py) * (bx - px)
    band = BAND * (abs(left) + abs(right)) + SMALLEST
    if left - right > band:
        return 1
    if right - left > band:
        return -1
    size = 0
    for product, error in (
        two_product(ax, by),
        two_product(-ay, bx),
        two_product(-ax, py),
        two_product(ay, px),
        two_product(-px, by),
        two_product(py, bx),
    ):
        for term in (error, product):
            # The sum so far is kept as floats that do not overlap, in increasing order.
            rest = term
            for k in range(size):
                rest, terms[k] = two_sum(rest, float(terms[k]))
            terms[size] = rest
            size += 1
    for k in range(size - 1, -1, -1):
        if terms[k] > 0.0:
            return 1
        if terms[k] < 0.0:
            return -1
    return 0
