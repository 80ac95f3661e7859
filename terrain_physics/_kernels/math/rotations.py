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


@kernel
def put_orthonormal(matrices: Floats, tolerance: float, out: Floats) -> tuple[int, bool]:
    """Write n matrices without small errors (flat, 9 numbers each, axes as columns).

    This is the Gram-Schmidt process: the first axis keeps its direction. Returns (n, False), or
    else the index of the first matrix that mirrors or is farther than ``tolerance`` from
    orthonormal, and whether it mirrors.
    """
    for k in range(matrices.shape[0] // 9):
        i = 9 * k
        x = (float(matrices[i]), float(matrices[i + 3]), float(matrices[i + 6]))
        y = (float(matrices[i + 1]), float(matrices[i + 4]), float(matrices[i + 7]))
        z = (float(matrices[i + 2]), float(matrices[i + 5]), float(matrices[i + 8]))
        stretch = max(abs(dot(x, x) - 1.0), abs(dot(y, y) - 1.0), abs(dot(z, z) - 1.0))
        if not max(stretch, abs(dot(x, y)), abs(dot(y, z)), abs(dot(z, x))) <= tolerance:
            return k, False
        if dot(cross(x, y), z) < 0.0:
            return k, True
        x = _unit(x)
        y = _unit(add_scaled(y, x, -dot(x, y)))
        z = cross(x, y)
        for axis in range(3):
            out[i + 3 * axis] = x[axis]
            out[i + 3 * axis + 1] = y[axis]
            out[i + 3 * axis + 2] = z[axis]
    return matrices.shape[0] // 9, False
