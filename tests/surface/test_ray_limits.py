"""Rays that each reach as far as they may: on maps, meshes, grounds, octrees and in groups."""

import math

import numpy as np
import pytest

from terrain_physics import (
    CharacterGroup,
    Ground,
    HeightMap,
    Octree,
    Ray,
    SphereCollider,
    TriangleMesh,
)

HEIGHTS = np.random.default_rng(5).uniform(0, 3, (9, 12))


def land():
    return HeightMap(HEIGHTS, border="open")


def mesh():
    arrays = land().to_mesh()
    return TriangleMesh(arrays.vertices, arrays.indices.reshape(-1, 3))


def ground():
    return Ground([land(), TriangleMesh.box((2, 8, 2))])


def drawn(count):
    rng = np.random.default_rng(6)
    origins = rng.uniform((0, 2, 0), (11, 6, 8), (count, 3))
    directions = rng.normal(size=(count, 3)) - (0, 1, 0)
    return origins, directions


@pytest.mark.parametrize("make", [land, mesh, ground])
@pytest.mark.parametrize("threads", [1, 3])
def test_many_are_as_each_alone(make, threads):
    asked = make()
    origins, directions = drawn(500)
    free = asked.raycast_many(origins, directions).distance
    # Just far enough, just not, anywhere, nowhere and without a limit.
    limits = np.nan_to_num(free, nan=7.0)
    limits[1::5] = np.nextafter(limits[1::5], 0)
    limits[2::5] *= np.linspace(0, 2, 100)
    limits[3::5], limits[4::5] = 0.0, math.inf
    hits = asked.raycast_many(origins, directions, limits, threads=threads)
    for row, (origin, direction, limit) in enumerate(zip(origins, directions, limits, strict=True)):
        hit = asked.raycast(Ray(origin, direction), float(limit))
        assert np.isnan(hits.distance[row]) == (hit is None)
        if hit is not None:
            assert (hits.distance[row], hits.triangle[row]) == (hit.distance, hit.triangle)
    expected = np.where(free <= limits, free, np.nan)
    np.testing.assert_array_equal(hits.distance, expected)
    assert 100 < np.isnan(expected).sum() < 400


def test_one_ray_and_many_limits():
    flat = HeightMap([[0, 0], [0, 0]])
    found = flat.raycast_many([(0.5, 3, 0.5)], [(0, -1, 0)], [2.9, 3, math.inf, 0]).distance
    np.testing.assert_array_equal(found, [np.nan, 3, 3, np.nan])
    assert len(flat.raycast_many([], [], []).distance) == 0
    assert len(flat.raycast_many([(0, 1, 0)], [(0, -1, 0)], np.empty(0)).distance) == 0


def test_octree():
    tree = Octree([(0, 0, 0), (10, 0, 0)], 1)
    origins, way = [(-5, 0, 0), (-5, 0, 0), (5, 0, 0), (5, 0, 0)], [(1, 0, 0)]
    distances, ids = tree.raycast_many(origins, way, [3.9, 4, 4, 1])
    np.testing.assert_array_equal(distances, [np.nan, 4, 4, np.nan])
    assert ids.tolist() == [-1, 0, 1, -1]


def test_group_each_ray_of_every_character():
    group = CharacterGroup(ground(), SphereCollider(0.2))
    for name, place, mask in (
        ("ada", (3, 5, 3), 1),
        ("bob", (9, 7, 5), 1),
        ("eve", (1.5, 9, 6), 2),
    ):
        group.add(name, place, mask=mask)
    offsets, ways = [(0, 1, 0), (0, 0, 0), (0.5, 0, 0)], [(0, -1, 0)]
    free = group.raycast(offsets, ways).distance
    limits = np.array([4.5, 3.0, math.inf])
    found = group.raycast(offsets, ways, limits)
    np.testing.assert_array_equal(found.distance, np.where(free <= limits, free, np.nan))
    one = group.raycast(offsets[:1], ways, limits).distance
    np.testing.assert_array_equal(one, np.where(free[:, :1] <= limits, free[:, :1], np.nan))


@pytest.mark.parametrize(
    ("limits", "error", "message"),
    [
        ([1, -1], ValueError, r"max_distance must be from 0 to inf, got -1\.0 at \[1\]"),
        ([math.nan, 1], ValueError, r"max_distance must be from 0 to inf, got nan at \[0\]"),
        (
            [1, 2, 3],
            ValueError,
            "same number of rows or one, but origins has 2, max_distance has 3",
        ),
        ([[1, 2]], ValueError, r"max_distance must be a number or have shape \(n,\), got \(1, 2\)"),
        (["far", "near"], TypeError, "max_distance must hold real numbers"),
        ("far", TypeError, "max_distance must be a number from 0 to inf, got 'far'"),
        (-2, ValueError, "max_distance must be from 0 to inf, got -2"),
    ],
)
@pytest.mark.parametrize("make", [land, mesh, lambda: Octree([(0, 0, 0)], 1)])
def test_bad_limits_are_refused(make, limits, error, message):
    with pytest.raises(error, match=message):
        make().raycast_many([(1, 5, 1), (2, 5, 2)], [(0, -1, 0)], limits)


def test_limits_are_not_changed_or_kept():
    limits = np.array([2.0, 3.0])
    land().raycast_many([(1, 5, 1), (2, 5, 2)], [(0, -1, 0)], limits)
    assert limits.flags.writeable
    assert limits.tolist() == [2.0, 3.0]
