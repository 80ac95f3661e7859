"""Contacts with a mesh are those of the pair functions with every triangle, to the bit."""

import math
from typing import Any

import numpy as np
import pytest

import terrain_physics as tp
from terrain_physics import (
    AABB,
    OBB,
    Capsule,
    HeightMap,
    Sphere,
    TriangleMesh,
)
from tests.helpers.meshes import MESHES, bumpy_sphere, grid, lattice
from tests.helpers.threads import cut_finely
from tests.oracles import box_hulls as oracle_bulk
from tests.oracles.heightmap_contacts import distance_of_segment, feet_on_triangles

pytestmark = pytest.mark.kernels

FIELDS = ("query", "triangle", "penetration", "normal", "point")

CASES = MESHES | {"lattice": lattice(np.random.default_rng(5), 120)}


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


def places(case, count, seed):
    """Return (size of the mesh, points on it and near it, some of them vertices)."""
    vertices, faces = case
    rng = np.random.default_rng(seed)
    size = float(np.ptp(vertices, axis=0).max())
    weights = rng.dirichlet((1, 1, 1), count)
    weights[::3] = (1, 0, 0)
    weights[1::3] = (0.5, 0.5, 0)
    points = (vertices[faces[rng.integers(len(faces), size=count)]] * weights[..., None]).sum(1)
    points[1::2] += rng.normal(size=points[1::2].shape) * 0.1 * size
    return size, points


def balls_of(case, count=12):
    size, centers = places(case, count, 1)
    radii = np.random.default_rng(2).uniform(0, 0.3, count) * size
    radii[0], radii[1], centers[1] = 0.0, 2 * size, centers[1] + size
    return np.column_stack([centers, radii])


def capsules_of(case, count=6):
    size, starts = places(case, count, 3)
    rng = np.random.default_rng(4)
    ends = starts + rng.normal(size=(count, 3)) * 0.2 * size
    ends[0] = starts[0]
    return np.column_stack([starts, ends, rng.uniform(0, 0.2, count) * size])


def turns_of(count, seed=6):
    turns, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(count, 3, 3)))
    turns[:, :, 0] *= np.linalg.det(turns)[:, None]
    turns[::3] = np.eye(3)
    return turns


def boxes_of(case, count=5):
    size, centers = places(case, count, 5)
    half = np.random.default_rng(7).uniform(0, 0.2, (count, 3)) * size
    return centers, half, turns_of(count)


def assert_brute(contacts, count, pushes):
    """Assert that contacts are what ``pushes`` says of query i and all triangles."""
    every = [pushes(i) for i in range(count)]
    faces = [np.flatnonzero(~np.isnan(moves[:, 0])) for moves in every]
    assert contacts.triangle.tolist() == np.concatenate(faces).tolist()
    assert contacts.query.tolist() == np.repeat(range(count), [len(f) for f in faces]).tolist()
    moves = np.concatenate([moves[own] for moves, own in zip(every, faces, strict=True)])
    assert contacts.penetration.tobytes() == moves.tobytes()
    np.testing.assert_allclose(np.linalg.norm(contacts.normal, axis=1), 1.0, atol=1e-12)
    along = contacts.normal * contacts.depth[:, None]
    scale = contacts.depth.max(initial=0.0)
    np.testing.assert_allclose(along, contacts.penetration, atol=1e-12 * scale)
    assert (contacts.material == 0).all()


def assert_same(one, other, rows=slice(None)):
    for name in FIELDS:
        assert getattr(one, name).tobytes() == getattr(other, name)[rows].tobytes(), name


def assert_deepest_and_counts(mesh, every, deepest, counts):
    order = np.lexsort((every.triangle, -every.depth, every.query))
    kept = order[np.diff(every.query[order], prepend=-1) > 0]
    assert_same(deepest, every, kept)
    assert counts.tolist() == np.bincount(every.query, minlength=len(counts)).tolist()


def test_balls(case):
    vertices, faces = case
    mesh, balls = TriangleMesh(vertices, faces), balls_of(case)
    every = mesh.contacts(balls)
    corners = vertices[faces]
    assert_brute(
        every,
        len(balls),
        lambda i: tp.rows.intersect_sphere_triangle(balls[i : i + 1], corners, two_sided=True),
    )
    assert len(every) > 8
    assert_deepest_and_counts(
        mesh, every, mesh.contacts(balls, keep="deepest"), mesh.contact_counts(balls)
    )
    for i in range(0, len(balls), 3):
        alone = mesh.contacts(Sphere(balls[i, :3], balls[i, 3]))
        assert (alone.query == 0).all()
        for name in FIELDS[1:]:
            own = getattr(every, name)[every.query == i]
            assert getattr(alone, name).tobytes() == own.tobytes()


def test_capsules(case):
    vertices, faces = case
    mesh, capsules = TriangleMesh(vertices, faces), capsules_of(case)
    every, corners = mesh.contacts(tp.Capsules(capsules)), vertices[faces]
    assert_brute(
        every,
        len(capsules),
        lambda i: tp.rows.intersect_capsule_triangle(capsules[i : i + 1], corners, two_sided=True),
    )
    shapes = [Capsule(row[:3], row[3:6], row[6]) for row in capsules]
    assert_same(mesh.contacts(shapes), every)
    deepest = mesh.contacts(shapes, keep="deepest")
    assert_deepest_and_counts(mesh, every, deepest, mesh.contact_counts(shapes))


def test_boxes(case):
    vertices, faces = case
    mesh, corners = TriangleMesh(vertices, faces), vertices[faces]
    centers, half, turns = boxes_of(case)
    every = mesh.contacts(tp.Boxes(centers, half, turns))
    assert_brute(
        every,
        len(centers),
        lambda i: tp.rows.intersect_obb_triangle(
            centers[i : i + 1], half[i : i + 1], turns[i : i + 1], corners, two_sided=True
        ),
    )
    deepest = mesh.contacts(tp.Boxes(centers, half, turns), keep="deepest")
    shapes = [OBB(*parts) for parts in zip(centers, half, turns, strict=True)]
    assert_deepest_and_counts(mesh, every, deepest, mesh.contact_counts(shapes))
    level = mesh.contacts(AABB(centers[0] - half[0], centers[0] + half[0]))
    assert level.triangle.tolist() == every.triangle[every.query == 0].tolist()


def assert_touched(found, distances, limit, slack):
    """Assert that all triangles clearly within a limit are found, and none clearly beyond."""
    assert set(np.flatnonzero(distances < limit - slack)) <= set(found.tolist())
    assert set(found.tolist()) <= set(np.flatnonzero(distances <= limit + slack))


def test_balls_and_capsules_against_an_oracle():
    vertices, faces = bumpy_sphere(7)
    mesh, corners = TriangleMesh(vertices, faces), vertices[faces]
    rng = np.random.default_rng(9)
    centers = rng.normal(size=(12, 3))
    centers *= rng.uniform(0.8, 1.2, (12, 1)) / np.linalg.norm(centers, axis=1, keepdims=True)
    for center in centers:
        found = mesh.contacts([(*center, 0.4)])
        feet, _, _ = feet_on_triangles(center, corners)
        distances = np.linalg.norm(feet - center, axis=1)
        assert_touched(found.triangle, distances, 0.4, 1e-12)
        own = found.triangle
        # From either side, straight away from the nearest point.
        away = (center - feet[own]) / distances[own, None]
        pushes = away * (0.4 - distances[own, None])
        np.testing.assert_allclose(found.penetration, pushes, atol=1e-9)
        np.testing.assert_allclose(found.point, feet[own], atol=1e-9)
        end = center + rng.normal(size=3) * 0.3
        found = mesh.contacts(tp.Capsules([(*center, *end, 0.2)]))
        distances = distance_of_segment(center, end, corners)
        assert_touched(found.triangle, distances, 0.2, 1e-7)


def test_boxes_against_an_oracle():
    vertices, faces = bumpy_sphere(7)
    mesh, corners = TriangleMesh(vertices, faces), vertices[faces]
    turns = turns_of(6)
    for k, turn in enumerate(turns):
        center, half = turn[:, 0] * (0.8 + 0.1 * k), np.array([0.2, 0.3, 0.25])
        found = mesh.contacts(tp.Boxes([center], [half], [turn]))
        count = len(corners)
        depths = oracle_bulk.depths(
            np.tile(center, (count, 1)),
            np.tile(half, (count, 1)),
            np.tile(turn, (count, 1, 1)),
            corners,
        )
        assert_touched(found.triangle, -depths, 0.0, 1e-12)
        np.testing.assert_allclose(found.depth, depths[found.triangle], atol=1e-9)


def test_a_sheet_has_two_sides():
    mesh = TriangleMesh([(0, 0, 0), (0, 0, 8), (8, 0, 0)], [(0, 1, 2)])
    for side in (1, -1):
        (ball,) = mesh.contacts(Sphere((2, side * 0.25, 2), 1))
        assert tuple(ball.penetration) == (0, side * 0.75, 0)
        assert tuple(ball.point) == (2, 0, 2)
        (capsule,) = mesh.contacts(Capsule((2, side * 0.25, 2), (2, side * 2, 2), 1))
        assert tuple(capsule.penetration) == (0, side * 0.75, 0)
        (box,) = mesh.contacts(OBB((2, side * 0.25, 2), (1, 1, 1)))
        assert tuple(box.penetration) == (0, side * 0.75, 0)
    (on_it,) = mesh.contacts(Sphere((2, 0, 2), 1))
    assert tuple(on_it.penetration) == (0, 1, 0)


def test_a_map_and_its_mesh_are_touched_alike():
    rng = np.random.default_rng(11)
    land = HeightMap(rng.uniform(0, 2, (9, 8)).astype(np.float32), border="open", diagonal="b-d")
    arrays = land.to_mesh()
    mesh = TriangleMesh(arrays.vertices, arrays.indices.astype(np.int64).reshape(-1, 3))
    x, z = rng.uniform(0.5, 6.5, 25), rng.uniform(0.5, 7.5, 25)
    centers = np.column_stack([x, land.height_at(x, z) + rng.uniform(-0.2, 0.6, 25), z])
    balls = np.column_stack([centers, rng.uniform(0.2, 1.2, 25)])
    one, two = land.contacts(balls), mesh.contacts(balls)
    assert one.query.tolist() == two.query.tolist()
    assert one.triangle.tolist() == two.triangle.tolist()
    np.testing.assert_allclose(one.point, two.point, atol=1e-12)
    # In front of a face, and at edges and corners, both push alike.
    corners = mesh.vertices[mesh.faces[two.triangle]]
    above = ((balls[two.query, :3] - corners[:, 0]) * mesh.normals[two.triangle]).sum(axis=1)
    alike = above > 1e-9
    assert alike.sum() > 50
    np.testing.assert_allclose(one.penetration[alike], two.penetration[alike], atol=1e-12)
    turns = turns_of(25)
    half = np.array([(0.4, 0.7, 0.3)])
    one, two = (ground.contacts(tp.Boxes(centers, half, turns)) for ground in (land, mesh))
    assert one.query.tolist() == two.query.tolist()
    assert one.triangle.tolist() == two.triangle.tolist()
    ends = np.column_stack([centers, centers + rng.normal(size=(25, 3)) * 0.3, np.full(25, 0.3)])
    one, two = land.contacts(tp.Capsules(ends)), mesh.contacts(tp.Capsules(ends))
    assert one.triangle.tolist() == two.triangle.tolist()


@pytest.mark.parametrize("keep", ["all", "deepest"])
def test_one_shape_is_a_row_of_many(case, keep):
    mesh, balls, ends = TriangleMesh(*case), balls_of(case), capsules_of(case)
    boxes = [OBB(ball[:3], (ball[3], 0.1, 0.2)) for ball in balls[:4]]
    blocks = [AABB(ball[:3] - ball[3], ball[:3] + ball[3]) for ball in balls[:4]]
    kinds: list[list[Any]] = [
        [Sphere(ball[:3], ball[3]) for ball in balls],
        [Capsule(end[:3], end[3:6], end[6]) for end in ends],
        boxes,
        blocks,
    ]
    for shapes in kinds:
        many = mesh.contacts(shapes, keep=keep)
        for k, shape in enumerate(shapes):
            one, rows = mesh.contacts(shape, keep=keep), many.query == k
            assert not one.query.any()
            for name in FIELDS[1:]:
                np.testing.assert_array_equal(getattr(one, name), getattr(many, name)[rows])


def test_threads_and_chunks_do_not_matter(monkeypatch):
    cut_finely(monkeypatch, 7)
    case = MESHES["grid"]
    mesh, balls = TriangleMesh(*case), np.tile(balls_of(case), (4, 1))
    for keep in ("all", "deepest"):
        one, three = (mesh.contacts(balls, keep=keep, threads=n) for n in (1, 3))
        assert_same(one, three)
        cut_finely(monkeypatch, 10**6)
        assert_same(mesh.contacts(balls, keep=keep), one)
        cut_finely(monkeypatch, 7)
    counts = [mesh.contact_counts(balls, threads=n).tolist() for n in (1, 3)]
    assert counts[0] == counts[1]


def test_many_shapes_are_asked_along_a_curve_and_answered_in_order():
    mesh = TriangleMesh(*MESHES["torus"])
    rng = np.random.default_rng(3)
    centers = rng.uniform(-1.2, 1.2, (300, 3)) * (1, 0.3, 1)
    balls = np.column_stack([centers, np.full(300, 0.1)])
    every = mesh.contacts(balls, threads=2)
    parts = [mesh.contacts(balls[k : k + 30]) for k in range(0, 300, 30)]  # too few to be sorted
    queries = np.concatenate([30 * k + part.query for k, part in enumerate(parts)])
    assert every.query.tolist() == queries.tolist()
    for name in FIELDS[1:]:
        own = np.concatenate([getattr(part, name) for part in parts])
        assert getattr(every, name).tobytes() == own.tobytes()
    assert mesh.contact_counts(balls).tolist() == np.bincount(queries, minlength=300).tolist()


def test_vast_and_far_shapes():
    vertices, faces = MESHES["sphere"]
    mesh, corners = TriangleMesh(vertices, faces), vertices[faces]
    balls = np.array(
        [
            (0, 0, 1e6, 1e6),
            (0, 1e12, 0, 1e12),
            (1e15, 0, 0, 2.0),
            (1e30, 0, 0, 2e30),
            (0, 0, 0, 1e-30),
        ]
    )
    every = mesh.contacts(balls)
    assert_brute(
        every,
        len(balls),
        lambda i: tp.rows.intersect_sphere_triangle(balls[i : i + 1], corners, two_sided=True),
    )
    assert (every.query == 3).sum() == len(faces)
    assert not np.isin([2, 4], every.query).any()


def test_refit_is_followed():
    vertices, faces = MESHES["sphere"]
    mesh = TriangleMesh(vertices, faces)
    ball = [(0, 1, 0, 0.3)]
    before = mesh.contacts(ball)
    mesh.refit(np.add(vertices, (5, 0, 0)))
    assert len(mesh.contacts(ball)) == 0
    assert mesh.contacts([(5, 1, 0, 0.3)]).triangle.tolist() == before.triangle.tolist()


def test_triangles_in_many_is_triangles_in():
    vertices, faces = grid(np.random.default_rng(1).uniform(0, 2, (20, 20)))
    mesh = TriangleMesh(vertices, faces)
    lower = np.random.default_rng(2).uniform(-1, 19, (30, 3)) * (1, 0.1, 1)
    upper = lower + np.random.default_rng(3).uniform(0, 1, (30, 3)) * (9, 1, 9)
    for margin in (0.0, 0.5):
        offsets, ids = mesh.triangles_in_many(lower, upper, margin=margin)
        for i, box in enumerate(map(AABB, lower, upper)):
            own = mesh.triangles_in(box, margin=margin)
            assert ids[offsets[i] : offsets[i + 1]].tolist() == own.ids.tolist()
        assert offsets[-1] == len(ids)
    assert len(ids) > 512
    offsets, ids = mesh.triangles_in_many(np.empty((0, 3)), np.empty((0, 3)))
    assert (offsets.tolist(), ids.tolist()) == ([0], [])


def test_no_shapes_and_no_contacts():
    mesh = TriangleMesh(*MESHES["sphere"])
    assert len(mesh.contacts(np.empty((0, 4)))) == 0
    assert mesh.contact_counts(np.empty((0, 4))).tolist() == []
    far = mesh.contacts([(9, 9, 9, 1)], keep="deepest")
    assert (len(far), far.penetration.shape) == (0, (0, 3))
    assert mesh.contact_counts([(9, 9, 9, 1)]).tolist() == [0]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: m.contacts([(0, 0, 0, -1)]), ValueError, "radius must be >= 0"),
        (lambda m: m.contacts([(0, 0, 0, 1)], keep="first"), ValueError, "keep must be"),
        (lambda m: m.contacts([(0, math.nan, 0, 1)]), ValueError, "shapes must be finite"),
        (lambda m: m.contacts([(0, 1e38, 0, 1)]), ValueError, "shapes must be below 1e[+]38 m"),
        (lambda m: m.contacts([(0, 0, 0, 1)], threads=0), ValueError, "threads must be"),
        (lambda m: m.contacts([Sphere((0, 0, 0), 1), 3]), TypeError, "of one kind"),
        (lambda m: m.triangles_in_many([(0, 1, 0)], [(0, 0, 0)]), ValueError, "lowers must be"),
    ],
)
def test_bad_input_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(TriangleMesh(*MESHES["one"]))
