"""Play a recording to a scene, moment by moment, and tell where the scene differs."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, cast

from terrain_physics.character.frame_time import LONGEST_STEP, MaxDelta
from terrain_physics.character.group_data import GroupState, Key
from terrain_physics.character.placement import AnyGround
from terrain_physics.recording.file import RecordedFrame, Start, state_at
from terrain_physics.recording.journal import OF_MOTION, contents_of, load_motion, redo
from terrain_physics.recording.scenes import Played, checked_scene, hashes_of, put, write
from terrain_physics.recording.snapshots import Snapshot, latest
from terrain_physics.recording.start import Scene
from terrain_physics.recording.waiting import again, put_totals
from terrain_physics.world.compare import Mismatch, of_hashes


class Moment(NamedTuple):
    """A scene before the first frame of a replay, or after one.

    Attributes
    ----------
    number : int
        Of the frame, counted from 1; 0 before the first one.
    grounds : list of HeightMap, TriangleMesh or Ground
        Those of the scene, each once.
    state : GroupState
    frame : Frame or None
        The frame that led here.
    result : GroupResult, MoveResult, dict or None
        Of the update.
    hashes : dict
        As they were recorded.
    """

    number: int
    grounds: list[AnyGround]
    state: GroupState
    frame: RecordedFrame | None
    result: Any
    hashes: dict[Key, str]

    @property
    def mismatch(self) -> Mismatch | None:
        """The first character that is in another state than the recorded one."""
        return of_hashes(self.number, self.hashes, hashes_of(self.state))


def played(
    start: Start, frames: Sequence[RecordedFrame], make_scene: Callable[[], Scene]
) -> Iterator[Moment]:
    """Play frames to a new scene, and give each moment while the scene is there."""
    scene, grounds, state = _begun(start, make_scene)
    yield Moment(0, grounds, state, None, None, start.hashes)
    for number, frame in enumerate(frames, 1):
        result, state = _advanced(scene, grounds, state, frame)
        yield Moment(number, grounds, state, frame, result, frame.hashes)


def scene_after(
    start: Start,
    frames: Sequence[RecordedFrame],
    snapshots: Sequence[Snapshot],
    make_scene: Callable[[], Scene],
) -> Scene:
    """Return a new scene as it was after frames: from the last snapshot on, they are played."""
    made = make_scene()
    limits = [(one, one.max_delta) for one in checked_scene(made).updated]
    scene, grounds, state = _begun(start, lambda: made)
    snapshot = latest(snapshots, len(frames))
    first = 0
    if snapshot is not None:
        first = snapshot.frame
        state = _jumped(scene, grounds, state, frames[:first], snapshot)
    for frame in frames[first:]:
        _, state = _advanced(scene, grounds, state, frame)
    for one in scene.updated:
        one.max_delta = MaxDelta.default  # of things that came to a world
    for one, limit in limits:
        one.max_delta = limit
    return cast("Scene", scene.scene)


def _begun(
    start: Start, make_scene: Callable[[], Scene]
) -> tuple[Played, list[AnyGround], GroupState]:
    """Return a new scene before the first frame, with its grounds and its state."""
    scene = checked_scene(make_scene())
    for one in scene.updated:
        one.max_delta = LONGEST_STEP  # what was recorded was lived
    grounds = scene.grounds
    _refuse_other_grounds(start, grounds)
    return scene, grounds, scene.read()


def _advanced(
    scene: Played, grounds: list[AnyGround], state: GroupState, frame: RecordedFrame
) -> tuple[Any, GroupState]:
    """Play one frame to a scene in a state; return what the update gives, and the new state."""
    for event in frame.events:
        redo(grounds[event.ground], event)
    write(scene, state, frame)
    return again(grounds, frame.waits, lambda: scene.update(frame.delta_time)), scene.read()


def _jumped(
    scene: Played,
    grounds: list[AnyGround],
    state: GroupState,
    frames: Sequence[RecordedFrame],
    snapshot: Snapshot,
) -> GroupState:
    """Take a scene from its start to a snapshot after frames, without updates."""
    for frame in frames:
        for event in frame.events:
            if event.kind not in OF_MOTION:
                redo(grounds[event.ground], event)
    for ground, motion in zip(grounds, json.loads(snapshot.motions), strict=True):
        load_motion(ground, motion)
    waits = next((frame.waits for frame in reversed(frames) if frame.waits is not None), None)
    if waits is not None:
        put_totals(grounds, waits.totals)
    given = state_at(state, frames, snapshot.rows)
    things = next((frame.things for frame in reversed(frames) if frame.things is not None), None)
    if things is not None:
        scene.lay_out(things, dict(zip(given.keys, given.colliders, strict=True)))
    put(scene, given)
    return scene.read()


def _refuse_other_grounds(start: Start, grounds: list[AnyGround]) -> None:
    """Refuse grounds that do not hold what the recorded ones did."""
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
