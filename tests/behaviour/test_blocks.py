"""Blocks, drawn at random: nobody catches on a wall of them, or hops onto one beside stairs."""

import pytest

from tests.behaviour import blocks

MOST_FALL = 0.02  # meters in a frame
LEAST_SPEED = 0.97  # of that along a bare wall


def caught(count):
    """Return the seeds of walks that catch on a wall of blocks, with their part of the speed."""
    found = {seed: blocks.slide(seed) for seed in range(count)}
    return {seed: speed for seed, speed in found.items() if speed < LEAST_SPEED}


def hopping(count):
    """Return the seeds of walks up stairs that fall beside a parapet, and how far."""
    found = {seed: blocks.beside_parapet(seed) for seed in range(count)}
    return {seed: fall for seed, fall in found.items() if fall > MOST_FALL}


@pytest.mark.parametrize("count", [10, pytest.param(100, marks=pytest.mark.full)])
def test_walls_of_blocks(count):
    assert not caught(count)


@pytest.mark.parametrize("count", [40, pytest.param(100, marks=pytest.mark.full)])
def test_stairs_beside_a_parapet(count):
    assert not hopping(count)


CATCHING_YET = {1231, 1358}
"""Walls that slow down whom they should let slide along: to be mended."""


@pytest.mark.long
def test_all_walls_of_blocks():
    assert set(caught(2000)) == CATCHING_YET


@pytest.mark.long
def test_all_stairs_beside_a_parapet():
    assert not hopping(2000)
