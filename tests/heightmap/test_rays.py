"""Rays on a height map, and heights at many places, against brute force over all triangles."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain_physics import HeightMap, Ray, RayHit
from tests.helpers.examples import examples
from tests.helpers.heightmaps import both, maps, places

pytestmark = pytest.mark.kernels

HILL = np.array([[0, 0, 0, 0], [0, 2, 1, 0], [0, 1, 3, 0], [0, 0, 0, 0]], dtype=float)


def hit_of(land: HeightMap, ray: Ray, most: float = math.inf) -> RayHit:
    """Return the hit of a ray that must hit."""
    hit = land.raycast(ray, most)
    assert hit is not None
    return hit


@examples(100)
@given(st.data(), maps())
def test_an_upright_ray_is_a_height(data, case):
    x, z = data.draw(places(case))
    height = case.land.height_at(x, z)
    for y, way in ((3e30, -1.0), (-3e30, 1.0)):
        hit = case.land.raycast(Ray((x, y, z), (0, way, 0)))
        if math.isnan(height):
            assert hit is None
            continue
        assert hit is not None
        assert hit.distance == (y - height) * -way
        hits = case.land.raycast_many([(x, y, z)], [(0, way, 0)])
        np.testing.assert_array_equal(hits.point, [(x, height, z)])
        np.testing.assert_array_equal(hits.normal, case.land.normal_at([x], [z]))
        assert hit.triangle == hits.triangle[0]
        assert case.land.raycast(Ray((x, y, z), (0, -way, 0))) is None


def large(rows=90, columns=210, seed=3, **options):
    rng = np.random.default_rng(seed)
    rough = rng.normal(size=(rows, columns)).cumsum(axis=0).cumsum(axis=1) / 20.0
    return both(rough + rng.normal(size=rough.shape), **options)


def test_rays_at_corners_and_edges_pass_between_no_triangles():
    land = large(40, 60).land
    rng = np.random.default_rng(5)
    rows, columns = rng.integers(1, 39, 400), rng.integers(1, 59, 400)
    shares = np.where(rng.random(400) < 0.5, 0.0, rng.random(400))
    targets = np.column_stack([columns - shares, np.zeros(400), rows + 0.0])
    targets[:, 1] = land.height_at(targets[:, 0], targets[:, 2])
    for offset in ((3.0, 500.0, 2.0), (0.0, 300.0, 1.0), (1.0, -400.0, 0.0), (0.25, 200.0, 0.25)):
        origins = targets + offset
        hits = land.raycast_many(origins, -np.array([offset]))
        assert not np.isnan(hits.distance).any()
        heights = land.height_at(hits.point[:, 0], hits.point[:, 2])
        np.testing.assert_allclose(hits.point[:, 1], heights, atol=1e-9)


def test_along_the_surface_and_along_lines_of_cells():
    flat = HeightMap(np.zeros((5, 6)))
    hit = flat.raycast(Ray((0.5, 0, 0.25), (1, 0, 0)))
    assert hit is not None
    assert hit.distance == 0.0
    for x in (1.0, 1.5):
        for z in (2.0, 2.25):
            for way in ((1, 0, 0), (0, 0, -1), (1, 0, 1), (1, 0, -1)):
                assert hit_of(flat, Ray((x, 0, z), way)).distance == 0.0
                assert flat.raycast(Ray((x, 1e-3, z), way)) is None
                assert flat.raycast(Ray((x, -1e-3, z), way)) is None
                hit = hit_of(flat, Ray((x, 1, z), np.add(way, (0, -1, 0))))
                assert hit.distance == pytest.approx(math.sqrt(1 + np.dot(way, way)), abs=1e-12)
    open_flat = HeightMap(np.zeros((5, 6)), border="open")
    hit = hit_of(open_flat, Ray((-2, 0, 2), (1, 0, 0)))
    assert hit.distance == 2.0
    assert open_flat.raycast(Ray((-2, 0, 2), (1, 0, 0)), 1.999) is None
    assert open_flat.raycast(Ray((-2, 0, 2), (1, 0, 0)), 2.0) is not None
    assert hit_of(open_flat, Ray((5, 0, 4), (1, 0, 1))).distance == 0.0
    assert open_flat.raycast(Ray((5.001, 0, 4), (1, 0, 1))) is None


def test_from_below_the_same_place_is_hit():
    land = HeightMap(HILL)
    down = hit_of(land, Ray((0.2, 9, 0.7), (0.3, -1.5, 0.2)))
    up = hit_of(land, Ray(np.subtract(tuple(down.point), (0.3, -1.5, 0.2)), (0.3, -1.5, 0.2)))
    assert up.triangle == down.triangle
    beneath = np.add(tuple(down.point), (0.3, -1.5, 0.2))
    hit = hit_of(land, Ray(beneath, (-0.3, 1.5, -0.2)))
    assert hit.triangle == down.triangle
    assert hit.normal == down.normal
    assert tuple(hit.point) == pytest.approx(tuple(down.point), abs=1e-5)


# Outside


def ramp(**options):
    """Return a map whose border rises along z at its left side and along x at its near side."""
    rows, columns = np.mgrid[0:9, 0:7]
    return HeightMap(1.0 * rows + 0.5 * columns, **options)


@pytest.mark.parametrize("far", [10.0, 1e3, 1e6, 1e9])
def test_ground_outside_goes_on_for_ever(far):
    land = ramp()
    # A prism along -x: at z the ground is as high as z, from 0 to 8.
    hit = land.raycast(Ray((-far, 3.0, 1.5), (0, 0, 1)))
    assert hit.distance == pytest.approx(1.5, abs=1e-9)
    assert hit.triangle == -1
    half = math.sqrt(0.5)
    assert tuple(hit.normal) == pytest.approx((0, half, -half), abs=1e-6)
    # Almost along the prism: it rises by 1 m on the way of `far`.
    hit = land.raycast(Ray((-1.0, 3.0, 2.0), (-far, 0.0, 2.0)))
    assert hit.distance == pytest.approx(math.hypot(far, 2.0) / 2.0, rel=1e-9)
    # Level over the corner, until it comes down.
    hit = land.raycast(Ray((-1.0, 1.0, -1.0), (-far, -1.0, -far)))
    assert hit.distance == pytest.approx(math.sqrt(2 * far * far + 1.0), rel=1e-9)
    # Into the map from far outside.
    hit = land.raycast(Ray((-far, 5.25, 5.0), (1, 0, 0)))
    assert hit.distance == pytest.approx(far + 0.5, rel=1e-12)
    assert hit.triangle >= 0


def test_a_level_ray_that_never_comes_down_ends():
    land = ramp()
    assert land.raycast(Ray((3, 99, 3), (1, 0, 0.3))) is None
    assert land.raycast(Ray((3, 11.5, 3), (-1, 0, 1e-9))) is None
    assert land.raycast(Ray((-3, -0.5, 3), (0, 1e-12, -1))).distance > 1e11
    assert land.raycast(Ray((-5, 2, 3), (-1, 0, 0))) is None
    assert land.raycast(Ray((-5, 3, 3), (-1, 0, 0))).distance == 0.0
    assert land.raycast(Ray((9e37, 30, 3), (-1, 0, 0))) is None
    assert ramp(border="open").raycast(Ray((-1e6, 20, 1), (1, -1e-9, 0.2))) is None


# Holes, materials, ids, threads


def test_holes_are_passed_and_their_rims_are_closed():
    heights = np.zeros((6, 6))
    heights[2, 2] = np.nan
    marked = np.zeros((5, 5), dtype=bool)
    marked[4, 4] = True
    land = HeightMap(heights, holes=marked)
    for x, z, ground in ((2.0, 2.5, 0), (1.5, 1.5, 0), (4.5, 4.5, 0), (0.5, 0.5, 1), (4.5, 3.5, 1)):
        for way in ((0, -1, 0), (1e-3, -1, 1e-3)):
            hit = land.raycast(Ray((x - way[0], 1, z - way[2]), way))
            assert (hit is not None) == bool(ground)
    assert land.raycast(Ray((4.0, 1, 4.5), (0, -1, 0))) is not None  # the rim belongs to the ground
    everything = HeightMap(np.full((3, 3), np.nan))
    assert everything.raycast(Ray((1, 1, 1), (0.1, -1, 0))) is None


@pytest.mark.parametrize(("diagonal", "half"), [("a-c", 0), ("b-d", 1)])
def test_of_triangles_that_share_an_edge_the_first_by_row_and_column(diagonal, half):
    """Not by half before column. An upright ray hits that of the place itself."""
    flat = HeightMap(np.zeros((9, 9)), diagonal=diagonal)
    for way in ((0.25, -1, 0.5), (-0.25, -1, 0.5), (0.25, -1, 0)):
        hit = hit_of(flat, Ray((3 - way[0], 1, 5.25 - way[2]), way))
        assert hit.triangle == 2 * (5 * 8 + 2) + half
    assert hit_of(flat, Ray((3, 1, 5.25), (0, -1, 0))).triangle // 2 == 5 * 8 + 3


@pytest.mark.parametrize("border", ["open", "extend"])
def test_a_ray_that_ends_where_it_hits_hits(border):
    """Also an underside, and one that is seen from the ground's inside, beyond the way out."""
    rng, undersides, beyond = np.random.default_rng(5), 0, 0
    for far in (0.0, 1e4) * 3:
        land = HeightMap(
            rng.uniform(-1.0, 1.0, (9, 9)), holes=rng.random((8, 8)) < 0.1, thickness=1.0,
            origin=(far, far / 3.0, -far), border=border,
        )  # fmt: skip
        origins = rng.uniform((-2.0, -4.0, -2.0), (10.0, 2.0, 10.0), (2000, 3))
        origins += (far, far / 3.0, -far)
        ways = rng.normal(size=(2000, 3)) * (1.0, 0.4, 1.0)
        found = land.raycast_many(origins, ways)
        hit = ~np.isnan(found.distance)
        origins, ways, distances = origins[hit], ways[hit], found.distance[hit]
        ended = land.raycast_many(origins, ways, distances)
        for name in ("distance", "point", "normal", "triangle"):
            np.testing.assert_array_equal(getattr(ended, name), getattr(found, name)[hit])
        is_below = found.normal[hit, 1] < 0.0
        undersides += int(is_below.sum())
        beyond += int((is_below & land.contains(origins)).sum())
        for k in np.flatnonzero(is_below):
            one = hit_of(land, Ray(origins[k], ways[k]), distances[k])
            assert (one.distance, one.triangle) == (distances[k], ended.triangle[k])
    assert undersides > 1000
    assert beyond > 20


def test_material_and_id_of_what_was_hit():
    materials = np.arange(20, dtype=np.uint8).reshape(4, 5)
    land = HeightMap(np.zeros((5, 6)), materials=materials)
    origins = [(0.5, 1, 0.5), (4.9, 1, 3.1), (-7, 1, 2.5), (90, 1, 90), (0.5, -1, 0.5)]
    hits = land.raycast_many(origins, [(0.001, -1, 0)])
    assert hits.material.dtype == np.uint8
    np.testing.assert_array_equal(hits.material, [0, 19, 10, 19, 0])
    np.testing.assert_array_equal(hits.triangle >= 0, [True, True, False, False, False])
    np.testing.assert_array_equal(np.isnan(hits.distance), [False, False, False, False, True])
    np.testing.assert_array_equal(hits.triangle[:2] // 2, [0, 19])
    hit = hit_of(land, Ray((4.9, 1, 3.1), (0.001, -1, 0)))
    assert (hit.material, hit.triangle) == (19, hits.triangle[1])
    assert hit_of(HeightMap(HILL), Ray((1, 9, 1), (0, -1, 0))).material == 0


def test_edits_are_seen_by_the_next_ray():
    land = HeightMap(np.zeros((40, 40)))
    assert abs(hit_of(land, Ray((20, 5, 20), (0.01, -1, 0))).point.y) < 1e-12
    land[10:30, 10:30] = 3.0
    assert abs(hit_of(land, Ray((20, 5, 20), (0.01, -1, 0))).point.y - 3.0) < 1e-12
    assert hit_of(land, Ray((0, 2, 20), (1, 0, 0.001))).distance == pytest.approx(
        9 + 2 / 3, abs=1e-3
    )
