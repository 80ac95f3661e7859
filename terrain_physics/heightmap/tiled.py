"""Maps that share border lines as one map, without copies of their samples and cells.

A table leads from each cell to the arrays of its tile: see the kernels' `heightmap.grid`. Only the
blocks are the large map's own: they take a thirtieth of the memory of the samples.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.heightmap import blocks as block_kernels
from terrain_physics._kernels.heightmap import grid as kernels
from terrain_physics._kernels.heightmap.tiles import put_owners
from terrain_physics._kernels.types import Bytes, Float32s, Int64s
from terrain_physics._locks import Mark
from terrain_physics._support.checks import Floats3
from terrain_physics.heightmap.cells import Ranges, Region, all_common, moved, rim_of
from terrain_physics.heightmap.framed import LiveMap, no_changes
from terrain_physics.heightmap.storage import MapStorage
from terrain_physics.surface.changes import ChangeLog
from terrain_physics.surface.ground_arrays import MapArrays
from terrain_physics.surface.watching import Reader

# The values where there is no tile.
_NO_SAMPLE = np.full(1, np.nan, dtype=np.float32)
_NO_CELL = np.full(1, kernels.CELL_HOLE, dtype=np.uint8)

_OWNERS = CachedDispatch(put_owners)


class Place(NamedTuple):
    """Where a map lies in a larger one: its first cell, and how many cells it has."""

    row: int
    column: int
    rows: int
    columns: int

    def shared(self, other: "Place") -> "Place | None":
        """Return the place of the samples in both, a line of them without cells; None if none."""
        row, column = max(self.row, other.row), max(self.column, other.column)
        rows = min(self.row + self.rows, other.row + other.rows) - row
        columns = min(self.column + self.columns, other.column + other.columns) - column
        return None if rows < 0 or columns < 0 else Place(row, column, rows, columns)

    def within(self, whole: "Place", lines: int = 1) -> Ranges:
        """Return the ranges of its samples in a map at a place; without ``lines``, of its cells."""
        row, column = self.row - whole.row, self.column - whole.column
        return slice(row, row + self.rows + lines), slice(column, column + self.columns + lines)


class UnionTile:
    """A map that is part of a larger one."""

    __slots__ = ("_memory", "_views", "storage")

    def __init__(self, storage: MapStorage) -> None:
        self.storage = storage
        self._views: MapArrays | None = None
        self._memory = (0,) * 7

    def memory(self, views: MapArrays) -> tuple[int, ...]:
        """Return address and length of heights and of cells, then how the cells are split.

        That is: cells to a row where each has bits, else 0; 1 if all are flipped, else 0; 1 if
        every other one is, else 0.
        """
        if self._views is not views:
            heights, cells, _, frame = views
            kind = int(frame[kernels.DIAGONAL])
            self._memory = (
                heights.__array_interface__["data"][0],
                heights.size,
                cells.__array_interface__["data"][0],
                cells.size,
                self.storage.cell_count[1] if frame[kernels.HAS_TABLE] else 0,
                int(kind == kernels.DIAGONAL_BD),
                int(kind == kernels.DIAGONAL_ALTERNATING),
            )
            self._views = views
        return self._memory

    def edge_regions(self) -> list[Region]:
        """Return the cells at whose edges the ground may end."""
        rows, columns = self.storage.cell_count
        if self.storage.may_have_holes:
            return [Region(0, rows, 0, columns)]
        return rim_of(rows, columns)

    @property
    def blocks(self) -> Float32s:
        """The lowest level of its blocks: (rows, columns, 2)."""
        return _level(self.storage.blocks, *self.storage.cell_count, 0)


class TiledMap(LiveMap):
    """A map in tiles, none of which overlap.

    A short query holds the map's lock, and edits of the tiles wait for it. A long query is counted
    by the map's reader, and keeps the arrays that it began with.

    Attributes
    ----------
    tiles : list of UnionTile
    places : ndarray of int64, shape (n, 4)
        The place of each tile: first row and column, rows and columns.
    blocks : ndarray of float32
        Least and greatest heights of blocks of cells, or bounds of these, level after level.
    """

    __slots__ = (
        "_copied",
        "_materials",
        "_reader",
        "_shown",
        "_table",
        "blocks",
        "places",
        "tiles",
    )

    def __init__(
        self,
        tiles: Sequence[UnionTile],
        places: Int64s,
        origin: Floats3,
        lock: AbstractContextManager[Any],
        reader: Reader,
        before: "TiledMap | None" = None,
    ) -> None:
        """Put tiles together; ``before`` is a map of some of them, as it is now.

        The caller holds the lock. Samples that tiles share are equal in all of them.
        """
        self.tiles, self.places = list(tiles), places
        self.lock, self._reader, self._copied = lock, reader, 0
        self.version, self.changes, self._changes = 0, ChangeLog(0), no_changes()
        first = self.tiles[0].storage
        rows, columns = (places[:, :2] + places[:, 2:]).max(axis=0).tolist()
        self.frame = np.zeros(kernels.TILED_FRAME_SIZE)
        self.frame[: kernels.TILES] = (
            *origin, *first.cell_size, first.height_scale, 0.0, 0.0, 0.0, rows, columns, 0.0,
        )  # fmt: skip
        levels = block_kernels.level_count(rows, columns)
        self.blocks = np.empty(
            2 * block_kernels.level_start(rows, columns, levels), dtype=np.float32
        )
        self._shown: tuple[Any, ...] = (None, (), ())
        self._put_blocks(before)
        self._show(())

    # For kernels

    def _show(self, changed: Iterable[int]) -> None:
        """Show the present arrays of the tiles to kernels; those ``changed`` may have new ones.

        A signal handler may edit tiles in the middle of it.
        """
        while not self._is_shown(changed):
            self._put_together()
            changed = range(len(self.tiles))

    def _is_shown(self, numbers: Iterable[int]) -> bool:
        """Tell whether kernels have the arrays that some of the tiles have now."""
        blocks, views, made = self._shown
        return blocks is self.blocks and all(
            self.tiles[number].storage.views is views[number]
            and self.tiles[number].storage.materials is made[number]
            for number in numbers
        )

    def _put_together(self) -> None:
        """Build the arrays for kernels."""
        blocks, shown = self.blocks, [tile.storage.views for tile in self.tiles]
        made = [tile.storage.materials for tile in self.tiles]
        memory, places = np.array(list(map(UnionTile.memory, self.tiles, shown))), self.places
        heights, heights_at = _around(memory[:, :2], _NO_SAMPLE)
        cells, cells_at = _around(memory[:, 2:4], _NO_CELL)
        table = _table(places, _rows(places, memory, heights_at, cells_at))
        frame = self.frame.copy()
        frame[kernels.DIAGONAL], has_table = _kind(places, memory)
        frame[kernels.HAS_TABLE] = kernels.IN_TILES + has_table
        frame[kernels.THICKNESS] = min(own[3].item(kernels.THICKNESS) for own in shown)
        frame[kernels.TILES] = table.__array_interface__["data"][0]
        frame[kernels.TILES_SIZE] = table.size
        # The heights keep the table alive.
        kept = TileMemory("f4", *heights, (shown, table))
        views = np.asarray(kept), np.asarray(TileMemory("u1", *cells, shown)), blocks.view(), frame
        for values in (table, *views):
            values.setflags(write=False)
        self._table, self.frame, self.views = table, frame, cast("MapArrays", views)
        is_plain = all(own is None for own in made)
        self._materials = None if is_plain else _TiledMaterials(made, self._numbers)
        self._shown = blocks, shown, made

    @property
    def materials(self) -> "_TiledMaterials | None":
        return self._materials

    def begin_reading(self, mark: Mark) -> tuple[MapArrays, "_TiledMaterials | None"]:
        with self.lock:
            self._reader.begin(mark)
            return self.views, self._materials

    # Tiles

    @property
    def _numbers(self) -> tuple[Int64s, int, int]:
        """Numbers by which kernels find the tile of a triangle."""
        return self._table, *self.cell_count

    def shares(
        self, place: Ranges, values: NDArray[Any], *, lines: int
    ) -> Iterator[tuple[MapStorage, Ranges, NDArray[Any]]]:
        """Yield the tiles that hold values of a range, the ranges in them, and the values.

        ``lines`` is 1 for values of samples, 0 for values of cells: samples are one more.
        """
        row, column = place[0].start, place[1].start
        asked = Place(row, column, values.shape[0] - lines, values.shape[1] - lines)
        for tile, own in self._tiles_over(asked):
            shared = asked.shared(own)
            if shared is not None:
                yield tile.storage, shared.within(own, lines), values[shared.within(asked, lines)]

    def _tiles_over(self, area: Place) -> Iterator[tuple[UnionTile, Place]]:
        """Yield the tiles that share samples with an area, and their places."""
        row, column, rows, columns = self.places.T
        is_near = (row <= area.row + area.rows) & (row + rows >= area.row)
        is_near &= (column <= area.column + area.columns) & (column + columns >= area.column)
        for number in np.flatnonzero(is_near).tolist():
            yield self.tiles[number], Place(*self.places[number].tolist())

    def samples(self, place: Ranges) -> Float32s:
        shape = [span.stop - span.start for span in place]
        found = np.full(shape, np.nan, dtype=np.float32)
        for storage, own, values in self.shares(place, found, lines=1):
            values[:] = storage.heights[own]
        return found

    def edge_regions(self, area: Region) -> list[Region]:
        regions = [
            moved(own, row, column)
            for tile, (row, column, _, _) in zip(self.tiles, self.places.tolist(), strict=True)
            for own in tile.edge_regions()
        ]
        return all_common(regions, area)

    # Edits

    def follow(self, changed: Sequence[tuple[int, Sequence[Region]]]) -> None:
        """Follow edits of regions of tiles, by the tiles' numbers. The caller holds the lock."""
        if self._reader.latest > self._copied:
            self.blocks, self._copied = self.blocks.copy(), self._reader.latest
        edited = []
        for number, regions in changed:
            row, column = self.places[number, :2].tolist()
            for own in regions:
                region = moved(own, row, column)
                self._put_blocks_in(region)
                edited.append(region)
        self._show([number for number, _ in changed])
        for region in edited:  # the version last: who sees it finds arrays and change
            self._changes.append((self.version + 1, region))
            self.changes.note(self.version + 1, *self.box_of(region))
            self.version += 1

    def _put_blocks(self, before: "TiledMap | None") -> None:
        """Write all blocks; of levels in line with those before, only where tiles differ.

        The blocks of a tile may lie across blocks of this map, which then bound all they meet.
        """
        rows, columns = self.cell_count
        whole = Place(0, 0, rows, columns)
        shared = None if before is None else _shared_tile(self, before)
        if before is None or shared is None:
            self._put_blocks_in(self.whole)
            return
        row, column = shared
        levels = block_kernels.level_count(*before.cell_count)
        areas = self._different_from(before, row, column)
        for level in range(block_kernels.level_count(rows, columns)):
            side = block_kernels.BLOCK ** (level + 1)
            is_in_line = level < levels and row % side == column % side == 0
            if is_in_line:
                old = _level(before.blocks, *before.cell_count, level)
                _put_into(self._level(level), old, row // side, column // side)
            for area in areas if is_in_line else [whole]:
                self._put_level(level, area)

    def _different_from(self, before: "TiledMap", row: int, column: int) -> list[Place]:
        """Return the areas with other tiles than a map with its first cell at this row, column."""
        known, kept = set(before.tiles), set(self.tiles)
        new = [number for number, tile in enumerate(self.tiles) if tile not in known]
        gone = [number for number, tile in enumerate(before.tiles) if tile not in kept]
        whole, shift = Place(0, 0, *self.cell_count), (row, column, 0, 0)
        places = [*self.places[new].tolist(), *(before.places[gone] + shift).tolist()]
        found = [whole.shared(Place(*place)) for place in places]
        return [area for area in found if area is not None]

    def _level(self, level: int) -> Float32s:
        """Return the blocks of a level: (rows, columns, 2)."""
        return _level(self.blocks, *self.cell_count, level)

    def _put_level(self, level: int, area: Place) -> None:
        """Write the blocks of a level over some cells."""
        side = block_kernels.BLOCK ** (level + 1)
        row_0, row_1 = area.row // side, -(-(area.row + area.rows) // side)
        column_0, column_1 = area.column // side, -(-(area.column + area.columns) // side)
        if level == 0:
            self._put_lowest(row_0, row_1, column_0, column_1)
        else:
            block_kernels.put_level(
                *self.cell_count, level, row_0, row_1, column_0, column_1, self.blocks
            )

    def _put_lowest(self, row_0: int, row_1: int, column_0: int, column_1: int) -> None:
        """Write blocks of the lowest level."""
        size = block_kernels.BLOCK
        around = self._level(0)[row_0:row_1, column_0:column_1]
        _clear(around)
        area = Place(row_0, column_0, row_1 - row_0, column_1 - column_0)
        for tile, place in self._tiles_over(Place(*(size * number for number in area))):
            _take_in(around, tile, place.row - size * row_0, place.column - size * column_0)

    def _put_blocks_in(self, region: Region) -> None:
        """Write the blocks over a region."""
        size, (rows, columns, _) = block_kernels.BLOCK, self._level(0).shape
        # Blocks of tiles may lie across these, and reach into the next ones.
        row_0, column_0 = (max(first // size - 1, 0) for first in (region[0], region[2]))
        row_1 = min(region.row_stop // size + 2, rows)
        column_1 = min(region.column_stop // size + 2, columns)
        self._put_lowest(row_0, row_1, column_0, column_1)
        block_kernels.put_upper_blocks(
            *self.cell_count, row_0, row_1, column_0, column_1, self.blocks
        )


def _shared_tile(terrain: TiledMap, other: TiledMap) -> tuple[int, int] | None:
    """Return the place of another map's first cell, by a tile of both; None without such a tile."""
    numbers = {tile: number for number, tile in enumerate(other.tiles)}
    for tile, place in zip(terrain.tiles, terrain.places, strict=True):
        if tile in numbers:
            row, column = (place - other.places[numbers[tile]])[:2].tolist()
            return row, column
    return None


class TileMemory:
    """Memory from an address on, and the objects that keep it alive."""

    __slots__ = ("__array_interface__", "_kept")

    def __init__(self, kind: str, address: int, count: int, kept: Any) -> None:
        self._kept = kept
        self.__array_interface__ = {
            "version": 3,
            "typestr": np.dtype(kind).str,
            "shape": (count,),
            "data": (address, True),
        }


class _TiledMaterials:
    """The materials of the cells of a map in tiles."""

    __slots__ = ("_made", "_numbers")

    def __init__(self, made: Sequence[Bytes | None], numbers: tuple[Int64s, int, int]) -> None:
        self._made, self._numbers = made, numbers

    def item(self, cell: int) -> int:
        return int(self.take(np.array([cell]))[0])

    def take(self, cells: Int64s) -> Bytes:
        parts, own = np.arange(len(self._made)), 2 * cells
        owners = np.empty_like(own)
        _OWNERS.call(*self._numbers, np.zeros_like(parts), parts, own, owners)
        found = np.zeros(len(cells), dtype=np.uint8)
        for number in np.unique(owners).tolist():
            made = self._made[number]
            if made is not None:
                rows = (owners == number) & (own >= 0)
                found[rows] = made.take(own[rows] >> 1)
        return found


def _around(memory: Int64s, nothing: NDArray[Any]) -> tuple[tuple[int, int], Int64s]:
    """Return (address, length) of the memory around arrays, and the places of the arrays in it.

    ``memory`` (n, 2) holds their addresses and lengths. The last place is that of ``nothing``.
    """
    starts = np.append(memory[:, 0], nothing.__array_interface__["data"][0])
    low = int(starts.min())
    places = (starts - low) // nothing.itemsize
    return (low, int(np.max(places + np.append(memory[:, 1], nothing.size)))), places


def _kind(places: Int64s, memory: Int64s) -> tuple[int, bool]:
    """Return how all cells are split, and whether each has bits of its own."""
    across, flipped, alternate = memory[:, 4], memory[:, 5], memory[:, 6]
    turned = flipped ^ (alternate & (places[:, 0] + places[:, 1]))
    if across.any() or (turned != turned[0]).any() or (alternate != alternate[0]).any():
        return kernels.DIAGONAL_TABLE, True
    if alternate[0]:
        return kernels.DIAGONAL_TABLE if turned[0] else kernels.DIAGONAL_ALTERNATING, bool(
            turned[0]
        )
    return kernels.DIAGONAL_BD if flipped[0] else kernels.DIAGONAL_AC, False


def _rows(places: Int64s, memory: Int64s, heights_at: Int64s, cells_at: Int64s) -> Int64s:
    """Return the entries of the table of tiles: one for each tile, then one for no tile."""
    row, column, tall, columns = places.T
    across, flipped, alternate = memory[:, 4], memory[:, 5], memory[:, 6]
    rows = np.zeros((len(places) + 1, kernels.TILE_SIZE), dtype=np.int64)
    rows[:, kernels.HEIGHTS_AT], rows[:, kernels.CELLS_AT] = heights_at, cells_at
    own = rows[:-1].T
    own[kernels.HEIGHTS_DOWN], own[kernels.CELLS_DOWN] = columns + 1, across
    own[kernels.HEIGHTS_AT] -= row * (columns + 1) + column
    own[kernels.CELLS_AT] -= (row * across + column) * (across > 0)
    own[kernels.TURNED] = flipped ^ (alternate & (row + column))
    own[kernels.TURNED_IF_ODD] = alternate
    own[kernels.TILE_NUMBER] = np.arange(len(places))
    own[kernels.TILE_ROW], own[kernels.TILE_COLUMN] = row, column
    own[kernels.TILE_COLUMNS], own[kernels.TILE_ROWS] = columns, tall
    rows[-1, kernels.TILE_NUMBER], rows[-1, kernels.TILE_COLUMNS] = kernels.NO_TILE, 1
    return rows


def _table(places: Int64s, rows: Int64s) -> Int64s:
    """Return the table of tiles."""
    row_edges = np.unique(np.concatenate([places[:, 0], places[:, 0] + places[:, 2]]))
    column_edges = np.unique(np.concatenate([places[:, 1], places[:, 1] + places[:, 3]]))
    # Between two edges of each kind is one tile, or none.
    which = np.full((len(row_edges) - 1, len(column_edges) - 1), len(places))
    top = np.searchsorted(row_edges, places[:, 0]).tolist()
    bottom = np.searchsorted(row_edges, places[:, 0] + places[:, 2]).tolist()
    left = np.searchsorted(column_edges, places[:, 1]).tolist()
    right = np.searchsorted(column_edges, places[:, 1] + places[:, 3]).tolist()
    for number in range(len(places)):
        which[top[number] : bottom[number], left[number] : right[number]] = number
    start = int(row_edges[-1] + column_edges[-1])
    down, across = which.shape
    return np.concatenate(
        [
            np.repeat(start + np.arange(down) * across, np.diff(row_edges)),
            np.repeat(np.arange(across), np.diff(column_edges)),
            start + which.size + kernels.TILE_SIZE * which.reshape(-1),
            rows.reshape(-1),
        ]
    )


def _level(blocks: Float32s, rows: int, columns: int, level: int) -> Float32s:
    """Return the blocks of a level of a map: (rows, columns, 2)."""
    side = block_kernels.BLOCK ** (level + 1)
    down, across = -(-rows // side), -(-columns // side)
    start = 2 * block_kernels.level_start(rows, columns, level)
    return blocks[start : start + 2 * down * across].reshape(down, across, 2)


def _clear(blocks: Float32s) -> None:
    """Clear blocks (rows, columns, 2): they have no ground."""
    blocks[:, :, 0], blocks[:, :, 1] = np.inf, -np.inf


def _put_into(here: Float32s, old: Float32s, row: int, column: int) -> None:
    """Write blocks to their place in another map, without ground around them."""
    row_0, row_1 = max(row, 0), min(row + old.shape[0], here.shape[0])
    column_0, column_1 = max(column, 0), min(column + old.shape[1], here.shape[1])
    here[row_0:row_1, column_0:column_1] = old[
        row_0 - row : row_1 - row, column_0 - column : column_1 - column
    ]
    for beside in (
        here[:row_0], here[row_1:], here[row_0:row_1, :column_0], here[row_0:row_1, column_1:]
    ):  # fmt: skip
        _clear(beside)


def _take_in(lowest: Float32s, tile: UnionTile, first_row: int, first_column: int) -> None:
    """Widen blocks (rows, columns, 2) to bound those of a tile, which they may lie across."""
    own, size = tile.blocks, block_kernels.BLOCK
    for down in range(2 if first_row % size else 1):
        for across in range(2 if first_column % size else 1):
            row, column = first_row // size + down, first_column // size + across
            row_0, row_1 = max(row, 0), min(row + own.shape[0], lowest.shape[0])
            column_0, column_1 = max(column, 0), min(column + own.shape[1], lowest.shape[1])
            if row_0 < row_1 and column_0 < column_1:
                here = lowest[row_0:row_1, column_0:column_1]
                there = own[row_0 - row : row_1 - row, column_0 - column : column_1 - column]
                np.minimum(here[:, :, 0], there[:, :, 0], out=here[:, :, 0])
                np.maximum(here[:, :, 1], there[:, :, 1], out=here[:, :, 1])
