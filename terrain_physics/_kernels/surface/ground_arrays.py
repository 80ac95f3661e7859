"""The arrays that characters stand on, in the order of the table that hands them to kernels.

Python hands a kernel one table of addresses instead of nine arrays: each array would cost 40 ns a
call. `terrain_physics.surface.ground_arrays` makes the table and keeps its arrays alive.
"""

from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._intrinsics import array_at, borrow
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.types import Bytes, Floats, Ints, Longs, Singles

# Rows of the table, (address, length): first the arrays of maps, then those of the mesh.
MAP_ARRAYS, MESH_ARRAYS = 4, 5


class Ground(NamedTuple):
    """Maps one behind the other, and one mesh; each may be absent. Arrays only."""

    heights: Singles
    cells: Bytes
    blocks: Singles
    frames: Floats  # (FRAME_SIZE for each map,)
    corners: Floats  # (n, 9) of the mesh, by slot
    order: Ints  # the face of each slot
    boxes: Singles  # (m, 6, 16), by node
    children: Ints
    mesh_frame: Floats


@kernel(inline=True)
def ground_at(table: Longs) -> Ground:
    """Return the ground whose arrays a table points to; the table must outlive it."""
    rows = borrow(table)
    return Ground(
        array_at(rows[0, 0], (rows[0, 1],), np.float32),
        array_at(rows[1, 0], (rows[1, 1],), np.uint8),
        array_at(rows[2, 0], (rows[2, 1],), np.float32),
        array_at(rows[3, 0], (rows[3, 1],), np.float64),
        array_at(rows[4, 0], (rows[4, 1], 9), np.float64),
        array_at(rows[5, 0], (rows[5, 1],), np.int32),
        array_at(rows[6, 0], (rows[6, 1], 6, 16), np.float32),
        array_at(rows[7, 0], (rows[7, 1],), np.int32),
        array_at(rows[8, 0], (rows[8, 1],), np.float64),
    )
