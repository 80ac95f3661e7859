"""Questions of lazy arrays: lazy answers, equal to those in memory, on any scheduler."""

import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

from terrain_physics import (
    AABB,
    Ground,
    HeightMap,
    Sphere,
    TouchCounter,
    TriangleMesh,
    count_touching,
)
from terrain_physics._support import threads
from tests.counter import data_sets
from tests.helpers.grounds import rough

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pytestmark = pytest.mark.cluster

COUNT = 150
RNG = np.random.default_rng(5)
XS, ZS = RNG.uniform(-3, 44, COUNT), RNG.uniform(-3, 28, COUNT)
POINTS = np.column_stack([XS, RNG.uniform(-1, 6, COUNT), ZS])
WAYS = RNG.normal(size=(COUNT, 3))
RADII = RNG.uniform(0, 2, COUNT)
SPHERES = np.column_stack([POINTS, RADII])
CAPSULES = np.column_stack([POINTS, POINTS + WAYS, RADII])
HALVES = RNG.uniform(0, 2, (COUNT, 3))
TURNS = np.repeat(np.eye(3)[np.newaxis], COUNT, axis=0)

QUESTIONS = {
    "heights_at": (XS, ZS),
    "normals_at": (XS, ZS),
    "raycast_many": (POINTS, WAYS, RADII * 5),
    "contact_counts": (SPHERES,),
    "capsule_contact_counts": (CAPSULES,),
    "obb_contact_counts": (POINTS, HALVES, TURNS),
    "sweep_spheres": (SPHERES, WAYS),
    "sweep_capsules": (CAPSULES, WAYS),
    "sweep_obbs": (POINTS, HALVES, TURNS, WAYS),
    "sweep_many": (SPHERES, WAYS),
    "closest_points": (POINTS,),
}


def mesh():
    found = HeightMap(rough(), border="open").triangles_in(AABB((0, -9, 0), (40, 9, 24)))
    vertices = found.vertices.reshape(-1, 3)
    return TriangleMesh(vertices, np.arange(len(vertices)).reshape(-1, 3))


GROUNDS = {
    "map": lambda: HeightMap(rough()),
    "mesh": mesh,
    "ground": lambda: Ground([HeightMap(rough(), border="open"), mesh()]),
}


def cut(array, rows):
    """Return a lazy array, cut along all axes, so that rows are not whole."""
    return da.from_array(array, (rows, *(-(-length // 2) for length in array.shape[1:])))


def same(lazy, expected, **how):
    lazy = lazy if isinstance(lazy, tuple) else (lazy,)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for one, values in zip(lazy, expected, strict=True):
        assert isinstance(one, da.Array)
        assert (one.shape, one.dtype, one._meta.dtype) == (values.shape, values.dtype, values.dtype)
        assert one._meta.ndim == values.ndim
    for one, values in zip(dask.compute(*lazy, **how), expected, strict=True):
        assert one.dtype == values.dtype
        np.testing.assert_array_equal(one, values)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("kind", GROUNDS)
def test_lazy_answers_are_those_in_memory(kind, question):
    ground, arrays = GROUNDS[kind](), QUESTIONS[question]
    expected = getattr(ground, question)(*arrays)
    all_lazy = [cut(array, 40 + 7 * k) for k, array in enumerate(arrays)]
    answer = getattr(ground, question)(*all_lazy)
    if type(expected) is not np.ndarray:
        assert type(answer) is type(expected)
    same(answer, expected, scheduler="threads")
    one_lazy = [all_lazy[0], *arrays[1:]]
    same(getattr(ground, question)(*one_lazy), expected, scheduler="synchronous")


@pytest.mark.parametrize("kind", GROUNDS)
def test_answers_on_a_cluster_are_those_in_memory(two_workers, kind):
    ground = GROUNDS[kind]()
    arrays = QUESTIONS["raycast_many"]
    answer = ground.raycast_many(*(cut(array, 40) for array in arrays))
    same(answer, ground.raycast_many(*arrays), scheduler=two_workers)


def test_places_are_broadcast():
    land = HeightMap(rough())
    expected = land.heights_at(XS[:, np.newaxis], ZS)
    same(land.heights_at(cut(XS, 40)[:, np.newaxis], ZS), expected)
    same(land.heights_at(XS[:, np.newaxis], cut(ZS, 70)), expected)
    same(land.normals_at(cut(XS, 40), 3.0), land.normals_at(XS, 3.0))
    single = land.heights_at(da.from_array(np.array(3.5)), 2.0)
    assert single.shape == ()
    assert single.compute() == land.height_at(3.5, 2.0)


def test_one_row_serves_for_all():
    land = HeightMap(rough())
    expected = land.raycast_many(POINTS, [(0, -1, 0)], 4)
    same(land.raycast_many(cut(POINTS, 40), [(0, -1, 0)], 4), expected)
    same(land.raycast_many(POINTS, da.from_array(np.array([(0, -1, 0)])), 4), expected)
    one_sphere = land.sweep_many([Sphere((3, 9, 3), 1)], WAYS)
    same(land.sweep_many([Sphere((3, 9, 3), 1)], cut(WAYS, 40)), one_sphere)
    down = da.from_array(np.array([(0, -1, 0)]))
    same(land.raycast_many(cut(POINTS, 40), down, 4), expected)
    same(land.raycast_many(POINTS[:1], down), land.raycast_many(POINTS[:1], [(0, -1, 0)]))


@pytest.mark.parametrize("blocks", [(0, 1), (1, 0), (0, 1, 0)])
def test_one_row_may_lie_between_empty_blocks(blocks):
    """As a filter leaves it that matched one row."""
    land = HeightMap(rough())

    def cut_so(array):
        return da.from_array(array, (blocks, *array.shape[1:]))

    x, z = cut_so(XS[:1]), cut_so(ZS[:1])
    same(land.heights_at(x, 2.0), land.heights_at(XS[:1], 2.0))
    same(land.heights_at(x, z), land.heights_at(XS[:1], ZS[:1]))
    same(land.heights_at(x, cut(ZS, 40)), land.heights_at(XS[:1], ZS))
    same(land.normals_at(x[:, np.newaxis], cut(ZS, 40)), land.normals_at(XS[:1, np.newaxis], ZS))
    points, way, ball = cut_so(POINTS[:1]), cut_so(WAYS[:1]), cut_so(SPHERES[:1])
    same(land.raycast_many(points, way), land.raycast_many(POINTS[:1], WAYS[:1]))
    same(land.sweep_many(ball, way), land.sweep_many(SPHERES[:1], WAYS[:1]))
    expected = land.raycast_many(POINTS[:12], WAYS[:1])
    same(land.raycast_many(cut(POINTS[:12], 5), way), expected)
    same(land.raycast_many(POINTS[:12], way), expected)
    same(land.contact_counts(ball), land.contact_counts(SPHERES[:1]))


def test_data_frames_of_unknown_length():
    pandas = pytest.importorskip("pandas")
    land = HeightMap(rough())
    frame = dd.from_pandas(pandas.DataFrame(SPHERES, columns=[*"xyzr"]), npartitions=4)
    some = frame[frame.r > 1.0]
    wanted = SPHERES[RADII > 1.0]
    heights = land.heights_at(some.x, some.z)
    assert np.isnan(heights.shape[0])
    np.testing.assert_array_equal(heights.compute(), land.heights_at(wanted[:, 0], wanted[:, 2]))
    counts = land.contact_counts(some).compute()
    np.testing.assert_array_equal(counts, land.contact_counts(wanted))


@pytest.mark.parametrize("kind", ["Int64", "Float32", "double[pyarrow]"])
def test_data_frames_of_nullable_numbers(kind):
    pandas = pytest.importorskip("pandas")
    if "pyarrow" in kind:
        pytest.importorskip("pyarrow")
    land = HeightMap(rough())
    whole = np.round(SPHERES)
    frame = dd.from_pandas(pandas.DataFrame(whole, columns=[*"xyzr"]).astype(kind), npartitions=3)
    np.testing.assert_array_equal(land.contact_counts(frame), land.contact_counts(whole))
    heights = land.heights_at(frame.x, frame.z)
    np.testing.assert_array_equal(heights, land.heights_at(whole[:, 0], whole[:, 2]))
    missing = frame.x.where(frame.x > 5)
    with pytest.raises(ValueError, match="x must be finite, got nan"):
        land.heights_at(missing, 2.0).compute()


def test_blocks_of_unknown_lengths_must_be_of_the_same_lengths():
    land = HeightMap(rough())
    some, others = np.ones(COUNT, bool), np.ones(COUNT, bool)
    some[41:80] = others[41:80] = False
    others[40] = others[100] = False  # an empty block beside one of a single row, and 29 beside 30
    some, others = cut(some, 40), cut(others, 40)
    message = "must have the same number of rows, but {0} has {2}, {1} has {3}"
    for places in (slice(None, 80), slice(80, None)):
        xs, zs = cut(XS, 40)[places][some[places]], cut(ZS, 40)[places][others[places]]
        lengths = (1, 0) if places.start is None else (40, 39)
        with pytest.raises(ValueError, match=message.format("x", "z", *lengths)):
            land.heights_at(xs, zs).compute(scheduler="synchronous")
    with pytest.raises(ValueError, match=message.format("origins", "directions", 1, 0)):
        dask.compute(
            land.raycast_many(cut(POINTS, 40)[:80][some[:80]], cut(WAYS, 40)[:80][others[:80]]),
            scheduler="synchronous",
        )


def test_labeled_arrays():
    xarray = pytest.importorskip("xarray")
    land = HeightMap(rough())
    labeled = xarray.DataArray(cut(XS, 40), dims="x")
    same(land.heights_at(labeled, ZS), land.heights_at(XS, ZS))
    in_memory = land.heights_at(labeled.compute(), ZS)
    assert isinstance(in_memory, np.ndarray)


def test_masks_are_those_of_the_question():
    ground = Ground([HeightMap(rough(), border="open")])
    key = ground.add(mesh(), layers=2)
    assert key == 1
    for mask in (1, 2, 4):
        expected = ground.heights_at(XS, ZS, mask=mask)
        same(ground.heights_at(cut(XS, 40), ZS, mask=mask), expected)
    with pytest.raises(ValueError, match="mask must be from 0"):
        ground.heights_at(cut(XS, 40), ZS, mask=-1)


def test_the_ground_is_asked_as_it_was():
    for make in (
        lambda: HeightMap(np.zeros((9, 9))),
        lambda: Ground([HeightMap(np.zeros((9, 9)))]),
    ):
        ground = make()
        land = ground.parts[0] if isinstance(ground, Ground) else ground
        assert isinstance(land, HeightMap)
        before = ground.heights_at(da.from_array(np.full(4, 2.0), 2), 2.0)
        land[2, 2] = 5.0
        after = ground.heights_at(da.from_array(np.full(4, 2.0), 2), 2.0)
        assert before.compute().tolist() == [0.0] * 4
        assert after.compute().tolist() == [5.0] * 4


def test_a_ground_is_one_node_for_all_questions():
    land = HeightMap(rough())
    heights, hits = land.heights_at(cut(XS, 10), ZS), land.raycast_many(cut(POINTS, 10), WAYS)
    graph = {**heights.__dask_graph__(), **hits.point.__dask_graph__()}
    assert sum("HeightMap" in str(key) for key in graph) == 1
    heavy = [key for key, node in graph.items() if len(pickle.dumps(node)) > 20_000]
    assert len(heavy) == 0 or all("HeightMap" in str(key) for key in heavy)


def test_each_block_is_answered_by_one_thread(monkeypatch):
    asked = []
    monkeypatch.setattr(threads._POOL, "ask", lambda *_: asked.append(threading.get_ident()))
    land = HeightMap(rough())
    many = np.linspace(0, 40, 200_000)
    land.heights_at(many, 2.0)
    assert asked or threads.processors() == 1
    asked.clear()
    land.heights_at(da.from_array(many, 100_000), 2.0, threads=4).compute(scheduler="threads")
    assert not asked
    with threads.alone(), threads.alone():
        pass
    assert threads._POOL.can_help()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda land: land.closest_points(cut(XS, 9)),
            ValueError,
            r"points must have shape \(n, 3\)",
        ),
        (
            lambda land: land.raycast_many(cut(POINTS, 9), WAYS[:7]),
            ValueError,
            "same number of rows or one, but origins has 150, directions has 7",
        ),
        (
            lambda land: land.heights_at(cut(XS, 9), ZS[:7]),
            ValueError,
            "x and z must have shapes and blocks that fit",
        ),
        (
            lambda land: land.heights_at(da.from_array(np.array(["a"])), 1.0),
            TypeError,
            "x must hold real numbers, got dtype",
        ),
        (
            lambda land: land.heights_at(dask.delayed(3.0), 1.0),
            TypeError,
            "x must be an array, or a data frame or an array of Dask, got Delayed",
        ),
        (
            lambda land: land.heights_at(dd.from_dask_array(cut(XS, 9)).sum(), 1.0),
            TypeError,
            "x must be an array, or a data frame or an array of Dask, got Scalar",
        ),
        (
            lambda land: land.heights_at(dd.from_dask_array(cut(XS, 9)).astype(str), 1.0),
            TypeError,
            "x must hold real numbers, got dtype str",
        ),
        (
            lambda land: land.sweep_many([Sphere((1, 2, 3), 1)] * 150, cut(WAYS, 9)),
            TypeError,
            "shapes must be an array, or one shape, beside lazy arrays",
        ),
        (
            lambda land: land.contacts(cut(SPHERES, 9)),
            TypeError,
            "shapes must be in memory, got a collection of Dask: compute it, or ask block by block",
        ),
        (lambda land: land.sphere_contacts(cut(SPHERES, 9)), TypeError, "spheres must be in mem"),
        (lambda land: land.capsule_contacts(cut(CAPSULES, 9)), TypeError, "capsules must be in"),
        (
            lambda land: land.obb_contacts(POINTS, cut(HALVES, 9), TURNS),
            TypeError,
            "half_extents must be in memory",
        ),
        (
            lambda land: land.triangles_in_many(POINTS, cut(POINTS, 9)),
            TypeError,
            "uppers must be in memory",
        ),
    ],
)
def test_what_cannot_fit_is_refused_at_once(call, error, message):
    with pytest.raises(error, match=message):
        call(HeightMap(rough()))


def test_bad_numbers_are_refused_when_they_are_met():
    spoiled = XS.copy()
    spoiled[101] = np.nan
    heights = HeightMap(rough()).heights_at(cut(spoiled, 40), ZS)
    with pytest.raises(
        ValueError, match=r"x must be finite, got nan at \[21\], in the block that "
    ):
        heights.compute()
    spheres = data_sets.uniform_large(50, 9.0)[1]
    spheres[31, 0] = -2.0
    counts = TouchCounter(np.zeros((1, 9))).count(cut(spheres, 20))
    with pytest.raises(
        ValueError, match=r"spheres\[11\] must have a radius >= 0, .* begins with row 20"
    ):
        counts.compute()


@pytest.mark.parametrize("scheduler", ["threads", "processes", "cluster"])
def test_lazy_spheres_are_counted_lazily(two_workers, scheduler):
    triangles, spheres = data_sets.clustered_large(2000, 60.0)
    expected = count_touching(triangles, spheres)
    assert expected.any()
    how = {"scheduler": two_workers if scheduler == "cluster" else scheduler}
    same(count_touching(triangles, cut(spheres, 300)), expected, **how)
    counter = TouchCounter(triangles)
    same(counter.count(cut(spheres, 1700)), expected, **how)
    assert counter.count(cut(spheres[:0], 1)).compute(**how).tolist() == []


def test_a_counter_takes_triangles_in_memory_only():
    with pytest.raises(TypeError, match="triangles must be in memory, got a collection of Dask"):
        TouchCounter(da.zeros((3, 9)))


def test_dask_is_imported_only_for_lazy_arrays():
    program = (
        "import sys, numpy as np, terrain_physics as t;"
        "t.HeightMap(np.zeros((3, 3))).heights_at(np.ones(3), 1.0);"
        "t.count_touching(np.zeros((1, 9)), np.ones((1, 4)));"
        "assert 'dask' not in sys.modules and 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
