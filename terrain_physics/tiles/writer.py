"""Writes a file of tiles, one tile after another, in bounded memory."""

from typing import Any, BinaryIO

import numpy as np

from terrain_physics._kernels.heightmap import grid
from terrain_physics.heightmap.checks import refuse_overflow
from terrain_physics.heightmap.storage import THICKNESS_WITH_HOLES
from terrain_physics.lattice.tile import LatticeShape
from terrain_physics.tiles.format import INDEX, Header, hash_of
from terrain_physics.tiles.samples import CheckedTile


class TileWriter:
    """A file of tiles that is being made.

    Tiles with equal bytes are written once: an ocean takes the place of one tile.
    """

    def __init__(self, file: BinaryIO, header: Header, thickness: float | None) -> None:
        """Leave room for the header, which is written last."""
        self._file, self._header, self._thickness = file, header, thickness
        self._rows: list[tuple[int, int, int, float, float, bytes]] = []
        self._offsets: dict[bytes, int] = {}
        self._has_holes = False
        self._has_cells = self._has_flipped = False
        self._end = len(header.packed())
        file.seek(self._end)

    def add(self, number: int, tile: CheckedTile) -> None:
        """Write a tile; numbers must ascend."""
        shape = self._header.shape
        least, greatest = tile.bounds
        refuse_overflow(
            (least, greatest), shape.height_scale, shape.origin, shape.cell_size, (1, 1)
        )
        content = tile.content
        known = hash_of(content)
        if known not in self._offsets:
            self._offsets[known] = self._end
            self._file.write(content)
            self._end += len(content)
        self._rows.append((number, tile.holds, self._offsets[known], least, greatest, known))
        self._has_holes |= tile.has_holes
        self._has_cells |= tile.cells is not None
        self._has_flipped |= tile.has_flipped

    @property
    def shape(self) -> LatticeShape:
        """The shape of the lattice, as far as it is known."""
        return self._header.shape

    @property
    def first(self) -> tuple[int, int]:
        """Row and column of the first tile."""
        return self._header.first

    def finish(self, kind: np.dtype[Any], *, has_holes: bool | None) -> None:
        """Write index and header.

        Heights are of this kind. None: there are holes if a tile has any, or is absent.
        """
        if has_holes is not None:
            self._has_holes = has_holes
        elif len(self._rows) < self.shape.rows * self.shape.columns:
            self._has_holes = True
        index = np.array(self._rows, dtype=INDEX).tobytes()
        self._file.write(index)
        self._file.seek(0)
        self._file.write(self._finished(index)._replace(heights=kind).packed())

    def _finished(self, index: bytes) -> Header:
        shape, depth = self._header.shape, self._thickness
        if depth is None:
            depth = THICKNESS_WITH_HOLES if self._has_holes else np.inf
        shape = shape._replace(
            thickness=depth,
            diagonal=grid.DIAGONAL_TABLE if self._has_flipped else shape.diagonal,
            has_cells=self._has_cells,
        )
        return self._header._replace(shape=shape).of_index(len(self._rows), self._end, index)
