"""States of worlds on land in tiles: bit for bit those of one map, whatever is loaded."""

import shutil
import threading
from typing import Any

import numpy as np
import pytest

from terrain_physics import AABB, CharacterMovement, Rewind, TiledGround, TriangleMesh, World
from terrain_physics.surface import history
from terrain_physics.tiles.saving.values import land_digest
from terrain_physics.world.ground.first_values import FirstLandValues
from tests.helpers.draws import Draws
from tests.helpers.examples import rest_is_full, times
from tests.tiles.twins import (
    BODY,
    SIZE,
    drop,
    edit,
    one_map,
    play,
    refuse_different,
    samples,
    tiles_in,
    values_of,
    world_on,
)

EVERYWHERE = AABB((0, 0, 0), (SIZE[1], 0, SIZE[0]))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("tiles")
    tiles_in(made)
    return made


@pytest.fixture
def land(folder):
    with TiledGround.open(tiles_in(folder)) as opened:
        yield opened


class Story:
    """A land and its twin, to which the same is done; states of both by number."""

    def __init__(self, land: TiledGround, seed: int) -> None:
        self.worlds = world_on(land), world_on(one_map(land))
        self.draws, self.seed, self.frame = Draws(seed), 1000 * seed, 0
        self.states: list[Any] = []

    def step(self) -> None:
        self.frame += 1
        what = self.draws.below(12)
        for world in self.worlds:
            if what < 3:
                edit(world.ground, Draws(self.seed + self.frame))
            elif what < 8:
                play(world, self.frame)
        if what < 8:
            return
        if what == 8:
            drop(self.worlds[0].ground, self.draws)
        elif what == 9:
            self.states.append([world.state() for world in self.worlds])
        elif what == 10 and self.states:
            chosen = self.states[self.draws.below(len(self.states))]
            for world, state in zip(self.worlds, chosen, strict=True):
                world.restore(state)
            refuse_different(*self.worlds)
        elif what == 11:
            self.meshes_come_or_go()

    def meshes_come_or_go(self) -> None:
        add, x = self.draws.below(2), self.draws.uniform(0, 200)
        for world in self.worlds:
            ground: Any = world.ground
            meshes = [key for key in ground.parts if key > 1]
            if add or not meshes:
                ground.add(TriangleMesh.box((3, 1, 3)), transform=(x, 4, 100))
            else:
                ground.remove(meshes[-1])


@pytest.mark.parametrize("seed", rest_is_full(range(20)))
def test_a_story_goes_as_on_one_map(seed, land):
    story = Story(land, seed)
    for _ in range(100):
        story.step()
    refuse_different(*story.worlds)
    for number, (state, _) in enumerate(story.states):
        for world, own in zip(story.worlds, story.states[number], strict=True):
            world.restore(own)
        refuse_different(*story.worlds)
        drop(land)
        story.worlds[0].restore(state)
    for frame in range(20):
        for world in story.worlds:
            play(world, frame)
        assert story.worlds[0].hashes() == story.worlds[1].hashes()


def test_what_is_loaded_is_no_state(land):
    world = world_on(land)
    for frame in range(20):
        play(world, frame)
    before, state = world.state_hash(), world.state()
    version = land.version
    drop(land)
    assert world.state_hash() == before
    assert world.state().nbytes == state.nbytes
    land.load_now(EVERYWHERE)
    assert (world.state_hash(), land.version) == (before, version)
    assert land.state() is state._kept.ground
    after = []
    for load in (True, False):
        world.restore(state)
        drop(land)
        if load:
            land.load_now(EVERYWHERE)
        for frame in range(20, 50):
            play(world, frame)
        after.append(world.state_hash())
    assert after[0] == after[1]


@pytest.mark.parametrize("most_copies", [history._MOST_COPIES, 0.0])
def test_edits_of_tiles_that_are_gone_are_put_back(land, most_copies, monkeypatch):
    monkeypatch.setattr(history, "_MOST_COPIES", most_copies)  # 0: edits are joined at once
    first, before = land.state(), values_of(land)
    land.carve((64, 64), radius=9, depth=2)
    land.raise_((75, 70), radius=9, height=1)
    land.set_materials(120, 120, np.ones((20, 20), np.uint8))
    second, between = land.state(), values_of(land)
    land.set_holes(60, 60, np.ones((9, 9), np.bool_))
    for state, wanted in ((first, before), (second, between), (first, before)):
        drop(land)
        land.restore(state)
        assert not land.loaded
        assert all(np.array_equal(values_of(land)[k], wanted[k], equal_nan=True) for k in wanted)
        drop(land)  # and so are those of tiles that are read again
        assert all(np.array_equal(values_of(land)[k], wanted[k], equal_nan=True) for k in wanted)


def test_the_file_of_edits_follows(folder, tmp_path):
    path = tmp_path / "save.edits"
    with TiledGround.open(tiles_in(folder), edits=path) as land:
        land.carve((64, 64), radius=9, depth=2)
        state, wanted = land.state(), values_of(land)
        land.carve((64, 64), radius=20, depth=1)
        land.set_holes(100, 100, np.ones((30, 30), np.bool_))
        land.compact()
        drop(land)
        land.restore(state)
        crashed = path.read_bytes()  # as a process leaves it that ends here
        land.compact()
        land.restore(state)
    for content in (crashed, path.read_bytes()):
        path.write_bytes(content)
        with TiledGround.open(tiles_in(folder), edits=path) as again:
            found = values_of(again)
            assert all(np.array_equal(found[k], wanted[k], equal_nan=True) for k in wanted)


def test_compact_between_states(folder, tmp_path):
    with TiledGround.open(tiles_in(folder), edits=tmp_path / "save.edits") as land:
        draws, states = Draws(5), []
        for _ in range(12):
            edit(land, draws)
            states.append((land.state(), values_of(land)))
            land.compact()
            drop(land, draws)
        for number in (3, 11, 0, 7, 5):
            state, wanted = states[number]
            land.restore(state)
            land.compact()
            drop(land)
            found = values_of(land)
            assert all(np.array_equal(found[k], wanted[k], equal_nan=True) for k in wanted)


def test_damaged_edits_leave_all_as_it_is(folder, tmp_path):
    path = tmp_path / "save.edits"
    with TiledGround.open(tiles_in(folder), edits=path) as land:
        state = land.state()
        land.carve((10, 10), radius=5, depth=1)
        land.carve((250, 180), radius=5, depth=1)
        wanted, place = values_of(land), path.stat().st_size // 2 - 20
        drop(land)
        turn_a_bit(path, place)  # in the first edit: the last one is put back by then
        with pytest.raises(ValueError, match=r"save\.edits: the edit at byte \d+ must have its"):
            land.restore(state)
        turn_a_bit(path, place)
        found = values_of(land)
        assert all(np.array_equal(found[k], wanted[k], equal_nan=True) for k in wanted)


def turn_a_bit(path, place):
    with path.open("r+b") as file:
        file.seek(place)
        byte = file.read(1)[0]
        file.seek(place)
        file.write(bytes([byte ^ 1]))


def test_a_restore_reads_no_tile(folder):
    """Where a frame waits for no disk, going back waits for none either, nor does any tile come."""
    with TiledGround.open(tiles_in(folder), missing="wait") as land:
        land.load_now(EVERYWHERE)
        world = world_on(land)
        rewind, state = Rewind(world, 8), world.state()
        rewind.save(0)
        for x in (10, 64, 200):
            land.carve((x, 100), radius=9, depth=1)
        carved, wanted = world.state(), [land.height_at(x, 100) for x in (10, 64, 200)]
        calls: list[Any] = [lambda: rewind.restore(0), lambda: world.restore(carved)]
        for restore in (*calls, lambda: world.restore(state)):
            drop(land)
            restore()
            assert not land.loaded
        world.restore(carved)
        land.load_now(EVERYWHERE)
        assert [land.height_at(x, 100) for x in (10, 64, 200)] == wanted


def test_what_a_world_began_with_is_known_after_a_restore_without_tiles(land):
    """An edit from before the world is put back in tiles that are gone: the first one of it."""
    state = land.state()
    land.carve((64, 64), radius=9, depth=2)
    land.set_holes(100, 64, np.ones((3, 40), np.bool_))
    before = land_digest(land._supply)
    began = FirstLandValues(land._supply)
    drop(land)
    land.restore(state)
    assert began.digest() == before != land_digest(land._supply)


def test_a_tile_that_cannot_be_read_is_put_back_all_the_same(tmp_path):
    land = TiledGround.open(tiles_in(tmp_path))
    world = world_on(land)
    state = world.state()
    land.carve((10, 10), radius=5, depth=1)
    land.carve((250, 180), radius=5, depth=1)
    play(world, 0)
    before, wanted = world.state_hash(), values_of(land)
    drop(land)
    stored: Any = land._supply.tiles.stored
    place = int(stored._index["offset"][0]) + 100  # in the first tile
    turn_a_bit(tiles_in(tmp_path), place)
    late = world.state()
    world.restore(state)
    with pytest.raises(ValueError, match=r"alps\.tiles: tile \(0, 0\)"):
        land.load_now(EVERYWHERE)
    turn_a_bit(tiles_in(tmp_path), place)
    world.restore(late)
    assert world.state_hash() == before
    found = values_of(land)
    assert all(np.array_equal(found[k], wanted[k], equal_nan=True) for k in wanted)
    world.restore(state)
    land.load_now(EVERYWHERE)
    assert land.height_at(10, 10) == world_on(one_map(land)).ground.height_at(10, 10)
    land.close()


def test_a_state_that_cannot_be_kept_leaves_all_as_it_is(folder, tmp_path, monkeypatch):
    path = tmp_path / "save.edits"
    with TiledGround.open(tiles_in(folder), edits=path) as land:
        world = world_on(land)
        state = world.state()
        for x in (10, 100, 200):
            land.carve((x, 100), radius=9, depth=1)
        before, wanted, content = world.state_hash(), values_of(land), path.read_bytes()
        with monkeypatch.context() as full:
            free = shutil.disk_usage(tmp_path)._replace(free=900)
            full.setattr(shutil, "disk_usage", lambda _: free)
            with pytest.raises(OSError, match=r"room for \d+ bytes, got 900: .*save\.edits"):
                world.restore(state)
        assert (world.state_hash(), path.read_bytes()) == (before, content)
        found = values_of(land)
        assert all(np.array_equal(found[k], wanted[k], equal_nan=True) for k in wanted)
        late = world.state()
        world.restore(state)
        assert land.height_at(10, 100) == samples()[100, 10]
    with pytest.raises(ValueError, match="must be open"):
        world.restore(late)
    assert land.height_at(10, 100) == samples()[100, 10]


def test_rollbacks_with_edits_in_each_frame(land):
    """A world that goes back eight frames again and again, and one that never does."""
    world, twin = world_on(land), world_on(one_map(land))
    rewind = Rewind(world, frames=9)

    def step(one: World, frame: int) -> None:
        ground: Any = one.ground
        ground.carve((64 + frame % 7, 64), radius=3, depth=0.05)
        play(one, frame)

    for frame in range(40):
        step(twin, frame)
        rewind.save(frame)
        step(world, frame)
        if frame % 5 == 4 and frame > 8:
            rewind.replay(frame - 7, frame + 1, lambda number: step(world, number))
        if frame % 3 == 0:
            land.keep_near([world["hero0"]], radius=5 + frame % 40, unload=50)
            land.load_some()
        if frame % 11 == 0:
            drop(land)
        assert world.hashes() == twin.hashes()
    refuse_different(world, twin)


@pytest.mark.alone
def test_rollbacks_while_other_threads_load_and_ask(folder, tmp_path):
    path, stop, errors = tmp_path / "save.edits", threading.Event(), list[BaseException]()
    land = TiledGround.open(tiles_in(folder), edits=path)
    world, twin = world_on(land), world_on(one_map(land))

    def stream(seed: int) -> None:
        draws = Draws(seed)
        try:
            while not stop.is_set():
                land.keep_near([draws.uniform(0, 200, 3)], radius=60, unload=60)
                land.load_some(ms=5)
                land.height_at(draws.uniform(0, 200), 100)
                if draws.below(3) == 0:
                    drop(land, draws)
                elif draws.below(9) == 0:
                    land.compact()
        except BaseException as error:
            errors.append(error)

    def step(one: World, frame: int) -> None:
        edit(one.ground, Draws(frame))
        play(one, frame)

    threads = [threading.Thread(target=stream, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    rewind = Rewind(world, frames=9)
    try:
        for frame in range(times(30)):
            step(twin, frame)
            rewind.save(frame)
            step(world, frame)
            if frame % 5 == 4 and frame > 8:
                rewind.replay(frame - 7, frame + 1, lambda number: step(world, number))
            assert world.hashes() == twin.hashes()
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert errors == []
    refuse_different(world, twin)
    land.close()
    with TiledGround.open(tiles_in(folder), edits=path) as again:
        found, wanted = values_of(again), values_of(twin.ground)
        assert all(np.array_equal(found[k], wanted[k], equal_nan=True) for k in wanted)


# Waits


def waiting_world(folder) -> tuple[World, TiledGround]:
    """Return a world in which a hero waits for the tile below."""
    land = TiledGround.open(tiles_in(folder), missing="wait")
    world = World(land)
    world.add("hero", CharacterMovement(land, BODY, position=(30, 5, 30)))
    return world, land


def test_waits_are_part_of_a_state(folder):
    world, land = waiting_world(folder)
    state, digits = world.state(), world.state_hash()
    for _ in range(3):
        assert world.update(1 / 60)["hero"].waiting
    assert land.waits == 3
    late = world.state()
    assert (state._kept.ground.waits, late._kept.ground.waits) == (0, 3)
    assert land.state().waits == 3
    assert world.hashes()
    assert world.state_hash() != digits
    world.restore(state)
    assert (land.waits, world.state_hash()) == (0, digits)
    world.restore(late)
    assert land.waits == 3
    land.close()


def test_waits_are_told_by_a_comparison(folder):
    rewinds = []
    for waits in (2, 1):
        world, land = waiting_world(folder)
        rewind = Rewind(world)
        for _ in range(waits):
            world.update(1 / 60)
        rewind.save(0)
        rewinds.append(rewind)
        land.close()
    found = rewinds[0].compare(0, rewinds[1])
    assert found is not None
    assert (found.key, found.column, found.mine, found.theirs) == (None, "waits", 2, 1)
    assert rewinds[0].compare(0, rewinds[1].state_hash(0)) is not None


def test_a_box_that_is_loaded_lets_it_go_on(folder):
    world, land = waiting_world(folder)
    world.update(1 / 60)
    state = world.state()
    land.load_now(AABB((20, 0, 20), (40, 0, 40)))
    for _ in range(60):
        assert not world.update(1 / 60)["hero"].waiting
    digits = world.state_hash()
    world.restore(state)
    for _ in range(60):
        world.update(1 / 60)
    assert world.state_hash() == digits
    assert land.waits == 1
    land.close()
