"""TIFF files of one channel, which Pillow decodes; GeoTIFF."""

import io
import struct

import numpy as np

from terrain_physics.heightmap.formats.source import (
    Heights,
    Loaded,
    Source,
    equal_to,
    read_whole,
    refuse_size,
)
from terrain_physics.heightmap.placement import DEGREES, METERS, GridAxis, Placement

# The same for TIFF compressions: none, LZW, deflate (two codes), PackBits, LZMA, Zstandard.
_TIFF_RATIOS = {1: 1, 5: 4096, 8: 1040, 32946: 1040, 32773: 130, 34925: 1 << 14, 50000: 1 << 16}
# By sample format (unsigned, signed, float) and bits.
_TIFF_KINDS = {
    (1, 8): "u1", (1, 16): "u2", (1, 32): "u4", (2, 16): "i2", (2, 32): "i4", (3, 32): "f4",
}  # fmt: skip
_TIFF_INTEGERS = {3: "H", 4: "I", 16: "Q"}
# GeoTIFF, from its standard (OGC 19-008): how large pixels are, a point and its place, or both as a
# matrix; and keys with their values.
_PIXEL_SCALE, _TIE_POINT, _MATRIX, _KEYS = 33550, 33922, 34264, 34735
_TIFF_NUMBERS = {
    _PIXEL_SCALE: (12, "d"),
    _TIE_POINT: (12, "d"),
    _MATRIX: (12, "d"),
    _KEYS: (3, "H"),
}
_MOST_NUMBERS = 4096
_MODEL, _RASTER, _ANGLE_MODEL, _POINT_RASTER, _LENGTH_UNIT = 1024, 1025, 2, 2, 3076
_METER = 9001
_LENGTH_UNITS = {_METER: METERS, 9002: "feet", 9003: "US survey feet"}


def read_tiff(source: Source) -> Loaded:
    """Return the heights of the first page, its holes, and its place."""
    data = read_whole(source)
    try:
        fields, no_data, places = _tiff_fields(source, data)
    except struct.error:
        raise source.bad(f"truncated: TIFF directory leads beyond {len(data)} bytes") from None
    width, height = fields.get(256, 0), fields.get(257, 0)
    bits, compression, photometric, channels, sample_format = (
        fields.get(tag, 1) for tag in (258, 259, 262, 277, 339)
    )
    if channels != 1 or photometric != 1:
        rule = "must be grayscale, one channel, zero is black (photometric 1)"
        raise source.bad(f"{rule}, got {channels} channels, photometric {photometric}")
    if (sample_format, bits) not in _TIFF_KINDS:
        got = {1: "unsigned", 2: "signed", 3: "float"}.get(sample_format, "unknown")
        rule = "must be 32-bit float, 8, 16 or 32-bit unsigned or 16 or 32-bit signed"
        raise source.bad(f"{rule}, got {bits}-bit {got}")
    if compression not in _TIFF_RATIOS:
        raise source.bad(f"TIFF compression must be one of {[*_TIFF_RATIOS]}, got {compression}")
    kind = _TIFF_KINDS[sample_format, bits]
    if data[:2] == b"MM" and (kind == "u4" or (compression != 1 and kind[0] != "u")):
        # Pillow does not know u4, and Pillow 13 swaps the bytes of the others twice. Undoing that
        # would break once it is fixed.
        rule = "compressed floats and signed integers, and 32-bit unsigned ones"
        raise source.bad(f"{rule}, must be little-endian, got big")
    most = len(data) * _TIFF_RATIOS[compression]
    refuse_size(source, width, height, width * height * bits // 8, most)
    heights = _decode(source, data, kind)
    placement = _tiff_placement(places)
    if no_data is None:
        return Loaded(heights, placement=placement)
    return Loaded(heights, equal_to(heights, no_data), placement)


def _tiff_placement(places: dict[int, tuple[float, ...]]) -> Placement | None:
    """Return where pixels lie by the fields of a GeoTIFF; None for other TIFF files."""
    scale, tie = places.get(_PIXEL_SCALE, ()), places.get(_TIE_POINT, (0.0,) * 6)
    matrix = places.get(_MATRIX, ())
    keys = places.get(_KEYS, ())
    key = dict(zip(keys[4::4], keys[7::4], strict=False))
    if len(matrix) == 16:
        east, turned_x, _, x, turned_y, north, _, y = matrix[:8]
    elif len(scale) >= 2 and len(tie) >= 6:
        (east, north), turned_x, turned_y = scale[:2], 0.0, 0.0
        north = -north
        x, y = tie[3] - tie[0] * east, tie[4] - tie[1] * north
    else:
        return None
    if key.get(_RASTER) != _POINT_RASTER:  # the place is that of a pixel's corner
        x, y = x + 0.5 * east, y + 0.5 * north
    unit: str | None = None
    if key.get(_MODEL) == _ANGLE_MODEL:
        unit = DEGREES
    elif _MODEL in key:
        unit = _LENGTH_UNITS.get(int(key.get(_LENGTH_UNIT, _METER)), "of another unit")
    placement = Placement.of(GridAxis(x, east), GridAxis(-y, -north), unit)
    if turned_x or turned_y:
        return placement._replace(trouble="its rows do not run along an axis")
    return placement


def _tiff_fields(
    source: Source, data: bytes
) -> tuple[dict[int, int], float | None, dict[int, tuple[float, ...]]]:
    """Return the first directory's integers by tag, GDAL's "no data" value, and where pixels lie.

    Raises struct.error where the directory leads beyond the file.
    """
    order = {b"II*\0": "<", b"MM\0*": ">", b"II+\0": "<"}.get(data[:4])
    if order is None:  # or a big-endian BigTIFF, which Pillow takes for a classic TIFF
        raise source.bad(f"must start as a TIFF file, got {data[:4]!r}")
    big = b"+" in data[:4]
    number, room, entry_size = ("Q", 8, 20) if big else ("I", 4, 12)

    def read(letter: str, offset: int) -> int:
        if offset > len(data):  # struct raises another error for offsets beyond the word size
            raise struct.error
        return int(struct.unpack_from(order + letter, data, offset)[0])

    directory = read(number, room)
    first = directory + (8 if big else 2)
    end = first + read("Q" if big else "H", directory) * entry_size
    fields: dict[int, int] = {}
    places: dict[int, tuple[float, ...]] = {}
    no_data = None
    for entry in range(first, end, entry_size):
        tag, kind, count = read("H", entry), read("H", entry + 2), read(number, entry + 4)
        value = entry + 4 + room
        known, letter = _TIFF_NUMBERS.get(tag, (kind, _TIFF_INTEGERS.get(kind, "B")))
        if count * struct.calcsize(letter) > room:
            value = read(number, value)
        if tag == 42113:
            text = data[value : value + min(count, 64)].split(b"\0")[0]
            try:
                no_data = float(text)
            except ValueError:
                raise source.bad(f'"no data" value must be a number, got {text!r}') from None
        elif tag in _TIFF_NUMBERS:
            if kind == known and count <= _MOST_NUMBERS and value <= len(data):
                places[tag] = struct.unpack_from(f"{order}{count}{letter}", data, value)
        elif kind in _TIFF_INTEGERS and value < len(data):
            fields[tag] = read(letter, value)
    return fields, no_data, places


def _decode(source: Source, data: bytes, dtype: str) -> Heights:
    try:
        from PIL import Image
    except ImportError as error:
        remedy = 'TIFF files need Pillow: pip install "terrain-physics[images]"'
        raise ImportError(f"{source.name}: {remedy}", name="PIL") from error
    try:
        with Image.open(io.BytesIO(data), formats=["TIFF"]) as image:
            image.load()
            # Read as stored, never through convert(), which clips 16 bits to 8. Some modes return
            # other integers as 32-bit integers with the same bits.
            heights: Heights = np.asarray(image).astype(dtype)
    except Exception as error:  # Pillow's parsers raise all kinds of errors for damaged files
        cause = f"{type(error).__name__}: {error}"
        raise source.bad(f"damaged TIFF file ({cause})") from error
    if heights.ndim != 2:
        raise source.bad(f"damaged TIFF file: must decode to one channel, got {heights.shape}")
    return heights
