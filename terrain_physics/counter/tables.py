"""Tables of triangles and spheres as the counter takes them, and the bounds of their columns."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.math import space_curve
from terrain_physics._support import checks
from terrain_physics._support.threads import Workers

ROW_COST = 8
"""Nanoseconds on one thread for a row that is read, roughly."""


def table_of(name: str, value: Any, columns: int) -> NDArray[Any]:
    """Return an array (n, columns) of real numbers, perhaps the caller's."""
    table = checks.real_numbers(name, value)
    if table.size == 0 and table.ndim == 1:
        return np.empty((0, columns))
    if columns == 9 and table.shape[1:] == (3, 3):
        table = table.reshape(-1, 9)
    if table.ndim != 2 or table.shape[1] != columns:
        shape = "(n, 9) or (n, 3, 3)" if columns == 9 else f"(q, {columns})"
        raise ValueError(f"{name} must have shape {shape}, got {table.shape}")
    return table


def bounds_of(
    workers: Workers, name: str, table: NDArray[np.float64], start: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and the greatest value of each column; refuse NaN and infinity.

    ``start`` is the row of the caller's array that this table begins with.
    """

    def widen(first: int, last: int) -> tuple[bool, NDArray[np.float64], NDArray[np.float64]]:
        lower, upper = np.full(table.shape[1], np.inf), np.full(table.shape[1], -np.inf)
        return space_curve.column_bounds(table, first, last, lower, upper), lower, upper

    parts = workers.run(widen, len(table), ROW_COST)
    if not all(finite for finite, _, _ in parts):
        row = int(np.flatnonzero(~np.isfinite(table).all(axis=1))[0])
        raise ValueError(f"{name}[{start + row}] must be finite, got {table[row].tolist()}")
    return np.min([part[1] for part in parts], axis=0), np.max([part[2] for part in parts], axis=0)
