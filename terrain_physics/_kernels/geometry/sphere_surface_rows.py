"""The surface of a sphere against a plane, and loops over rows of planes and triangles."""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.sphere_surface import touches
from terrain_physics._kernels.math.double_double import at_most, difference, dot, multiply, two_sum
from terrain_physics._kernels.math.rows import segment_at, sphere_at, triangle_at
from terrain_physics._kernels.math.vec3 import Vec3, length, scale, subtract
from terrain_physics._kernels.tolerances import TOUCH_TOLERANCE
from terrain_physics._kernels.types import Bools, Floats

_BAND = 16.0 * 2.0**-53  # of the sum of all terms: more than ten roundings of sums and products


@kernel
def touches_plane(point: Vec3, normal: Vec3, center: Vec3, radius: float) -> bool:
    """Tell whether the surface of a sphere touches a plane; the normal may have any length.

    Float64 decides outside of its error band, double-double arithmetic within it.
    """
    exponent = math.frexp(max(abs(normal[0]), abs(normal[1]), abs(normal[2])))[1]
    normal = (
        math.ldexp(normal[0], -exponent),
        math.ldexp(normal[1], -exponent),
        math.ldexp(normal[2], -exponent),
    )
    x, y, z = subtract(center, point)
    x, y, z = x * normal[0], y * normal[1], z * normal[2]
    height = abs(x + y + z)
    scaled_radius = (radius + TOUCH_TOLERANCE) * length(normal)
    band = _BAND * (abs(x) + abs(y) + abs(z) + scaled_radius)
    if height + band < scaled_radius:
        return True
    if height - band > scaled_radius:
        return False

    largest = radius
    for k in range(3):
        largest = max(largest, abs(point[k]), abs(center[k]))
    factor = 1.0
    if largest > 2.0**160:  # else squares might overflow
        factor = math.ldexp(1.0, -math.frexp(largest)[1])
    apart = difference(scale(center, factor), scale(point, factor))
    square = difference(normal, (0.0, 0.0, 0.0))
    off = dot(apart, square)
    top = two_sum(radius * factor, TOUCH_TOLERANCE * factor)
    return at_most(multiply(off, off), multiply(multiply(top, top), dot(square, square)))


@kernel
def touches_plane_rows(spheres: Floats, planes: Floats, out: Bools) -> None:
    """Write whether spheres (n, 4) touch planes (n, 2, 3); both inputs have n rows or one."""
    for i in range(out.shape[0]):
        out[i] = touches_plane(*segment_at(planes, i), *sphere_at(spheres, i))


@kernel
def touches_corners_rows(spheres: Floats, corners: Floats, out: Bools) -> None:
    """Write whether spheres (n, 4) touch segments (n, 2, 3) or triangles (n, 3, 3).

    Both inputs have n rows or one. A segment is a triangle with its last two corners equal.
    """
    for i in range(out.shape[0]):
        out[i] = touches(*triangle_at(corners, i), *sphere_at(spheres, i))
