"""Boxes against boxes and spheres: do they touch, and the shortest move that separates them.

The first shape moves, and no shorter move separates them. Functions of one pair take shapes and
return a ``vec3``; those ending in ``_many`` take float64 arrays, each of n rows or of one row for
all, and return an array. Both run the same kernels. Sizes and distances must be 0 or from 1e-75 to
1e75 m.
"""

from typing import Any

from pyglm import glm

from terrain_physics._kernels.geometry import obb_obb, solid_pair_rows, solid_pairs
from terrain_physics._kernels.types import Floats
from terrain_physics._support import checks
from terrain_physics._support.checks import Floats3, Floats9, Rows
from terrain_physics.geometry.operands import as_move, penetrations, sphere_floats
from terrain_physics.geometry.shapes import AABB, OBB, Sphere


def _corners(name: str, shape: AABB) -> tuple[Floats3, Floats3]:
    """Return both corners."""
    checks.instance(name, shape, AABB)
    return shape.lower64, shape.upper64


def _box(name: str, shape: OBB) -> tuple[Floats3, Floats3, Floats9]:
    """Return center, half extents and rotation."""
    checks.instance(name, shape, OBB)
    return shape.center64, shape.half_extents64, shape.rotation64


def _aabbs(prefix: str, lowers: Any, uppers: Any) -> Rows:
    names = f"{prefix}lowers", f"{prefix}uppers"
    low, high = checks.aabbs(names[0], lowers, names[1], uppers)
    return {names[0]: low, names[1]: high}


def intersect_aabb_aabb(first: AABB, second: AABB) -> glm.vec3 | None:
    """Return the shortest move that takes an axis-aligned box out of another.

    Parameters
    ----------
    first, second : AABB
        In meters; may be plates, rods and points.

    Returns
    -------
    glm.vec3 or None
        Penetration of the first in meters, zero when they just touch; ``None`` when apart. Of
        equally short moves the first of +X, -X, +Y, -Y, +Z, -Z.

    Raises
    ------
    TypeError
        For anything other than these shapes.

    Examples
    --------
    >>> intersect_aabb_aabb(AABB((0, 0.75, 0), (1, 2, 1)), AABB((0, 0, 0), (1, 1, 1)))
    vec3( 0, 0.25, 0 )
    """
    return as_move(*solid_pairs.aabb_aabb(*_corners("first", first), *_corners("second", second)))


def intersect_aabb_sphere(aabb: AABB, sphere: Sphere) -> glm.vec3 | None:
    """Return the shortest move that takes an axis-aligned box out of a sphere.

    Parameters
    ----------
    aabb : AABB
        In meters; may be a plate, a rod or a point.
    sphere : Sphere
        In meters.

    Returns
    -------
    glm.vec3 or None
        Penetration of the box in meters, zero when they just touch; ``None`` when apart. A center
        in the box leaves through the nearest face; of equally short moves the box takes the first
        of +X, -X, +Y, -Y, +Z, -Z.

    Raises
    ------
    TypeError
        For anything other than these shapes.

    Examples
    --------
    >>> intersect_aabb_sphere(AABB((0, 0, 0), (1, 1, 1)), Sphere((0.5, 1.75, 0.5), 1))
    vec3( 0, -0.25, 0 )
    """
    return as_move(
        *solid_pairs.aabb_sphere(*_corners("aabb", aabb), *sphere_floats("sphere", sphere))
    )


def intersect_obb_sphere(obb: OBB, sphere: Sphere) -> glm.vec3 | None:
    """Return the shortest move that takes an oriented box out of a sphere.

    Parameters
    ----------
    obb : OBB
        In meters; may be a plate, a rod or a point.
    sphere : Sphere
        In meters.

    Returns
    -------
    glm.vec3 or None
        Penetration of the box in meters, zero when they just touch; ``None`` when apart. A center
        in the box is treated as in `intersect_aabb_sphere`, along the axes of the box.

    Raises
    ------
    TypeError
        For anything other than these shapes.

    Examples
    --------
    >>> intersect_obb_sphere(OBB((0, 0, 0), (1, 1, 1)), Sphere((0, 1.75, 0), 1))
    vec3( 0, -0.25, 0 )
    """
    return as_move(*solid_pairs.obb_sphere(*_box("obb", obb), *sphere_floats("sphere", sphere)))


def intersect_obb_obb(first: OBB, second: OBB) -> glm.vec3 | None:
    """Return the shortest move that takes an oriented box out of another.

    Parameters
    ----------
    first, second : OBB
        In meters; may be plates, rods and points.

    Returns
    -------
    glm.vec3 or None
        Penetration of the first in meters, zero when they just touch; ``None`` when apart. Of
        equally short moves the one along the first axis, in this order: the axes of the first box,
        those of the second, cross products of one of each. Where the centers are level on that
        axis, the box moves forward along it.

    Raises
    ------
    TypeError
        For anything other than these shapes.

    Examples
    --------
    >>> intersect_obb_obb(OBB((0, 1.75, 0), (1, 1, 1)), OBB((0, 0, 0), (1, 1, 1)))
    vec3( 0, 0.25, 0 )
    """
    return as_move(*obb_obb.obb_obb(*_box("first", first), *_box("second", second)))


def intersect_aabb_aabb_many(
    lowers: Any, uppers: Any, other_lowers: Any, other_uppers: Any
) -> Floats:
    """Return the penetrations of n axis-aligned boxes, each out of the other one in its row.

    Parameters
    ----------
    lowers, uppers, other_lowers, other_uppers : array_like, shape (n, 3) or (1, 3)
        Corners in meters, lower <= upper.

    Returns
    -------
    ndarray of float64, shape (n, 3)
        Moves of the first boxes by the rules of `intersect_aabb_aabb`; NaN where apart.

    Raises
    ------
    ValueError
        For other shapes, non-finite values, inverted boxes and row counts that do not match.

    Examples
    --------
    >>> intersect_aabb_aabb_many([(0, 0.75, 0)], [(1, 2, 1)], [(0, 0, 0)], [(1, 1, 1)])
    array([[0.  , 0.25, 0.  ]])
    """
    return penetrations(
        solid_pair_rows.aabb_aabb_rows,
        _aabbs("", lowers, uppers),
        _aabbs("other_", other_lowers, other_uppers),
    )


def intersect_aabb_sphere_many(lowers: Any, uppers: Any, spheres: Any) -> Floats:
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
        Moves of the boxes by the rules of `intersect_aabb_sphere`; NaN where apart.

    Raises
    ------
    ValueError
        For other shapes, non-finite values, inverted boxes, negative radii and row counts that do
        not match.

    Examples
    --------
    >>> intersect_aabb_sphere_many([(0, 0, 0)], [(1, 1, 1)], [(0.5, 1.75, 0.5, 1)])
    array([[ 0.  , -0.25,  0.  ]])
    """
    return penetrations(
        solid_pair_rows.aabb_sphere_rows,
        _aabbs("", lowers, uppers),
        {"spheres": checks.spheres("spheres", spheres)},
    )


def intersect_obb_sphere_many(
    centers: Any, half_extents: Any, rotations: Any, spheres: Any
) -> Floats:
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
        Moves of the boxes by the rules of `intersect_obb_sphere`; NaN where apart.

    Raises
    ------
    ValueError
        For other shapes, non-finite or negative values, matrices that are no rotations and row
        counts that do not match.

    Examples
    --------
    >>> import numpy as np
    >>> intersect_obb_sphere_many([(0, 0, 0)], [(1, 1, 1)], [np.eye(3)], [(0, 1.75, 0, 1)])
    array([[ 0.  , -0.25,  0.  ]])
    """
    return penetrations(
        solid_pair_rows.obb_sphere_rows,
        checks.obbs("", centers, half_extents, rotations),
        {"spheres": checks.spheres("spheres", spheres)},
    )


def intersect_obb_obb_many(
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
        Moves of the first boxes by the rules of `intersect_obb_obb`; NaN where apart.

    Raises
    ------
    ValueError
        For other shapes, non-finite or negative values, matrices that are no rotations and row
        counts that do not match.

    Examples
    --------
    >>> import numpy as np
    >>> one, turn = [(1, 1, 1)], [np.eye(3)]
    >>> intersect_obb_obb_many([(0, 1.75, 0)], one, turn, [(0, 0, 0)], one, turn)
    array([[0.  , 0.25, 0.  ]])
    """
    return penetrations(
        solid_pair_rows.obb_obb_rows,
        checks.obbs("", centers, half_extents, rotations),
        checks.obbs("other_", other_centers, other_half_extents, other_rotations),
    )
