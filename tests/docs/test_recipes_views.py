"""The recipe of a camera that smooths steps, over stairs drawn at random and on a lift."""

import math
from itertools import pairwise

import pytest
from pyglm import glm

from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    CharacterMovement,
    Ground,
    HeightMap,
    TriangleMesh,
)
from tests.helpers.draws import Draws
from tests.helpers.examples import times
from tests.helpers.pages import DOCS, definitions

BOX = BoxCollider((0.3, 0.9, 0.3), offset=(0, 0.9, 0))
CAPSULE = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
RATES = (20, 30, 60, 144, 360)


def eye_of(hero):
    """Return a function that gives the height of the eye after a frame of some seconds."""
    page = definitions(DOCS / "cookbook" / "rays.md", "Smooth the camera over steps")
    page["hero"] = hero
    return page["eye_height"]


def walked(draws, rate, body):
    """Return the heights of the eye in a walk on stairs, and how fast it may go."""
    rise, tread = draws.uniform(0.1, 0.3), draws.uniform(0.3, 0.7)
    pace, up = draws.uniform(0.5, 5.0), draws.chance(0.5)
    floor = HeightMap([[0, 0], [0, 0]], cell_size=40, origin=(-20, 0, -20))
    stairs = TriangleMesh.stairs(width=3, rise=rise, tread=tread, steps=40)
    place = (-0.6, 0, 0) if up else (39.5 * tread, 40 * rise, 0)
    hero = CharacterMovement(Ground([floor, stairs]), body, position=place)
    hero.update(1 / rate)
    eye = eye_of(hero)
    heights = [eye(1 / rate)]
    stops = min(1.5, 34 * tread / pace)
    for frame in range(3 * rate):
        hero.walk((pace if up else -pace) if frame < stops * rate else 0, 0)
        hero.update(1 / rate)
        assert hero.grounded
        heights.append(eye(1 / rate))
    assert abs(heights[-1] - hero.position64[1] - 1.6) < 1e-3
    # Critically damped, a step takes a speed of STIFF / e of its height; more steps add their mean.
    return heights, rise * (15.0 / math.e + pace / tread)


def climbs_smoothly(seeds):
    for seed in seeds:
        draws = Draws(seed)
        rate, body = draws.one_of(RATES), draws.one_of((BOX, CAPSULE))
        heights, fastest = walked(draws, rate, body)
        moves = [abs(b - a) for a, b in pairwise(heights)]
        assert max(moves) * rate < 1.02 * fastest, seed


def test_the_eye_climbs_stairs_without_a_jump():
    climbs_smoothly(range(times(15)))


@pytest.mark.full
def test_the_eye_climbs_a_thousand_stairs_without_a_jump():
    climbs_smoothly(range(100, 1100))


def test_the_eye_takes_the_same_way_at_any_rate():
    for seed in range(times(9)):
        slow, fast = (walked(Draws(seed), rate, CAPSULE)[0] for rate in (30, 360))
        lags = [abs(a - b) for a, b in zip(slow, fast[::12], strict=True)]
        assert max(lags) < 0.06, seed
        assert lags[-1] < 1e-3


def test_the_eye_does_not_lag_on_lifts_nor_in_jumps():
    ground = Ground([HeightMap([[0, 0], [0, 0]], cell_size=20)])
    lift = ground.add(TriangleMesh.box((3, 0.4, 3)))
    ground.move(lift, ((10, 0, 10), glm.quat()))
    hero = CharacterMovement(ground, CAPSULE, position=(10, 0.2, 10))
    eye = eye_of(hero)
    for frame in range(200):
        ground.move(lift, ((10, frame / 40, 10), glm.quat()), 1 / 60)
        if frame == 120:
            hero.velocity.y = 5
        hero.update(1 / 60)
        height = eye(1 / 60)
        if frame > 60:
            assert abs(height - hero.position64[1] - 1.6) < 1e-3, frame
