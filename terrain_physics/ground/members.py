"""Members of a ground that answer queries: its meshes, a map, or several maps that are united."""

from typing import NamedTuple

from terrain_physics._kernels.mesh.parts import ID_BITS
from terrain_physics._kernels.surface.ground_arrays import ALL_LAYERS
from terrain_physics._kernels.types import Int64s
from terrain_physics.ground.answers import Owners
from terrain_physics.ground.maps import MapMember
from terrain_physics.mesh.meshes import Meshes


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
