"""The common part of two triangles, exactly: one is cut down by the other's half spaces.

Numbers are whole numbers or fractions, so that nothing is rounded. A triangle with area is five
half spaces, one without is a segment or a point, and those are half spaces too. What remains of the
first triangle after all cuts is the common part, with exact corners.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

Number = int | Fraction
Point = tuple[Number, Number, Number]
HalfSpace = tuple[Point, Number]  # all x with normal . x >= offset


class Share(NamedTuple):
    """The common part: "apart", "point", "segment" or "area", and its corners in order."""

    kind: str
    corners: list[Point]


def exact(rows: Iterable[Iterable[float]]) -> list[Point]:
    """Return points as exact numbers."""
    points = []
    for row in rows:
        x, y, z = (int(v) if float(v).is_integer() else Fraction(float(v)) for v in row)
        points.append((x, y, z))
    return points


def _minus(a: Point, b: Point) -> Point:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def _dot(a: Point, b: Point) -> Number:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _cross(a: Point, b: Point) -> Point:
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def volume(a: Point, b: Point, c: Point, d: Point) -> Number:
    """Return six times the signed volume: positive for d in front of a, b, c."""
    return _dot(_cross(_minus(b, a), _minus(c, a)), _minus(d, a))


def _above(normal: Point, point: Point) -> HalfSpace:
    return normal, _dot(normal, point)


def _both_ways(normal: Point, point: Point) -> list[HalfSpace]:
    back = (-normal[0], -normal[1], -normal[2])
    return [_above(normal, point), _above(back, point)]


def half_spaces(triangle: Sequence[Point]) -> list[HalfSpace]:
    """Return half spaces of which the triangle is the intersection."""
    a, b, c = triangle
    normal = _cross(_minus(b, a), _minus(c, a))
    if any(normal):
        found = _both_ways(normal, a)
        for start, end in ((a, b), (b, c), (c, a)):
            found.append(_above(_cross(normal, _minus(end, start)), start))
        return found
    first, last = min(triangle), max(triangle)
    along = _minus(last, first)
    units: list[Point] = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    if not any(along):
        return [side for unit in units for side in _both_ways(unit, first)]
    found = [_above(along, first), _above(_minus(first, last), last)]
    for unit in units:
        found += _both_ways(_cross(along, unit), first)
    return found


def _cut(polygon: list[Point], side: HalfSpace) -> list[Point]:
    normal, offset = side
    heights = [_dot(normal, point) - offset for point in polygon]
    kept: list[Point] = []
    for k, (point, height) in enumerate(zip(polygon, heights, strict=True)):
        if height >= 0 and point not in kept:
            kept.append(point)
        following, after = polygon[(k + 1) % len(polygon)], heights[(k + 1) % len(polygon)]
        if height * after < 0:
            share = Fraction(height) / (height - after)
            step = _minus(following, point)
            between = tuple(p + share * s for p, s in zip(point, step, strict=True))
            if between not in kept:
                kept.append((between[0], between[1], between[2]))
    return kept


def shared(first: Sequence[Point], second: Sequence[Point]) -> Share:
    """Return the common part of two triangles."""
    polygon = list(dict.fromkeys(first))
    for side in half_spaces(second):
        polygon = _cut(polygon, side)
    corners = sorted(polygon)
    if not corners:
        return Share("apart", [])
    if len(corners) == 1:
        return Share("point", corners)
    along = _minus(corners[-1], corners[0])
    if any(any(_cross(along, _minus(corner, corners[0]))) for corner in corners):
        return Share("area", corners)
    return Share("segment", [corners[0], corners[-1]])
