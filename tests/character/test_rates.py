"""The way walked does not depend on the rate of updates: within 2 % over 10 m, for each body.

No law is asked for among walls, at whose corners a body slides another way each time, nor in the
air: jumps and falls are sums of steps.
"""

import math
from typing import Any

import numpy as np
import pytest

from demo.scenery.scenes import load_land
from terrain_physics import BoxCollider, CharacterGroup, HeightMap
from tests.behaviour import lands
from tests.behaviour.drive import COLLIDERS, STAND
from tests.helpers.draws import Draws

SPEED, SECONDS = 3.5, 3.0
BODIES: dict[str, tuple[Any, float]] = {  # each with the height of its middle
    **{name: (body, STAND[name]) for name, body in COLLIDERS.items()},
    "wide box": (BoxCollider((0.5, 0.8, 0.3)), 0.8),
}


def slope(degrees):
    return math.tan(math.radians(degrees))


def noise(cell, rise):
    count = round(24 / cell)
    return HeightMap(rise * Draws(1).uniform(0, 1, count, count), cell_size=cell)


LANDS = {  # the land, and where the walkers start
    "level": (lambda: lands.tilted(0.0), (20, 30)),
    "up 40": (lambda: lands.tilted(slope(40)), (20, 30)),
    "down 40": (lambda: lands.tilted(-slope(40)), (20, 30)),
    "across 30": (lambda: lands.tilted(0.0, slope(30)), (20, 30)),
    "onto a slope": (lambda: lands.foot_of_slope(30), (15, 30)),
    "through a valley": (lambda: lands.folded(-0.4, 0.4), (12, 12)),
    "over a ridge": (lambda: lands.folded(0.4, -0.4), (12, 12)),
    "stairs of a map": (lambda: lands.stairs_map(0.2, 0.4, 20), (2, 10)),
    "stairs of boxes": (lambda: lands.stairs_mesh(0.2, 0.4, 20), (2, 0)),
    "triangles": (lambda: lands.triangulated(1), (10, 10)),
    "rough triangles": (lambda: lands.triangulated(1, 0.3), (10, 10)),
    "loose triangles": (lambda: lands.scattered(1), (10, 10)),
    "noise of 10 cm": (lambda: noise(0.1, 0.3), (4, 6)),
    "noise of 25 cm": (lambda: noise(0.25, 0.3), (4, 6)),
    "noise of 1 m": (lambda: noise(1.0, 0.6), (4, 6)),
    "hills": (lambda: load_land(1.0), (200, 203)),
}


def ways(land, shape, start, rate, heading, count):
    """Return how far some side by side get along a heading."""
    body, height = shape
    crowd = CharacterGroup(land, body, slope_limit=math.radians(45), threads=1)
    x, z = np.full(count, start[0]), start[1] + 0.9 * np.arange(count)
    crowd.add_many(range(count), np.stack([x, land.height_at(x, z) + height, z], axis=1))
    for _ in range(rate // 2):
        crowd.update(1 / rate)
    before, ahead = crowd.positions, np.array([math.cos(heading), 0.0, math.sin(heading)])
    for _ in range(round(SECONDS * rate)):
        crowd.walk(SPEED * ahead[0], SPEED * ahead[2])
        crowd.update(1 / rate)
    return (crowd.positions - before) @ ahead


def assert_alike(land, body, heading, count):
    make, start = LANDS[land]
    ground = make()
    slow, fast = (ways(ground, BODIES[body], start, rate, heading, count) for rate in (20, 360))
    assert slow == pytest.approx(fast, rel=0.02)
    assert fast.min() > 0.97 * SPEED * SECONDS


@pytest.mark.parametrize(
    ("land", "body"), [("noise of 10 cm", "wide box"), ("rough triangles", "capsule")]
)
def test_the_way_walked_is_that_of_any_rate(land, body):
    assert_alike(land, body, 0.3, 1)


@pytest.mark.full
@pytest.mark.parametrize("heading", [0.0, 0.3])
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("land", LANDS)
def test_all_ways_walked_are_those_of_any_rate(land, body, heading):
    assert_alike(land, body, heading, 6)
