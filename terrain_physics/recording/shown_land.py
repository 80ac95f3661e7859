"""The land of a `TiledGround` around the paths of bodies, as a height map for the viewer."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from terrain_physics._kernels.heightmap import grid
from terrain_physics._kernels.types import Bools
from terrain_physics.heightmap.cells import (
    Ranges,
    Region,
    bounds_of,
    common,
    moved,
    ranges_of,
    shared,
)
from terrain_physics.heightmap.checks import diagonal_name
from terrain_physics.heightmap.framed import Edited
from terrain_physics.heightmap.heightmap import HeightMap
from terrain_physics.tiles.loading.supply import TileSupply
from terrain_physics.tiles.saving.values import LandValues

SQUARE = 16.0
"""Sides in meters of the squares that tell where bodies have been."""


class ShownLand:
    """A height map that has the land near to some squares, and holes elsewhere.

    Attributes
    ----------
    terrain : HeightMap
    cell_count : int
        How many cells are shown.
    """

    def __init__(self, supply: TileSupply, region: Region, near: Bools) -> None:
        """Read the tiles in a region of cells; ``near`` marks those of them that are shown."""
        self._supply, self._region, self._near = supply, region, near
        self.cell_count = int(np.count_nonzero(near))
        with supply.land.lock:
            self._version, self._revision = supply.land.version, supply.land.revision
            self.terrain = self._made()

    def _made(self) -> HeightMap:
        shape, region = self._supply.land.shape, self._region
        size = region.row_stop - region.row_start, region.column_stop - region.column_start
        heights = np.full((size[0] + 1, size[1] + 1), np.nan, np.float32)
        holes, flipped = ~self._near, np.zeros(size, np.bool_)
        materials = np.zeros(size, np.uint8)
        values = LandValues(self._supply)
        for number, own, place in self._tiles_near():
            tile = values.tile(number)
            heights[ranges_of(bounds_of(place), 1)] = tile.heights[ranges_of(bounds_of(own), 1)]
            holes[place] |= tile.values("holes", own)
            materials[place] = tile.values("materials", own)
            if tile.cells is not None:
                flipped[place] = tile.cells[own] & grid.CELL_FLIPPED != 0
        name: Any = diagonal_name(shape.diagonal, follows_heights=False)
        x, y, z = shape.origin
        return HeightMap(
            heights,
            cell_size=shape.cell_size,
            origin=(
                x + region.column_start * shape.cell_size[0],
                y,
                z + region.row_start * shape.cell_size[1],
            ),
            height_scale=shape.height_scale,
            border="open",
            holes=holes,
            diagonal=flipped if name is None else name,
            materials=materials,
            material_names=shape.material_names,
        )

    def _tiles_near(self) -> Iterable[tuple[int, Ranges, Ranges]]:
        """Give each tile that has cells which are shown: its cells there, and in the map."""
        land, region = self._supply.land, self._region
        cells = ranges_of(region)
        for number in land.tiles_of(cells, 0):
            both = shared(land.shape.place_of(number, 0), cells)
            if both is not None and self._near[both[1]].any():
                yield number, *both

    def follow(self) -> None:
        """Make the edits of the land since then to the height map."""
        land = self._supply.land
        with land.lock:
            if land.version == self._version:
                return
            regions = land.regions_since(self._revision)
            self._version, self._revision = land.version, land.revision
            values = LandValues(self._supply)
            for region in regions:
                own = common(region, self._region)
                if own is not None and self._near[self._moved(own, 0)].any():
                    self._copy(own, values)

    def _moved(self, region: Region, lines: int) -> Ranges:
        """Return cells of the land, or their corners, as those of the map."""
        return ranges_of(moved(region, -self._region[0], -self._region[2]), lines)

    def _copy(self, region: Region, values: LandValues) -> None:
        """Copy what is new in a region of cells."""
        shown: dict[Edited, Any] = {"heights": self.terrain}
        shown |= {"holes": self.terrain.holes, "materials": self.terrain.materials}
        for what, target in shown.items():
            lines = int(what == "heights")
            place, new = self._moved(region, lines), values.of(what, ranges_of(region, lines))
            if what == "holes":
                new = new.astype(np.bool_) | ~self._near[place]
            if not np.array_equal(target[place], new, equal_nan=bool(lines)):
                target[place] = new


def land_near(
    supply: TileSupply, squares: Iterable[tuple[int, int]], margin: int, most: int
) -> ShownLand | None:
    """Return the land within so many cells of squares; None if it is more than ``most`` cells."""
    land = supply.land
    boxes = [_cells_near(land, square, margin) for square in squares] or [Region(0, 1, 0, 1)]
    starts, stops = np.array(boxes)[:, ::2].min(axis=0), np.array(boxes)[:, 1::2].max(axis=0)
    starts &= ~1  # the pattern of alternating diagonals stays
    if math.prod((stops - starts).tolist()) > most:
        return None
    near = np.zeros((stops - starts).tolist(), np.bool_)
    for row, row_stop, column, column_stop in boxes:
        near[
            row - starts[0] : row_stop - starts[0], column - starts[1] : column_stop - starts[1]
        ] = True
    region = Region(int(starts[0]), int(stops[0]), int(starts[1]), int(stops[1]))
    return ShownLand(supply, region, near)


def _cells_near(land: Any, square: tuple[int, int], margin: int) -> Region:
    """Return the cells around a square, at least one."""
    ends: list[int] = []
    for axis in (1, 0):  # rows go along z
        start, size = land.origin[2 * axis], land.cell_size[axis]
        count = land.cell_count[1 - axis]
        low, high = ((SQUARE * (square[axis] + end) - start) / size for end in (0, 1))
        first = math.floor(min(max(low - margin, 0.0), count - 1.0))
        ends += [first, math.ceil(min(max(high + margin, first + 1.0), count))]
    return Region(*ends)
