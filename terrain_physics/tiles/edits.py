"""The edits of a land without end: kept beside its file, and laid over tiles as they are read."""

import errno
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from functools import cached_property
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from terrain_physics._locks import Rank, new_lock
from terrain_physics.heightmap.cells import Bounds, Ranges, bounds_of, shared
from terrain_physics.heightmap.checks import refuse_overflow
from terrain_physics.heightmap.framed import KINDS, Edited
from terrain_physics.heightmap.undo import Patch
from terrain_physics.lattice.tile import LoadedTile
from terrain_physics.tiles.edit_records import (
    FOLLOWED,
    MOST_VALUES,
    RENEWING,
    EditRecord,
    LostEdit,
    RecordReader,
    lost,
    packed,
    read_values,
    saved_mark,
    start_of,
)
from terrain_physics.tiles.edit_squares import (
    EditedHeights,
    EditSquare,
    EditSquares,
    squares_of,
)
from terrain_physics.tiles.file_log import FileLog
from terrain_physics.tiles.format import tile_name
from terrain_physics.tiles.log import Log, MemoryLog
from terrain_physics.tiles.merging import merged
from terrain_physics.tiles.stored import StoredTiles

HEIGHTS, HOLES, MATERIALS = range(3)

Corner = tuple[int, int]
"""Row and column of a square."""

_NUMBERS = {word: number for number, word in enumerate(KINDS)}

# Records in memory are merged when they take more than this, and twice what they took then. A file
# is merged when it is opened, if it takes that much more than four times its values.
_LEAST_MERGED = 1 << 24


class EditStore:
    """All edits of a land since it was made, in a file or in memory.

    An edit is the new values of a rectangle of the lattice, never a difference: samples of heights,
    marks of holes, or materials of cells. It is of each tile that shares one of the values. Any
    thread may ask.
    """

    def __init__(self, tiles: StoredTiles, log: Log, *, skips: bool = False) -> None:
        self._tiles, self._log = tiles, log
        self._exists, self._samples = tiles.exists.tobytes(), tiles.shape.sample_count
        self._sizes = tiles.shape.side, tiles.shape.rows, tiles.shape.columns
        self._lock = new_lock(Rank.FILES)
        self._limit, self._marked = _LEAST_MERGED, 0
        self._counts = defaultdict[int, int](int)
        self._edited = set[int]()
        self.lost: tuple[LostEdit, ...] = ()
        records, ranges, self.lost = self._checked(log, skips=skips) if log.size else ([], {}, ())
        self._adopt(records, ranges)
        if not isinstance(log, MemoryLog):
            self._marked = log.size
            if not self.lost and log.size > 4 * self._squares.size + _LEAST_MERGED:
                with suppress(OSError):  # the disk may be full: it can wait
                    self.compact()

    @classmethod
    def open(
        cls, path: str | os.PathLike[str] | None, tiles: StoredTiles, *, skips: bool = False
    ) -> Self:
        """Return the edits in a file, which is made if it is not there; None: in memory only.

        A record that was torn at the end, when a process was killed, is cut off. Nothing that
        `sync` had told as saved can be torn. With ``skips``, records that are damaged elsewhere are
        left out, and are in `lost`; they stay in the file until it is written anew.

        Raises
        ------
        ValueError
            If the file is damaged elsewhere, without ``skips``, or is of another land; the message
            names file and record.
        OSError
            If the file cannot be written to, or is open as edits already.
        """
        if path is None:
            return cls(tiles, MemoryLog(b""))
        log = FileLog(path, start_of(tiles.digest))
        try:
            return cls(tiles, log, skips=skips)
        except ValueError as error:
            log.close()
            raise ValueError(f"{log.name}: {error}") from error
        except BaseException:
            log.close()
            raise

    @cached_property
    def _start(self) -> bytes:
        """The first bytes of a log; a digest takes time, which edits in memory may never need."""
        return start_of(self._tiles.digest)

    def _checked(
        self, log: Log, *, skips: bool = False
    ) -> tuple[list[EditRecord], dict[Corner, EditedHeights], tuple[LostEdit, ...]]:
        """Return the records of a log, the ranges of their heights, and what was left out.

        What is torn is cut off; ValueError if anything else is wrong, unless that is left out.
        """
        reader = RecordReader(log, self._start, skips=skips)
        found: list[EditRecord] = []
        ranges: dict[Corner, EditedHeights] = {}
        for record, values in reader.records():
            try:
                self._check_place(record.kind, record[1:5], values.shape)
                if record.kind == HEIGHTS:
                    self._put_range(ranges, record, values)
                else:
                    self._check_cells(record, values)
            except ValueError as error:
                if reader.lost is None:
                    raise ValueError(f"record {len(found)} is damaged: {error}") from None
                reader.lost.append(lost(record))
            else:
                found.append(record)
        if reader.end < log.size:
            log.cut(reader.end)
        return found, ranges, tuple(reader.lost or ())

    def _put_range(
        self, ranges: dict[Corner, EditedHeights], record: EditRecord, values: NDArray[Any]
    ) -> None:
        """Widen the range of a square by the heights of a record; refuse those too far off."""
        shape = self._tiles.shape
        least = float(np.fmin.reduce(values, axis=None, initial=np.inf))
        greatest = float(np.fmax.reduce(values, axis=None, initial=-np.inf))
        bounds = least, greatest
        refuse_overflow(bounds, shape.height_scale, shape.origin, shape.cell_size, (1, 1))
        corner = record.row_start // shape.side, record.column_start // shape.side
        own = EditedHeights(*record[1:5], least, greatest)
        ranges[corner] = own.joined(ranges[corner]) if corner in ranges else own

    def _check_place(self, kind: int, bounds: Bounds, filled: tuple[int, ...]) -> None:
        """Refuse a rectangle that is not on the lattice, or has not a value for each place."""
        row_start, row_stop, column_start, column_stop = bounds
        rows, columns = self._samples
        line = kind != HEIGHTS  # there is a line of samples more than of cells
        if not (
            0 <= row_start < row_stop <= rows - line
            and 0 <= column_start < column_stop <= columns - line
        ):
            raise ValueError(
                f"edits must be within {rows - line} rows and {columns - line} columns, got "
                f"{bounds}"
            )
        down, across = row_stop - row_start, column_stop - column_start
        if filled != (down, across) or down * across > MOST_VALUES:
            raise ValueError(
                f"an edit must have a value for each place, at most {MOST_VALUES}, got "
                f"{filled} for {bounds}"
            )

    def _check_cells(self, record: EditRecord, values: NDArray[Any]) -> None:
        """Refuse values of cells that no edit has: kernels trust them."""
        most, names = 1, self._tiles.shape.material_names
        if record.kind == MATERIALS:
            most = 255 if names is None else len(names) - 1
        if values.max() > most:
            raise ValueError(f"{KINDS[record.kind]} must be 0 to {most}, got {values.max()}")

    def _adopt(self, records: Iterable[EditRecord], ranges: dict[Corner, EditedHeights]) -> None:
        """Take records for all there are, with the ranges of their heights."""
        for number in self._edited:  # so that it is told from what it was
            self._counts[number] += 1
        squares = EditSquares(self._tiles.shape.side)
        new: list[tuple[int, ...]] = [*records]  # of `EditRecord`, which takes longer to make
        edited, size, begun = set[int](), self._log.size, self._log.begun
        # Nothing is called in between, so no signal handler runs.
        self._ranges, self._measured, self._begun = ranges, size, begun
        self._squares, self._edited, self._new = squares, edited, new
        self._note_new()

    def _note(self, record: EditRecord) -> EditSquare | None:
        """Add a record to its square; return that if it takes long to read all that is in it."""
        numbers = self._numbers(record.kind, record[1:5])
        if not numbers:
            return None
        self._edited.update(numbers)
        for number in numbers:
            self._counts[number] += 1
        side = self._sizes[0]
        square = self._squares.at(
            record.kind, record.row_start // side, record.column_start // side
        )
        if record.flags & RENEWING:
            square.begin_anew()
        return square if square.add(record) else None

    def _numbers(self, kind: int, bounds: Bounds) -> list[int]:
        """Return the tiles that share a value of a rectangle."""
        row_start, row_stop, column_start, column_stop = bounds
        side, rows, columns = self._sizes
        exists = self._exists
        line = kind == HEIGHTS  # the samples of a border are those of both tiles
        row_0, row_1 = (row_start - line) // side, (row_stop - 1) // side
        column_0, column_1 = (column_start - line) // side, (column_stop - 1) // side
        if row_0 == row_1 < rows and column_0 == column_1 < columns and row_0 >= 0 <= column_0:
            number = row_0 * columns + column_0  # most edits are of one tile
            return [number] if exists[number] else []
        row_0, row_1 = max(row_0, 0), min(row_1, rows - 1)
        column_0, column_1 = max(column_0, 0), min(column_1, columns - 1)
        return [
            number
            for row in range(row_0, row_1 + 1)
            for number in range(row * columns + column_0, row * columns + column_1 + 1)
            if exists[number]
        ]

    def make_room(self, size: int) -> None:
        """Raise OSError if the disk has no room for edits of so many bytes that come together.

        Of several that belong together, such as those of a state that is put back, either all are
        made or none.
        """
        free = self._log.room()
        if free < size:
            raise OSError(
                errno.ENOSPC, f"edits must have room for {size} bytes, got {free}", self._log.name
            )

    def add(self, what: Edited, place: Ranges, values: NDArray[Any]) -> None:
        """Keep the new values of a rectangle: samples of heights, else cells.

        They are written at once: a process that is killed then has not lost them. `sync` says when
        they are on the disk.

        Raises
        ------
        OSError
            If the disk is full or cannot be written to; all is as before then.
        """
        kind = _NUMBERS[what]
        rows, columns = place
        bounds = bounds_of(place)
        self._check_place(kind, bounds, values.shape)
        side = self._sizes[0]
        is_one = (
            rows.start // side == (rows.stop - 1) // side
            and columns.start // side == (columns.stop - 1) // side
        )
        with self._lock:
            if is_one:  # most are: this is done in a hurry
                content, checksum = packed(kind, bounds, values)
                self._new.append((kind, *bounds, self._log.append(content), checksum, 0))
            else:
                whole = Patch(what, place, values)
                self._new += self._append([whole.cut(own) for own in squares_of(bounds, side)])
            if self._log.size > self._limit and isinstance(self._log, MemoryLog):
                self.compact()
                self._limit = max(_LEAST_MERGED, 2 * self._log.size)

    def _append(self, parts: list[Patch], flags: int = 0) -> list[EditRecord]:
        """Write the parts of an edit and return their records; flags are those of the first."""
        contents: list[bytes] = []
        records: list[EditRecord] = []
        place, left = self._log.size, len(parts)
        for patch in parts:
            left -= 1
            kind, marks = _NUMBERS[patch.what], flags | FOLLOWED if left else flags
            content, checksum = packed(kind, patch.bounds, patch.values, marks)
            records.append(EditRecord(kind, *patch.bounds, place, checksum, marks))
            contents.append(content)
            place, flags = place + len(content), 0
        self._log.append(b"".join(contents))
        return records

    def _settle(self) -> None:
        """Put new records into their squares, and merge those that take long to read."""
        if self._begun is not self._log.begun:  # a signal handler has ended `replace`
            records, ranges, _ = self._checked(self._log)
            self._adopt(records, ranges)
        for square in self._note_new():  # what is written last counts when it is read
            self._renew(square)

    def _note_new(self) -> set[EditSquare]:
        """Put new records into their squares; return those that take long to read.

        If a signal handler ends it, all are put there again: what they leave is the same then.
        """
        new = self._new
        count = len(new)
        records = map(EditRecord._make, new[:count])
        heavy = {square for record in records if (square := self._note(record)) is not None}
        if self._new is new:
            self._new = new[count:]
        return heavy

    def _renew(self, square: EditSquare) -> None:
        """Write what the records of a square leave, so that older ones need not be read again."""
        with suppress(OSError, ValueError), self._log.reading() as read:
            # The disk may be full, or the edits closed: it can wait.
            self._new += self._append(merged(square.records, read), RENEWING)
            self._note_new()
        square.merged()

    def apply(self, tile: LoadedTile) -> LoadedTile:
        """Return a tile with all its edits so far; over a tile that has some, the same comes out.

        Its arrays are written to.

        Raises
        ------
        ValueError
            If the file has changed since it was opened; the message names file and tile.
        """
        rows: list[slice] = []
        columns: list[slice] = []
        for record, values in self._edits_of(tile.number):
            own = self._write(tile, record, values)
            if record.kind == HEIGHTS:
                rows.append(own[0])
                columns.append(own[1])
        if rows:
            tile.survey((_span(rows), _span(columns)))
        return tile

    def _edits_of(self, number: int) -> list[tuple[EditRecord, NDArray[Any]]]:
        """Return the records of a tile and their values."""
        with ExitStack() as stack:
            with self._lock:  # not while they are read: who edits would wait
                self._settle()
                if number not in self._edited:
                    return []
                records = self._squares.of_tile(*divmod(number, self._sizes[2]))
                read = stack.enter_context(self._log.reading())
            try:
                return [(record, read_values(record, read)) for record in records]
            except ValueError as error:
                name = tile_name(number, self._sizes[2], self._tiles.first)
                raise ValueError(f"{self._log.name}: {name}: {error}") from None

    def put_over(self, what: Edited, place: Ranges, values: NDArray[Any]) -> None:
        """Write what edits have left at a place over its values.

        Raises
        ------
        ValueError
            If the file has changed since it was opened; the message names it.
        """
        with ExitStack() as stack:
            with self._lock:
                self._settle()
                records = self._squares.within(_NUMBERS[what], bounds_of(place))
                read = stack.enter_context(self._log.reading())
            try:
                for record in records:
                    if shared(place, record.ranges) is not None:
                        record.patch(read_values(record, read)).put_over(values, place=place)
            except ValueError as error:
                raise ValueError(f"{self._log.name}: {error}") from None

    def _write(self, tile: LoadedTile, record: EditRecord, values: NDArray[Any]) -> Ranges:
        """Write an edit to the samples or cells that a tile has of it; return their ranges."""
        place = self._tiles.shape.place_of(tile.number, int(record.kind == HEIGHTS))
        own, there = cast(
            "tuple[Ranges, Ranges]", shared(place, record.ranges)
        )  # it is of the tile
        tile.write(KINDS[record.kind], own, values[there])
        return own

    def count(self, number: int) -> int:
        """Return a number that rises with each edit of a tile, and never falls."""
        with self._lock:
            self._settle()
            return self._counts.get(number, 0)

    @property
    def edited(self) -> set[int]:
        """The numbers of the tiles that share a value of an edit."""
        with self._lock:
            self._settle()
            return set(self._edited)

    @property
    def nbytes(self) -> int:
        """How many bytes the edits take, on disk or in memory."""
        return self._log.size

    def records(self) -> Iterator[Patch]:
        """Yield the values of edits; in each square the oldest first.

        An edit of several squares is as many; those that were merged are told no more.
        """
        with ExitStack() as stack:
            with self._lock:
                self._settle()
                records = [record for square in self._squares for record in square.records]
                read = stack.enter_context(self._log.reading())
            for record in records:
                yield record.patch(read_values(record, read))

    def places(self) -> list[tuple[Edited, Ranges]]:
        """Return what edits were, and where."""
        with self._lock:
            self._settle()
            records = (record for square in self._squares for record in square.records)
            return [(KINDS[record.kind], record.ranges) for record in records]

    def ranges(self) -> list[EditedHeights]:
        """Return the least and the greatest height of each square that has any, and where.

        They may be wider than what is there now. Only edits that were added since this was asked
        last are read.
        """
        with self._lock:
            self._settle()
            new = [
                record
                for square in self._squares
                for record in square.records
                if record.kind == HEIGHTS and record.place >= self._measured
            ]
            if new:
                with self._log.reading() as read:
                    for record in new:
                        self._put_range(self._ranges, record, read_values(record, read))
            self._measured = self._log.size
            return list(self._ranges.values())

    def sync(self) -> None:
        """Return when all edits are on the disk, whatever happens to the machine then.

        Raises
        ------
        OSError
            If they cannot be written.
        """
        with self._lock:
            self._settle()
            self._log.sync()
            self._mark()

    def _mark(self) -> None:
        """Note in the file that all edits are on the disk."""
        if isinstance(self._log, MemoryLog) or self._log.size == self._marked:
            return
        with suppress(OSError, ValueError):  # it only helps to tell damage from what was torn
            self._log.append(saved_mark(self._log.size))
            self._marked = self._log.size

    def contents(self) -> bytes:
        """Return all edits, merged: the values that the last of them left, each once."""
        with self._lock, self._log.reading() as read:
            self._settle()
            parts = (part for square in self._squares for part in merged(square.records, read))
            contents = (packed(_NUMBERS[own.what], own.bounds, own.values)[0] for own in parts)
            return self._start + b"".join(contents)

    def replace(self, contents: bytes) -> None:
        """Have these edits, which `contents` returned, in place of all.

        A file is replaced when the new one is complete and on the disk.

        Raises
        ------
        ValueError
            If they are damaged, or of another land; nothing has changed then.
        OSError
            If the file cannot be written; nothing has changed then.
        """
        log = MemoryLog(contents)
        records, ranges, _ = self._checked(log)
        if log.size != len(contents):
            raise ValueError("contents of edits must be whole, got a part, or damaged ones")
        with self._lock:
            self._settle()
            self._log.replace(contents)
            self._adopt(records, ranges)
            self.lost = ()
            self._mark()

    def compact(self) -> None:
        """Merge all edits: the file, which is replaced, then has each value once.

        Raises
        ------
        OSError
            If the file cannot be written; it is as before then.
        """
        with self._lock:
            self.replace(self.contents())

    def close(self) -> None:
        """Put all edits on the disk, and close their file."""
        with self._lock:
            try:
                self.sync()
            finally:
                self._log.close()


def _span(parts: list[slice]) -> slice:
    """Return the range from the first to the last of all parts."""
    return slice(min(part.start for part in parts), max(part.stop for part in parts))
