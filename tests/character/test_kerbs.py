"""Low kerbs and rough land: passed at any rate, by boxes as by round bodies."""

import math

import numpy as np
import pytest

from terrain_physics import BoxCollider, CapsuleCollider, CharacterGroup, HeightMap, TriangleMesh
from tests.behaviour import levels
from tests.behaviour.lands import boxes

BODIES = {
    "capsule": CapsuleCollider(0.3, 1.6, offset=(0, 0.8, 0)),
    "box": BoxCollider((0.5, 0.8, 0.5), offset=(0, 0.8, 0)),
}
RATES = (60, *(pytest.param(rate, marks=pytest.mark.full) for rate in (20, 144, 360)))
STEEP = math.radians(40)


def walked(land, body, places, headings, rate, seconds):
    """Return (places before, places after) of walkers at 3 m/s."""
    crowd = CharacterGroup(land, body, slope_limit=STEEP)
    crowd.add_many(range(len(places)), places)
    for _ in range(rate // 2):
        crowd.update(1 / rate)
    before = crowd.positions
    for _ in range(round(seconds * rate)):
        crowd.walk(3 * np.cos(headings), 3 * np.sin(headings))
        crowd.update(1 / rate)
    return before, crowd.positions


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("shape", BODIES)
def test_kerbs_up_to_the_step_are_passed_aslant(shape, rate):
    headings = np.radians([0, 20, 45, 70])
    for kerb in (0.005, 0.03, 0.3):
        land = boxes(((-9, -1, -40), (0, 0, 40)), ((0, -1, -40), (40, kerb, 40)))
        starts = [(-0.8, 0.0, 8.0 * k - 16) for k in range(len(headings))]
        seconds = 1.6 / 3 / math.cos(math.radians(70))
        _, after = walked(land, BODIES[shape], starts, headings, rate, seconds)
        assert after[:, 0].min() > 0.5
        assert after[:, 1] == pytest.approx(kerb, abs=1e-3)


@pytest.mark.parametrize("rate", [20, pytest.param(60, marks=pytest.mark.full), 360])
@pytest.mark.parametrize("shape", BODIES)
def test_rough_land_is_walked_as_far_at_any_rate(shape, rate):
    heights = np.random.default_rng(1).uniform(0, 0.3, (100, 100))
    land = HeightMap(heights, cell_size=0.1)
    starts, ahead = [(1, 0.5, z) for z in np.linspace(1, 9, 6)], np.zeros(6)
    before, after = walked(land, BODIES[shape], starts, ahead, rate, 1.5)
    assert (after - before)[:, 0].mean() == pytest.approx(4.5, rel=0.02)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("degrees", [42, 55, 70])
@pytest.mark.parametrize("shape", BODIES)
def test_nobody_climbs_a_steep_slope(shape, degrees, rate):
    headings = np.radians([0, 30, 60, 80])
    rise = 20 * math.tan(math.radians(degrees))
    bank = TriangleMesh(
        [(-9, 0, -30), (-9, 0, 30), (0, 0, 30), (0, 0, -30), (20, rise, 30), (20, rise, -30)],
        [(0, 1, 2), (0, 2, 3), (3, 2, 4), (3, 4, 5)],
    )
    starts = [(-1.0, 0.05, 4.0 * k - 8) for k in range(len(headings))]
    _, after = walked(bank, BODIES[shape], starts, headings, rate, 1.5)
    assert after[:, 1].max() < 0.3


@pytest.mark.parametrize("seed", [2, 24, 32, 36])
def test_the_side_of_a_ramp_is_no_step_where_its_edge_is_too_high(seed):
    """A ball presses against the edge, which rises along the side."""
    assert levels.is_no_step(levels.false_step("side of a ramp", seed))


@pytest.mark.parametrize("rate", [60, 144])
@pytest.mark.parametrize("slant", [70.0, 73.5])
def test_nobody_bobs_along_a_ledge_behind_a_kerb(slant, rate):
    case = levels.KerbCase(
        "capsule", 0.0517, 47.0, 0.2514, 0.2318, 0.78, 0.0964, 3.1, slant, rate, 0.0, "shuffled",
        "mesh",
    )  # fmt: skip
    assert levels.keeps_its_height(levels.kerb(case))
