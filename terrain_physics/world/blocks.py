"""Blocks of a height map that were edited since some moment, with what was there before.

A watcher hears of each edit before it writes (`prepare`), and copies each block that it has not
copied yet. So what was there at that moment can be put together again at any time.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics.heightmap.cells import Ranges, Region
from terrain_physics.heightmap.storage import MapStorage

BLOCK = 32
"""Samples or cells along each side of a block."""

KINDS = ("heights", "holes", "materials")
"""What blocks are of: samples, or a value of each cell."""

DTYPES = {"heights": "<f4", "holes": "|u1", "materials": "|u1"}

Block = tuple[int, int]
"""Row and column of a block."""


def values_of(storage: MapStorage, kind: str, place: Any) -> NDArray[Any]:
    """Return samples, marks of holes or materials at a place of a map, as files hold them."""
    found: NDArray[Any]
    if kind == "heights":
        found = storage.heights[place]
        return found
    if kind == "holes":
        found = storage.hole_marks(place).astype(np.uint8)
        return found
    found = storage.material_numbers(place)
    return found


def shape_of(storage: MapStorage, kind: str) -> tuple[int, int]:
    """Return how many rows and columns of samples or cells a map has."""
    rows, columns = storage.cell_count
    return (rows + 1, columns + 1) if kind == "heights" else (rows, columns)


def place_of(block: Block, shape: tuple[int, int]) -> Ranges:
    """Return the samples or cells of a block in an array of a shape."""
    row, column = BLOCK * block[0], BLOCK * block[1]
    return (
        slice(row, min(row + BLOCK, shape[0])),
        slice(column, min(column + BLOCK, shape[1])),
    )


class EditedBlocks:
    """The blocks of a map that were edited since this was made; a watcher of its storage.

    Attributes
    ----------
    storage : MapStorage
    before : dict of str to dict of (int, int) to ndarray
        By kind and block, what was there before the first edit.
    solid_depth : tuple of (float, bool)
        That of the map at that moment: see `MapStorage`.
    """

    __slots__ = ("__weakref__", "_seen", "before", "solid_depth", "storage")

    def __init__(self, storage: MapStorage) -> None:
        self.storage = storage
        with storage.lock:
            self.solid_depth = storage.solid_depth
            self.before: dict[str, dict[Block, NDArray[Any]]] = {kind: {} for kind in KINDS}
            self._seen = {
                kind: np.zeros([-(-n // BLOCK) for n in shape_of(storage, kind)], np.bool_)
                for kind in KINDS
            }
            storage.watchers.add(self, 0)

    def tell(self, number: int, what: str, *details: Any) -> None:
        """Hear of an edit: `prepare` has heard of it."""

    def prepare(self, number: int, what: str, region: Region) -> None:  # noqa: ARG002
        """Keep what an edit is about to change in a region of cells."""
        if what not in self._seen:
            return
        more = what == "heights"  # the samples around cells are one more in a row
        rows = slice(region[0] // BLOCK, (region[1] - 1 + more) // BLOCK + 1)
        columns = slice(region[2] // BLOCK, (region[3] - 1 + more) // BLOCK + 1)
        seen = self._seen[what][rows, columns]
        if seen.all():
            return
        shape, before = shape_of(self.storage, what), self.before[what]
        for row, column in np.argwhere(~seen).tolist():
            block = rows.start + row, columns.start + column
            before[block] = np.array(values_of(self.storage, what, place_of(block, shape)))
        seen[...] = True

    def first(self, kind: str) -> NDArray[Any]:
        """Return all that was there at that moment, a new array. The caller holds the lock."""
        found = np.array(values_of(self.storage, kind, ...))
        for block, values in self.before[kind].items():
            found[place_of(block, found.shape)] = values
        return found
