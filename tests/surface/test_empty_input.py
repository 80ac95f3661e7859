"""An empty list has no rows: every function of many answers with none."""

import inspect
from typing import Any

import numpy as np
import pytest

from terrain_physics import (
    Ground,
    HeightMap,
    Octree,
    Surface,
    TriangleMesh,
    count_touching,
    rows,
)

MANY = set(rows.__all__) - {
    "smallest_enclosing_sphere"
}  # of how many points each set is, [] cannot say


@pytest.mark.parametrize("name", sorted(MANY))
def test_functions_of_many_pairs(name: str) -> None:
    function = getattr(rows, name)
    parameters = inspect.signature(function).parameters.values()
    needed = [part for part in parameters if part.default is part.empty]
    answer: Any = function(*([] for _ in needed))
    for part in answer if isinstance(answer, tuple) else (answer,):
        assert len(part) == 0


@pytest.mark.parametrize("kind", ["map", "mesh", "ground"])
def test_grounds(kind: str) -> None:
    land = HeightMap(np.zeros((3, 3)))
    mesh = TriangleMesh([(0, 0, 0), (1, 0, 0), (0, 0, 1)], [(0, 1, 2)])
    ground: Surface = {"map": land, "mesh": mesh, "ground": Ground([land, mesh])}[kind]
    assert ground.height_at([], []).shape == (0,)
    assert ground.normal_at([], []).shape == (0, 3)
    assert ground.raycast_many([], []).distance.shape == (0,)
    assert ground.sweep_many([], []).distance.shape == (0,)
    assert ground.sweep_many([], []).fraction.shape == (0,)
    assert ground.closest_points([]).distance.shape == (0,)
    assert ground.contact_counts([]).shape == (0,)
    assert ground.touches([]).shape == (0,)
    offsets, ids = ground.triangles_in_many([], [])
    assert (offsets.tolist(), ids.shape) == ([0], (0,))
    for keep in ("all", "deepest"):
        assert len(ground.contacts([], keep=keep)) == 0


def test_octree_and_counter() -> None:
    assert Octree([], []).overlapping_pairs().shape == (0, 2)
    assert count_touching([], []).shape == (0,)
