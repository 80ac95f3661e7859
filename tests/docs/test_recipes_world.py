"""Recipes of land that is loaded late, and of crowds round posts."""

import time

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    GeneratedTiles,
    Ground,
    HeightMap,
    TiledGround,
    TriangleMesh,
)
from tests.helpers.draws import Draws
from tests.helpers.examples import times
from tests.helpers.pages import DOCS, definitions

BODY = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
SIDE = 256
RATES = (20, 30, 60, 144, 360)
PAGE = DOCS / "cookbook" / "tiles.md"


def walk(seed, missing, hero_of):
    """Return the places of a hero where land is loaded late, and for how many updates it waited."""
    draws = Draws(seed)
    rate, speed = draws.one_of(RATES), draws.uniform(2.0, 30.0)
    way = (draws.uniform(-1.0, 1.0, 2) * speed).tolist()
    tile = definitions(PAGE, "A land that a function makes")["tile"]

    def slow(row, column):
        time.sleep(0.002)
        return tile(row, column)

    tiles = GeneratedTiles(slow, size=(9, 9), tile=SIDE, heights=(-2, 2), name="hills")
    places: list[tuple[float, float, float]] = []
    with TiledGround.open(tiles, missing=missing) as land:
        start = (draws.uniform(200.0, 300.0), 4, draws.uniform(200.0, 300.0))
        hero, waits = hero_of(land, start)
        while len(places) < 2 * rate:
            land.keep_near([hero], radius=20.0, unload=20.0)
            land.load_some()
            hero.walk(*way)
            if len(places) == rate:
                hero.velocity.y = 5  # it may wait in a jump
            if waits(1 / rate):
                assert missing == "wait"
                continue
            places.append(hero.position64)
            x, y, z = hero.position64
            assert not y < land.height_at(x, z) - 1e-3
        return places, land.waits


def alone(ground, place):
    hero = CharacterMovement(ground, BODY, position=place)
    return hero, lambda seconds: hero.update(seconds).waiting


def in_a_group(ground, place):
    group = CharacterGroup(ground, BODY)
    group.add("hero", place)
    return group["hero"], lambda seconds: bool(group.update(seconds).waiting[0])


@pytest.mark.parametrize("hero_of", [alone, in_a_group])
def test_who_waits_for_ground_goes_on_as_if_it_had_been_there(hero_of):
    waited = 0
    for seed in range(times(4)):
        at_once, none = walk(seed, "load", hero_of)
        places, waits = walk(seed, "wait", hero_of)
        assert none == 0
        assert places == at_once, seed
        waited += waits
    assert waited > 0  # for the tile that it begins on


def boxes(draws):
    turn = glm.rotate(draws.uniform(0.0, 1.6), glm.vec3(0, 1, 0))
    place = glm.translate(glm.vec3(20, 2, 20)) * turn
    size = draws.uniform(0.5, 4.0)
    return TriangleMesh.box((size, 4, size), transform=place), size


def pillars(draws):
    size = draws.uniform(0.5, 5.0)
    place = glm.translate(glm.vec3(20, 2, 20))
    return TriangleMesh.cylinder(size / 2, 4, transform=place), size


def gather(seed, seconds=20):
    """Return how far from their goal sixty are who had a post before it."""
    draws = Draws(seed)
    post, size = draws.one_of((boxes, pillars))(draws)
    ground = Ground([HeightMap([[0, 0], [0, 0]], cell_size=40), post])
    crowd = CharacterGroup(ground, BODY, collide=True)
    x, z = (a.ravel() for a in np.meshgrid(np.arange(6), np.arange(10)))
    crowd.add_many(range(60), np.column_stack([8 - size / 2 + x, 0 * x, 15.5 + z]))
    goal = (28 + size / 2, 20)
    page = definitions(DOCS / "cookbook" / "crowd.md", "Round a post")
    page["crowd"] = crowd
    for frame in range(seconds * 30):
        if frame % 3 == 0:
            vx, vz = page["ways"](goal)
        crowd.walk(vx, vz)
        crowd.update(1 / 30)
    return np.hypot(crowd.positions[:, 0] - goal[0], crowd.positions[:, 2] - goal[1])


def all_get_round(seeds):
    for seed in seeds:
        assert gather(seed).max() < 9.5, seed  # on open land they fill a circle of 7.6 m


def test_nobody_of_a_crowd_stays_behind_a_post():
    all_get_round([1])


@pytest.mark.full
def test_nobody_of_a_crowd_stays_behind_any_post():
    all_get_round(range(2, 40))
