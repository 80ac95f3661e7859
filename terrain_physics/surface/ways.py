"""Rays and motions as players give them: whole, or by a direction and how far it goes."""

from math import inf
from typing import Any

from terrain_physics._support import checks
from terrain_physics._support.checks import Floats3
from terrain_physics.geometry.shapes import Ray


def ray_of(
    ray: Any, direction: Any, max_distance: Any, more: Any, origin: Any
) -> tuple[Floats3, Floats3, Any]:
    """Return the origin, the unit direction and the reach of a ray, however it was given."""
    if origin is not None:
        if ray is not None:
            raise TypeError(f"give a Ray or an origin, not both: got {checks.shorten(ray)}")
        ray = origin
    if isinstance(ray, Ray) and direction is not None:
        direction, max_distance = None, reach_behind_ray(direction, max_distance)
    if more is not None:
        raise TypeError(f"mask must be given by name: mask={checks.shorten(more)}")
    if isinstance(ray, Ray):
        return ray.origin64, ray.direction64, max_distance
    if direction is None:
        raise TypeError(
            "ray must be a Ray, or an origin with a direction: raycast(origin, direction), "
            f"got {checks.shorten(ray)}"
        )
    return checks.vector("origin", ray), checks.unit("direction", direction), max_distance


def reach_behind_ray(reach: Any, max_distance: Any) -> Any:
    """Return the number that stands behind a `Ray`, in the place of a direction."""
    if hasattr(reach, "__len__") or hasattr(reach, "x"):
        raise TypeError(f"a Ray has its direction, got another one: {checks.shorten(reach)}")
    if max_distance is not inf:
        raise TypeError(f"mask must be given by name: mask={checks.shorten(max_distance)}")
    return reach


def motion_of(motion: Any, direction: Any, max_distance: float | None) -> Floats3:
    """Return the displacement of a sweep that goes so far in a direction."""
    if motion is not None and direction is not None:
        raise TypeError("give a motion, or a direction with max_distance, not both")
    if max_distance is None:
        raise TypeError(
            "direction needs max_distance: sweep(shape, direction, max_distance=meters), or give "
            "a motion: sweep(shape, motion)"
        )
    x, y, z = checks.unit("direction", motion if direction is None else direction)
    far = checks.non_negative("max_distance", max_distance)
    return x * far, y * far, z * far
