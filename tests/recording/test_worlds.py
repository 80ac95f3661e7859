"""Recordings of worlds: things that come and go, going back and forward, jumps and files."""

import json
from typing import Any

import numpy as np
import pytest

from terrain_physics import (
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    Recording,
    Rewind,
    SphereCollider,
    World,
    replay,
)
from terrain_physics.recording import snapshots
from terrain_physics.recording.journal import contents_of
from tests.helpers.draws import Draws
from tests.world.test_files import make_world, play

FRAME = 1 / 60
BODY = CapsuleCollider(0.3, 1.7, offset=(0, 0.85, 0))


class _Recorded:
    """A world whose updates are recorded, for `play`."""

    def __init__(self, world, recording):
        self._world, self.update = world, recording.update

    def __getattr__(self, name):
        return getattr(self._world, name)

    def __getitem__(self, key):
        return self._world[key]

    def __iter__(self):
        return iter(self._world)


def tell(seed, frames):
    """Record a story in which things come and go, and the world goes back and forward."""
    world, draws = make_world(seed), Draws(seed)
    recording = Recording(world)
    recorded, rewind, later = _Recorded(world, recording), Rewind(world), None
    for frame in range(frames):
        rewind.save(frame)
        play(recorded, frame, seed)
        if frame % 40 == 20:  # eight frames back, and played again in another way
            later = world.state()
            rewind.restore(frame - 7)
            for again in range(frame - 7, frame + 1):
                rewind.save(again)
                play(recorded, again, seed + 1)
        if frame % 40 == 30 and later is not None and draws.chance(0.5):
            world.restore(later)  # forward, to where it was
        if frame % 50 == 11:
            hero = CharacterMovement(world.ground, BODY, position=(12, 3, 12 + frame / 50))
            world.add(frame, hero)
        if frame % 50 == 45 and frame - 34 in world:
            world.remove(frame - 34)
        if frame == 33:
            extra = CharacterGroup(world.ground, BODY, seed=5, collide=True)
            extra.add_many(range(4), [(14, 3, 10 + k) for k in range(4)])
            world.add("extra", extra)
        if frame == 70:
            world.remove("extra")
        if frame == 64:
            world["crowd"].remove("m2")
            world["crowd"].add("late", (10, 3, 10), slope_limit=0.9)
    return world, recording


def names_and_hashes(world):
    found = {}
    for key in world:
        thing = world[key]
        if isinstance(thing, CharacterGroup):
            found.update({(key, member): own for member, own in thing.hashes()})
        else:
            found[key] = thing.state_hash()
    return found


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 15))]
)
def test_a_world_is_replayed_bit_for_bit(seed, tmp_path, monkeypatch):
    monkeypatch.setattr(snapshots, "FIRST_SECONDS", 0.5)
    world, recording = tell(seed, 90)
    assert replay(recording, lambda: make_world(seed)) is None
    recording.save(tmp_path / "story")
    loaded = Recording.load(tmp_path / "story")
    assert replay(loaded, loaded.make_scene) is None
    for frame in (0, 31, 64, 90, len(loaded)):
        jumped: Any = loaded.make_scene(frame)
        wanted = loaded._frames[frame - 1].hashes if frame else loaded._start.hashes
        assert names_and_hashes(jumped) == wanted
    assert [*jumped] == [*world]
    assert contents_of(jumped.ground) == contents_of(world.ground)
    assert jumped.clock.seconds == world.clock.seconds
    for frame in range(90, 110):
        play(jumped, frame, seed)
        play(world, frame, seed)
        assert names_and_hashes(jumped) == names_and_hashes(world)


def test_results_are_those_of_the_world():
    world, other = make_world(1), make_world(1)
    recording = Recording(world)
    for _ in range(5):
        assert repr(recording.update(FRAME)) == repr(other.update(FRAME))
    assert world.state_hash() == other.state_hash()


def test_a_difference_names_group_and_member():
    recording = Recording(make_world(1))
    for _ in range(5):
        recording.update(FRAME)

    def other():
        world = make_world(1)
        world["crowd"]["m2"].gravity = 9
        return world

    found = replay(recording, other)
    assert found is not None
    assert (found.frame, found.key) == (0, ("crowd", "m2"))


def test_a_page_of_a_world(tmp_path):
    world, recording = tell(2, 45)
    recording.save_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > 10_000
    assert len(world) == 9


@pytest.mark.parametrize(
    "things",
    [[["hero0", None]], [["hero0", None]] * 2, [["new", None]], 5, [["hero0", {"seed": -1}]]],
)
def test_things_that_no_world_takes(things, tmp_path):
    _, recording = tell(1, 12)
    recording.save(tmp_path / "story")
    with np.load(tmp_path / "story") as archive:
        parts = dict(archive)
    header = json.loads(bytes(parts["header"]))
    header["frames"][5]["things"] = things
    parts["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with (tmp_path / "story").open("wb") as file:
        np.savez(file, **parts)
    loaded = Recording.load(tmp_path / "story")
    with pytest.raises(ValueError, match="recording must"):
        replay(loaded, loaded.make_scene)


def test_a_world_of_characters_alone():
    def make():
        ground = make_world(3).ground
        world = World(ground)
        world.add(1, CharacterMovement(ground, SphereCollider(0.4), position=(5, 3, 5)))
        return world

    world = make()
    recording = Recording(world)
    for _ in range(20):
        world[1].walk(1, 0)
        recording.update(FRAME)
    assert replay(recording, make) is None
    assert isinstance(recording.make_scene(), World)
