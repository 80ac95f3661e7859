"""Patches of a map, and what edits of it have replaced, to be put back as patches."""

from collections.abc import Iterable
from itertools import product
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.types import Bools
from terrain_physics.heightmap.cells import (
    Bounds,
    Ranges,
    Region,
    bounds_of,
    ranges_of,
    rectangles_of,
    shared,
    within,
)
from terrain_physics.heightmap.framed import (
    DTYPES,
    TYPES,
    Edited,
    FramedMap,
    LiveMap,
    StoredMap,
)

# Edits are joined by squares of so many samples or cells along each side.
_SQUARE = 64

Square = tuple[Edited, int, int]
"""What a square is of, and its row and column among all squares of a map."""


class Patch(NamedTuple):
    """Values of one kind.

    Attributes
    ----------
    what : str
    place : tuple of slice
        Rows and columns of samples, or of cells.
    values : ndarray
        One for each of them.
    marks : ndarray of bool, or None
        Which of them count; None: all.
    """

    what: Edited
    place: Ranges
    values: NDArray[Any]
    marks: Bools | None = None

    @classmethod
    def unpacked(cls, what: Edited, bounds: Bounds, content: bytes) -> Self:
        """Return a patch from its bounds and bytes; ValueError if they do not fit."""
        row_0, row_1, column_0, column_1 = bounds
        if not (0 <= row_0 < row_1 and 0 <= column_0 < column_1):
            raise ValueError(f"rows and columns must be some, got {bounds}")
        values = np.frombuffer(content, DTYPES[what]).reshape(row_1 - row_0, column_1 - column_0)
        return cls(what, ranges_of(bounds), values)

    @property
    def bounds(self) -> Bounds:
        """First row, end of rows, first column, end of columns."""
        return bounds_of(self.place)

    @property
    def content(self) -> bytes:
        """The bytes of the values, as files and other machines have them."""
        return self.values.astype(DTYPES[self.what], copy=False).tobytes()

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

    def cut(self, bounds: Bounds) -> Self:
        """Return the part of it within bounds; all of it counts."""
        (row, _, column, _), (row_0, row_1, column_0, column_1) = self.bounds, bounds
        own = slice(row_0 - row, row_1 - row), slice(column_0 - column, column_1 - column)
        return type(self)(self.what, within(self.place, own), self.values[own])

    def covers(self, place: Ranges) -> bool:
        """Tell whether all its values at a place count."""
        both = None if self.marks is None else shared(self.place, place)
        return self.marks is None or both is None or bool(self.marks[both[0]].all())

    def crossed(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the exclusive or with the bits of other values at its place; 0 if none counts."""
        kind = DTYPES[self.what]
        found = crossed(values.astype(kind, copy=False), self.values.astype(kind, copy=False))
        if self.marks is not None:
            found[~self.marks] = 0
        return found


def squares_in(what: Edited, place: Ranges, side: int) -> list[Square]:
    """Return the squares, so many values along each side, that a place meets."""
    down, across = (range(span.start // side, (span.stop - 1) // side + 1) for span in place)
    return [(what, row, column) for row, column in product(down, across)]


def place_in(terrain: FramedMap, square: Square, side: int) -> Ranges:
    """Return the samples or cells of a square, as far as a map goes."""
    what, *numbers = square
    counts = terrain.sample_count if what == "heights" else terrain.cell_count
    rows, columns = (
        slice(number * side, min((number + 1) * side, count))
        for number, count in zip(numbers, counts, strict=True)
    )
    return rows, columns


def blank(terrain: FramedMap, square: Square, side: int) -> Patch:
    """Return a square of which no value counts yet."""
    what, place = square[0], place_in(terrain, square, side)
    size = [span.stop - span.start for span in place]
    return Patch(what, place, np.zeros(size, TYPES[what]), np.zeros(size, np.bool_))


def in_squares(terrain: LiveMap, patches: Iterable[Patch], side: int) -> list[Patch]:
    """Return patches as squares of a map, so many values along each side; the last one counts."""
    squares: dict[Square, Patch] = {}
    for patch in patches:
        for number in squares_in(patch.what, patch.place, side):
            square = squares.get(number) or squares.setdefault(number, blank(terrain, number, side))
            patch.put_over(square.values, square.marks, square.place)
    return list(squares.values())


def by_squares(patches: Iterable[Patch], side: int) -> dict[Square, list[Patch]]:
    """Return the patches that meet each square, in order."""
    found: dict[Square, list[Patch]] = {}
    for patch in patches:
        for square in squares_in(patch.what, patch.place, side):
            found.setdefault(square, []).append(patch)
    return found


def values_with(
    terrain: StoredMap, what: Edited, place: Ranges, patches: Iterable[Patch] = ()
) -> NDArray[Any]:
    """Return the values of a map at a place once patches of that kind are put over it."""
    found = terrain.values(what, place)
    for patch in patches:
        patch.put_over(found, place=place)
    return found


def crossed(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    """Return the exclusive or of the bits of two arrays of values of one kind."""
    word = f"<u{one.dtype.itemsize}"
    found: NDArray[Any] = np.bitwise_xor(
        np.ascontiguousarray(one).view(word), np.ascontiguousarray(other).view(word)
    )
    return found


class _Held(NamedTuple):
    """What an edit holds. It is one value, so that Ctrl-C never leaves half of it."""

    solid_depth: tuple[float, bool]
    replaced: list[Patch]


class MapEdit:
    """What edits of a map have replaced; see `terrain_physics.surface.history.KeptEdit`."""

    __slots__ = ("held", "storage")

    def __init__(
        self,
        storage: StoredMap,
        what: Edited,
        region: Region,  # noqa: ARG002
        place: Ranges,
    ) -> None:
        self.storage, replaced = storage, list[Patch]()
        if what != "thickness":
            replaced = [Patch(what, place, storage.values(what, place))]
        self.held = _Held(storage.solid_depth, replaced)

    @property
    def replaced(self) -> list[Patch]:
        """The values of each kind."""
        return self.held.replaced

    @property
    def solid_depth(self) -> tuple[float, bool]:
        """What `swap` would put back, see `LiveMap.solid_depth`."""
        return self.held.solid_depth

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

        def exchange() -> None:
            held, self.held = self.held, self._now()
            self._put(held)

        self.storage.editing(exchange)

    def swap_back(self, held: _Held) -> None:
        """Undo a swap, whole or in part, of an edit that held this before; else do nothing."""

        def exchange() -> None:
            if self.held is not held:
                self._put(self.held)
                self.held = held

        self.storage.editing(exchange)

    def _now(self) -> _Held:
        """Return what is now where it has replaced values."""
        values = self.storage.values
        replaced = [own._replace(values=values(own.what, own.place)) for own in self.replaced]
        return _Held(self.storage.solid_depth, replaced)

    def _put(self, held: _Held) -> None:
        self.storage.put_solid_depth(held.solid_depth)
        for patch in held.replaced:
            self.storage.put_back(*patch)

    def joined(self, later: "list[MapEdit]") -> Self:
        """Return this edit and later ones as one; what the first of them replaced counts."""
        edits: list[MapEdit] = [self, *later]
        patches = [patch for edit in edits for patch in edit.replaced]
        squares = in_squares(self.storage, reversed(patches), _SQUARE)
        self.held = self.held._replace(replaced=squares)
        return self


def patches_of(terrain: StoredMap, edits: Iterable[Any]) -> list[Patch]:
    """Return the patches that edits of a map, among others, would put over it, in order."""
    return [patch for edit in edits if edit.storage is terrain for patch in edit.replaced]


def solid_depth_after(terrain: StoredMap, edits: Iterable[Any]) -> tuple[float, bool]:
    """Return how deep a map would be solid then, see `LiveMap.solid_depth`."""
    own = [edit.solid_depth for edit in edits if edit.storage is terrain]
    return own[-1] if own else terrain.solid_depth
