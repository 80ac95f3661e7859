"""The sides of a map at one moment: all patches in one table."""

from collections.abc import Mapping

from terrain_physics._kernels.surface.ground_arrays import FIRST_LAYER
from terrain_physics.heightmap.solid.side_patch import SidePatch
from terrain_physics.heightmap.solid.side_table import SideTable


class SideMesh:
    """The sides of a map at one moment.

    Attributes
    ----------
    patches : dict of int to SidePatch
        Those with sides, by their numbers.
    table : SideTable
        The table of all.
    """

    __slots__ = ("patches", "table")

    table: SideTable

    def __init__(self, patches: Mapping[int, SidePatch], known: "SideMesh | None") -> None:
        """Take over patches; ``known`` is the mesh before."""
        self.patches = patches
        before = SideTable.empty() if known is None else known.table
        self.table = before.with_meshes(
            {(0, FIRST_LAYER, k): own.storage for k, own in patches.items()}
        )
