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
def row_vector(rows: Floats, i: int) -> Vec3:
    """Return three numbers from place i on."""
    return (float(rows[i]), float(rows[i + 1]), float(rows[i + 2]))


@kernel(inline=True)
def row_matrix(rows: Floats, i: int) -> Mat3:
    """Return nine numbers from place i on."""
    return (*row_vector(rows, i), *row_vector(rows, i + 3), *row_vector(rows, i + 6))


@kernel(inline=True)
def row3(values: Floats, i: int) -> Vec3:
    """Return the first three numbers of a row."""
    return (float(values[i, 0]), float(values[i, 1]), float(values[i, 2]))


@kernel(inline=True)
def corner(triangles: Floats, i: int, k: int) -> Vec3:
    """Return corner k of triangle i."""
    return (float(triangles[i, k, 0]), float(triangles[i, k, 1]), float(triangles[i, k, 2]))


@kernel(inline=True)
def corners_in(triangles: Floats, i: int) -> tuple[Vec3, Vec3, Vec3]:
    """Return the corners of triangle i of rows (n, 9)."""
    return (
        (float(triangles[i, 0]), float(triangles[i, 1]), float(triangles[i, 2])),
        (float(triangles[i, 3]), float(triangles[i, 4]), float(triangles[i, 5])),
        (float(triangles[i, 6]), float(triangles[i, 7]), float(triangles[i, 8])),
    )


@kernel(inline=True)
def vector_at(vectors: Floats, i: int) -> Vec3:
    """Return the vector of pair i."""
    return row3(vectors, row_of(vectors, i))


@kernel(inline=True)
def segment_at(segments: Floats, i: int) -> tuple[Vec3, Vec3]:
    """Return the first two vectors of pair i, such as the ends of a segment."""
    row = row_of(segments, i)
    return corner(segments, row, 0), corner(segments, row, 1)


@kernel(inline=True)
def triangle_at(triangles: Floats, i: int) -> tuple[Vec3, Vec3, Vec3]:
    """Return the triangle of pair i; of a segment the second end is the last corner, too."""
    row = row_of(triangles, i)
    last = corner(triangles, row, triangles.shape[1] - 1)
    return corner(triangles, row, 0), corner(triangles, row, 1), last


@kernel(inline=True)
def sphere_at(spheres: Floats, i: int) -> tuple[Vec3, float]:
    """Return center and radius of the sphere x y z r of pair i."""
    row = row_of(spheres, i)
    return row3(spheres, row), float(spheres[row, 3])


@kernel(inline=True)
def capsule_at(capsules: Floats, i: int) -> tuple[Vec3, Vec3, float]:
    """Return the ends and the radius of the capsule ax ay az bx by bz r of pair i."""
    row = row_of(capsules, i)
    end = (float(capsules[row, 3]), float(capsules[row, 4]), float(capsules[row, 5]))
    return row3(capsules, row), end, float(capsules[row, 6])


@kernel(inline=True)
def aabb_at(lowers: Floats, uppers: Floats, i: int) -> tuple[Vec3, Vec3]:
    """Return the corners of the box of pair i."""
    return vector_at(lowers, i), vector_at(uppers, i)


@kernel(inline=True)
def obb_at(
    centers: Floats, half_extents: Floats, rotations: Floats, i: int
) -> tuple[Vec3, Vec3, Mat3]:
    """Return center, half extents and rotation, row by row, of the box of pair i."""
    row = row_of(rotations, i)
    x, y, z = corner(rotations, row, 0), corner(rotations, row, 1), corner(rotations, row, 2)
    return vector_at(centers, i), vector_at(half_extents, i), (*x, *y, *z)


@kernel(inline=True)
def put_move(out: Floats, i: int, found: tuple[bool, Vec3]) -> None:
    """Write a penetration, NaN where the shapes are apart."""
    touching, move = found
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
