"""Slow, exact answers for points, spheres and triangles.

Every number is a ``Fraction``: a float is taken for the exact value it holds, so nothing here is
ever rounded, except a square root, which is correct to 60 digits. The method is
enumeration: try every feature, keep what is feasible, take the best. Boxes are in
``boxes.py``.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import isqrt, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = tuple[Fraction, Fraction, Fraction]
Corners = tuple[Vector, Vector, Vector]


def vector(values: Iterable[float | Fraction]) -> Vector:
    """Return three numbers as exact fractions."""
    x, y, z = (v if isinstance(v, Fraction) else Fraction(v) for v in values)
    return x, y, z


def corners_of(triangle: Iterable[Iterable[float | Fraction]]) -> Corners:
    """Return the three corners of a triangle as exact vectors."""
    a, b, c = (vector(corner) for corner in triangle)
    return a, b, c


def add(a: Vector, b: Vector) -> Vector:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def subtract(a: Vector, b: Vector) -> Vector:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def scale(a: Vector, factor: Fraction | int) -> Vector:
    return a[0] * factor, a[1] * factor, a[2] * factor


def dot(a: Vector, b: Vector) -> Fraction:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def root(value: Fraction) -> Fraction:
    """Return the square root of a number >= 0, correct to 60 digits."""
    if value == 0:
        return value
    # Shifted so that the whole-number root has at least 200 bits.
    shift = max(400 + value.denominator.bit_length() - value.numerator.bit_length(), 0) // 2
    return Fraction(isqrt((value.numerator << 2 * shift) // value.denominator), 1 << shift)


def length(a: Vector) -> Fraction:
    return root(dot(a, a))


def unit(a: Vector) -> Vector:
    """Return a vector of length one in the direction of ``a``, which must not be zero."""
    return scale(a, 1 / length(a))


def doubled_area_normal(triangle: Corners) -> Vector:
    """Return cross(b - a, c - a): towards the front, zero for a triangle without area."""
    a, b, c = triangle
    return cross(subtract(b, a), subtract(c, a))


def thinness(triangle: Corners) -> float:
    """Return height over longest edge: 0.87 for an equal-sided triangle, 0 without area."""
    a, b, c = triangle
    longest = max(dot(e, e) for e in (subtract(b, a), subtract(c, b), subtract(a, c)))
    normal = doubled_area_normal(triangle)
    return sqrt(dot(normal, normal) / longest**2) if longest else 0.0


def foot_weights(point: Vector, triangle: Corners) -> Vector | None:
    """Return the barycentric weights of the foot of ``point`` in the triangle's plane.

    None for a triangle without area. The foot is inside the face where all three are > 0.
    """
    normal = doubled_area_normal(triangle)
    square = dot(normal, normal)
    if square == 0:
        return None
    a, b, c = triangle
    weight_b = dot(cross(subtract(point, a), subtract(c, a)), normal) / square
    weight_c = dot(cross(subtract(b, a), subtract(point, a)), normal) / square
    return 1 - weight_b - weight_c, weight_b, weight_c


def closest_on_segment(point: Vector, a: Vector, b: Vector) -> Vector:
    along = subtract(b, a)
    square = dot(along, along)
    if square == 0:
        return a
    share = dot(subtract(point, a), along) / square
    return add(a, scale(along, min(max(share, Fraction(0)), Fraction(1))))


def closest_on_triangle(point: Vector, triangle: Corners) -> Vector:
    """Return the exact closest point: the nearest of the feet that lie on the triangle."""
    a, b, c = triangle
    feet = [closest_on_segment(point, *edge) for edge in ((a, b), (b, c), (c, a))]
    weights = foot_weights(point, triangle)
    if weights is not None and min(weights) >= 0:
        feet.append(
            add(add(scale(a, weights[0]), scale(b, weights[1])), scale(c, weights[2])),
        )
    return min(feet, key=lambda foot: distance_squared(point, foot))


def distance_squared(a: Vector, b: Vector) -> Fraction:
    difference = subtract(a, b)
    return dot(difference, difference)


class SphereAnswer(NamedTuple):
    """The contact of a sphere and a triangle."""

    distance: Fraction
    """From the center to the triangle."""
    pushes: list[Vector]
    """Every right penetration; several only within ``band`` of a jump; empty when apart."""


def sphere_answer(
    center: Vector,
    radius: Fraction,
    triangle: Corners,
    *,
    two_sided: bool,
    band: float = 0.0,
) -> SphereAnswer:
    """Return the distance and the right penetration of a sphere.

    Parameters
    ----------
    center, radius, triangle
        Exact; in meters.
    two_sided : bool
        Radial and shortest, from either side. Otherwise the front of the face is solid.
    band : float
        Relative width of the strips in which rounding decides: a foot whose barycentric weight is
        nearer to zero than this may count as on the face or on the edge, and a center this
        near to the triangle (times its size) may count as lying on it.
    """
    foot = closest_on_triangle(center, triangle)
    apart = subtract(center, foot)
    distance = length(apart)
    if dot(apart, apart) > radius * radius:
        return SphereAnswer(distance, [])
    normal = doubled_area_normal(triangle)
    weights = foot_weights(center, triangle)
    size = max(length(subtract(triangle[i], triangle[i - 1])) for i in range(3))
    pushes: list[Vector] = []
    if distance > 0:
        radial = scale(apart, (radius - distance) / distance)
    elif weights is not None:
        radial = scale(unit(normal), radius)
    else:
        radial = scale(upward_perpendicular(triangle), radius)
    if weights is None:
        return SphereAnswer(distance, [radial])
    front = unit(normal)
    signed = dot(subtract(center, triangle[0]), front)
    through_front = scale(front, radius - signed)
    if two_sided or min(weights) <= band:
        pushes.append(radial)
    if not two_sided and min(weights) > -band:
        pushes.append(through_front)
    if distance <= band * size:
        pushes.append(scale(front, radius))
    return SphereAnswer(distance, list(dict.fromkeys(pushes)))


def upward_perpendicular(triangle: Corners) -> Vector:
    """Return the unit vector across a triangle without area that is nearest to +Y.

    Any perpendicular of a vertical segment is right; this gives +X.
    """
    a, b, c = triangle
    along = max(
        (subtract(b, a), subtract(c, b), subtract(a, c)),
        key=lambda edge: dot(edge, edge),
    )
    up = vector((0, 1, 0))
    square = dot(along, along)
    if square == 0:
        return up
    across = subtract(up, scale(along, dot(up, along) / square))
    if dot(across, across) == 0:
        return vector((1, 0, 0))
    return unit(across)


def span(points: Sequence[Vector]) -> float:
    """Return the largest extent of some points along x, y or z, in meters."""
    return float(max(max(column) - min(column) for column in zip(*points, strict=True)))


def tolerance(size: float, depth: float, *coordinates: NDArray[np.float64]) -> float:
    """Return what float64 may be off by: 1e-9 * (size + depth) + 4 ulp of the coordinates."""
    largest = max(float(np.max(np.abs(values))) for values in coordinates)
    return 1e-9 * (size + depth) + 4.0 * float(np.spacing(largest))
