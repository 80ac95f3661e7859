"""The parts of a ground by their numbers, as they come and go."""

import operator
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeVar, cast

import numpy as np

from terrain_physics._kernels.types import Floats, Int64s
from terrain_physics._locks import is_ours
from terrain_physics._support.checks import Floats3
from terrain_physics._support.interruptions import carried_out
from terrain_physics.ground.asked_parts import AskedParts
from terrain_physics.ground.kept_parts import KeptParts, PartsBefore, PartSource
from terrain_physics.ground.map_set import MapSet
from terrain_physics.ground.maps import GroundMaps
from terrain_physics.ground.materials import GroundMaterials
from terrain_physics.ground.meshes import (
    NO_MOTION,
    NO_PLACE,
    FoundMeshes,
    MeshMotion,
    Place,
)
from terrain_physics.ground.poses import Pose
from terrain_physics.heightmap.solid.solid_map import SolidMap
from terrain_physics.heightmap.storage import MapStorage
from terrain_physics.heightmap.undo import MapEdit
from terrain_physics.lattice.lattice_map import LatticeMap
from terrain_physics.mesh.storage import MeshStorage
from terrain_physics.mesh.undo import MeshEdit
from terrain_physics.surface.changes import EVERYWHERE, ChangeLog
from terrain_physics.surface.ground_files import MOST_NUMBERS
from terrain_physics.surface.history import History
from terrain_physics.surface.materials import Names
from terrain_physics.surface.naming import NO_NAMES, Naming
from terrain_physics.surface.watching import Watchers

_T = TypeVar("_T")

Storage = MapStorage | LatticeMap | MeshStorage

NO_PLACES: Mapping[int, Place] = {}

_version_of = operator.attrgetter("storage.version")


class GroundParts(AskedParts):
    """The parts of a ground as they come and go.

    Attributes
    ----------
    sources : dict of int to SolidMap and MeshStorage
        Of the parts, by their numbers, which ascend.
    layers : dict of int to int
        Those that the parts are on, a bit for each, by their numbers.
    naming : Naming
        The names of materials and parts; a new one if they have changed, and only then.
    next_number : int
        Of the next part: no number is used twice.
    solid_maps : list of SolidMap
        Those of the maps.
    cell_sizes : tuple of (float, float)
        Of each of them; a new tuple whenever maps come or go.
    surfaces : dict of int to Surface
        The parts as the game has them, but for a land of tiles; the ground writes to it.
    watchers : Watchers
        They are told of parts that come, go or change by the ground, with their numbers: "added",
        "removed", "replaced", "layers", "seams", "restored" with none; and, maybe twice, "moved"
        with poses and seconds (n, 13), "surface" and "one_way" with vectors (n, 3): twice the same
        array.
    """

    __slots__ = (
        "_box",
        "_gone",
        "_history",
        "_is_changing",
        "_layout",
        "_logged_of",
        "_materials",
        "_motion",
        "_surfaces_of",
        "cell_sizes",
        "layers",
        "naming",
        "next_number",
        "solid_maps",
        "sources",
        "surfaces",
        "watchers",
    )

    _before: PartsBefore | None
    naming: Naming
    cell_sizes: tuple[tuple[float, float], ...]

    def __init__(
        self,
        parts: dict[int, PartSource],
        layers: dict[int, int],
        next_number: int,
        changes: int,
        poses: dict[int, Pose],
        movers: Any,
        names: Mapping[int, str],
        scales: Mapping[int, float],
    ) -> None:
        """Take over parts, see `adopt`; ``movers`` as `GroundMovers.saved` gives them."""
        super().__init__()
        self.sources: dict[int, PartSource] = {}
        self.layers: dict[int, int] = {}
        self.next_number = 0
        self.watchers = Watchers()
        self.naming = NO_NAMES
        self._materials = GroundMaterials()
        self.surfaces: dict[int, Any] = {}
        self.solid_maps: list[SolidMap] = []
        self.cell_sizes: tuple[tuple[float, float], ...] = ()
        self._is_changing = False
        self._layout: KeptParts | None = None
        self._motion = (-1, -1), NO_MOTION  # as of some changes and refits
        self._box = (-1, -1), (np.empty(0), np.empty(0))  # likewise
        self._surfaces_of: tuple[KeptParts | None, dict[int, Any]] = None, {}
        self._history: History | None = None
        self._gone = 0  # edits of maps that are gone, and changes of which parts there are
        self._logged_of: dict[PartSource, int] = {}  # versions of maps, as noted
        places = {k: (poses.get(k), scales.get(k, 1.0)) for k in {*poses, *scales}}
        adopt = partial(self.adopt, parts, layers, next_number, changes, names, places)
        self.change(adopt, *parts.values())
        self.meshes.load_movers(movers)
        self.meshes.changes = ChangeLog(self.version)

    # Parts that come and go

    def _begin_followed(self) -> None:
        if self._before is not None and not self._is_changing:
            self._put_back_before(self._before)
        if self._map_set.reader.changed:  # a call less for most
            self._map_set.begin_followed()

    def mend(self) -> None:
        """Put back what an interrupted change has left."""
        if self._before is not None and not self._is_changing:
            with self.followed:
                pass

    def _put_back_before(self, before: PartsBefore) -> None:
        """Have the parts as before a change that was interrupted, all of them put anew."""
        if before.broken is None:
            self._layout = None
            before = before.with_others(self._tables(), self.meshes.motion)
            self._before = before = before._replace(broken=self.layout())
        layout = before.layout
        self.meshes.clear()
        self._map_set, self._materials = MapSet(self.meshes.lock), GroundMaterials()
        self.maps = GroundMaps(self._map_set)
        self.sources, self.layers, self._logged_of = {}, {}, {}
        places = {number: (None, scale) for number, scale in layout.scales.items()}
        self._put(layout.sources, layout.layers, places)
        self.next_number, self._layout = layout.next_number, layout
        self._settle(renamed=True, maps=True)
        self._name(dict(layout.names))
        self.meshes.put_motion(before.motion)
        self.surfaces.clear()
        self.surfaces.update(before.surfaces)
        self._gone += 1
        self._note_box(*EVERYWHERE)
        self._is_changing = True  # who is told may look at the parts, which are put back
        try:
            self._tell_of(layout, cast("KeptParts", before.broken))
            self.watchers.tell("restored", [])
        finally:
            self._is_changing = False
        self._before = None  # last: who is interrupted here puts all back again

    def _begin_change(self, *touched: int) -> None:
        """Remember the parts as they are, or only some meshes, until the change is done."""
        if self._before is not None:  # of an earlier step of this change
            self._before = self._before.with_others(self._tables(), self.meshes.motion)
        elif any(isinstance(self.sources.get(number), SolidMap) for number in touched):
            self._begin_change()
        elif touched:
            kept = ({k: own[k] for k in touched if k in own} for own in self._tables())
            sources, layers, names, scales, surfaces = kept
            layout = KeptParts(sources, layers, names, scales, self.next_number)
            self._before = PartsBefore(layout, self.meshes.motion_of(touched), surfaces, touched)
        else:
            self._before = PartsBefore(self.layout(), self.meshes.motion(), self.surfaces.copy())

    def _tables(self) -> "tuple[Mapping[int, Any], ...]":
        """Return all that is known of parts by their numbers, but how they move."""
        return self.sources, self.layers, self.naming.parts, self.meshes.scales, self.surfaces

    def change(self, make: Callable[[], _T], *coming: PartSource) -> _T:
        """Make one change at a time, whatever the thread; nobody edits the coming parts.

        A signal handler would find it half done: it may query and edit, but not change parts.
        """
        if coming and (maps := [cast("MapStorage", q.storage) for q in _maps_of(coming)]):
            self.mend()
            return self._map_set.changing(maps, partial(self._change, make))
        with self.followed:
            return self._change(make)

    def _change(self, make: Callable[[], _T]) -> _T:
        if self._is_changing:
            raise RuntimeError(
                "parts must not be changed by a signal handler while its thread changes them"
            )
        if self._before is not None:  # of another thread's change, which has failed
            self._put_back_before(self._before)
        self._is_changing = True
        try:
            answer = make()
            self._before = None
            return answer
        finally:
            self._is_changing = False

    def adopt(
        self,
        parts: dict[int, PartSource],
        layers: dict[int, int],
        next_number: int,
        changes: int,
        names: Mapping[int, str],
        places: Mapping[int, Place] = NO_PLACES,
    ) -> None:
        """Add parts by their numbers, higher than any before; ValueError if they do not fit.

        ``changes`` is how many changes this counts as, besides those of the parts; ``places`` are
        those of the meshes that have one. If it is refused, nothing has changed. The caller makes
        this `change`.
        """
        if next_number > MOST_NUMBERS:
            raise ValueError(
                f"parts must be at most {MOST_NUMBERS}, those that were removed included"
            )
        with self.followed:
            before = self.maps.depths()
            self._materials.refuse_more([own.storage.material_names for own in parts.values()])
            maps = _maps_of(parts.values())
            self._begin_change(*(() if maps else parts))
            renamed = self._put(parts, layers, places)
            self.next_number = next_number
            self._gone += changes
            self._settle(renamed=renamed, maps=bool(maps))
            self._name({**self.naming.parts, **names} if names else self.naming.parts)
            self._note(maps, before)
            for number in parts:
                self.watchers.tell("added", [number])

    def _put(
        self,
        parts: dict[int, PartSource],
        layers: Mapping[int, int],
        places: Mapping[int, Place],
    ) -> bool:
        """Put parts behind all others; tell whether materials of others may have new numbers."""
        renamed, self._layout = False, None
        for number, part in parts.items():
            storage, on = cast("Storage", part.storage), layers[number]
            renamed |= self._materials.add(number, storage.material_names)
            if isinstance(storage, MeshStorage):
                named, place = self._materials.named(number), places.get(number, NO_PLACE)
                self.meshes.add(number, storage, named, on, place)
            else:
                # A lattice is the only map, so it is never united: its edits alone are heard of.
                self._map_set.add(number, cast("MapStorage", storage), on)
                self._logged_of[part] = part.version
            self.sources[number], self.layers[number] = part, on
            if self._history is not None:
                _watch_edits(self._history, storage)
        return renamed

    def remove(self, number: int) -> None:
        """Remove a part."""
        with self.followed:
            before, maps = self.maps.depths(), _maps_of([self.sources[number]])
            self._begin_change(number)
            self._settle(renamed=self._take(number), maps=bool(maps))
            self._gone += 1  # now: what a signal handler has asked for meanwhile is not kept
            names = self.naming.parts
            if number in names:
                names = {k: name for k, name in names.items() if k != number}
            self._name(names)
            self._note(maps, before)
            self.watchers.tell("removed", [number])

    def replace(self, number: int, storage: MeshStorage) -> None:
        """Put another mesh in the place of one, with its number; ValueError if it does not fit."""
        with self.followed:
            self._materials.refuse_more([storage.material_names])
            self._begin_change(number)
            self.sources[number], self._layout = storage, None
            self._surfaces_of = None, {}
            if self._history is not None:
                _watch_edits(self._history, storage)
            renamed = self._materials.replace(number, storage.material_names)
            self.meshes.replace(number, storage, self._materials.named(number))
            self._gone += 1
            self._settle(renamed=renamed, maps=False)
            self._name(self.naming.parts)
            self.watchers.tell("replaced", [number])

    def _take(self, number: int) -> bool:
        """Take a part out; tell whether materials of others may have new numbers."""
        part, self._layout = self.sources.pop(number), None
        self._surfaces_of = None, {}  # a part that goes is not kept alive
        del self.layers[number]
        if isinstance(part, SolidMap):
            self._gone += part.version
            del self._logged_of[part]
            self._map_set.remove(number)
        else:
            self.meshes.remove(number)
        return self._materials.remove(number)

    # States

    def keep_edits(self, history: History) -> None:
        """Let a history know of edits of the parts, and of those that will come."""
        self._history = history
        for part in self.sources.values():
            _watch_edits(history, cast("Storage", part.storage))

    def refuse_inside(self, what: str) -> None:
        """Refuse a call of a thread that is inside a change, or an update of characters."""
        if is_ours(self.meshes.lock) or self._reading.has_thread:
            raise RuntimeError(
                f"{what} must not be called inside a change of the ground or an update on it, such "
                "as by a signal handler"
            )

    def layout(self) -> KeptParts:
        """Return which parts there are; the same one as long as that is so."""
        known = self._layout
        if known is None:
            names, scales = dict(self.naming.parts), self.meshes.scales.copy()
            parts, layers = self.sources.copy(), self.layers.copy()
            known = KeptParts(parts, layers, names, scales, self.next_number)
            self._layout = known
        return known

    def kept_surfaces(self) -> dict[int, Any]:
        """Return the parts as the game has them; the same ones as long as `layout` is."""
        layout = self.layout()
        if self._surfaces_of[0] is not layout:
            self._surfaces_of = layout, self.surfaces.copy()
        return self._surfaces_of[1]

    def motion(self) -> MeshMotion:
        """Return where the meshes are, and how they move; the same one as long as that is so."""
        self.meshes.followed()
        now = self._gone, self.meshes.refits
        if self._motion[0] != now:
            self._motion = now, self.meshes.motion()
        return self._motion[1]

    def put_back(self, layout: KeptParts, motion: MeshMotion) -> None:
        """Make the parts those of a layout again, where they were and as they moved then.

        The caller makes this `change`.
        """
        self._keep_seams()
        with self.followed:
            before, known = self.maps.depths(), self.layout()
            if layout is not known:
                self._begin_change()
                self._put_layout(layout, known)
                self._note(_maps_of(layout.differing_sources(known)), before)
            self._part_maps()
            self.meshes.put_motion(motion)
            self._gone += 1
            self.watchers.tell("restored", [])

    def part_seams(self) -> None:
        """Do once more what a restore does at seams: no edit before it is handed on."""
        with self.meshes.lock:
            self._keep_seams()
            self.change(self._part_maps)

    def _keep_seams(self) -> None:
        """Take the samples at seams as they are; the caller holds the lock."""
        if self._map_set.keep_seams():
            self.watchers.tell("seams", [])

    def _part_maps(self) -> None:
        """Unite anew the maps that have left unions; the caller makes this `change`."""
        if self._map_set.is_broken:
            before = self.maps.depths()
            self._begin_change()
            self._settle(renamed=False, maps=True)
            self._note(self.solid_maps, before)

    def count_from(self, next_number: int) -> None:
        """Give the next part this number. The caller makes this `change`."""
        with self.followed:
            self.next_number, self._layout = next_number, None

    def _put_layout(self, layout: KeptParts, known: KeptParts) -> None:
        """Take and put parts; those behind the first that differs are put again, in their order."""
        differ = layout.differing(known)
        first = differ[0] if differ else self.next_number
        renamed = False
        for number in [k for k in known.sources if k >= first]:
            renamed |= self._take(number)
        coming = {k: part for k, part in layout.sources.items() if k >= first}
        places = {k: (None, scale) for k, scale in layout.scales.items()}
        renamed |= self._put(coming, layout.layers, places)
        moved = [k for k, on in self.layers.items() if on != layout.layers[k]]
        for number in moved:
            self._put_on(number, layout.layers[number])
        on_others = map(self.sources.__getitem__, moved)
        # Maps that were taken and put again are united anew, too.
        maps = _maps_of([*layout.differing_sources(known), *coming.values(), *on_others])
        self.next_number, self._layout = layout.next_number, layout
        self._settle(renamed=renamed, maps=bool(maps))
        self._name(dict(layout.names))
        self._tell_of(layout, known)

    def _tell_of(self, layout: KeptParts, known: KeptParts) -> None:
        """Tell of the parts that came, went, or are on other layers."""
        for what, number in layout.events_after(known):
            self.watchers.tell(what, [number])

    def move(self, found: FoundMeshes, poses: Floats, seconds: Floats) -> None:
        """Move meshes; see `GroundMeshes.moving`. The caller makes this `change`."""

        def values() -> Floats:
            return np.concatenate((poses, seconds[:, np.newaxis]), axis=1)

        make = self.meshes.moving(found, poses, seconds)
        self._put_motion(make, "moved", found.numbers, values)

    def set_surface_velocity(self, number: int, velocity: Floats3) -> None:
        """Make a mesh a conveyor."""
        with self.followed:
            make = partial(self.meshes.set_surface_velocity, number, velocity)
            values = partial(np.array, [velocity])
            self._put_motion(make, "surface", np.array([number]), values)

    def set_one_way(self, number: int, direction: Floats3) -> None:
        """Make a mesh one-way."""
        with self.followed:
            make = partial(self.meshes.set_one_way, number, direction)
            values = partial(np.array, [direction])
            self._put_motion(make, "one_way", np.array([number]), values)

    def _put_motion(
        self, make: Callable[[], None], what: str, numbers: Int64s, values: Callable[[], Floats]
    ) -> None:
        """Change how meshes move, count that, and tell it, though a signal handler raises."""
        gone = self._gone + len(numbers)
        told: list[Floats] = []

        def put() -> None:
            make()
            self._gone = gone
            if self.watchers:
                told.append(values())
                self.watchers.tell(what, numbers.tolist(), told[0])

        carried_out(put)

    def box_of_mesh(self, number: int) -> tuple[Floats3, Floats3]:
        """Return the lower and upper corner of the box around a mesh where it is."""
        with self.followed:
            return self.meshes.followed().bounds(number)

    def box_of_meshes(self) -> tuple[Floats, Floats]:
        """Return the corners (3,) of the box around all meshes; infinities if there are none."""
        with self.followed:
            table, now = self.meshes.followed(), (self._gone, self.meshes.refits)
            if self._box[0] != now:
                self._box = now, table.bounds_of_all()
            return self._box[1]

    def look_of_mesh(self, number: int) -> tuple[tuple[Floats3, Floats3], tuple[Any, ...]]:
        """Return the box around a mesh, and all that matters of it to characters but its motion.

        First of all the version of the mesh; all of it can be compared.
        """
        with self.followed:
            version = self.sources[number].version  # or later
            pose, mover = self.meshes.pose_of(number), self.meshes.movers.get(number)
            place = None if pose is None else tuple(pose.numbers), self.meshes.scales.get(number)
            ways = None if mover is None else (mover.surface, mover.one_way)
            return self.box_of_mesh(number), (version, self.layers[number], *place, ways)

    @property
    def storage(self) -> "GroundParts":
        return self

    def saved_motion(self) -> dict[str, Any]:
        """Return how all meshes move and where they are, for JSON."""
        with self.followed:
            return self.meshes.saved_motion()

    def load_motion(self, about: Any) -> None:
        """Move all meshes to where they were, from a saved form."""
        with self.followed:
            self.meshes.load_motion(about)
            self._gone += 1
            self.watchers.tell("restored", [])

    def _note(self, maps: list[SolidMap], before: dict[int, float]) -> None:
        """Note that maps have come or gone, or are on other layers.

        ``before`` is the solid depth of each map: united maps are as thick as the thinnest.
        """
        if not maps:
            return
        now = self.maps.depths()
        is_same = before.items() <= now.items() or now.items() <= before.items()
        if not is_same or 1 in {len(before), len(now)}:  # a single map may go on at its border
            self._note_box(*EVERYWHERE)
            return
        for terrain in maps:
            self._note_box(*terrain.storage.box_of(terrain.storage.whole))

    def _note_box(self, lower: Floats3, upper: Floats3) -> None:
        """Note a change within a box."""
        self.changes.note(self.meshes.told + 1, lower, upper)

    def set_layers(self, number: int, layers: int) -> None:
        """Put a part on other layers."""
        with self.followed:
            if layers == self.layers[number]:
                return
            before, maps = self.maps.depths(), _maps_of([self.sources[number]])
            self._begin_change(number)
            self._gone += 1
            self._put_on(number, layers)
            self._settle(renamed=False, maps=bool(maps))
            self._note(maps, before)
            self.watchers.tell("layers", [number])

    def _put_on(self, number: int, layers: int) -> None:
        self.layers[number], self._layout = layers, None
        if isinstance(self.sources[number], SolidMap):
            self._map_set.set_layers(number, layers)
        else:
            self.meshes.set_layers(number, layers)

    def _name(self, parts: Mapping[int, str]) -> None:
        """Put the names of materials and of parts where answers find them."""
        naming = Naming(self._materials.names, parts)
        if naming != self.naming:  # else the same one: answers know by it that nothing changed
            self.naming = NO_NAMES if naming == NO_NAMES else naming

    def _settle(self, *, renamed: bool, maps: bool) -> None:
        """Update the maps after materials were ``renamed``, or the ``maps`` changed."""
        if renamed:
            self.meshes.name_materials(self._materials)
        if maps:
            self.solid_maps = [q for q in self.sources.values() if isinstance(q, SolidMap)]
            self.cell_sizes = tuple(
                size for terrain in self.solid_maps for size in terrain.cell_sizes
            )
            own = {k: q for k, q in self.sources.items() if isinstance(q, SolidMap)}
            self.maps.settle(own, self.layers, self._materials)
        elif renamed:
            self.maps.name(self.layers, self._materials)
        self._see_parts()

    @property
    def material_names(self) -> Names:
        """The names of the ground's materials 0, 1, ..."""
        return self._materials.names

    @property
    def version(self) -> int:
        """The number of changes: edits and refits of parts, and parts that came and went."""
        told = self.meshes.told
        if self._is_latest(told):  # most often, and without the lock
            return told
        with self.followed:
            self.meshes.followed()
            version = self._counted()
            if version != self.meshes.told:
                self._log(version)
            return version

    def _is_latest(self, told: int) -> bool:
        """Tell whether there have been no changes since that version, and none is under way."""
        if self._before is not None or self._map_set.reader.changed:
            return False
        return self.meshes.are_followed and self._counted() == told

    @property
    def changes(self) -> ChangeLog:
        """The places of the latest changes: of meshes all, of maps as of the last `version`."""
        return self.meshes.changes

    def _counted(self) -> int:
        edits: int = sum(map(_version_of, self.solid_maps))
        return self._gone + self.meshes.refits + edits

    def _log(self, version: int) -> None:
        """Note the edits of the maps since this was last called; a version is told."""
        seen = self._logged_of
        for part in self.solid_maps:
            if part in seen and _version_of(part) != seen[part]:  # else it is about to go
                seen[part] = self.changes.follow(version, part.changes, seen[part])
        self.meshes.told = version

    @property
    def own_changes(self) -> int:
        """The same without the edits and refits of the parts that there are."""
        with self.followed:
            return self.version - sum(part.version for part in self.sources.values())

    @property
    def triangle_count(self) -> int:
        return sum(part.triangle_count for part in self.sources.values())


def _maps_of(parts: Iterable[PartSource]) -> list[SolidMap]:
    """Return the maps among parts."""
    return [part for part in parts if isinstance(part, SolidMap)]


def _watch_edits(history: History, storage: Storage) -> None:
    """Let a history keep what edits of a part replace."""
    kinds = {MapStorage: MapEdit, LatticeMap: MapEdit, MeshStorage: MeshEdit}
    history.watch(storage, kinds[type(storage)])
