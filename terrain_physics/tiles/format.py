"""The file of tiles: header, tiles, index. Numbers are little-endian.

- The header is `_FIELDS` behind `MAGIC` and `VERSION`, then the names of materials as JSON, then a
  CRC-32 of all before it.
- A tile is its heights, row by row with both borders, as int16 (`HOLE` is a hole) or float32; its
  blocks, level after level, as float32 (see the kernels' ``heightmap/blocks.py``); and, if its row
  of the index says so, the bits and the materials of its cells. Tiles with equal bytes share them.
- The index is the rest of the file: a row of `INDEX` for each tile, in the order of their numbers.
  The number of a tile is ``row * columns + column``. What has no row is absent.

The header has a CRC-32 of the index, which is quick to compare when a file is opened, and a hash of
it. The index has a hash of each tile, so a hash of the header is one of the whole land. The sizes
in a file are compared with its length before memory is reserved.
"""

import hashlib
import json
import math
import struct
import zlib
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.heightmap import grid
from terrain_physics._kernels.heightmap.blocks import BLOCK
from terrain_physics._kernels.types import Float32s
from terrain_physics._support import checks
from terrain_physics.heightmap.checks import TINY, checked_cell_size, refuse_overflow
from terrain_physics.lattice.tile import MOST_CELLS, LatticeShape
from terrain_physics.surface.materials import Names, checked_names

MAGIC, VERSION = b"\x89TILES\r\n", 1  # a file that was copied as text is told by its first bytes

# Magic and version; cells along a tile; rows, columns, first row and first column of tiles; the
# origin, the cell size, height scale and thickness; the kind of heights, the diagonal, whether
# tiles have bits of cells; how many tiles there are, where the index begins, its CRC-32 and its
# hash; bytes of names.
_FIELDS = struct.Struct("<8sI 3I2q 3d2ddd BBBx QQI16s I")
_CHECKSUM = struct.Struct("<I")

INDEX = np.dtype(
    [
        ("number", "<u4"),
        ("holds", "<u4"),
        ("offset", "<u8"),
        ("least", "<f4"),
        ("greatest", "<f4"),
        ("hash", "V16"),
    ]
)
"""A row of the index: ``least`` and ``greatest`` are inf and -inf if all samples are holes."""

HOLDS_CELLS, HOLDS_MATERIALS = 1, 2
"""Bits of ``holds``: what a tile has beside heights and blocks."""

HEIGHTS = np.dtype("<i2"), np.dtype("<f4")
"""Kinds of heights."""

HOLE = -32768
"""A hole among heights of int16."""

SIDE_STEP = 64
MOST_SIDE = 4096
MOST_TILES = 1 << 20
"""Of a lattice, absent ones included."""

_MOST_FIRST = 1 << 40
_MOST_NAME_BYTES = 1 << 20


class Header(NamedTuple):
    """What a file says before its tiles.

    Attributes
    ----------
    shape : LatticeShape
    first : (int, int)
        Row and column, as the user counts, of the lattice's first tile.
    heights : dtype
        One of `HEIGHTS`.
    tile_count : int
        Of those that are not absent.
    index_at : int
        Where the index begins.
    index_checksum : int
    index_hash : bytes
        Made with the file. It is not compared at open, which a checksum makes quick.
    """

    shape: LatticeShape
    first: tuple[int, int]
    heights: np.dtype[Any]
    tile_count: int = 0
    index_at: int = 0
    index_checksum: int = 0
    index_hash: bytes = bytes(16)

    def of_index(self, count: int, place: int, index: bytes) -> Self:
        """Return the header of a file with so many tiles and an index at a place."""
        return self._replace(
            tile_count=count,
            index_at=place,
            index_checksum=zlib.crc32(index),
            index_hash=hash_of(index),
        )

    def packed(self) -> bytes:
        """Return the bytes that a file begins with."""
        shape = self.shape
        names = b"" if shape.material_names is None else json.dumps(shape.material_names).encode()
        if len(names) > _MOST_NAME_BYTES:
            raise ValueError(
                f"material_names must take at most {_MOST_NAME_BYTES} bytes, got {len(names)}"
            )
        fields = _FIELDS.pack(
            *(MAGIC, VERSION, shape.side, shape.rows, shape.columns, *self.first),
            *(*shape.origin, *shape.cell_size, shape.height_scale, shape.thickness),
            *(HEIGHTS.index(self.heights), shape.diagonal, shape.has_cells),
            *(self.tile_count, self.index_at, self.index_checksum, self.index_hash, len(names)),
        )
        content = fields + names
        return content + _CHECKSUM.pack(zlib.crc32(content))


def header_size(start: bytes) -> int:
    """Return how many bytes a header has that starts so; ValueError if none does.

    ``start`` are the first `START` bytes of a file.
    """
    if start[:8] != MAGIC:
        raise ValueError(f"file must be one that TiledGround.make wrote, got {start[:8]!r} first")
    if len(start) < START:
        raise ValueError(f"truncated: the header has at least {START} bytes, got {len(start)}")
    _, version, *_, names = _FIELDS.unpack_from(start)
    if version != VERSION:
        raise ValueError(
            f"file must be of version {VERSION}, got {version}: another version of terrain_physics "
            "made it, and can open it"
        )
    if names > _MOST_NAME_BYTES:
        raise ValueError(f"names must take at most {_MOST_NAME_BYTES} bytes, got {names}: damaged")
    return START + int(names)


START = _FIELDS.size + _CHECKSUM.size
"""Bytes of a header without names."""


def header_of(content: bytes) -> Header:
    """Return the header of its bytes; ValueError if they are damaged or not as `make` writes."""
    checked, (checksum,) = content[:-4], _CHECKSUM.unpack(content[-4:])
    if zlib.crc32(checked) != checksum:
        raise ValueError("header must have its checksum: damaged or truncated")
    numbers = _FIELDS.unpack_from(content)
    side, rows, columns, first_row, first_column = numbers[2:7]
    x, y, z, cell_x, cell_z, scale, thickness = numbers[7:14]
    kind, diagonal, has_cells, count, *index, _ = numbers[14:]
    names = None
    if len(content) > START:
        try:
            names = checked_names(json.loads(content[_FIELDS.size : -4]))
        except (ValueError, TypeError, RecursionError) as error:
            raise ValueError(f"material names must be JSON of different strings: {error}") from None
    checks.whole("heights", kind, 0, len(HEIGHTS) - 1)
    checks.whole("diagonal", diagonal, 0, grid.DIAGONAL_TABLE)
    checks.whole("has_cells", has_cells, int(diagonal == grid.DIAGONAL_TABLE), 1)
    shape = checked_shape(
        (side, rows, columns),
        (x, y, z),
        (cell_x, cell_z),
        scale,
        checks.between("thickness", thickness, TINY, np.inf),
        names,
    )
    shape = shape._replace(diagonal=diagonal, has_cells=bool(has_cells))
    first = checked_first((first_row, first_column))
    checks.whole("count of tiles", count, 0, rows * columns)
    return Header(shape, first, HEIGHTS[kind], count, *index)


def checked_shape(
    sizes: tuple[int, int, int],
    origin: checks.Floats3,
    cell_size: float | tuple[float, float],
    height_scale: float,
    thickness: float,
    names: Names,
    *,
    before: int = 0,
) -> LatticeShape:
    """Return the shape of a lattice whose cells are all split from a to c; refuse wrong sizes.

    ``sizes``: cells along a tile, then rows and columns of tiles. ``before``: rows and columns of
    tiles before the one whose first sample lies at the origin.
    """
    side, rows, columns = sizes
    if side % SIDE_STEP or not SIDE_STEP <= side <= MOST_SIDE:
        raise ValueError(
            f"tile must be a multiple of {SIDE_STEP} from {SIDE_STEP} to {MOST_SIDE}, got {side}"
        )
    if not (0 < rows <= MOST_CELLS // side and 0 < columns <= MOST_CELLS // side):
        raise ValueError(
            f"size must be 1 to {MOST_CELLS // side} tiles of {side} cells each way, got {rows} x "
            f"{columns}"
        )
    if rows * columns > MOST_TILES:
        raise ValueError(f"size must be at most {MOST_TILES} tiles, got {rows} x {columns}")
    x, y, z = checks.vector("origin", origin)
    size = checked_cell_size(cell_size)
    place = x - before * side * size[0], y, z - before * side * size[1]
    scale = checks.finite("height_scale", height_scale)
    if scale == 0.0:
        raise ValueError("height_scale must not be 0, got 0.0")
    refuse_overflow((0.0, 0.0), scale, place, size, (rows * side + 1, columns * side + 1))
    return LatticeShape(
        side, rows, columns, place, size, scale, thickness, grid.DIAGONAL_AC,
        has_cells=False, material_names=names,
    )  # fmt: skip


def most_before(side: int) -> int:
    """Return how many tiles of so many cells the largest land has on each side of its middle."""
    return min(MOST_CELLS // side, math.isqrt(MOST_TILES)) // 2


def checked_tile_counts(size: object) -> tuple[int, int]:
    """Return how many rows and columns of tiles there are."""
    counts = checks.listed("size", size)
    if len(counts) != 2:
        raise ValueError(f"size must be (rows, columns) of tiles, got {checks.shorten(size)}")
    rows, columns = (checks.whole("size", count, 1, MOST_TILES) for count in counts)
    return rows, columns


def checked_first(first: object) -> tuple[int, int]:
    """Return the row and the column of the first tile."""
    numbers = checks.listed("first", first)
    if len(numbers) != 2:
        raise ValueError(f"first must be (row, column), got {checks.shorten(first)}")
    row, column = (checks.whole("first", each, -_MOST_FIRST, _MOST_FIRST) for each in numbers)
    return row, column


class TileLayout(NamedTuple):
    """Where the parts of a tile begin and end in its bytes."""

    side: int
    heights: np.dtype[Any]
    holds: int

    @property
    def blocks_at(self) -> int:
        """Where the heights end and the blocks begin."""
        return (self.side + 1) ** 2 * self.heights.itemsize

    @property
    def cells_at(self) -> int:
        """Where the blocks end."""
        return self.blocks_at + 4 * block_numbers(self.side)

    @property
    def materials_at(self) -> int:
        """Where the bits of cells end, if there are any."""
        return self.cells_at + (self.side**2 if self.holds & HOLDS_CELLS else 0)

    @property
    def size(self) -> int:
        """Bytes of the tile."""
        return self.materials_at + (self.side**2 if self.holds & HOLDS_MATERIALS else 0)


def block_numbers(side: int) -> int:
    """Return how many numbers the blocks of a tile are."""
    count = 0
    while side > 1:
        side = -(-side // BLOCK)
        count += 2 * side**2
    return count


def loaded_heights(stored: NDArray[Any]) -> Float32s:
    """Return heights as they are in memory, a new array, of heights as they are stored."""
    heights = stored.astype(np.float32)
    if stored.dtype.kind == "i":
        heights[stored == HOLE] = np.nan
    return heights


def hash_of(content: bytes) -> bytes:
    """Return the hash of bytes."""
    return hashlib.blake2b(content, digest_size=16).digest()


def tile_name(number: int, columns: int, first: tuple[int, int]) -> str:
    """Return the name of a tile in messages."""
    row, column = divmod(number, columns)
    return f"tile ({first[0] + row}, {first[1] + column})"
