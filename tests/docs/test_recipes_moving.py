"""Recipes of the cookbook that move a hero, over shores, ledges and ladders drawn at random."""

import math

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import CapsuleCollider, CharacterMovement, Ground, HeightMap, TriangleMesh
from tests.helpers.draws import Draws
from tests.helpers.examples import times
from tests.helpers.pages import DOCS, definitions

BODY = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
RATES = (20, 30, 60, 144, 360)
LEVEL = 4.0  # of the water


def recipe(name, **found):
    """Return the functions of a recipe, over what a test gives them."""
    names = definitions(DOCS / "cookbook" / f"{name}.md")
    names.update(found)
    return names


def turned(yaw):
    return glm.rotate(yaw, glm.vec3(0, 1, 0))


def quay(draws, top, yaw):
    """Return a lake with a block at its shore, which need not reach down to the bottom."""
    depth = draws.uniform(0.15, 4.0) + top
    place = glm.translate(glm.vec3(30, 0, 30)) * turned(yaw)
    place *= glm.translate(glm.vec3(7, LEVEL + top - depth / 2, 0))
    bottom = HeightMap(np.zeros((2, 2)), cell_size=60)
    return Ground([bottom, TriangleMesh.box((10, depth, 80), transform=place)])


def bank(draws, top, yaw):
    """Return a lake with a bank too steep to walk up."""
    z, x = np.mgrid[:241, :241] / 4
    far = (x - 30) * math.cos(yaw) - (z - 30) * math.sin(yaw) - 1
    slope = math.tan(math.radians(draws.uniform(35.0, 88.0)))
    return HeightMap(np.clip(far * slope, 0, LEVEL + top), cell_size=0.25)


def seconds_to_the_top(seed, top, most=14.0):
    """Return how long a swimmer takes to stand on a shore, and the highest that it gets."""
    draws = Draws(seed)
    yaw, rate = draws.uniform(0.0, 2 * math.pi), draws.one_of(RATES)
    lake = draws.one_of((quay, bank))(draws, top, yaw)
    place = (30 - 1.5 * math.cos(yaw), 2.6, 30 + 1.5 * math.sin(yaw))
    hero = CharacterMovement(lake, BODY, position=place)
    page = recipe("swim", hero=hero)
    way = yaw + draws.uniform(-1.2, 1.2)
    wish = (2 * math.cos(way), draws.one_of((0.0, 2.0)), -2 * math.sin(way))
    highest = -math.inf
    for frame in range(1, int(most * rate)):
        if not page["climb_out"](1 / rate, wish):
            page["swim"](1 / rate, wish)
        hero.update(1 / rate)
        highest = max(highest, hero.position64[1] - LEVEL)
        if hero.grounded and abs(hero.position64[1] - LEVEL - top) < 1e-3:
            return frame / rate, highest
    return math.inf, highest


def swims_out(seeds):
    for seed in seeds:
        top = Draws(seed + 10_000).uniform(0.0, 0.35)
        taken, highest = seconds_to_the_top(seed, top)
        assert taken < math.inf, seed
        assert highest < top + 0.05, seed


def test_swimmers_get_out_at_any_shore():
    swims_out(range(times(18)))


@pytest.mark.full
def test_swimmers_get_out_at_a_thousand_shores():
    swims_out(range(100, 1100))


def test_swimmers_stay_below_shores_beyond_their_reach():
    for seed in range(times(9)):
        taken, highest = seconds_to_the_top(seed, Draws(seed).uniform(0.6, 2.0), most=4.0)
        assert taken == math.inf, seed
        assert highest < -0.3, seed


def crate(draws, high, deep, yaw, ceiling=None):
    """Return a floor with a ledge from x = 0 on, turned about the middle, and maybe a ceiling."""
    floor = HeightMap(np.zeros((2, 2)), cell_size=40, origin=(-20, 0, -20))
    boxes = [(0, high, deep), (deep, high + draws.uniform(2.1, 4.0), 3)]  # a wall behind
    meshes = [
        TriangleMesh.box(
            (size, top, 30),
            transform=turned(yaw) * glm.translate(glm.vec3(x + size / 2, top / 2, 0)),
        )
        for x, top, size in boxes
    ]
    if ceiling is not None:
        place = turned(yaw) * glm.translate(glm.vec3(5, high + ceiling + 2, 0))
        meshes.append(TriangleMesh.box((10, 4, 30), transform=place))
    return Ground([floor, *meshes])


def climbs(seed, ceiling=None):
    """Return how high a hero who mantles ends over its ledge, and whether it stands."""
    draws = Draws(seed)
    yaw, rate = draws.uniform(0.0, 2 * math.pi), draws.one_of(RATES)
    high, deep = draws.uniform(0.6, 2.0), draws.uniform(0.5, 3.0)
    ground = crate(draws, high, deep, yaw, ceiling)
    far = 0.4 + draws.uniform(0.0, 0.1)
    place = (-far * math.cos(yaw), draws.one_of((0.0, high - 0.5)), far * math.sin(yaw))
    hero = CharacterMovement(ground, BODY, position=place)
    page = recipe("mantle", hero=hero)
    way = yaw + draws.uniform(-1.0, 1.0)
    x, z = math.cos(way), -math.sin(way)
    for frame in range(int(2.5 * rate)):
        if not page["mantle"](1 / rate, x, z, frame == 0):
            hero.walk(0, 0)
        hero.update(1 / rate)
    assert hero.gravity_scale == 1
    return hero.position64[1] - high, hero.grounded


def mantles(seeds):
    for seed in seeds:
        over, stands = climbs(seed)
        assert stands, seed
        assert abs(over) < 1e-3, seed


def test_all_ledges_are_climbed():
    mantles(range(times(45)))


@pytest.mark.full
def test_a_thousand_ledges_are_climbed():
    mantles(range(100, 1100))


def test_nobody_climbs_where_there_is_no_room_to_stand():
    for seed in range(times(15)):
        over, stands = climbs(seed, ceiling=Draws(seed).uniform(0.5, 1.79))
        assert stands, seed
        assert over < -0.5, seed


class Tower:
    """A tower with a ladder at its side, and a hero before it."""

    def __init__(self, seed):
        draws = Draws(seed)
        self.rate, yaw = draws.one_of(RATES), draws.uniform(0.0, 2 * math.pi)
        self.height, foot = draws.uniform(1.0, 12.0), draws.uniform(-3.0, 3.0)
        self.way, self.side = (math.cos(yaw), -math.sin(yaw)), draws.uniform(-0.2, 0.2)
        place = turned(yaw) * glm.translate(glm.vec3(3, foot + self.height / 2, 0))
        self.floor, self.yaw = foot, yaw
        floor = HeightMap(np.full((2, 2), foot), cell_size=40, origin=(-20, 0, -20))
        ground = Ground([floor, TriangleMesh.box((6, self.height, 6), transform=place)])
        self.hero = CharacterMovement(ground, BODY, position=self.place(-0.7, self.side))
        self.page = recipe("ladder", hero=self.hero)
        line = self.page["Ladder"](self.place(-0.4, 0), self.height, self.way)
        self.page["ladders"].append(line)

    def place(self, ahead, aside):
        x, z = self.way
        return (ahead * x - aside * z, self.floor, ahead * z + aside * x)

    def high(self):
        return self.hero.position64[1] - self.floor

    def go(self, up, seconds, pace):
        """Climb and walk for some time; return how long it was on the ladder."""
        frames = 0
        for _ in range(round(seconds * self.rate)):
            if self.page["climb"](1 / self.rate, up):
                frames += 1
            elif pace:
                self.hero.walk(pace * self.way[0], pace * self.way[1])
            self.hero.update(1 / self.rate)
        return frames / self.rate


def climbs_up_and_down(seeds):
    for seed in seeds:
        tower = Tower(seed)
        most = tower.height / 1.5 + 1
        taken = tower.go(1, most, 0)
        assert tower.hero.grounded, seed
        assert abs(tower.high() - tower.height) < 1e-3, seed
        assert tower.height / 1.5 <= taken + 1e-9 < tower.height / 1.5 + 0.5, seed
        tower.go(-1, most + 2, -1)
        assert tower.hero.grounded, seed
        assert abs(tower.high()) < 1e-3, seed
        assert tower.hero.gravity_scale == 1


def test_ladders_are_climbed_up_and_down():
    climbs_up_and_down(range(times(15)))


@pytest.mark.full
def test_a_thousand_ladders_are_climbed_up_and_down():
    climbs_up_and_down(range(100, 1100))


def test_who_jumps_off_a_ladder_falls_beside_it():
    for seed in range(times(9)):
        tower = Tower(seed)
        tower.go(1, 0.4 * tower.height, 0)
        tower.page["climb"](1 / tower.rate, 0, jump=True)
        tower.go(0, 3, 0)
        assert tower.hero.grounded
        assert abs(tower.high()) < 1e-3
        assert math.dist(tower.hero.position64, tower.place(-0.4, 0)) > 0.8


def flight(rate, yaw, pitch):
    """Return how far ahead a glider gets, and its way ahead for each meter down in the middle."""
    land = HeightMap(np.zeros((2, 2)), cell_size=2000, origin=(-1000, 0, -1000))
    hero = CharacterMovement(land, BODY, position=(0, 60, 0))
    hero.velocity = (0, pitch, 0)
    page = recipe("glide", hero=hero)
    places = []
    while not hero.grounded:
        page["glide"](1 / rate, yaw, held=True)
        hero.update(1 / rate)
        places.append(hero.position64)
    (x0, y0, z0), (x1, y1, z1) = places[len(places) // 2], places[-2]
    x, _, z = places[-1]
    assert abs(math.atan2(-x, -z) - yaw) < 1e-5
    return math.hypot(x, z), math.hypot(x1 - x0, z1 - z0) / (y0 - y1)


def test_a_glider_gets_as_far_at_any_rate():
    for seed in range(times(6)):
        draws = Draws(seed)
        yaw, up = draws.uniform(-3.0, 3.0), draws.uniform(-10.0, 10.0)
        far, ratio = zip(*(flight(rate, yaw, up) for rate in (20, 60, 240)), strict=True)
        assert max(far) - min(far) < 0.015 * max(far)
        assert all(abs(one - 6) < 0.01 for one in ratio)
