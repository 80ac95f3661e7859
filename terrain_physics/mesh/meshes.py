"""The meshes that queries ask: one mesh, or all those of a ground."""

from abc import abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import numpy as np

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.mesh.contacts import list_near, triangles_near
from terrain_physics._kernels.types import Bools, Bytes, Floats, Int64s
from terrain_physics._locks import Mark, lasting
from terrain_physics._support import checks
from terrain_physics._support.checks import Floats3
from terrain_physics.surface.ground_arrays import GroundArrays
from terrain_physics.surface.materials import Names
from terrain_physics.surface.naming import NO_NAMES
from terrain_physics.surface.queries import Askable
from terrain_physics.surface.results import Triangles

_NEAR = CachedDispatch(list_near)

_Answer = TypeVar("_Answer")


class Meshes(Askable):
    """Meshes in one table, see `terrain_physics.mesh.table`; ids and materials are the table's.

    Attributes
    ----------
    material_names : tuple of str, or None
        The names of materials 0, 1, ...; None of the meshes of a ground, which has them.
    """

    __slots__ = ()

    material_names: Names = None
    naming = NO_NAMES

    @property
    @abstractmethod
    def asked(self) -> AbstractContextManager[Int64s]:
        """The table, for a short query: it stays as it is within."""

    @property
    @abstractmethod
    def ground_arrays(self) -> GroundArrays:
        """The arrays of a ground of these meshes; the caller is in `asked`."""

    @property
    def reading(self) -> AbstractContextManager[Int64s]:
        """The table, for a long query: others may edit meanwhile, but not this table."""
        return lasting(self.begin_reading)

    @abstractmethod
    def begin_reading(self, mark: Mark) -> Int64s:
        """Return the table, which nobody edits until the mark is given back."""

    @abstractmethod
    def material_of(self, table: Int64s, triangle: int) -> int:
        """Return the material of a triangle, 0 for -1; the table is that of a short query."""

    @abstractmethod
    def ids_of(self, numbers: Int64s, faces: Int64s) -> Int64s:
        """Return the ids of faces (n,) of meshes (n,), -1 for faces that do not exist."""

    @abstractmethod
    def materials_of(self, table: Int64s, triangles: Int64s) -> Bytes:
        """Return the materials of triangles (n,), 0 for -1; the table is that of the query."""

    @abstractmethod
    def triangles(self, ids: Int64s) -> Triangles:
        """Return the triangles (n,) themselves."""

    @property
    def storage(self) -> "Meshes":
        return self

    # Questions

    def answer(self, mask: int, ask: Callable[..., _Answer], *about: Any) -> _Answer:  # noqa: ARG002
        with self.asked:
            return ask(self.ground_arrays, *about)

    def begin_asking(self, mark: Mark) -> GroundArrays:
        with self.asked:
            self.begin_reading(mark)
            return self.ground_arrays

    def of_meshes(self, table: Int64s, triangles: Int64s) -> Bytes | None:
        return self.materials_of(table, triangles)

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

    def triangle_at(self, part: int, triangle: int, point: Floats3) -> tuple[int, int, bool]:  # noqa: ARG002
        if part != 0 or not 0 <= triangle < self.triangle_count:
            return -1, 0, False
        with self.asked as table:
            return triangle, self.material_of(table, triangle), True

    def triangles_at(
        self,
        parts: Int64s,
        triangles: Int64s,
        points: Floats,  # noqa: ARG002
    ) -> tuple[Int64s, Bytes, Bools]:
        with self.asked as table:
            ids = self.ids_of(parts, triangles)
            return ids, self.materials_of(table, ids), ids >= 0
