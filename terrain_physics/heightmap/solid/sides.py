"""The sides of a height map: upright walls where its ground ends, as a mesh that follows the map.

Ground ends at holes and at open borders. There a map is solid from below its surface down to its
underside, as far as no other map goes on. The triangles of the walls are a mesh that is seen from
outside only. All triangles of a cell's side have one id, behind those of the cells.
"""

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.heightmap import grid as kernels
from terrain_physics._kernels.heightmap.solid.edges import EDGE_SIZE, LINE_SIZE, list_edges
from terrain_physics._kernels.heightmap.solid.sides import (
    EAST,
    NORTH,
    SIDES_OF_CELL,
    SOUTH,
    UNDERSIDE,
    WEST,
)
from terrain_physics._kernels.types import Bools, Floats, Int64s, read_only
from terrain_physics.heightmap.cells import Region, common, grown
from terrain_physics.heightmap.framed import LiveMap
from terrain_physics.heightmap.solid.pieces import (
    EDGE,
    HIGH,
    LOW,
    STRETCH,
    depth_of,
    pieces_of,
    places_of,
)
from terrain_physics.mesh.queries import MeshQueries
from terrain_physics.mesh.storage import MeshStorage

_LIST = CachedDispatch(list_edges)

# Maps that are farther apart, in meters, are not side by side: wider than any rounding.
NEIGHBOR_GAP = 1.0


class SideMesh(NamedTuple):
    """The sides of a map at one moment.

    Attributes
    ----------
    storage : MeshStorage
        The triangles.
    queries : MeshQueries
        Theirs; ids are their numbers.
    ids : ndarray of int64, shape (n,)
        The map's ids of the triangles; -1 outside an endless map.
    edges : ndarray of int64, shape (n,)
        The numbers of the sides that they are parts of.
    cells : ndarray of int64, shape (n,)
        The cells that they are sides of; outside the map the nearest ones.
    clear : ndarray of float64, shape (4,)
        The least x and z of a place without sides, then the greatest.
    """

    storage: MeshStorage
    queries: MeshQueries
    ids: Int64s
    edges: Int64s
    cells: Int64s
    clear: Floats


class Sides:
    """The sides of a map, found when they are asked for, and anew after the map has changed.

    Attributes
    ----------
    others : list of LiveMap
        The maps that may go on behind its border.
    """

    __slots__ = ("_depth", "_edges", "_lines", "_mesh", "_seen", "_storage", "others")

    def __init__(self, storage: LiveMap) -> None:
        self._storage, self.others = storage, list[LiveMap]()
        self._seen: tuple[int, dict[LiveMap, int]] = -1, {}
        self._depth = -1.0  # of none yet
        self._mesh: SideMesh | None = None
        self._edges = np.empty((0, EDGE_SIZE), np.int64)
        self._lines = np.empty((0, LINE_SIZE))

    def now(self) -> SideMesh | None:
        """Return the sides, None if there are none. The caller holds the lock of the map."""
        storage, others = self._storage, self.others
        seen = storage.revision, {other: other.revision for other in others}
        if seen != self._seen:
            is_new = seen[0] != self._seen[0] and self._follow()
            if is_new or self._are_others_new():
                self._mesh = _mesh_of(storage.frame, self._edges, self._lines, others)
            self._seen = seen
        return self._mesh

    def _are_others_new(self) -> bool:
        """Tell whether other maps may cover the sides than before, or other parts of them."""
        known = self._seen[1]
        if known.keys() != set(self.others):
            return True
        lower, upper = bounds_of(self._storage)
        for other, version in known.items():
            for region in set(other.regions_since(version)):
                low, high = bounds_of(other, grown(region))
                if (low <= upper + NEIGHBOR_GAP).all() and (high >= lower - NEIGHBOR_GAP).all():
                    return True
        return False

    def _follow(self) -> bool:
        """Find the edges of what was edited anew; tell whether any are other ones."""
        storage, before = self._storage, (self._edges, self._lines)
        depth, regions = depth_of(storage.thickness), storage.edge_regions()
        edges, lines = before
        if depth == self._depth:
            edited = [grown(own) for own in set(storage.regions_since(self._seen[0]))]
            both = {common(one, other) for one in regions for other in edited}
            regions = [own for own in both if own is not None]
            kept = ~_is_within(edges, edited)
            if not regions and kept.all():
                return False
            edges, lines = edges[kept], lines[kept]
        else:
            edges, lines = edges[:0], lines[:0]
        found = [(edges, lines), *(_edges_in(storage, own, depth) for own in regions)]
        edges = np.concatenate([own for own, _ in found])
        lines = np.concatenate([own for _, own in found])
        order = _each_once(edges, storage.cell_count[1])  # regions may overlap
        self._edges, self._lines, self._depth = edges[order], lines[order], depth
        return not all(map(np.array_equal, before, (self._edges, self._lines)))


def bounds_of(storage: LiveMap, region: Region | None = None) -> tuple[Floats, Floats]:
    """Return the least x and z of a map, or of a region of it, and the greatest."""
    lower, upper = storage.box_of(storage.whole if region is None else region)
    return np.array(lower)[::2], np.array(upper)[::2]


def _each_once(edges: Int64s, columns: int) -> Int64s:
    """Return the places of edges (n, EDGE_SIZE) in their order, each once."""
    row, column, side = edges.T + 1  # cells just outside of a map count
    return np.unique(((row * (columns + 2)) + column) * (UNDERSIDE + 1) + side, return_index=True)[
        1
    ]


def _is_within(edges: Int64s, regions: Sequence[Region]) -> Bools:
    """Tell which edges (n, EDGE_SIZE) are of cells in any of some regions."""
    found = np.zeros(len(edges), dtype=np.bool_)
    row, column = edges[:, 0], edges[:, 1]
    for own in regions:
        inside = (row >= own.row_start) & (row < own.row_stop)
        found |= inside & (column >= own.column_start) & (column < own.column_stop)
    return found


def _edges_in(storage: LiveMap, region: Region, depth: float) -> tuple[Int64s, Floats]:
    """Return the edges of cells of a region where ground ends, and their lines."""
    heights, cells, _, frame = storage.views
    room = 256
    while True:
        edges, lines = np.empty((room, EDGE_SIZE), np.int64), np.empty((room, LINE_SIZE))
        count = _LIST.call(heights, cells, frame, np.array(region), depth, edges, lines)
        if count <= room:
            return edges[:count], lines[:count]
        room = count


def _mesh_of(
    frame: Floats, edges: Int64s, lines: Floats, others: Sequence[LiveMap]
) -> SideMesh | None:
    pieces = pieces_of(edges, lines, frame, [other.views for other in others])
    numbers = pieces[:, EDGE].astype(np.int64)
    own = edges[numbers]
    corners, of_piece = _triangles(pieces, own, frame)
    if not len(corners):
        return None
    rows, columns = int(frame[kernels.ROWS]), int(frame[kernels.COLUMNS])
    row, column, side = own[of_piece].T
    inside = (row >= 0) & (row < rows) & (column >= 0) & (column < columns)
    cells = np.clip(row, 0, rows - 1) * columns + np.clip(column, 0, columns - 1)
    ids = np.where(inside, 2 * rows * columns + SIDES_OF_CELL * cells + side, -1)
    vertices = np.ascontiguousarray(corners.reshape(-1, 3))
    faces = np.arange(len(vertices), dtype=np.int32).reshape(-1, 3)
    vertices, ids, cells = read_only(vertices, ids, cells)
    faces.setflags(write=False)
    storage = MeshStorage(vertices, faces, side_ids=ids)
    clear, queries = _clear_of(frame, edges), MeshQueries(storage)
    return SideMesh(storage, queries, ids, numbers[of_piece], cells, clear)


def _triangles(pieces: Floats, edges: Int64s, frame: Floats) -> tuple[Floats, Int64s]:
    """Return the triangles (n, 3, 3) of pieces on edges, fronts outwards, and their pieces (n,)."""
    plane, _ = places_of(edges, frame)
    along_z = edges[:, 2] <= EAST
    points = []  # upper and lower, at the begin and at the end
    for k, line in ((0, HIGH), (0, LOW), (1, HIGH), (1, LOW)):
        along, y = pieces[:, STRETCH][:, k], pieces[:, line][:, k]
        points.append(
            np.column_stack([np.where(along_z, plane, along), y, np.where(along_z, along, plane)])
        )
    upper, lower, end_upper, end_lower = points
    first = np.stack([upper, end_upper, end_lower], axis=1)
    second = np.stack([upper, end_lower, lower], axis=1)
    corners = np.stack([first, second], axis=1).reshape(-1, 3, 3)
    of_piece = np.repeat(np.arange(len(pieces)), 2)
    side = edges[of_piece, 2]
    turned = (side != EAST) & (side != NORTH)
    corners[turned] = corners[turned][:, [0, 2, 1]]
    # A piece that ends in a point is one triangle.
    has_area = (pieces[:, HIGH] > pieces[:, LOW])[:, ::-1].reshape(-1)
    return corners[has_area], of_piece[has_area]


def _clear_of(frame: Floats, edges: Int64s) -> Floats:
    """Return least and greatest x and z of a place without edges: the whole map, or none."""
    rows, columns = int(frame[kernels.ROWS]), int(frame[kernels.COLUMNS])
    row, column, side = edges.T
    is_outer = (side == WEST) & (column == 0) | (side == EAST) & (column == columns - 1)
    is_outer |= (side == NORTH) & (row == 0) | (side == SOUTH) & (row == rows - 1)
    clear = np.array([inf, inf, -inf, -inf])
    if is_outer.all():
        x0, _, z0, cell_x, cell_z = frame[:5].tolist()
        clear = np.array([x0, z0, x0 + columns * cell_x, z0 + rows * cell_z])
    clear.setflags(write=False)
    return clear
