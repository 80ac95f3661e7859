"""Edits of a height map: samples, bumps, holes, materials; and what edited cells hold."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pyglm import glm

from terrain_physics import _checks
from terrain_physics._kernels.heightmap import grid as kernels
from terrain_physics._kernels.types import Bytes, Flags, Singles
from terrain_physics.heightmap.cells import Fit, Region
from terrain_physics.heightmap.checks import checked_samples, edited
from terrain_physics.heightmap.storage import MapStorage

SampleRange = tuple[slice, slice]


class Edit(NamedTuple):
    """What edited cells hold, for a copy of the map elsewhere.

    Attributes
    ----------
    region : Region
        Which cells, r rows by c columns.
    heights : ndarray of float32, shape (r + 1, c + 1)
        Their samples.
    bits : ndarray of uint8, shape (r, c)
        How they are split, and which are marked as holes: see the kernels' `heightmap.grid`.
    materials : ndarray of uint8, shape (r, c), or None
        What they are made of, if the map says so.
    """

    region: Region
    heights: Singles
    bits: Bytes
    materials: Bytes | None


def set_heights(storage: MapStorage, index: Any, heights: ArrayLike) -> None:
    """Set the samples that an index names; all are refused or all are set."""
    place, (row_0, row_1), (column_0, column_1) = edited(index, storage.heights.shape)
    if isinstance(heights, np.ma.MaskedArray):
        heights = np.ma.filled(heights.astype(np.float64), np.nan)
    wide = _checks.real_array("heights", heights)
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
            _cells_around(storage, row_0, row_1, column_0, column_1),
            heights=True,
            holes=bool(np.isnan(new).any()),
        )


def _cells_around(
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


# For copies of the map elsewhere


def edits_since(storage: MapStorage, version: int) -> tuple[int, list[Edit]]:
    """Return the version, and what the cells hold that were edited after another version.

    -1 asks for the whole map. All is of one moment, whatever other threads do.
    """
    with storage.lock:
        regions = storage.regions_since(version)
        return storage.version, [_edit_of(storage, region) for region in regions]


def put_edit(storage: MapStorage, edit: Edit, row: int, column: int) -> None:
    """Take over cells of another map, whose first cell is here at (row, column)."""
    row_0, column_0 = row + edit.region.row_start, column + edit.region.column_start
    row_1, column_1 = row + edit.region.row_stop, column + edit.region.column_stop
    with storage.lock:
        storage.prepare_hole_edit()
        storage.heights[row_0 : row_1 + 1, column_0 : column_1 + 1] = edit.heights
        storage.cells[row_0:row_1, column_0:column_1] = edit.bits
        if edit.materials is not None:
            made_of = storage.prepare_material_edit()
            made_of[row_0:row_1, column_0:column_1] = edit.materials
        # The cells around share samples with these.
        touched = _cells_around(storage, row_0, row_1 + 1, column_0, column_1 + 1)
        storage.changed(touched, heights=True, holes=False)


def replace_samples(
    storage: MapStorage, place: SampleRange, old: Singles, new: Singles
) -> tuple[int, Edit] | None:
    """Set samples that still are what they were, for a map that shares them.

    Parameters
    ----------
    storage : MapStorage
    place : (slice, slice)
        Rows and columns of samples.
    old, new : ndarray of float32, shape of the place
        What they were, and what they become where they are that and it differs.

    Returns
    -------
    (int, Edit) or None
        The version, and what the cells around hold then; None if there was nothing to set.
    """
    down, across = place
    with storage.lock:
        set_here = _equal(storage.heights[place], old) & ~_equal(old, new)
        if not set_here.any():
            return None
        storage.prepare_edit()
        storage.heights[place][set_here] = new[set_here]
        _, (row_0, row_1), (column_0, column_1) = edited(set_here, set_here.shape)
        region = _cells_around(
            storage,
            down.start + row_0,
            down.start + row_1,
            across.start + column_0,
            across.start + column_1,
        )
        storage.changed(region, heights=True, holes=bool(np.isnan(new[set_here]).any()))
        return storage.version, _edit_of(storage, region)


def _equal(one: Singles, other: Singles) -> Flags:
    """Tell which samples are equal; holes are."""
    return np.asarray((one == other) | (np.isnan(one) & np.isnan(other)))


def _edit_of(storage: MapStorage, region: Region) -> Edit:
    row_0, row_1, column_0, column_1 = region
    made_of = storage.materials
    return Edit(
        region,
        storage.heights[row_0 : row_1 + 1, column_0 : column_1 + 1].copy(),
        cell_bits(storage, region),
        None if made_of is None else made_of[row_0:row_1, column_0:column_1].copy(),
    )


def cell_bits(storage: MapStorage, region: Region) -> Bytes:
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
