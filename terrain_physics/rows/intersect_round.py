"""Many spheres and capsules against each other, by the rules of `geometry/intersect_round.py`."""

from typing import Any

from terrain_physics._kernels.geometry import solid_pair_rows
from terrain_physics._kernels.types import Floats
from terrain_physics._public import hinted
from terrain_physics._support import checks
from terrain_physics.rows.answers import penetrations


@hinted
def intersect_sphere_sphere(spheres: Any, other_spheres: Any) -> Floats:
    """Return the penetrations of n spheres, each out of the other one in its row.

    Parameters
    ----------
    spheres, other_spheres : array_like, shape (n, 4) or (1, 4)
        x, y, z, radius in meters; radius >= 0.

    Returns
    -------
    ndarray of float64, shape (n, 3)
        Moves of ``spheres`` by the rules of `terrain_physics.intersect_sphere_sphere`; NaN where
        apart.

    Raises
    ------
    ValueError
        For other shapes, non-finite values, negative radii and row counts that do not match.

    Examples
    --------
    >>> intersect_sphere_sphere([(1.5, 0, 0, 1), (3, 0, 0, 1)], [(0, 0, 0, 1)])
    array([[0.5, 0. , 0. ],
           [nan, nan, nan]])
    """
    return penetrations(
        solid_pair_rows.sphere_sphere_rows,
        {"spheres": checks.spheres("spheres", spheres)},
        {"other_spheres": checks.spheres("other_spheres", other_spheres)},
    )


@hinted
def intersect_capsule_sphere(capsules: Any, spheres: Any) -> Floats:
    """Return the penetrations of n capsules, each out of the sphere in its row.

    Parameters
    ----------
    capsules : array_like, shape (n, 7) or (1, 7)
        ax, ay, az, bx, by, bz, radius in meters; radius >= 0.
    spheres : array_like, shape (n, 4) or (1, 4)
        x, y, z, radius in meters; radius >= 0.

    Returns
    -------
    ndarray of float64, shape (n, 3)
        Moves of ``capsules`` by the rules of `terrain_physics.intersect_capsule_sphere`; NaN where
        apart.

    Raises
    ------
    ValueError
        For other shapes, non-finite values, negative radii and row counts that do not match.

    Examples
    --------
    >>> intersect_capsule_sphere([(0, 1.75, 0, 0, 3, 0, 1)], [(0, 0, 0, 1)])
    array([[0.  , 0.25, 0.  ]])
    """
    return penetrations(
        solid_pair_rows.capsule_sphere_rows,
        {"capsules": checks.capsules("capsules", capsules)},
        {"spheres": checks.spheres("spheres", spheres)},
    )


@hinted
def intersect_capsule_capsule(capsules: Any, other_capsules: Any) -> Floats:
    """Return the penetrations of n capsules, each out of the other one in its row.

    Parameters
    ----------
    capsules, other_capsules : array_like, shape (n, 7) or (1, 7)
        ax, ay, az, bx, by, bz, radius in meters; radius >= 0.

    Returns
    -------
    ndarray of float64, shape (n, 3)
        Moves of ``capsules`` by the rules of `terrain_physics.intersect_capsule_capsule`; NaN where
        apart.

    Raises
    ------
    ValueError
        For other shapes, non-finite values, negative radii and row counts that do not match.

    Examples
    --------
    >>> level = [(-1, 0, 0, 1, 0, 0, 0.5)]
    >>> intersect_capsule_capsule([(0, 0.75, -1, 0, 0.75, 1, 0.5)], level)
    array([[0.  , 0.25, 0.  ]])
    """
    return penetrations(
        solid_pair_rows.capsule_capsule_rows,
        {"capsules": checks.capsules("capsules", capsules)},
        {"other_capsules": checks.capsules("other_capsules", other_capsules)},
    )
