"""Numbers of 106 bits: the value is the unevaluated sum of a pair (high, low) of floats.

Sources: T. J. Dekker, "A floating-point technique for extending the available precision" (1971),
and M. Joldes, J.-M. Muller, V. Popescu, "Tight and rigorous error bounds for basic building blocks
of double-word arithmetic" (2017). Only + - * are used, in a fixed order and without fused
multiply-add, so every machine gets the same bits. Sums and products are off by less than 2^-102 of
their size. Values must stay below 2^995: the splitting multiplies by 2^27.
"""

from terrain_physics._kernels._jit import kernel

Double = tuple[float, float]
DoubleVec3 = tuple[Double, Double, Double]


@kernel(inline=True)
def two_sum(a: float, b: float) -> Double:
    """Return a + b exactly."""
    total = a + b
    second = total - a
    return total, (a - (total - second)) + (b - second)


@kernel(inline=True)
def _quick_two_sum(a: float, b: float) -> Double:
    """Return a + b exactly, where abs(a) >= abs(b) or a is 0."""
    total = a + b
    return total, b - (total - a)


@kernel(inline=True)
def two_product(a: float, b: float) -> Double:
    """Return a * b exactly (except for underflow), by splitting both into halves of 26 bits."""
    product = a * b
    spread = 134217729.0 * a
    a_high = spread - (spread - a)
    a_low = a - a_high
    spread = 134217729.0 * b
    b_high = spread - (spread - b)
    b_low = b - b_high
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


@kernel
def add(x: Double, y: Double) -> Double:
    """Return x + y, accurate even where they cancel."""
    high, error = two_sum(x[0], y[0])
    low, rest = two_sum(x[1], y[1])
    high, error = _quick_two_sum(high, error + low)
    return _quick_two_sum(high, error + rest)


@kernel
def multiply(x: Double, y: Double) -> Double:
    """Return x * y."""
    high, low = two_product(x[0], y[0])
    return _quick_two_sum(high, low + (x[0] * y[1] + x[1] * y[0]))


@kernel
def divide(x: Double, y: Double) -> Double:
    """Return x / y, where y is not 0; off by less than 2^-96 of its size."""
    first = x[0] / y[0]
    high, low = multiply((first, 0.0), y)
    rest = add(x, (-high, -low))
    return _quick_two_sum(first, rest[0] / y[0])


@kernel(inline=True)
def at_most(x: Double, y: Double) -> bool:
    """Tell whether x <= y."""
    return x[0] < y[0] or (x[0] == y[0] and x[1] <= y[1])


@kernel(inline=True)
def difference(a: tuple[float, float, float], b: tuple[float, float, float]) -> DoubleVec3:
    """Return a - b of two points, exactly."""
    return two_sum(a[0], -b[0]), two_sum(a[1], -b[1]), two_sum(a[2], -b[2])


@kernel
def dot(x: DoubleVec3, y: DoubleVec3) -> Double:
    """Return the dot product."""
    return add(add(multiply(x[0], y[0]), multiply(x[1], y[1])), multiply(x[2], y[2]))


@kernel
def _minor(a: Double, b: Double, c: Double, d: Double) -> Double:
    """Return a * b - c * d."""
    high, low = multiply(c, d)
    return add(multiply(a, b), (-high, -low))


@kernel
def cross(x: DoubleVec3, y: DoubleVec3) -> DoubleVec3:
    """Return the cross product."""
    return (
        _minor(x[1], y[2], x[2], y[1]),
        _minor(x[2], y[0], x[0], y[2]),
        _minor(x[0], y[1], x[1], y[0]),
    )
