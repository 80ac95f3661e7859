"""Closest points on segments and triangles, and the normal of a triangle."""

import math

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.vec3 import (
    Vec3,
    add_scaled,
    choose,
    cross,
    dot,
    length,
    scale,
    subtract,
)
from terrain_physics._kernels.tolerances import FLAT_SINE

FACE = 0
EDGE = 1


@kernel(inline=True)
def triangle_normal(a: Vec3, b: Vec3, c: Vec3) -> tuple[bool, Vec3]:
    """Return (whether the triangle has an area, its unit front normal or (0, 0, 0)).

    The normal is the cross product of the two shorter edges: they meet at the widest angle, which
    keeps rounding errors smallest.
    """
    # No branches here and below, so that loops over many triangles are vectorized.
    ab, bc, ca = subtract(b, a), subtract(c, b), subtract(a, c)
    ab2, bc2, ca2 = dot(ab, ab), dot(bc, bc), dot(ca, ca)
    ab_is_longest = (ab2 >= bc2) & (ab2 >= ca2)
    bc_is_longer = bc2 >= ca2
    first = choose(ab_is_longest, bc, choose(bc_is_longer, ca, ab))
    second = choose(ab_is_longest, ca, choose(bc_is_longer, ab, bc))
    product = bc2 * ca2 if ab_is_longest else (ca2 * ab2 if bc_is_longer else ab2 * bc2)
    normal = cross(first, second)
    size = dot(normal, normal)
    has_area = size > FLAT_SINE * FLAT_SINE * product
    factor = 1.0 / math.sqrt(size if has_area else 1.0)
    return has_area, choose(has_area, scale(normal, factor), (0.0, 0.0, 0.0))


@kernel(inline=True)
def closest_on_segment(a: Vec3, b: Vec3) -> Vec3:
    """Return the point of the segment a-b closest to the origin."""
    edge = subtract(b, a)
    along = -dot(a, edge)
    size = dot(edge, edge)
    inner = add_scaled(a, edge, along / (size if size > 0.0 else 1.0))
    # With a = b, this is a.
    return choose(along > 0.0, choose(along >= size, b, inner), a)


@kernel(inline=True)
def closest_on_triangle(
    a: Vec3, b: Vec3, c: Vec3, has_area: bool, normal: Vec3
) -> tuple[int, Vec3]:
    """Return (FACE or EDGE, the point of the triangle closest to the origin).

    FACE means that the closest point lies inside the face; on a border both answers are the same
    point. The edges are compared by distance, not by the signs of regions: at an obtuse corner the
    signs name the corner where an edge is nearer. The origin is the query point, so that errors
    scale with the distances involved, not with the distance from the world's origin.
    """
    inside = (
        has_area
        & (dot(normal, cross(a, subtract(b, a))) >= 0.0)
        & (dot(normal, cross(b, subtract(c, b))) >= 0.0)
        & (dot(normal, cross(c, subtract(a, c))) >= 0.0)
    )
    best = closest_on_segment(a, b)
    point = closest_on_segment(b, c)
    best = choose(dot(point, point) < dot(best, best), point, best)
    point = closest_on_segment(c, a)
    best = choose(dot(point, point) < dot(best, best), point, best)
    foot = scale(normal, dot(normal, a))
    return FACE if inside else EDGE, choose(inside, foot, best)


@kernel
def direction_off_segment(a: Vec3, b: Vec3, c: Vec3) -> Vec3:
    """Return the unit direction perpendicular to a triangle without area that is nearest to +Y.

    That is +Y for a point and a level segment, and +X for an upright segment.
    """
    edge = subtract(b, a)
    other = subtract(c, b)
    if dot(other, other) > dot(edge, edge):
        edge = other
    other = subtract(a, c)
    if dot(other, other) > dot(edge, edge):
        edge = other
    size = length(edge)
    if size == 0.0:
        return (0.0, 1.0, 0.0)
    edge = scale(edge, 1.0 / size)
    off = add_scaled((0.0, 1.0, 0.0), edge, -edge[1])
    size = length(off)
    if size < 1e-6:
        off = add_scaled((1.0, 0.0, 0.0), edge, -edge[0])
        size = length(off)
    return scale(off, 1.0 / size)
