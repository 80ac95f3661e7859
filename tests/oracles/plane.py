"""Exact answers in the plane: every number a ``Fraction``."""

from collections.abc import Sequence
from fractions import Fraction

Point = Sequence[float]


def orientation(p: Point, a: Point, b: Point) -> int:
    """Return the sign of cross(a - p, b - p): 1 where p, a, b turn counter-clockwise."""
    (px, py), (ax, ay), (bx, by) = ((Fraction(x), Fraction(y)) for x, y in (p, a, b))
    cross = (ax - px) * (by - py) - (ay - py) * (bx - px)
    return (cross > 0) - (cross < 0)


def on_segment(p: Point, a: Point, b: Point) -> bool:
    return orientation(p, a, b) == 0 and all(
        min(start, end) <= x <= max(start, end) for x, start, end in zip(p, a, b, strict=True)
    )


def in_triangle(p: Point, a: Point, b: Point, c: Point) -> bool:
    """Tell whether a closed triangle, perhaps without area, holds a point.

    On a border, or on the inner side of all three borders.
    """
    if on_segment(p, a, b) or on_segment(p, b, c) or on_segment(p, c, a):
        return True
    turn = orientation(a, b, c)
    return turn != 0 and all(orientation(p, *edge) == turn for edge in ((a, b), (b, c), (c, a)))
