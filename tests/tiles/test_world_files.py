"""Worlds and grounds on land in tiles in files: the land is found again, or said where it was."""

import json
import pickle
import shutil
import threading
import zipfile
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from terrain_physics import AABB, Ground, HeightMap, Recording, TiledGround, TriangleMesh, World
from terrain_physics.surface import ground_files
from terrain_physics.tiles.making import make_tiles
from tests.helpers import forks
from tests.helpers.damaged_saves import check_archive, how_many
from tests.helpers.draws import Draws
from tests.helpers.examples import rest_is_full, times
from tests.tiles.twins import SIDE, drop, edit, play, refuse_different, tiles_in, world_on

EVERYWHERE = AABB((0, 0, 0), (300, 0, 300))


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    """Return a folder with tiles and a saved world, and the world."""
    folder = tmp_path_factory.mktemp("story")
    world = played_world(TiledGround.open(tiles_in(folder), missing="load"))
    world.save(folder / "day2.world")
    yield folder, world
    world.ground.close()  # type: ignore[union-attr]


def played_world(land: TiledGround) -> World:
    world = world_on(land)
    for frame in range(40):
        if frame % 8 == 0:
            edit(land, Draws(frame))
        play(world, frame)
    return world


def moved(story, tmp_path, *names):
    """Return the path of the world in another folder, where some other files are too."""
    for name in ("day2.world", *names):
        shutil.copy(story[0] / name, tmp_path / name)
    return tmp_path / "day2.world"


def closed(world: World) -> None:
    land: Any = world.ground
    land.close()


def edits_bytes(path: Path) -> int:
    return path.stat().st_size


def test_a_world_goes_on_alike(story):
    folder, world = story
    again = World.load(folder / "day2.world")
    land: Any = again.ground
    assert (land.missing, land.path, again.state_hash()) == (
        "load", str(tiles_in(folder)), world.state_hash(),
    )  # fmt: skip
    refuse_different(world, again)
    twin = deepcopy(world)
    for frame in range(40, 70):
        for one in (twin, again):
            if frame % 9 == 0:
                edit(one.ground, Draws(frame))
            play(one, frame)
        if frame % 20 == 0:
            drop(land)
        assert again.state_hash() == twin.state_hash()
    refuse_different(twin, again)
    closed(twin)
    closed(again)


_GO_ON = """
import sys
from terrain_physics import World
from tests.helpers.draws import Draws
from tests.tiles.twins import edit, play
world = World.load(sys.argv[1])
for frame in range(int(sys.argv[2])):
    if frame % 25 == 0:
        edit(world.ground, Draws(frame))
        print(world.state_hash())
    play(world, frame)
print(world.state_hash())
world.ground.close()
"""


@pytest.mark.parametrize("frames", rest_is_full([30, 600]))
def test_another_process_goes_on_alike(frames, story):
    folder, world = story
    twin, expected = deepcopy(world), []
    for frame in range(frames):
        if frame % 25 == 0:
            edit(twin.ground, Draws(frame))
            expected.append(twin.state_hash())
        play(twin, frame)
    expected.append(twin.state_hash())
    done = forks.run("-c", _GO_ON, str(folder / "day2.world"), str(frames))
    assert done.stderr == ""
    assert done.stdout.split() == expected
    closed(twin)


def test_the_file_is_small_and_the_tiles_are_not_in_it(story):
    folder, _ = story
    assert edits_bytes(folder / "day2.world") < 60_000 < tiles_in(folder).stat().st_size


# Where the tiles are


def test_tiles_beside_the_file(story, tmp_path, monkeypatch):
    path = moved(story, tmp_path, "alps.tiles")
    members = rewritten(path, lambda tiles: tiles.update(path="gone/alps.tiles", absolute=None))
    assert "gone" in members["ground.json"].decode()
    again = World.load(path)
    assert again.ground.path == str(tmp_path / "alps.tiles")  # type: ignore[union-attr]
    assert again.state_hash() == story[1].state_hash()
    closed(again)
    rewritten(path, lambda tiles: tiles.update(path="C:\\games\\alps.tiles", absolute=None))
    closed(World.load(path))


def test_tiles_of_the_working_folder(story, tmp_path, monkeypatch):
    path = moved(story, tmp_path)
    rewritten(path, lambda tiles: tiles.update(path="alps.tiles", absolute=None))
    monkeypatch.chdir(story[0])
    closed(World.load(path))


@pytest.mark.parametrize("copied", [deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_program_that_goes_to_another_folder(copied, story, tmp_path, monkeypatch):
    monkeypatch.chdir(story[0])
    world = played_world(TiledGround.open("alps.tiles"))
    monkeypatch.chdir(tmp_path)
    make_tiles("alps.tiles", np.zeros((SIDE + 1, SIDE + 1)), tile=SIDE)  # of another world
    copy = copied(world)
    refuse_different(copy, world)
    world.save("here.world")
    again = World.load("here.world")
    refuse_different(again, world)
    for one in (world, copy, again):
        closed(one)


def test_tiles_that_are_given(story, tmp_path):
    path = moved(story, tmp_path)
    elsewhere = tmp_path / "far" / "other.tiles"
    elsewhere.parent.mkdir()
    shutil.copy(tiles_in(story[0]), elsewhere)
    rewritten(path, lambda tiles: tiles.update(path="gone.tiles", absolute=None))
    again = World.load(path, tiles=elsewhere)
    assert again.state_hash() == story[1].state_hash()
    closed(again)
    land: Any = TiledGround.open(elsewhere)
    stored = land._supply.tiles.stored
    again = World.load(path, tiles=stored)  # whatever gives tiles
    assert again.state_hash() == story[1].state_hash()
    closed(again)


def test_all_places_are_named_where_it_is_not(story, tmp_path):
    path = moved(story, tmp_path)
    rewritten(path, lambda t: t.update(path="gone/alps.tiles", absolute="/far/gone/alps.tiles"))
    with pytest.raises(FileNotFoundError) as caught:
        World.load(path)
    for place in ("gone/alps.tiles", "/far/gone/alps.tiles", str(tmp_path / "alps.tiles")):
        assert f"{place}: not there" in str(caught.value)
    assert str(path) in str(caught.value)
    assert "tiles=" in str(caught.value)
    with pytest.raises(FileNotFoundError, match=r"x\.tiles: not there"):
        World.load(path, tiles=tmp_path / "x.tiles")


def test_other_tiles_are_refused(story, tmp_path):
    path = moved(story, tmp_path)
    other = tmp_path / "alps.tiles"
    make_tiles(other, np.zeros((SIDE + 1, SIDE + 1)), tile=SIDE)
    rewritten(path, lambda tiles: tiles.update(path="gone.tiles", absolute=str(other)))
    with TiledGround.open(other) as land, TiledGround.open(tiles_in(story[0])) as first:
        digits = [one._supply.tiles.stored.digest[:8] for one in (land, first)]
        stored = land._supply.tiles.stored
        told = f"digest {digits[0]}... where {digits[1]}... was saved"
        for options in ({}, {"tiles": other}, {"tiles": stored}):
            with pytest.raises(ValueError, match="tiles") as caught:
                World.load(path, **options)
            assert told in str(caught.value)
    with pytest.raises(TypeError, match="tiles must be a path, got 5"):
        World.load(path, tiles=5)
    (tmp_path / "gone.tiles").write_bytes(b"no tiles")
    with pytest.raises(ValueError, match=r"must be the one of then, looked at .*gone\.tiles: "):
        World.load(path)
    # The right ones at a later place are taken all the same.
    shutil.copy(tiles_in(story[0]), tmp_path / "gone.tiles")
    closed(World.load(path))


class _WithoutFile:
    """Tiles as of a function: no file holds them."""

    path = None

    def __init__(self, stored: Any) -> None:
        self._stored = stored

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stored, name)

    def close(self) -> None:
        pass


def test_tiles_without_a_file_are_given(story, tmp_path):
    with TiledGround.open(tiles_in(story[0])) as land:
        made: Any = _WithoutFile(land._supply.tiles.stored)
        world = played_world(TiledGround.open(made))
        world.save(tmp_path / "w.world")
        with pytest.raises(ValueError, match=r"w\.world: no file held them when it was saved"):
            World.load(tmp_path / "w.world")
        again = World.load(tmp_path / "w.world", tiles=made)
        refuse_different(again, world)
        recording = Recording(world)
        play(world, 0, recording.update)
        scene: Any = recording.make_scene(1)
        assert scene.state_hash() == world.state_hash()
        for one in (world, again, scene):
            closed(one)


def test_tiles_and_edits_are_of_a_land_only(tmp_path):
    world = World(HeightMap([[0, 0]] * 2))
    world.save(tmp_path / "a.world")
    with pytest.raises(ValueError, match="tiles must be left out of a file without a TiledGround"):
        World.load(tmp_path / "a.world", tiles="x.tiles")
    with pytest.raises(ValueError, match="edits must be left out of a file without a TiledGround"):
        World.load(tmp_path / "a.world", edits=tmp_path / "x.edits")
    assert not (tmp_path / "x.edits").exists()


# Edits


def test_edits_are_in_memory_or_in_a_file(story, tmp_path):
    folder, world = story
    path = tmp_path / "save1.edits"
    with TiledGround.open(tiles_in(folder), edits=path) as land:  # of a game that was given up
        land.carve((20, 150), radius=9, depth=1)
    again = World.load(folder / "day2.world", edits=path)
    refuse_different(again, world)
    land = again.ground  # type: ignore[assignment]
    land.carve((100, 100), radius=9, depth=1)
    wanted = land.height_at(100, 100)
    closed(again)
    with TiledGround.open(tiles_in(folder), edits=path) as reopened:
        reopened.load_now(EVERYWHERE)
        assert reopened.height_at(100, 100) == wanted
        assert reopened.height_at(20, 150) == world.ground.height_at(20, 150)
    before = sorted(p.name for p in folder.iterdir())
    again = World.load(folder / "day2.world")
    edit(again.ground, Draws(1))
    closed(again)
    assert sorted(p.name for p in folder.iterdir()) == before


def test_edits_of_other_tiles_are_refused(story, tmp_path):
    make_tiles(tmp_path / "b.tiles", np.zeros((SIDE + 1, SIDE + 1)), tile=SIDE)
    path = tmp_path / "b.edits"
    with TiledGround.open(tmp_path / "b.tiles", edits=path) as other:
        other.carve((9, 9), radius=3, depth=1)
    content = path.read_bytes()
    with pytest.raises(ValueError, match=r"b\.edits"):
        World.load(story[0] / "day2.world", edits=path)
    assert path.read_bytes() == content


# Grounds by themselves, copies and pickles


def test_a_ground_by_itself(story, tmp_path):
    folder, world = story
    land: Any = world.ground
    land.save(tmp_path / "a.ground")
    again = TiledGround.load(tmp_path / "a.ground", tiles=tiles_in(folder))
    again.load_now(EVERYWHERE)
    xs = np.linspace(1, 180, 60)
    assert np.array_equal(again.height_at(xs, xs), land.height_at(xs, xs), equal_nan=True)
    assert (again.version, again.part_names, again.key_of("lift")) == (land.version, {1: "lift"}, 1)
    assert again.add(next(iter(again.parts.values()))) == max(land.parts) + 1
    again.close()
    wrong = "file must hold a {}, got a '{}': {}.load loads it"
    with pytest.raises(ValueError, match=r"tiled ground.: TiledGround\.load loads it"):
        Ground.load(tmp_path / "a.ground")
    Ground([HeightMap([[0, 0]] * 2)]).save(tmp_path / "b.ground")
    with pytest.raises(ValueError, match=wrong.format("tiled ground", "ground", "Ground")):
        TiledGround.load(tmp_path / "b.ground")


@pytest.mark.parametrize("copied", [deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_and_pickles(copied, story):
    world = copied(story[1])
    refuse_different(world, story[1])
    assert world.state_hash() == story[1].state_hash()
    first = copied(world)
    for frame in range(30):
        edit(world.ground, Draws(frame))
        play(world, frame)
    assert first.state_hash() == story[1].state_hash()
    assert world.state_hash() != first.state_hash()
    for one in (world, first):
        closed(one)


def test_policy_and_waits_are_kept(story, tmp_path):
    with TiledGround.open(tiles_in(story[0]), missing="wait") as land:
        world = world_on(land)
        for frame in range(3):
            play(world, frame)
        assert land.waits > 3
        world.save(tmp_path / "w.world")
        again = World.load(tmp_path / "w.world")
        mine: Any = again.ground
        assert (mine.missing, mine.waits) == ("wait", land.waits)
        assert again.state_hash() == world.state_hash()
        closed(again)


@pytest.mark.alone
def test_saved_while_another_thread_loads(story, tmp_path):
    folder, _ = story
    world = played_world(TiledGround.open(tiles_in(folder)))
    land: Any = world.ground
    digits, stop, errors = world.state_hash(), threading.Event(), []

    def stream() -> None:
        draws = Draws(1)
        try:
            while not stop.is_set():
                land.keep_near([draws.uniform(0, 200, 3)], radius=60, unload=60)
                land.load_some(ms=9)
                drop(land, draws)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=stream)
    thread.start()
    try:
        for number in range(times(12)):
            world.save(tmp_path / f"{number}.world")
            again = World.load(tmp_path / f"{number}.world")
            assert again.state_hash() == digits
            refuse_different(again, world)
            closed(again)
    finally:
        stop.set()
        thread.join()
        closed(world)
    assert errors == []


# Files that are damaged


def members_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def written(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            packing = zipfile.ZIP_STORED if name.endswith(".json") else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name), content, packing)


def rewritten(path, change, part=None):
    """Write a file again with other entries about its tiles, or of its land."""
    members = members_of(path)
    header = json.loads(members["ground.json"])
    change(header["parts"][0]["tiles"] if part is None else part(header))
    members["ground.json"] = json.dumps(header).encode()
    written(path, members)
    return members


def refused(path, *, match="file must be a saved world, undamaged"):
    with pytest.raises(ValueError, match=match) as caught:
        World.load(path)
    assert str(path) in str(caught.value)


def land_of(header):
    return header["parts"][0]


@pytest.mark.parametrize(
    ("part", "change"),
    [
        (None, {"digest": 5}),
        (None, {"digest": "xyz"}),
        (None, {"path": 5}),
        (None, {"path": "a\0b"}),
        (land_of, {"kind": "mesh"}),
        (land_of, {"missing": "perhaps"}),
        (land_of, {"waits": -1}),
        (land_of, {"waits": 1.5}),
        (land_of, {"version": 2**60}),
        (lambda header: header, {"keys": [1, 2]}),
        (lambda header: header, {"kind": "ground"}),
        (lambda header: header, {"kind": "other"}),
        (lambda header: header, {"layers": [1]}),
    ],
)
def test_headers_that_no_world_has(part, change, story, tmp_path):
    path = moved(story, tmp_path)
    rewritten(path, lambda own: own.update(change), part)
    refused(path)


@how_many
def test_a_file_damaged_in_any_place_is_refused_by_name(how, tmp_path):
    path = tmp_path / "damaged.ground"
    make_tiles(tmp_path / "flat.tiles", [[0] * 65] * 65, tile=64)
    with TiledGround.open(tmp_path / "flat.tiles") as land:
        land.carve((20, 20), 2, 1)
        land.add(TriangleMesh.box((1, 1, 1)))
        land.save(path)
    check_archive(path, lambda path: TiledGround.load(path).close(), how())


def test_edits_that_no_land_has(story, tmp_path):
    path = moved(story, tmp_path)
    members, draws = members_of(path), Draws(2)
    content = members["0.edits.npy"]
    assert len(content) > 1000
    for _ in range(times(40)):
        damaged = bytearray(content)
        damaged[128 + draws.below(len(damaged) - 128)] ^= 1 << draws.below(8)
        written(path, members | {"0.edits.npy": bytes(damaged)})
        refused(path)
    del members["0.edits.npy"]
    written(path, members)
    refused(path)


def test_any_byte_cut_off_or_changed(story, tmp_path):
    path = moved(story, tmp_path)
    content, draws = path.read_bytes(), Draws(3)
    for cut in (0, 50, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:cut])
        refused(path)
    for _ in range(times(60)):
        damaged = bytearray(content)
        for _ in range(1 + draws.below(3)):
            damaged[draws.below(len(damaged))] ^= 1 << draws.below(8)
        path.write_bytes(damaged)
        try:
            closed(World.load(path))
        except (ValueError, FileNotFoundError) as error:
            assert str(path) in str(error)  # noqa: PT017 it may be loaded as well


def test_limits_hold_before_memory_is_taken(story, tmp_path, monkeypatch):
    path = moved(story, tmp_path)
    monkeypatch.setattr(ground_files, "MOST_BYTES", 100)
    refused(path, match="must have at most 100 bytes of arrays, unpacked")
    before = path.read_bytes()
    with pytest.raises(ValueError, match="must have at most 100 bytes of arrays, unpacked"):
        story[1].save(path)
    assert path.read_bytes() == before
    assert [own.name for own in tmp_path.iterdir()] == ["day2.world"]
