"""The definition of a touch: every faster way of counting must agree with this function."""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.sphere_surface_bounds import TOUCHING, UNDECIDED, verdict
from terrain_physics._kernels.math.double_double import (
    Double,
    DoubleVec3,
    at_most,
    cross,
    difference,
    dot,
    multiply,
    two_sum,
)
from terrain_physics._kernels.math.vec3 import Vec3, scale, subtract
from terrain_physics._kernels.tolerances import FLOAT64_ROUNDING, TOUCH_TOLERANCE

_LARGEST = 2.0**160  # sixth powers of lengths up to here stay finite
_NO_LENGTH = 1e-120  # squared meters: a shorter edge is less than any rounding of the tolerance
_NO_AREA = 1e-200  # meters to the fourth power: the square of twice an area
_SLIVER = 2.0**-140  # squared sine of the angle between two edges


@kernel
def touches(a: Vec3, b: Vec3, c: Vec3, center: Vec3, radius: float) -> bool:
    """Tell whether the surface of a sphere touches a triangle; this is the counter's definition.

    It does if the triangle's least distance from the center is <= radius + 1e-10 and its greatest
    distance is >= radius - 1e-10. A triangle without area is a segment or a point.

    Differences of coordinates are taken first, so that large coordinates cost no precision. Then
    float64 decides, except within the error band of ``verdict`` (eps = 0, u = 2^-53), where
    double-double arithmetic decides. So the answer is that of exact arithmetic with two exceptions:
    if a distance is within 8 ulp of radius +- 1e-10, or if the triangle is thinner than 2^-30 of
    its length and its edges are not exact in float64; then it may count as a segment.

    Parameters
    ----------
    a, b, c, center : tuple of 3 floats
        In meters, any finite numbers.
    radius : float
        In meters, finite and >= 0.
    """
    top = radius + TOUCH_TOLERANCE
    low = radius - TOUCH_TOLERANCE
    far = top * top
    error = 10.0 * FLOAT64_ROUNDING * far
    inside, outside = -1.0, -1.0
    if low > 0.0:
        inside = low * low * (1.0 - 10.0 * FLOAT64_ROUNDING)
        outside = low * low * (1.0 + 10.0 * FLOAT64_ROUNDING)
    quick = verdict(
        subtract(center, a),
        subtract(center, b),
        subtract(center, c),
        inside,
        outside,
        far - error,
        far + error,
        2.0 * error,
        64.0 * FLOAT64_ROUNDING,
        0.0,
        1.0,
    )
    if quick != UNDECIDED:
        return bool(quick == TOUCHING)

    largest = radius
    for point in (a, b, c, center):
        for k in range(3):
            largest = max(largest, abs(point[k]))
    factor = 1.0
    if largest > _LARGEST:
        factor = math.ldexp(1.0, -math.frexp(largest)[1])
    return _touches_closely(
        scale(a, factor),
        scale(b, factor),
        scale(c, factor),
        scale(center, factor),
        radius * factor,
        TOUCH_TOLERANCE * factor,
    )


@kernel
def _touches_closely(
    a: Vec3, b: Vec3, c: Vec3, center: Vec3, radius: float, tolerance: float
) -> bool:
    """Decide in 106 bits: corners first, then edges, then the face, all without a division."""
    from_a, from_b, from_c = difference(center, a), difference(center, b), difference(center, c)
    square_a, square_b, square_c = dot(from_a, from_a), dot(from_b, from_b), dot(from_c, from_c)
    low = two_sum(radius, -tolerance)
    if low[0] > 0.0:
        low = multiply(low, low)
        if not (at_most(low, square_a) or at_most(low, square_b) or at_most(low, square_c)):
            return False
    top = two_sum(radius, tolerance)
    top = multiply(top, top)
    if at_most(square_a, top) or at_most(square_b, top) or at_most(square_c, top):
        return True

    ab, bc, ca = difference(b, a), difference(c, b), difference(a, c)
    normal = cross(ab, bc)
    over_face = True
    for start, edge in ((from_a, ab), (from_b, bc), (from_c, ca)):
        moment = cross(edge, start)
        if _reaches_edge(start, edge, moment, top):
            return True
        # Whether the foot point is on the inner side of the edge. If rounding decides this, face
        # and edge are equally far.
        over_face = over_face and dot(moment, normal)[0] >= 0.0
    if not over_face:
        return False
    square = dot(normal, normal)
    if square[0] <= _NO_AREA or square[0] <= _SLIVER * dot(ab, ab)[0] * dot(bc, bc)[0]:
        return False  # so thin that the edges, which do not touch, are as close as the face
    height = dot(from_a, normal)
    return at_most(multiply(height, height), multiply(top, square))


@kernel
def _reaches_edge(start: DoubleVec3, edge: DoubleVec3, moment: DoubleVec3, top: Double) -> bool:
    """Tell whether the foot point lies between the ends of the edge, at most sqrt(top) away."""
    along = dot(start, edge)
    square = dot(edge, edge)
    if not (along[0] > 0.0 and along[0] < square[0] and square[0] > _NO_LENGTH):
        return False
    return at_most(dot(moment, moment), multiply(top, square))
