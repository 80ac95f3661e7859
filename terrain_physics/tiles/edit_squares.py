"""The records of edits by squares of the lattice, each as large as a tile."""

from collections.abc import Iterator
from itertools import pairwise, product
from typing import NamedTuple, Self

from terrain_physics.heightmap.cells import Bounds
from terrain_physics.heightmap.framed import KINDS
from terrain_physics.tiles.edit_records import EditRecord

Key = tuple[int, int, int]
"""Kind, row and column of a square: samples or cells from ``row * side`` to before the next one."""

_HEIGHTS = KINDS.index("heights")

# A record counts as so many bytes more than it has: it is read and laid over a tile.
_BYTES_OF_RECORD = 4096


class EditedHeights(NamedTuple):
    """A rectangle of samples that holds all that were edited in a square, and their range.

    Attributes
    ----------
    row_start, row_stop, column_start, column_stop : int
        Of the lattice.
    least, greatest : float
        As they are stored; inf and -inf if all are holes.
    """

    row_start: int
    row_stop: int
    column_start: int
    column_stop: int
    least: float
    greatest: float

    def joined(self, other: Self) -> Self:
        """Return what holds both."""
        return type(self)(
            min(self.row_start, other.row_start),
            max(self.row_stop, other.row_stop),
            min(self.column_start, other.column_start),
            max(self.column_stop, other.column_stop),
            min(self.least, other.least),
            max(self.greatest, other.greatest),
        )


class EditSquare:
    """The records of one kind in a square, the oldest first.

    Attributes
    ----------
    records : list of EditRecord
    """

    __slots__ = ("_limit", "_weight", "records")

    def __init__(self, side: int) -> None:
        self.records: list[EditRecord] = []
        self._weight, self._limit = 0, 16 * side**2

    def add(self, record: EditRecord) -> bool:
        """Add a record; tell whether it takes long to read all."""
        self.records.append(record)
        self._weight += record.length + _BYTES_OF_RECORD
        return self._weight > self._limit

    def begin_anew(self) -> None:
        """Forget all records."""
        self.records, self._weight = [], 0

    def merged(self) -> None:
        """Take the records for merged ones: they weigh what they must."""
        self._limit = max(self._limit, 2 * self._weight)

    @property
    def size(self) -> int:
        """How many bytes the records are."""
        return sum(record.length for record in self.records)


class EditSquares:
    """All records that count, by squares."""

    def __init__(self, side: int) -> None:
        self._side = side
        self._squares: dict[Key, EditSquare] = {}

    def at(self, kind: int, row: int, column: int) -> EditSquare:
        """Return a square, which may be new."""
        square = self._squares.get((kind, row, column))
        if square is None:
            square = self._squares[kind, row, column] = EditSquare(self._side)
        return square

    def __iter__(self) -> Iterator[EditSquare]:
        """Return all squares in the order of their keys."""
        return (self._squares[key] for key in sorted(self._squares))

    def of_tile(self, row: int, column: int) -> list[EditRecord]:
        """Return the records that share a value of a tile, those of a square in their order."""
        side = self._side
        found: list[EditRecord] = []
        for kind in range(len(KINDS)):
            beyond = 2 if kind == _HEIGHTS else 1  # the far borders are samples of the next squares
            for down in range(beyond):
                for across in range(beyond):
                    square = self._squares.get((kind, row + down, column + across))
                    found += [
                        record
                        for record in (() if square is None else square.records)
                        if (not down or record.row_start % side == 0)
                        and (not across or record.column_start % side == 0)
                    ]
        return found

    def within(self, kind: int, bounds: Bounds) -> list[EditRecord]:
        """Return the records of a kind in the squares that a rectangle meets, the oldest first."""
        corners = [(row, column) for row, _, column, _ in squares_of(bounds, self._side)]
        keys = [(kind, row // self._side, column // self._side) for row, column in corners]
        return [
            record for key in keys if key in self._squares for record in self._squares[key].records
        ]

    @property
    def size(self) -> int:
        """How many bytes all records are."""
        return sum(square.size for square in self._squares.values())


def squares_of(bounds: Bounds, side: int) -> list[Bounds]:
    """Return the parts of a rectangle in each square that it meets."""
    rows, columns = _spans(*bounds[:2], side), _spans(*bounds[2:], side)
    return [(*down, *across) for down, across in product(rows, columns)]


def _spans(start: int, stop: int, side: int) -> list[tuple[int, int]]:
    """Return the parts of a range in each square."""
    return list(pairwise([start, *range(start - start % side + side, stop, side), stop]))
