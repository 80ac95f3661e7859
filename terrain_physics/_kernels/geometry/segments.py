"""Two line segments: the gap between them, and a direction perpendicular to both."""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.geometry.closest_point import (
    closest_on_segment,
    direction_off_segment,
)
from terrain_physics._kernels.math.vec3 import Vec3, add_scaled, cross, dot, scale, subtract
from terrain_physics._kernels.tolerances import FLAT_SINE


@kernel
def gap_between_segments(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> Vec3:
    """Return the shortest vector from segment c-d to segment a-b; zero where they cross.

    The candidates are the four ends against the other segment, and the place where the lines are
    nearest. If the lines are nearly parallel, rounding moves that place: by the inverse of their
    angle if it is computed with cross products, by the square of that inverse with the usual
    determinant of dot products. The former changes the distance by rounding errors only, the
    latter costs half of the digits.
    """
    best = closest_on_segment(subtract(a, c), subtract(b, c))
    gap = closest_on_segment(subtract(a, d), subtract(b, d))
    if dot(gap, gap) < dot(best, best):
        best = gap
    gap = scale(closest_on_segment(subtract(c, a), subtract(d, a)), -1.0)
    if dot(gap, gap) < dot(best, best):
        best = gap
    gap = scale(closest_on_segment(subtract(c, b), subtract(d, b)), -1.0)
    if dot(gap, gap) < dot(best, best):
        best = gap
    first, second = subtract(b, a), subtract(d, c)
    normal = cross(first, second)
    size, along = dot(normal, normal), dot(cross(subtract(c, a), second), normal)
    if along > 0.0 and size > 0.0:  # else a, which was tried, or anywhere
        place = add_scaled(a, first, min(along / size, 1.0))
        gap = scale(closest_on_segment(subtract(c, place), subtract(d, place)), -1.0)
        if dot(gap, gap) < dot(best, best):
            best = gap
    return best


@kernel
def direction_across(first: Vec3, second: Vec3) -> Vec3:
    """Return the unit direction perpendicular to two vectors; of the two, the one nearer to +Y.

    If both are level, it is along first x second. If the vectors are parallel or one is zero, it is
    perpendicular to the longer one, as near to +Y as possible. If both are zero, it is +Y.
    """
    normal = cross(first, second)
    size = dot(normal, normal)
    first2, second2 = dot(first, first), dot(second, second)
    if size > FLAT_SINE * FLAT_SINE * first2 * second2:
        return scale(normal, (-1.0 if normal[1] < 0.0 else 1.0) / math.sqrt(size))
    longer = first if first2 >= second2 else second
    return direction_off_segment((0.0, 0.0, 0.0), longer, longer)
