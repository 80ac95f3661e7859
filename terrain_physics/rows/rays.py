"""Many rays against shapes: how far along each ray its shape begins."""

from typing import Any

from terrain_physics._kernels.geometry import ray_rows
from terrain_physics._kernels.types import Floats
from terrain_physics._public import hinted
from terrain_physics._support import checks
from terrain_physics._support.checks import Rows
from terrain_physics.rows.answers import answers
from terrain_physics.rows.boxes import aabbs


def _rays(origins: Any, directions: Any) -> Rows:
    """Return rays as two arrays (n, 3)."""
    origin_rows = checks.points("origins", origins)
    return {"origins": origin_rows, "directions": checks.directions("directions", directions)}


@hinted
def raycast_triangle(origins: Any, directions: Any, triangles: Any) -> Floats:
    """Return how far along n rays each meets the triangle in its row.

    Parameters
    ----------
    origins, directions : array_like, shape (n, 3) or (1, 3)
        Origins in meters; directions of any length but zero.
    triangles : array_like, shape (n, 3, 3), (n, 9) or one row
        Corners in meters.

    Returns
    -------
    ndarray of float64, shape (n,)
        Meters from the origin, for directions of any length, by the rules of
        `terrain_physics.raycast_triangle`; NaN where missed.

    Raises
    ------
    ValueError
        For other shapes, non-finite values, zero directions and row counts that do not match.

    Examples
    --------
    >>> floor = [[(0, 0, 0), (0, 0, 4), (4, 0, 0)]]
    >>> raycast_triangle([(1, 5, 1), (3, 5, 3)], [(0, -2, 0)], floor)
    array([ 5., nan])
    """
    rows = _rays(origins, directions) | {"triangles": checks.triangles("triangles", triangles)}
    return answers(ray_rows.ray_triangle_rows, rows)


@hinted
def raycast_sphere(origins: Any, directions: Any, spheres: Any) -> Floats:
    """Return how far along n rays each meets the solid sphere in its row.

    Parameters
    ----------
    origins, directions : array_like, shape (n, 3) or (1, 3)
        Origins in meters; directions of any length but zero.
    spheres : array_like, shape (n, 4) or (1, 4)
        x, y, z, radius in meters; radius >= 0.

    Returns
    -------
    ndarray of float64, shape (n,)
        Meters from the origin, 0.0 from inside; NaN where missed.

    Raises
    ------
    ValueError
        As `raycast_triangle`, and for negative radii.

    Examples
    --------
    >>> raycast_sphere([(-5, 0, 0), (0, 0, 0)], [(2, 0, 0)], [(0, 0, 0, 1)])
    array([4., 0.])
    """
    rows = _rays(origins, directions) | {"spheres": checks.spheres("spheres", spheres)}
    return answers(ray_rows.ray_sphere_rows, rows)


@hinted
def raycast_aabb(origins: Any, directions: Any, lowers: Any, uppers: Any) -> Floats:
    """Return how far along n rays each meets the solid axis-aligned box in its row.

    Parameters
    ----------
    origins, directions : array_like, shape (n, 3) or (1, 3)
        Origins in meters; directions of any length but zero.
    lowers, uppers : array_like, shape (n, 3) or (1, 3)
        Corners in meters, lower <= upper on every axis.

    Returns
    -------
    ndarray of float64, shape (n,)
        Meters from the origin, 0.0 from inside; NaN where missed.

    Raises
    ------
    ValueError
        As `raycast_triangle`, and for a lower corner above an upper one on any axis.

    Examples
    --------
    >>> raycast_aabb([(-5, 1, 0), (-5, 3, 0)], [(1, 0, 0)], [(0, 0, 0)], [(1, 2, 1)])
    array([ 5., nan])
    """
    rows = _rays(origins, directions) | aabbs("", lowers, uppers)
    return answers(ray_rows.ray_aabb_rows, rows)


@hinted
def raycast_obb(
    origins: Any, directions: Any, centers: Any, half_extents: Any, rotations: Any
) -> Floats:
    """Return how far along n rays each meets the solid box in its row.

    Parameters
    ----------
    origins, directions : array_like, shape (n, 3) or (1, 3)
        Origins in meters; directions of any length but zero.
    centers, half_extents : array_like, shape (n, 3) or (1, 3)
        In meters; half extents >= 0.
    rotations : array_like, shape (n, 3, 3) or (1, 3, 3)
        Orthonormal matrices with the box axes as columns.

    Returns
    -------
    ndarray of float64, shape (n,)
        Meters from the origin, 0.0 from inside; NaN where missed.

    Raises
    ------
    ValueError
        As `raycast_triangle`, and for negative half extents and matrices that are no
        rotations.

    Examples
    --------
    >>> import numpy as np
    >>> raycast_obb([(-5, 0, 0)], [(1, 0, 0)], [(0, 0, 0)], [(1, 2, 3)], [np.eye(3)])
    array([4.])
    """
    rows = _rays(origins, directions) | checks.obbs("", centers, half_extents, rotations)
    return answers(ray_rows.ray_obb_rows, rows)


@hinted
def raycast_capsule(origins: Any, directions: Any, capsules: Any) -> Floats:
    """Return how far along n rays each meets the solid capsule in its row.

    Parameters
    ----------
    origins, directions : array_like, shape (n, 3) or (1, 3)
        Origins in meters; directions of any length but zero.
    capsules : array_like, shape (n, 7) or (1, 7)
        Both ends, x y z each, and the radius, in meters; radius >= 0.

    Returns
    -------
    ndarray of float64, shape (n,)
        Meters from the origin, 0.0 from inside; NaN where missed.

    Raises
    ------
    ValueError
        As `raycast_triangle`, and for negative radii.

    Examples
    --------
    >>> raycast_capsule([(-5, 0, 0)], [(1, 0, 0)], [(0, -2, 0, 0, 2, 0, 0.5)])
    array([4.5])
    """
    rows = _rays(origins, directions) | {"capsules": checks.capsules("capsules", capsules)}
    return answers(ray_rows.ray_capsule_rows, rows)
