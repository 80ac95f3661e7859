"""Limits of coordinates: the farthest from the origin, and checks of places on a ground."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.math.rows import all_within
from terrain_physics._kernels.surface.shapes import FARTHEST
from terrain_physics._kernels.types import Floats
from terrain_physics._support import checks

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
