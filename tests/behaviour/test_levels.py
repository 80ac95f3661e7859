"""Levels: ledges, kerbs under rails, false steps, stairs and corners, drawn at random."""

import math

import pytest

from tests.behaviour import levels
from tests.helpers.pairwise import few_or_many

ALL = 2000


def failing(found, is_good):
    """Return the seeds whose figures are not good, with the figures."""
    return {seed: figures for seed, figures in enumerate(found) if not is_good(figures)}


def ledges(count):
    return failing((levels.ledge(levels.ledge_case(k)) for k in range(count)), levels.is_calm)


def kerbs(count):
    found = (levels.kerb(levels.kerb_case(k)) for k in range(count))
    return failing(found, levels.keeps_its_height)


def grazing_kerbs(count):
    found = (levels.kerb(levels.grazing_kerb_case(k)) for k in range(count))
    return failing(found, levels.keeps_its_height)


def false_steps(kind, count):
    return failing((levels.false_step(kind, k) for k in range(count)), levels.is_no_step)


def stairs(count, *, up):
    found = (levels.walk_stairs(levels.stair_case(k), up=up) for k in range(count))
    return failing(found, levels.goes_up_well if up else levels.goes_down_well)


def corners(count):
    return failing((levels.corner(k) for k in range(count)), levels.is_cornered)


@pytest.mark.parametrize("count", [20, pytest.param(100, marks=pytest.mark.full)])
def test_low_ledges_before_a_wall(count):
    assert not ledges(count)


@pytest.mark.parametrize("rate", levels.RATES)
@pytest.mark.parametrize(
    ("body", "rise", "tread", "velocity"),
    [("capsule", 0.2, 0.05, (3.0, 0.0)), ("box", 0.1, 0.02, (1.0, 3.0))],
)
def test_skirting_boards(body, rise, tread, velocity, rate):
    speed, slant = math.hypot(*velocity), math.degrees(math.atan2(velocity[1], velocity[0]))
    case = levels.LedgeCase(body, rise, tread, speed, slant, rate, 0.0, "shuffled", 0.05)
    assert levels.is_calm(levels.ledge(case))


@pytest.mark.parametrize("rate", [30, 50, 60, 90, 120])
@pytest.mark.parametrize("slant", [0.0, 30.0])
def test_a_ball_between_a_ledge_and_a_rail(slant, rate):
    case = levels.KerbCase(
        "sphere", 0.05, 47.0, 0.25, 0.23, 1.08, 0.0, 3.1, slant, rate, 0.0, "shuffled", "mesh"
    )
    found = levels.kerb(case)
    assert levels.keeps_its_height(found)
    assert abs(found.slide - 1.0) < 0.02


@pytest.mark.parametrize("count", [6, pytest.param(100, marks=pytest.mark.full)])
def test_kerbs(count):
    assert not kerbs(count)


@pytest.mark.parametrize("count", [3, pytest.param(60, marks=pytest.mark.full)])
def test_kerbs_that_bodies_walk_along(count):
    assert not grazing_kerbs(count)


@pytest.mark.parametrize("seed", [73, 381])
def test_a_steep_bevel_at_a_flat_angle(seed):
    """The floor that it came from is near below, and is no step that it has come over."""
    assert levels.keeps_its_height(levels.kerb(levels.grazing_kerb_case(seed)))


def test_a_ball_that_leans_on_an_edge_keeps_its_height():
    """It is pushed off no farther than it is in the edge, so it does not sink, and climb again."""
    assert levels.keeps_its_height(levels.kerb(levels.kerb_case(1908)))


@pytest.mark.parametrize(("kind", "count"), few_or_many(levels.FALSE_STEPS, 2, 15))
def test_false_steps(kind, count):
    assert not false_steps(kind, count)


@pytest.mark.parametrize(("up", "count"), few_or_many((True, False), 10, 60))
def test_stairs_at_every_rate(up, count):
    assert not stairs(count, up=up)


@pytest.mark.parametrize("count", [20, pytest.param(100, marks=pytest.mark.full)])
def test_corners(count):
    assert not corners(count)


@pytest.mark.long
def test_all_low_ledges_before_a_wall():
    assert not ledges(ALL)


@pytest.mark.long
def test_all_kerbs():
    assert not kerbs(ALL)


@pytest.mark.long
def test_kerbs_that_many_bodies_walk_along():
    assert not grazing_kerbs(1000)


@pytest.mark.long
@pytest.mark.parametrize("kind", levels.FALSE_STEPS)
def test_all_false_steps(kind):
    assert not false_steps(kind, ALL // len(levels.FALSE_STEPS))


@pytest.mark.long
@pytest.mark.parametrize("up", [True, False])
def test_all_stairs_at_every_rate(up):
    assert not stairs(ALL, up=up)


@pytest.mark.long
def test_all_corners():
    assert not corners(ALL)
