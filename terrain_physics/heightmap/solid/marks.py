"""Which blocks of a map have sides."""

from collections.abc import Iterable

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

    __slots__ = ("_bands", "_count", "_marks")

    def __init__(self) -> None:
        self._bands: frozenset[SideBand] = frozenset()
        self._count = 0  # of cells that were marked
        self._marks = np.zeros(0, np.uint8)

    def now(self, frame: Floats, mesh: SideMesh | None) -> tuple[Bytes, Floats]:
        """Return the marks for sides, and a place without any; the caller holds the map's lock."""
        if mesh is None:
            return _NO_MARKS, _ALL
        rows, columns = int(frame[kernels.ROWS]), int(frame[kernels.COLUMNS])
        wide, bands = blocks_across(columns, 0), frozenset(mesh.bands)
        new, own_count = bands - self._bands, _cell_count(bands)
        marks, count = self._marks, self._count + _cell_count(new)
        if count > _MOST_OLD * own_count + _FEW or not self._bands:
            marks = np.zeros(blocks_across(rows, 0) * wide, np.uint8)
            count, new = own_count, bands
        for band in new:
            row, column = np.divmod(band.cells, columns)
            marks[(row // BLOCK) * wide + column // BLOCK] = 1
        (view,) = read_only(marks[:])
        # All at once: after Ctrl-C before that they are marked again.
        self._marks, self._count, self._bands = marks, count, bands
        return view, mesh.clear


def _cell_count(bands: Iterable[SideBand]) -> int:
    """Return how many cells of bands are marked, some of them several times."""
    return sum(len(band.cells) for band in bands)
