"""The trees of an octree while objects are inserted, removed and moved.

Trees of flat arrays are quick to build and hard to change. So a changed object leaves a gap in its
tree and goes into a new, small tree, and trees of similar size are merged into one (J. Bentley and
J. Saxe, "Decomposable searching problems", 1980): for each change an object is built into a tree
O(log n) times, on average. The trees lie one after the other in the same arrays, which a kernel
traverses as if they were one tree.
"""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.octree.build import Octrees, build_tree, fill_slots, object_boxes
from terrain_physics._kernels.types import Floats, Int64s
from terrain_physics._locks import Rank, new_lock
from terrain_physics._support.interruptions import carried_out

A = TypeVar("A", bound=NDArray[Any])

MOST_ROWS = 2**31 - 1  # a key of 63 bits holds two row numbers

_PENDING, _REMOVED = -1, -2  # in place of a slot
_NOWHERE = (np.inf, np.inf, np.inf, -np.inf, -np.inf, -np.inf)


class Forest:
    """Objects by row, and their trees: arrays as ``_kernels/octree/build.py`` describes them.

    Rows are in the order of the ids. An object keeps its row until something is inserted.

    Any number of threads may call `arrays` at once; the first one builds what is missing, under
    a lock. All other methods must be called by one thread at a time, while no thread uses the
    arrays.
    """

    def __init__(self, width: int, cube: Floats, max_depth: int, leaf_capacity: int) -> None:
        self.cube, self.max_depth, self.leaf_capacity = cube, max_depth, leaf_capacity
        self.next_id = 0
        self.alive = 0
        self._count = 0  # rows in use, those of removed objects included
        self._shapes = np.empty((0, width))
        self._ids = np.empty(0, dtype=np.int64)
        self._row_slots = np.empty(0, dtype=np.int64)
        self._changed: list[Int64s] = []  # rows that no tree holds

        rows, spans = np.empty(0, dtype=np.int64), np.empty((0, 3), dtype=np.int64)
        # With room for more slots and nodes.
        self._room = Octrees(np.empty((0, 4)), np.empty((0, 6)), rows, np.empty((0, 6)), spans)
        self._trees: list[tuple[int, int]] = []  # first slot, first node
        self._slots = self._nodes = 0
        self._gaps = 0  # slots of objects that have left
        self._arrays: Octrees | None = None
        self._lock = new_lock(Rank.TREES)

    @property
    def ids(self) -> Int64s:
        """Ids by row, including those of removed objects."""
        return self._ids[: self._count]

    @property
    def shapes(self) -> Floats:
        """Shapes by row."""
        return self._shapes[: self._count]

    def living(self) -> Int64s:
        """Return the rows of all objects that are not removed."""
        return np.flatnonzero(self._row_slots[: self._count] != _REMOVED)

    def rows(self, ids: Int64s) -> Int64s:
        """Return the rows of objects; raise KeyError naming the first id that does not exist."""
        rows = np.searchsorted(self.ids, ids)
        there = rows < self._count
        there[there] = self._ids[rows[there]] == ids[there]
        there[there] = self._row_slots[rows[there]] != _REMOVED
        if not there.all():
            raise KeyError(f"no object has the id {ids[~there][0]}")
        return rows

    def insert(self, shapes: Floats, ids: Int64s) -> None:
        """Add shapes; their ids ascend and are greater than all earlier ids."""
        self._make_room(len(shapes))
        first, count = self._count, self._count + len(shapes)
        self._shapes[first:count] = shapes
        self._ids[first:count] = ids
        self._row_slots[first:count] = _PENDING
        alive, new = self.alive + len(shapes), [np.arange(first, count)]
        next_id = int(ids[-1]) + 1 if len(ids) else self.next_id
        # Nothing is called from here on, so no signal handler comes in between.
        self._count, self.alive, self.next_id, self._arrays = count, alive, next_id, None
        self._changed += new

    def remove(self, rows: Int64s) -> None:
        """Remove the objects in these rows, each of which is given once."""
        alive = self.alive - len(rows)

        def remove() -> None:
            self._leave(rows, _REMOVED)
            self.alive = alive

        carried_out(remove)

    def move(self, rows: Int64s, shapes: Floats) -> None:
        """Give the objects in these rows, each of which is given once, new shapes."""
        changed = [*self._changed, rows[self._row_slots[rows] != _PENDING]]

        def move() -> None:
            self._shapes[rows], self._changed = shapes, changed
            self._leave(rows, _PENDING)

        carried_out(move)

    def arrays(self) -> Octrees:
        """Return the trees of all objects, for kernels."""
        if (ready := self._arrays) is not None:
            return ready
        with self._lock:
            if self._arrays is None:
                try:
                    self._settle()
                except BaseException:  # out of memory, or Ctrl-C
                    self._forget_trees()
                    raise
                slots: list[Any] = [values[: self._slots] for values in self._room[:3]]
                nodes: list[Any] = [values[: self._nodes] for values in self._room[3:]]
                self._arrays = Octrees(*slots, *nodes)
            return self._arrays

    def _leave(self, rows: Int64s, state: int) -> None:
        slots = self._row_slots[rows]
        slots = slots[slots >= 0]
        self._room.boxes[slots] = _NOWHERE
        if len(self._room.spheres) > 0:
            self._room.spheres[slots] = np.nan
        self._gaps += len(slots)
        self._row_slots[rows] = state
        self._arrays = None

    def _make_room(self, more: int) -> None:
        """Make rows for more objects; reuse those of removed objects if they are half of all."""
        if self._count + more <= len(self._row_slots):  # which grow last
            return
        living = self.living()
        if 2 * len(living) <= self._count:
            self._forget_trees()
            count, changed = len(living), [np.arange(len(living))]
            shapes, ids, slots = self._shapes[living], self._ids[living], self._row_slots[living]
            # Nothing is called in between, so no signal handler runs.
            self._shapes, self._ids, self._row_slots = shapes, ids, slots
            self._count, self._changed = count, changed
        size = max(self._count + more, min(2 * self._count, MOST_ROWS))
        if size > MOST_ROWS:
            raise ValueError(f"an octree must have at most {MOST_ROWS} objects, got {size}")
        self._shapes = _grown(self._shapes, size)
        self._ids = _grown(self._ids, size)
        self._row_slots = _grown(self._row_slots, size)

    def _forget_trees(self) -> None:
        living, slots = self.living(), self._row_slots.copy()
        slots[living] = _PENDING
        # Nothing is called from here on, so no signal handler comes in between.
        self._trees, self._changed, self._row_slots = [], [living], slots
        self._slots = self._nodes = self._gaps = 0
        self._arrays = None

    def _settle(self) -> None:
        """Put all objects that are in no tree into trees."""
        if 2 * self._gaps > self._slots:
            self._forget_trees()
        changed = np.concatenate(self._changed) if self._changed else np.empty(0, dtype=np.int64)
        changed = changed[self._row_slots[changed] == _PENDING]
        self._changed.clear()
        if len(changed) == 0:
            return

        # The new tree absorbs the last trees as long as they are not much larger than itself.
        first, first_node = self._slots, self._nodes
        while self._trees:
            slot, node = self._trees[-1]
            if first - slot > 2 * (len(changed) + self._slots - first):
                break
            first, first_node = slot, node
            self._trees.pop()
        taken = self._room.rows[first : self._slots]
        taken = taken[self._row_slots[taken] == np.arange(first, self._slots)]
        self._gaps -= self._slots - first - len(taken)
        members = np.concatenate([taken, changed])

        count = len(members)
        boxes = np.empty((count, 6))
        object_boxes(self._shapes, members, boxes)
        order = np.empty(count, dtype=np.int64)
        node_boxes, spans = np.empty((2 * count, 6)), np.empty((2 * count, 3), dtype=np.int64)
        limits = self.cube, self.max_depth, self.leaf_capacity
        nodes = build_tree(boxes, *limits, order, node_boxes, spans)
        slots, last_node = first + count, first_node + nodes
        sizes = slots if self._shapes.shape[1] == 4 else 0, slots, slots, last_node, last_node
        self._slots, self._nodes = slots, last_node
        grown: list[Any] = [*map(_grown, self._room, sizes)]
        self._room = Octrees(*grown)
        self._room.node_boxes[first_node:last_node] = node_boxes[:nodes]
        own_spans = np.add(spans[:nodes], (first, first, first_node))
        self._room.spans[first_node:last_node] = own_spans
        fill_slots(self._shapes, members, boxes, order, first, self._room, self._row_slots)
        self._trees.append((first, first_node))


def _grown(values: A, size: int) -> A:
    """Return an array with this content and at least ``size`` rows; this one if it has them."""
    if len(values) >= size:
        return values
    larger = np.empty((max(size, len(values) * 3 // 2), *values.shape[1:]), dtype=values.dtype)
    larger[: len(values)] = values
    return larger  # type: ignore[return-value]
