"""Walks in mesh levels: nobody bobs, stands where the way is free, or gets below or through."""

import pytest

from tests.behaviour import mesh_levels
from tests.helpers.draws import NumPyDraws


def failing(count, levels):
    """Return the seeds of walks that are not well, with what came of them."""
    found = {k: mesh_levels.walk(mesh_levels.walk_case(k, levels)) for k in range(count)}
    return {seed: walked for seed, walked in found.items() if not mesh_levels.is_well(walked)}


@pytest.mark.parametrize(("count", "shared"), [(4, 1), pytest.param(30, 3, marks=pytest.mark.full)])
def test_walks_in_levels(count, shared):
    assert not failing(count, shared)


@pytest.mark.long
def test_all_walks_in_levels():
    assert not failing(2000, mesh_levels.LEVELS)


# At railings, flush bars and posts, and crates beside steps.
@pytest.mark.parametrize("seed", [163, 317, 705, 731, 1072, 1477, 1715, 1821])
def test_walks_that_were_not_well_once(seed):
    assert mesh_levels.is_well(mesh_levels.walk(mesh_levels.walk_case(seed, draws=NumPyDraws)))
