"""Places: the grid of a walkability map, with what it holds for each place."""

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.types import Bytes, Float32s, Floats, Int64s, UInt16s
from terrain_physics._kernels.walkability import layout


class Places:
    """The places of a map: where they are, whether a character can rest there, and the edges.

    Parameters
    ----------
    lower_x, lower_z : float
        Where row 0 and column 0 are, in meters.
    spacing : float
        The distance of rows and of columns, in meters.
    levels, rows, columns : int

    Attributes
    ----------
    heights : ndarray of float32, shape (n,)
        For each number of a place, y of the position of a character at rest there; NaN: none can.
    kinds, targets : ndarray of uint16, shape (n,)
        The edges: see `terrain_physics._kernels.walkability.layout`.
    asides : ndarray of float32, shape (n, 2) or (0, 2)
        X and z of where the character rests, from the point of the grid; (0, 2): on all points.
    """

    __slots__ = (
        "asides", "columns", "heights", "kinds", "levels", "lower_x", "lower_z", "rows", "spacing",
        "targets",
    )  # fmt: skip

    heights: Float32s
    kinds: UInt16s
    targets: UInt16s

    def __init__(
        self, lower_x: float, lower_z: float, spacing: float, levels: int, rows: int, columns: int
    ) -> None:
        self.lower_x, self.lower_z, self.spacing = lower_x, lower_z, spacing
        self.levels, self.rows, self.columns = levels, rows, columns
        self.heights = np.full(len(self), np.nan, dtype=np.float32)
        self.kinds = np.zeros(len(self), dtype=np.uint16)
        self.targets = np.zeros(len(self) if levels > 1 else 0, dtype=np.uint16)
        self.asides = np.zeros((0, 2), dtype=np.float32)

    def __len__(self) -> int:
        return self.levels * self.rows * self.columns

    @property
    def shape(self) -> tuple[int, int, int]:
        """The shape of the arrays that users see."""
        return self.levels, self.rows, self.columns

    def arrays(self) -> layout.PlaceArrays:
        """Return the places for kernels."""
        sizes = self.levels, self.rows, self.columns
        frame = self.lower_x, self.lower_z, self.spacing
        return layout.PlaceArrays(
            self.heights, self.kinds, self.targets, self.asides, *sizes, *frame
        )

    def make_asides(self) -> None:
        """Make room for places beside the points of the grid: on most maps no body ever slips."""
        if not len(self.asides):
            self.asides = np.zeros((len(self), 2), dtype=np.float32)

    def add_edges(self, starts: Int64s, directions: Int64s, kinds: Bytes, levels: Bytes) -> None:
        """Write edges (n,) where there are none."""
        shifts = (2 * directions).astype(np.uint16)
        for packed, values in ((self.kinds, kinds), (self.targets, levels)):
            if len(packed):
                # Several edges may begin at one place.
                np.bitwise_or.at(packed, starts, values.astype(np.uint16) << shifts)

    def edges_from(self, numbers: Int64s) -> tuple[UInt16s, UInt16s]:
        """Return the edges from places (n,): ``kinds`` and ``targets`` of these."""
        return self.kinds[numbers], self.targets[numbers] if len(self.targets) else self.targets

    def keep_edges(self, numbers: Int64s, kinds: UInt16s, targets: UInt16s) -> None:
        """Keep those edges from places (n,) that lead to the same level among others, too.

        Of two kinds the greater stays.
        """
        shifts = 2 * np.arange(layout.DIRECTIONS, dtype=np.uint16)
        now, before = (each[:, np.newaxis] >> shifts & 3 for each in (self.kinds[numbers], kinds))
        kept = np.where(before > 0, np.where(now > 0, np.maximum(now, before), 0), 0)
        if len(targets):
            differ = (self.targets[numbers] ^ targets)[:, np.newaxis] >> shifts & 3
            kept[differ != 0] = 0
            self.targets[numbers] &= ((kept > 0) * np.uint16(3) << shifts).sum(1, np.uint16)
        self.kinds[numbers] = (kept << shifts).sum(1, np.uint16)

    def cut_off(self, numbers: Int64s) -> None:
        """Take away all edges from and to columns (n,): each row times columns plus column."""
        size, (rows, columns) = self.rows * self.columns, np.divmod(numbers, self.columns)
        for direction in range(layout.DIRECTIONS):
            row, column = (
                rows + layout.ROW_STEPS[direction],
                columns + layout.COLUMN_STEPS[direction],
            )
            inside = (row >= 0) & (row < self.rows) & (column >= 0) & (column < self.columns)
            around = (row * self.columns + column)[inside]
            back = (direction + layout.DIRECTIONS // 2) % layout.DIRECTIONS
            for level in range(self.levels):
                self.kinds[level * size + around] &= np.uint16(0xFFFF ^ (3 << 2 * back))
        for level in range(self.levels):
            self.kinds[level * size + numbers] = 0

    def grow(self, levels: int) -> None:
        """Put empty levels on top of the others.

        The number of levels comes last: who reads it first finds arrays that are large enough.
        """
        size = levels * self.rows * self.columns
        self.heights = _longer(self.heights, size, np.nan)
        self.kinds, self.targets = _longer(self.kinds, size, 0), _longer(self.targets, size, 0)
        if len(self.asides):
            self.asides = _longer(self.asides, size, 0)
        self.levels = levels

    def clear(self) -> None:
        """Take all places away."""
        self.heights[:], self.kinds[:], self.targets[:], self.asides[:] = np.nan, 0, 0, 0

    def copy(self) -> "Places":
        """Return the same places in arrays of their own."""
        other = copy(self)
        for name in ("heights", "kinds", "targets", "asides"):
            setattr(other, name, getattr(self, name).copy())
        return other

    def column_at(self, x: float, z: float) -> tuple[int, int] | None:
        """Return row and column of the places that are nearest along both axes; None: outside."""
        row = (z - self.lower_z) / self.spacing + 0.5
        column = (x - self.lower_x) / self.spacing + 0.5
        is_inside = 0.0 <= row < self.rows and 0.0 <= column < self.columns
        return (int(row), int(column)) if is_inside else None

    def points(self, numbers: Int64s) -> Floats:
        """Return the positions (n, 3) of a character at rest on places, in meters."""
        return self.points_at(numbers, self.heights[numbers])

    def points_at(self, numbers: Int64s, heights: Float32s | Floats) -> Floats:
        """Return the positions (n, 3) of a character on places, with heights (n,) of its own."""
        on_level = numbers % (self.rows * self.columns)
        x = self.lower_x + self.spacing * (on_level % self.columns)
        z = self.lower_z + self.spacing * (on_level // self.columns)
        if len(self.asides):
            x, z = x + self.asides[numbers, 0], z + self.asides[numbers, 1]
        return np.column_stack([x, heights.astype(np.float64), z])


def _longer(values: NDArray[Any], size: int, fill: float) -> NDArray[Any]:
    """Return an array of a size that begins with some values; the others are all the same."""
    longer = np.full((size, *values.shape[1:]), fill, dtype=values.dtype)
    longer[: len(values)] = values
    return longer
