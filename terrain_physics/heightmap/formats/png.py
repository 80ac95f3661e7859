"""PNG files of any kind, all bits of them.

Pillow would read 16 bits in each of several channels as 8.
"""

import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.heightmap.png_lines import undo_filters
from terrain_physics._kernels.types import Bytes
from terrain_physics.heightmap.formats.channels import COLORS, RGB, RGBA, heights_of
from terrain_physics.heightmap.formats.source import (
    DEFLATE_RATIO,
    PIXEL_LIMIT,
    Heights,
    Loaded,
    Source,
    read_whole,
    refuse_size,
    small_numbers,
)

_MOST_BYTES = 4 * PIXEL_LIMIT  # unpacked: 8193 x 8193 with four channels of 8 bits pass
_PACKED_AT_ONCE = 1 << 16

_PALETTE = 3
# By color type: how many numbers a pixel has, and the bits that each may have.
_KINDS = {
    0: (1, (1, 2, 4, 8, 16)),
    2: (3, (8, 16)),
    _PALETTE: (1, (1, 2, 4, 8)),
    4: (2, (8, 16)),
    6: (4, (8, 16)),
}
# Adam7: the first row, the first column, and the steps to the next ones.
_PASSES = (
    (0, 0, 8, 8),
    (0, 4, 8, 8),
    (4, 0, 8, 4),
    (0, 2, 4, 4),
    (2, 0, 4, 2),
    (0, 1, 2, 2),
    (1, 0, 2, 1),
)
_ONE_PASS = ((0, 0, 1, 1),)


class _PngHeader(NamedTuple):
    """The size of a picture, and what a pixel is."""

    width: int
    height: int
    bits: int
    color: int
    passes: tuple[tuple[int, int, int, int], ...]

    @property
    def channel_count(self) -> int:
        """How many numbers a pixel has."""
        return _KINDS[self.color][0]

    def line_bytes(self, width: int) -> int:
        """Return the length of a line of pixels, without the number of its filter."""
        return (width * self.channel_count * self.bits + 7) // 8

    def grids(self) -> Iterator[tuple[slice, slice, int, int]]:
        """Yield the rows, the columns and the size of each pass that has pixels."""
        for row, column, row_step, column_step in self.passes:
            rows = len(range(row, self.height, row_step))
            columns = len(range(column, self.width, column_step))
            if rows and columns:
                yield slice(row, None, row_step), slice(column, None, column_step), rows, columns


def read_png(source: Source) -> Loaded:
    """Return the heights in a PNG."""
    data = read_whole(source)
    if not data.startswith(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR") or len(data) < 33:
        raise source.bad(f"must start as a PNG file, got {data[:16]!r}")
    header = _header(source, data)
    chunks = _chunks(source, data)
    pixels = sum(rows * (1 + header.line_bytes(columns)) for *_, rows, columns in header.grids())
    packed = chunks[b"IDAT"]
    refuse_size(source, header.width, header.height, pixels, len(packed) * DEFLATE_RATIO)
    if pixels > _MOST_BYTES:
        raise source.bad(f"an image must unpack to at most {_MOST_BYTES} bytes, got {pixels}")
    numbers = _numbers(source, header, _unpacked(source, packed, pixels))
    return heights_of(source, _channels(source, header, numbers, chunks))


def _header(source: Source, data: bytes) -> _PngHeader:
    width, height, bits, color, *methods, interlaced = struct.unpack_from(">IIBBBBB", data, 16)
    if bits not in _KINDS.get(color, (0, ()))[1] or any(methods) or interlaced > 1:
        raise source.bad(
            f"damaged: no PNG has {bits} bits of color type {color}, methods {methods}, "
            f"interlace {interlaced}"
        )
    return _PngHeader(width, height, bits, color, _PASSES if interlaced else _ONE_PASS)


def _chunks(source: Source, data: bytes) -> dict[bytes, bytes]:
    """Return the content of the chunks that matter, joined by kind; check all checksums."""
    found: dict[bytes, list[memoryview]] = {b"IDAT": [], b"PLTE": [], b"tRNS": []}
    offset = 8
    while True:
        if offset + 12 > len(data):
            raise source.bad(f"truncated: no end of the PNG in {len(data)} bytes")
        length, kind = struct.unpack_from(">I4s", data, offset)
        end = offset + 12 + length
        if end > len(data):
            raise source.bad(f"truncated: PNG chunk {kind!r} ends at {end}, got {len(data)} bytes")
        checksum = int.from_bytes(data[end - 4 : end], "big")
        if zlib.crc32(memoryview(data)[offset + 4 : end - 4]) != checksum:
            raise source.bad(f"damaged: wrong checksum of PNG chunk {kind!r} at {offset}")
        if kind == b"IEND":
            return {kind: b"".join(parts) for kind, parts in found.items()}
        if kind in found:
            found[kind].append(memoryview(data)[offset + 8 : end - 4])
        offset = end


def _unpacked(source: Source, packed: bytes, size: int) -> Bytes:
    """Return the lines of all passes; nothing beyond them is unpacked."""
    content, end = bytearray(size), 0
    unpacker = zlib.decompressobj()
    try:
        for start in range(0, len(packed), _PACKED_AT_ONCE):
            part = unpacker.decompress(packed[start : start + _PACKED_AT_ONCE], size - end)
            content[end : end + len(part)] = part
            end += len(part)
            if end == size:
                return np.frombuffer(content, np.uint8)
    except zlib.error as error:
        raise source.bad(f"damaged PNG file ({error})") from error
    raise source.bad(f"damaged PNG file: must unpack to {size} bytes, got {end}")


def _numbers(source: Source, header: _PngHeader, content: Bytes) -> NDArray[np.uint8 | np.uint16]:
    """Return the numbers (rows, columns, count) that all passes hold."""
    kind = np.uint16 if header.bits == 16 else np.uint8
    numbers = np.empty((header.height, header.width, header.channel_count), kind)
    step = max(1, header.channel_count * header.bits // 8)
    start = 0
    for rows, columns, row_count, column_count in header.grids():
        length = 1 + header.line_bytes(column_count)
        lines = content[start : start + row_count * length].reshape(row_count, length)
        start += lines.size
        bad = undo_filters(lines, step)
        if bad >= 0:
            raise source.bad(f"damaged PNG file: filters must be 0 to 4, got {lines[bad, 0]}")
        shape = row_count, column_count, header.channel_count
        numbers[rows, columns] = _as_numbers(lines[:, 1:], header.bits, shape)
    return numbers


def _as_numbers(
    lines: Bytes, bits: int, shape: tuple[int, int, int]
) -> NDArray[np.uint8 | np.uint16]:
    """Return the numbers in lines of bytes."""
    if bits == 16:
        return np.ascontiguousarray(lines).view(">u2").reshape(shape)
    if bits == 8:
        return lines.reshape(shape)
    return small_numbers(lines, bits, shape[1]).reshape(shape)


def _channels(
    source: Source,
    header: _PngHeader,
    numbers: NDArray[np.uint8 | np.uint16],
    chunks: dict[bytes, bytes],
) -> dict[str, Heights]:
    """Return the channels by name: numbers of fewer than 8 bits, and palettes, as 8 bits."""
    if header.color == _PALETTE:
        table = _palette(source, numbers, chunks)
        names = RGB if (table[:, 3] == 255).all() else RGBA
        return {name: table[numbers[:, :, 0], place] for place, name in enumerate(names)}
    channels: dict[str, Heights] = {
        name: numbers[:, :, place] for place, name in enumerate(COLORS[header.channel_count])
    }
    if chunks[b"tRNS"] and "alpha" not in channels:
        channels["alpha"] = _clear_color(source, numbers, chunks[b"tRNS"])
    if header.bits < 8:  # white is 255
        white = np.uint8(255 // ((1 << header.bits) - 1))
        channels["gray"] = channels["gray"] * white
    return channels


def _palette(
    source: Source, numbers: NDArray[np.uint8 | np.uint16], chunks: dict[bytes, bytes]
) -> Bytes:
    """Return the colors (n, 4) of a palette, with alpha."""
    colors, alphas = chunks[b"PLTE"], chunks[b"tRNS"]
    count = len(colors) // 3
    most = int(numbers.max())
    if len(colors) % 3 or not most < count <= 256 or len(alphas) > count:
        raise source.bad(
            f"damaged PNG file: a palette of {len(colors)} bytes with {len(alphas)} of alpha, and "
            f"a pixel of color {most}"
        )
    table = np.full((count, 4), 255, np.uint8)
    table[:, :3] = np.frombuffer(colors, np.uint8).reshape(count, 3)
    table[: len(alphas), 3] = np.frombuffer(alphas, np.uint8)
    return table


def _clear_color(
    source: Source, numbers: NDArray[np.uint8 | np.uint16], clear: bytes
) -> NDArray[np.uint8]:
    """Return alpha where one color is transparent."""
    if len(clear) != 2 * numbers.shape[2]:
        raise source.bad(f"damaged PNG file: a transparent color of {len(clear)} bytes")
    return np.where((numbers == np.frombuffer(clear, ">u2")).all(axis=2), 0, 255).astype(np.uint8)
