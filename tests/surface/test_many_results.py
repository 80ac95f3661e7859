"""More results than memory holds: counted and compared without a list, refused by name as one."""

import os
import sys

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    OBB,
    HeightMap,
    Octree,
    Sphere,
    TriangleMesh,
)
from tests.helpers import forks
from tests.helpers.examples import rest_is_full
from tests.oracles.deepest import deepest_rows, is_in_map

_SIDE = 800
_CENTER = (400.3, 60.0, 400.7)
_BALL = Sphere(_CENTER, 390.0)  # over more cells than one call of the kernel looks at


@pytest.fixture(scope="module")
def land():
    heights = np.random.default_rng(3).uniform(0, 1, (_SIDE + 1, _SIDE + 1))
    heights[5:9, 3:700] = np.nan
    return HeightMap(heights)


@pytest.fixture(scope="module")
def mesh():
    across = np.arange(40.0)
    places = np.array([(x, 0.0, z) for z in across for x in across])
    corners = np.arange(39 * 40).reshape(39, 40)[:, :39].ravel()
    faces = np.stack([corners, corners + 40, corners + 1], axis=1)
    return TriangleMesh(places, faces)


def assert_rows_equal(some, others, rows=np.s_[:]):
    for name in ("query", "triangle", "penetration", "normal", "point"):
        assert getattr(some, name).tobytes() == getattr(others, name)[rows].tobytes()


_SHAPES = {
    "ball": _BALL,
    "box": OBB(_CENTER, (370, 60, 375), glm.quat(glm.vec3(0, 0.05, 0))),
}


@pytest.mark.parametrize("name", rest_is_full(_SHAPES))
def test_one_large_shape_is_counted_and_compared_as_its_contacts_are(land, name):
    shape = _SHAPES[name]
    found = land.contacts(shape)
    assert len(found) > 900_000
    assert (np.diff(found.triangle) > 0).all()
    assert land.contact_counts(shape).tolist() == [len(found)]
    best = int(np.argmax(found.depth))
    assert_rows_equal(land.contacts(shape, keep="deepest"), found, [best])


@pytest.mark.full
def test_large_shapes_among_small_ones(land):
    small = np.random.default_rng(4).uniform((5, 0, 5, 0.3), (790, 2, 790, 3), (4000, 4))
    balls = np.concatenate([small[:700], [(*_CENTER, 390.0)], small[700:], [(*_CENTER, 385.0)]])
    found = land.contacts(balls, threads=1)
    assert_rows_equal(land.contacts(balls, threads=2), found)
    counts = np.bincount(found.query, minlength=len(balls))
    assert land.contact_counts(balls, threads=2).tolist() == counts.tolist()
    alone = np.flatnonzero((found.query != 700) & (found.query != len(balls) - 1))
    few = land.contacts(small)
    assert few.triangle.tolist() == found.triangle[alone].tolist()
    deepest = land.contacts(balls, keep="deepest", threads=2)
    surface = land.height_at(balls[:, 0], balls[:, 2])
    inside = is_in_map(surface, land.thickness, balls[:, 1])
    wanted = deepest_rows(found.query, found.depth, found.normal[:, 1], inside)
    assert_rows_equal(deepest, found, wanted)


def test_materials_come_with_the_pieces():
    land = HeightMap(np.zeros((_SIDE + 1, _SIDE + 1)))
    land.materials[:, 400:] = 5
    found = land.contacts(_BALL)
    columns = found.triangle // 2 % _SIDE
    assert found.material.tolist() == np.where(columns >= 400, 5, 0).tolist()


_IN_LITTLE_MEMORY = """
import os, resource
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # each thread may hold so many results
import numpy as np
from terrain_physics import HeightMap, Octree, Sphere, TriangleMesh

land = HeightMap(np.zeros((2001, 2001), np.float32))
ball = Sphere((1000, 0, 1000), 999)
octree = Octree(np.zeros((100_000, 3)), 1)
mesh = TriangleMesh([(0, 0, 0), (0, 0, 1), (1, 0, 0)], np.tile([[0, 1, 2]], (100_000, 1)))
other = TriangleMesh([(0, 0, 0), (0, 0, 1), (1, 0, 1)], np.tile([[0, 1, 2]], (100_000, 1)))

def refused(call):
    try:
        call()
    except ValueError as error:
        return str(error)

def answers(large, *, few):
    most = {"max_results": few}
    return [
        land.contact_counts(large).tolist(),
        land.contacts(large, keep="deepest").triangle.tolist(),
        refused(lambda: land.contacts(large, **most)),
        refused(lambda: octree.overlapping_pairs(**most)),
        octree.count_pair_tests(),
        refused(lambda: mesh.intersecting_pairs(other, **most)),
        refused(lambda: mesh.self_intersections(**most)),
        refused(lambda: mesh.contacts(np.tile([(0.2, 0, 0.2, 1)], (1000, 1)), **most)),
        mesh.contact_counts([(0.2, 0, 0.2, 1)] * 20).tolist() == [100_000] * 20,
    ]

answers(Sphere((1000, 0, 1000), 9), few=1)  # all is compiled and loaded
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
limit = used + 200_000_000
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
print(answers(ball, few=1_000_000))
"""


@pytest.mark.full
@pytest.mark.alone
@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited as Linux does it")
def test_what_no_memory_would_hold_is_refused_before_it_is_gone():
    # Else each thread of a library reserves addresses of its own, which count as memory, and the C
    # library may keep tens of megabytes that are free.
    environment = os.environ | {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "65536"}
    printed = forks.printed("-c", _IN_LITTLE_MEMORY, env=environment)
    counts, deepest, *others = eval(printed)  # noqa: S307 what was printed above
    assert abs(counts[0] - 2 * np.pi * 999**2) < 20_000
    assert len(deepest) == 1
    assert others == [
        "contacts must be at most max_results = 1000000, got more",
        "pairs must be at most max_results = 1000000, got more",
        100_000 * 99_999 // 2,
        "pairs must be at most max_results = 1000000, got more",
        "pairs must be at most max_results = 1000000, got more",
        "contacts must be at most max_results = 1000000, got more",
        True,
    ]


def test_as_many_as_allowed_are_given_and_one_more_is_refused(mesh):
    octree = Octree(np.random.default_rng(1).uniform(0, 5, (60, 3)), 0.7)
    crossing = TriangleMesh([(3, -1, 3), (3, 1, 3), (9, 0, 9.5)], [(0, 1, 2)])
    folded = TriangleMesh([(0, 0, 0), (0, 0, 4), (4, 0, 0)], [(0, 1, 2)] * 7)
    balls = [(4, 0, 4, 1.5), (5, 0, 5, 0.5)]
    boxes = ([(1, -1, 1), (2, -1, 2)], [(3, 1, 3), (4, 1, 4)])
    for what, call in (
        ("pairs", octree.overlapping_pairs),
        ("ids", lambda **most: octree.query_spheres_many(balls, **most)[1]),
        ("ids", lambda **most: octree.query_aabbs_many(*boxes, **most)[1]),
        ("pairs", lambda **most: mesh.intersecting_pairs(crossing, **most)),
        ("pairs", folded.self_intersections),
    ):
        count = len(call())
        assert len(call(max_results=count)) == count > 0
        message = f"{what} must be at most max_results = {count - 1}, got more"
        with pytest.raises(ValueError, match=message):
            call(max_results=count - 1)
        with pytest.raises(ValueError, match=r"max_results must be from 0 to .*, got -1"):
            call(max_results=-1)
        with pytest.raises(TypeError, match="max_results must be a whole number"):
            call(max_results=2.5)  # type: ignore[arg-type]
