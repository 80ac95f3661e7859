"""Sphere against triangle: what the penetration promises, against an exact oracle."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyglm import glm

import terrain_physics as tp
from terrain_physics import (
    Sphere,
    Triangle,
    intersect_sphere_triangle,
)
from terrain_physics._kernels.geometry.sphere_triangle import TOUCHING, sphere_at_origin
from tests.helpers import strategies
from tests.helpers.examples import examples
from tests.helpers.strategies import Array, SphereCase
from tests.oracles import geometry as oracle
from tests.oracles.geometry import add, corners_of, subtract, vector

pytestmark = pytest.mark.kernels

FLOOR = np.array([[0, 0, 0], [0, 0, 4], [4, 0, 0]], dtype=float)  # front: +Y
THIN = 1e-7
"""Below this height over length, whether a triangle has area is left to rounding."""


def push_of(case: SphereCase, *, two_sided: bool = False) -> Array:
    """Return the library's penetration, NaN where apart."""
    rows = tp.rows.intersect_sphere_triangle(
        case.sphere[None], case.triangle[None], two_sided=two_sided
    )
    return strategies.as_array(rows[0])


def tolerance_of(case: SphereCase, depth: float) -> float:
    size = oracle.span(corners_of(case.triangle)) + float(case.sphere[3])
    return oracle.tolerance(size, depth, case.sphere[:3], case.triangle)


def check(case: SphereCase, *, two_sided: bool) -> None:
    """Hold one case against the oracle.

    Left to rounding: contact or not within the tolerance around touching; and, one-sided, whether a
    closest point within the tolerance of an edge counts as face or edge.
    """
    center, radius = vector(map(float, case.sphere[:3])), Fraction(float(case.sphere[3]))
    triangle = corners_of(case.triangle.tolist())
    push = push_of(case, two_sided=two_sided)
    thinness = oracle.thinness(triangle)
    band = 1e-10 / max(thinness, THIN) ** 2
    answer = oracle.sphere_answer(center, radius, triangle, two_sided=two_sided, band=band)
    slack = Fraction(tolerance_of(case, float(np.linalg.norm(np.nan_to_num(push)))))

    if np.isnan(push).any():
        assert np.isnan(push).all()
        assert answer.distance > radius - slack, "contact missed"
        return
    assert answer.distance <= radius + slack, "apart, but reported as a contact"
    if 0 < thinness < THIN and not two_sided:
        return

    # After the push they just touch: not apart, not inside each other.
    move = vector(map(float, push))
    after = oracle.closest_on_triangle(add(center, move), triangle)
    left = oracle.length(subtract(add(center, move), after))
    assert abs(left - radius) <= slack, "after the push they do not just touch"

    # It is the move of the rule; two-sided, none is shorter than radius - distance.
    depth = oracle.length(move)
    if two_sided:
        assert abs(depth - (radius - answer.distance)) <= slack, "a shorter move does it"
    size = oracle.span([*triangle, center])
    blurred = 1e-13 * (1 / max(thinness, THIN) + size / max(float(answer.distance), 1e-300))
    if thinness >= THIN and blurred < 1e-6 and answer.pushes:
        nearest = min(oracle.length(subtract(move, right)) for right in answer.pushes)
        assert nearest <= slack + depth * Fraction(blurred), "not the move of the rule"

    # A slightly longer move sets them apart; a slightly shorter one does not part them.
    if depth > 0:
        for factor, apart in ((1 + 3 * slack / depth, True), (Fraction(999_999, 1_000_000), False)):
            if not apart and depth < slack * 10**7:
                continue
            there = add(center, oracle.scale(move, factor))
            gap = oracle.length(subtract(there, oracle.closest_on_triangle(there, triangle)))
            assert (gap > radius) == apart


@given(case=strategies.sphere_cases(), two_sided=st.booleans())
@examples(400)
def test_against_oracle(case, two_sided):
    check(case, two_sided=two_sided)


@pytest.mark.long
@given(case=strategies.sphere_cases(), two_sided=st.booleans())
@examples(20_000)
def test_against_oracle_long(case, two_sided):
    check(case, two_sided=two_sided)


@given(case=strategies.sphere_cases(strategies.flat_triangles()), two_sided=st.booleans())
@examples(100)
def test_without_area(case, two_sided):
    """A segment or a point has no front: one- and two-sided are the same bits."""
    check(case, two_sided=two_sided)
    np.testing.assert_array_equal(push_of(case), push_of(case, two_sided=True))


@given(case=strategies.sphere_cases(), data=st.data())
@examples(100)
def test_corner_orders(case, data):
    """Turning the corners round changes nothing, swapping two turns the front to the back."""
    order = list(data.draw(st.sampled_from(list(permutations(range(3))))))
    other = case._replace(triangle=case.triangle[order])
    check(other, two_sided=False)
    first, second = push_of(case, two_sided=True), push_of(other, two_sided=True)
    lengths = np.linalg.norm(np.nan_to_num([first, second]), axis=1)
    assert lengths[0] == pytest.approx(lengths[1], abs=2 * tolerance_of(case, lengths[0]), rel=0)


@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize("height", [0.25, -0.25, 0.0])
def test_corner_orders_over_the_face(order, height):
    case = SphereCase(np.array([1, height, 1, 1.0]), FLOOR[list(order)])
    front = 1.0 if order in {(0, 1, 2), (1, 2, 0), (2, 0, 1)} else -1.0
    np.testing.assert_allclose(push_of(case), [0, front * (1 - front * height), 0], atol=1e-15)


@given(case=strategies.sphere_cases(strategies.plain_triangles()), data=st.data())
@examples(100)
def test_turned_and_moved(case, data):
    """The whole scene turned and moved: still right, and the two-sided push turns with it."""
    turn, shift = data.draw(strategies.rotations()), data.draw(strategies.offsets(1.0))
    other = SphereCase(
        np.append(turn @ case.sphere[:3] + shift, case.sphere[3]), case.triangle @ turn.T + shift
    )
    check(other, two_sided=False)
    first, second = push_of(case, two_sided=True), push_of(other, two_sided=True)
    lengths = np.linalg.norm(np.nan_to_num([first, second]), axis=1)
    slack = 4 * (tolerance_of(case, lengths[0]) + tolerance_of(other, lengths[1]))
    assert abs(lengths[0] - lengths[1]) <= slack


@pytest.mark.parametrize("two_sided", [False, True])
@pytest.mark.parametrize(
    ("point", "triangle", "push"),
    [
        ((1, 0, 1), FLOOR, (0, 1, 0)),  # face
        ((0, 0, 2), FLOOR, (0, 1, 0)),  # edges
        ((2, 0, 0), FLOOR, (0, 1, 0)),
        ((2, 0, 2), FLOOR, (0, 1, 0)),
        ((0, 0, 0), FLOOR, (0, 1, 0)),  # corners
        ((0, 0, 4), FLOOR, (0, 1, 0)),
        ((4, 0, 0), FLOOR, (0, 1, 0)),
        ((2, 0, 2), FLOOR[::-1], (0, -1, 0)),
        ((3, 5, 7), [(3, 5, 7)] * 3, (0, 1, 0)),  # a point: straight up
        ((1, 0, 2), [(0, 0, 2), (1, 0, 2), (4, 0, 2)], (0, 1, 0)),  # a level segment
        ((0, 0, 0), [(-3, -4, 0), (-3, -4, 0), (3, 4, 0)], (-0.8, 0.6, 0)),  # a sloping one
    ],
)
def test_center_on_the_triangle(point, triangle, push, two_sided):
    case = SphereCase(np.array([*point, 1.0]), np.array(triangle, dtype=float))
    np.testing.assert_allclose(push_of(case, two_sided=two_sided), push, atol=1e-15)


def test_center_on_a_vertical_segment():
    case = SphereCase(
        np.array([0, 1, 0, 2.0]), np.array([(0, 0, 0), (0, 3, 0), (0, 1, 0)], dtype=float)
    )
    push = push_of(case)
    assert push[1] == 0.0
    assert np.linalg.norm(push) == pytest.approx(2.0, rel=1e-15)


@given(case=strategies.sphere_cases(), share=st.floats(0, 1), power=st.integers(-20, -12))
@examples(100)
def test_center_a_hair_off_an_edge(case, share, power):
    """Rounding leaves a center beside the edge it was put on; it must not slide along that edge."""
    triangle = case.triangle
    center = triangle[0] + share * (triangle[1] - triangle[0])
    center = center + 10.0**power * (triangle[2] - triangle[1])
    other = SphereCase(np.append(center, case.sphere[3]), triangle)
    check(other, two_sided=False)
    check(other, two_sided=True)


@pytest.mark.parametrize("two_sided", [False, True])
@pytest.mark.parametrize(
    "sphere",
    [
        (1, 2, 1, 2),  # on the face
        (-3, 4, 2, 5),  # beside an edge
        (-2, -6, -3, 7),  # off a corner: 2, 3, 6, 7
        (1, 0, 1, 0),  # a sphere that is a point
        (4, 0, 0, 0),
    ],
)
def test_touching_is_contact_with_a_move_of_zero(sphere, two_sided):
    case = SphereCase(np.array(sphere, dtype=float), FLOOR)
    np.testing.assert_array_equal(push_of(case, two_sided=two_sided), np.zeros(3))
    further = case.sphere.copy()
    further[3] = np.nextafter(further[3], -1.0)
    if further[3] > 0.0:
        assert np.isnan(push_of(case._replace(sphere=further), two_sided=two_sided)).all()


def test_touching_from_behind_leaves_through_the_front():
    case = SphereCase(np.array([1, -2, 1, 2.0]), FLOOR)
    np.testing.assert_array_equal(push_of(case), [0, 4, 0])
    np.testing.assert_array_equal(push_of(case, two_sided=True), [0, 0, 0])


@given(case=strategies.sphere_cases(), two_sided=st.booleans())
@examples(100)
def test_one_pair_is_a_row_rounded(case, two_sided):
    row = push_of(case, two_sided=two_sided)
    sphere = Sphere(case.sphere[:3], case.sphere[3])
    push = intersect_sphere_triangle(sphere, Triangle(*case.triangle), two_sided=two_sided)
    if push is None:
        assert np.isnan(row).all()
    else:
        assert isinstance(push, glm.vec3)
        np.testing.assert_array_equal(np.array(push), row.astype(np.float32))


@given(cases=st.lists(strategies.sphere_cases(), min_size=1, max_size=5))
@examples(30)
def test_rows_know_nothing_of_each_other(cases):
    spheres = np.array([case.sphere for case in cases])
    triangles = np.array([case.triangle for case in cases])
    rows = tp.rows.intersect_sphere_triangle(spheres, triangles)
    np.testing.assert_array_equal(rows, [push_of(case) for case in cases])
    one_sphere = tp.rows.intersect_sphere_triangle(spheres[:1], triangles)
    one_triangle = tp.rows.intersect_sphere_triangle(spheres, triangles[:1])
    for i, (sphere, triangle) in enumerate(zip(spheres, triangles, strict=True)):
        np.testing.assert_array_equal(one_sphere[i], push_of(SphereCase(spheres[0], triangle)))
        np.testing.assert_array_equal(one_triangle[i], push_of(SphereCase(sphere, triangles[0])))


@pytest.mark.parametrize("two_sided", [False, True])
def test_the_direction_of_a_contact_is_that_of_its_move(two_sided: bool) -> None:
    """It is upright on the face, or beside it leads from the closest point to the center."""
    draw, beside = np.random.default_rng(6), 0
    for _ in range(300):
        corners = draw.uniform(-1.0, 1.0, (3, 3))
        corners -= draw.dirichlet((0.3, 0.3, 0.3)) @ corners + draw.normal(size=3) * 0.2
        a, b, c = (tuple(corner) for corner in corners.tolist())
        verdict, move, direction, point = sphere_at_origin(0.5, a, b, c, two_sided)
        if verdict != TOUCHING:
            continue
        depth = np.linalg.norm(move)
        np.testing.assert_allclose(np.multiply(direction, depth), move, atol=1e-12)
        normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
        upright = abs(np.dot(direction, normal)) / np.linalg.norm(normal)
        if upright < 1.0 - 1e-9:
            np.testing.assert_allclose(direction, -np.array(point) / np.linalg.norm(point))
            beside += 1
    assert beside > 50
