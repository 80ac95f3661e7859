"""Edits of a height map: samples, holes, materials and thickness."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from terrain_physics._kernels.heightmap import grid as kernels
from terrain_physics._kernels.types import Bools, Float32s
from terrain_physics._support import checks
from terrain_physics.heightmap.cells import Fit, Ranges, Region
from terrain_physics.heightmap.checks import checked_samples, edited
from terrain_physics.heightmap.framed import cells_around
from terrain_physics.heightmap.storage import MapStorage


def set_heights(storage: MapStorage, index: Any, heights: ArrayLike) -> None:
    """Set the samples that an index selects; if one is refused, none is set."""
    place, (row_0, row_1), (column_0, column_1) = edited(index, storage.heights.shape)
    wide = checks.real_numbers(
        "heights", checks.masked_as_nan(heights)
    )  # copied as they are checked
    shape = storage.heights[place].shape
    try:
        wide = np.broadcast_to(wide, shape)
    except ValueError:
        raise ValueError(f"heights must have shape {shape}, got {wide.shape}") from None
    new = checked_samples(wide, storage.frame[:6].tolist())
    if new.size == 0:
        return
    region = cells_around(storage, row_0, row_1, column_0, column_1)

    def put() -> None:
        storage.heights[place] = new

    holes = bool(np.isnan(new).any())
    storage.editing(lambda: storage.edit("heights", region, put, holes=holes))


def put_samples(storage: MapStorage, place: Ranges, samples: Float32s, is_new: Bools) -> None:
    """Set those samples of a range that are new and differ from the map's."""
    down, across = place

    def edit() -> None:
        set_here = is_new & ~equal_samples(storage.heights[place], samples)
        if not set_here.any():
            return
        _, (row_0, row_1), (column_0, column_1) = edited(set_here, set_here.shape)
        region = cells_around(
            storage,
            down.start + row_0,
            down.start + row_1,
            across.start + column_0,
            across.start + column_1,
        )
        new = samples[set_here]

        def put() -> None:
            storage.heights[place][set_here] = new

        storage.edit("heights", region, put, holes=bool(np.isnan(new).any()))

    storage.editing(edit)


def equal_samples(one: Float32s, other: Float32s) -> Bools:
    """Tell which samples are equal; holes equal each other."""
    return np.asarray((one == other) | (np.isnan(one) & np.isnan(other)))


def set_holes(storage: MapStorage, fit: Fit, index: Any, values: ArrayLike) -> None:
    """Mark the cells that an index selects as holes or as ground."""
    place, region, new = _fitted(storage, fit, index, values)
    if new.size == 0:
        return

    def put() -> None:
        kept = storage.cells[place] & np.uint8(0xFF ^ kernels.CELL_HOLE)
        storage.cells[place] = kept | (new * np.uint8(kernels.CELL_HOLE))

    storage.editing(lambda: storage.edit("holes", region, put, holes=bool(new.any())))


def set_materials(storage: MapStorage, fit: Fit, index: Any, values: ArrayLike) -> None:
    """Set the materials of the cells that an index selects."""
    place, region, new = _fitted(storage, fit, index, values)
    if new.size == 0:
        return

    def put() -> None:
        storage.prepare_material_edit()[place] = new

    storage.editing(lambda: storage.edit("materials", region, put))


def paint(storage: MapStorage, place: Ranges, marked: Bools, material: int) -> None:
    """Set the material of the marked cells of a range."""
    _, (row_0, row_1), (column_0, column_1) = edited(marked, marked.shape)
    if row_0 == row_1:
        return
    row, column = place[0].start, place[1].start
    region = Region(row + row_0, row + row_1, column + column_0, column + column_1)

    def put() -> None:
        storage.prepare_material_edit()[place][marked] = material

    storage.editing(lambda: storage.edit("materials", region, put))


def _fitted(
    storage: MapStorage, fit: Fit, index: Any, values: ArrayLike
) -> tuple[Any, Region, NDArray[Any]]:
    """Return (the index, the region of cells around it, a value for each cell in it)."""
    place, rows, columns = edited(index, storage.cell_count)
    shape = np.empty(storage.cell_count, dtype=np.void)[place].shape
    return place, Region(*rows, *columns), fit(values, shape)


def set_thickness(storage: MapStorage, depth: float) -> None:
    """Set how deep below its surface the ground is solid."""

    def put() -> None:
        storage.set_thickness(depth)

    storage.editing(lambda: storage.edit("thickness", storage.whole, put))
