"""Rays, sweeps and many heights: compiled and as plain Python the same bits."""

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from terrain_physics._kernels._intrinsics import copy_eight, put_eight
from terrain_physics._kernels._jit import HAS_NUMBA, CachedDispatch, kernel
from terrain_physics._kernels.heightmap.grid import height_at
from tests.helpers import forks

ROOT = Path(__file__).parents[2]

STORY = """
import numpy as np
from terrain_physics import Boxes, Capsules, HeightMap

def tell():
    rng = np.random.default_rng(4)
    heights = rng.uniform(0, 2, (40, 50)).cumsum(axis=1) / 10
    heights[20:22, 5] = np.nan
    lines = []
    for diagonal in ("a-c", "shortest"):
        for border in ("extend", "open"):
            land = HeightMap(heights, diagonal=diagonal, cell_size=(0.7, 1.3), border=border)
            places = rng.uniform((-5, 0, -5), (45, 8, 60), (60, 3))
            ways = rng.normal(size=(60, 3)) * (3, 2, 3)
            rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
            rotation[:, 0] *= np.linalg.det(rotation)
            answers = [
                land.raycast_many(places, ways),
                land.raycast_many(places, [(0, -1, 0)], 3.0),
                land.sweep_many(np.column_stack([places, rng.uniform(0, 1, 60)]), ways),
                land.sweep_many(
                    Capsules(np.column_stack([places, places + 0.3, np.full(60, 0.4)])), ways
                ),
                land.sweep_many(Boxes(places, [(0.3, 0.4, 0.5)], np.round([rotation], 12)), ways),
            ]
            lines += [part.tobytes().hex() for answer in answers for part in answer]
            x, z = rng.uniform(-3, 60, (2, 50))
            lines += [land.height_at(x, z).tobytes().hex(), land.normal_at(x, z).tobytes().hex()]
    return "\\n".join(lines)
"""


def test_the_same_answers_bit_for_bit():
    names: dict[str, Any] = {}
    exec(compile(STORY, "story", "exec"), names)  # noqa: S102
    # A division by zero or a wrapping integer would be a warning of NumPy's here.
    code = "import warnings\nwarnings.simplefilter('error')\n" + STORY + "\nprint(tell())"
    told = forks.printed("-c", code, env=os.environ | {"NUMBA_DISABLE_JIT": "1"})
    assert told.strip() == names["tell"]()


def test_a_direct_call_is_the_kernel():
    from terrain_physics import HeightMap

    heights, cells, _, frame = HeightMap([[0, 4], [0, 4]])._storage.views
    direct = CachedDispatch(height_at)
    for _ in range(3):
        assert direct.call(heights, cells, frame, 0.25, 0.5) == 1.0


def test_a_kernel_without_aliases_is_a_kernel():
    @kernel(noalias=True)
    def double(values, out):
        for k in range(out.shape[0]):
            out[k] = 2.0 * values[k]

    values, out = np.arange(9.0), np.empty(9)
    double(values, out)
    np.testing.assert_array_equal(out, 2.0 * values)


@pytest.mark.kernels
@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int32])
def test_eight_numbers_at_once(kind):
    @kernel
    def write(out, others):
        put_eight(out, np.uint64(1), others[2], others[1])
        copy_eight(out, np.uint64(10), others, np.uint64(3))

    out, others = np.zeros(20, dtype=kind), np.arange(5, 17).astype(kind)
    write(out, others)
    assert out[:10].tolist() == [0, 7, 13, 19, 25, 31, 37, 43, 49, 0]
    assert out[10:].tolist() == [8, 9, 10, 11, 12, 13, 14, 15, 0, 0]


def test_an_argument_of_a_no_refcount_kernel_stays_its_owners():
    @kernel(no_refcount=True)
    def middle(pair):
        values, k = pair
        return values[k]

    @kernel
    def total(size):
        values = np.arange(size) * 0.5
        result = 0.0
        for k in range(size):
            result += middle((values, k))
        return result + values[0]

    values = np.arange(9.0)
    before = sys.getrefcount(values)
    assert [middle((values, k)) for k in range(9)] == values.tolist()
    assert sys.getrefcount(values) == before
    assert total(1000) == np.arange(1000).sum() * 0.5


@pytest.mark.skipif(not HAS_NUMBA, reason="without numba nothing is lent")
def test_a_numba_that_cannot_lend_is_noticed():
    from terrain_physics._kernels import _numba

    if not _numba.CAN_SKIP_REFCOUNT:
        pytest.skip("this numba is such a one")
    code = """
from numba.core.cpu import CPUTargetOptions
for owner in CPUTargetOptions.__mro__:
    if "_nrt" in vars(owner):
        delattr(owner, "_nrt")
from terrain_physics._kernels._numba import CAN_SKIP_REFCOUNT, CAN_NOALIAS
print(CAN_SKIP_REFCOUNT, CAN_NOALIAS)
"""
    assert forks.printed("-c", code, own=True).split() == ["False", "True"]
