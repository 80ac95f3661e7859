"""Questions to meshes with answers that are known."""

import math

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import OBB, Capsule, ClosestPoint, Ray, RayHit, Sphere, TriangleMesh
from tests.helpers.meshes import MESHES

pytestmark = pytest.mark.kernels


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


def test_many_shapes_are_asked_along_a_curve_and_answered_in_order():
    mesh = TriangleMesh(*MESHES["torus"])
    rng = np.random.default_rng(3)
    centers = rng.uniform(-1.2, 1.2, (300, 3)) * (1, 0.3, 1)
    balls = np.column_stack([centers, np.full(300, 0.1)])
    every = mesh.contacts(balls, threads=2)
    parts = [mesh.contacts(balls[k : k + 30]) for k in range(0, 300, 30)]  # too few to be sorted
    queries = np.concatenate([30 * k + part.query for k, part in enumerate(parts)])
    assert every.query.tolist() == queries.tolist()
    for name in ("triangle", "penetration", "normal", "point"):
        own = np.concatenate([getattr(part, name) for part in parts])
        assert getattr(every, name).tobytes() == own.tobytes()
    assert mesh.contact_counts(balls).tolist() == np.bincount(queries, minlength=300).tolist()


def test_refit_is_followed():
    vertices, faces = MESHES["sphere"]
    mesh = TriangleMesh(vertices, faces)
    ball = [(0, 1, 0, 0.3)]
    before = mesh.contacts(ball)
    mesh.refit(np.add(vertices, (5, 0, 0)))
    assert len(mesh.contacts(ball)) == 0
    assert mesh.contacts([(5, 1, 0, 0.3)]).triangle.tolist() == before.triangle.tolist()
