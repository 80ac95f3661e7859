"""Gullies, drawn at random: in the crease of one a body keeps its ground, and climbs no side."""

import pytest

from tests.behaviour import gullies
from tests.behaviour.levels import RATES
from tests.helpers.draws import NumPyDraws


def failing(count):
    """Return the seeds of cases that are not steady, with what came of them."""
    found = {seed: gullies.press(gullies.gully_case(seed)) for seed in range(count)}
    return {seed: pressed for seed, pressed in found.items() if not gullies.is_steady(pressed)}


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("floor", [0.0, 3.0, 10.0, 40.0])
@pytest.mark.parametrize("body", ["sphere", "capsule", "box"])
def test_pressed_into_a_valley_of_56_degrees(body, floor, rate):
    for kind in ("map", "mesh"):
        for heading in (0.0, 30.0, 180.0):
            case = gullies.Gully(body, 56.0, 56.0, floor, kind, 0.0, 3.0, heading, rate, "shuffled")
            assert gullies.is_steady(gullies.press(case))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("body", ["sphere", "capsule", "box"])
def test_walking_up_and_down_a_gully(body, rate):
    for heading in (90.0, -90.0):
        case = gullies.Gully(body, 60.0, 70.0, 20.0, "mesh", 0.0, 3.0, heading, rate, "shuffled")
        assert gullies.press(case).speed == pytest.approx(3.0, rel=1e-3)


def test_gullies():
    assert not failing(100)


def test_a_rim_that_gets_too_steep_is_not_walked_up_again_and_again():
    assert gullies.is_steady(gullies.press(gullies.gully_case(1216, NumPyDraws)))


@pytest.mark.long
def test_all_gullies():
    assert not failing(2000)
