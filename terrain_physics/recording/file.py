"""The content of a recording, frame by frame, and the file that keeps it.

A file is checked before memory is reserved for it: a small archive may hold gigabytes. There is a
limit to the unpacked size of a file, and nothing beyond that is saved either.
"""

import json
import os
import pathlib
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from terrain_physics._kernels.character.state.layout import FORMAT as STATE_FORMAT
from terrain_physics._kernels.character.state.layout import SAVED
from terrain_physics._kernels.types import UInt64s
from terrain_physics._support import checks
from terrain_physics._support.archives import Pieces, array_of, members_of, refuse_other_bytes
from terrain_physics._support.files import checked_size, file_name, written_whole
from terrain_physics.character.colliders import Collider, collider_from, described
from terrain_physics.character.frame_time import LONGEST_STEP
from terrain_physics.character.group_data import (
    GroupState,
    Key,
    packed_rows,
    state_of_rows,
)
from terrain_physics.character.material_rules import MaterialRules, saved_material_rules
from terrain_physics.recording.journal import EVENT_BYTES, KINDS, Contents, Event
from terrain_physics.recording.snapshots import Snapshot
from terrain_physics.recording.start import RecordedScene
from terrain_physics.recording.waiting import Waits
from terrain_physics.recording.worlds import Things, checked_name

FORMAT, VERSION = "terrain_physics recording", 1

MOST_BYTES = 1 << 28
"""Limit of a recording, unpacked: 8 for the hash of a character after a frame, 16 for a write.

A change of the ground takes 64 and what it led to: 104 for a move, 4 for a sample, 1 for a cell, 24
for a vertex, and all of a part that was added.
"""

MOST_HEADER_BYTES = 1 << 25
"""Limit of its header, which has 28 for a frame: more than a million frames."""

_NUMBER_TYPES = {
    "header": "|u1",
    "delta_times": "<f8",
    "counts": "<i8",
    "rows": "<i4",
    "places": "<i4",
    "bits": "<u8",
    "hashes": "<u8",
    "event_counts": "<i8",
    "events": "<i8",
    "event_bytes": "|u1",
    "scene_rows": "<u8",
    "scene_bytes": "|u1",
    "snapshot_rows": "<u8",
    "snapshot_bytes": "|u1",
}

SEEN = SAVED.place("ground_version")
"""The place in a packed row of the ground's count of changes when its character looked last."""

NOW_SEEN = np.array(-1.0).view(np.uint64)
"""The bits there of a character that has just looked."""

_EVENT_SIZE = EVENT_BYTES // 8
"""Numbers of an event: its kind, ground, key, bytes of content, and its own four."""


class TooLargeError(ValueError):
    """More than a recording may hold."""


class Start(NamedTuple):
    """The scene before the first frame.

    Attributes
    ----------
    hashes : dict of str or int to str
        Of the characters.
    grounds : list of dict
        Hashes of what their grounds held.
    scene : RecordedScene, or None
        All of it; None where that is too large.
    """

    hashes: dict[Key, str]
    grounds: list[Contents]
    scene: RecordedScene | None


@dataclass(frozen=True, slots=True)
class RecordedFrame:
    """Everything that the game did before one update, and the outcome."""

    delta_time: float
    left: list[Key]
    bodies: list[tuple[Key, Collider]]  # characters that came or were given another body
    material_rules: list[tuple[Key, MaterialRules]]  # those that were given others
    # The writes: to which characters, by number in the order after all that; to which places of a
    # packed row; and which bits.
    rows: NDArray[np.int32]
    places: NDArray[np.int32]
    bits: UInt64s
    # Events of the ground before that, in order.
    events: list[Event]
    # The outcome: all characters, and the hash of each.
    keys: list[Key]
    states: UInt64s
    # Which things a world has, if others than before.
    things: Things | None = None
    # Who waited for ground, if anybody did.
    waits: Waits | None = None

    @property
    def hashes(self) -> dict[Key, str]:
        """The hash of each character after the update."""
        return dict(zip(self.keys, map(_digits, self.states.tolist()), strict=True))


def keys_after(keys: list[Key], left: list[Key], bodies: list[tuple[Key, Collider]]) -> list[Key]:
    """Return the keys in order after some left and some came."""
    gone = set(left)
    kept = dict.fromkeys(key for key in keys if key not in gone)
    return list(kept | dict.fromkeys(key for key, _ in bodies))


def state_at(state: GroupState, frames: Iterable[RecordedFrame], rows: UInt64s) -> GroupState:
    """Return a state with packed rows (n, size) after frames that began in another state."""
    keys, colliders = list(state.keys), dict(zip(state.keys, state.colliders, strict=True))
    rules = dict(state.material_rules)
    for frame in frames:
        for key in frame.left:
            rules.pop(key, None)
        if frame.left or frame.bodies:
            keys = keys_after(keys, frame.left, frame.bodies)
        colliders |= dict(frame.bodies)
        rules |= dict(frame.material_rules)
    return state_of_rows(state.seed, {key: colliders[key] for key in keys}, rules, rows)


def frame_between(
    old: GroupState,
    new: GroupState,
    events: list[Event],
    seconds: float,
    hashes: dict[Key, str],
    things: Things | None = None,
    waits: Waits | None = None,
) -> RecordedFrame:
    """Return the frame between two states: the writes of the game, and events of the ground.

    The new state is as `scenes.settled` leaves it.
    """
    numbers = {key: number for number, key in enumerate(old.keys)}
    kept = those_who_stayed(old.keys, new.keys)
    staying = {old.keys[number] for number in kept}
    left = [key for key in old.keys if key not in staying]
    bodies = [
        (key, body)
        for key, body in zip(new.keys, new.colliders, strict=True)
        if key not in staying or body != old.colliders[numbers[key]]
    ]
    base = np.zeros((len(new.keys), SAVED.size), dtype=np.uint64)
    base[: len(kept)] = packed_rows(old)[kept]
    rows = packed_rows(new)
    written, places = np.nonzero(rows != base)
    return RecordedFrame(
        seconds,
        left,
        bodies,
        _material_rules_between(old, new, staying),
        written.astype(np.int32),
        places.astype(np.int32),
        rows[written, places],
        events,
        list(hashes),
        _numbers(hashes.values()),
        things,
        waits,
    )


def those_who_stayed(old: Sequence[Key], new: Sequence[Key]) -> list[int]:
    """Return the old numbers of the characters that stayed, who are the first ones now.

    All from the first new key on count as having come anew: also who was removed and added again,
    and who is in a thing of a world behind one that somebody has joined.
    """
    if old == new:
        return list(range(len(old)))
    numbers = {key: number for number, key in enumerate(old)}
    kept: list[int] = []
    for key in new:
        number = numbers.get(key, -1)
        if number < 0 or (kept and number < kept[-1]):
            break
        kept.append(number)
    return kept


def _material_rules_between(
    old: GroupState, new: GroupState, staying: set[Key]
) -> list[tuple[Key, MaterialRules]]:
    """Return the rules of the characters that were given others."""
    before = {key: own for key, own in old.material_rules if key in staying}
    after = dict(new.material_rules)
    return [
        (key, after.get(key, ()))
        for key in before | after
        if after.get(key, ()) != before.get(key, ())
    ]


def save_frames(
    path: str | os.PathLike[str],
    start: Start,
    frames: list[RecordedFrame],
    snapshots: list[Snapshot],
) -> None:
    """Write a recording: the scene before the first frame, the frames, and snapshots.

    The file appears only when it is complete; until then, and after an error, an existing one is
    unchanged. Where the snapshots do not fit, the frames are written without, and where the scene
    does not, without that too. Raises ValueError for more than the limits above.
    """
    name = file_name(path)
    arrays = _arrays_of(start, frames, snapshots)
    if snapshots and _is_too_large(arrays):
        arrays = _arrays_of(start, frames, [])
    if start.scene is not None and _is_too_large(arrays):
        arrays = _arrays_of(start._replace(scene=None), frames, [])
    _refuse_large(name, *_sizes_of(arrays))
    with written_whole(name) as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def _sizes_of(arrays: dict[str, NDArray[Any]]) -> tuple[int, int]:
    """Return the bytes of the header, and of all."""
    return arrays["header"].nbytes, sum(values.nbytes for values in arrays.values())


def _is_too_large(arrays: dict[str, NDArray[Any]]) -> bool:
    header_bytes, all_bytes = _sizes_of(arrays)
    return header_bytes > MOST_HEADER_BYTES or all_bytes > MOST_BYTES


def _arrays_of(
    start: Start, frames: list[RecordedFrame], snapshots: list[Snapshot]
) -> dict[str, NDArray[Any]]:
    """Return what a file holds, by name."""
    scene, rows, content = (None, [], []) if start.scene is None else start.scene.packed()
    events = [event for f in frames for event in f.events]
    header = {
        "format": FORMAT,
        "version": VERSION,
        "state_format": STATE_FORMAT,
        "state_size": SAVED.size,
        "start": list(start.hashes),
        "grounds": start.grounds,
        "scene": scene,
        "frames": [_told(f) for f in frames],
        "added": [event.about for event in events if event.about is not None],
        "snapshots": [[own.frame, len(own.motions)] for own in snapshots],
    }
    parts: dict[str, list[Any]] = {
        "header": [np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)],
        "delta_times": [[f.delta_time for f in frames]],
        "counts": [[len(f.rows) for f in frames]],
        "rows": [f.rows for f in frames],
        "places": [f.places for f in frames],
        "bits": [f.bits for f in frames],
        "hashes": [_numbers(start.hashes.values()), *(f.states for f in frames)],
        "event_counts": [[len(f.events) for f in frames]],
        "events": [_event_numbers(event) for event in events],
        "event_bytes": [np.frombuffer(event.content, np.uint8) for event in events],
        "scene_rows": [rows],
        "scene_bytes": [content],
        "snapshot_rows": [own.rows.ravel() for own in snapshots],
        "snapshot_bytes": [np.frombuffer(own.motions, np.uint8) for own in snapshots],
    }
    return {kind: _joined(parts[kind], dtype) for kind, dtype in _NUMBER_TYPES.items()}


def _told(frame: RecordedFrame) -> dict[str, Any]:
    """Return everything that the game did and that is no number, as JSON knows it."""
    bodies = [[key, described(body)] for key, body in frame.bodies]
    told: dict[str, Any] = {"left": frame.left, "bodies": bodies}
    if frame.material_rules:  # most frames have none, and there may be a million
        told["material_rules"] = frame.material_rules
    if frame.things is not None:
        told["things"] = frame.things
    if frame.waits is not None:
        told["waits"] = frame.waits.saved()
    return told


def _refuse_large(name: str, header_bytes: int, all_bytes: int) -> None:
    for what, limit, got in (
        ("of header", MOST_HEADER_BYTES, header_bytes),
        ("unpacked", MOST_BYTES, all_bytes),
    ):
        if got > limit:
            raise TooLargeError(
                f"{name}: a recording must have at most {limit} bytes {what}, got {got}"
            )


def load_frames(
    path: str | os.PathLike[str],
) -> tuple[Start, list[RecordedFrame], list[Snapshot]]:
    """Return the content of a file, or raise ValueError naming the file."""
    name = file_name(path)
    checked_size(name)
    with pathlib.Path(name).open("rb") as file:
        return _loaded(name, file)


def _loaded(name: str, file: BinaryIO) -> tuple[Start, list[RecordedFrame], list[Snapshot]]:
    """Return what an open file holds."""
    try:
        with zipfile.ZipFile(file) as archive:
            members = _members_of(name, file, archive)
            header = _header_of(archive, members)
            found = _version_text(header["version"], header["state_format"], header["state_size"])
            if found == _VERSION_TEXT:
                arrays = {kind: _array_of(archive, members, kind) for kind in _NUMBER_TYPES}
                start, frames = _frames_of(header, arrays)
                return start, frames, _snapshots_of(header, arrays, frames)
    except (TooLargeError, MemoryError):
        raise
    except Exception:  # whatever damage leads to
        raise ValueError(f"{name}: file must be a recording, undamaged") from None
    raise ValueError(
        f"{name}: recording must be of {_VERSION_TEXT}, got {found}: another version "
        "of terrain_physics saved it, and can replay it"
    )


def _version_text(version: Any, state_format: Any, state_size: Any) -> str:
    version, state_format, state_size = map(checks.shorten, (version, state_format, state_size))
    return f"version {version} with states of format {state_format}, {state_size} numbers each"


_VERSION_TEXT = _version_text(VERSION, STATE_FORMAT, SAVED.size)


def _members_of(name: str, file: BinaryIO, archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Return the members of a file; raise any error if there are others than it must have."""
    found = members_of(file, archive)
    refuse_other_bytes(file, archive)
    members = {name.removesuffix(".npy"): member for name, member in found.items()}
    if members.keys() != _NUMBER_TYPES.keys() or len(found) != len(members):
        raise zipfile.BadZipFile
    sizes = {kind: member.file_size for kind, member in members.items()}
    _refuse_large(name, sizes["header"], sum(sizes.values()))
    return members


def _header_of(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo]) -> dict[str, Any]:
    header: dict[str, Any] = json.loads(bytes(_array_of(archive, members, "header")))
    if header["format"] != FORMAT:
        raise ValueError(header["format"])
    return header


def _array_of(
    archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], kind: str
) -> NDArray[Any]:
    return array_of(archive, members[kind], _NUMBER_TYPES[kind], 1)


def _frames_of(
    header: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> tuple[Start, list[RecordedFrame]]:
    """Return what a file holds; raise any error where its parts do not fit each other."""
    hashes = Pieces(arrays["hashes"])
    keys: list[Any] = [checked_name(key) for key in header["start"]]
    known = dict(zip(keys, map(_digits, hashes.take(len(keys)).tolist()), strict=True))
    grounds = [{str(key): str(own) for key, own in told.items()} for told in header["grounds"]]
    start = Start(known, grounds, _scene_of(header, arrays, keys))
    happened = _events_of(header, arrays, len(grounds))
    frames: list[RecordedFrame] = []
    counts = arrays["counts"].tolist()
    nothing = _writes(arrays, 0, 0, 0)  # one for all frames: there may be a million
    end = 0
    for told, seconds, count, events in zip(
        header["frames"], arrays["delta_times"].tolist(), counts, happened, strict=True
    ):
        left: list[Any] = [checked_name(key) for key in told["left"]]
        bodies: list[Any] = [
            (checked_name(key), collider_from(parts)) for key, parts in told["bodies"]
        ]
        material_rules: list[Any] = [
            (checked_name(key), saved_material_rules(rules))
            for key, rules in told.get("material_rules", [])
        ]
        if left or bodies:
            keys = keys_after(keys, left, bodies)
        writes = _writes(arrays, end, count, len(keys)) if count else nothing
        end += count
        time = checks.between("delta_time", seconds, 0.0, LONGEST_STEP)
        states = hashes.take(len(keys))
        waits = Waits.of_saved(told["waits"], len(grounds)) if "waits" in told else None
        outcome: Any = (events, keys, states, told.get("things"), waits)
        frames.append(RecordedFrame(time, left, bodies, material_rules, *writes, *outcome))
    hashes.end()
    if end != len(arrays["rows"]):
        raise ValueError(end)
    return start, frames


def _snapshots_of(
    header: dict[str, Any], arrays: dict[str, NDArray[Any]], frames: list[RecordedFrame]
) -> list[Snapshot]:
    """Return the snapshots of frames; raise any error where they do not fit them."""
    rows, content = Pieces(arrays["snapshot_rows"]), Pieces(arrays["snapshot_bytes"])
    found, last = [], 0
    for number, size in header["snapshots"]:
        last = checks.whole("frame", number, last + 1, len(frames))
        own = rows.take(len(frames[last - 1].keys) * SAVED.size).reshape(-1, SAVED.size)
        found.append(Snapshot(last, own, content.take(size).tobytes()))
    rows.end()
    content.end()
    return found


def _writes(
    arrays: dict[str, NDArray[Any]], first: int, count: int, characters: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], UInt64s]:
    """Return the writes of one frame; raise any error where there are none such."""
    rows, places, bits = (
        arrays[name][first : first + count] for name in ("rows", "places", "bits")
    )
    if not len(rows) == len(places) == len(bits) == count:
        raise ValueError(count)
    if count and not (
        0 <= rows.min() <= rows.max() < characters
        and 0 <= places.min() <= places.max() < SAVED.size
    ):
        raise ValueError(first)
    return rows, places, bits


def _scene_of(
    header: dict[str, Any], arrays: dict[str, NDArray[Any]], keys: list[Key]
) -> RecordedScene | None:
    """Return the scene at the start; raise any error where its parts do not fit each other."""
    rows, content = arrays["scene_rows"], arrays["scene_bytes"]
    if header["scene"] is None:
        if len(rows) or len(content):
            raise ValueError(len(rows))
        return None
    return RecordedScene.unpacked(header["scene"], keys, rows, content)


def _events_of(
    header: dict[str, Any], arrays: dict[str, NDArray[Any]], grounds: int
) -> list[list[Event]]:
    """Return the events of each frame; raise any error where they do not fit their numbers."""
    rows = arrays["events"].reshape(-1, _EVENT_SIZE)
    content, added, events = Pieces(arrays["event_bytes"]), iter(header["added"]), []
    for row in rows:
        kind, ground, key, size, *own = row.tolist()
        name = KINDS[checks.whole("kind", kind, 0, len(KINDS) - 1)]
        index = checks.whole("ground", ground, 0, grounds - 1)
        values = content.take(size).tobytes()
        about = next(added) if name in {"added", "replaced"} else None
        events.append(Event(name, index, key, tuple(own), values, about))
    happened = Pieces(events)
    found = [happened.take(count) for count in arrays["event_counts"].tolist()]
    for pieces in (content, happened, Pieces([*added])):
        pieces.end()
    return found


def _event_numbers(event: Event) -> list[int]:
    kind, size = KINDS.index(event.kind), len(event.content)
    return [kind, event.ground, event.key, size, *event.numbers]


def _digits(number: int) -> str:
    return f"{number:016x}"


def _numbers(hashes: Iterable[str]) -> UInt64s:
    return np.array([int(text, 16) for text in hashes], dtype="<u8")


def _joined(parts: list[Any], dtype: str) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype), *parts]).astype(dtype)
