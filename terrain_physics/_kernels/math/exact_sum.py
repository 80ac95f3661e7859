"""Exact sums of many floats, without an array.

Source: T. Ogita, S. M. Rump, S. Oishi, "Accurate sum and dot product" (2005). In a running sum of
twelve floats, each float takes the rounding errors of the one before. The sum is exact for up to
2^8 terms if all are multiples of some g and their sizes add up to less than 2^548 g. That is twelve
times 53 bits, minus eleven times the 8 bits by which 2^8 errors may add up.
"""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.double_double import two_product, two_sum

Sum = tuple[
    float, float, float, float, float, float, float, float, float, float, float, float
]  # fmt: skip

EMPTY: Sum = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@kernel
def add_term(total: Sum, term: float) -> Sum:
    """Return the sum with one more term."""
    s0, rest = two_sum(total[0], term)
    s1, rest = two_sum(total[1], rest)
    if rest == 0.0:  # true for most sums
        return (s0, s1, *total[2:])
    s2, rest = two_sum(total[2], rest)
    s3, rest = two_sum(total[3], rest)
    s4, rest = two_sum(total[4], rest)
    s5, rest = two_sum(total[5], rest)
    s6, rest = two_sum(total[6], rest)
    s7, rest = two_sum(total[7], rest)
    s8, rest = two_sum(total[8], rest)
    s9, rest = two_sum(total[9], rest)
    s10, rest = two_sum(total[10], rest)
    return (s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, total[11] + rest)


@kernel
def add_product(total: Sum, x: float, y: float, z: float) -> Sum:
    """Return the sum with x * y * z added, exactly."""
    if x == 0.0 or y == 0.0 or z == 0.0:
        return total
    high, low = two_product(x, y)
    product, error = two_product(high, z)
    total = add_term(total, product)
    if error != 0.0:
        total = add_term(total, error)
    if low != 0.0:
        product, error = two_product(low, z)
        total = add_term(total, product)
        total = add_term(total, error)
    return total


@kernel
def value_of(total: Sum) -> float:
    """Return the sum: the exact sign, and the size to 50 bits.

    Each pass moves overlapping bits of the floats upwards, exactly. One or two passes are enough
    for nearly every sum, twelve for every sum.
    """
    for _ in range(12):
        s10, s11 = two_sum(total[10], total[11])
        s9, s10 = two_sum(total[9], s10)
        s8, s9 = two_sum(total[8], s9)
        s7, s8 = two_sum(total[7], s8)
        s6, s7 = two_sum(total[6], s7)
        s5, s6 = two_sum(total[5], s6)
        s4, s5 = two_sum(total[4], s5)
        s3, s4 = two_sum(total[3], s4)
        s2, s3 = two_sum(total[2], s3)
        s1, s2 = two_sum(total[1], s2)
        s0, s1 = two_sum(total[0], s1)
        rest = (abs(s1) + abs(s2) + abs(s3)) + (abs(s4) + abs(s5) + abs(s6))
        rest += (abs(s7) + abs(s8) + abs(s9)) + (abs(s10) + abs(s11))
        if rest <= 2.0**-50 * abs(s0):
            break
        total = (s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11)
    return s0
