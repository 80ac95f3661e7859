"""Boxes against boxes, spheres and capsules: the shortest move that separates them, if they touch.

The first shape moves, and no shorter move separates them. Sizes and distances must be 0 or from
1e-75 to 1e75 m. `terrain_physics.rows` does the same for arrays, with the same kernels.
"""

from pyglm import glm

from terrain_physics._kernels.geometry import capsule_box, obb_obb, solid_pairs
from terrain_physics._support import checks
from terrain_physics._support.checks import Floats3, Floats9
from terrain_physics.geometry.operands import as_move, as_obb, capsule_floats, sphere_floats
from terrain_physics.geometry.shapes import AABB, OBB, Capsule, Sphere


def _corners(name: str, shape: AABB) -> tuple[Floats3, Floats3]:
    """Return both corners."""
    checks.instance(name, shape, AABB)
    return shape.lower64, shape.upper64


def _box(name: str, shape: OBB) -> tuple[Floats3, Floats3, Floats9]:
    """Return center, half extents and rotation."""
    checks.instance(name, shape, OBB)
    return shape.center64, shape.half_extents64, shape.rotation64


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


def intersect_obb_aabb(obb: OBB, aabb: AABB) -> glm.vec3 | None:
    """Return the shortest move that takes an oriented box out of an axis-aligned one.

    The second box is treated as an oriented box without rotation, by the rules of
    `intersect_obb_obb`.

    Parameters
    ----------
    obb : OBB
        In meters; may be a plate, a rod or a point.
    aabb : AABB
        In meters; may be a plate, a rod or a point.

    Returns
    -------
    glm.vec3 or None
        Penetration of the oriented box in meters, zero when they just touch; ``None`` when apart.

    Raises
    ------
    TypeError
        For anything other than these shapes.

    Examples
    --------
    >>> intersect_obb_aabb(OBB((0, 1.75, 0), (1, 1, 1)), AABB((-1, -1, -1), (1, 1, 1)))
    vec3( 0, 0.25, 0 )
    """
    return intersect_obb_obb(obb, as_obb("aabb", aabb))


def intersect_capsule_obb(capsule: Capsule, obb: OBB) -> glm.vec3 | None:
    """Return the shortest move that takes a capsule out of an oriented box.

    Parameters
    ----------
    capsule : Capsule
        In meters; may be a sphere.
    obb : OBB
        In meters; may be a plate, a rod or a point.

    Returns
    -------
    glm.vec3 or None
        Penetration of the capsule in meters, zero when they just touch; ``None`` when apart. An
        axis outside of the box moves straight away from the nearest point.

    Raises
    ------
    TypeError
        For anything other than these shapes.

    See Also
    --------
    terrain_physics.rows.intersect_capsule_obb : the same for arrays, in float64.

    Notes
    -----
    An axis that meets the box leaves along an axis of the box, or perpendicular to one and to the
    capsule's own: then no edge of the box is in its way. Of equally short moves it takes the first
    of -X, +X, -Y, +Y, -Z, +Z of the box, as a sphere with its center in the box does. After these
    come the cross products of X, Y and Z with the capsule's axis, each with its first component
    that is not zero negative, then positive. It does not matter which end is ``a``.

    Examples
    --------
    >>> crate = OBB((0, 0, 0), (1, 1, 1))
    >>> intersect_capsule_obb(Capsule((0, 1.25, 0), (0, 3, 0), 0.5), crate)
    vec3( 0, 0.25, 0 )
    >>> intersect_capsule_obb(Capsule((-2, 0.75, 0), (2, 0.75, 0), 0.5), crate)
    vec3( 0, 0.75, 0 )
    """
    return as_move(*capsule_box.capsule_obb(*capsule_floats("capsule", capsule), *_box("obb", obb)))


def intersect_capsule_aabb(capsule: Capsule, aabb: AABB) -> glm.vec3 | None:
    """Return the shortest move that takes a capsule out of an axis-aligned box.

    Parameters
    ----------
    capsule : Capsule
        In meters; may be a sphere.
    aabb : AABB
        In meters; may be a plate, a rod or a point.

    Returns
    -------
    glm.vec3 or None
        Penetration of the capsule in meters, zero when they just touch; ``None`` when apart. The
        rules, also of ties, are those of `intersect_capsule_obb`.

    Raises
    ------
    TypeError
        For anything other than these shapes.

    Examples
    --------
    >>> crate = AABB((-1, -1, -1), (1, 1, 1))
    >>> intersect_capsule_aabb(Capsule((0, 1.25, 0), (0, 3, 0), 0.5), crate)
    vec3( 0, 0.25, 0 )
    >>> intersect_capsule_aabb(Capsule((0, 2, 0), (0, 3, 0), 0.5), crate) is None
    True
    """
    return as_move(
        *capsule_box.capsule_aabb(*capsule_floats("capsule", capsule), *_corners("aabb", aabb))
    )
