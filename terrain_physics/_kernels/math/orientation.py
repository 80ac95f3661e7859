"""The side of a line or a plane on which a point lies, exactly.

A float64 determinant decides where its error bound allows; other cases are summed exactly. Source
of bounds and formulas: J. R. Shewchuk, "Adaptive precision floating-point arithmetic and fast
robust geometric predicates" (1997). The answers are those of exact arithmetic for finite numbers if
the largest is less than 1e38 times the smallest that is not zero.
"""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.double_double import DoubleVec3, difference, two_sum
from terrain_physics._kernels.math.exact_sum import EMPTY, Sum, add_product, value_of
from terrain_physics._kernels.math.vec3 import Vec3, cross, scale, subtract

# A determinant of three differences takes at most nine roundings of 2^-53, one of two differences
# six. The last constant is more than what can be lost where products underflow.
_BAND_3D = 9.0 * 2.0**-53
_BAND_2D = 6.0 * 2.0**-53
_UNDERFLOW = 1e-200

_ZERO = (0.0, 0.0, 0.0)

# Third powers of numbers between these neither overflow nor lose their last bits.
_LARGEST = 2.0**300
_SMALLEST = 2.0**-150


@kernel(inline=True)
def _sizes(u: Vec3, v: Vec3) -> Vec3:
    """Return the cross product of u and v with the absolute value of every term."""
    return (
        abs(u[1] * v[2]) + abs(u[2] * v[1]),
        abs(u[2] * v[0]) + abs(u[0] * v[2]),
        abs(u[0] * v[1]) + abs(u[1] * v[0]),
    )


@kernel(inline=True)
def _quick_side(normal: Vec3, sizes: Vec3, w: Vec3) -> int:
    """Return the sign of the dot product of w and the normal, 0 where rounding may decide."""
    value = w[0] * normal[0] + w[1] * normal[1] + w[2] * normal[2]
    band = abs(w[0]) * sizes[0] + abs(w[1]) * sizes[1] + abs(w[2]) * sizes[2]
    band = _BAND_3D * band + _UNDERFLOW
    if value > band:
        return 1
    if value < -band:
        return -1
    return 0


@kernel(inline=True)
def plane_sides(a: Vec3, b: Vec3, c: Vec3, d: Vec3, e: Vec3, f: Vec3) -> tuple[int, int, int]:
    """Return the sides of the plane a, b, c on which d, e and f lie.

    1 is in front, where a, b, c run counter-clockwise; 0 is on the plane; -1 is behind. All are 0
    if a, b, c lie on one line.
    """
    u, v = subtract(b, a), subtract(c, a)
    normal, sizes = cross(u, v), _sizes(u, v)
    first = _quick_side(normal, sizes, subtract(d, a))
    second = _quick_side(normal, sizes, subtract(e, a))
    third = _quick_side(normal, sizes, subtract(f, a))
    if first == 0:
        first = _exact_side(a, b, c, d)
    if second == 0:
        second = _exact_side(a, b, c, e)
    if third == 0:
        third = _exact_side(a, b, c, f)
    return first, second, third


@kernel
def plane_side(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> int:
    """Return the side of the plane a, b, c on which d lies, as `plane_sides` does."""
    u, v = subtract(b, a), subtract(c, a)
    side = _quick_side(cross(u, v), _sizes(u, v), subtract(d, a))
    if side == 0:
        side = _exact_side(a, b, c, d)
    return side


@kernel(inline=True)
def _same(a: Vec3, b: Vec3) -> bool:
    return a[0] == b[0] and a[1] == b[1] and a[2] == b[2]


@kernel
def _half(vector: DoubleVec3, low: int) -> Vec3:
    if low:
        return (vector[0][1], vector[1][1], vector[2][1])
    return (vector[0][0], vector[1][0], vector[2][0])


@kernel
def _add_volume(total: Sum, w: Vec3, u: Vec3, v: Vec3) -> Sum:
    """Return the sum with the dot product of w and the cross product of u and v added."""
    if _same(w, _ZERO) or _same(u, _ZERO) or _same(v, _ZERO):
        return total
    for i in range(3):
        j = (i + 1) % 3
        k = (i + 2) % 3
        total = add_product(total, w[i], u[j], v[k])
        total = add_product(total, -w[i], u[k], v[j])
    return total


@kernel
def exact_volume(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> float:
    """Return six times the volume of d over a, b, c: the exact sign, and the size to 50 bits."""
    w, u, v = difference(d, a), difference(b, a), difference(c, a)
    total = EMPTY
    for part in range(8):  # each difference is a sum of two halves, so the volume is one of eight
        total = _add_volume(total, _half(w, part & 1), _half(u, part & 2), _half(v, part & 4))
    return value_of(total)


@kernel(inline=True)
def _sign(value: float) -> int:
    if value > 0.0:
        return 1
    if value < 0.0:
        return -1
    return 0


@kernel
def _exact_side(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> int:
    """Return the exact side of the plane a, b, c on which d lies."""
    if _same(a, d) or _same(b, d) or _same(c, d) or _same(a, b) or _same(b, c) or _same(c, a):
        return 0
    largest = 0.0
    level = False
    for k in range(3):
        level = level or (a[k] == d[k] and b[k] == d[k] and c[k] == d[k])
        largest = max(largest, abs(a[k]), abs(b[k]), abs(c[k]), abs(d[k]))
    if level:  # all four on a plane perpendicular to an axis
        return 0
    if largest > _LARGEST or largest < _SMALLEST:
        factor = math.ldexp(1.0, min(-math.frexp(largest)[1], 1000))
        a, b, c, d = scale(a, factor), scale(b, factor), scale(c, factor), scale(d, factor)
    return _sign(exact_volume(a, b, c, d))


@kernel
def line_side(ax: float, ay: float, bx: float, by: float, px: float, py: float) -> int:
    """Return the side of the line from a to b on which p lies, in 2D: 1 left, 0 on it, -1 right."""
    ux, uy, vx, vy = bx - ax, by - ay, px - ax, py - ay
    one, other = ux * vy, uy * vx
    value = one - other
    band = _BAND_2D * (abs(one) + abs(other)) + _UNDERFLOW
    if value > band:
        return 1
    if value < -band:
        return -1
    return _exact_line_side(ax, ay, bx, by, px, py)


@kernel
def _exact_line_side(ax: float, ay: float, bx: float, by: float, px: float, py: float) -> int:
    """Return the exact side of the line from a to b on which p lies."""
    largest = max(abs(ax), abs(ay), abs(bx), abs(by), abs(px), abs(py))
    if (
        (ax == px and ay == py)
        or (bx == px and by == py)
        or (ax == bx and (ay == by or ax == px))
        or (ay == by and ay == py)
    ):
        return 0
    factor = 1.0
    if largest > _LARGEST or largest < _SMALLEST:
        factor = math.ldexp(1.0, min(-math.frexp(largest)[1], 1000))
    return _sign(
        exact_area(ax * factor, ay * factor, bx * factor, by * factor, px * factor, py * factor)
    )


@kernel
def exact_area(ax: float, ay: float, bx: float, by: float, px: float, py: float) -> float:
    """Return twice the area of p over a-b, in 2D: the exact sign, and the size to 50 bits."""
    ux, uy = two_sum(bx, -ax), two_sum(by, -ay)
    vx, vy = two_sum(px, -ax), two_sum(py, -ay)
    total = EMPTY
    for s in range(2):
        for t in range(2):
            total = add_product(total, ux[s], vy[t], 1.0)
            total = add_product(total, -uy[s], vx[t], 1.0)
    return value_of(total)
