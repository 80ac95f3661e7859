"""Spheres against the cells of a height map, in float32: touched, apart, or too close to tell."""

import numpy as np

from terrain_physics._kernels._intrinsics import prefer_wide_vectors
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.heightmap.batch_contacts.broad_phase import (
    CHUNK,
    PAIRS,
    SMALL,
    Chunk,
    Outline,
    put_range,
)
from terrain_physics._kernels.heightmap.grid import Grid
from terrain_physics._kernels.surface.shapes import SPHERE_WIDTH
from terrain_physics._kernels.types import Float32s, Floats, Int32s

# Lengths are in doubt by this part of the sizes, and squares of distances by this part of the
# squares. In units of 2^-24: places and heights relative to the sphere are off by at most 4 of all
# lengths at hand, height over the plane and foot by 8 more; a foot that is off by as much along a
# slope is farther off by 1 + slopes. Sums of five products add 6. 32 is more.
DOUBT_RATIO = 32.0 * 2.0**-24

# The square of the slope, plus 1, from which on DOUBT_RATIO is too small.
STEEPEST = 1e4

APART, TOUCHED, UNKNOWN = 0, 1, 4

SPHERE_PARTS = 5


@kernel(noinline=True, noalias=True)
def put_spheres(grid: Grid, edges: Outline, bodies: Floats, chunk: Chunk) -> None:
    """Write the ranges of n spheres, and their columns in float32.

    The parts (SPHERE_PARTS, CHUNK): x and z of the center, relative to the first cell; its height
    in units of the samples, in two parts; the radius.
    """
    prefer_wide_vectors()
    ranges, _, parts = chunk
    for k in range(bodies.shape[0] // SPHERE_WIDTH):
        i = np.uint64(SPHERE_WIDTH * k)
        x, y = bodies[i], bodies[i + np.uint64(1)]
        z, radius = bodies[i + np.uint64(2)], bodies[i + np.uint64(3)]
        lower = (x - radius, y - radius, z - radius)
        upper = (x + radius, y + radius, z + radius)
        put_range(grid, edges, lower, upper, k, chunk)
        # Far from the map these would be too large for float32; nothing reads them there.
        is_small = ranges[4 * CHUNK + k] == SMALL
        first_x = grid.x0 + ranges[2 * CHUNK + k] * grid.cell_x
        first_z = grid.z0 + ranges[k] * grid.cell_z
        level = (y - grid.y0) / grid.height_scale
        high = np.float32(level if is_small else 0.0)
        parts[k] = np.float32(x - first_x if is_small else 0.0)
        parts[CHUNK + k] = np.float32(z - first_z if is_small else 0.0)
        parts[2 * CHUNK + k] = high
        parts[3 * CHUNK + k] = np.float32(level - np.float64(high) if is_small else 0.0)
        parts[4 * CHUNK + k] = np.float32(radius if is_small else 0.0)


@kernel(inline=True, contract=True)
def _off_segment(
    square: np.float32, along: np.float32, size: np.float32, far: np.float32, near: np.float32
) -> tuple[np.bool_, np.bool_]:
    """Return (whether a point is farther from a segment than far, whether nearer than near).

    All are squares of lengths: of the vector from the segment's start to the point, of the segment,
    the limits; ``along`` is the scalar product of those two vectors. Nothing is divided.
    """
    beside = square * size - along * along
    beyond = (square - along - along + size) * size
    before = square * size
    most = beyond if along > size else beside
    most = most if along > np.float32(0.0) else before
    return most > far * size, most < near * size


@kernel(inline=True, contract=True)
def _verdict(
    x: np.float32, y: np.float32, z: np.float32,
    rise_x: np.float32, rise_z: np.float32,
    size_x: np.float32, size_z: np.float32, across_x: np.float32, across_z: np.float32,
    is_off: np.bool_, is_on: np.bool_,
    radius: np.float32, sizes: np.float32, far: np.float32, near: np.float32,
) -> np.int32:  # fmt: skip
    """Return the verdict on a half with its right angle at the origin.

    Its legs are (size_x, rise_x, 0) and (0, rise_z, size_z), ``across`` their inverse sizes;
    ``is_off`` and ``is_on`` are the answer of its longest edge.
    """
    zero, one = np.float32(0.0), np.float32(1.0)
    slope_x, slope_z = rise_x * across_x, rise_z * across_z
    steepness = one + slope_x * slope_x + slope_z * slope_z
    over = y - slope_x * x - slope_z * z
    foot_x = (x * steepness + slope_x * over) * across_x
    foot_z = (z * steepness + slope_z * over) * across_z
    inside = (foot_x >= zero) & (foot_z >= zero) & (foot_x + foot_z <= steepness)
    square = x * x + y * y + z * z
    off_x, on_x = _off_segment(
        square, x * size_x + y * rise_x, size_x * size_x + rise_x * rise_x, far, near
    )
    off_z, on_z = _off_segment(
        square, z * size_z + y * rise_z, size_z * size_z + rise_z * rise_z, far, near
    )
    doubt = (
        np.float32(DOUBT_RATIO)
        * (sizes + abs(y) + abs(rise_x) + abs(rise_z))
        * (one + abs(slope_x) + abs(slope_z))
    )
    high, low = radius + doubt, radius - doubt
    height = over * over
    is_off_face = (height > high * high * steepness) | (not inside)
    is_on_face = (height < low * low * steepness) & (low > zero) & inside
    # The plane is no farther than the face, and the face no farther than its edges. On a wall, the
    # foot may be off by more than the limits allow for.
    is_plain = steepness < np.float32(STEEPEST)
    is_apart = is_off_face & ((is_off & off_x & off_z) | inside) & is_plain
    is_touched = (is_on_face | is_on | on_x | on_z) & is_plain
    verdict = np.int32(TOUCHED) if is_touched else np.int32(UNKNOWN)
    return np.int32(APART) if is_apart else verdict


@kernel(noinline=True, noalias=True, contract=True)
def judge_spheres(
    grid: Grid, samples: Float32s, spheres: Float32s, codes: Int32s, verdicts: Int32s
) -> None:
    """Write the verdicts on n pairs of a sphere and a cell: that on half 0 + 2 * that on half 1."""
    prefer_wide_vectors()
    zero, none = np.int32(0), np.float32(0.0)
    size_x, size_z = np.float32(grid.cell_x), np.float32(grid.cell_z)
    inverse_x, inverse_z = np.float32(1.0 / grid.cell_x), np.float32(1.0 / grid.cell_z)
    scale, two = np.float32(grid.height_scale), np.float32(2.0)
    for k in range(verdicts.shape[0]):
        x, z = spheres[k], spheres[PAIRS + k]
        high, low = spheres[2 * PAIRS + k], spheres[3 * PAIRS + k]
        radius = spheres[4 * PAIRS + k]
        # Heights of the sphere over the corners. The first difference is off by 2^-24 of itself.
        a = ((high - samples[k]) + low) * scale
        b = ((high - samples[PAIRS + k]) + low) * scale
        c = ((high - samples[2 * PAIRS + k]) + low) * scale
        d = ((high - samples[3 * PAIRS + k]) + low) * scale
        # A flipped cell is the mirror image of one that is not.
        flipped = np.int32(codes[k] & np.int32(2)) != zero
        x = size_x - x if flipped else x
        a, b = b if flipped else a, a if flipped else b
        c, d = d if flipped else c, c if flipped else d
        # All cells of the sphere together are no wider: this covers the rounding of the places.
        sizes = two * (radius + size_x + size_z)
        total = sizes + abs(a) + abs(b) + abs(c) + abs(d)
        doubt = np.float32(DOUBT_RATIO) * total
        far, near = radius + doubt, radius - doubt
        far = far * far + doubt * total
        # Negative if everything is in doubt: a square is never below that, except for its rounding.
        near = (near * near if near > none else none) - doubt * total
        w = x - size_x
        rise = c - a
        is_off, is_on = _off_segment(
            w * w + c * c + z * z,
            c * rise + z * size_z - w * size_x,
            size_x * size_x + rise * rise + size_z * size_z,
            far,
            near,
        )
        half_0 = _verdict(
            size_x - x, b, size_z - z, b - a, b - c, size_x, size_z, inverse_x, inverse_z,
            is_off, is_on, radius, sizes, far, near,
        )  # fmt: skip
        half_1 = _verdict(
            x, d, z, d - c, d - a, size_x, size_z, inverse_x, inverse_z,
            is_off, is_on, radius, sizes, far, near,
        )  # fmt: skip
        # In a hole, a sample is NaN.
        is_ground = total - total == none
        verdicts[k] = np.int32(half_0 + half_1 + half_1) if is_ground else zero
