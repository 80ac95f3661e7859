"""Samples of a function of x and z: the heights of `HeightMap.from_function`."""

from collections.abc import Callable
from typing import Any

import numpy as np

from terrain_physics._kernels.types import Floats
from terrain_physics._support import checks
from terrain_physics._support.checks import Floats3
from terrain_physics.heightmap.checks import checked_cell_size


def sampled(
    function: Callable[[Floats, Floats], Any], shape: Any, cell_size: Any, origin: Any
) -> tuple[Any, Floats3]:
    """Return the heights (rows, columns) that a function gives, and the first sample's place."""
    if not callable(function):
        raise TypeError(f"function must take arrays x and z, got {checks.shorten(function)}")
    if not isinstance(shape, (tuple, list)) or len(shape) != 2:
        raise ValueError(f"shape must be (rows, columns), got {checks.shorten(shape)}")
    rows, columns = (
        checks.whole(f"shape[{place}]", count, 2, 2**31) for place, count in enumerate(shape)
    )
    cell_x, cell_z = checked_cell_size(cell_size)
    place = checks.vector("origin", origin)
    x = np.broadcast_to(place[0] + cell_x * np.arange(columns), (rows, columns))
    z = np.broadcast_to((place[2] + cell_z * np.arange(rows))[:, np.newaxis], (rows, columns))
    try:
        heights = function(x.copy(), z.copy())
    except (TypeError, ValueError) as error:
        raise TypeError(
            "function must take arrays of x and z, as those of NumPy do; np.vectorize(function) "
            f"makes it of one that takes two numbers: {error}"
        ) from error
    if np.shape(heights) not in ((), (rows, columns)):
        raise ValueError(
            f"function must return heights of shape {(rows, columns)}, got {np.shape(heights)}"
        )
    return np.broadcast_to(heights, (rows, columns)), place
