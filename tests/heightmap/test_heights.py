"""Heights and normals at many places: the same bits as one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain_physics import HeightMap
from terrain_physics._kernels.heightmap import grid
from terrain_physics._kernels.heightmap.heights import CHUNK
from terrain_physics.heightmap.solid.sides import Sides
from tests.helpers.examples import examples
from tests.helpers.heightmaps import maps, places

pytestmark = pytest.mark.kernels


def one_by_one(land, xs, zs):
    """Return (heights, normals) as the kernels for one place say."""
    heights, cells, _, frame = land._storage.views
    pairs = list(zip(xs.tolist(), zs.tolist(), strict=True))
    levels = [grid.height_at(heights, cells, frame, x, z) for x, z in pairs]
    return np.array(levels), np.array([grid.normal_at(heights, cells, frame, *p) for p in pairs])


@examples(100)
@given(st.data(), maps())
def test_many_are_one_by_one(data, case):
    drawn = [data.draw(places(case)) for _ in range(data.draw(st.integers(1, 12)))]
    xs, zs = np.array(drawn).T
    heights, normals = one_by_one(case.land, xs, zs)
    np.testing.assert_array_equal(case.land.height_at(xs, zs), heights)
    np.testing.assert_array_equal(case.land.normal_at(xs, zs), normals + 0.0)


@pytest.mark.parametrize("diagonal", ["a-c", "b-d", "alternating", "shortest"])
@pytest.mark.parametrize("border", ["extend", "open"])
def test_chunks_borders_and_holes(diagonal, border):
    rng = np.random.default_rng(1)
    heights = rng.normal(size=(13, 29))
    heights[4, 5] = heights[0, 9] = np.nan
    holes = rng.random((12, 28)) < 0.1
    land = HeightMap(
        heights,
        diagonal=diagonal,
        border=border,
        holes=holes,
        cell_size=(0.3, 0.7),
        origin=(9, 1, 4),
    )
    count = CHUNK + 77
    xs, zs = 9 + rng.uniform(-1, 9.4, count), 4 + rng.uniform(-1, 9.4, count)
    xs[::7] = 9 + 0.3 * rng.integers(0, 29, len(xs[::7]))
    zs[::5] = 4 + 0.7 * rng.integers(0, 13, len(zs[::5]))
    levels, normals = one_by_one(land, xs, zs)
    assert np.isnan(levels).any()
    assert np.isfinite(levels).any()
    for threads in (1, 2):
        np.testing.assert_array_equal(land.height_at(xs, zs, threads=threads), levels)
        np.testing.assert_array_equal(land.normal_at(xs, zs, threads=threads), normals + 0.0)


def test_shapes_are_broadcast():
    land = HeightMap([[0, 4], [0, 4]])
    assert land.height_at(np.zeros((3, 1)), np.zeros(4)).shape == (3, 4)
    assert land.normal_at(np.zeros((3, 1)), np.zeros(4)).shape == (3, 4, 3)
    assert land.height_at([], []).shape == (0,)
    assert land.height_at(np.array(0.5), 0.5) == 2.0
    np.testing.assert_array_equal(land.height_at([0.5, 1], 0.5), [2.0, 4.0])
    np.testing.assert_array_equal(land.normal_at([9.0], 0.5), [[0.0, 1.0, 0.0]])


def test_heights_and_normals_of_a_map_by_itself_find_no_sides(monkeypatch):
    land = HeightMap([[0, 2, 4], [0, 2, 4], [0, 2, 4]], holes=[[True, False], [False, False]])

    def find(_):
        raise AssertionError("sides have no heights")

    monkeypatch.setattr(Sides, "now", find)
    assert land.height_at([1.5, 0.5], [0.5, 1.5]).tolist() == [3.0, 1.0]
    assert land.normal_at([1.5], [0.5])[0, 1] > 0.0
    with pytest.raises(AssertionError, match="sides have no heights"):
        land.raycast_many([(1.5, 9, 0.5)], [(0, -1, 0)])
