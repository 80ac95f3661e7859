"""Numbers without a header: .r16, .raw, .r32, .hgt and .hgt.gz files."""

import io
import math
import zlib

from terrain_physics.heightmap.formats.source import (
    DEFLATE_RATIO,
    PIXEL_LIMIT,
    Loaded,
    Source,
    read_numbers,
    read_whole,
)


def read_raw(source: Source) -> Loaded:
    """Return unsigned 16-bit integers."""
    kind = {"little": "<u2", "big": ">u2"}[source.byte_order]
    return Loaded(read_numbers(source, kind, _shape(source, 2)))


def read_raw_floats(source: Source) -> Loaded:
    """Return 32-bit floats."""
    kind = {"little": "<f4", "big": ">f4"}[source.byte_order]
    return Loaded(read_numbers(source, kind, _shape(source, 4)))


def read_hgt(source: Source) -> Loaded:
    """Return an SRTM tile."""
    heights = read_numbers(source, ">i2", _shape(source, 2))
    return Loaded(heights, heights == -32768)


def read_packed_hgt(source: Source) -> Loaded:
    """Return an SRTM tile packed by gzip."""
    packed = read_whole(source)
    if packed[:2] != b"\x1f\x8b" or len(packed) < 18:
        raise source.bad(f"must start as a gzip file, got {packed[:2]!r}")
    size = int.from_bytes(packed[-4:], "little")  # of the heights, as gzip says at its end
    if size > 2 * PIXEL_LIMIT or size > DEFLATE_RATIO * len(packed):
        most = min(2 * PIXEL_LIMIT, DEFLATE_RATIO * len(packed))
        raise source.bad(f"must unpack to at most {most} bytes, got {size}")
    inner = source._replace(size=size)
    _shape(inner, 2)
    unpacker = zlib.decompressobj(wbits=31)
    try:
        content = unpacker.decompress(packed, size + 1)
    except zlib.error as error:
        raise source.bad(f"damaged gzip file ({error})") from error
    if len(content) != size or not unpacker.eof or unpacker.unused_data:
        raise source.bad(f"damaged gzip file: must unpack to {size} bytes, and end there")
    return read_hgt(inner._replace(file=io.BytesIO(content)))


def _shape(source: Source, number_bytes: int) -> tuple[int, int]:
    if source.shape is None:
        side = math.isqrt(source.size // number_bytes)
        if side < 2 or number_bytes * side * side != source.size:
            bits = 8 * number_bytes
            rule = f"must be a square of {bits}-bit heights, at least 2 x 2, or be given its shape"
            raise source.bad(f"{rule}, got {source.size} bytes")
        return side, side
    needed = number_bytes * source.shape[0] * source.shape[1]
    if needed != source.size:
        raise source.bad(f"shape {source.shape} must have {needed} bytes, got {source.size}")
    return source.shape
