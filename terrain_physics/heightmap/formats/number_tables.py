"""Tables of numbers as text: .txt and .csv files, a row of heights in each line."""

from collections.abc import Iterator
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from terrain_physics.heightmap.formats.source import Loaded, Source, refuse_few
from terrain_physics.heightmap.formats.text_grids import begins_as_grid, read_asc, text_start

_LONGEST_LINE = 1 << 22  # bytes: its numbers take many times that while they are read
_START_BYTES = 256
_SEPARATORS = (b";", b"\t", b",")  # else space
_SHOWN = 40


def read_table(source: Source) -> Loaded:
    """Return a table of numbers; a text file may also be an ESRI ASCII grid."""
    head = source.file.read(_START_BYTES)
    start = text_start(source, head)
    source.file.seek(0)
    if begins_as_grid(head[start:]):
        return read_asc(source)
    source.file.seek(start)
    rows: list[NDArray[np.float64]] = []
    first, separator = 0, None
    for number, line in _lines(source):
        if not rows:
            first, separator = number, _separator(line)
        rows.append(_row(source, number, line, separator))
        count, wanted = len(rows[-1]), len(rows[0])
        if count != wanted:
            rule = f"line {number} must have {wanted} numbers, as line {first} has"
            raise source.bad(f"{rule}, got {count}")
    refuse_few(source, len(rows), len(rows[0]) if rows else 0)
    return Loaded(np.array(rows))


def _lines(source: Source) -> Iterator[tuple[int, bytes]]:
    """Yield lines with their numbers, but not empty ones and comments."""
    number = 0
    while line := source.file.readline(_LONGEST_LINE + 1):
        number += 1
        if len(line) > _LONGEST_LINE:
            raise source.bad(f"line {number} must have at most {_LONGEST_LINE} bytes, got more")
        line = line.strip()
        if line and not line.startswith(b"#"):
            yield number, line


def _separator(line: bytes) -> bytes | None:
    return next((mark for mark in _SEPARATORS if mark in line), None)


def _row(source: Source, number: int, line: bytes, separator: bytes | None) -> NDArray[np.float64]:
    """Return the numbers of a line, which may end with a separator."""
    words = (line.removesuffix(separator) if separator else line).split(separator)
    with suppress(ValueError):
        if b"_" not in line:  # Python's numbers may have it
            return np.array([float(word) for word in words])
    bad = next(word for word in words if not _is_number(word))
    comma = ", with a point" if b"," in bad else ""
    got = bad.strip()[:_SHOWN]
    raise source.bad(f"line {number} must hold numbers{comma}, got {got!r}")


def _is_number(word: bytes) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return b"_" not in word
