"""The parts of a ground by their numbers, as they come and go; and all of them for characters."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from operator import attrgetter
from typing import Any, cast

import numpy as np

from terrain_physics._checks import Floats3
from terrain_physics._kernels.heightmap import grid as grid_kernels
from terrain_physics._kernels.mesh.parts import ID_BITS
from terrain_physics._kernels.surface.ground_arrays import ALL_LAYERS
from terrain_physics._kernels.types import Floats, Longs, read_only
from terrain_physics._locks import in_order
from terrain_physics.ground.edits import EditedMap
from terrain_physics.ground.materials import GroundMaterials
from terrain_physics.ground.meshes import GroundMeshes
from terrain_physics.ground.movers import GroundMovers
from terrain_physics.ground.poses import Pose
from terrain_physics.ground.sources import MapSource, MeshSource, Source
from terrain_physics.ground.union import Union, groups_of_neighbors
from terrain_physics.heightmap.queries import MapQueries
from terrain_physics.heightmap.storage import MapStorage
from terrain_physics.mesh.queries import MeshQueries
from terrain_physics.mesh.storage import MeshStorage
from terrain_physics.surface.changes import EVERYWHERE, ChangeLog
from terrain_physics.surface.ground_arrays import (
    NO_MAPS,
    NO_MESHES,
    GroundArrays,
    MapArrays,
    map_rows,
)
from terrain_physics.surface.ground_files import MOST_NUMBERS
from terrain_physics.surface.materials import MOST_MATERIALS, Names

PartQueries = MapQueries | MeshQueries
Storage = MapStorage | MeshStorage


class GroundParts:
    """The parts of a ground, and the arrays of all of them for characters.

    Attributes
    ----------
    queries : dict of int to MapQueries and MeshQueries
        Of the parts, by their numbers, which ascend.
    layers : dict of int to int
        Those that the parts are on, a bit for each, by their numbers.
    next_number : int
        Of the next part: no number is used twice.
    changes : ChangeLog
        Where it has changed lately, as of the last look at `version`.
    lands : list of MapQueries
        Those of the maps.
    cell_sizes : tuple of (float, float)
        Of each of them; a new tuple whenever maps come or go.
    sources : list of MapSource and MeshSource
        What to query for those that are on any layer, in the order of their first numbers.
    """

    __slots__ = (
        "_arrays",
        "_gone",
        "_is_changing",
        "_logged",
        "_logged_of",
        "_maps",
        "_materials",
        "_mesh_queries",
        "_meshes",
        "_seen",
        "_shown",
        "_table",
        "cell_sizes",
        "changes",
        "lands",
        "layers",
        "next_number",
        "queries",
        "sources",
    )

    def __init__(
        self,
        parts: dict[int, PartQueries],
        layers: dict[int, int],
        next_number: int,
        changes: int,
        poses: dict[int, Pose],
        movers: Any,
    ) -> None:
        """Take over parts, see `adopt`; ``movers`` as `GroundMovers.saved` gives them."""
        self.queries: dict[int, PartQueries] = {}
        self.layers: dict[int, int] = {}
        self.next_number = 0
        self.sources: list[Source] = []
        self._materials = GroundMaterials()
        self._meshes = GroundMeshes()
        self._mesh_queries = MeshQueries(self._meshes)
        self.lands: list[MapQueries] = []
        self.cell_sizes: tuple[tuple[float, float], ...] = ()
        self._maps: list[MapSource] = []
        self._is_changing = False
        self._gone = 0  # edits of maps that are gone, and changes of which parts there are
        self._seen: tuple[Any, ...] = ()
        self._shown: tuple[MapArrays, MapSource, Longs] | None = None
        self._table = NO_MAPS
        self._arrays = GroundArrays(NO_MAPS, NO_MESHES)
        self._logged_of: dict[Any, int] = {}
        self.changes = ChangeLog(0)
        self.adopt(parts, layers, next_number, changes)
        for number, pose in poses.items():
            self._meshes.move(number, pose, None)
        self._meshes.load_movers(movers)
        self._logged_of[self._meshes] = self._meshes.change_count
        self._logged = self._count()
        self.changes = ChangeLog(self._logged)

    # Parts that come and go

    @property
    def changing(self) -> AbstractContextManager[Any]:
        """Held by who changes which parts there are, or needs all of one moment."""
        return self._meshes.lock

    @contextmanager
    def change(self) -> Iterator[None]:
        """Let one change be made at a time, by whichever thread.

        A signal handler would find it half done: it may ask and edit, but not change parts.
        """
        with self.changing:
            if self._is_changing:
                raise RuntimeError(
                    "parts must not be changed by a signal handler while its thread changes them"
                )
            self._is_changing = True
            try:
                yield
            finally:
                self._is_changing = False

    def adopt(
        self,
        parts: dict[int, PartQueries],
        layers: dict[int, int],
        next_number: int,
        changes: int,
    ) -> None:
        """Add parts by their numbers, higher than any before; ValueError if they do not fit.

        That counts as so many changes, besides those of the parts. If refused, nothing has changed.
        """
        if next_number > MOST_NUMBERS:
            raise ValueError(
                f"parts must be at most {MOST_NUMBERS}, those that were removed included"
            )
        with self.changing:
            self.current()  # what is to be copied between maps is, before they are united anew
            before = self._thickness()
            storages = {k: cast("Storage", part.storage) for k, part in parts.items()}
            self._materials.refuse_more([own.material_names for own in storages.values()])
            renamed = False
            for number, storage in storages.items():
                renamed |= self._materials.add(number, storage.material_names)
                if isinstance(storage, MeshStorage):
                    named = self._materials.named(number)
                    self._meshes.add(number, storage, named, layers[number])
            self.queries |= parts
            self.layers |= layers
            self.next_number = next_number
            self._gone += changes
            maps = [part for part in parts.values() if isinstance(part, MapQueries)]
            self._settle(renamed=renamed, maps=bool(maps))
            self._logged_of |= {land: land.version for land in maps}
            self._note(maps, before)

    def remove(self, number: int) -> None:
        """Remove a part."""
        with self.changing:
            self.current()
            before = self._thickness()
            part = self.queries.pop(number)
            del self.layers[number]
            maps = [part] if isinstance(part, MapQueries) else []
            self._gone += 1
            for land in maps:
                self._gone += land.version
                del self._logged_of[land]
            if not maps:
                self._meshes.remove(number)
            self._settle(renamed=self._materials.remove(number), maps=bool(maps))
            self._note(maps, before)

    def move(self, number: int, pose: Pose, seconds: float | None) -> None:
        """Put a mesh somewhere else; see `GroundMeshes.move`."""
        with self.changing:
            self._meshes.move(number, pose, seconds)
            self._gone += 1

    def set_surface_velocity(self, number: int, velocity: Floats3) -> None:
        """Let the surface of a mesh move."""
        with self.changing:
            self._meshes.set_surface_velocity(number, velocity)
            self._gone += 1

    def set_one_way(self, number: int, direction: Floats3) -> None:
        """Let a mesh hold up one way only."""
        with self.changing:
            self._meshes.set_one_way(number, direction)
            self._gone += 1

    @property
    def movers(self) -> GroundMovers:
        """The meshes that move, carry or let through."""
        return self._meshes.movers

    @property
    def poses(self) -> dict[int, Pose]:
        """Where the meshes are that were moved."""
        return self._meshes.poses

    def _note(self, maps: list[MapQueries], before: dict[int, float]) -> None:
        """Remember that maps have come or gone, or are on other layers.

        ``before`` is how thick each map was: united ones are as thick as the thinnest.
        """
        if not maps:
            return
        version, now = self._count(), self._thickness()
        is_same = all(depth == before[number] for number, depth in now.items() if number in before)
        if not is_same or 1 in {len(before), len(now)}:  # a single map may go on at its border
            self.changes.note(version, *EVERYWHERE)
            return
        for land in maps:
            self.changes.note(version, *land.storage.box_of(land.storage.whole))

    def _thickness(self) -> dict[int, float]:
        """Return how deep each map is solid, by number."""
        return {
            number: source.queries.storage.thickness
            for source in self._maps
            for number in source.parts.tolist()
        }

    def set_layers(self, number: int, layers: int) -> None:
        """Put a part on other layers."""
        with self.changing:
            if layers == self.layers[number]:
                return
            self.current()
            before = self._thickness()
            self.layers[number] = layers
            self._gone += 1
            part = self.queries[number]
            maps = [part] if isinstance(part, MapQueries) else []
            if not maps:
                self._meshes.set_layers(number, layers)
            self._settle(renamed=False, maps=bool(maps))
            self._note(maps, before)

    def _settle(self, *, renamed: bool, maps: bool) -> None:
        """Let what to query follow from the parts; what changed are materials, or the maps."""
        if renamed:
            self._meshes.name_materials(self._materials)
        if maps:
            self.lands = [q for q in self.queries.values() if isinstance(q, MapQueries)]
            self.cell_sizes = tuple(size for land in self.lands for size in land.cell_sizes)
            self._maps, self._seen = self._sources_of_maps(), ()
        elif renamed:
            self._maps = [
                self._map_source(source.queries, source.union, source.parts.tolist())
                for source in self._maps
            ]
        sources: list[Source] = [source for source in self._maps if source.layers]
        if self._meshes.layers or not sources:
            sources.append(self._mesh_source())
        self.sources = sorted(sources, key=attrgetter("first"))

    def _sources_of_maps(self) -> list[MapSource]:
        """Return what to query for the maps: those on the same layers are united."""
        maps = {k: part for k, part in self.queries.items() if isinstance(part, MapQueries)}
        numbers = list(maps)
        if len(maps) == 1:  # a single map keeps its border
            return [self._map_source(maps[numbers[0]], None, numbers)]
        sources = []
        for layers in {self.layers[number] for number in numbers}:
            alike = [number for number in numbers if self.layers[number] == layers]
            lands = [maps[number].storage for number in alike]
            for group in groups_of_neighbors(lands):
                union = Union([lands[k] for k in group])
                queries = MapQueries(union.land)
                sources.append(self._map_source(queries, union, [alike[k] for k in group]))
        return sorted(sources, key=attrgetter("first"))

    def _map_source(
        self, queries: MapQueries, union: Union | None, numbers: list[int]
    ) -> MapSource:
        named = [self._materials.named(number) for number in numbers]
        table = None
        if any(row is not None for row in named):
            same = np.arange(MOST_MATERIALS, dtype=np.uint8)
            table = np.stack([same if row is None else row for row in named])
        return MapSource(queries, union, np.array(numbers), table, self.layers[numbers[0]])

    def _mesh_source(self) -> MeshSource:
        return MeshSource(self._mesh_queries, self._meshes.first, self._meshes.layers)

    @property
    def material_names(self) -> Names:
        """The names of the ground's materials 0, 1, ..."""
        return self._materials.names

    @property
    def version(self) -> int:
        """The number of changes: edits and refits of parts, and parts that came and went."""
        with self.changing:
            self.current()
            version = self._count()
            if version != self._logged:
                self._log(version)
            return version

    def _count(self) -> int:
        return self._gone + self._meshes.version + sum(land.version for land in self.lands)

    def _log(self, version: int) -> None:
        """Remember where the parts have changed since this was last called."""
        seen = self._logged_of
        changed: list[GroundMeshes | MapQueries] = [self._meshes, *self.lands]
        for part in changed:
            seen[part] = self.changes.follow(version, part.changes, seen[part])
        self._logged = version

    @property
    def own_changes(self) -> int:
        """The same without the edits and refits of the parts that there are."""
        with self.changing:
            return self.version - sum(part.version for part in self.queries.values())

    def current(self, mask: int = ALL_LAYERS) -> list[Source]:
        """Return what to query, in the order of first parts; unions follow the edits first.

        That is at least one: where the mask meets nothing, a source that finds nothing.
        """
        for source in self._maps:
            if source.union is not None:
                source.union.follow()
        if mask == ALL_LAYERS:
            return self.sources
        met = [source.met_by(mask) for source in self.sources if source.layers & mask]
        return met or [self._mesh_source().met_by(mask)]

    @contextmanager
    def editing(self) -> Iterator[list[EditedMap]]:
        """Give all maps, each once, as they are now; nobody else edits them meanwhile."""
        with self.changing, ExitStack() as held:
            maps = [EditedMap(source.queries, source.union) for source in self._maps]
            locks = {source.queries.lock for source in self._maps}
            for source in self._maps:
                locks |= {self.queries[number].lock for number in source.parts.tolist()}
            for lock in in_order(locks):
                held.enter_context(lock)
            self.current()
            yield maps
            self.current()

    # What characters ask

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """Held by short queries of characters."""
        return _Standing(self)

    def take(self) -> AbstractContextManager[Any] | None:
        """Take the lock of the ground, then that of its only map, and return this.

        Edits write to the arrays of a single map; of several, characters have copies.
        """
        self._meshes.asked.__enter__()
        if len(self._maps) != 1:
            return None
        land = self._maps[0].queries.lock
        try:
            land.__enter__()
        except BaseException:
            self._meshes.asked.__exit__(None, None, None)
            raise
        return land

    def give_back(self, land: AbstractContextManager[Any] | None) -> None:
        """Release what `take` took."""
        if land is not None:
            land.__exit__(None, None, None)
        self._meshes.asked.__exit__(None, None, None)

    @contextmanager
    def reading(self) -> Iterator[GroundArrays]:
        """Give the arrays to a long query; they stay as they are until it ends."""
        with ExitStack() as held:
            with self.changing:  # meshes and how they move are of one moment
                table = held.enter_context(self._meshes.reading)
                movers = self._meshes.movers.rows
            maps = self._maps
            if len(maps) == 1:
                views, _ = held.enter_context(maps[0].queries.storage.reading())
                yield self._arrays_of(self._own_map(maps[0], views), table, movers)
            else:
                yield self._arrays_of(self._maps_now(), table, movers)

    def ground_arrays(self) -> GroundArrays:
        """Return the arrays for characters, made anew if the parts were edited."""
        with self._meshes.asked as table:
            return self._arrays_of(self._maps_now(), table, self._meshes.movers.rows)

    def _arrays_of(self, maps: Longs, meshes: Longs, movers: Floats) -> GroundArrays:
        arrays = self._arrays
        if arrays.maps is not maps or arrays.meshes is not meshes or arrays.movers is not movers:
            self._arrays = arrays = GroundArrays(maps, meshes, movers)
        return arrays

    def _maps_now(self) -> Longs:
        """Return the table of all maps: a single one as it is, several as copies."""
        with self.changing:
            maps = self._maps
            if len(maps) == 1:
                return self._own_map(maps[0], maps[0].queries.storage.views)
            self.current()
            seen = tuple((source.first, source.queries.version) for source in maps)
            if seen != self._seen:
                self._table = map_rows(
                    [_copied(source.queries.storage) for source in maps],
                    [source.first for source in maps],
                    [source.layers for source in maps],
                )
                self._seen = seen
            return self._table

    def _own_map(self, source: MapSource, views: MapArrays) -> Longs:
        """Return the table of the only map."""
        known = self._shown
        if known is None or known[0] is not views or known[1] is not source:
            table = map_rows([views], [source.first], [source.layers])
            self._shown = known = views, source, table
        return known[2]

    def triangle_at(self, number: int, triangle: int, point: Floats3) -> tuple[int, int]:
        """Return the id and the material of a triangle that a kernel names by part and number."""
        part = self.queries.get(number)
        if isinstance(part, MeshQueries):
            found = number << ID_BITS | triangle
            with self._meshes.asked as table:
                if number not in self.queries or not 0 <= triangle < part.triangle_count:
                    return -1, 0
                return found, self._meshes.material_of(table, found)
        for source in self._maps:
            if source.first == number:
                found, owner = source.owner(triangle)
                own = source.queries.triangle_at(0, triangle, point)[1]
                return found, source.material(owner, own)
        return -1, 0


class _Standing:
    """Holds what characters stand on for a short query."""

    __slots__ = ("_land", "_parts")

    def __init__(self, parts: GroundParts) -> None:
        self._parts = parts
        self._land: AbstractContextManager[Any] | None = None

    def __enter__(self) -> None:
        self._land = self._parts.take()

    def __exit__(self, *error: object) -> None:
        self._parts.give_back(self._land)


def _copied(land: MapStorage) -> MapArrays:
    """Return the arrays of a map beside others: it ends at its border."""
    with land.reading() as ((heights, cells, blocks, frame), _):
        ending = frame.copy()
        ending[grid_kernels.EXTEND] = 0.0
        copies = read_only(heights.copy(), cells.copy(), blocks.copy(), ending)
    return cast("MapArrays", copies)
