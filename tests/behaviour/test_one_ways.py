"""Platforms that hold from above only, at all rates: nobody is stopped below or falls through."""

import itertools

import pytest

from tests.behaviour import one_ways
from tests.behaviour.drive import COLLIDERS, RESOLVERS, STAND
from tests.behaviour.levels import RATES
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


def is_dropped(found):
    return found.stood and not found.held and found.lands_on == found.wanted


def drops(seeds):
    """Return the cases that fail."""
    cases = [(seed, one_ways.drop_case(seed)) for seed in seeds]
    return [(seed, case) for seed, case in cases if not is_dropped(one_ways.drop(case))]


@pytest.mark.parametrize("rate", RATES)
def test_one_update_with_the_key_is_enough(rate):
    for body, resolver in zip(COLLIDERS, itertools.cycle(RESOLVERS), strict=False):
        case = one_ways.drop_case(0)._replace(
            body=body, rate=rate, resolver=resolver, made_of="slab", slope=0.0, decks=2, gap=1.2,
            moved="never", walk=(0.0, 0.0), key=1, gravity_scale=1.0,
        )  # fmt: skip
        assert is_dropped(one_ways.drop(case))


def test_bodies_drop_through_any_deck():
    assert not drops(range(20))


HELD_YET = [2093]
"""A box on steep floors of one mesh that moves up, at 20 Hz."""


@pytest.mark.long
def test_bodies_drop_through_all_decks():
    assert [seed for seed, _ in drops(range(20, 2420))] == HELD_YET


@pytest.mark.parametrize("seed", range(4))
def test_who_is_saved_in_a_drop_drops_on_equally(seed):
    case = one_ways.drop_case(seed)._replace(rate=240)
    assert one_ways.drop(case, restores=True) == one_ways.drop(case)
