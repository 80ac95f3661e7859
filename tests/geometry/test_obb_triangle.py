"""Box against triangle: what the penetration promises, against an exact oracle."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyglm import glm

import terrain_physics as tp
from terrain_physics import (
    OBB,
    Triangle,
    intersect_obb_triangle,
)
from tests.helpers import box_checks, strategies
from tests.helpers.box_checks import MOVED, check, push_of, tolerance_of
from tests.helpers.examples import examples
from tests.oracles.geometry import add, length, scale, subtract, vector

pytestmark = pytest.mark.kernels


@given(case=strategies.box_cases(), two_sided=st.booleans())
@examples(300)
def test_against_oracle(case, two_sided):
    check(case, two_sided=two_sided)


@pytest.mark.long
@given(case=strategies.box_cases(), two_sided=st.booleans())
@examples(10_000)
def test_against_oracle_long(case, two_sided):
    check(case, two_sided=two_sided)


@given(case=strategies.box_cases(strategies.flat_triangles()))
@examples(60)
def test_without_area(case):
    """A segment or a point has no front: one- and two-sided are the same bits."""
    check(case, two_sided=False)
    np.testing.assert_array_equal(push_of(case), push_of(case, two_sided=True))


@given(case=strategies.box_cases(strategies.thin_triangles()), two_sided=st.booleans())
@examples(60)
def test_needles(case, two_sided):
    check(case, two_sided=two_sided)


@given(case=strategies.box_cases(strategies.plain_triangles()), power=st.floats(-12.0, -5.0))
@examples(100)
def test_triangles_far_smaller_than_the_box(case, power):
    corner = case.triangle[0]
    tiny = case._replace(triangle=corner + 10.0**power * (case.triangle - corner))
    check(tiny, two_sided=False)
    check(tiny, two_sided=True)


def test_a_tiny_triangle_is_answered_exactly_as_its_corners_are_rounded(monkeypatch):
    """In the frame of the box, where nothing is rounded, the same answer passes the strictest test.

    So the library is right about a triangle this close to the given one, and the last places of the
    corners decide what its front allows.
    """
    case = strategies.BoxCase(
        np.array([0.06663330781625991, -0.2098194248053772, 0.045600769574363424]),
        np.full(3, 0.3746984673821798),
        np.array(
            [
                [0.7535110122522558, 0.5868358227940959, 0.2963863551180407],
                [0.09800994434084498, 0.34551443134201565, -0.9332812162176565],
                [-0.6500886133635054, 0.7322864841166878, 0.2028331825790215],
            ]
        ),
        2.0**-40 * np.array([[-11, 20, -5], [24, 9, -30], [-8, -32, 17]]),
    )
    x, y, z = (case.triangle - case.center).T
    rounded = np.array([m[0] * x + m[1] * y + m[2] * z for m in case.rotation.T]).T
    framed = strategies.BoxCase(np.zeros(3), case.half, np.eye(3), rounded)
    for corner, given_one in zip(rounded, case.triangle, strict=True):
        back = vector(map(float, case.center))
        for part, axis in zip(corner, case.rotation.T, strict=True):
            back = add(back, scale(vector(map(float, axis)), Fraction(float(part))))
        off = subtract(back, vector(map(float, given_one)))
        assert length(off) <= MOVED * np.linalg.norm(given_one - case.center)
    np.testing.assert_allclose(case.rotation @ push_of(framed), push_of(case), atol=1e-15)

    check(case, two_sided=False)
    monkeypatch.setattr(box_checks, "MOVED", 0.0)
    check(framed, two_sided=False)
    with pytest.raises(AssertionError, match="shorter than the shapes part"):
        check(case, two_sided=False)


# Below 1e-6 the rounding of the frame turns the product by more than the oracle's tolerance.
@given(
    power=st.floats(-6.0, -2.0),
    gap=st.floats(-1.0, 1.0),
    place=st.floats(-0.3, 0.3),
    frame=strategies.rotations(),
)
@examples(100)
def test_edges_that_cross_at_a_small_angle(power, gap, place, frame):
    """Only the product of two nearly parallel edges sees how deep one lies in the other."""
    angle = 10.0**power
    standing = strategies.rotation_from(np.array([np.cos(np.pi / 8), np.sin(np.pi / 8), 0.0, 0.0]))
    bottom = np.array([place, angle * gap, angle * place])
    ridge = np.array([[-1, 0, -angle], [1, 0, angle], [0, -1, 0]])
    case = strategies.BoxCase(
        frame @ (bottom + np.array([0.0, np.sqrt(0.5), 0.0])),
        np.array([1.0, 0.5, 0.5]),
        frame @ standing,
        ridge @ frame.T,
    )
    check(case, two_sided=True)
    check(case, two_sided=False)


@given(case=strategies.box_cases(), order=st.sampled_from(list(permutations(range(3)))))
@examples(60)
def test_corner_orders(case, order):
    """Any order of the corners is the same box problem; only the front turns with a swap."""
    other = case._replace(triangle=case.triangle[list(order)])
    check(other, two_sided=False)
    lengths = [
        float(np.linalg.norm(np.nan_to_num(push_of(each, two_sided=True))))
        for each in (case, other)
    ]
    assert abs(lengths[0] - lengths[1]) <= 2 * tolerance_of(case, lengths[0])


@given(case=strategies.box_cases(strategies.plain_triangles()), data=st.data())
@examples(60)
def test_turned_and_moved(case, data):
    """The whole scene turned and moved: still right, and as deep as before."""
    turn, shift = data.draw(strategies.rotations()), data.draw(strategies.offsets(1.0))
    other = strategies.BoxCase(
        turn @ case.center + shift,
        case.half,
        turn @ case.rotation,
        case.triangle @ turn.T + shift,
    )
    check(other, two_sided=False)
    lengths = [
        float(np.linalg.norm(np.nan_to_num(push_of(each, two_sided=True))))
        for each in (case, other)
    ]
    slack = 4 * (tolerance_of(case, lengths[0]) + tolerance_of(other, lengths[1]))
    assert abs(lengths[0] - lengths[1]) <= slack


@given(case=strategies.box_cases(), data=st.data())
@examples(60)
def test_box_axes_in_any_order(case, data):
    """Naming the axes of a box differently does not change the box."""
    order = data.draw(st.sampled_from([[1, 2, 0], [2, 0, 1]]))
    signs = data.draw(st.sampled_from([(1, -1, -1), (-1, 1, -1), (-1, -1, 1)]))
    other = case._replace(half=case.half[order], rotation=case.rotation[:, order] * np.array(signs))
    check(other, two_sided=False)
    lengths = [
        float(np.linalg.norm(np.nan_to_num(push_of(each, two_sided=True))))
        for each in (case, other)
    ]
    assert abs(lengths[0] - lengths[1]) <= 2 * tolerance_of(case, lengths[0])


@given(case=strategies.box_cases(), two_sided=st.booleans())
@examples(60)
def test_one_pair_is_a_row_rounded(case, two_sided):
    row = push_of(case, two_sided=two_sided)
    obb = OBB(case.center, case.half, case.rotation)
    push = intersect_obb_triangle(obb, Triangle(*case.triangle), two_sided=two_sided)
    if push is None:
        assert np.isnan(row).all()
    else:
        assert isinstance(push, glm.vec3)
        np.testing.assert_array_equal(np.array(push), row.astype(np.float32))


@given(cases=st.lists(strategies.box_cases(), min_size=1, max_size=4))
@examples(30)
def test_rows_know_nothing_of_each_other(cases):
    columns = [np.array(column) for column in zip(*cases, strict=True)]
    rows = tp.rows.intersect_obb_triangle(*columns)
    np.testing.assert_array_equal(rows, [push_of(case) for case in cases])
    for part in range(4):
        shared = [column[:1] if i == part else column for i, column in enumerate(columns)]
        alone = [push_of(case._replace(**{case._fields[part]: cases[0][part]})) for case in cases]
        np.testing.assert_array_equal(tp.rows.intersect_obb_triangle(*shared), alone)
