"""The boxes around blocks of a height map's cells, which let queries skip far."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.heightmap import blocks as kernels
from terrain_physics._public import public
from terrain_physics.geometry.shapes import AABB
from terrain_physics.heightmap.storage import MapStorage


@public
class BlockBounds(NamedTuple):
    """The boxes around blocks of cells.

    Attributes
    ----------
    cells : int
        Cells along the side of a block; those at the map's last rows and columns may have fewer.
    lower : ndarray of float64, shape (rows, columns, 3)
        Least x, y and z of each block, in meters; NaN heights if the whole block is missing.
    upper : ndarray of float64, shape (rows, columns, 3)
        Greatest x, y and z.
    """

    cells: int
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]


def block_levels(storage: MapStorage) -> int:
    """Return how many levels of blocks there are; the last has a single one."""
    return int(kernels.level_count(*storage.cell_count))


def map_bounds(storage: MapStorage) -> AABB:
    """Return the box around a map: that of the single block of the last level."""
    _, lowers, uppers = block_bounds(storage, block_levels(storage) - 1)
    lower, upper, level = lowers[0, 0], uppers[0, 0], storage.origin[1]
    if np.isnan(lower[1]):
        lower[1] = upper[1] = level
    return AABB(lower, upper)


def block_bounds(storage: MapStorage, level: int) -> BlockBounds:
    """Return the boxes of a level."""
    rows, columns = storage.cell_count
    start = int(kernels.level_start(rows, columns, level))
    side = kernels.BLOCK ** (level + 1)
    down, across = -(-rows // side), -(-columns // side)
    with storage.lock:
        spans = storage.blocks[2 * start : 2 * (start + down * across)].astype(np.float64)
    spans = spans.reshape(down, across, 2)
    x0, y0, z0, cell_x, cell_z, scale = storage.frame[:6].tolist()
    spans = y0 + scale * np.where(np.isinf(spans), np.nan, spans)
    lower, upper = np.empty((down, across, 3)), np.empty((down, across, 3))
    lower[:, :, 1], upper[:, :, 1] = spans.min(axis=2), spans.max(axis=2)
    places = np.arange(across) * side
    lower[:, :, 0] = x0 + places * cell_x
    upper[:, :, 0] = x0 + np.minimum(places + side, columns) * cell_x
    places = np.arange(down)[:, np.newaxis] * side
    lower[:, :, 2] = z0 + places * cell_z
    upper[:, :, 2] = z0 + np.minimum(places + side, rows) * cell_z
    return BlockBounds(side, lower, upper)
