"""Closest points: the point of a triangle or a segment nearest to a given one.

Sizes and distances must be 0 or from 1e-75 to 1e75 m. `terrain_physics.rows` does the same for
arrays, with the same kernels.
"""

from typing import Any

from pyglm import glm

from terrain_physics._kernels.geometry import closest_point_rows
from terrain_physics._support import checks
from terrain_physics.geometry.operands import as_vec3
from terrain_physics.geometry.shapes import Segment, Triangle


def closest_point_on_triangle(point: Any, triangle: Triangle) -> glm.vec3:
    """Return the point of a triangle that is closest to a point.

    Parameters
    ----------
    point : three numbers
        In meters.
    triangle : Triangle
        Three corners in meters; without area it is a segment or a point.

    Returns
    -------
    glm.vec3
        In meters: in the face, on an edge, or a corner. For a point on the triangle, that point.

    Raises
    ------
    TypeError, ValueError
        For anything other than three finite numbers and this shape.

    See Also
    --------
    terrain_physics.rows.closest_point_on_triangle : the same for arrays, in float64.

    Notes
    -----
    The error in float64 is at most 1e-15 of the distance to the farthest corner, divided by the
    ratio of the triangle's height to its length. A triangle with a ratio below 1e-10 counts as a
    segment.

    Examples
    --------
    >>> floor = Triangle((0, 0, 0), (0, 0, 4), (4, 0, 0))
    >>> closest_point_on_triangle((1, 5, 1), floor)
    vec3( 1, 0, 1 )
    >>> closest_point_on_triangle((3, 5, 3), floor)
    vec3( 2, 0, 2 )
    """
    place = checks.vector("point", point)
    checks.instance("triangle", triangle, Triangle)
    return as_vec3(
        closest_point_rows.point_to_triangle(place, triangle.a64, triangle.b64, triangle.c64)
    )


def closest_point_on_segment(point: Any, segment: Segment) -> glm.vec3:
    """Return the point of a segment that is closest to a point.

    Parameters
    ----------
    point : three numbers
        In meters.
    segment : Segment
        Both ends in meters; they may coincide.

    Returns
    -------
    glm.vec3
        In meters: between the ends, or one of them. For a point on the segment, that point.

    Raises
    ------
    TypeError, ValueError
        For anything other than three finite numbers and this shape.

    See Also
    --------
    terrain_physics.rows.closest_point_on_segment : the same for arrays, in float64.

    Examples
    --------
    >>> closest_point_on_segment((1, 5, 1), Segment((0, 0, 0), (4, 0, 0)))
    vec3( 1, 0, 0 )
    """
    place = checks.vector("point", point)
    checks.instance("segment", segment, Segment)
    return as_vec3(closest_point_rows.point_to_segment(place, segment.a64, segment.b64))
