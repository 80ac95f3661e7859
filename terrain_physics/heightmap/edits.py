"""Edits of a height map: samples, holes, materials and thickness."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from terrain_physics._kernels.types import Bools, Float32s
from terrain_physics._support import checks
from terrain_physics.heightmap.cells import Fit, Ranges, within
from terrain_physics.heightmap.checks import checked_samples, edited
from terrain_physics.heightmap.storage import MapStorage


def set_heights(storage: MapStorage, index: Any, heights: ArrayLike) -> None:
    """Set the samples that an index selects; if one is refused, none is set."""
    chosen, place = edited(index, storage.heights.shape)
    wide = checks.real_numbers(
        "heights", checks.masked_as_nan(heights)
    )  # copied as they are checked
    shape = storage.heights[chosen].shape
    try:
        wide = np.broadcast_to(wide, shape)
    except ValueError:
        raise ValueError(f"heights must have shape {shape}, got {wide.shape}") from None
    new = checked_samples(wide, storage.frame[:6].tolist())
    if new.size == 0:
        return

    def put() -> None:
        storage.heights[chosen] = new

    holes = bool(np.isnan(new).any())
    storage.editing(lambda: storage.edit("heights", place, put, holes=holes))


def put_samples(storage: MapStorage, place: Ranges, samples: Float32s, is_new: Bools) -> None:
    """Set those samples of a range that are new and differ from the map's."""

    def edit() -> None:
        set_here = is_new & ~equal_samples(storage.heights[place], samples)
        if not set_here.any():
            return
        around, new = within(place, edited(set_here, set_here.shape)[1]), samples[set_here]

        def put() -> None:
            storage.heights[place][set_here] = new

        storage.edit("heights", around, put, holes=bool(np.isnan(new).any()))

    storage.editing(edit)


def equal_samples(one: Float32s, other: Float32s) -> Bools:
    """Tell which samples are equal; holes equal each other."""
    return np.asarray((one == other) | (np.isnan(one) & np.isnan(other)))


def set_holes(storage: MapStorage, fit: Fit, index: Any, values: ArrayLike) -> None:
    """Mark the cells that an index selects as holes or as ground."""
    chosen, place, new = _fitted(storage, fit, index, values)
    if new.size == 0:
        return

    def put() -> None:
        storage.mark_holes(chosen, new)

    storage.editing(lambda: storage.edit("holes", place, put, holes=bool(new.any())))


def set_materials(storage: MapStorage, fit: Fit, index: Any, values: ArrayLike) -> None:
    """Set the materials of the cells that an index selects."""
    chosen, place, new = _fitted(storage, fit, index, values)
    if new.size == 0:
        return

    def put() -> None:
        storage.prepare_material_edit()[chosen] = new

    storage.editing(lambda: storage.edit("materials", place, put))


def paint(storage: MapStorage, place: Ranges, marked: Bools, material: int) -> None:
    """Set the material of the marked cells of a range."""
    chosen, around = edited(marked, marked.shape)
    if around[0].start == around[0].stop:
        return

    def put() -> None:
        storage.prepare_material_edit()[place][chosen] = material

    storage.editing(lambda: storage.edit("materials", within(place, around), put))


def _fitted(
    storage: MapStorage, fit: Fit, index: Any, values: ArrayLike
) -> tuple[Any, Ranges, NDArray[Any]]:
    """Return (the index, the cells around it, a value for each cell in it)."""
    chosen, place = edited(index, storage.cell_count)
    shape = np.empty(storage.cell_count, dtype=np.void)[chosen].shape
    return chosen, place, fit(values, shape)


def set_thickness(storage: MapStorage, depth: float) -> None:
    """Set how deep below its surface the ground is solid; holes do not change it then."""
    storage.editing(lambda: storage.edit_solid_depth((depth, False)))
