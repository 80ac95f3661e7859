"""Spheres and capsules: the shortest move that separates them, if they touch.

The first shape moves, and no shorter move separates them. Sizes and distances must be 0 or from
1e-75 to 1e75 m. `terrain_physics.rows` does the same for arrays, with the same kernels.
"""

from pyglm import glm

from terrain_physics._kernels.geometry import solid_pairs
from terrain_physics.geometry.operands import as_move, capsule_floats, sphere_floats
from terrain_physics.geometry.shapes import Capsule, Sphere


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
        *solid_pairs.capsule_sphere(
            *capsule_floats("capsule", capsule), *sphere_floats("sphere", sphere)
        )
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
        *solid_pairs.capsule_capsule(
            *capsule_floats("first", first), *capsule_floats("second", second)
        )
    )
