"""Recordings: what a replay does, what it finds, and what files they refuse."""

import json

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import BoxCollider, CharacterMovement, HeightMap, Mismatch, SphereCollider
from terrain_physics._kernels.character.state.layout import FORMAT, SAVED
from terrain_physics.character.colliders import CapsuleCollider
from terrain_physics.group.group import CharacterGroup
from terrain_physics.group.results import GroupResult
from terrain_physics.recording.recording import Recording, replay

TODAY = f"format {FORMAT}"
FRAME = 1 / 60
HEIGHTS = np.random.default_rng(0).uniform(0, 1.2, (40, 40))
WALKER = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
LOW = CapsuleCollider(0.4, 1.0, offset=(0, 0.5, 0))


def make_group(**rules):
    group = CharacterGroup(HeightMap(HEIGHTS), WALKER, seed=4, **rules)
    for i in range(12):
        group.add(i, (9 + 2 * (i % 4), 2.5, 9 + 2 * (i // 4)))
    group.add("box", (20, 3, 20), collider=BoxCollider((0.3, 0.8, 0.4)))
    return group


def record_group():
    group = make_group(threads=1)
    recording = Recording(group)
    saved = group.state()
    for frame in range(90):
        group.set_velocities([(2, 0, 1), (-1, 0, 2)], keys=[1, 2])
        group["box"].velocity.x = 1.5
        if frame == 20:
            group.remove(5)
            group.add("late", (15, 3, 15), collider=SphereCollider(0.6), gravity=5)
            group.add(5, (12, 4, 12))
        if frame == 30:
            group[3].slope_limit = 0.9
            group["box"].rotation = glm.quat(glm.vec3(0.2, 0.7, 0.1))
            group[4].position = (14, 4, 11)
        if frame == 40:
            group.remove(0)
            assert group[1].resize(LOW)
        if frame == 70:
            group.restore(saved)
        result = recording.update(FRAME if frame % 2 else 1 / 144)
        assert isinstance(result, GroupResult)
    return recording


@pytest.fixture(scope="module")
def recorded():
    return record_group()


def make_heroes():
    ground = HeightMap(HEIGHTS)
    return {
        "hero": CharacterMovement(ground, WALKER, position=(10, 3, 10), seed=1),
        2: CharacterMovement(ground, SphereCollider(0.5), position=(20, 3, 20), seed=2),
    }


def record_heroes():
    heroes = make_heroes()
    recording = Recording(heroes)
    for frame in range(80):
        heroes["hero"].velocity.x = 2
        if frame == 30:
            heroes[2].position.y += 2
            heroes[2].gravity_scale = 0.5
        if frame == 50:
            heroes["hero"].resize(LOW)
            heroes[2].rotation = glm.quat(glm.vec3(0, 1, 0))
        results = recording.update(FRAME)
        assert isinstance(results, dict)
        assert list(results) == ["hero", 2]
    return recording


def test_a_group_is_replayed_bit_for_bit(recorded):
    assert len(recorded) == 90
    assert replay(recorded, make_group) is None
    assert replay(recorded, lambda: make_group(threads=3)) is None


def test_single_characters_are_replayed_bit_for_bit():
    recording = record_heroes()
    assert replay(recording, make_heroes) is None
    mover = make_heroes()["hero"]
    alone = Recording(mover)
    for _ in range(40):
        mover.velocity.z = 1
        assert alone.update(FRAME).contacts >= 0  # type: ignore[union-attr]
    assert replay(alone, lambda: make_heroes()["hero"]) is None


def test_the_first_frame_and_character_that_differ_are_named(recorded):
    class Shifting(CharacterGroup):
        """Goes another way than any that was recorded."""

        frames = 0

        def update(self, delta_time):
            result = super().update(delta_time)
            self.frames += 1
            if self.frames == 17:
                self["box"].position.y += 1
            return result

    def make():
        group = Shifting(HeightMap(HEIGHTS), WALKER)
        group.restore(make_group().state())
        return group

    found = replay(recorded, make)
    assert isinstance(found, Mismatch)
    assert found[:3] == (17, "box", None)
    assert found.mine == recorded._frames[16].hashes["box"] != found.theirs
    assert replay(recorded, make_group) is None


def test_another_start_is_frame_0(recorded):
    def elsewhere():
        group = make_group()
        group[7].position = (9, 9, 9)
        return group

    found = replay(recorded, elsewhere)
    assert found is not None
    assert (found.frame, found.key) == (0, 7)

    def fewer():
        group = make_group()
        group.remove("box")
        return group

    found = replay(recorded, fewer)
    assert found is not None
    assert (found.frame, found.key, found.theirs) == (0, "box", None)


@pytest.mark.parametrize(
    ("make", "record"), [(make_group, record_group), (make_heroes, record_heroes)]
)
def test_files(make, record, tmp_path):
    recording = record()
    path = tmp_path / "walk.replay"
    recording.save(path)
    assert list(tmp_path.iterdir()) == [path]
    loaded = Recording.load(path)
    assert len(loaded) == len(recording)
    assert replay(loaded, make) is None
    with pytest.raises(ValueError, match="one that was loaded cannot go on"):
        loaded.update(FRAME)
    again = tmp_path / "again"
    loaded.save(str(again))
    assert again.read_bytes() == path.read_bytes()


def test_files_are_small(recorded, tmp_path):
    recorded.save(tmp_path / "walk")
    states = sum(len(frame.hashes) for frame in recorded._frames)
    assert (tmp_path / "walk").stat().st_size < 24 * states


def test_damaged_files_are_refused_by_name(recorded, tmp_path):
    path = tmp_path / "walk"
    recorded.save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    damaged = [b"", b"no recording", whole[:100], whole[: len(whole) // 2], whole[:-30]]
    for place in rng.integers(0, len(whole), 60).tolist():
        damaged += [whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :]]
    refused = []
    for content in damaged:
        path.write_bytes(content)
        try:
            loaded = Recording.load(path)
        except ValueError as error:
            refused.append(str(error))
        else:  # a bit that nothing depends on, such as one of the archive's dates
            assert replay(loaded, make_group) is None
    assert len(refused) > 45
    assert all(str(path) in message for message in refused)
    with pytest.raises(FileNotFoundError):
        Recording.load(tmp_path / "nothing")


def _changed(path, recorded, **changes):
    recorded.save(path)
    with np.load(path) as archive:
        arrays = dict(archive)
    header = json.loads(bytes(arrays["header"]))
    header.update({name: value for name, value in changes.items() if name in header})
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    arrays.update({name: value for name, value in changes.items() if name not in header})
    with path.open("wb") as file:
        np.savez(file, **arrays)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"version": 2},
            f"must be of version 1 with .*{TODAY}, {SAVED.size} .* got version 2 with",
        ),
        ({"state_size": 3}, f"must be of version 1 .* got version 1 with .*{TODAY}, 3 numbers"),
        ({"state_format": 2}, "must be of version 1 .* got version 1 with states of format 2"),
        ({"format": "other"}, "must be a recording"),
        ({"start": [1]}, "must be a recording"),
        ({"frames": []}, "must be a recording"),
        ({"delta_times": np.full(90, 2.0)}, "must be a recording"),
        ({"hashes": np.zeros(5, np.uint64)}, "must be a recording"),
        ({"rows": np.full(10**5, 500, np.int32)}, "must be a recording"),
    ],
)
def test_other_versions_and_parts_that_do_not_fit_are_refused(changes, message, recorded, tmp_path):
    path = tmp_path / "walk"
    _changed(path, recorded, **changes)
    with pytest.raises(ValueError, match=message) as error:
        Recording.load(path)
    assert str(path) in str(error.value)


def test_bad_input_records_nothing():
    heroes = make_heroes()
    recording = Recording(heroes)
    with pytest.raises(ValueError, match="delta_time must be finite and >= 0 seconds, got -2"):
        recording.update(-2)
    heroes["hero"].velocity.x = np.nan
    with pytest.raises(ValueError, match=r"velocity\.x must be finite"):
        recording.update(FRAME)
    assert len(recording) == 0
    heroes["hero"].velocity.x = 1
    recording.update(FRAME)
    assert replay(recording, make_heroes) is None
    for scene in (3, {"a": 3}, [make_heroes()[2]]):
        with pytest.raises(TypeError, match="scene must be a World, a CharacterGroup, a Char"):
            Recording(scene)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="key must be a str or an int"):
        Recording({(1, 2): heroes[2]})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="recording must be a Recording"):
        replay("walk", make_heroes)  # type: ignore[arg-type]
