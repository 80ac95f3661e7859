"""Products, determinants and ranks of 3 x 3 matrices: the same bits on every machine.

NumPy leaves ``@`` and ``linalg`` to BLAS and LAPACK. They may use fused multiply-adds, and sum up
in an order of their own.
"""

from collections.abc import Iterable
from math import sqrt

import numpy as np

from terrain_physics._kernels.types import Floats

_ROUNDING = float(np.finfo(np.float64).eps)


def length(numbers: Iterable[float]) -> float:
    """Return the Euclidean length; squares must neither overflow nor vanish."""
    total = 0.0
    for number in numbers:  # sum() compensates since Python 3.12
        total += number * number
    return sqrt(total)


def dot(a: tuple[float, float, float], b: tuple[float, float, float]) -> float:
    """Return the dot product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def product(first: Floats, second: Floats) -> Floats:
    """Return products of matrices (..., 3, 3) and (..., 3, k)."""
    x, y, z = (first[..., [k]] * second[..., [k], :] for k in range(3))
    result: Floats = x + y + z + 0.0  # a zero has no sign
    return result


def determinants(matrices: Floats) -> Floats:
    """Return determinants of matrices (..., 3, 3)."""
    (a, b, c), (d, e, f), (g, h, i) = np.moveaxis(matrices, (-2, -1), (0, 1))
    found: Floats = a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g)
    return found


def mirroring(matrix: Floats) -> int:
    """Return -1 of a matrix (3, 3) that mirrors, 1 of one that does not, 0 of one that flattens.

    It flattens if not all of its columns are independent, but for rounding.
    """
    rows: list[list[float]] = matrix.tolist()
    flips, largest = 0, 0.0
    for k in range(3):  # elimination with the largest pivot of those that are left
        size, i, j = max((abs(rows[i][j]), i, j) for i in range(k, 3) for j in range(k, 3))
        largest = max(largest, size)
        if size <= 3.0 * _ROUNDING * largest:
            return 0
        rows[k], rows[i] = rows[i], rows[k]
        for row in rows:
            row[k], row[j] = row[j], row[k]
        pivot = rows[k][k]
        flips += (i != k) + (j != k) + (pivot < 0.0)
        for row in rows[k + 1 :]:
            factor = row[k] / pivot
            row[k:] = [
                own - factor * above for own, above in zip(row[k:], rows[k][k:], strict=True)
            ]
    return -1 if flips % 2 else 1
