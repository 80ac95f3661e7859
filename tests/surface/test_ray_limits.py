"""Rays that each reach as far as they may: in octrees and groups, and what no reach is."""

import math

import numpy as np
import pytest

from terrain_physics import (
    CharacterGroup,
    Ground,
    HeightMap,
    Octree,
    SphereCollider,
    TriangleMesh,
)

LAND = HeightMap(np.random.default_rng(5).uniform(0, 3, (9, 12)), border="open")


def test_octree():
    tree = Octree([(0, 0, 0), (10, 0, 0)], 1)
    origins, way = [(-5, 0, 0), (-5, 0, 0), (5, 0, 0), (5, 0, 0)], [(1, 0, 0)]
    distances, ids = tree.raycast_many(origins, way, [3.9, 4, 4, 1])
    np.testing.assert_array_equal(distances, [np.nan, 4, 4, np.nan])
    assert ids.tolist() == [-1, 0, 1, -1]


def test_group_each_ray_of_every_character():
    group = CharacterGroup(Ground([LAND, TriangleMesh.box((2, 8, 2))]), SphereCollider(0.2))
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
@pytest.mark.parametrize("asked", [LAND, TriangleMesh.box((1, 1, 1)), Octree([(0, 0, 0)], 1)])
def test_bad_limits_are_refused(asked, limits, error, message):
    with pytest.raises(error, match=message):
        asked.raycast_many([(1, 5, 1), (2, 5, 2)], [(0, -1, 0)], limits)


def test_limits_are_not_changed_or_kept():
    limits = np.array([2.0, 3.0])
    LAND.raycast_many([(1, 5, 1), (2, 5, 2)], [(0, -1, 0)], limits)
    assert limits.flags.writeable
    assert limits.tolist() == [2.0, 3.0]
