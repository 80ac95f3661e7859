"""Scenes that are recorded: a character, several, a group or a world, all read as one state."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from terrain_physics._kernels.character.state import layout as columns
from terrain_physics._kernels.character.state.layout import SAVED
from terrain_physics._kernels.types import Bools, Floats, UInt64s
from terrain_physics._support import checks
from terrain_physics.character.colliders import Collider
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
from terrain_physics.group.crowd import CrowdOptions
from terrain_physics.group.group import CharacterGroup
from terrain_physics.recording.file import (
    NOW_SEEN,
    SEEN,
    RecordedFrame,
    keys_after,
    those_who_stayed,
)
from terrain_physics.recording.start import Kind, RecordedScene
from terrain_physics.recording.worlds import (
    Things,
    lay_out,
    put_things,
    read_things,
    read_world,
    things_of,
)
from terrain_physics.surface.ground_files import SavedGround
from terrain_physics.surface.queries import Queries
from terrain_physics.surface.surface import queries_of
from terrain_physics.world.seen import have_seen, look_around
from terrain_physics.world.things import adopt, settings_of
from terrain_physics.world.world import World, contents_of


class Played:
    """A scene that is recorded or played: several characters by their keys.

    Attributes
    ----------
    scene : World, CharacterGroup, CharacterMovement or dict
        As the game has it.
    kind : str
        As of `RecordedScene`.
    """

    kind: Kind = "characters"

    def __init__(self, scene: Any) -> None:
        self.scene = scene

    @property
    def turn(self) -> list[tuple[Any, Any]]:
        """What is updated, by its key, in order."""
        return [*self.scene.items()]

    @property
    def updated(self) -> list[Any]:
        """What is updated."""
        return [thing for _, thing in self.turn]

    @property
    def grounds(self) -> list[AnyGround]:
        """The grounds, each once."""
        return list({id(thing.ground): thing.ground for thing in self.updated}.values())

    def read(self) -> GroupState:
        """Return the state of all characters, with all that the game wrote."""
        for thing in self.updated:
            adopt(thing)
        return read_things(self.turn)

    def update(self, seconds: float) -> Any:
        """Update all characters; return what the update of the scene gives."""
        return {key: mover.update(seconds) for key, mover in self.scene.items()}

    def on(self, keys: Sequence[Key]) -> list[int]:
        """Return which of the grounds each character is on."""
        numbers = {id(ground): number for number, ground in enumerate(self.grounds)}
        if len(numbers) < 2:
            return [0] * len(keys)
        things = dict(self.turn)
        return [numbers[id(things[key].ground)] for key in keys]

    def things(self) -> Things | None:
        """Return which things a world has; None of others."""
        return None

    def lay_out(self, things: Things, bodies: Mapping[Any, Collider]) -> set[Any]:  # noqa: ARG002
        """Have these things of a world; return the keys of those that were made anew."""
        return set()

    def put(
        self,
        state: GroupState,
        written: Collection[int],
        made: Collection[Any] = frozenset(),
    ) -> None:
        """Put characters into a state: those with some numbers, and those made anew."""
        put_things(self.turn, state, written, made)

    def recorded(self, state: GroupState, grounds: list[SavedGround]) -> RecordedScene:
        """Return what is kept of it in a state, on grounds that were saved in its order."""
        return RecordedScene(self.kind, state, self.on(state.keys), None, grounds)


class _PlayedOne(Played):
    """One character."""

    kind: Kind = "character"

    @property
    def turn(self) -> list[tuple[Any, Any]]:
        return [(0, self.scene)]

    def update(self, seconds: float) -> Any:
        return self.scene.update(seconds)


class _PlayedGroup(_PlayedOne):
    """A group: its characters have the keys that they have there."""

    kind: Kind = "group"

    @property
    def turn(self) -> list[tuple[Any, Any]]:
        return [(None, self.scene)]

    def recorded(self, state: GroupState, grounds: list[SavedGround]) -> RecordedScene:
        options: Any = settings_of(self.scene)
        crowd = CrowdOptions(**options) if options.pop("collide") else None
        return super().recorded(state, grounds)._replace(crowd=crowd)


class _PlayedWorld(_PlayedOne):
    """A world: members of its groups have two keys."""

    kind: Kind = "world"

    @property
    def turn(self) -> list[tuple[Any, Any]]:
        return [*contents_of(self.scene).turn]

    @property
    def grounds(self) -> list[AnyGround]:
        return [self.scene.ground]

    def read(self) -> GroupState:
        return read_world(self.scene)

    def things(self) -> Things | None:
        return things_of(self.scene)

    def lay_out(self, things: Things, bodies: Mapping[Any, Collider]) -> set[Any]:
        return lay_out(self.scene, things, bodies)

    def recorded(self, state: GroupState, grounds: list[SavedGround]) -> RecordedScene:
        clock = self.scene.clock
        world = [clock.seconds, clock.max_steps, self.things()]
        return super().recorded(state, grounds)._replace(world=world)


_KINDS: dict[Any, type[Played]] = {
    World: _PlayedWorld,
    CharacterGroup: _PlayedGroup,
    CharacterMovement: _PlayedOne,
}


def checked_scene(scene: Any) -> Played:
    """Return a scene to be played, or refuse what is none."""
    for kind, played in _KINDS.items():
        if isinstance(scene, kind):
            return played(scene)
    if not isinstance(scene, Mapping) or not all(
        isinstance(mover, CharacterMovement) for mover in scene.values()
    ):
        raise TypeError(
            "scene must be a World, a CharacterGroup, a CharacterMovement or a mapping of them, "
            f"got {checks.shorten(scene)}"
        )
    return Played({checked_key(key): mover for key, mover in scene.items()})


def lived(time: FrameTime, scene: Played, delta_time: float) -> float:
    """Return how long a frame lasts for all characters of a scene."""
    time.max_delta = min((thing.max_delta for thing in scene.updated), default=LONGEST_STEP)
    return time.lived(delta_time)


def hashes_of(state: GroupState) -> dict[Key, str]:
    """Return the hash of each character."""
    return dict(zip(state.keys, state_hashes(packed_rows(state)), strict=True))


def write(scene: Played, state: GroupState, frame: RecordedFrame) -> None:
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
    if frame.things is not None:
        made = scene.lay_out(frame.things, colliders)
    scene.put(given, written, made)


def put(scene: Played, state: GroupState) -> None:
    """Put all characters of a scene into a state, who have seen the ground as it is."""
    known = _changed(scene, state, np.ones(len(state.keys), np.bool_), have_seen)
    scene.put(known, range(len(known.keys)))


def _changed(
    scene: Played, state: GroupState, marks: Bools, change: Callable[[Rows, Queries], None]
) -> GroupState:
    """Return a state with rows changed that are marked, on their ground."""
    rows = Rows.unpacked(packed_rows(state))
    on = np.array(scene.on(state.keys), np.int64)
    for number, ground in enumerate(scene.grounds):
        own = marks & (on == number)
        some = rows.at(own)
        change(some, queries_of(ground))
        rows.state[own] = some.state
    return replace(state, rows=rows.packed().astype("<u8", copy=False).tobytes())


def settled(scene: Played, old: GroupState, new: GroupState, *, all_anew: bool) -> GroupState:
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


def restores_of(scene: Played) -> list[Floats]:
    """Return for each ground an array that is another one after each restore of it."""
    return [queries_of(ground).left for ground in scene.grounds]


def looked_around(scene: Played, state: GroupState) -> UInt64s:
    """Return the packed rows (n, size) of a scene's state, for `put`."""
    return packed_rows(_changed(scene, state, np.ones(len(state.keys), np.bool_), look_around))
