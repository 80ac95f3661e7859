"""Contacts of many shapes with a triangle mesh, as arrays."""

import numpy as np
from numpy.typing import NDArray

from terrain_physics import _checks
from terrain_physics._kernels._jit import Direct
from terrain_physics._kernels.mesh.contacts import (
    ALL,
    DEEPEST,
    NUMBER,
    contacts_of_one,
    list_contacts,
    list_near,
    put_contacts,
)
from terrain_physics._kernels.surface.shape_rows import BALL, BOX, CAPSULE
from terrain_physics._kernels.types import Floats
from terrain_physics._threads import Workers
from terrain_physics.mesh.batches import ONE_VISIT, refuse_far, refuse_far_row, visits_of
from terrain_physics.mesh.storage import MeshData
from terrain_physics.surface.contacts import Shape, ShapeContacts, by_kind, row_of
from terrain_physics.surface.results import Contacts

# Shapes that a thread should get at once: less is not worth the handing over.
_LEAST = 512

_ONE = {kind: Direct(contacts_of_one) for kind in (BALL, CAPSULE, BOX)}

# First and last visit, keys, rows: see `list_contacts`.
_Found = tuple[int, int, NDArray[np.int64], NDArray[np.float64]]


class MeshContacts(ShapeContacts, MeshData):
    """What `terrain_physics.TriangleMesh` answers about contacts, and triangles in many boxes."""

    __slots__ = ()

    def contacts_of_rows(
        self, kind: int, bodies: Floats, keep: str, threads: int | None
    ) -> Contacts:
        """Return the contacts of rows of one kind, all or the deepest of each."""
        deepest = _checks.choice("keep", keep, ("all", "deepest")) == "deepest"
        visits, counts = visits_of(bodies), np.empty(len(bodies), np.int64)
        with Workers(threads) as workers:
            parts = self._list(workers, kind, bodies, DEEPEST if deepest else ALL, visits, counts)
            ends = np.cumsum(counts)
            total = int(ends[-1]) if len(ends) else 0
            ints, floats = np.empty((2, total), np.int64), np.empty((3, total, 3))

            def put(first: int, last: int) -> None:
                for begin, end, keys, rows in parts[first:last]:
                    put_contacts(visits, begin, end, keys, rows, ends, counts, ints, floats)

            workers.run(put, len(parts), 1)
        return Contacts(ints, floats)

    def contacts_of_one(self, shape: Shape, keep: str) -> Contacts:
        """Return the contacts of one shape, all or the deepest."""
        deepest = _checks.choice("keep", keep, ("all", "deepest")) == "deepest"
        row = row_of(shape)
        refuse_far_row("shapes", row)
        kind, mesh = len(row), self._mesh
        rows = by_kind(kind, np.array(row))
        found = _ONE[kind].call(*mesh[2:], *rows, ONE_VISIT, DEEPEST if deepest else ALL)
        return Contacts(*found)

    def counts_of_rows(self, kind: int, bodies: Floats, threads: int | None) -> NDArray[np.int64]:
        """Return how many triangles each row touches."""
        visits, counts = visits_of(bodies), np.empty(len(bodies), np.int64)
        with Workers(threads) as workers:
            self._list(workers, kind, bodies, NUMBER, visits, counts)
        return counts

    def _list(
        self,
        workers: Workers,
        kind: int,
        bodies: Floats,
        kept: int,
        visits: NDArray[np.int64],
        counts: NDArray[np.int64],
    ) -> list[_Found]:
        """Return the contacts in the ranges that the threads worked on, and write their counts."""
        refuse_far("shapes", bodies)
        rows, mesh = by_kind(kind, bodies), self._mesh

        def find(first: int, last: int) -> _Found:
            return first, last, *list_contacts(*mesh[2:], *rows, visits, first, last, kept, counts)

        return workers.run(find, len(bodies), _LEAST)

    def triangles_in_rows(self, boxes: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the offsets and ids of boxes: lower and upper corners, flat."""
        offsets = np.empty(len(boxes) // 6 + 1, np.int64)
        return offsets, list_near(*self._mesh[2:], boxes, offsets)
