"""Files of triangles or spheres in partitions that workers read by themselves.

Text is cut at line ends, where each line holds whole rows; a file that is packed by gzip is one
partition. Of Parquet each row group is a partition.
"""

import glob
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics._support import files
from terrain_physics._support.threads import Workers
from terrain_physics.counter.text import NumberReader, TextError

COLUMNS = {
    "triangles": ("ax", "ay", "az", "bx", "by", "bz", "cx", "cy", "cz"),
    "spheres": ("r", "x", "y", "z"),
}
"""The columns of Parquet files."""

_PARTITION_SIZE = 1 << 25  # bytes of text
_SCAN = 1 << 16  # bytes that are looked at together for the end of a line
_ROWS_AT_ONCE = 1 << 18
_WHOLE_ROWS = "a line must hold whole rows where workers share a file: this one does not"
_PACKED, _PARQUET = b"\x1f\x8b", b"PAR1"


class Partition(NamedTuple):
    """A part of a file.

    Attributes
    ----------
    what : str
        "triangles" or "spheres".
    name : str
        Of the file, as it was given.
    path : str
        Where workers find it.
    first, last : int
        Bytes of text from which on, and before which, lines begin; or a row group, and the next.
    size : int
        Bytes of the file; of text only.
    kind : bytes
        The first bytes of the file, if they tell its kind.
    """

    what: str
    name: str
    path: str
    first: int
    last: int
    size: int
    kind: bytes


def partitions_of(what: str, names: Sequence[str]) -> list[Partition]:
    """Return the partitions of files, in order; a name may be a pattern or a folder of Parquet.

    The files of one name are in the order of the numbers in them, as Dask reads them: 2 before 10.
    """
    return [
        partition
        for name in names
        for file in _named_by(name)
        for partition in _partitions(what, file)
    ]


def _named_by(name: str) -> list[str]:
    if name and Path(name).is_dir():
        found = [str(file) for file in Path(name).glob("*.parquet")]
        rule = "must be a file, or a folder that holds *.parquet"
    elif name and Path(name).exists():
        return [name]
    else:
        found = glob.glob(name)  # noqa: PTH207 a Path would not keep the name as it is given
        rule = "no such file, and no pattern that any matches"
    if not found:
        raise TextError(name or "''", None, rule)
    return sorted(found, key=_by_numbers)


def _by_numbers(name: str) -> list[str | int]:
    return [int(part) if part.isdecimal() else part for part in re.split(r"([0-9]+)", name)]


def _partitions(what: str, name: str) -> Iterator[Partition]:
    try:
        size = files.checked_size(name)
    except ValueError:
        raise TextError(name, None, "must be a regular file: workers read it") from None
    path = str(Path(name).absolute())
    with Path(name).open("rb") as stream:
        kind = stream.read(4)
    if kind == _PARQUET:
        with _parquet(what, name, path) as opened:
            groups = opened.metadata.num_row_groups
        for group in range(groups):
            yield Partition(what, name, path, group, group + 1, size, kind)
    elif kind.startswith(_PACKED):
        yield Partition(what, name, path, 0, size, size, _PACKED)
    else:
        count = -(-size // _PARTITION_SIZE) or 1
        for k in range(count):
            first, last = k * size // count, (k + 1) * size // count
            yield Partition(what, name, path, first, last, size, b"")


def _parquet(what: str, name: str, path: str) -> Any:
    """Return an open Parquet file that has the columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        opened = pq.ParquetFile(path, page_checksum_verification=True)
    except pa.ArrowException as error:
        raise TextError(name, None, f"must be a Parquet file, and whole ({error})") from None
    names = opened.schema_arrow.names
    for column in COLUMNS[what]:
        if names.count(column) != 1:
            lacks = "lacks" if column not in names else "has more than one"
            raise TextError(
                name, None, f"must have the columns {' '.join(COLUMNS[what])}, {lacks} {column}"
            )
    return opened


def read(partition: Partition) -> NDArray[np.float64]:
    """Return the rows of a partition."""
    try:
        return _row_group(partition) if partition.kind == _PARQUET else _text(partition)
    except OSError as error:
        reason = error.strerror or error
        raise TextError(
            partition.name, None, f"a worker cannot read {partition.path}: {reason}"
        ) from None


def _text(partition: Partition) -> NDArray[np.float64]:
    with Path(partition.path).open("rb", buffering=0) as stream:
        if partition.kind == _PACKED:
            return _rows(partition, stream)
        first = _line_start(stream, partition.first, partition.last)
        if first == partition.last:
            return np.empty((0, len(COLUMNS[partition.what])))
        _refuse_split_rows(partition, stream, first)
        lines = _Lines(stream, first, _line_start(stream, partition.last, partition.size))
        try:
            return _rows(partition, lines)
        except TextError as error:
            raise _in_whole_file(partition, stream, first, error) from None


def _rows(partition: Partition, stream: Any) -> NDArray[np.float64]:
    reader = NumberReader(Workers(1), stream, partition.name)
    if partition.what == "triangles":
        return reader.triangles()
    return np.concatenate([np.empty((0, 4)), *reader.spheres(None, _ROWS_AT_ONCE)])


class _Lines:
    """Some of the bytes of a file, as a stream."""

    def __init__(self, stream: BinaryIO, first: int, last: int) -> None:
        self._stream = stream
        self._left = last - first
        stream.seek(first)

    def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes."""
        data = self._stream.read(min(size, self._left))
        self._left -= len(data)
        return data

    def readinto(self, room: memoryview) -> int:
        """Fill some of the room; return how many bytes."""
        data = self.read(len(room))
        room[: len(data)] = data
        return len(data)


def _line_start(stream: BinaryIO, place: int, end: int) -> int:
    """Return where the first line begins that does not begin before a place; the end at most."""
    if place == 0:
        return 0
    place -= 1
    stream.seek(place)
    while place < end and (data := stream.read(min(_SCAN, end - place))):
        found = data.find(b"\n")
        if found >= 0:
            return place + found + 1
        place += len(data)
    return place


def _in_whole_file(
    partition: Partition, stream: BinaryIO, first: int, error: TextError
) -> TextError:
    """Return an error with the line of the whole file."""
    message = _WHOLE_ROWS if error.is_end and partition.last < partition.size else error.message
    return TextError(error.name, _lines_before(stream, first) + (error.line or 1), message)


def _refuse_split_rows(partition: Partition, stream: BinaryIO, first: int) -> None:
    """Refuse a first line that does not hold whole rows: rows would begin elsewhere."""
    if (partition.first, partition.last) == (0, partition.size):
        return
    stream.seek(first)
    begin = stream.read(_SCAN).lstrip()
    line, end, _ = begin.partition(b"\n")
    if end and len(line.split()) % len(COLUMNS[partition.what]):
        raise TextError(partition.name, _lines_before(stream, first) + 1, _WHOLE_ROWS)


def _lines_before(stream: BinaryIO, place: int) -> int:
    lines = 0
    stream.seek(0)
    while place > 0 and (data := stream.read(min(place, 1 << 20))):
        lines += data.count(b"\n")
        place -= len(data)
    return lines


def _row_group(partition: Partition) -> NDArray[np.float64]:
    import pyarrow as pa

    names = COLUMNS[partition.what]
    with _parquet(partition.what, partition.name, partition.path) as opened:
        before = sum(opened.metadata.row_group(group).num_rows for group in range(partition.first))
        try:
            table = opened.read_row_group(partition.first, columns=list(names), use_threads=False)
        except (pa.ArrowException, OSError) as error:
            raise TextError(partition.name, None, f"the file is damaged: {error}") from None
    rows = np.empty((table.num_rows, len(names)))
    for k, name in enumerate(names):
        column = table.column(name)
        if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
            raise TextError(
                partition.name, None, f"column {name} must hold real numbers, got {column.type}"
            )
        rows[:, k] = column.to_numpy()  # NaN where nothing is there
    bad = ~np.isfinite(rows)
    rule = "must be a finite number"
    if partition.what == "spheres" and not bad.any():
        bad[:, 0] = rows[:, 0] < 0.0
        rule = "must be a radius >= 0"
    for row, k in np.argwhere(bad)[:1].tolist():
        raise TextError(
            partition.name,
            None,
            f"row {before + row}, column {names[k]}: {rule}, got {rows[row, k]}",
        )
    return rows
