"""Every question on every kind of ground, one and many, against all faces asked one by one.

The oracles are `tests.oracles.map_solids` and those beside it: float64, nothing of the library.
"""

import math
from typing import Any

import numpy as np
import pytest

from terrain_physics import AABB, OBB, Boxes, Capsule, Capsules, HeightMap, Ray, Sphere
from tests.helpers.examples import rest_is_full
from tests.helpers.solid_grounds import KINDS, Case
from tests.oracles import boxes
from tests.oracles.geometry import corners_of
from tests.oracles.map_solids import closest, ray_hits, travel
from tests.oracles.mesh import boxes_meet, closest_distances
from tests.oracles.sweeps import distance_of_axis

pytestmark = [
    pytest.mark.parametrize("seed", rest_is_full(range(12), 2)),
    pytest.mark.parametrize("kind", KINDS),
]

REACH = 8.0
"""Meters that a ray goes: land without an end is known for ten cells around the map."""

NEAR: Any = {"rel": 1e-9, "abs": 1e-6}
"""How near answers are to the oracles': maps have samples in float32."""


MEETING = ("maps side by side", "maps and crates")
"""Grounds of maps that meet: what is known of each is its own border."""


@pytest.fixture
def case(kind: str, seed: int) -> Case:
    return Case(kind, seed)


def same(one: Any, row: Any) -> bool:
    """Tell whether one answer is that of a row, to the bit."""
    return np.asarray(one).tobytes() == np.asarray(row).tobytes()


def test_rays_enter_solids_and_hit_skins_from_both_sides(case: Case) -> None:
    origins, ways = case.places_outside(30), case.directions(30)
    seen = np.concatenate([*case.solids, case.skins, case.skins[:, ::-1]])
    hits = case.ground.raycast_many(origins, ways, REACH)
    for k in range(30):
        wanted = ray_hits(seen, origins[k], ways[k])
        wanted = wanted if wanted <= REACH else math.inf
        one = case.ground.raycast(Ray(origins[k], ways[k]), REACH)
        assert (one is None) == (wanted == math.inf) == math.isnan(hits.distance[k])
        if one is not None:
            assert one.distance == pytest.approx(wanted, **NEAR)
            assert (one.distance, one.triangle) == (hits.distance[k], hits.triangle[k])
            short = case.ground.raycast(Ray(origins[k], ways[k]), 0.99 * one.distance)
            assert short is None


def test_closest_points(case: Case) -> None:
    places = case.places_outside(30)
    found = case.ground.closest_points(places)
    for k, place in enumerate(places):
        distance, _ = closest(case.faces, place)
        assert found.distance[k] == pytest.approx(distance, **NEAR)
        assert np.linalg.norm(found.point[k] - place) == pytest.approx(distance, **NEAR)
        one = case.ground.closest_point(place)
        assert (one.distance, one.triangle) == (found.distance[k], found.triangle[k])


def test_signed_distances_and_what_is_inside(case: Case, kind: str) -> None:
    places = case.places(40)
    inside, found = case.ground.contains(places), case.ground.signed_distance(places)
    of_solids = case.insides(places)
    for k, place in enumerate(places):
        depths = [
            closest(solid, place)[0]
            for solid, holds in zip(case.solids, of_solids, strict=True)
            if holds[k]
        ]
        wanted = -max(depths) if depths else closest(case.faces, place)[0]
        assert inside[k] == bool(depths)
        if kind in MEETING and depths:  # where two maps meet is no border
            assert found[k] <= wanted + 1e-6
        else:
            assert found[k] == pytest.approx(wanted, **NEAR)
        assert same(case.ground.signed_distance(place), found[k])
        assert case.ground.contains(place) == inside[k]


def test_balls_outside(case: Case) -> None:
    places = case.places_outside(30)
    balls = np.column_stack([places, case.draw.uniform(0.1, 2.0, 30)])
    every, deepest = case.ground.contacts(balls), case.ground.contacts(balls, keep="deepest")
    counts, touching = case.ground.contact_counts(balls), case.ground.touches(balls)
    assert counts.tolist() == np.bincount(every.query, minlength=30).tolist()
    for k, (*place, radius) in enumerate(balls):
        depth = radius - closest(case.faces, np.array(place))[0]
        own = deepest.depth[deepest.query == k]
        assert len(own) == int(touching[k]) == int(counts[k] > 0)
        if abs(depth) > 1e-6:
            assert touching[k] == (depth > 0.0)
        if len(own):
            assert own[0] == pytest.approx(depth, **NEAR)
        assert_rows_of_one(case, Sphere(place, radius), every, deepest, k)


def assert_rows_of_one(case: Case, shape: Any, every: Any, deepest: Any, k: int) -> None:
    """Check that a shape alone has the contacts that it has among many."""
    for keep, many in (("all", every), ("deepest", deepest)):
        alone, own = case.ground.contacts(shape, keep=keep), many.query == k
        assert same(alone.triangle, many.triangle[own])
        assert same(alone.penetration, many.penetration[own])
        assert same(alone.point, many.point[own])
    assert case.ground.touches(shape) == bool((every.query == k).any())


def test_capsules_outside(case: Case) -> None:
    centers, half_axes = case.places_outside(24), 0.4 * case.draw.normal(size=(24, 3))
    rows = np.column_stack(
        [centers - half_axes, centers + half_axes, case.draw.uniform(0.1, 0.8, 24)]
    )
    every = case.ground.contacts(Capsules(rows))
    deepest = case.ground.contacts(Capsules(rows), keep="deepest")
    touching = case.ground.touches(Capsules(rows))
    for k in range(24):
        reach = np.abs(half_axes[k]) + rows[k, 6]
        near = case.faces[boxes_meet(case.faces, centers[k] - reach, centers[k] + reach)]
        distances = [distance_of_axis(centers[k : k + 1], half_axes[k], face)[0] for face in near]
        gap = min(distances, default=math.inf) - rows[k, 6]
        if abs(gap) > 1e-6:
            assert touching[k] == (gap < 0.0)
        shape = Capsule(rows[k, :3], rows[k, 3:6], rows[k, 6])
        assert_rows_of_one(case, shape, every, deepest, k)


def test_boxes_outside(case: Case) -> None:
    centers, halves = case.places_outside(16), case.draw.uniform(0.1, 0.8, (16, 3))
    turns, _ = np.linalg.qr(case.draw.normal(size=(16, 3, 3)))
    turns[:, :, 0] *= np.sign(np.linalg.det(turns))[:, np.newaxis]
    rows = Boxes(centers, halves, turns)
    every, deepest = case.ground.contacts(rows), case.ground.contacts(rows, keep="deepest")
    touching = case.ground.touches(rows)
    for k in range(16):
        box = boxes.box_of(centers[k].tolist(), halves[k].tolist(), turns[k])
        reach = np.abs(turns[k]) @ halves[k] + 1e-3
        near = case.faces[boxes_meet(case.faces, centers[k] - reach, centers[k] + reach)]
        assert touching[k] == any(boxes.touches(box, corners_of(face.tolist())) for face in near)
        assert_rows_of_one(case, OBB(centers[k], halves[k], turns[k]), every, deepest, k)


def test_balls_that_move(case: Case) -> None:
    radii = case.draw.uniform(0.05, 0.5, 8)
    starts = np.array([case.places_outside(1, radius)[0] for radius in radii])
    motions = case.directions(8) * case.draw.uniform(1.0, 8.0, (8, 1))
    many = case.ground.sweep_many(np.column_stack([starts, radii]), motions)
    for k in range(8):
        one = case.ground.sweep(Sphere(starts[k], radii[k]), motions[k])
        wanted = travel(case.faces, float(radii[k]), starts[k], motions[k])
        assert (1.0 if one is None else one.fraction) == pytest.approx(wanted, abs=2e-6)
        if one is None:
            assert math.isnan(many.fraction[k])
        else:
            assert (one.fraction, one.triangle) == (many.fraction[k], many.triangle[k])


def test_heights_and_normals(case: Case) -> None:
    xs, _, zs = case.places(40).T
    heights, normals = case.ground.height_at(xs, zs), case.ground.normal_at(xs, zs)
    for k in range(40):
        above = np.array([xs[k], 50.0, zs[k]])
        down = np.array([0.0, -1.0, 0.0])
        wanted = 50.0 - ray_hits(np.concatenate([case.faces, case.skins[:, ::-1]]), above, down)
        if wanted == -math.inf:
            assert math.isnan(heights[k])
            assert np.isnan(normals[k]).all()
        else:
            assert heights[k] == pytest.approx(wanted, **NEAR)
            assert_normal_of_a_face(case, above + (50.0 - wanted) * down, normals[k])
        assert same(case.ground.height_at(float(xs[k]), float(zs[k])), heights[k])
        normal = case.ground.normal_at(float(xs[k]), float(zs[k]))
        assert same(np.array(normal, np.float32), normals[k].astype(np.float32))


def assert_normal_of_a_face(case: Case, point: Any, normal: Any) -> None:
    """Check that a normal is that of a face at a point, from either side."""
    faces = case.faces[closest_distances(point[np.newaxis], case.faces)[0] < 1e-6]
    across = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
    cosines = across @ normal / np.linalg.norm(across, axis=1)
    assert np.abs(cosines).max() == pytest.approx(1.0, abs=1e-6)


def test_triangles_in_boxes(case: Case) -> None:
    if isinstance(case.ground, HeightMap) and case.ground.border != "open":
        return  # what goes on outside has no triangles, and a box there has those of no cell
    lows = case.places(12)
    highs = lows + case.draw.uniform(0.1, 2.0, (12, 3))
    offsets, ids = case.ground.triangles_in_many(lows, highs, margin=0.0)
    for k in range(12):
        near = [cells[boxes_meet(cells, lows[k], highs[k])] for cells in case.listed]
        wanted = np.concatenate([corners.reshape(-1, 3, 3) for corners in near])
        found = case.ground.triangles_in(AABB(lows[k], highs[k]), margin=0.0)
        assert same(found.ids, ids[offsets[k] : offsets[k + 1]])
        assert sorted(map(str, (np.round(found.vertices, 4) + 0.0).tolist())) == sorted(
            map(str, (np.round(wanted, 4) + 0.0).tolist())
        )
