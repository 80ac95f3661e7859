"""The meshes that queries ask: one mesh, or all those of a ground."""

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager

from terrain_physics._kernels.types import Bytes, Int64s
from terrain_physics._locks import Mark, lasting
from terrain_physics.surface.changes import ChangeLog
from terrain_physics.surface.ground_arrays import GroundArrays
from terrain_physics.surface.materials import Names
from terrain_physics.surface.results import Triangles


class Meshes(ABC):
    """Meshes in one table, see `terrain_physics.mesh.table`; ids and materials are the table's.

    Attributes
    ----------
    material_names : tuple of str, or None
        The names of materials 0, 1, ...; None of the meshes of a ground, which has them.
    """

    __slots__ = ()

    material_names: Names = None

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
    @abstractmethod
    def triangle_count(self) -> int:
        """How many triangles there are."""

    @property
    @abstractmethod
    def changes(self) -> ChangeLog:
        """The places of the latest changes."""

    @property
    @abstractmethod
    def version(self) -> int:
        """The number of edits so far."""
