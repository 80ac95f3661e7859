"""Recipes of machines: a lift that is called back at any time, at any rate."""

import math

import pytest
from pyglm import glm

from terrain_physics import CapsuleCollider, CharacterMovement, Ground, HeightMap, TriangleMesh
from tests.helpers.draws import Draws
from tests.helpers.examples import times
from tests.helpers.pages import DOCS, definitions

BODY = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
RATES = (20, 30, 60, 144, 360)


class Ride:
    """A lift with a rider."""

    def __init__(self, level, leave, rate):
        self.ground = Ground([HeightMap([[0, 0], [0, 0]], cell_size=20)])
        self.lift, self.rate = self.ground.add(TriangleMesh.box((3, 0.4, 3))), rate
        self.ground.move(self.lift, ((10, level, 10), glm.quat()))
        self.seconds = 0.0
        self.hero = CharacterMovement(
            self.ground, BODY, position=(10, level + 0.2, 10), leave=leave
        )

    def update(self, level):
        """Return how far the rider is off the lift after a frame."""
        self.seconds += 1 / self.rate
        angle = 2 * self.seconds  # in a circle
        self.hero.walk(math.cos(angle), math.sin(angle))
        self.hero.update(1 / self.rate)
        return abs(self.hero.position64[1] - level - 0.2)


def is_called_back(seeds):
    for seed in seeds:
        draws = Draws(seed)
        start, rate = draws.uniform(1.0, 10.0), draws.one_of(RATES)
        ride = Ride(start, draws.one_of(("velocity", "up", "none")), rate)
        page = definitions(DOCS / "cookbook" / "moving_platforms.md", "A lift")
        page.update(ground=ride.ground, lift=ride.lift, lift_level=start, glm=glm)
        for _ in range(draws.whole(2, 5)):
            page["called_to"] = draws.uniform(0.5, 10.0)
            for _ in range(int(draws.uniform(0.0, 3.0) * rate)):
                page["run_lift"](1 / rate)
                assert ride.update(page["lift_level"]) < 1e-3, seed
        for _ in range(5 * rate):
            page["run_lift"](1 / rate)
            assert ride.update(page["lift_level"]) < 1e-3, seed
        assert page["lift_level"] == page["called_to"], seed
        assert page["lift_speed"] == 0, seed


def test_riders_stay_on_a_lift_that_is_called_back():
    is_called_back(range(times(3)))


@pytest.mark.full
def test_riders_stay_on_two_hundred_lifts():
    is_called_back(range(100, 300))


def test_riders_stay_on_lifts_that_turn_round_at_once_if_they_keep_nothing():
    for seed in range(times(9)):
        draws = Draws(seed)
        rate, fast, far = draws.one_of(RATES), draws.uniform(1.0, 12.0), draws.uniform(2.0, 8.0)
        ride = Ride(1.0, "none", rate)
        for frame in range(1, 3 * rate):
            share = (frame / rate * fast / far) % 2
            level = 1 + far * (1 - abs(1 - share))
            ride.ground.move(ride.lift, ((10, level, 10), glm.quat()), 1 / rate)
            assert ride.update(level) < 1e-3, seed
            assert ride.hero.grounded, seed
