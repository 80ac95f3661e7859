"""Play a recording to a scene, moment by moment, and tell where the scene differs."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from terrain_physics._public import public
from terrain_physics.character.frame_time import LONGEST_STEP
from terrain_physics.character.group_data import GroupState, Key
from terrain_physics.character.placement import AnyGround
from terrain_physics.recording.file import RecordedFrame, Start
from terrain_physics.recording.journal import contents_of, redo
from terrain_physics.recording.scenes import (
    checked_scene,
    grounds_of,
    hashes_of,
    read,
    update,
    updated,
    write,
)
from terrain_physics.recording.start import Scene


@public
class Difference(NamedTuple):
    """The place where a replay first differs from the recording.

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
    def difference(self) -> Difference | None:
        """The first character that is in another state than the recorded one."""
        recorded, found = self.hashes, hashes_of(self.state)
        for key in [*recorded, *(key for key in found if key not in recorded)]:
            if recorded.get(key) != found.get(key):
                return Difference(self.number, key, recorded.get(key), found.get(key))
        return None


def played(
    start: Start, frames: Sequence[RecordedFrame], make_scene: Callable[[], Scene]
) -> Iterator[Moment]:
    """Play frames to a new scene, and give each moment while the scene is there."""
    scene = checked_scene(make_scene())
    for one in updated(scene):
        one.max_delta = LONGEST_STEP  # what was recorded was lived
    grounds = grounds_of(scene)
    _refuse_other_grounds(start, grounds)
    state = read(scene)
    yield Moment(0, grounds, state, None, None, start.hashes)
    for number, frame in enumerate(frames, 1):
        for event in frame.events:
            redo(grounds[event.ground], event)
        write(scene, state, frame)
        result = update(scene, frame.delta_time)
        state = read(scene)
        yield Moment(number, grounds, state, frame, result, frame.hashes)


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
