"""Platforms that hold from above only, at all rates: nobody is stopped below or falls through."""

import pytest

from tests.behaviour import one_ways
from tests.behaviour.drive import COLLIDERS, STAND
from tests.behaviour.rides import PACES, Pace
from tests.helpers.pairwise import each_once

MIXED = (Pace(20, 20), Pace(60, 60), Pace(240, 240), Pace(30, 60), Pace(120, 30))


def is_let_through(found):
    return found.stands and found.off < 1e-4 and found.stopped < 1e-5


@pytest.mark.parametrize(("body", "pace", "slope"), each_once(COLLIDERS, PACES, (0.0, 20.0, -40.0)))
def test_who_jumps_up_stands_on_one_that_stands(body, pace, slope):
    assert is_let_through(one_ways.jump_up(body, pace, slope=slope))


@pytest.mark.parametrize(
    ("body", "pace", "rising"), each_once(COLLIDERS, MIXED, (0.0, 1.0, -0.5, 3.0))
)
def test_who_jumps_up_stands_on_one_that_moves(body, pace, rising):
    speed = 11.0 if rising > 1.0 else 9.0
    assert is_let_through(one_ways.jump_up(body, pace, rising=rising, speed=speed))


@pytest.mark.full
@pytest.mark.parametrize(("pace", "slope", "body"), each_once(MIXED, (20.0, -40.0), COLLIDERS))
def test_who_jumps_up_stands_on_a_slope_that_rises(pace, slope, body):
    assert is_let_through(one_ways.jump_up(body, pace, rising=0.5, slope=slope))


@pytest.mark.parametrize("body", COLLIDERS)
def test_a_wall_lets_through_from_behind_only(body):
    for pace in MIXED[:2]:
        assert one_ways.walk_through(body, pace, -3.0) < -0.45
        assert one_ways.walk_through(body, pace, 3.0) == pytest.approx(3.0, abs=1e-6)


@pytest.mark.parametrize("body", COLLIDERS)
def test_who_falls_through_falls_on(body):
    assert one_ways.fall_through(body) == pytest.approx(STAND[body], abs=1e-5)
