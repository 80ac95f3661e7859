"""The surface of a height map as triangles, for renderers and files."""

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from terrain_physics._kernels.heightmap import grid as kernels
from terrain_physics._kernels.heightmap.surface_mesh import put_triangles
from terrain_physics._kernels.types import Bytes, Float32s, Floats, Int64s, read_only
from terrain_physics._support import checks
from terrain_physics._support.checks import Floats3
from terrain_physics.heightmap.cells import Region
from terrain_physics.heightmap.storage import MapStorage
from terrain_physics.surface.axes import AnyAxes
from terrain_physics.surface.mesh_arrays import MeshArrays, mesh_arrays_of, vertex_normals


def mesh_arrays(storage: MapStorage, region: Region, origin: Floats3, axes: AnyAxes) -> MeshArrays:
    """Return the triangles of cells, relative to an origin."""
    return mesh_arrays_of(*_surface(storage, region), origin, axes)


def whole_mesh(storage: MapStorage) -> tuple[Floats, Int64s, Floats]:
    """Return the whole surface: vertices that are used (v, 3), faces (n, 3), normals (v, 3)."""
    rows, columns = storage.cell_count
    places, faces = _surface(storage, Region(0, rows, 0, columns))
    normals = vertex_normals(places, faces)
    used = np.zeros(len(places), dtype=np.bool_)
    used[faces] = True
    numbers = np.cumsum(used) - 1
    return places[used], numbers[faces], normals[used]


def checked_region(region: Any, rows: int, columns: int) -> Region:
    """Return a region of at least one cell within a map."""
    rule = "region must be four whole numbers, (row_start, row_stop, column_start, column_stop)"
    try:
        ends = tuple(map(operator.index, region))
    except TypeError:
        raise TypeError(f"{rule}, got {checks.shorten(region)}") from None
    if len(ends) != 4:
        raise ValueError(f"{rule}, got {checks.shorten(region)}")
    row_0, row_1, column_0, column_1 = ends
    if not (0 <= row_0 < row_1 <= rows and 0 <= column_0 < column_1 <= columns):
        raise ValueError(f"region must be cells within {(rows, columns)}, got {ends}")
    return Region(*ends)


def _surface(storage: MapStorage, region: Region) -> tuple[Floats, Int64s]:
    """Return the corners of the cells (v, 3) and their triangles (n, 3), as of one moment."""
    row_0, row_1, column_0, column_1 = region
    with storage.lock:
        samples = storage.heights[row_0 : row_1 + 1, column_0 : column_1 + 1].copy()
        bits = _cell_bits(storage, region)
    return _places(storage.frame[:6].tolist(), region, samples), _faces(samples, bits)


def _places(frame: Sequence[float], region: Region, samples: Float32s) -> Floats:
    """Return the corners of the cells as points (v, 3), row by row; NaN heights in holes."""
    row_0, row_1, column_0, column_1 = region
    x0, y0, z0, cell_x, cell_z, scale = frame
    result = np.empty((*samples.shape, 3))
    result[:, :, 0] = x0 + np.arange(column_0, column_1 + 1) * cell_x
    result[:, :, 1] = y0 + scale * samples.astype(np.float64)
    result[:, :, 2] = (z0 + np.arange(row_0, row_1 + 1) * cell_z)[:, np.newaxis]
    return result.reshape(-1, 3)


def _faces(samples: Float32s, bits: Bytes) -> Int64s:
    """Return the triangles (n, 3) of the cells that have ground, in order of their ids."""
    faces = np.empty((2 * bits.size, 3), dtype=np.int64)
    levels, kinds = read_only(samples, bits)
    return faces[: put_triangles(levels, kinds, faces)]


def _cell_bits(storage: MapStorage, region: Region) -> Bytes:
    """Return a new array with the bits of cells, however the map keeps them."""
    row_0, row_1, column_0, column_1 = region
    if storage.cells.ndim == 2:
        bits = storage.cells[row_0:row_1, column_0:column_1].copy()
    else:
        bits = np.zeros((row_1 - row_0, column_1 - column_0), dtype=np.uint8)
    kind = int(storage.frame[kernels.DIAGONAL])
    if kind == kernels.DIAGONAL_BD:
        bits |= np.uint8(kernels.CELL_FLIPPED)
    elif kind == kernels.DIAGONAL_ALTERNATING:
        odd = np.add.outer(np.arange(row_0, row_1), np.arange(column_0, column_1)) & 1 != 0
        bits |= odd * np.uint8(kernels.CELL_FLIPPED)
    return bits
