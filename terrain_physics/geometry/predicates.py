"""Predicates: whether a sphere's surface touches something, and a 2D point is in a triangle."""

from typing import Any

from terrain_physics._kernels.geometry import point_in_triangle
from terrain_physics._kernels.geometry.sphere_surface import touches
from terrain_physics._kernels.geometry.sphere_surface_rows import touches_plane
from terrain_physics._support import checks
from terrain_physics.geometry.shapes import Plane, Segment, Sphere, Triangle


def surface_touches(sphere: Sphere, surface: Plane | Segment | Triangle) -> bool:
    """Tell whether the surface of a sphere touches a plane, a segment or a triangle.

    It does if the least distance from the center is <= radius + 1e-10 and the greatest distance is
    >= radius - 1e-10, in meters: something wholly inside the sphere does not touch. For triangles
    this is the definition that `count_touching` uses.

    Parameters
    ----------
    sphere : Sphere
        Center and radius in meters; with radius 0 the surface is the center.
    surface : Plane, Segment or Triangle
        In meters. A triangle without area is a segment or a point, and a segment without length is
        a point. A plane is perpendicular to its ``normal64``, which is rounded; to decide ties by
        the normal as given, use `terrain_physics.rows.surface_touches_plane`.

    Returns
    -------
    bool
        Ties are decided as in exact arithmetic, within the tolerance of 1e-10 m on the distance.

    Raises
    ------
    TypeError
        For other shapes.

    Examples
    --------
    >>> sphere = Sphere((0, 0, 0), 5)
    >>> surface_touches(sphere, Plane((0, 5, 0), (0, 1, 0)))
    True
    >>> surface_touches(sphere, Segment((1, 0, 0), (2, 0, 0)))
    False
    >>> surface_touches(sphere, Triangle((3, 4, 0), (1, 0, 0), (0, 1, 0)))
    True
    """
    checks.instance("sphere", sphere, Sphere)
    center, radius = sphere.center64, sphere.radius
    if isinstance(surface, Triangle):
        return bool(touches(surface.a64, surface.b64, surface.c64, center, radius))
    if isinstance(surface, Segment):
        return bool(touches(surface.a64, surface.b64, surface.b64, center, radius))
    if isinstance(surface, Plane):
        return bool(touches_plane(surface.point64, surface.normal64, center, radius))
    raise TypeError(
        f"surface must be one of Plane, Segment, Triangle, got {checks.shorten(surface)}"
    )


def _two(name: str, value: Any) -> tuple[float, float]:
    """Return two finite floats of a vec2, dvec2, tuple, list, array or object with .x .y."""
    if hasattr(value, "x") and hasattr(value, "y") and not hasattr(value, "z"):
        x, y = value.x, value.y
    elif isinstance(value, (tuple, list)) and len(value) == 2:
        x, y = value
    else:
        x, y = checks.array(name, value, (2,)).tolist()
    return checks.finite(f"{name}.x", x), checks.finite(f"{name}.y", y)


def point_in_triangle_2d(point: Any, a: Any, b: Any, c: Any) -> bool:
    """Tell whether a 2D point lies in a triangle, edges and corners included.

    Corners may run either way round. A point P is in the triangle where none of the cross products
    PA × PB, PB × PC and PC × PA has the opposite sign of another; they may be zero. The signs are
    exact: of triangles that tile a region, at least one holds each point of the region, and a point
    on a shared edge is in both.

    Parameters
    ----------
    point, a, b, c : two numbers
        In meters.

    Returns
    -------
    bool
        A triangle without area is a segment or a point, and holds the points exactly on it.

    See Also
    --------
    terrain_physics.rows.point_in_triangle_2d : the same for arrays.

    Notes
    -----
    Exact if, on each axis, every coordinate is 0 or at least 1e-290 of the largest.

    Examples
    --------
    >>> point_in_triangle_2d((1, 1), (0, 0), (4, 0), (0, 4))
    True
    >>> point_in_triangle_2d((2, 2), (0, 0), (4, 0), (0, 4))
    True
    >>> point_in_triangle_2d((3, 2), (0, 0), (4, 0), (0, 4))
    False
    """
    return bool(
        point_in_triangle.point_in_triangle(
            *_two("point", point), *_two("a", a), *_two("b", b), *_two("c", c)
        )
    )
