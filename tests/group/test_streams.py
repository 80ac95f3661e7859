"""Two streams head on pass each other in a corridor: all keep to one side."""

import math

import numpy as np
import pytest

from terrain_physics import BoxCollider, CapsuleCollider, CharacterGroup, SphereCollider
from tests.behaviour.throngs import FLOOR, SPEED, walls
from tests.helpers.draws import Draws

RATES = (60, 30, 20, 120, 144, 240)
BODIES = ("capsule", "sphere", "box")


def body_of(kind, radius):
    """Return a body whose upright cylinder has a radius."""
    if kind == "sphere":
        return SphereCollider(radius, offset=(0, radius, 0))
    if kind == "capsule":
        return CapsuleCollider(radius, 1.8, offset=(0, 0.9, 0))
    return BoxCollider((0.8 * radius, 0.9, 0.6 * radius), offset=(0, 0.9, 0))


def scattered(draws, count, width, radius, area):
    """Return places (count, 2) on the left, each with about an area, none in another's."""
    aside, deep, places = 0.5 * width - radius, count * area / width, np.empty((0, 2))
    for tries in range(10**6):
        far = deep * (1.0 + tries // 2000 / 10)  # until there is room for all
        place = np.array([-3.0 - draws.uniform(0.0, far), draws.uniform(-aside, aside)])
        if (np.hypot(*(places - place).T) > 2.1 * radius).all():
            places = np.vstack([places, place])
        if len(places) == count:
            break
    return places


def seconds_to_pass(kind, width, each, rate, seed, area, seconds=60.0, **options):
    """Return after how long two streams have passed each other; inf: they have not."""
    draws, half, radius = Draws(seed), 0.5 * width, 0.4 if width >= 2.0 else 0.3
    left, right = (scattered(draws, each, width, radius, area) for _ in range(2))
    ground = walls((-49, -half - 0.5, 49, -half), (-49, half, 49, half + 0.5))
    group = CharacterGroup(ground, body_of(kind, radius), collide=True, threads=1, **options)
    places = np.insert(np.vstack([left, right * (-1, 1)]), 1, 0.0, axis=1)
    group.add_many(range(1000 * seed, 1000 * seed + 2 * each), places)
    signs = np.repeat((1.0, -1.0), each)
    for frame in range(round(seconds * rate)):
        x = group.positions[:, 0]
        if x[:each].min() > x[each:].max():
            return frame / rate
        group.walk(np.where(signs * x < 45.0, SPEED * signs, 0.0), 0.0)
        group.update(1 / rate)
    return math.inf


@pytest.mark.parametrize("keep_to", ["right", "left"])
def test_two_streams_pass_each_other(keep_to):
    assert seconds_to_pass("capsule", 2.0, 6, 20, 1, 1.2, 8.0, keep_to=keep_to) < math.inf


def passes(width, seed, seconds=60.0):
    """Tell whether two streams of 6 to 40 each pass each other in a corridor."""
    draws = Draws(9000 + seed)
    each, rate, area = 6 + draws.below(35), draws.one_of(RATES), draws.uniform(0.6, 1.8) * width / 2
    return seconds_to_pass(BODIES[seed % 3], width, each, rate, seed, area, seconds) < math.inf


@pytest.mark.full
@pytest.mark.parametrize("width", [1.5, 2.0, 3.0, 5.0])
@pytest.mark.parametrize("seed", range(60))
def test_all_streams_pass_each_other(width, seed):
    assert passes(width, seed)


def test_those_side_by_side_in_a_stream_leave_room():
    """Where one alone stays back, they come so near to each other that this stream stops."""
    assert passes(2.0, 34, 20.0)


def two_files(keep_to, side, each=4, rate=30):
    """Return the places (frames, 2 * each, 2) of two files that meet; ``side`` mirrors them."""
    group = CharacterGroup(FLOOR, body_of("capsule", 0.4), collide=True, keep_to=keep_to)
    x = -2.0 - 0.9 * np.arange(each)
    places = np.zeros((2 * each, 3))
    places[:, 0], places[:, 2] = np.append(x, -x), side * np.repeat((0.05, -0.02), each)
    group.add_many(range(2 * each), places)
    frames = []
    for _ in range(2 * rate):
        group.walk(np.repeat((SPEED, -SPEED), each), 0.0)
        group.update(1 / rate)
        frames.append(group.positions[:, [0, 2]])
    return np.array(frames)


def test_left_is_the_mirror_of_right():
    """Walkers to positive X have positive Z on their right."""
    right, left = two_files("right", 1.0), two_files("left", -1.0)
    np.testing.assert_allclose(left, right * (1, -1), rtol=0.0, atol=1e-9)
    passed = right[-1]
    assert (passed[:4, 0] > 1.0).all()
    assert (passed[4:, 0] < -1.0).all()
    assert passed[:4, 1].min() > passed[4:, 1].max()


def walked(keep_to, places, ways):
    """Return the hash of a group in which each one walks its way for two seconds."""
    group = CharacterGroup(FLOOR, body_of("capsule", 0.4), collide=True, keep_to=keep_to)
    group.add_many(range(len(places)), places)
    for _ in range(60):
        group.walk(*np.transpose(ways))
        group.update(1 / 30)
    return group.state_hash()


@pytest.mark.parametrize("keep_to", ["right", "left"])
def test_two_who_meet_alone_pass_as_without_a_side(keep_to):
    meeting = [(-2, 0, 0), (2, 0, 0.1)], [(SPEED, 0.0), (-SPEED, 0.0)]
    assert walked(keep_to, *meeting) == walked(None, *meeting)


def test_those_who_come_to_a_door_from_both_sides_are_no_streams():
    left, right = [(-2, 0, 0), (-3.1, 0, 0)], [(2, 0, 0.1), (3, 0, 0.1)]
    ways = np.repeat([(0.8, 0.6), (-0.8, 0.6)], 2, axis=0) * SPEED
    assert walked("right", left + right, ways) == walked(None, left + right, ways)
    head_on = ways * (1, 0)
    assert walked("right", left + right, head_on) != walked(None, left + right, head_on)
