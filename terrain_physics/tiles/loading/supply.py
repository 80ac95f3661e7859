"""Brings tiles into a map and takes them out again, for updates, questions, edits and players."""

import math
import operator
import time
import weakref
from collections import deque
from collections.abc import Sequence
from threading import get_ident
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.types import Bools, Floats
from terrain_physics._locks import Mark, Rank, new_lock
from terrain_physics._support.checks import Floats3
from terrain_physics.geometry.shapes import AABB
from terrain_physics.heightmap.cells import Ranges
from terrain_physics.heightmap.framed import Edited
from terrain_physics.lattice.lattice_map import LatticeMap
from terrain_physics.lattice.tile import LoadedTile, TileSource
from terrain_physics.surface.streaming import Box, Streaming
from terrain_physics.tiles.loading.callbacks import TileCallbacks
from terrain_physics.tiles.loading.edited_tiles import EditedTiles, ReadTile
from terrain_physics.tiles.loading.loader import TileLoader
from terrain_physics.tiles.loading.wanted import Nearness, WantedPlaces, refuse_smaller
from terrain_physics.tiles.questions.tile_bounds import TileBounds

Missing = Literal["load", "wait"]

# Bytes of tiles that the loader has read and that wait to be put into the map.
_MOST_READY = 32 << 20

# Bytes of tiles that updates and questions have brought and that nobody else keeps.
_MOST_FETCHED = 256 << 20

# Through so many looks at who is near, a tile stays that something else has asked for.
_STAY = 120

NEAR = 1e-9
"""Of a tile's side: more than the rounding of where something is on the lattice."""

# A tile that is loaded or unloaded is in memory about this many bytes a cell.
_CELL_BYTES = 7


class TileSupply(Streaming, TileSource):
    """Brings tiles into a map and takes them out again.

    All reads of files are made outside of locks, but for those that a change of the map asks for
    while it holds them, such as a state that is put back.

    Attributes
    ----------
    land : LatticeMap
    tiles : EditedTiles
    missing : "load" or "wait"
        What happens where a tile is needed that is not loaded.
    waits : int
    callbacks : TileCallbacks
        Noted of each tile that comes or goes.
    """

    __slots__ = (
        "__weakref__",
        "_calls",
        "_checked",
        "_fetched",
        "_kept",
        "_lattice",
        "_leaving",
        "_loader",
        "_lock",
        "_nearness",
        "_needed",
        "_stays",
        "_tile_bounds",
        "callbacks",
        "land",
        "missing",
        "tiles",
        "waits",
    )

    def __init__(self, tiles: EditedTiles, missing: Missing) -> None:
        shape, exists = tiles.stored.shape, tiles.stored.exists
        self.tiles, self.missing, self.waits = tiles, missing, 0
        self.land = LatticeMap(shape, exists)
        # The map is held by this, and does not hold it: both end with the ground.
        self.land.source = weakref.proxy(self)
        self._tile_bounds: TileBounds | None = None
        self.callbacks = TileCallbacks()
        self._nearness = Nearness(shape)
        self._kept = np.zeros(exists.size, np.bool_)
        self._leaving, self._calls = deque[int](), 0
        # By threads, for each update under way: boxes of which the tiles are needed, x and z.
        self._needed: dict[int, list[tuple[Mark, list[Box]]]] = {}
        (x0, _, z0), (cell_x, cell_z) = shape.origin, shape.cell_size
        per_x, per_z = 1.0 / (shape.side * cell_x), 1.0 / (shape.side * cell_z)
        self._lattice = x0, z0, per_x, per_z, shape.columns, shape.rows
        self._checked: tuple[float, list[Any]] = math.nan, []  # a radius, and bodies within it
        self._stays: dict[int, int] = {}  # until which look each stays, in the order of these
        self._fetched: dict[int, None] = {}  # a set in the order in which they came
        self._lock = new_lock(Rank.FILES)
        self._loader = TileLoader(tiles.read, tiles.close, self._count_in(_MOST_READY))
        weakref.finalize(self, self._loader.close)

    def _count_in(self, size: int) -> int:
        """Return how many tiles take so many bytes, roughly."""
        return max(size // (_CELL_BYTES * self.tiles.stored.shape.side**2), 2)

    @property
    def tile_bounds(self) -> TileBounds:
        """The boxes of tiles, whether they are loaded or not."""
        known = self._tile_bounds
        return self._find_bounds() if known is None else known

    def _find_bounds(self) -> TileBounds:
        """Find the boxes of tiles: those of the file, widened by all edits."""
        stored = self.tiles.stored
        with self.land.lock:  # nobody edits meanwhile
            if self._tile_bounds is None:
                found = TileBounds(stored.shape, stored.exists, stored.ranges)
                found.widen_by(self.tiles.edits.ranges())
                self._tile_bounds = found
            return self._tile_bounds

    # For updates and edits

    def begin_updating(self, mark: Mark) -> None:
        own = self._needed.setdefault(get_ident(), [])
        own.append((mark, []))

    def _needed_now(self) -> list[Box] | None:
        """Return the boxes that the update of this thread needs; None outside of updates.

        A signal handler may make an update within another one.
        """
        own = self._needed.get(get_ident())
        while own and not own[-1][0].locked():
            own.pop()
        return own[-1][1] if own else None

    def has(self, box: Box) -> bool:
        needed = self._needed_now()
        if needed is not None:
            needed.append(box)
        return self._is_there(box)

    def bring(self, boxes: Floats) -> Bools | None:
        needed = self._needed_now()
        around = _around(boxes)
        with self.land.lock:  # no tile goes between a look at it and its being needed
            if needed is not None:
                needed.append(around)
            if len(boxes) == 1 and self._is_there(around):
                return None
            waiting, numbers = self.land.missing_in(boxes)
        if not numbers:
            return None
        if self.missing == "load":
            self.fetch(numbers)
            return None
        self._stay(numbers)
        self._loader.urge(numbers)
        return waiting

    def _is_there(self, box: Box) -> bool:
        """Tell quickly that no tile below a box is missing; False: it must be asked."""
        x0, z0, per_x, per_z, columns, rows = self._lattice
        first_x, last_x = (box[0] - x0) * per_x - NEAR, (box[2] - x0) * per_x + NEAR
        first_z, last_z = (box[1] - z0) * per_z - NEAR, (box[3] - z0) * per_z + NEAR
        if not (0.0 <= first_x and last_x < columns and 0.0 <= first_z and last_z < rows):
            return False
        column, row, missing = int(first_x), int(first_z), self.land.missing
        if int(last_x) == column and int(last_z) == row:
            return not missing[row * columns + column]
        below = missing.reshape(rows, columns)[row : int(last_z) + 1, column : int(last_x) + 1]
        return not below.any()

    def reached(self, boxes: Floats) -> Bools | None:
        waiting, numbers = self.land.missing_in(boxes)
        return waiting if numbers else None

    def count_waits(self, count: int) -> None:
        """Count characters that have waited for an update."""
        with self._lock:
            self.waits += count

    def fetch(self, numbers: Sequence[int]) -> None:
        self._stay(numbers)
        for number in numbers:
            if number not in self.land.loaded:
                self._put(self._read(number), is_fetched=True)
        self._unload_fetched(set(numbers))

    def _read(self, number: int) -> ReadTile:
        """Return a tile now: the loader may have it ready."""
        return self._loader.take_this(number) or self.tiles.read(number)

    def need(self, numbers: Sequence[int], what: str) -> None:
        if self.missing == "load":
            self.fetch(numbers)
            return
        lacking = [self.tiles.place(number) for number in numbers if number not in self.land.loaded]
        if lacking:
            more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
            raise ValueError(
                f"tiles must be loaded where missing is 'wait', got {what}: {lacking[0]}{more}; "
                "call load_now(aabb) first, or wait until ready(aabb)"
            )

    def keep(self, what: Edited, place: Ranges, values: NDArray[Any]) -> None:
        self.tiles.refuse_closed()
        self.tiles.edits.add(what, place, values)
        if what == "heights" and self._tile_bounds is not None:
            self._tile_bounds.widen(place, values)

    def put_kept(self, what: Edited, place: Ranges, values: NDArray[Any]) -> None:
        self.tiles.edits.put_over(what, place, values)

    def make_room(self, size: int) -> None:
        """Refuse edits of so many bytes that could not be kept, see `EditStore.make_room`."""
        self.tiles.refuse_closed()
        self.tiles.edits.make_room(size)

    # For players

    def load(self, numbers: Sequence[int]) -> None:
        """Put tiles into the map now, as many as they are."""
        self._stay(numbers)
        for number in numbers:
            if number in self.land.loaded:
                self._fetched.pop(number, None)
            else:
                self._put(self._read(number))

    def keep_near(self, places: Any, radius: float, unload: float) -> None:
        """Read the tiles near to places, and let go those that are far from all."""
        near = WantedPlaces(places, self._nearness.width)
        bodies = near.bodies()
        if radius != self._checked[0] or not _are_same(bodies, self._checked[1]):
            refuse_smaller(radius, bodies)
            self._checked = radius, bodies
        wanted, kept = self._nearness.look(near, radius, unload, self.land.missing)
        with self._lock:
            self._calls += 1
            while self._stays and next(iter(self._stays.values())) < self._calls:
                del self._stays[next(iter(self._stays))]
            self._kept, stays = kept, self._stays
            far = self.land.exists.reshape(-1) & (self.land.missing == 0) & ~kept
            leaving = [number for number in np.flatnonzero(far).tolist() if number not in stays]
            self._leaving = deque(leaving)
        self._loader.want(wanted.tolist())

    def _stay(self, numbers: Sequence[int]) -> None:
        """Keep tiles for a while, however far they are."""
        with self._lock:
            for number in numbers:
                self._stays.pop(number, None)
                self._stays[number] = self._calls + _STAY

    def load_some(self, seconds: float, most_bytes: int) -> int:
        """Put tiles into the map that are ready, and take others out, within a budget.

        Returns how many it has put: one at least, if any is ready.
        """
        now, longest = time.perf_counter(), 0.0
        end, count, size = now + seconds, 0, 0
        while size < most_bytes and (read := self._loader.take()) is not None:
            count += self._put(read)
            size += _size_of(read.tile)
            self._unload_one()
            before, now = now, time.perf_counter()
            longest = max(longest, now - before)
            if now + longest >= end:  # the next one may take as long
                return count
        while time.perf_counter() < end and self._unload_one():
            pass
        return count

    def raise_error(self) -> None:
        """Raise what reading a tile ahead has raised, once."""
        error = self._loader.error()
        if error is not None:
            raise error

    @property
    def is_busy(self) -> bool:
        """Whether tiles are being read ahead, or wait to be put into the map."""
        return self._loader.is_busy

    def bounds_of(self, number: int) -> AABB:
        """Return a box around a tile that there is, loaded or not."""
        (x0, z0), (x1, z1) = self._square_of(number)
        least, greatest = self.tile_bounds.least[number], self.tile_bounds.high[number]
        if least > greatest:  # holes only
            least = greatest = self.land.origin[1]
        return AABB((x0, least, z0), (x1, greatest, z1))

    @property
    def corners(self) -> tuple[Floats3, Floats3]:
        """The lower and upper corner of the box around all tiles."""
        (x0, z0), _ = self._square_of(0)
        _, (x1, z1) = self._square_of(self.land.exists.size - 1)
        boxes, exists = self.tile_bounds, self.land.exists.reshape(-1)
        least, greatest = float(boxes.least[exists].min()), float(boxes.high[exists].max())
        if least > greatest:  # holes only
            least = greatest = self.land.origin[1]
        return (x0, least, z0), (x1, greatest, z1)

    def _square_of(self, number: int) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the corners of a tile seen from above, x and z each."""
        shape = self.land.shape
        (x0, _, z0), (cell_x, cell_z) = shape.origin, shape.cell_size
        row, column = self.land.place_of(number)
        least = x0 + column * cell_x, z0 + row * cell_z
        return least, (x0 + (column + shape.side) * cell_x, z0 + (row + shape.side) * cell_z)

    def close(self) -> None:
        """End the thread, and let go of all files; questions are answered as before."""
        try:
            self._find_bounds()
        finally:
            self._loader.close(wait=True)

    # The map

    def _put(self, read: ReadTile, *, is_fetched: bool = False) -> int:
        """Put a tile into the map; return 0 if another thread has done so already."""
        number = read.tile.number

        def put() -> int:
            if number in self.land.loaded:
                return 0
            self.land.put([self.tiles.now(read)])
            if is_fetched:
                self._fetched[number] = None
            self._note(number, has_come=True)
            return 1

        return self.land.editing(put)

    def _take(self, number: int) -> None:
        def take() -> None:
            if number not in self.land.loaded or self._is_needed(number):
                return
            self._note(number, has_come=False)
            self._fetched.pop(number, None)
            self.land.take([number])

        self.land.editing(take)

    def _note(self, number: int, *, has_come: bool) -> None:
        """Note that a tile has come, or is about to go, if anybody is to be told of that."""
        if self.callbacks.are_told(has_come=has_come):
            place, box = self.tiles.place(number), self._box_of(number)
            self.callbacks.note(place, box, has_come=has_come)

    def _is_needed(self, number: int) -> bool:
        """Tell whether an update of another thread may be looking at a tile."""
        if not self._needed:
            return False
        (x0, z0), (x1, z1) = self._square_of(number)
        return any(
            least_x <= x1 and x0 <= greatest_x and least_z <= z1 and z0 <= greatest_z
            for updates in list(self._needed.values())
            for mark, needed in list(updates)
            if mark.locked()
            for least_x, least_z, greatest_x, greatest_z in list(needed)
        )

    def _box_of(self, number: int) -> AABB:
        """Return a box around a tile that is loaded."""
        shape = self.land.shape
        ends = self.land.loaded[number].blocks[-2:].astype(np.float64)
        if ends[0] > ends[1]:  # holes only
            ends[:] = 0.0
        least, greatest = sorted((shape.origin[1] + shape.height_scale * ends).tolist())
        (x0, z0), (x1, z1) = self._square_of(number)
        return AABB((x0, least, z0), (x1, greatest, z1))

    def _unload_one(self) -> bool:
        """Take a tile out that nobody is near to; return False if there is none."""
        with self._lock:
            number = self._leaving.popleft() if self._leaving else None
            if number is None:
                return False
            if number in self._stays:
                return True
        self._take(number)
        return True

    def _unload_fetched(self, used: set[int]) -> None:
        """Take those tiles out that were fetched first, if these are too many."""
        most = self._count_in(_MOST_FETCHED)
        if len(self._fetched) <= most:
            return

        def unload() -> None:
            for number in list(self._fetched):
                if len(self._fetched) <= most:
                    return
                if self._kept[number]:
                    del self._fetched[number]  # somebody is near: it stays as others do
                elif number not in used:
                    self._take(number)

        self.land.editing(unload)


def _size_of(tile: LoadedTile) -> int:
    """Return how much memory a tile takes."""
    arrays = tile.heights, tile.cells, tile.materials, tile.blocks
    return sum(own.nbytes for own in arrays if own is not None)


def _around(boxes: Floats) -> Box:
    """Return the box around boxes (n, 4), at least one."""
    if len(boxes) == 1:
        x0, z0, x1, z1 = boxes[0].tolist()
    else:
        (x0, z0), (x1, z1) = boxes[:, :2].min(axis=0).tolist(), boxes[:, 2:].max(axis=0).tolist()
    return x0, z0, x1, z1


def _are_same(some: list[Any], others: list[Any]) -> bool:
    """Tell whether two lists hold the same objects."""
    return len(some) == len(others) and all(map(operator.is_, some, others))
