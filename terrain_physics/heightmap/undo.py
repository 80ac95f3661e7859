"""Patches of a map, and what edits of it have replaced, to be put back as patches."""

from collections.abc import Iterable
from itertools import product
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.types import Bools
from terrain_physics.heightmap.cells import Ranges, Region, rectangles_of, shared
from terrain_physics.heightmap.framed import TYPES, Edited, LiveMap, StoredMap, cells_around

# Edits are joined by squares of so many samples or cells along each side.
_SQUARE = 64


class Patch(NamedTuple):
    """Values of one kind.

    Attributes
    ----------
    what : str
    region : Region
        Of the cells that change with them.
    place : tuple of slice
        Rows and columns of samples, or of cells.
    values : ndarray
        One for each of them.
    marks : ndarray of bool, or None
        Which of them count; None: all.
    """

    what: Edited
    region: Region
    place: Ranges
    values: NDArray[Any]
    marks: Bools | None = None

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return self.values.nbytes + (0 if self.marks is None else self.marks.nbytes)

    @property
    def rectangles(self) -> int:
        """How many rectangles the values are that count."""
        return 1 if self.marks is None else len(rectangles_of(self.marks))

    def put_over(
        self, values: NDArray[Any], marks: Bools | None = None, place: Ranges | None = None
    ) -> None:
        """Write what counts over the values at a place, all of the map by default; mark it there.

        As far as it is there.
        """
        within = tuple(slice(0, size) for size in values.shape) if place is None else place
        both = shared((within[0], within[1]), self.place)
        if both is None:
            return
        here, own = both
        counts = ... if self.marks is None else self.marks[own]
        values[here][counts] = self.values[own][counts]
        if marks is not None:
            marks[here][counts] = True


def place_of(what: Edited, region: Region) -> Ranges:
    """Return the place of the values of a region of cells; heights are those of all corners."""
    row_0, row_1, column_0, column_1 = region
    more = int(what == "heights")
    return slice(row_0, row_1 + more), slice(column_0, column_1 + more)


def in_squares(terrain: LiveMap, patches: Iterable[Patch], side: int) -> list[Patch]:
    """Return patches as squares of a map, so many values along each side; the last one counts."""
    squares: dict[tuple[Edited, int, int], Patch] = {}
    for patch in patches:
        for row, column in product(*(_along(span, side) for span in patch.place)):
            key = patch.what, row, column
            if key not in squares:
                squares[key] = _square(terrain, *key, side)
            square = squares[key]
            patch.put_over(square.values, square.marks, square.place)
    return list(squares.values())


def _along(span: slice, side: int) -> range:
    """Return the numbers of the squares along one side of a place."""
    return range(span.start // side, (span.stop - 1) // side + 1)


def _square(terrain: LiveMap, what: Edited, row: int, column: int, side: int) -> Patch:
    """Return a square of which no value counts yet."""
    is_of_samples = what == "heights"
    counts = terrain.sample_count if is_of_samples else terrain.cell_count
    rows, columns = (
        slice(number * side, min((number + 1) * side, count))
        for number, count in zip((row, column), counts, strict=True)
    )
    bounds = rows.start, rows.stop, columns.start, columns.stop
    region = cells_around(terrain, *bounds) if is_of_samples else Region(*bounds)
    size = rows.stop - rows.start, columns.stop - columns.start
    return Patch(what, region, (rows, columns), np.zeros(size, TYPES[what]), np.zeros(size, bool))


def crossed(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    """Return the exclusive or of the bits of two arrays of one type."""
    word = f"<u{one.dtype.itemsize}"
    found: NDArray[Any] = np.bitwise_xor(
        np.ascontiguousarray(one).view(word), np.ascontiguousarray(other).view(word)
    )
    return found


class _Held(NamedTuple):
    """What an edit holds. It is one value, so that Ctrl-C never leaves half of it."""

    solid_depth: tuple[float, bool]
    replaced: list[Patch]
    is_swapped: bool
    begun: "_Held | None"  # what it will hold after a swap that has begun


class MapEdit:
    """What edits of a map have replaced; see `terrain_physics.surface.history.KeptEdit`."""

    __slots__ = ("_held", "storage")

    def __init__(
        self, storage: StoredMap, what: Edited, region: Region, place: Ranges | None = None
    ) -> None:
        self.storage, replaced = storage, list[Patch]()
        if what != "thickness":
            own = place_of(what, region) if place is None else place
            replaced = [Patch(what, region, own, storage.values(what, own))]
        self._held = _Held(storage.solid_depth, replaced, is_swapped=False, begun=None)

    @property
    def replaced(self) -> list[Patch]:
        """The values of each kind."""
        return self._held.replaced

    @property
    def solid_depth(self) -> tuple[float, bool]:
        """What `swap` would put back, see `LiveMap.solid_depth`."""
        return self._held.solid_depth

    @property
    def is_swapped(self) -> bool:
        """Whether it was swapped an odd number of times."""
        return self._held.is_swapped

    @property
    def is_begun(self) -> bool:
        """Whether a swap was interrupted; the next one ends it."""
        return self._held.begun is not None

    @property
    def nbytes(self) -> int:
        """How much memory it takes."""
        return sum(patch.nbytes for patch in self.replaced)

    @property
    def rectangles(self) -> int:
        """How many edits of rectangles a swap makes of it."""
        return sum(patch.rectangles for patch in self.replaced)

    def swap(self) -> None:
        """Put back what was there, and keep what is there now.

        No tile is needed: whatever is put back was edited, so a land knows what is there now.
        """
        storage, held = self.storage, self._held

        def exchange() -> None:
            after = held.begun or self._after()
            self._held = held._replace(begun=after)
            storage.put_solid_depth(held.solid_depth)
            for patch in held.replaced:
                storage.put_back(*patch)
            self._held = after

        storage.editing(exchange)

    def _after(self) -> _Held:
        """Return what it holds after a swap."""
        values = self.storage.values
        replaced = [own._replace(values=values(own.what, own.place)) for own in self.replaced]
        return _Held(self.storage.solid_depth, replaced, not self.is_swapped, begun=None)

    def joined(self, later: "list[MapEdit]") -> Self:
        """Return this edit and later ones as one; what the first of them replaced counts."""
        edits: list[MapEdit] = [self, *later]
        patches = [patch for edit in edits for patch in edit.replaced]
        squares = in_squares(self.storage, reversed(patches), _SQUARE)
        self._held = self._held._replace(replaced=squares)
        return self
