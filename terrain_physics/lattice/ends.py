"""Where the ground of a lattice may end: at holes, and at borders behind which there is no tile."""

from collections.abc import Iterable, Mapping
from itertools import product

from terrain_physics._kernels.types import Bools
from terrain_physics.heightmap.cells import Region, all_common
from terrain_physics.lattice.tile import LatticeShape, LoadedTile

# Rows and columns to the tiles beside one, towards -x, +x, -z and +z.
_BESIDE = (0, -1), (0, 1), (-1, 0), (1, 0)


class GroundEnds:
    """The cells of loaded tiles at whose edges the ground may end.

    Behind the border of a tile that is missing the ground goes on.
    """

    __slots__ = ("_exists", "_found", "_loaded", "_shape")

    def __init__(
        self, shape: LatticeShape, exists: Bools, loaded: Mapping[int, LoadedTile]
    ) -> None:
        self._shape, self._exists, self._loaded = shape, exists, loaded
        self._found: dict[int, list[Region]] = {}

    def regions(self, area: Region) -> list[Region]:
        """Return those in an area, each once or several times."""
        side, numbers = self._shape.side, list(self._found)
        rows = range(max(area[0] // side, 0), min((area[1] - 1) // side + 1, self._shape.rows))
        columns = range(
            max(area[2] // side, 0), min((area[3] - 1) // side + 1, self._shape.columns)
        )
        if len(rows) * len(columns) < len(numbers):
            numbers = [self._number(*place) for place in product(rows, columns)]
        return all_common((own for k in numbers for own in self._found.get(k, ())), area)

    def look(self, numbers: Iterable[int]) -> None:
        """Look again at tiles that came, went or were edited, and at those beside."""
        near = set[int]()
        for number in numbers:
            row, column = divmod(number, self._shape.columns)
            around = ((row, column), *((row + down, column + across) for down, across in _BESIDE))
            near.update(self._number(*place) for place in around if self._is_there(*place))
        for number in near:
            ends = self._ends_of(number) if number in self._loaded else []
            if ends:
                self._found[number] = ends
            else:
                self._found.pop(number, None)

    def _number(self, row: int, column: int) -> int:
        return row * self._shape.columns + column

    def _is_there(self, row: int, column: int) -> bool:
        rows, columns = self._exists.shape
        return 0 <= row < rows and 0 <= column < columns and bool(self._exists[row, column])

    def _ends_of(self, number: int) -> list[Region]:
        side = self._shape.side
        row, column = divmod(number, self._shape.columns)
        row_0, column_0 = row * side, column * side
        row_1, column_1 = row_0 + side, column_0 + side
        if self._loaded[number].may_have_holes:
            return [Region(row_0, row_1, column_0, column_1)]
        rims = (
            Region(row_0, row_1, column_0, column_0 + 1),
            Region(row_0, row_1, column_1 - 1, column_1),
            Region(row_0, row_0 + 1, column_0, column_1),
            Region(row_1 - 1, row_1, column_0, column_1),
        )
        return [
            rim
            for rim, (down, across) in zip(rims, _BESIDE, strict=True)
            if self._ends_at(row + down, column + across)
        ]

    def _ends_at(self, row: int, column: int) -> bool:
        """Tell whether the ground may end at the border of a tile."""
        if not self._is_there(row, column):
            return True
        beside = self._loaded.get(self._number(row, column))
        return beside is not None and beside.may_have_holes
