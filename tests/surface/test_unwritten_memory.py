"""Answers do not depend on what stood in memory before it was written."""

import numpy as np
import pytest

from terrain_physics import Ground, HeightMap, TriangleMesh
from tests.helpers.grounds import bits, everything, questions, rough
from tests.helpers.meshes import grid

# As plain Python the kernels take their memory from NumPy, too.
pytestmark = pytest.mark.kernels

HEIGHTS = rough(12, 14)
HEIGHTS[4:6, 5] = np.nan
LAND = HeightMap(HEIGHTS, border="open")
MESH = TriangleMesh(*grid(rough(8, 8)))
LANDS = {
    "map without end": HeightMap(rough(12, 14)),
    "map with holes": LAND,
    "mesh": MESH,
    "ground": Ground([LAND, MESH]),
}


def _filled(shape, dtype=np.float64, *others, **options):
    memory = np.ndarray(shape, dtype)
    kind = memory.dtype.kind
    memory.fill(np.nan if kind == "f" else True if kind == "b" else np.iinfo(memory.dtype).max)
    return memory


@pytest.mark.parametrize("land", LANDS.values(), ids=LANDS)
def test_answers_in_memory_that_was_used(land, monkeypatch):
    asked = questions((1, -2, 1), (12, 3, 10), 12)
    expected = everything(land, asked)  # this compiles, too
    monkeypatch.setattr(np, "empty", _filled)
    for name, answer in everything(land, asked).items():
        assert bits(answer) == bits(expected[name]), name
