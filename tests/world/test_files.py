"""World files: a saved world goes on elsewhere bit for bit; what is damaged is refused."""

import io
import json
import signal
import subprocess
import sys
import time
import zipfile
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    FixedStep,
    Ground,
    HeightMap,
    SphereCollider,
    TriangleMesh,
    World,
)
from terrain_physics.surface import ground_files
from terrain_physics.world import files
from tests.helpers.damaged_saves import check_archive, how_many
from tests.helpers.draws import Draws

FRAME = 1 / 60
WALKER = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
LIFT, CRUSHER, BELT, DECK = 1, 2, 3, 4


def make_world(seed):
    """Return a world with a lift, a crusher at a wall, a belt and a one-way deck, all in use."""
    draws = Draws(seed)
    land = HeightMap(draws.uniform(0, 0.4, 33, 33).astype(np.float32), thickness=3)
    boxes = (3, 0.5, 3), (2, 1, 2), (6, 0.4, 3), (3, 0.3, 3), (0.5, 3, 4)
    names = [None, "lift", "crusher", "belt", "deck", "wall"]
    ground = Ground([land, *map(TriangleMesh.box, boxes)], names=names)
    for key, place in enumerate([(8, 1, 8), (14, 1, 8), (8, 1.2, 16), (16, 2, 16), (12, 1, 8)], 1):
        ground.move(key, place)
    ground.set_surface_velocity(BELT, (1, 0, 0))
    ground.set_one_way(DECK, (0, 1, 0))
    world = World(ground, clock=FixedStep(1 / 120, max_steps=4))
    places = (8, 2, 8), (12.8, 1, 8), (8, 2, 16), (16, 3, 16), (25, 1, 25)
    for key, at in enumerate(places):
        body = WALKER if key % 2 else SphereCollider(0.5)
        rules = {0: {"friction": 0.5}} if key == 2 else {}
        hero = CharacterMovement(
            ground, body, position=at, seed=key, turn_with_ground=True, material_rules=rules
        )
        hero.max_delta = 0.1 if key else 0.2
        world.add(f"hero{key}", hero)
    crowd = CharacterGroup(
        ground, WALKER, collide=True, heads="stand", keep_to="left", seed=9, threads=1
    )
    for key in range(8):
        crowd.add(key if key % 2 else f"m{key}", (7 + 0.5 * key, 3, 8 + 0.3 * (key % 3)))
    world.add("crowd", crowd)
    lone = CharacterGroup(ground, seed=3, slope_limit=0.9, material_rules={0: {"speed": 0.7}})
    lone.add("box", (20, 4, 20), collider=BoxCollider((0.4, 0.9, 0.4)), mass=9)
    world.add(7, lone)
    world.extra = bytes(range(200))
    return world


def play(world, frame, seed):
    """Do to a world what a game does in one frame."""
    ground, time_, draws = world.ground, frame / 60, Draws(1000 * seed + frame)
    ground.move(LIFT, (8, 1 + 0.5 * np.sin(time_), 8), FRAME)
    ground.move(CRUSHER, (14 - 1.6 * abs(np.sin(time_)), 1, 8), FRAME)
    if frame % 3 == 0:
        turn = glm.quat(glm.vec3(0, time_ / 5, 0))
        ground.move(DECK, ((16, 2 + 0.1 * np.sin(time_), 16), turn), 3 * FRAME)
    if frame % 50 == 7:
        ground.carve(draws.uniform(4, 28, 2), 2, 0.2)
    if frame % 70 == 9:
        ground.flatten(draws.uniform(4, 28, 2), 2, 0.2)
    if frame % 120 == 40:
        key = ground.add(TriangleMesh.box((1, 1, 1)), name=f"crate{frame}")
        ground.move(key, (10, 1, 10))
    if frame % 120 == 100 and f"crate{frame - 60}" in ground.part_names.values():
        ground.remove(f"crate{frame - 60}")
    if frame == 30:
        ground.parts[0].holes[3, 3] = True
    for number, key in enumerate(world):
        thing = world[key]
        if isinstance(thing, CharacterGroup):
            thing.walk(np.sin(time_ + number), np.cos(1.3 * time_), keys=list(thing)[:5])
        elif (frame // 40) % 2 and key != "hero4":
            thing.walk(2 * np.sin(time_ + number), np.cos(0.7 * time_ + number))
    if frame % 60 == 30:
        world["hero0"].velocity.y = 5
    world.update(FRAME)


def hashes_of(world):
    """Return the hash of the world, and of each thing."""
    return [world.state_hash(), *(world[key].state_hash() for key in world)]


_GO_ON = """
import sys
from tests.world.test_files import World, hashes_of, play
path, seed, first, last = sys.argv[1], *map(int, sys.argv[2:])
world = World.load(path)
for frame in range(first, last):
    if frame % 50 == 0:
        print(*hashes_of(world))
    play(world, frame, seed)
print(*hashes_of(world))
"""


def in_another_process(script, *arguments):
    """Return the lines that a script prints in a new process."""
    result = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 12))]
)
def test_a_saved_world_goes_on_in_another_process(seed, tmp_path):
    world, first = make_world(seed), Draws(seed).below(300)
    last = first + 600 if seed else first + 60
    for frame in range(first):
        play(world, frame, seed)
    world["hero4"].velocity.x = 1.5  # written, and not yet seen by an update
    world.save(tmp_path / "game.world")
    expected = []
    for frame in range(first, last):
        if frame % 50 == 0:
            expected.append(" ".join(hashes_of(world)))
        play(world, frame, seed)
    expected.append(" ".join(hashes_of(world)))
    assert in_another_process(_GO_ON, tmp_path / "game.world", seed, first, last) == expected


@pytest.fixture(scope="module")
def story():
    """Return a world that was played for a while, and the bytes of its file."""
    world = make_world(1)
    for frame in range(70):
        play(world, frame, 1)
    world.clock.steps(0.021)
    with TemporaryDirectory() as name:
        world.save(Path(name) / "game.world")
        return world, (Path(name) / "game.world").read_bytes()


@pytest.fixture
def played(story):
    return deepcopy(story[0])


@pytest.fixture
def saved(story, tmp_path):
    (tmp_path / "game.world").write_bytes(story[1])
    return tmp_path / "game.world"


def test_everything_is_there_again(played, saved):
    again: Any = World.load(saved)
    assert [*again] == [*played]
    assert again.extra == played.extra
    assert (again.clock.seconds, again.clock.max_steps) == (1 / 120, 4)
    assert again.clock.alpha == played.clock.alpha > 0
    assert again.clock.steps(0) == played.clock.steps(0)
    assert hashes_of(again) == hashes_of(played)
    for key in played:
        one, other = played[key], again[key]
        assert other.max_delta == one.max_delta
        if isinstance(one, CharacterMovement):
            assert other.material_rules == one.material_rules
            assert other.collider == one.collider
            one.reset((3, 5, 3))  # a seed of its own
            other.reset((3, 5, 3))
            assert other.state_hash() == one.state_hash()
        else:
            assert repr(other.state()) == repr(one.state())
            for group in (one, other):
                group.add("new", (4, 5, 4), collider=WALKER)
            assert other["new"].state_hash() == one["new"].state_hash()
            one.remove("new")
            assert other._threads == one._threads
            assert (other._crowd is None) == (one._crowd is None)


@pytest.mark.parametrize("ground", [HeightMap([[0, 0]] * 2), TriangleMesh.box((1, 1, 1))])
def test_worlds_on_a_map_or_a_mesh(ground, tmp_path):
    world = World(ground)
    world.add("hero", CharacterMovement(ground, SphereCollider(0.2), position=(0.3, 2, 0.3)))
    for _ in range(30):
        world.update(FRAME)
    world.save(tmp_path / "w")
    again = World.load(tmp_path / "w")
    assert type(again.ground) is type(ground)
    for _ in range(60):
        world.update(FRAME)
        again.update(FRAME)
        assert again.state_hash() == world.state_hash()


def test_an_empty_world(tmp_path):
    World(HeightMap([[0, 0]] * 2)).save(tmp_path / "w")
    assert len(World.load(tmp_path / "w")) == 0


class Sprite:
    def __init__(self):
        self.position = glm.vec3(1, 2, 3)


def test_owners_are_given_anew(played, saved):
    sprite, other = Sprite(), Sprite()
    owners: dict[str | int, Any] = {"hero0": sprite, "hero1": {"owner": other, "axes": "z-up"}}
    again: Any = World.load(saved, owners=owners)
    place = played["hero0"].position64
    assert sprite.position == glm.vec3(*place)
    x, y, z = played["hero1"].position64
    assert other.position == glm.vec3(x, -z, y)
    again["hero0"].walk(2, 0)
    again.update(FRAME)
    assert sprite.position == again["hero0"].position
    with pytest.raises(ValueError, match=r"owners must be of characters of the file.*got 'crowd'"):
        World.load(saved, owners={"crowd": sprite})
    with pytest.raises(TypeError, match=r"owners\['hero0'\] must be an owner, or a dict of axes"):
        World.load(saved, owners={"hero0": {"sprite": sprite}})
    with pytest.raises(TypeError, match=r"owners\['hero1'\]: owner must have a position"):
        World.load(saved, owners={"hero0": sprite, "hero1": object()})


# Files that are damaged, foreign, or written half


def test_an_error_leaves_the_old_file(played, saved, monkeypatch):
    before = saved.read_bytes()
    monkeypatch.setattr(files, "MOST_ROW_BYTES", 100)
    with pytest.raises(ValueError, match="must have at most 100 bytes of rows, got"):
        played.save(saved)
    played["hero0"].velocity.x = np.nan
    with pytest.raises(ValueError, match="'hero0': velocity"):
        played.save(saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


_SAVE_AGAIN = """
import sys
import numpy as np
from terrain_physics import CharacterMovement, HeightMap, SphereCollider, World
land = HeightMap(np.random.default_rng(0).random((400, 400), dtype=np.float32))
world = World(land)
world.add("hero", CharacterMovement(land, SphereCollider(0.5), position=(9, 9, 9)))
for number in range(1000):
    world.extra = str(number).encode()
    world.save(sys.argv[1])
    print(number, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a signal that cannot be caught")
@pytest.mark.parametrize(
    "kills", [1, pytest.param(40, marks=pytest.mark.full)], ids=["once", "often"]
)
def test_a_process_that_is_killed_while_it_saves_leaves_a_whole_file(kills, tmp_path):
    path, draws = tmp_path / "game.world", Draws(kills)
    for _ in range(kills):
        process = subprocess.Popen(
            [sys.executable, "-c", _SAVE_AGAIN, path], stdout=subprocess.PIPE, text=True
        )
        with process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(draws.uniform(0, 0.05))
            process.send_signal(signal.SIGKILL)
            done = [int(line) for line in process.stdout]
        world: Any = World.load(path)
        assert int(world.extra) in {done[-1], done[-1] + 1} if done else {0, 1}
        assert world["hero"].position == glm.vec3(9)


def members_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def written(path, members, packing=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", packing) as archive:
        for name, content in members.items():
            own = zipfile.ZIP_STORED if name.endswith(".json") else packing
            archive.writestr(zipfile.ZipInfo(name), content, own)
    return path


def with_header(path, **changed):
    """Write a file again with other entries of the header."""
    members = members_of(path)
    header = json.loads(members["world.json"])
    for name, change in changed.items():
        header[name] = change(header[name]) if callable(change) else change
    members["world.json"] = json.dumps(header).encode()
    return written(path, members)


def refused(path, *, match="file must be a saved world, undamaged"):
    with pytest.raises(ValueError, match=match) as caught:
        World.load(path)
    assert str(path) in str(caught.value)


def test_any_byte_cut_off_or_changed(saved, tmp_path):
    """A damaged file is refused, or holds a world all the same: no other error, no crash."""
    content, draws = saved.read_bytes(), Draws(3)
    path = tmp_path / "damaged"
    for cut in (0, 1, 50, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:cut])
        refused(path)
    path.write_bytes(content + b"x")
    refused(path)
    for _ in range(60):
        other = bytearray(content)
        for _ in range(1 + draws.below(3)):
            other[draws.below(len(other))] ^= 1 << draws.below(8)
        path.write_bytes(other)
        with suppress(ValueError):
            assert hashes_of(World.load(path))


@pytest.mark.parametrize(
    "name", ["world.json", "rows.npy", "extra", "ground.json", "0.heights.npy"]
)
def test_a_member_that_is_missing(name, saved):
    members = members_of(saved)
    del members[name]
    refused(written(saved, members))


def test_another_member(saved):
    refused(written(saved, members_of(saved) | {"more": b"1"}))


@how_many
@pytest.mark.parametrize("ground", [HeightMap([[0, 0]] * 2), Ground([HeightMap([[0, 0]] * 2)])])
def test_a_file_damaged_in_any_place_is_refused_by_name(ground, how, tmp_path):
    world = World(ground)
    if isinstance(ground, HeightMap):  # the same on any ground
        rules = {0: {"friction": 0.5}}
        hero = CharacterMovement(ground, WALKER, position=(0.5, 2, 0.5), material_rules=rules)
        world.add("hero", hero)
        crowd = CharacterGroup(ground, WALKER, collide=True, threads=1)
        crowd.add(7, (0.5, 4, 0.5))
        world.add("crowd", crowd)
    world.save(tmp_path / "damaged.world")
    check_archive(tmp_path / "damaged.world", World.load, how())


def two_files(world, frames):
    """Let six walk against six others."""
    for _ in range(frames):
        world["crowd"].walk(np.repeat((4.0, -4.0), 6), 0.0)
        world.update(FRAME)


def test_streams_keep_to_their_side_after_loading(tmp_path):
    world = World(HeightMap(np.zeros((41, 41)), origin=(-20, 0, -20)))
    crowd = CharacterGroup(world.ground, WALKER, collide=True, keep_to="left")
    far = 0.8 + 0.9 * np.arange(6)
    places = np.stack([np.append(-far, far), np.zeros(12), np.repeat((0.05, -0.02), 6)], axis=1)
    crowd.add_many(range(12), places)
    world.add("crowd", crowd)
    two_files(world, 5)
    world.save(tmp_path / "w")
    loaded: Any = World.load(tmp_path / "w")
    for one in (world, loaded):
        two_files(one, 60)
    assert loaded.state_hash() == world.state_hash()
    aside = loaded["crowd"].positions[:, 2]
    assert aside[:6].mean() < aside[6:].mean()


def first_thing(**changed):
    return lambda things: [things[0] | changed, *things[1:]]


def crowd(**changed):
    return lambda things: [one | changed if one["kind"] == "group" else one for one in things]


@pytest.mark.parametrize(
    "changed",
    [
        {"things": []},
        {"things": lambda things: things[:-1]},
        {"things": lambda things: [*things, things[0]]},
        {"things": 5},
        {"things": first_thing(kind="tree")},
        {"things": first_thing(key=1.5)},
        {"things": first_thing(body=99)},
        {"things": first_thing(body=None)},
        {"things": first_thing(seed=-1)},
        {"things": first_thing(max_delta=1e9)},
        {"things": first_thing(last=float("nan"))},
        {"things": first_thing(material_rules=[["ice", 1, -4]])},
        {"things": crowd(members=["a", "a", "b", "c", "d", "e", "f", "g"])},
        {"things": crowd(members=[])},
        {"things": crowd(threads=10**9)},
        {"things": crowd(heads="roll")},
        {"things": crowd(keep_to="up")},
        {"things": crowd(collide=1)},
        {"things": crowd(rules={})},
        {"things": crowd(seed=2**64)},
        {"bodies": []},
        {"bodies": lambda bodies: [{"kind": "sphere", "radius": -1}, *bodies[1:]]},
        {"clock": {}},
        {"clock": lambda clock: clock | {"seconds": 0}},
        {"clock": lambda clock: clock | {"owed": 10**60}},
        {"clock": lambda clock: clock | {"count": -1}},
    ],
)
def test_numbers_that_no_world_has(changed, saved):
    refused(with_header(saved, **changed))


def test_rows_that_no_character_has(saved):
    members = members_of(saved)
    rows = np.load(io.BytesIO(members["rows.npy"]))
    for value in (np.nan, np.inf, 7.0):
        other = rows.copy()
        other[3, 6] = np.array(value).view(np.uint64)  # grounded
        stream = io.BytesIO()
        np.save(stream, other)
        refused(written(saved, members | {"rows.npy": stream.getvalue()}))
    for other in (rows[:-1], rows[:, :-1], rows.astype(np.float64)):
        stream = io.BytesIO()
        np.save(stream, other)
        refused(written(saved, members | {"rows.npy": stream.getvalue()}))


def test_other_versions_and_other_files(saved, tmp_path):
    refused(with_header(saved, version=2), match="file must be of version 1.*got version 2")
    refused(with_header(saved, version=1, state_format=9), match="another version")
    HeightMap([[0, 0]] * 2).save(tmp_path / "land.ground")
    refused(tmp_path / "land.ground")
    with pytest.raises(FileNotFoundError):
        World.load(tmp_path / "none")


@pytest.mark.parametrize(
    "name", ["world.json", "rows.npy", "extra", "ground.json", "0.heights.npy"]
)
def test_a_bomb_is_refused_before_it_is_unpacked(name, saved, monkeypatch):
    for limit in ("MOST_HEADER_BYTES", "MOST_ROW_BYTES", "MOST_EXTRA_BYTES"):
        monkeypatch.setattr(files, limit, 1_000_000)
    monkeypatch.setattr(ground_files, "MOST_HEADER_BYTES", 1_000_000)
    monkeypatch.setattr(ground_files, "MOST_BYTES", 1_000_000)
    members = members_of(saved) | {name: bytes(10_000_000)}
    refused(written(saved, members), match="must have at most 1000000 ")


def test_a_compressed_header_is_refused(saved):
    with zipfile.ZipFile(saved) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(saved, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    refused(saved)
