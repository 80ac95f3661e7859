"""Shapes against triangles: the move that takes the shape out of the triangle, if they touch.

Sizes and distances must be 0 or from 1e-75 to 1e75 m. `terrain_physics.rows` does the same for
arrays, with the same kernels.
"""

import numpy as np
from pyglm import glm

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.geometry.capsule_triangle import capsule_triangle
from terrain_physics._kernels.geometry.obb_triangle import FACE_COUNT, obb_triangle
from terrain_physics._kernels.geometry.sphere_triangle import sphere_triangle
from terrain_physics._support import checks
from terrain_physics.geometry.operands import as_move, as_obb
from terrain_physics.geometry.shapes import AABB, OBB, Capsule, Sphere, Triangle

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
    terrain_physics.rows.intersect_sphere_triangle : the same for arrays, in float64.

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
    order. One-sided, directions against the front normal are not allowed, so a box with its center
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
    terrain_physics.rows.intersect_obb_triangle : the same for arrays, in float64.

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


def intersect_aabb_triangle(
    aabb: AABB, triangle: Triangle, *, two_sided: bool = False
) -> glm.vec3 | None:
    """Return the move that takes an axis-aligned box out of a triangle.

    It is treated as an oriented box without rotation, by the rules of `intersect_obb_triangle`.

    Parameters
    ----------
    aabb : AABB
        In meters; may be a plate, a rod or a point.
    triangle : Triangle
        Three corners in meters, counter-clockwise seen from the front; may be a segment or a point.
    two_sided : bool, default False
        Take the shortest move, to either side.

    Returns
    -------
    glm.vec3 or None
        Penetration of the box in meters, zero when they just touch; ``None`` when apart.

    Raises
    ------
    TypeError
        For anything other than these shapes.

    See Also
    --------
    terrain_physics.rows.intersect_aabb_triangle : the same for arrays, in float64.

    Examples
    --------
    >>> floor = Triangle((0, 0, 0), (0, 0, 4), (4, 0, 0))
    >>> intersect_aabb_triangle(AABB((0, -0.25, 0), (2, 1.75, 2)), floor)
    vec3( 0, 0.25, 0 )
    """
    return intersect_obb_triangle(as_obb("aabb", aabb), triangle, two_sided=two_sided)


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
    terrain_physics.rows.intersect_capsule_triangle : the same for arrays, in float64.

    Notes
    -----
    One-sided, the face also stops a capsule from behind. A capsule wholly behind the face, its axis
    nearest to the inside of the face, leaves along the front normal at any distance, as a sphere
    does.

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
