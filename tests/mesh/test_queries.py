"""Rays, closest points and heights of a mesh, against asking every triangle."""

import math

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import ClosestPoint, HeightMap, Ray, RayHit, TriangleMesh
from tests.helpers import meshes as mesh_cases
from tests.helpers.meshes import MESHES
from tests.oracles import mesh as oracle_mesh

pytestmark = pytest.mark.kernels

RNG_SEED = 7


@pytest.fixture(params=MESHES)
def case(request):
    return MESHES[request.param]


def size_of(vertices):
    return float(np.ptp(vertices, axis=0).max())


def rays_at(vertices, faces, count):
    """Return rays from all around, most of them aimed at a face, and unit directions."""
    rng = np.random.default_rng(RNG_SEED)
    corners = vertices[rng.choice(faces, count)]
    weights = rng.dirichlet((1, 1, 1), count)[..., None]
    size = size_of(vertices)
    origins = corners[:, 0] + size * rng.choice([0.3, 2.0, 50.0], (count, 1)) * rng.normal(
        size=(count, 3)
    )
    directions = (corners * weights).sum(axis=1) - origins
    directions[::7] = rng.normal(size=directions[::7].shape)
    return origins, directions / np.linalg.norm(directions, axis=1, keepdims=True)


def test_rays(case):
    vertices, faces = case
    corners, size = vertices[faces], size_of(vertices)
    mesh = TriangleMesh(vertices, faces)
    origins, directions = rays_at(vertices, faces, 60)
    hits = mesh.raycast_many(origins, directions)
    # In the oracle's own frame, so that its rounding does not depend on the place.
    middle = vertices.mean(axis=0)
    distances, weights = oracle_mesh.ray_distances(
        (origins - middle) / size, directions, (corners - middle) / size
    )
    expected = distances.min(axis=1)
    sure = (weights > 1e-6).all(axis=1)
    assert sure.sum() > 20
    assert np.isnan(hits.distance[sure & np.isinf(expected)]).all()
    met = sure & np.isfinite(expected)
    tolerance = 1e-9 * size + 1e-14 * np.abs(vertices).max() + 1e-12 * size * expected[met]
    assert (np.abs(hits.distance[met] - expected[met] * size) <= tolerance).all()

    missed = np.isnan(hits.distance)
    assert (hits.triangle[missed] == -1).all()
    assert np.isnan(hits.point[missed]).all()
    assert np.isnan(hits.normal[missed]).all()
    np.testing.assert_array_equal(hits.normal[~missed], mesh.normals[hits.triangle[~missed]])
    points = origins + directions * hits.distance[:, None]
    np.testing.assert_allclose(hits.point, points, rtol=1e-12, atol=1e-9 * size)


def test_rays_meet_what_each_triangle_alone_would_have(case):
    """The tree changes nothing, to the last bit; of equals the lowest face is met."""
    vertices, faces = case
    origins, directions = rays_at(vertices, faces, 25)
    # Straight at vertices, and along the axes.
    aims = vertices[faces[np.arange(25) % len(faces), 0]]
    directions[:10] = (aims - origins)[:10]
    directions[10:16] = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
    origins[10:16] = aims[10:16] - 3 * size_of(vertices) * directions[10:16]
    hits = TriangleMesh(vertices, faces).raycast_many(origins, directions)
    alone = np.full((len(faces), len(origins)), np.inf)
    for number, face in enumerate(faces[:60]):
        one = TriangleMesh(vertices[face], [(0, 1, 2)]).raycast_many(origins, directions)
        alone[number] = np.where(np.isnan(one.distance), np.inf, one.distance)
    if len(faces) <= 60:
        best = alone.min(axis=0)
        np.testing.assert_array_equal(np.nan_to_num(hits.distance, nan=np.inf), best)
        first = np.where(np.isinf(best), -1, alone.argmin(axis=0))
        np.testing.assert_array_equal(hits.triangle, first)
    else:
        assert (np.nan_to_num(hits.distance, nan=np.inf) <= alone.min(axis=0)).all()


def test_nothing_slips_through_edges_and_vertices():
    vertices, faces = MESHES["torus"]
    mesh = TriangleMesh(vertices, faces)
    start = np.array([1.0, 0.0, 0.0])  # inside of the tube
    middles = (vertices[faces] + np.roll(vertices[faces], -1, axis=1)).reshape(-1, 3) / 2
    aims = np.vstack([vertices, middles[::3]]) - start
    assert (mesh.raycast_many([start], aims).triangle >= 0).all()


def test_the_farthest_distance_is_met():
    mesh = TriangleMesh(*MESHES["one"])
    down = Ray((1, 5, 1), (0, -1, 0))
    assert mesh.raycast(down, 5.0) == RayHit(5.0, glm.vec3(1, 0, 1), glm.vec3(0, 1, 0), 0)
    assert mesh.raycast(down, math.nextafter(5.0, 0.0)) is None
    assert mesh.raycast(Ray((1, 0, 1), (0, -1, 0)), 0.0) is not None
    assert mesh.raycast(Ray((1, -5, 1), (0, -1, 0))) is None
    hit = mesh.raycast(Ray((1, -5, 1), (0, 1, 0)))
    assert hit is not None
    assert hit.normal == glm.vec3(0, 1, 0)  # from behind, the front's


def test_of_equals_the_lowest_face():
    vertices, faces = MESHES["soup"]
    mesh = TriangleMesh(np.vstack([vertices] * 2), np.vstack([faces + len(vertices), faces]))
    corners = vertices[faces]
    origins, directions = rays_at(vertices, faces, 40)
    hits = mesh.raycast_many(origins, directions)
    assert hits.triangle.max() < len(faces)
    assert (hits.triangle >= 0).any()
    found = mesh.closest_points(corners[:40, 0])
    assert found.triangle.tolist() == list(range(40))


def test_closest_points(case):
    vertices, faces = case
    corners, size = vertices[faces], size_of(vertices)
    rng = np.random.default_rng(RNG_SEED)
    points = rng.choice(vertices, 60) + size * rng.choice(
        [0.0, 0.01, 0.5, 30.0], (60, 1)
    ) * rng.normal(size=(60, 3))
    found = TriangleMesh(vertices, faces).closest_points(points)
    middle = vertices.mean(axis=0)
    distances = oracle_mesh.closest_distances((points - middle) / size, (corners - middle) / size)
    slack = 1e-9 * size + 4e-16 * np.abs(vertices).max() + 1e-12 * distances.max() * size
    np.testing.assert_allclose(found.distance, distances.min(axis=1) * size, rtol=0, atol=slack)
    # The point is on the face that is named, and as far as is said.
    gaps = np.linalg.norm(found.point - points, axis=1)
    np.testing.assert_allclose(gaps, found.distance, rtol=0, atol=slack)
    chosen = distances[np.arange(60), found.triangle] * size
    np.testing.assert_allclose(chosen, found.distance, rtol=0, atol=slack)


@pytest.mark.parametrize("far", [1e3, 1e8, 1e30])
def test_from_far_away(far):
    mesh = TriangleMesh(*MESHES["grid"])
    point = np.array([-1.0, 0.1, -2.0]) * far
    found = mesh.closest_points([point])
    expected = np.linalg.norm(mesh.vertices - point, axis=1).min()
    assert found.distance[0] == pytest.approx(expected, rel=1e-14)
    hit = mesh.raycast(Ray((5, far, 5), (0, -1, 0)))
    assert hit is not None
    assert mesh.raycast(Ray((5, far, 5), (0, 1, 0))) is None
    assert mesh.raycast(Ray((far, far, 5), (0, -1, 0))) is None


def test_one_point():
    mesh = TriangleMesh(*MESHES["one"])
    found = mesh.closest_point(glm.vec3(1, -2, 1))
    assert found == ClosestPoint(glm.vec3(1, 0, 1), 2.0, 0)
    assert mesh.closest_point((4, 0, 0)).distance == 0.0


def test_heights_are_those_of_the_height_map():
    heights = np.random.default_rng(8).integers(0, 30, (12, 15)) / 8
    land = HeightMap(heights, border="open", cell_size=0.5)
    mesh = TriangleMesh(*mesh_cases.grid(heights, 0.5))
    rng = np.random.default_rng(9)
    x, z = rng.uniform(-0.5, 8, (2, 300))
    on_samples = rng.integers(0, 11, (2, 60)) / 2
    x, z = np.hstack([[x, z], on_samples])
    np.testing.assert_allclose(mesh.height_at(x, z), land.height_at(x, z), rtol=0, atol=1e-14)
    u, v = rng.uniform(0.01, 5.49, (2, 50))
    np.testing.assert_allclose(mesh.normal_at(u, v), land.normal_at(u, v), atol=1e-13)
    there = mesh.raycast(Ray((2.2, 9, 1.3), (0, -1, 0)))
    assert there is not None
    triangle = land.triangles_in(mesh.bounds).vertices[there.triangle]
    np.testing.assert_array_equal(triangle, mesh.vertices[mesh.faces[there.triangle]])


def is_row(one, rows, k):
    """Tell whether a single answer is row k of many, in float32 where it is a vec3."""
    expected = [getattr(rows, name)[k] for name in one._fields]
    return all(
        value == (glm.vec3(row) if isinstance(value, glm.vec3) else row)
        for value, row in zip(one, expected, strict=True)
    )


@pytest.mark.parametrize("reach", [math.inf, 1.0])
def test_one_at_a_time_is_a_row_of_many(case, reach):
    vertices, faces = case
    mesh = TriangleMesh(vertices, faces)
    origins, directions = rays_at(vertices, faces, 30)
    reach *= size_of(vertices)
    hits, found = mesh.raycast_many(origins, directions, reach), mesh.closest_points(origins)
    x, _, z = np.clip(origins, vertices.min(axis=0), vertices.max(axis=0)).T
    heights, normals = mesh.height_at(x, z), mesh.normal_at(x, z)
    for threads in (None, 1, 3):
        np.testing.assert_array_equal(mesh.height_at(x, z, threads=threads), heights)
        np.testing.assert_array_equal(mesh.normal_at(x, z, threads=threads), normals)
    for k in range(len(origins)):
        hit = mesh.raycast(Ray(origins[k], directions[k]), reach)
        assert is_row(hit, hits, k) if hit else hits.triangle[k] < 0
        assert is_row(mesh.closest_point(origins[k]), found, k)
        height, normal = mesh.height_at(float(x[k]), z[k]), mesh.normal_at(x[k], float(z[k]))
        np.testing.assert_array_equal(height, heights[k])
        np.testing.assert_array_equal(normal, glm.vec3(normals[k]))


def test_closest_points_of_long_and_tiny_triangles():
    """Leaving out triangles by their middles leaves out none that is nearest."""
    rng = np.random.default_rng(12)
    corners = rng.normal(size=(150, 3, 3)) * 10.0 ** rng.integers(-6, 1, (150, 1, 1))
    corners += rng.normal(size=(150, 1, 3)) * rng.choice([0.01, 1.0], (150, 1, 1))
    corners[::9, 2] = corners[::9, 0]  # segments
    mesh = TriangleMesh(corners.reshape(-1, 3), np.arange(450).reshape(-1, 3))
    points = rng.normal(size=(60, 3)) * rng.choice([0.01, 1.0, 30.0, 1e5], (60, 1))
    found = mesh.closest_points(points)
    alone = [TriangleMesh(three, [(0, 1, 2)]).closest_points(points).distance for three in corners]
    np.testing.assert_array_equal(found.distance, np.min(alone, axis=0))
    np.testing.assert_array_equal(found.triangle, np.argmin(alone, axis=0))


def test_the_highest_of_several_surfaces():
    floor, _ = MESHES["one"]
    ceiling = np.array([0.0, 3.0, 0.0]) + floor
    mesh = TriangleMesh(np.vstack([floor, ceiling]), [(0, 1, 2), (5, 4, 3)])
    assert mesh.height_at(1, 1) == 3.0
    assert mesh.normal_at(1, 1) == glm.vec3(0, -1, 0)
    assert isinstance(mesh.height_at(1, 1), float)
    assert math.isnan(mesh.height_at(9, 9))
    assert math.isnan(mesh.normal_at(9, 9).x)
    assert mesh.height_at([1, 9], np.array([[1], [2]])).shape == (2, 2)
    assert mesh.normal_at([1, 9], 1).shape == (2, 3)
    np.testing.assert_array_equal(mesh.height_at([1, 9], 1), [3.0, math.nan])
    np.testing.assert_array_equal(mesh.normal_at([1, 9], 1), [(0, -1, 0), [math.nan] * 3])
    assert isinstance(mesh.height_at(np.array(1), 1), float)
    assert mesh.normal_at(np.array(1), np.array(1)) == glm.vec3(0, -1, 0)
    for place in ((1.0, 1.0), (1, 1), ([1], 1)):
        for ask in (mesh.height_at, mesh.normal_at):
            with pytest.raises(ValueError, match="threads"):
                ask(*place, threads=0)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_any_number_of_threads(threads):
    vertices, faces = MESHES["sphere"]
    mesh = TriangleMesh(vertices, faces)
    many = 300
    points = np.random.default_rng(1).uniform(-2, 2, (many, 3))
    found = mesh.closest_points(points, threads=threads)
    one_by_one = [mesh.closest_points(points[k : k + 1]) for k in range(0, many, 10)]
    np.testing.assert_array_equal(
        found.distance[::10], np.concatenate([one.distance for one in one_by_one])
    )
    np.testing.assert_array_equal(
        found.triangle[::10], np.concatenate([one.triangle for one in one_by_one])
    )
    hits = mesh.raycast_many(points, [(1, 2, 3)], threads=threads)
    again = mesh.raycast_many(points[::-1], [(2, 4, 6)], threads=1)
    np.testing.assert_array_equal(hits.distance, again.distance[::-1])


def test_nothing_asked():
    mesh = TriangleMesh(*MESHES["one"])
    assert len(mesh.closest_points(np.empty((0, 3))).point) == 0
    assert len(mesh.raycast_many(np.empty((0, 3)), [(1, 0, 0)]).distance) == 0


def test_bad_questions():
    mesh = TriangleMesh(*MESHES["one"])
    with pytest.raises(TypeError, match="ray must be a Ray"):
        mesh.raycast((0, 1))  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="max_distance must be from 0 to inf, got -1"):
        mesh.raycast(Ray((0, 0, 0), (1, 0, 0)), -1)
    with pytest.raises(
        ValueError, match=r"directions\[1\] must not be zero, got \(0.0, 0.0, 0.0\)"
    ):
        mesh.raycast_many([(0, 0, 0)], [(1, 0, 0), (0, 0, 0)])
    with pytest.raises(ValueError, match="same number of rows or one"):
        mesh.raycast_many(np.zeros((3, 3)), np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"points must be below 1e\+38 m, got .* at \[0\]"):
        mesh.closest_points([(0, 1e71, 0)])
    with pytest.raises(ValueError, match=r"x must be below 1e\+38 m, got -1e\+80$"):
        mesh.height_at(-1e80, 0)
    with pytest.raises(ValueError, match=r"z must be below 1e\+38 m, got 1e\+71 at \[1\]$"):
        mesh.normal_at(0, [0, 1e71, 1e72])
    with pytest.raises(ValueError, match=r"point\.y must be finite"):
        mesh.closest_point((0, math.inf, 0))
    with pytest.raises(ValueError, match=r"point must be below 1e\+38 m, got \[0.0, -1e\+71"):
        mesh.closest_point((0, -1e71, 0))
    with pytest.raises(ValueError, match=r"ray must be below 1e\+38 m, got \[1e\+38, 0.0, 0.0\]"):
        mesh.raycast(Ray((1e38, 0, 0), (1, 0, 0)))
    with pytest.raises(ValueError, match="x must be finite"):
        mesh.height_at(math.nan, 0)
