"""Random scenes with both resolvers and both rules: nothing breaks, gets below, or hangs."""

import pytest

from tests.behaviour.fuzz import hangs, random_scene

BLOCK = 4000


# The first three are among the recorded bits, where scenes are looked at too.
@pytest.mark.parametrize(
    "block", [3, *(pytest.param(k, marks=pytest.mark.full) for k in (0, 1, 2, 4, 5, 6, 7))]
)
def test_random_scenes(block):
    kinds = {random_scene(seed) for seed in range(50 * block, 50 * block + 50)}
    assert kinds == {"map", "holes", "bowl", "loose"}


@pytest.mark.long
@pytest.mark.parametrize("block", range(25))
def test_100000_random_scenes(block):
    for seed in range(1000 + BLOCK * block, 1000 + BLOCK * (block + 1)):
        try:
            random_scene(seed)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}") from error


def hanging(seeds):
    """Return the seeds of levels in which a body hangs in the air, with the frames."""
    found = {seed: hangs(seed) for seed in seeds}
    return {seed: frames for seed, frames in found.items() if frames}


@pytest.mark.parametrize("count", [4, pytest.param(100, marks=pytest.mark.full)])
def test_who_is_grounded_stands_on_something(count):
    assert not hanging(range(count))


HANGS_YET = {708, 1866}
"""Levels in which a body on its way up a step, or jammed between walls, keeps to nothing."""


@pytest.mark.long
def test_who_is_grounded_stands_on_something_in_2000_levels():
    assert set(hanging(range(2000))) == HANGS_YET
