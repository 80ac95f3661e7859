"""The ground of characters in kernels: maps, meshes and movers, from one table."""

from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._intrinsics import array_at, borrow, replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.ground.movers import COUNT_OF_MOVES, column_of
from terrain_physics._kernels.heightmap.grid import Grid, unpack_grid
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.mesh.parts import LAYERS, Parts, parts_at, row_of_number
from terrain_physics._kernels.surface.ground_arrays import (
    MAP_BLOCKS,
    MAP_CELLS,
    MAP_FRAME,
    MAP_HEIGHTS,
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
from terrain_physics._kernels.types import Float32s, Floats, Int64s

# Parts that are there: all, or only those that are never moved, with the base part of a body.
ALL_PARTS, STILL_PARTS = -1, -2


class GroundTable(NamedTuple):
    """Maps and meshes, filtered by a mask; there may be none of either.

    It goes from kernel to kernel by value, and an array is nine numbers: so all but two stay behind
    their table of addresses.
    """

    table: Int64s  # (5, 2): see `surface.ground_arrays`
    mask: int
    only: int  # the number of the one part that is there, or ALL_PARTS, or STILL_PARTS
    base_part: int  # the number of the moving base, which counts as never moved; -1: none
    step_start: Vec3  # the center of the body as its step began, in the world
    seen: float  # how many moves of parts the body has seen
    part_shifts: Floats  # (MOST_SHIFTED + 3, SHIFT_SIZE), with all else of a body: see `movers.py`


@kernel(inline=True)
def ground_at(table: Int64s, mask: int, part_shifts: Floats) -> GroundTable:
    """Return the ground of a table, filtered by a mask; the table must outlive it."""
    return GroundTable(
        borrow(table), mask, ALL_PARTS, -1, (0.0, 0.0, 0.0), np.inf, borrow(part_shifts)
    )


@kernel(inline=True)
def maps_of(ground: GroundTable) -> Int64s:
    """Return the table of maps (m, MAP_ROW_SIZE)."""
    table = ground.table
    rows: Int64s = array_at(table[MAPS, 0], (table[MAPS, 1], MAP_ROW_SIZE), np.int64)
    return rows


@kernel(inline=True)
def parts_of(ground: GroundTable) -> Parts:
    """Return the meshes."""
    table = ground.table
    rows = array_at(table[MESHES, 0], (table[MESHES, 1], MESH_ROW_SIZE), np.int64)
    return parts_at(rows, ground.mask)


@kernel(inline=True)
def sides_of(ground: GroundTable) -> Parts:
    """Return the sides of the maps, as meshes."""
    table = ground.table
    rows = array_at(table[SIDES, 0], (table[SIDES, 1], MESH_ROW_SIZE), np.int64)
    return parts_at(rows, ground.mask)


@kernel(inline=True)
def movers_of(ground: GroundTable) -> Floats:
    """Return the parts that move (1 + k, MOVER_SIZE): see `movers.py`."""
    table = ground.table
    rows: Floats = array_at(table[MOVERS, 0], (table[MOVERS, 1], MOVER_SIZE), np.float64)
    return rows


@kernel(inline=True)
def reaches_of(ground: GroundTable) -> Floats:
    """Return where the parts that move may have come (REACH_SIZE, room): see `movers.py`."""
    table = ground.table
    reaches: Floats = array_at(table[REACHES, 0], (REACH_SIZE, table[REACHES, 1]), np.float64)
    return reaches


@kernel(inline=True, no_refcount=True)
def mover_of(ground: GroundTable, number: float) -> int:
    """Return the row of a part that moves, 0 if it does not."""
    reaches, count = reaches_of(ground), ground.table[MOVERS, 1] - 1
    if count == 0 or number < reaches[0, 0] or number > reaches[0, count - 1]:
        return 0  # often it is a map
    return column_of(reaches, count, number) + 1


@kernel(inline=True, no_refcount=True)
def moves_counted(table: Int64s) -> float:
    """Return how many moves of its parts a ground has counted."""
    rows = borrow(table)
    return float(array_at(rows[MOVERS, 0], (1, MOVER_SIZE), np.float64)[0, COUNT_OF_MOVES])


@kernel(inline=True)
def only_of(ground: GroundTable, only: int) -> GroundTable:
    """Return the ground of one part, or of ALL_PARTS or STILL_PARTS."""
    return replaced(ground, only=only)


@kernel(inline=True)
def with_step_start(ground: GroundTable, step_start: Vec3, seen: float) -> GroundTable:
    """Return the ground for a body as its step begins; it has ``seen`` so many moves."""
    return replaced(ground, step_start=step_start, seen=seen)


@kernel(inline=True)
def with_base_part(ground: GroundTable, base_part: int) -> GroundTable:
    """Return the ground for a body on a moving base; -1: none."""
    return replaced(ground, base_part=base_part)


@kernel(inline=True, no_refcount=True)
def has_movers(ground: GroundTable) -> bool:
    """Tell whether any part moves, is a conveyor or is one-way."""
    return bool(ground.table[MOVERS, 1] > 1)


@kernel(no_refcount=True)
def mover_filtered(ground: GroundTable, number: float) -> int:
    """Return the row of a mover, 0 if the part is none or the mask filters it out."""
    row, parts = mover_of(ground, number), parts_of(ground).rows
    if row > 0 and parts[row_of_number(parts, int(number)), LAYERS] & ground.mask == 0:
        return 0
    return row


@kernel(inline=True)
def map_of(ground: GroundTable, row: int) -> tuple[Grid, Float32s]:
    """Return one of the maps, and its blocks."""
    maps = maps_of(ground)
    return unpack_grid(
        array_at(maps[row, MAP_HEIGHTS], (maps[row, MAP_HEIGHTS + 1],), np.float32),
        array_at(maps[row, MAP_CELLS], (maps[row, MAP_CELLS + 1],), np.uint8),
        array_at(maps[row, MAP_FRAME], (maps[row, MAP_FRAME + 1],), np.float64),
    ), array_at(maps[row, MAP_BLOCKS], (maps[row, MAP_BLOCKS + 1],), np.float32)
