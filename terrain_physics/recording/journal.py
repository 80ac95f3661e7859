"""A journal of the events of grounds, so that they can be done again with the same bits.

An edit is kept as the samples or cells that it led to, a refit as all vertices, a move as the pose
that was taken over, and a part that was added as all that it held: nothing is computed anew.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.surface.ground_arrays import ALL_LAYERS
from terrain_physics._kernels.types import Floats
from terrain_physics._support import checks
from terrain_physics.ground.checks import Part
from terrain_physics.ground.ground import Ground, parts_by_key, parts_of, saved_ground
from terrain_physics.ground.kept_parts import KeptParts
from terrain_physics.ground.meshes import NO_PLACE, Place
from terrain_physics.ground.parts import GroundParts
from terrain_physics.ground.poses import Pose, checked_scale
from terrain_physics.ground.saved import loaded_part, saved_part
from terrain_physics.heightmap.cells import Ranges
from terrain_physics.heightmap.checks import TINY
from terrain_physics.heightmap.framed import KINDS as KINDS_OF_MAPS
from terrain_physics.heightmap.framed import Edited, place_of
from terrain_physics.heightmap.storage import MapStorage
from terrain_physics.heightmap.undo import Patch
from terrain_physics.lattice.lattice_map import LatticeMap
from terrain_physics.surface.ground_files import MOST_NUMBERS, SavedGround, SavedPart, as_marks
from terrain_physics.surface.ground_state import keeper_of
from terrain_physics.surface.surface import queries_of
from terrain_physics.tiles.loading.supply import TileSupply
from terrain_physics.tiles.saving.values import checked_values, land_digest
from terrain_physics.tiles.tiled_ground import TILES, supply_of

_T = TypeVar("_T")


EVENT_BYTES = 64
"""Size of an event by itself, without its content."""

MOST_BYTES = 1 << 28
"""Limit of the events of a journal."""

MOST_SAVED_BYTES = 1 << 26
"""Limit of the grounds that a journal keeps as they were at the start."""

Contents = dict[str, str]
"""Hashes of what a ground holds: of each part by its key, and of the rest."""

_ITSELF = MOST_NUMBERS  # the key of a ground itself, beside those of its parts
_NUMBERS = 2 * MOST_NUMBERS  # of each ground

_NO_NUMBERS = (0, 0, 0, 0)

_POSE_ROWS = [0, 1, 2, 9, 3, 4, 5, 10, 6, 7, 8, 11, 12]
"""Where rows of rotation and position, and seconds, are in a rotation, a position and seconds."""


@dataclass(slots=True)
class Event:
    """One change of a ground.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    ground : int
        Which ground, counted from 0.
    key : int
        Of the part; 0 for a map or a mesh by itself.
    numbers : tuple of four int
        Of an edit, the samples or cells: first row, end of rows, first column, end of columns. Of
        a part that is added or is put on other layers, first of all its layers. Of a thickness,
        whether the first hole ends it. Of a ground that was restored, the key of the next part.
    content : bytes
        The new values, of a type that follows from the kind.
    about : dict or None
        Of a part that is added or replaces another one, what `SavedPart.packed` says besides its
        content, or the key of the same mesh; its name, and its place if it has one.
    fill : callable or None
        Puts numbers, content and about; None once that is done.
    """

    kind: str
    ground: int
    key: int
    numbers: tuple[int, int, int, int] = _NO_NUMBERS
    content: bytes = b""
    about: Any = None
    fill: Callable[[], None] | None = field(default=None, compare=False, repr=False)


class Journal:
    """The events of grounds, in order, from now on until it is dropped.

    Attributes
    ----------
    contents : list of dict
        Hashes of each ground at the start.
    saved : list of SavedGround, or None
        The grounds themselves at the start; None of more than `MOST_SAVED_BYTES`.
    """

    __slots__ = (
        "__weakref__",
        "_events",
        "_grounds",
        "_places",
        "_saved_bytes",
        "_size",
        "_storages",
        "_told",
        "contents",
        "saved",
    )

    def __init__(self, grounds: Sequence[Part | Ground]) -> None:
        self._events: list[Event] = []
        self._size = 0
        self.contents: list[Contents] = []
        self.saved: list[SavedGround] | None = []
        self._saved_bytes = 0
        self._begin(grounds)

    def _save(self, ground: Part | Ground) -> None:
        """Keep a ground, unless all of them are too large: nothing is copied then."""
        self._saved_bytes += _bytes_of(ground)
        if self.saved is None or self._saved_bytes > MOST_SAVED_BYTES:
            self.saved = None
            return
        kind, parts, about = saved_ground(ground)
        # Meshes hand out arrays that they go on with.
        own = [
            SavedPart(part.header, {name: values.copy() for name, values in part.arrays.items()})
            for part in parts
        ]
        self.saved.append(SavedGround(kind, own, about))

    def _begin(self, grounds: Sequence[Part | Ground]) -> None:
        """Begin to watch grounds."""
        self._grounds = list(grounds)
        self._told: Floats | None = None  # the latest motion that it was told of
        self._storages: dict[int, Any] = {}
        # Numbers of the same mesh; the first is watched.
        self._places: dict[tuple[int, int], list[int]] = {}
        for number, ground in enumerate(grounds):
            _unchanged(ground, partial(self._watch, number, ground))

    def _watch(self, number: int, ground: Part | Ground) -> None:
        """Begin to watch a ground; a new journal keeps it as it is at that moment."""
        if number == len(self.contents):
            self.contents.append(contents_of(ground))
            self._save(ground)
        parts = parts_of(ground)
        if parts is not None:
            parts.watchers.add(self, number * _NUMBERS + _ITSELF)
        for key, storage in _storages_of(ground).items():
            self._watch_part(number * _NUMBERS + key, storage)

    def _watch_part(self, number: int, storage: Any) -> None:
        """Watch a part, unless it is a mesh that is watched at another place of its ground."""
        places = self._places.setdefault((number // _NUMBERS, id(storage)), [])
        if not places:
            storage.watchers.remove(self, number)
            storage.watchers.add(self, number)
        if number not in places:
            places.append(number)
        self._storages[number] = storage

    def _leave_part(self, number: int) -> None:
        """Stop watching a part; go on at another place of the same mesh.

        Once more, it ends what an interruption has left.
        """
        if number not in self._storages:
            return
        storage, mesh = self._storages[number], (number // _NUMBERS, id(self._storages[number]))
        places = self._places.get(mesh, [])
        others = [place for place in places if place != number]
        if places[:1] == [number]:
            storage.watchers.remove(self, number)
            if others:
                storage.watchers.remove(self, others[0])
                storage.watchers.add(self, others[0])
        self._places[mesh] = others
        if not others:
            del self._places[mesh]
        del self._storages[number]

    def _same(self, number: int, storage: Any) -> int | None:
        """Return the number of the same mesh at another place of the ground; None without one."""
        places = self._places.get((number // _NUMBERS, id(storage)))
        return places[0] if places else None

    def is_of(self, grounds: Sequence[Part | Ground]) -> bool:
        """Tell whether it is about these grounds."""
        return [*map(id, grounds)] == [*map(id, self._grounds)]

    def events(self) -> list[Event]:
        """Return what has happened since events were last dropped.

        ValueError if more than `MOST_BYTES` has happened so far: nothing more is kept then.
        """
        if self._events:
            for ground in self._grounds:  # maps hand on samples that they share: events, too
                _ = ground.version
            self._finish_all()
        if self._size > MOST_BYTES:
            raise ValueError(
                f"ground must change by at most {MOST_BYTES} bytes in one recording, got more: "
                "save it, and begin another one"
            )
        return self._events.copy()

    def motions(self) -> list[Any] | None:
        """Return how the meshes of each ground move, and None of others, for JSON.

        None if something has happened since events were last dropped: it would be redone twice.
        """
        found: Callable[[], list[Any] | None] = self._motions_now
        for ground in reversed(self._grounds):
            _ = ground.version  # maps hand on samples that they share: events, too
            found = partial(_unchanged, ground, found)
        return found()

    def _motions_now(self) -> list[Any] | None:
        if self._events or self._size > MOST_BYTES:
            return None
        return [saved_motion(ground) for ground in self._grounds]

    def drop(self, events: list[Event]) -> None:
        """Forget these events, which were the first ones, if that has not been done."""
        if events and self._events and self._events[0] is events[0]:
            del self._events[: len(events)]

    def tell(self, number: int, what: str, *details: Any) -> None:
        """Hear of a change from its maker, before anybody makes another one."""
        index, key = divmod(number, _NUMBERS)
        if key == _ITSELF and what in OF_MOTION:
            self._note_motion(what, index, *details)
        elif key == _ITSELF:
            for own in details[0] or [0]:
                self._note_change(Event(what, index, own))
        elif number in self._storages:  # or told by another thread after it had gone
            self._note_edit(Event(what, index, key), self._storages[number], *details)

    def _note_edit(self, event: Event, storage: Any, region: Any = None) -> None:
        event.fill = lambda: _put_edit(event, storage, region)
        self._note(event)

    def _note_motion(self, what: str, ground: int, keys: list[int], values: Floats) -> None:
        """Note how meshes move; not again what was told before a signal handler raised."""
        if values is self._told:
            return
        rows = values[:, _POSE_ROWS] if what == "moved" else values
        events = [
            Event(what, ground, key, content=row.tobytes())
            for key, row in zip(keys, rows, strict=True)
        ]
        size = values.nbytes + EVENT_BYTES * len(events)
        # Nothing is called in between, so no signal handler runs.
        self._events += events
        self._told = values
        self._size += size
        self._drop_too_many()

    def _note_change(self, event: Event) -> None:
        number = event.ground * _NUMBERS + event.key
        parts = parts_of(self._grounds[event.ground])
        if self._events:
            self._finish(self._events[-1])
        # What puts back an interrupted change tells of all that it may have told of.
        if event.kind == "removed":
            if number not in self._storages:
                return
            event.fill = lambda: self._leave_part(number)
        elif event.kind in {"added", "replaced"}:
            if self._storages.get(number) is parts.sources[event.key].storage:
                return
            event.fill = lambda: self._put_part(event, parts)
        else:
            event.fill = lambda: _put_change(event, parts)
        self._note(event)

    def _note(self, event: Event) -> None:
        # First: a signal handler that edits in the middle of this comes after it.
        self._events.append(event)
        self._finish(event)

    def _finish(self, event: Event) -> None:
        """Fill in an event, unless that is done; later, where a signal handler raised."""
        if event.fill is not None:
            event.fill()
            event.fill = None
            self._count(event)

    def _finish_all(self) -> None:
        for event in self._events[:]:
            self._finish(event)

    def _put_part(self, event: Event, parts: GroundParts) -> None:
        """Put a part in an event, and watch it; nothing of one that is there no more."""
        number, part = event.ground * _NUMBERS + event.key, parts.sources.get(event.key)
        self._leave_part(number)
        if part is None:
            self._events[:] = [own for own in self._events if own is not event]
            return
        with part.lock:  # of one moment
            _put_part(event, parts, self._same(number, part.storage))
            self._watch_part(number, part.storage)

    def _count(self, event: Event) -> None:
        self._size += EVENT_BYTES + len(event.content)
        self._drop_too_many()

    def _drop_too_many(self) -> None:
        if self._size > MOST_BYTES:
            self._events.clear()

    def __getstate__(self) -> tuple[Any, ...]:
        self._finish_all()
        return self._grounds, self._events, self._size, self.contents, self.saved

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        grounds, self._events, self._size, self.contents, self.saved = state
        self._begin(grounds)


# Grounds of any kind


def _storages_of(ground: Part | Ground) -> dict[int, Any]:
    """Return the storages of the parts by their keys."""
    parts = parts_of(ground)
    sources: Any = {0: queries_of(ground)} if parts is None else parts.sources
    return {key: part.storage for key, part in sources.items()}


def _bytes_of(ground: Part | Ground) -> int:
    """Return how many bytes a ground has in heights, cells, vertices, faces, and edits of tiles."""
    supply = supply_of(ground)
    edits = 0 if supply is None else supply.tiles.edits.nbytes
    different = {id(own): own for own in _storages_of(ground).values()}
    return edits + sum(map(_size_of, different.values()))


def _size_of(storage: Any) -> int:
    """Return how many bytes a part has in heights and cells, or vertices and faces."""
    if isinstance(storage, LatticeMap):
        return 0
    if isinstance(storage, MapStorage):
        return int(storage.heights.nbytes + storage.cells.nbytes)
    return int(storage.arrays.vertices.nbytes + storage.arrays.faces.nbytes)


def _unchanged(ground: Part | Ground, call: Callable[[], _T]) -> _T:
    """Let nobody change a ground during a call."""
    parts = parts_of(ground)
    if parts is not None:
        found: _T = parts.editing(lambda _: call())
        return found
    with queries_of(ground).lock:
        return call()


def saved_motion(ground: Part | Ground) -> Any:
    """Return how the meshes of a ground move, for JSON; None of a map or a mesh by itself."""
    parts = parts_of(ground)
    return None if parts is None else parts.saved_motion()


def load_motion(ground: Part | Ground, motion: Any) -> None:
    """Let the meshes of a ground move as they did; ValueError if it is none of this ground."""
    parts = parts_of(ground)
    if (parts is None) != (motion is None):
        raise ValueError("motion must be that of a ground")
    if parts is not None:
        parts.load_motion(motion)


def contents_of(ground: Part | Ground) -> Contents:
    """Return hashes of what a ground holds; how often it was changed does not count."""
    parts = parts_of(ground)
    storages = _storages_of(ground)
    if parts is None:
        return {"0": _hash(storages[0])}
    movers, poses = parts.meshes.movers.saved(), parts.meshes.poses
    found = {
        str(key): _hash_of_land(supply_of(ground), parts.layers[key])
        if isinstance(storage, LatticeMap)
        else _hash(
            storage,
            parts.layers[key],
            poses[key].saved() if key in poses else None,
            movers["parts"].get(str(key)),
            parts.naming.parts.get(key),
            *([parts.meshes.scales[key]] if key in parts.meshes.scales else []),
        )
        for key, storage in storages.items()
    }
    return found | {"number of parts and moves": _digits([parts.next_number, movers["count"]])}


def _hash_of_land(supply: Any, layers: int) -> str:
    """Return the hash of a land of tiles, whatever is loaded."""
    return _digits([land_digest(supply), layers])


def _hash(storage: Any, *about: Any) -> str:
    """Return the hash of a part: its answers, and not how it came to be as it is."""
    header, arrays = saved_part(storage)
    kept = {name: value for name, value in header.items() if name != "version"}
    # Materials that are all 0 are none, as after a restore.
    content = {
        name: values
        for name, values in arrays.items()
        if name != "order" and (name != "materials" or values.any())
    }
    shapes = {name: values.shape for name, values in content.items()}
    return _digits([kept, shapes, about], *content.values())


def _digits(about: Any, *arrays: NDArray[Any]) -> str:
    digest = hashlib.sha256(json.dumps(about).encode())
    for values in arrays:
        digest.update(np.ascontiguousarray(values).data)
    return digest.hexdigest()[:16]


# The content of events


def _put_edit(event: Event, storage: Any, region: Any) -> None:
    """Put the outcome of an edit of a part in an event; of a map, in a region of cells."""
    if event.kind == "vertices":
        event.content = storage.arrays.vertices.tobytes()
        return
    if event.kind == "thickness":
        depth, follows_holes = storage.solid_depth
        event.content, event.numbers = np.array(depth).tobytes(), (int(follows_holes), 0, 0, 0)
        return
    what: Any = event.kind
    place = place_of(storage, what, region)
    patch = Patch(what, place, storage.values(what, place))
    event.numbers, event.content = patch.bounds, patch.content


def _put_part(event: Event, parts: GroundParts, same: int | None) -> None:
    """Put a part that was added, or replaced another one, in an event.

    ``same`` is the number of the same mesh elsewhere in the ground.
    """
    key = event.key
    event.numbers = parts.layers[key], 0, 0, 0
    if same is None:
        event.about, event.content = saved_part(parts.sources[key].storage).packed()
    else:
        event.about = {"same": same % _NUMBERS}
    event.about["name"] = parts.naming.parts.get(key)
    pose, scale = parts.meshes.place_of(key)
    if pose is not None or scale != 1.0:
        event.about["place"] = [(pose or Pose.none()).saved(), scale]


def _put_change(event: Event, parts: GroundParts) -> None:
    """Put the outcome of a change of the parts of a ground in an event."""
    if event.kind == "layers":
        event.numbers = parts.layers[event.key], 0, 0, 0
    elif event.kind == "restored":
        event.numbers = parts.next_number, 0, 0, 0
        event.content = json.dumps(parts.saved_motion()).encode()


# Once more


def redo(ground: Part | Ground, event: Event) -> None:
    """Make a change again; ValueError if the ground is none that it was made to."""
    try:
        _redo(ground, event)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise ValueError(
            f"recording must hold changes that its ground takes, got {event.kind!r} of part "
            f"{event.key}: {error}"
        ) from error


def _redo(ground: Part | Ground, event: Event) -> None:
    supply = supply_of(ground)
    if event.kind in _REDONE_TO_GROUNDS:
        _REDONE_TO_GROUNDS[event.kind](ground, event)
    elif event.kind in KINDS_OF_MAPS and event.key == TILES and supply is not None:
        _redo_land(supply, event)
    elif event.kind in _REDONE_TO_PARTS:
        _REDONE_TO_PARTS[event.kind](parts_by_key(ground)[event.key], event)
    else:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}")


def _redo_land(supply: TileSupply, event: Event) -> None:
    """Edit the land of tiles again, loaded there or not."""
    what, place, given, _ = _patch_of(event)
    values, lines = checked_values(supply.land, what, given), int(what == "heights")
    supply.fetch(supply.land.missing_of(_within(supply.land, place, lines), lines))
    supply.land.edit(what, place, values)


def _within(land: LatticeMap, place: Ranges, lines: int) -> Ranges:
    """Return a place, or refuse one that is not on a land; ``lines`` is 1 for samples."""
    for name, span, count in zip(("rows", "columns"), place, land.cell_count, strict=True):
        checks.whole(name, span.start, 0, count + lines - 1)
        checks.whole(name, span.stop, span.start + 1, count + lines)
    return place


def _redo_patch(part: Any, event: Event) -> None:
    what, place, values, _ = _patch_of(event)
    target = part if what == "heights" else getattr(part, what)
    target[place] = as_marks(values) if what == "holes" else values


def _patch_of(event: Event) -> Patch:
    """Return the new values of an edit of a map."""
    return Patch.unpacked(cast("Edited", event.kind), event.numbers, event.content)


def _redo_thickness(part: Any, event: Event) -> None:
    (depth,), queries = _floats(event).tolist(), cast("Any", queries_of(part))
    solid = checks.between("thickness", depth, TINY, np.inf), bool(event.numbers[0])
    storage = queries.storage
    storage.editing(lambda: storage.edit_solid_depth(solid))


def _redo_vertices(part: Any, event: Event) -> None:
    part.refit(_floats(event).reshape(-1, 3))


def _part_of(ground: Any, event: Event) -> Part:
    """Return the part that an event brings: a new one, or one that is there already."""
    about = event.about
    if "same" in about:
        found: Part = ground.parts[about["same"]]
        return found
    return loaded_part(SavedPart.unpacked(about, event.content))


def _redo_added(ground: Any, event: Event) -> None:
    part, (pose, scale) = _part_of(ground, event), _brought_to(event)
    layers, name = event.numbers[0], event.about["name"]
    next_number = parts_of(ground).next_number
    if event.key == next_number:
        place = None if pose is None else (pose, scale)
        ground.add(part, transform=place, layers=layers, name=name)
        return
    if event.key in ground.parts or name in ground.part_names.values():
        raise ValueError("there is such a part")
    key = checks.whole("key", event.key, 0, MOST_NUMBERS - 1)

    def put(parts: dict[int, Any], known: KeptParts) -> None:  # where it is, the restore tells
        parts[key], known.layers[key] = part, checks.whole("layers", layers, 0, ALL_LAYERS)
        if name is not None:
            known.names[key] = str(name)
        if scale != 1.0:
            known.scales[key] = scale

    _lay_out(ground, put)


def _brought_to(event: Event) -> Place:
    """Return the place of a part that an event brings."""
    place = event.about.get("place")
    if place is None:
        return NO_PLACE
    return Pose.of_saved(place[0]), checked_scale("scale", place[1])


def _redo_replaced(ground: Any, event: Event) -> None:
    ground.replace(event.key, _part_of(ground, event))


def _redo_removed(ground: Any, event: Event) -> None:
    if len(ground.parts) > 1:
        ground.remove(event.key)
        return

    def take(parts: dict[int, Any], known: KeptParts) -> None:  # others come in its place
        for own in (parts, known.layers):
            del own[event.key]
        for own in (known.names, known.scales):
            own.pop(event.key, None)

    _lay_out(ground, take)


def _lay_out(ground: Ground, change: Callable[[dict[int, Any], KeptParts], None]) -> None:
    """Change which parts there are by a restore."""
    keeper = keeper_of(ground)
    held = parts_of(ground)

    def lay_out() -> None:
        parts, known = dict(ground.parts), KeptParts(*map(copy, held.layout()))
        change(parts, known)
        keys = sorted(parts)
        keeper.lay_out(
            {key: parts[key] for key in keys},
            {key: known.layers[key] for key in keys},
            known.names,
            known.scales,
            max(held.next_number, *(key + 1 for key in keys), 0),
        )

    held.change(lay_out)


def _redo_restored(ground: Any, event: Event) -> None:
    held = parts_of(ground)

    def redo() -> None:
        least = max(ground.parts, default=-1) + 1
        held.count_from(checks.whole("next key", event.numbers[0], least, MOST_NUMBERS))
        held.load_motion(json.loads(event.content))

    held.change(redo)


def _redo_seams(ground: Any, _: Event) -> None:
    parts_of(ground).part_seams()


def _redo_moved(ground: Any, event: Event) -> None:
    *rows, seconds = _floats(event).tolist()
    pose = Pose.of_saved(np.reshape(rows, (3, 4)))
    ground.move(event.key, pose, None if seconds == 0.0 else seconds)


def _redo_layers(ground: Any, event: Event) -> None:
    ground.set_layers(event.key, event.numbers[0])


def _redo_surface(ground: Any, event: Event) -> None:
    ground.set_surface_velocity(event.key, tuple(_floats(event).tolist()))


def _redo_one_way(ground: Any, event: Event) -> None:
    direction = checks.unit_or_zeros("direction", _floats(event).tolist())
    held, key = parts_of(ground), ground._mesh_key(event.key)  # noqa: SLF001 of the same floors
    # Scaled to length 1 once more, it might have other bits.
    held.change(lambda: held.set_one_way(key, direction))


def _floats(event: Event) -> Floats:
    return np.frombuffer(event.content, "<f8")


_REDONE_TO_PARTS: dict[str, Callable[[Any, Event], None]] = {
    "heights": _redo_patch,
    "holes": _redo_patch,
    "materials": _redo_patch,
    "thickness": _redo_thickness,
    "vertices": _redo_vertices,
}

_REDONE_TO_GROUNDS: dict[str, Callable[[Any, Event], None]] = {
    "added": _redo_added,
    "removed": _redo_removed,
    "moved": _redo_moved,
    "layers": _redo_layers,
    "surface": _redo_surface,
    "one_way": _redo_one_way,
    "replaced": _redo_replaced,
    "restored": _redo_restored,
    "seams": _redo_seams,
}

OF_MOTION = {"moved", "surface", "one_way"}
"""Kinds of events that `load_motion` makes needless."""

KINDS = (*_REDONE_TO_PARTS, *_REDONE_TO_GROUNDS)
"""Kinds of events, as parts and grounds report them to their watchers; files hold their places."""
