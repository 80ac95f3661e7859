"""The smallest sphere around up to five points, in numbers of 106 bits.

Adding a point that sticks out by a part e of the radius may enlarge the smallest sphere by as
little as e * e / 2. With 53 bits, rounding hides steps with e below 1e-8, and a search could run in
circles; with 106 bits, steps count down to e = 1e-15.

Circumcenters are quotients of products of the edge vectors, by Cramer's rule.
"""

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.double_double import (
    Double,
    DoubleVec3,
    add,
    cross,
    difference,
    divide,
    dot,
    multiply,
)
from terrain_physics._kernels.math.vec3 import Vec3

Edges = tuple[DoubleVec3, DoubleVec3, DoubleVec3, DoubleVec3]
Support = tuple[Vec3, Vec3, Vec3, Vec3]
DoubleSphere = tuple[DoubleVec3, Double]  # center, squared radius

# A least squared area or volume, for sizes of about one. A thinner set differs by less than 1e-50
# of its size from a set with fewer points, and the sphere of that set is tried as well.
_FLAT = 1e-120


@kernel(inline=True)
def _less(x: Double, y: Double) -> bool:
    return x[0] < y[0] or (x[0] == y[0] and x[1] < y[1])


@kernel
def _halved(x: DoubleVec3) -> DoubleVec3:
    return (
        (0.5 * x[0][0], 0.5 * x[0][1]),
        (0.5 * x[1][0], 0.5 * x[1][1]),
        (0.5 * x[2][0], 0.5 * x[2][1]),
    )


@kernel
def _scaled(x: DoubleVec3, factor: Double) -> DoubleVec3:
    return multiply(x[0], factor), multiply(x[1], factor), multiply(x[2], factor)


@kernel
def _sum(x: DoubleVec3, y: DoubleVec3) -> DoubleVec3:
    return add(x[0], y[0]), add(x[1], y[1]), add(x[2], y[2])


@kernel
def _minus(x: DoubleVec3, y: DoubleVec3) -> DoubleVec3:
    return (
        add(x[0], (-y[0][0], -y[0][1])),
        add(x[1], (-y[1][0], -y[1][1])),
        add(x[2], (-y[2][0], -y[2][1])),
    )


@kernel
def _half_quotient(x: DoubleVec3, divisor: Double) -> DoubleVec3:
    """Return x / (2 * divisor)."""
    return _halved((divide(x[0], divisor), divide(x[1], divisor), divide(x[2], divisor)))


@kernel
def _circle_center(a: DoubleVec3, b: DoubleVec3) -> tuple[bool, DoubleVec3]:
    """Return (whether there is one, the point of their plane equally far from 0, a and b)."""
    normal = cross(a, b)
    divisor = dot(normal, normal)
    if divisor[0] < _FLAT:
        return False, a
    sides = _minus(_scaled(b, dot(a, a)), _scaled(a, dot(b, b)))
    return True, _half_quotient(cross(sides, normal), divisor)


@kernel
def _sphere_center(a: DoubleVec3, b: DoubleVec3, c: DoubleVec3) -> tuple[bool, DoubleVec3]:
    """Return (whether there is one, the point equally far from 0, a, b and c)."""
    across = cross(b, c)
    divisor = dot(a, across)
    if abs(divisor[0]) < _FLAT:
        return False, a
    sides = _sum(_scaled(cross(c, a), dot(b, b)), _scaled(cross(a, b), dot(c, c)))
    return True, _half_quotient(_sum(_scaled(across, dot(a, a)), sides), divisor)


@kernel
def _squared_radius(edges: Edges, count: int, center: DoubleVec3) -> Double:
    """Return the largest squared distance from the center to 0 and the ends of the edges."""
    largest = dot(center, center)
    for k in range(count):
        away = _minus(edges[k], center)
        squared = dot(away, away)
        if _less(largest, squared):
            largest = squared
    return largest


@kernel
def exchange(support: Support, count: int, pivot: Vec3) -> tuple[Support, int, DoubleSphere]:
    """Return the smallest sphere around pivot and support, and the points it rests on.

    The first ``count`` points are the support, the others are ignored. The pivot must lie outside
    of the smallest sphere around them, so the new sphere rests on it. The center is relative to the
    pivot.

    Each sphere that rests on the pivot and on one to three others is widened to hold all five, and
    the smallest is the answer. So a wrong center, however ill-conditioned its points, cannot leave
    one of them outside.
    """
    edges = (
        difference(support[0], pivot),
        difference(support[1], pivot),
        difference(support[2], pivot),
        difference(support[3], pivot),
    )
    best = _halved(edges[0])
    least = _squared_radius(edges, count, best)
    chosen, resting = (pivot, support[0], pivot, pivot), 2
    for i in range(1, count):
        center = _halved(edges[i])
        radius2 = _squared_radius(edges, count, center)
        if _less(radius2, least):
            best, least = center, radius2
            chosen = (pivot, support[i], pivot, pivot)
    for i in range(count):
        for j in range(i + 1, count):
            found, center = _circle_center(edges[i], edges[j])
            if not found:
                continue
            radius2 = _squared_radius(edges, count, center)
            if _less(radius2, least):
                best, least = center, radius2
                chosen, resting = (pivot, support[i], support[j], pivot), 3
    for i in range(count):
        for j in range(i + 1, count):
            for k in range(j + 1, count):
                found, center = _sphere_center(edges[i], edges[j], edges[k])
                if not found:
                    continue
                radius2 = _squared_radius(edges, count, center)
                if _less(radius2, least):
                    best, least = center, radius2
                    chosen, resting = (pivot, support[i], support[j], support[k]), 4
    return chosen, resting, (best, least)
