"""Triangles against triangles: whether they touch, and the segment in which they cross.

The answers are those of exact arithmetic on the float64 corners, for any order of triangles and
corners: there is no tolerance, and a near miss is not a touch. They hold if the largest coordinate
is less than 1e38 times the smallest one that is not zero. `terrain_physics.rows` does the same for
arrays, with the same kernels.
"""

from terrain_physics._kernels.geometry.coplanar_triangles import CROSSING
from terrain_physics._kernels.geometry.triangle_triangle import triangles_cross, triangles_touch
from terrain_physics._support import checks
from terrain_physics.geometry.shapes import Segment, Triangle


def intersect_triangle_triangle(first: Triangle, second: Triangle) -> bool:
    """Tell whether two triangles have a point in common.

    Touching counts: a corner on a face, two edges that meet, a shared edge or corner, an overlap
    within one plane. The corners may run either way round.

    Parameters
    ----------
    first, second : Triangle
        Corners in meters. Without area, a triangle is a segment or a point.

    Returns
    -------
    bool
        The answer of exact arithmetic; see the module for its range.

    Raises
    ------
    TypeError
        For anything but triangles.

    See Also
    --------
    terrain_physics.rows.intersect_triangle_triangle : the same for arrays.
    crossing_segment : where they cross.

    Examples
    --------
    >>> floor = Triangle((0, 0, 0), (0, 0, 4), (4, 0, 0))
    >>> intersect_triangle_triangle(floor, Triangle((1, -1, 1), (1, 1, 1), (3, 1, 1)))
    True
    >>> intersect_triangle_triangle(floor, Triangle((1, 0, 1), (1, 1, 1), (3, 1, 1)))  # on one foot
    True
    >>> intersect_triangle_triangle(floor, Triangle((1, 1e-9, 1), (1, 1, 1), (3, 1, 1)))
    False
    """
    checks.instance("first", first, Triangle)
    checks.instance("second", second, Triangle)
    return bool(
        triangles_touch(first.a64, first.b64, first.c64, second.a64, second.b64, second.c64)
    )


def crossing_segment(first: Triangle, second: Triangle) -> Segment | None:
    """Return the segment that two triangles have in common.

    Where they touch in a single point, such as a corner on a face, both ends are that point. For a
    shared edge the segment is that edge.

    Parameters
    ----------
    first, second : Triangle
        Corners in meters. Without area, a triangle is a segment or a point.

    Returns
    -------
    Segment or None
        Its ends are ordered by x, then y, then z; the bits are the same for any order of triangles
        and corners. ``None`` when apart, and when coplanar triangles overlap in an area:
        `intersect_triangle_triangle` tells which.

    Raises
    ------
    TypeError
        For anything but triangles.

    See Also
    --------
    terrain_physics.rows.crossing_segment : the same for arrays.

    Notes
    -----
    Which edges the ends lie on is decided exactly, and ends that are corners are exact. Other ends
    are off by at most a few roundings of their edge's coordinates, at any angle between the
    triangles.

    Examples
    --------
    >>> floor = Triangle((0, 0, 0), (0, 0, 4), (4, 0, 0))
    >>> crossing_segment(floor, Triangle((1, -1, 1), (1, 1, 1), (3, 1, 1)))
    Segment(a64=(1.0, 0.0, 1.0), b64=(2.0, 0.0, 1.0))
    >>> crossing_segment(floor, Triangle((1, 1, 1), (1, 2, 1), (3, 1, 1))) is None
    True
    """
    checks.instance("first", first, Triangle)
    checks.instance("second", second, Triangle)
    kind, start, end = triangles_cross(
        first.a64, first.b64, first.c64, second.a64, second.b64, second.c64
    )
    if kind != CROSSING:
        return None
    return Segment(
        (start[0] + 0.0, start[1] + 0.0, start[2] + 0.0),  # + 0.0: never "-0"
        (end[0] + 0.0, end[1] + 0.0, end[2] + 0.0),
    )
