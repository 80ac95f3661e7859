"""Vectors as tuples of three floats. All functions are inlined and cost no call in a kernel."""

import math

from terrain_physics._kernels._jit import kernel

Vec3 = tuple[float, float, float]
Mat3 = tuple[float, float, float, float, float, float, float, float, float]  # row by row


@kernel(inline=True)
def add(a: Vec3, b: Vec3) -> Vec3:
    """Return a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@kernel(inline=True)
def subtract(a: Vec3, b: Vec3) -> Vec3:
    """Return a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@kernel(inline=True)
def scale(a: Vec3, factor: float) -> Vec3:
    """Return factor * a."""
    return (a[0] * factor, a[1] * factor, a[2] * factor)


@kernel(inline=True)
def add_scaled(a: Vec3, b: Vec3, factor: float) -> Vec3:
    """Return a + factor * b."""
    return (a[0] + b[0] * factor, a[1] + b[1] * factor, a[2] + b[2] * factor)


@kernel(inline=True)
def dot(a: Vec3, b: Vec3) -> float:
    """Return the dot product, summed in the order x, y, z."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel(inline=True)
def cross(a: Vec3, b: Vec3) -> Vec3:
    """Return the cross product."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@kernel(inline=True)
def length(a: Vec3) -> float:
    """Return the Euclidean length."""
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@kernel(inline=True)
def choose(first: bool, a: Vec3, b: Vec3) -> Vec3:
    """Return a if ``first``, else b; without a branch, so that loops around it are vectorized."""
    return (a[0] if first else b[0], a[1] if first else b[1], a[2] if first else b[2])


@kernel(inline=True)
def flat(vector: Vec3) -> tuple[float, Vec3]:
    """Return (length of the horizontal part, its direction)."""
    size = math.sqrt(vector[0] * vector[0] + vector[2] * vector[2])
    if size == 0.0:
        return 0.0, (0.0, 0.0, 0.0)
    return size, (vector[0] / size, 0.0, vector[2] / size)
