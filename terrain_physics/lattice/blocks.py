"""The blocks of a lattice: least and greatest heights, of which those within a tile are the tile's.

The lowest level alone takes 8 bytes for 64 cells: 134 MB over 32k x 32k cells. Memory that nobody
has written to takes none, and that of a row of tiles is given back with the last of them.
"""

import mmap
import sys
from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

import numpy as np

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.heightmap import blocks as kernels
from terrain_physics._kernels.types import Float32s
from terrain_physics.lattice.tile import LatticeShape, LoadedTile

_PUT_LEVEL = CachedDispatch(kernels.put_level)

# The levels of blocks that lie within one tile, whose sides are multiples of 64 cells.
_OWN_LEVELS = 2

# A block without ground, as the 8 bytes that it takes.
_NOTHING = np.array([np.inf, -np.inf], dtype=np.float32)

# How memory is given back: macOS keeps it at MADV_DONTNEED (from its manual, not tried there), and
# Windows, where a map cannot be private, has neither.
_GIVE_BACK: Any = getattr(mmap, "MADV_FREE" if sys.platform == "darwin" else "MADV_DONTNEED", None)
_CAN_GIVE_BACK = _GIVE_BACK is not None and hasattr(mmap, "MAP_PRIVATE")


class LatticeBlocks:
    """The blocks of a lattice.

    Those within tiles are 0 where no tile has been: the ones above tell that there is nothing.

    Attributes
    ----------
    values : ndarray of float32
        Least and greatest heights, or bounds of these, level after level.
    """

    __slots__ = ("_begun", "_levels", "_memory", "_shape", "_written", "values")

    def __init__(self, shape: LatticeShape) -> None:
        self._shape = shape
        rows, columns = shape.rows * shape.side, shape.columns * shape.side
        size = 2 * kernels.level_start(rows, columns, kernels.level_count(rows, columns))
        self._memory: mmap.mmap | None = None
        if _CAN_GIVE_BACK:
            kind = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
            self._memory = mmap.mmap(-1, 4 * size, flags=kind)
            self.values = np.frombuffer(self._memory, dtype=np.float32)
        else:
            self.values = np.zeros(size, dtype=np.float32)
        self._levels: list[Float32s] = []
        for level in range(kernels.level_count(rows, columns)):
            down, across = (kernels.blocks_across(count, level) for count in (rows, columns))
            start = 2 * kernels.level_start(rows, columns, level)
            own = self.values[start : start + 2 * down * across]
            self._levels.append(own.reshape(down, across, 2))
        for own in self._levels[_OWN_LEVELS:] or self._levels[1:]:
            own[:] = _NOTHING
        self._begun = set[tuple[int, int]]()  # blocks above a tile's own, those below are written
        self._written = [set[int]() for _ in range(shape.rows)]  # tiles with blocks, row by row

    def widen(self, tiles: Iterable[LoadedTile]) -> None:
        """Let blocks bound tiles as well as what they have bounded: long queries may read them."""
        numbers = []
        for tile in tiles:
            numbers.append(tile.number)
            self._note(tile.number)
            for here, own in zip(self._within(tile.number), _own_blocks(tile), strict=True):
                np.minimum(here[:, :, 0], own[:, :, 0], out=here[:, :, 0])
                np.maximum(here[:, :, 1], own[:, :, 1], out=here[:, :, 1])
        self._put_upper(numbers)

    def fit(self, numbers: Iterable[int], loaded: Mapping[int, LoadedTile]) -> None:
        """Let blocks bound tiles, and nothing where they are not loaded."""
        for number in numbers:
            tile = loaded.get(number)
            if tile is None:
                for here in self._within(number):
                    here[:] = _NOTHING
            else:
                self._note(number)
                for here, own in zip(self._within(number), _own_blocks(tile), strict=True):
                    here[:] = own
        self._put_upper(numbers)
        for number in numbers:
            if number not in loaded:
                self._forget(number)

    def _note(self, number: int) -> None:
        """Note that blocks within a tile are written; those around it tell of no ground first."""
        written = self._written[number // self._shape.columns]
        if number in written:
            return
        written.add(number)
        row_0, row_1, column_0, column_1 = self._above(number, _OWN_LEVELS)
        for place in product(range(row_0, row_1), range(column_0, column_1)):
            if place not in self._begun:
                self._begun.add(place)
                row, column = (kernels.BLOCK * first for first in place)
                below = self._levels[_OWN_LEVELS - 1]
                below[row : row + kernels.BLOCK, column : column + kernels.BLOCK] = _NOTHING

    def _above(self, number: int, level: int) -> tuple[int, int, int, int]:
        """Return the blocks of a level over a tile: rows and columns, from and to each."""
        side, size = self._shape.side, kernels.BLOCK ** (level + 1)
        row, column = (place * side for place in divmod(number, self._shape.columns))
        last_row, last_column = (row + side - 1) // size, (column + side - 1) // size
        return row // size, last_row + 1, column // size, last_column + 1

    def _forget(self, number: int) -> None:
        row = number // self._shape.columns
        if number in self._written[row]:
            self._written[row].remove(number)
            if not self._written[row]:
                self._give_back(row)

    def _within(self, number: int) -> list[Float32s]:
        """Return the blocks within a tile, level by level."""
        side, found = self._shape.side, []
        row, column = (place * side for place in divmod(number, self._shape.columns))
        for level in range(_OWN_LEVELS):
            size = kernels.BLOCK ** (level + 1)
            row_0, column_0, count = row // size, column // size, side // size
            own = self._levels[level][row_0 : row_0 + count, column_0 : column_0 + count]
            found.append(own)
        return found

    def _put_upper(self, numbers: Iterable[int]) -> None:
        """Write the blocks that lie over several tiles."""
        side = self._shape.side
        rows, columns = self._shape.rows * side, self._shape.columns * side
        for level in range(_OWN_LEVELS, len(self._levels)):
            for number in numbers:
                above = self._above(number, level)
                _PUT_LEVEL.call(rows, columns, level, *above, self.values)

    def _give_back(self, row: int) -> None:
        """Give the memory of the lowest level over a row of tiles back to the system."""
        if self._memory is None:
            return
        count = self._shape.side // kernels.BLOCK
        length = count * self._levels[0].shape[1] * 8
        first = -(-row * length // mmap.PAGESIZE) * mmap.PAGESIZE
        last = (row + 1) * length // mmap.PAGESIZE * mmap.PAGESIZE
        if first < last:
            self._memory.madvise(_GIVE_BACK, first, last - first)


def _own_blocks(tile: LoadedTile) -> list[Float32s]:
    """Return the blocks of a tile, level by level."""
    found, side = [], tile.side
    for level in range(_OWN_LEVELS):
        count = side // kernels.BLOCK ** (level + 1)
        start = 2 * kernels.level_start(side, side, level)
        found.append(tile.blocks[start : start + 2 * count * count].reshape(count, count, 2))
    return found
