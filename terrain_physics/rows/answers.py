"""What kernels answer row by row."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.types import Floats
from terrain_physics._support import checks
from terrain_physics._support.checks import Rows


def answers(
    kernel: Callable[..., None],
    rows: Rows,
    *options: Any,
    shape: tuple[int, ...] = (),
    dtype: type = np.float64,
) -> NDArray[Any]:
    """Return the answers (n, *shape) that a kernel writes for rows, by its options."""
    out: NDArray[Any] = np.empty((checks.common_length(**rows), *shape), dtype)
    kernel(*rows.values(), *options, out)
    return out


def penetrations(kernel: Callable[..., None], first: Rows, second: Rows, *options: Any) -> Floats:
    """Return the penetrations (n, 3) that a kernel writes for the rows of both shapes."""
    return answers(kernel, first | second, *options, shape=(3,)) + 0.0  # never -0
