"""Stops, drawn at random: the result names what is in the way in every frame, and why."""

import pytest

from tests.behaviour import stops
from tests.helpers.pairwise import few_or_many


def failing(reason, count):
    """Return the seeds of cases that are not told as they are, with what was told."""
    found = {seed: stops.stop(stops.stop_case(reason, seed)) for seed in range(count)}
    return {seed: stopped for seed, stopped in found.items() if not stops.is_told(stopped)}


@pytest.mark.parametrize(("reason", "count"), few_or_many(stops.REASONS, 6, 30))
def test_stops(reason, count):
    assert not failing(reason, count)


@pytest.mark.long
@pytest.mark.parametrize("reason", stops.REASONS)
def test_all_stops(reason):
    assert not failing(reason, 2000)
