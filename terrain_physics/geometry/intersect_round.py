"""Spheres and capsules: do they touch, and the shortest move that separates them.

The first shape moves, and no shorter move separates them. Functions of one pair take shapes and
return a ``vec3``; those ending in ``_many`` take float64 arrays, each of n rows or of one row for
all, and return an array. Both run the same kernels. Sizes and distances must be 0 or from 1e-75 to
1e75 m.
"""

from typing import Any

from pyglm import glm

from terrain_physics._kernels.geometry import solid_pair_rows, solid_pairs
from terrain_physics._kernels.types import Floats
from terrain_physics._support import checks
from terrain_physics._support.checks import Floats3
from terrain_physics.geometry.operands import as_move, penetrations, sphere_floats
from terrain_physics.geometry.shapes import Capsule, Sphere


def _floats(name: str, shape: Capsule) -> tuple[Floats3, Floats3, float]:
    """Return both ends of the axis, and the radius."""
    checks.instance(name, shape, Capsule)
    return shape.a64, shape.b64, shape.radius


def intersect_sphere_sphere(first: Sphere, second: Sphere) -> glm.vec3 | None:
    """Return the shortest move that takes a sphere out of another.

    Parameters
    ----------
    first, second : Sphere
        In meters.

    Returns
    -------
    glm.vec3 or None
        Penetration of the first in meters, zero when they just touch; ``None`` when apart. It
        leads along the line of the centers, or to +Y where the centers coincide.

    Raises
    ------
    TypeError
        For anything other than these shapes.

    Examples
    --------
    >>> intersect_sphere_sphere(Sphere((1.5, 0, 0), 1), Sphere((0, 0, 0), 1))
    vec3( 0.5, 0, 0 )
    """
    return as_move(
        *solid_pairs.sphere_sphere(*sphere_floats("first", first), *sphere_floats("second", second))
    )


def intersect_capsule_sphere(capsule: Capsule, sphere: Sphere) -> glm.vec3 | None:
    """Return the shortest move that takes a capsule out of a sphere.

    Parameters
    ----------
    capsule : Capsule
        In meters; may be a sphere.
    sphere : Sphere
        In meters.

    Returns
    -------
    glm.vec3 or None
        Penetration of the capsule in meters, zero when they just touch; ``None`` when apart. With
        the center on the axis it is perpendicular to the axis, as near to +Y as possible; +X for
        an upright axis.

    Raises
    ------
    TypeError
        For anything other than these shapes.

    Examples
    --------
    >>> intersect_capsule_sphere(Capsule((0, 1.75, 0), (0, 3, 0), 1), Sphere((0, 0, 0), 1))
    vec3( 0, 0.25, 0 )
    """
    return as_move(
        *solid_pairs.capsule_sphere(*_floats("capsule", capsule), *sphere_floats("sphere", sphere))
    )


def intersect_capsule_capsule(first: Capsule, second: Capsule) -> glm.vec3 | None:
    """Return the shortest move that takes a capsule out of another.

    Parameters
    ----------
    first, second : Capsule
        In meters; may be spheres.

    Returns
    -------
    glm.vec3 or None
        Penetration of the first in meters, zero when they just touch; ``None`` when apart. Where
        the axes meet it is perpendicular to both, on the side nearer to +Y (along first x second if
        both are level); for axes on one line, as in `intersect_capsule_sphere`.

    Raises
    ------
    TypeError
        For anything other than these shapes.

    Examples
    --------
    >>> level = Capsule((-1, 0, 0), (1, 0, 0), 0.5)
    >>> intersect_capsule_capsule(Capsule((0, 0.75, -1), (0, 0.75, 1), 0.5), level)
    vec3( 0, 0.25, 0 )
    """
    return as_move(
        *solid_pairs.capsule_capsule(*_floats("first", first), *_floats("second", second))
    )


def intersect_sphere_sphere_many(spheres: Any, other_spheres: Any) -> Floats:
    """Return the penetrations of n spheres, each out of the other one in its row.

    Parameters
    ----------
    spheres, other_spheres : array_like, shape (n, 4) or (1, 4)
        x, y, z, radius in meters; radius >= 0.

    Returns
    -------
    ndarray of float64, shape (n, 3)
        Moves of ``spheres`` by the rules of `intersect_sphere_sphere`; NaN where apart.

    Raises
    ------
    ValueError
        For other shapes, non-finite values, negative radii and row counts that do not match.

    Examples
    --------
    >>> intersect_sphere_sphere_many([(1.5, 0, 0, 1), (3, 0, 0, 1)], [(0, 0, 0, 1)])
    array([[0.5, 0. , 0. ],
           [nan, nan, nan]])
    """
    return penetrations(
        solid_pair_rows.sphere_sphere_rows,
        {"spheres": checks.spheres("spheres", spheres)},
        {"other_spheres": checks.spheres("other_spheres", other_spheres)},
    )


def intersect_capsule_sphere_many(capsules: Any, spheres: Any) -> Floats:
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
        Moves of ``capsules`` by the rules of `intersect_capsule_sphere`; NaN where apart.

    Raises
    ------
    ValueError
        For other shapes, non-finite values, negative radii and row counts that do not match.

    Examples
    --------
    >>> intersect_capsule_sphere_many([(0, 1.75, 0, 0, 3, 0, 1)], [(0, 0, 0, 1)])
    array([[0.  , 0.25, 0.  ]])
    """
    return penetrations(
        solid_pair_rows.capsule_sphere_rows,
        {"capsules": checks.capsules("capsules", capsules)},
        {"spheres": checks.spheres("spheres", spheres)},
    )


def intersect_capsule_capsule_many(capsules: Any, other_capsules: Any) -> Floats:
    """Return the penetrations of n capsules, each out of the other one in its row.

    Parameters
    ----------
    capsules, other_capsules : array_like, shape (n, 7) or (1, 7)
        ax, ay, az, bx, by, bz, radius in meters; radius >= 0.

    Returns
    -------
    ndarray of float64, shape (n, 3)
        Moves of ``capsules`` by the rules of `intersect_capsule_capsule`; NaN where apart.

    Raises
    ------
    ValueError
        For other shapes, non-finite values, negative radii and row counts that do not match.

    Examples
    --------
    >>> level = [(-1, 0, 0, 1, 0, 0, 0.5)]
    >>> intersect_capsule_capsule_many([(0, 0.75, -1, 0, 0.75, 1, 0.5)], level)
    array([[0.  , 0.25, 0.  ]])
    """
    return penetrations(
        solid_pair_rows.capsule_capsule_rows,
        {"capsules": checks.capsules("capsules", capsules)},
        {"other_capsules": checks.capsules("other_capsules", other_capsules)},
    )
