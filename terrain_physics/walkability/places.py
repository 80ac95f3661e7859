"""Places: the grid of a walkability map, with what it holds for each place."""

import numpy as np

from terrain_physics._kernels.types import Float32s, Floats, Int64s, UInt16s
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
    """

    __slots__ = (
        "columns", "heights", "kinds", "levels", "lower_x", "lower_z", "rows", "spacing", "targets",
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

    def __len__(self) -> int:
        return self.levels * self.rows * self.columns

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the arrays that users see: without levels if there is one level."""
        grid = self.rows, self.columns
        return grid if self.levels == 1 else (self.levels, *grid)

    def arrays(self) -> layout.PlaceArrays:
        """Return the places for kernels."""
        sizes = self.levels, self.rows, self.columns
        return layout.PlaceArrays(self.heights, self.kinds, self.targets, *sizes)

    def points(self, numbers: Int64s) -> Floats:
        """Return the positions (n, 3) of a character at rest on places, in meters."""
        on_level = numbers % (self.rows * self.columns)
        x = self.lower_x + self.spacing * (on_level % self.columns)
        z = self.lower_z + self.spacing * (on_level // self.columns)
        return np.column_stack([x, self.heights[numbers].astype(np.float64), z])
