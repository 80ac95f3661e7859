"""Rows of axis-aligned boxes: checked, and as oriented boxes."""

from typing import Any

import numpy as np

from terrain_physics._support import checks
from terrain_physics._support.checks import Rows

_NO_TURN = np.eye(3)[np.newaxis]
_NO_TURN.setflags(write=False)


def aabbs(prefix: str, lowers: Any, uppers: Any) -> Rows:
    """Return lower and upper corners (n, 3) by the names of their arguments."""
    names = f"{prefix}lowers", f"{prefix}uppers"
    low, high = checks.aabbs(names[0], lowers, names[1], uppers)
    return {names[0]: low, names[1]: high}


def as_obbs(lowers: Any, uppers: Any) -> Rows:
    """Return axis-aligned boxes as oriented ones, each as `as_obb` in `geometry/operands.py` does.

    They are centers and half extents (n, 3), and one rotation for all.
    """
    low, high = np.broadcast_arrays(*checks.aabbs("lowers", lowers, "uppers", uppers))
    middle = 0.5 * low + 0.5 * high
    half = np.maximum(middle - low, high - middle)
    for values in (middle, half):
        values.setflags(write=False)
    return {"lowers": middle, "uppers": half, "turns": _NO_TURN}
