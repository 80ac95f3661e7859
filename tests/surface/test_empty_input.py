"""An empty list has no rows: every function of many answers with none."""

import inspect
from typing import Any

import pytest

from terrain_physics import (
    Octree,
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


def test_octree_and_counter() -> None:
    assert Octree([], []).overlapping_pairs().shape == (0, 2)
    assert count_touching([], []).shape == (0,)
