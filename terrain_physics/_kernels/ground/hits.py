"""The nearest hit of a question to a ground: of which of its parts, and which of equals counts.

Of equally near hits that of the lowest part counts; of those of one map, the surface comes before
the sides, and these before the underside.
"""

from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.ground.owners import MESH, owner_in
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.mesh.parts import (
    FACING,
    ID_BITS,
    NUMBER,
    OWNER,
    SIDE,
    ids_at,
    material_in,
)
from terrain_physics._kernels.surface.ground_arrays import MAP_NUMBER
from terrain_physics._kernels.types import Int64s

# Ranks of what is hit of one map; those of sides ascend with the numbers of their patches. The rank
# of a mesh is its number.
NOTHING, SURFACE, FIRST_SIDE, UNDERSIDE = -1, 0, 1, 1 << ID_BITS

# Rows of the whole numbers of hits: the ground's id of the triangle, and the place: the row of its
# map in the table, shifted by ID_BITS, and the nearest cell; or MESH, and the material.
TRIANGLE, PLACE = range(2)
FACE = (1 << ID_BITS) - 1

NOWHERE = (np.nan, np.nan, np.nan)


class GroundHit(NamedTuple):
    """The nearest hit so far; NOTHING, as far as one may be, if there is none."""

    rank: int
    distance: float
    point: Vec3
    normal: Vec3
    triangle: int
    part: int
    row: int
    cell: int


@kernel(inline=True)
def no_hit(longest: float) -> GroundHit:
    return GroundHit(NOTHING, longest, NOWHERE, NOWHERE, -1, -1, MESH, 0)


@kernel(inline=True)
def is_before(rank: int, distance: float, part: int, row: int, hit: GroundHit) -> bool:
    """Tell whether another hit counts, and not the one so far."""
    if hit.rank == NOTHING or distance != hit.distance:
        return hit.rank == NOTHING or distance < hit.distance
    return rank < hit.rank if row == hit.row else part < hit.part


@kernel(noinline=True, no_refcount=True)
def nearer(
    maps: Int64s, row: int, rank: int, distance: float, point: Vec3, normal: Vec3, triangle: int,
    cell: int, hit: GroundHit,
) -> GroundHit:  # fmt: skip
    """Return that of two hits which counts; one is of a triangle of a map."""
    found, part = owner_in(maps, row, triangle)
    if not is_before(rank, distance, part, row, hit):
        return hit
    return GroundHit(rank, distance, point, normal, found, part, row, cell)


class Face(NamedTuple):
    """What a face of a mesh, or of the sides of a map, is: see `GroundHit`."""

    rank: int
    triangle: int
    part: int
    row: int
    cell: int


@kernel(inline=True)
def face_in(maps: Int64s, rows: Int64s, at: int, face: int) -> Face:
    """Return what a face of the mesh in a row is."""
    number = int(rows[at, NUMBER])
    if rows[at, FACING] != SIDE:
        own = number << ID_BITS | face
        return Face(number, own, number, MESH, material_in(rows, at, face))
    ids, row = ids_at(rows, at), 0
    while maps[row, MAP_NUMBER] != rows[at, OWNER]:
        row += 1
    triangle, part = owner_in(maps, row, int(ids[face]))
    cell = int(ids[len(ids) // 3 + face])  # the cells stand behind the ids
    return Face(FIRST_SIDE + number, triangle, part, row, cell)
