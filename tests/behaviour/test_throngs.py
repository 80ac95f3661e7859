"""Crowds whose characters collide come to rest, overlap nowhere and go to sleep."""

import pytest

from tests.behaviour import throngs

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
