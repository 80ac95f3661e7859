"""Blocks, drawn at random: nobody catches, leaps or hops on them, or is pressed into the ground."""

import pytest

from tests.behaviour import blocks
from tests.behaviour.drive import RESOLVERS
from tests.behaviour.levels import RATES
from tests.helpers.pairwise import pairwise

MOST_FALL = 0.02  # meters in a frame
MOST_WAY = 1.001  # times the way asked
MOST_WAY_DOWN = 1.5  # the same, where a walk may come down along a steep face
LEAST_SPEED = 0.97  # of that along a bare wall
MOST_DEPTH = 1e-3  # meters in the ground


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


@pytest.mark.parametrize("count", [5, pytest.param(100, marks=pytest.mark.full)])
def test_walls_of_blocks(count):
    assert not caught(count)


@pytest.mark.parametrize("count", [16, pytest.param(100, marks=pytest.mark.full)])
def test_stairs_beside_a_parapet(count):
    assert not hopping(count)


@pytest.mark.parametrize("count", [8, pytest.param(100, marks=pytest.mark.full)])
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


def pressed(count):
    """Return the seeds of crowds that are pressed into the ground, or not free a second later."""
    found = {seed: blocks.build(seed) for seed in range(count)}
    return {seed: built for seed, built in found.items() if built.below > MOST_DEPTH or built.stuck}


@pytest.mark.parametrize("moves", [False, True])
@pytest.mark.parametrize(("resolver", "rate"), pairwise(RESOLVERS, RATES))
def test_a_crate_on_the_head_presses_nobody_into_a_map(resolver, rate, moves):
    for seed in range(5):
        depths = blocks.crate_on_head(seed, rate=rate, resolver=resolver, moves=moves)
        assert max(depths) < MOST_DEPTH


@pytest.mark.parametrize("below", [0.5, 0.8, 1.5, 5.0])
def test_who_was_saved_in_a_map_comes_free(below):
    mover = blocks.who_was_saved_below(below)
    for _ in range(60):
        mover.update(1 / 60)
    assert mover.grounded
    assert abs(mover.position64[1]) < MOST_DEPTH


@pytest.mark.parametrize("count", [5, pytest.param(100, marks=pytest.mark.full)])
def test_blocks_built_on_characters(count):
    assert not pressed(count)


@pytest.mark.long
def test_all_blocks_built_on_characters():
    """More than a million updates of characters, on maps and meshes."""
    assert not pressed(2000)
