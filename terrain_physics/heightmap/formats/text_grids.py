"""Grids of text with a header: ESRI's .asc files."""

import codecs
import math
import re

import numpy as np
from numpy.typing import NDArray

from terrain_physics.heightmap.formats.source import Loaded, Source, refuse_few
from terrain_physics.heightmap.placement import GridAxis, Placement

_GRID_KEYS = {
    b"ncols", b"nrows", b"cellsize", b"dx", b"dy", b"nodata_value",
    b"xllcorner", b"xllcenter", b"yllcorner", b"yllcenter",
}  # fmt: skip
_GRID_HEADER = re.compile(rb"\s*([A-Za-z_]+)[ \t]+(\S+)")
_GRID_HEADER_BYTES = 2048
_TEXT_AT_ONCE = 1 << 20
_LONGEST_NUMBER = 400  # bytes: the largest float has 309 digits before its point


def read_asc(source: Source) -> Loaded:
    """Return the heights of an ESRI ASCII grid."""
    fields, start = _grid_header(source)
    rows, columns = (_grid_count(source, fields, key) for key in (b"nrows", b"ncols"))
    refuse_few(source, rows, columns)
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


def begins_as_grid(head: bytes) -> bool:
    """Tell whether text begins with a line of a grid's header."""
    line = _GRID_HEADER.match(head)
    return line is not None and line[1].lower() in _GRID_KEYS


def text_start(source: Source, head: bytes) -> int:
    """Return where text begins, after a byte order mark; refuse text of 16 bits."""
    if head[:2] in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE}:
        raise source.bad("must be text in ASCII or UTF-8, got UTF-16")
    return len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0


def _grid_header(source: Source) -> tuple[dict[bytes, float], int]:
    """Return the numbers in the header of a text grid, and where its heights begin."""
    head = source.file.read(_GRID_HEADER_BYTES)
    fields: dict[bytes, float] = {}
    start = text_start(source, head)
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
