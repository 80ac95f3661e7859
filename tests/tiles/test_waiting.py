"""Characters that parts carry, push and shut in, over tiles that go: as on one map, or waiting."""

from typing import Any

import numpy as np
import pytest

from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    Ground,
    SphereCollider,
    TiledGround,
    TriangleMesh,
)
from tests.helpers.examples import rest_is_full
from tests.helpers.tiled_lands import SIDE, TilesOfArrays, forget_needs, level, waves

BODIES = (CapsuleCollider(0.4, 1.8), SphereCollider(0.5), BoxCollider((0.4, 0.9, 0.3)))
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 6))]


def _box(x: float, y: float, z: float, *, solid: bool = False) -> TriangleMesh:
    corners = [(a, b, c) for b in (-y, y) for c in (-z, z) for a in (-x, x)]
    faces = [
        (4, 6, 7), (4, 7, 5), (0, 1, 3), (0, 3, 2), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6),
        (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3),
    ]  # fmt: skip
    return TriangleMesh(corners, faces, solid=solid)


def _lands(seed: int, **options: Any) -> tuple[TiledGround, Ground]:
    tiles = TilesOfArrays(waves(3, 3, seed))
    return TiledGround.open(tiles, **options), tiles.one_map()


def _take_all(land: TiledGround) -> None:
    forget_needs(land)
    land._land.take(list(land._land.loaded))


def _ride(ground: Ground, frame: int, seconds: float) -> None:
    """Move a train at 60 m/s, a lift, and a carousel as fast, after a while."""
    along = max(frame - 5, 0) / 60
    turn = 2 * along
    ground.move("train", (20 + 60 * min(along, 2.0), 20, 40), seconds)
    ground.move("lift", (96, 12 + 5 * np.sin(3 * along), 96), seconds)
    ground.move("carousel", (96 + 30 * np.cos(turn), 22, 140 + 30 * np.sin(turn)), seconds)


def _with_parts(ground: Ground) -> None:
    for name, place in (
        ("train", (20, 20, 40)), ("lift", (96, 12, 96)), ("carousel", (126, 22, 140)),
    ):  # fmt: skip
        ground.add(_box(3, 0.5, 3), transform=place, name=name)


def _riders(ground: Ground, seed: int, *, collide: bool, threads: int) -> CharacterGroup:
    draw = np.random.default_rng(seed)
    group = CharacterGroup(ground, collide=collide, threads=threads)
    for key in range(18):
        place = np.array([(20, 21.401, 40), (96, 13.001, 96), (126, 23.401, 140)][key % 3])
        group.add(key, place + draw.uniform(-2, 2, 3) * (1, 0, 1), collider=BODIES[key % 3])
    return group


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rate", rest_is_full([60, 20, 360]))
def test_riders_go_as_on_one_map_though_all_tiles_go_before_each_update(
    seed: int, rate: int
) -> None:
    land, other = _lands(seed)
    grounds: list[Ground] = [land, other]
    for ground in grounds:
        _with_parts(ground)
    crowds = [
        [_riders(ground, seed, collide=collide, threads=2) for ground in grounds]
        for collide in (False, True)
    ]
    for frame in range(50):
        draw = np.random.default_rng(frame)
        ways = draw.normal(0, 1, (2, 18)) * draw.choice([0, 2, 6], 18)
        for ground in grounds:
            _ride(ground, frame, 1 / rate)
        for pair in crowds:
            for group in pair:
                _take_all(land)
                group.walk(*ways)
                group.update(1 / rate)
            assert pair[0].state_hash() == pair[1].state_hash(), frame
    assert land.waits == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_who_is_taken_out_of_something_solid_goes_as_on_one_map(seed: int) -> None:
    """Its way out may lead anywhere, and so beyond its box."""
    land, other = _lands(seed)
    grounds: list[Ground] = [land, other]
    movers = []
    for ground in grounds:
        ground.add(_box(20, 20, 25, solid=True), transform=(96, 5, 96))
        movers.append(CharacterMovement(ground, BODIES[seed % 3], position=(96, 5, 90)))
    for frame in range(150):
        draw = np.random.default_rng(1000 * seed + frame)
        if frame % 25 == 24:
            place, velocity = 96 + draw.uniform(-24, 24, 3) * (1, 0.6, 1), draw.normal(0, 40, 3)
            for mover in movers:
                mover.teleport((place[0], place[1] - 90, place[2]), velocity)
        _take_all(land)
        results = [mover.update([1 / 60, 1 / 20, 0.25][frame % 3]) for mover in movers]
        assert results[0] == results[1]
        assert movers[0].state_hash() == movers[1].state_hash()


@pytest.mark.parametrize("collide", [False, True])
def test_who_comes_to_rest_while_another_one_strays_has_the_same_results(collide: bool) -> None:
    """The update is run once more for the other one."""
    tiles = TilesOfArrays(level(2, 9))
    results = []
    for ground in (TiledGround.open(tiles), tiles.one_map()):
        group = CharacterGroup(ground, SphereCollider(0.5), collide=collide)
        group.add("rests", (20, 0.502, 20))
        group.add("strays", (30, 9, 30), velocity=(8000, 0, 0))
        results.append((group.update(1 / 20), group.hits()))
    assert results[0][0].just_landed.tolist() == [True, False]
    assert results[0][0].just_hit[0]
    assert results[0] == results[1]


@pytest.mark.parametrize("collide", [False, True])
def test_who_needs_no_land_is_updated_once_while_another_one_strays(collide: bool) -> None:
    tiles = TilesOfArrays(level(2, 9))
    groups = []
    for ground in (TiledGround.open(tiles), tiles.one_map()):
        group = CharacterGroup(ground, SphereCollider(0.5), collide=collide)
        group.add("falls", (20, 9, 20), mask=2)
        group.add("strays", (30, 9, 30), velocity=(8000, 0, 0))
        group.update(1 / 20)
        groups.append(group)
    np.testing.assert_array_equal(groups[0].positions, groups[1].positions)
    assert groups[0].state_hash() == groups[1].state_hash()


@pytest.mark.parametrize("collide", [False, True])
def test_who_waits_among_moving_parts_stays_as_it_is_and_comes_to_its_base_again(
    collide: bool,
) -> None:
    land, _ = _lands(1, missing="wait")
    _with_parts(land)
    group = _riders(land, 1, collide=collide, threads=2)
    land.load_now(land.bounds)
    for frame in range(60):
        _ride(land, frame, 1 / 60)
        assert not group.update(1 / 60).waiting.any()
    assert group.grounded.sum() >= 12
    land._land.take(list(land._land.loaded))
    before = dict(group.hashes())
    for frame in range(60, 75):
        _ride(land, frame, 1 / 60)
        assert group.update(1 / 60).waiting.all()
        assert dict(group.hashes()) == before
    assert land.waits == 15 * 18
    parts, grounded = group.parts, group.grounded
    land.load_now(land.bounds)
    for frame in range(75, 80):
        _ride(land, frame, 1 / 60)
        assert not group.update(1 / 60).waiting.any()
    assert (group.parts == parts)[grounded].all()
    assert SIDE == 64  # the places above
