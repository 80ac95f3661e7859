"""Closest points on triangles and segments, against an exact oracle."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyglm import glm

import terrain_physics as tp
from terrain_physics import (
    Segment,
    Triangle,
    closest_point_on_segment,
    closest_point_on_triangle,
)
from tests.helpers import strategies
from tests.helpers.examples import examples
from tests.oracles import geometry as oracle
from tests.oracles.geometry import corners_of, vector

pytestmark = pytest.mark.kernels

FLOOR = np.array([[0, 0, 0], [0, 0, 4], [4, 0, 0]], dtype=float)


def check(point, found, exact, corners, loss=0.0):
    """Hold a closest point against the exact one, within what float64 may be off by."""
    slack = (1e-14 + loss) * float(np.abs(corners - point).max())
    slack += 2 * float(np.spacing(max(np.abs(corners).max(), np.abs(point).max())))
    place, there = vector(point.tolist()), vector(found.tolist())
    right = oracle.length(oracle.subtract(place, exact))
    distance = oracle.length(oracle.subtract(place, there))
    assert abs(float(distance - right)) <= slack
    assert float(oracle.length(oracle.subtract(there, exact))) <= slack


@given(case=strategies.sphere_cases())
@examples(300)
def test_triangle(case):
    point, triangle = case.sphere[:3], case.triangle
    found = tp.rows.closest_point_on_triangle(point[None], triangle[None])[0]
    corners = corners_of(triangle.tolist())
    thinness = oracle.thinness(corners)
    exact = oracle.closest_on_triangle(vector(point.tolist()), corners)
    loss = 5e-16 / max(thinness, 1e-10) if thinness else 0.0
    check(point, found, exact, triangle, loss)


@given(case=strategies.sphere_cases())
@examples(200)
def test_segment(case):
    point, (a, b, _) = case.sphere[:3], case.triangle
    found = tp.rows.closest_point_on_segment(point[None], [[a, b]])[0]
    ends = vector(a.tolist()), vector(b.tolist())
    exact = oracle.closest_on_segment(vector(point.tolist()), *ends)
    check(point, found, exact, case.triangle[:2])


@pytest.mark.parametrize(
    ("point", "triangle", "closest"),
    [
        ((1, 5, 1), FLOOR, (1, 0, 1)),
        ((1, -5, 1), FLOOR[::-1], (1, 0, 1)),
        ((1, 0, 1), FLOOR, (1, 0, 1)),
        ((3, 5, 3), FLOOR, (2, 0, 2)),
        ((2, 1, -3), FLOOR, (2, 0, 0)),
        ((-3, 5, -3), FLOOR, (0, 0, 0)),
        ((9, 5, -1), FLOOR, (4, 0, 0)),
        ((1, 5, 3), [(0, 0, 0), (4, 0, 0), (2, 0, 0)], (1, 0, 0)),  # a segment
        ((7, 5, 3), [(0, 0, 0), (4, 0, 0), (2, 0, 0)], (4, 0, 0)),
        ((1, 5, 3), [(2, 0, 1)] * 3, (2, 0, 1)),  # a point
        ((-0.0, 5, -0.0), FLOOR, (0, 0, 0)),
        # Beside an obtuse corner an edge is nearer than the corner.
        ((-1, 0, 0), [(0, 0, 0), (4, 0, 0), (-4, 0, 1)], (-16 / 17, 0, 4 / 17)),
    ],
)
def test_triangle_by_hand(point, triangle, closest):
    found = closest_point_on_triangle(point, Triangle(*triangle))
    assert isinstance(found, glm.vec3)
    np.testing.assert_array_equal(np.array(found), np.array(closest, dtype=np.float32))
    rows = tp.rows.closest_point_on_triangle([point], np.reshape(triangle, (1, 9)))
    np.testing.assert_allclose(rows, [closest], rtol=1e-15)
    assert not np.signbit(rows[rows == 0.0]).any()


@pytest.mark.parametrize(
    ("point", "closest"),
    [
        ((1, 5, 1), (1, 0, 0)),
        ((-1, 5, 1), (0, 0, 0)),
        ((9, 5, 1), (4, 0, 0)),
        ((3, 0, 0), (3, 0, 0)),
    ],
)
def test_segment_by_hand(point, closest):
    assert closest_point_on_segment(point, Segment((0, 0, 0), (4, 0, 0))) == glm.vec3(closest)
    rows = tp.rows.closest_point_on_segment([point, point], [(4, 0, 0, 0, 0, 0)])
    np.testing.assert_array_equal(rows, [closest, closest])
    assert closest_point_on_segment(point, Segment((1, 2, 3), (1, 2, 3))) == glm.vec3(1, 2, 3)


@given(cases=st.lists(strategies.sphere_cases(), min_size=1, max_size=4))
@examples(30)
def test_rows_know_nothing_of_each_other(cases):
    points = np.array([case.sphere[:3] for case in cases])
    triangles = np.array([case.triangle for case in cases])
    rows = tp.rows.closest_point_on_triangle(points, triangles)
    one_point = tp.rows.closest_point_on_triangle(points[:1], triangles)
    one_triangle = tp.rows.closest_point_on_triangle(points, triangles[:1])
    for i, (point, triangle) in enumerate(zip(points, triangles, strict=True)):
        alone = closest_point_on_triangle(point, Triangle(*triangle))
        np.testing.assert_array_equal(rows[i].astype(np.float32), np.array(alone))
        np.testing.assert_array_equal(
            one_point[i], tp.rows.closest_point_on_triangle(points[:1], triangle[None])[0]
        )
        np.testing.assert_array_equal(
            one_triangle[i], tp.rows.closest_point_on_triangle(point[None], triangles[:1])[0]
        )


def test_bad_input():
    floor, line = Triangle(*FLOOR), Segment((0, 0, 0), (1, 0, 0))
    with pytest.raises(TypeError, match=r"triangle must be a Triangle, got Segment"):
        closest_point_on_triangle((0, 0, 0), line)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"segment must be a Segment, got Triangle"):
        closest_point_on_segment((0, 0, 0), floor)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"point must be three numbers, got 2"):
        closest_point_on_segment((0, 0), line)
    with pytest.raises(ValueError, match=r"points must have shape \(n, 3\), got \(3,\)"):
        tp.rows.closest_point_on_triangle((0, 0, 0), [FLOOR])
    with pytest.raises(ValueError, match=r"segments must have shape \(n, 2, 3\) or \(n, 6\)"):
        tp.rows.closest_point_on_segment([(0, 0, 0)], [(0, 0, 0)])
    with pytest.raises(ValueError, match=r"same number of rows or one, but points has 2"):
        tp.rows.closest_point_on_segment([(0, 0, 0)] * 2, np.zeros((3, 6)))
