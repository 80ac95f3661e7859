"""The penetrations that a kernel finds, row by row."""

from collections.abc import Callable

import numpy as np

from terrain_physics._kernels.types import Floats
from terrain_physics._support import checks
from terrain_physics._support.checks import Rows


def penetrations(kernel: Callable[..., None], first: Rows, second: Rows) -> Floats:
    """Return the penetrations (n, 3) that a kernel writes for the rows of both shapes."""
    out = np.empty((checks.common_length(**first, **second), 3))
    kernel(*first.values(), *second.values(), out)
    return out + 0.0  # never -0
