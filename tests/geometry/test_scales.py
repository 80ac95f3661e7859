"""Shapes scaled by powers of two, over the whole promised range: the same answers, scaled."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from terrain_physics import (
    TriangleMesh,
    rows,
)

pytestmark = pytest.mark.kernels

Array = NDArray[np.float64]

RNG = np.random.default_rng(8)
COUNT = 60
POINTS, OTHERS = RNG.normal(size=(2, COUNT, 3))
SEGMENTS = RNG.normal(size=(COUNT, 2, 3))
TRIANGLES, MORE_TRIANGLES = RNG.normal(size=(2, COUNT, 3, 3))
HALF, MORE_HALF = RNG.uniform(0.2, 1.0, (2, COUNT, 3))
RADII = RNG.uniform(0.2, 1.0, (COUNT, 1))
WAYS = RNG.normal(size=(COUNT, 3))
TURN = np.array([[0.6, -0.8, 0.0], [0.8, 0.6, 0.0], [0.0, 0.0, 1.0]])[np.newaxis]
LOWERS, UPPERS = POINTS - HALF, POINTS + HALF
BALLS, MORE_BALLS = np.hstack([POINTS, RADII]), np.hstack([OTHERS, RADII])
CAPSULES = np.hstack([SEGMENTS.reshape(-1, 6), RADII])
MORE_CAPSULES = np.hstack([TRIANGLES.reshape(-1, 9)[:, :6], RADII])

PENETRATIONS: list[Callable[[float], Array]] = [
    lambda s: rows.intersect_sphere_sphere(s * BALLS, s * MORE_BALLS),
    lambda s: rows.intersect_capsule_sphere(s * CAPSULES, s * BALLS),
    lambda s: rows.intersect_capsule_capsule(s * CAPSULES, s * MORE_CAPSULES),
    lambda s: rows.intersect_aabb_aabb(
        s * LOWERS, s * UPPERS, s * (OTHERS - MORE_HALF), s * (OTHERS + MORE_HALF)
    ),
    lambda s: rows.intersect_aabb_sphere(s * LOWERS, s * UPPERS, s * MORE_BALLS),
    lambda s: rows.intersect_obb_sphere(s * POINTS, s * HALF, TURN, s * MORE_BALLS),
    lambda s: rows.intersect_obb_obb(
        s * POINTS, s * HALF, TURN, s * OTHERS, s * MORE_HALF, np.eye(3)[np.newaxis]
    ),
    lambda s: rows.intersect_obb_aabb(
        s * POINTS, s * HALF, TURN, s * (OTHERS - MORE_HALF), s * (OTHERS + MORE_HALF)
    ),
    lambda s: rows.intersect_capsule_aabb(s * CAPSULES, s * LOWERS, s * UPPERS),
    lambda s: rows.intersect_capsule_obb(s * CAPSULES, s * OTHERS, s * MORE_HALF, TURN),
    lambda s: rows.intersect_aabb_triangle(s * LOWERS, s * UPPERS, s * TRIANGLES),
    lambda s: rows.intersect_sphere_triangle(s * BALLS, s * TRIANGLES),
    lambda s: rows.intersect_obb_triangle(s * POINTS, s * HALF, TURN, s * TRIANGLES),
    lambda s: rows.intersect_capsule_triangle(s * CAPSULES, s * TRIANGLES),
    lambda s: rows.closest_point_on_triangle(s * POINTS, s * TRIANGLES),
    lambda s: rows.closest_point_on_segment(s * POINTS, s * SEGMENTS),
]
RAYS: list[Callable[[float], Array]] = [
    lambda s: rows.raycast_triangle(s * POINTS, WAYS, s * TRIANGLES),
    lambda s: rows.raycast_sphere(s * POINTS, WAYS, s * MORE_BALLS),
    lambda s: rows.raycast_aabb(s * OTHERS, WAYS, s * LOWERS, s * UPPERS),
    lambda s: rows.raycast_obb(s * OTHERS, WAYS, s * POINTS, s * HALF, TURN),
    lambda s: rows.raycast_capsule(s * POINTS, WAYS, s * CAPSULES),
]
EXACT: list[Callable[[float], Array]] = [
    lambda s: rows.crossing_segment(s * TRIANGLES, s * MORE_TRIANGLES),
    lambda s: rows.smallest_enclosing_sphere(s * TRIANGLES),
]


def assert_scales(question: Callable[[float], Array], exponent: int) -> None:
    expected, found = question(1.0), question(2.0**exponent)
    assert np.isfinite(expected).any()
    np.testing.assert_array_equal(found * 2.0**-exponent, expected)


@pytest.mark.parametrize("exponent", [-249, -40, 249])  # 2^249 is 0.9e75
@pytest.mark.parametrize("question", PENETRATIONS)
def test_penetrations_and_closest_points(question, exponent):
    assert_scales(question, exponent)


@pytest.mark.parametrize("exponent", [-300, 330])
@pytest.mark.parametrize("question", RAYS)
def test_rays(question, exponent):
    assert_scales(question, exponent)


@pytest.mark.parametrize("exponent", [-900, 1000])
@pytest.mark.parametrize("question", EXACT)
def test_exact_answers(question, exponent):
    assert_scales(question, exponent)


@pytest.mark.parametrize("exponent", [-225, 120])
def test_meshes(exponent):
    size = 2.0**exponent
    faces = np.arange(3 * COUNT).reshape(-1, 3)
    mesh = TriangleMesh(TRIANGLES.reshape(-1, 3), faces)
    scaled = TriangleMesh(size * TRIANGLES.reshape(-1, 3), faces)
    hits, found = mesh.raycast_many(POINTS, WAYS), scaled.raycast_many(size * POINTS, WAYS)
    np.testing.assert_array_equal(found.triangle, hits.triangle)
    np.testing.assert_array_equal(found.distance / size, hits.distance)
    near, near_found = mesh.closest_points(POINTS), scaled.closest_points(size * POINTS)
    np.testing.assert_array_equal(near_found.triangle, near.triangle)
    np.testing.assert_array_equal(near_found.point / size, near.point)
    np.testing.assert_array_equal(scaled.self_intersections(), mesh.self_intersections())
