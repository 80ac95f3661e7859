"""Recording what a game does to characters and ground, and finding where a replay differs."""

import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from terrain_physics import _checks
from terrain_physics._kernels.character.layout import SAVED
from terrain_physics._public import public
from terrain_physics.character.frame_time import LONGEST_STEP, FrameTime
from terrain_physics.character.group import CharacterGroup
from terrain_physics.character.group_data import (
    GroupState,
    Key,
    checked_key,
    packed_rows,
    state_of_rows,
)
from terrain_physics.character.group_results import GroupResult
from terrain_physics.character.movement import CharacterMovement
from terrain_physics.character.placement import AnyGround
from terrain_physics.character.recording_file import (
    Frame,
    Start,
    frame_between,
    keys_after,
    load_frames,
    save_frames,
)
from terrain_physics.character.results import MoveResult
from terrain_physics.character.rows import Rows, state_hashes
from terrain_physics.character.state import state_of
from terrain_physics.ground.journal import Event, Journal, contents_of, redo

Scene = CharacterGroup | CharacterMovement | Mapping[Key, CharacterMovement]


@public
class Difference(NamedTuple):
    """Where a replay first went another way than the recording.

    Attributes
    ----------
    frame : int
        After how many updates; 0: before the first one.
    key : str or int
        The first character that differs, in the order of the keys.
    recorded, replayed : str or None
        The hashes of its states; None where it was not there.
    """

    frame: int
    key: Key
    recorded: str | None
    replayed: str | None


@public
class Recording:
    """What the game does to its characters and their ground, and the hash of each state after it.

    Positions, velocities and rules that were set are kept as exact numbers; so are characters that
    came, left, were turned, resized or restored, and how long each update lasted. What happens to
    the ground is noticed by itself, in its order: edits, refits, and parts that are added, removed,
    moved, put on other layers or made conveyors or one-way. A replay does it again, to a ground
    that holds what this one holds now; see `Ground.save`.

    Parameters
    ----------
    scene : CharacterGroup, CharacterMovement, or mapping of str or int to CharacterMovement
        What to record; a single character has the key 0, and a mapping's are those there now. Call
        this recording's `update` instead of theirs.

    Notes
    -----
    A change of the ground takes 64 bytes and what it led to: 104 for a move, 4 for each sample of
    the rectangle around an edit, 1 for each of its cells, 24 for each vertex of a mesh that is
    refitted, and all of a part that is added. At most 256 MiB are kept; then `update` refuses to go
    on. What another thread does to the ground during an update counts as done after it. A recording
    hears of changes until it is dropped. To begin one, all of the ground is hashed, some ten
    milliseconds for each million samples.

    Examples
    --------
    >>> from terrain_physics import HeightMap, SphereCollider
    >>> def make_scene():
    ...     floor = HeightMap([[0, 0], [0, 0]])
    ...     return {"hero": CharacterMovement(floor, SphereCollider(0.5), position=(0, 2, 0))}
    >>> scene = make_scene()
    >>> recording = Recording(scene)
    >>> for frame in range(60):
    ...     scene["hero"].velocity.x = 3
    ...     if frame == 30:
    ...         scene["hero"].ground.carve((1, 0), radius=1, depth=0.5)
    ...     results = recording.update(1 / 60)
    >>> replay(recording, make_scene) is None
    True
    """

    def __init__(self, scene: Scene) -> None:
        known = _checked_scene(scene)
        self._last = _read(known)
        self._journal = Journal(_grounds_of(known))
        self._hold(known, Start(_hashes(self._last), self._journal.contents), [])

    def __len__(self) -> int:
        return len(self._frames)

    def update(self, delta_time: float) -> GroupResult | MoveResult | dict[Key, MoveResult]:
        """Record what the game set, then update all characters by one frame.

        Parameters
        ----------
        delta_time : float
            Seconds since the last update, >= 0; those beyond the scene's ``max_delta`` are left
            out, of a mapping those beyond the least of all.

        Returns
        -------
        GroupResult, MoveResult or dict of MoveResult
            What the update of the scene gives; for a mapping by key.

        Raises
        ------
        TypeError, ValueError
            As the scene's own update; if this recording was loaded; if a character is on another
            ground than at the start; and for more changes of the ground than are kept. Nothing is
            recorded then.
        """
        if self._scene is None:
            raise ValueError("recording must have a scene: one that was loaded cannot go on")
        seconds = _lived(self._scene, delta_time)
        events = self._events(self._scene)
        before = _read(self._scene)
        result: GroupResult | MoveResult | dict[Key, MoveResult] = _update(self._scene, seconds)
        after = _read(self._scene)
        self._frames.append(frame_between(self._last, before, events, seconds, _hashes(after)))
        self._journal.drop(len(events))
        self._last = after
        return result

    def _events(self, scene: Scene) -> list[Event]:
        """Return what has happened to the grounds since the last frame."""
        if not self._journal.is_of(_grounds_of(scene)):
            raise ValueError("ground must stay the one that it was when the recording began")
        return self._journal.events()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file, of a few bytes for each write and eight for each hash, and of all events.

        Parameters
        ----------
        path : path
            A NumPy archive is written there: a header in JSON with the version of the format, and
            arrays. What stood there before is replaced at once, when all is written.

        Raises
        ------
        ValueError
            For a recording of more than 256 MiB, what happened to the ground included, or with more
            than 32 MiB of header, which `load` would refuse. Nothing is written then.
        """
        save_frames(path, self._start, self._frames)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return a recording that was saved.

        Parameters
        ----------
        path : path

        Returns
        -------
        Recording
            To be replayed; it cannot go on. Files of version 1 have no changes of the ground, and
            no hashes of it.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If it is no recording, damaged, of a version that this one cannot replay, or larger
            unpacked than `save` writes; naming the file. It is measured before it is read.
        """
        recording = cls.__new__(cls)
        recording._hold(None, *load_frames(path))  # noqa: SLF001
        return recording

    def _hold(self, scene: Scene | None, start: Start, frames: list[Frame]) -> None:
        self._scene, self._start, self._frames = scene, start, frames


def replay(recording: Recording, make_scene: Callable[[], Scene]) -> Difference | None:
    """Play a recording to a new scene; return where that first goes another way.

    Parameters
    ----------
    recording : Recording
    make_scene : callable
        Makes the scene anew, with its ground, as both were when the recording began. What happened
        to the ground then happens to this one.

    Returns
    -------
    Difference or None
        None: every character came to the recorded state in every frame, bit for bit.

    Raises
    ------
    TypeError, ValueError
        For what is no recording or no scene; for a ground that does not hold what the recorded one
        did, of which the message names the first such part; and for what no character and no
        ground takes, as in a file that somebody made.
    """
    _checks.instance("recording", recording, Recording)
    scene = _checked_scene(make_scene())
    for updated in _updated(scene):
        updated.max_delta = LONGEST_STEP  # what was recorded was lived
    start, grounds = recording._start, _grounds_of(scene)  # noqa: SLF001
    _refuse_other_grounds(start, grounds)
    state = _read(scene)
    difference = _compare(0, start.hashes, _hashes(state))
    for number, frame in enumerate(recording._frames, 1):  # noqa: SLF001
        if difference is not None:
            break
        for event in frame.events:
            redo(grounds[event.ground], event)
        _write(scene, state, frame)
        _update(scene, frame.delta_time)
        state = _read(scene)
        difference = _compare(number, frame.hashes, _hashes(state))
    return difference


def _refuse_other_grounds(start: Start, grounds: list[AnyGround]) -> None:
    """Refuse grounds that do not hold what the recorded ones did."""
    if start.grounds is None:
        return
    if len(grounds) != len(start.grounds):
        raise ValueError(
            f"make_scene must give {len(start.grounds)} grounds as recorded, got {len(grounds)}"
        )
    for recorded, ground in zip(start.grounds, grounds, strict=True):
        given = contents_of(ground)
        for key in given | recorded:
            if recorded.get(key) != given.get(key):
                what = f"part {key}" if key.isdecimal() else key
                raise ValueError(
                    "make_scene must give the ground as it was when the recording began, got one "
                    f"with another {what}"
                )


def _compare(frame: int, recorded: dict[Key, str], replayed: dict[Key, str]) -> Difference | None:
    for key in [*recorded, *(key for key in replayed if key not in recorded)]:
        if recorded.get(key) != replayed.get(key):
            return Difference(frame, key, recorded.get(key), replayed.get(key))
    return None


# Scenes, all as the state of a group


def _checked_scene(scene: Any) -> Scene:
    if isinstance(scene, (CharacterGroup, CharacterMovement)):
        return scene
    if not isinstance(scene, Mapping) or not all(
        isinstance(mover, CharacterMovement) for mover in scene.values()
    ):
        raise TypeError(
            "scene must be a CharacterGroup, a CharacterMovement or a mapping of them, "
            f"got {_checks.shorten(scene)}"
        )
    return {checked_key(key): mover for key, mover in scene.items()}


def _movers(
    scene: CharacterMovement | Mapping[Key, CharacterMovement],
) -> Mapping[Key, CharacterMovement]:
    return {0: scene} if isinstance(scene, CharacterMovement) else scene


def _read(scene: Scene) -> GroupState:
    """Return the state of a scene, with all that the game wrote."""
    if isinstance(scene, CharacterGroup):
        data = scene._data  # noqa: SLF001
        data.adopt_guests()
        return data.state_of(data.rows())
    movers = _movers(scene)
    for mover in movers.values():
        mover._adopt()  # noqa: SLF001
    colliders = {key: mover.collider for key, mover in movers.items()}
    rules = {key: mover._material_rules() for key, mover in movers.items()}  # noqa: SLF001
    rows = [mover._row().packed() for mover in movers.values()]  # noqa: SLF001
    return state_of_rows(0, colliders, rules, np.reshape(rows, (len(rows), SAVED.size)))


def _updated(scene: Scene) -> list[CharacterGroup | CharacterMovement]:
    """Return what a scene updates."""
    if isinstance(scene, (CharacterGroup, CharacterMovement)):
        return [scene]
    return list(scene.values())


def _grounds_of(scene: Scene) -> list[AnyGround]:
    """Return the grounds of a scene, each once."""
    grounds = [updated.ground for updated in _updated(scene)]
    return list({id(ground): ground for ground in grounds}.values())


def _lived(scene: Scene, delta_time: float) -> float:
    """Return how long a frame lasts for all characters of a scene."""
    longest = min((updated.max_delta for updated in _updated(scene)), default=LONGEST_STEP)
    return FrameTime(longest).lived(delta_time)


def _update(scene: Scene, seconds: float) -> Any:
    if isinstance(scene, (CharacterGroup, CharacterMovement)):
        return scene.update(seconds)
    return {key: mover.update(seconds) for key, mover in scene.items()}


def _hashes(state: GroupState) -> dict[Key, str]:
    return dict(zip(state.keys, state_hashes(packed_rows(state)), strict=True))


def _write(scene: Scene, state: GroupState, frame: Frame) -> None:
    """Do to a scene in some state what the game did."""
    if not (frame.left or frame.bodies or len(frame.rows)):
        return
    numbers = {key: number for number, key in enumerate(state.keys)}
    gone, bodies = set(frame.left), dict(frame.bodies)
    kept = [number for key, number in numbers.items() if key not in gone]
    keys = keys_after(list(state.keys), frame.left, frame.bodies)
    rows = np.zeros((len(keys), SAVED.size), dtype=np.uint64)
    rows[: len(kept)] = packed_rows(state)[kept]
    rows[frame.rows, frame.places] = frame.bits
    colliders = {
        key: bodies[key] if key in bodies else state.colliders[numbers[key]] for key in keys
    }
    rules = {key: own for key, own in state.material_rules if key not in gone}
    rules |= dict(frame.material_rules)
    if isinstance(scene, CharacterGroup):
        scene._data.take_over(state_of_rows(state.seed, colliders, rules, rows))  # noqa: SLF001
        return
    movers = _movers(scene)
    written = Rows.unpacked(rows)
    for number in np.unique(frame.rows).tolist():
        key = keys[number]
        given = state_of(written.at(number), colliders[key], rules.get(key, ()))
        movers[key]._take_over(given)  # noqa: SLF001
