"""Doors hardly wider than the body: what the map gives a way through, a path leads through."""

from typing import Any

import numpy as np
import pytest

from terrain_physics import (
    BoxCollider,
    CapsuleCollider,
    Ground,
    HeightMap,
    SphereCollider,
    TriangleMesh,
    Walkability,
)
from tests.helpers.examples import rest_is_full, times
from tests.helpers.levels import led

ROOM = 1.02  # widths of the body
BODIES: dict[str, tuple[Any, float]] = {
    "capsule": (CapsuleCollider(0.4, 1.8, offset=(0, 0.9, 0)), 0.8),
    "box": (BoxCollider((0.35, 0.9, 0.35), offset=(0, 0.9, 0)), 0.7),
    "small": (CapsuleCollider(0.25, 1.2, offset=(0, 0.6, 0)), 0.5),
    "ball": (SphereCollider(0.5, offset=(0, 0.5, 0)), 1.0),
}
WALLS = {"a wall": (0.4, False, 60), "a thick one": (1.0, False, 144), "across": (0.3, True, 20)}


def map_of(body: str, thick: float, spacing: float, *, across: bool) -> Walkability:
    """Return a map of a floor with a wall that has a door on a place, along x or across."""
    collider, width = BODIES[body]
    walls = []
    for side in (-1, 1):
        size, place = (12.0, 3.0, thick), (side * (0.5 * ROOM * width + 6.0), 1.5, 0.0)
        if across:
            size, place = size[::-1], place[::-1]
        walls.append(TriangleMesh.box(size, position=place))
    floor = HeightMap(np.zeros((15, 15)), origin=(-7, 0, -7))
    paths = Walkability(Ground([floor, *walls]), collider, area=((-5, -5), (5, 5)), spacing=spacing)
    paths.update()
    return paths


@pytest.mark.parametrize("body", rest_is_full(BODIES, 2))
@pytest.mark.parametrize("wall", rest_is_full(WALLS))
@pytest.mark.parametrize("spacing", rest_is_full([1.0, 0.5]))
def test_all_ways_through_are_led(body: str, wall: str, spacing: float) -> None:
    thick, across, rate = WALLS[wall]
    paths = map_of(body, thick, spacing, across=across)
    rng = np.random.default_rng(2)
    for k in range(times(12)):
        x, other_x = rng.integers(-4, 5, 2).tolist()
        z, other_z = rng.integers(2, 5, 2).tolist()
        ends = [(-z, x), (other_z, other_x)] if across else [(x, -z), (other_x, other_z)]
        path = paths.path(*ends[:: 1 if k % 2 else -1])
        assert path is not None
        assert led(paths, path, rate) == "arrived"
