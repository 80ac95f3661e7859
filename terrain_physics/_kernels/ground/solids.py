"""The solid meshes of a ground that a place is inside of.

They are closed: a place on a face is inside, so there is no gap between solid meshes that touch.
"""

import numpy as np

from terrain_physics._kernels._intrinsics import array_at, borrow, keep
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.ground.movers import (
    is_one_way,
    largest_part_shift,
    part_shift_of,
)
from terrain_physics._kernels.ground.table import (
    GroundTable,
    has_movers,
    mover_of,
    movers_of,
    parts_of,
)
from terrain_physics._kernels.math.vec3 import Vec3, add, subtract
from terrain_physics._kernels.mesh.inside import ON_FACE, OUTSIDE, place_in
from terrain_physics._kernels.mesh.part_tree import NODES_ON_PATH, items_near
from terrain_physics._kernels.mesh.parts import FACED, ID_BITS, is_solid, part_at, row_count
from terrain_physics._kernels.mesh.tree import STACK
from terrain_physics._kernels.surface.ground_arrays import MESH_ROW_SIZE, MESHES
from terrain_physics._kernels.types import Int64s


@kernel(inline=True, no_refcount=True)
def has_solids(ground: GroundTable) -> bool:
    """Tell whether any mesh is no skin."""
    head = array_at(ground.table[MESHES, 0], (1, MESH_ROW_SIZE), np.int64)
    return bool(head[0, FACED] != 0)


@kernel
def shift_of(ground: GroundTable, number: int) -> Vec3:
    """Return how far a body sees a mesh shifted; infinity along X: it is not there for the body.

    A one-way mesh, which bodies may pass, is not there either.
    """
    if not has_movers(ground):
        return (0.0, 0.0, 0.0)
    row = mover_of(ground, number)
    if row > 0 and is_one_way(movers_of(ground), row):
        return (np.inf, 0.0, 0.0)
    return part_shift_of(ground.part_shifts, number) if row > 0 else (0.0, 0.0, 0.0)


@kernel(noinline=True)
def list_solids(ground: GroundTable, place: Vec3, out: Int64s) -> tuple[int, bool]:
    """Write the rows of the solid meshes that a place is inside of to out (k,).

    Returns (how many, whether the place is on a face of one). No more than k are looked for. A mesh
    counts where the body sees it, see `movers.py`.
    """
    parts, margin, count, is_on_face = parts_of(ground), 0.0, 0, False
    nodes, stack = np.empty(NODES_ON_PATH, np.int64), np.empty(STACK, np.int32)
    near = np.empty(row_count(parts.rows), np.int64)
    if has_movers(ground):
        margin = largest_part_shift(ground.part_shifts)
    wide = (margin, margin, margin)
    low, high = subtract(place, wide), add(place, wide)
    for k in range(items_near(parts.tree, low, high, borrow(nodes), borrow(near))):
        part = part_at(parts.rows, int(near[k]))
        if count == len(out) or not is_solid(part):
            continue
        shift = shift_of(ground, part.first_id >> ID_BITS)
        if shift[0] == np.inf:
            continue
        where = place_in(part, subtract(place, shift), borrow(stack))
        if where != OUTSIDE:
            out[count] = near[k]
            count += 1
            is_on_face = is_on_face or where == ON_FACE
    keep(nodes)
    keep(stack)
    keep(near)
    return count, is_on_face


@kernel
def is_in_solid(ground: GroundTable, place: Vec3) -> bool:
    """Tell whether a place is inside of a solid mesh, or on a face of one."""
    if not has_solids(ground):
        return False
    found = np.empty(1, np.int64)
    count, _ = list_solids(ground, place, borrow(found))
    keep(found)
    return count > 0
