"""Slopes up to and beyond the limit of 45 degrees: rule "contact", friction 0 when sliding."""

import math

import pytest

from tests.behaviour import slopes
from tests.behaviour.drive import COLLIDERS, FRAME, RESOLVERS, standing
from tests.helpers.pairwise import pairwise

WALKABLE, STEEP = (5, 20, 30, 40, 44, 45), (46, 50, 60, 70, 80)


@pytest.mark.parametrize(("degrees", "shape", "resolver"), pairwise(WALKABLE, COLLIDERS, RESOLVERS))
def test_idle_up_to_the_limit(degrees, shape, resolver):
    idle = slopes.idle(shape, degrees, resolver, seconds=60.0, friction=20.0)
    assert idle.drift == 0.0
    assert idle.grounded == 3600


@pytest.mark.parametrize("resolver", RESOLVERS)
@pytest.mark.parametrize("shape", COLLIDERS)
@pytest.mark.parametrize("degrees", STEEP)
def test_idle_beyond_the_limit_slides(degrees, shape, resolver):
    idle = slopes.idle(shape, degrees, resolver)
    assert idle.grounded == 0
    assert idle.speed == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("shape", COLLIDERS)
@pytest.mark.parametrize("degrees", [20, 45, 60])
def test_the_limit_is_exact(degrees, shape):
    assert slopes.is_walkable_at(shape, degrees, 0.9e-9)
    assert not slopes.is_walkable_at(shape, degrees, 1.1e-9)


@pytest.mark.parametrize(
    ("degrees", "shape", "resolver", "off", "zigzag"),
    pairwise(STEEP, COLLIDERS, RESOLVERS, (0, 30, 60), (False, True)),
)
def test_nobody_climbs_a_steep_slope(degrees, shape, resolver, off, zigzag):
    assert slopes.climb(shape, degrees, off, zigzag, resolver, seconds=3.0) <= 1e-9
    uphill = slopes.push_uphill(shape, degrees, off, zigzag, resolver)
    assert uphill.gained <= 1e-9
    assert uphill.sunk > 0.1


@pytest.mark.parametrize(
    ("degrees", "shape", "rate", "level", "resolver"),
    pairwise(
        STEEP, COLLIDERS, (20, 60, 144, 360), ((0.0, 0.0), (3.0, 0.0), (2.0, 2.0), (0.0, -1.0)),
        RESOLVERS,
    ),
)  # fmt: skip
def test_pushing_against_a_steep_slope_holds_nobody_up(degrees, shape, rate, level, resolver):
    part = slopes.held_against(shape, degrees, resolver, rate, level)
    assert part == pytest.approx(1.0, abs=0.01)


@pytest.mark.long
@pytest.mark.parametrize("shape", COLLIDERS)
def test_nobody_climbs_any_slope_beyond_the_limit(shape):
    for degrees in range(46, 81):
        for off in (0, 30, 60):
            for zigzag in (False, True):
                for resolver in RESOLVERS:
                    assert slopes.climb(shape, degrees, off, zigzag, resolver) <= 1e-9


@pytest.mark.parametrize("shape", ["sphere", "capsule"])
@pytest.mark.parametrize("place", [(12.0, 10.5), (12.0, 10.0), (12.3, 10.5)])
def test_who_stands_slides_once_the_limit_is_less(shape, place):
    """Over the lines between cells too: ice, or a perk that ends."""
    mover = standing(slopes.slope(30), shape, *place)
    assert mover.grounded
    mover.slope_limit = math.radians(10)
    for _ in range(30):
        mover.update(FRAME)
        assert not mover.grounded
    assert mover.ground_report().state == "steep"
    assert mover.position64[0] < place[0] - 0.1
