"""Jumps: as high as was asked for, at any rate, and nothing else changes."""

import math
from typing import Any

import numpy as np
import pytest

from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    CharacterGroup,
    CharacterMovement,
    Ground,
    HeightMap,
    SphereCollider,
    TriangleMesh,
)

FLOOR = HeightMap(np.zeros((3, 3)), cell_size=50)
BODIES: dict[str, Any] = {
    "sphere": SphereCollider(0.5),
    "capsule": CapsuleCollider(0.5, 1.0),
    "box": BoxCollider((0.5, 0.5, 0.5)),
}


def hero_on(ground, body="sphere", **rules):
    hero = CharacterMovement(ground, BODIES[body], position=(40, 0.5, 40), **rules)
    hero.update(1 / 60)
    return hero


def highest(hero, rate):
    top = hero.position64[1]
    for _ in range(4 * rate):
        hero.update(1 / rate)
        top = max(top, hero.position64[1])
    return top


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("rate", [20, 60, 360])
@pytest.mark.parametrize("height", [0.3, 1.2, 4.0])
def test_the_top_is_that_of_the_parabola(body, rate, height):
    hero = hero_on(FLOOR, body, gravity=12.0, gravity_scale=0.75)
    hero.jump(height)
    speed, pull = math.sqrt(2 * 9.0 * height), 9.0
    times = np.arange(4 * rate) / rate
    expected = (speed * times - pull * times**2 / 2).max()
    top = highest(hero, rate) - 0.5
    assert top == pytest.approx(expected, abs=1e-9)
    assert height - pull / rate**2 / 8 - 1e-9 <= top <= height + 1e-9
    assert hero.grounded


def test_a_frame_that_ends_at_the_top_shows_the_whole_height():
    hero = hero_on(FLOOR, gravity=10.0)
    hero.jump(1.25)  # 5 m/s, for half a second
    for _ in range(30):
        hero.update(1 / 60)
    assert hero.position64[1] == pytest.approx(1.75, abs=1e-12)


def test_other_velocities_stay_also_those_that_were_just_written():
    hero = hero_on(FLOOR, gravity=10.0)
    hero.velocity = (0.1, 0, 3)
    hero.jump(1.25)
    hero.update(1e-6)
    assert hero.position64[0] == pytest.approx(40 + 0.1e-6, abs=1e-13)
    hero.velocity.x = 2
    hero.jump(0.8)
    assert hero.velocity == (2, 4, 3)


def test_it_jumps_in_the_air_and_zero_stops_a_fall():
    hero = CharacterMovement(FLOOR, BODIES["sphere"], position=(40, 9, 40), gravity=10.0)
    for _ in range(30):
        hero.update(1 / 60)
    assert hero.velocity.y < -4
    hero.jump(1.25)
    assert hero.velocity.y == 5
    hero.jump(0)
    assert hero.velocity.y == 0


def test_a_member_jumps_as_one_alone_does():
    hero, group = hero_on(FLOOR), CharacterGroup(FLOOR, BODIES["sphere"])
    group.add("hero", (40, 0.5, 40), seed=0)
    group.update(1 / 60)
    for one in (hero, group["hero"]):
        one.walk(3, 1)
        one.jump(1.2)
    for _ in range(50):
        group.update(1 / 60)
        hero.update(1 / 60)
        assert group["hero"].state_hash() == hero.state_hash()


def test_a_state_between_jump_and_update_holds_the_jump_of_a_member():
    group = CharacterGroup(FLOOR, BODIES["sphere"])
    group.add("hero", (40, 0.5, 40))
    group.update(1 / 60)
    group["hero"].jump(1.2)
    saved = group.state()
    first = [group.update(1 / 60) and group.state_hash() for _ in range(30)]
    group.restore(saved)
    assert [group.update(1 / 60) and group.state_hash() for _ in range(30)] == first


@pytest.mark.parametrize("rate", [30, 60, 240])
def test_over_a_lift_it_rises_relative_to_the_lift(rate):
    ground = Ground([FLOOR, TriangleMesh.box((4, 1, 4), position=(0, -0.5, 0))])
    ground.move(1, (40, 0, 40))
    hero = hero_on(ground, gravity=10.0)
    over = []
    for frame in range(rate):
        ground.move(1, (40, (frame + 1) / rate, 40), 1 / rate)
        if frame == rate // 10:
            hero.jump(1.25)
        hero.update(1 / rate)
        over.append(hero.position64[1] - 0.5 - (frame + 1) / rate)
    assert max(over) == pytest.approx(1.25, abs=10 / rate**2)


@pytest.mark.parametrize(
    ("height", "error", "message"),
    [
        (-1, ValueError, "height must be finite and >= 0 meters, got -1"),
        (math.nan, ValueError, "height must be finite"),
        (math.inf, ValueError, "height must be finite"),
        ("high", TypeError, "height must be a number"),
        (None, TypeError, "height must be a number"),
    ],
)
def test_bad_heights_change_nothing(height, error, message):
    hero = hero_on(FLOOR)
    before = hero.state()
    with pytest.raises(error, match=message):
        hero.jump(height)
    assert hero.state() == before
    assert hero.velocity == (0, 0, 0)


@pytest.mark.parametrize("scale", [0, -0.25])
def test_under_water_it_has_the_speed_of_a_jump_on_land(scale):
    hero = hero_on(FLOOR, gravity=10.0, gravity_scale=scale)
    hero.jump(1.25)
    assert hero.velocity.y == 5
