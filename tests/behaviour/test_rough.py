"""Drops and walks on rough land: rule "contact", friction at its default, both resolvers."""

import pytest

from tests.behaviour import rough
from tests.behaviour.drive import COLLIDERS, RESOLVERS
from tests.helpers.pairwise import each_once

SPEEDS = (0.0, 50.0, 200.0, 1000.0)


def assert_held(drop):
    assert drop.deepest < 1e-3
    assert drop.restless == 0


@pytest.mark.parametrize(("shape", "resolver", "speed"), each_once(COLLIDERS, RESOLVERS, SPEEDS))
def test_drops(shape, resolver, speed):
    drop = rough.drop(shape, resolver, speed, 4, every=4)
    assert_held(drop)
    assert drop.rested > 0
    assert_held(rough.drop(shape, resolver, speed, 4, steepness=3.0, level=False, every=2))


@pytest.mark.long
@pytest.mark.parametrize("steepness", [1.0, 3.0])
@pytest.mark.parametrize("resolver", RESOLVERS)
@pytest.mark.parametrize("shape", COLLIDERS)
def test_1000_drops(shape, resolver, steepness):
    for speed in SPEEDS:
        for level in (True, False):
            drop = rough.drop(shape, resolver, speed, 1000, steepness=steepness, level=level)
            assert_held(drop)


def assert_smooth(wander, steepness):
    assert wander.deepest < 1e-3
    assert wander.deep_99 < 1e-5
    assert wander.gap_99 < 2e-3
    assert wander.grounded > (0.7 if steepness == 1.0 else 0.2)


@pytest.mark.parametrize(
    ("shape", "resolver", "steepness", "count"),
    each_once(COLLIDERS, RESOLVERS, (1.0, 3.0), (8, 20)),
)
def test_walks(shape, resolver, steepness, count):
    wander = rough.wander(shape, resolver, steepness, count, 5.0, every=20)
    assert_smooth(wander, steepness)
    assert wander.flickers * wander.frames < 1.5e4  # one at most; the long test counts them


@pytest.mark.long
@pytest.mark.parametrize("steepness", [1.0, 3.0])
@pytest.mark.parametrize("resolver", RESOLVERS)
@pytest.mark.parametrize("shape", COLLIDERS)
def test_1000_walks_of_60_seconds(shape, resolver, steepness):
    wander = rough.wander(shape, resolver, steepness, 1000, 60.0, every=4)
    assert_smooth(wander, steepness)
    assert wander.flickers < 1.0
