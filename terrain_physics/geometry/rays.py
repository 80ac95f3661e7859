"""Rays against shapes: the distance along a ray at which a shape begins.

Shapes are closed and, except for triangles, solid: a ray that only touches hits, and a ray that
starts inside hits at distance 0. If hit and miss differ by no more than rounding, either may be the
answer. Lengths must be from 1e-100 to 1e100 m. `terrain_physics.rows` does the same for arrays,
with the same kernels.
"""

import math
from collections.abc import Callable
from typing import Any

from terrain_physics._kernels.geometry.rays import (
    ray_aabb,
    ray_capsule,
    ray_obb,
    ray_sphere,
    ray_triangle,
)
from terrain_physics._support import checks
from terrain_physics.geometry.shapes import (
    AABB,
    OBB,
    Capsule,
    Ray,
    Sphere,
    Triangle,
    kind_among,
)


def _check(ray: Ray, name: str, shape: object, kind: type) -> None:
    checks.instance("ray", ray, Ray)
    checks.instance(name, shape, kind)


def _hit(distance: float) -> float | None:
    return distance + 0.0 if distance < math.inf else None  # + 0.0: never "-0"


def raycast_triangle(ray: Ray, triangle: Triangle) -> float | None:
    """Return how far along a ray it meets a triangle, from either side.

    Watertight: a ray never passes between triangles that share an edge or a corner.

    Parameters
    ----------
    ray : Ray
        Origin in meters, and direction.
    triangle : Triangle
        Three corners in meters; without area it is a segment or a point.

    Returns
    -------
    float or None
        Meters from the origin; ``None`` when missed. A ray in the triangle's plane hits where it
        enters the triangle, at distance 0 if its origin lies in it.

    Raises
    ------
    TypeError
        For anything other than these shapes.

    Examples
    --------
    >>> floor = Triangle((0, 0, 0), (0, 0, 4), (4, 0, 0))
    >>> raycast_triangle(Ray((1, 5, 1), (0, -1, 0)), floor)
    5.0
    >>> raycast_triangle(Ray((-2, 0, 1), (1, 0, 0)), floor)
    2.0
    >>> raycast_triangle(Ray((1, 5, 1), (0, 1, 0)), floor) is None
    True
    """
    _check(ray, "triangle", triangle, Triangle)
    return _hit(
        ray_triangle(ray.origin64, ray.direction64, triangle.a64, triangle.b64, triangle.c64)
    )


def raycast_sphere(ray: Ray, sphere: Sphere) -> float | None:
    """Return how far along a ray it meets a solid sphere.

    Parameters
    ----------
    ray : Ray
        Origin in meters, and direction.
    sphere : Sphere
        Center and radius in meters; with radius 0 it is a point.

    Returns
    -------
    float or None
        Meters from the origin, 0.0 from inside; ``None`` when missed.

    Raises
    ------
    TypeError
        For anything other than these shapes.

    Examples
    --------
    >>> raycast_sphere(Ray((-5, 0, 0), (2, 0, 0)), Sphere((0, 0, 0), 1))
    4.0
    """
    _check(ray, "sphere", sphere, Sphere)
    return _hit(ray_sphere(ray.origin64, ray.direction64, sphere.center64, sphere.radius))


def raycast_aabb(ray: Ray, aabb: AABB) -> float | None:
    """Return how far along a ray it meets a solid axis-aligned box.

    Parameters
    ----------
    ray : Ray
        Origin in meters, and direction.
    aabb : AABB
        Corners in meters; may be flat.

    Returns
    -------
    float or None
        Meters from the origin, 0.0 from inside; ``None`` when missed. A ray along a face hits.

    Raises
    ------
    TypeError
        For anything other than these shapes.

    Examples
    --------
    >>> raycast_aabb(Ray((-5, 1, 0), (1, 0, 0)), AABB((0, 0, 0), (1, 1, 1)))
    5.0
    """
    _check(ray, "aabb", aabb, AABB)
    return _hit(ray_aabb(ray.origin64, ray.direction64, aabb.lower64, aabb.upper64))


def raycast_obb(ray: Ray, obb: OBB) -> float | None:
    """Return how far along a ray it meets a solid box.

    Parameters
    ----------
    ray : Ray
        Origin in meters, and direction.
    obb : OBB
        Center, half extents and rotation; may be flat.

    Returns
    -------
    float or None
        Meters from the origin, 0.0 from inside; ``None`` when missed.

    Raises
    ------
    TypeError
        For anything other than these shapes.

    Examples
    --------
    >>> raycast_obb(Ray((-5, 0, 0), (1, 0, 0)), OBB((0, 0, 0), (1, 2, 3)))
    4.0
    """
    _check(ray, "obb", obb, OBB)
    return _hit(
        ray_obb(ray.origin64, ray.direction64, obb.center64, obb.half_extents64, obb.rotation64)
    )


def raycast_capsule(ray: Ray, capsule: Capsule) -> float | None:
    """Return how far along a ray it meets a solid capsule.

    Parameters
    ----------
    ray : Ray
        Origin in meters, and direction.
    capsule : Capsule
        Ends and radius in meters; where the ends coincide it is a sphere.

    Returns
    -------
    float or None
        Meters from the origin, 0.0 from inside; ``None`` when missed.

    Raises
    ------
    TypeError
        For anything other than these shapes.

    Examples
    --------
    >>> raycast_capsule(Ray((-5, 0, 0), (1, 0, 0)), Capsule((0, -2, 0), (0, 2, 0), 0.5))
    4.5
    """
    _check(ray, "capsule", capsule, Capsule)
    return _hit(
        ray_capsule(ray.origin64, ray.direction64, capsule.a64, capsule.b64, capsule.radius)
    )


_BY_SHAPE: dict[type, Callable[[Ray, Any], float | None]] = {
    AABB: raycast_aabb,
    Capsule: raycast_capsule,
    OBB: raycast_obb,
    Sphere: raycast_sphere,
    Triangle: raycast_triangle,
}


def raycast(ray: Ray, shape: AABB | Capsule | OBB | Sphere | Triangle) -> float | None:
    """Return how far along a ray it meets a shape, by the function for that shape.

    Parameters
    ----------
    ray : Ray
        Origin in meters, and direction.
    shape : AABB, Capsule, OBB, Sphere or Triangle
        In meters.

    Returns
    -------
    float or None
        Meters from the origin, 0.0 from inside a solid; ``None`` when missed.

    Raises
    ------
    TypeError
        For other shapes.

    Examples
    --------
    >>> raycast(Ray((-5, 0, 0), (1, 0, 0)), Sphere((0, 0, 0), 1))
    4.0
    """
    kind = kind_among(_BY_SHAPE, shape)
    if kind is not None:
        return _BY_SHAPE[kind](ray, shape)
    known = ", ".join(kind.__name__ for kind in _BY_SHAPE)
    raise TypeError(f"shape must be one of {known}, got {checks.shorten(shape)}")
