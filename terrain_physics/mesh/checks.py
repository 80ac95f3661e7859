"""What a caller hands in for a mesh becomes checked arrays, or a clear error."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from terrain_physics import _checks
from terrain_physics._kernels.types import Floats, Ints

FARTHEST = 1e70
"""Coordinates are smaller than this, in meters: four lengths can be multiplied."""


def checked_vertices(vertices: ArrayLike) -> Floats:
    """Return a read-only copy of vertices (v, 3)."""
    places = np.array(_checks.points("vertices", vertices))
    refuse_far("vertices", places)
    places.setflags(write=False)
    return places


def checked_faces(faces: ArrayLike, count: int) -> Ints:
    """Return a read-only copy of faces (n, 3) with ``count`` vertices."""
    _checks.refuse_masked("faces", faces)
    try:
        rows = np.asarray(faces)
    except ValueError:
        raise ValueError("faces must be an array of integers with rows of one length") from None
    if rows.ndim != 2 or rows.shape[1] != 3 or len(rows) == 0:
        raise ValueError(f"faces must have shape (n, 3), n >= 1, got {rows.shape}")
    if rows.dtype.kind not in "iu":
        raise TypeError(f"faces must hold integers, got dtype {rows.dtype}")
    bad = ((rows < 0) | (rows >= count)).any(axis=1)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"faces[{row}] must hold vertices from 0 to {count - 1}, got {rows[row].tolist()}"
        )
    result = np.array(rows, np.int32, order="C")
    result.setflags(write=False)
    return result


def refuse_far(name: str, rows: Floats) -> None:
    """Refuse rows of numbers of which one is too large to compute with."""
    if np.abs(rows).max(initial=0.0) >= FARTHEST:
        row = int(np.argmax(np.abs(rows).max(axis=1) >= FARTHEST))
        raise ValueError(
            f"{name} must be below {FARTHEST:g} m, got {rows[row].tolist()} at [{row}]"
        )


def refuse_far_row(name: str, row: Sequence[float]) -> None:
    """Refuse one row: without arrays where there is nothing to refuse."""
    if max(row) >= FARTHEST or min(row) <= -FARTHEST:
        refuse_far(name, np.array([row]))


def refuse_far_number(name: str, value: float) -> None:
    """Refuse a number that is too large to compute with."""
    if not -FARTHEST < value < FARTHEST:
        raise ValueError(f"{name} must be below {FARTHEST:g} m, got {value}")
