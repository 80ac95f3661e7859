"""Tables of addresses, which pass many arrays to kernels as one, and the arrays of a ground."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.surface.ground_arrays import (
    FIRST_LAYER,
    MAP_NUMBER,
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


def map_alone(arrays: MapArrays) -> Int64s:
    """Return the table of a map that is no part of a ground."""
    return map_rows([arrays], [_FIRST], [FIRST_LAYER])


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
    members : sequence
        What a ground knows of each of the maps.
    """

    __slots__ = ("maps", "members", "meshes", "movers", "sides", "table")

    def __init__(
        self,
        maps: Int64s,
        meshes: Int64s,
        movers: MoverArrays = NO_MOVERS,
        sides: Int64s = NO_MESHES,
        members: Sequence[Any] = (),
    ) -> None:
        self.maps, self.meshes, self.movers, self.sides = maps, meshes, movers, sides
        self.members = members
        tables = maps, meshes, movers.rows, sides
        rows = np.empty((len(tables) + 1, 2), dtype=np.int64)
        for place, own in zip((MAPS, MESHES, MOVERS, SIDES), tables, strict=True):
            rows[place] = addresses(own)
        rows[REACHES] = movers.reaches.__array_interface__["data"][0], movers.reaches.shape[1]
        self.table = table_over(rows, (tables, movers))
