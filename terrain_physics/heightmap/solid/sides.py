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
from terrain_physics.heightmap.solid.patch_grid import PatchGrid
from terrain_physics.heightmap.solid.pieces import depth_of
from terrain_physics.heightmap.solid.side_mesh import SideMesh
from terrain_physics.heightmap.solid.side_patch import SidePatch, patch_of

_LIST = CachedDispatch(list_edges)

# Maps that are farther apart, in meters, are not side by side: wider than any rounding.
NEIGHBOR_GAP = 1.0


class PatchEdges(NamedTuple):
    """The edges of the cells of a patch where ground ends, in the order of their ids."""

    edges: Int64s  # (n, EDGE_SIZE)
    lines: Floats  # (n, LINE_SIZE)


_NO_EDGES = PatchEdges(np.empty((0, EDGE_SIZE), np.int64), np.empty((0, LINE_SIZE)))


class Sides:
    """The sides of a map, found when they are asked for, and anew where the map has changed.

    Attributes
    ----------
    others : list of LiveMap
        The maps that may go on behind its border.
    """

    __slots__ = (
        "_depth", "_depths", "_edges", "_grid", "_mesh", "_patches", "_seen", "_storage", "others",
    )  # fmt: skip

    def __init__(self, storage: LiveMap) -> None:
        self._storage, self.others = storage, list[LiveMap]()
        self._grid = PatchGrid(*storage.cell_count)
        self._seen: tuple[int, dict[LiveMap, int]] = -1, {}
        self._depth, self._depths = -1.0, dict[LiveMap, float]()  # of none yet; of the others
        self._mesh: SideMesh | None = None
        self._patches: dict[int, SidePatch] = {}  # both by the numbers of patches
        self._edges: dict[int, PatchEdges] = {}

    def now(self) -> SideMesh | None:
        """Return the sides, None if there are none. The caller holds the lock of the map."""
        storage, others = self._storage, self.others
        seen = storage.revision, {other: other.revision for other in others}
        if seen != self._seen:
            depth, depths = depth_of(storage.thickness), {own: own.thickness for own in others}
            edges = self._edges_now(depth) if seen[0] != self._seen[0] else self._edges
            numbers = self._changed(edges)
            if depths != self._depths or self._are_others_new():
                numbers = {*edges, *self._patches}
            patches, mesh = self._patches, self._mesh
            if numbers:
                patches = self._patches_of(numbers, edges)
                mesh = SideMesh(patches, mesh) if patches else None
            # All at once: Ctrl-C before that leaves it as it was.
            self._edges, self._patches, self._mesh, self._seen = edges, patches, mesh, seen
            self._depth, self._depths = depth, depths
        return self._mesh

    def _are_others_new(self) -> bool:
        """Tell whether other parts of the same maps may cover the sides than before."""
        lower, upper = bounds_of(self._storage)
        for other, version in self._seen[1].items():
            for region in set(other.regions_since(version)):
                low, high = bounds_of(other, grown(region))
                if (low <= upper + NEIGHBOR_GAP).all() and (high >= lower - NEIGHBOR_GAP).all():
                    return True
        return False

    def _edges_now(self, depth: float) -> dict[int, PatchEdges]:
        """Return the edges by patches: those of what was edited are found anew."""
        storage, known = self._storage, dict[int, PatchEdges]()
        edited = [grown(storage.whole)]
        if depth == self._depth:
            known = self._edges.copy()
            edited = [grown(own) for own in set(storage.regions_since(self._seen[0]))]
        for number, areas in self._by_patches(edited, known).items():
            before = known.get(number, _NO_EDGES)
            found = self._found_anew(before, areas, depth)
            if not len(found.edges):
                known.pop(number, None)
            elif found is not before:
                known[number] = found
        return known

    def _by_patches(
        self, areas: Iterable[Region], known: Mapping[int, PatchEdges]
    ) -> dict[int, list[Region]]:
        """Return areas cut into those of patches, where ground ends or did."""
        found: dict[int, list[Region]] = {}
        for area in areas:
            numbers = {*self._among(known, area)}
            for region in self._storage.edge_regions(area):
                numbers.update(self._grid.numbers(region))
            for number in numbers:
                found.setdefault(number, []).extend(all_common([area], self._grid.cells(number)))
        return found

    def _among(self, known: Mapping[int, PatchEdges], area: Region) -> Iterable[int]:
        """Return the known patches that have cells of an area, and maybe others."""
        rows, columns = self._grid.spans(area)
        if len(rows) * len(columns) > len(known):
            return list(known)
        return [own for own in self._grid.numbers(area) if own in known]

    def _found_anew(self, before: PatchEdges, areas: Sequence[Region], depth: float) -> PatchEdges:
        """Return the edges of a patch, those in areas of it found anew; ``before`` if none is."""
        storage, kept = self._storage, ~_is_within(before.edges, areas)
        regions = {own for area in areas for own in storage.edge_regions(area)}
        if not regions and kept.all():
            return before
        found = _joined(
            [_picked(before, kept), *(_edges_in(storage, own, depth) for own in regions)]
        )
        # In order, and each once: regions may overlap.
        found = _picked(found, _places_in_order(found.edges, storage.cell_count[1]))
        return before if _are_equal(found, before) else found

    # Patches

    def _changed(self, edges: Mapping[int, PatchEdges]) -> set[int]:
        """Return the patches with other edges than before, their own or those beside them."""
        before = self._edges
        changed = {number for number, own in edges.items() if before.get(number) is not own}
        changed |= before.keys() - edges.keys()
        found = changed.copy()
        for number in changed:
            now, then = (own.get(number, _NO_EDGES) for own in (edges, before))
            for other in self._beside(number):
                area = grown(self._grid.cells(other))
                views = (_picked(own, _is_within(own.edges, [area])) for own in (now, then))
                if other in edges and not _are_equal(*views):
                    found.add(other)
        return found

    def _beside(self, number: int) -> list[int]:
        """Return the patches around a patch."""
        around = self._grid.numbers(grown(self._grid.cells(number)))
        return [own for own in around if own != number]

    def _with_ghosts(self, number: int, edges: Mapping[int, PatchEdges]) -> PatchEdges:
        """Return the edges of a patch, then those of other patches at its border."""
        area = grown(self._grid.cells(number))
        others = [edges[own] for own in self._beside(number) if own in edges]
        ghosts = [_picked(own, _is_within(own.edges, [area])) for own in others]
        return _joined([edges[number], *ghosts])

    def _patches_of(
        self, numbers: Iterable[int], edges: Mapping[int, PatchEdges]
    ) -> dict[int, SidePatch]:
        """Return the patches, some of them made anew."""
        patches, frame = self._patches.copy(), self._storage.frame
        others = [other.views for other in self.others]
        for number in numbers:
            patches.pop(number, None)
            if number not in edges:
                continue
            all_edges, lines = self._with_ghosts(number, edges)
            patch = patch_of(frame, all_edges, lines, len(edges[number].edges), others)
            if patch is not None:
                patches[number] = patch
        return patches


def bounds_of(storage: LiveMap, region: Region | None = None) -> tuple[Floats, Floats]:
    """Return the least x and z of a map, or of a region of it, and the greatest."""
    lower, upper = storage.box_of(storage.whole if region is None else region)
    return np.array(lower)[::2], np.array(upper)[::2]


def _picked(own: PatchEdges, places: Bools | Int64s) -> PatchEdges:
    return PatchEdges(own.edges[places], own.lines[places])


def _joined(parts: Sequence[PatchEdges]) -> PatchEdges:
    return PatchEdges(*(np.concatenate([own[k] for own in parts]) for k in (0, 1)))


def _are_equal(one: PatchEdges, other: PatchEdges) -> bool:
    return all(map(np.array_equal, one, other))


def _places_in_order(edges: Int64s, columns: int) -> Int64s:
    """Return the places of edges (n, EDGE_SIZE) in their order, each once."""
    row, column, side = edges.T + 1  # cells just outside of a map count
    keys = ((row * (columns + 2)) + column) * (UNDERSIDE + 1) + side
    return np.unique(keys, return_index=True)[1]


def _is_within(edges: Int64s, regions: Sequence[Region]) -> Bools:
    """Tell which edges (n, EDGE_SIZE) are of cells in any of some regions."""
    found = np.zeros(len(edges), dtype=np.bool_)
    row, column = edges[:, 0], edges[:, 1]
    for own in regions:
        inside = (row >= own.row_start) & (row < own.row_stop)
        found |= inside & (column >= own.column_start) & (column < own.column_stop)
    return found


def _edges_in(storage: LiveMap, region: Region, depth: float) -> PatchEdges:
    """Return the edges of cells of a region where ground ends, and their lines."""
    heights, cells, _, frame = storage.views
    room = 256
    while True:
        edges, lines = np.empty((room, EDGE_SIZE), np.int64), np.empty((room, LINE_SIZE))
        count = _LIST.call(heights, cells, frame, np.array(region), depth, edges, lines)
        if count <= room:
            return PatchEdges(edges[:count], lines[:count])
        room = count
