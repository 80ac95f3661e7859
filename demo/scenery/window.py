"""What is drawn of a land of tiles: the loaded ones around a place, as one map."""

import numpy as np
from numpy.typing import NDArray

from terrain_physics import HeightMap, TiledGround

Spans = tuple[range, range]

_ASIDE = 1.5  # tiles that a place may be from the middle of its window
_SKIN = 1e-3  # meters: where what is loaded ends, far off in the haze, no side is seen
PAUSE = 60  # steps from one map to the next that shows the same place


class Window:
    """A map of so many tiles on a side, around a place that moves: it is made anew with it.

    Tiles that are not loaded are holes.
    """

    def __init__(
        self,
        ground: TiledGround,
        *,
        tiles: int,
        side: int,
        cell: float,
        origin: float,
        material_names: tuple[str, ...],
    ) -> None:
        self._ground, self._tiles, self._side = ground, tiles, side
        self._cell, self._origin, self._names = cell, origin, material_names
        self._corner: tuple[int, int] | None = None
        self._shown: frozenset[tuple[int, int]] = frozenset()
        self._made_at = 0
        self._version = -1
        self.land: HeightMap | None = None

    @property
    def far(self) -> float:
        """How far one sees before the window ends, in meters."""
        return (0.5 * self._tiles - _ASIDE) * self._side * self._cell

    def follow(self, x: float, z: float, step: int) -> HeightMap:
        """Return the map for a place."""
        corner = self._corner_at(z, 0), self._corner_at(x, 1)
        shown = self._loaded(corner)
        stale = corner != self._corner or self._version != self._ground.version
        late = shown != self._shown and abs(step - self._made_at) >= PAUSE
        if self.land is None or stale or late:
            self._corner, self._shown, self._made_at = corner, shown, step
            self._version = self._ground.version
            self.land = self._make(corner)
        return self.land

    def edited(self, x: float, z: float, reach: float) -> None:
        """Take over what was edited around a place."""
        if self.land is None or self._corner is None:
            return
        most = self._tiles * self._side
        rows, columns = (
            range(
                max(round((along - reach - self._origin) / self._cell) - first * self._side, 0),
                min(round((along + reach - self._origin) / self._cell) - first * self._side, most)
                + 1,
            )
            for along, first in zip((z, x), self._corner, strict=True)
        )
        self._version = self._ground.version
        if not rows or not columns:
            return
        heights, materials = self._read(self._corner, (rows, columns))
        self.land[rows.start : rows.stop, columns.start : columns.stop] = heights
        self.land.materials[rows.start : rows.stop - 1, columns.start : columns.stop - 1] = (
            materials
        )

    def _corner_at(self, along: float, axis: int) -> int:
        """Return the first row of tiles of the window around z, or the first column around x.

        It stays as long as the place is near enough to the middle.
        """
        first = (along - self._origin) / (self._side * self._cell) - 0.5 * self._tiles
        if self._corner is not None and abs(first - self._corner[axis]) <= _ASIDE:
            return self._corner[axis]
        return round(first)

    def _loaded(self, corner: tuple[int, int]) -> frozenset[tuple[int, int]]:
        row, column = corner
        loaded = self._ground.loaded
        around = range(self._tiles)
        return frozenset(
            (row + i, column + j) for i in around for j in around if (row + i, column + j) in loaded
        )

    def _make(self, corner: tuple[int, int]) -> HeightMap:
        whole = range(self._tiles * self._side + 1)
        heights, materials = self._read(corner, (whole, whole))
        z, x = (self._origin + first * self._side * self._cell for first in corner)
        return HeightMap(
            heights,
            cell_size=self._cell,
            origin=(x, 0.0, z),
            materials=materials,
            material_names=self._names,
            thickness=_SKIN,
        )

    def _read(
        self, corner: tuple[int, int], spans: Spans
    ) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
        """Return heights and materials of rows and columns of the window."""
        rows, columns = spans
        heights = np.full((len(rows), len(columns)), np.nan, dtype=np.float32)
        materials = np.zeros((len(rows) - 1, len(columns) - 1), dtype=np.uint8)
        for i in range(rows.start // self._side, (rows.stop - 1) // self._side + 1):
            for j in range(columns.start // self._side, (columns.stop - 1) // self._side + 1):
                tile = self._ground.tile(corner[0] + i, corner[1] + j)
                if tile is None:
                    continue
                (to_rows, of_rows), (to_columns, of_columns) = (
                    _shared(span, k * self._side, self._side + 1)
                    for span, k in ((rows, i), (columns, j))
                )
                heights[to_rows, to_columns] = np.asarray(tile.heights)[of_rows, of_columns]
                if tile.materials is None:
                    continue
                (to_rows, of_rows), (to_columns, of_columns) = (
                    _shared(range(span.start, span.stop - 1), k * self._side, self._side)
                    for span, k in ((rows, i), (columns, j))
                )
                own = np.asarray(tile.materials)[of_rows, of_columns]
                materials[to_rows, to_columns] = own
        return heights, materials


def _shared(span: range, start: int, count: int) -> tuple[slice, slice]:
    """Return what a span and a tile share, as places of the span and of the tile."""
    first, last = max(span.start, start), min(span.stop, start + count)
    last = max(first, last)
    return slice(first - span.start, last - span.start), slice(first - start, last - start)
