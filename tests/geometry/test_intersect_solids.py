"""Spheres, axis-aligned boxes and capsules: the shortest move that separates them."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyglm import glm

import terrain_physics as tp
from terrain_physics import (
    AABB,
    OBB,
    Capsule,
    Sphere,
    intersect_aabb_aabb,
    intersect_aabb_sphere,
    intersect_capsule_aabb,
    intersect_capsule_capsule,
    intersect_capsule_obb,
    intersect_capsule_sphere,
    intersect_obb_aabb,
    intersect_obb_sphere,
    intersect_sphere_sphere,
)
from tests.helpers import pair_strategies, strategies
from tests.helpers.examples import examples
from tests.helpers.strategies import Array
from tests.oracles import boxes, segments
from tests.oracles import geometry as oracle
from tests.oracles.geometry import add, vector

pytestmark = pytest.mark.kernels

NONE = (np.nan, np.nan, np.nan)


def is_apart(push: Array, distance: Fraction, reach: Fraction, slack: Fraction) -> bool:
    """Check that contact or not is right, but for the tolerance, and return it."""
    if np.isnan(push).any():
        assert np.isnan(push).all()
        assert distance > reach - slack, "contact missed"
        return True
    assert distance <= reach + slack, "apart, but reported as a contact"
    return False


def core_distance(first: Array, second: Array, push: Array) -> Fraction:
    """Return the distance of two capsules' axes after the first was moved; balls have one end."""
    axes = []
    for row, move in ((first, vector(push.tolist())), (second, vector((0, 0, 0)))):
        ends = row.tolist()
        axes.append((add(vector(ends[:3]), move), add(vector(ends[-4:-1]), move)))
    return oracle.root(segments.between_segments(axes[0], axes[1]))


def check_round(first: Array, second: Array, push: Array) -> None:
    """Hold two balls or capsules against the oracle.

    The core of their difference has no volume, so the shortest way out is what is missing to the
    sum of the radii.
    """
    reach = Fraction(float(first[-1])) + Fraction(float(second[-1]))
    size = np.ptp(np.concatenate([first[:-1], second[:-1]]).reshape(-1, 3), axis=0).max()
    depth = float(np.linalg.norm(np.nan_to_num(push)))
    slack = Fraction(oracle.tolerance(size + float(reach), depth, first[:-1], second[:-1]))
    distance = core_distance(first, second, np.zeros(3))
    if not is_apart(push, distance, reach, slack):
        after = core_distance(first, second, push)
        assert abs(after - reach) <= slack, "after the push they do not just touch"
        assert abs(Fraction(depth) - (reach - distance)) <= slack, "not the shortest way out"


@given(pair=pair_strategies.ball_pairs())
@examples(200)
def test_sphere_sphere(pair):
    push = tp.rows.intersect_sphere_sphere(pair[0][None], pair[1][None])[0]
    first, second = (np.concatenate([row[:3], row]) for row in pair)
    check_round(first, second, push)
    for rows in (
        tp.rows.intersect_capsule_sphere(first[None], pair[1][None]),
        tp.rows.intersect_capsule_capsule(first[None], second[None]),
    ):
        np.testing.assert_array_equal(rows[0], push)  # a capsule that is a ball, to the bit


@given(pair=pair_strategies.axis_pairs(ball=True))
@examples(200)
def test_capsule_sphere(pair):
    capsule, ball = pair
    check_round(capsule, ball, tp.rows.intersect_capsule_sphere(capsule[None], ball[None, 3:])[0])


@given(pair=pair_strategies.axis_pairs())
@examples(400)
def test_capsule_capsule(pair):
    first, second = pair
    push = tp.rows.intersect_capsule_capsule(first[None], second[None])[0]
    check_round(first, second, push)
    back = tp.rows.intersect_capsule_capsule(second[None], first[None])[0]
    check_round(second, first, back)


@given(pair=pair_strategies.axis_pairs())
@examples(60)
def test_capsule_capsule_no_direction_of_many_is_shorter(pair):
    """Axes that cross in a plane: moves within the plane, or any other way, are never shorter."""
    first, second = pair
    push = np.nan_to_num(tp.rows.intersect_capsule_capsule(first[None], second[None])[0])
    depth = np.linalg.norm(push)
    axes = [row[3:6] - row[:3] for row in pair]
    if depth <= 1e-6 * (sum(np.linalg.norm(axes, axis=1)) + first[6] + second[6]):
        return
    rng = np.random.default_rng(1)
    plane = rng.normal(size=(8, 2)) @ np.array(axes)
    for direction in [*rng.normal(size=(8, 3)), *plane, -push]:
        if np.linalg.norm(direction) > 0.0:
            move = 0.999 * depth * direction / np.linalg.norm(direction)
            assert core_distance(first, second, move) < first[6] + second[6]


@st.composite
def boxes_and_balls(draw: st.DrawFn) -> tuple[pair_strategies.BoxPair, Array]:
    """Return a box, as the first of a pair, and a ball with its center near a point of it."""
    pair = draw(pair_strategies.box_pairs())
    size = float(max(pair.half.max(), pair.other_half.max()))
    place = np.array([draw(st.sampled_from([-1.0, 0.0, 1.0]) | strategies.UNIT) for _ in range(3)])
    center = pair.center + pair.rotation @ (place * pair.half)
    away = draw(st.sampled_from([0.0, 1.0, 1e-9, 1e-13]))
    radius = draw(pair_strategies.RADII) * size
    center = center + away * (radius + size) * draw(pair_strategies.vectors())
    return pair, np.array([*center, radius])


def check_box_ball(box: boxes.Box, ball: Array, push: Array) -> None:
    center, radius = vector(ball[:3].tolist()), Fraction(float(ball[3]))
    depth = float(np.linalg.norm(np.nan_to_num(push)))
    size = 2.0 * float(max(box.half)) + float(radius)
    slack = Fraction(oracle.tolerance(size, depth, ball[:3]))
    distance = segments.box_to_point(box, center)
    if is_apart(push, distance, radius, slack):
        return
    corners = boxes.box_corners(box)
    inside = Fraction(0)
    if distance == 0:
        inside = segments.depth_in(segments.differences(corners, [center]))
    assert abs(Fraction(depth) - (radius - distance + inside)) <= slack, "not the shortest way out"
    moved = boxes.moved(box, vector(push.tolist()))
    left = segments.box_to_point(moved, center)
    assert abs(left - radius) <= slack, "after the push they do not just touch"
    if left == 0:
        corners = boxes.box_corners(moved)
        assert segments.depth_in(segments.differences(corners, [center])) <= slack


@given(case=boxes_and_balls())
@examples(150)
def test_obb_sphere(case):
    pair, ball = case
    box = pair.center[None], pair.half[None], pair.rotation[None]
    push = tp.rows.intersect_obb_sphere(*box, ball[None])[0]
    center, half = pair.center.tolist(), pair.half.tolist()
    check_box_ball(boxes.box_of(center, half, pair.rotation), ball, push)


@given(case=boxes_and_balls())
@examples(150)
def test_aabb_sphere(case):
    pair, ball = case
    lower, upper = pair.center - pair.half, pair.center + pair.half
    push = tp.rows.intersect_aabb_sphere(lower[None], upper[None], ball[None])[0]
    center, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
    check_box_ball(boxes.box_of(center.tolist(), half.tolist(), np.eye(3)), ball, push)


@given(pair=pair_strategies.box_pairs())
@examples(200)
def test_aabb_aabb(pair):
    corners = [
        *(pair.center - pair.half, pair.center + pair.half),
        *(pair.other_center - pair.other_half, pair.other_center + pair.other_half),
    ]
    push = tp.rows.intersect_aabb_aabb(*(corner[None] for corner in corners))[0]
    low, high, other_low, other_high = (vector(corner.tolist()) for corner in corners)
    ways = []
    for k in range(3):
        ways += [other_high[k] - low[k], high[k] - other_low[k]]
    if min(ways) < 0:
        assert np.isnan(push).all()
        return
    expected = np.zeros(3)
    rounded = [float(way) for way in ways]
    least = rounded.index(min(rounded))  # of equal ways the first
    expected[least // 2] = rounded[least] * (1 if least % 2 == 0 else -1)
    np.testing.assert_array_equal(push, expected)


@pytest.mark.parametrize(
    ("first", "second", "push"),
    [
        ((0, 0, 0, 1), (0, 0, 0, 2), (0, 3, 0)),  # one center
        ((0, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0)),
        ((3, 4, 0, 2), (0, 0, 0, 3), (0, 0, 0)),  # just touching
        ((3, 4, 0, 2), (0, 0, 0, 3 - 1e-15), NONE),
        ((3, 4, 0, 4), (0, 0, 0, 6), (3, 4, 0)),
        ((-0.5, 0, 0, 0), (0, 0, 0, 1), (-0.5, 0, 0)),  # a point inside
    ],
)
@pytest.mark.parametrize("shift", [0.0, 2.0**20])
def test_spheres_by_hand(first, second, push, shift):
    rows = np.add([first, second], (shift, shift, shift, 0.0))
    np.testing.assert_array_equal(tp.rows.intersect_sphere_sphere(rows[:1], rows[1:]), [push])


@pytest.mark.parametrize(
    ("lower", "upper", "ball", "push"),
    [
        ((-1, -1, -1), (1, 1, 1), (0, 0, 0, 0.5), (1.5, 0, 0)),  # all six ways are equal
        ((-1, -1, -1), (1, 1, 1), (0.5, 0, 0, 0.5), (-1, 0, 0)),
        ((-1, -1, -1), (1, 1, 1), (0, -0.75, 0.75, 0), (0, 0.25, 0)),  # y before z
        ((-1, -1, -1), (1, 1, 1), (0, 0, 1, 0.5), (0, 0, -0.5)),  # center on a face
        ((-1, -1, -1), (1, 1, 1), (1, 1, 1, 0.5), (-0.5, 0, 0)),  # on a corner
        ((-1, -1, -1), (1, 1, 1), (4, 5, 1, 5), (0, 0, 0)),  # touching an edge
        ((-1, -1, -1), (1, 1, 1), (4, 5, 1, np.nextafter(5, 0)), NONE),
        ((-1, -1, -1), (1, 1, 1), (0, 1, 0, 0), (0, 0, 0)),  # a point on a face
        ((-1, 0, -1), (1, 0, 1), (0, 0, 0, 0.5), (0, 0.5, 0)),  # a plate
        ((-1, 0, 0), (1, 0, 0), (0, 0, 0, 0.5), (0, 0.5, 0)),  # a rod
        ((0, 0, 0), (0, 0, 0), (0, 0, 0, 0.5), (0.5, 0, 0)),  # a point
        ((0, 0, 0), (0, 0, 0), (0, 0, 0, 0), (0, 0, 0)),
    ],
)
@pytest.mark.parametrize("shift", [0.0, 2.0**20])
def test_box_and_ball_by_hand(lower, upper, ball, push, shift):
    lower, upper = np.add(lower, shift), np.add(upper, shift)
    ball = np.add(ball, [shift, shift, shift, 0])
    rows = tp.rows.intersect_aabb_sphere([lower], [upper], [ball])
    np.testing.assert_array_equal(rows, [push])
    box = [(lower + upper) / 2], [(upper - lower) / 2], [np.eye(3)]
    np.testing.assert_array_equal(tp.rows.intersect_obb_sphere(*box, [ball]), [push])


@pytest.mark.parametrize(
    ("first", "second", "push"),
    [
        ((-1, 0, 0, 1, 0, 0, 1), (0, 0, -1, 0, 0, 1, 1), (0, 2, 0)),  # level axes cross: up
        ((-1, 0, 0, 1, 0, 0, 1), (0, -1, 0, 0, 1, 0, 1), (0, 0, 2)),  # both sides level: a x b
        ((0, -1, 0, 0, 1, 0, 1), (-1, 0, 0, 1, 0, 0, 1), (0, 0, -2)),
        ((-1, 0, 0, 1, 0, 0, 1), (0, 0, 0, 3, 0, 0, 1), (0, 2, 0)),  # on one line
        ((0, 0, 0, 0, 4, 0, 1), (0, 2, 0, 0, 3, 0, 1), (2, 0, 0)),  # on one upright line
        ((0, 0, 0, 0, 4, 0, 1), (0, 2, 0, 0, 2, 0, 1), (2, 0, 0)),  # a ball inside
        ((0, 0, 0, 0, 0, 0, 1), (0, 0, 0, 0, 0, 0, 1), (0, 2, 0)),  # two balls
        ((-1, 1, 0, 1, 1, 0, 1), (-9, 0, 0, 9, 0, 0, 0.5), (0, 0.5, 0)),  # parallel
        ((0, 0, 0, 0, 1, 0, 0), (0, 1, 0, 1, 1, 0, 0), (0, 0, 0)),  # no radii, end on end
        ((-1, 0, 0, 1, 0, 0, 2), (4, 4, 0, 9, 9, 0, 3), (0, 0, 0)),  # just touching, off an end
        ((-1, 0, 0, 1, 0, 0, 2), (4, 4, 0, 9, 9, 0, 3 - 1e-15), NONE),
    ],
)
def test_capsules_by_hand(first, second, push):
    rows = tp.rows.intersect_capsule_capsule([first], [second])
    np.testing.assert_allclose(rows, [push], atol=1e-15)


BALL, ROUND = Sphere((0.25, 0.5, 0), 1), Capsule((0, 0.25, 0), (1, 2, 3), 0.5)
CUBE = AABB((-1, -1, -1), (1, 1, 1))
TURNED = OBB((0, 1, 0), (1, 1, 1), glm.quat(glm.vec3(0.3, 0.4, 0)))
LEVEL = OBB((0.25, 1.5, 0), (1, 2, 1))
FAR = Sphere((9, 9, 9), 1)


def rows_of(shape: object) -> list[object]:
    if isinstance(shape, Sphere):
        return [[(*shape.center64, shape.radius)]]
    if isinstance(shape, Capsule):
        return [[(*shape.a64, *shape.b64, shape.radius)]]
    if isinstance(shape, AABB):
        return [[shape.lower64], [shape.upper64]]
    assert isinstance(shape, OBB)
    return [
        [shape.center64],
        [shape.half_extents64],
        np.reshape(shape.rotation64, (1, 3, 3)),
    ]


@pytest.mark.parametrize(
    ("one", "many", "first", "second"),
    [
        (intersect_sphere_sphere, tp.rows.intersect_sphere_sphere, BALL, Sphere((0, 0, 0), 1)),
        (intersect_sphere_sphere, tp.rows.intersect_sphere_sphere, BALL, FAR),
        (intersect_aabb_aabb, tp.rows.intersect_aabb_aabb, CUBE, AABB((0, 0.5, 0), (9, 9, 9))),
        (intersect_aabb_sphere, tp.rows.intersect_aabb_sphere, CUBE, BALL),
        (intersect_aabb_sphere, tp.rows.intersect_aabb_sphere, CUBE, FAR),
        (intersect_obb_sphere, tp.rows.intersect_obb_sphere, TURNED, BALL),
        (intersect_capsule_sphere, tp.rows.intersect_capsule_sphere, ROUND, BALL),
        (intersect_capsule_capsule, tp.rows.intersect_capsule_capsule, ROUND, ROUND),
        (intersect_capsule_aabb, tp.rows.intersect_capsule_aabb, ROUND, CUBE),
        (intersect_capsule_obb, tp.rows.intersect_capsule_obb, ROUND, TURNED),
        (intersect_obb_aabb, tp.rows.intersect_obb_aabb, LEVEL, CUBE),
    ],
)
def test_one_pair_is_a_row_rounded(one, many, first, second):
    row = many(*rows_of(first), *rows_of(second))[0]
    push = one(first, second)
    if push is None:
        assert np.isnan(row).all()
    else:
        assert isinstance(push, glm.vec3)
        np.testing.assert_allclose(np.array(push), row.astype(np.float32), rtol=1e-6)
    for wrong, right, message in ((0, second, "must be a"), (first, 0, "must be a")):
        with pytest.raises(TypeError, match=message):
            one(wrong, right)


def test_never_minus_zero():
    rows = tp.rows.intersect_sphere_sphere([(-0.0, 1, -0.0, 1)], [(0, 0, 0, 1)])
    box_rows = tp.rows.intersect_aabb_aabb([(0, -1, 0)], [(1, 0, 1)], [(0, 0, 0)], [(1, 1, 1)])
    for values in (
        rows,
        box_rows,
        tp.rows.intersect_capsule_sphere(np.zeros((1, 7)), np.zeros((1, 4))),
        tp.rows.intersect_capsule_aabb(np.zeros((1, 7)), np.zeros((1, 3)), np.ones((1, 3))),
    ):
        assert not np.signbit(values[values == 0.0]).any()
