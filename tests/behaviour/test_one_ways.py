"""Platforms that hold from above only, at all rates: nobody is stopped below or falls through."""

import pytest

from tests.behaviour import one_ways
from tests.behaviour.drive import COLLIDERS, STAND
from tests.behaviour.rides import PACES, Pace

MIXED = (Pace(20, 20), Pace(60, 60), Pace(240, 240), Pace(30, 60), Pace(120, 30))


def is_let_through(found):
    return found.stands and found.off < 1e-4 and found.stopped < 1e-5


@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize("slope", [0.0, 20.0, -40.0])
def test_who_jumps_up_stands_on_one_that_stands(slope, pace):
    for body in COLLIDERS:
        assert is_let_through(one_ways.jump_up(body, pace, slope=slope)), body


@pytest.mark.parametrize("pace", MIXED)
@pytest.mark.parametrize("rising", [0.0, 1.0, -0.5, 3.0])
def test_who_jumps_up_stands_on_one_that_moves(rising, pace):
    speed = 11.0 if rising > 1.0 else 9.0
    for body in COLLIDERS:
        assert is_let_through(one_ways.jump_up(body, pace, rising=rising, speed=speed)), body


@pytest.mark.parametrize("pace", MIXED)
@pytest.mark.parametrize("slope", [20.0, -40.0])
def test_who_jumps_up_stands_on_a_slope_that_rises(slope, pace):
    for body in COLLIDERS:
        assert is_let_through(one_ways.jump_up(body, pace, rising=0.5, slope=slope)), body


@pytest.mark.parametrize("body", COLLIDERS)
def test_a_wall_lets_through_from_behind_only(body):
    for pace in MIXED[:2]:
        assert one_ways.walk_through(body, pace, -3.0) < -0.45
        assert one_ways.walk_through(body, pace, 3.0) == pytest.approx(3.0, abs=1e-6)


@pytest.mark.parametrize("body", COLLIDERS)
def test_who_falls_through_falls_on(body):
    assert one_ways.fall_through(body) == pytest.approx(STAND[body], abs=1e-5)
