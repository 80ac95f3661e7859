"""The sides of a map at one moment: all patches as one mesh."""

from collections.abc import Mapping
from math import inf
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels.heightmap import grid as kernels
from terrain_physics._kernels.mesh.parts import ID_BITS
from terrain_physics._kernels.surface.ground_arrays import FIRST_LAYER
from terrain_physics._kernels.types import Floats, Int64s
from terrain_physics.heightmap.solid.patch_meshes import PatchMeshes
from terrain_physics.heightmap.solid.side_patch import SidePatch
from terrain_physics.heightmap.solid.side_table import SideTable
from terrain_physics.mesh.queries import MeshQueries

_FACE = (1 << ID_BITS) - 1


class SideFaces(NamedTuple):
    """What faces of sides are parts of.

    Attributes
    ----------
    ids : ndarray of int64, shape (n,)
        The map's ids; -1 outside an endless map.
    cells : ndarray of int64, shape (n,)
        The cells that they are sides of; outside the map the nearest ones.
    edges : ndarray of int64, shape (n,)
        The numbers of the sides.
    """

    ids: Int64s
    cells: Int64s
    edges: Int64s


class SideMesh:
    """The sides of a map at one moment.

    Attributes
    ----------
    patches : dict of int to SidePatch
        Those with sides, by their numbers.
    queries : MeshQueries
        A face in an answer is the number of its patch and the face there: see `of_faces`.
    clear : ndarray of float64, shape (4,)
        The least x and z of a place without sides, then the greatest.
    """

    __slots__ = ("_table", "clear", "patches", "queries")

    _table: SideTable

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

    @property
    def table(self) -> SideTable:
        """The table of all."""
        return self._table

    def of_faces(self, faces: Int64s) -> SideFaces:
        """Return what faces (n,) are parts of; -1 for -1."""
        found = SideFaces(*np.full((3, len(faces)), -1, np.int64))
        numbers = faces >> ID_BITS
        for number in np.unique(numbers[faces >= 0]).tolist():
            own = numbers == number
            patch, within = self.patches[number], faces[own] & _FACE
            found.ids[own], found.cells[own] = patch.ids[within], patch.cells[within]
            found.edges[own] = (number << ID_BITS) + patch.edges[within]
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
