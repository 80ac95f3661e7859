"""Every question on every kind of ground, one and many, against all faces asked one by one.

The oracles are `tests.oracles.map_solids` and those beside it: float64, nothing of the library.
"""

import math
from typing import Any

import numpy as np
import pytest

from terrain_physics import AABB, OBB, Boxes, Capsule, Capsules, Ground, HeightMap, Ray, Sphere
from tests.helpers.examples import rest_is_full
from tests.helpers.solid_grounds import HAIR, KINDS, Case
from tests.oracles import boxes
from tests.oracles.geometry import corners_of
from tests.oracles.map_solids import closest, ray_hits, travel
from tests.oracles.mesh import axis_distances, boxes_meet, closest_distances
from tests.oracles.sweeps import closest_on_segments

pytestmark = [
    pytest.mark.parametrize("seed", rest_is_full(range(12), 2)),
    pytest.mark.parametrize("kind", KINDS),
]

REACH = 8.0
"""Meters that a ray goes: land without an end is known for ten cells around the map."""

DOWN = np.array([0.0, -1.0, 0.0])

NEAR: Any = {"rel": 1e-9, "abs": 1e-6}
"""How near answers are to the oracles': maps have samples in float32."""


MEETING = ("maps side by side", "maps and crates", "maps around a corner")
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
    hits, triangles = case.ground.raycast_many(origins, ways, REACH), case.triangles()
    for k in range(30):
        # A ray at an edge may pass this triangle or that, but never between them.
        least, most = (ray_hits(seen, origins[k], ways[k], slack) for slack in (1e-9, -1e-9))
        one = case.ground.raycast(Ray(origins[k], ways[k]), REACH)
        assert (one is None) == math.isnan(hits.distance[k])
        if one is None:
            assert most > REACH - 1e-6
            continue
        assert least - 1e-6 <= one.distance <= most + 1e-6
        assert (one.distance, one.triangle) == (hits.distance[k], hits.triangle[k])
        assert case.ground.raycast(Ray(origins[k], ways[k]), one.distance) == one
        short = case.ground.raycast(Ray(origins[k], ways[k]), math.nextafter(one.distance, 0.0))
        assert short is None
    hit = ~np.isnan(hits.distance)
    closed = case.ground.raycast_many(origins[hit], ways[hit], hits.distance[hit])
    assert same(closed.distance, hits.distance[hit])
    assert same(closed.triangle, hits.triangle[hit])
    points, along = hits.point[hit], ways[hit] * hits.distance[hit, np.newaxis]
    np.testing.assert_allclose(points, origins[hit] + along, atol=1e-6)
    assert_normals_of_faces(case, points, hits.normal[hit])
    assert_on(case, triangles, hits.triangle[hit], points)


def assert_on(case: Case, triangles: Any, ids: Any, points: Any) -> None:
    """Check that points are on the triangles of ids, or that these are ids of sides."""
    known = [k for k, triangle in enumerate(ids.tolist()) if triangle in triangles][:60]
    corners = np.array([triangles[ids[k]] for k in known]).reshape(-1, 3, 3)
    assert (closest_distances(points[known], corners).diagonal() < 1e-6).all()
    assert all(case.is_beside(own) for own in ids.tolist() if own not in triangles)


def test_closest_points(case: Case) -> None:
    places, triangles = case.places_outside(30), case.triangles()
    found = case.ground.closest_points(places)
    np.testing.assert_allclose(found.distance, case.distances(places), rtol=1e-9, atol=1e-6)
    away = np.linalg.norm(found.point - places, axis=1)
    np.testing.assert_allclose(away, found.distance, rtol=1e-9, atol=1e-6)
    for k, place in enumerate(places):
        one = case.ground.closest_point(place)
        assert (one.distance, one.triangle) == (found.distance[k], found.triangle[k])
    assert_on(case, triangles, found.triangle, found.point)


def test_signed_distances_and_what_is_inside(case: Case, kind: str) -> None:
    places = case.places(40)
    places = places[case.distances(places) > HAIR]
    inside, found = case.ground.contains(places), case.ground.signed_distance(places)
    wanted, are_in = case.distances(places), np.zeros(len(places), np.bool_)
    for solid, is_in in zip(case.solids, case.insides(places), strict=True):
        depths = np.where(is_in, closest_distances(places, solid).min(axis=1), 0.0)
        wanted = np.where(is_in, np.minimum(np.where(are_in, wanted, 0.0), -depths), wanted)
        are_in |= is_in
    assert inside.tolist() == are_in.tolist()
    is_sure = ~are_in if kind in MEETING else slice(None)  # where two maps meet is no border
    np.testing.assert_allclose(found[is_sure], wanted[is_sure], rtol=1e-9, atol=1e-6)
    assert (found <= wanted + 1e-6).all()
    for k, place in enumerate(places):
        assert same(case.ground.signed_distance(place), found[k])
        assert case.ground.contains(place) == inside[k]


def test_balls_outside(case: Case) -> None:
    balls = np.column_stack([case.places_outside(30), case.draw.uniform(0.1, 2.0, 30)])
    every, deepest = case.ground.contacts(balls), case.ground.contacts(balls, keep="deepest")
    counts, touching = case.ground.contact_counts(balls), case.ground.touches(balls)
    assert counts.tolist() == np.bincount(every.query, minlength=30).tolist()
    depths, triangles = balls[:, 3] - case.distances(balls[:, :3]), case.triangles()
    for k, (*place, radius) in enumerate(balls):
        own = deepest.depth[deepest.query == k]
        assert len(own) == int(touching[k]) == int(counts[k] > 0)
        if abs(depths[k]) > 1e-6:
            assert touching[k] == (depths[k] > 0.0)
        if len(own):
            assert own[0] == pytest.approx(depths[k], **NEAR)
        assert_rows_of_one(case, Sphere(place, radius), every, deepest, k)
    away = balls[every.query, :3] - every.point
    normals = away / np.linalg.norm(away, axis=1, keepdims=True)
    np.testing.assert_allclose(every.normal, normals, atol=1e-6)
    pushes = normals * balls[every.query, 3:] - away
    np.testing.assert_allclose(every.penetration, pushes, atol=1e-6)
    assert_on(case, triangles, every.triangle, every.point)
    assert_seen(triangles, balls, every)


def assert_seen(triangles: Any, balls: Any, found: Any) -> None:
    """Check that balls have contacts with all triangles near whose fronts their centers see."""
    ids, corners = np.array([*triangles]), np.array([*triangles.values()])
    a, b, c = corners.swapaxes(0, 1)
    fronts = np.cross(b - a, c - a)
    heights = balls[:, :3] @ fronts.T - (a * fronts).sum(axis=1)
    gaps = closest_distances(balls[:, :3], corners) - balls[:, 3:]
    is_found = np.zeros(gaps.shape, np.bool_)
    places = np.argsort(ids)
    at = np.searchsorted(ids, found.triangle, sorter=places).clip(max=len(ids) - 1)
    are_known = ids[places[at]] == found.triangle
    is_found[found.query[are_known], places[at[are_known]]] = True
    assert is_found[(heights > HAIR) & (gaps < -HAIR)].all()
    assert not is_found[gaps > HAIR].any()


def assert_rows_of_one(case: Case, shape: Any, every: Any, deepest: Any, k: int) -> None:
    """Check that a shape alone has the contacts that it has among many."""
    for keep, many in (("all", every), ("deepest", deepest)):
        alone, own = case.ground.contacts(shape, keep=keep), many.query == k
        assert same(alone.triangle, many.triangle[own])
        assert same(alone.penetration, many.penetration[own])
        assert same(alone.point, many.point[own])
    assert case.ground.touches(shape) == bool((every.query == k).any())


def capsules_of(case: Case, count: int) -> Any:
    centers, half_axes = case.places_outside(count), 0.4 * case.draw.normal(size=(count, 3))
    radii = case.draw.uniform(0.1, 0.8, count)
    return np.column_stack([centers - half_axes, centers + half_axes, radii])


def gap_of(case: Case, capsule: Any, ways: Any) -> Any:
    """Return how far a capsule is from all faces that it comes near on its ways (n, 3)."""
    start, end, radius = capsule[:3] + ways, capsule[3:6] + ways, capsule[6]
    ends = np.concatenate([start, end])
    near = boxes_meet(
        case.faces, ends.min(axis=0) - radius - HAIR, ends.max(axis=0) + radius + HAIR
    )
    return axis_distances(start, end, case.faces[near]).min(axis=1, initial=np.inf) - radius


def test_capsules_outside(case: Case) -> None:
    rows = capsules_of(case, 12)
    every = case.ground.contacts(Capsules(rows))
    deepest = case.ground.contacts(Capsules(rows), keep="deepest")
    touching = case.ground.touches(Capsules(rows))
    for k, row in enumerate(rows):
        gap = gap_of(case, row, np.zeros((1, 3)))[0]
        if abs(gap) > 1e-6:
            assert touching[k] == (gap < 0.0)
        assert_rows_of_one(case, Capsule(row[:3], row[3:6], row[6]), every, deepest, k)


def turns_of(case: Case, count: int) -> Any:
    turns, _ = np.linalg.qr(case.draw.normal(size=(count, 3, 3)))
    turns[:, :, 0] *= np.sign(np.linalg.det(turns))[:, np.newaxis]
    turns[::4] = np.eye(3)
    return turns


def meets(case: Case, center: Any, half: Any, turn: Any) -> bool:
    """Tell whether a box touches any face."""
    box = boxes.box_of(center.tolist(), half.tolist(), turn)
    reach = np.abs(turn) @ half + HAIR
    near = case.faces[boxes_meet(case.faces, center - reach, center + reach)]
    return any(boxes.touches(box, corners_of(face.tolist())) for face in near)


def test_boxes_outside(case: Case) -> None:
    centers, halves = case.places_outside(12), case.draw.uniform(0.1, 0.8, (12, 3))
    turns = turns_of(case, 12)
    rows = Boxes(centers, halves, turns)
    every, deepest = case.ground.contacts(rows), case.ground.contacts(rows, keep="deepest")
    touching = case.ground.touches(rows)
    for k in range(12):
        assert touching[k] == meets(case, centers[k], halves[k], turns[k])
        assert_rows_of_one(case, OBB(centers[k], halves[k], turns[k]), every, deepest, k)


def test_balls_that_move(case: Case) -> None:
    radii = case.draw.uniform(0.05, 0.5, 8)
    starts = np.array([case.places_outside(1, radius)[0] for radius in radii])
    motions = case.directions(8) * case.draw.uniform(1.0, 8.0, (8, 1))
    many, triangles = (
        case.ground.sweep_many(np.column_stack([starts, radii]), motions),
        case.triangles(),
    )
    for k in range(8):
        one = case.ground.sweep(Sphere(starts[k], radii[k]), motions[k])
        path, radius = np.array([starts[k], starts[k] + motions[k]]), float(radii[k])
        near = boxes_meet(case.faces, path.min(axis=0) - radius, path.max(axis=0) + radius)
        wanted = travel(case.faces[near], radius, starts[k], motions[k]) if near.any() else 1.0
        assert (1.0 if one is None else one.fraction) == pytest.approx(wanted, abs=2e-6)
        if one is None:
            assert math.isnan(many.fraction[k])
        else:
            assert (one.fraction, one.triangle) == (many.fraction[k], many.triangle[k])
            place, point = starts[k] + one.fraction * motions[k], many.point[k]
            assert closest(case.faces, point)[0] < 1e-5
            assert_on(case, triangles, many.triangle[k : k + 1], point[np.newaxis])
            np.testing.assert_allclose(many.normal[k], (place - point) / radii[k], atol=1e-3)


def test_capsules_that_move(case: Case) -> None:
    """They touch nothing on their way, and something just behind it."""
    rows = capsules_of(case, 8)
    rows = rows[[gap_of(case, row, np.zeros((1, 3)))[0] > HAIR for row in rows]]
    motions = case.directions(len(rows)) * 3.0
    many = case.ground.sweep_many(Capsules(rows), motions)
    for k, (row, motion) in enumerate(zip(rows, motions, strict=True)):
        one = case.ground.sweep(Capsule(row[:3], row[3:6], row[6]), motion)
        assert same(math.nan if one is None else one.fraction, many.fraction[k])
        shares = np.append(case.draw.random(7), 1.0) * (1.0 if one is None else one.fraction)
        gaps = gap_of(case, row, shares[:, np.newaxis] * motion)
        assert (gaps > -1e-5).all()
        if one is not None:
            assert gaps[-1] < 1e-5
            start, end = row[:6].reshape(2, 3) + one.fraction * motion
            away = closest_on_segments(many.point[k], start, end) - many.point[k]
            np.testing.assert_allclose(many.normal[k] * row[6], away, atol=1e-3)
            assert closest(case.faces, many.point[k])[0] < 1e-5


def test_boxes_that_move(case: Case) -> None:
    starts, halves = case.places_outside(6), np.full((6, 3), (0.3, 0.5, 0.2))
    turns = turns_of(case, 6)
    rows = zip(starts, halves, turns, strict=True)
    kept = [k for k, row in enumerate(rows) if not meets(case, *row)]
    motions = case.directions(6) * 3.0
    many = case.ground.sweep_many(Boxes(starts, halves, turns), motions)
    for k in kept:
        one = case.ground.sweep(OBB(starts[k], halves[k], turns[k]), motions[k])
        assert same(math.nan if one is None else one.fraction, many.fraction[k])
        along = 1.0 if one is None else one.fraction
        for share in (0.5 * along, 0.9 * along, along):
            assert not meets(case, starts[k] + share * motions[k], halves[k] - 1e-5, turns[k])
        place = starts[k] + along * motions[k]
        if one is not None:
            assert meets(case, place, halves[k] + 1e-5, turns[k])
            outside = np.abs((many.point[k] - place) @ turns[k]) - halves[k]
            assert abs(outside.max()) < 1e-5
            assert closest(case.faces, many.point[k])[0] < 1e-5


def test_heights_and_normals(case: Case) -> None:
    xs, _, zs = case.places(40).T
    heights, normals = case.ground.height_at(xs, zs), case.ground.normal_at(xs, zs)
    faces = np.concatenate([case.faces, case.skins[:, ::-1]])
    for k in range(40):
        above = np.array([xs[k], case.high[1], zs[k]])
        most, least = (above[1] - ray_hits(faces, above, DOWN, slack) for slack in (1e-9, -1e-9))
        if math.isnan(heights[k]):
            assert least == -math.inf
            assert np.isnan(normals[k]).all()
        else:
            assert least - 1e-6 <= heights[k] <= most + 1e-6
        assert same(case.ground.height_at(float(xs[k]), float(zs[k])), heights[k])
        normal = case.ground.normal_at(float(xs[k]), float(zs[k]))
        assert same(np.array(normal, np.float32), normals[k].astype(np.float32))
    there = ~np.isnan(heights)
    assert_normals_of_faces(case, np.column_stack([xs, heights, zs])[there], normals[there])


def assert_normals_of_faces(case: Case, points: Any, normals: Any) -> None:
    """Check that normals are those of faces at points, from either side."""
    across = np.cross(case.faces[:, 1] - case.faces[:, 0], case.faces[:, 2] - case.faces[:, 0])
    cosines = normals @ (across / np.linalg.norm(across, axis=1, keepdims=True)).T
    are_there = closest_distances(points, case.faces) < 1e-6
    best = np.where(are_there, np.abs(cosines), 0.0).max(axis=1)
    np.testing.assert_allclose(best, 1.0, atol=1e-6)


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


def test_ids_name_the_part_that_owns_the_triangle(case: Case) -> None:
    if not isinstance(case.ground, Ground) or not case.ground.parts:
        return
    ids, corners = zip(*case.triangles().items(), strict=True)
    parts, own = case.ground.part_of(np.array(ids))
    for key in set(parts.tolist()):
        part, here, put = case.ground.parts[key], parts == key, case.ground.transform(key)
        known = part.triangles_in(part.bounds)
        vertices = dict(zip(known.ids.tolist(), known.vertices, strict=True))
        there = np.array([vertices[number] for number in own[here].tolist()])
        np.testing.assert_allclose(
            there @ put[:3, :3].T + put[:3, 3], np.array(corners)[here], rtol=0, atol=1e-9
        )
