"""Rotation matrices with the errors of float32, made orthonormal in float64."""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.vec3 import Vec3, add_scaled, cross, dot
from terrain_physics._kernels.types import Floats


@kernel(inline=True)
def _unit(v: Vec3) -> Vec3:
    # Divided, not multiplied by the inverse: a vector of length 1 is unchanged.
    size = math.sqrt(dot(v, v))
    return (v[0] / size, v[1] / size, v[2] / size)


# What may be wrong with a matrix.
FINE, SKEWED, MIRRORS = 0, 1, 2


@kernel
def _put_orthonormal(
    matrices: Floats, i: int, stride: int, tolerance: float, out: Floats, j: int
) -> int:
    """Write the matrix that begins at ``i``, with ``stride`` numbers a row, to ``out`` from ``j``.

    See `put_orthonormal`. Returns what is wrong with it.
    """
    x = (float(matrices[i]), float(matrices[i + stride]), float(matrices[i + 2 * stride]))
    i += 1
    y = (float(matrices[i]), float(matrices[i + stride]), float(matrices[i + 2 * stride]))
    i += 1
    z = (float(matrices[i]), float(matrices[i + stride]), float(matrices[i + 2 * stride]))
    stretch = max(abs(dot(x, x) - 1.0), abs(dot(y, y) - 1.0), abs(dot(z, z) - 1.0))
    if not max(stretch, abs(dot(x, y)), abs(dot(y, z)), abs(dot(z, x))) <= tolerance:
        return SKEWED
    if dot(cross(x, y), z) < 0.0:
        return MIRRORS
    x = _unit(x)
    y = _unit(add_scaled(y, x, -dot(x, y)))
    z = cross(x, y)
    for axis in range(3):
        out[j + 3 * axis] = x[axis]
        out[j + 3 * axis + 1] = y[axis]
        out[j + 3 * axis + 2] = z[axis]
    return FINE


@kernel
def put_orthonormal(matrices: Floats, tolerance: float, out: Floats) -> tuple[int, bool]:
    """Write n matrices without small errors (flat, 9 numbers each, axes as columns).

    This is the Gram-Schmidt process: the first axis keeps its direction. Returns (n, False), or
    else the index of the first matrix that mirrors or is farther than ``tolerance`` from
    orthonormal, and whether it mirrors.
    """
    for k in range(matrices.shape[0] // 9):
        fault = _put_orthonormal(matrices, 9 * k, 3, tolerance, out, 9 * k)
        if fault != FINE:
            return k, fault == MIRRORS
    return matrices.shape[0] // 9, False


@kernel
def put_frames(matrices: Floats, tolerance: float, farthest: float, out: Floats) -> int:
    """Write n rigid matrices (flat, 16 numbers each) as rotation and position (flat, 12 each).

    Returns n, or else the index of the first one that is not rigid, or as far as ``farthest``, or
    whose last row is not exactly (0, 0, 0, 1).
    """
    count = len(matrices) // 16
    for k in range(count):
        i, j = 16 * k, 12 * k
        is_fine = matrices[i + 12] == 0.0 and matrices[i + 13] == 0.0 and matrices[i + 14] == 0.0
        is_fine = is_fine and matrices[i + 15] == 1.0
        for axis in range(3):
            place = float(matrices[i + 3 + 4 * axis])
            is_fine = is_fine and abs(place) < farthest  # a NaN must not pass
            out[j + 9 + axis] = place
        if not is_fine or _put_orthonormal(matrices, i, 4, tolerance, out, j) != FINE:
            return k
    return count
