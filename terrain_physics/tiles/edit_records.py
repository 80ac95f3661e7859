"""Edits as bytes of a log: what they begin with, and records that follow one another.

The first bytes name the land that the edits are of. A record has the values of a rectangle within a
square of the lattice, as large as a tile; a larger edit is several records, of which all but the
last say that others follow. Once all is on the disk, a mark is written that says so.

A process that is killed leaves the beginning of a last edit, and a machine whose power goes may
leave anything behind the last mark: what begins there with a damaged record is left out. Damage
before a mark is an error, or is left out and told.
"""

import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics._public import public
from terrain_physics.heightmap.cells import Bounds, Ranges, ranges_of
from terrain_physics.heightmap.framed import DTYPES, KINDS
from terrain_physics.heightmap.undo import Patch
from terrain_physics.tiles.log import Log, Read

MAGIC, VERSION = b"\x89EDITS\r\n", 1

_START = struct.Struct("<8sI16s")
_CHECKSUM = struct.Struct("<I")

_TYPES = tuple(DTYPES[kind] for kind in KINDS)  # by the number of a kind, its place in `KINDS`
_SIZES = tuple(each.itemsize for each in _TYPES)

# A record: the CRC-32 of what follows, these fields, the values. The fields: a mark, the kind,
# flags, rows and columns from start to before stop.
_FIELDS = struct.Struct("<BBBx4I")
_MARK, _SAVED = 0xED, 0xFF

FOLLOWED = 1
"""A flag: further records belong to the same edit."""

RENEWING = 2
"""A flag: the record is the first of all values of its kind in its square; earlier ones are old."""

HEAD = _CHECKSUM.size + _FIELDS.size
"""Bytes of a record before its values."""

_AT_ONCE = 1 << 20

# How often the bytes of a file are summed up, at most, to find whole records behind damaged ones.
_MOST_SEARCHED = 16

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
        Where it is in the log.
    checksum : int
        The CRC-32 of its fields and values.
    flags : int
        `FOLLOWED`, `RENEWING`.
    """

    kind: int
    row_start: int
    row_stop: int
    column_start: int
    column_stop: int
    place: int
    checksum: int
    flags: int = 0

    @property
    def ranges(self) -> Ranges:
        """Rows and columns as slices."""
        return ranges_of(self[1:5])

    def patch(self, values: NDArray[Any]) -> Patch:
        """Return it with its values."""
        return Patch(KINDS[self.kind], self.ranges, values)

    @property
    def length(self) -> int:
        """How many bytes it is in the log."""
        rows, columns = self.shape
        return HEAD + rows * columns * _SIZES[self.kind]

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return self.row_stop - self.row_start, self.column_stop - self.column_start


def start_of(digest: str) -> bytes:
    """Return the bytes that the edits of a land begin with."""
    content = _START.pack(MAGIC, VERSION, bytes.fromhex(digest))
    return content + _CHECKSUM.pack(zlib.crc32(content))


def packed(kind: int, bounds: Bounds, values: NDArray[Any], flags: int = 0) -> tuple[bytes, int]:
    """Return the bytes of a record, and its checksum."""
    if values.dtype != _TYPES[kind]:
        values = values.astype(_TYPES[kind])
    content = _FIELDS.pack(_MARK, kind, flags, *bounds) + values.tobytes()
    checksum = zlib.crc32(content)
    return checksum.to_bytes(4, "little") + content, checksum


def saved_mark(place: int) -> bytes:
    """Return the mark that stands at a place, of which all before is on the disk."""
    fields = _FIELDS.pack(_MARK, _SAVED, 0, place & 0xFFFFFFFF, place >> 32, 0, 0)
    return _CHECKSUM.pack(zlib.crc32(fields)) + fields


class _TornError(Exception):
    """A record that is not as it was written."""


@public
class LostEdit(NamedTuple):
    """What a file of edits has lost by damage; see `TiledGround.lost_edits`.

    Attributes
    ----------
    place, nbytes : int
        Where in the file it is, and how many bytes are left out.
    what : "heights", "holes", "materials" or None
        None if that cannot be read any more: both ranges are then, too.
    row_range, column_range : range or None
        Samples of heights; else cells.
    """

    place: int
    nbytes: int
    what: str | None = None
    row_range: range | None = None
    column_range: range | None = None


def lost(record: EditRecord) -> LostEdit:
    """Return a whole record as one that is left out."""
    rows, columns = range(*record[1:3]), range(*record[3:5])
    return LostEdit(record.place, record.length, KINDS[record.kind], rows, columns)


class RecordReader:
    """Reads the records of a log, one after another.

    Attributes
    ----------
    end : int
        Where the last edit or mark ends: what follows is torn.
    lost : list of LostEdit or None
        What was damaged and left out; None: damage is an error.
    """

    def __init__(self, log: Log, start: bytes, *, skips: bool = False) -> None:
        self._log, self._start = log, start
        self.end = len(start)
        self.lost: list[LostEdit] | None = [] if skips else None
        self._searched = 0

    def records(self) -> Iterator[tuple[EditRecord, NDArray[Any]]]:
        """Yield records with their values; ValueError naming the first one that is damaged."""
        with self._log.reader() as file:
            _check_start(file.read(len(self._start)), self._start)
            number, place = 0, self.end
            edit: list[tuple[EditRecord, NDArray[Any]]] = []
            while True:
                try:
                    found = self._next(file, place)
                except (_TornError, ValueError) as error:
                    if isinstance(error, _TornError) and not _is_marked_behind(file, place):
                        return
                    if self.lost is None:
                        raise ValueError(
                            f"record {number} at byte {place} is damaged: {error}; "
                            'TiledGround.open(..., damaged="skip") keeps the others'
                        ) from None
                    yield from edit
                    edit, number = [], number + 1
                    self.end = place = self._skip(file, place, self.lost)
                    continue
                if found is None:  # a mark
                    place += HEAD
                    self.end = place
                    continue
                edit.append(found)
                place, number = place + found[0].length, number + 1
                if not found[0].flags & FOLLOWED:
                    yield from edit
                    edit, self.end = [], place

    def _next(self, file: BinaryIO, place: int) -> tuple[EditRecord, NDArray[Any]] | None:
        """Return the record at a place, with its values; None if a mark stands there."""
        head = file.read(HEAD)
        if head == saved_mark(place):
            return None
        record = _record_of(head, place)
        if record.length > self._log.size - place:
            raise _TornError("it must be whole")
        content = head + file.read(record.length - HEAD)
        if not _has_checksum(record, content):
            raise _TornError("it must have its checksum")
        return record, _values_of(record, content)

    def _skip(self, file: BinaryIO, place: int, lost_edits: list[LostEdit]) -> int:
        """Note what is damaged at a place; return where the next whole record or mark is.

        The file is read from there on. Most bytes are values: if they alone are damaged, the record
        still says where it ends.
        """
        file.seek(place)
        with suppress(_TornError, ValueError):
            record = _record_of(file.read(HEAD), place)
            end = place + record.length
            if self._is_whole(file, end):
                lost_edits.append(lost(record))
                file.seek(end)
                return end
        ends = (at for at in _begun(file, place + 1, bytes([_MARK])) if self._is_whole(file, at))
        end = next(ends, self._log.size)
        lost_edits.append(LostEdit(place, end - place))
        file.seek(end)
        return end

    def _is_whole(self, file: BinaryIO, place: int) -> bool:
        """Tell whether a record or a mark stands at a place."""
        size = self._log.size
        if place > size or self._searched > _MOST_SEARCHED * (size + _AT_ONCE):
            return False
        file.seek(place)
        try:
            self._next(file, place)
        except (_TornError, ValueError):
            return False
        finally:
            self._searched += file.tell() - place
        return True


def _is_marked_behind(file: BinaryIO, place: int) -> bool:
    """Tell whether a mark stands behind a place: all up to there was on the disk."""
    for at in _begun(file, place, saved_mark(0)[_CHECKSUM.size :][:4]):  # alike in all marks
        file.seek(at)
        if file.read(HEAD) == saved_mark(at):
            return True
    return False


def _begun(file: BinaryIO, place: int, fields: bytes) -> Iterator[int]:
    """Yield the places, from one on, whose fields begin so."""
    place += _CHECKSUM.size
    while True:
        file.seek(place)
        part = file.read(_AT_ONCE)
        found = part.find(fields)
        while found >= 0:
            yield place + found - _CHECKSUM.size
            found = part.find(fields, found + 1)
        if len(part) < _AT_ONCE:
            return
        place += len(part) + 1 - len(fields)


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


def _record_of(head: bytes, place: int) -> EditRecord:
    """Return what the first bytes of a record, at a place, say: it may be torn all the same."""
    if len(head) < HEAD:
        raise _TornError("it must be whole")
    (checksum,) = _CHECKSUM.unpack_from(head)
    mark, kind, flags, *bounds = _FIELDS.unpack_from(head, _CHECKSUM.size)
    row_start, row_stop, column_start, column_stop = bounds
    is_some = row_start < row_stop and column_start < column_stop
    if mark == _MARK and is_some and kind in range(len(KINDS)):
        return EditRecord(
            kind, row_start, row_stop, column_start, column_stop, place, checksum, flags
        )
    if zlib.crc32(head[_CHECKSUM.size :]) != checksum:
        raise _TornError("its first bytes must be those of an edit")
    if is_some:
        raise ValueError(f"its kind must be one of {', '.join(KINDS)}, got {kind}")
    raise ValueError(f"its rows and columns must be some, got {tuple(bounds)}")


def _has_checksum(record: EditRecord, content: bytes) -> bool:
    """Tell whether the bytes of a record are those that were written."""
    return zlib.crc32(memoryview(content)[_CHECKSUM.size :]) == record.checksum


def read_values(record: EditRecord, read: Read) -> NDArray[Any]:
    """Return the values of a record of a log; ValueError if they have changed."""
    content = read(record.place, record.length)
    if not _has_checksum(record, content):
        raise ValueError(
            f"the edit at byte {record.place} must have its checksum: changed or damaged"
        )
    return _values_of(record, content)


def _values_of(record: EditRecord, content: bytes) -> NDArray[Any]:
    """Return the values of a record, read-only."""
    return np.frombuffer(content, _TYPES[record.kind], offset=HEAD).reshape(record.shape)
