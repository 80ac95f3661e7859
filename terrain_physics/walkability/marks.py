"""Marks on the columns of a grid: a bit for each."""

import numpy as np

from terrain_physics._kernels.types import Bools, Bytes

# How many bits of each byte are 1.
_ONES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1).sum(
    axis=1, dtype=np.uint8
)


class Marks:
    """Which columns of a grid are marked: at first, all.

    Parameters
    ----------
    rows, columns : int
        The size of the grid.
    """

    __slots__ = ("_bits", "_columns")

    _bits: Bytes

    def __init__(self, rows: int, columns: int) -> None:
        self._columns = columns
        self._bits = np.tile(np.packbits(np.ones(columns, np.bool_)), (rows, 1))

    def mark(self, rows: slice, columns: slice) -> None:
        """Mark a rectangle of columns, which may be empty."""
        if columns.stop <= columns.start or rows.stop <= rows.start:
            return
        first = columns.start // 8
        some = np.zeros(columns.stop - 8 * first, np.bool_)
        some[columns.start - 8 * first :] = True
        own = np.packbits(some)
        self._bits[rows, first : first + len(own)] |= own

    def marked(self, rows: slice, columns: slice) -> Bools:
        """Return which columns of a rectangle are marked, a new array."""
        bits = np.unpackbits(self._bits[self._place(rows, columns)], axis=1)
        first = columns.start % 8
        return bits[:, first : first + columns.stop - columns.start].astype(np.bool_)

    def bounds(self, rows: slice, columns: slice) -> tuple[slice, slice]:
        """Return the rows and columns of a rectangle with marks, or a few more."""
        place = self._place(rows, columns)
        bits = self._bits[place]
        marked = np.flatnonzero(bits.any(axis=1))
        if not len(marked):
            return slice(rows.start, rows.start), slice(columns.start, columns.start)
        row, last_row = int(marked[0]), int(marked[-1])
        across = place[1].start + np.flatnonzero(bits[row : last_row + 1].any(axis=0))
        return (
            slice(rows.start + row, rows.start + last_row + 1),
            slice(
                max(columns.start, 8 * int(across[0])), min(columns.stop, 8 * int(across[-1]) + 8)
            ),
        )

    def marked_rows(self, step: int) -> list[int]:
        """Return the first rows of those bands of ``step`` rows that have marks."""
        bands: list[int] = np.unique(np.flatnonzero(self._bits.any(axis=1)) // step).tolist()
        return [step * band for band in bands]

    def count(self, rows: slice = slice(None)) -> int:
        """Return how many columns are marked, in all rows or in some."""
        return int(_ONES[self._bits[rows]].sum(dtype=np.int64))

    def put(self, rows: slice, columns: slice, chosen: Bools) -> None:
        """Mark those of a rectangle's columns that are chosen."""
        self._bits[self._place(rows, columns)] |= _packed(columns, chosen)

    def clear(self, rows: slice, columns: slice, chosen: Bools) -> None:
        """Take the marks off those of a rectangle's columns that are chosen."""
        self._bits[self._place(rows, columns)] &= ~_packed(columns, chosen)

    @staticmethod
    def _place(rows: slice, columns: slice) -> tuple[slice, slice]:
        """Return where the bits of a rectangle are."""
        return rows, slice(columns.start // 8, -(-columns.stop // 8))

    def copy(self) -> "Marks":
        """Return the same marks in an array of its own."""
        other = Marks(0, self._columns)
        other._bits = self._bits.copy()
        return other


def _packed(columns: slice, chosen: Bools) -> Bytes:
    """Return the bits of a rectangle, from the byte of its first column to that of its last."""
    first, end = columns.start // 8, -(-columns.stop // 8)
    wide = np.zeros((len(chosen), 8 * (end - first)), np.bool_)
    wide[:, columns.start - 8 * first : columns.stop - 8 * first] = chosen
    return np.packbits(wide, axis=1)
