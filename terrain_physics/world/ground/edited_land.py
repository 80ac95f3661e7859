"""The land of a `TiledGround` as it was when its world was made or loaded.

Blocks of 32 x 32 values lie on the whole land, and not in its tiles. An edit copies the values that
it is the first to replace, so a block may know only some of them: the others may be in a tile that
is not loaded.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.types import Bools
from terrain_physics.heightmap.cells import Ranges, Region
from terrain_physics.heightmap.framed import DTYPES, KINDS, Edited, FramedMap
from terrain_physics.tiles.loading.supply import TileSupply
from terrain_physics.tiles.saving.values import land_digest

BLOCK = 32
"""Samples or cells along each side of a block."""

Block = tuple[int, int]
"""Row and column of a block."""


def shape_of(terrain: FramedMap, kind: str) -> tuple[int, int]:
    """Return how many rows and columns of samples or cells a map has."""
    return terrain.sample_count if kind == "heights" else terrain.cell_count


def place_of(block: Block, shape: tuple[int, int]) -> Ranges:
    """Return the samples or cells of a block in an array of a shape, as far as that goes."""
    row, column = BLOCK * block[0], BLOCK * block[1]
    return (
        slice(row, min(row + BLOCK, shape[0])),
        slice(column, min(column + BLOCK, shape[1])),
    )


class FirstValues(NamedTuple):
    """What was in a block before its first edits.

    Attributes
    ----------
    values : ndarray
    marks : ndarray of bool
        Which of them were edited; the others are not known.
    """

    values: NDArray[Any]
    marks: Bools


class EditedLand:
    """The values of a land that were edited since this was made; a watcher of its storage.

    Attributes
    ----------
    supply : TileSupply
    before : dict of str to dict of (int, int) to FirstValues
        By kind and block.
    """

    __slots__ = ("__weakref__", "before", "supply")

    def __init__(self, supply: TileSupply) -> None:
        self.supply = supply
        with supply.land.lock:
            self.before: dict[Edited, dict[Block, FirstValues]] = {kind: {} for kind in KINDS}
            supply.land.watchers.add(self, 0)

    def tell(self, number: int, what: str, *details: Any) -> None:
        """Hear of an edit: `prepare` has heard of it."""

    def prepare(self, number: int, what: Edited, region: Region, place: Ranges) -> None:  # noqa: ARG002
        """Keep what an edit is about to change at a place."""
        now: Any = None
        for block, here, there in blocks_in(place):
            known = self.before[what].get(block)
            if known is None:
                size = BLOCK, BLOCK
                known = FirstValues(np.zeros(size, DTYPES[what]), np.zeros(size, np.bool_))
                self.before[what][block] = known
            new = ~known.marks[there]
            if new.any():
                now = self.supply.land.values(what, place) if now is None else now
                known.values[there][new] = now[here][new]
                known.marks[there] = True

    def digest(self) -> str:
        """Return 32 hexadecimal digits of the land at that moment."""
        with self.supply.land.lock:
            return land_digest(self.supply, self._put_before)

    def _put_before(self, number: int, kind: Edited, values: NDArray[Any]) -> None:
        """Put the values of that moment over those of a tile."""
        if not self.before[kind]:
            return
        row, column = self.supply.land.place_of(number)
        place = slice(row, row + values.shape[0]), slice(column, column + values.shape[1])
        for block, here, there in blocks_in(place):
            known = self.before[kind].get(block)
            if known is not None:
                marks = known.marks[there]
                values[here][marks] = known.values[there][marks]


def blocks_in(place: Ranges) -> Iterator[tuple[Block, Ranges, Ranges]]:
    """Give each block that shares values with a place: where in the place, where in the block."""
    spans = [_spans(span) for span in place]
    for row, here_down, there_down in spans[0]:
        for column, here_across, there_across in spans[1]:
            yield (row, column), (here_down, here_across), (there_down, there_across)


def _spans(span: slice) -> list[tuple[int, slice, slice]]:
    """Return the same along one axis."""
    found = []
    for block in range(span.start // BLOCK, (span.stop - 1) // BLOCK + 1):
        start, stop = max(span.start, BLOCK * block), min(span.stop, BLOCK * (block + 1))
        here = slice(start - span.start, stop - span.start)
        found.append((block, here, slice(start - BLOCK * block, stop - BLOCK * block)))
    return found
