"""Ranges of triangles, and the spheres that may meet a box: what needs no Dask."""

import numpy as np
import pytest

from terrain_physics import count_touching
from terrain_physics._kernels.counter.ranges import assign_ranges, rows_in_range
from tests.counter import data_sets


def test_triangles_go_to_the_range_of_their_key_and_widen_its_box():
    triangles, _ = data_sets.uniform_large(500, 9.0)
    keys = np.random.default_rng(3).integers(0, 1000, 500).astype(np.uint64)
    splitters = np.array([0, 300, 300, 700], np.uint64)
    ranges, counts = np.empty(500, np.int64), np.zeros(5, np.int64)
    boxes = np.tile([np.inf] * 3 + [-np.inf] * 3, (5, 1))
    assign_ranges(triangles, keys, splitters, ranges, counts, boxes)
    np.testing.assert_array_equal(ranges, np.searchsorted(splitters, keys, side="right"))
    np.testing.assert_array_equal(counts, np.bincount(ranges, minlength=5))
    assert counts.astype(bool).tolist() == [False, True, False, True, True]
    for k in (1, 3, 4):
        corners = triangles[ranges == k].reshape(-1, 3)
        np.testing.assert_array_equal(boxes[k], [*corners.min(axis=0), *corners.max(axis=0)])
    assert np.isinf(boxes[[0, 2]]).all()


@pytest.mark.parametrize("size", [1.0, 1e-9, 1e200, 1e308])
def test_no_sphere_that_touches_is_left_out(size):
    rng = np.random.default_rng(4)
    triangles = rng.uniform(-0.1, 0.1, (40, 9)) * size
    low, high = (f(triangles.reshape(-1, 3), axis=0) for f in (np.min, np.max))
    spheres = np.column_stack([rng.uniform(0, 0.5, 3000), rng.uniform(-0.5, 0.5, (3000, 3))]) * size
    counts = count_touching(triangles, spheres)
    assert counts.any()
    rows = np.empty(len(spheres), np.int64)
    met = rows[: rows_in_range(spheres, np.array([*low, *high]), rows)]
    assert set(np.flatnonzero(counts)) <= set(met)
    assert size != 1.0 or len(met) < len(spheres)
