"""Shapes, one or many, as the rows of numbers that kernels take.

The table in `terrain_physics/_kernels/surface/shapes.py` gives the contents of a row.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from terrain_physics._kernels.surface.shapes import (
    BOX,
    CAPSULE,
    NO_TURN,
    SPHERE,
)
from terrain_physics._kernels.types import Floats
from terrain_physics._support import checks
from terrain_physics._support.checks import Floats3
from terrain_physics.geometry.shapes import AABB, OBB, Capsule, Sphere
from terrain_physics.surface.limits import refuse_far
from terrain_physics.surface.shape_rows import (
    Boxes,
    Capsules,
    CheckedShapes,
    Spheres,
    kind_and_rows,
)

Shape = Sphere | Capsule | OBB | AABB
ManyShapes = Spheres | Capsules | Boxes | Shape | Sequence[Shape] | ArrayLike
"""Shapes of one kind; an array (n, 4) is spheres."""

SHAPES = (Sphere, Capsule, OBB, AABB)


def row_of(name: str, shape: object) -> tuple[int, tuple[float, ...]]:
    """Return (kind, row) of one shape; refuse any other value."""
    if isinstance(shape, Sphere):
        return SPHERE, (*shape.center64, shape.radius)
    if isinstance(shape, Capsule):
        return CAPSULE, (*shape.a64, *shape.b64, shape.radius)
    if isinstance(shape, OBB):
        return BOX, (*shape.center64, *shape.half_extents64, *shape.rotation64)
    if isinstance(shape, AABB):
        return BOX, _row_of_aligned(shape)
    raise _no_shape(name, "a Sphere, Capsule, OBB or AABB", shape)


def _no_shape(name: str, wanted: str, value: object) -> TypeError:
    """Return the error for what is no shape; it tells where the shape of a collider is."""
    hint = ""
    if hasattr(value, "collider"):
        hint = "; its shape is collider.transformed(glm.translate(position))"
    elif hasattr(value, "transformed"):
        hint = "; its shape is what its transformed(glm.translate(position)) returns"
    return TypeError(f"{name} must be {wanted}, got {checks.shorten(value)}{hint}")


def _row_of_aligned(box: AABB) -> tuple[float, ...]:
    """Return a box that is not turned as a row."""
    lower, upper = box.lower64, box.upper64
    # Halve before adding, as the sum of two large numbers may overflow.
    middle = (0.5 * low + 0.5 * high for low, high in zip(lower, upper, strict=True))
    half = (0.5 * high - 0.5 * low for low, high in zip(lower, upper, strict=True))
    return (*middle, *half, *NO_TURN)


def rows_of(name: str, shapes: ManyShapes) -> tuple[int, Floats]:
    """Return (kind, one row for each shape), read-only, each number below `FARTHEST`."""
    if isinstance(shapes, CheckedShapes):
        return kind_and_rows(shapes)
    if not isinstance(shapes, np.ndarray) and isinstance(shapes, SHAPES):  # sooner, for arrays
        shapes = [shapes]
    if isinstance(shapes, (list, tuple)) and any(isinstance(shape, SHAPES) for shape in shapes):
        kind, rows = _rows_of_each(name, tuple(shapes))
    else:
        kind, rows = SPHERE, _spheres(name, shapes)
    refuse_far(name, rows)
    return kind, rows


def _spheres(name: str, rows: ManyShapes) -> Floats:
    """Return rows of spheres; if they are none, say how other shapes are given."""
    first = rows[0] if isinstance(rows, (list, tuple)) and rows else rows
    if first is None or hasattr(first, "collider") or hasattr(first, "transformed"):
        wanted = "a Sphere, Capsule, OBB or AABB, a list of them, or rows (n, 4) of spheres"
        raise _no_shape(name, wanted, first)
    try:
        return checks.spheres(name, rows)
    except ValueError as error:
        if "(n, 4)" not in str(error):
            raise
        hint = "capsules are given as Capsules(rows), boxes as Boxes(centers, half_extents)"
        raise ValueError(f"{error}; {hint}") from None


def _rows_of_each(name: str, shapes: tuple[object, ...]) -> tuple[int, Floats]:
    """Return (kind, one row for each) of shapes of one type."""
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


def centers_of(kind: int, rows: Floats) -> Floats:
    """Return the centers (n, 3) of shapes in rows, as kernels find them."""
    if kind != CAPSULE:
        return rows[:, :3]
    return np.asarray(0.5 * rows[:, :3] + 0.5 * rows[:, 3:6])


def extents_of(kind: int, rows: Floats) -> Floats:
    """Return the half extents (n, 3) of the boxes around shapes in rows, along the world's axes."""
    if kind == SPHERE:
        return np.broadcast_to(rows[:, 3:], (len(rows), 3))
    if kind == CAPSULE:
        return np.asarray(abs(0.5 * rows[:, :3] - 0.5 * rows[:, 3:6]) + rows[:, 6:])
    turned = abs(rows[:, 6:].reshape(-1, 3, 3)) * rows[:, np.newaxis, 3:6]
    return np.asarray(turned.sum(axis=2))


def box_of(kind: int, row: Sequence[float]) -> tuple[Floats3, Floats3]:
    """Return a box around a shape."""
    if kind == CAPSULE:
        x, y, z, u, v, w, far = row
        low, high = (min(x, u), min(y, v), min(z, w)), (max(x, u), max(y, v), max(z, w))
    else:
        low = high = (row[0], row[1], row[2])
        far = row[3] if kind == SPHERE else row[3] + row[4] + row[5]
    return (
        (low[0] - far, low[1] - far, low[2] - far),
        (high[0] + far, high[1] + far, high[2] + far),
    )


def for_kernels(rows: Floats) -> Floats:
    """Return rows flat and read-only, the one type for which kernels are compiled."""
    flat = rows.reshape(-1)
    flat.setflags(write=False)
    return flat
