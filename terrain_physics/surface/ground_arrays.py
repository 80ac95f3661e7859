"""Tables of addresses, which pass many arrays to kernels as one, and the arrays of a ground."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.mesh.parts import ID_BITS, ROW_COUNT
from terrain_physics._kernels.surface.ground_arrays import (
    FIRST_LAYER,
    MAP_NUMBER,
    MAP_NUMBERS,
    MAP_ROW_SIZE,
    MAPS,
    MESH_ROW_SIZE,
    MESHES,
    MOVER_SIZE,
    MOVERS,
    REACH_SIZE,
    REACHES,
    SIDES,
)
from terrain_physics._kernels.types import Bytes, Float32s, Floats, Int64s

MapArrays = tuple[Float32s, Bytes, Float32s, Floats]


class _TableOwner:
    """The memory of a table, and the arrays that the table points to."""

    __slots__ = ("__array_interface__", "_arrays", "_rows")

    def __init__(self, rows: Int64s, arrays: Any) -> None:
        self._rows, self._arrays = rows, arrays
        interface = rows.__array_interface__
        interface["data"] = interface["data"][0], True
        self.__array_interface__ = interface


def table_over(rows: Int64s, arrays: Any) -> Int64s:
    """Return rows of addresses, read-only, as a table that keeps arrays alive.

    The arrays live as long as the table, even if another thread replaces them while a kernel runs.
    The addresses are valid in this process only: never save them.
    """
    # The array's base is the owner, which keeps the arrays.
    return np.asarray(_TableOwner(rows, arrays))


def addresses(*arrays: NDArray[Any]) -> list[int]:
    """Return the address and the length of each array, one after another."""
    return [
        number
        for values in arrays
        for number in (values.__array_interface__["data"][0], len(values))
    ]


def map_rows(maps: list[MapArrays], parts: list[Int64s], layers: list[int]) -> Int64s:
    """Return the table of maps: their arrays, the numbers of their parts, and their layers."""
    rows = np.zeros((len(maps), MAP_ROW_SIZE), dtype=np.int64)
    for row, arrays, numbers, own in zip(rows, maps, parts, layers, strict=True):
        row[:MAP_NUMBER] = addresses(*arrays)
        row[MAP_NUMBER:] = int(numbers[0]), own, *addresses(numbers)
    return table_over(rows, (maps, parts))


_FIRST = np.zeros(1, np.int64)

NO_MAPS = map_rows([], [], [])
NO_MESHES = table_over(np.zeros((1, MESH_ROW_SIZE), dtype=np.int64), ())


class MoverArrays(NamedTuple):
    """The moving parts of a ground: see `terrain_physics._kernels.ground.movers`."""

    rows: Floats
    reaches: Floats


NO_MOVERS = MoverArrays(np.zeros((1, MOVER_SIZE)), np.zeros((REACH_SIZE, 1)))
for _none in NO_MOVERS:
    _none.setflags(write=False)


class Materials(Protocol):
    """The materials of the cells of a map, row by row."""

    def item(self, cell: int, /) -> int:
        """Return the material of a cell."""

    def take(self, cells: Int64s, /) -> Bytes:
        """Return the materials of cells (n,)."""


class MapMaterials(NamedTuple):
    """The materials of a map, or of a union, by the ground's numbers.

    Attributes
    ----------
    made : Materials or None
        Of the cells, by the numbers of the maps; None: all 0.
    parts : ndarray of int64, shape (k,)
        The numbers of the maps, ascending.
    named : ndarray of uint8, shape (k, 256), or None
        The ground's number for each material of each map; None if they are the same.
    """

    made: Materials | None
    parts: Int64s
    named: Bytes | None

    def one(self, triangle: int, cell: int) -> int:
        """Return the material of a cell."""
        if self.named is None and self.made is not None:
            return int(self.made.item(cell))
        return int(self.of(np.array([triangle]), np.array([cell]))[0])

    def of(self, triangles: Int64s, cells: Int64s) -> Bytes:
        """Return the materials of cells (n,), given with the ground's ids of triangles there."""
        own = np.zeros(len(cells), np.uint8) if self.made is None else self.made.take(cells)
        if self.named is None:
            return own
        parts = np.where(triangles < 0, self.parts[0], triangles >> ID_BITS)
        return np.asarray(self.named[np.searchsorted(self.parts, parts), own])


def no_skins() -> None:
    """Find no connectivity: there are no meshes."""


class GroundArrays:
    """The maps and the meshes that characters stand on, and which of them move, as tables.

    Parameters
    ----------
    maps : ndarray of int64
        See `map_rows`.
    meshes : ndarray of int64
        See `terrain_physics.mesh.table`.
    movers : MoverArrays
    sides : ndarray of int64
        Of the maps, as meshes.
    made_of : sequence of MapMaterials or None
        The materials of each of the maps; None: all are 0.
    find_skins : callable
        Puts the connectivity of all meshes and sides in these arrays, for sweeps. To find it takes
        long the first time.
    """

    __slots__ = ("find_skins", "made_of", "maps", "meshes", "movers", "sides", "table")

    def __init__(
        self,
        maps: Int64s,
        meshes: Int64s,
        movers: MoverArrays = NO_MOVERS,
        sides: Int64s = NO_MESHES,
        made_of: Sequence[MapMaterials | None] = (None,),
        find_skins: Callable[[], Any] = no_skins,
    ) -> None:
        self.maps, self.meshes, self.movers, self.sides = maps, meshes, movers, sides
        self.made_of, self.find_skins = made_of, find_skins
        tables = maps, meshes, movers.rows, sides
        rows = np.empty((len(tables) + 1, 2), dtype=np.int64)
        for place, own in zip((MAPS, MESHES, MOVERS, SIDES), tables, strict=True):
            rows[place] = addresses(own)
        rows[REACHES] = movers.reaches.__array_interface__["data"][0], movers.reaches.shape[1]
        self.table = table_over(rows, (tables, movers))

    @property
    def has_meshes(self) -> bool:
        """Whether there are meshes, besides sides of maps."""
        return bool(self.meshes[0, ROW_COUNT] > 1)

    @property
    def is_of_one_part(self) -> bool:
        """Whether one map alone has triangles, which is not united, or no map."""
        if not len(self.maps):
            return True
        return len(self.maps) == 1 == self.maps[0, MAP_NUMBERS + 1] and not self.has_meshes

    @property
    def is_of_one_kind(self) -> bool:
        """Whether all materials are 0: there are no meshes, and maps have none."""
        return not self.has_meshes and not any(self.made_of)


NOTHING = GroundArrays(NO_MAPS, NO_MESHES)
"""The arrays of a ground without parts."""


def arrays_alone(arrays: MapArrays, materials: Materials | None) -> GroundArrays:
    """Return the arrays of a map that is no part of a ground."""
    made = None if materials is None else MapMaterials(materials, _FIRST, None)
    return GroundArrays(map_rows([arrays], [_FIRST], [FIRST_LAYER]), NO_MESHES, made_of=(made,))
