"""Shapes against triangles: do they touch, and the move that takes the shape out of the triangle.

Functions of one pair take shapes and return a ``vec3``; those ending in ``_many`` take float64
arrays and return one. Both run the same kernels. Sizes and distances must be 0 or from 1e-75 to
1e75 m.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyglm import glm

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.geometry.capsule_triangle import capsule_triangle
from terrain_physics._kernels.geometry.obb_triangle import FACE_COUNT, obb_triangle
from terrain_physics._kernels.geometry.solid_pair_rows import capsule_triangle_rows
from terrain_physics._kernels.geometry.sphere_triangle import sphere_triangle
from terrain_physics._kernels.geometry.triangle_rows import (
    obb_triangle_rows,
    sphere_triangle_rows,
)
from terrain_physics._support import checks
from terrain_physics.geometry.operands import as_move
from terrain_physics.geometry.shapes import OBB, Capsule, Sphere, Triangle

_SPHERE, _OBB = CachedDispatch(sphere_triangle), CachedDispatch(obb_triangle)
_CAPSULE = CachedDispatch(capsule_triangle)


def intersect_sphere_triangle(
    sphere: Sphere, triangle: Triangle, *, two_sided: bool = False
) -> glm.vec3 | None:
    """Return the move that takes a sphere out of a triangle.

    The front face is solid: where the closest point lies inside the face, the sphere leaves along
    the front normal, even from behind. At an edge or a corner it moves straight away from the
    closest point. Touching is contact, with a zero-length move.

    Parameters
    ----------
    sphere : Sphere
        Center and radius in meters.
    triangle : Triangle
        Three corners in meters, counter-clockwise seen from the front; may be a segment or a point.
    two_sided : bool, default False
        Take the shortest move, to either side.

    Returns
    -------
    glm.vec3 or None
        Penetration in meters: add it to the center and the shapes just touch. ``None`` when they
        are farther apart than the radius. A center on the triangle leaves along the normal; if the
        triangle has no area, perpendicular to the segment, as near to straight up as possible.

    Raises
    ------
    TypeError
        For anything other than these shapes.

    See Also
    --------
    intersect_sphere_triangle_many : the same for arrays, in float64.

    Examples
    --------
    >>> floor = Triangle((0, 0, 0), (0, 0, 4), (4, 0, 0))
    >>> intersect_sphere_triangle(Sphere((1, 0.75, 1), 1), floor)
    vec3( 0, 0.25, 0 )
    >>> intersect_sphere_triangle(Sphere((1, -0.25, 1), 1), floor)
    vec3( 0, 1.25, 0 )
    >>> intersect_sphere_triangle(Sphere((1, -0.25, 1), 1), floor, two_sided=True)
    vec3( 0, -0.75, 0 )
    >>> intersect_sphere_triangle(Sphere((1, 2, 1), 1), floor) is None
    True
    """
    checks.instance("sphere", sphere, Sphere)
    checks.instance("triangle", triangle, Triangle)
    touching, move = _SPHERE.call(
        sphere.center64, sphere.radius, triangle.a64, triangle.b64, triangle.c64, bool(two_sided)
    )
    return as_move(touching, move)


def intersect_obb_triangle(
    obb: OBB, triangle: Triangle, *, two_sided: bool = False
) -> glm.vec3 | None:
    """Return the move that takes a box out of a triangle, by the 13-axis separating axis test.

    The 13 axes are the normal, the box axes and the cross products of edges and box axes, each in
    both directions. The direction with the least overlap is taken; on a tie, the first in that
    order. One-sided, directions against the front normal are not allowed, so a box whose center is
    behind the face leaves through the front or sideways. Touching is contact, with a zero-length
    move.

    Parameters
    ----------
    obb : OBB
        Center and half extents in meters.
    triangle : Triangle
        Three corners in meters, counter-clockwise seen from the front; may be a segment or a point.
        These have no front, so every direction is allowed.
    two_sided : bool, default False
        Take the shortest move, to either side.

    Returns
    -------
    glm.vec3 or None
        Penetration in meters: add it to the center and the shapes just touch. ``None`` when apart.
        A center in the triangle's plane leaves along the front normal if no move is shorter.

    Raises
    ------
    TypeError
        For anything other than these shapes.

    See Also
    --------
    intersect_obb_triangle_many : the same for arrays, in float64.

    Notes
    -----
    Where the direction of least overlap is not allowed, each allowed direction is measured to where
    the shapes separate. That may come before the overlap on that axis is used up.

    Examples
    --------
    >>> floor = Triangle((0, 0, 0), (0, 0, 4), (4, 0, 0))
    >>> intersect_obb_triangle(OBB((1, 0.75, 1), (1, 1, 1)), floor)
    vec3( 0, 0.25, 0 )
    """
    checks.instance("obb", obb, OBB)
    checks.instance("triangle", triangle, Triangle)
    touching, move = _OBB.call(
        obb.center64,
        obb.half_extents64,
        obb.rotation64,
        triangle.a64,
        triangle.b64,
        triangle.c64,
        bool(two_sided),
        np.empty((FACE_COUNT, 4)),
    )
    return as_move(touching, move)


def intersect_capsule_triangle(
    capsule: Capsule, triangle: Triangle, *, two_sided: bool = False
) -> glm.vec3 | None:
    """Return the move that takes a capsule out of a triangle.

    In front of the face and at its edges the capsule moves straight away from the point nearest
    to its axis. Where the axis passes through the face, the capsule takes the shortest move that
    does not lead against the front. Touching is contact, with a zero-length move.

    Parameters
    ----------
    capsule : Capsule
        Ends of the axis and radius in meters. Where the ends coincide it is a sphere, and the
        result is that of `intersect_sphere_triangle`.
    triangle : Triangle
        Three corners in meters, counter-clockwise seen from the front; may be a segment or a point,
        which have no front.
    two_sided : bool, default False
        Take the shortest move, to either side.

    Returns
    -------
    glm.vec3 or None
        Penetration in meters: add it to both ends and the shapes just touch. ``None`` when the
        axis is farther away than the radius. An axis that meets a triangle without area leaves
        perpendicular to both, as near to straight up as possible.

    Raises
    ------
    TypeError
        For anything other than these shapes.

    See Also
    --------
    intersect_capsule_triangle_many : the same for arrays, in float64.

    Notes
    -----
    One-sided, the face also stops a capsule from behind. A capsule wholly behind the face, its axis
    nearest to the inside of the face, leaves along the front normal, however far that is, as a
    sphere does.

    Two cases need a search: the axis passes behind the face within the radius but is nearer to an
    edge, or the axis passes through the face and the shortest move is not allowed. Then these
    directions are measured to where the shapes separate, and the shortest move is taken: along the
    front normal, past each edge in the plane of the face, and perpendicular to each edge and the
    axis.

    A capsule at an edge and not behind the face moves straight away from the edge, even against the
    front, as a sphere does.

    Examples
    --------
    >>> floor = Triangle((0, 0, 0), (0, 0, 4), (4, 0, 0))
    >>> intersect_capsule_triangle(Capsule((1, 0.75, 1), (1, 2, 1), 1), floor)
    vec3( 0, 0.25, 0 )
    >>> intersect_capsule_triangle(Capsule((1, -0.25, 1), (1, 2, 1), 1), floor)
    vec3( 0, 1.25, 0 )
    """
    checks.instance("capsule", capsule, Capsule)
    checks.instance("triangle", triangle, Triangle)
    touching, move = _CAPSULE.call(
        capsule.a64,
        capsule.b64,
        capsule.radius,
        triangle.a64,
        triangle.b64,
        triangle.c64,
        bool(two_sided),
    )
    return as_move(touching, move)


def intersect_sphere_triangle_many(
    spheres: Any, triangles: Any, *, two_sided: bool = False
) -> NDArray[np.float64]:
    """Return the penetrations of n spheres, each against the triangle in the same row.

    Parameters
    ----------
    spheres : array_like, shape (n, 4) or (1, 4)
        x, y, z, radius in meters; radius >= 0.
    triangles : array_like, shape (n, 3, 3), (n, 9) or one row
        Corners in meters, counter-clockwise seen from the front.
    two_sided : bool, default False
        As in `intersect_sphere_triangle`.

    Returns
    -------
    ndarray of float64, shape (n, 3)
        Penetrations in meters, by the rules of `intersect_sphere_triangle`; NaN where apart.

    Raises
    ------
    ValueError
        For other shapes, non-finite values, negative radii and row counts that do not match.

    Examples
    --------
    >>> floor = [[(0, 0, 0), (0, 0, 4), (4, 0, 0)]]
    >>> intersect_sphere_triangle_many([(1, 0.75, 1, 1), (1, 2, 1, 1)], floor)
    array([[0.  , 0.25, 0.  ],
           [ nan,  nan,  nan]])
    """
    sphere_rows = checks.spheres("spheres", spheres)
    triangle_rows = checks.triangles("triangles", triangles)
    count = checks.common_length(spheres=sphere_rows, triangles=triangle_rows)
    out = np.empty((count, 3))
    sphere_triangle_rows(sphere_rows, triangle_rows, bool(two_sided), out)
    return out + 0.0  # never -0


def intersect_obb_triangle_many(
    centers: Any, half_extents: Any, rotations: Any, triangles: Any, *, two_sided: bool = False
) -> NDArray[np.float64]:
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
        As in `intersect_obb_triangle`.

    Returns
    -------
    ndarray of float64, shape (n, 3)
        Penetrations in meters, by the rules of `intersect_obb_triangle`; NaN where apart.

    Raises
    ------
    ValueError
        For other shapes, non-finite values, negative half extents, matrices that are no rotations
        and row counts that do not match.

    Examples
    --------
    >>> floor = [[(0, 0, 0), (0, 0, 4), (4, 0, 0)]]
    >>> intersect_obb_triangle_many([(1, 0.75, 1)], [(1, 1, 1)], [np.eye(3)], floor)
    array([[0.  , 0.25, 0.  ]])
    """
    boxes = checks.obbs("", centers, half_extents, rotations)
    triangle_rows = checks.triangles("triangles", triangles)
    out = np.empty((checks.common_length(**boxes, triangles=triangle_rows), 3))
    middles, half, turns = boxes.values()
    obb_triangle_rows(middles, half, turns, triangle_rows, bool(two_sided), out)
    return out + 0.0  # never -0


def intersect_capsule_triangle_many(
    capsules: Any, triangles: Any, *, two_sided: bool = False
) -> NDArray[np.float64]:
    """Return the penetrations of n capsules, each against the triangle in the same row.

    Parameters
    ----------
    capsules : array_like, shape (n, 7) or (1, 7)
        ax, ay, az, bx, by, bz, radius in meters; radius >= 0.
    triangles : array_like, shape (n, 3, 3), (n, 9) or one row
        Corners in meters, counter-clockwise seen from the front.
    two_sided : bool, default False
        As in `intersect_capsule_triangle`.

    Returns
    -------
    ndarray of float64, shape (n, 3)
        Penetrations in meters, by the rules of `intersect_capsule_triangle`; NaN where apart.

    Raises
    ------
    ValueError
        For other shapes, non-finite values, negative radii and row counts that do not match.

    Examples
    --------
    >>> floor = [[(0, 0, 0), (0, 0, 4), (4, 0, 0)]]
    >>> intersect_capsule_triangle_many([(1, 0.75, 1, 1, 2, 1, 1)], floor)
    array([[0.  , 0.25, 0.  ]])
    """
    capsule_rows = checks.capsules("capsules", capsules)
    triangle_rows = checks.triangles("triangles", triangles)
    count = checks.common_length(capsules=capsule_rows, triangles=triangle_rows)
    out = np.empty((count, 3))
    capsule_triangle_rows(capsule_rows, triangle_rows, bool(two_sided), out)
    return out + 0.0  # never -0
