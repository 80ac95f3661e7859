"""How the cells of a map are cut into patches, each of which has its own mesh of sides."""

from terrain_physics.heightmap.cells import Region

# A patch has so many cells along each side; those at the far borders have fewer.
PATCH_CELLS = 256


class PatchGrid:
    """The patches of a map of so many cells, by their numbers, row by row.

    Cells outside of an endless map belong to the nearest patch.
    """

    __slots__ = ("_across", "_cells", "_size")

    def __init__(self, rows: int, columns: int) -> None:
        self._cells, self._size = (rows, columns), PATCH_CELLS
        self._across = -(-columns // self._size)

    def spans(self, area: Region) -> tuple[range, range]:
        """Return the rows and the columns of the patches that have cells of an area."""
        found = []
        for count, first, stop in zip(self._cells, area[::2], area[1::2], strict=True):
            last = (count - 1) // self._size
            low, high = (min(max(own // self._size, 0), last) for own in (first, stop - 1))
            found.append(range(low, high + 1))
        return found[0], found[1]

    def numbers(self, area: Region) -> list[int]:
        """Return the patches that have cells of an area, ascending."""
        rows, columns = self.spans(area)
        return [row * self._across + column for row in rows for column in columns]

    def cells(self, number: int) -> Region:
        """Return the cells of a patch, and those outside of the map beside it."""
        bounds = []
        for place, count in zip(divmod(number, self._across), self._cells, strict=True):
            first, stop = place * self._size, (place + 1) * self._size
            bounds += [-1 if first == 0 else first, count + 1 if stop >= count else stop]
        return Region(*bounds)
