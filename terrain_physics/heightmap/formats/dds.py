"""One channel of a .dds file."""

import struct

import numpy as np

from terrain_physics.heightmap.formats.source import Loaded, Source, read_numbers, refuse_few

# DDS: flags of pixel formats, and of files that are not a plain picture.
_DDS_ALPHA, _DDS_CODE, _DDS_RGB, _DDS_LUMINANCE = 0x1, 0x4, 0x40, 0x20000
_DDS_CUBE, _DDS_VOLUME = 0x200, 0x200000
# Pixel formats by DXGI number, and by the Direct3D 9 number that may replace a four-letter code.
_DXGI_KINDS = {41: "<f4", 54: "<f2", 56: "<u2", 57: "<u2", 61: "u1", 62: "u1"}
_DIRECT3D_9_KINDS = {50: "u1", 81: "<u2", 111: "<f2", 114: "<f4"}


def read_dds(source: Source) -> Loaded:
    """Return the top mip level."""
    header = source.file.read(148)
    if header[:4] != b"DDS " or len(header) < 128:
        raise source.bad(f"must start as a DDS file, got {header[:16]!r}")
    # The layout is from Microsoft, "Programming Guide for DDS".
    size, _, rows, columns, _, _, mip_count = struct.unpack_from("<7I", header, 4)
    caps = struct.unpack_from("<I", header, 112)[0]
    if size != 124:
        raise source.bad(f"damaged: DDS header must have 124 bytes, got {size}")
    if caps & (_DDS_CUBE | _DDS_VOLUME):
        raise source.bad("must be one picture, got a cube map or a volume")
    kind, offset = _dds_kind(source, header)
    tight = columns * np.dtype(kind).itemsize
    refuse_few(source, rows, columns)
    # Rows follow each other, but some old tools pad each row to whole words of 32 bits.
    words = -(-tight // 4) * 4
    pitch = words if mip_count <= 1 and source.size == offset + rows * words else tight
    needed = offset + rows * pitch
    if needed > source.size:
        raise source.bad(f"truncated: needs {needed} bytes, got {source.size}")
    source.file.seek(offset)
    stored = read_numbers(source, "u1", (rows, pitch))
    return Loaded(np.ascontiguousarray(stored[:, :tight]).view(kind))


def _dds_kind(source: Source, header: bytes) -> tuple[str, int]:
    """Return the type of the numbers, and the offset of the first one."""
    flags, code, bits, *masks = struct.unpack_from("<7I", header, 80)
    if flags & _DDS_CODE and header[84:88] == b"DX10":
        if len(header) < 148:
            raise source.bad(f"truncated: DDS header needs 148 bytes, got {len(header)}")
        number, dimension, _, count, _ = struct.unpack_from("<5I", header, 128)
        if dimension != 3 or count != 1:
            raise source.bad(f"must be one picture, got dimension {dimension}, {count} in an array")
        kind, got, offset = _DXGI_KINDS.get(number), f"DXGI format {number}", 148
    elif flags & _DDS_CODE:
        kind, got, offset = _DIRECT3D_9_KINDS.get(code), f"format {header[84:88]!r}", 128
    else:
        plain = flags & (_DDS_LUMINANCE | _DDS_RGB) and not flags & _DDS_ALPHA
        one = bits in {8, 16} and masks[:3] == [(1 << bits) - 1, 0, 0]
        kind, got, offset = "u1" if bits == 8 else "<u2", f"{bits} bits, flags {flags:#x}", 128
        kind = kind if plain and one else None
    if kind is None:
        rule = "must be one uncompressed channel of 8 or 16 bits, or of 16 or 32-bit floats"
        raise source.bad(f"{rule}, got {got}")
    return kind, offset
