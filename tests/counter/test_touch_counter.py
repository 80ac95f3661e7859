"""`TouchCounter`: builds once, answers often, can be pickled; hard sets once more."""

import copy
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from terrain_physics import TouchCounter, count_touching
from terrain_physics._kernels.counter.count import count_chunks
from terrain_physics._support.threads import Workers
from terrain_physics.counter.counter import recount
from tests.counter import data_sets
from tests.oracles import counter as oracle

TRIANGLE = [0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 0.0, 4.0]


@pytest.mark.kernels
@pytest.mark.parametrize("name", data_sets.SMALL)
def test_batches_have_the_counts_of_the_whole(name):
    triangles, spheres = data_sets.SMALL[name](np.random.default_rng(13), 50, 20)
    counter = TouchCounter(triangles, threads=1)
    batches = [counter.count(spheres[first : first + 7]) for first in range(0, len(spheres), 7)]
    assert np.concatenate(batches).tolist() == count_touching(triangles, spheres).tolist()


@pytest.mark.kernels
@pytest.mark.parametrize("name", data_sets.SMALL)
def test_counts_add_up_over_parts_of_the_triangles(name):
    triangles, spheres = data_sets.SMALL[name](np.random.default_rng(14), 50, 20)
    parts = [TouchCounter(triangles[first::3]).count(spheres) for first in range(3)]
    assert np.sum(parts, axis=0).tolist() == count_touching(triangles, spheres).tolist()


def unpickled_apart(value):
    """Pickle with buffers beside it, which come back read-only."""
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return pickle.loads(data, buffers=[bytes(buffer) for buffer in buffers])


@pytest.mark.parametrize(
    "copied",
    [
        copy.copy,
        copy.deepcopy,
        unpickled_apart,
        *[lambda value, p=p: pickle.loads(pickle.dumps(value, p)) for p in range(6)],
    ],
)
def test_copies_count_the_same_with_the_same_code(copied):
    triangles, spheres = data_sets.uniform_large(3000, 300.0)
    counter = TouchCounter(triangles, threads=2)
    expected = counter.count(spheres)
    compiled = len(getattr(count_chunks, "signatures", ()))
    other = copied(counter)
    assert other.triangle_count == 3000
    assert np.array_equal(other.count(spheres), expected)
    assert len(getattr(count_chunks, "signatures", ())) == compiled
    assert expected.any()


def test_its_size_is_that_of_what_it_holds():
    small, large = (sys.getsizeof(TouchCounter([TRIANGLE] * count)) for count in (1, 10_001))
    assert 72 * 10_000 < large - small < 200 * 10_000  # Dask looks at it before it moves one


def test_it_keeps_its_own_triangles():
    triangles = np.array([TRIANGLE])
    counter = TouchCounter(triangles)
    triangles[:] = 100.0
    assert counter.count([[1, 1, 1, 1]]).tolist() == [1]
    assert repr(counter) == "<TouchCounter of 1 triangles>"


@pytest.mark.alone
def test_threads_of_the_caller_may_share_it():
    triangles, spheres = data_sets.clustered_large(5000, 100.0)
    counter = TouchCounter(triangles, threads=2)
    expected = counter.count(spheres)
    barrier = threading.Barrier(4)

    def count(_):
        barrier.wait()
        return counter.count(spheres)

    with ThreadPoolExecutor(4) as pool:
        assert all(np.array_equal(counts, expected) for counts in pool.map(count, range(4)))


@pytest.mark.parametrize(
    ("triangles", "options", "message"),
    [
        ([[1, 2]], {}, r"triangles must have shape \(n, 9\) or \(n, 3, 3\), got \(1, 2\)"),
        ([[np.inf] * 9], {}, r"triangles\[0\] must be finite"),
        ([TRIANGLE], {"threads": 0}, "threads must be None or an integer >= 1, got 0"),
        ([TRIANGLE], {"threads": True}, "threads must be None or an integer >= 1, got True"),
    ],
)
def test_bad_triangles_are_refused(triangles, options, message):
    with pytest.raises(ValueError, match=message):
        TouchCounter(triangles, **options)


def test_bad_spheres_are_refused_and_change_nothing():
    counter = TouchCounter([TRIANGLE])
    with pytest.raises(ValueError, match=r"spheres\[1\] must have a radius >= 0, got -1\.0"):
        counter.count([[1, 1, 1, 1], [-1, 0, 0, 0]])
    assert counter.count([[1, 1, 1, 1]]).tolist() == [1]
    assert counter.count([]).tolist() == []


@pytest.mark.kernels
@pytest.mark.parametrize("name", data_sets.SMALL)
def test_a_recount_asks_about_every_pair(name):
    triangles, spheres = data_sets.SMALL[name](np.random.default_rng(15), 30, 12)
    workers = Workers(2)
    assert recount(workers, triangles, spheres).tolist() == oracle.count(triangles, spheres)


@pytest.mark.kernels
@pytest.mark.parametrize("places", [1, 10, 100, 1000])
def test_every_sphere_tangent_to_a_face_an_edge_or_a_corner(places):
    """On a grid: each sphere is centered over a face, an edge or a corner, one step away."""
    rng = np.random.default_rng(places)
    cells = rng.integers(-40, 40, (60, 3))
    corners = cells[:, np.newaxis] + np.array([[0, 0, 0], [12, 0, 0], [0, 0, 12]])
    steps = [[3, 5, 3], [6, 5, 0], [6, -5, 0], [6, 0, -5], [0, 5, 0], [-3, 0, -4], [-5, 0, 0]]
    radii = rng.integers(4, 7, (60, 7))  # short of it, tangent, beyond
    centers = (cells[:, np.newaxis] + np.array(steps)).reshape(-1, 3)
    spheres = np.column_stack([radii.ravel(), centers]) / places
    triangles = corners.reshape(-1, 9) / places
    counts = count_touching(triangles, spheres)
    some = np.arange(0, len(spheres), 9)
    assert counts[some].tolist() == oracle.count(triangles, spheres[some])
    workers = Workers(1)
    assert counts.tolist() == recount(workers, triangles, spheres).tolist()
    if places == 1:  # exact in binary: tangent spheres do touch the triangle they stand on
        assert (counts.reshape(60, 7)[radii == 5] >= 1).all()


@pytest.mark.parametrize("way", [slice(None), slice(None, None, -1)])
@pytest.mark.parametrize("column", [0, 1])
def test_sorted_and_reversed_input_is_counted_the_same(way, column):
    triangles, spheres = data_sets.clustered_large(4000, 200.0)
    expected = count_touching(triangles, spheres)
    rows, columns = np.argsort(triangles[:, column])[way], np.argsort(spheres[:, column])[way]
    assert np.array_equal(count_touching(triangles[rows], spheres[columns]), expected[columns])


WIDE = [-1e4, 0.0, -1e4, 1e4, 0.0, -1e4, 0.0, 0.0, 1e4]
HARD = {
    "all the same": lambda t, s: (np.repeat(t[:1], len(t), axis=0), s),
    "one over everything": lambda t, s: (np.concatenate([t[1:], [WIDE]]), s),
    "spheres that hold all": lambda t, s: (t, s + np.array([4000.0, 0, 0, 0])),
    "no radius, at corners": lambda t, s: (t, np.column_stack([0 * s[:, 0], t[: len(s), 3:6]])),
    "flat": lambda t, s: (t * np.tile([1.0, 0, 1.0], 3), s * [1.0, 1.0, 0.0, 1.0]),
    "whole numbers": lambda t, s: (np.round(t), np.round(s)),
    "one decimal": lambda t, s: (np.round(t, 1), np.round(s, 1)),
    "a million meters away": lambda t, s: (t + 1e6, s + np.array([0, 1e6, 1e6, 1e6])),
    "as wide as a million meters": lambda t, s: (t * 1000.0, s * 1000.0),
    "needles": lambda t, s: (t * np.repeat([1.0, 1.0, 1e-6], 3) + np.tile(t[:, :3], 3), s),
    "segments": lambda t, s: (np.column_stack([t[:, :6], t[:, :3]]), s),
    "points": lambda t, s: (np.tile(t[:, :3], 3), s),
    "at one place": lambda t, s: (t - np.tile(t[:, :3], 3), s * [1.0, 0.01, 0.01, 0.01]),
}


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("radius", [30.0, 900.0])
def test_many_blocks_of_a_hard_set_agree_with_the_definition(name, radius):
    triangles, spheres = HARD[name](*data_sets.clustered_large(6000, radius, seed=8))
    counts = count_touching(triangles, spheres)
    some = np.random.default_rng(1).choice(len(spheres), 60, replace=False)
    workers = Workers(2)
    assert counts[some].tolist() == recount(workers, triangles, spheres[some]).tolist()
