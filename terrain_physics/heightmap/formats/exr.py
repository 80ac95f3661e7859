"""OpenEXR files, which the library OpenEXR decodes."""

from typing import Any

from terrain_physics.heightmap.formats.channels import heights_of
from terrain_physics.heightmap.formats.source import (
    PIXEL_LIMIT,
    Loaded,
    Source,
    refuse_size,
)

_MAGIC, _DEEP = b"v/1\x01", 0x800
_NAMES = {"Y": "gray", "R": "red", "G": "green", "B": "blue", "A": "alpha"}
_RATIO = 1 << 18  # bytes that one byte can expand to, at most, in any of its compressions
_MOST_NUMBERS = 4 * PIXEL_LIMIT


def read_exr(source: Source) -> Loaded:
    """Return the only channel of an OpenEXR file, the one that is asked for, or gray."""
    start = source.file.read(8)
    if start[:4] != _MAGIC or len(start) < 8:
        raise source.bad(f"must start as an OpenEXR file, got {start!r}")
    if int.from_bytes(start[4:], "little") & _DEEP:
        raise source.bad("must have one sample in each pixel, got deep data")
    library = _library(source)
    _refuse_sizes(source, _part(source, library, header_only=True).header)
    part = _part(source, library, header_only=False)
    found = {name: channel.pixels for name, channel in part.channels.items()}
    known = {word: found.pop(letter) for letter, word in _NAMES.items() if letter in found}
    return heights_of(source, known | found)


def _library(source: Source) -> Any:
    try:
        import OpenEXR
    except ImportError as error:
        remedy = '.exr files need OpenEXR: pip install "terrain-physics[exr]"'
        raise ImportError(f"{source.name}: {remedy}", name="OpenEXR") from error
    return OpenEXR


def _part(source: Source, library: Any, *, header_only: bool) -> Any:
    """Return the only part of a file."""
    try:
        file = library.File(source.name, separate_channels=True, header_only=header_only)
        parts = list(file.parts)
    except Exception as error:  # the library raises several kinds of errors for damaged files
        raise source.bad(f"damaged .exr file ({type(error).__name__}: {error})") from error
    if len(parts) != 1:  # none if its pixels cannot be read
        raise source.bad(f"must have one part, undamaged, got {len(parts)}")
    return parts[0]


def _refuse_sizes(source: Source, header: dict[str, Any]) -> None:
    """Refuse too many pixels, and channels that do not have them all."""
    lower, upper = header["dataWindow"]
    width, height = (int(end) - int(start) + 1 for start, end in zip(lower, upper, strict=True))
    channels = header["channels"]
    numbers = width * height * len(channels)
    refuse_size(source, width, height, 2 * numbers, source.size * _RATIO)
    if numbers > _MOST_NUMBERS:
        raise source.bad(f"must have at most {_MOST_NUMBERS} numbers, got {numbers}")
    reduced = [channel.name for channel in channels if channel.xSampling * channel.ySampling != 1]
    if reduced or not channels:
        raise source.bad(f"must have channels with all pixels, got {reduced or 'none'}")
