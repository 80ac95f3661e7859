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
    swims_out(range(times(30)))


@pytest.mark.full
def test_swimmers_get_out_at_a_thousand_shores():
    swims_out(range(100, 1100))


def test_swimmers_stay_below_shores_beyond_their_reach():
    for seed in range(times(9)):
        taken, highest = seconds_to_the_top(seed, Draws(seed).uniform(0.6, 2.0), most=4.0)
        assert taken == math.inf, seed
        assert highest < -0.3, seed
