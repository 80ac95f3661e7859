"""A height map on a lattice of tiles that come and go.

It spans all tiles that there may ever be: rows, columns and ids are those of one map of the same
samples. Where a tile is *absent* there is no ground. Where one is *missing*, that is not in memory,
kernels find no ground either, but the ground does not end there: no side stands at its border.

A long query keeps the arrays it began with: an edit in the meantime copies those of its tiles, and
whatever comes or goes then copies the table. The blocks are one array for all: while long queries
run they are only widened, and made tight again later.
"""

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.heightmap import grid as kernels
from terrain_physics._kernels.heightmap.missing import find_missing
from terrain_physics._kernels.types import Bools, Bytes, Float32s, Floats, read_only
from terrain_physics._locks import LongCalls, Mark, Rank, new_lock
from terrain_physics._support.interruptions import carried_out
from terrain_physics.heightmap.cells import Ranges, Region, ranges_of, rectangles_of, shared, within
from terrain_physics.heightmap.framed import TYPES, Edited, StoredMap, no_changes, region_of
from terrain_physics.heightmap.tiled import TileMemory
from terrain_physics.lattice.blocks import LatticeBlocks
from terrain_physics.lattice.ends import GroundEnds
from terrain_physics.lattice.materials import LatticeMaterials
from terrain_physics.lattice.table import BASE_ADDRESS, SHARED, TileTable
from terrain_physics.lattice.tile import LatticeShape, LoadedTile, TileSource
from terrain_physics.surface.changes import ChangeLog
from terrain_physics.surface.ground_arrays import MapArrays
from terrain_physics.surface.watching import Watchers

_MISSING = CachedDispatch(find_missing)

# Of the addressed memory, in bytes: whatever a processor of today can address.
_MEMORY = 1 << 47

# Edits are remembered by squares of so many samples along each side, to know how many there are.
_SQUARE = 64
_SQUARE_BYTES = 4 * _SQUARE * _SQUARE
_LEAST_BYTES = 1 << 20


class LatticeMap(StoredMap):
    """A height map on a lattice of tiles.

    Attributes
    ----------
    shape : LatticeShape
    exists : ndarray of bool, shape (rows, columns)
        Which tiles there are.
    loaded : dict of int to LoadedTile
        Those in memory, by their numbers; for others to read only.
    revision : int
        The number of changes: of edits, and of tiles that came or went.
    source : TileSource
        Where tiles come from; whoever makes the map sets it.
    """

    __slots__ = (
        "__weakref__",
        "_arrays",
        "_blocks",
        "_edited",
        "_ends",
        "_generation",
        "_loose",
        "_materials",
        "_missing",
        "_reading",
        "_revision",
        "_running",
        "_table",
        "exists",
        "loaded",
        "material_names",
        "shape",
        "source",
        "watchers",
    )

    source: TileSource

    def __init__(self, shape: LatticeShape, exists: Bools) -> None:
        self.shape, self.exists = shape, exists.copy()
        self.exists.setflags(write=False)
        self.material_names = shape.material_names
        self.loaded: dict[int, LoadedTile] = {}
        self.lock, self.watchers = new_lock(Rank.MAP), Watchers()
        self.version = self._revision = self._generation = 0
        self._reading, self._running = LongCalls(), LongCalls()
        self.changes, self._changes = ChangeLog(0), no_changes()
        self._missing = exists.reshape(-1).astype(np.uint8)
        self._edited, self._loose = set[tuple[int, int]](), set[int]()
        self._ends = GroundEnds(shape, self.exists, self.loaded)
        self.frame = np.zeros(kernels.TILED_FRAME_SIZE)
        self.frame[: kernels.HAS_TABLE] = (
            *shape.origin, *shape.cell_size, shape.height_scale, 0.0, shape.diagonal,
            shape.thickness, shape.rows * shape.side, shape.columns * shape.side,
        )  # fmt: skip
        self.frame[kernels.HAS_TABLE] = kernels.IN_TILES + shape.has_cells
        self._blocks = LatticeBlocks(shape)
        self._table = TileTable(shape, exists)
        # Of each tile: heights, cells and materials, as long as kernels may read them.
        self._arrays: dict[int, tuple[Any, ...]] = {}
        self._materials: LatticeMaterials | None = None
        self._publish()

    @property
    def revision(self) -> int:
        return self._revision

    @property
    def missing(self) -> Bytes:
        """Which tiles are missing, row by row; for others to read only, under the lock."""
        return self._missing

    # For kernels

    def _publish(self) -> None:
        """Show the present arrays to kernels."""
        table = self._table.values.view()
        frame = self.frame.copy()
        frame[kernels.TILES] = table.__array_interface__["data"][0]
        frame[kernels.TILES_SIZE] = len(table)
        kept = self._arrays, table, SHARED
        heights = TileMemory("f4", BASE_ADDRESS, (_MEMORY - BASE_ADDRESS) // 4, kept)
        cells = TileMemory("u1", BASE_ADDRESS, _MEMORY - BASE_ADDRESS, kept)
        views = np.asarray(heights), np.asarray(cells), self._blocks.values.view(), frame
        for values in (table, *views):
            values.setflags(write=False)
        self.frame, self.views = frame, cast("MapArrays", views)
        if self._materials is not None:
            self._materials = LatticeMaterials(self.shape, self._arrays)

    @property
    def materials(self) -> LatticeMaterials | None:
        return self._materials

    def begin_reading(self, mark: Mark) -> tuple[MapArrays, LatticeMaterials | None]:
        with self.lock:
            self._reading.add(mark)
            self._running.add(mark)
            return self.views, self._materials

    def _protect(self) -> None:
        """Leave the present arrays to long queries that read them, and go on with others."""
        readers = self.watchers.readers()
        if not self._reading and not any(reader.reads(number) for reader, number in readers):
            return
        self._arrays = self._arrays.copy()
        self._table.copy()
        self._reading.clear()
        self._generation += 1
        for reader, number in readers:
            reader.copied[number] = reader.latest
        self._publish()

    @property
    def _is_read(self) -> bool:
        """Whether any long query runs, whatever arrays it began with."""
        return bool(self._running) or any(reader.latest for reader, _ in self.watchers.readers())

    # Tiles that come and go

    def put(self, tiles: Sequence[LoadedTile]) -> None:
        """Take tiles in that are missing; others are left as they are."""
        self.editing(lambda: self._put(tiles))

    def _put(self, tiles: Sequence[LoadedTile]) -> None:
        new = {tile.number: tile for tile in tiles if self._missing[tile.number]}
        if not new:
            return
        self._protect()
        if self._table.reserve(len(new)):
            self._publish()
        try:
            for number, tile in new.items():
                tile.generation = self._generation
                self._show_tile(tile)
                self.loaded[number] = tile
                self._missing[number] = 0
            self._settle(list(new))
        except BaseException:  # such as Ctrl-C
            self._let_go(list(new))
            raise

    def take(self, numbers: Iterable[int]) -> None:
        """Let tiles go that are loaded."""
        self.editing(lambda: self._take(numbers))

    def _take(self, numbers: Iterable[int]) -> None:
        gone = [number for number in numbers if number in self.loaded]
        if not gone:
            return
        self._protect()
        try:
            self._let_go(gone)
        except BaseException:  # such as Ctrl-C: none is left half there
            self._let_go(gone)
            raise

    def _let_go(self, numbers: Sequence[int]) -> None:
        """Let tiles go, also those that are there in part."""
        for number in numbers:
            self._missing[number] = 1
            self._table.take(number)
            self.loaded.pop(number, None)
            self._arrays.pop(number, None)
        self._settle(numbers)

    def _show_tile(self, tile: LoadedTile) -> None:
        """Lead kernels to the present arrays of a tile."""
        self._table.put(tile)
        has_table = self.views[3][kernels.HAS_TABLE] % kernels.IN_TILES != 0.0  # as kernels see it
        if tile.cells is not None and not has_table:
            self.frame = self.frame.copy()
            self.frame[kernels.HAS_TABLE] = kernels.IN_TILES + 1.0
            self._publish()
        if tile.materials is not None and self._materials is None:
            self._materials = LatticeMaterials(self.shape, self._arrays)
        self._arrays[tile.number] = tile.arrays  # last: who was interrupted shows it again

    def _settle(self, numbers: Sequence[int]) -> None:
        """Follow tiles that came or went: blocks, where the ground ends, and readers."""
        self._put_blocks(numbers)
        self._ends.look(numbers)
        for number in numbers:
            self._note(self._region_of(number))
        for reader, number in self.watchers.readers():
            reader.tell(number, "tiles")

    def _note(self, region: Region) -> None:
        self._changes.append((self._revision + 1, region))
        self._revision += 1

    def place_of(self, number: int) -> tuple[int, int]:
        """Return the first row and column of cells of a tile."""
        row, column = divmod(number, self.shape.columns)
        return row * self.shape.side, column * self.shape.side

    def _region_of(self, number: int) -> Region:
        (row, column), side = self.place_of(number), self.shape.side
        return Region(row, row + side, column, column + side)

    def missing_in(self, boxes: Floats) -> tuple[Bools, list[int]]:
        """Return which boxes touch missing tiles, and the numbers of these, ascending.

        Parameters
        ----------
        boxes : ndarray of float64, shape (n, 4), C-contiguous
            Least x and z, greatest x and z, in meters. A box touches what is at its border.
        """
        marks, wanted = np.zeros(len(boxes), np.uint8), np.zeros_like(self._missing)
        (x0, _, z0), (cell_x, cell_z) = self.shape.origin, self.shape.cell_size
        side = self.shape.side
        count = _MISSING.call(
            read_only(boxes.reshape(-1))[0], self._missing, self.shape.columns, x0, z0,
            1.0 / (side * cell_x), 1.0 / (side * cell_z), marks, wanted,
        )  # fmt: skip
        return marks.view(np.bool_), np.flatnonzero(wanted).tolist() if count else []

    def tiles_of(self, place: Ranges, lines: int) -> list[int]:
        """Return the tiles that there are and that share values of a range.

        ``lines`` is 1 for samples, which tiles share along their borders, and 0 for cells.
        """
        side, count_down, count_across, *_ = self.shape
        rows, columns = place
        if rows.start >= rows.stop or columns.start >= columns.stop:
            return []
        row_0, row_1 = (rows.start - lines) // side, (rows.stop - 1) // side
        column_0, column_1 = (columns.start - lines) // side, (columns.stop - 1) // side
        across = range(max(column_0, 0), min(column_1 + 1, count_across))
        return [
            row * count_across + column
            for row in range(max(row_0, 0), min(row_1 + 1, count_down))
            for column in across
            if self.exists[row, column]
        ]

    # Values

    def _shares(self, place: Ranges, lines: int) -> Iterator[tuple[LoadedTile, Ranges, Ranges]]:
        """Yield the loaded tiles that share values of a range: where in it, and where there."""
        for number in self.tiles_of(place, lines):
            tile, both = self.loaded.get(number), shared(self.shape.place_of(number, lines), place)
            if tile is not None and both is not None:
                yield tile, *both

    def values(self, what: Edited, place: Ranges) -> NDArray[Any]:
        """Return heights, marks of holes or materials of a range, a new array.

        Where no tile is loaded: what edits have left, and where there are none NaN, False and 0.
        """
        size = [span.stop - span.start for span in place]
        empty = np.nan if what == "heights" else 0
        found: NDArray[Any] = np.full(size, empty, dtype=TYPES[what])
        lines = int(what == "heights")
        if self.missing_of(place, lines):
            self.source.put_kept(what, place, found)
        for tile, own, there in self._shares(place, lines):
            found[there] = tile.values(what, own)
        return found

    def samples(self, place: Ranges) -> Float32s:
        while True:
            with self.lock:
                missing = self.missing_of(place, 1)
                if not missing:
                    found: Float32s = self.values("heights", place)
                    return found
            self.source.need(missing, "heights of tiles that are not loaded")

    def missing_of(self, place: Ranges, lines: int) -> list[int]:
        """Return the missing tiles that share values of a range, as `tiles_of`."""
        return [number for number in self.tiles_of(place, lines) if self._missing[number]]

    def edge_regions(self, area: Region) -> list[Region]:
        return self._ends.regions(area)

    def _put_blocks(self, numbers: Sequence[int]) -> None:
        """Let blocks follow tiles that came, went or were edited."""
        if self._is_read:
            self._loose.update(numbers)
            self._blocks.widen([self.loaded[own] for own in numbers if own in self.loaded])
        else:
            self._blocks.fit(self._loose.union(numbers), self.loaded)
            self._loose.clear()

    # Edits

    def edit(self, what: Edited, place: Ranges, values: NDArray[Any]) -> None:
        """Set all samples of a range, or the marks of holes or materials of a range of cells.

        Those tiles are needed that have more of the range than a line that others have as well.

        Raises
        ------
        ValueError
            As `TileSource.need`. Nothing has changed then.
        OSError
            If the edit cannot be kept. Nothing has changed then.
        """
        if values.size == 0:
            return
        source, why = self.source, f"{what} of tiles that are not loaded"
        self.once_loaded(
            lambda: self._missing_within(what, place),
            lambda own: source.need(own, why),
            lambda: self._make(what, place, values),
        )

    def paint(self, place: Ranges, marked: Bools, material: int) -> None:
        """Set the material of the marked cells of a range; errors as of `edit`."""
        source, why = self.source, "materials of tiles that are not loaded"

        def edit() -> None:
            present = self.values("materials", place)
            self.edit("materials", place, np.where(marked, np.uint8(material), present))

        self.once_loaded(lambda: self.missing_of(place, 0), lambda own: source.need(own, why), edit)

    def once_loaded(
        self,
        missing: Callable[[], list[int]],
        bring: Callable[[list[int]], None],
        edit: Callable[[], None],
    ) -> None:
        """Make an edit once no tile is missing; ``bring`` puts them here.

        Files are read without the locks, and then another thread may take a tile out.
        """

        def edit_or_tell() -> list[int]:
            needed = missing()
            if not needed:
                edit()
            return needed

        while needed := self.editing(edit_or_tell):
            bring(needed)

    def _missing_within(self, what: Edited, place: Ranges) -> list[int]:
        """Return missing tiles without which an edit would not know what it replaces."""
        return self.missing_of(place, 0) if what != "heights" else self._missing_holders(place)

    def _missing_holders(self, place: Ranges) -> list[int]:
        """Return missing tiles that have samples of a range which no loaded tile has."""
        missing = self.missing_of(place, 1)
        if not missing:
            return []
        unknown = np.ones([span.stop - span.start for span in place], dtype=np.bool_)
        for _, _, there in self._shares(place, 1):
            unknown[there] = False
        found = []
        for number in missing:
            both = shared(self.shape.place_of(number, 1), place)
            if both is not None and unknown[both[1]].any():
                found.append(number)
                unknown[both[1]] = False
        return found

    def put_solid_depth(self, solid: tuple[float, bool]) -> None:
        """Do nothing: it stays as it was made."""

    def put_back(
        self,
        what: Edited,
        place: Ranges,
        values: NDArray[Any],
        marks: Bools | None = None,
    ) -> None:
        """Make an edit of values that were edited before, of those that are marked; None: all.

        Tiles that are not loaded have them by the source.
        """

        def make() -> None:
            if marks is None:
                self._make(what, place, values)
                return
            for own in map(ranges_of, rectangles_of(marks)):
                self._make(what, within(place, own), values[own])

        self.editing(make)

    def _make(self, what: Edited, place: Ranges, values: NDArray[Any]) -> None:
        """Make an edit whose tiles are loaded, or whose values are known; under the locks."""
        region = region_of(self, what, place)
        self.watchers.prepare(what, region, place)
        self._protect()

        def make() -> None:
            self.source.keep(what, place, values)
            self._changed(what, region, self._write(what, place, values))

        carried_out(make)

    def _write(self, what: Edited, place: Ranges, values: NDArray[Any]) -> list[int]:
        """Write values to all loaded tiles that share them; return the numbers of these."""
        written = []
        for tile, own, there in self._shares(place, int(what == "heights")):
            if tile.generation < self._generation:
                tile.copy_arrays()
                tile.generation = self._generation
            tile.write(what, own, values[there])
            if what == "heights":
                tile.survey(own)
            if not all(map(operator.is_, tile.arrays, self._arrays[tile.number])):
                self._show_tile(tile)
            written.append(tile.number)
        self._edited.update(_squares_of(place))
        return written

    def _changed(self, what: Edited, region: Region, changed: list[int]) -> None:
        """Update everything derived from edited tiles, and record the change."""
        if what == "heights":
            self._put_blocks(changed)
        with_holes = [number for number in changed if self.loaded[number].may_have_holes]
        if with_holes:  # else the ground ends where it did
            self._ends.look(with_holes)
        self._note(region)
        # The change is noted before the version: a reader that sees it finds the change.
        self.changes.note(self.version + 1, *self.box_of(region))
        self.version += 1
        self.watchers.tell(what, region)

    @property
    def nbytes(self) -> int:
        """How much memory the values that were ever edited take, roughly."""
        return max(_SQUARE_BYTES * len(self._edited), _LEAST_BYTES)


def _squares_of(place: Ranges) -> Iterable[tuple[int, int]]:
    """Return the squares of samples that a range meets."""
    rows, columns = (range(span.start // _SQUARE, (span.stop - 1) // _SQUARE + 1) for span in place)
    return ((row, column) for row in rows for column in columns)
