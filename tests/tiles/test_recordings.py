"""Recordings of scenes on land in tiles: kept, replayed whatever is loaded, and shown."""

import shutil
from typing import Any

import numpy as np
import pytest

from terrain_physics import (
    AABB,
    CharacterGroup,
    CharacterMovement,
    Recording,
    SphereCollider,
    TiledGround,
    World,
    replay,
)
from terrain_physics.recording import recording as recordings
from terrain_physics.recording import sampling
from terrain_physics.recording.journal import contents_of
from terrain_physics.recording.playback import played
from terrain_physics.recording.sampling import sampled
from terrain_physics.recording.waiting import Waits
from terrain_physics.tiles.loading.supply import TileSupply
from terrain_physics.tiles.making import make_tiles
from tests.helpers.draws import Draws
from tests.helpers.examples import rest_is_full
from tests.tiles.twins import (
    BODY,
    FRAME,
    SIDE,
    drop,
    edit,
    play,
    refuse_different,
    tiles_in,
    world_on,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("tiles")
    tiles_in(made)
    return made


def recorded(land: TiledGround, frames: int = 60, *, edits: bool = True) -> tuple[Any, Recording]:
    """Return a world that was recorded while tiles came and went, and the recording."""
    world: Any = world_on(land)
    land.carve((64, 64), radius=5, depth=0.3)  # before it begins
    recording, draws = Recording(world), Draws(1)
    for frame in range(frames):
        if edits and frame % 9 == 4:
            edit(land, Draws(frame))
        if frame == 30:
            state = world.state()
        if frame == 45 and edits:
            world.restore(state)
        play(world, frame, recording.update)
        if frame % 13 == 5:
            drop(land, draws)
    return world, recording


def replay_to(recording: Recording, scene: Any) -> Any:
    return replay(recording, lambda: scene)


def closed(scene: Any) -> None:
    scene.ground.close()


@pytest.fixture(scope="module")
def story(folder):
    """Return a world, its recording, and the file of that."""
    world, recording = recorded(TiledGround.open(tiles_in(folder)))
    recording.save(folder / "walk.rec")
    yield world, recording, folder / "walk.rec"
    closed(world)


def test_a_replay_goes_the_same_way(story):
    world, recording, path = story
    assert recording.waits == 0
    assert "waits" not in repr(recording)
    for own in (recording, Recording.load(path)):
        scene: Any = own.make_scene()
        assert replay_to(own, scene) is None
        assert contents_of(scene.ground) == contents_of(world.ground)
        refuse_different(scene, world)
        closed(scene)


@pytest.mark.parametrize("frame", rest_is_full([40, 0, 60]))
def test_a_scene_at_a_frame(frame, story):
    _, recording, path = story
    one: Any = recording.make_scene(frame)
    other: Any = Recording.load(path).make_scene(frame)
    assert one.state_hash() == other.state_hash()
    assert contents_of(one.ground) == contents_of(other.ground)
    closed(one)
    closed(other)


def test_the_tiles_are_found_or_told(story, tmp_path):
    world, _, path = story
    shutil.copy(path, tmp_path / "walk.rec")
    shutil.copy(tiles_in(path.parent), tmp_path / "other.tiles")
    loaded = Recording.load(tmp_path / "walk.rec", tiles=tmp_path / "other.tiles")
    scene: Any = loaded.make_scene(60)
    assert scene.ground.path == str(tmp_path / "other.tiles")
    assert scene.hashes() == world.hashes()
    closed(scene)
    with pytest.raises(FileNotFoundError, match=r"walk\.rec: .*x\.tiles: not there"):
        Recording.load(tmp_path / "walk.rec", tiles=tmp_path / "x.tiles").make_scene()
    make_tiles(tmp_path / "b.tiles", np.zeros((SIDE + 1, SIDE + 1)), tile=SIDE)
    with pytest.raises(ValueError, match=r"b\.tiles: digest .* was saved"):
        Recording.load(tmp_path / "walk.rec", tiles=tmp_path / "b.tiles").make_scene()


def test_tiles_beside_the_recording(tmp_path):
    (tmp_path / "a").mkdir()
    world, recording = recorded(TiledGround.open(tiles_in(tmp_path / "a")), 5)
    recording.save(tmp_path / "a" / "walk.rec")
    closed(world)
    (tmp_path / "a").rename(tmp_path / "b")
    loaded = Recording.load(tmp_path / "b" / "walk.rec")
    scene: Any = loaded.make_scene()
    assert scene.ground.path == str(tmp_path / "b" / "alps.tiles")
    closed(scene)
    with pytest.raises(FileNotFoundError, match="not there"):
        recording.make_scene()


def test_another_land_is_refused(story, folder):
    _, recording, _ = story
    match = r"as it was when the recording began, got .* part 0"
    with TiledGround.open(tiles_in(folder)) as land, pytest.raises(ValueError, match=match):
        replay(recording, lambda: world_on(land))


def test_tiles_stay_while_an_update_is_recorded(folder, monkeypatch):
    """Another thread lets all tiles go as soon as they were brought."""
    bring = TileSupply.bring

    def bring_and_unload(self: Any, boxes: Any) -> Any:
        found = bring(self, boxes)
        for number in list(self.land.loaded):
            self._take(number)
        return found

    monkeypatch.setattr(TileSupply, "bring", bring_and_unload)
    with TiledGround.open(tiles_in(folder)) as land:
        hero = CharacterMovement(land, BODY, position=(30, 9, 30))
        recording = Recording(hero)
        for _ in range(120):
            recording.update(FRAME)
        assert hero.grounded


# Waits


def test_those_who_waited_wait_again(folder, tmp_path):
    land = TiledGround.open(tiles_in(folder), missing="wait")
    land.load_now(AABB((0, 0, 0), (300, 0, 300)))
    world: Any = world_on(land)
    recording, draws = Recording(world), Draws(4)
    waited, totals = 0, []
    for frame in range(50):
        if frame % 10 == 3:
            drop(land, draws)
        if frame % 10 == 8:
            land.load_now(AABB((0, 0, 0), (300, 0, 300)))
        if frame == 20:
            state = world.state()
        if frame == 35:
            world.restore(state)
        result: Any = play(world, frame, recording.update)
        waited += sum(result[f"hero{k}"].waiting for k in range(3))
        waited += sum(int(result[key].waiting.sum()) for key in ("crowd", "loners"))
        totals.append(land.waits)
    assert 10 < waited == recording.waits
    assert f"{waited} waits" in repr(recording)
    recording.save(tmp_path / "w.rec")
    loaded = Recording.load(tmp_path / "w.rec", tiles=tiles_in(folder))
    assert loaded.waits == waited
    for own in (recording, loaded):
        for load in (False, True):
            scene: Any = own.make_scene()
            if load:
                scene.ground.load_now(AABB((0, 0, 0), (300, 0, 300)))
            assert replay_to(own, scene) is None
            assert scene.ground.waits == totals[-1]
            closed(scene)
    scene = loaded.make_scene(40)
    assert scene.ground.waits == totals[39]
    assert scene.ground.missing == "wait"
    closed(scene)
    closed(world)


def test_a_scene_that_waited_for_all_of_its_time(folder):
    """Snapshots are of scenes in which somebody waited, too."""
    with TiledGround.open(tiles_in(folder), missing="wait") as land:
        hero = CharacterMovement(land, BODY, position=(30, 9, 30))
        recording = Recording(hero)
        for frame in range(400):
            if frame == 390:
                land.load_now(AABB((0, 0, 0), (64, 0, 64)))
            recording.update(FRAME)
        scene: Any = recording.make_scene(395)
        assert (recording.waits, scene.ground.waits) == (390, 390)
        assert scene.position.y < 9
        closed(scene)


@pytest.mark.parametrize(
    "about", [[[[0, -1]], 1, [1]], [[[0, 0]], 1, [1, 2]], [[["a"]], 1, [1]], [[], -1, [1]], 5]
)
def test_waits_that_no_recording_has(about):
    with pytest.raises((TypeError, ValueError)):
        Waits.of_saved(about, 1)


def test_rows_that_no_update_has(folder, tmp_path):
    with TiledGround.open(tiles_in(folder), missing="wait") as land:
        recording = Recording(CharacterMovement(land, BODY, position=(30, 9, 30)))
        recording.update(FRAME)
        frame = recording._frames[0]
        assert frame.waits is not None
        frame.waits.answers[0] = [7]
        scene: Any = recording.make_scene()
        with pytest.raises(ValueError, match="recording must hold waits of characters"):
            replay(recording, lambda: scene)
        closed(scene)


# What is shown


def clip_of(recording: Recording) -> Any:
    scenes: list[Any] = []

    def make() -> Any:
        scenes.append(recording.make_scene())
        return scenes[-1]

    clip = sampled(lambda: played(recording._start, recording._frames, make), "title")
    for scene in scenes:
        closed(scene)
    return clip


def test_the_land_around_the_paths_is_shown(folder):
    with TiledGround.open(tiles_in(folder)) as land:
        group = CharacterGroup(land, SphereCollider(0.5))
        group.add("hero", (20, 6, 20))
        recording = Recording(group)
        for frame in range(40):
            group["hero"].velocity.x = 3
            if frame == 20:
                land.carve((22, 20), radius=4, depth=1)
                land.set_materials(25, 25, np.full((4, 4), 2, np.uint8))
                land.set_holes(30, 20, np.ones((3, 2), np.bool_))
            if frame == 30:
                land.carve((250, 180), radius=4, depth=1)  # that nobody sees
            recording.update(FRAME)
        (part,) = clip_of(recording).parts
        assert (part.kind, part.is_cut) == ("map", True)
        first, last = part.surfaces[0], part.surfaces[-1]
        corner = part.vertices[first.faces].reshape(-1, 3) + part.position[0]
        assert corner[:, [0, 2]].min() >= 0
        assert corner[:, [0, 2]].max() <= 32 + sampling.MARGIN + 16
        with TiledGround.open(tiles_in(folder)) as fresh:
            fresh.load_now(AABB((0, 0, 0), (99, 0, 99)))
            heights = fresh.height_at(corner[:, 0], corner[:, 2])
        assert np.allclose(corner[:, 1], heights, atol=1e-6)
        assert len(last.faces) == len(first.faces) - 12  # six holes
        assert set(last.materials) == {0, 2}
        moved = np.concatenate([edit.vertices for edit in part.edits])
        assert len(moved) > 20
        assert np.abs(moved[:, [0, 2]]).max() < 100


def test_a_page_of_a_world(story, tmp_path):
    _, recording, _ = story
    recording.save_html(tmp_path / "walk.html")
    assert 10_000 < (tmp_path / "walk.html").stat().st_size < 4_000_000


def test_paths_that_are_too_far_apart_are_refused(folder, monkeypatch):
    monkeypatch.setattr(sampling, "MOST_CELLS", 10_000)
    with TiledGround.open(tiles_in(folder)) as land:
        world = World(land)
        for number, place in enumerate([(20, 9, 20), (200, 9, 150)]):
            world.add(number, CharacterMovement(land, BODY, position=place))
        recording = Recording(world)
        recording.update(FRAME)
        with pytest.raises(ValueError, match="at most 10000 cells of a rectangle around the paths"):
            clip_of(recording)
        assert "at most 10000 cells" in str(recordings.Recording._repr_html_(recording))
