"""What a height map holds, and its edits: samples, cells, blocks, and who may read them when.

Queries run without Python's global lock, so that an edit may come while one is under way in another
thread. Short queries hold the map's lock. A long one holds the arrays it began with: an edit in the
meantime copies them first, so that no query waits, none is refused, and each sees the ground as it
was when it began.
"""

import operator
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from terrain_physics import _checks
from terrain_physics._checks import Floats3
from terrain_physics._kernels.heightmap import blocks as block_kernels
from terrain_physics._kernels.heightmap import grid as kernels
from terrain_physics.heightmap.cells import Fit, MapCells, Read, Region
from terrain_physics.heightmap.checks import (
    TINY,
    bump,
    checked_samples,
    edited,
    hole_cells,
    material_cells,
    material_numbers,
    nearest_cell,
    shorter_diagonals,
)
from terrain_physics.surface.ground_arrays import GroundArrays

KernelArrays = tuple[
    NDArray[np.float32], NDArray[np.uint8], NDArray[np.float32], NDArray[np.float64]
]

# With holes, ground is a crust: whoever falls through a hole must get out from under the edge.
THICKNESS_WITH_HOLES = 2.0

_NO_TABLE = np.zeros(1, dtype=np.uint8)
_REMEMBERED_CHANGES = 256


class MapData:
    """The arrays of a height map; `terrain_physics.HeightMap` is made of it."""

    __slots__ = (
        "_begun",
        "_blocks",
        "_cells",
        "_changes",
        "_follows_heights",
        "_frame",
        "_ground_arrays",
        "_heights",
        "_lock",
        "_material_names",
        "_materials",
        "_own",
        "_reading",
        "_shown",
        "_thickens",
        "_version",
        "_views",
    )

    _heights: NDArray[np.float32]
    _lock: AbstractContextManager[Any]
    _views: KernelArrays

    def _hold(
        self,
        heights: NDArray[np.float32],
        frame: Sequence[float],
        flipped: NDArray[np.bool_] | None,
        holes: NDArray[np.bool_] | None,
        *,
        follows_heights: bool,
        thickens: bool,
        own: bool,
    ) -> None:
        """Take over checked arrays.

        Edits find the shorter diagonals again (``follows_heights``), end the solid depth at the
        first hole (``thickens``), and may write to the heights (``own``).
        """
        self._thickens = thickens
        rows, columns = heights.shape[0] - 1, heights.shape[1] - 1
        self._heights, self._own, self._follows_heights = heights, own, follows_heights
        self._cells = _NO_TABLE
        self._frame = np.zeros(kernels.FRAME_SIZE)
        self._frame[: kernels.COLUMNS + 1] = (*frame, rows, columns)
        self._materials: NDArray[np.uint8] | None = None
        self._material_names: tuple[str, ...] | None = None
        if flipped is not None or holes is not None:
            self._make_table()
            if flipped is not None:
                self._cells |= flipped * np.uint8(kernels.CELL_FLIPPED)
            if holes is not None:
                self._cells |= holes * np.uint8(kernels.CELL_HOLE)
        self._start()

    def _start(self) -> None:
        """Make what is derived from the arrays, and what is never saved."""
        self._lock = threading.Lock()
        self._reading = self._begun = 0
        self._version = 0
        self._changes: deque[tuple[int, Region]] = deque(maxlen=_REMEMBERED_CHANGES)
        self._shown: tuple[NDArray[Any] | None, ...] = (None,) * 4
        rows, columns = self.cell_count
        levels = block_kernels.level_count(rows, columns)
        count = block_kernels.level_start(rows, columns, levels)
        self._blocks = np.empty(2 * count, dtype=np.float32)
        self._publish()
        heights, _, _, frame = self._views
        block_kernels.put_blocks(heights, frame, 0, rows, 0, columns, self._blocks)

    def _publish(self) -> None:
        """Show the arrays to kernels: flat and read-only. What is edited in place stays shown."""
        own = self._heights, self._cells, self._blocks, self._frame
        if all(map(operator.is_, own, self._shown)):
            return
        self._shown = own
        self._views = (
            self._heights.reshape(-1).view(),
            self._cells.reshape(-1).view(),
            self._blocks.view(),
            self._frame,
        )
        for values in self._views:
            values.setflags(write=False)
        self._ground_arrays = GroundArrays(maps=self._views)

    def _make_table(self) -> None:
        self._cells = np.zeros(self.cell_count, dtype=np.uint8)
        self._frame = self._frame.copy()
        self._frame[kernels.HAS_TABLE] = 1.0

    @property
    def cell_count(self) -> tuple[int, int]:
        """The number of cells, rows by columns; one less than samples."""
        return self._heights.shape[0] - 1, self._heights.shape[1] - 1

    @property
    def kernel_arrays(self) -> KernelArrays:
        """What the compiled functions take for a map: heights, cells, blocks, frame. Read-only."""
        return self._views

    @property
    def ground_arrays(self) -> GroundArrays:
        """What characters stand on."""
        return self._ground_arrays

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """Held by short queries and by edits."""
        return self._lock

    @contextmanager
    def reading(self) -> Iterator[KernelArrays]:
        """Give the arrays to a long query; they stay as they are until it ends."""
        with self._lock:
            self._reading += 1
            begun, views = self._begun, self._views
        try:
            yield views
        finally:
            with self._lock:
                if begun == self._begun:
                    self._reading -= 1

    @contextmanager
    def standing(self) -> Iterator[GroundArrays]:
        """Give what characters stand on to a long query, as `reading` does."""
        with self.reading() as views:
            arrays = self._ground_arrays
            yield arrays if arrays.maps is views else GroundArrays(maps=views)

    # Edits

    @property
    def version(self) -> int:
        """How many edits there were."""
        return self._version

    def changes_since(self, version: int) -> list[Region]:
        """Return what was edited after a version, so that a renderer need not start over.

        Parameters
        ----------
        version : int
            What `version` was when the renderer last looked.

        Returns
        -------
        list of Region
            Cells that look different, oldest edit first. The whole map, if there were more edits
            since than are remembered (256).
        """
        last = _checks.whole("version", version, 0, self._version)
        with self._lock:
            return self._regions_since(last)

    def _regions_since(self, version: int) -> list[Region]:
        if self._version - version > len(self._changes):
            rows, columns = self.cell_count
            return [Region(0, rows, 0, columns)]
        return [region for number, region in self._changes if number > version]

    def __getitem__(self, index: Any) -> Any:
        """Return heights, a copy, before scale and origin; a mask picks samples."""
        value = self._heights[edited(index, self._heights.shape)[0]]
        return value.copy() if isinstance(value, np.ndarray) else float(value)

    def __setitem__(self, index: Any, heights: ArrayLike) -> None:
        """Set heights, before scale and origin; NaN makes holes. Refused as a whole, or done."""
        place, (row_0, row_1), (column_0, column_1) = edited(index, self._heights.shape)
        if isinstance(heights, np.ma.MaskedArray):
            heights = np.ma.filled(heights.astype(np.float64), np.nan)
        wide = _checks.real_array("heights", heights)
        shape = self._heights[place].shape
        try:
            wide = np.broadcast_to(wide, shape)
        except ValueError:
            raise ValueError(f"heights must have shape {shape}, got {wide.shape}") from None
        new = checked_samples(wide, self._frame[:6].tolist())
        if new.size == 0:
            return
        with self._lock:
            self._prepare_edit()
            self._heights[place] = new
            cell_rows, cell_columns = self.cell_count
            self._changed(
                Region(
                    max(row_0 - 1, 0),
                    min(row_1, cell_rows),
                    max(column_0 - 1, 0),
                    min(column_1, cell_columns),
                ),
                heights=True,
                holes=bool(np.isnan(new).any()),
            )

    @property
    def thickness(self) -> float:
        """How deep below its surface the ground is solid, in meters; inf: to any depth."""
        return float(self._frame[kernels.THICKNESS])

    @thickness.setter
    def thickness(self, value: float) -> None:
        depth = _checks.between("thickness", value, TINY, np.inf)
        rows, columns = self.cell_count
        with self._lock:
            self._frame = self._frame.copy()
            self._frame[kernels.THICKNESS] = depth
            self._thickens = False
            self._changed(Region(0, rows, 0, columns), heights=False, holes=False)

    def carve(self, center: Any, radius: float, depth: float) -> None:
        """Dig a round pit.

        Parameters
        ----------
        center : three numbers, or two
            A point in meters, such as where a ray hit, of which only x and z count; or (x, z).
        radius : float
            In meters, > 0.
        depth : float
            How much deeper the ground is at the center, in meters; from there it rises smoothly to
            nothing at the radius.
        """
        self._add_bump(center, radius, -_checks.finite("depth", depth))

    def raise_(self, center: Any, radius: float, height: float) -> None:
        """Heap up a round hill.

        Parameters
        ----------
        center : three numbers, or two
            A point in meters, such as where a ray hit, of which only x and z count; or (x, z).
        radius : float
            In meters, > 0.
        height : float
            How much higher the ground is at the center, in meters; from there it falls smoothly to
            nothing at the radius.
        """
        self._add_bump(center, radius, _checks.finite("height", height))

    def _add_bump(self, center: Any, radius: float, rise: float) -> None:
        self.__setitem__(*self.with_bump(center, radius, rise))

    def with_bump(
        self, center: Any, radius: float, rise: float
    ) -> tuple[tuple[slice, slice], NDArray[np.float32]]:
        """Return which samples `raise_` would set, and to what; below zero, `carve`."""
        place, shape = bump(center, radius, self._frame[:5].tolist(), self._heights.shape)
        rise /= float(self._frame[kernels.HEIGHT_SCALE])
        return place, checked_samples(self._heights[place] + shape * rise, self._frame[:6].tolist())

    @property
    def holes(self) -> MapCells:
        """Which cells are marked as holes, as an array of bool to read and to write.

        A cell with a NaN at a corner has no ground either, but is not marked here.
        """
        return self._cells_of("holes", np.asarray, hole_cells)

    @holes.setter
    def holes(self, values: Any) -> None:
        self.holes.put_all(values)

    @property
    def materials(self) -> MapCells:
        """The materials of the cells, as an array of uint8 to read and to write; at first all 0.

        Names are taken for numbers where the map has `material_names`.
        """
        names = self._material_names
        read, fit = partial(material_numbers, names=names), partial(material_cells, names=names)
        return self._cells_of("materials", read, fit)

    @materials.setter
    def materials(self, values: Any) -> None:
        self.materials.put_all(values)

    @property
    def material_names(self) -> tuple[str, ...] | None:
        """The names of materials 0, 1, ..., if they have any."""
        return self._material_names

    def triangle_at(self, part: int, triangle: int, point: Floats3) -> tuple[int, int]:
        """Return the id and the material of a triangle, touched at a point, that a kernel names.

        Outside the map, where it has no id, the material is that of the cell nearest to the point.
        """
        rows, columns = self.cell_count
        if self._materials is None or part < 0 or triangle >= 2 * rows * columns:
            return triangle, 0
        if triangle < 0:
            return triangle, int(self._materials[nearest_cell(point, self._frame)])
        return triangle, int(self._materials[divmod(triangle // 2, columns)])

    def _cells_of(self, kind: str, read: Read, fit: Fit) -> MapCells:
        get, put = partial(self._cell_values, kind), partial(self._set_cells, kind, fit)
        return MapCells(kind, self.cell_count, get, put, read, fit)

    def _cell_values(self, kind: str) -> NDArray[Any]:
        """Return an array with the value of each cell, which may be our own."""
        if kind == "holes":
            table = self._cells if self._cells.ndim == 2 else np.zeros(self.cell_count, np.uint8)
            return np.asarray(table & kernels.CELL_HOLE != 0)
        made = self._materials
        return np.zeros(self.cell_count, dtype=np.uint8) if made is None else made

    def _set_cells(self, kind: str, fit: Fit, index: Any, values: ArrayLike) -> None:
        place, rows, columns = edited(index, self.cell_count)
        shape = np.empty(self.cell_count, dtype=np.void)[place].shape
        new = fit(values, shape)
        if new.size == 0:
            return
        with self._lock:
            if kind == "holes":
                if self._cells.ndim == 1:
                    self._make_table()
                self._prepare_edit()
                kept = self._cells[place] & np.uint8(0xFF ^ kernels.CELL_HOLE)
                self._cells[place] = kept | (new * np.uint8(kernels.CELL_HOLE))
            else:
                if self._materials is None:
                    self._materials = np.zeros(self.cell_count, dtype=np.uint8)
                elif self._reading:
                    self._materials = self._materials.copy()
                self._materials[place] = new
            self._changed(
                Region(*rows, *columns),
                heights=False,
                holes=kind == "holes" and bool(new.any()),
            )

    def _prepare_edit(self) -> None:
        """Make the arrays ours alone, before the first write."""
        if self._reading or not self._own:
            self._heights = self._heights.copy()
            self._blocks = self._blocks.copy()
            self._cells = self._cells.copy()
            if self._materials is not None:
                self._materials = self._materials.copy()
            self._own, self._reading = True, 0
            self._begun += 1

    def _changed(self, region: Region, *, heights: bool, holes: bool) -> None:
        """Repair what is derived from the cells of a region, and tell of the change.

        What follows the heights is written to only with them: arrays are not made ours alone for
        other edits, and a query may be reading them.
        """
        row_0, row_1, column_0, column_1 = region
        if heights and self._follows_heights:
            around = self._heights[row_0 : row_1 + 1, column_0 : column_1 + 1]
            part = self._cells[row_0:row_1, column_0:column_1]
            part &= np.uint8(0xFF ^ kernels.CELL_FLIPPED)
            part |= shorter_diagonals(around) * np.uint8(kernels.CELL_FLIPPED)
        if holes and self._thickens:
            self._frame = self._frame.copy()
            self._frame[kernels.THICKNESS] = THICKNESS_WITH_HOLES
            self._thickens = False
        self._publish()
        if heights:
            block_kernels.put_blocks(self._views[0], self._views[3], *region, self._blocks)
        self._version += 1
        self._changes.append((self._version, region))
