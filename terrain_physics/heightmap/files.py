"""Height maps as files.

Read are .npy, .r16/.raw, .hgt, .hgt.gz, .asc, .dds, .png and .tiff; some of these are written.
"""

import operator
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple

import numpy as np

from terrain_physics._support import checks
from terrain_physics._support.files import checked_size, file_name, written_whole
from terrain_physics._support.warn import warn
from terrain_physics.heightmap.formats import (
    PIXEL_LIMIT,
    RAW,
    READERS,
    WITHOUT_SIZE,
    Heights,
    Loaded,
    Source,
)
from terrain_physics.heightmap.placement import Placement

_WRITTEN = (".npy", *RAW, ".png")
_PIXELS_AT_ONCE = 1 << 20


def load_heights(
    path: str | os.PathLike[str],
    *,
    shape: Sequence[int] | None = None,
    byte_order: Literal["little", "big"] = "little",
    height_range: Sequence[float] | None = None,
    flip: Literal["rows", "columns", "both"] | None = None,
    mmap: bool = False,
) -> Heights:
    """Return the heights in a file, as a new two-dimensional array ``[row, column]``.

    The suffix, in upper or lower case, determines the format:

    - ``.npy``: integers of 1 to 8 bytes, floats of 2 to 8; nothing is ever unpickled.
    - ``.r16``, ``.raw``: unsigned 16-bit integers without a header; a square unless ``shape`` is
      given.
    - ``.hgt``: SRTM tiles, big-endian signed 16-bit meters; a square (1201, 3601 or any other)
      unless ``shape`` is given. The value -32768, called *void*, becomes NaN, a hole.
    - ``.hgt.gz``: the same, packed by gzip; at most 80 million heights.
    - ``.asc``: ESRI's ASCII grids. The value ``NODATA_value``, or -9999, becomes NaN, a hole.
    - ``.dds``: one channel without compression: 8 or 16-bit unsigned integers ("luminance", R8,
      R16) or floats (R16F, R32F), with the old header or the DX10 header; the top mip level.
    - ``.png``: grayscale of 8 or 16 bits; 16 bits stay 16 bits. Every checksum must be right.
    - ``.tif``, ``.tiff``: one channel of 32-bit floats, 8 or 16-bit unsigned or 16-bit signed
      integers, uncompressed or with lossless compression; the first page. A big-endian file must
      be uncompressed or unsigned. The "no data" value of a GeoTIFF becomes NaN, a hole.

    Parameters
    ----------
    path : str or os.PathLike
        The file.
    shape : (int, int), optional
        Rows and columns of an ``.r16``, ``.raw``, ``.hgt`` or ``.hgt.gz`` file that is not square;
        each >= 2.
    byte_order : {"little", "big"}
        The byte order of an ``.r16`` or ``.raw`` file.
    height_range : (float, float), optional
        The heights in meters of the lowest and the highest number that an 8 or 16-bit unsigned file
        can hold: 0..255 or 0..65535 become low..high, linearly, in float64. Without it integers are
        returned as they are. Not for signed integers and floats, which are already meters.
    flip : {"rows", "columns", "both"}, optional
        Reverse the order of the rows, the columns or both. Pictures and SRTM tiles have north at
        the top, in row 0; row 0 of a height map has the least z.
    mmap : bool, default False
        Map a ``.npy`` file of float32 into memory instead of reading it: pages are read when they
        are needed, and those that are written to are copied; the file stays as it is. The file
        must not change meanwhile: if it is cut short, the process ends.

    Returns
    -------
    ndarray of shape (rows, columns)
        At least 2 x 2, in native byte order, C-contiguous. Floats keep their precision. Integers
        of ``.hgt`` files and with a "no data" value become float32, which holds them exactly.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is not a regular file, is damaged, too short or too long, has several channels,
        is an image of more than 80 million pixels or 1 GiB, holds an infinite height, or does not
        fit an option. The message names the file, the rule and the value.
    TypeError
        If ``path``, ``shape`` or ``height_range`` has the wrong type.
    ImportError
        If the file is an image and Pillow is missing.
    """
    return load_placed(
        path, shape=shape, byte_order=byte_order, height_range=height_range, flip=flip, mmap=mmap
    ).heights


class PlacedHeights(NamedTuple):
    """The heights in a file, ``[row, column]``, and where they lie if the file says so."""

    heights: Heights
    placement: Placement | None


def load_placed(
    path: str | os.PathLike[str],
    *,
    shape: Sequence[int] | None = None,
    byte_order: Literal["little", "big"] = "little",
    height_range: Sequence[float] | None = None,
    flip: Literal["rows", "columns", "both"] | None = None,
    mmap: bool = False,
) -> PlacedHeights:
    """Return the heights as `load_heights` does, and where they lie."""
    name = file_name(path)
    suffix = _suffix(name)
    if suffix not in READERS:
        raise ValueError(f"{name}: suffix must be one of {', '.join(READERS)}, got {suffix!r}")
    _check_options(name, suffix, byte_order=byte_order, flip=flip)
    checks.instance("mmap", mmap, bool)
    if mmap and suffix != ".npy":
        raise ValueError(f"{name}: mmap is for .npy files, got {suffix}")
    if mmap and flip is not None:
        raise ValueError(f"{name}: flip needs a copy, use mmap=False, got flip={flip!r}")
    if shape is not None:
        _refuse_others(name, "shape", WITHOUT_SIZE, suffix)
    counts = _checked_shape(shape)
    limits = _checked_range(height_range)

    size = checked_size(name)
    with Path(name).open("rb") as file:
        source = Source(name, file, size, counts, byte_order, mmap)
        loaded = READERS[suffix](source)
        heights = _in_meters(source, loaded, limits)
    if (place := _first_infinite(heights)) is not None:
        raise source.bad(f"heights must be finite or NaN, got infinity at {place}")
    placement = loaded.placement and loaded.placement.flipped(heights.shape, flip)
    heights = _flipped(heights, flip)
    native = np.ascontiguousarray(heights, dtype=heights.dtype.newbyteorder("="))
    return PlacedHeights(native, placement)


def warn_of_numbers(path: str | os.PathLike[str], heights: Heights) -> None:
    """Warn if the numbers of a 16-bit picture become heights in meters."""
    name = file_name(path)
    if _suffix(name) == ".png" and heights.dtype == np.uint16:
        warn(
            f"{name}: 16-bit numbers without height_range are taken for meters: 0 to 65535 m, "
            f"here {heights.min()} to {heights.max()} m. Pass height_range=(low, high)"
        )


def save_heights(
    path: str | os.PathLike[str],
    heights: Any,
    *,
    height_range: Sequence[float] | None = None,
    flip: Literal["rows", "columns", "both"] | None = None,
    byte_order: Literal["little", "big"] = "little",
) -> tuple[float, float] | None:
    """Write heights to a file for `load_heights`; return the height range to load it with.

    The suffix, in upper or lower case, determines the format:

    - ``.npy`` keeps every number, and holes.
    - ``.png`` (grayscale) and ``.r16``/``.raw`` (no header) hold 16-bit unsigned integers. Loaded
      with the returned range, each height is off by at most half of 1/65535 of that range, and both
      ends are exact. Arrays of 8 or 16-bit unsigned integers are written as they are unless a range
      is given; then no range is returned, and 8-bit integers make an 8-bit ``.png``.

    The file appears only when it is complete; until then, and after an error, an existing file
    is unchanged. Pillow is not needed.

    Parameters
    ----------
    path : str or os.PathLike
        The file; an existing one is replaced.
    heights : array_like, shape (rows, columns)
        At least 2 x 2, integers or floats. NaN is a hole, which only ``.npy`` can keep.
    height_range : (float, float), optional
        The heights in meters of the lowest and the highest 16-bit number; no height may be outside.
        Default: the least and the greatest height. Not for ``.npy``.
    flip : {"rows", "columns", "both"}, optional
        Reverse the order of the rows, the columns or both in the file.
    byte_order : {"little", "big"}
        The byte order of an ``.r16`` or ``.raw`` file.

    Returns
    -------
    (float, float) or None
        The ``height_range`` for `load_heights`; None if it needs none.

    Raises
    ------
    ValueError
        For other suffixes and shapes, infinite heights, holes that the format cannot keep, heights
        outside of ``height_range``, options that do not fit the format, and images of more than 80
        million pixels.
    TypeError
        If ``path``, ``heights`` or ``height_range`` has the wrong type.
    OSError
        If the file cannot be written.
    """
    name = file_name(path)
    suffix = Path(name).suffix.lower()
    if suffix not in _WRITTEN:
        raise ValueError(f"{name}: suffix must be one of {', '.join(_WRITTEN)}, got {suffix!r}")
    _check_options(name, suffix, byte_order=byte_order, flip=flip)
    limits = _checked_range(height_range)
    values = _flipped(_checked_heights(name, heights), flip)
    if suffix == ".npy":
        if limits is not None:
            _refuse_others(name, "height_range", (".png", *RAW), suffix)
        with written_whole(name) as file:
            np.lib.format.write_array(file, np.ascontiguousarray(values), allow_pickle=False)
        return None
    if limits is not None or values.dtype.str[1:] not in {"u1", "u2"}:
        limits = _fitting_range(name, values, limits)
    if suffix == ".png" and values.size > PIXEL_LIMIT:
        raise ValueError(f"{name}: must have at most {PIXEL_LIMIT} pixels, got {values.size}")
    with written_whole(name) as file:
        if suffix == ".png":
            _write_png(file, values, limits)
        else:
            kind = "<u2" if byte_order == "little" else ">u2"
            for numbers in _numbers(values, limits):
                file.write(numbers.astype(kind).tobytes())
    return limits


def _suffix(name: str) -> str:
    """Return the suffix of a file in lower case; both suffixes of a packed file."""
    *_, last = suffixes = [suffix.lower() for suffix in Path(name).suffixes] or [""]
    return "".join(suffixes[-2:]) if last == ".gz" else last


def _check_options(name: str, suffix: str, *, byte_order: Any, flip: Any) -> None:
    checks.choice("byte_order", byte_order, ("little", "big"))
    if byte_order == "big":
        _refuse_others(name, "byte_order", RAW, suffix)
    if flip is not None:
        checks.choice("flip", flip, ("rows", "columns", "both"))


def _refuse_others(name: str, option: str, suffixes: tuple[str, ...], suffix: str) -> None:
    """Refuse an option that is for files with other suffixes."""
    if suffix not in suffixes:
        known = f"{', '.join(suffixes[:-1])} and {suffixes[-1]}"
        raise ValueError(f"{name}: {option} is for {known} files, got {suffix}")


def _flipped(heights: Heights, flip: str | None) -> Heights:
    heights = heights[::-1] if flip in {"rows", "both"} else heights
    return heights[:, ::-1] if flip in {"columns", "both"} else heights


def _checked_shape(shape: Any) -> tuple[int, int] | None:
    if shape is None:
        return None
    got = checks.shorten(shape)
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
        got = checks.shorten(height_range)
        raise TypeError(f"height_range must be two numbers (low, high), got {got}") from None
    low, high = checks.finite("height_range[0]", low), checks.finite("height_range[1]", high)
    if low >= high:
        raise ValueError(f"height_range must have low < high, got ({low}, {high})")
    return low, high


def _in_meters(source: Source, loaded: Loaded, limits: tuple[float, float] | None) -> Heights:
    heights, holes = loaded.heights, loaded.holes
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


def _checked_heights(name: str, heights: Any) -> Heights:
    """Return a copy of heights; refuse other shapes and infinite heights."""
    try:
        values = checks.copied("heights", heights)
    except ValueError:
        raise ValueError("heights must be an array of numbers with rows of one length") from None
    if values.dtype.kind not in "iuf":
        raise TypeError(f"heights must hold integers or floats, got dtype {values.dtype}")
    if values.ndim != 2 or min(values.shape) < 2:
        raise ValueError(f"heights must have shape (rows, columns) >= (2, 2), got {values.shape}")
    if values.dtype.itemsize > 8:  # a long double, which no format keeps
        values = values.astype(np.float64)
    if (place := _first_infinite(values)) is not None:
        raise ValueError(f"{name}: heights must be finite or NaN, got infinity at {place}")
    return values


def _first_infinite(heights: Heights) -> list[int] | None:
    """Return [row, column] of the first infinite height; the search goes by small parts."""
    if heights.dtype.kind != "f":
        return None
    step = max(1, _PIXELS_AT_ONCE // heights.shape[1])
    for first in range(0, len(heights), step):
        infinite = np.isinf(heights[first : first + step])
        if infinite.any():
            row, column = np.argwhere(infinite)[0].tolist()
            return [first + row, column]
    return None


def _fitting_range(
    name: str, values: Heights, limits: tuple[float, float] | None
) -> tuple[float, float]:
    """Return the given range, or the range of the heights; refuse holes and heights outside."""
    holes = np.isnan(values)
    if holes.any():
        row, column = np.argwhere(holes)[0]
        rule = "16-bit files cannot keep holes (save them as .npy), got NaN at"
        raise ValueError(f"{name}: {rule} [{row}, {column}]")
    least, largest = float(values.min()), float(values.max())
    if limits is None:
        if least < largest:
            return least, largest
        # A flat map: any range with its height at one end.
        room = max(1.0, abs(least))
        return (least - room, least) if least > 0.0 else (least, least + room)
    if not limits[0] <= least <= largest <= limits[1]:
        raise ValueError(
            f"{name}: heights must be within height_range {limits}, got {least} to {largest}"
        )
    return limits


def _numbers(values: Heights, limits: tuple[float, float] | None) -> Iterator[Heights]:
    """Yield the integers to write, some rows at a time."""
    step = max(1, _PIXELS_AT_ONCE // values.shape[1])
    for first in range(0, len(values), step):
        rows = values[first : first + step]
        if limits is None:
            yield rows
        else:
            # Halves are subtracted: the whole difference may overflow.
            low, high = 0.5 * limits[0], 0.5 * limits[1]
            share = (0.5 * rows.astype(np.float64) - low) / (high - low)
            yield np.rint(65535.0 * share).astype(np.uint16)


def _write_png(file: BinaryIO, values: Heights, limits: tuple[float, float] | None) -> None:
    size = 1 if limits is None and values.dtype.itemsize == 1 else 2
    rows, columns = values.shape

    def put(kind: bytes, content: bytes) -> None:
        checksum = zlib.crc32(kind + content)
        file.write(struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum))

    file.write(b"\x89PNG\r\n\x1a\n")
    put(b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8 * size, 0, 0, 0, 0))
    packer = zlib.compressobj()
    above = np.zeros((1, columns * size), np.uint8)
    for numbers in _numbers(values, limits):
        lines = np.ascontiguousarray(numbers.astype(f">u{size}")).view(np.uint8)
        # Filter 2 of the format, each byte minus the one above: smooth land compresses well.
        filtered = np.full((len(lines), columns * size + 1), 2, np.uint8)
        filtered[:, 1:] = lines - np.concatenate([above, lines[:-1]])
        if packed := packer.compress(filtered.tobytes()):
            put(b"IDAT", packed)
        above = lines[-1:]
    put(b"IDAT", packer.flush())
    put(b"IEND", b"")
