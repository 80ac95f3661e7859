"""Yes or no for many: does a sphere's surface touch something, is a 2D point in a triangle."""

from typing import Any

import numpy as np

from terrain_physics._kernels.geometry import point_in_triangle
from terrain_physics._kernels.geometry.sphere_surface_rows import (
    touches_corners_rows,
    touches_plane_rows,
)
from terrain_physics._kernels.types import Bools, Floats
from terrain_physics._public import hinted
from terrain_physics._support import checks
from terrain_physics.rows.answers import answers


@hinted
def surface_touches_plane(spheres: Any, planes: Any) -> Bools:
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
        By the rules of `terrain_physics.surface_touches`, but with the normals exactly as given.

    Raises
    ------
    ValueError
        For other shapes, non-finite values, negative radii, zero normals and row counts that do not
        match.

    Examples
    --------
    >>> surface_touches_plane([(0, 0, 0, 5), (0, 0, 0, 4)], [(0, 5, 0, 0, 1, 0)])
    array([ True, False])
    """
    plane_rows = checks.array("planes", planes, (None, 2, 3), (None, 6)).reshape(-1, 2, 3)
    for row in np.flatnonzero(~plane_rows[:, 1].any(axis=1))[:1]:
        raise ValueError(f"normal must not be zero, got (0.0, 0.0, 0.0) in planes[{row}]")
    rows = {"spheres": checks.spheres("spheres", spheres), "planes": plane_rows}
    return answers(touches_plane_rows, rows, dtype=np.bool_)


@hinted
def surface_touches_segment(spheres: Any, segments: Any) -> Bools:
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
        By the rules of `terrain_physics.surface_touches`.

    Raises
    ------
    ValueError
        For other shapes, non-finite values, negative radii and row counts that do not match.

    Examples
    --------
    >>> surface_touches_segment([(0, 0, 0, 5)], [(3, 4, 0, 9, 9, 0), (1, 0, 0, 2, 0, 0)])
    array([ True, False])
    """
    segment_rows = checks.array("segments", segments, (None, 2, 3), (None, 6)).reshape(-1, 2, 3)
    return _touches_corners(spheres, "segments", segment_rows)


@hinted
def surface_touches_triangle(spheres: Any, triangles: Any) -> Bools:
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
        By the rules of `terrain_physics.surface_touches`.

    Raises
    ------
    ValueError
        For other shapes, non-finite values, negative radii and row counts that do not match.

    Examples
    --------
    >>> surface_touches_triangle([(1, 2, 1, 2), (1, 2, 1, 9)], [(0, 0, 0, 0, 0, 4, 4, 0, 0)])
    array([ True, False])
    """
    return _touches_corners(spheres, "triangles", checks.triangles("triangles", triangles))


def _touches_corners(spheres: Any, name: str, corners: Floats) -> Bools:
    rows = {"spheres": checks.spheres("spheres", spheres), name: corners}
    return answers(touches_corners_rows, rows, dtype=np.bool_)


@hinted
def point_in_triangle_2d(points: Any, a: Any, b: Any, c: Any) -> Bools:
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
        By the rules of `terrain_physics.point_in_triangle_2d`.

    Raises
    ------
    ValueError
        For other shapes, non-finite values and row counts that do not match.

    Examples
    --------
    >>> point_in_triangle_2d([(1, 1), (3, 2)], (0, 0), (4, 0), (0, 4))
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
