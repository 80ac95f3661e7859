"""The sides of a map at one moment: all patches as one mesh."""

from collections.abc import Mapping
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.heightmap import grid as kernels
from terrain_physics._kernels.mesh.parts import ID_BITS
from terrain_physics._kernels.surface.ground_arrays import FIRST_LAYER
from terrain_physics._kernels.types import Floats, Int64s
from terrain_physics.heightmap.solid.patch_meshes import PatchMeshes
from terrain_physics.heightmap.solid.side_patch import SidePatch
from terrain_physics.heightmap.solid.side_table import SideTable
from terrain_physics.mesh.queries import MeshQueries

_FACE = (1 << ID_BITS) - 1


class SideMesh:
    """The sides of a map at one moment.

    Attributes
    ----------
    patches : dict of int to SidePatch
        Those with sides, by their numbers.
    queries : MeshQueries
        A face in an answer is the number of its patch and the face there: see `ids`.
    clear : ndarray of float64, shape (4,)
        The least x and z of a place without sides, then the greatest.
    """

    __slots__ = ("_skins", "_table", "clear", "patches", "queries")

    def __init__(
        self, frame: Floats, patches: Mapping[int, SidePatch], known: "SideMesh | None"
    ) -> None:
        """Take over patches; ``known`` is the mesh before."""
        self.patches = patches
        before = SideTable() if known is None else known._table  # noqa: SLF001 its own
        meshes = {(0, FIRST_LAYER, k): own.storage for k, own in patches.items()}
        self._table = before.with_meshes(meshes)
        self.queries = MeshQueries(PatchMeshes(self._table))
        self.clear = _clear_of(frame, is_outer=all(own.is_outer for own in patches.values()))
        self._skins: MeshQueries | None = None

    @property
    def view(self) -> Int64s:
        """The table of all, for kernels."""
        return self._table.view

    @property
    def skins(self) -> MeshQueries:
        """The same, seen from both sides; made on first use."""
        if self._skins is None:
            meshes = {(0, FIRST_LAYER, k): own.skin for k, own in self.patches.items()}
            self._skins = MeshQueries(PatchMeshes(SideTable().with_meshes(meshes)))
        return self._skins

    def ids(self, faces: Int64s) -> Int64s:
        """Return the map's ids of faces (n,); -1 for -1, and outside an endless map."""
        return self._of_faces("ids", faces)

    def cells(self, faces: Int64s) -> Int64s:
        """Return the cells that faces (n,) are sides of; outside the map the nearest ones."""
        return self._of_faces("cells", faces)

    def edges(self, faces: Int64s) -> Int64s:
        """Return the numbers of the sides that faces (n,) are parts of."""
        return (faces >> ID_BITS << ID_BITS) + self._of_faces("edges", faces)

    def _of_faces(self, what: str, faces: Int64s) -> Int64s:
        """Return values of faces (n,); -1 for -1."""
        found = np.full(len(faces), -1, np.int64)
        numbers = faces >> ID_BITS
        for number in np.unique(numbers[faces >= 0]).tolist():
            own = numbers == number
            values: NDArray[Any] = getattr(self.patches[number], what)
            found[own] = values[faces[own] & _FACE]
        return found


def _clear_of(frame: Floats, *, is_outer: bool) -> Floats:
    """Return least and greatest x and z of a place without edges: the whole map, or none."""
    clear = np.array([inf, inf, -inf, -inf])
    if is_outer:
        x0, _, z0, cell_x, cell_z = frame[:5].tolist()
        rows, columns = int(frame[kernels.ROWS]), int(frame[kernels.COLUMNS])
        clear = np.array([x0, z0, x0 + columns * cell_x, z0 + rows * cell_z])
    clear.setflags(write=False)
    return clear
