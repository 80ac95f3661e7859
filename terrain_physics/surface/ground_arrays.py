"""The arrays that characters stand on, made in one place and handed to kernels as one table."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.surface.ground_arrays import MAP_ARRAYS, MESH_ARRAYS
from terrain_physics._kernels.types import Bytes, Floats, Ints, Longs, Singles

MapArrays = tuple[Singles, Bytes, Singles, Floats]
TreeArrays = tuple[Floats, Ints, Singles, Ints, Floats]


class _Owner:
    """The memory of a table, and the arrays that the table points to."""

    __slots__ = ("__array_interface__", "_arrays", "_rows")

    def __init__(self, rows: Longs, arrays: tuple[NDArray[Any], ...]) -> None:
        self._rows, self._arrays = rows, arrays
        self.__array_interface__ = rows.__array_interface__ | {"data": (rows.ctypes.data, True)}


class GroundArrays:
    """The arrays of maps, one behind the other, and of a mesh; either may be absent.

    Parameters
    ----------
    maps : tuple of ndarray, optional
        Heights, cells, blocks and frames.
    mesh : tuple of ndarray, optional
        Corners, order, boxes, children and frame.
    """

    __slots__ = ("_table", "maps", "mesh")

    def __init__(self, maps: MapArrays | None = None, mesh: TreeArrays | None = None) -> None:
        self.maps, self.mesh = maps, mesh
        self._table: Longs | None = None

    @property
    def table(self) -> Longs:
        """What kernels take: the (address, length) of each array (9, 2); zeros where absent.

        Read-only. The arrays live as long as the table, even where a thread without the lock
        replaces them while a kernel runs. The addresses hold in this process only: never save them.
        """
        if self._table is None:
            rows = np.zeros((MAP_ARRAYS + MESH_ARRAYS, 2), dtype=np.int64)
            _put_addresses(rows[:MAP_ARRAYS], self.maps)
            _put_addresses(rows[MAP_ARRAYS:], self.mesh)
            # The owner is what the array's memory belongs to: its base.
            self._table = np.asarray(_Owner(rows, (*(self.maps or ()), *(self.mesh or ()))))
        return self._table


def _put_addresses(rows: Longs, arrays: tuple[NDArray[Any], ...] | None) -> None:
    if arrays is not None:
        rows[:] = [(values.ctypes.data, len(values)) for values in arrays]
