"""Any two shapes: the function for their pair, chosen by their types."""

from collections.abc import Callable

from pyglm import glm

from terrain_physics._support.checks import shorten
from terrain_physics.geometry.intersect_box import (
    intersect_aabb_aabb,
    intersect_aabb_sphere,
    intersect_capsule_aabb,
    intersect_capsule_obb,
    intersect_obb_aabb,
    intersect_obb_obb,
    intersect_obb_sphere,
)
from terrain_physics.geometry.intersect_round import (
    intersect_capsule_capsule,
    intersect_capsule_sphere,
    intersect_sphere_sphere,
)
from terrain_physics.geometry.intersect_triangle import (
    intersect_aabb_triangle,
    intersect_capsule_triangle,
    intersect_obb_triangle,
    intersect_sphere_triangle,
)
from terrain_physics.geometry.shapes import (
    AABB,
    OBB,
    Capsule,
    Sphere,
    Triangle,
    kind_among,
)

Shape = Sphere | AABB | OBB | Capsule | Triangle


_PAIRS: dict[tuple[type, type], Callable[..., glm.vec3 | None]] = {
    (Sphere, Sphere): intersect_sphere_sphere,
    (AABB, AABB): intersect_aabb_aabb,
    (AABB, Sphere): intersect_aabb_sphere,
    (OBB, Sphere): intersect_obb_sphere,
    (OBB, AABB): intersect_obb_aabb,
    (OBB, OBB): intersect_obb_obb,
    (Capsule, Sphere): intersect_capsule_sphere,
    (Capsule, AABB): intersect_capsule_aabb,
    (Capsule, OBB): intersect_capsule_obb,
    (Capsule, Capsule): intersect_capsule_capsule,
    (Sphere, Triangle): intersect_sphere_triangle,
    (AABB, Triangle): intersect_aabb_triangle,
    (OBB, Triangle): intersect_obb_triangle,
    (Capsule, Triangle): intersect_capsule_triangle,
}


def _kind(name: str, shape: object) -> type:
    """Return the known class of a shape, or the one it is derived from."""
    kind = kind_among((Sphere, AABB, OBB, Capsule, Triangle), shape)
    if kind is None:
        raise TypeError(
            f"{name} must be a Sphere, AABB, OBB, Capsule or Triangle, got {shorten(shape)}"
        )
    return kind


def intersect(first: Shape, second: Shape, *, two_sided: bool = False) -> glm.vec3 | None:
    """Return the move that takes the first shape out of the second, by the function of their pair.

    Every pair of Sphere, AABB, OBB and Capsule has one, and so has each of these with a Triangle.
    Two triangles have no penetration: `intersect_triangle_triangle` says whether they touch.

    Parameters
    ----------
    first, second : Sphere, AABB, OBB, Capsule or Triangle
        In any order: `intersect_capsule_obb` is also the function of a box and a capsule, and its
        move is reversed then.
    two_sided : bool, default False
        Against a triangle: take the shortest move, to either side. Otherwise the front of the
        triangle is solid. Other pairs ignore it.

    Returns
    -------
    glm.vec3 or None
        Penetration of ``first`` in meters: add it and the shapes just touch. Zero when they
        already just touch, ``None`` when they are apart. For degenerate shapes see the function of
        the pair.

    Raises
    ------
    TypeError
        For anything but these shapes, and for two triangles.

    Examples
    --------
    >>> floor = Triangle((0, 0, 0), (0, 0, 4), (4, 0, 0))
    >>> intersect(Sphere((1, 0.75, 1), 1), floor)
    vec3( 0, 0.25, 0 )
    >>> intersect(floor, Sphere((1, 0.75, 1), 1))
    vec3( 0, -0.25, 0 )
    """
    kinds = _kind("first", first), _kind("second", second)
    turned = kinds not in _PAIRS
    if turned:
        kinds = kinds[1], kinds[0]
        if kinds not in _PAIRS:
            raise TypeError(
                "first and second must not both be a Triangle, as there is no penetration of two; "
                "intersect_triangle_triangle says whether they touch"
            )
        first, second = second, first
    if kinds[1] is Triangle:
        move = _PAIRS[kinds](first, second, two_sided=two_sided)
    else:
        move = _PAIRS[kinds](first, second)
    return glm.vec3() - move if turned and move is not None else move
