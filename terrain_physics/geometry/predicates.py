"""Yes or no: does a sphere's surface touch something, is a 2D point in a triangle."""

from typing import Any

import numpy as np

from terrain_physics._kernels.geometry import point_in_triangle
from terrain_physics._kernels.geometry.sphere_surface import touches
from terrain_physics._kernels.geometry.sphere_surface_rows import (
    touches_corners_rows,
    touches_plane,
    touches_plane_rows,
)
from terrain_physics._kernels.types import Bools, Floats
from terrain_physics._support import checks
from terrain_physics.geometry.shapes import Plane, Segment, Sphere, Triangle


def surface_touches(sphere: Sphere, surface: Plane | Segment | Triangle) -> bool:
    """Tell whether the surface of a sphere touches a plane, a segment or a triangle.

    It does if the least distance from the center is <= radius + 1e-10 and the greatest distance is
    >= radius - 1e-10, in meters: something wholly inside the sphere does not touch. For triangles
    this is the definition that `count_touching` uses.

    Parameters
    ----------
    sphere : Sphere
        Center and radius in meters; with radius 0 the surface is the center.
    surface : Plane, Segment or Triangle
        In meters. A triangle without area is a segment or a point, and a segment without length is
        a point. A plane is perpendicular to its ``normal64``, which is rounded; to decide ties by
        the normal as given, use `surface_touches_plane_many`.

    Returns
    -------
    bool
        Ties are decided as in exact arithmetic, within the tolerance of 1e-10 m on the distance.

    Raises
    ------
    TypeError
        For other shapes.

    Examples
    --------
    >>> sphere = Sphere((0, 0, 0), 5)
    >>> surface_touches(sphere, Plane((0, 5, 0), (0, 1, 0)))
    True
    >>> surface_touches(sphere, Segment((1, 0, 0), (2, 0, 0)))
    False
    >>> surface_touches(sphere, Triangle((3, 4, 0), (1, 0, 0), (0, 1, 0)))
    True
    """
    checks.instance("sphere", sphere, Sphere)
    center, radius = sphere.center64, sphere.radius
    if isinstance(surface, Triangle):
        return bool(touches(surface.a64, surface.b64, surface.c64, center, radius))
    if isinstance(surface, Segment):
        return bool(touches(surface.a64, surface.b64, surface.b64, center, radius))
    if isinstance(surface, Plane):
        return bool(touches_plane(surface.point64, surface.normal64, center, radius))
    raise TypeError(
        f"surface must be one of Plane, Segment, Triangle, got {checks.shorten(surface)}"
    )


def surface_touches_plane_many(spheres: Any, planes: Any) -> Bools:
    """Tell for each of n spheres whether its surface touches the plane in its row.

    Parameters
    ----------
    spheres : array_like, shape (n, 4) or (1, 4)
        x, y, z, radius in meters; radius >= 0.
    planes : array_like, shape (n, 6), (n, 2, 3) or one row
        A point in meters and a normal of any length but zero.

    Returns
    -------
    ndarray of bool, shape (n,)
        By the rules of `surface_touches`, but with the normals exactly as given.

    Raises
    ------
    ValueError
        For other shapes, non-finite values, negative radii, zero normals and row counts that do not
        match.

    Examples
    --------
    >>> surface_touches_plane_many([(0, 0, 0, 5), (0, 0, 0, 4)], [(0, 5, 0, 0, 1, 0)])
    array([ True, False])
    """
    plane_rows = checks.array("planes", planes, (None, 2, 3), (None, 6)).reshape(-1, 2, 3)
    for row in np.flatnonzero(~plane_rows[:, 1].any(axis=1))[:1]:
        raise ValueError(f"normal must not be zero, got (0.0, 0.0, 0.0) in planes[{row}]")
    sphere_rows = checks.spheres("spheres", spheres)
    out = np.empty(checks.common_length(spheres=sphere_rows, planes=plane_rows), np.bool_)
    touches_plane_rows(sphere_rows, plane_rows, out)
    return out


def surface_touches_segment_many(spheres: Any, segments: Any) -> Bools:
    """Tell for each of n spheres whether its surface touches the segment in its row.

    Parameters
    ----------
    spheres : array_like, shape (n, 4) or (1, 4)
        x, y, z, radius in meters; radius >= 0.
    segments : array_like, shape (n, 6), (n, 2, 3) or one row
        Both ends in meters.

    Returns
    -------
    ndarray of bool, shape (n,)
        By the rules of `surface_touches`.

    Raises
    ------
    ValueError
        For other shapes, non-finite values, negative radii and row counts that do not match.

    Examples
    --------
    >>> surface_touches_segment_many([(0, 0, 0, 5)], [(3, 4, 0, 9, 9, 0), (1, 0, 0, 2, 0, 0)])
    array([ True, False])
    """
    segment_rows = checks.array("segments", segments, (None, 2, 3), (None, 6)).reshape(-1, 2, 3)
    return _touches_corners(spheres, "segments", segment_rows)


def surface_touches_triangle_many(spheres: Any, triangles: Any) -> Bools:
    """Tell for each of n spheres whether its surface touches the triangle in its row.

    Parameters
    ----------
    spheres : array_like, shape (n, 4) or (1, 4)
        x, y, z, radius in meters; radius >= 0.
    triangles : array_like, shape (n, 3, 3), (n, 9) or one row
        Corners in meters.

    Returns
    -------
    ndarray of bool, shape (n,)
        By the rules of `surface_touches`.

    Raises
    ------
    ValueError
        For other shapes, non-finite values, negative radii and row counts that do not match.

    Examples
    --------
    >>> surface_touches_triangle_many([(1, 2, 1, 2), (1, 2, 1, 9)], [(0, 0, 0, 0, 0, 4, 4, 0, 0)])
    array([ True, False])
    """
    return _touches_corners(spheres, "triangles", checks.triangles("triangles", triangles))


def _touches_corners(spheres: Any, name: str, corners: Floats) -> Bools:
    sphere_rows = checks.spheres("spheres", spheres)
    count = checks.common_length(**{"spheres": sphere_rows, name: corners})
    out = np.empty(count, np.bool_)
    touches_corners_rows(sphere_rows, corners, out)
    return out


def _two(name: str, value: Any) -> tuple[float, float]:
    """Return two finite floats of a vec2, dvec2, tuple, list, array or object with .x .y."""
    if hasattr(value, "x") and hasattr(value, "y") and not hasattr(value, "z"):
        x, y = value.x, value.y
    elif isinstance(value, (tuple, list)) and len(value) == 2:
        x, y = value
    else:
        x, y = checks.array(name, value, (2,)).tolist()
    return checks.finite(f"{name}.x", x), checks.finite(f"{name}.y", y)


def point_in_triangle_2d(point: Any, a: Any, b: Any, c: Any) -> bool:
    """Tell whether a 2D point lies in a triangle, edges and corners included.

    Corners may run either way round. A point P is in the triangle where none of the cross products
    PA × PB, PB × PC and PC × PA has the opposite sign of another; they may be zero. The signs are
    exact: of triangles that tile a region, at least one holds each point of the region, and a point
    on a shared edge is in both.

    Parameters
    ----------
    point, a, b, c : two numbers
        In meters.

    Returns
    -------
    bool
        A triangle without area is a segment or a point, and holds the points exactly on it.

    See Also
    --------
    point_in_triangle_2d_many : the same for arrays.

    Notes
    -----
    Exact if, on each axis, every coordinate is 0 or at least 1e-290 of the largest.

    Examples
    --------
    >>> point_in_triangle_2d((1, 1), (0, 0), (4, 0), (0, 4))
    True
    >>> point_in_triangle_2d((2, 2), (0, 0), (4, 0), (0, 4))
    True
    >>> point_in_triangle_2d((3, 2), (0, 0), (4, 0), (0, 4))
    False
    """
    return bool(
        point_in_triangle.point_in_triangle(
            *_two("point", point), *_two("a", a), *_two("b", b), *_two("c", c)
        )
    )


def point_in_triangle_2d_many(points: Any, a: Any, b: Any, c: Any) -> Bools:
    """Tell for each of n 2D points whether it lies in the triangle in its row.

    Parameters
    ----------
    points : array_like, shape (n, 2) or (1, 2)
        In meters.
    a, b, c : array_like, shape (n, 2), (1, 2) or (2,)
        Corners in meters. One triangle for all points is fastest.

    Returns
    -------
    ndarray of bool, shape (n,)
        By the rules of `point_in_triangle_2d`.

    Raises
    ------
    ValueError
        For other shapes, non-finite values and row counts that do not match.

    Examples
    --------
    >>> point_in_triangle_2d_many([(1, 1), (3, 2)], (0, 0), (4, 0), (0, 4))
    array([ True, False])
    """
    point_rows = checks.array("points", points, (None, 2))
    a_rows, b_rows, c_rows = (
        checks.array(name, value, (None, 2), (2,)).reshape(-1, 2)
        for name, value in (("a", a), ("b", b), ("c", c))
    )
    count = checks.common_length(points=point_rows, a=a_rows, b=b_rows, c=c_rows)
    out = np.empty(count, np.uint8)
    if len(a_rows) == len(b_rows) == len(c_rows) == 1:
        point_in_triangle.points_in_triangle(point_rows, a_rows, b_rows, c_rows, out)
    else:
        point_in_triangle.points_in_triangles(
            _repeated(point_rows, count),
            _repeated(a_rows, count),
            _repeated(b_rows, count),
            _repeated(c_rows, count),
            out,
        )
    return out.view(np.bool_)


def _repeated(rows: Floats, count: int) -> Floats:
    """Return the rows, one row repeated ``count`` times; read-only."""
    if len(rows) == count:
        return rows
    result = np.repeat(rows, count, axis=0)
    result.setflags(write=False)
    return result
