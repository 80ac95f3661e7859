"""Count the triangles that a sphere touches, by exact fractions: slow, and plainly right."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm

TOLERANCE = Fraction(1, 10**10)

Number = Fraction | int
Vector = tuple[Number, Number, Number]


def minus(a: Vector, b: Vector) -> Vector:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def dot(a: Vector, b: Vector) -> Number:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def exact(numbers: Iterable[float]) -> list[Fraction]:
    return [Fraction(float(number)) for number in numbers]


def square_distances(triangle: Sequence[Number], center: Sequence[Number]) -> tuple[Number, Number]:
    """Return the squares of the least and the greatest distance of a point to a triangle of nine
    numbers.

    The farthest point is a corner. The nearest is a corner, or the foot point on an edge or on the
    face where there is one; each of those candidates is a point of the triangle, so the least of
    them is right.
    """
    p = (center[0], center[1], center[2])
    corners = [(triangle[i], triangle[i + 1], triangle[i + 2]) for i in (0, 3, 6)]
    squares = [dot(minus(p, corner), minus(p, corner)) for corner in corners]
    nearest = min(squares)
    normal = cross(minus(corners[1], corners[0]), minus(corners[2], corners[0]))
    inner_sides = 0
    for start, end in ((0, 1), (1, 2), (2, 0)):
        edge, offset = minus(corners[end], corners[start]), minus(p, corners[start])
        along, length = dot(edge, offset), dot(edge, edge)
        if 0 < along < length:
            nearest = min(nearest, dot(offset, offset) - Fraction(along * along, length))
        inner_sides += dot(cross(edge, offset), normal) >= 0
    if inner_sides == 3 and dot(normal, normal) > 0:
        height = dot(minus(p, corners[0]), normal)
        nearest = min(nearest, Fraction(height * height, dot(normal, normal)))
    return nearest, max(squares)


def touches(
    triangle: Sequence[Number], sphere: Sequence[Number], tolerance: Number = TOLERANCE
) -> bool:
    """Tell whether the least distance is <= radius + 1e-10 and the greatest >= radius - 1e-10."""
    nearest, farthest = square_distances(triangle, sphere[1:])
    top, low = sphere[0] + tolerance, sphere[0] - tolerance
    return nearest <= top * top and (low <= 0 or farthest >= low * low)


def count(triangles: Iterable[Iterable[float]], spheres: Iterable[Iterable[float]]) -> list[int]:
    """Return for each sphere (r x y z) how many triangles (nine numbers) it touches."""
    corners, balls = list(map(exact, triangles)), list(map(exact, spheres))
    # In a unit that makes all numbers whole: their arithmetic is quick.
    parts = lcm(TOLERANCE.denominator, *(x.denominator for row in corners + balls for x in row))
    whole_corners, whole_balls = (
        [[int(x * parts) for x in row] for row in rows] for rows in (corners, balls)
    )
    tolerance = int(TOLERANCE * parts)
    return [
        sum(touches(triangle, ball, tolerance) for triangle in whole_corners)
        for ball in whole_balls
    ]
