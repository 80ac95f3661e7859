"""Slow, exact answers for rays: every number a ``Fraction``, but for square roots of 60 digits.

Each function returns the distance along the ray in meters, 0 from inside a solid, or None. Tests
ask twice, for the shape a little grown and a little shrunk: what lies between is left to rounding.
"""

from collections.abc import Sequence
from fractions import Fraction

from tests.oracles.geometry import Corners, Vector, add, cross, dot, length, root, scale, subtract


def triangle(
    origin: Vector, direction: Vector, corners: Corners, slack: Fraction
) -> Fraction | None:
    """Return the distance to a triangle not seen edge-on; ``slack`` is on barycentric weights."""
    a, b, c = corners
    normal = cross(subtract(b, a), subtract(c, a))
    slope = dot(direction, normal)
    if slope == 0:
        return None
    share = dot(subtract(a, origin), normal) / slope
    point = add(origin, scale(direction, share))
    square = dot(normal, normal)
    weights = (
        dot(cross(subtract(b, point), subtract(c, point)), normal) / square,
        dot(cross(subtract(c, point), subtract(a, point)), normal) / square,
        dot(cross(subtract(a, point), subtract(b, point)), normal) / square,
    )
    if min(weights) < -slack:
        return None
    distance = share * length(direction)
    return distance if distance >= 0 else None


def facing(direction: Vector, corners: Corners) -> float:
    """Return the sine of the angle between a ray and a triangle's plane."""
    a, b, c = corners
    normal = cross(subtract(b, a), subtract(c, a))
    return float(abs(dot(direction, normal)) / (length(direction) * length(normal)))


def sphere(origin: Vector, direction: Vector, center: Vector, radius: Fraction) -> Fraction | None:
    if radius < 0:
        return None
    to_origin = subtract(origin, center)
    return _first_root(
        dot(direction, direction),
        dot(to_origin, direction),
        dot(to_origin, to_origin) - radius * radius,
        Fraction(0),
        None,
        length(direction),
    )


def _first_root(
    square: Fraction,
    half: Fraction,
    rest: Fraction,
    start: Fraction,
    end: Fraction | None,
    size: Fraction,
) -> Fraction | None:
    """Return size * the least t in start..end with square t^2 + 2 half t + rest <= 0."""
    if end is not None and end < start:
        return None
    if square * start * start + 2 * half * start + rest <= 0:
        return start * size
    if square == 0:
        if half >= 0:
            return None
        first = -rest / (2 * half)
    else:
        under = half * half - square * rest
        if under < 0:
            return None
        first = (-half - root(under)) / square
    if first < start or (end is not None and first > end):
        return None
    return first * size


def box(
    origin: Sequence[Fraction],
    direction: Sequence[Fraction],
    lower: Sequence[Fraction],
    upper: Sequence[Fraction],
    size: Fraction,
) -> Fraction | None:
    """Return the distance to a box, in its own axes; ``size`` is the length of the direction."""
    near, far = Fraction(0), None
    for start, step, low, high in zip(origin, direction, lower, upper, strict=True):
        if low > high:
            return None
        if step == 0:
            if not low <= start <= high:
                return None
            continue
        first, last = sorted(((low - start) / step, (high - start) / step))
        near = max(near, first)
        far = last if far is None else min(far, last)
    return near * size if far is None or near <= far else None


def capsule(
    origin: Vector, direction: Vector, a: Vector, b: Vector, radius: Fraction
) -> Fraction | None:
    """Return the distance to a capsule.

    The square of the distance to the segment is three quadratics: nearest to one end, in between,
    nearest to the other. The first root of all is wanted.
    """
    if radius < 0:
        return None
    size = length(direction)
    edge = subtract(b, a)
    square = dot(edge, edge)
    if square == 0:
        return sphere(origin, direction, a, radius)
    place, turn = dot(subtract(origin, a), edge), dot(direction, edge)
    cuts = [Fraction(0)]
    if turn != 0:
        cuts += sorted(t for t in (-place / turn, (square - place) / turn) if t > 0)
    answers = []
    for start, end in zip(cuts, [*cuts[1:], None], strict=True):
        middle = start + 1 if end is None else (start + end) / 2
        along = place + turn * middle
        if along <= 0 or along >= square:
            foot, way = (a if along <= 0 else b), direction
            apart = subtract(origin, foot)
        else:
            apart = subtract(subtract(origin, a), scale(edge, place / square))
            way = subtract(direction, scale(edge, turn / square))
        answers.append(
            _first_root(
                dot(way, way),
                dot(apart, way),
                dot(apart, apart) - radius * radius,
                start,
                end,
                size,
            )
        )
    return min((answer for answer in answers if answer is not None), default=None)
