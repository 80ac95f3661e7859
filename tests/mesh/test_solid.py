"""Solid meshes: what is closed, what is inside, and contacts that lead outwards."""

import copy
import itertools
import pickle
import re

import numpy as np
import pytest

from terrain_physics import Boxes, Capsules, Ground, HeightMap, Ray, Sphere, TriangleMesh
from terrain_physics._kernels.mesh.parts import FACED
from terrain_physics.surface.surface import queries_of
from tests.helpers.meshes import bumpy_sphere, torus
from tests.helpers.threads import cut_finely
from tests.oracles.winding import winding_numbers

pytestmark = pytest.mark.kernels

BOX = TriangleMesh.box((2, 2, 2), solid=False)
FIELDS = ("query", "triangle", "penetration", "normal", "point")


def turned(seed):
    """Return a random rotation as a matrix (4, 4), with a shift."""
    rng = np.random.default_rng(seed)
    matrix = np.eye(4)
    matrix[:3, :3] = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    matrix[:3, :3] *= np.sign(np.linalg.det(matrix[:3, :3]))
    matrix[:3, 3] = rng.normal(size=3)
    return matrix


def star(rng, count=12):
    """Return a closed mesh that winds through itself: a sphere with its vertices thrown about."""
    vertices, faces = bumpy_sphere(count, seed=int(rng.integers(1000)))
    return vertices + 0.4 * rng.normal(size=vertices.shape), faces


def joined(*cases):
    """Return several meshes as one."""
    firsts = np.cumsum([0] + [len(vertices) for vertices, _ in cases])
    faces = [faces + first for (_, faces), first in zip(cases, firsts[:-1], strict=True)]
    return np.concatenate([vertices for vertices, _ in cases]), np.concatenate(faces)


def bodies(seed):
    """Return closed meshes: plain, inside out, hollow, nested, crossing, wound several times."""
    rng = np.random.default_rng(seed)
    sphere, ring = bumpy_sphere(9, seed=seed), torus(14, 8)
    stairs = TriangleMesh.stairs(2, 0.25, 0.5, 7)
    small = 0.5 * sphere[0], sphere[1]
    inside_out = sphere[0], sphere[1][:, ::-1]
    return {
        "sphere": sphere,
        "ring": ring,
        "inside out": inside_out,
        "hollow": joined(sphere, (small[0], small[1][:, ::-1])),
        "hollow inside out": joined(inside_out, small),
        "nested": joined(sphere, small),
        "crossing": joined(sphere, (ring[0] + rng.normal(size=3), ring[1])),
        "star": star(rng),
        "box": (BOX.vertices, BOX.faces),
        "turned box": (BOX.transformed(turned(seed)).vertices, BOX.faces),
        "stairs": (stairs.vertices, stairs.faces),
    }


@pytest.mark.parametrize("name", bodies(0))
def test_inside_is_where_the_winding_number_is_not_0(name, monkeypatch):
    vertices, faces = bodies(3)[name]
    mesh = TriangleMesh(vertices, faces, solid=True)
    rng = np.random.default_rng(4)
    low, high = vertices.min(axis=0) - 0.2, vertices.max(axis=0) + 0.2
    points = rng.uniform(low, high, (400, 3))
    points[:60] = 0.5 * (vertices[rng.integers(len(vertices), size=60)] + points[:60])
    expected = np.abs(winding_numbers(vertices[faces], points)) > 0.5
    assert 10 < expected.sum() < 390
    inside = mesh.contains(points)
    assert np.array_equal(inside, expected)
    assert [mesh.contains(point) for point in points[:20]] == inside[:20].tolist()
    distances = mesh.signed_distance(points)
    assert np.array_equal(np.abs(distances), mesh.closest_points(points).distance)
    assert np.array_equal(distances < 0, inside)
    assert [mesh.signed_distance(tuple(p)) for p in points[:20]] == distances[:20].tolist()
    cut_finely(monkeypatch, 7)
    assert np.array_equal(mesh.contains(points, threads=2), inside)
    assert np.array_equal(mesh.signed_distance(points, threads=2), distances)


def test_points_straight_below_edges_and_corners():
    """Rays straight up through edges, corners and upright faces, from places on a lattice."""
    rng = np.random.default_rng(1)
    for _ in range(4):
        blocks = [
            TriangleMesh.box(rng.integers(1, 4, 3) * 2, transform=shift(rng.integers(-3, 4, 3)))
            for _ in range(4)
        ]
        mesh = TriangleMesh.merged([TriangleMesh(m.vertices, m.faces, solid=True) for m in blocks])
        assert mesh.solid
        points = np.stack(np.meshgrid(*[np.arange(-7, 8)] * 3), axis=-1).reshape(-1, 3) * 1.0
        lower = np.array([m.bounds.lower64 for m in blocks])
        upper = np.array([m.bounds.upper64 for m in blocks])
        expected = np.zeros(len(points), bool)
        for low, high in zip(lower, upper, strict=True):
            expected |= ((points >= low) & (points <= high)).all(axis=1)
        assert np.array_equal(mesh.contains(points), expected)
        assert np.array_equal(mesh.signed_distance(points) <= 0, expected)


def shift(by):
    matrix = np.eye(4)
    matrix[:3, 3] = by
    return matrix


@pytest.mark.parametrize("seed", range(3))
def test_points_on_the_surface_are_inside_at_distance_0(seed):
    rng = np.random.default_rng(seed)
    vertices, faces = bumpy_sphere(8, seed=seed)
    vertices = np.round(vertices * 64) / 64  # so that middles of edges are exact
    mesh = TriangleMesh(vertices, faces, solid=True)
    corners = vertices[faces[rng.integers(len(faces), size=40)]]
    on_it = np.concatenate([vertices, 0.5 * (corners[:, 0] + corners[:, 1])])
    assert mesh.contains(on_it).all()
    assert (mesh.signed_distance(on_it) == 0).all()
    skin = TriangleMesh(vertices, faces)
    assert skin.contains(on_it).all()
    assert not skin.contains((0.01, 0.02, 0.03))
    assert skin.signed_distance((0.01, 0.02, 0.03)) > 0


@pytest.mark.long
def test_winding_numbers_of_many():
    checked = 0
    for seed in range(50):
        cases = bodies(seed)
        vertices, faces = list(cases.values())[seed % len(cases)]
        matrix = turned(seed)
        vertices = vertices @ matrix[:3, :3].T + matrix[:3, 3] * 10 ** (seed % 5)
        mesh = TriangleMesh(vertices, faces, solid=True)
        rng = np.random.default_rng(seed)
        points = rng.uniform(vertices.min(axis=0), vertices.max(axis=0), (2000, 3))
        inside = mesh.contains(points)
        assert np.array_equal(inside, np.abs(winding_numbers(vertices[faces], points)) > 0.5)
        checked += len(points)
    assert checked == 100_000


# What is closed


def message(vertices, faces, **options):
    with pytest.raises(ValueError, match=r"^(faces|vertices) must .* but the edge from ") as caught:
        TriangleMesh(vertices, faces, solid=True, **options)
    return str(caught.value)


def test_an_open_mesh_is_refused_by_its_edge():
    told = message(BOX.vertices, np.delete(BOX.faces, 5, axis=0))
    first, last = map(int, re.findall(r"vertex (\d+) at", told))
    assert {first, last} < set(BOX.faces[5].tolist())
    assert str(tuple(BOX.vertices[first].tolist())) in told
    assert re.search(r"is of face \d+ alone$", told)


def test_an_edge_of_three_faces_is_refused():
    told = message(BOX.vertices, np.vstack([BOX.faces, [(0, 1, 6)]]))
    assert "is of 3 faces that do not pair up" in told


def test_faces_wound_against_each_other_are_refused():
    faces = BOX.faces.copy()
    faces[7] = faces[7, ::-1]
    told = message(BOX.vertices, faces)
    assert re.search(r"is of faces \d+ and \d+, which are wound against each other$", told)
    assert "7" in told.partition("is of faces")[2]


def test_four_faces_at_an_edge_may_close():
    """Two boxes that share an edge: two faces run along it each way."""
    other = BOX.transformed(shift((2, 2, 0)))
    mesh = TriangleMesh(
        *joined((BOX.vertices, BOX.faces), (other.vertices, other.faces)), solid=True
    )
    assert mesh.contains([(0, 0, 0), (2, 2, 0), (1, 1, 0), (2, 0, 0)]).tolist() == [1, 1, 1, 0]


def test_vertices_at_one_position_count_as_one():
    vertices = BOX.vertices[BOX.faces].reshape(-1, 3)
    mesh = TriangleMesh(vertices, np.arange(36).reshape(12, 3), solid=True)
    assert mesh.contains((0.3, 0.2, 0.1))
    torn = vertices.copy()
    torn[4] += 0.1
    with pytest.raises(ValueError, match="vertices must keep a solid mesh closed, but the edge"):
        mesh.refit(torn)
    assert mesh.version == 0
    assert mesh.contains((0.3, 0.2, 0.1))
    mesh.refit(vertices * 2)
    assert mesh.contains((1.9, 0, 0))
    mesh.refit(vertices * (-1, 1, 1))  # inside out now, and solid
    assert mesh.solid
    assert mesh.contains((0.3, 0.2, 0.1))
    assert not mesh.contains((1.9, 0, 0))


def test_faces_without_area_close_as_well():
    flat = TriangleMesh(BOX.vertices * (1, 0, 1), BOX.faces, solid=True)
    assert not flat.contains((0.2, 0.1, 0.2))
    assert flat.contains((0.2, 0, 0.2))
    with_points = np.vstack([BOX.faces, [(3, 3, 3), (1, 2, 2)]])
    assert TriangleMesh(BOX.vertices, with_points, solid=True).contains((0, 0, 0))


@pytest.mark.parametrize("value", [1, None, "yes"])
def test_solid_is_true_or_false(value):
    with pytest.raises(TypeError, match="solid must be True or False, got"):
        TriangleMesh.box((1, 1, 1), solid=value)


@pytest.mark.parametrize("solid", [None, True, False])
def test_makers_make_solid_things_unless_asked(solid):
    asked = {} if solid is None else {"solid": solid}
    made = [
        TriangleMesh.box((2, 2, 2), **asked),
        TriangleMesh.sphere(1, **asked),
        TriangleMesh.cylinder(1, 2, **asked),
        TriangleMesh.stairs(width=2, rise=0.2, tread=0.3, steps=3, **asked),
        TriangleMesh.ramp(width=2, height=1, length=2, **asked),
    ]
    made.append(TriangleMesh.merged(made))
    assert {mesh.solid for mesh in made} == {solid is not False}
    assert not TriangleMesh(made[0].vertices, made[0].faces).solid


# What keeps it


def test_solid_is_kept(tmp_path):
    mesh = TriangleMesh.cylinder(1, 2, sections=8, solid=True)
    path = tmp_path / "pillar.ground"
    mesh.save(path)
    land = Ground([HeightMap(np.zeros((9, 9))), mesh])
    land.save(tmp_path / "land.ground")
    loaded = Ground.load(tmp_path / "land.ground")
    copies = [
        TriangleMesh.load(path),
        pickle.loads(pickle.dumps(mesh)),
        copy.deepcopy(mesh),
        mesh.transformed(np.diag([-1, 2, 1, 1])),
        mesh.transformed(turned(4)),
        TriangleMesh.merged([mesh, BOX.transformed(shift((9, 9, 9)))]),
        loaded.parts[1],
    ]
    assert [copied.solid for copied in copies] == [True] * 5 + [False, True]
    assert loaded.contains((0, 0.5, 0))
    assert "solid" in repr(copies[0])
    assert "solid" not in repr(BOX)


# Maps and grounds


def test_a_ground_is_the_union_of_what_is_solid():
    crate, skin = TriangleMesh.box((2, 2, 2)), TriangleMesh.box((2, 2, 2), solid=False)
    land = Ground([HeightMap(np.zeros((9, 9))), crate, skin], layers=[1, 2, 4])
    land.move(1, shift((4, 0.5, 4)), 0.1)
    land.move(2, shift((7, 0.5, 7)))
    points = [(4, 1, 4), (4, -0.2, 4), (7, 1, 7), (2, 1, 2), (4, 1.5, 4)]
    assert land.contains(points).tolist() == [True, True, False, False, True]
    distances = land.signed_distance(points)
    assert distances.tolist() == pytest.approx([-0.5, -0.3, 0.5, 1.0, 0.0])
    assert land.contains(points, mask=1).tolist() == [False, True, False, False, False]
    assert land.signed_distance((4, 1, 4), mask=0) == np.inf
    assert not land.contains((4, 1, 4), mask=0)


# Contacts, and what stays


def shapes_around(rng, count):
    """Return spheres, boxes and capsules around a box of edge 2."""
    centers = rng.uniform(-1.6, 1.6, (count, 3))
    spheres = np.column_stack([centers, rng.uniform(0.1, 0.8, count)])
    axes = rng.normal(size=(count, 3)) * 0.4
    capsules = np.column_stack([centers - axes, centers + axes, rng.uniform(0.1, 0.5, count)])
    turns = np.stack([np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(count)])
    turns *= np.sign(np.linalg.det(turns))[:, None, None]
    boxes = Boxes(centers, rng.uniform(0.1, 0.6, (count, 3)), turns)
    return centers, (spheres, Capsules(capsules), boxes)


def test_contacts_lead_outwards_of_a_shape_with_its_middle_inside():
    matrix = turned(8)
    matrix[:3, 3] = 0
    solid = TriangleMesh.box((2, 2, 2), transform=matrix, solid=True)
    skin = TriangleMesh(solid.vertices, solid.faces)
    inside_out = TriangleMesh(solid.vertices, solid.faces[:, ::-1], solid=True)
    centers, kinds = shapes_around(np.random.default_rng(9), 300)
    buried = solid.contains(centers)
    normals = skin.normals
    for shapes in kinds:
        found, plain = solid.contacts(shapes), skin.contacts(shapes)
        assert np.array_equal(found.query, plain.query)
        assert np.array_equal(found.triangle, plain.triangle)
        out = buried[found.query]
        assert 100 < out.sum() < len(out) - 100
        for field in FIELDS:
            assert np.array_equal(getattr(found, field)[~out], getattr(plain, field)[~out])
        along = np.einsum("ij,ij->i", found.normal, normals[found.triangle])
        assert (along[out] > -1e-9).all()
        lengths = np.linalg.norm(found.penetration, axis=1)
        assert np.allclose(found.penetration, lengths[:, None] * found.normal)
        turned_over = inside_out.contacts(shapes)
        assert np.allclose(turned_over.penetration[out], found.penetration[out])


def test_contacts_lead_outwards_of_a_shape_with_its_middle_on_a_face():
    """Also on edges and corners: what is on a face is inside."""
    mesh, shares = TriangleMesh.box((2, 2, 2), solid=True), (-1, -0.875, 0, 0.25, 1)
    at = np.array([p for p in itertools.product(shares, repeat=3) if 1 in map(abs, p)], float)
    assert mesh.contains(at).all()
    count, up = len(at), (0, 0.5, 0)
    balls = np.column_stack([at, np.full(count, 0.3)])
    capsules = Capsules(np.column_stack([at - up, at + up, np.full(count, 0.3)]))
    boxes = Boxes(at, np.full((count, 3), (0.3, 0.8, 0.3)), np.tile(np.eye(3), (count, 1, 1)))
    for shapes in (balls, capsules, boxes):
        found = mesh.contacts(shapes)
        along = np.einsum("ij,ij->i", found.normal, mesh.normals[found.triangle])
        assert len(found) > 2 * count
        assert along.min() > -1e-9
    edge = mesh.contacts([(0.875, 1, 0, 0.3)])
    assert {tuple(move) for move in edge.penetration.tolist()} == {(0, 0.3, 0), (0.425, 0, 0)}


def test_a_ball_inside_is_pushed_out_through_the_nearest_faces():
    mesh = TriangleMesh.box((2, 2, 2), solid=True)
    found = mesh.contacts([(0, 0.9, 0, 0.3)])
    assert found.normal.tolist() == [[0, 1, 0]] * len(found)
    assert found.depth.tolist() == pytest.approx([0.4] * len(found))
    one = mesh.contacts(Sphere((0, 0.9, 0), 0.3))
    assert np.array_equal(one.penetration, found.penetration)
    deepest = mesh.contacts([(0, 0.9, 0, 0.3)], keep="deepest")
    assert deepest.penetration.tolist() == [found.penetration[0].tolist()]


@pytest.mark.parametrize("kind", ["map", "solid"])
def test_what_is_all_inside_has_no_contact_but_is_contained(kind):
    land = HeightMap(np.zeros((5, 5)), origin=(-2, 0, -2), thickness=2.0)
    ground = land if kind == "map" else TriangleMesh.box((4, 2, 4), position=(0, -1, 0))
    deep, at_the_top, at_the_bottom = (
        len(ground.contacts([(0, y, 0, 0.4)])) for y in (-1, -0.4, -1.7)
    )
    assert ground.contains((0, -1, 0))
    assert deep == 0 < at_the_top
    assert (at_the_bottom > 0) == (kind == "solid")


def test_rays_sweeps_and_closest_points_are_those_of_a_skin():
    solid = TriangleMesh(*bumpy_sphere(8), solid=True)
    skin = TriangleMesh(solid.vertices, solid.faces)
    rng = np.random.default_rng(0)
    points, ways = rng.normal(size=(2, 200, 3))
    for field in ("distance", "triangle", "point", "normal"):
        one = getattr(solid.raycast_many(points, ways), field)
        assert np.array_equal(one, getattr(skin.raycast_many(points, ways), field), equal_nan=True)
    assert solid.raycast(Ray((0, 0, 0), (0, 1, 0))) == skin.raycast(Ray((0, 0, 0), (0, 1, 0)))
    assert np.array_equal(solid.closest_points(points).point, skin.closest_points(points).point)
    balls = np.column_stack([points, np.full(200, 0.2)])
    one, other = solid.sweep_many(balls, ways), skin.sweep_many(balls, ways)
    assert np.array_equal(one.fraction, other.fraction, equal_nan=True)
    assert np.array_equal(one.normal, other.normal, equal_nan=True)


def test_tables_count_what_is_no_skin():
    """Characters look for solid meshes only where there is one; rows come, go and are closed up."""
    land, rng = Ground([HeightMap(np.zeros((5, 5)))]), np.random.default_rng(0)
    keys: list[int] = []
    for step in range(120):
        if keys and rng.random() < (0.3 if step < 60 else 0.7):
            land.remove(keys.pop(int(rng.integers(len(keys)))))
        else:
            keys.append(land.add(TriangleMesh.box((1, 1, 1), solid=bool(step % 3 == 0))))
            land.move(keys[-1], shift(rng.uniform(0, 9, 3)))
        solid = sum(isinstance(part, TriangleMesh) and part.solid for part in land.parts.values())
        with queries_of(land).reading() as arrays:
            assert arrays.meshes[0, FACED] == solid


def test_merged_solids_are_inside_where_one_of_them_is():
    turned_over = TriangleMesh(BOX.vertices, BOX.faces[:, ::-1], solid=True)
    parts = [turned_over.transformed(shift((k, 0.1 * k, 0))) for k in (0, 1, 5)]
    parts.append(TriangleMesh.box((2, 2, 2), transform=shift((1.5, 0.2, 0.3)), solid=True))
    merged = TriangleMesh.merged(parts)
    points = np.random.default_rng(5).uniform((-2, -2, -2), (7, 3, 2), (500, 3))
    inside = merged.contains(points)
    assert 50 < inside.sum() < 450
    assert np.array_equal(inside, np.any([part.contains(points) for part in parts], axis=0))
    assert np.array_equal(merged.vertices[:8], parts[0].vertices)
