"""Crowds whose characters collide come to rest, overlap nowhere and go to sleep."""

import pytest

from tests.behaviour import throngs

# To rounding: nobody goes farther than into its share of a gap.
MOST_OVERLAP = 1e-6


@pytest.mark.parametrize("count", [60, pytest.param(200, marks=pytest.mark.long)])
def test_all_who_chase_a_point_come_to_rest(count):
    found = throngs.chase(count)
    assert found.overlap <= MOST_OVERLAP
    assert found.moved < 1e-3
    assert found.awake == 0


@pytest.mark.parametrize("scene", [throngs.ring, throngs.streams])
def test_nobody_overlaps_on_the_way(scene):
    found = scene()
    assert found.overlap <= MOST_OVERLAP
    assert found.awake == 0


@pytest.mark.parametrize(
    ("count", "seconds", "rate", "least"),
    [
        (60, 10.0, 60, 12),
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


def test_a_crowd_flows_around_a_bend():
    overlap, through = throngs.corridor()
    assert overlap <= MOST_OVERLAP
    assert through == 60
