"""Edges that hold at several rates of updates."""

import copy

import numpy as np
import pytest

from terrain_physics import Ground, HeightMap, TriangleMesh, Walkability
from tests.helpers.examples import rest_is_full
from tests.helpers.levels import BODIES
from tests.oracles.walked_edges import NO_EDGE, STEPS, Walks


@pytest.mark.parametrize("body", rest_is_full(BODIES))
def test_an_edge_holds_if_it_is_walked_at_each_rate(body: str) -> None:
    rng = np.random.default_rng(5)
    land = Ground(
        [
            HeightMap(rng.normal(0, 0.15, (5, 5)).cumsum(axis=0)),
            TriangleMesh.box((2, 0.25, 5), position=(4, 0.6, 2)),
        ]
    )
    paths = Walkability(land, BODIES[body], area=((1, 0), (3, 4)), rates=(20, 144))
    paths.update()
    oracles, found, some = [Walks(paths, rate) for rate in paths.rates], paths.edges, 0
    for place in zip(*np.nonzero(paths.standing), strict=True):
        where = int(place[0]), int(place[1]), int(place[2])
        for direction, step in enumerate(STEPS):
            walked = [walks.kind(where, step) for walks in oracles]
            holds = all(kind != NO_EDGE for kind, _ in walked) and walked[0][1] == walked[1][1]
            assert found[where][direction] == (max(kind for kind, _ in walked) if holds else 0)
            some += holds
    assert some > 30


def test_rates_come_along_with_a_copy() -> None:
    paths = Walkability(HeightMap(np.zeros((4, 4))), BODIES["capsule"], rates=[20, 60.5])
    for each in (paths, copy.copy(paths), copy.deepcopy(paths)):
        assert each.rates == (20.0, 60.5)
        assert each.update() == 0
        assert (each.edges == paths.edges).all()
