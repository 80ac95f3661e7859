"""Merges records of edits: the values that the last of them left, each once."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.types import Bools
from terrain_physics.heightmap.cells import rectangles_of
from terrain_physics.heightmap.framed import DTYPES, KINDS
from terrain_physics.tiles.edit_records import EditRecord, read_values
from terrain_physics.tiles.log import Read

Bounds = tuple[int, int, int, int]


class Merged(NamedTuple):
    """The new values of a rectangle of the lattice: the kind, rows, columns, and values."""

    kind: int
    bounds: Bounds
    values: NDArray[Any]


def merged(records: Sequence[EditRecord], read: Read) -> list[Merged]:
    """Return the values that records of one square leave, as rectangles that share none."""
    kind = records[0].kind
    row = min(record.row_start for record in records)
    column = min(record.column_start for record in records)
    size = (
        max(record.row_stop for record in records) - row,
        max(record.column_stop for record in records) - column,
    )
    values = np.zeros(size, dtype=DTYPES[KINDS[kind]])
    known: Bools = np.zeros(size, dtype=np.bool_)
    for record in records:
        here = (
            slice(record.row_start - row, record.row_stop - row),
            slice(record.column_start - column, record.column_stop - column),
        )
        values[here] = read_values(record, read)
        known[here] = True
    return [
        Merged(
            kind,
            (row + row_0, row + row_1, column + column_0, column + column_1),
            values[row_0:row_1, column_0:column_1],
        )
        for row_0, row_1, column_0, column_1 in rectangles_of(known)
    ]
