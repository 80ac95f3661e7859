"""Marks on the columns of a grid: a bit for each."""

import numpy as np

from terrain_physics._kernels.types import Bools, Bytes, Int64s


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
        first, end = columns.start // 8, -(-columns.stop // 8)
        bits = np.unpackbits(self._bits[rows, first:end], axis=1)
        return bits[:, columns.start - 8 * first : columns.stop - 8 * first].astype(np.bool_)

    def are_marked(self, numbers: Int64s) -> Bools:
        """Tell which of some columns (n,), each row times columns plus column, are marked."""
        rows, columns = np.divmod(numbers, self._columns)
        marked: Bools = self._bits[rows, columns >> 3] & self._bit_of(columns) != 0
        return marked

    def clear(self, numbers: Int64s) -> None:
        """Take the marks off some columns."""
        rows, columns = np.divmod(numbers, self._columns)
        np.bitwise_and.at(self._bits, (rows, columns >> 3), ~self._bit_of(columns))

    def put(self, numbers: Int64s) -> None:
        """Mark some columns."""
        rows, columns = np.divmod(numbers, self._columns)
        np.bitwise_or.at(self._bits, (rows, columns >> 3), self._bit_of(columns))

    def count(self, rows: slice, columns: slice) -> int:
        """Return how many columns of a rectangle are marked."""
        return int(np.count_nonzero(self.marked(rows, columns)))

    @staticmethod
    def _bit_of(columns: Int64s) -> Bytes:
        return np.uint8(128) >> (columns & 7).astype(np.uint8)

    def copy(self) -> "Marks":
        """Return the same marks in an array of its own."""
        other = Marks(0, self._columns)
        other._bits = self._bits.copy()
        return other
