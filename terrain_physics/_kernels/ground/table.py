"""The ground of characters in kernels: maps and meshes, from one table."""

from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._intrinsics import array_at, borrow
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.heightmap.grid import Grid, unpack_grid
from terrain_physics._kernels.mesh.parts import Parts, parts_at
from terrain_physics._kernels.surface.ground_arrays import (
    MAP_BLOCKS,
    MAP_CELLS,
    MAP_FRAME,
    MAP_HEIGHTS,
    MAP_ROW_SIZE,
    MAPS,
    MESH_ROW_SIZE,
    MESHES,
)
from terrain_physics._kernels.types import Longs, Singles


class Ground(NamedTuple):
    """Maps and meshes; either may be none. What the mask does not meet is not there."""

    maps: Longs  # (m, MAP_ROW_SIZE)
    parts: Parts
    mask: int


@kernel(inline=True)
def ground_at(table: Longs, mask: int) -> Ground:
    """Return the ground that a table holds and a mask meets; the table must outlive it."""
    rows = borrow(table)
    return Ground(
        array_at(rows[MAPS, 0], (rows[MAPS, 1], MAP_ROW_SIZE), np.int64),
        parts_at(array_at(rows[MESHES, 0], (rows[MESHES, 1], MESH_ROW_SIZE), np.int64), mask),
        mask,
    )


@kernel(inline=True)
def map_of(ground: Ground, row: int) -> tuple[Grid, Singles]:
    """Return one of the maps, and its blocks."""
    maps = ground.maps
    return unpack_grid(
        array_at(maps[row, MAP_HEIGHTS], (maps[row, MAP_HEIGHTS + 1],), np.float32),
        array_at(maps[row, MAP_CELLS], (maps[row, MAP_CELLS + 1],), np.uint8),
        array_at(maps[row, MAP_FRAME], (maps[row, MAP_FRAME + 1],), np.float64),
    ), array_at(maps[row, MAP_BLOCKS], (maps[row, MAP_BLOCKS + 1],), np.float32)
