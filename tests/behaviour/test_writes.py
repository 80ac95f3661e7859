"""Writes, drawn at random: a little aside keeps the ground, high up flies at once."""

import pytest

from tests.behaviour import writes


def failing(count):
    """Return the seeds of walks that writes disturbed, with what came of them."""
    near = {seed: writes.nudged(writes.write_case(seed, far=False)) for seed in range(count)}
    far = {seed: writes.put_up(writes.write_case(seed, far=True)) for seed in range(count)}
    return (
        {seed: found for seed, found in near.items() if not writes.keeps_ground(found)},
        {seed: found for seed, found in far.items() if not writes.flies(found)},
    )


@pytest.mark.parametrize("count", [8, pytest.param(60, marks=pytest.mark.full)])
def test_writes(count):
    assert failing(count) == ({}, {})


@pytest.mark.long
def test_all_writes():
    assert failing(2000) == ({}, {})
