"""What edits of a lattice have replaced, to be put back."""

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.types import Bools
from terrain_physics.heightmap.cells import Ranges, Region, rectangles_of, shared
from terrain_physics.heightmap.storage import Edited
from terrain_physics.lattice.lattice_map import LatticeMap

# Edits are joined by squares of so many samples or cells along each side.
_SQUARE = 64


class _OldRange(NamedTuple):
    """Values of one kind that edits have replaced, and which of them; None: all."""

    what: Edited
    place: Ranges
    values: NDArray[Any]
    marks: Bools | None


class _HeldRanges(NamedTuple):
    """What an edit holds. It is one value, so that Ctrl-C never leaves half of it."""

    replaced: list[_OldRange]
    is_swapped: bool
    begun: "list[_OldRange] | None"  # what it will hold after a swap that has begun


class LatticeEdit:
    """What edits of a lattice have replaced; see `terrain_physics.surface.history.KeptEdit`."""

    __slots__ = ("_held", "storage")

    def __init__(
        self,
        storage: LatticeMap,
        what: Edited,
        region: Region,  # noqa: ARG002 as of any map
        place: Ranges,
    ) -> None:
        self.storage = storage
        old = _OldRange(what, place, storage.values(what, place), None)
        self._held = _HeldRanges([old], is_swapped=False, begun=None)

    @property
    def replaced(self) -> Sequence[_OldRange]:
        """The values of each kind."""
        return self._held.replaced

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
        return sum(
            old.values.nbytes + (0 if old.marks is None else old.marks.nbytes)
            for old in self._held.replaced
        )

    @property
    def records(self) -> int:
        """How many edits a swap makes."""
        return sum(
            1 if old.marks is None else len(rectangles_of(old.marks)) for old in self.replaced
        )

    def swap(self) -> None:
        """Put back what was there, and keep what is there now.

        No tile is needed: whatever is put back was edited, so the source has what is there now.
        """
        storage, held = self.storage, self._held

        def exchange() -> None:
            after = held.begun or [
                old._replace(values=storage.values(old.what, old.place)) for old in held.replaced
            ]
            self._held = held._replace(begun=after)
            for old in held.replaced:
                storage.put_back(*old)
            self._held = _HeldRanges(after, not held.is_swapped, begun=None)

        storage.editing(exchange)

    def joined(self, later: "list[LatticeEdit]") -> Self:
        """Return this edit and later ones as one; what the first of them replaced counts."""
        squares: dict[tuple[Edited, int, int], _OldRange] = {}
        edits: list[LatticeEdit] = [self, *later]
        for old in reversed([old for edit in edits for old in edit.replaced]):
            for row, column in product(*map(_squares_along, old.place)):
                square = squares.get((old.what, row, column))
                if square is None:
                    square = squares[old.what, row, column] = self._empty(old.what, row, column)
                _put_over(square, old)
        self._held = self._held._replace(replaced=list(squares.values()))
        return self

    def _empty(self, what: Edited, row: int, column: int) -> _OldRange:
        """Return a square without any values yet."""
        rows, columns = self.storage.cell_count
        more = _lines(what)
        spans = [
            slice(first * _SQUARE, min((first + 1) * _SQUARE, count + more))
            for first, count in ((row, rows), (column, columns))
        ]
        size = [span.stop - span.start for span in spans]
        kind = {"heights": np.float32, "holes": np.bool_, "materials": np.uint8}[what]
        values: NDArray[Any] = np.zeros(size, dtype=kind)
        marks = np.zeros(size, dtype=np.bool_)
        return _OldRange(what, (spans[0], spans[1]), values, marks)


def _lines(what: Edited) -> int:
    return int(what == "heights")


def _squares_along(span: slice) -> range:
    return range(span.start // _SQUARE, (span.stop - 1) // _SQUARE + 1)


def _put_over(square: _OldRange, old: _OldRange) -> None:
    """Write values to a square, as far as they are within."""
    both = shared(square.place, old.place)
    if both is None:
        return
    place, own_place = both
    values = old.values[own_place]
    is_old = np.ones(values.shape, np.bool_) if old.marks is None else old.marks[own_place]
    square.values[place][is_old] = values[is_old]
    cast("Bools", square.marks)[place][is_old] = True
