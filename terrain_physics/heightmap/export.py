"""The surface of a height map as triangles, for renderers and files."""

import operator
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics import _checks
from terrain_physics._checks import Floats3
from terrain_physics._kernels.heightmap import grid as kernels
from terrain_physics._kernels.types import Bytes, Singles
from terrain_physics._public import public
from terrain_physics.heightmap.cells import Region
from terrain_physics.heightmap.storage import MapStorage
from terrain_physics.surface.obj_files import write_obj


@public
class MeshArrays(NamedTuple):
    """Triangles as a renderer's buffers take them.

    Attributes
    ----------
    vertices : ndarray of float32, shape (v, 3)
        In meters.
    normals : ndarray of float32, shape (v, 3)
        Unit, the mean of the faces around each vertex by their area; +Y where there is none.
    indices : ndarray of uint32, shape (3 n,)
        Rows of ``vertices``, three for each triangle, counter-clockwise seen from above.
    """

    vertices: NDArray[np.float32]
    normals: NDArray[np.float32]
    indices: NDArray[np.uint32]


def mesh_arrays(storage: MapStorage, region: Region, origin: Floats3) -> MeshArrays:
    """Return the triangles of cells, relative to an origin."""
    places, faces = _surface(storage, region)
    normals = _vertex_normals(places, faces)
    return MeshArrays(
        np.nan_to_num(places - origin).astype(np.float32),
        normals.astype(np.float32),
        faces.astype(np.uint32).ravel(),
    )


def save_obj(storage: MapStorage, path: str | os.PathLike[str]) -> None:
    """Write the whole surface as a Wavefront OBJ file."""
    rows, columns = storage.cell_count
    whole = Region(0, rows, 0, columns)
    places, faces = _surface(storage, whole)
    normals = _vertex_normals(places, faces)
    used, indices = np.unique(faces, return_inverse=True)
    write_obj(path, places[used], indices.reshape(-1, 3), normals[used])


def checked_region(region: Any, rows: int, columns: int) -> Region:
    """Return a region of at least one cell within a map."""
    rule = "region must be four whole numbers, (row_start, row_stop, column_start, column_stop)"
    try:
        ends = tuple(map(operator.index, region))
    except TypeError:
        raise TypeError(f"{rule}, got {_checks.shorten(region)}") from None
    if len(ends) != 4:
        raise ValueError(f"{rule}, got {_checks.shorten(region)}")
    row_0, row_1, column_0, column_1 = ends
    if not (0 <= row_0 < row_1 <= rows and 0 <= column_0 < column_1 <= columns):
        raise ValueError(f"region must be cells within {(rows, columns)}, got {ends}")
    return Region(*ends)


def _surface(storage: MapStorage, region: Region) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the corners of the cells (v, 3) and their triangles (n, 3), as of one moment."""
    row_0, row_1, column_0, column_1 = region
    with storage.lock:
        samples = storage.heights[row_0 : row_1 + 1, column_0 : column_1 + 1].copy()
        bits = _cell_bits(storage, region)
    return _places(storage.frame[:6].tolist(), region, samples), _faces(samples, bits)


def _places(frame: Sequence[float], region: Region, samples: Singles) -> NDArray[np.float64]:
    """Return the corners of the cells as points (v, 3), row by row; NaN heights in holes."""
    row_0, row_1, column_0, column_1 = region
    x0, y0, z0, cell_x, cell_z, scale = frame
    result = np.empty((*samples.shape, 3))
    result[:, :, 0] = x0 + np.arange(column_0, column_1 + 1) * cell_x
    result[:, :, 1] = y0 + scale * samples.astype(np.float64)
    result[:, :, 2] = (z0 + np.arange(row_0, row_1 + 1) * cell_z)[:, np.newaxis]
    return result.reshape(-1, 3)


def _faces(samples: Singles, bits: Bytes) -> NDArray[np.int64]:
    """Return the triangles (n, 3) of the cells that have ground, in order of their ids."""
    rows, columns = bits.shape
    wide = columns + 1
    missing = np.isnan(samples)
    no_ground = missing[1:, 1:] | missing[1:, :-1] | missing[:-1, 1:] | missing[:-1, :-1]
    no_ground |= bits & kernels.CELL_HOLE != 0
    flipped = bits & kernels.CELL_FLIPPED != 0
    corner = np.arange(rows)[:, np.newaxis] * wide + np.arange(columns)
    result = np.empty((*corner.shape, 2, 3), dtype=np.int64)
    for turned in (False, True):
        here = flipped == turned
        for half in range(2):
            ra, ca, rb, cb, rc, cc = kernels.half_corners(turned, half)
            offsets = np.array([ra * wide + ca, rb * wide + cb, rc * wide + cc])
            result[here, half] = corner[here][:, np.newaxis] + offsets
    return result[~no_ground].reshape(-1, 3)


def _vertex_normals(places: NDArray[np.float64], faces: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the mean of the normals of the faces around each vertex, by area."""
    a, b, c = (places[faces[:, k]] for k in range(3))
    products = np.cross(b - a, c - a)
    sums = np.zeros_like(places)
    for axis in range(3):
        for k in range(3):
            sums[:, axis] += np.bincount(
                faces[:, k], weights=products[:, axis], minlength=len(places)
            )
    lengths = np.sqrt((sums * sums).sum(axis=1, keepdims=True))
    sums[lengths[:, 0] == 0.0] = 0.0, 1.0, 0.0
    lengths[lengths == 0.0] = 1.0
    return np.asarray(sums / lengths)


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
