"""Proofs of edges beside the truth: what a map says of each edge, and what characters do there."""

import math
from typing import NamedTuple

import numpy as np
import pytest

from terrain_physics import BoxCollider, CapsuleCollider, SphereCollider, Walkability
from terrain_physics._kernels.walkability.layout import DIRECTIONS
from terrain_physics._kernels.walkability.straight import way_holds
from terrain_physics.surface.surface import queries_of
from terrain_physics.walkability import making
from terrain_physics.walkability.still_ground import reading_still
from terrain_physics.walkability.walkers import walk
from tests.helpers import walking_lands as lands

CAPSULE = CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0))
BODIES = {
    "capsule": CAPSULE,
    "sphere": SphereCollider(0.4, offset=(0, 0.4, 0)),
    "box": BoxCollider((0.35, 0.9, 0.35), offset=(0, 0.9, 0)),
}
LANDS = {
    "rough": lambda: lands.rough_land(14, seed=3),
    "smooth": lambda: lands.smooth_land(10),
    "kerbs": lands.kerbs,
    "slopes": lands.slopes,
    "holes": lands.holes,
    "stairs": lands.stairs,
    "doors": lambda: lands.doors(1.05 * 0.8),
    "bridge": lands.bridge,
    "one-way deck": lands.one_way_deck,
}
RULES = {"slope_limit": math.radians(45), "step_offset": 0.35}


class Compared(NamedTuple):
    """Edges between places where a character stands: what the map says, and the truth."""

    said: np.ndarray[tuple[int], np.dtype[np.uint8]]
    walked: np.ndarray[tuple[int], np.dtype[np.uint8]]

    @property
    def wrong_yes(self) -> int:
        return int(((self.said > 0) & (self.walked == 0)).sum())

    @property
    def wrong_no(self) -> int:
        return int(((self.said == 0) & (self.walked > 0)).sum())


def compared(land, body, **options) -> Compared:
    """Return all edges of a map beside those that characters walk."""
    paths = Walkability(land, body, **(RULES | options))
    paths.update()
    places = paths._places
    starts = np.repeat(np.flatnonzero(paths.standing), DIRECTIONS)
    directions = np.tile(np.arange(DIRECTIONS), len(starts) // DIRECTIONS)
    with reading_still(queries_of(land)) as ground:
        walked, _ = walk(places, starts, directions, ground, paths._walker, None)
    return Compared(paths.edges.reshape(-1, DIRECTIONS)[starts, directions], walked)


@pytest.mark.parametrize("body", BODIES)
def test_edges_are_as_characters_walk_them(body: str) -> None:
    count = wrong_yes = wrong_no = 0
    for land in LANDS.values():
        edges = compared(land(), BODIES[body])
        count += int((edges.walked > 0).sum())
        wrong_yes, wrong_no = wrong_yes + edges.wrong_yes, wrong_no + edges.wrong_no
    assert count > 4_000
    assert wrong_yes <= 0.0005 * count
    assert wrong_yes + wrong_no <= 0.001 * count
