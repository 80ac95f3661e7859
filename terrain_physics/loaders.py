"""Height-map files as arrays: .npy, .r16/.raw, .hgt, .png and .tiff.

A file is checked before anything of its size is reserved: what its header claims is held against
how many bytes there are, so that a damaged or hostile file costs an error message and no memory.
Only PNG and TIFF need Pillow, imported when one is opened (extra ``images``).
"""

import io
import math
import operator
import os
import re
import stat
import struct
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics import _arrays

Heights = NDArray[np.integer[Any] | np.floating[Any]]

PIXEL_LIMIT = 80_000_000  # of an image: 8193 x 8193 passes; other formats cannot hide a bomb
IMAGE_BYTES_LIMIT = 1 << 30  # an image file is read whole

_PNG_COLORS = {2: "RGB", 3: "a palette", 4: "gray with alpha", 6: "RGB with alpha"}
_DEFLATE_RATIO = 1040  # bytes that can come out of one
# The same for lossless TIFF compressions: none, LZW, deflate twice, packbits, LZMA, Zstandard.
_TIFF_RATIOS = {1: 1, 5: 4096, 8: 1040, 32946: 1040, 32773: 130, 34925: 1 << 14, 50000: 1 << 16}
# Sample format (unsigned, signed, float) and bits.
_TIFF_KINDS = {(1, 8): "u1", (1, 16): "u2", (2, 16): "i2", (3, 32): "f4"}
_TIFF_INTEGERS = {3: "H", 4: "I", 16: "Q"}


class _Source(NamedTuple):
    name: str
    file: BinaryIO
    size: int
    shape: tuple[int, int] | None
    byte_order: str

    def bad(self, message: str) -> ValueError:
        return ValueError(f"{self.name}: {message}")


class _Loaded(NamedTuple):
    heights: Heights
    holes: NDArray[np.bool_] | None = None


def load_heights(
    path: str | os.PathLike[str],
    *,
    shape: Sequence[int] | None = None,
    byte_order: Literal["little", "big"] = "little",
    height_range: Sequence[float] | None = None,
    flip: Literal["rows", "columns", "both"] | None = None,
) -> Heights:
    """Return the heights a file holds, as a new two-dimensional array ``[row, column]``.

    The suffix, in either case, tells the format:

    - ``.npy``: integers of 1 to 8 bytes, floats of 2 to 8; nothing is ever unpickled.
    - ``.r16``, ``.raw``: unsigned 16-bit integers without a header; a square unless ``shape`` is
      given.
    - ``.hgt``: SRTM tiles, big-endian signed 16-bit meters; a square (1201, 3601 or any other)
      unless ``shape`` is given. The value -32768, *void*, becomes NaN, a hole.
    - ``.png``: grayscale of 8 or 16 bits; 16 bits stay 16 bits. Every checksum must hold.
    - ``.tif``, ``.tiff``: one channel of 32-bit floats, 8 or 16-bit unsigned or 16-bit signed
      integers, without compression or with a lossless one; the first page. Big-endian ones must be
      uncompressed or unsigned. The value a GeoTIFF names as "no data" becomes NaN, a hole.

    Parameters
    ----------
    path : str or os.PathLike
        The file.
    shape : (int, int), optional
        Rows and columns of an ``.r16``, ``.raw`` or ``.hgt`` file that is no square; each >= 2.
    byte_order : {"little", "big"}
        Of the integers in an ``.r16`` or ``.raw`` file.
    height_range : (float, float), optional
        Meters at the lowest and at the highest number an 8 or 16-bit unsigned file can hold:
        0..255 or 0..65535 become low..high, linearly, in float64. Without it integers are
        returned as they are. Not for signed integers and floats, which are meters already.
    flip : {"rows", "columns", "both"}, optional
        Reverse the order of the rows, the columns or both. Pictures and SRTM tiles have north on
        top, in row 0; row 0 of a height map is the one of least z.

    Returns
    -------
    ndarray of shape (rows, columns)
        At least 2 x 2, native byte order, row after row in memory. Floats keep their precision.
        With ``.hgt`` and a "no data" value integers become float32, which holds each exactly.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    ValueError
        The file is no regular file, damaged, shorter or longer than it should be, of several
        channels, an image of more than 80 million pixels or 1 GiB, holds an infinite height or
        does not go with an option. The message names the file, the rule and the value.
    TypeError
        ``path``, ``shape`` or ``height_range`` is of no such type.
    ImportError
        The file is an image and Pillow is missing.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path must be a str or os.PathLike, got {_arrays.shorten(path)}")
    name = os.fsdecode(path)
    suffix = Path(name).suffix.lower()
    if suffix not in _READERS:
        raise ValueError(f"{name}: suffix must be one of {', '.join(_READERS)}, got {suffix!r}")
    _arrays.choice("byte_order", byte_order, ("little", "big"))
    if byte_order == "big" and suffix not in {".r16", ".raw"}:
        raise ValueError(f"{name}: byte_order is for .r16 and .raw files, got {suffix}")
    if shape is not None and suffix not in {".r16", ".raw", ".hgt"}:
        raise ValueError(f"{name}: shape is for .r16, .raw and .hgt files, got {suffix}")
    if flip is not None:
        _arrays.choice("flip", flip, ("rows", "columns", "both"))
    counts = _checked_shape(shape)
    limits = _checked_range(height_range)

    status = _status(name)
    with Path(name).open("rb") as file:
        source = _Source(name, file, status.st_size, counts, byte_order)
        loaded = _READERS[suffix](source)
        heights = _in_meters(source, loaded, limits)
    infinite = np.isinf(heights)
    if infinite.any():
        row, column = np.argwhere(infinite)[0]
        raise source.bad(f"heights must be finite or NaN, got infinity at [{row}, {column}]")
    heights = heights[::-1] if flip in {"rows", "both"} else heights
    heights = heights[:, ::-1] if flip in {"columns", "both"} else heights
    return np.ascontiguousarray(heights, dtype=heights.dtype.newbyteorder("="))


def _checked_shape(shape: Any) -> tuple[int, int] | None:
    if shape is None:
        return None
    got = _arrays.shorten(shape)
    try:
        rows, columns = (operator.index(count) for count in shape)
    except (TypeError, ValueError):
        raise TypeError(f"shape must be two integers (rows, columns), got {got}") from None
    if min(rows, columns) < 2:
        raise ValueError(f"shape must be at least 2 x 2, got {got}")
    return rows, columns


def _checked_range(height_range: Any) -> tuple[float, float] | None:
    if height_range is None:
        return None
    try:
        low, high = height_range
    except (TypeError, ValueError):
        got = _arrays.shorten(height_range)
        raise TypeError(f"height_range must be two numbers (low, high), got {got}") from None
    low, high = _arrays.finite("height_range[0]", low), _arrays.finite("height_range[1]", high)
    if low >= high:
        raise ValueError(f"height_range must have low < high, got ({low}, {high})")
    return low, high


def _status(name: str) -> os.stat_result:
    try:
        status = Path(name).stat()
    except ValueError as error:  # a null character or a lone surrogate, which no system takes
        raise ValueError(f"path must be one the system takes, got {name!r} ({error})") from None
    if not stat.S_ISREG(status.st_mode):  # opening a named pipe would wait for ever
        raise ValueError(f"{name}: must be a regular file, got {stat.filemode(status.st_mode)}")
    return status


def _in_meters(source: _Source, loaded: _Loaded, limits: tuple[float, float] | None) -> Heights:
    heights, holes = loaded
    if limits is not None:
        if heights.dtype.str[1:] not in {"u1", "u2"}:
            rule = "height_range is for 8 or 16-bit unsigned heights"
            raise source.bad(f"{rule}, got {heights.dtype.name}")
        share = heights.astype(np.float64) / (255.0 if heights.dtype.itemsize == 1 else 65535.0)
        heights = limits[1] * share + limits[0] * (1.0 - share)  # exact at both ends
    if holes is not None:
        heights = heights.astype(np.float64 if limits else np.float32)
        heights[holes] = np.nan
    return heights


def _read_numbers(source: _Source, kind: str, shape: tuple[int, int]) -> Heights:
    """Read from where the file stands. The caller has made sure that the file is long enough."""
    content = bytearray(shape[0] * shape[1] * np.dtype(kind).itemsize)
    if source.file.readinto(content) != len(content):  # type: ignore[attr-defined]
        raise source.bad("truncated while being read")
    return np.frombuffer(content, kind).reshape(shape)


def _read_npy(source: _Source) -> _Loaded:
    # Three patterns read the header, a Python literal, rather than NumPy's own reader: that one
    # evaluates it, and answers damage with half a dozen kinds of exception and warning.
    start = source.file.read(12)
    if start[:6] != b"\x93NUMPY" or len(start) < 12:
        raise source.bad(f"must start as a NumPy file, got {start[:6]!r}")
    offset = 10 if start[6] == 1 else 12
    length = int.from_bytes(start[8:offset], "little")
    if start[6] not in {1, 2, 3} or length > min(source.size, 65535):
        raise source.bad(f"damaged header (format version {start[6]}, header of {length} bytes)")
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
    if order[1] == "True":
        return _Loaded(_read_numbers(source, kind[1], (sides[1], sides[0])).T)
    return _Loaded(_read_numbers(source, kind[1], (sides[0], sides[1])))


def _read_raw(source: _Source) -> _Loaded:
    kind = {"little": "<u2", "big": ">u2"}[source.byte_order]
    return _Loaded(_read_numbers(source, kind, _raw_shape(source)))


def _read_hgt(source: _Source) -> _Loaded:
    heights = _read_numbers(source, ">i2", _raw_shape(source))
    return _Loaded(heights, heights == -32768)


def _raw_shape(source: _Source) -> tuple[int, int]:
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


def _read_png(source: _Source) -> _Loaded:
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
    return _Loaded(_decode(source, "PNG", data, f"u{bits // 8}"))


def _packed_png_bytes(source: _Source, data: bytes) -> int:
    """Return how many bytes the packed pixels have. Checks all checksums: Pillow skips some."""
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


def _read_tiff(source: _Source) -> _Loaded:
    data = _read_whole(source)
    try:
        fields, no_data = _tiff_fields(source, data)
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
        # Pillow 13 turns the bytes of these twice. Undoing it would break where that is mended.
        raise source.bad("compressed floats and signed integers must be little-endian, got big")
    most = len(data) * _TIFF_RATIOS[compression]
    _refuse_size(source, width, height, width * height * bits // 8, most)
    heights = _decode(source, "TIFF", data, _TIFF_KINDS[sample_format, bits])
    if no_data is None:
        return _Loaded(heights)
    with np.errstate(over="ignore"):  # GDAL writes float32's end with the digits of a double
        return _Loaded(heights, heights == np.float64(no_data).astype(np.float32))


def _tiff_fields(source: _Source, data: bytes) -> tuple[dict[int, int], float | None]:
    """Return the first directory's integers by tag and GDAL's "no data" value, or struct.error."""
    order = {b"II*\0": "<", b"MM\0*": ">", b"II+\0": "<"}.get(data[:4])
    if order is None:  # or a BigTIFF with its high bytes first, which Pillow takes for a small one
        raise source.bad(f"must start as a TIFF file, got {data[:4]!r}")
    big = b"+" in data[:4]
    number, room, entry_size = ("Q", 8, 20) if big else ("I", 4, 12)

    def read(letter: str, offset: int) -> int:
        if offset > len(data):  # struct has another error for offsets beyond the word size
            raise struct.error
        return int(struct.unpack_from(order + letter, data, offset)[0])

    directory = read(number, room)
    first = directory + (8 if big else 2)
    end = first + read("Q" if big else "H", directory) * entry_size
    fields: dict[int, int] = {}
    no_data = None
    for entry in range(first, end, entry_size):
        tag, kind, count = read("H", entry), read("H", entry + 2), read(number, entry + 4)
        value = entry + 4 + room
        letter = _TIFF_INTEGERS.get(kind, "B")
        if count * struct.calcsize(letter) > room:
            value = read(number, value)
        if tag == 42113:
            text = data[value : value + min(count, 64)].split(b"\0")[0]
            try:
                no_data = float(text)
            except ValueError:
                raise source.bad(f'"no data" value must be a number, got {text!r}') from None
        elif kind in _TIFF_INTEGERS and value < len(data):
            fields[tag] = read(letter, value)
    return fields, no_data


def _read_whole(source: _Source) -> bytes:
    if source.size > IMAGE_BYTES_LIMIT:
        raise source.bad(f"must have at most {IMAGE_BYTES_LIMIT} bytes, got {source.size}")
    return source.file.read(source.size)


def _refuse_size(source: _Source, width: int, height: int, claimed: int, most: int) -> None:
    """Refuse before decoding: ``claimed`` bytes of pixels, ``most`` that can come out."""
    got = f"got {height} rows, {width} columns"
    if min(width, height) < 2:
        raise source.bad(f"must have at least 2 x 2 heights, {got}")
    if width * height > PIXEL_LIMIT:
        raise source.bad(f"an image must have at most {PIXEL_LIMIT} pixels, {got}")
    if claimed > most:
        raise source.bad(f"truncated: too few bytes for its pixels, {got}")


def _decode(source: _Source, kind: Literal["PNG", "TIFF"], data: bytes, dtype: str) -> Heights:
    try:
        from PIL import Image
    except ImportError as error:
        remedy = f'{kind} files need Pillow: pip install "terrain-physics[images]"'
        raise ImportError(f"{source.name}: {remedy}", name="PIL") from error
    try:
        with Image.open(io.BytesIO(data), formats=[kind]) as image:
            image.load()
            # Read as stored, never through convert(), which clips 16 bits to 8. Some modes hand
            # 16 bits out as 32-bit integers; the values are the same.
            heights: Heights = np.asarray(image).astype(dtype)
    except Exception as error:  # on damaged files Pillow raises whatever its parsers stumble on
        cause = f"{type(error).__name__}: {error}"
        raise source.bad(f"damaged {kind} file ({cause})") from error
    if heights.ndim != 2:
        raise source.bad(f"damaged {kind} file: must decode to one channel, got {heights.shape}")
    return heights


_READERS: dict[str, Callable[[_Source], _Loaded]] = {
    ".npy": _read_npy,
    ".r16": _read_raw,
    ".raw": _read_raw,
    ".hgt": _read_hgt,
    ".png": _read_png,
    ".tif": _read_tiff,
    ".tiff": _read_tiff,
}
