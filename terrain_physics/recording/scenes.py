"""Scenes that are recorded, one character, several or a group: all read as the state of a group."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.character.state.layout import SAVED
from terrain_physics._kernels.types import Bools, Floats, UInt64s
from terrain_physics._support import checks
from terrain_physics.character.frame_time import LONGEST_STEP, FrameTime
from terrain_physics.character.group_data import (
    GroupState,
    Key,
    checked_key,
    packed_rows,
    state_of_rows,
)
from terrain_physics.character.movement import CharacterMovement
from terrain_physics.character.placement import AnyGround
from terrain_physics.character.rows import Rows, state_hashes
from terrain_physics.character.state import state_of
from terrain_physics.group.group import CharacterGroup
from terrain_physics.recording.file import (
    NOW_SEEN,
    SEEN,
    RecordedFrame,
    keys_after,
    those_who_stayed,
)
from terrain_physics.recording.start import Scene
from terrain_physics.recording.worlds import lay_out, put_world, read_world
from terrain_physics.surface.queries import Queries
from terrain_physics.surface.surface import queries_of
from terrain_physics.world.seen import have_seen, look_around
from terrain_physics.world.world import World


def checked_scene(scene: Any) -> Scene:
    """Return a scene, or refuse what is none."""
    if isinstance(scene, (CharacterGroup, CharacterMovement, World)):
        return scene
    if not isinstance(scene, Mapping) or not all(
        isinstance(mover, CharacterMovement) for mover in scene.values()
    ):
        raise TypeError(
            "scene must be a World, a CharacterGroup, a CharacterMovement or a mapping of them, "
            f"got {checks.shorten(scene)}"
        )
    return {checked_key(key): mover for key, mover in scene.items()}


def movers_of(
    scene: CharacterMovement | Mapping[Key, Any],
) -> Mapping[Key, CharacterMovement]:
    """Return the characters of a scene that is no group, by their keys."""
    return {0: scene} if isinstance(scene, CharacterMovement) else scene


def read(scene: Scene) -> GroupState:
    """Return the state of a scene, with all that the game wrote."""
    if isinstance(scene, CharacterGroup):
        data = scene._data  # noqa: SLF001
        data.adopt_writes()
        return data.state_of(data.rows())
    if isinstance(scene, World):
        return read_world(scene)
    movers = movers_of(scene)
    for mover in movers.values():
        mover._adopt()  # noqa: SLF001
    colliders = {key: mover.collider for key, mover in movers.items()}
    rules = {key: mover._material_rules() for key, mover in movers.items()}  # noqa: SLF001
    rows = [mover._row().packed() for mover in movers.values()]  # noqa: SLF001
    return state_of_rows(0, colliders, rules, np.reshape(rows, (len(rows), SAVED.size)))


def updated(scene: Scene) -> list[CharacterGroup | CharacterMovement]:
    """Return what a scene updates."""
    if isinstance(scene, (CharacterGroup, CharacterMovement)):
        return [scene]
    found: list[CharacterGroup | CharacterMovement] = list(scene.values())
    return found


def grounds_of(scene: Scene) -> list[AnyGround]:
    """Return the grounds of a scene, each once."""
    if isinstance(scene, World):
        return [scene.ground]
    grounds = [updated.ground for updated in updated(scene)]
    return list({id(ground): ground for ground in grounds}.values())


def lived(time: FrameTime, scene: Scene, delta_time: float) -> float:
    """Return how long a frame lasts for all characters of a scene."""
    time.max_delta = min((updated.max_delta for updated in updated(scene)), default=LONGEST_STEP)
    return time.lived(delta_time)


def update(scene: Scene, seconds: float) -> Any:
    """Update all characters; return what the update of the scene gives."""
    if isinstance(scene, (CharacterGroup, CharacterMovement, World)):
        return scene.update(seconds)
    return {key: mover.update(seconds) for key, mover in scene.items()}


def hashes_of(state: GroupState) -> dict[Key, str]:
    """Return the hash of each character."""
    return dict(zip(state.keys, state_hashes(packed_rows(state)), strict=True))


def write(scene: Scene, state: GroupState, frame: RecordedFrame) -> None:
    """Do to a scene in some state what the game did."""
    if not (frame.left or frame.bodies or len(frame.rows) or frame.things is not None):
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
    given = state_of_rows(state.seed, colliders, rules, rows)
    if SEEN in frame.places:
        given = _changed(scene, given, rows[:, SEEN] == NOW_SEEN, have_seen)
    written, made = np.unique(frame.rows).tolist(), set()
    if isinstance(scene, World) and frame.things is not None:
        made = lay_out(scene, frame.things, colliders)
    _put(scene, given, written, made)


def put(scene: Scene, state: GroupState) -> None:
    """Put all characters of a scene into a state, who have seen the ground as it is."""
    known = _changed(scene, state, np.ones(len(state.keys), np.bool_), have_seen)
    _put(scene, known, range(len(known.keys)))


def _changed(
    scene: Scene, state: GroupState, marks: Bools, change: Callable[[Rows, Queries], None]
) -> GroupState:
    """Return a state with rows changed that are marked, on their ground."""
    rows = Rows.unpacked(packed_rows(state))
    if isinstance(scene, (CharacterGroup, World)):
        some = rows.at(marks)
        change(some, queries_of(scene.ground))
        rows.state[marks] = some.state
    else:
        for number in np.flatnonzero(marks).tolist():
            ground = movers_of(scene)[state.keys[number]].ground
            change(rows.at(slice(number, number + 1)), queries_of(ground))
    return replace(state, rows=rows.packed().astype("<u8", copy=False).tobytes())


def settled(scene: Scene, old: GroupState, new: GroupState, *, all_anew: bool) -> GroupState:
    """Return a new state in which those have looked around of whom a replay knows less.

    These are characters that came, and that know a count of the ground's changes that the old state
    has not, as the game has put them back; and all, where ``all_anew``. They are marked by
    `NOW_SEEN`, as counts of changes are a ground's own. Of others a replay finds out who wakes.
    """
    kept = those_who_stayed(old.keys, new.keys)
    marks = np.ones(len(new.keys), np.bool_)
    if not all_anew:
        before, now = packed_rows(old)[kept, SEEN], packed_rows(new)[: len(kept), SEEN]
        marks[: len(kept)] = before != now
    return _changed(scene, new, marks, _look_now) if marks.any() else new


def _look_now(rows: Rows, queries: Queries) -> None:
    """Let characters look around, and mark that they have."""
    look_around(rows, queries)
    rows.state[:, columns.GROUND_VERSION] = NOW_SEEN.view(np.float64)


def restores_of(scene: Scene) -> list[Floats]:
    """Return for each ground an array that is another one after each restore of it."""
    return [queries_of(ground).left for ground in grounds_of(scene)]


def _put(
    scene: Scene,
    state: GroupState,
    written: Collection[int],
    made: Collection[Any] = frozenset(),
) -> None:
    """Put a scene into a state; of characters by themselves those with some numbers."""
    if isinstance(scene, CharacterGroup):
        scene._data.take_over(state)  # noqa: SLF001
        return
    if isinstance(scene, World):
        put_world(scene, state, written, made)
        return
    movers, rules = movers_of(scene), dict(state.material_rules)
    if list(state.keys) != list(movers):  # only those of a group come and go
        raise ValueError(f"recording must be of the characters {[*movers]}, got {[*state.keys]}")
    rows = Rows.unpacked(packed_rows(state))
    for number in written:
        key = state.keys[number]
        given = state_of(rows.at(number), state.colliders[number], rules.get(key, ()))
        movers[key]._take_over(given)  # noqa: SLF001


def looked_around(scene: Scene, state: GroupState) -> UInt64s:
    """Return the packed rows (n, size) of a scene's state, for `put`."""
    return packed_rows(_changed(scene, state, np.ones(len(state.keys), np.bool_), look_around))
