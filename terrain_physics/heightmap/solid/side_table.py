"""The table that hands sides of maps to kernels, as meshes: a row for each patch."""

from collections.abc import Mapping

from terrain_physics._kernels.types import Int64s
from terrain_physics.mesh.storage import MeshStorage
from terrain_physics.mesh.table import MeshTable

SideMeshes = Mapping[tuple[int, int, int], MeshStorage]
"""Meshes by the number of their map, its layers, and the number of their patch."""


class SideTable:
    """Sides of maps. It stays as it is, for long queries: changes make another one of it.

    Attributes
    ----------
    meshes : dict
        For others to read only.
    view : ndarray of int64
        The table for kernels.
    """

    __slots__ = ("_has_skins", "_table", "meshes", "view")

    def __init__(self, meshes: SideMeshes, table: MeshTable) -> None:
        self.meshes, self._table, self._has_skins = meshes, table, not meshes
        self.view: Int64s = table.view

    @classmethod
    def empty(cls) -> "SideTable":
        """Return the table of no sides."""
        return cls({}, MeshTable())

    def find_skins(self) -> None:
        """Find the connectivity of all triangles, for sweeps."""
        if not self._has_skins:
            for storage in self.meshes.values():
                storage.table.neighbors()
            self._has_skins = True

    def with_meshes(self, meshes: SideMeshes) -> "SideTable":
        """Return the table of these meshes: this one if they are the same."""
        new = meshes.items() - self.meshes.items()
        gone = self.meshes.keys() - meshes.keys()
        if not new and not gone:
            return self
        table = self._table.copy()
        for key in gone:
            table.remove(key)
        for key, storage in sorted(new):  # a set's order differs from run to run
            table.put_sides(key, storage.table)
        return SideTable(meshes, table)
