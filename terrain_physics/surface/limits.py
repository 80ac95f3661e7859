"""How far from the origin coordinates may be."""

from collections.abc import Sequence

import numpy as np

from terrain_physics._kernels.types import Floats

FARTHEST = 1e70
"""Coordinates are smaller than this, in meters: four lengths can be multiplied."""


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
