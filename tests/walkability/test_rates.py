"""Edges that hold at several rates of updates."""

import copy

import numpy as np
import pytest

from terrain_physics import HeightMap, Walkability
from tests.helpers.examples import rest_is_full
from tests.helpers.levels import BODIES
from tests.oracles.walked_edges import NO_EDGE, STEPS, Walks


@pytest.mark.parametrize("body", rest_is_full(BODIES))
def test_an_edge_holds_if_it_is_walked_at_each_rate(body: str) -> None:
    land = HeightMap(np.random.default_rng(19).normal(0, 0.4, (6, 6)))
    paths = Walkability(land, BODIES[body], rates=(20, 144))
    paths.update()
    oracles, found, differ = [Walks(paths, rate) for rate in paths.rates], paths.edges, set()
    for level, row, column in np.argwhere(paths.standing).tolist():
        for direction, step in enumerate(STEPS):
            first, second = (walks.kind((level, row, column), step)[0] for walks in oracles)
            holds = NO_EDGE not in (first, second)
            assert found[level, row, column, direction] == (
                max(first, second) if holds else NO_EDGE
            )
            if first != second:
                differ.add("in kind" if holds else "at 20" if first != NO_EDGE else "at 144")
    # The capsule has edges that hold at one rate alone, and such of another kind at each.
    assert differ == {"in kind", "at 20", "at 144"} - ({"at 144"} if body == "box" else set())


def test_rates_come_along_with_a_copy() -> None:
    paths = Walkability(HeightMap(np.zeros((4, 4))), BODIES["capsule"], rates=[20, 60.5])
    for each in (paths, copy.copy(paths), copy.deepcopy(paths)):
        assert each.rates == (20.0, 60.5)
        assert each.update() == 0
        assert (each.edges == paths.edges).all()
