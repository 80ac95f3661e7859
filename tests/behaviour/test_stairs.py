"""Stairs, with a step offset of 0.3 m: passed up to it, none above; as quick at any rate."""

import functools
import math

import pytest

from terrain_physics import BoxCollider, CapsuleCollider, SphereCollider
from tests.behaviour import lands, stairs
from tests.behaviour.drive import RESOLVERS
from tests.helpers.pairwise import each_once, pairwise

BODIES = {
    "sphere": (SphereCollider(0.3), 0.3),
    "capsule": (CapsuleCollider(0.3, 1.8), 0.9),
    "box": (BoxCollider((0.3, 0.9, 0.3)), 0.9),
}
LANDS = {"map": lands.stairs_map, "mesh": lands.stairs_mesh}
HEIGHTS = (0.1, 0.2, 0.25, 0.3)


@functools.cache
def built(kind, rise, tread):
    return LANDS[kind](rise, tread)


def climbs(kind, shape, rise, tread, degrees, resolver):
    collider, stand = BODIES[shape]
    ground = built(kind, rise, tread)
    return [
        stairs.climb(ground, collider, stand, tread, rate, degrees, resolver)
        for rate in stairs.RATES
    ]


def assert_passed(kind, shape, rise, tread, degrees, resolver):
    found = climbs(kind, shape, rise, tread, degrees, resolver)
    for times in ([climb.up for climb in found], [climb.down for climb in found]):
        assert max(times) < math.inf
        assert max(times) <= 1.1 * min(times)
    assert all(climb.in_air == 0 for climb in found)


def assert_stopped(kind, shape, rise, tread, degrees, resolver):
    found = climbs(kind, shape, rise, tread, degrees, resolver)
    assert all(climb.up == math.inf for climb in found)


@pytest.mark.parametrize(("shape", "rise", "degrees"), pairwise(BODIES, HEIGHTS, (0, 35)))
def test_stairs_of_boxes(shape, rise, degrees):
    assert_passed("mesh", shape, rise, 0.3, degrees, "shuffled")


@pytest.mark.parametrize("shape", ["sphere", "capsule"])
def test_stairs_on_a_map(shape):
    assert_passed("map", shape, 0.3, 0.3, 35, "simultaneous")


def test_a_box_far_aslant_goes_up_risers_wider_than_its_step():
    assert_passed("map", "box", 0.3, 0.3, 70, "shuffled")


@pytest.mark.parametrize("shape", BODIES)
def test_higher_steps_are_walls(shape):
    for rise in (0.31, 0.4):
        assert_stopped("mesh", shape, rise, 0.5, 35, "shuffled")


@pytest.mark.long
@pytest.mark.parametrize("kind", LANDS)
@pytest.mark.parametrize("shape", BODIES)
@pytest.mark.parametrize("resolver", RESOLVERS)
def test_all_stairs(kind, shape, resolver):
    for tread in (0.3, 0.5):
        for degrees in (0, 15, 35, 60, 70):
            for rise in HEIGHTS:
                assert_passed(kind, shape, rise, tread, degrees, resolver)
            for rise in (0.31, 0.4):
                assert_stopped(kind, shape, rise, tread, degrees, resolver)


@pytest.mark.parametrize(
    ("kind", "shape", "rate", "speed", "jump", "when"),
    each_once(
        LANDS, ("sphere", "capsule"), (20, 60, 144, 360), (1.5, 3.0, 4.5), (2.0, 3.0),
        (0.1, 0.25, 0.4),
    ),
)  # fmt: skip
def test_a_jump_up_the_stairs_does_not_hang_on_an_edge(kind, shape, rate, speed, jump, when):
    collider, stand = BODIES[shape]
    longest = stairs.hop(built(kind, 0.25, 0.6), collider, stand, 0.6, rate, speed, jump, when)
    assert longest < 0.3  # the way down that edge, free
