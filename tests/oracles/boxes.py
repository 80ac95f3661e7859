"""Slow, exact answers for a turned box and a triangle, by two methods that know no separating axis.

*Clipping*: cut the triangle with the six half-spaces of the box; they intersect where something is
left. *Minkowski difference*: the 24 differences between a corner of the triangle and a corner of
the box. The box moved by t meets the triangle exactly where t lies in their convex hull, so the
shortest move out is the distance from the origin to the nearest facet, and the move out
along a direction ends where the ray leaves the hull. Facets are found by trying the plane through
every three of the 24 points.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache, lru_cache
from itertools import combinations, product
from math import gcd, lcm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.oracles.geometry import (
    Corners,
    Vector,
    add,
    cross,
    dot,
    doubled_area_normal,
    length,
    scale,
    subtract,
    unit,
    vector,
)


class Box(NamedTuple):
    """A box of exact numbers; ``axes`` are the columns of its rotation."""

    center: Vector
    half: Vector
    axes: Corners


def box_of(center: Sequence[float], half: Sequence[float], rotation: NDArray[np.float64]) -> Box:
    """Return a box from floats; world = rotation @ local + center."""
    columns = [vector(float(v) for v in rotation[:, k]) for k in range(3)]
    return Box(
        vector(map(float, center)), vector(map(float, half)), (columns[0], columns[1], columns[2])
    )


def moved(box: Box, move: Vector) -> Box:
    return box._replace(center=add(box.center, move))


def grown(box: Box, by: Fraction) -> Box:
    """Return the box with every half-extent changed; one that would be negative becomes zero."""
    return box._replace(half=vector(max(extent + by, Fraction(0)) for extent in box.half))


def box_corners(box: Box) -> list[Vector]:
    corners = []
    for signs in product((-1, 1), repeat=3):
        corner = box.center
        for sign, extent, axis in zip(signs, box.half, box.axes, strict=True):
            corner = add(corner, scale(axis, sign * extent))
        corners.append(corner)
    return corners


def clip(polygon: list[Vector], normal: Vector, offset: Fraction) -> list[Vector]:
    """Return the part of a polygon with normal . p <= offset (Sutherland and Hodgman)."""
    kept = []
    for first, second in zip(polygon, polygon[1:] + polygon[:1], strict=True):
        height_first, height_second = dot(normal, first) - offset, dot(normal, second) - offset
        if height_first <= 0:
            kept.append(first)
        if height_first * height_second < 0:
            share = height_first / (height_first - height_second)
            kept.append(add(first, scale(subtract(second, first), share)))
    return kept


def touches(box: Box, triangle: Corners) -> bool:
    """Tell whether a box and a triangle have a point in common; touching counts."""
    polygon = [subtract(corner, box.center) for corner in triangle]
    for axis, extent in zip(box.axes, box.half, strict=True):
        offset = extent * dot(axis, axis)
        polygon = clip(polygon, axis, offset)
        polygon = clip(polygon, scale(axis, -1), offset)
    return bool(polygon)


class Facet(NamedTuple):
    """One side of a polytope: unit . p <= distance for every point p of it."""

    unit: Vector
    """Outward, length one."""
    distance: Fraction
    """From the origin, in meters; negative where the origin is outside this facet."""


@cache
def _triples(count: int) -> NDArray[np.intp]:
    return np.array(list(combinations(range(count), 3)))


def facets(points: Sequence[Vector]) -> list[Facet]:
    """Return the sides of the convex hull of some points, by trying every three of them.

    Points that lie in one plane have two facets, front and back; points on a line have none.
    """
    points = sorted(set(points))
    if len(points) < 3:
        return []
    denominator = lcm(*(x.denominator for point in points for x in point))
    origin = points[0]
    grid = [[int(x * denominator) for x in subtract(point, origin)] for point in points]
    found: dict[tuple[int, int, int], int] = {}
    planes = set()
    for i, j, k in _possible_facets(grid):
        ux, uy, uz = (grid[j][axis] - grid[i][axis] for axis in range(3))
        vx, vy, vz = (grid[k][axis] - grid[i][axis] for axis in range(3))
        normal = (uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx)
        divisor = gcd(*normal)
        if divisor == 0:
            continue
        x, y, z = (component // divisor for component in normal)
        own = x * grid[i][0] + y * grid[i][1] + z * grid[i][2]
        if (x, y, z, own) in planes:
            continue
        planes.add((x, y, z, own))
        heights = [x * p[0] + y * p[1] + z * p[2] for p in grid]
        if own == max(heights):
            found[x, y, z] = i
        if own == min(heights):
            found[-x, -y, -z] = i
    sides = []
    for normal, on_side in sorted(found.items()):
        outward = unit(vector(normal))
        sides.append(Facet(outward, dot(outward, points[on_side])))
    return sides


def _possible_facets(grid: list[list[int]]) -> list[tuple[int, int, int]]:
    """Leave out the triples that clearly have points on both sides.

    In float64, with a band a thousand times wider than its rounding error: what is left holds
    every facet and is settled exactly.
    """
    largest = max(abs(x) for point in grid for x in point)
    points = np.array([[float(Fraction(x, largest)) for x in point] for point in grid])
    triples = _triples(len(points))
    a, b, c = points[triples[:, 0]], points[triples[:, 1]], points[triples[:, 2]]
    normals = np.cross(b - a, c - a)
    heights = normals @ points.T - np.sum(normals * a, axis=1)[:, None]
    kept = (heights.max(axis=1) <= 1e-12) | (heights.min(axis=1) >= -1e-12)
    return [(int(i), int(j), int(k)) for i, j, k in triples[kept]]


@lru_cache(maxsize=4)  # a case asks for its own more than once
def difference_facets(box: Box, triangle: Corners) -> list[Facet]:
    """Return the facets of triangle - box: the moves t for which box + t meets the triangle."""
    corners = box_corners(box)
    return facets([subtract(point, corner) for point in triangle for corner in corners])


def depth(sides: Sequence[Facet]) -> Fraction:
    """Return the length of the shortest move out; negative where the shapes are apart."""
    return min(side.distance for side in sides)


def exit_bounds(
    sides: Sequence[Facet], direction: Vector, *, slack: float = 0.0, tilt: float = 0.0
) -> tuple[Fraction, Fraction | None]:
    """Return how far the box must move along a unit vector until the shapes just touch.

    Parameters
    ----------
    sides : sequence of Facet
        Of a polytope that holds the origin.
    direction : Vector
        Unit length.
    slack, tilt : float
        Rounding allowed for: every facet may be off by ``slack`` meters and by a sine of ``tilt``.

    Returns
    -------
    tuple of (Fraction, Fraction or None)
        Least and greatest right answer, in meters; both the same without slack and tilt.
        None where the ray may miss every facet.
    """
    least: Fraction | None = None
    greatest: Fraction | None = None
    for side in sides:
        facing = dot(side.unit, direction)
        if facing + Fraction(tilt) > 0:
            early = max(side.distance - Fraction(slack), Fraction(0)) / (facing + Fraction(tilt))
            least = early if least is None else min(least, early)
        if facing - Fraction(tilt) > 0:
            late = max(side.distance + Fraction(slack), Fraction(0)) / (facing - Fraction(tilt))
            greatest = late if greatest is None else min(greatest, late)
    assert least is not None
    return least, greatest


class Direction(NamedTuple):
    """One of the signed axes a one-sided push may use."""

    unit: Vector
    sine: float
    """Between the two lines the axis is the cross product of; 1 for normals and box axes."""


def signed_axes(box: Box, triangle: Corners) -> list[Direction]:
    """Return the face normal, box axes and edge cross axes, each in both directions.

    This is the list of the *rule* (a one-sided push is along one of them), not a method: how far
    a push goes is asked of the hull.
    """
    a, b, c = triangle
    found = []
    normal = doubled_area_normal(triangle)
    if any(normal):
        found.append(Direction(unit(normal), 1.0))
    found.extend(Direction(unit(axis), 1.0) for axis in box.axes)
    for edge in (subtract(b, a), subtract(c, b), subtract(a, c)):
        for axis in box.axes:
            across = cross(edge, axis)
            if any(across):
                sine = float(length(across) / length(edge) / length(axis))
                found.append(Direction(unit(across), sine))
    return found + [Direction(scale(axis.unit, -1), axis.sine) for axis in found]
