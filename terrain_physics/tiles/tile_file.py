"""A file of tiles that is open: what its header and its index say, and tiles as they are read."""

import os
import weakref
import zlib
from functools import partial
from math import prod
from operator import call
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.heightmap.grid import CELL_FLIPPED, CELL_HOLE
from terrain_physics._kernels.types import Bools, Float32s
from terrain_physics._locks import plain_lock
from terrain_physics._support.files import checked_size, file_name
from terrain_physics.heightmap.checks import refuse_overflow
from terrain_physics.lattice.tile import LatticeShape, LoadedTile
from terrain_physics.tiles.format import (
    HOLDS_CELLS,
    HOLDS_MATERIALS,
    INDEX,
    START,
    Header,
    TileLayout,
    block_numbers,
    hash_of,
    header_of,
    header_size,
    loaded_heights,
    tile_name,
)


class TileFile:
    """An open file of tiles, of which header and index are in memory.

    Tiles are read, never mapped: a mapped file that is cut short ends the process.

    Attributes
    ----------
    path : str
    absolute : str
        The same from the root.
    shape : LatticeShape
    first : (int, int)
        Row and column, as the user counts, of the lattice's first tile.
    exists : ndarray of bool, shape (rows, columns)
    ranges : ndarray of float32, shape (rows * columns, 2)
        Least and greatest height as stored: inf and -inf for a tile of holes only, NaN for an
        absent one.
    """

    def __init__(self, path: str, descriptor: int) -> None:
        """Take over an open file, and check its header and its index."""
        self.path, self._descriptor, self._lock = path, descriptor, plain_lock()
        self.absolute = os.path.abspath(path)  # noqa: PTH100 a program may go to another folder
        self._closing = weakref.finalize(self, os.close, descriptor)
        self._content = self._read_header()
        self._header = header_of(self._content)
        self.shape: LatticeShape = self._header.shape
        self.first = self._header.first
        self._index = self._read_index()
        rows, columns = self.shape.rows, self.shape.columns
        numbers = self._index["number"]
        self._places = np.full(rows * columns, -1, dtype=np.int32)
        self._places[numbers] = np.arange(len(numbers))
        self.exists: Bools = (self._places >= 0).reshape(rows, columns)
        self.ranges: Float32s = np.full((rows * columns, 2), np.nan, dtype=np.float32)
        self.ranges[numbers, 0] = self._index["least"]
        self.ranges[numbers, 1] = self._index["greatest"]

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Return a file of which header and index have been read and checked.

        Raises
        ------
        FileNotFoundError, ValueError
            The message names the file, and what is wrong with it.
        """
        name = file_name(path)
        if not name:
            raise ValueError("path of a file of tiles must not be empty, got ''")
        checked_size(name)
        flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        try:
            return cls(name, os.open(name, flags))
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error

    def _read_header(self) -> bytes:
        start = self._bytes_at(0, START)
        return start + self._bytes_at(len(start), header_size(start) - START)

    def _read_index(self) -> NDArray[np.void]:
        count, index_at = self._header.tile_count, self._header.index_at
        size, needed = os.fstat(self._descriptor).st_size, index_at + count * INDEX.itemsize
        if size != needed:
            trouble = "truncated" if size < needed else "damaged"
            raise ValueError(f"file must have {needed} bytes, got {size}: {trouble}")
        content = self._bytes_at(index_at, count * INDEX.itemsize)
        if zlib.crc32(content) != self._header.index_checksum:
            raise ValueError("index must have its checksum: damaged")
        index = np.frombuffer(content, INDEX)
        _check_index(index, self._header, len(self._content))
        return index

    def _bytes_at(self, place: int, length: int) -> bytes:
        """Return bytes of the file, fewer at its end; other threads may read at the same time."""
        if hasattr(os, "pread"):
            return os.pread(self._descriptor, length, place)
        seek = partial(os.lseek, self._descriptor, place, os.SEEK_SET)
        calls: Any = seek, partial(os.read, self._descriptor, length)
        with self._lock:  # a signal handler may read, too, but not between these two
            content: bytes = [*map(call, calls)][1]
            return content

    @property
    def digest(self) -> str:
        """32 hexadecimal digits of the header, and so of all tiles: it has a hash of the index."""
        return hash_of(self._content).hex()

    def read(self, number: int) -> LoadedTile:
        """Return a tile in memory of its own; any thread may ask.

        Raises
        ------
        ValueError
            If the file was cut short or changed since it was made, or is closed; the message names
            file and tile.
        """
        try:
            return self._read(number)
        except (ValueError, OSError) as error:
            name = tile_name(number, self.shape.columns, self.first)
            raise ValueError(f"{self.path}: {name}: {error}") from error

    def _read(self, number: int) -> LoadedTile:
        if self._descriptor < 0:
            raise ValueError("file must be open, got one that was closed")
        place = int(self._places[number])
        if place < 0:
            raise ValueError("must be in the index, got an absent one")
        row = self._index[place]
        layout = TileLayout(self.shape.side, self._header.heights, int(row["holds"]))
        content = self._bytes_at(int(row["offset"]), layout.size)
        if len(content) != layout.size:
            raise ValueError(f"must have {layout.size} bytes, got {len(content)}: cut short")
        if hash_of(content) != row["hash"].tobytes():
            raise ValueError("must have the hash that the index says: changed or damaged")
        tile = _decoded(number, content, layout)
        if tile.cells is None and self.shape.has_cells:
            tile.cells = np.zeros((layout.side, layout.side), dtype=np.uint8)
        self._check(tile, (float(row["least"]), float(row["greatest"])))
        return tile

    def _check(self, tile: LoadedTile, bounds: tuple[float, float]) -> None:
        """Refuse values that `make` does not write: kernels trust them."""
        if tuple(tile.blocks[-2:].tolist()) != bounds or np.isinf(tile.heights).any():
            raise ValueError("heights must be finite, and within the range that the index says")
        if tile.cells is not None and tile.cells.max() > CELL_FLIPPED | CELL_HOLE:
            raise ValueError(f"bits of cells must be 0 to 3, got {tile.cells.max()}")
        names = self.shape.material_names
        if tile.materials is not None and names and tile.materials.max() >= len(names):
            raise ValueError(f"materials must be 0 to {len(names) - 1}, got {tile.materials.max()}")

    def close(self) -> None:
        """Close the file; it is closed by itself when nobody has it any more."""
        self._closing()
        self._descriptor = -1  # the system may give the old number to another file


def _check_index(index: NDArray[np.void], header: Header, start: int) -> None:
    """Refuse an index whose tiles are not each at a place of its own, within the file.

    ``start``: where tiles may begin.
    """
    shape = header.shape
    numbers = index["number"].astype(np.int64)
    if len(index) and (numbers[-1] >= shape.rows * shape.columns or (np.diff(numbers) <= 0).any()):
        raise ValueError("index must have tiles of the lattice in ascending order")
    holds = index["holds"]
    most = HOLDS_CELLS * shape.has_cells | HOLDS_MATERIALS
    if (holds & ~np.uint32(most)).any():
        raise ValueError("index must not say that tiles hold what the header does not know")
    kinds = [TileLayout(shape.side, header.heights, kind) for kind in range(4)]
    sizes = np.array([kind.size for kind in kinds], dtype=np.uint64)
    offsets, lengths = index["offset"], sizes[holds]
    end = np.uint64(header.index_at)
    # Unsigned numbers: a sum may overflow, so none is made.
    if ((lengths > end) | (offsets > end - np.minimum(lengths, end)) | (offsets < start)).any():
        raise ValueError("index must have tiles between header and index")
    least, greatest = index["least"], index["greatest"]
    some = least <= greatest
    if not (some | ((least == np.inf) & (greatest == -np.inf))).all():
        raise ValueError("index must have a range of heights for each tile")
    bounds = float(least.min(initial=np.inf)), float(greatest.max(initial=-np.inf))
    refuse_overflow(bounds, shape.height_scale, shape.origin, shape.cell_size, (1, 1))


def _decoded(number: int, content: bytes, layout: TileLayout) -> LoadedTile:
    """Return a tile of its bytes, in memory of its own."""
    side = layout.side

    def part(kind: Any, start: int, shape: tuple[int, ...]) -> NDArray[Any]:
        return np.frombuffer(content, kind, prod(shape), start).reshape(shape)

    heights = loaded_heights(part(layout.heights, 0, (side + 1, side + 1)))
    blocks = part("<f4", layout.blocks_at, (block_numbers(side),)).astype(np.float32)
    cells = materials = None
    if layout.holds & HOLDS_CELLS:
        cells = part("u1", layout.cells_at, (side, side)).copy()
    if layout.holds & HOLDS_MATERIALS:
        materials = part("u1", layout.materials_at, (side, side)).copy()
    return LoadedTile(number, heights, cells, materials, blocks)
