"""Sensors of a group: heights and rays, each as the ground answers it alone."""

import math
from typing import Any

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    CharacterGroup,
    Ground,
    HeightMap,
    Ray,
    SphereCollider,
    TriangleMesh,
)
from tests.helpers.characters import ROUGH
from tests.helpers.meshes import grid

pytestmark = pytest.mark.kernels

Cases = tuple[tuple[dict[str, Any], type[Exception], str], ...]

OFFSETS = [(0.0, 0.0), (1.5, 0.25), (-0.5, 3.0), (0.0, -60.0)]


def world():
    """Return a map with holes, a mesh beside it and a roof over both, on layers of their own."""
    heights = np.random.default_rng(4).uniform(0, 2, (30, 30))
    heights[10:13, 10:13] = np.nan
    vertices, faces = grid(np.random.default_rng(5).uniform(0, 2, (30, 20)))
    mesh = TriangleMesh(np.asarray(vertices) + np.array([29, 0, 0]), faces, materials=3)
    roof = TriangleMesh.box((20, 0.5, 20))
    ground = Ground([HeightMap(heights, border="open"), mesh, roof], layers=[1, 2, 4])
    ground.move(2, ((20, 6, 15), glm.quat()))
    return ground


GROUNDS = {
    "map": lambda: ROUGH,
    "mesh": lambda: TriangleMesh(*grid(np.random.default_rng(5).uniform(0, 2, (30, 30)))),
    "world": world,
}


def crowd(ground, count=30, **rules):
    group = CharacterGroup(ground, SphereCollider(0.4), **rules)
    where = np.random.default_rng(6).uniform((1, 3, 1), (38, 5, 28), (count, 3))
    group.add_many([f"agent {i}" for i in range(count)], where)
    group.set_rules(mask=np.array([1, 2, 3, 5, 0xFFFF_FFFF, 8])[np.arange(count) % 6])
    return group


def turned(x, z, yaw):
    return math.cos(yaw) * x + math.sin(yaw) * z, math.cos(yaw) * z - math.sin(yaw) * x


@pytest.mark.parametrize("make", GROUNDS.values(), ids=GROUNDS)
class TestEach:
    def test_heights(self, make):
        ground = make()
        group = crowd(ground)
        yaws = np.random.default_rng(7).uniform(-9, 9, len(group))
        for given, used in ((None, 0 * yaws), (0.75, 0 * yaws + 0.75), (yaws, yaws)):
            found = group.height_scan(OFFSETS, given)
            assert found.shape == (len(group), len(OFFSETS))
            for member, yaw, row in zip(group.values(), used.tolist(), found, strict=True):
                x, _, z = member.position64
                for (dx, dz), height in zip(OFFSETS, row.tolist(), strict=True):
                    across, along = turned(dx, dz, yaw)
                    alone = ground.height_at(x + across, z + along, mask=member.mask)
                    # Near an edge, a place that differs in the last bit may be beside it.
                    assert height == pytest.approx(alone, abs=1e-9, nan_ok=True)
        assert 0 < np.isnan(found).sum() < found.size

    def test_heights_without_a_turn_are_those_of_the_ground(self, make):
        ground = make()
        group = crowd(ground, 12)
        found = group.height_scan(OFFSETS)
        for member, row in zip(group.values(), found.tolist(), strict=True):
            x, _, z = member.position64
            alone = [ground.height_at(x + dx, z + dz, mask=member.mask) for dx, dz in OFFSETS]
            assert np.array_equal(row, alone, equal_nan=True)

    def test_rays(self, make):
        ground = make()
        group = crowd(ground)
        yaws = np.random.default_rng(8).uniform(-9, 9, len(group))
        starts = np.array([(0, 0, 0), (0.5, 1, -1), (0, 9, 0)], dtype=float)
        ways = np.array([(0, -2, 0), (1, -1, 0.5), (0, -0.1, 3)], dtype=float)
        found = group.raycast(starts, ways, 20, yaws)
        assert found.distance.shape == found.triangle.shape == found.material.shape == (30, 3)
        assert found.point.shape == found.normal.shape == (30, 3, 3)
        for i, (member, yaw) in enumerate(zip(group.values(), yaws.tolist(), strict=True)):
            for k, (start, way) in enumerate(zip(starts.tolist(), ways.tolist(), strict=True)):
                (dx, dz), (wx, wz) = (turned(v[0], v[2], yaw) for v in (start, way))
                x, y, z = member.position64
                ray = Ray((x + dx, y + start[1], z + dz), (wx, way[1], wz))
                alone = ground.raycast(ray, 20, mask=member.mask)
                if alone is None:
                    assert np.isnan(found.distance[i, k])
                    assert (found.triangle[i, k], found.material[i, k]) == (-1, 0)
                else:
                    assert found.distance[i, k] == pytest.approx(alone.distance, abs=1e-9)
                    assert found.triangle[i, k] == alone.triangle
                    assert found.material[i, k] == alone.material
                    assert found.normal[i, k] == pytest.approx(np.array(alone.normal), abs=1e-6)
                    assert found.point[i, k] == pytest.approx(np.array(alone.point), abs=1e-5)
        assert 0 < np.isnan(found.distance).sum() < found.distance.size

    def test_some_and_any_number_of_threads(self, make):
        ground = make()
        groups = [crowd(ground, 600, threads=threads) for threads in (1, 2, None)]
        yaws = np.linspace(-4, 4, 600)
        keys = ["agent 7", "agent 300", "agent 2"]
        own = [7, 300, 2]
        scans = [group.height_scan(OFFSETS, yaws) for group in groups]
        rays = [group.raycast([(0, 1, 0)], [(0, -1, 0), (1, 0, 1)], yaw=yaws) for group in groups]
        for scan, hits in zip(scans, rays, strict=True):
            assert np.array_equal(scan, scans[0], equal_nan=True)
            for one, two in zip(hits, rays[0], strict=True):
                assert np.array_equal(one, two, equal_nan=one.dtype.kind == "f")
        few = groups[0].height_scan(OFFSETS, yaws[own], keys=keys)
        assert np.array_equal(few, scans[0][own], equal_nan=True)
        few = (
            groups[0]
            .raycast([(0, 1, 0)], [(0, -1, 0), (1, 0, 1)], yaw=yaws[own], keys=keys)
            .distance
        )
        assert np.array_equal(few, rays[0].distance[own], equal_nan=True)


def test_ahead_is_z_and_x_is_to_its_left():
    """A quarter turn about +Y takes +Z to +X, and +X to -Z, as `glm.angleAxis` turns."""
    rising = HeightMap(np.tile(np.arange(30.0), (30, 1)))  # along +X
    group = CharacterGroup(rising, SphereCollider(0.4))
    group.add("ada", (10, 30, 10))
    turn = glm.angleAxis(math.pi / 2, glm.vec3(0, 1, 0))
    assert glm.length(turn * glm.vec3(0, 0, 1) - glm.vec3(1, 0, 0)) < 1e-6
    scan = group.height_scan([(0, 1), (0, -1), (1, 0), (-1, 0)], math.pi / 2)
    assert scan == pytest.approx(np.array([[11, 9, 10, 10]]))
    hits = group.raycast([(0, 0, 2)], [(0, -1, 0), (0, -1, 1)], yaw=[math.pi / 2])
    assert hits.point[0, 0] == pytest.approx([12, 12, 10])
    assert hits.point[0, 1] == pytest.approx([21, 21, 10])


def test_turns_of_any_size():
    group = crowd(ROUGH, 5)
    group.set_rules(mask=1)
    scan = group.height_scan(OFFSETS, 0.5)
    for turns in (1, -1, 7, -1000):
        again = group.height_scan(OFFSETS, 0.5 + turns * math.tau)
        assert again == pytest.approx(scan, abs=1e-9)
    assert group.height_scan(OFFSETS, 1e300).shape == (5, 4)
    assert np.isfinite(group.height_scan(OFFSETS, -1e300)).all()


def test_of_nobody_and_of_nothing():
    group = crowd(ROUGH, 3)
    assert group.height_scan([]).shape == (3, 0)
    assert group.height_scan(OFFSETS, keys=[]).shape == (0, 4)
    assert group.raycast([], [(0, 1, 0)]).distance.shape == (3, 0)
    assert group.raycast([(0, 0, 0)], [(0, 1, 0)] * 2, keys=[]).point.shape == (0, 2, 3)
    assert CharacterGroup(ROUGH).height_scan(OFFSETS).shape == (0, 4)


def test_bad_input():
    group = crowd(ROUGH, 3)
    before = group.state()
    scans: Cases = (
        ({"offsets": [(1, 2, 3)]}, ValueError, r"^offsets must have shape \(n, 2\), got \(1, 3\)"),
        ({"offsets": [(1, np.nan)]}, ValueError, "^offsets must be finite, got nan at"),
        ({"offsets": [(1, 1e38)]}, ValueError, r"^offsets must be below 1e\+38 m"),
        ({"offsets": "ab"}, TypeError, "^offsets must hold real numbers"),
        ({"yaw": [1, 2]}, ValueError, r"^yaw must be a number or have shape \(3,\), got \(2,\)"),
        ({"yaw": [1, 2, np.inf]}, ValueError, "^'agent 2': yaw must be finite, got inf$"),
        ({"yaw": np.nan}, ValueError, "^yaw must be finite, got nan$"),
        ({"keys": ["eve"]}, KeyError, "no character has the key 'eve'"),
    )
    for change, error, message in scans:
        with pytest.raises(error, match=message):
            group.height_scan(**({"offsets": OFFSETS} | change))
    rays: Cases = (
        ({"offsets": [(1, 2)]}, ValueError, r"^offsets must have shape \(n, 3\), got \(1, 2\)"),
        ({"directions": [(0, 0, 0)]}, ValueError, r"^directions\[0\] must not be zero"),
        ({"max_distance": -1}, ValueError, "^max_distance must be from 0 to inf, got -1"),
        ({"offsets": np.ones((3, 3))}, ValueError, "^arrays must have the same number of rows"),
        ({"yaw": "a"}, TypeError, "^yaw must hold real numbers"),
    )
    for change, error, message in rays:
        with pytest.raises(error, match=message):
            group.raycast(**({"offsets": np.ones((2, 3)), "directions": np.ones((2, 3))} | change))
    assert group.state() == before
    group["agent 1"].position = (0, 0, 1e38)
    message = r"^'agent 1': position and offsets must be below 1e\+38 m"
    with pytest.raises(ValueError, match=message):
        group.height_scan(OFFSETS)
    assert group.height_scan(OFFSETS, keys=["agent 2"]).shape == (1, 4)


def test_yaw_may_be_written_to_meanwhile():
    """Arguments are copied."""
    group, yaw, offsets = crowd(ROUGH, 3), np.zeros(3), np.array(OFFSETS)
    first = group.height_scan(offsets, yaw)
    yaw += 1
    offsets += 1
    assert np.array_equal(first, group.height_scan(OFFSETS), equal_nan=True)
