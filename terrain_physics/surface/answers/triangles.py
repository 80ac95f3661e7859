"""The triangles of a ground in boxes: of one box, and the ids of those of many."""

import numpy as np

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.ground import boxes as kernels
from terrain_physics._kernels.heightmap.batch_contacts.broad_phase import MOST_CELLS
from terrain_physics._kernels.mesh.parts import ID_BITS
from terrain_physics._kernels.surface.ground_arrays import MAP_NUMBER
from terrain_physics._kernels.types import Floats, Int64s
from terrain_physics._support.checks import MOST_RESULTS, Floats3, refuse_more
from terrain_physics.surface.answers.contacts import PART_BITS
from terrain_physics.surface.ground_arrays import GroundArrays
from terrain_physics.surface.results import Triangles

_BOX, _BOXES = CachedDispatch(kernels.triangles_in), CachedDispatch(kernels.list_triangles)

_FEW = 1024.0
"""Cells of each map, and triangles, that a short question about a box may meet."""


def few_triangles_in(
    arrays: GroundArrays, mask: int, lower: Floats3, upper: Floats3
) -> Triangles | None:
    """Return the triangles within a box over few cells; None: over more, or more than a few."""
    return _triangles_in(arrays, mask, lower, upper, _FEW, int(_FEW))


def all_triangles_in(
    arrays: GroundArrays, mask: int, lower: Floats3, upper: Floats3
) -> Triangles | None:
    """Return the triangles within a box; None for too many."""
    return _triangles_in(arrays, mask, lower, upper, MOST_CELLS, MOST_RESULTS)


def _triangles_in(
    arrays: GroundArrays, mask: int, lower: Floats3, upper: Floats3, most_cells: float, most: int
) -> Triangles | None:
    count, vertices, normals, ids = _BOX.call(arrays.table, mask, lower, upper, most_cells, most)
    if not 0 <= count <= most:
        return None
    order = _order_of(arrays, ids)
    if order is None:
        return Triangles(vertices, normals, ids)
    return Triangles(vertices[order], normals[order], ids[order])


def triangle_ids_in(
    arrays: GroundArrays, mask: int, boxes: Floats, most: int
) -> tuple[Int64s, Int64s]:
    """Return the offsets and ids of boxes: lower and upper corners, flat."""
    offsets = np.empty(len(boxes) // 6 + 1, np.int64)
    total, ids = _BOXES.call(arrays.table, mask, boxes, MOST_CELLS, most, offsets)
    if total < 0:
        raise ValueError(f"boxes must be over at most 100 million cells, got box {-1 - total}")
    refuse_more("triangles", total, most)
    ids = ids[:total]
    order = _order_of(arrays, ids, offsets)
    return offsets, ids if order is None else ids[order]


def _order_of(arrays: GroundArrays, ids: Int64s, offsets: Int64s | None = None) -> Int64s | None:
    """Return the order of ids by query, the part that owns them, and its own; None: as they are."""
    if arrays.is_of_one_part:
        return None
    keys = ids >> ID_BITS
    if len(arrays.maps):  # the only map may go on outside of its border, without ids
        keys[ids < 0] = arrays.maps[0, MAP_NUMBER]
    if offsets is not None:
        keys |= np.repeat(np.arange(len(offsets) - 1) << PART_BITS, np.diff(offsets))
    if (keys[1:] >= keys[:-1]).all():
        return None
    return np.argsort(keys, kind="stable")  # ascending stretches, which it finds and merges
