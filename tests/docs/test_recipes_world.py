"""Recipes of land that is loaded late, and of crowds round posts."""

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    TriangleMesh,
)
from tests.helpers.draws import Draws
from tests.helpers.examples import times
from tests.helpers.pages import DOCS, definitions

BODY = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
SIDE = 32
RATES = (20, 30, 60, 144, 360)


def tile(i, j):
    z, x = np.mgrid[: SIDE + 1, : SIDE + 1]
    x, z = x + i * SIDE, z + j * SIDE
    return HeightMap(2 * np.sin(x / 9) * np.cos(z / 7), origin=(i * SIDE, 0, j * SIDE))


class SlowTile:
    """A tile that is there after it was asked for so many times."""

    def __init__(self, i, j, asked):
        self.tile, self.asked = (i, j), asked

    def done(self):
        self.asked -= 1
        return self.asked < 0

    def result(self):
        return tile(*self.tile)


class SlowDisk:
    """Loads tiles that come after some frames, in any order."""

    def __init__(self, draws, most):
        self.draws, self.most = draws, most

    def submit(self, _, i, j):
        return SlowTile(i, j, self.draws.below(self.most))


def walk(seed, most, hero_of, restored=False):
    """Return the places of a hero where land is loaded late, and for how long it was held."""
    draws = Draws(seed)
    rate, speed = draws.one_of(RATES), draws.uniform(2.0, 30.0)
    way = draws.uniform(-1.0, 1.0, 2) * speed
    ground = Ground([tile(0, 0)])
    hero, update = hero_of(ground, (draws.uniform(-60.0, 60.0), 4, draws.uniform(-60.0, 60.0)))
    page = definitions(DOCS / "cookbook" / "tiles.md", "Wait until the ground is there")
    page.update(ground=ground, hero=hero, pool=SlowDisk(Draws(seed), most))
    places: list[tuple[float, float, float]] = []
    held = 0
    while len(places) < 2 * rate:
        if page["is_held"]():
            held += 1
            if restored:
                state = hero.state()
                update(1 / rate)
                hero.restore(state)
            continue
        hero.walk(*way.tolist())
        if len(places) == rate:
            hero.velocity.y = 5  # it may be held in a jump
        update(1 / rate)
        places.append(hero.position64)
        x, y, z = hero.position64
        assert y > ground.height_at(x, z) - 1e-3
    return places, held


def alone(ground, place):
    hero = CharacterMovement(ground, BODY, position=place)
    return hero, hero.update


def in_a_group(ground, place):
    group = CharacterGroup(ground, BODY)
    group.add("hero", place)
    return group["hero"], group.update


@pytest.mark.parametrize("hero_of", [alone, in_a_group])
def test_who_waits_for_ground_goes_on_as_if_it_had_been_there(hero_of):
    waited = 0
    for seed in range(times(4)):
        at_once, _ = walk(seed, 1, hero_of)
        places, held = walk(seed, 300, hero_of, restored=hero_of is in_a_group)
        assert np.allclose(places, at_once, atol=1e-6), seed
        waited += held
    assert waited > 100


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
