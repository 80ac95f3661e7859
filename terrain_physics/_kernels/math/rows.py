"""Readers of rows of arrays as vectors and matrices."""

import math

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.vec3 import Mat3, Vec3
from terrain_physics._kernels.types import Floats


@kernel(inline=True)
def row_of(values: Floats, i: int) -> int:
    """Return the row for pair i: row i, or the only row."""
    return i if values.shape[0] > 1 else 0


@kernel(inline=True)
def row3(values: Floats, i: int) -> Vec3:
    """Return the first three numbers of a row."""
    return (float(values[i, 0]), float(values[i, 1]), float(values[i, 2]))


@kernel(inline=True)
def corner(triangles: Floats, i: int, k: int) -> Vec3:
    """Return corner k of triangle i."""
    return (float(triangles[i, k, 0]), float(triangles[i, k, 1]), float(triangles[i, k, 2]))


@kernel(inline=True)
def matrix(rotations: Floats, i: int) -> Mat3:
    """Return matrix i row by row."""
    return (
        float(rotations[i, 0, 0]),
        float(rotations[i, 0, 1]),
        float(rotations[i, 0, 2]),
        float(rotations[i, 1, 0]),
        float(rotations[i, 1, 1]),
        float(rotations[i, 1, 2]),
        float(rotations[i, 2, 0]),
        float(rotations[i, 2, 1]),
        float(rotations[i, 2, 2]),
    )


@kernel(inline=True)
def put_move(out: Floats, i: int, touching: bool, move: Vec3) -> None:
    """Write a penetration, NaN where the shapes are apart."""
    for k in range(3):
        out[i, k] = move[k] if touching else np.nan


@kernel
def put_units(vectors: Floats, out: Floats) -> int:
    """Write vectors (n, 3) with length 1; return the first row that is zero, -1 if none is.

    Each is scaled by its largest component first: so tiny and huge ones keep their direction.
    """
    zero = -1
    for k in range(vectors.shape[0] - 1, -1, -1):
        x, y, z = float(vectors[k, 0]), float(vectors[k, 1]), float(vectors[k, 2])
        largest = max(abs(x), abs(y), abs(z))
        if largest == 0.0:
            zero, largest = k, 1.0
        x, y, z = x / largest, y / largest, z / largest
        size = math.sqrt(x * x + y * y + z * z) if zero != k else 1.0
        out[k, 0], out[k, 1], out[k, 2] = x / size, y / size, z / size
    return zero


@kernel
def all_within(values: Floats, limit: float) -> bool:
    """Tell whether all numbers are between -limit and limit."""
    inside = True
    for k in range(values.shape[0]):
        inside = inside & (abs(float(values[k])) < limit)
    return inside
