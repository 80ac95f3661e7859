"""Checks of places, rays and motions on a ground: how they are given, and how far they may be."""

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.math.rows import all_within
from terrain_physics._kernels.surface.shapes import FARTHEST
from terrain_physics._kernels.types import Floats
from terrain_physics._support import checks
from terrain_physics._support.checks import Floats3
from terrain_physics.geometry.shapes import Ray

_LEAST = -FARTHEST
_ALL_WITHIN = CachedDispatch(all_within)


def refuse_far(name: str, rows: Floats) -> None:
    """Refuse read-only rows of numbers if one is too large to compute with."""
    if not _ALL_WITHIN.call(rows.reshape(-1), FARTHEST):
        row = int(np.argmax((np.abs(rows) >= FARTHEST).reshape(len(rows), -1).any(axis=1)))
        raise ValueError(
            f"{name} must be below {FARTHEST:g} m, got {rows[row].tolist()} at [{row}]"
        )


def refuse_far_row(name: str, row: Sequence[float]) -> None:
    """Refuse one row if a number is too large; makes arrays only for the error."""
    for value in row:  # twice as fast as max and min
        if not _LEAST < value < FARTHEST:
            raise ValueError(f"{name} must be below {FARTHEST:g} m, got {list(row)}")


def refuse_far_number(name: str, value: float) -> None:
    """Refuse a number that is too large to compute with."""
    if not -FARTHEST < value < FARTHEST:
        raise ValueError(f"{name} must be below {FARTHEST:g} m, got {value}")


def checked_places(x: ArrayLike, z: ArrayLike) -> tuple[Floats, Floats]:
    """Return coordinates of places, broadcast."""
    xs, zs = checks.broadcast("x", x, "z", z)
    refuse_far("x", xs.reshape(-1))
    refuse_far("z", zs.reshape(-1))
    return xs, zs


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
