"""Random scenes with both resolvers and both rules: nothing breaks, nothing gets below."""

import pytest

from tests.behaviour.fuzz import random_scene

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
