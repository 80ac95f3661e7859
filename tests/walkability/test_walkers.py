"""Walked edges: each as a character walks it by itself, on all kinds of ground."""

import math
from typing import Any

import numpy as np
import pytest

from terrain_physics import CapsuleCollider, HeightMap, Walkability
from tests.oracles.walked_edges import STEPS, Walks

CAPSULE = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
RULES: dict[str, Any] = {"slope_limit": math.radians(45), "step_offset": 0.35}


def agree(paths: Walkability) -> int:
    """Hold that all edges are as a character walks them; return how many there are."""
    assert paths.update() == 0
    walks, edges = Walks(paths), paths.edges
    edges = edges.reshape(-1, *edges.shape[-3:])
    for level, row, column in np.ndindex(edges.shape[:-1]):
        walked = [walks.kind((level, row, column), step)[0] for step in STEPS]
        assert edges[level, row, column].tolist() == walked, (level, row, column)
    return int(np.count_nonzero(edges))


class TestAsACharacterWalks:
    def test_on_rough_land_with_a_terrace(self) -> None:
        rng = np.random.default_rng(3)
        heights = rng.normal(0, 0.2, (8, 8)).cumsum(axis=0)
        heights[4:] += 1.2
        paths = Walkability(HeightMap(heights), CAPSULE, **RULES)
        agree(paths)
        assert set(np.unique(paths.edges)) == {0, 1, 2, 3}

    @pytest.mark.parametrize("speed", [0.7, 11.0])
    def test_at_other_speeds(self, speed: float) -> None:
        rng = np.random.default_rng(4)
        land = HeightMap(rng.normal(0, 0.3, (5, 5)).cumsum(axis=1))
        assert agree(Walkability(land, CAPSULE, speed=speed, **RULES)) > 50
