"""Height maps as files.

Read are .npy, .npz, .r16/.raw, .r32, .hgt, .hgt.gz, .asc, .txt, .csv, .dds, .png, .bmp, .exr and
.tif/.tiff; some of these are written.
"""

import operator
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple, TypedDict, Unpack

import numpy as np

from terrain_physics._kernels.surface.shapes import FARTHEST
from terrain_physics._support import checks
from terrain_physics._support.files import checked_size, file_name, written_whole
from terrain_physics._support.pictures import PNG_MARK, png_chunk
from terrain_physics._support.warn import warn
from terrain_physics.heightmap.formats.channels import ENCODINGS
from terrain_physics.heightmap.formats.readers import (
    HEADERLESS,
    PICTURES,
    RAW,
    READERS,
    TILES,
    WITHOUT_SIZE,
)
from terrain_physics.heightmap.formats.source import (
    PIXEL_LIMIT,
    Heights,
    Loaded,
    Source,
    equal_to,
    largest,
)
from terrain_physics.heightmap.placement import Placement

_WRITTEN = (".npy", *RAW, ".png")
_PIXELS_AT_ONCE = 1 << 20
_VOID = -32768


class FileOptions(TypedDict, total=False):
    """Keywords of `load_heights`."""

    shape: Sequence[int] | None
    byte_order: Literal["little", "big"]
    height_range: Sequence[float] | None
    flip: Literal["rows", "columns", "both"] | None
    channel: str | None
    encoding: Literal["terrarium", "mapbox"] | None
    no_data: float | None
    key: str | None
    mmap: bool


def load_heights(path: str | os.PathLike[str], **options: Unpack[FileOptions]) -> Heights:
    """Return the heights in a file, as a new two-dimensional array ``[row, column]``.

    The suffix, in upper or lower case, determines the format:

    - ``.npy``: integers of 1 to 8 bytes, floats of 2 to 8; nothing is ever unpickled.
    - ``.npz``: one such array, or that with the ``key``; at most 640 MB of a compressed one.
    - ``.r16``, ``.raw``: unsigned 16-bit integers without a header; a square unless ``shape`` is
      given. ``.r32``: the same of 32-bit floats.
    - ``.hgt``: SRTM tiles, big-endian signed 16-bit meters; a square (1201, 3601 or any other)
      unless ``shape`` is given. The value -32768, called *void*, becomes NaN, a hole.
    - ``.hgt.gz``: the same, packed by gzip; at most 80 million heights.
    - ``.asc``: ESRI's ASCII grids. The value ``NODATA_value``, or -9999, becomes NaN, a hole.
    - ``.txt``, ``.csv``: a row of numbers in each line, separated by semicolons, tabs, commas or
      spaces, whichever the first line has. Empty lines, and lines that begin with ``#``, are left
      out. A file that begins as an ESRI ASCII grid is read as one.
    - ``.dds``: one channel without compression: 8 or 16-bit unsigned integers ("luminance", R8,
      R16) or floats (R16F, R32F), with the old header or the DX10 header; the top mip level.
    - ``.png``: any; 16 bits stay 16 bits, fewer than 8 and palettes become 8. Every checksum must
      be right.
    - ``.bmp``: 1, 4 or 8 bits with a palette, 24 or 32 bits; not compressed.
    - ``.exr``: 16 or 32-bit floats or 32-bit integers in one part.
    - ``.tif``, ``.tiff``: one channel of 32-bit floats, 8, 16 or 32-bit unsigned or 16 or 32-bit
      signed integers, uncompressed or with lossless compression; the first page. A big-endian file
      must be uncompressed or unsigned. The "no data" value of a GeoTIFF becomes NaN, a hole.

    A picture (``.png``, ``.bmp``, ``.exr``) is gray: it has one channel, or red, green and blue are
    equal, or it names the ``channel`` or the ``encoding``. Where alpha is 0 it has holes; elsewhere
    it must be opaque.

    Parameters
    ----------
    path : str or os.PathLike
        The file.
    **options
        As below, by name.

    Other Parameters
    ----------------
    shape : (int, int), optional
        Rows and columns of an ``.r16``, ``.raw``, ``.r32``, ``.hgt`` or ``.hgt.gz`` file that is
        not square; each >= 2.
    byte_order : {"little", "big"}
        The byte order of an ``.r16``, ``.raw`` or ``.r32`` file.
    height_range : (float, float), optional
        The heights in meters of the lowest and the highest number that an 8 or 16-bit unsigned file
        can hold: 0..255 or 0..65535 become low..high, linearly, in float64. Without it integers are
        returned as they are. Not for signed integers and floats, which are already meters.
    flip : {"rows", "columns", "both"}, optional
        Reverse the order of the rows, the columns or both. Pictures and SRTM tiles have north at
        the top, in row 0; row 0 of a height map has the least z.
    channel : {"red", "green", "blue", "alpha", "gray"} or str, optional
        The channel of a picture that holds the heights, whatever the others and alpha are. Others
        of an ``.exr`` file have the names that it gives them.
    encoding : {"terrarium", "mapbox"}, optional
        How the 8-bit red, green and blue of a ``.png`` or ``.bmp`` are meters: 256 red + green +
        blue / 256 - 32768, or (65536 red + 256 green + blue) / 10 - 10000; in float64.
    no_data : float, optional
        The number that means "no data" in the file, besides what the file says itself: it becomes
        NaN, a hole. It is compared before ``height_range``, but with meters of an ``encoding``.
    key : str, optional
        Which array of an ``.npz`` file.
    mmap : bool, default False
        Map a ``.npy`` file of float32 into memory instead of reading it: pages are read when they
        are needed, and those that are written to are copied; the file stays as it is. The file
        must not change meanwhile: if it is cut short, the process ends.

    Returns
    -------
    ndarray of shape (rows, columns)
        At least 2 x 2, in native byte order, C-contiguous. Floats keep their precision. Integers
        with holes become float32, or float64 if they have more than 16 bits, exactly.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is not a regular file, is damaged, too short or too long, has several channels,
        is an image of more than 80 million pixels or 1 GiB, or does not fit an option; if it holds
        an infinite height, one of 1e38 m and more, or, in 16 bits, -32768, which is none: with
        ``no_data`` it is a hole. The message names the file, the rule and the value.
    TypeError
        If ``path`` or an option has the wrong type.
    ImportError
        If the file is an image, and the library that reads it is missing.
    """
    return load_placed(path, **options).heights


class PlacedHeights(NamedTuple):
    """The heights in a file, ``[row, column]``, and where they lie if the file says so.

    ``numbers`` is the largest number of a picture whose numbers are taken for meters.
    """

    heights: Heights
    placement: Placement | None
    numbers: int | None


def load_placed(path: str | os.PathLike[str], **options: Unpack[FileOptions]) -> PlacedHeights:
    """Return the heights as `load_heights` does, and where they lie."""
    source, loaded, limits, no_data = _loaded(path, is_mapped=False, **options)
    loaded = _with_holes(source, loaded, no_data)
    heights = _in_meters(source, loaded, limits)
    if limits is None:
        _refuse_far(source, heights)
    numbers = None
    if _suffix(source.name) in TILES and limits is None and loaded.heights.dtype.kind == "u":
        numbers = largest(loaded.heights)
    flip = options.get("flip")
    placement = loaded.placement and loaded.placement.flipped(heights.shape, flip)
    heights = _flipped(heights, flip)
    native = np.ascontiguousarray(heights, dtype=heights.dtype.newbyteorder("="))
    return PlacedHeights(native, placement, numbers)


def _loaded(
    path: str | os.PathLike[str], *, is_mapped: bool, **options: Unpack[FileOptions]
) -> tuple[Source, Loaded, tuple[float, float] | None, float | None]:
    """Return the source, what is in it, the checked range and "no data"."""
    name = file_name(path)
    suffix = _suffix(name)
    if suffix not in READERS:
        raise ValueError(f"{name}: suffix must be one of {', '.join(READERS)}, got {suffix!r}")
    counts, limits, no_data = _checked_options(name, suffix, **options)
    size = checked_size(name)
    with Path(name).open("rb") as file:
        source = Source(
            name,
            file,
            size,
            counts,
            options.get("byte_order", "little"),
            options.get("mmap", False),
            options.get("channel"),
            options.get("encoding"),
            options.get("key"),
            is_mapped,
        )
        return source, READERS[suffix](source), limits, no_data


def can_be_mapped(path: str | os.PathLike[str]) -> bool:
    """Tell by a file's name whether `MappedHeights` takes it."""
    return _suffix(file_name(path)) in (".npy", *HEADERLESS)


class MappedHeights:
    """The heights in a file that is mapped into memory, as `load_heights` returns them, by rows.

    The file must not change meanwhile: if it is cut short, the process ends.

    Attributes
    ----------
    shape : (int, int)
    """

    def __init__(self, path: str | os.PathLike[str], **options: Unpack[FileOptions]) -> None:
        self._source, loaded, self._limits, self._no_data = _loaded(path, is_mapped=True, **options)
        self._numbers = _flipped(loaded.heights, options.get("flip"))
        self.shape: tuple[int, ...] = self._numbers.shape

    def __getitem__(self, rows: slice) -> Heights:
        """Return the heights of some rows, in memory."""
        loaded = _with_holes(self._source, Loaded(self._numbers[rows]), self._no_data)
        heights = _in_meters(self._source, loaded, self._limits)
        if self._limits is None:
            _refuse_far(self._source, heights)
        return np.ascontiguousarray(heights, dtype=heights.dtype.newbyteorder("="))


def warn_of_numbers(path: str | os.PathLike[str], loaded: PlacedHeights) -> None:
    """Warn if the numbers of a picture become heights in meters."""
    if loaded.numbers is None:
        return
    least, greatest = (each.reduce(loaded.heights, axis=None) for each in (np.fmin, np.fmax))
    warn(
        f"{file_name(path)}: {loaded.numbers.bit_length()}-bit numbers without height_range are "
        f"taken for meters: 0 to {loaded.numbers} m, here {least:g} to {greatest:g} m. Pass "
        "height_range=(low, high); save returns it"
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
    _check_order(name, suffix, RAW, byte_order=byte_order, flip=flip)
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


def _checked_options(
    name: str,
    suffix: str,
    *,
    shape: Any = None,
    byte_order: Any = "little",
    height_range: Any = None,
    flip: Any = None,
    channel: Any = None,
    encoding: Any = None,
    no_data: Any = None,
    key: Any = None,
    mmap: Any = False,
) -> tuple[tuple[int, int] | None, tuple[float, float] | None, float | None]:
    """Return the shape, the range and "no data"; refuse options that do not fit the file."""
    _check_order(name, suffix, HEADERLESS, byte_order=byte_order, flip=flip)
    checks.instance("mmap", mmap, bool)
    if mmap and suffix != ".npy":
        raise ValueError(f"{name}: mmap is for .npy files, got {suffix}")
    for option, value in (("flip", flip), ("no_data", no_data)):
        if mmap and value is not None:
            raise ValueError(
                f"{name}: {option} needs a copy, use mmap=False, got {option}={value!r}"
            )
    for option, text, suffixes in (("channel", channel, PICTURES), ("key", key, (".npz",))):
        if text is not None:
            checks.instance(option, text, str)
            _refuse_others(name, option, suffixes, suffix)
    if encoding is not None:
        checks.choice("encoding", encoding, tuple(ENCODINGS))
        _refuse_others(name, "encoding", TILES, suffix)
        for option, value in (("channel", channel), ("height_range", height_range)):
            if value is not None:
                rule = f"{option} must be left out with an encoding, which gives meters"
                raise ValueError(f"{name}: {rule}, got {checks.shorten(value)}")
    if shape is not None:
        _refuse_others(name, "shape", WITHOUT_SIZE, suffix)
    none = None if no_data is None else checks.between("no_data", no_data, -np.inf, np.inf)
    return _checked_shape(shape), _checked_range(height_range), none


def _check_order(
    name: str, suffix: str, suffixes: tuple[str, ...], *, byte_order: Any, flip: Any
) -> None:
    """Check options of order; ``suffixes`` are of files with either byte order."""
    checks.choice("byte_order", byte_order, ("little", "big"))
    if byte_order == "big":
        _refuse_others(name, "byte_order", suffixes, suffix)
    if flip is not None:
        checks.choice("flip", flip, ("rows", "columns", "both"))


def _refuse_others(name: str, option: str, suffixes: tuple[str, ...], suffix: str) -> None:
    """Refuse an option that is for files with other suffixes."""
    if suffix not in suffixes:
        *others, last = suffixes
        known = f"{', '.join(others)} and {last}" if others else last
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


def _with_holes(source: Source, loaded: Loaded, no_data: float | None) -> Loaded:
    """Return what was loaded with holes where it is no data; refuse voids that nobody named."""
    heights, holes, _ = loaded
    if no_data is not None:
        named = equal_to(heights, no_data)
        holes = named if holes is None else holes | named
    if heights.dtype.str[1:] == "i2" or source.encoding == "terrarium":
        bad = heights == _VOID
        if holes is not None:
            bad &= ~holes
        if bad.any():
            place = np.argwhere(bad)[0].tolist()
            rule = f'heights of 16 bits must be above {_VOID}, which means "no data"'
            raise source.bad(f"{rule}, got it at {place}. Pass no_data={_VOID} for holes there")
    return loaded._replace(holes=holes)


def _in_meters(source: Source, loaded: Loaded, limits: tuple[float, float] | None) -> Heights:
    heights, holes = loaded.heights, loaded.holes
    if limits is not None:
        if heights.dtype.str[1:] not in {"u1", "u2"}:
            rule = "height_range is for 8 or 16-bit unsigned heights"
            raise source.bad(f"{rule}, got {heights.dtype.name}")
        share = heights.astype(np.float64) / (255.0 if heights.dtype.itemsize == 1 else 65535.0)
        heights = limits[1] * share + limits[0] * (1.0 - share)  # exact at both ends
    if holes is not None:
        if heights.dtype.kind != "f":
            heights = heights.astype(np.float32 if heights.dtype.itemsize <= 2 else np.float64)
        heights = np.where(holes, heights.dtype.type(np.nan), heights)
    return heights


def _refuse_far(source: Source, heights: Heights) -> None:
    """Refuse heights that are infinite, or beyond all lengths that are computed with."""
    place = _first_beyond(heights, FARTHEST)
    if place is None:
        return
    value = float(heights[tuple(place)])
    if np.isinf(value):
        raise source.bad(f"heights must be finite or NaN, got infinity at {place}")
    rule = f'heights must be below {FARTHEST:g} m (from there on a number means "no data")'
    raise source.bad(f"{rule}, got {value!r} at {place}. Pass no_data={value!r} for holes there")


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
    if (place := _first_beyond(values, np.inf)) is not None:
        raise ValueError(f"{name}: heights must be finite or NaN, got infinity at {place}")
    return values


def _first_beyond(heights: Heights, limit: float) -> list[int] | None:
    """Return [row, column] of the first height of a limit or more; the search goes by parts."""
    if heights.dtype.kind != "f":
        return None
    step = max(1, _PIXELS_AT_ONCE // heights.shape[1])
    for first in range(0, len(heights), step):
        beyond = np.abs(heights[first : first + step]) >= np.float64(limit)
        if beyond.any():
            row, column = np.argwhere(beyond)[0].tolist()
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
    header = struct.pack(">IIBBBBB", columns, rows, 8 * size, 0, 0, 0, 0)
    file.write(PNG_MARK + png_chunk(b"IHDR", header))
    packer = zlib.compressobj()
    above = np.zeros((1, columns * size), np.uint8)
    for numbers in _numbers(values, limits):
        lines = np.ascontiguousarray(numbers.astype(f">u{size}")).view(np.uint8)
        # Filter 2 of the format, each byte minus the one above: smooth land compresses well.
        filtered = np.full((len(lines), columns * size + 1), 2, np.uint8)
        filtered[:, 1:] = lines - np.concatenate([above, lines[:-1]])
        if packed := packer.compress(filtered.tobytes()):
            file.write(png_chunk(b"IDAT", packed))
        above = lines[-1:]
    file.write(png_chunk(b"IDAT", packer.flush()) + png_chunk(b"IEND", b""))
