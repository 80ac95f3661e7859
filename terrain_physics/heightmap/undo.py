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


class MapEdit:
    """What edits of a height map have replaced; see `terrain_physics.surface.history.KeptEdit`.

    Attributes
    ----------
    replaced : list of _OldValues
        The values of each kind.
    """

    __slots__ = ("_solid", "replaced", "storage")

    def __init__(self, storage: MapStorage, what: Edited, region: Region) -> None:
        self.storage, self._solid = storage, storage.solid_depth
        self.replaced: list[_OldValues] = []
        if what != "thickness":
            values = self._present(what, region).copy()
            self.replaced = [_OldValues(what, region, values, None)]

    @property
    def solid_depth(self) -> tuple[float, bool]:
        """What `swap` would put back, see `MapStorage.solid_depth`."""
        return self._solid

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
        storage = self.storage
        with storage.editing():
            now = storage.solid_depth
            if now != self._solid:
                storage.watchers.prepare("thickness", storage.whole)
                storage.solid_depth, self._solid = self._solid, now
                storage.changed(storage.whole, "thickness")
            self.replaced = [self._swapped(part) for part in self.replaced]

    def _swapped(self, part: _OldValues) -> _OldValues:
        """Put values back; return those that were there."""
        now = self._present(part.what, part.region).copy()
        new = part.values if part.marks is None else np.where(part.marks, part.values, now)
        self.storage.put_back(part.what, part.region, _place(part.what, part.region), new)
        return part._replace(values=now)

    def joined(self, later: "list[MapEdit]") -> Self:
        """Return this edit and later ones as one; what the first of them replaced counts."""
        edits: list[MapEdit] = [self, *later]
        parts = [part for edit in edits for part in edit.replaced]
        whole = self.storage.whole
        self.replaced = []
        for what in dict.fromkeys(part.what for part in parts):
            values = self._present(what, whole).copy()
            marks = np.zeros(values.shape, dtype=np.bool_)
            for part in reversed(parts):
                if part.what == what:
                    part.put_over(values, marks)
            self.replaced.append(_OldValues(what, whole, values, marks))
        return self
