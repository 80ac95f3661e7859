"""Snapshots of recordings: jumps to any frame, as if all frames had been played."""

import json
from typing import Any

import numpy as np
import pytest

from terrain_physics import CharacterMovement, Ground, HeightMap, Recording, TriangleMesh
from terrain_physics.recording import file as recording_file
from terrain_physics.recording import playback, scenes, snapshots, waiting
from terrain_physics.recording import recording as module
from terrain_physics.recording.journal import contents_of
from tests.helpers.draws import Draws
from tests.recording.test_recorded_grounds import (
    FRAME,
    WALKER,
    change,
    drawn_scene,
    ground_of,
    tell_story,
)


def make_hero():
    ground = Ground([HeightMap(np.zeros((9, 9))), TriangleMesh.box((2, 1, 2))])
    return CharacterMovement(ground, WALKER, position=(4, 3, 4))


def hashes_of(scene: Any) -> dict[Any, str]:
    """Return the hash of each character of a group or a mapping."""
    return {key: scene[key].state_hash() for key in scene}


def jumped_to(recording, frame, **first) -> Any:
    """Return the scene at a frame."""
    return recording.make_scene(frame, **first)


def count_updates(monkeypatch):
    """Return a list that grows by one for each update that a jump plays."""
    played = []
    advance = playback._advanced

    def advanced(scene, grounds, state, frame):
        played.append((scene, frame.delta_time))
        return advance(scene, grounds, state, frame)

    monkeypatch.setattr(playback, "_advanced", advanced)
    return played


def check_jumps(seed, frames, tmp_path, monkeypatch):
    """Jump to frames around snapshots and others; compare with a scene that was there."""
    monkeypatch.setattr(snapshots, "FIRST_SECONDS", 0.5)
    scene, twin = drawn_scene(seed), drawn_scene(seed)
    recording = Recording(scene)
    tell_story(scene, recording, seed, frames)
    recording.save(tmp_path / "story")
    loaded = Recording.load(tmp_path / "story")
    taken = [own.frame for own in recording._snapshots.taken]
    assert len(taken) >= frames // 60
    at = {0, 1, frames, *taken, *(frame + 1 for frame in taken), Draws(seed).below(frames)}
    played = count_updates(monkeypatch)
    for moment in playback.played(loaded._start, loaded._frames, lambda: twin):
        if moment.number in at:
            played.clear()
            jumped = loaded.make_scene(moment.number)
            assert sum(one[1] for one in played) < 0.5 + 1 / 30
            assert hashes_of(jumped) == hashes_of(twin)
            assert contents_of(ground_of(jumped)) == contents_of(ground_of(twin))
            draws, other = Draws(seed), Draws(seed)
            if moment.number == frames:  # and both go on alike
                for _ in range(20):
                    change(draws, ground_of(jumped))
                    change(other, ground_of(twin))
                    for one in (jumped, twin):
                        scenes.checked_scene(one).update(FRAME)
                    assert hashes_of(jumped) == hashes_of(twin)


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(2, 40))]
)
def test_a_jump_leads_where_all_frames_lead(seed, tmp_path, monkeypatch):
    check_jumps(seed, 60, tmp_path, monkeypatch)


def test_a_jump_plays_five_seconds_at_most(monkeypatch):
    hero = make_hero()
    recording = Recording(hero)
    for frame in range(1300):  # 21.7 s
        hero.ground.move(1, (2, 0.1 * np.sin(frame / 60), 2), FRAME)
        recording.update(FRAME)
        if frame == 1249:
            there = hero.state_hash()
    played = count_updates(monkeypatch)
    moves, move = [], Ground.move

    def counted(*given):
        moves.append(given)
        move(*given)

    monkeypatch.setattr(Ground, "move", counted)
    for wanted, most in ((1202, 2), (1199, 299)):
        played.clear()
        recording.make_scene(wanted)
        assert len(played) == len(moves) <= most
        moves.clear()
    monkeypatch.undo()
    assert jumped_to(recording, 1250).state_hash() == there


def test_many_snapshots_become_fewer(monkeypatch):
    monkeypatch.setattr(snapshots, "FIRST_SECONDS", 0.1)
    recording = Recording(make_hero())
    for _ in range(60):
        recording.update(FRAME)
    assert [own.frame for own in recording._snapshots.taken] == [*range(6, 61, 6)]
    size = recording._snapshots.taken[0].nbytes
    monkeypatch.setattr(snapshots, "MOST_BYTES", 12 * size)
    for _ in range(400):
        recording.update(FRAME)
        assert sum(own.nbytes for own in recording._snapshots.taken) <= 12 * size
    gaps = np.diff([own.frame for own in recording._snapshots.taken])
    assert len(gaps) >= 5
    assert gaps.max() <= 60


def test_a_change_during_an_update_puts_a_snapshot_off(monkeypatch):
    """Another thread's change counts for the next frame: no snapshot may hold it already."""
    monkeypatch.setattr(snapshots, "FIRST_SECONDS", 0.1)
    hero = make_hero()
    recording = Recording(hero)

    def meddled(*given):
        result = waiting.watched(*given)
        hero.ground.move(1, (3, 0, 3), FRAME)
        return result

    for frame in range(30):
        if 11 <= frame <= 20:
            monkeypatch.setattr(module, "watched", meddled)
        else:
            monkeypatch.setattr(module, "watched", waiting.watched)
        recording.update(FRAME)
    taken = [own.frame for own in recording._snapshots.taken]
    assert not set(taken) & set(range(12, 22))
    assert taken[-1] > 21
    assert jumped_to(recording, 30).state_hash() == hero.state_hash()


def test_snapshots_that_do_not_fit_are_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(snapshots, "FIRST_SECONDS", 0.1)
    recording = Recording(make_hero())
    for _ in range(60):
        recording.update(FRAME)
    recording.save(tmp_path / "whole")
    assert len(Recording.load(tmp_path / "whole")._snapshots.taken) > 5
    arrays = np.load(tmp_path / "whole")
    most = sum(arrays[name].nbytes for name in arrays) - 1
    monkeypatch.setattr(recording_file, "MOST_BYTES", most)
    recording.save(tmp_path / "small")
    small = Recording.load(tmp_path / "small")
    assert small._snapshots.taken == []
    assert jumped_to(small, 60).state_hash() == jumped_to(recording, 60).state_hash()


def test_a_frame_that_is_not_there_is_refused():
    hero = make_hero()
    recording = Recording(hero)
    recording.update(FRAME)
    with pytest.raises(ValueError, match="frame must be from 0 to 1, got 2"):
        recording.make_scene(2)
    with pytest.raises(TypeError, match="frame must be"):
        recording.make_scene(0.5)  # type: ignore[arg-type]
    assert jumped_to(recording, 1, first=make_hero).state_hash() == hero.state_hash()
    with pytest.raises(ValueError, match="ground as it was when the recording began"):
        recording.make_scene(1, first=lambda: CharacterMovement(HeightMap([[0, 0]] * 2), WALKER))


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    recording = Recording(make_hero())
    for _ in range(310):
        recording.update(FRAME)
    path = tmp_path_factory.mktemp("recorded") / "walk"
    recording.save(path)
    with np.load(path) as archive:
        return dict(archive)


def damaged(parts, tmp_path, **changed):
    with (tmp_path / "walk").open("wb") as file:
        np.savez(file, **parts | changed)
    return tmp_path / "walk"


@pytest.mark.parametrize(
    "taken", [[[0, 5]], [[311, 5]], [[1, -1]], [[1, 1 << 40]], [], [[1, 5], [1, 5]], [["1", 5]]]
)
def test_snapshots_that_fit_no_frame_are_refused(taken, parts, tmp_path):
    header = json.loads(bytes(parts["header"])) | {"snapshots": taken}
    new = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with pytest.raises(ValueError, match="file must be a recording, undamaged"):
        Recording.load(damaged(parts, tmp_path, header=new))


@pytest.mark.parametrize("value", [np.nan, np.inf, -7.0])
def test_damaged_snapshots_are_refused_when_they_are_used(value, parts, tmp_path):
    rows = parts["snapshot_rows"].copy()
    rows[6] = np.array(value).view(np.uint64)  # grounded
    loaded = Recording.load(damaged(parts, tmp_path, snapshot_rows=rows))
    with pytest.raises(ValueError, match="recording must hold its scene, undamaged"):
        loaded.make_scene(310)
    content = parts["snapshot_bytes"].copy()
    content[3] = 0
    loaded = Recording.load(damaged(parts, tmp_path, snapshot_bytes=content))
    with pytest.raises(ValueError, match="recording must hold its scene, undamaged"):
        loaded.make_scene(310)
    assert loaded.make_scene(3) is not None
