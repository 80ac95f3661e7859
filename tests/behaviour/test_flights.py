"""Flights against closed forms, drawn at random, at rates of 20 to 360 Hz, also mixed."""

import math

import pytest

from tests.behaviour import flights
from tests.behaviour.levels import BODIES, RATES
from tests.behaviour.test_levels import failing
from tests.helpers.pairwise import few_or_many

ALL, MANY, FEW = 2000, 60, 15

# How to play a case, and what is wanted of it.
CASES = {
    "placed": (flights.placed, flights.stays_put),
    "drop": (flights.drop, flights.is_exact),
    "jump": (flights.jump, flights.is_exact),
    "jump beside a wall": (flights.jump_beside_wall, flights.is_exact),
    "jump through a hole": (flights.jump_through_hole, flights.is_exact),
    "jump against a ceiling": (flights.bump, flights.bumps_well),
    "drop on a rim": (flights.drop_on_rim, flights.keeps_to),
    "walk off a ledge": (flights.ledge, flights.keeps_to),
    "stop": (flights.stop, flights.stops_well),
}


def failed(kind, count):
    play, is_good = CASES[kind]
    return failing((play(seed) for seed in range(count)), is_good)


@pytest.mark.parametrize(("kind", "count"), few_or_many(CASES, FEW, MANY))
def test_flights(kind, count):
    assert not failed(kind, count)


@pytest.mark.long
@pytest.mark.parametrize("kind", CASES)
def test_all_flights(kind):
    assert not failed(kind, ALL)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("body", BODIES)
def test_a_jump_for_a_height_reaches_it(body, rate):
    assert flights.jump_of(body, 1.25, rate) == pytest.approx(1.25, abs=1e-6)


@pytest.mark.parametrize("rate", RATES)
def test_who_lands_walks_on_in_the_same_frame(rate):
    ways = flights.ways_of_landing(rate, speed=4.0)
    assert max(ways) - min(ways) < 1e-9
    assert ways[0] == pytest.approx(4.0 / rate, rel=1e-9)


def test_a_jump_at_the_speed_of_a_slope_stays_on_it():
    grounded, gained, wanted = flights.jump_too_slow_for_a_slope()
    assert all(grounded)
    assert math.isclose(gained, wanted, rel_tol=1e-6)
