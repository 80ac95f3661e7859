"""The parts of a ground: what to query for each, and which part owns a triangle."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, NamedTuple, cast

import numpy as np

from terrain_physics._checks import Floats3
from terrain_physics._kernels.heightmap import grid as grid_kernels
from terrain_physics._kernels.types import Bytes, Longs, read_only
from terrain_physics._locks import Rank, in_order, new_lock
from terrain_physics.ground.answers import Owners
from terrain_physics.ground.edits import EditedMap
from terrain_physics.ground.union import Union, groups_of_neighbors
from terrain_physics.heightmap.queries import MapQueries
from terrain_physics.mesh.assembly import joined
from terrain_physics.mesh.queries import MeshQueries
from terrain_physics.mesh.storage import MeshStorage
from terrain_physics.surface.ground_arrays import GroundArrays, MapArrays
from terrain_physics.surface.materials import joined_names, joined_numbers

PartQueries = MapQueries | MeshQueries


class Source(NamedTuple):
    """What to query for one part, or for several maps that are united.

    Attributes
    ----------
    queries : MapQueries or MeshQueries
        Of the part itself, or of the union.
    union : Union or None
        The union, if there is one.
    parts : ndarray of int64, shape (k,)
        Which parts, ascending.
    first_ids : ndarray of int64, shape (k,)
        The ids of their first triangles.
    part, first_id : int
        The first of them.
    """

    queries: PartQueries
    union: Union | None
    parts: Longs
    first_ids: Longs
    part: int
    first_id: int

    @classmethod
    def of(
        cls, queries: PartQueries, union: Union | None, parts: Longs, first_ids: Longs
    ) -> "Source":
        """Return the source of these parts."""
        return cls(queries, union, parts, first_ids, int(parts[0]), int(first_ids[0]))

    def owners(self, triangles: Longs) -> Owners:
        """Return the owners of triangles (n,); -1 stays, and is of the first part."""
        if self.union is None:
            return Owners(self.ids(triangles)[0], np.full(len(triangles), self.part))
        ids, parts, _ = self.union.owners(triangles, self.parts, self.first_ids)
        return Owners(ids, parts)

    def ids(self, triangles: Longs) -> tuple[Longs, Longs | None]:
        """Return the ground's ids of triangles (n,), and their parts unless these ascend."""
        if self.union is None:
            if self.first_id == 0:
                return triangles, None
            ids = triangles + self.first_id
            ids[triangles < 0] = -1
            return ids, None
        ids, parts, ascend = self.union.owners(triangles, self.parts, self.first_ids)
        return ids, None if ascend else parts

    def owner(self, triangle: int) -> tuple[int, int]:
        """Return the ground's id of a triangle and the part it is of."""
        if self.union is None:
            return (triangle + self.first_id if triangle >= 0 else -1), self.part
        return self.union.owner(triangle, self.parts, self.first_ids)


class GroundParts:
    """The parts of a ground, and the arrays of all of them for characters.

    Attributes
    ----------
    queries : list of MapQueries and MeshQueries
        Of the parts, in the order given.
    sources : list of Source
        What to query for them, in the order of their first parts.
    ends : ndarray of int64
        The ids after the last triangle of each part.
    lock : context manager
        Held by short queries of characters.
    material_names : tuple of str, or None
        The names of the ground's materials 0, 1, ...
    numbers : ndarray of uint8, shape (k, 256), or None
        The ground's number for each number of each part; None if they are the same.
    """

    __slots__ = (
        "_arrays",
        "_following",
        "_maps",
        "_mesh",
        "_meshes",
        "_moved",
        "_seen",
        "ends",
        "lock",
        "material_names",
        "numbers",
        "queries",
        "sources",
    )

    lock: AbstractContextManager[Any]

    def __init__(self, queries: Sequence[PartQueries]) -> None:
        self.queries = list(queries)
        self.ends = np.cumsum([part.triangle_count for part in self.queries], dtype=np.int64)
        names = [part.storage.material_names for part in self.queries]
        self.material_names, self.numbers = joined_names(names), joined_numbers(names)
        self._maps = self._sources_of_maps()
        self._meshes = [
            Source.of(part, None, np.array([k]), self.first_ids[[k]])
            for k, part in enumerate(self.queries)
            if isinstance(part, MeshQueries)
        ]
        one_map = len(self._maps) == 1
        self._following = new_lock(Rank.ARRAYS if one_map else Rank.ARRAYS_OF_MAPS)
        self.sources = sorted([*self._maps, *self._meshes], key=lambda source: source.part)
        # Edits write to the arrays of a single map, or of the union of all maps.
        self.lock = self._maps[0].queries.lock if one_map else new_lock(Rank.GROUND)
        self._mesh: MeshQueries | None = None
        self._seen: tuple[int, ...] = ()
        self._moved: tuple[int, ...] = ()
        self._arrays = GroundArrays()

    def _sources_of_maps(self) -> list[Source]:
        """Return what to query for the maps: those that share border lines are united."""
        maps = [(k, part) for k, part in enumerate(self.queries) if isinstance(part, MapQueries)]
        if len(maps) == 1:  # a single map keeps its border
            where = np.array([maps[0][0]])
            return [Source.of(maps[0][1], None, where, self.first_ids[where])]
        lands = [part.storage for _, part in maps]
        # A map that is there twice is united once.
        first = {id(land): k for k, land in reversed(list(enumerate(lands)))}
        fresh = sorted(first.values())
        groups = [
            [fresh[k] for k in group] for group in groups_of_neighbors([lands[k] for k in fresh])
        ]
        groups += [[k] for k, land in enumerate(lands) if first[id(land)] != k]
        sources = []
        for group in groups:
            union = Union([lands[k] for k in group])
            where = np.array([maps[k][0] for k in group])
            sources.append(Source.of(MapQueries(union.land), union, where, self.first_ids[where]))
        return sources

    @property
    def first_ids(self) -> Longs:
        """The id of each part's first triangle."""
        return np.concatenate([np.zeros(1, dtype=np.int64), self.ends[:-1]])

    @property
    def version(self) -> int:
        """The number of edits and refits in all parts, copies of shared samples included."""
        self.current()
        return sum(part.version for part in self.queries)

    def current(self) -> list[Source]:
        """Return what to query, in the order of first parts; unions follow the edits first."""
        for source in self._maps:
            if source.union is not None:
                source.union.follow()
        return self.sources

    def material_of(self, part: int, material: int) -> int:
        """Return the ground's number for a material of a part."""
        return material if self.numbers is None else int(self.numbers[part, material])

    def materials_of(self, parts: Longs, materials: Bytes) -> Bytes:
        """Return the ground's numbers for materials (n,) of parts (n,)."""
        return materials if self.numbers is None else self.numbers[parts, materials]

    @contextmanager
    def editing(self) -> Iterator[list[EditedMap]]:
        """Give all maps, each once, as they are now; nobody else edits them meanwhile."""
        maps: list[EditedMap] = []
        locks: set[Any] = set()
        given: set[PartQueries] = set()
        for source in self._maps:
            parts = {self.queries[part] for part in source.parts}
            locks |= {source.queries.lock, *(part.lock for part in parts)}
            if not parts <= given:  # a map given twice is edited once
                maps.append(EditedMap(cast("MapQueries", source.queries), source.union))
                given |= parts
        with ExitStack() as held:
            for lock in in_order(locks):
                held.enter_context(lock)
            self.current()
            yield maps
            self.current()

    def triangle_at(self, number: int, triangle: int, point: Floats3) -> tuple[int, int]:
        """Return the id and the material of a triangle that a kernel names by map and number."""
        self.ground_arrays()
        if number >= len(self._maps):
            return -1, 0
        if number >= 0:
            return self._triangle_of(self._maps[number], triangle, point)
        own = -1 if self._mesh is None else self._mesh.triangle_at(0, triangle, point)[0]
        if own < 0:
            return -1, 0
        for source in self._meshes:
            if own < source.queries.triangle_count:
                return self._triangle_of(source, own, point)
            own -= source.queries.triangle_count
        return -1, 0

    def _triangle_of(self, source: Source, triangle: int, point: Floats3) -> tuple[int, int]:
        """Return the ground's id and material of a triangle of a source."""
        found, part = source.owner(triangle)
        return found, self.material_of(part, source.queries.triangle_at(0, triangle, point)[1])

    @contextmanager
    def reading(self) -> Iterator[GroundArrays]:
        """Give the arrays to a long query; they stay as they are until it ends."""
        self.current()
        if len(self._maps) == 1:  # only the arrays of a single map are edited in place
            with self._maps[0].queries.reading() as land:
                arrays = self.ground_arrays()
                yield arrays if arrays.maps is land.maps else GroundArrays(land.maps, arrays.mesh)
        else:
            yield self.ground_arrays()

    def ground_arrays(self) -> GroundArrays:
        """Return the arrays for characters, made anew if the parts were edited."""
        # Before our lock: this takes a union's lock, and characters hold that and want ours.
        self.current()
        with self._following:
            versions = tuple(source.queries.version for source in self.sources)
            if versions == self._seen:
                return self._arrays
            moved = tuple(source.queries.version for source in self._meshes)
            if self._meshes and moved != self._moved:
                meshes = [source.queries for source in self._meshes]
                self._mesh = _one_mesh(cast("list[MeshQueries]", meshes))
            lands = cast("list[MapQueries]", [source.queries for source in self._maps])
            maps = lands[0].ground_arrays.maps if len(lands) == 1 else _side_by_side(lands)
            mesh = None if self._mesh is None else self._mesh.ground_arrays.mesh
            if maps is not self._arrays.maps or mesh is not self._arrays.mesh:
                self._arrays = GroundArrays(maps, mesh)
            self._seen, self._moved = versions, moved
            return self._arrays


def _one_mesh(meshes: list[MeshQueries]) -> MeshQueries:
    """Return one mesh with the faces of several, in order."""
    if len(meshes) == 1:
        return meshes[0]
    arrays = [mesh.storage.arrays for mesh in meshes]
    vertices, faces = read_only(*joined([(own.vertices, own.faces) for own in arrays]))
    return MeshQueries(MeshStorage(vertices, faces))


def _side_by_side(lands: list[MapQueries]) -> MapArrays | None:
    """Return the arrays of several maps one behind the other."""
    if not lands:
        return None
    with ExitStack() as stack:
        arrays = [stack.enter_context(land.storage.reading())[0] for land in lands]
        frames = []
        starts = np.zeros(3)
        for own in arrays:
            frame = own[3].copy()
            frame[grid_kernels.EXTEND] = 0.0
            frame[grid_kernels.FIRST_HEIGHT] = starts[0]
            frame[grid_kernels.FIRST_CELL] = starts[1]
            frame[grid_kernels.FIRST_BLOCK] = starts[2] / 2
            starts += [len(values) for values in own[:3]]
            frames.append(frame)
        heights, cells, blocks = (np.concatenate([own[k] for own in arrays]) for k in range(3))
    return heights, cells, blocks, np.concatenate(frames)
