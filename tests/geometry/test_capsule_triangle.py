"""Capsule against triangle: what the penetration promises, against an exact oracle."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyglm import glm

import terrain_physics as tp
from terrain_physics import (
    Capsule,
    Triangle,
    intersect_capsule_triangle,
)
from tests.helpers import pair_strategies, strategies
from tests.helpers.examples import examples
from tests.helpers.pair_strategies import CapsuleCase
from tests.helpers.strategies import Array
from tests.oracles import geometry as oracle
from tests.oracles import segments
from tests.oracles.geometry import (
    add,
    corners_of,
    dot,
    doubled_area_normal,
    scale,
    subtract,
    unit,
    vector,
)

pytestmark = pytest.mark.kernels

FLOOR = np.array([[0, 0, 0], [0, 0, 4], [4, 0, 0]], dtype=float)  # front: +Y
THIN = 1e-6
"""Below this height over length the direction of the normal is worth few digits."""


def case_of(start, end, radius=1.0, triangle=FLOOR) -> CapsuleCase:
    return CapsuleCase(
        np.array([*start, *end, radius], dtype=float), np.array(triangle, dtype=float)
    )


def push_of(case: CapsuleCase, *, two_sided: bool = False) -> Array:
    """Return the library's penetration, NaN where apart."""
    rows = tp.rows.intersect_capsule_triangle(
        case.capsule[None], case.triangle[None], two_sided=two_sided
    )
    return strategies.as_array(rows[0])


def exact(case: CapsuleCase) -> tuple[segments.Segment, oracle.Corners]:
    ends = case.capsule.tolist()
    return (vector(ends[:3]), vector(ends[3:6])), corners_of(case.triangle.tolist())


def moved(axis: segments.Segment, move: oracle.Vector) -> segments.Segment:
    return add(axis[0], move), add(axis[1], move)


def slack_of(case: CapsuleCase, depth: float) -> Fraction:
    axis, triangle = exact(case)
    size = oracle.span([*axis, *triangle]) + float(case.capsule[6])
    return Fraction(oracle.tolerance(size, depth, case.capsule[:6], case.triangle))


def shortest(case: CapsuleCase, distance: Fraction) -> Fraction:
    """Return the length of the shortest move out, from whichever side."""
    axis, triangle = exact(case)
    radius = Fraction(float(case.capsule[6]))
    if distance > 0:
        return radius - distance
    return radius + segments.depth_in(segments.differences(axis, triangle))


def check(case: CapsuleCase, *, two_sided: bool) -> None:
    """Hold one case against the oracle; contact within the tolerance of touching is left open."""
    axis, triangle = exact(case)
    radius = Fraction(float(case.capsule[6]))
    push = push_of(case, two_sided=two_sided)
    distance = segments.segment_to_triangle(axis, triangle)
    slack = slack_of(case, float(np.linalg.norm(np.nan_to_num(push))))
    if np.isnan(push).any():
        assert np.isnan(push).all()
        assert distance > radius - slack, "contact missed"
        return
    assert distance <= radius + slack, "apart, but reported as a contact"

    move = vector(push.tolist())
    depth = oracle.length(move)
    after = moved(axis, move)
    left = segments.segment_to_triangle(after, triangle)
    assert abs(left - radius) <= slack, "after the push they do not just touch"
    if radius <= slack and left == 0:
        inside = segments.depth_in(segments.differences(after, triangle))
        assert inside <= slack, "after the push still inside"
    least = shortest(case, distance)
    assert depth >= least - slack, "shorter than any move that parts them"
    if two_sided or oracle.thinness(triangle) == 0.0:
        assert depth <= least + slack, "a shorter move does it"
    elif oracle.thinness(triangle) >= THIN and slack * 1000 < radius + distance:
        check_one_sided(case, move, distance, slack)


def check_one_sided(
    case: CapsuleCase, move: oracle.Vector, distance: Fraction, slack: Fraction
) -> None:
    axis, triangle = exact(case)
    front = unit(doubled_area_normal(triangle))
    depth = oracle.length(move)
    if distance == 0:
        assert dot(move, front) >= -slack, "through the face and pushed against the front"
        for direction in allowed_directions(axis, triangle, front):
            there = moved(axis, scale(direction, max(depth - 2 * slack, Fraction(0))))
            gap = segments.segment_to_triangle(there, triangle)
            assert gap <= case.capsule[6] + slack, "a shorter allowed move does it"
    elif dot(move, front) < -slack:
        assert not held_from_behind(case, slack), "held by the face and pushed against the front"
        assert depth <= shortest(case, distance) + slack, "a shorter move does it"


def allowed_directions(axis, triangle, front):
    """Return the front normal, and past each edge and square to edge and axis, not against it."""
    found = [front]
    for k in range(3):
        edge = subtract(triangle[(k + 1) % 3], triangle[k])
        outward = cross_unit(edge, front)
        side = oracle.cross(subtract(axis[1], axis[0]), edge)
        found.append(outward)
        if segments.lengths_cross(subtract(axis[1], axis[0]), edge) > 1e-6:
            side = scale(unit(side), 1 if dot(side, outward) >= 0 else -1)
            if dot(side, front) >= 0:
                found.append(side)
    return found


def cross_unit(a, b):
    return unit(oracle.cross(a, b))


def held_from_behind(case: CapsuleCase, slack: Fraction) -> bool:
    """Tell whether a ball of the capsule surely has its nearest point inside the face, behind it.

    By samples along the axis.
    """
    start, end = case.capsule[:3], case.capsule[3:6]
    triangle = case.triangle
    normal = np.cross(triangle[1] - triangle[0], triangle[2] - triangle[0])
    normal /= np.linalg.norm(normal)
    points = start + np.linspace(0.0, 1.0, 201)[:, None] * (end - start)
    heights = (points - triangle[0]) @ normal
    band = 1e-6 * np.ptp(triangle, axis=0).max()
    over = np.ones(len(points), dtype=bool)
    for k in range(3):
        edge = triangle[(k + 1) % 3] - triangle[k]
        inward = np.cross(normal, edge / np.linalg.norm(edge))
        over &= (points - triangle[k]) @ inward > band
    margin = float(slack) + band
    return bool((over & (heights < -margin) & (heights > margin - case.capsule[6])).any())


@given(case=pair_strategies.capsule_cases(), two_sided=st.booleans())
@examples(400)
def test_against_oracle(case, two_sided):
    check(case, two_sided=two_sided)


@pytest.mark.long
@given(case=pair_strategies.capsule_cases(), two_sided=st.booleans())
@examples(20_000)
def test_against_oracle_long(case, two_sided):
    check(case, two_sided=two_sided)


@given(case=pair_strategies.capsule_cases(strategies.flat_triangles()), two_sided=st.booleans())
@examples(100)
def test_without_area(case, two_sided):
    """A segment or a point has no front: one- and two-sided are the same bits."""
    check(case, two_sided=two_sided)
    np.testing.assert_array_equal(push_of(case), push_of(case, two_sided=True))


@given(case=strategies.sphere_cases(), two_sided=st.booleans())
@examples(200)
def test_a_capsule_that_is_a_ball_is_a_sphere_to_the_bit(case, two_sided):
    capsule = np.concatenate([case.sphere[:3], case.sphere])
    np.testing.assert_array_equal(
        push_of(CapsuleCase(capsule, case.triangle), two_sided=two_sided),
        tp.rows.intersect_sphere_triangle(
            case.sphere[None], case.triangle[None], two_sided=two_sided
        )[0],
    )


@given(case=pair_strategies.capsule_cases(), data=st.data())
@examples(60)
def test_ends_and_corners_in_any_order(case, data):
    order = list(data.draw(st.sampled_from(list(permutations(range(3))))))
    turned = CapsuleCase(case.capsule[[3, 4, 5, 0, 1, 2, 6]], case.triangle[order])
    check(turned, two_sided=False)
    pushes = [push_of(one, two_sided=True) for one in (case, turned)]
    lengths = [float(np.linalg.norm(np.nan_to_num(push))) for push in pushes]
    assert abs(lengths[0] - lengths[1]) <= 2 * slack_of(case, max(lengths))


@given(case=pair_strategies.capsule_cases())
@examples(60)
def test_two_sided_no_direction_of_many_is_shorter(case):
    """Sampled on a sphere: a move of nine tenths the length never parts them."""
    push = push_of(case, two_sided=True)
    depth = float(np.linalg.norm(np.nan_to_num(push)))
    slack = slack_of(case, depth)
    if depth < 1000 * slack:
        return
    axis, triangle = exact(case)
    rng = np.random.default_rng(3)
    for direction in [*rng.normal(size=(12, 3)), -push]:
        move = 0.9 * depth * direction / np.linalg.norm(direction)
        there = moved(axis, vector(move.tolist()))
        assert segments.segment_to_triangle(there, triangle) < case.capsule[6] + slack


@pytest.mark.parametrize(
    ("case", "one_sided", "two_sided"),
    [
        (case_of((1, 0.75, 1), (1, 3, 1)), (0, 0.25, 0), (0, 0.25, 0)),  # standing on it
        (case_of((1, 3, 1), (1, -0.5, 1)), (0, 1.5, 0), (0, 1.5, 0)),  # sunk in
        (case_of((1, 0.5, 1), (1.5, 0.5, 1.25)), (0, 0.5, 0), (0, 0.5, 0)),  # lying on it
        (case_of((-3, 0.5, 1), (9, 0.5, 1)), (0, 0.5, 0), (0, 0.5, 0)),  # across it
        (case_of((1, -0.5, 1), (1.5, -0.5, 1.25)), (0, 1.5, 0), (0, -0.5, 0)),  # lying behind it
        (case_of((-3, -0.5, 1), (9, -0.5, 1)), (0, 1.5, 0), (0, -0.5, 0)),
        (case_of((1, -0.5, 1), (1, -3, 1)), (0, 4, 0), (0, -0.5, 0)),  # hanging behind it
        (case_of((1, 0.5, 1), (1, -9, 1)), (-2, 0, 0), (0, -1.5, 0)),  # through: past an edge
        (case_of((0.25, 9, 1), (0.25, -9, 1)), (-1.25, 0, 0), (-1.25, 0, 0)),
        (case_of((-0.5, 3, 2), (-0.5, -3, 2)), (-0.5, 0, 0), (-0.5, 0, 0)),  # beside an edge
        (case_of((-0.6, -0.8, 2), (-0.6, -3, 2), 1.25), (-0.15, -0.2, 0), (-0.15, -0.2, 0)),
        (case_of((1, 0, 1), (1.5, 0, 1)), (0, 1, 0), (0, 1, 0)),  # in the plane
        (case_of((-1, 0, 1), (9, 0, 1)), (0, 1, 0), (0, 1, 0)),
        (case_of((-1, 0, 1), (0, 0, 1)), (0, 1, 0), (0, 1, 0)),  # an end on an edge
        (case_of((0, 0, 0), (0, 0, 4)), (0, 1, 0), (0, 1, 0)),  # along an edge
        (case_of((1, 0, 1), (1, 0.5, 1), 0), (0, 0, 0), (0, 0, 0)),  # a rod that touches
        (case_of((1, -0.5, 1), (1, 3, 1), 0), (0, 0.5, 0), (0, 0.5, 0)),
        (case_of((1, 1.25, 1), (1, 3, 1)), None, None),
    ],
)
def test_by_hand(case, one_sided, two_sided):
    for sides, expected in ((False, one_sided), (True, two_sided)):
        push = push_of(case, two_sided=sides)
        np.testing.assert_allclose(push, expected or [np.nan] * 3, atol=1e-14)


def test_slanted_behind_the_face_leaves_where_it_is_free():
    """Straight up, its low side would be free of the face's plane only after 5.25 m."""
    case = case_of((0.5, -0.5, 1), (-3.5, -4.5, 1), 0.75)
    check(case, two_sided=False)
    # The axis x - y = 1 rises until it has passed the edge by the radius.
    np.testing.assert_allclose(push_of(case), [0, 1 + 0.75 * np.sqrt(2), 0], atol=1e-13)


def test_passing_behind_the_face_nearer_to_an_edge():
    """Tilted a little, a lying capsule still leaves through the front, not where it came from."""
    for tilt in (0.0, 1e-12, 1e-6, 0.05, -0.05):
        push = push_of(case_of((-1, -0.25 - tilt, 0.5), (7, -0.25 + tilt, 0.5)))
        assert push[1] > 1.0


@pytest.mark.parametrize("two_sided", [False, True])
@pytest.mark.parametrize("far", [0.0, 2.0**20])
@pytest.mark.parametrize(
    ("start", "end", "radius"),
    [
        ((1, 2, 1), (1, 9, 1), 2),
        ((1, 2, 1), (2, 2, 1), 2),  # lying on the face
        ((-3, 4, 2), (-6, 8, 2), 5),  # beside an edge
        ((-3, 4, 0), (-3, 4, 9), 5),  # along an edge
        ((-2, -6, -3), (-4, -12, -6), 7),  # off a corner
        ((4, 0, 0), (5, 0, 0), 0),
    ],
)
def test_touching_is_contact_with_a_move_of_zero(start, end, radius, far, two_sided):
    case = case_of(np.add(start, far), np.add(end, far), radius, FLOOR + far)
    np.testing.assert_array_equal(push_of(case, two_sided=two_sided), np.zeros(3))
    case.capsule[6] = np.nextafter(radius, -1.0)
    if radius:
        assert np.isnan(push_of(case, two_sided=two_sided)).all()


def test_axis_through_a_segment():
    segment = [(-2, 0, 0), (2, 0, 0), (0, 0, 0)]
    for start, end, push in (
        ((0, 0, -1), (0, 0, 1), (0, 1, 0)),  # level: upwards
        ((0, -1, 0), (0, 1, 0), (0, 0, -1)),  # axis x edge is level
        ((-3, 0, 0), (1, 0, 0), (0, 1, 0)),  # on one line
    ):
        np.testing.assert_allclose(push_of(case_of(start, end, triangle=segment)), push, atol=1e-15)


@given(case=pair_strategies.capsule_cases(), two_sided=st.booleans())
@examples(60)
def test_one_pair_is_a_row_rounded(case, two_sided):
    row = push_of(case, two_sided=two_sided)
    capsule = Capsule(case.capsule[:3], case.capsule[3:6], case.capsule[6])
    push = intersect_capsule_triangle(capsule, Triangle(*case.triangle), two_sided=two_sided)
    if push is None:
        assert np.isnan(row).all()
    else:
        assert isinstance(push, glm.vec3)
        np.testing.assert_array_equal(np.array(push), row.astype(np.float32))


@given(cases=st.lists(pair_strategies.capsule_cases(), min_size=2, max_size=4))
@examples(20)
def test_rows_know_nothing_of_each_other(cases):
    capsules = np.array([case.capsule for case in cases])
    triangles = np.array([case.triangle for case in cases])
    rows = tp.rows.intersect_capsule_triangle(capsules, triangles)
    np.testing.assert_array_equal(rows, [push_of(case) for case in cases])
    one = tp.rows.intersect_capsule_triangle(capsules, triangles[:1])
    expected = [push_of(CapsuleCase(capsule, triangles[0])) for capsule in capsules]
    np.testing.assert_array_equal(one, expected)


@pytest.mark.parametrize(
    ("capsules", "triangles", "message"),
    [
        (np.zeros((2, 6)), [FLOOR], r"capsules must have shape \(n, 7\), got \(2, 6\)"),
        ([[0, 0, 0, 0, 0, 0, -1]], [FLOOR], r"radius must be >= 0, got -1.0 in capsules\[0\]"),
        ([[0, 0, np.nan, 0, 0, 0, 1]], [FLOOR], r"capsules must be finite, got nan at \[0, 2\]"),
        (np.zeros((3, 7)), [FLOOR] * 2, "capsules has 3, triangles has 2"),
    ],
)
def test_bad_rows_are_refused(capsules, triangles, message):
    with pytest.raises(ValueError, match=message):
        tp.rows.intersect_capsule_triangle(capsules, triangles)


def test_other_shapes_are_refused():
    triangle = Triangle(*FLOOR)
    with pytest.raises(TypeError, match="capsule must be a Capsule, got Triangle"):
        intersect_capsule_triangle(triangle, triangle)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="triangle must be a Triangle, got Capsule"):
        intersect_capsule_triangle(*[Capsule((0, 0, 0), (0, 1, 0), 1)] * 2)  # type: ignore[arg-type]
