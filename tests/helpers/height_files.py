"""Height-map files written by hand (struct, zlib) and by NumPy, without the code under test."""

import io
import struct
import zlib
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np

RAMP = np.arange(5 * 7, dtype=np.uint16).reshape(5, 7) * 1871 + 3  # up to 63617: needs all 16 bits


def png_chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)


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
