"""The sides of a height map: upright walls where its ground ends, as a mesh that follows the map.

Ground ends at holes and at open borders. There a map is solid from below its surface down to its
underside, as far as no other map goes on. The triangles of the walls are a mesh that is seen from
outside only. All triangles of a cell's side have one id, behind those of the cells.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._jit import CachedDispatch
from terrain_physics._kernels.heightmap.solid.edges import EDGE_SIZE, LINE_SIZE, list_edges
from terrain_physics._kernels.heightmap.solid.sides import UNDERSIDE
from terrain_physics._kernels.types import Bools, Floats, Int64s
from terrain_physics.heightmap.cells import Region, all_common, grown
from terrain_physics.heightmap.framed import LiveMap
from terrain_physics.heightmap.solid.pieces import depth_of
from terrain_physics.heightmap.solid.side_band import SideBand, band_of
from terrain_physics.heightmap.solid.side_mesh import SideMesh

_LIST = CachedDispatch(list_edges)

# So many rows of cells make a band, the last ones fewer.
BAND_ROWS = 256

# Maps that are farther apart, in meters, are not side by side: wider than any rounding.
NEIGHBOR_GAP = 1.0


class BandEdges(NamedTuple):
    """The edges of the cells of a band where ground ends, in the order of their ids."""

    edges: Int64s  # (n, EDGE_SIZE)
    lines: Floats  # (n, LINE_SIZE)


_NO_EDGES = BandEdges(np.empty((0, EDGE_SIZE), np.int64), np.empty((0, LINE_SIZE)))


class Sides:
    """The sides of a map, found when they are asked for, and anew where the map has changed.

    Attributes
    ----------
    others : list of LiveMap
        The maps that may go on behind its border.
    """

    __slots__ = ("_bands", "_depth", "_edges", "_mesh", "_seen", "_storage", "others")

    def __init__(self, storage: LiveMap) -> None:
        self._storage, self.others = storage, list[LiveMap]()
        self._seen: tuple[int, dict[LiveMap, int]] = -1, {}
        self._depth = -1.0  # of none yet
        self._mesh: SideMesh | None = None
        self._bands: dict[int, SideBand] = {}  # both by the numbers of bands
        self._edges: dict[int, BandEdges] = {}

    def now(self) -> SideMesh | None:
        """Return the sides, None if there are none. The caller holds the lock of the map."""
        storage, others = self._storage, self.others
        seen = storage.revision, {other: other.revision for other in others}
        if seen != self._seen:
            depth = depth_of(storage.thickness)
            edges = self._edges_now(depth) if seen[0] != self._seen[0] else self._edges
            numbers = self._changed(edges)
            if self._are_others_new():
                numbers = {*edges, *self._bands}
            bands, mesh = self._bands, self._mesh
            if numbers:
                bands = self._bands_of(numbers, edges)
                known = None if mesh is None else mesh.table
                mesh = SideMesh(storage.frame, bands, known) if bands else None
            # All at once: Ctrl-C before that leaves it as it was.
            self._edges, self._bands, self._mesh, self._depth, self._seen = (
                edges, bands, mesh, depth, seen,
            )  # fmt: skip
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

    def _edges_now(self, depth: float) -> dict[int, BandEdges]:
        """Return the edges by bands: those of what was edited are found anew."""
        storage = self._storage
        if depth != self._depth:
            known, edited = {}, [grown(storage.whole)]
        else:
            known = self._edges.copy()
            edited = [grown(own) for own in set(storage.regions_since(self._seen[0]))]
        for number, areas in self._by_bands(edited).items():
            before = known.get(number, _NO_EDGES)
            found = self._found_anew(before, areas, depth)
            if not len(found.edges):
                known.pop(number, None)
            elif found is not before:
                known[number] = found
        return known

    def _by_bands(self, areas: Iterable[Region]) -> dict[int, list[Region]]:
        """Return areas cut into those of bands, by their numbers."""
        found: dict[int, list[Region]] = {}
        for area in areas:
            for number in self._numbers_of(area):
                found.setdefault(number, []).extend(all_common([area], self._rows_of(number)))
        return found

    def _found_anew(self, before: BandEdges, areas: Sequence[Region], depth: float) -> BandEdges:
        """Return the edges of a band, those in areas of it found anew; ``before`` if none is."""
        storage, kept = self._storage, ~_is_within(before.edges, areas)
        regions = {own for area in areas for own in storage.edge_regions(area)}
        if not regions and kept.all():
            return before
        parts = [BandEdges(before.edges[kept], before.lines[kept])]
        parts += [_edges_in(storage, own, depth) for own in regions]
        edges, lines = (np.concatenate([own[k] for own in parts]) for k in (0, 1))
        order = _each_once(edges, storage.cell_count[1])  # regions may overlap
        found = BandEdges(edges[order], lines[order])
        return before if _are_equal(found, before) else found

    def _numbers_of(self, area: Region) -> range:
        """Return the bands that share rows with an area."""
        last = max(self._storage.cell_count[0] - 1, 0) // BAND_ROWS
        first, stop = area.row_start // BAND_ROWS, (area.row_stop - 1) // BAND_ROWS + 1
        return range(min(max(first, 0), last), min(stop, last + 1))

    def _rows_of(self, number: int) -> Region:
        """Return the cells of a band, with those outside beside it."""
        rows, columns = self._storage.cell_count
        first, stop = number * BAND_ROWS, (number + 1) * BAND_ROWS
        return Region(
            -1 if first == 0 else first, rows + 1 if stop >= rows else stop, -1, columns + 1
        )

    # Bands

    def _changed(self, edges: dict[int, BandEdges]) -> set[int]:
        """Return the bands with other edges than before, their own or those beside them."""
        before = self._edges
        changed = [own for own in {*edges, *before} if edges.get(own) is not before.get(own)]
        near = {own + step for own in changed for step in (-1, 0, 1)}.intersection(
            {*edges, *before}
        )
        return {own for own in near if not _are_equal(*(_around(own, k) for k in (edges, before)))}

    def _bands_of(self, numbers: Iterable[int], edges: dict[int, BandEdges]) -> dict[int, SideBand]:
        """Return the bands, some of them made anew."""
        bands, frame = self._bands.copy(), self._storage.frame
        others = [other.views for other in self.others]
        for number in numbers:
            bands.pop(number, None)
            count = len(edges.get(number, _NO_EDGES).edges)
            band = band_of(frame, *_around(number, edges), count, others)
            if band is not None:
                bands[number] = band
        return bands


def bounds_of(storage: LiveMap, region: Region | None = None) -> tuple[Floats, Floats]:
    """Return the least x and z of a map, or of a region of it, and the greatest."""
    lower, upper = storage.box_of(storage.whole if region is None else region)
    return np.array(lower)[::2], np.array(upper)[::2]


def _around(number: int, edges: Mapping[int, BandEdges]) -> BandEdges:
    """Return the edges of a band, then those of the rows beside it."""
    before, own, after = (edges.get(number + step, _NO_EDGES) for step in (-1, 0, 1))
    first, stop = number * BAND_ROWS, (number + 1) * BAND_ROWS
    begin = int(np.searchsorted(before.edges[:, 0], first - 1))
    end = int(np.searchsorted(after.edges[:, 0], stop, side="right"))
    parts = zip(own, before, after, strict=True)
    return BandEdges(*(np.concatenate([a, b[begin:], c[:end]]) for a, b, c in parts))


def _are_equal(one: BandEdges, other: BandEdges) -> bool:
    return all(map(np.array_equal, one, other))


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


def _edges_in(storage: LiveMap, region: Region, depth: float) -> BandEdges:
    """Return the edges of cells of a region where ground ends, and their lines."""
    heights, cells, _, frame = storage.views
    room = 256
    while True:
        edges, lines = np.empty((room, EDGE_SIZE), np.int64), np.empty((room, LINE_SIZE))
        count = _LIST.call(heights, cells, frame, np.array(region), depth, edges, lines)
        if count <= room:
            return BandEdges(edges[:count], lines[:count])
        room = count
