"""States of worlds on land in tiles as bytes: each side has the file of tiles."""

import hashlib
import zlib
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from terrain_physics import AABB, TiledGround, TriangleMesh, World, WorldState
from terrain_physics.recording.journal import contents_of
from terrain_physics.surface import history
from terrain_physics.tiles.making import make_tiles
from terrain_physics.tiles.saving.values import checked_values
from terrain_physics.world import network
from terrain_physics.world.ground.difference import difference_of
from tests.helpers.draws import Draws
from tests.helpers.examples import rest_is_full, times
from tests.tiles.twins import SIDE, drop, edit, play, refuse_different, tiles_in, world_on


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("tiles")
    tiles_in(made)
    return made


@pytest.fixture
def pair(folder):
    """Return a host and a guest."""
    worlds = [world_on(TiledGround.open(tiles_in(folder))) for _ in range(2)]
    yield worlds
    for world in worlds:
        world.ground.close()  # type: ignore[union-attr]


def go_on_alike(host, guest, frames):
    for frame in frames:
        for world in (host, guest):
            if frame % 6 == 0:
                edit(world.ground, Draws(frame))
            play(world, frame)
        assert host.state_hash() == guest.state_hash()
    refuse_different(host, guest)


@pytest.mark.parametrize("seed", rest_is_full(range(12)))
def test_a_state_leads_elsewhere_to_the_same(seed, pair):
    host, guest = pair
    draws = Draws(seed)
    for frame in range(60):
        for world, own in ((host, seed), (guest, seed + 50)):
            if draws.below(4) == 0:
                edit(world.ground, Draws(1000 * own + frame))
            play(world, frame + own)
            if draws.below(4) == 0:
                drop(world.ground, draws)
    mesh: Any = host.ground.add(TriangleMesh.box((2, 1, 2)), transform=(80, 5, 80))
    state, mine = host.state(), guest.state()
    before = guest.state_hash(), contents_of(guest.ground)
    data = state.to_bytes()
    drop(guest.ground, draws)
    received = WorldState.from_bytes(data, guest)
    assert (guest.state_hash(), contents_of(guest.ground)) == before
    drop(guest.ground, draws)
    guest.restore(received)
    assert contents_of(host.ground) == contents_of(guest.ground)
    refuse_different(host, guest)
    go_on_alike(host, guest, range(60, 90))
    host.ground.remove(mesh)
    host.restore(state)
    drop(host.ground)
    assert state.to_bytes() == data  # of the past, whatever is loaded
    guest.restore(WorldState.from_bytes(data, guest))
    go_on_alike(host, guest, range(20))
    guest.restore(mine)
    assert (guest.state_hash(), contents_of(guest.ground)) == before


def test_only_what_was_edited_is_sent(pair):
    host, guest = pair
    empty = len(host.state().to_bytes())
    host.ground.carve((64, 64), radius=4, depth=1)  # at a corner of four tiles
    few = len(host.state().to_bytes())
    assert few < empty + 1200
    drop(guest.ground)
    guest.restore(WorldState.from_bytes(host.state().to_bytes(), guest))
    assert guest.ground.height_at(64, 64) == host.ground.height_at(64, 64)


def test_a_state_is_sent_after_later_edits(pair):
    host, guest = pair
    host.ground.carve((64, 64), radius=9, depth=1)
    state = host.state()
    data = state.to_bytes()
    host.ground.carve((66, 64), radius=9, depth=2)
    host.ground.set_holes(60, 60, np.ones((3, 3), np.bool_))
    assert state.to_bytes() == data
    host.restore(state)
    guest.restore(WorldState.from_bytes(data, guest))
    refuse_different(host, guest)


def test_a_state_is_sent_after_later_edits_that_were_joined(pair, monkeypatch):
    monkeypatch.setattr(history, "_MOST_COPIES", 0.0)
    host, _ = pair
    host.ground.carve((64, 64), radius=9, depth=1)
    state = host.state()
    data = state.to_bytes()
    for row in (50, 60):
        host.ground.set_heights(row, 60, np.zeros((3, 3)))
    assert state.to_bytes() == data


def test_an_edit_of_a_border_line_whose_other_tile_is_not_loaded(pair):
    host, guest = pair
    for world, row, depth in ((host, 0, -3), (guest, 64, -5)):
        drop(world.ground)
        world.ground.set_heights(row, 10, np.full((65, 9), depth, np.float32))
        drop(world.ground)
    for receiver, sender in ((guest, host), (host, guest)):
        receiver.restore(WorldState.from_bytes(sender.state().to_bytes(), receiver))
        drop(receiver.ground)
        refuse_different(host, guest)
        receiver.ground.set_heights(64, 12, np.zeros((1, 3)))
        sender.ground.set_heights(64, 12, np.zeros((1, 3)))


def test_waits_travel(folder):
    lands = [TiledGround.open(tiles_in(folder), missing="wait") for _ in range(2)]
    host, guest = map(world_on, lands)
    for frame in range(3):
        play(host, frame)
    assert lands[0].waits > 0
    received = WorldState.from_bytes(host.state().to_bytes(), guest)
    assert lands[1].waits == 0
    guest.restore(received)
    assert lands[1].waits == lands[0].waits
    assert guest.state_hash() == host.state_hash()
    for land in lands:
        land.close()


def test_worlds_that_begin_with_equal_edits(folder):
    """What is compared are values, and not how they came to be."""
    lands = [TiledGround.open(tiles_in(folder)) for _ in range(3)]
    for land in lands:
        land.carve((64, 64), radius=9, depth=1)
    lands[0].carve((200, 150), radius=9, depth=1)
    lands[0].raise_((200, 150), radius=9, height=1)
    lands[1].load_now(AABB((130, 0, 130), (250, 0, 190)))
    first: Any = lands[1].tile(2, 2)
    lands[0].set_heights(140, 190, first.heights[140 - 128 : 161 - 128, 62:64])
    before = lands[0].state()
    state = lands[1].state()
    lands[0].restore(before)
    lands[1].compact()
    drop(lands[1])
    lands[1].restore(state)
    worlds = [World(land) for land in lands[1:]]
    WorldState.from_bytes(worlds[0].state().to_bytes(), worlds[1])
    lands[2].carve((64, 64), radius=3, depth=0.1)
    late = World(lands[2])
    with pytest.raises(ValueError, match="must be of a world that began on an equal ground"):
        WorldState.from_bytes(worlds[0].state().to_bytes(), late)
    for land in lands:
        land.close()


def test_other_tiles_are_refused(pair, tmp_path):
    make_tiles(tmp_path / "b.tiles", np.zeros((SIDE + 1, SIDE + 1)), tile=SIDE)
    match, data = "must be of a world that began on an equal ground", pair[0].state().to_bytes()
    with TiledGround.open(tmp_path / "b.tiles") as land, pytest.raises(ValueError, match=match):
        WorldState.from_bytes(data, World(land))


def test_altered_bytes(pair):
    """A peer is not trusted: any change is refused, also where the checksum is right."""
    host, guest = pair
    for frame in range(6):
        edit(host.ground, Draws(frame))
        play(host, frame)
    data, draws = host.state().to_bytes(), Draws(3)
    before = guest.state_hash(), contents_of(guest.ground)
    start = len(network._MARK) + network._SUM_SIZE
    unpacked = zlib.decompress(data[start:])
    for _ in range(times(60)):
        damaged = bytearray(unpacked)
        for _ in range(1 + draws.below(3)):
            damaged[draws.below(len(damaged))] ^= 1 << draws.below(8)
        packed = zlib.compress(bytes(damaged), 1)
        digest = hashlib.blake2b(packed, digest_size=network._SUM_SIZE).digest()
        with suppress(ValueError):
            WorldState.from_bytes(network._MARK + digest + packed, guest)
        assert guest.state_hash() == before[0]
    assert contents_of(guest.ground) == before[1]
    for _ in range(times(30)):
        place = draws.below(len(data))
        altered = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
        with pytest.raises(ValueError, match="data must"):
            WorldState.from_bytes(altered, guest)


@pytest.mark.parametrize(
    "squares",
    [
        {"heights": [[0, 99]]},
        {"heights": [[7, 0]]},
        {"heights": [[1, 0], [0, 0]]},
        {"lakes": [[0, 0]]},
        {"holes": [[0, 0]]},
        {"heights": [[-1, 0]]},
    ],
)
def test_squares_that_no_land_has(squares, pair, monkeypatch):
    host, guest = pair
    told = difference_of

    def damaged(*given: Any) -> Any:
        about, pieces = told(*given)
        return about | {"maps": [[0, None, False, squares]]}, [*pieces, b"\xff" * 4096]

    monkeypatch.setattr(network, "difference_of", damaged)
    data = host.state().to_bytes()
    before = guest.state_hash(), contents_of(guest.ground)
    with pytest.raises(ValueError, match="data must be those of to_bytes, undamaged"):
        WorldState.from_bytes(data, guest)
    assert (guest.state_hash(), contents_of(guest.ground)) == before


def test_a_number_that_is_none_is_a_hole_whatever_its_bits(pair):
    signaling = np.array([[0x7F800001]], np.uint32).view(np.float32)
    land = pair[0].ground._land
    assert np.isnan(checked_values(land, "heights", signaling)).all()
