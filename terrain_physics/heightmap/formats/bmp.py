"""BMP files without compression."""

import struct
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels.types import Bytes
from terrain_physics.heightmap.formats.channels import RGB, heights_of
from terrain_physics.heightmap.formats.source import (
    Heights,
    Loaded,
    Source,
    read_numbers,
    refuse_few,
    small_numbers,
)

# Bytes of the first header, of the second in each of its versions, and what is read of that.
_FILE_HEADER, _HEADERS, _READ = 14, (40, 52, 56, 108, 124), 56
# Offset of the pixels; then of the second header its size, width, height, planes, bits, packing and
# number of colors.
_FIELDS = struct.Struct("<IIiiHHI12xI")
_MASKED = (3, 6)
_KINDS = {(1, 0), (4, 0), (8, 0), (24, 0), (32, 0), (32, 3), (32, 6)}  # bits, packing
_MASKS = (0xFF0000, 0xFF00, 0xFF)  # of red, green and blue: those of plain 32 bits
_ALPHA_MASK = 0xFF000000


class _BitmapHeader(NamedTuple):
    """The sizes of a picture, and where its pixels are."""

    width: int
    height: int
    is_upright: bool  # the first row is the lowest
    bits: int
    offset: int
    has_alpha: bool
    palette: int  # where it begins
    color_count: int


def read_bmp(source: Source) -> Loaded:
    """Return the heights in a BMP, the upper row first."""
    header = _header(source)
    refuse_few(source, header.height, header.width)
    pitch = (header.width * header.bits + 31) // 32 * 4
    needed = header.offset + pitch * header.height
    if needed > source.size:
        raise source.bad(f"truncated: needs {needed} bytes, got {source.size}")
    source.file.seek(header.offset)
    lines = np.asarray(read_numbers(source, "u1", (header.height, pitch)), np.uint8)
    lines = lines[::-1] if header.is_upright else lines
    return heights_of(source, _channels(source, header, lines))


def _header(source: Source) -> _BitmapHeader:
    start = source.file.read(_FILE_HEADER + _READ)
    if start[:2] != b"BM" or len(start) < _FILE_HEADER + _HEADERS[0]:
        raise source.bad(f"must start as a BMP file, got {start[:16]!r}")
    offset, size, width, height, _, bits, packing, color_count = _FIELDS.unpack(start[10:50])
    masks = struct.unpack("<4I", start[54:70].ljust(16, b"\0"))
    if size not in _HEADERS or (bits, packing) not in _KINDS:
        rule = "must have 1, 4, 8, 24 or 32 bits per pixel, not compressed"
        raise source.bad(f"{rule}, got {bits} bits, compression {packing}, header of {size} bytes")
    if packing in _MASKED and masks[:3] != _MASKS:
        raise source.bad(f"must have 8 bits for each color, got masks {[*map(hex, masks[:3])]}")
    has_alpha = packing in _MASKED and size >= 56 and masks[3] == _ALPHA_MASK
    return _BitmapHeader(
        width, abs(height), height > 0, bits, offset, has_alpha, _FILE_HEADER + size, color_count
    )


def _channels(source: Source, header: _BitmapHeader, lines: Bytes) -> dict[str, Heights]:
    """Return the channels by name; of a palette those of its colors."""
    if header.bits <= 8:
        numbers = lines[:, : header.width]
        if header.bits < 8:
            numbers = small_numbers(lines, header.bits, header.width)
        table = _palette(source, header, int(numbers.max()))
        return {name: table[numbers, 2 - place] for place, name in enumerate(RGB)}
    count = header.bits // 8
    pixels = lines[:, : header.width * count].reshape(len(lines), header.width, count)
    channels: dict[str, Heights] = {name: pixels[:, :, 2 - k] for k, name in enumerate(RGB)}
    if header.has_alpha:
        channels["alpha"] = pixels[:, :, 3]
    return channels


def _palette(source: Source, header: _BitmapHeader, most: int) -> Bytes:
    """Return the colors of a palette: blue, green, red and nothing."""
    count = header.color_count or 1 << header.bits
    if not most < count <= 1 << header.bits or header.palette + 4 * count > header.offset:
        raise source.bad(f"damaged: a palette of {count} colors, and a pixel of color {most}")
    source.file.seek(header.palette)
    return np.asarray(read_numbers(source, "u1", (count, 4)), np.uint8)
