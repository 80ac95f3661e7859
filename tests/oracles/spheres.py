"""The smallest enclosing sphere in exact arithmetic, by trying every set of up to four points.

Of all spheres that rest on one, two, three or four of the points and hold all of them, the smallest
is the answer: in three dimensions it never needs more. Centers come from the equations
2 e_i . c = e_i . e_i in the edges' own coordinates, solved by elimination.
"""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations

Point = tuple[Fraction, Fraction, Fraction]


def exact(points: Iterable[Iterable[float]]) -> list[Point]:
    """Return the points without repetition, as fractions."""
    kept: dict[Point, None] = {}
    for x, y, z in points:
        kept[Fraction(float(x)), Fraction(float(y)), Fraction(float(z))] = None
    return list(kept)


def dot(a: Point, b: Point) -> Fraction:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def subtract(a: Point, b: Point) -> Point:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def squared_distance(a: Point, b: Point) -> Fraction:
    away = subtract(a, b)
    return dot(away, away)


def solve(matrix: list[list[Fraction]]) -> list[Fraction] | None:
    """Return the solution of linear equations [A | b], None if A has no inverse."""
    rows = [list(row) for row in matrix]
    size = len(rows)
    for column in range(size):
        pivot = next((row for row in range(column, size) if rows[row][column]), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for row in range(size):
            if row != column and rows[row][column]:
                share = rows[row][column] / rows[column][column]
                rows[row] = [a - share * b for a, b in zip(rows[row], rows[column], strict=True)]
    return [rows[i][size] / rows[i][i] for i in range(size)]


def center_of(chosen: Sequence[Point]) -> Point | None:
    """Return the point of their hull's space that is as far from each; None if there is none."""
    edges = [subtract(point, chosen[0]) for point in chosen[1:]]
    shares = solve([[2 * dot(a, b) for b in edges] + [dot(a, a)] for a in edges])
    if shares is None:
        return None
    x, y, z = chosen[0]
    for share, edge in zip(shares, edges, strict=True):
        x, y, z = x + share * edge[0], y + share * edge[1], z + share * edge[2]
    return (x, y, z)


def smallest_sphere(points: Iterable[Iterable[float]]) -> tuple[Point, Fraction]:
    """Return center and squared radius."""
    given = exact(points)
    best: tuple[Point, Fraction] | None = None
    for count in range(1, min(len(given), 4) + 1):
        for chosen in combinations(given, count):
            center = center_of(chosen)
            if center is None:
                continue
            squared = squared_distance(center, chosen[0])
            if best is not None and squared >= best[1]:
                continue
            if all(squared_distance(center, point) <= squared for point in given):
                best = center, squared
    assert best is not None
    return best


def root(squared: Fraction) -> Fraction:
    """Return a square root, off by less than 1e-30 of its size."""
    if not squared:
        return Fraction(0)
    up, down = squared.numerator, squared.denominator
    power = max(0, 220 - (up * down).bit_length())
    power += power % 2
    return Fraction(math.isqrt((up * down) << power), down << (power // 2))


def farthest(center: Iterable[float], points: Iterable[Iterable[float]]) -> Fraction:
    """Return the largest distance from a center to the points."""
    (place,) = exact([center])
    return root(max(squared_distance(place, point) for point in exact(points)))
