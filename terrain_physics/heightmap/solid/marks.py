"""Which blocks of a map have sides."""

from collections.abc import Iterable

import numpy as np

from terrain_physics._kernels.heightmap import grid as kernels
from terrain_physics._kernels.heightmap.blocks import BLOCK, blocks_across
from terrain_physics._kernels.types import Bytes, Floats, read_only
from terrain_physics.heightmap.solid.side_mesh import SideMesh
from terrain_physics.heightmap.solid.side_patch import SidePatch

# Without sides no mark is looked at, also for a ray without an end.
_NO_MARKS, _ALL = read_only(np.zeros(0, np.uint8), np.array([-np.inf, -np.inf, np.inf, np.inf]))

# Marks are made anew if there are so many times more of old ones, and more than this.
_MOST_OLD, _FEW = 8, 1 << 16


class SideMarks:
    """The marks of the lowest blocks of a map that have cells with sides, for `Reach`.

    A mark too many costs time alone. So patches that come mark their blocks in place, also while
    long queries read; those that go leave their marks behind, up to a limit.
    """

    __slots__ = ("_count", "_marks", "_most", "_patches")

    def __init__(self) -> None:
        self._patches: frozenset[SidePatch] = frozenset()
        self._count = self._most = 0  # of cells that were marked, and may be
        self._marks = np.zeros(0, np.uint8)

    def now(self, frame: Floats, mesh: SideMesh | None) -> tuple[Bytes, Floats]:
        """Return the marks for sides, and a place without any; the caller holds the map's lock."""
        if mesh is None:
            return _NO_MARKS, _ALL
        rows, columns = int(frame[kernels.ROWS]), int(frame[kernels.COLUMNS])
        wide, patches = blocks_across(columns, 0), frozenset(mesh.patches.values())
        new, marks, most = patches - self._patches, self._marks, self._most
        count = self._count + _cell_count(new)
        if count > most or not self._patches:
            marks = np.zeros(blocks_across(rows, 0) * wide, np.uint8)
            count, new = _cell_count(patches), patches
            most = _MOST_OLD * count + _FEW
        for own in new:
            row, column = np.divmod(own.cells, columns)
            marks[(row // BLOCK) * wide + column // BLOCK] = 1
        (view,) = read_only(marks)
        # All at once: after Ctrl-C before that they are marked again.
        self._marks, self._count, self._most, self._patches = marks, count, most, patches
        return view, mesh.clear


def _cell_count(patches: Iterable[SidePatch]) -> int:
    """Return how many cells of patches are marked, some of them several times."""
    return sum(len(own.cells) for own in patches)
