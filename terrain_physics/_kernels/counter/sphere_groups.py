"""Spheres as the counter needs them: in groups of sixteen, with the bounds for float32.

Spheres are sorted by x, y, z and radius interleaved, and cut into groups of sixteen and chunks of
sixteen groups, each with a box of its centers.

**The error band.** Let u = 2^-24, o the middle of the triangles' box, S the largest coordinate of a
triangle and X of the sphere, both measured from o. Points are stored as float32(x - o), off by at
most u times that per coordinate, so the difference of a corner and the center is off by at most

    eps = sqrt(3) u (S + X) * 1.0001 + tolerance

plus u times its length (1.0001 covers the float64 subtraction of o; the tolerance is that of
``touches``). Three squares and two sums, fused or not, add a factor 1 +- 3 u. So the computed
square D of a true distance d obeys abs(D - d^2) <= 2 eps d + 5 u d^2 + eps^2 + O(u^2), and with

    E = 2 eps r + 10 u r^2 + eps^2,   low = r^2 - E,   high = r^2 + E

D <= low proves d <= r, D > high proves d > r, D >= high proves d >= r and D < low proves d < r, the
second and the last by more than the tolerance. Five of the ten u r^2 cover the rounding of low,
high and other terms. Boxes are boxes of stored corners, so the same holds for their gaps and
farthest corners.

*All corners outside.* Let rho be the radius of the smallest circle around a triangle, and c the
triangle's point closest to the center p. Some corner v has abs(p - v)^2 <= abs(p - c)^2 + rho^2: if
c is inside, p - c is normal to the plane and a corner lies within rho of c; if c is on an edge,
half of the edge is at most rho. Rounding the corners moves rho by less than eps. So the triangle is
out of range if the least D exceeds high + rho^2 (1 + 5 u) + 4 eps rho + 3 eps^2, and 4 eps rho <=
rho^2 / 1000 + 4000 eps^2. Hence ``cutoff`` = high + 4096 eps^2 is stored with the sphere, and
1.0025 rho^2 with the triangle.
"""

import math

import numpy as np

from terrain_physics._kernels._intrinsics import prefetch
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.counter.tree import LANES, NOWHERE
from terrain_physics._kernels.math.space_curve import ROW_BITS, cell_of
from terrain_physics._kernels.tolerances import FLOAT32_ROUNDING, TOUCH_TOLERANCE
from terrain_physics._kernels.types import Float32s, Floats, UInt64s

# Rows of a box of centers: lower x y z, upper x y z, the least low and the greatest high of its
# spheres. A group of spheres has the same rows, where the center is both corners, and two more.
X, Y, Z, LOW, HIGH, CUTOFF, BAND = 0, 1, 2, 6, 7, 8, 9
BOX_ROWS = 8
SPHERE_ROWS = 10

_SPREAD = math.sqrt(3.0) * FLOAT32_ROUNDING * 1.0001
_FARTHEST = 2.0**29  # of a center, in half extents: its fourth power is finite in float32
_NEVER = np.float32(-1.0)  # below every squared distance
_ALWAYS = 100.0  # above every squared distance of a stored point from the middle
_DEAD_KEY = np.uint32(0xFFFFFFFF)


@kernel(inline=True)
def _spread_4(bits: np.uint32) -> np.uint32:
    """Return eight bits with three zeros between neighbors."""
    bits = np.uint32((bits | (bits << np.uint32(12))) & np.uint32(0x000F000F))
    bits = np.uint32((bits | (bits << np.uint32(6))) & np.uint32(0x03030303))
    return np.uint32((bits | (bits << np.uint32(3))) & np.uint32(0x11111111))


@kernel(inline=True)
def _is_out(spheres: Floats, row: int, frame: Floats) -> bool:
    """Tell whether the box of all triangles is certainly outside or inside a sphere."""
    factor = float(frame[3])
    radius = float(spheres[row, 0]) * factor
    gap, far = 0.0, 0.0
    for axis in range(3):
        half = float(frame[4 + axis])
        offset = abs((float(spheres[row, 1 + axis]) - float(frame[axis])) * factor)
        gap += max(offset - half, 0.0) * max(offset - half, 0.0)
        far += (offset + half) * (offset + half)
    gap, far = math.sqrt(gap), math.sqrt(far)
    # The frame and the lengths have errors of a few 1e-16 of their size.
    margin = 1e-12 * (far + radius) + 2.0 * TOUCH_TOLERANCE * factor
    return gap > radius + margin or far < radius - margin


@kernel
def sphere_keys(
    spheres: Floats,
    first: int,
    last: int,
    frame: Floats,
    window: Floats,
    keys: UInt64s,
) -> None:
    """Set keys[first:last] to (Morton place << 32) + row; spheres that touch nothing come last.

    ``window`` (5,): middle r x y z of the spheres and the factor that scales them to -1 .. 1.
    """
    factor = float(window[4])
    for row in range(first, last):
        places = np.uint32(0)
        for column in range(4):
            value = (float(spheres[row, column]) - float(window[column])) * factor
            places = np.uint32((places << np.uint32(1)) | _spread_4(cell_of(value, 256.0)))
        if _is_out(spheres, row, frame):
            places = _DEAD_KEY
        keys[row] = (np.uint64(places) << np.uint64(32)) | np.uint64(row)


@kernel
def fill_groups(
    spheres: Floats,
    keys: UInt64s,
    first: int,
    last: int,
    frame: Floats,
    groups: Float32s,
    boxes: Float32s,
) -> None:
    """Fill groups first..last (groups, 10, 16) and their boxes (chunks, 8, 16), by sorted keys."""
    factor, half = float(frame[3]), float(frame[7])
    tolerance = TOUCH_TOLERANCE * factor
    for group in range(first, last):
        for lane in range(LANES):
            for part in range(SPHERE_ROWS):
                groups[group, part, lane] = _NEVER
        for ahead in range((group + 1) * LANES, min((group + 2) * LANES, len(keys))):
            prefetch(spheres, 4 * (keys[ahead] & ROW_BITS))  # of the next group, anywhere in memory
        chunk, place = group // LANES, group % LANES
        for axis in range(3):
            boxes[chunk, axis, place] = NOWHERE
            boxes[chunk, axis + 3, place] = -NOWHERE
        boxes[chunk, LOW, place] = NOWHERE
        boxes[chunk, HIGH, place] = _NEVER
        for lane in range(max(0, min(LANES, len(keys) - group * LANES))):
            row = int(np.int64(keys[group * LANES + lane] & ROW_BITS))
            if _is_out(spheres, row, frame):
                continue
            x = (float(spheres[row, 1]) - float(frame[0])) * factor
            y = (float(spheres[row, 2]) - float(frame[1])) * factor
            z = (float(spheres[row, 3]) - float(frame[2])) * factor
            radius = float(spheres[row, 0]) * factor
            largest = max(abs(x), abs(y), abs(z))
            if largest <= _FARTHEST:
                error = _SPREAD * (half + largest) + tolerance
                band = (
                    2.0 * error * radius + 10.0 * FLOAT32_ROUNDING * radius * radius + error * error
                )
                low, high = radius * radius - band, radius * radius + band
                cutoff = high + 4096.0 * error * error
            else:  # beyond float32: every triangle is decided exactly
                x, y, z, band, low, high, cutoff = 0.0, 0.0, 0.0, 0.0, -1.0, _ALWAYS, _ALWAYS
            for part, value in enumerate((x, y, z, x, y, z, low, high, cutoff, 2.0 * band)):
                groups[group, part, lane] = value
            for part in range(BOX_ROWS):
                stored, bound = groups[group, part, lane], boxes[chunk, part, place]
                is_lower = (part < 3) | (part == LOW)
                boxes[chunk, part, place] = stored if (stored < bound) == is_lower else bound
