"""Crowds whose characters collide come to rest, overlap nowhere and go to sleep."""

import math

import numpy as np
import pytest

from tests.behaviour import passing, throngs
from tests.helpers.draws import Draws

# To rounding: nobody goes farther than into its share of a gap.
MOST_OVERLAP = 1e-6


@pytest.mark.parametrize(
    "count",
    [12, pytest.param(60, marks=pytest.mark.full), pytest.param(200, marks=pytest.mark.long)],
)
def test_all_who_chase_a_point_come_to_rest(count):
    found = throngs.chase(count)
    assert found.overlap <= MOST_OVERLAP
    assert found.moved < 1e-3
    assert found.awake == 0


@pytest.mark.parametrize(
    ("scene", "count", "seconds"),
    [
        (throngs.ring, 8, 8.0),
        pytest.param(throngs.ring, 24, 30.0, marks=pytest.mark.full),
        pytest.param(throngs.streams, 60, 30.0, marks=pytest.mark.full),
    ],
)
def test_nobody_overlaps_on_the_way(scene, count, seconds):
    found = scene(count, seconds)
    assert found.overlap <= MOST_OVERLAP
    assert found.awake == 0


@pytest.mark.parametrize(
    ("count", "seconds", "rate", "least"),
    [
        pytest.param(60, 10.0, 60, 12, marks=pytest.mark.full),
        (60, 10.0, 20, 8),
        pytest.param(300, 60.0, 60, 14, marks=pytest.mark.long),
        pytest.param(300, 60.0, 20, 9, marks=pytest.mark.long),
        pytest.param(300, 60.0, 200, 14, marks=pytest.mark.long),
    ],
)
def test_a_crowd_flows_through_a_door(count, seconds, rate, least):
    overlap, through = throngs.doorway(count, seconds, frame=1 / rate)
    assert overlap <= MOST_OVERLAP
    assert through.min() >= least  # in each 5 s


@pytest.mark.parametrize(
    ("count", "seconds"), [(8, 15.0), pytest.param(60, 30.0, marks=pytest.mark.full)]
)
def test_a_crowd_flows_around_a_bend(count, seconds):
    overlap, through = throngs.corridor(count, seconds)
    assert overlap <= MOST_OVERLAP
    assert through == count


def in_rows(rows, columns):
    """Return places side by side before a door, as far to the left of it as to the right."""
    x, z = np.meshgrid(0.9 * (np.arange(columns) - 0.5 * (columns - 1)), -1.5 - np.arange(rows))
    return np.stack([x.ravel(), z.ravel()], axis=1)


@pytest.mark.parametrize(("rows", "columns", "seconds"), [(5, 2, 8.0)])
@pytest.mark.parametrize("rate", [20, pytest.param(60, marks=pytest.mark.full)])
def test_those_side_by_side_get_through_a_door(rows, columns, seconds, rate):
    found = passing.door(in_rows(rows, columns), 1.4, rate, Draws(0), 0, seconds)
    assert passing.flows(found)
    assert found.through == found.people


def test_a_ring_crosses_its_middle():
    found = passing.ring(16, 20, Draws(0), 0, seconds=12.0)
    assert passing.flows(found)
    assert found.through == 16


@pytest.mark.parametrize(("rate", "seed"), [(30, 7), pytest.param(60, 2, marks=pytest.mark.full)])
def test_five_who_cross_a_middle_do_not_wait_for_each_other(rate, seed):
    found = passing.ring(5, rate, Draws(seed), seed, 0.1 * seed, seconds=6.0)
    assert found.through == found.shifted == 5


def test_two_streams_pass_each_other():
    found = passing.streams(3.0, 2, 5, 20, Draws(0), 0, seconds=15.0)
    assert passing.flows(found)
    assert found.through >= 15


@pytest.mark.parametrize(("speed", "rate"), [(15.0, 60), (40.0, 60), (6.0, 20), (600.0, 60)])
@pytest.mark.parametrize("mass", [math.inf, 80.0])
def test_who_runs_into_one_is_told_once_how_fast(speed, rate, mass):
    for frames in (0.3, 1.0, 2.4):
        assert passing.is_told_once(passing.arrival("capsule", speed, rate, mass, 0.0, frames))


def failing(case, is_good, count):
    """Return the seeds whose figures are not good, with the figures."""
    found = ((seed, case(seed)) for seed in range(count))
    return {seed: figures for seed, figures in found if not is_good(figures)}


# The second number is the share that locks, or falls behind, yet.
@pytest.mark.long
@pytest.mark.parametrize(
    ("case", "share"),
    [(passing.door_case, 0.0), (passing.ring_case, 0.08), (passing.streams_case, 0.2)],
)
def test_all_crowds_get_on(case, share):
    assert len(failing(case, passing.flows, 700)) <= share * 700


TOLD_WRONG_YET = {276, 1075, 1090, 1318, 1393}
"""Two who run at each other, by 120 m/s and more: the speed is told 3 to 22 % too low."""


@pytest.mark.long
def test_all_arrivals_are_told_once():
    found = failing(passing.arrival_case, passing.is_told_once, 2000)
    assert set(found) == TOLD_WRONG_YET
