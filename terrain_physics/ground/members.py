"""Members of a ground that answer queries: its meshes, a map, or several maps that are united."""

from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np

from terrain_physics._kernels.mesh.parts import ID_BITS
from terrain_physics._kernels.surface.ground_arrays import ALL_LAYERS
from terrain_physics._kernels.types import Bytes, Int64s
from terrain_physics.ground.answers import Owners
from terrain_physics.heightmap.solid.solid_map import SolidMap
from terrain_physics.heightmap.tiled import TiledMap
from terrain_physics.mesh.meshes import Meshes
from terrain_physics.surface.ground_arrays import MapMaterials


class MapMember(NamedTuple):
    """One map, or several maps that are united.

    Attributes
    ----------
    source : SolidMap
        Of the map itself, or of the union.
    union : TiledMap or None
        The same as one map, if there are several.
    parts : ndarray of int64, shape (k,)
        The numbers of the maps, ascending.
    named : ndarray of uint8, shape (k, 256), or None
        The ground's number for each material of each map; None if they are the same.
    layers : int
        Of each of the maps, a bit for each.
    own_lock : context manager
        Short questions hold it: that of the map, or of the ground if it has several.
    mask : int
        The layers that are asked.
    """

    source: SolidMap
    union: TiledMap | None
    parts: Int64s
    named: Bytes | None
    layers: int
    own_lock: AbstractContextManager[Any]

    mask: int = ALL_LAYERS

    def filtered(self, mask: int) -> "MapMember":  # noqa: ARG002
        """Return the member for a mask: maps are united only with those of the same layers."""
        return self

    @property
    def first(self) -> int:
        """The lowest number."""
        return int(self.parts[0])

    def owners(self, triangles: Int64s) -> Owners:
        """Return the owners of triangles (n,); -1 stays, and belongs to the first map."""
        if self.union is not None:
            return Owners(*self.union.owners(triangles, self.parts, self.parts << ID_BITS))
        first, ids = self.first, triangles
        if first > 0:
            ids = triangles + (first << ID_BITS)
            ids[triangles < 0] = -1
        return Owners(ids, np.full(len(triangles), first))

    @property
    def made_of(self) -> MapMaterials | None:
        """The materials, as they are now; None: all are 0."""
        made = self.source.storage.materials
        if made is None and self.named is None:
            return None
        return MapMaterials(made, self.parts, self.named)


class MeshMember(NamedTuple):
    """All meshes: their ids and materials are the ground's.

    Attributes
    ----------
    source : Meshes
    first : int
        The lowest number.
    layers : int
        All that a mesh is on, a bit for each.
    mask : int
        The layers that are asked.
    """

    source: Meshes
    first: int
    layers: int
    mask: int = ALL_LAYERS

    @property
    def own_lock(self) -> None:
        """No lock of its own: short questions hold that of the ground."""

    def filtered(self, mask: int) -> "MeshMember":
        """Return the meshes that the mask selects; without any, queries find nothing."""
        return self._replace(layers=self.layers & mask, mask=mask)

    def owners(self, triangles: Int64s) -> Owners:
        """Return the owners of triangles (n,); -1 stays."""
        return Owners(triangles, triangles >> ID_BITS)


Member = MapMember | MeshMember
