"""The materials of the cells of a lattice."""

from collections.abc import Mapping

import numpy as np

from terrain_physics._kernels.types import Bytes, Int64s
from terrain_physics.lattice.tile import LatticeShape


class LatticeMaterials:
    """The materials of cells of loaded tiles; those of all others are 0.

    Parameters
    ----------
    shape : LatticeShape
    arrays : mapping of int to tuple
        Heights, cells and materials of each tile, by its number; the last two may be None.
    """

    __slots__ = ("_arrays", "_shape")

    def __init__(self, shape: LatticeShape, arrays: Mapping[int, tuple[object, ...]]) -> None:
        self._shape, self._arrays = shape, arrays

    def item(self, cell: int) -> int:
        """Return the material of a cell."""
        return int(self.take(np.array([cell]))[0])

    def take(self, cells: Int64s) -> Bytes:
        """Return the materials of cells (n,)."""
        side, columns = self._shape.side, self._shape.columns
        rows, across = np.divmod(cells, columns * side)
        tiles = rows // side * columns + across // side
        found = np.zeros(len(cells), np.uint8)
        for number in np.unique(tiles).tolist():
            made = self._arrays.get(number, (None,))[-1]
            if isinstance(made, np.ndarray):
                own = tiles == number
                found[own] = made[rows[own] % side, across[own] % side]
        return found
