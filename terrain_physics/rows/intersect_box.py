"""Many boxes against boxes, spheres and capsules, by the rules of `geometry/intersect_box.py`."""

from typing import Any

from terrain_physics._kernels.geometry import solid_pair_rows
from terrain_physics._kernels.types import Floats
from terrain_physics._public import hinted
from terrain_physics._support import checks
from terrain_physics.rows.answers import penetrations
from terrain_physics.rows.boxes import aabbs, as_obbs


@hinted
def intersect_aabb_aabb(lowers: Any, uppers: Any, other_lowers: Any, other_uppers: Any) -> Floats:
    """Return the penetrations of n axis-aligned boxes, each out of the other one in its row.

    Parameters
    ----------
    lowers, uppers, other_lowers, other_uppers : array_like, shape (n, 3) or (1, 3)
        Corners in meters, lower <= upper.

    Returns
    -------
    ndarray of float64, shape (n, 3)
        Moves of the first boxes by the rules of `terrain_physics.intersect_aabb_aabb`; NaN where
        apart.

    Raises
    ------
    ValueError
        For other shapes, non-finite values, inverted boxes and row counts that do not match.

    Examples
    --------
    >>> intersect_aabb_aabb([(0, 0.75, 0)], [(1, 2, 1)], [(0, 0, 0)], [(1, 1, 1)])
    array([[0.  , 0.25, 0.  ]])
    """
    return penetrations(
        solid_pair_rows.aabb_aabb_rows,
        aabbs("", lowers, uppers),
        aabbs("other_", other_lowers, other_uppers),
    )


@hinted
def intersect_aabb_sphere(lowers: Any, uppers: Any, spheres: Any) -> Floats:
    """Return the penetrations of n axis-aligned boxes, each out of the sphere in its row.

    Parameters
    ----------
    lowers, uppers : array_like, shape (n, 3) or (1, 3)
        Corners in meters, lower <= upper.
    spheres : array_like, shape (n, 4) or (1, 4)
        x, y, z, radius in meters; radius >= 0.

    Returns
    -------
    ndarray of float64, shape (n, 3)
        Moves of the boxes by the rules of `terrain_physics.intersect_aabb_sphere`; NaN where apart.

    Raises
    ------
    ValueError
        For other shapes, non-finite values, inverted boxes, negative radii and row counts that do
        not match.

    Examples
    --------
    >>> intersect_aabb_sphere([(0, 0, 0)], [(1, 1, 1)], [(0.5, 1.75, 0.5, 1)])
    array([[ 0.  , -0.25,  0.  ]])
    """
    return penetrations(
        solid_pair_rows.aabb_sphere_rows,
        aabbs("", lowers, uppers),
        {"spheres": checks.spheres("spheres", spheres)},
    )


@hinted
def intersect_obb_sphere(centers: Any, half_extents: Any, rotations: Any, spheres: Any) -> Floats:
    """Return the penetrations of n oriented boxes, each out of the sphere in its row.

    Parameters
    ----------
    centers, half_extents : array_like, shape (n, 3) or (1, 3)
        In meters; half extents >= 0.
    rotations : array_like, shape (n, 3, 3) or (1, 3, 3)
        Orthonormal matrices with the box axes as columns.
    spheres : array_like, shape (n, 4) or (1, 4)
        x, y, z, radius in meters; radius >= 0.

    Returns
    -------
    ndarray of float64, shape (n, 3)
        Moves of the boxes by the rules of `terrain_physics.intersect_obb_sphere`; NaN where apart.

    Raises
    ------
    ValueError
        For other shapes, non-finite or negative values, matrices that are no rotations and row
        counts that do not match.

    Examples
    --------
    >>> import numpy as np
    >>> intersect_obb_sphere([(0, 0, 0)], [(1, 1, 1)], [np.eye(3)], [(0, 1.75, 0, 1)])
    array([[ 0.  , -0.25,  0.  ]])
    """
    return penetrations(
        solid_pair_rows.obb_sphere_rows,
        checks.obbs("", centers, half_extents, rotations),
        {"spheres": checks.spheres("spheres", spheres)},
    )


@hinted
def intersect_obb_obb(
    centers: Any,
    half_extents: Any,
    rotations: Any,
    other_centers: Any,
    other_half_extents: Any,
    other_rotations: Any,
) -> Floats:
    """Return the penetrations of n oriented boxes, each out of the other one in its row.

    Parameters
    ----------
    centers, half_extents, other_centers, other_half_extents : array_like, shape (n, 3) or (1, 3)
        In meters; half extents >= 0.
    rotations, other_rotations : array_like, shape (n, 3, 3) or (1, 3, 3)
        Orthonormal matrices with the box axes as columns.

    Returns
    -------
    ndarray of float64, shape (n, 3)
        Moves of the first boxes by the rules of `terrain_physics.intersect_obb_obb`; NaN where
        apart.

    Raises
    ------
    ValueError
        For other shapes, non-finite or negative values, matrices that are no rotations and row
        counts that do not match.

    Examples
    --------
    >>> import numpy as np
    >>> one, turn = [(1, 1, 1)], [np.eye(3)]
    >>> intersect_obb_obb([(0, 1.75, 0)], one, turn, [(0, 0, 0)], one, turn)
    array([[0.  , 0.25, 0.  ]])
    """
    return penetrations(
        solid_pair_rows.obb_obb_rows,
        checks.obbs("", centers, half_extents, rotations),
        checks.obbs("other_", other_centers, other_half_extents, other_rotations),
    )


@hinted
def intersect_obb_aabb(
    centers: Any, half_extents: Any, rotations: Any, lowers: Any, uppers: Any
) -> Floats:
    """Return the penetrations of n oriented boxes, each out of the axis-aligned one in its row.

    Parameters
    ----------
    centers, half_extents : array_like, shape (n, 3) or (1, 3)
        In meters; half extents >= 0.
    rotations : array_like, shape (n, 3, 3) or (1, 3, 3)
        Orthonormal matrices with the box axes as columns.
    lowers, uppers : array_like, shape (n, 3) or (1, 3)
        Corners in meters, lower <= upper.

    Returns
    -------
    ndarray of float64, shape (n, 3)
        Moves of the oriented boxes by the rules of `terrain_physics.intersect_obb_aabb`; NaN where
        apart.

    Raises
    ------
    ValueError
        For other shapes, non-finite or negative values, matrices that are no rotations, inverted
        boxes and row counts that do not match.

    Examples
    --------
    >>> import numpy as np
    >>> crate = [(-1, -1, -1)], [(1, 1, 1)]
    >>> intersect_obb_aabb([(0, 1.75, 0)], [(1, 1, 1)], [np.eye(3)], *crate)
    array([[0.  , 0.25, 0.  ]])
    """
    return penetrations(
        solid_pair_rows.obb_obb_rows,
        checks.obbs("", centers, half_extents, rotations),
        as_obbs(lowers, uppers),
    )


@hinted
def intersect_capsule_obb(capsules: Any, centers: Any, half_extents: Any, rotations: Any) -> Floats:
    """Return the penetrations of n capsules, each out of the oriented box in its row.

    Parameters
    ----------
    capsules : array_like, shape (n, 7) or (1, 7)
        ax, ay, az, bx, by, bz, radius in meters; radius >= 0.
    centers, half_extents : array_like, shape (n, 3) or (1, 3)
        In meters; half extents >= 0.
    rotations : array_like, shape (n, 3, 3) or (1, 3, 3)
        Orthonormal matrices with the box axes as columns.

    Returns
    -------
    ndarray of float64, shape (n, 3)
        Moves of ``capsules`` by the rules of `terrain_physics.intersect_capsule_obb`; NaN where
        apart.

    Raises
    ------
    ValueError
        For other shapes, non-finite or negative values, matrices that are no rotations and row
        counts that do not match.

    Examples
    --------
    >>> import numpy as np
    >>> crate = [(0, 0, 0)], [(1, 1, 1)], [np.eye(3)]
    >>> intersect_capsule_obb([(0, 1.25, 0, 0, 3, 0, 0.5), (0, 2, 0, 0, 3, 0, 0.5)], *crate)
    array([[0.  , 0.25, 0.  ],
           [ nan,  nan,  nan]])
    """
    return penetrations(
        solid_pair_rows.capsule_obb_rows,
        {"capsules": checks.capsules("capsules", capsules)},
        checks.obbs("", centers, half_extents, rotations),
    )


@hinted
def intersect_capsule_aabb(capsules: Any, lowers: Any, uppers: Any) -> Floats:
    """Return the penetrations of n capsules, each out of the axis-aligned box in its row.

    Parameters
    ----------
    capsules : array_like, shape (n, 7) or (1, 7)
        ax, ay, az, bx, by, bz, radius in meters; radius >= 0.
    lowers, uppers : array_like, shape (n, 3) or (1, 3)
        Corners in meters, lower <= upper.

    Returns
    -------
    ndarray of float64, shape (n, 3)
        Moves of ``capsules`` by the rules of `terrain_physics.intersect_capsule_aabb`; NaN where
        apart.

    Raises
    ------
    ValueError
        For other shapes, non-finite values, negative radii, inverted boxes and row counts that do
        not match.

    Examples
    --------
    >>> intersect_capsule_aabb([(0, 1.25, 0, 0, 3, 0, 0.5)], [(-1, -1, -1)], [(1, 1, 1)])
    array([[0.  , 0.25, 0.  ]])
    """
    return penetrations(
        solid_pair_rows.capsule_aabb_rows,
        {"capsules": checks.capsules("capsules", capsules)},
        aabbs("", lowers, uppers),
    )
