"""The meshes that queries ask: one mesh, or all those of a ground."""

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager

import numpy as np

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.mesh.contacts import list_near, triangles_near
from terrain_physics._kernels.types import Floats, Int64s
from terrain_physics._locks import Mark, lasting
from terrain_physics._support import checks
from terrain_physics._support.checks import Floats3
from terrain_physics.surface.results import Triangles

_NEAR = CachedDispatch(list_near)


class Meshes(ABC):
    """Meshes in one table, see `terrain_physics.mesh.table`; ids are the table's."""

    __slots__ = ()

    @property
    @abstractmethod
    def asked(self) -> AbstractContextManager[Int64s]:
        """The table, for a short query: it stays as it is within."""

    @property
    def reading(self) -> AbstractContextManager[Int64s]:
        """The table, for a long query: others may edit meanwhile, but not this table."""
        return lasting(self.begin_reading)

    @abstractmethod
    def begin_reading(self, mark: Mark) -> Int64s:
        """Return the table, which nobody edits until the mark is given back."""

    @abstractmethod
    def triangles(self, ids: Int64s) -> Triangles:
        """Return the triangles (n,) themselves."""

    # Triangles in boxes

    def triangles_in(
        self, mask: int, lower: Floats3, upper: Floats3, most: int
    ) -> Triangles | None:
        ids = np.empty(128, np.int64)
        with self.asked as table:
            count = triangles_near(table, mask, lower, upper, ids)
            if count > most:
                return None
            if count > len(ids):
                ids = np.empty(count, np.int64)
                triangles_near(table, mask, lower, upper, ids)
            return self.triangles(ids[:count])

    def triangle_ids_in(self, mask: int, boxes: Floats, most: int) -> tuple[Int64s, Int64s]:
        offsets = np.empty(len(boxes) // 6 + 1, np.int64)
        with self.reading as table:
            total, ids = _NEAR.call(table, mask, boxes, most, offsets)
        checks.refuse_more("triangles", total, most)
        return offsets, ids
