"""Shapes as rows of numbers, one kind at a time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from terrain_physics import _checks
from terrain_physics._kernels.surface.shape_rows import BALL as BALL
from terrain_physics._kernels.surface.shape_rows import BOX as BOX
from terrain_physics._kernels.surface.shape_rows import CAPSULE as CAPSULE
from terrain_physics._kernels.types import Floats
from terrain_physics.geometry.shapes import AABB, OBB, Capsule, Sphere

Shape = Sphere | Capsule | OBB | AABB
SHAPES = (Sphere, Capsule, OBB, AABB)

_IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)

SPHERE = BALL


def rows_of(name: str, shapes: ArrayLike | Shape | Sequence[Shape]) -> tuple[int, Floats]:
    """Return (kind, one row for each shape)."""
    if isinstance(shapes, SHAPES):
        shapes = [shapes]
    if not isinstance(shapes, (list, tuple)) or not any(
        isinstance(shape, SHAPES) for shape in shapes
    ):
        return BALL, _checks.spheres(name, shapes)
    first = type(shapes[0])
    for place, shape in enumerate(shapes):
        if type(shape) is not first:
            raise TypeError(
                f"{name} must be of one kind, got {first.__name__} and, at [{place}], "
                f"{_checks.shorten(shape)}"
            )
    rows = np.array([row_of(shape) for shape in shapes])
    rows.flags.writeable = False
    return rows.shape[1], rows


def row_of(shape: Shape) -> tuple[float, ...]:
    """Return a shape as the row that kernels take."""
    if isinstance(shape, Sphere):
        return (*shape.center64, shape.radius)
    if isinstance(shape, Capsule):
        return (*shape.a64, *shape.b64, shape.radius)
    if isinstance(shape, OBB):
        return (*shape.center64, *shape.half_extents64, *shape.rotation64)
    lower, upper = shape.lower64, shape.upper64
    # Halved first: the sum of two large numbers may overflow.
    middle = (0.5 * low + 0.5 * high for low, high in zip(lower, upper, strict=True))
    half = (0.5 * high - 0.5 * low for low, high in zip(lower, upper, strict=True))
    return (*middle, *half, *_IDENTITY)


def kind_of(shape: Shape) -> int:
    """Return the kind of a shape."""
    return len(row_of(shape))


def sphere_rows(name: str, spheres: Any) -> Floats:
    """Return checked rows (n, 4)."""
    return _checks.spheres(name, spheres)


def capsule_rows(name: str, capsules: Any) -> Floats:
    """Return checked rows (n, 7)."""
    rows = _checks.array(name, capsules, (None, 7))
    _checks.refuse_negative("radius", name, rows[:, 6:])
    return rows


def box_rows(centers: Any, half_extents: Any, rotations: Any) -> Floats:
    """Return checked rows (n, 15) of boxes; arrays of one row serve for all."""
    places = _checks.points("centers", centers)
    halves = _checks.points("half_extents", half_extents)
    _checks.refuse_negative("half extent", "half_extents", halves)
    turns = _checks.rotations("rotations", rotations).reshape(-1, 9)
    count = _checks.common_length(centers=places, half_extents=halves, rotations=turns)
    rows = np.empty((count, BOX))
    rows[:, :3], rows[:, 3:6], rows[:, 6:] = places, halves, turns
    rows.flags.writeable = False
    return rows


def by_kind(kind: int, rows: Floats) -> tuple[Floats | None, Floats | None, Floats | None]:
    """Return (spheres, capsules, boxes) for a kernel, flat and read-only."""
    flat = rows if rows.ndim == 1 else rows.reshape(-1)
    flat.setflags(write=False)
    return (
        flat if kind == BALL else None,
        flat if kind == CAPSULE else None,
        flat if kind == BOX else None,
    )


def sweep_rows(kind: int, rows: Floats) -> tuple[int, Floats]:
    """INTERIM: rows of 16 for the kernels of sweeps."""
    bodies = np.zeros((len(rows), 16))
    if kind == SPHERE:
        bodies[:, :4] = rows
    elif kind == CAPSULE:
        bodies[:, :3] = 0.5 * rows[:, 0:3] + 0.5 * rows[:, 3:6]
        bodies[:, 3] = rows[:, 6]
        bodies[:, 4:7] = 0.5 * rows[:, 3:6] - 0.5 * rows[:, 0:3]
    else:
        bodies[:, :3] = rows[:, :3]
        bodies[:, 4:] = rows[:, 3:]
    bodies.flags.writeable = False
    return {SPHERE: 0, BOX: 1, CAPSULE: 2}[kind], bodies
