"""Lazy triangles against lazy spheres: the counts of one process, however they are cut."""

import numpy as np
import pytest

from terrain_physics import TouchCounter, count_touching
from terrain_physics.counter.cluster import ranges
from tests.counter import data_sets
from tests.helpers.extras import library

dask = library("dask", "dask")
da = library("dask.array", "dask")
dd = library("dask.dataframe", "dask")
pytestmark = pytest.mark.cluster


@pytest.fixture(autouse=True)
def _small_ranges(monkeypatch):
    monkeypatch.setattr(ranges, "RANGE_ROWS", 150)


def cut(array, parts):
    return da.from_array(array, (-(-len(array) // parts) or 1, *array.shape[1:]))


def in_one_cell():
    """Return triangles that are all in one cell of the curve, but for two, and spheres."""
    rng = np.random.default_rng(2)
    centers = rng.uniform(-1e-6, 1e-6, (900, 3))
    triangles = data_sets.triangles_around(rng, centers, 1e-7, 1e-6)
    triangles[0] += 1e6
    triangles[1] -= 1e6
    return triangles, data_sets.spheres_around(rng, centers, 0.0, 2e-6)


def ties():
    """Return triangles of which hundreds are the same, and spheres that just touch them."""
    triangles = np.repeat(
        [[0.0, 0, 0, 4, 0, 0, 0, 0, 4], [8, 0, 0, 12, 0, 0, 8, 0, 4]], 400, axis=0
    )
    spheres = np.array([[1.0, 1, 1, 1], [1, 9, -1, 1], [4, 4, 4, 0], [2, 6, 0, 0], [3, 1, 9, 1]])
    return triangles, np.tile(spheres, (60, 1))


PROBLEMS = {
    "uniform": lambda: data_sets.uniform_large(900, 200.0),
    "clustered": lambda: data_sets.clustered_large(900, 200.0),
    "in one cell": in_one_cell,
    "ties": ties,
}


@pytest.mark.parametrize("parts", [1, 2, 7])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_counts_are_those_of_one_process(two_workers, problem, parts):
    triangles, spheres = PROBLEMS[problem]()
    expected = count_touching(triangles, spheres)
    assert expected.any()
    lazy = count_touching(cut(triangles, parts), cut(spheres, parts))
    assert isinstance(lazy, da.Array)
    assert (lazy.shape, lazy.dtype) == (expected.shape, np.int64)
    for scheduler in ("threads", two_workers):
        np.testing.assert_array_equal(lazy.compute(scheduler=scheduler), expected)


def sizes(monkeypatch, triangles, spheres):
    """Return how many triangles are in each range, and the plan."""
    found = []

    def seen(table, curve, ranges_found, counter_of, counters=ranges._counters):
        found.append(ranges_found.counts)
        return counters(table, curve, ranges_found, counter_of)

    monkeypatch.setattr(ranges, "_counters", seen)
    planned = ranges.plan(triangles, spheres, TouchCounter)
    return found[0], planned


def test_blocks_that_are_sampled_may_be_empty(monkeypatch):
    """As where a filter, or a loop that writes files, leaves every other block without rows."""
    triangles, spheres = data_sets.uniform_large(6200, 200.0)
    lengths = (*[0, 200] * 31, 0)
    lazy = da.from_array(triangles, (lengths, 9))
    monkeypatch.setattr(ranges, "RANGE_ROWS", 500)
    counts, planned = sizes(monkeypatch, lazy, cut(spheres, 3))
    assert counts.sum() == planned.triangle_count == 6200
    assert counts.max() <= 1000
    np.testing.assert_array_equal(planned.counts, count_touching(triangles, spheres))


@pytest.mark.parametrize("range_rows", [200, 1000])
def test_blocks_that_are_sampled_may_lie_elsewhere(monkeypatch, range_rows):
    triangles, spheres = data_sets.uniform_large(12_600, 50.0)
    sampled = np.unique(np.linspace(0, 125, ranges._SAMPLED_BLOCKS).astype(int))
    triangles.reshape(126, 100, 9)[np.setdiff1d(np.arange(126), sampled)] += 1e5
    spheres[::2, 1:] += 1e5
    monkeypatch.setattr(ranges, "RANGE_ROWS", range_rows)
    counts, planned = sizes(monkeypatch, da.from_array(triangles, (100, 9)), spheres)
    assert counts.max() <= 2 * range_rows
    assert len(counts) <= 1.5 * len(triangles) / range_rows
    np.testing.assert_array_equal(planned.counts, count_touching(triangles, spheres))


def test_the_ranges_of_skewed_triangles_are_no_larger(monkeypatch):
    for problem in PROBLEMS.values():
        triangles, spheres = problem()
        counts, _ = sizes(monkeypatch, cut(triangles, 7), spheres)
        assert counts.max() <= 300
        monkeypatch.undo()
        monkeypatch.setattr(ranges, "RANGE_ROWS", 150)


@pytest.fixture
def _shuffled(monkeypatch):
    """Have Dask shuffle triangles, as it does with many blocks."""
    monkeypatch.setattr(ranges, "_MOST_PARTS", 0)


@pytest.mark.usefixtures("_shuffled")
@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_shuffle_between_workers(two_workers, problem):
    triangles, spheres = PROBLEMS[problem]()
    with two_workers.as_current():
        lazy = count_touching(cut(triangles[::-1], 7), cut(spheres, 2))
        counts = two_workers.compute(lazy).result()
    np.testing.assert_array_equal(counts, count_touching(triangles, spheres))


@pytest.mark.usefixtures("_shuffled")
def test_a_shuffle_into_one_range(monkeypatch):
    monkeypatch.setattr(ranges, "RANGE_ROWS", 10_000)
    triangles, spheres = PROBLEMS["uniform"]()
    counts = count_touching(cut(triangles, 3), spheres).compute()
    np.testing.assert_array_equal(counts, count_touching(triangles, spheres))


@pytest.mark.usefixtures("_shuffled")
def test_processes():
    triangles, spheres = PROBLEMS["clustered"]()
    with dask.config.set(scheduler="processes", num_workers=2):
        counts = count_touching(cut(triangles, 3), cut(spheres, 3)).compute()
    np.testing.assert_array_equal(counts, count_touching(triangles, spheres))


@pytest.mark.parametrize("most_parts", [0, 2048])
def test_blocks_may_be_empty(monkeypatch, most_parts):
    monkeypatch.setattr(ranges, "_MOST_PARTS", most_parts)
    triangles, spheres = PROBLEMS["uniform"]()
    nothing = da.from_array(np.empty((0, 9)))
    no_spheres = da.from_array(np.empty((0, 4)))
    lazy = count_touching(
        da.concatenate([nothing, cut(triangles, 3), nothing]),
        da.concatenate([no_spheres, cut(spheres, 2), no_spheres]),
    )
    np.testing.assert_array_equal(lazy.compute(), count_touching(triangles, spheres))
    assert count_touching(nothing, cut(spheres, 2)).compute().tolist() == [0] * len(spheres)
    assert count_touching(cut(triangles, 2), no_spheres).compute().tolist() == []


def test_other_forms_of_the_same():
    pandas = library("pandas", "dask")
    triangles, spheres = PROBLEMS["uniform"]()
    expected = count_touching(triangles, spheres)
    corners = da.from_array(triangles.reshape(-1, 3, 3), (200, 2, 2))
    np.testing.assert_array_equal(count_touching(corners, spheres).compute(), expected)
    frame = dd.from_pandas(pandas.DataFrame(triangles, columns=[*"abcdefghi"]), npartitions=4)
    some = frame[frame.a > 0]
    expected = count_touching(triangles[triangles[:, 0] > 0], spheres)
    np.testing.assert_array_equal(count_touching(some, spheres).compute(), expected)
    single = triangles.astype(np.float32)
    counts = count_touching(cut(single, 3), spheres).compute()
    np.testing.assert_array_equal(counts, count_touching(single, spheres))


def test_local_data_leave_few_pairs():
    triangles, spheres = data_sets.clustered_large(6000, 5.0)
    west_to_east = np.argsort(spheres[:, 1])
    planned = ranges.plan(cut(triangles, 3), cut(spheres[west_to_east], 40), TouchCounter)
    assert planned.all_pairs == 40 * 40
    assert planned.pair_count < 0.4 * planned.all_pairs
    assert (planned.triangle_count, planned.sphere_count) == (6000, 6000)
    expected = count_touching(triangles, spheres[west_to_east])
    np.testing.assert_array_equal(planned.counts.compute(), expected)


def test_far_apart_is_no_work():
    triangles, spheres = data_sets.uniform_large(900, 5.0)
    spheres[:, 1] += 1e5
    planned = ranges.plan(cut(triangles, 3), cut(spheres, 3), TouchCounter)
    assert planned.pair_count == 0
    assert not planned.counts.compute().any()
    within = np.column_stack([np.full(40, 1e6), np.zeros((40, 3))])  # all wholly inside
    assert ranges.plan(cut(triangles, 3), cut(within, 2), TouchCounter).pair_count == 0


@pytest.mark.parametrize("size", [1e200, 1e307, 1.7e308])
def test_far_out(size):
    rng = np.random.default_rng(4)
    triangles = rng.uniform(-1.0, 1.0, (900, 9)) * size
    centers = np.sort(rng.uniform(-1.0, 1.0, (600, 3)), axis=0) * size
    spheres = np.column_stack([rng.uniform(0.0, 0.5, 600) * size, centers])
    counts = count_touching(triangles, spheres)
    assert counts.any()
    lazy = count_touching(cut(triangles, 3), cut(spheres, 6))
    np.testing.assert_array_equal(lazy.compute(scheduler="synchronous"), counts)


def test_bad_numbers_are_refused_by_the_call():
    triangles, spheres = PROBLEMS["uniform"]()
    spoiled = triangles.copy()
    spoiled[450, 3] = np.inf
    with pytest.raises(ValueError, match=r"triangles\[0\] must be finite, got .*, in block 1"):
        count_touching(cut(spoiled, 2), spheres)
    spheres[3, 0] = -1.0
    with pytest.raises(ValueError, match=r"spheres\[3\] must have a radius >= 0, got -1.0, in bl"):
        count_touching(cut(triangles, 2), cut(spheres, 2))
    with pytest.raises(ValueError, match=r"triangles must have shape"):
        count_touching(da.zeros((3, 8)), spheres)
    with pytest.raises(ValueError, match=r"spheres must have shape"):
        count_touching(cut(triangles, 2), spheres[:, :3])


def test_triangles_that_change_meanwhile_are_noticed():
    triangles, spheres = PROBLEMS["uniform"]()
    read = []

    def block(number):
        read.append(number)
        return triangles[:450] if len(read) < 5 else triangles[: 450 - len(read)]

    parts = [da.from_delayed(dask.delayed(block)(k), (np.nan, 9), float) for k in range(2)]
    lazy = count_touching(da.concatenate(parts), spheres)
    with pytest.raises(ValueError, match="triangles must be the same each time they are read"):
        lazy.compute(scheduler="synchronous")
