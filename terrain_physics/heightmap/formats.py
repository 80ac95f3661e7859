"""Readers of height-map files: .npy, .r16/.raw, .hgt, .hgt.gz, .asc, .dds, .png and .tiff.

A file is checked before memory is reserved for it: the sizes in its header are compared with its
length, so that a damaged or hostile file causes an error message and takes no memory. Only PNG and
TIFF need Pillow (extra ``images``), which is imported when such a file is opened.
"""

import io
import math
import re
import struct
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics.heightmap.placement import DEGREES, METERS, GridAxis, Placement

Heights = NDArray[np.integer[Any] | np.floating[Any]]

# For compressed files, images and .hgt.gz: 8193 x 8193 passes. Other files cannot be bombs.
PIXEL_LIMIT = 80_000_000
IMAGE_BYTES_LIMIT = 1 << 30  # such a file is read as a whole

_PNG_COLORS = {2: "RGB", 3: "a palette", 4: "gray with alpha", 6: "RGB with alpha"}
_DEFLATE_RATIO = 1040  # bytes that one compressed byte can expand to, at most
# The same for TIFF compressions: none, LZW, deflate (two codes), PackBits, LZMA, Zstandard.
_TIFF_RATIOS = {1: 1, 5: 4096, 8: 1040, 32946: 1040, 32773: 130, 34925: 1 << 14, 50000: 1 << 16}
# By sample format (unsigned, signed, float) and bits.
_TIFF_KINDS = {(1, 8): "u1", (1, 16): "u2", (2, 16): "i2", (3, 32): "f4"}
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

_GRID_KEYS = {
    b"ncols", b"nrows", b"cellsize", b"dx", b"dy", b"nodata_value",
    b"xllcorner", b"xllcenter", b"yllcorner", b"yllcenter",
}  # fmt: skip
_GRID_HEADER = re.compile(rb"\s*([A-Za-z_]+)[ \t]+(\S+)")
_GRID_HEADER_BYTES = 2048
_TEXT_AT_ONCE = 1 << 20
_LONGEST_NUMBER = 400  # bytes: the largest float has 309 digits before its point

# DDS: flags of pixel formats, and of files that are not a plain picture.
_DDS_ALPHA, _DDS_CODE, _DDS_RGB, _DDS_LUMINANCE = 0x1, 0x4, 0x40, 0x20000
_DDS_CUBE, _DDS_VOLUME = 0x200, 0x200000
# Pixel formats by DXGI number, and by the Direct3D 9 number that may replace a four-letter code.
_DXGI_KINDS = {41: "<f4", 54: "<f2", 56: "<u2", 57: "<u2", 61: "u1", 62: "u1"}
_DIRECT3D_9_KINDS = {50: "u1", 81: "<u2", 111: "<f2", 114: "<f4"}


class Source(NamedTuple):
    """An open file, with the options that apply to it."""

    name: str
    file: BinaryIO
    size: int
    shape: tuple[int, int] | None
    byte_order: str
    mmap: bool

    def bad(self, message: str) -> ValueError:
        """Return an error that names the file."""
        return ValueError(f"{self.name}: {message}")


class Loaded(NamedTuple):
    """The heights in a file, where it has holes, and where it lies if the file says so."""

    heights: Heights
    holes: NDArray[np.bool_] | None = None
    placement: Placement | None = None


def _read_numbers(source: Source, kind: str, shape: tuple[int, int]) -> Heights:
    """Read from the file's position. The caller has made sure that the file is long enough."""
    content = bytearray(shape[0] * shape[1] * np.dtype(kind).itemsize)
    if source.file.readinto(content) != len(content):  # type: ignore[attr-defined]
        raise source.bad("truncated while being read")
    return np.frombuffer(content, kind).reshape(shape)


def _read_npy(source: Source) -> Loaded:
    # Three patterns read the header, which is a Python literal. NumPy's own reader evaluates it and
    # raises half a dozen kinds of exceptions and warnings for damaged files.
    start = source.file.read(12)
    if start[:6] != b"\x93NUMPY" or len(start) < 12:
        raise source.bad(f"must start as a NumPy file, got {start[:6]!r}")
    offset = 10 if start[6] == 1 else 12
    length = int.from_bytes(start[8:offset], "little")
    version = f"{start[6]}.{start[7]}"
    if version not in {"1.0", "2.0", "3.0"} or length > min(source.size, 65535):
        raise source.bad(f"damaged header (format version {version}, header of {length} bytes)")
    source.file.seek(offset)
    offset += length
    header = source.file.read(length).decode("latin-1")
    kind = re.search(r"""['"]descr['"]\s*:\s*['"]([<>|=]?(?:[iu][1248]|f[248]))['"]""", header)
    order = re.search(r"""['"]fortran_order['"]\s*:\s*(True|False)""", header)
    counts = re.search(r"""['"]shape['"]\s*:\s*\(([0-9,\s]{0,60})\)""", header)
    if kind is None or order is None or counts is None:
        raise source.bad(f"must hold integers or floats of up to 8 bytes, got {header[:80]!r}")
    sides = [int(count) for count in re.findall(r"[0-9]+", counts[1])]
    if len(sides) != 2 or min(sides) < 2:
        raise source.bad(f"must be two-dimensional, at least 2 x 2, got shape ({counts[1]})")
    needed = offset + sides[0] * sides[1] * np.dtype(kind[1]).itemsize
    if needed > source.size:
        raise source.bad(f"truncated: needs {needed} bytes, got {source.size}")
    source.file.seek(offset)
    if source.mmap:
        is_single = np.dtype(kind[1]) == np.float32  # in the machine's byte order
        if not is_single or order[1] == "True" or offset % 4:
            raise source.bad("mmap is for aligned float32 heights in C order, use mmap=False")
        # Writes are private: they stay in memory, and only pages that are written to are copied.
        return Loaded(np.asarray(np.memmap(source.file, "f4", "c", offset, (sides[0], sides[1]))))
    if order[1] == "True":
        return Loaded(_read_numbers(source, kind[1], (sides[1], sides[0])).T)
    return Loaded(_read_numbers(source, kind[1], (sides[0], sides[1])))


def _read_raw(source: Source) -> Loaded:
    kind = {"little": "<u2", "big": ">u2"}[source.byte_order]
    return Loaded(_read_numbers(source, kind, _raw_shape(source)))


def _read_hgt(source: Source) -> Loaded:
    heights = _read_numbers(source, ">i2", _raw_shape(source))
    return Loaded(heights, heights == -32768)


def _read_packed_hgt(source: Source) -> Loaded:
    packed = _read_whole(source)
    if packed[:2] != b"\x1f\x8b" or len(packed) < 18:
        raise source.bad(f"must start as a gzip file, got {packed[:2]!r}")
    size = int.from_bytes(packed[-4:], "little")  # of the heights, as gzip says at its end
    if size > 2 * PIXEL_LIMIT or size > _DEFLATE_RATIO * len(packed):
        most = min(2 * PIXEL_LIMIT, _DEFLATE_RATIO * len(packed))
        raise source.bad(f"must unpack to at most {most} bytes, got {size}")
    inner = source._replace(size=size)
    _raw_shape(inner)
    unpacker = zlib.decompressobj(wbits=31)
    try:
        content = unpacker.decompress(packed, size + 1)
    except zlib.error as error:
        raise source.bad(f"damaged gzip file ({error})") from error
    if len(content) != size or not unpacker.eof or unpacker.unused_data:
        raise source.bad(f"damaged gzip file: must unpack to {size} bytes, and end there")
    return _read_hgt(inner._replace(file=io.BytesIO(content)))


def _read_asc(source: Source) -> Loaded:
    fields, start = _grid_header(source)
    rows, columns = (_grid_count(source, fields, key) for key in (b"nrows", b"ncols"))
    _refuse_few(source, rows, columns)
    needed = start + 2 * rows * columns - 1  # a digit each, and one byte between two
    if needed > source.size:
        raise source.bad(f"truncated: needs at least {needed} bytes, got {source.size}")
    cell = fields.get(b"cellsize")
    size_x, size_y = fields.get(b"dx", cell), fields.get(b"dy", cell)
    if size_x is None or size_y is None:
        raise source.bad("header must have cellsize, or dx and dy")
    placement = Placement.of(
        GridAxis(_grid_start(fields, b"xll", size_x), size_x),
        GridAxis(-_grid_start(fields, b"yll", size_y) - (rows - 1) * size_y, size_y),
        None,
    )
    source.file.seek(start)
    heights = _grid_numbers(source, rows * columns).reshape(rows, columns)
    heights[heights == fields.get(b"nodata_value", -9999.0)] = np.nan
    return Loaded(heights, placement=placement)


def _grid_header(source: Source) -> tuple[dict[bytes, float], int]:
    """Return the numbers in the header of a text grid, and where its heights begin."""
    head = source.file.read(_GRID_HEADER_BYTES)
    fields: dict[bytes, float] = {}
    start = 0
    while line := _GRID_HEADER.match(head, start):
        key = line[1].lower()
        if key == b"nan":  # a height
            break
        if key not in _GRID_KEYS:
            raise source.bad(f"header must be that of an ESRI ASCII grid, got {key[:40]!r}")
        fields[key] = _grid_number(source, line[2])
        start = line.end()
    return fields, start


def _grid_number(source: Source, text: bytes) -> float:
    try:
        return float(text)
    except ValueError:
        raise source.bad(f"must hold numbers, got {text[:40]!r}") from None


def _grid_count(source: Source, fields: dict[bytes, float], key: bytes) -> int:
    count = fields.get(key, math.nan)
    if not 1.0 <= count < 2.0**53 or count != int(count):
        raise source.bad(f"header must have {key.decode()}, a whole number, got {count}")
    return int(count)


def _grid_start(fields: dict[bytes, float], key: bytes, size: float) -> float:
    """Return the place of the middle of the lower left cell along one axis."""
    center = fields.get(key + b"center")
    return fields.get(key + b"corner", 0.0) + 0.5 * size if center is None else center


def _grid_numbers(source: Source, count: int) -> NDArray[np.float64]:
    """Read numbers from the file's position to its end; refuse fewer and more."""
    numbers = np.empty(count)
    found, rest = 0, b""
    while text := source.file.read(_TEXT_AT_ONCE):
        text = rest + text
        words = text.split()
        rest = words.pop() if words and not text[-1:].isspace() else b""
        if len(rest) > _LONGEST_NUMBER:
            raise source.bad(f"must hold numbers, got {rest[:40]!r}")
        found = _put_words(source, words, numbers, found)
    found = _put_words(source, rest.split(), numbers, found)
    if found < count:
        raise source.bad(f"truncated: must hold {count} heights, got {found}")
    return numbers


def _put_words(source: Source, words: list[bytes], numbers: NDArray[np.float64], found: int) -> int:
    end = found + len(words)
    if end > len(numbers):
        raise source.bad(f"must hold {len(numbers)} heights, got more")
    try:
        numbers[found:end] = [float(word) for word in words]
    except ValueError:
        for word in words:
            _grid_number(source, word)
    return end


def _raw_shape(source: Source) -> tuple[int, int]:
    if source.shape is None:
        side = math.isqrt(source.size // 2)
        if side < 2 or 2 * side * side != source.size:
            rule = "must be a square of 16-bit heights, at least 2 x 2, or be given its shape"
            raise source.bad(f"{rule}, got {source.size} bytes")
        return side, side
    needed = 2 * source.shape[0] * source.shape[1]
    if needed != source.size:
        raise source.bad(f"shape {source.shape} must have {needed} bytes, got {source.size}")
    return source.shape


def _read_dds(source: Source) -> Loaded:
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
    _refuse_few(source, rows, columns)
    # Rows follow each other, but some old tools pad each row to whole words of 32 bits.
    words = -(-tight // 4) * 4
    pitch = words if mip_count <= 1 and source.size == offset + rows * words else tight
    needed = offset + rows * pitch
    if needed > source.size:
        raise source.bad(f"truncated: needs {needed} bytes, got {source.size}")
    source.file.seek(offset)
    stored = _read_numbers(source, "u1", (rows, pitch))
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


def _read_png(source: Source) -> Loaded:
    data = _read_whole(source)
    if not data.startswith(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR") or len(data) < 33:
        raise source.bad(f"must start as a PNG file, got {data[:16]!r}")
    width, height, bits, color = struct.unpack_from(">IIBB", data, 16)
    if color != 0:
        raise source.bad(f"must be grayscale, one channel, got {_PNG_COLORS.get(color, color)}")
    if bits not in {8, 16}:
        raise source.bad(f"must have 8 or 16 bits per pixel, got {bits}")
    packed = _packed_png_bytes(source, data)
    _refuse_size(source, width, height, width * height * bits // 8, packed * _DEFLATE_RATIO)
    return Loaded(_decode(source, "PNG", data, f"u{bits // 8}"))


def _packed_png_bytes(source: Source, data: bytes) -> int:
    """Return how many bytes the compressed pixels take. Checks all checksums: Pillow skips some."""
    packed, offset = 0, 8
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
        if kind == b"tRNS":
            raise source.bad("must be opaque, got transparency (PNG chunk tRNS)")
        if kind == b"IEND":
            return packed
        packed += length if kind == b"IDAT" else 0
        offset = end


def _read_tiff(source: Source) -> Loaded:
    data = _read_whole(source)
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
        rule = "must be 32-bit float, 8 or 16-bit unsigned or 16-bit signed"
        raise source.bad(f"{rule}, got {bits}-bit {got}")
    if compression not in _TIFF_RATIOS:
        raise source.bad(f"TIFF compression must be one of {[*_TIFF_RATIOS]}, got {compression}")
    if data[:2] == b"MM" and compression != 1 and sample_format != 1:
        # Pillow 13 swaps the bytes of these twice. Undoing that would break once Pillow is fixed.
        raise source.bad("compressed floats and signed integers must be little-endian, got big")
    most = len(data) * _TIFF_RATIOS[compression]
    _refuse_size(source, width, height, width * height * bits // 8, most)
    heights = _decode(source, "TIFF", data, _TIFF_KINDS[sample_format, bits])
    placement = _tiff_placement(places)
    if no_data is None:
        return Loaded(heights, placement=placement)
    with np.errstate(over="ignore"):  # GDAL writes the largest float32 with the digits of a double
        holes = heights == np.float64(no_data).astype(np.float32)
    return Loaded(heights, holes, placement)


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


def _read_whole(source: Source) -> bytes:
    if source.size > IMAGE_BYTES_LIMIT:
        raise source.bad(f"must have at most {IMAGE_BYTES_LIMIT} bytes, got {source.size}")
    return source.file.read(source.size)


def _refuse_few(source: Source, rows: int, columns: int) -> None:
    if min(rows, columns) < 2:
        raise source.bad(f"must have at least 2 x 2 heights, got {rows} rows, {columns} columns")


def _refuse_size(source: Source, width: int, height: int, claimed: int, most: int) -> None:
    """Refuse, before decoding, ``claimed`` bytes of pixels where at most ``most`` can come out."""
    got = f"got {height} rows, {width} columns"
    _refuse_few(source, height, width)
    if width * height > PIXEL_LIMIT:
        raise source.bad(f"an image must have at most {PIXEL_LIMIT} pixels, {got}")
    if claimed > most:
        raise source.bad(f"truncated: too few bytes for its pixels, {got}")


def _decode(source: Source, kind: Literal["PNG", "TIFF"], data: bytes, dtype: str) -> Heights:
    try:
        from PIL import Image
    except ImportError as error:
        remedy = f'{kind} files need Pillow: pip install "terrain-physics[images]"'
        raise ImportError(f"{source.name}: {remedy}", name="PIL") from error
    try:
        with Image.open(io.BytesIO(data), formats=[kind]) as image:
            image.load()
            # Read as stored, never through convert(), which clips 16 bits to 8. Some modes return
            # 16 bits as 32-bit integers with the same values.
            heights: Heights = np.asarray(image).astype(dtype)
    except Exception as error:  # Pillow's parsers raise all kinds of errors for damaged files
        cause = f"{type(error).__name__}: {error}"
        raise source.bad(f"damaged {kind} file ({cause})") from error
    if heights.ndim != 2:
        raise source.bad(f"damaged {kind} file: must decode to one channel, got {heights.shape}")
    return heights


RAW = (".r16", ".raw")
"""Suffixes of files that hold unsigned 16-bit integers and nothing else."""

WITHOUT_SIZE = (*RAW, ".hgt", ".hgt.gz")
"""Suffixes of files that do not say how large they are."""

READERS: dict[str, Callable[[Source], Loaded]] = {
    ".npy": _read_npy,
    **dict.fromkeys(RAW, _read_raw),
    ".hgt": _read_hgt,
    ".hgt.gz": _read_packed_hgt,
    ".asc": _read_asc,
    ".dds": _read_dds,
    ".png": _read_png,
    ".tif": _read_tiff,
    ".tiff": _read_tiff,
}
