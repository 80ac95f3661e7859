"""The table of tiles of a lattice, which leads kernels from each cell to the arrays of its tile.

It is as the kernels' `heightmap.grid` describes it. Tiles come and go by one entry each, whatever
else there is.
"""

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.heightmap import grid as kernels
from terrain_physics._kernels.heightmap.missing import MISSING_TILE
from terrain_physics._kernels.types import Int64s
from terrain_physics.lattice.tile import LatticeShape, LoadedTile

# Arrays are addressed from here on: below all of them, and not 0.
BASE_ADDRESS = 4096

_HOLE = np.full(1, np.nan, dtype=np.float32)
_NO_GROUND = np.full(1, kernels.CELL_HOLE, dtype=np.uint8)
_NO_BITS = np.zeros(1, dtype=np.uint8)
SHARED = _HOLE, _NO_GROUND, _NO_BITS
"""The arrays of cells without a tile, and of tiles without bits; they live as long as Python."""

# Entries before those of tiles, and the first room for tiles: later room is a copy of all, and room
# that nobody has written to takes no memory.
_ABSENT, _MISSING, _FIRST_TILE = 0, 1, 2
_FIRST_ROOM = 1024


class TileTable:
    """The table of the tiles of a lattice, some of which are loaded.

    Attributes
    ----------
    values : ndarray of int64
        The table; another array once there is no more room.
    """

    __slots__ = ("_entries", "_free", "_shape", "_slots", "_start", "_which", "values")

    values: Int64s

    def __init__(self, shape: LatticeShape, exists: NDArray[np.bool_]) -> None:
        self._shape, self._slots = shape, dict[int, int]()
        rows, columns = shape.rows * shape.side, shape.columns * shape.side
        which = rows + columns
        self._which, self._start = which, which + exists.size
        self._free = list(range(_FIRST_TILE + _FIRST_ROOM - 1, _FIRST_TILE - 1, -1))
        self.values = np.zeros(self._start + len(self._rooms()) * kernels.TILE_SIZE, np.int64)
        down = which + np.arange(shape.rows) * shape.columns
        self.values[:rows].reshape(-1, shape.side)[:] = down[:, np.newaxis]
        across = self.values[rows:which].reshape(-1, shape.side)
        across[:] = np.arange(shape.columns)[:, np.newaxis]
        for place, number in ((_ABSENT, kernels.NO_TILE), (_MISSING, MISSING_TILE)):
            entry = self._entry(place)
            entry[kernels.HEIGHTS_AT] = (_address(_HOLE) - BASE_ADDRESS) // 4
            entry[kernels.CELLS_AT] = _address(_NO_GROUND) - BASE_ADDRESS
            entry[kernels.TILE_NUMBER], entry[kernels.TILE_COLUMNS] = number, 1
        entries = np.where(exists.reshape(-1), _MISSING, _ABSENT)
        self.values[which : self._start] = self._start + kernels.TILE_SIZE * entries

    def _rooms(self) -> range:
        return range(_FIRST_TILE + len(self._slots) + len(self._free))

    def _entry(self, place: int) -> Int64s:
        start = self._start + place * kernels.TILE_SIZE
        return self.values[start : start + kernels.TILE_SIZE]

    def copy(self) -> None:
        """Have a new array of the same values: others go on reading the old one."""
        self.values = self.values.copy()

    def reserve(self, count: int) -> bool:
        """Have room for so many more tiles; tell whether `values` is another array now."""
        if count <= len(self._free):
            return False
        rooms = self._rooms()
        more = max(count, len(rooms))
        room = np.zeros(len(self.values) + more * kernels.TILE_SIZE, np.int64)
        room[: len(self.values)] = self.values
        self.values = room
        self._free[:0] = range(rooms.stop + more - 1, rooms.stop - 1, -1)
        return True

    def put(self, tile: LoadedTile) -> None:
        """Lead to the present arrays of a tile; there is room for it."""
        number, (side, columns) = tile.number, (self._shape.side, self._shape.columns)
        place = self._slots.get(number)
        if place is None:
            place = self._slots[number] = self._free.pop()
        row, column = number // columns * side, number % columns * side
        entry, cells = self._entry(place), tile.cells
        heights_at = (_address(tile.heights) - BASE_ADDRESS) // 4 - row * (side + 1) - column
        if cells is None:
            cells_at, cells_down = _address(_NO_BITS) - BASE_ADDRESS, 0
        else:
            cells_at, cells_down = _address(cells) - BASE_ADDRESS - row * side - column, side
        entry[:] = (
            heights_at, side + 1, cells_at, cells_down, 0, 0, number, row, column, side, side,
        )  # fmt: skip
        self._lead(number, place)

    def take(self, number: int) -> None:
        """Lead to no tile, as of one that is missing."""
        self._lead(number, _MISSING)
        place = self._slots.pop(number, None)
        if place is not None:
            self._free.append(place)

    def _lead(self, number: int, place: int) -> None:
        self.values[self._which + number] = self._start + place * kernels.TILE_SIZE


def _address(values: NDArray[np.generic]) -> int:
    address: int = values.__array_interface__["data"][0]
    return address
