"""Many shapes against triangles, by the rules of `geometry/intersect_triangle.py`."""

from typing import Any

from terrain_physics._kernels.geometry.solid_pair_rows import capsule_triangle_rows
from terrain_physics._kernels.geometry.triangle_rows import (
    obb_triangle_rows,
    sphere_triangle_rows,
)
from terrain_physics._kernels.types import Floats
from terrain_physics._public import hinted
from terrain_physics._support import checks
from terrain_physics._support.checks import Rows
from terrain_physics.rows.answers import penetrations
from terrain_physics.rows.boxes import as_obbs


@hinted
def intersect_sphere_triangle(spheres: Any, triangles: Any, *, two_sided: bool = False) -> Floats:
    """Return the penetrations of n spheres, each against the triangle in the same row.

    Parameters
    ----------
    spheres : array_like, shape (n, 4) or (1, 4)
        x, y, z, radius in meters; radius >= 0.
    triangles : array_like, shape (n, 3, 3), (n, 9) or one row
        Corners in meters, counter-clockwise seen from the front.
    two_sided : bool, default False
        As in `terrain_physics.intersect_sphere_triangle`.

    Returns
    -------
    ndarray of float64, shape (n, 3)
        Penetrations in meters, by the rules of `terrain_physics.intersect_sphere_triangle`; NaN
        where apart.

    Raises
    ------
    ValueError
        For other shapes, non-finite values, negative radii and row counts that do not match.

    Examples
    --------
    >>> floor = [[(0, 0, 0), (0, 0, 4), (4, 0, 0)]]
    >>> intersect_sphere_triangle([(1, 0.75, 1, 1), (1, 2, 1, 1)], floor)
    array([[0.  , 0.25, 0.  ],
           [ nan,  nan,  nan]])
    """
    rows = {"spheres": checks.spheres("spheres", spheres)}
    return penetrations(sphere_triangle_rows, rows, _triangles(triangles), bool(two_sided))


@hinted
def intersect_obb_triangle(
    centers: Any, half_extents: Any, rotations: Any, triangles: Any, *, two_sided: bool = False
) -> Floats:
    """Return the penetrations of n boxes, each against the triangle in the same row.

    Any of the arrays may have one row, which then serves for all.

    Parameters
    ----------
    centers, half_extents : array_like, shape (n, 3) or (1, 3)
        In meters; half extents >= 0.
    rotations : array_like, shape (n, 3, 3) or (1, 3, 3)
        Orthonormal matrices with the box axes as columns.
    triangles : array_like, shape (n, 3, 3), (n, 9) or one row
        Corners in meters, counter-clockwise seen from the front.
    two_sided : bool, default False
        As in `terrain_physics.intersect_obb_triangle`.

    Returns
    -------
    ndarray of float64, shape (n, 3)
        Penetrations in meters, by the rules of `terrain_physics.intersect_obb_triangle`; NaN where
        apart.

    Raises
    ------
    ValueError
        For other shapes, non-finite values, negative half extents, matrices that are no rotations
        and row counts that do not match.

    Examples
    --------
    >>> import numpy as np
    >>> floor = [[(0, 0, 0), (0, 0, 4), (4, 0, 0)]]
    >>> intersect_obb_triangle([(1, 0.75, 1)], [(1, 1, 1)], [np.eye(3)], floor)
    array([[0.  , 0.25, 0.  ]])
    """
    return _of_boxes(checks.obbs("", centers, half_extents, rotations), triangles, two_sided)


def _of_boxes(boxes: Rows, triangles: Any, two_sided: Any) -> Floats:
    """Return the penetrations of oriented boxes, given by center, half extents and rotation."""
    return penetrations(obb_triangle_rows, boxes, _triangles(triangles), bool(two_sided))


def _triangles(triangles: Any) -> Rows:
    return {"triangles": checks.triangles("triangles", triangles)}


@hinted
def intersect_aabb_triangle(
    lowers: Any, uppers: Any, triangles: Any, *, two_sided: bool = False
) -> Floats:
    """Return the penetrations of n axis-aligned boxes, each against the triangle in the same row.

    Parameters
    ----------
    lowers, uppers : array_like, shape (n, 3) or (1, 3)
        Corners in meters, lower <= upper.
    triangles : array_like, shape (n, 3, 3), (n, 9) or one row
        Corners in meters, counter-clockwise seen from the front.
    two_sided : bool, default False
        As in `terrain_physics.intersect_aabb_triangle`.

    Returns
    -------
    ndarray of float64, shape (n, 3)
        Penetrations in meters, by the rules of `terrain_physics.intersect_aabb_triangle`; NaN
        where apart.

    Raises
    ------
    ValueError
        For other shapes, non-finite values, inverted boxes and row counts that do not match.

    Examples
    --------
    >>> floor = [[(0, 0, 0), (0, 0, 4), (4, 0, 0)]]
    >>> intersect_aabb_triangle([(0, -0.25, 0)], [(2, 1.75, 2)], floor)
    array([[0.  , 0.25, 0.  ]])
    """
    return _of_boxes(as_obbs(lowers, uppers), triangles, two_sided)


@hinted
def intersect_capsule_triangle(capsules: Any, triangles: Any, *, two_sided: bool = False) -> Floats:
    """Return the penetrations of n capsules, each against the triangle in the same row.

    Parameters
    ----------
    capsules : array_like, shape (n, 7) or (1, 7)
        ax, ay, az, bx, by, bz, radius in meters; radius >= 0.
    triangles : array_like, shape (n, 3, 3), (n, 9) or one row
        Corners in meters, counter-clockwise seen from the front.
    two_sided : bool, default False
        As in `terrain_physics.intersect_capsule_triangle`.

    Returns
    -------
    ndarray of float64, shape (n, 3)
        Penetrations in meters, by the rules of `terrain_physics.intersect_capsule_triangle`; NaN
        where apart.

    Raises
    ------
    ValueError
        For other shapes, non-finite values, negative radii and row counts that do not match.

    Examples
    --------
    >>> floor = [[(0, 0, 0), (0, 0, 4), (4, 0, 0)]]
    >>> intersect_capsule_triangle([(1, 0.75, 1, 1, 2, 1, 1)], floor)
    array([[0.  , 0.25, 0.  ]])
    """
    rows = {"capsules": checks.capsules("capsules", capsules)}
    return penetrations(capsule_triangle_rows, rows, _triangles(triangles), bool(two_sided))
