"""What all maps have in common: arrays that kernels read, and a frame with the place of cells."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from math import inf
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.heightmap import grid as kernels
from terrain_physics._kernels.types import Bools, Float32s, Floats, Int64s
from terrain_physics._locks import Mark, holding, in_order
from terrain_physics._support.checks import Floats3
from terrain_physics.heightmap.cells import Ranges, Region, bounds_of, ranges_of
from terrain_physics.surface.changes import ChangeLog
from terrain_physics.surface.ground_arrays import GroundArrays, MapArrays, Materials, arrays_alone
from terrain_physics.surface.materials import Names
from terrain_physics.surface.watching import Watchers

_REMEMBERED_CHANGES = 256

Edited = Literal["heights", "holes", "materials", "thickness"]
"""What an edit of a map changes."""

KINDS: tuple[Edited, ...] = ("heights", "holes", "materials")
"""What has values: samples, or cells."""

TYPES = {"heights": np.float32, "holes": np.bool_, "materials": np.uint8}
"""Of values of each kind."""

DTYPES = {kind: np.dtype(kind_of) for kind, kind_of in zip(KINDS, ("<f4", "u1", "u1"), strict=True)}
"""Of the same in files, and on other machines."""

_T = TypeVar("_T")


class FramedMap(ABC):
    """A map of cells, whether its samples are in one array or in tiles.

    Attributes
    ----------
    material_names : tuple of str, or None
        The names of materials 0, 1, ...; None of a union, whose maps have them.
    frame : ndarray of float64
        Origin, cell size, scale and kind of the map: see the kernels' `heightmap.grid`.
    views : tuple of ndarray
        The arrays for kernels: heights, cells, blocks, frame; flat and read-only.
    lock : context manager
        Held by short queries.
    version : int
        The number of edits so far.
    changes : ChangeLog
        The places of the latest edits.
    """

    __slots__ = ("changes", "frame", "lock", "version", "views")

    material_names: Names = None

    frame: Floats
    views: MapArrays
    lock: AbstractContextManager[Any]
    version: int
    changes: ChangeLog

    @abstractmethod
    def begin_reading(self, mark: Mark) -> tuple[MapArrays, Materials | None]:
        """Return `views` and `materials`, which stay as they are until the mark is given back."""

    @property
    def ground_arrays(self) -> GroundArrays:
        """The arrays for characters, without the map's sides."""
        return arrays_alone(self.views, self.materials)

    @property
    def revision(self) -> int:
        """The number of changes of the arrays: of edits, and of tiles that came or went."""
        return self.version

    @property
    @abstractmethod
    def materials(self) -> Materials | None:
        """The materials of the cells; None if all are 0."""

    @property
    def cell_count(self) -> tuple[int, int]:
        """The number of cells, rows by columns."""
        return int(self.frame[kernels.ROWS]), int(self.frame[kernels.COLUMNS])

    @property
    def sample_count(self) -> tuple[int, int]:
        """The number of samples, rows by columns."""
        rows, columns = self.cell_count
        return rows + 1, columns + 1

    @property
    def origin(self) -> Floats3:
        """Where sample (0, 0) of height 0 lies, in meters."""
        x, y, z = self.frame[:3].tolist()
        return x, y, z

    @property
    def cell_size(self) -> tuple[float, float]:
        """The size of a cell in meters, along x and z."""
        return float(self.frame[3]), float(self.frame[4])

    @property
    def height_scale(self) -> float:
        """Meters per unit of height."""
        return float(self.frame[5])

    @property
    def thickness(self) -> float:
        """How deep below its surface the ground is solid, in meters."""
        return float(self.frame[kernels.THICKNESS])

    @property
    def whole(self) -> Region:
        """All cells."""
        rows, columns = self.cell_count
        return Region(0, rows, 0, columns)

    def cells_at(self, xs: Floats, zs: Floats) -> tuple[tuple[Int64s, Int64s], Bools]:
        """Return rows and columns of the cells nearest to places, and which places are on the map.

        A place between cells belongs to the one of higher row and column; one beyond the border is
        on the map if that continues without end.
        """
        x0, _, z0 = self.origin
        on_map = np.ones(xs.shape, dtype=np.bool_)
        cells = []
        sizes = self.cell_size[::-1]
        for places, start, size, count in zip(
            (zs, xs), (z0, x0), sizes, self.cell_count, strict=True
        ):
            steps = (places - start) / size
            cells.append(np.clip(steps, 0.0, count - 1.0).astype(np.int64))
            # Rounded as in the kernels: a place at the last sample is on the map.
            on_map &= (steps >= 0.0) & ((steps <= count) | (places <= start + count * size))
        return (cells[0], cells[1]), on_map | (self.frame[kernels.EXTEND] != 0.0)

    def box_of(self, region: Region) -> tuple[Floats3, Floats3]:
        """Return the lower and upper corner of the box of cells, whatever their heights."""
        row_0, row_1, column_0, column_1 = region
        frame = self.frame.tolist()  # at once: each edit asks
        x0, _, z0, cell_x, cell_z = frame[:5]
        rows, columns = frame[kernels.ROWS], frame[kernels.COLUMNS]
        left, right = x0 + column_0 * cell_x, x0 + column_1 * cell_x
        near, far = z0 + row_0 * cell_z, z0 + row_1 * cell_z
        if frame[kernels.EXTEND] != 0.0:  # the border goes on
            left, right = (-inf if column_0 == 0 else left), (inf if column_1 == columns else right)
            near, far = (-inf if row_0 == 0 else near), (inf if row_1 == rows else far)
        return (left, -inf, near), (right, inf, far)


def no_changes() -> deque[tuple[int, Region]]:
    """Return room for the latest edits of a map: versions, and the regions edited for them."""
    return deque(maxlen=_REMEMBERED_CHANGES)


class LiveMap(FramedMap):
    """A map that is edited."""

    __slots__ = ("_changes",)

    _changes: deque[tuple[int, Region]]

    def regions_since(self, revision: int) -> list[Region]:
        """Return the regions changed after a revision, oldest first; the whole map if forgotten."""
        changes = list(self._changes)  # at once: a signal handler may edit the map as well
        count = (changes[-1][0] if changes else self.revision) - revision
        if count > len(changes):
            return [self.whole]
        return [region for _, region in changes[len(changes) - count :]]

    @property
    def solid_depth(self) -> tuple[float, bool]:
        """How deep the ground is solid, and whether the first hole changes it."""
        return self.thickness, False

    @abstractmethod
    def samples(self, place: Ranges) -> Float32s:
        """Return the samples of a range: to read, and only until the next edit."""

    @abstractmethod
    def edge_regions(self, area: Region) -> list[Region]:
        """Return the cells of an area at whose edges the ground may end.

        Those outside are included if the map is endless.
        """


class StoredMap(LiveMap):
    """A map with values of its own, which edits replace and put back.

    Attributes
    ----------
    watchers : Watchers
        They are told of each edit: what is edited, the region of cells that it changes and, before
        it is made (`prepare`), the place of the samples or cells.
    """

    __slots__ = ()

    watchers: Watchers

    @abstractmethod
    def put_solid_depth(self, solid: tuple[float, bool]) -> None:
        """Be solid as deep as it once was, within `editing`."""

    @property
    def locks(self) -> list[AbstractContextManager[Any]]:
        """The locks that an edit holds, in order."""
        watched = {reader.lock for reader, _ in self.watchers.readers()}
        return [*(in_order(watched) if len(watched) > 1 else watched), self.lock]

    def editing(self, edit: Callable[[], _T]) -> _T:
        """Make an edit while all its locks are held."""
        return holding(lambda: self.locks, edit)

    @abstractmethod
    def values(self, what: Any, place: Ranges) -> NDArray[Any]:
        """Return heights, marks of holes or materials of a range, a new array."""

    @abstractmethod
    def put_back(
        self, what: Any, place: Ranges, values: NDArray[Any], marks: Bools | None = None
    ) -> None:
        """Make an edit of values that the map once had, of those that are marked; None: all."""


def cells_around(terrain: LiveMap, row_0: int, row_1: int, column_0: int, column_1: int) -> Region:
    """Return the cells that have a corner among samples from first to before last."""
    rows, columns = terrain.cell_count
    return Region(max(row_0 - 1, 0), min(row_1, rows), max(column_0 - 1, 0), min(column_1, columns))


def region_of(terrain: LiveMap, what: Edited, place: Ranges) -> Region:
    """Return the cells that an edit of a place changes."""
    bounds = bounds_of(place)
    return cells_around(terrain, *bounds) if what == "heights" else Region(*bounds)


def place_of(terrain: LiveMap, what: Edited, region: Region) -> Ranges:
    """Return the samples or cells whose edit changes a region: `region_of` in reverse."""
    if what != "heights":
        return ranges_of(region)
    (row_0, row_1, column_0, column_1), (rows, columns) = region, terrain.cell_count
    return (
        slice(row_0 + (row_0 > 0), row_1 + (row_1 == rows)),
        slice(column_0 + (column_0 > 0), column_1 + (column_1 == columns)),
    )
