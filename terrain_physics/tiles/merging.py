"""Merges records of edits: the values that the last of them left, each once."""

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.types import Bools
from terrain_physics.tiles.edit_records import TYPES, EditRecord

Bounds = tuple[int, int, int, int]


class Merged(NamedTuple):
    """The new values of a rectangle of the lattice: the kind, rows, columns, and values."""

    kind: int
    bounds: Bounds
    values: NDArray[Any]


def merged(
    records: Iterable[EditRecord], read: Callable[[int, int], bytes], side: int
) -> Iterator[Merged]:
    """Yield the values that records leave, as rectangles that have no value in common.

    It goes by squares of the lattice, so that the memory of one is needed at a time. ``read``
    returns bytes of the log, at a place and of a length.
    """
    squares: dict[tuple[int, int, int], list[EditRecord]] = {}
    for record in records:
        for row in range(record.row_start // side, (record.row_stop - 1) // side + 1):
            for column in range(record.column_start // side, (record.column_stop - 1) // side + 1):
                squares.setdefault((record.kind, row, column), []).append(record)
    for kind, row, column in sorted(squares):
        values = np.zeros((side, side), dtype=TYPES[kind])
        known: Bools = np.zeros((side, side), dtype=np.bool_)
        for record in squares[kind, row, column]:
            _lay(record, read, (row * side, column * side), values, known)
        for row_0, row_1, column_0, column_1 in _rectangles(known):
            bounds = (
                row * side + row_0, row * side + row_1,
                column * side + column_0, column * side + column_1,
            )  # fmt: skip
            yield Merged(kind, bounds, values[row_0:row_1, column_0:column_1])


def _lay(
    record: EditRecord,
    read: Callable[[int, int], bytes],
    corner: tuple[int, int],
    values: NDArray[Any],
    known: Bools,
) -> None:
    """Write the values of a record over those of a square."""
    side = len(values)
    row_0, row_1 = max(record.row_start, corner[0]), min(record.row_stop, corner[0] + side)
    column_0 = max(record.column_start, corner[1])
    column_1 = min(record.column_stop, corner[1] + side)
    across = record.shape[1]
    length = across * TYPES[record.kind].itemsize
    content = read(record.place + (row_0 - record.row_start) * length, (row_1 - row_0) * length)
    lines = np.frombuffer(content, TYPES[record.kind]).reshape(-1, across)
    own = slice(column_0 - record.column_start, column_1 - record.column_start)
    here = (
        slice(row_0 - corner[0], row_1 - corner[0]),
        slice(column_0 - corner[1], column_1 - corner[1]),
    )
    values[here] = lines[:, own]
    known[here] = True


def _rectangles(known: Bools) -> Iterator[Bounds]:
    """Yield rectangles of the places that are known, each place in one."""
    turns = (known[1:] != known[:-1]).any(axis=1)
    edges = [0, *(np.flatnonzero(turns) + 1).tolist(), len(known)]
    for row_0, row_1 in pairwise(edges):
        line = np.concatenate([[False], known[row_0], [False]])
        ends = np.flatnonzero(line[1:] != line[:-1]).tolist()
        for column_0, column_1 in zip(ends[::2], ends[1::2], strict=True):
            yield row_0, row_1, column_0, column_1
