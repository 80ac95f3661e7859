"""States of worlds as bytes: restored elsewhere, both go on alike; a peer is not trusted."""

import hashlib
import json
import tracemalloc
import zlib
from contextlib import suppress
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from terrain_physics import (
    CharacterGroup,
    CharacterMovement,
    FixedStep,
    Ground,
    HeightMap,
    Recording,
    SphereCollider,
    TriangleMesh,
    World,
    WorldState,
)
from terrain_physics.recording.journal import contents_of
from terrain_physics.world import network
from tests.helpers.damaged_saves import damaged_json, how_many, is_refused
from tests.helpers.draws import Draws
from tests.world.test_files import hashes_of, make_world, play

FRAME = 1 / 60


def all_of(world):
    """Return the hashes of a world and all that its ground holds."""
    return hashes_of(world), contents_of(world.ground)


def worlds_on(make) -> list[Any]:
    """Return two worlds on equal grounds."""
    return [World(make()) for _ in range(2)]


def go_on_alike(one, other, frames, seed):
    for frame in frames:
        for world in (one, other):
            play(world, frame, seed)
        assert hashes_of(one) == hashes_of(other)
    assert contents_of(one.ground) == contents_of(other.ground)


def check_exchange(seed):
    """Send states between two worlds that began alike and went different ways."""
    here, there, draws = make_world(seed), make_world(seed), Draws(seed)
    frames = draws.below(160)
    for frame in range(frames):
        play(there, frame, seed)
    for frame in range(1000, 1000 + draws.below(160)):
        play(here, frame, seed + 7)
    here.ground.parts[0].materials[2:9, 4] = 3
    mesh = there.ground.parts[2]
    mesh.refit(np.asarray(mesh.vertices) * [1, 1.5, 1])
    mine, before = here.state(), all_of(here)
    theirs, wanted = there.state(), all_of(there)
    received = WorldState.from_bytes(theirs.to_bytes(), here)
    assert all_of(here) == before
    here.restore(received)
    assert all_of(here) == wanted
    go_on_alike(here, there, range(frames, frames + 40), seed)
    late = WorldState.from_bytes(theirs.to_bytes(), here)  # of the past, after other edits
    here.restore(late)
    assert all_of(here) == wanted
    there.restore(theirs)
    go_on_alike(here, there, range(frames, frames + 20), seed)
    here.restore(mine)
    assert all_of(here) == before
    here.restore(received)
    assert all_of(here) == wanted


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 25))]
)
def test_a_state_leads_elsewhere_to_the_same(seed):
    check_exchange(seed)


@pytest.mark.parametrize("make", [lambda: HeightMap(np.zeros((40, 70))),
                                  lambda: TriangleMesh.box((9, 1, 9))])  # fmt: skip
def test_worlds_on_a_map_or_a_mesh(make):
    worlds: list[Any] = []
    for _ in range(2):
        ground = make()
        world = World(ground)
        hero = CharacterMovement(ground, SphereCollider(0.3), position=(1, 2, 1))
        world.add("hero", hero)
        worlds.append(world)
    here, there = worlds
    if isinstance(there.ground, HeightMap):
        there.ground.carve((1, 1), 3, 0.5)
        there.ground.holes[39 - 2, 60] = True  # the first hole: it is thinner from now on
        here.ground.carve((50, 20), 3, 0.5)
        here.ground.thickness = 7
    else:
        there.ground.refit(np.asarray(there.ground.vertices) + np.array([0, 0.2, 0]))
    for _ in range(60):
        there.update(FRAME)
    here.restore(WorldState.from_bytes(there.state().to_bytes(), here))
    assert all_of(here) == all_of(there)
    for _ in range(60):
        for world in worlds:
            world.update(FRAME)
        assert all_of(here) == all_of(there)


@pytest.mark.parametrize("back", [1, 2, 3])
def test_a_state_kept_before_some_changes_is_sent_as_it_was(back):
    here, there = worlds_on(
        lambda: Ground([HeightMap(np.zeros((9, 9))), TriangleMesh.box((1, 1, 1))])
    )
    land, mesh = here.ground.parts.values()
    other_land, other_mesh = there.ground.parts.values()
    first, kept = np.array(mesh.vertices), []
    for step in range(1, 4):
        kept.append((here.state(), np.array(mesh.vertices), land.thickness, land[4, 4]))
        mesh.refit(first + np.array([0, 0.25 * step, 0]))
        land.thickness, land[4, 4] = 2 * step, 0.5 * step
        here.update(FRAME)
    state, vertices, thickness, height = kept[-back]
    there.restore(WorldState.from_bytes(state.to_bytes(), there))
    np.testing.assert_array_equal(other_mesh.vertices, vertices)
    assert (other_land.thickness, other_land[4, 4]) == (thickness, height)


def test_a_mesh_that_the_receiver_has_refitted_is_as_it_was():
    here, there = worlds_on(
        lambda: Ground([HeightMap(np.zeros((9, 9))), TriangleMesh.box((1, 1, 1))])
    )
    mesh = here.ground.parts[1]
    first = np.array(mesh.vertices)
    mesh.refit(first + np.array([0, 0.5, 0]))
    here.restore(WorldState.from_bytes(there.state().to_bytes(), here))
    np.testing.assert_array_equal(mesh.vertices, first)


def test_only_edited_blocks_are_sent():
    here, there = worlds_on(lambda: HeightMap(np.zeros((1025, 1025))))
    empty = len(there.state().to_bytes())
    assert empty < 400
    there.ground.carve((500, 500), 2, 0.5)
    small = len(there.state().to_bytes())
    assert small < empty + 400
    there.ground[:] = np.zeros((1025, 1025))
    assert len(there.state().to_bytes()) < empty + 20  # it is as it was
    there.ground[:] = Draws(1).uniform(0, 1, 1025, 1025)
    assert len(there.state().to_bytes()) < 1025 * 1025 * 4
    here.restore(WorldState.from_bytes(there.state().to_bytes(), here))
    assert contents_of(here.ground) == contents_of(there.ground)


def test_a_crowd_takes_few_bytes():
    ground = HeightMap(np.zeros((65, 65)))
    world, crowd = World(ground), CharacterGroup(ground, SphereCollider(0.4), collide=True)
    world.add("crowd", crowd)
    for key in range(1000):
        crowd.add(key, (5 + key % 40, 0.4, 5 + key // 40))
    for _ in range(20):
        crowd.walk(1, 0)
        world.update(FRAME)
    assert len(world.state().to_bytes()) < 300 * 1000


def test_a_moving_part_that_went_leaves_nothing():
    here, there = make_world(2), make_world(2)
    for world in (here, there):
        play(world, 0, 2)
    there.ground.remove("lift")
    there.ground.remove("belt")
    here.restore(WorldState.from_bytes(there.state().to_bytes(), here))
    assert here.state_hash() == there.state_hash()
    assert contents_of(here.ground) == contents_of(there.ground)


def test_a_part_that_was_put_elsewhere_and_went_leaves_nothing():
    one, other = worlds_on(lambda: Ground([HeightMap(np.zeros((40, 70)))]))
    recording = Recording(other)
    other.ground.move(other.ground.add(TriangleMesh.box((2, 2, 2))), (9, 3, 9))
    other.restore(WorldState.from_bytes(one.state().to_bytes(), other))
    recording.update(FRAME)
    assert contents_of(other.ground) == contents_of(one.ground)
    scene: Any = recording.make_scene(1)
    assert contents_of(scene.ground) == contents_of(one.ground)


def test_a_part_that_both_have_stays_the_same_object():
    here, there = make_world(2), make_world(2)
    for world in (here, there):
        world.ground.add(TriangleMesh.box((1, 1, 1)), name="crate")
    crate = here.ground.parts[here.ground.key_of("crate")]
    here.restore(WorldState.from_bytes(there.state().to_bytes(), here))
    assert here.ground.parts[here.ground.key_of("crate")] is crate
    there.ground.remove("crate")
    here.restore(WorldState.from_bytes(there.state().to_bytes(), here))
    assert "crate" not in here.ground.part_names.values()


def test_members_that_came_and_left():
    here, there = make_world(3), make_world(3)
    there["crowd"].remove(1)
    there["crowd"].add("new", (9, 3, 9), slope_limit=1.0)
    here["crowd"].remove("m0")
    here.restore(WorldState.from_bytes(there.state().to_bytes(), here))
    assert [*here["crowd"]] == [*there["crowd"]]
    go_on_alike(here, there, range(30), 3)


def test_members_have_bodies_of_their_own():
    here, there = worlds_on(lambda: HeightMap(np.zeros((9, 9))))
    for world in (here, there):
        crowd = world.add("crowd", CharacterGroup(world.ground))
        crowd.add_many(["small", "large"], [(2, 1, 2), (6, 1, 6)], collider=SphereCollider(0.5))
    there["crowd"]["small"].resize(SphereCollider(0.25))
    here.restore(WorldState.from_bytes(there.state().to_bytes(), here))
    bodies = {key: member.collider for key, member in here["crowd"].items()}
    assert bodies == {"small": SphereCollider(0.25), "large": SphereCollider(0.5)}


# What is refused


@pytest.fixture(scope="module")
def data():
    world = make_world(1)
    for frame in range(60):
        play(world, frame, 1)
    return world.state().to_bytes()


@pytest.fixture(scope="module")
def receiver():
    return make_world(1)


def refused(data, world, match):
    before = all_of(world)
    with pytest.raises(ValueError, match=match):
        WorldState.from_bytes(data, world)
    assert all_of(world) == before


def test_worlds_of_another_beginning(data):
    other = make_world(1)
    other.ground.parts[0][3, 3] = 9
    same = World(other.ground)  # it begins now
    refused(data, same, "must be of a world that began on an equal ground")
    refused(data, make_world(2), "must be of a world that began on an equal ground")
    world = make_world(1)
    world.remove("hero3")
    refused(data, world, "same keys, got 'hero3', which this one has not: add it first")
    world = make_world(1)
    world.remove("crowd")
    world.add("crowd", CharacterGroup(world.ground, SphereCollider(1), collide=True))
    refused(
        data,
        world,
        "'crowd' must be the same as there, got 'collide=True, heads=stand, keep_to=left' for",
    )
    world.remove("crowd")
    world.add("crowd", CharacterMovement(world.ground, SphereCollider(1), position=(1, 2, 3)))
    refused(
        data,
        world,
        "'crowd' must be the same as there, got 'collide=True, heads=stand, keep_to=left' for",
    )
    world = make_world(1)
    world.remove("hero1")
    world.add("hero1", CharacterMovement(world.ground, SphereCollider(1), position=(1, 2, 3)))
    refused(data, world, "'hero1' must have the same kind of body as there")
    clocked = World(make_world(1).ground, clock=FixedStep(1 / 30))
    refused(data, clocked, "must be of a world with a clock of 0.0333333 s, got 0.00833")


def test_bytes_of_an_earlier_version_are_refused_by_name(receiver, monkeypatch):
    monkeypatch.setattr(network, "_VERSION", 1)
    data = receiver.state().to_bytes()
    monkeypatch.undo()
    refused(data, receiver, "data must be of this version of terrain_physics")


def test_no_bytes_and_no_world(data, receiver):
    with pytest.raises(TypeError, match="data must be bytes, as from to_bytes, got 'text'"):
        WorldState.from_bytes("text", receiver)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="world must be a World"):
        WorldState.from_bytes(data, receiver.ground)
    with pytest.raises(TypeError, match="must be a World, got bytes: data comes first") as swapped:
        WorldState.from_bytes(receiver, data)
    assert len(str(swapped.value)) < 80
    refused(b"", receiver, "data must be those of to_bytes, undamaged")


def test_cut_and_altered_bytes(data, receiver):
    draws = Draws(5)
    for cut in (1, 30, len(data) // 2, len(data) - 1):
        refused(data[:cut], receiver, "undamaged")
    refused(data + b"x", receiver, "undamaged")
    for _ in range(20):
        other = bytearray(data)
        other[draws.below(len(other))] ^= 1 << draws.below(8)
        refused(bytes(other), receiver, "undamaged")


def unpacked(data):
    """Return the header, the rows and the rest of a state."""
    content = zlib.decompress(data[len(network._MARK) + 16 :])
    sizes = network._SIZES.unpack_from(content)
    start = network._SIZES.size
    rows = start + sizes[0]
    return json.loads(content[start:rows]), content[rows : rows + sizes[1]], sizes, content[rows:]


def packed(header, sizes, rest):
    """Return a state of such a header as bytes, with a right sum: as a peer would make it."""
    text = json.dumps(header).encode()
    content = network._SIZES.pack(len(text), *sizes[1:]) + text + rest
    return summed(zlib.compress(content))


def summed(content):
    return network._MARK + hashlib.blake2b(content, digest_size=16).digest() + content


def changed(header, path, value):
    """Return a header with a value at a path."""
    other = deepcopy(header)
    *way, last = path
    place = other
    for key in way:
        place = place[key]
    place[last] = value
    return other


_MOTION = ("ground", "motion")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("things",), []),
        (("things", 0, "key"), "hero2"),
        (("things", 0, "last"), -1),
        (("things", 0, "body"), 77),
        (("things", 0, "material_rules"), [["ice", 1, -3]]),
        (("things", 5, "members"), [1] * 8),
        (("things", 5, "bodies"), []),
        (("things", 5, "seed"), -1),
        (("bodies",), []),
        (("clock", 1), 10**60),
        (("ground", "maps", 0, 1), -1),
        (("ground", "maps", 0, 1), float("nan")),
        (("ground", "maps", 0, 2), 5),
        (("ground", "maps", 0, 3), {"heights": [[0, 0], [0, 0]]}),
        (("ground", "maps", 0, 3), {"heights": [[9, 0]]}),
        (("ground", "maps", 0, 3), {"heights": [[-1, 0]]}),
        (("ground", "maps", 0, 3), {"depths": [[0, 0]]}),
        (("ground", "maps", 0, 0), 3),
        (("ground", "refits"), [4, 99]),
        (("ground", "came"), []),
        (("ground", "layout", 0), [5, 4, 3, 2, 1, 0]),
        (("ground", "layout", 0), []),
        (("ground", "layout", 1, 0), -1),
        (("ground", "layout", 2), {"77": "x"}),
        (("ground", "layout", 2), {"1": ""}),
        (("ground", "layout", 3), 1 << 60),
        (_MOTION, None),
        ((*_MOTION, "transforms", "0"), [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]),
        ((*_MOTION, "transforms", "1"), [[2, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]),
        ((*_MOTION, "transforms", "1", 0, 3), 1e300),
        ((*_MOTION, "movers", "count"), -5),
        ((*_MOTION, "movers", "parts", "1", "seconds"), float("inf")),
        ((*_MOTION, "movers", "parts", "1", "moves", 0, 0), 1 << 60),
        ((*_MOTION, "movers", "parts", "99"), {}),
    ],
)
def test_numbers_that_no_state_has(path, value, data, receiver):
    header, _, sizes, rest = unpacked(data)
    WorldState.from_bytes(packed(header, sizes, rest), receiver)
    refused(packed(changed(header, path, value), sizes, rest), receiver, "undamaged")


@how_many
def test_a_header_damaged_in_any_place_is_refused(how):
    ground = Ground([HeightMap(np.zeros((3, 3))), TriangleMesh.box((1, 0.5, 1))])
    world = World(ground)
    world.add("hero", CharacterMovement(ground, SphereCollider(0.4), position=(1, 2, 1)))
    crowd = CharacterGroup(ground, SphereCollider(0.4))
    crowd.add(7, (1, 3, 1))
    world.add("crowd", crowd)
    ground.carve((1, 1), 1, 0.2)
    ground.move(1, (0.6, 1, 0.5), FRAME)
    ground.add(TriangleMesh.box((1, 1, 1)), name="crate")
    header, _, sizes, rest = unpacked(world.state().to_bytes())

    def load(other):
        WorldState.from_bytes(packed(other, sizes, rest), world)

    load(header)
    found = [is_refused(load, other, what) for what, other in damaged_json(header, how())]
    assert sum(found) > len(header)


def test_rows_that_no_character_has(data, receiver):
    header, woven, sizes, rest = unpacked(data)
    rows = network._unwoven(woven)
    for value in (np.nan, np.inf, 7.0):
        other = rows.copy()
        other[3, 6] = np.array(value).view(np.uint64)  # grounded
        content = network._woven(other) + rest[len(woven) :]
        refused(packed(header, sizes, content), receiver, r"state of 'hero3': grounded must be")
    refused(packed(header, (0, sizes[1] + 8, sizes[2]), rest), receiver, "undamaged")
    refused(packed(header, (0, 0, sizes[2]), rest), receiver, "undamaged")


def test_heights_that_no_map_has(data, receiver):
    header, woven, sizes, rest = unpacked(data)
    for value in (
        b"\0\0\x80\x7f",
        b"\xff\xff\x7f\x7f",
    ):  # what infinity and the most are crossed to
        content = rest[: len(woven)] + value * ((len(rest) - len(woven)) // 4)
        with suppress(ValueError):
            state = WorldState.from_bytes(packed(header, sizes, content), receiver)
            kept = receiver.state()
            receiver.restore(state)
            assert not np.isinf(np.asarray(receiver.ground.parts[0][:])).any()
            receiver.restore(kept)


def test_a_fault_of_the_library_is_not_called_damage(data, receiver, monkeypatch):
    def broken(*_):
        raise TypeError("a bug")

    monkeypatch.setattr(network, "put", broken)
    there = receiver.state_hash()
    with pytest.raises(TypeError, match="a bug"):
        WorldState.from_bytes(data, receiver)
    assert receiver.state_hash() == there


def test_a_bomb_takes_no_memory(receiver, monkeypatch):
    monkeypatch.setattr(network, "MOST_BYTES", 1 << 20)
    bomb = summed(zlib.compress(bytes(1 << 24), 9))
    assert len(bomb) < 1 << 15
    tracemalloc.start()
    try:
        refused(bomb, receiver, "undamaged")
        assert tracemalloc.get_traced_memory()[1] < 3 * network.MOST_BYTES
    finally:
        tracemalloc.stop()


def test_a_state_that_is_too_large(receiver, monkeypatch):
    monkeypatch.setattr(network, "MOST_BYTES", 1000)
    with pytest.raises(ValueError, match="state must have at most 1000 bytes unpacked, got"):
        receiver.state().to_bytes()


def test_calls_inside_an_update_are_refused(data):
    world, calls, place = make_world(1), [], [3.0, 3.0, 3.0]

    def write(target, position):
        target[:] = position
        if "owned" in world:
            calls.append(position)
            with pytest.raises(RuntimeError, match="from_bytes must wait until update"):
                WorldState.from_bytes(data, world)

    hero = CharacterMovement(
        world.ground, SphereCollider(0.5), owner=place, read=tuple, write=write
    )
    world.add("owned", hero)
    hero.walk(1, 1)
    world.update(FRAME)
    assert calls


def test_grounds_with_states_of_their_own():
    """Blocks that a restore puts back to before the world began are known as edited."""
    worlds = []
    for _ in range(2):
        land = HeightMap(np.zeros((40, 40)))
        ground = Ground([land, TriangleMesh.box((1, 1, 1))])
        before = ground.state()
        land.carve((20, 20), 5, 1)
        worlds.append((World(ground), before))
    (here, first), (there, _) = worlds
    here.ground.restore(first)
    here.restore(WorldState.from_bytes(there.state().to_bytes(), here))
    assert contents_of(here.ground) == contents_of(there.ground)


def test_a_mesh_at_several_places_comes_once():
    here, there = worlds_on(
        lambda: Ground([HeightMap(np.zeros((40, 40))), TriangleMesh.box((2, 1, 2))])
    )
    house = TriangleMesh.sphere(1)
    for k in range(50):
        there.ground.add(house, transform=((k % 7 * 3, 1, k // 7 * 3), np.eye(3), 1 + k / 50))
    again = there.ground.add(there.ground.parts[1], transform=(30, 2, 30))
    data = there.state().to_bytes()
    here.restore(WorldState.from_bytes(data, here))
    assert contents_of(here.ground) == contents_of(there.ground)
    assert here.ground.parts[again] is here.ground.parts[1]
    assert here.ground.parts[2] is here.ground.parts[51]
    there.ground.remove(3)
    size = len(there.state().to_bytes())
    assert size < len(data) + 200
