"""Lazy arrays: counts of them are lazy, and equal to those in memory; all else refuses them."""

import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest

import terrain_physics as tp
from terrain_physics import HeightMap, Sphere, TouchCounter, count_touching
from terrain_physics._support import threads
from tests.counter import data_sets
from tests.helpers.extras import library
from tests.helpers.pages import DOCS, ROOT, run

dask = library("dask", "dask")
da = library("dask.array", "dask")
dd = library("dask.dataframe", "dask")
pytestmark = pytest.mark.cluster

TRIANGLES, SPHERES = data_sets.clustered_large(900, 60.0)
ROWS = np.round(SPHERES[:150], 1)


def cut(array, rows):
    """Return a lazy array, cut along all axes, so that rows are not whole."""
    return da.from_array(array, (rows, *(-(-length // 2) for length in array.shape[1:])))


def same(lazy, expected, **how):
    assert isinstance(lazy, da.Array)
    assert (lazy.shape, lazy.dtype, lazy._meta.dtype) == (expected.shape, np.int64, np.int64)
    assert lazy._meta.ndim == 1
    counts = lazy.compute(**how)
    assert counts.dtype == np.int64
    np.testing.assert_array_equal(counts, expected)


@pytest.mark.parametrize("scheduler", ["threads", "processes", "cluster"])
def test_lazy_spheres_are_counted_lazily(two_workers, scheduler):
    expected = count_touching(TRIANGLES, SPHERES)
    assert expected.any()
    how = {"scheduler": two_workers if scheduler == "cluster" else scheduler}
    same(count_touching(TRIANGLES, cut(SPHERES, 300)), expected, **how)
    counter = TouchCounter(TRIANGLES)
    same(counter.count(cut(SPHERES, 700)), expected, **how)
    assert counter.count(cut(SPHERES[:0], 1)).compute(**how).tolist() == []


@pytest.mark.parametrize("blocks", [(0, 1), (1, 0), (0, 1, 0)])
def test_one_row_may_lie_between_empty_blocks(blocks):
    """As a filter leaves it that matched one row."""
    counter = TouchCounter(TRIANGLES)
    same(counter.count(da.from_array(SPHERES[:1], (blocks, 4))), counter.count(SPHERES[:1]))


def test_data_frames_of_unknown_length():
    pandas = library("pandas", "dask")
    frame = dd.from_pandas(pandas.DataFrame(SPHERES, columns=[*"rxyz"]), npartitions=4)
    counter = TouchCounter(TRIANGLES)
    counts = counter.count(frame[frame.x > 1.0])
    assert np.isnan(counts.shape[0])
    np.testing.assert_array_equal(counts.compute(), counter.count(SPHERES[SPHERES[:, 1] > 1.0]))


@pytest.mark.parametrize("kind", ["Int64", "Float32", "double[pyarrow]"])
def test_data_frames_of_nullable_numbers(kind):
    pandas = library("pandas", "dask")
    if "pyarrow" in kind:
        library("pyarrow", "dask")
    counter, whole = TouchCounter(TRIANGLES), np.round(ROWS)
    frame = dd.from_pandas(pandas.DataFrame(whole, columns=[*"rxyz"]).astype(kind), npartitions=3)
    np.testing.assert_array_equal(counter.count(frame), counter.count(whole))
    frame["x"] = frame.x.where(frame.x > 5)
    with pytest.raises(ValueError, match=r"spheres\[\d+\] must be finite, got \[.*nan"):
        counter.count(frame).compute()


def test_labeled_arrays():
    xarray = library("xarray", "data")
    counter, expected = TouchCounter(TRIANGLES), count_touching(TRIANGLES, ROWS)
    labeled = xarray.DataArray(cut(ROWS, 40), dims=("row", "of"))
    same(counter.count(labeled), expected)
    in_memory = counter.count(labeled.compute())
    assert isinstance(in_memory, np.ndarray)
    assert np.array_equal(in_memory, expected)


def test_a_counter_is_one_node_for_all_counts():
    counter = TouchCounter(TRIANGLES)
    first, second = counter.count(cut(SPHERES, 100)), counter.count(cut(ROWS, 10))
    graph = {**first.__dask_graph__(), **second.__dask_graph__()}
    assert sum("TouchCounter" in str(key) for key in graph) == 1


def test_each_block_is_counted_by_one_thread(monkeypatch):
    asked = []
    monkeypatch.setattr(threads._POOL, "ask", lambda *_: asked.append(threading.get_ident()))
    counter = TouchCounter(TRIANGLES, threads=4)
    many = np.tile(SPHERES, (20, 1))
    counter.count(many)
    assert asked or threads.processors() == 1
    asked.clear()
    counter.count(da.from_array(many, (len(many) // 2, 4))).compute(scheduler="threads")
    assert not asked
    with threads.alone(), threads.alone():
        pass
    assert threads._POOL.can_help()


def test_bad_numbers_are_refused_when_they_are_met():
    spheres = ROWS.copy()
    spheres[31, 0] = -2.0
    counter = TouchCounter(TRIANGLES)
    message = r"spheres\[11\] must have a radius >= 0, got -2.0, in "
    with pytest.raises(ValueError, match=message + "the block that begins with row 20"):
        counter.count(cut(spheres, 20)).compute()
    pandas = library("pandas", "dask")
    frame = dd.from_pandas(pandas.DataFrame(spheres), npartitions=8)
    with pytest.raises(ValueError, match=message.replace("11", "12") + "block 1"):
        counter.count(frame).compute()


@pytest.mark.parametrize(
    ("spheres", "error", "message"),
    [
        (lambda: cut(ROWS[:, :3], 9), ValueError, r"must have shape \(n, 4\), got \(150, 3\)"),
        (lambda: cut(ROWS.astype(str), 9), TypeError, "must hold real numbers, got dtype <U"),
        (lambda: dask.delayed(ROWS), TypeError, "array of Dask, got Delayed"),
        (lambda: dd.from_dask_array(cut(ROWS, 9)).astype(str), TypeError, "numbers, got dtype str"),
    ],
)
def test_what_cannot_be_spheres_is_refused_at_once(spheres, error, message):
    with pytest.raises(error, match="spheres .*" + message):
        TouchCounter(TRIANGLES).count(spheres())


PLACES = ROWS[:, 1:]
REFUSED = {
    "x": lambda land: land.height_at(cut(PLACES[:, 0], 9), 1.0),
    "z": lambda land: land.normal_at(1.0, da.from_array(np.array(3.5))),
    "directions": lambda land: land.raycast_many(PLACES, cut(PLACES, 9)),
    "max_distance": lambda land: land.raycast_many(PLACES, PLACES, cut(PLACES[:, 0], 9)),
    "shapes": lambda land: land.contacts(cut(ROWS, 9)),
    "motions": lambda land: land.sweep_many(np.abs(ROWS), cut(PLACES, 9)),
    "points": lambda land: land.closest_points(dd.from_dask_array(cut(PLACES, 9))),
    "uppers": lambda land: land.triangles_in_many(PLACES, cut(PLACES, 9)),
    "point": lambda land: land.closest_point(cut(PLACES[0], 2)),
    "heights": lambda _: HeightMap(cut(PLACES, 9)),
    "holes": lambda _: HeightMap(np.zeros((3, 3)), holes=da.ones((2, 2), dtype=bool)),
    "faces": lambda _: tp.TriangleMesh(PLACES, da.zeros((1, 3), dtype=int)),
    "centers": lambda _: tp.Octree(cut(PLACES, 9), np.ones(150)),
    "radii": lambda _: tp.Octree(PLACES, da.ones(150)),
    "object_ids": lambda _: tp.Octree(PLACES, np.ones(150)).remove_many(da.zeros(1, dtype=int)),
    "triangle": lambda land: tp.Ground([land]).part_of(da.zeros(1, dtype=int)),
    "radius": lambda _: Sphere((0, 0, 0), da.from_array(np.array(3.5))),
}


@pytest.mark.parametrize("name", REFUSED)
def test_lazy_arrays_are_refused_by_name(name):
    land = HeightMap(np.zeros((9, 9)), border="open")
    message = rf"^{name}(\.\w)? must be in memory, got a collection of Dask: compute it, or ask bl"
    with pytest.raises(TypeError, match=message):
        REFUSED[name](land)


def test_a_counter_takes_triangles_in_memory_only():
    message = "triangles must be in memory, got a collection of Dask: .*, or call count_touching"
    with pytest.raises(TypeError, match=message):
        TouchCounter(da.zeros((3, 9)))


def test_labeled_samples_of_a_map_are_read_first():
    xarray = library("xarray", "data")
    lazy = xarray.DataArray(da.zeros((3, 3)), dims=("z", "x"))
    with pytest.raises(TypeError, match=r"array must be in memory, .* or read it without chunks"):
        HeightMap.from_dataarray(lazy)
    assert HeightMap.from_dataarray(lazy.compute()).height_at(1.0, 1.0) == 0.0


def test_the_recipe_prints_what_it_says(tmp_path, monkeypatch):
    (tmp_path / "assets").mkdir()
    shutil.copy(ROOT / "assets" / "land.png", tmp_path / "assets")
    monkeypatch.chdir(tmp_path)
    printed = list(run(DOCS / "guide" / "cluster.md", tmp_path))
    assert len(printed) == 2
    assert all(text == shown for _, text, shown in printed)


def test_dask_is_imported_only_for_lazy_arrays():
    program = (
        "import sys, numpy as np, terrain_physics as t;"
        "t.HeightMap(np.zeros((3, 3))).height_at(np.ones(3), 1.0);"
        "t.count_touching(np.zeros((1, 9)), np.ones((1, 4)));"
        "assert 'dask' not in sys.modules and 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
