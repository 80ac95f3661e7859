"""What a reader is given, what it returns, and checks that come before memory is reserved.

The sizes in a file's header are compared with its length, so that a damaged or hostile file causes
an error message and takes no memory.
"""

from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.types import Bytes
from terrain_physics.heightmap.placement import Placement

Heights = NDArray[np.integer[Any] | np.floating[Any]]

# For compressed files, images and .hgt.gz: 8193 x 8193 passes. Other files cannot be bombs.
PIXEL_LIMIT = 80_000_000
IMAGE_BYTES_LIMIT = 1 << 30  # such a file is read as a whole

DEFLATE_RATIO = 1040  # bytes that one compressed byte can expand to, at most


class Source(NamedTuple):
    """An open file, with the options that apply to it.

    ``is_mapped``: numbers in rows are mapped into memory instead of being read.
    """

    name: str
    file: BinaryIO
    size: int
    shape: tuple[int, int] | None = None
    byte_order: str = "little"
    mmap: bool = False
    channel: str | None = None
    encoding: str | None = None
    key: str | None = None
    is_mapped: bool = False

    def bad(self, message: str) -> ValueError:
        """Return an error that names the file."""
        return ValueError(f"{self.name}: {message}")


class Loaded(NamedTuple):
    """The heights in a file, where it has holes, and where it lies if the file says so."""

    heights: Heights
    holes: NDArray[np.bool_] | None = None
    placement: Placement | None = None


def read_numbers(source: Source, kind: str, shape: tuple[int, int]) -> Heights:
    """Read from the file's position. The caller has made sure that the file is long enough."""
    if source.is_mapped:
        return np.memmap(source.file, kind, "r", source.file.tell(), shape)
    content = bytearray(shape[0] * shape[1] * np.dtype(kind).itemsize)
    if source.file.readinto(content) != len(content):  # type: ignore[attr-defined]
        raise source.bad("truncated while being read")
    return np.frombuffer(content, kind).reshape(shape)


def read_whole(source: Source) -> bytes:
    """Return all bytes of a file; refuse a very large one."""
    if source.size > IMAGE_BYTES_LIMIT:
        raise source.bad(f"must have at most {IMAGE_BYTES_LIMIT} bytes, got {source.size}")
    return source.file.read(source.size)


def equal_to(heights: Heights, value: float) -> NDArray[np.bool_]:
    """Return where heights equal a value, as far as their type can hold it."""
    if heights.dtype.kind != "f":
        return np.asarray(heights == np.float64(value))
    with np.errstate(over="ignore"):  # GDAL writes the largest float32 with the digits of a double
        return np.asarray(heights == np.float64(value).astype(heights.dtype))


def largest(numbers: Heights) -> int:
    """Return the largest number that integers of this type can hold."""
    return int(np.iinfo(numbers.dtype.name).max)


def small_numbers(lines: Bytes, bits: int, count: int) -> Bytes:
    """Return the first numbers of 1, 2 or 4 bits in lines of bytes; the high bits come first."""
    shifts = np.arange(8 - bits, -1, -bits, dtype=np.uint8)
    numbers = (lines[:, :, None] >> shifts) & np.uint8((1 << bits) - 1)
    return numbers.reshape(len(lines), -1)[:, :count]


def refuse_few(source: Source, rows: int, columns: int) -> None:
    """Refuse fewer than 2 x 2 heights."""
    if min(rows, columns) < 2:
        raise source.bad(f"must have at least 2 x 2 heights, got {rows} rows, {columns} columns")


def refuse_size(source: Source, width: int, height: int, claimed: int, most: int) -> None:
    """Refuse, before decoding, ``claimed`` bytes of pixels where at most ``most`` can come out."""
    got = f"got {height} rows, {width} columns"
    refuse_few(source, height, width)
    if width * height > PIXEL_LIMIT:
        raise source.bad(f"an image must have at most {PIXEL_LIMIT} pixels, {got}")
    if claimed > most:
        raise source.bad(f"truncated: too few bytes for its pixels, {got}")
