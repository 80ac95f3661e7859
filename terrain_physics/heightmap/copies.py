"""Edits of a height map, handed to a copy of the map elsewhere and taken over from it."""

from typing import NamedTuple

import numpy as np

from terrain_physics._kernels.heightmap import grid as kernels
from terrain_physics._kernels.types import Bytes, Flags, Singles
from terrain_physics.heightmap.cells import Region
from terrain_physics.heightmap.checks import edited
from terrain_physics.heightmap.edits import Ranges, cells_around
from terrain_physics.heightmap.storage import MapStorage


class Edit(NamedTuple):
    """What edited cells hold.

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


def edits_since(storage: MapStorage, version: int) -> tuple[int, list[Edit]]:
    """Return the version, and what the cells hold that were edited after another version.

    -1 asks for the whole map. All is as of one moment, whatever other threads do.
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
        touched = cells_around(storage, row_0, row_1 + 1, column_0, column_1 + 1)
        storage.changed(touched, "heights")


def replace_samples(
    storage: MapStorage, place: Ranges, old: Singles, new: Singles
) -> tuple[int, Edit] | None:
    """Set samples that still have their old values, for a map that shares them.

    Parameters
    ----------
    storage : MapStorage
    place : (slice, slice)
        Rows and columns of samples.
    old, new : ndarray of float32, shape of the place
        The samples that still equal ``old`` become ``new``.

    Returns
    -------
    (int, Edit) or None
        The version, and what the cells around hold then; None if no sample changes.
    """
    down, across = place
    with storage.lock:
        set_here = _equal(storage.heights[place], old) & ~_equal(old, new)
        if not set_here.any():
            return None
        storage.prepare_edit()
        storage.heights[place][set_here] = new[set_here]
        _, (row_0, row_1), (column_0, column_1) = edited(set_here, set_here.shape)
        region = cells_around(
            storage,
            down.start + row_0,
            down.start + row_1,
            across.start + column_0,
            across.start + column_1,
        )
        storage.changed(region, "heights", holes=bool(np.isnan(new[set_here]).any()))
        return storage.version, _edit_of(storage, region)


def _equal(one: Singles, other: Singles) -> Flags:
    """Tell which samples are equal; holes equal each other."""
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
