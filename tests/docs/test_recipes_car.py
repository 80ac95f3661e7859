"""The recipe of a car: it stands still from any start, on any land, and drives."""

import math

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import HeightMap
from tests.helpers.draws import Draws
from tests.helpers.examples import times
from tests.helpers.pages import DOCS, definitions

PAGE = definitions(DOCS / "cookbook" / "car.md")
STEP = PAGE["TICK"]


def slope(degrees, way=0.0):
    """Return land that rises in a direction."""
    z, x = np.mgrid[:81, :81]
    rise = x * math.cos(way) + z * math.sin(way)
    return HeightMap(math.tan(math.radians(degrees)) * rise)


def hills(draws):
    """Return waves no steeper than 15 degrees."""
    z, x = np.mgrid[:81, :81]
    heights = np.zeros(x.shape)
    for _ in range(4):
        way, length = draws.uniform(0.0, 6.28), draws.uniform(3.0, 20.0)
        far = x * math.cos(way) + z * math.sin(way)
        heights += length * np.sin(far / length + draws.uniform(0.0, 6.28))
    steepest = np.hypot(*np.gradient(heights)).max()
    return HeightMap(heights * math.tan(math.radians(15)) / steepest)


def any_land(draws):
    kind = draws.below(3)
    if kind == 0:
        return slope(draws.uniform(0.0, 15.0), draws.uniform(0.0, 6.28))
    return hills(draws) if kind == 1 else HeightMap(draws.uniform(0.0, 0.35, 81, 81))  # rubble


def dropped(seed, tilt, speed):
    """Return a car above land drawn at random, in any direction."""
    draws = Draws(seed)
    land = any_land(draws)
    x, z = draws.uniform(30.0, 50.0, 2).tolist()
    turn = glm.dquat(glm.dvec3(0, draws.uniform(0.0, 6.28), 0)) * glm.dquat(
        glm.dvec3(draws.uniform(-tilt, tilt), 0, draws.uniform(-tilt, tilt))
    )
    car = PAGE["Car"](land, (x, land.height_at(x, z) + draws.uniform(0.8, 2.5), z), turn)
    car.velocity = glm.dvec3(*draws.uniform(-speed, speed, 3).tolist())
    car.spin = glm.dvec3(*draws.uniform(-speed, speed, 3).tolist()) / 4
    return car


def run(car, seconds, *, sleeps=True, **control):
    for _ in range(round(seconds / STEP)):
        if not sleeps:
            car.still = 0.0
        car.update(**control)


def over_the_ground(car):
    return car.place.y - car.ground.height_at(car.place.x, car.place.z)


def comes_to_rest(seeds, tilt, speed):
    for seed in seeds:
        car = dropped(seed, tilt, speed)
        run(car, 19)
        place, turn = glm.dvec3(car.place), glm.dquat(car.turn)
        run(car, 1)
        assert (car.place, car.turn) == (place, turn), seed
        assert glm.length(car.velocity) == glm.length(car.spin) == 0, seed
        assert over_the_ground(car) > 0.3, seed


def test_it_stands_still_from_any_start():
    comes_to_rest(range(times(15)), tilt=0.3, speed=4.0)


@pytest.mark.full
def test_it_stands_still_from_a_hundred_starts():
    comes_to_rest(range(100, 200), tilt=0.3, speed=4.0)


@pytest.mark.full
def test_it_lies_still_however_it_falls():
    rocks = []
    for seed in range(200, 500):
        car = dropped(seed, tilt=math.pi, speed=6.0)
        run(car, 20)
        assert over_the_ground(car) > 0.3, seed
        if car.still <= 0.5:
            rocks.append(seed)
    assert len(rocks) <= 3, rocks  # on its roof, on rubble, it may rock a little for long


def test_it_does_not_creep_down_a_slope_before_it_sleeps():
    for degrees, yaw in ((5, 0.7), (15, 1.57), (30, 0.0), (30, 2.5))[: times(4)]:
        land = slope(degrees)
        turn = glm.dquat(glm.dvec3(0, yaw, 0))
        car = PAGE["Car"](land, (40, land.height_at(40, 40) + 0.9, 40), turn)
        run(car, 3, sleeps=False)
        place = glm.dvec3(car.place)
        run(car, 3, sleeps=False)
        assert glm.distance(place, car.place) < 1e-6


def test_it_slides_where_friction_is_too_weak():
    land = slope(50)
    car = PAGE["Car"](land, (60, land.height_at(60, 40) + 1.2, 40), glm.dquat(1, 0, 0, 0))
    run(car, 2)
    assert car.velocity.x < -1


def test_it_drives_turns_and_brakes():
    land = slope(0)
    car = PAGE["Car"](land, (40, 0.6, 40), glm.dquat(1, 0, 0, 0))
    run(car, 1)
    run(car, 3, gas=1.0, steer=0.15)
    assert glm.length(car.velocity) > 5
    ahead = car.turn * glm.dvec3(0, 0, -1)
    assert ahead.x < -0.3  # to the left
    assert glm.dot(glm.normalize(car.velocity), ahead) > 0.95
    run(car, 4)
    assert car.velocity == glm.dvec3(0)
    assert (car.turn * glm.dvec3(0, 1, 0)).y > 0.999
    run(car, 0.5, gas=-1.0)
    assert glm.dot(car.velocity, car.turn * glm.dvec3(0, 0, -1)) < -1


def test_it_wakes_when_the_ground_changes():
    land = slope(0)
    car = PAGE["Car"](land, (40, 0.6, 40), glm.dquat(1, 0, 0, 0))
    run(car, 4)
    assert car.still > 0.5
    height = car.place.y
    land[:] = -1.0
    run(car, 4)
    assert car.place.y == pytest.approx(height - 1, abs=0.02)
