"""The sides of a map at one moment: all bands as one mesh."""

from collections.abc import Mapping
from math import inf
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels.heightmap import grid as kernels
from terrain_physics._kernels.mesh.parts import ID_BITS
from terrain_physics._kernels.surface.ground_arrays import FIRST_LAYER
from terrain_physics._kernels.types import Floats, Int64s
from terrain_physics.heightmap.solid.band_meshes import BandMeshes
from terrain_physics.heightmap.solid.side_band import SideBand
from terrain_physics.heightmap.solid.side_table import SideRow, SideTable
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
    bands : tuple of SideBand
        Those with sides, ascending.
    table : SideTable
        Their meshes, by their places among the bands.
    queries : MeshQueries
        A face in an answer is the place of its band and the face there: see `of_faces`.
    clear : ndarray of float64, shape (4,)
        The least x and z of a place without sides, then the greatest.
    """

    __slots__ = ("_skins", "bands", "clear", "queries", "table")

    def __init__(
        self, frame: Floats, bands: Mapping[int, SideBand], known: SideTable | None
    ) -> None:
        """Take over bands by their numbers; ``known`` is the table before."""
        self.bands = tuple(bands[number] for number in sorted(bands))
        rows = [SideRow(0, FIRST_LAYER, band.storage) for band in self.bands]
        self.table = SideTable(rows) if known is None else known.with_rows(rows)
        self.queries = MeshQueries(BandMeshes(self.table))
        self.clear = _clear_of(frame, is_outer=all(band.is_outer for band in self.bands))
        self._skins: MeshQueries | None = None

    @property
    def skins(self) -> MeshQueries:
        """The same, seen from both sides; made on first use."""
        if self._skins is None:
            rows = [SideRow(0, FIRST_LAYER, band.skin) for band in self.bands]
            self._skins = MeshQueries(BandMeshes(SideTable(rows)))
        return self._skins

    def of_face(self, face: int) -> tuple[int, int]:
        """Return the map's id of a face, and the cell that it is a side of, as `of_faces`."""
        band, own = self.bands[face >> ID_BITS], face & _FACE
        return int(band.ids.item(own)), int(band.cells.item(own))

    def of_faces(self, faces: Int64s) -> SideFaces:
        """Return what faces (n,) are parts of; -1 for -1."""
        found = SideFaces(*np.full((3, len(faces)), -1, np.int64))
        places = faces >> ID_BITS
        for place in np.unique(places[faces >= 0]).tolist():
            own = places == place
            band, within = self.bands[place], faces[own] & _FACE
            found.ids[own], found.cells[own] = band.ids[within], band.cells[within]
            found.edges[own] = (place << ID_BITS) + band.edges[within]
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
