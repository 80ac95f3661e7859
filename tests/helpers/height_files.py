"""Height-map files written by hand (struct, zlib) and by NumPy, without the code under test."""

import io
import itertools
import struct
import zlib
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

RAMP = np.arange(5 * 7, dtype=np.uint16).reshape(5, 7) * 1871 + 3  # up to 63617: needs all 16 bits


def png_chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)


def filtered(lines: list[bytes], step: int, kinds: Iterable[int]) -> list[bytes]:
    """Return lines with the filters of PNG, each with its number, as the standard words them."""
    above = bytes(len(lines[0]) if lines else 0)
    result = []
    for line, kind in zip(lines, kinds, strict=False):
        out = bytearray([kind])
        for place, value in enumerate(line):
            left = line[place - step] if place >= step else 0
            corner = above[place - step] if place >= step else 0
            up = above[place]
            guess = left + up - corner
            nearest = min(
                (abs(guess - near), order, near) for order, near in enumerate((left, up, corner))
            )[2]
            out.append((value - (0, left, up, (left + up) // 2, nearest)[kind]) % 256)
        result.append(bytes(out))
        above = line
    return result


def packed_pixels(numbers: Any, bits: int) -> list[bytes]:
    """Return lines of numbers (rows, columns, channels) of 1 to 16 bits."""
    if bits == 16:
        return [row.astype(">u2").tobytes() for row in numbers]
    text = ("".join(f"{number:0{bits}b}" for number in row.ravel().tolist()) for row in numbers)
    return [
        int(line.ljust(-(-len(line) // 8) * 8, "0"), 2).to_bytes(-(-len(line) // 8))
        for line in text
    ]


ADAM7 = (
    (0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2),
    (1, 0, 2, 1),
)  # fmt: skip


def picture_png(
    numbers: Any,
    color: int,
    *,
    bits: int | None = None,
    interlaced: bool = False,
    kinds: Iterable[int] = (0,),
    extra: bytes = b"",
) -> bytes:
    """A PNG of numbers (rows, columns, channels), with filters in turn, in one or seven passes."""
    bits = bits or 8 * numbers.itemsize
    rows, columns, channels = numbers.shape
    content = b""
    filters = itertools.cycle(kinds)
    for row, column, row_step, column_step in ADAM7 if interlaced else ((0, 0, 1, 1),):
        part = numbers[row::row_step, column::column_step]
        if part.size:
            lines = packed_pixels(part, bits)
            content += b"".join(filtered(lines, max(1, bits * channels // 8), filters))
    header = struct.pack(">IIBBBBB", columns, rows, bits, color, 0, 0, interlaced)
    chunks = png_chunk(b"IHDR", header) + extra + png_chunk(b"IDAT", zlib.compress(content))
    return b"\x89PNG\r\n\x1a\n" + chunks + png_chunk(b"IEND", b"")


def bmp_bytes(
    numbers: Any,
    bits: int,
    *,
    palette: Any = None,
    upright: bool = True,
    masks: tuple[int, ...] = (),
    changes: Iterable[tuple[int, str, int]] = (),
) -> bytes:
    """A BMP: indices (rows, columns) with a palette (n, 3), or colors (rows, columns, 3 or 4).

    ``changes`` are (place, format, number) on top.
    """
    rows, columns = numbers.shape[:2]
    size = 56 if masks else 40
    table = b"" if palette is None else b"".join(bytes(color[::-1]) + b"\0" for color in palette)
    if numbers.ndim == 3:
        turned = np.concatenate([numbers[:, :, 2::-1], numbers[:, :, 3:]], axis=2)
        lines = [row.tobytes() for row in turned]
    else:
        lines = packed_pixels(numbers[:, :, None], bits)
    lines = [line.ljust(-(-len(line) // 4) * 4, b"\xee") for line in lines]
    offset = 14 + size + len(table)
    head = b"BM" + struct.pack("<IHHI", offset + sum(map(len, lines)), 0, 0, offset)
    height = rows if upright else -rows
    colors = len(table) // 4
    head += struct.pack(
        "<IiiHHIIiiII", size, columns, height, 1, bits, 3 if masks else 0, 0, 0, 0, colors, 0
    )
    head += struct.pack("<4I", *masks) if masks else b""
    content = bytearray(head + table + b"".join(lines[::-1] if upright else lines))
    for place, form, number in changes:
        struct.pack_into(form, content, place, number)
    return bytes(content)


def png_bytes(
    rows: int, columns: int, bits: int, color: int, lines: list[bytes], *, extra: bytes = b""
) -> bytes:
    """``lines`` are the unfiltered rows; what the header says is up to the caller."""
    header = struct.pack(">IIBBBBB", columns, rows, bits, color, 0, 0, 0)
    packed = zlib.compress(b"".join(b"\0" + line for line in lines))
    chunks = png_chunk(b"IHDR", header) + extra + png_chunk(b"IDAT", packed)
    return b"\x89PNG\r\n\x1a\n" + chunks + png_chunk(b"IEND", b"")


def gray_png(heights: Any) -> bytes:
    bits = 8 * heights.itemsize
    lines = [row.astype(heights.dtype.newbyteorder(">")).tobytes() for row in heights]
    rows, columns = heights.shape
    return png_bytes(rows, columns, bits, 0, lines)


def tiff_bytes(
    heights: Any,
    *,
    order: Literal["<", ">"] = "<",
    big: bool = False,
    deflate: bool = False,
    changes: Iterable[tuple[int, int, int, int | bytes]] = (),
) -> bytes:
    """One strip, one directory. ``changes`` are fields (tag, type, count, packed value) on top."""
    rows, columns = heights.shape
    content = heights.astype(heights.dtype.newbyteorder(order)).tobytes()
    content = zlib.compress(content) if deflate else content
    short, long_ = 3, 4
    fields: dict[int, tuple[int, int, int | bytes]] = {
        256: (long_, 1, columns),
        257: (long_, 1, rows),
        258: (short, 1, 8 * heights.itemsize),
        259: (short, 1, 8 if deflate else 1),
        262: (short, 1, 1),
        273: (long_, 1, 16),
        277: (short, 1, 1),
        278: (long_, 1, rows),
        279: (long_, 1, len(content)),
        339: (short, 1, {"u": 1, "i": 2, "f": 3}[heights.dtype.kind]),
    }
    fields |= {tag: (kind, count, value) for tag, kind, count, value in changes}
    number, room = ("Q", 8) if big else ("I", 4)
    directory = 16 + len(content) + len(content) % 2
    entries, beyond = b"", b""
    beyond_at = directory + (8 + 20 * len(fields) + 8 if big else 2 + 12 * len(fields) + 4)
    for tag, (kind, count, value) in sorted(fields.items()):
        letter = {short: "H", long_: "I"}.get(kind, "B")
        packed = struct.pack(order + letter, value) if isinstance(value, int) else value
        if len(packed) > room:
            packed, beyond = struct.pack(order + number, beyond_at + len(beyond)), beyond + packed
        entries += struct.pack(order + "HH" + number, tag, kind, count) + packed.ljust(room, b"\0")
    mark = b"II" if order == "<" else b"MM"
    if big:
        start = mark + struct.pack(order + "HHHQ", 43, 8, 0, directory)
    else:
        start = (mark + struct.pack(order + "HI", 42, directory)).ljust(16, b"\0")
    counted = struct.pack(order + ("Q" if big else "H"), len(fields)) + entries + b"\0" * room
    return start + content.ljust(directory - 16, b"\0") + counted + beyond


def npy_bytes(heights: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, heights)
    return buffer.getvalue()


def npy_header(text: str) -> bytes:
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode()


def dds_bytes(
    heights: Any,
    *,
    dx10: int | None = None,
    code: int = 0,
    row_bytes: int = 0,
    mips: int = 1,
    changes: Iterable[tuple[int, int]] = (),
) -> bytes:
    """A luminance picture, one with a DX10 header, or one with a number of Direct3D 9 as its code.

    ``row_bytes`` is what each row is filled up to. ``changes`` are (place, 32-bit number) on top.
    """
    rows, columns = heights.shape
    bits = 8 * heights.itemsize
    flags, mask = (0x4, 0) if dx10 or code else (0x20000, (1 << bits) - 1)
    code = int.from_bytes(b"DX10", "little") if dx10 else code
    pitch = max(row_bytes, columns * heights.itemsize)
    header = [124, 0x100F, rows, columns, pitch, 0, mips, *[0] * 11]
    header += [32, flags, code, bits, mask, 0, 0, 0, 0x1000, 0, 0, 0, 0]
    header += [dx10, 3, 0, 1, 0] if dx10 else []
    start = bytearray(b"DDS " + struct.pack(f"<{len(header)}I", *header))
    for place, number in changes:
        start[place : place + 4] = struct.pack("<I", number)
    lines = heights.astype(heights.dtype.newbyteorder("<"))
    content = b"".join(line.tobytes().ljust(pitch, b"\xaa") for line in lines)
    smaller = heights[::2, ::2].tobytes() if mips > 1 else b""
    return bytes(start) + content + smaller
