"""Shapes, one or many, as the rows of numbers that kernels take.

The table in `terrain_physics/_kernels/surface/shapes.py` says what a row holds.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from terrain_physics._kernels.surface.shapes import (
    BOX,
    BOX_WIDTH,
    CAPSULE,
    NO_TURN,
    SPHERE,
)
from terrain_physics._kernels.types import Floats
from terrain_physics._support import checks
from terrain_physics.geometry.shapes import AABB, OBB, Capsule, Sphere

Shape = Sphere | Capsule | OBB | AABB

SHAPES = (Sphere, Capsule, OBB, AABB)


def row_of(name: str, shape: object) -> tuple[int, tuple[float, ...]]:
    """Return (kind, row) of one shape; refuse what is none."""
    if isinstance(shape, Sphere):
        return SPHERE, (*shape.center64, shape.radius)
    if isinstance(shape, Capsule):
        return CAPSULE, (*shape.a64, *shape.b64, shape.radius)
    if isinstance(shape, OBB):
        return BOX, (*shape.center64, *shape.half_extents64, *shape.rotation64)
    if isinstance(shape, AABB):
        return BOX, _row_of_aligned(shape)
    wanted = "a Sphere, Capsule, OBB or AABB"
    raise TypeError(f"{name} must be {wanted}, got {checks.shorten(shape)}")


def _row_of_aligned(box: AABB) -> tuple[float, ...]:
    """Return a box that is not turned as a row."""
    lower, upper = box.lower64, box.upper64
    # Halved first: the sum of two large numbers may overflow.
    middle = (0.5 * low + 0.5 * high for low, high in zip(lower, upper, strict=True))
    half = (0.5 * high - 0.5 * low for low, high in zip(lower, upper, strict=True))
    return (*middle, *half, *NO_TURN)


def rows_of(name: str, shapes: ArrayLike | Shape | Sequence[Shape]) -> tuple[int, Floats]:
    """Return (kind, one row for each shape).

    Takes one shape, a sequence of shapes of one type, or an array (n, 4) of spheres.
    """
    if isinstance(shapes, SHAPES):
        shapes = [shapes]
    if not isinstance(shapes, (list, tuple)) or not any(
        isinstance(shape, SHAPES) for shape in shapes
    ):
        return SPHERE, sphere_rows(name, shapes)
    shapes = tuple(shapes)  # the list may change
    first = type(shapes[0])
    for place, shape in enumerate(shapes):
        if type(shape) is not first:
            raise TypeError(
                f"{name} must be of one kind, got {first.__name__} and, at [{place}], "
                f"{checks.shorten(shape)}"
            )
    kinds, numbers = zip(*(row_of(name, shape) for shape in shapes), strict=True)
    rows = np.array(numbers)
    rows.setflags(write=False)
    return kinds[0], rows


def sphere_rows(name: str, spheres: Any) -> Floats:
    """Return the rows of spheres given as such (n, 4)."""
    return checks.spheres(name, spheres)


def capsule_rows(name: str, capsules: ArrayLike) -> Floats:
    """Return the rows of capsules given as such (n, 7)."""
    return checks.capsules(name, capsules)


def box_rows(centers: ArrayLike, half_extents: ArrayLike, rotations: ArrayLike) -> Floats:
    """Return the rows of boxes; any of the arrays may have one row, which then serves for all."""
    places = checks.points("centers", centers)
    halves = checks.points("half_extents", half_extents)
    checks.refuse_negative("half extent", "half_extents", halves)
    turns = checks.rotations("rotations", rotations).reshape(-1, 9)
    count = checks.common_length(centers=places, half_extents=halves, rotations=turns)
    rows = np.empty((count, BOX_WIDTH))
    rows[:, :3], rows[:, 3:6], rows[:, 6:] = places, halves, turns
    rows.setflags(write=False)
    return rows


def for_kernels(rows: Floats) -> Floats:
    """Return rows as kernels take them: flat and read-only, the one type that they know."""
    flat = rows.reshape(-1)
    flat.setflags(write=False)
    return flat
