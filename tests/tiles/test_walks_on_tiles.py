"""Walks over tiles that come and go: those of one map, to the last bit, whatever is loaded."""

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from terrain_physics import (
    AABB,
    BoxCollider,
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    Ground,
    Ray,
    SphereCollider,
    TiledGround,
)
from tests.helpers.examples import times
from tests.helpers.tiled_lands import SIDE, TilesOfArrays, forget_needs, settle, waves

EVERYWHERE = AABB((-1e6, 0, -1e6), (1e6, 0, 1e6))
BODIES = (
    SphereCollider(0.5),
    CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0)),
    BoxCollider((0.4, 0.8, 0.5)),
)


def hero_of(ground: Ground, seed: int) -> CharacterMovement:
    place = np.random.default_rng(seed).uniform(40, 150, 2)
    return CharacterMovement(ground, BODIES[seed % 3], position=(place[0], 14, place[1]), seed=seed)


def horde_of(ground: Ground, seed: int, count: int) -> CharacterGroup:
    rng = np.random.default_rng(seed)
    places = np.column_stack([*rng.uniform(40, 100, (2, count)), np.full(count, 14.0)])
    horde = CharacterGroup(ground, BODIES[seed % 3], collide=seed % 2 == 0)
    horde.add_many(range(count), places[:, [0, 2, 1]])
    return horde


@pytest.mark.parametrize("seed", range(3))
def test_walks_are_those_on_one_map_whatever_is_loaded(seed: int) -> None:
    rng = np.random.default_rng(seed)
    exists = np.ones((3, 3), np.bool_)
    exists[2, 0] = seed == 0
    tiles = TilesOfArrays(waves(3, 3, seed), exists, thickness=(np.inf, 2.0, 0.5)[seed])
    land, other = TiledGround.open(tiles), tiles.one_map()
    both: list[Ground] = [land, other]
    heroes = [hero_of(ground, seed) for ground in both]
    hordes = [horde_of(ground, seed, 20) for ground in both]
    for frame in range(150):
        if frame % 9 == 0:
            forget_needs(land)
            land.keep_near(rng.uniform(0, 3 * SIDE, (1, 3)), radius=float(rng.uniform(1, 80)))
            if rng.random() < 0.3:
                settle(land)
            else:
                land.load_some(ms=float(rng.uniform(0, 2)))
        if frame % 31 == 30:
            center = rng.uniform(50, 150, 2).tolist()
            for ground in both:
                ground.carve(center, radius=8, depth=1)
        angle = rng.uniform(-3, 3)
        for hero, horde in zip(heroes, hordes, strict=True):
            hero.walk(9 * np.cos(angle), 9 * np.sin(angle))
            hero.update(1 / 60)
            horde.walk(7 * np.sin(frame / 20), 6.0)
            horde.update(1 / 60)
        assert heroes[0].position64 == heroes[1].position64, frame
        assert heroes[0].velocity == heroes[1].velocity
        np.testing.assert_array_equal(hordes[0].positions, hordes[1].positions)
    assert heroes[0].state_hash() == heroes[1].state_hash()
    assert hordes[0].state_hash() == hordes[1].state_hash()
    assert len(tiles.reads) > 9
    assert land.waits == 0


def test_walks_that_may_wait_are_those_on_one_map_as_long_as_nobody_has() -> None:
    tiles = TilesOfArrays(waves(3, 3, 5))
    land, other = TiledGround.open(tiles, missing="wait"), tiles.one_map()
    heroes = [hero_of(ground, 5) for ground in (land, other)]
    land.keep_near(heroes[0], radius=60)
    settle(land)
    for frame in range(200):
        for hero in heroes:
            hero.walk(8, 5 * np.cos(frame / 30))
            hero.update(1 / 60)
        land.keep_near(heroes[:1], radius=60)
        if frame % 10 == 0:
            settle(land)
        else:
            land.load_some()
        assert land.waits == 0
        assert heroes[0].position64 == heroes[1].position64, frame


def test_who_waits_goes_on_as_if_it_had_not() -> None:
    tiles = TilesOfArrays(waves(2, 2, 6))
    land, other = TiledGround.open(tiles, missing="wait"), tiles.one_map()
    heroes = [hero_of(ground, 6) for ground in (land, other)]
    for hero in heroes:
        hero.walk(5, 5)
    for turn in range(4):
        before = heroes[0].position64
        assert heroes[0].update(1 / 60).waiting
        assert heroes[0].position64 == before
        settle(land)
        for _ in range(30):
            for hero in heroes:
                hero.walk(5, 5)
                result = hero.update(1 / 60)
            assert not result.waiting
        assert heroes[0].position64 == heroes[1].position64, turn
        forget_needs(land)
        land.keep_near([], radius=1)  # gone below its feet
        settle(land)
        assert land.loaded == frozenset()
    assert land.waits == 4


# Threads


@contextmanager
def threads(*loops: Callable[[], Any]) -> Iterator[list[BaseException]]:
    """Let functions run over and over, a thread each; give their errors, and raise one."""
    done, errors = threading.Event(), list[BaseException]()

    def run(loop: Callable[[], Any]) -> None:
        try:
            while not done.is_set():
                loop()
        except BaseException as error:
            errors.append(error)

    begun = [threading.Thread(target=run, args=(loop,)) for loop in loops]
    for thread in begun:
        thread.start()
    try:
        yield errors
    finally:
        done.set()
        for thread in begun:
            thread.join()
    if errors:
        raise errors[0]


@pytest.mark.alone
def test_threads_walk_ask_edit_and_load_at_once() -> None:
    tiles = TilesOfArrays(waves(4, 4, 7))
    land, other = TiledGround.open(tiles), tiles.one_map()
    rng = np.random.default_rng(7)
    centers = [(180 + 60 * rng.random(), 180 + 60 * rng.random()) for _ in range(times(30))]
    left = list(centers)
    xs, zs = np.random.default_rng(1).uniform(0, 2.5 * SIDE, (2, 100))  # where nobody edits
    known, visits = other.height_at(xs, zs), itertools.count()

    def roam() -> None:
        forget_needs(land)
        place = 50.0 * (next(visits) % 5)
        land.keep_near((place, 0, place), radius=30, unload=31)
        land.load_some(ms=0.5)

    def ask() -> None:
        np.testing.assert_array_equal(land.height_at(xs, zs), known)
        hit = land.raycast(Ray((30, 90, 30), (0, -1, 0)))
        assert hit is not None
        assert hit.distance == 90.0 - land.height_at(30, 30)

    def dig() -> None:
        if left:
            land.carve(left.pop(), radius=9, depth=1)

    heroes = [(hero_of(land, seed), hero_of(other, seed)) for seed in range(2)]
    with threads(roam, ask, dig) as errors:
        for frame in range(times(125)):
            for hero, twin in heroes:
                for own in (hero, twin):
                    own.walk(5 * np.cos(frame / 9), 5 * np.sin(frame / 9))
                    own.update(1 / 60)
                assert hero.position64 == twin.position64, frame
        while left and not errors:
            time.sleep(0.001)
    for center in reversed(centers):
        other.carve(center, radius=9, depth=1)
    land.load_now(EVERYWHERE)
    whole = np.mgrid[0 : 4 * SIDE : 97j, 0 : 4 * SIDE : 97j].reshape(2, -1)
    np.testing.assert_array_equal(land.height_at(*whole), other.height_at(*whole))


@pytest.mark.alone
def test_threads_that_need_the_same_tile_put_it_once() -> None:
    tiles = TilesOfArrays(waves(3, 3, 8))
    land = TiledGround.open(tiles)
    told: list[tuple[int, int]] = []
    land.on_load = lambda row, column, _: told.append((row, column))
    tiles.gate.clear()
    begun = [threading.Thread(target=land.load_now, args=(EVERYWHERE,)) for _ in range(4)]
    for thread in begun:
        thread.start()
    tiles.gate.set()
    for thread in begun:
        thread.join()
    land.load_some()
    assert sorted(told) == sorted(land.loaded)
    assert len(told) == 9
