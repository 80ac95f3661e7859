"""Contacts of many shapes with a triangle mesh, as arrays."""

import numpy as np
from numpy.typing import NDArray

from terrain_physics import _arrays
from terrain_physics._kernels.mesh_contacts import ALL, DEEPEST, NUMBER, list_contacts, list_near
from terrain_physics.contacts import Contacts
from terrain_physics.mesh_batches import refuse_far
from terrain_physics.mesh_data import MeshData
from terrain_physics.shape_contacts import Floats, ShapeContacts, by_kind
from terrain_physics.workers import Workers

# Shapes that a thread should get at once: less is not worth the handing over.
_LEAST = 512

_Found = tuple[NDArray[np.int64], NDArray[np.float64]]


class MeshContacts(ShapeContacts, MeshData):
    """What `terrain_physics.TriangleMesh` answers about contacts, and triangles in many boxes."""

    __slots__ = ()

    def _contacts(self, kind: int, bodies: Floats, keep: str, threads: int | None) -> Contacts:
        deepest = _arrays.choice("keep", keep, ("all", "deepest")) == "deepest"
        counts = np.empty(len(bodies), np.int64)
        parts = self._list(kind, bodies, DEEPEST if deepest else ALL, threads, counts)
        if len(parts) == 1:
            return Contacts(*parts[0])
        return Contacts(
            np.concatenate([np.empty((2, 0), np.int64), *(part[0] for part in parts)], axis=1),
            np.concatenate([np.empty((3, 0, 3)), *(part[1] for part in parts)], axis=1),
        )

    def _contact_counts(self, kind: int, bodies: Floats, threads: int | None) -> NDArray[np.int64]:
        counts = np.empty(len(bodies), np.int64)
        self._list(kind, bodies, NUMBER, threads, counts)
        return counts

    def _list(
        self,
        kind: int,
        bodies: Floats,
        keep: int,
        threads: int | None,
        counts: NDArray[np.int64],
    ) -> list[_Found]:
        """Return the contacts in the ranges that the threads worked on, and write their counts."""
        refuse_far("shapes", bodies)
        rows, mesh = by_kind(kind, bodies), self._mesh

        def find(first: int, last: int) -> _Found:
            found: _Found = list_contacts(*mesh[2:], *rows, first, last, keep, counts)
            return found

        with Workers(threads) as workers:
            return workers.run(find, len(bodies), _LEAST)

    def _triangles_in_boxes(self, boxes: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        offsets = np.empty(len(boxes) // 6 + 1, np.int64)
        return offsets, list_near(*self._mesh[2:], boxes, offsets)
