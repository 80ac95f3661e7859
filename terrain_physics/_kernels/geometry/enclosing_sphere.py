"""The smallest sphere around points: closed form for up to four, pivoting for more.

Sources: E. Welzl, "Smallest enclosing disks (balls and ellipsoids)" (1991), and B. Gartner, "Fast
and robust smallest enclosing balls" (1999), for taking the farthest point as the next pivot.

Points are first scaled by a power of two to a size of about one. That is exact, and makes sizes
from 1e-290 to 1e290 alike. Distances are measured from a point of the set, never from the world's
origin. The center is rounded to the world's coordinates last, and only then is the radius measured.
"""

import math

import numpy as np

from terrain_physics._kernels._intrinsics import prefer_wide_vectors
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.enclosing_support import exchange
from terrain_physics._kernels.math.double_double import Double, DoubleVec3, add, at_most, difference
from terrain_physics._kernels.math.vec3 import Vec3, add_scaled, cross, dot, scale, subtract
from terrain_physics._kernels.tolerances import ENCLOSING_ROUNDING
from terrain_physics._kernels.types import Floats

# Bits of a float64: how many hold the fraction, twice the exponent of 1, and the exponents of
# 2^-1000 and 2^1000.
_FRACTION_BITS = np.int64(52)
_EXPONENTS = np.int64(2046)
_LEAST_EXPONENT, _LARGEST_EXPONENT = np.int64(23), np.int64(2023)

_CHUNK = 2048  # points, 48 KB: the chunk of the farthest one is still cached for a second pass


@kernel(inline=True)
def _scaled_point(points: Floats, row: int, i: int, factor: float) -> Vec3:
    return (
        float(points[row, i, 0]) * factor,
        float(points[row, i, 1]) * factor,
        float(points[row, i, 2]) * factor,
    )


@kernel(inline=True)
def _bits(number: float) -> np.int64:
    """Return the bits of a number >= 0: integers in the same order as the numbers.

    LLVM vectorizes the search for the largest of many integers, but not of floats.
    """
    return np.float64(number).view(np.int64)


@kernel(inline=True)
def _number(bits: np.int64) -> float:
    return float(np.int64(bits).view(np.float64))


@kernel(inline=True)
def _power_of_two(size: np.int64) -> float:
    """Return the power of two, 2^-1000 to 2^1000, that scales a number of these bits to 1..2."""
    if size == 0:
        return 1.0
    exponent = min(max(size >> _FRACTION_BITS, _LEAST_EXPONENT), _LARGEST_EXPONENT)
    return _number((_EXPONENTS - exponent) << _FRACTION_BITS)


@kernel
def _factor(points: Floats, row: int) -> float:
    """Return the power of two that scales a set of points to about size one."""
    prefer_wide_vectors()
    x, y, z = _scaled_point(points, row, 0, 0.5)
    largest = np.int64(0)
    for i in range(points.shape[1]):
        # Halves are subtracted: the whole difference may overflow.
        other = _scaled_point(points, row, i, 0.5)
        dx = _bits(abs(other[0] - x))
        dy = _bits(abs(other[1] - y))
        dz = _bits(abs(other[2] - z))
        largest = dx if dx > largest else largest
        largest = dy if dy > largest else largest
        largest = dz if dz > largest else largest
    return _power_of_two(largest)


@kernel(inline=True)
def _squared_bits(
    points: Floats, row: int, i: int, factor: float, origin: Vec3, center: Vec3
) -> np.int64:
    """Return the bits of a point's squared distance from the center."""
    away = subtract(subtract(_scaled_point(points, row, i, factor), origin), center)
    return _bits(dot(away, away))


@kernel
def _largest_bits(
    points: Floats, row: int, first: int, last: int, factor: float, origin: Vec3, center: Vec3
) -> np.int64:
    prefer_wide_vectors()
    largest = np.int64(0)
    for i in range(first, last):
        bits = _squared_bits(points, row, i, factor, origin, center)
        largest = bits if bits > largest else largest
    return largest


@kernel
def _farthest(
    points: Floats, row: int, factor: float, origin: Vec3, center: Vec3
) -> tuple[int, float]:
    """Return the first point farthest from origin + center, and its squared distance, scaled."""
    count = points.shape[1]
    largest, place = np.int64(-1), 0
    for first in range(0, count, _CHUNK):
        bits = _largest_bits(points, row, first, min(first + _CHUNK, count), factor, origin, center)
        if bits > largest:
            largest, place = bits, first
    for i in range(place, count):
        if _squared_bits(points, row, i, factor, origin, center) == largest:
            return i, _number(largest)
    return place, _number(largest)


@kernel(inline=True)
def _put_center(origin: Vec3, center: Vec3, factor: float, out: Floats, row: int) -> Vec3:
    """Write x y z of origin + center in world coordinates; return them scaled again."""
    for axis in range(3):
        out[row, axis] = (origin[axis] + center[axis]) / factor
    return scale((float(out[row, 0]), float(out[row, 1]), float(out[row, 2])), factor)


@kernel
def _rounded(base: Vec3, origin: Vec3, offset: DoubleVec3) -> Vec3:
    """Return base + offset relative to the origin."""
    place = difference(base, origin)
    return (
        add(place[0], offset[0])[0],
        add(place[1], offset[1])[0],
        add(place[2], offset[2])[0],
    )


@kernel(inline=True)
def _squared_radius(a: Vec3, b: Vec3, c: Vec3, center: Vec3) -> float:
    """Return the largest squared distance from the center to 0, a, b and c."""
    to_a, to_b, to_c = subtract(a, center), subtract(b, center), subtract(c, center)
    first = max(dot(center, center), dot(to_a, to_a))
    return max(first, dot(to_b, to_b), dot(to_c, to_c))


@kernel(inline=True)
def _circle_center(a: Vec3, b: Vec3) -> Vec3:
    """Return the point of their plane equally far from 0, a and b; 0 if they are on one line."""
    normal = cross(a, b)
    divisor = 2.0 * dot(normal, normal)
    if divisor == 0.0:
        return (0.0, 0.0, 0.0)
    share = 1.0 / divisor
    for_a, for_b = scale(cross(b, normal), share), scale(cross(normal, a), share)
    center = add_scaled(scale(for_a, dot(a, a)), for_b, dot(b, b))
    # A second step with the remainder: thin triangles lose many digits, but distances stay right.
    rest_a, rest_b = add_scaled(a, center, -2.0), add_scaled(b, center, -2.0)
    return add_scaled(add_scaled(center, for_a, dot(a, rest_a)), for_b, dot(b, rest_b))


@kernel(inline=True)
def _sphere_center(a: Vec3, b: Vec3, c: Vec3) -> Vec3:
    """Return the point equally far from 0, a, b and c; 0 if all are in one plane."""
    for_a = cross(b, c)
    divisor = 2.0 * dot(a, for_a)
    if divisor == 0.0:
        return (0.0, 0.0, 0.0)
    share = 1.0 / divisor
    for_a, for_b, for_c = scale(for_a, share), scale(cross(c, a), share), scale(cross(a, b), share)
    center = add_scaled(add_scaled(scale(for_a, dot(a, a)), for_b, dot(b, b)), for_c, dot(c, c))
    rest_a, rest_b = add_scaled(a, center, -2.0), add_scaled(b, center, -2.0)
    rest_c = add_scaled(c, center, -2.0)
    center = add_scaled(add_scaled(center, for_a, dot(a, rest_a)), for_b, dot(b, rest_b))
    return add_scaled(center, for_c, dot(c, rest_c))


@kernel
def _center_of_four(a: Vec3, b: Vec3, c: Vec3) -> Vec3:
    """Return the center of the smallest sphere around 0, a, b and c, which may coincide.

    Each sphere that rests on two, three or four of them is widened to hold all; the smallest is the
    answer. So a wrong center does no harm. Rounding makes centers of points nearly on one line
    wrong, but then a sphere that rests on fewer points is as small.
    """
    best = scale(a, 0.5)
    least = _squared_radius(a, b, c, best)
    for center in (
        scale(b, 0.5),
        scale(c, 0.5),
        add_scaled(scale(a, 0.5), b, 0.5),
        add_scaled(scale(a, 0.5), c, 0.5),
        add_scaled(scale(b, 0.5), c, 0.5),
        _circle_center(a, b),
        _circle_center(a, c),
        _circle_center(b, c),
        add_scaled(a, _circle_center(subtract(b, a), subtract(c, a)), 1.0),
        _sphere_center(a, b, c),
    ):
        radius2 = _squared_radius(a, b, c, center)
        if radius2 < least:
            best, least = center, radius2
    return best


@kernel
def _sphere_in_closed_form(points: Floats, row: int, out: Floats) -> None:
    """Write x y z r of the smallest sphere around up to four points."""
    last = points.shape[1] - 1
    factor = _factor(points, row)
    p = _scaled_point(points, row, 0, factor)
    q = _scaled_point(points, row, min(1, last), factor)
    r = _scaled_point(points, row, min(2, last), factor)
    s = _scaled_point(points, row, last, factor)
    center = _center_of_four(subtract(q, p), subtract(r, p), subtract(s, p))
    rounded = _put_center(p, center, factor, out, row)
    to_p, to_q = subtract(p, rounded), subtract(q, rounded)
    to_r, to_s = subtract(r, rounded), subtract(s, rounded)
    radius2 = max(dot(to_p, to_p), dot(to_q, to_q), dot(to_r, to_r), dot(to_s, to_s))
    out[row, 3] = math.sqrt(radius2) / factor


@kernel
def _sphere_by_pivots(points: Floats, row: int, max_rounds: int, out: Floats) -> None:
    """Write x y z r of the smallest sphere, or of one at most twice as large if rounds run out.

    It is at most twice as large because the center never leaves the convex hull of the points.
    """
    factor = _factor(points, row)
    origin = _scaled_point(points, row, 0, factor)
    support, resting = (origin, origin, origin, origin), 1
    center = (0.0, 0.0, 0.0)
    squared: Double = (0.0, 0.0)
    for _ in range(max_rounds):
        farthest, radius2 = _farthest(points, row, factor, origin, center)
        if radius2 <= squared[0] * (1.0 + ENCLOSING_ROUNDING):
            break
        pivot = _scaled_point(points, row, farthest, factor)
        support, resting, (offset, larger) = exchange(support, resting, pivot)
        if at_most(larger, squared):
            break  # rounding alone is left, even in 106 bits
        squared = larger
        center = _rounded(pivot, origin, offset)
    rounded = _put_center(origin, center, factor, out, row)
    _, radius2 = _farthest(points, row, factor, rounded, (0.0, 0.0, 0.0))
    out[row, 3] = math.sqrt(radius2) / factor


@kernel
def enclosing_spheres(points: Floats, max_rounds: int, out: Floats) -> None:
    """Write x y z r (m, 4) of the smallest spheres around sets of points (m, k, 3), k >= 1."""
    for row in range(points.shape[0]):
        if points.shape[1] <= 4:
            _sphere_in_closed_form(points, row, out)
        else:
            _sphere_by_pivots(points, row, max_rounds, out)
