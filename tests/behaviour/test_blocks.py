"""Blocks, drawn at random: nobody catches on them, leaps beside them, or hops onto a low wall."""

import pytest

from tests.behaviour import blocks

MOST_FALL = 0.02  # meters in a frame
MOST_WAY = 1.001  # times the way asked
MOST_WAY_DOWN = 1.5  # the same, where a walk may come down along a steep face
LEAST_SPEED = 0.97  # of that along a bare wall


def caught(count):
    """Return the seeds of walks that catch on a wall of blocks, with their part of the speed."""
    found = {seed: blocks.slide(seed) for seed in range(count)}
    return {seed: speed for seed, speed in found.items() if speed < LEAST_SPEED}


def hopping(count):
    """Return the seeds of walks up stairs that fall beside a parapet, and how far."""
    found = {seed: blocks.beside_parapet(seed) for seed in range(count)}
    return {seed: fall for seed, fall in found.items() if fall > MOST_FALL}


def thrown(count):
    """Return the seeds of walks between blocks that lead farther than asked, and how far."""
    found = {seed: blocks.walk_between(seed) for seed in range(count)}
    return {seed: way for seed, way in found.items() if way > MOST_WAY}


@pytest.mark.parametrize("count", [10, pytest.param(100, marks=pytest.mark.full)])
def test_walls_of_blocks(count):
    assert not caught(count)


@pytest.mark.parametrize("count", [40, pytest.param(100, marks=pytest.mark.full)])
def test_stairs_beside_a_parapet(count):
    assert not hopping(count)


@pytest.mark.parametrize("count", [20, pytest.param(100, marks=pytest.mark.full)])
def test_walks_between_blocks(count):
    assert not thrown(count)


@pytest.mark.parametrize("seed", [49, 176, 220, 534, 604, 628])
def test_walks_between_banks(seed):
    assert blocks.walk_between_banks(seed) <= MOST_WAY_DOWN


# Boxes on walls of so thin blocks that most of them are wholly under a side of the box.
@pytest.mark.parametrize("seed", [1231, 1358])
def test_walls_of_thin_blocks(seed):
    assert blocks.slide(seed) >= LEAST_SPEED


@pytest.mark.long
def test_all_walls_of_blocks():
    assert not caught(2000)


@pytest.mark.long
def test_all_walks_between_blocks():
    assert not thrown(3000)


@pytest.mark.long
def test_all_walks_between_banks():
    assert max(map(blocks.walk_between_banks, range(2000))) <= MOST_WAY_DOWN


@pytest.mark.long
def test_all_stairs_beside_a_parapet():
    assert not hopping(2000)
