"""What edits of a height map have replaced, to be put back."""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.types import Bools
from terrain_physics.heightmap.cells import Region
from terrain_physics.heightmap.storage import Edited, MapStorage


class _OldValues(NamedTuple):
    """Values of one kind that edits have replaced.

    Attributes
    ----------
    what : str
    region : Region
        Of cells; heights are those of all their corners.
    values : ndarray
        One for each cell or corner.
    marks : ndarray of bool, or None
        Which of them were replaced; None: all.
    """

    what: Edited
    region: Region
    values: NDArray[Any]
    marks: Bools | None

    def put_over(self, values: NDArray[Any], marks: Bools) -> None:
        """Write the values to arrays of the whole map, and mark them there."""
        place = _place(self.what, self.region)
        own = ... if self.marks is None else self.marks
        values[place][own] = self.values[own]
        marks[place][own] = True


def _place(what: Edited, region: Region) -> tuple[slice, slice]:
    """Return the place of the values of a region."""
    row_0, row_1, column_0, column_1 = region
    more = 1 if what == "heights" else 0
    return slice(row_0, row_1 + more), slice(column_0, column_1 + more)


class _Held(NamedTuple):
    """What an edit holds. It is one value, so that Ctrl-C never leaves half of it."""

    solid_depth: tuple[float, bool]
    replaced: list[_OldValues]
    is_swapped: bool
    begun: "_Held | None"  # what it will hold after a swap that has begun


class MapEdit:
    """What edits of a height map have replaced; see `terrain_physics.surface.history.KeptEdit`."""

    __slots__ = ("_held", "storage")

    def __init__(self, storage: MapStorage, what: Edited, region: Region) -> None:
        self.storage, replaced = storage, list[_OldValues]()
        if what != "thickness":
            replaced = [_OldValues(what, region, self._present(what, region).copy(), None)]
        self._held = _Held(storage.solid_depth, replaced, is_swapped=False, begun=None)

    @property
    def replaced(self) -> list[_OldValues]:
        """The values of each kind."""
        return self._held.replaced

    @property
    def solid_depth(self) -> tuple[float, bool]:
        """What `swap` would put back, see `MapStorage.solid_depth`."""
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
        return sum(
            part.values.nbytes + (0 if part.marks is None else part.marks.nbytes)
            for part in self.replaced
        )

    def _present(self, what: Edited, region: Region) -> NDArray[Any]:
        """Return what the map has in a region now."""
        place = _place(what, region)
        if what == "heights":
            return self.storage.heights[place]
        marks: NDArray[Any] = (
            self.storage.hole_marks(place)
            if what == "holes"
            else self.storage.material_numbers(place)
        )
        return marks

    def swap(self) -> None:
        """Put back what was there, and keep what is there now."""
        storage, held = self.storage, self._held

        def exchange() -> None:
            after = held.begun or self._after()
            self._held = held._replace(begun=after)
            if storage.solid_depth != held.solid_depth:
                storage.watchers.prepare("thickness", storage.whole)
                storage.solid_depth = held.solid_depth
                storage.changed(storage.whole, "thickness")
            for old, (what, region, now, marks) in zip(held.replaced, after.replaced, strict=True):
                new = old.values if marks is None else np.where(marks, old.values, now)
                storage.put_back(what, region, _place(what, region), new)
            self._held = after

        storage.editing(exchange)

    def _after(self) -> _Held:
        """Return what it holds after a swap."""
        replaced = [
            part._replace(values=self._present(part.what, part.region).copy())
            for part in self.replaced
        ]
        return _Held(self.storage.solid_depth, replaced, not self.is_swapped, begun=None)

    def joined(self, later: "list[MapEdit]") -> Self:
        """Return this edit and later ones as one; what the first of them replaced counts."""
        edits: list[MapEdit] = [self, *later]
        parts = [part for edit in edits for part in edit.replaced]
        whole, replaced = self.storage.whole, list[_OldValues]()
        for what in dict.fromkeys(part.what for part in parts):
            values = self._present(what, whole).copy()
            marks = np.zeros(values.shape, dtype=np.bool_)
            for part in reversed(parts):
                if part.what == what:
                    part.put_over(values, marks)
            replaced.append(_OldValues(what, whole, values, marks))
        self._held = self._held._replace(replaced=replaced)
        return self
