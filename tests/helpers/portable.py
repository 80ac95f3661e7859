"""Sines, sizes and products that have the same bits on every machine.

Libraries, processors and versions round sines, powers and sums of products in ways of their own;
sums, products, quotients and square roots have one way. What scenes are made of comes from here.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Sines of an eighth of a turn at most: "fdlibm", k_sin.c and k_cos.c.
_SINE = (
    -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
    2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10,
)  # fmt: skip
_COSINE = (
    4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
    -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11,
)  # fmt: skip
# A quarter of a turn: 33 bits, so that small multiples are exact, and the rest.
_QUARTER, _REST = 1.57079632673412561417e00, 6.07710050650619224932e-11


def sin(angle: float) -> float:
    """Return the sine of an angle of at most some thousand turns, within 1e-15."""
    quarters = round(angle / (0.5 * math.pi))
    return _sine(angle - quarters * _QUARTER, quarters * _REST, quarters % 4)


def cos(angle: float) -> float:
    """Return the cosine."""
    quarters = round(angle / (0.5 * math.pi))
    return _sine(angle - quarters * _QUARTER, quarters * _REST, (quarters + 1) % 4)


def tan(angle: float) -> float:
    """Return the tangent."""
    return sin(angle) / cos(angle)


def _sine(most: float, less: float, quarter: int) -> float:
    """Return the sine of a small angle, ``most - less``, and quarters of a turn."""
    x = most - less
    z = x * x
    if quarter % 2 == 0:
        a, b, c, d, e, f = _SINE
        rest = (most - x) - less
        found = x + (rest + z * x * (a + z * (b + z * (c + z * (d + z * (e + z * f))))))
    else:
        a, b, c, d, e, f = _COSINE
        found = 1.0 - (0.5 * z - z * z * (a + z * (b + z * (c + z * (d + z * (e + z * f))))))
    return found if quarter < 2 else -found


def power_of_ten(exponent: float) -> float:
    """Return a number near that power, within 7 %: straight lines between the powers of two."""
    exponent *= 3.3219280948873623
    whole = math.floor(exponent)
    return math.ldexp(1.0 + (exponent - whole), whole)


def length_of(vector: Any) -> float:
    """Return the length of a vector."""
    squared = 0.0
    for part in vector:
        squared += float(part) * float(part)  # sum() of floats compensates since Python 3.12
    return math.sqrt(squared)


def times(matrix: Any, other: Any) -> NDArray[np.float64]:
    """Return the product of matrices, or of a matrix and a vector: sums in their order."""
    matrix, other = np.asarray(matrix, dtype=np.float64), np.asarray(other, dtype=np.float64)
    product = matrix[:, :1] * other[0]
    if other.ndim == 1:
        product = matrix[:, 0] * other[0]
    for k in range(1, len(other)):
        column = matrix[:, k] if other.ndim == 1 else matrix[:, k : k + 1]
        product = product + column * other[k]
    return np.asarray(product)
