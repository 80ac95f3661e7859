"""Rays on a height map, and heights at many places, against brute force over all triangles."""

import math
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from terrain_physics import AABB, HeightMap, Ray, RayHit
from tests.helpers.examples import examples
from tests.helpers.heightmaps import MapCase, both, coordinates, maps, places
from tests.helpers.surfaces import surface_hit
from tests.oracles.heightmap import Map
from tests.oracles.sweeps import ray_triangles

pytestmark = pytest.mark.kernels

HILL = np.array([[0, 0, 0, 0], [0, 2, 1, 0], [0, 1, 3, 0], [0, 0, 0, 0]], dtype=float)


def hit_of(land: HeightMap, ray: Ray, most: float = math.inf) -> RayHit:
    """Return the hit of a ray that must hit."""
    hit = land.raycast(ray, most)
    assert hit is not None
    return hit


def corners_within(oracle: Map, window: tuple[int, int, int, int]):
    """Return (corners (n, 3, 3), ids (n,)) of all triangles of a window."""
    pieces = [piece for cell in oracle.cells(window) for piece in cell]
    corners = np.array([[p.a, p.b, p.c] for p in pieces]).reshape(-1, 3, 3)
    return corners, np.array([p.id for p in pieces], dtype=int)


def compare(hit, corners, ids, origin, direction, most, scale):
    """Hold one hit, or None, against the nearest of all triangles.

    What the ray misses or hits by a part of 1e-9 may be either.
    """
    distances, least = ray_triangles(origin, direction, corners)
    slack = 1e-9 * (scale + most) + 1e-9
    ahead = (distances >= 0.0) & (distances <= most)
    near = (distances >= -slack) & (distances <= most + slack)
    surely = distances[ahead & (least > 1e-9)]
    perhaps = distances[near & (least > -1e-6)]
    flat = np.isinf(distances)
    if hit is None:
        assert surely.size == 0 or surely.min() >= most - slack
        return
    if surely.size:
        assert hit.distance <= surely.min() + slack
    if not flat.any():
        assert perhaps.size
        assert hit.distance >= perhaps.min() - slack
        inside = np.flatnonzero(near & (least > -1e-6) & (abs(distances - hit.distance) < slack))
        assert hit.triangle in ids[inside]


@st.composite
def rays(draw, case: MapCase):
    """Return origin, target and direction of a ray: to a place on the ground, or anywhere."""
    start = (draw(coordinates(case, 0)), 0.0, draw(coordinates(case, 2)))
    x, z = draw(places(case))
    oracle = case.oracle
    known = [float(h) for h in oracle.heights.ravel() if not np.isnan(h)] or [0.0]
    rise = oracle.height_scale
    levels = st.sampled_from(known).map(lambda h: oracle.origin[1] + rise * h)
    height = draw(levels) + draw(st.sampled_from([0.0, 0.0, 1.0, -1.0, 5.0]))
    end = (x, draw(levels), z)
    start = (start[0], height, start[2])
    direction = np.subtract(end, start)
    if np.linalg.norm(direction) < 1e-6 or draw(st.integers(0, 4)) == 0:
        direction = np.eye(3)[draw(st.integers(0, 2))] * draw(st.sampled_from([-1.0, 1.0]))
    return start, direction


@examples(300)
@given(st.data(), maps(exact=True))
def test_a_ray_hits_the_nearest_of_all_triangles(data, case):
    start, direction = data.draw(rays(case))
    oracle, window = case.oracle, case.window
    ray = Ray(start, direction)
    origin, unit = np.array(ray.origin64), np.array(ray.direction64)
    # No farther than the window of the oracle reaches.
    most = math.inf
    for axis, low, high in ((0, window[2], window[3]), (2, window[0], window[1])):
        size = oracle.cell_size[axis // 2]
        if unit[axis] != 0.0:
            side = high if unit[axis] > 0.0 else low
            edge = oracle.origin[axis] + side * size
            most = min(most, (edge - origin[axis]) / unit[axis])
    most = min(most, 1e3)
    hit = surface_hit(case.land, ray, most)
    corners, ids = corners_within(oracle, window)
    # Relative to the origin of the ray: the oracle's own rounding stays small.
    scale = float(np.abs(np.nan_to_num(oracle.heights)).max() * abs(oracle.height_scale))
    compare(hit, corners - origin, ids, (0.0, 0.0, 0.0), unit, most, scale)
    if hit is not None:
        assert 0.0 <= hit.distance <= most


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


@pytest.mark.parametrize(
    ("border", "diagonal"),
    [
        ("extend", "shortest"),
        ("open", "alternating"),
        pytest.param("extend", "a-c", marks=pytest.mark.full),
        pytest.param("extend", "alternating", marks=pytest.mark.full),
        pytest.param("open", "a-c", marks=pytest.mark.full),
        pytest.param("open", "shortest", marks=pytest.mark.full),
    ],
)
def test_levels_of_blocks_lose_nothing(border, diagonal):
    case = large(border=border, diagonal=diagonal, cell_size=(1.5, 0.7), origin=(1e5, 3.0, -2e5))
    land, oracle = case.land, case.oracle
    rng = np.random.default_rng(1)
    count = 60
    u, v = rng.uniform(0, oracle.columns, count), rng.uniform(0, oracle.rows, count)
    origins = np.column_stack([1e5 + u * 1.5, np.zeros(count), v * 0.7 - 2e5])
    origins[:, 1] = land.height_at(origins[:, 0], origins[:, 2]) + rng.uniform(-1, 9, count)
    directions = rng.normal(size=(count, 3)) * (1.0, 0.1, 1.0)
    directions[:10, 0] = 0.0
    directions[10:20, 2] = 0.0
    corners, ids = corners_within(oracle, (0, oracle.rows, 0, oracle.columns))
    hits = land.raycast_many(origins, directions, 40.0)
    for i in range(count):
        ray = Ray(origins[i], directions[i])
        hit = land.raycast(ray, 40.0)
        assert (hit is None) == math.isnan(hits.distance[i])
        if hit is not None and hit.triangle < 0:
            continue
        leaves = ray.origin64 + 40.0 * np.array(ray.direction64)
        if hit is None and border == "extend" and math.isnan(land.height_at(leaves[0], leaves[2])):
            continue
        near = np.abs(corners[:, 0, 0] - origins[i, 0]) < 45.0  # what the ray can reach, and more
        others = corners[near] - origins[i], ids[near]
        compare(hit, *others, (0, 0, 0), ray.direction64, 40.0, 50.0)


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


@examples(100)
@given(st.data(), maps(exact=True, holes=False, border="extend"))
def test_the_first_change_of_side_is_never_missed(data, case):
    """A ray that is above the ground here and below it there hits between."""
    start, direction = data.draw(rays(case))
    ray = Ray(start, direction)
    origin, unit = np.array(ray.origin64), np.array(ray.direction64)
    travels = np.linspace(0.0, 60.0, 241)
    points = origin + travels[:, np.newaxis] * unit
    above = points[:, 1] - case.land.height_at(points[:, 0], points[:, 2])
    sure = np.abs(above) > 1e-6
    signs = np.sign(above[sure])
    changes = np.flatnonzero(signs[1:] != signs[:-1])
    if changes.size:
        hit = case.land.raycast(ray)
        assert hit is not None
        assert hit.distance <= travels[sure][changes[0] + 1] + 1e-6


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


def test_normals_are_those_of_the_triangles():
    case = large(20, 30)
    rng = np.random.default_rng(2)
    origins = np.column_stack(
        [rng.uniform(1, 28, 200), np.full(200, 90.0), rng.uniform(1, 18, 200)]
    )
    hits = case.land.raycast_many(origins, rng.normal(size=(200, 3)) * 0.1 - (0, 1, 0))
    triangles = case.land.triangles_in(AABB((0, -999, 0), (29, 999, 19)), margin=0.0)
    of_id = {int(k): n for k, n in zip(triangles.ids, triangles.normals, strict=True) if k >= 0}
    inside = hits.triangle >= 0
    assert inside.sum() > 50
    expected = [of_id[int(k)] for k in hits.triangle[inside]]
    np.testing.assert_array_equal(hits.normal[inside], expected)


def test_any_number_of_threads_gives_the_same_bits():
    land = large(40, 60).land
    rng = np.random.default_rng(4)
    origins = rng.uniform((0, 20, 0), (59, 60, 39), (9000, 3))
    directions = rng.normal(size=(9000, 3)) - (0, 1, 0)
    first = land.raycast_many(origins, directions, threads=1)
    for threads in (2, 3):
        hits = land.raycast_many(origins, directions, threads=threads)
        for one, other in zip(first, hits, strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_ray_that_ends_on_the_ground_hits_it():
    """Sets are closed: it may be as long as the way to its hit, and no shorter."""
    draw = np.random.default_rng(5)
    land = HeightMap(draw.uniform(0.0, 2.0, (12, 12)))
    origins, towards = draw.uniform((1, 3, 1), (10, 5, 10), (2, 60, 3))
    ways = (towards - origins) * (1.0, 0.0, 1.0) - (0.0, 3.0, 0.0)
    for origin, way in zip(origins, ways, strict=True):
        ray = Ray(tuple(origin), tuple(way))
        hit = hit_of(land, ray)
        assert hit_of(land, ray, hit.distance).triangle == hit.triangle
        assert land.raycast(ray, math.nextafter(hit.distance, 0.0)) is None
    distances = land.raycast_many(origins, ways).distance
    closed = land.raycast_many(origins, ways, max_distance=distances)
    np.testing.assert_array_equal(closed.distance, distances)
    short = land.raycast_many(origins, ways, max_distance=np.nextafter(distances, 0.0))
    assert np.isnan(short.distance).all()


def test_edits_are_seen_by_the_next_ray():
    land = HeightMap(np.zeros((40, 40)))
    assert abs(hit_of(land, Ray((20, 5, 20), (0.01, -1, 0))).point.y) < 1e-12
    land[10:30, 10:30] = 3.0
    assert abs(hit_of(land, Ray((20, 5, 20), (0.01, -1, 0))).point.y - 3.0) < 1e-12
    assert hit_of(land, Ray((0, 2, 20), (1, 0, 0.001))).distance == pytest.approx(
        9 + 2 / 3, abs=1e-3
    )


@pytest.mark.alone
def test_rays_may_be_cast_while_the_ground_is_edited():
    land = HeightMap(np.zeros((40, 40)))
    origins = np.tile([(20.0, 5.0, 20.0)], (300, 1))
    seen: list[NDArray[np.float64]] = []

    def ask():
        seen.extend(land.raycast_many(origins, [(0.01, -1, 0)]).point[:, 1] for _ in range(10))

    asker = threading.Thread(target=ask)
    asker.start()
    for level in (1.0, 2.0, 3.0):
        land[:, :] = level
    asker.join()
    for points in seen:
        assert len(set(points.tolist())) == 1


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: m.raycast((0, 1, 0)), TypeError, "ray must be a Ray"),
        (lambda m: m.raycast(Ray((0, 1, 0), (0, 1, 0)), -1.0), ValueError, "max_distance must be"),
        (lambda m: m.raycast(Ray((0, 1, 0), (0, 1, 0)), math.nan), ValueError, "max_distance must"),
        (lambda m: m.raycast_many([(0, 1)], [(0, 1, 0)]), ValueError, "origins must have shape"),
        (
            lambda m: m.raycast_many([(0, 1, 0)], [(0, 1, 0), (0, 0, 0)]),
            ValueError,
            r"directions\[1\] must not be zero, got \(0.0, 0.0, 0.0\)",
        ),
        (
            lambda m: m.raycast_many(np.zeros((2, 3)), np.ones((3, 3))),
            ValueError,
            "the same number of rows",
        ),
        (
            lambda m: m.raycast_many([(0, math.inf, 0)], [(0, 1, 0)]),
            ValueError,
            "origins must be finite",
        ),
        (
            lambda m: m.raycast_many([(0, 1, 0)], [(0, 1, 0)], threads=0),
            ValueError,
            "threads must be",
        ),
        (lambda m: m.height_at([0.0], [math.nan]), ValueError, "z must be finite"),
        (lambda m: m.normal_at([0.0], [1.0, 2.0, 3.0], threads=1.5), ValueError, "threads"),
    ],
)
def test_bad_input_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(HeightMap(HILL))


def test_no_rays_give_no_hits():
    hits = HeightMap(HILL).raycast_many(np.zeros((0, 3)), [(0, -1, 0)])
    assert [len(part) for part in hits] == [0] * 5
    assert hits.point.shape == (0, 3)
