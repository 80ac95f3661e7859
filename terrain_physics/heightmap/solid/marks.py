"""Which blocks of a map have sides."""

import numpy as np

from terrain_physics._kernels.heightmap import grid as kernels
from terrain_physics._kernels.heightmap.blocks import BLOCK, blocks_across
from terrain_physics._kernels.types import Bytes, Floats, read_only
from terrain_physics.heightmap.solid.side_band import SideBand
from terrain_physics.heightmap.solid.side_mesh import SideMesh

# Without sides, all of the world is clear of them, and no mark is looked at.
_NO_MARKS, _ALL = read_only(np.zeros(0, np.uint8), np.array([-np.inf, -np.inf, np.inf, np.inf]))

# Marks are made anew if there are so many times more of old ones, and more than this.
_MOST_OLD, _FEW = 8, 1 << 16


class SideMarks:
    """The marks of the lowest blocks of a map that have cells with sides, for `Reach`.

    A mark too many costs time alone. So bands that come mark their blocks in place, also while long
    queries read; those that go leave their marks behind, up to a limit.
    """

    __slots__ = ("_bands", "_count", "_marks", "_view")

    def __init__(self) -> None:
        self._bands: frozenset[SideBand] = frozenset()
        self._count = 0  # of cells that were marked
        self._marks = self._view = np.zeros(0, np.uint8)

    def now(self, frame: Floats, mesh: SideMesh | None) -> tuple[Bytes, Floats]:
        """Return the marks for sides, and a place without any; the caller holds the map's lock."""
        if mesh is None:
            return _NO_MARKS, _ALL
        rows, columns = int(frame[kernels.ROWS]), int(frame[kernels.COLUMNS])
        wide = blocks_across(columns, 0)
        bands = frozenset(mesh.bands)
        new = bands - self._bands
        self._count += sum(len(band.cells) for band in new)
        if (
            self._count > _MOST_OLD * sum(len(band.cells) for band in bands) + _FEW
            or not self._bands
        ):
            self._marks = np.zeros(blocks_across(rows, 0) * wide, np.uint8)
            (self._view,) = read_only(self._marks[:])
            self._count, new = sum(len(band.cells) for band in bands), bands
        for band in new:
            row, column = np.divmod(band.cells, columns)
            self._marks[(row // BLOCK) * wide + column // BLOCK] = 1
        self._bands = bands
        return self._view, mesh.clear
