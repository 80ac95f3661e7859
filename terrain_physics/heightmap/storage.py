"""The storage of a height map: samples, cells, blocks, materials, and the locking rules.

Queries run without Python's global lock, so another thread may edit the map during a query. A short
query holds the map's lock. A long query keeps the arrays it began with: an edit in the meantime
copies them first. So no query is refused, and each sees the ground as it was when it began.

The arrays may be a tile of a larger map. A reader of the larger map holds a lock of its own, which
edits take first.
"""

import operator
from collections.abc import Callable, Sequence
from math import inf
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.heightmap import blocks as block_kernels
from terrain_physics._kernels.heightmap import grid as kernels
from terrain_physics._kernels.types import Bools, Bytes, Float32s, Floats
from terrain_physics._locks import LongCalls, Mark, Rank, new_lock
from terrain_physics._support.interruptions import carried_out
from terrain_physics.heightmap.cells import Ranges, Region, all_common, rim_of
from terrain_physics.heightmap.checks import shorter_diagonals
from terrain_physics.heightmap.framed import Edited, StoredMap, no_changes, place_of, region_of
from terrain_physics.heightmap.survey import survey
from terrain_physics.surface.changes import EVERYWHERE, ChangeLog
from terrain_physics.surface.ground_arrays import GroundArrays, MapArrays, arrays_alone
from terrain_physics.surface.watching import Watchers

# With holes, ground is a crust: a body that falls through a hole must get out from under the edge.
THICKNESS_WITH_HOLES = 2.0

_NO_TABLE = np.zeros(1, dtype=np.uint8)


class MapStorage(StoredMap):
    """The arrays of a height map.

    Attributes
    ----------
    heights : ndarray of float32, shape (rows, columns)
        Samples, before scale and origin.
    cells : ndarray of uint8, shape (rows - 1, columns - 1) or (1,)
        Bits of each cell; (1,) as long as there is no table.
    blocks : ndarray of float32
        Least and greatest heights of blocks of cells, level after level.
    ground_arrays : GroundArrays
        The views for characters.
    materials : ndarray of uint8, shape (rows - 1, columns - 1), or None
    material_names : tuple of str, or None
    readers : LongCalls
        The long queries that hold the arrays as they are now.
    watchers : Watchers
        An edit holds the locks of all readers that have the arrays as tiles of larger maps.
    """

    __slots__ = (
        "__weakref__",
        "_follows_heights",
        "_is_lent",
        "_is_thinner",
        "_own",
        "_shown",
        "_thickens",
        "blocks",
        "cells",
        "ground_arrays",
        "heights",
        "material_names",
        "materials",
        "readers",
        "watchers",
    )

    heights: Float32s
    cells: Bytes
    blocks: Float32s
    ground_arrays: GroundArrays
    materials: Bytes | None
    material_names: tuple[str, ...] | None
    watchers: Watchers

    def __init__(
        self,
        heights: Float32s,
        frame: Sequence[float],
        flipped: Bools | None,
        holes: Bools | None,
        *,
        follows_heights: bool = False,
        thickens: bool = False,
        own: bool = True,
        blocks: Float32s | None = None,
        materials: Bytes | None = None,
        material_names: tuple[str, ...] | None = None,
    ) -> None:
        """Take over checked arrays, and ``blocks`` if the heights were surveyed already.

        Edits find the shorter diagonals again (``follows_heights``), end the solid depth at the
        first hole (``thickens``), and may write to the heights (``own``).
        """
        rows, columns = heights.shape[0] - 1, heights.shape[1] - 1
        self.heights, self._own = heights, own
        self._follows_heights, self._thickens = follows_heights, thickens
        self.cells = _NO_TABLE
        self.frame = np.zeros(kernels.FRAME_SIZE)
        self.frame[: kernels.COLUMNS + 1] = (*frame, rows, columns)
        self.materials, self.material_names = materials, material_names
        if flipped is not None or holes is not None:
            self._make_table()
            if flipped is not None:
                self.cells |= flipped * np.uint8(kernels.CELL_FLIPPED)
            if holes is not None:
                self.cells |= holes * np.uint8(kernels.CELL_HOLE)
        self._start(blocks)

    def _start(self, blocks: Float32s | None = None) -> None:
        """Compute all derived values, and start everything that is not saved."""
        self.lock = new_lock(Rank.MAP)
        self.version, self.readers = 0, LongCalls()
        self._is_lent = False
        # Thinner, or thicker, than readers have been told; maps united with this one are, too.
        self._is_thinner = False
        self._changes = no_changes()
        self.changes = ChangeLog(0)
        self.watchers = Watchers()
        self._shown: tuple[Any, ...] = (None,) * 5
        self.blocks = survey(self.heights).blocks if blocks is None else blocks
        self._publish()

    def _publish(self) -> None:
        """Show the arrays to kernels: flat and read-only. Edits in place need no new views."""
        own = self.heights, self.cells, self.blocks, self.frame, self.materials
        if all(map(operator.is_, own, self._shown)):
            return
        self._shown = own
        self.views = (
            self.heights.reshape(-1).view(),
            self.cells.reshape(-1).view(),
            self.blocks.view(),
            self.frame,
        )
        for values in self.views:
            values.setflags(write=False)
        self.ground_arrays = arrays_alone(self.views, self.materials)

    def _make_table(self) -> None:
        self.cells = np.zeros(self.cell_count, dtype=np.uint8)
        self.frame = self.frame.copy()
        self.frame[kernels.HAS_TABLE] = 1.0

    @property
    def cell_count(self) -> tuple[int, int]:
        """The number of cells, rows by columns."""
        return self.heights.shape[0] - 1, self.heights.shape[1] - 1

    def samples(self, place: Ranges) -> Float32s:
        return self.heights[place]

    @property
    def may_have_holes(self) -> bool:
        """Whether there may be cells without ground: the first hole ends an unlimited thickness."""
        return not self._thickens or self.thickness < inf

    def edge_regions(self, area: Region) -> list[Region]:
        rows, columns = self.cell_count
        endless = bool(self.frame[kernels.EXTEND])
        if self.may_have_holes:
            around = int(endless)
            return all_common([Region(-around, rows + around, -around, columns + around)], area)
        return [] if endless else all_common(rim_of(rows, columns), area)

    def hole_marks(self, index: Any) -> Any:
        """Return which of the cells that an index selects are marked as holes, a new array."""
        table = self.cells if self.cells.ndim == 2 else np.zeros(self.cell_count, np.uint8)
        return table[index] & kernels.CELL_HOLE != 0

    def material_numbers(self, index: Any) -> Any:
        """Return the materials of the cells that an index selects."""
        made = self.materials
        return (np.zeros(self.cell_count, np.uint8) if made is None else made)[index]

    def values(self, what: Edited, place: Ranges) -> NDArray[Any]:
        if what == "heights":
            return self.heights[place].copy()
        found: NDArray[Any] = (
            self.hole_marks(place) if what == "holes" else self.material_numbers(place).copy()
        )
        return found

    def begin_reading(self, mark: Mark) -> tuple[MapArrays, Bytes | None]:
        with self.lock:
            self.readers.add(mark)
            return self.views, self.materials

    # Edits: each is made within `editing`

    @property
    def _is_read(self) -> bool:
        """Whether long queries read the arrays."""
        return (
            bool(self.readers)
            or self._is_lent
            or any(reader.reads(number) for reader, number in self.watchers.readers())
        )

    def lend(self) -> None:
        """Leave the arrays to their readers: the next edit copies them."""
        self._is_lent = True

    def own_heights(self) -> None:
        """Let edits write to the heights, which nobody else has."""
        self._own = True

    def prepare_edit(self) -> None:
        """Copy the arrays before a write, if queries read them or a caller owns them."""
        if self._is_read or not self._own:
            self.heights = self.heights.copy()
            self.blocks = self.blocks.copy()
            self.cells = self.cells.copy()
            if self.materials is not None:
                self.materials = self.materials.copy()
            self._own, self._is_lent = True, False
            self.readers.clear()
            for reader, number in self.watchers.readers():
                reader.copied[number] = reader.latest

    def prepare_hole_edit(self) -> None:
        """Prepare an edit, with a table of cells to write to."""
        if self.cells.ndim == 1:
            self._make_table()
        self.prepare_edit()

    def prepare_material_edit(self) -> Bytes:
        """Return the materials to write to; a long query keeps those it has."""
        if self.materials is None:
            self.materials = np.zeros(self.cell_count, dtype=np.uint8)
        elif self._is_read:
            self.materials = self.materials.copy()
        return self.materials

    def set_thickness(self, depth: float) -> None:
        """Set how deep the ground is solid; from then on holes do not change it."""
        self.frame = self.frame.copy()
        self.frame[kernels.THICKNESS] = depth
        self._thickens, self._is_thinner = False, True

    @property
    def solid_depth(self) -> tuple[float, bool]:
        """How deep the ground is solid, and whether the first hole changes it."""
        return self.thickness, self._thickens

    def edit_solid_depth(self, solid: tuple[float, bool]) -> None:
        """Make an edit of how deep the ground is solid, and whether the first hole changes it."""

        def put() -> None:
            self.set_thickness(solid[0])
            self._thickens = solid[1]

        self.edit("thickness", place_of(self, "thickness", self.whole), put)

    def put_solid_depth(self, solid: tuple[float, bool]) -> None:
        if self.solid_depth != solid:
            self.edit_solid_depth(solid)

    def mark_holes(self, index: Any, marks: NDArray[Any]) -> None:
        """Write marks of holes to the cells that an index selects."""
        kept = self.cells[index] & np.uint8(0xFF ^ kernels.CELL_HOLE)
        self.cells[index] = kept | (marks * np.uint8(kernels.CELL_HOLE))

    def put_back(
        self,
        what: Edited,
        place: Ranges,
        values: NDArray[Any],
        marks: Bools | None = None,
    ) -> None:
        if marks is not None:
            values = np.where(marks, values, self.values(what, place))

        def put() -> None:
            if what == "heights":
                self.heights[place] = values
            elif what == "holes":
                self.mark_holes(place, values)
            else:
                self.prepare_material_edit()[place] = values

        self.edit(what, place, put)

    @property
    def nbytes(self) -> int:
        """How much memory the samples and the values of cells take."""
        made = 0 if self.materials is None else self.materials.nbytes
        return self.heights.nbytes + self.cells.nbytes + made

    def edit(
        self, what: Edited, place: Ranges, put: Callable[[], None], *, holes: bool = False
    ) -> None:
        """Make an edit by ``put``, which writes values, and update all that follows from them.

        ``holes`` tells whether there are any then.
        """
        region = region_of(self, what, place)
        self.watchers.prepare(what, region, place)
        if what == "heights":
            self.prepare_edit()
        elif what == "holes":
            self.prepare_hole_edit()

        def make() -> None:
            put()
            self._changed(region, what, holes=holes)

        carried_out(make)

    def _changed(self, region: Region, what: Edited, *, holes: bool) -> None:
        """Update everything derived from the cells of a region, and record the change.

        ``holes`` tells whether there are any now. Values derived from heights are written only if
        the heights were: other edits have not copied the arrays, and a query may be reading them.
        """
        heights = what == "heights"
        row_0, row_1, column_0, column_1 = region
        if heights and self._follows_heights:
            around = self.heights[row_0 : row_1 + 1, column_0 : column_1 + 1]
            part = self.cells[row_0:row_1, column_0:column_1]
            part &= np.uint8(0xFF ^ kernels.CELL_FLIPPED)
            part |= shorter_diagonals(around) * np.uint8(kernels.CELL_FLIPPED)
        if holes and self._thickens:
            self.set_thickness(THICKNESS_WITH_HOLES)
        self._publish()
        if heights:
            block_kernels.put_blocks(self.views[0], self.views[3], *region, self.blocks)
        # The change is noted before the version: a reader that sees the version finds the change.
        everywhere = self._is_thinner
        self._is_thinner = False
        version = self.version + 1
        self._changes.append((version, region))
        self.changes.note(version, *(EVERYWHERE if everywhere else self.box_of(region)))
        self.version = version
        self.watchers.tell(what, region)

    # Copies and pickles

    def snapshot(self) -> tuple[Any, ...]:
        """Return the saved values of a map, all from one moment."""
        with self.lock:
            return (
                self.heights.copy(),
                self.cells.copy(),
                self.frame,
                self._follows_heights,
                self._thickens,
                None if self.materials is None else self.materials.copy(),
                self.material_names,
                self.version,
            )

    @classmethod
    def of_snapshot(cls, saved: tuple[Any, ...]) -> Self:
        """Return the storage of a snapshot, at its version."""
        storage = cls.__new__(cls)
        storage._restore(*saved)  # noqa: SLF001 its own
        return storage

    def _restore(
        self,
        heights: Float32s,
        cells: Bytes,
        frame: Floats,
        follows_heights: bool,  # noqa: FBT001 in the order of a snapshot
        thickens: bool,  # noqa: FBT001
        materials: Bytes | None,
        material_names: tuple[str, ...] | None,
        version: int,
    ) -> None:
        self.heights, self.cells, self.frame = heights, cells, frame
        self._follows_heights, self._thickens, self._own = follows_heights, thickens, True
        self.materials, self.material_names = materials, material_names
        self._start()
        self.version = version
        self.changes = ChangeLog(version)
