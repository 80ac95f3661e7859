"""The samples that neighboring tiles share: they must be equal."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.types import Bools, Float32s


class Borders:
    """Borders of tiles that come row by row, each from left to right.

    It holds one line of samples across the lattice, and that of the row of tiles above.
    """

    def __init__(self, side: int, columns: int) -> None:
        self._side = side
        self._above, self._below = _Line(side * columns + 1), _Line(side * columns + 1)
        self._left: tuple[int, NDArray[Any]] | None = None

    def next_row(self) -> None:
        """Go on with the next row of tiles."""
        self._above, self._below = self._below, self._above
        self._below.known[:] = False
        self._left = None

    def add(self, column: int, heights: NDArray[Any]) -> None:
        """Take the borders of a tile; ValueError naming a sample that differs from a neighbor's."""
        start = column * self._side
        here = slice(start, start + self._side + 1)
        above = np.where(self._above.known[here], self._above.values[here], heights[0])
        _refuse_others(heights[0], above, "above", 0)
        if self._left is not None and self._left[0] == column - 1:
            _refuse_others(heights[:, 0], self._left[1], "to the left", 1)
        self._below.values[here], self._below.known[here] = heights[-1], True
        self._left = column, heights[:, -1].copy()


class _Line:
    """Samples along a border, and which of them a tile has given."""

    def __init__(self, count: int) -> None:
        self.values: Float32s = np.zeros(count, dtype=np.float32)  # holds int16 exactly
        self.known: Bools = np.zeros(count, dtype=np.bool_)


def _refuse_others(own: NDArray[Any], other: NDArray[Any], where: str, axis: int) -> None:
    differs = ~((own == other) | ((own != own) & (other != other)))  # noqa: PLR0124 holes are equal
    if differs.any():
        place = int(np.argmax(differs))
        sample = [place, 0] if axis else [0, place]
        raise ValueError(
            f"heights must have the samples of the tile {where} along the common border, got "
            f"{own[place]} at {sample}, there {other[place]}"
        )
