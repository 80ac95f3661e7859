"""Edits as bytes of a log: what they begin with, and records that follow one another.

The first bytes name the land that the edits are of. A process that is killed leaves at most the
beginning of a last record, which is left out. Damage anywhere else is an error.
"""

import struct
import zlib
from collections.abc import Iterator
from math import prod
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics.heightmap.cells import Ranges
from terrain_physics.heightmap.storage import Edited
from terrain_physics.tiles.log import Log

MAGIC, VERSION = b"\x89EDITS\r\n", 1

_START = struct.Struct("<8sI16s")
_CHECKSUM = struct.Struct("<I")

KINDS: tuple[Edited, ...] = ("heights", "holes", "materials")
"""What may be edited; the place of a word is its number in a record."""

TYPES = (np.dtype("<f4"), np.dtype("u1"), np.dtype("u1"))
"""Of the values of each kind."""

# A mark, the kind, rows and columns from start to before stop, the CRC-32 of the values.
_FIELDS = struct.Struct("<BB2x5I")
_MARK = 0xED
HEAD = _FIELDS.size + _CHECKSUM.size
"""Bytes of a record before its values."""

_AT_ONCE = 1 << 20

MOST_VALUES = 1 << 28
"""Of one record."""


class EditRecord(NamedTuple):
    """One edit: the new values of a rectangle of the lattice.

    Attributes
    ----------
    kind : int
        A place in `KINDS`.
    row_start, row_stop, column_start, column_stop : int
        Samples of heights; else cells.
    place : int
        Where its values are in the log.
    checksum : int
        The CRC-32 of its values.
    """

    kind: int
    row_start: int
    row_stop: int
    column_start: int
    column_stop: int
    place: int
    checksum: int

    @property
    def ranges(self) -> Ranges:
        """Rows and columns as slices."""
        return slice(self.row_start, self.row_stop), slice(self.column_start, self.column_stop)

    @property
    def length(self) -> int:
        """How many bytes its values are."""
        return prod(self.shape) * TYPES[self.kind].itemsize

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return self.row_stop - self.row_start, self.column_stop - self.column_start


def start_of(digest: str) -> bytes:
    """Return the bytes that the edits of a land begin with."""
    content = _START.pack(MAGIC, VERSION, bytes.fromhex(digest))
    return content + _CHECKSUM.pack(zlib.crc32(content))


def packed(kind: int, bounds: tuple[int, int, int, int], values: NDArray[Any]) -> tuple[bytes, int]:
    """Return the bytes of a record, and the CRC-32 of its values."""
    if values.dtype != TYPES[kind]:
        values = values.astype(TYPES[kind])
    content = values.tobytes()
    checksum = zlib.crc32(content)
    head = _FIELDS.pack(_MARK, kind, *bounds, checksum)
    return head + zlib.crc32(head).to_bytes(4, "little") + content, checksum


class RecordReader:
    """Reads the records of a log, one after another.

    Attributes
    ----------
    end : int
        Where the records end: what follows is torn.
    """

    def __init__(self, log: Log, start: bytes) -> None:
        self._log, self._start = log, start
        self.end = len(start)

    def records(self) -> Iterator[tuple[EditRecord, NDArray[Any]]]:
        """Yield records with their values; ValueError naming the first one that is damaged."""
        size = self._log.size
        with self._log.reader() as file:
            _check_start(file.read(len(self._start)), self._start)
            number = 0
            while size - self.end >= HEAD:
                head = file.read(HEAD)
                if not any(head) and _is_zero(file):  # a power failure may leave such an end
                    return
                try:
                    record = _record_of(head, self.end + HEAD)
                    if record.length > size - record.place:
                        return
                    content = file.read(record.length)
                    _check_values(record, content)
                except ValueError as error:
                    raise ValueError(
                        f"record {number} at byte {self.end} is damaged: {error}"
                    ) from None
                self.end = record.place + record.length
                number += 1
                yield record, values_of(record, content)


def _is_zero(file: BinaryIO) -> bool:
    """Tell whether all that follows in a file is zero."""
    return all(part.count(0) == len(part) for part in iter(lambda: file.read(_AT_ONCE), b""))


def _check_start(content: bytes, start: bytes) -> None:
    """Refuse what are no edits, or edits of another land."""
    if content == start:
        return
    if content[: len(MAGIC)] != MAGIC or len(content) < len(start):
        raise ValueError(f"file must be one of edits of a TiledGround, got {content[:8]!r} first")
    _, version, digest = _START.unpack_from(content)
    if zlib.crc32(content[:-4]) != _CHECKSUM.unpack(content[-4:])[0]:
        raise ValueError("the first bytes must have their checksum: damaged")
    if version != VERSION:
        raise ValueError(
            f"file must be of version {VERSION}, got {version}: another version of terrain_physics "
            "wrote it, and can open it"
        )
    _, _, own = _START.unpack_from(start)
    raise ValueError(
        f"edits must be of the same land, with digest {own.hex()}, got {digest.hex()}: was the "
        "file of tiles made anew?"
    )


def _check_values(record: EditRecord, content: bytes) -> None:
    if zlib.crc32(content) != record.checksum:
        raise ValueError("its values must have their checksum")


def _record_of(head: bytes, place: int) -> EditRecord:
    """Return a record of its first bytes; its values follow at a place."""
    fields = _FIELDS.unpack_from(head)
    if zlib.crc32(head[:-4]) != _CHECKSUM.unpack(head[-4:])[0]:
        raise ValueError("its first bytes must have their checksum")
    mark, kind, row_start, row_stop, column_start, column_stop, checksum = fields
    if mark != _MARK or kind >= len(KINDS):
        raise ValueError(f"its kind must be one of {', '.join(KINDS)}, got {kind}")
    if not (row_start < row_stop and column_start < column_stop):
        raise ValueError(f"its rows and columns must be some, got {fields[2:6]}")
    return EditRecord(kind, row_start, row_stop, column_start, column_stop, place, checksum)


def values_of(record: EditRecord, content: bytes) -> NDArray[Any]:
    """Return the values of a record, read-only."""
    return np.frombuffer(content, TYPES[record.kind]).reshape(record.shape)
