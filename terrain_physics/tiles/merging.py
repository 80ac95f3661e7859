"""Merges records of edits: the values that the last of them left, each once."""

from collections.abc import Sequence

import numpy as np

from terrain_physics.heightmap.cells import ranges_of, rectangles_of, within
from terrain_physics.heightmap.framed import DTYPES, KINDS
from terrain_physics.heightmap.undo import Patch
from terrain_physics.tiles.edit_records import EditRecord, read_values
from terrain_physics.tiles.log import Read


def merged(records: Sequence[EditRecord], read: Read) -> list[Patch]:
    """Return the values that records of one square leave, as rectangles that share none."""
    what = KINDS[records[0].kind]
    place = (
        slice(min(own.row_start for own in records), max(own.row_stop for own in records)),
        slice(min(own.column_start for own in records), max(own.column_stop for own in records)),
    )
    size = [span.stop - span.start for span in place]
    values, known = np.zeros(size, dtype=DTYPES[what]), np.zeros(size, dtype=np.bool_)
    for record in records:
        record.patch(read_values(record, read)).put_over(values, known, place)
    parts = map(ranges_of, rectangles_of(known))
    return [Patch(what, within(place, own), values[own]) for own in parts]
