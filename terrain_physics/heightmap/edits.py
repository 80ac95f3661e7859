"""Edits of a height map: samples, bumps, holes, materials and thickness."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pyglm import glm

from terrain_physics import _checks
from terrain_physics._kernels.heightmap import grid as kernels
from terrain_physics._kernels.types import Singles
from terrain_physics.heightmap.cells import Fit, Region
from terrain_physics.heightmap.checks import checked_samples, edited
from terrain_physics.heightmap.storage import MapStorage

SampleRange = tuple[slice, slice]


def set_heights(storage: MapStorage, index: Any, heights: ArrayLike) -> None:
    """Set the samples that an index names; all are refused or all are set."""
    place, (row_0, row_1), (column_0, column_1) = edited(index, storage.heights.shape)
    if isinstance(heights, np.ma.MaskedArray):
        heights = np.ma.filled(heights.astype(np.float64), np.nan)
    wide = _checks.real_numbers("heights", heights)  # copied as they are checked
    shape = storage.heights[place].shape
    try:
        wide = np.broadcast_to(wide, shape)
    except ValueError:
        raise ValueError(f"heights must have shape {shape}, got {wide.shape}") from None
    new = checked_samples(wide, storage.frame[:6].tolist())
    if new.size == 0:
        return
    with storage.lock:
        storage.prepare_edit()
        storage.heights[place] = new
        storage.changed(
            cells_around(storage, row_0, row_1, column_0, column_1),
            heights=True,
            holes=bool(np.isnan(new).any()),
        )


def cells_around(
    storage: MapStorage, row_0: int, row_1: int, column_0: int, column_1: int
) -> Region:
    """Return the cells that have a corner among samples from first to before last."""
    rows, columns = storage.cell_count
    return Region(max(row_0 - 1, 0), min(row_1, rows), max(column_0 - 1, 0), min(column_1, columns))


def set_holes(storage: MapStorage, fit: Fit, index: Any, values: ArrayLike) -> None:
    """Mark the cells that an index names as holes or as ground."""
    place, region, new = _fitted(storage, fit, index, values)
    if new.size == 0:
        return
    with storage.lock:
        storage.prepare_hole_edit()
        kept = storage.cells[place] & np.uint8(0xFF ^ kernels.CELL_HOLE)
        storage.cells[place] = kept | (new * np.uint8(kernels.CELL_HOLE))
        storage.changed(region, heights=False, holes=bool(new.any()))


def set_materials(storage: MapStorage, fit: Fit, index: Any, values: ArrayLike) -> None:
    """Set what the cells that an index names are made of."""
    place, region, new = _fitted(storage, fit, index, values)
    if new.size == 0:
        return
    with storage.lock:
        storage.prepare_material_edit()[place] = new
        storage.changed(region, heights=False, holes=False)


def _fitted(
    storage: MapStorage, fit: Fit, index: Any, values: ArrayLike
) -> tuple[Any, Region, NDArray[Any]]:
    """Return (the index, the cells around what it names, values for what it names)."""
    place, rows, columns = edited(index, storage.cell_count)
    shape = np.empty(storage.cell_count, dtype=np.void)[place].shape
    return place, Region(*rows, *columns), fit(values, shape)


def set_thickness(storage: MapStorage, depth: float) -> None:
    """Set how deep below its surface the ground is solid."""
    rows, columns = storage.cell_count
    with storage.lock:
        storage.set_thickness(depth)
        storage.changed(Region(0, rows, 0, columns), heights=False, holes=False)


def with_bump(
    storage: MapStorage, center: Any, radius: float, rise: float
) -> tuple[SampleRange, Singles]:
    """Return which samples a bump changes, and what they become; below zero, a pit."""
    place, shape = _bump(center, radius, storage.frame[:5].tolist(), storage.heights.shape)
    rise /= storage.height_scale
    new = storage.heights[place] + shape * rise
    return place, checked_samples(new, storage.frame[:6].tolist())


def add_bump(storage: MapStorage, center: Any, radius: float, rise: float) -> None:
    """Heap up a round hill; below zero, dig a pit."""
    with storage.lock:  # nothing is lost that another thread heaps up meanwhile
        set_heights(storage, *with_bump(storage, center, radius, rise))


def _samples_within(place: float, radius: float, size: float, count: int) -> tuple[int, int]:
    """Return the range of samples along one axis that lie within a radius."""
    first = min(max(np.ceil((place - radius) / size), 0.0), float(count))
    last = min(max(np.floor((place + radius) / size) + 1.0, first), float(count))
    return int(first), int(last)


def _bump(
    center: Any, radius: float, frame: Sequence[float], samples: tuple[int, ...]
) -> tuple[tuple[slice, slice], NDArray[np.float64]]:
    """Return which samples are within a radius of a place, and a smooth bump of height 1 there.

    The frame begins with origin and cell size.
    """
    if isinstance(center, (tuple, list, np.ndarray, glm.vec2, glm.dvec2)) and len(center) == 2:
        x, z = _checks.finite("center[0]", center[0]), _checks.finite("center[1]", center[1])
    else:
        x, _, z = _checks.vector("center", center)
    wide = _checks.positive("radius", radius)
    x0, _, z0, cell_x, cell_z = frame
    row_0, row_1 = _samples_within(z - z0, wide, cell_z, samples[0])
    column_0, column_1 = _samples_within(x - x0, wide, cell_x, samples[1])
    beside = (x0 + np.arange(column_0, column_1) * cell_x - x) / wide
    along = (z0 + np.arange(row_0, row_1) * cell_z - z) / wide
    share = 1.0 - (along[:, np.newaxis] ** 2 + beside**2)
    return np.s_[row_0:row_1, column_0:column_1], np.where(share > 0.0, share, 0.0) ** 2
