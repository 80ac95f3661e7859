"""Capsule against box: the shortest move out, against clipping and hulls of corners."""

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

import terrain_physics as tp
from terrain_physics._kernels.geometry import capsule_box, solid_pairs
from tests.helpers import pair_strategies, strategies
from tests.helpers.examples import examples
from tests.helpers.pair_strategies import CapsuleBoxPair
from tests.helpers.strategies import Array, rotation_from
from tests.oracles import boxes, segments
from tests.oracles.boxes import Box
from tests.oracles.geometry import add, vector

pytestmark = pytest.mark.kernels

SIGNS = np.array(list(product((-1.0, 1.0), repeat=3)))
EIGHTH_ABOUT_Y = rotation_from(np.array([1.0, 0.0, np.tan(np.pi / 8), 0.0]))
# Exact in float64.
QUARTER_ABOUT_Z = np.array([(0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)])


def push_of(pair: CapsuleBoxPair) -> Array:
    """Return the library's penetration, NaN where apart."""
    return strategies.as_array(tp.rows.intersect_capsule_obb(*(part[None] for part in pair))[0])


def upright_push(capsule: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> Array:
    """Return the penetration out of an axis-aligned box, NaN where apart."""
    rows = (np.array([values], dtype=np.float64) for values in (capsule, lower, upper))
    return strategies.as_array(tp.rows.intersect_capsule_aabb(*rows)[0])


def box_of(pair: CapsuleBoxPair) -> Box:
    return boxes.box_of(pair.center.tolist(), pair.half.tolist(), pair.rotation)


def ends_of(capsule: Array, push: Array) -> segments.Segment:
    move = vector(push.tolist())
    first, second, *_ = (add(vector(end), move) for end in (capsule[:3], capsule[3:6]))
    return first, second


def slack_of(pair: CapsuleBoxPair, depth: float) -> float:
    """Return what an answer may be off by, in meters: a hundredth of what other pairs may."""
    ends = pair.capsule[:6].reshape(2, 3)
    size = float(np.linalg.norm(ends[1] - ends[0]) + 2 * np.linalg.norm(pair.half))
    largest = max(float(np.abs(values).max()) for values in (ends, pair.center))
    return 2e-11 * (size + float(pair.capsule[6]) + depth) + 8.0 * float(np.spacing(largest))


def inside_of(box: Box, ends: segments.Segment) -> Fraction:
    """Return how deep the origin is in the differences of box and segment, which meet."""
    return segments.depth_in(segments.differences(ends, boxes.box_corners(box)))


def check(pair: CapsuleBoxPair) -> None:
    """Hold one pair against the exact distance, and the exact hull of differences of corners."""
    push, radius, box = push_of(pair), Fraction(float(pair.capsule[6])), box_of(pair)
    depth = float(np.linalg.norm(np.nan_to_num(push)))
    slack = slack_of(pair, depth)
    before = ends_of(pair.capsule, np.zeros(3))
    distance = segments.box_to_segment(box, before)
    if np.isnan(push).any():
        assert np.isnan(push).all()
        assert distance > radius - Fraction(slack), "contact missed"
        return
    assert distance <= radius + Fraction(slack), "apart, but reported as a contact"
    inside = Fraction(0) if distance > 0 else inside_of(box, before)
    assert abs(float(Fraction(depth) - (radius - distance + inside))) <= slack, "not the shortest"
    after = ends_of(pair.capsule, push)
    left = segments.box_to_segment(box, after)
    assert abs(float(left - radius)) <= slack, "after the push they do not just touch"
    assert left > 0 or inside_of(box, after) <= Fraction(slack), "after the push still inside"


@given(pair=pair_strategies.capsule_box_pairs())
@examples(300)
def test_against_oracle(pair):
    check(pair)


@pytest.mark.long
@given(pair=pair_strategies.capsule_box_pairs())
@examples(20_000)
def test_against_oracle_long(pair):
    check(pair)


@given(pair=pair_strategies.capsule_box_pairs())
@examples(150)
def test_no_direction_of_many_is_shorter(pair):
    """The sum of how far both reach in a direction is enough to part them that way."""
    push = push_of(pair)
    if np.isnan(push).any():
        return
    depth = float(np.linalg.norm(push))
    corners = SIGNS * pair.half @ pair.rotation.T
    ends = pair.capsule[:6].reshape(2, 3) - pair.center
    directions = np.random.default_rng(4).normal(size=(10_000, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    widths = (directions @ corners.T).max(axis=1) - (directions @ ends.T).min(axis=1)
    assert widths.min() + pair.capsule[6] >= depth - slack_of(pair, depth)


@given(pair=pair_strategies.capsule_box_pairs())
@examples(200)
def test_it_does_not_matter_which_end_is_first(pair):
    a, b, radius = np.split(pair.capsule, [3, 6])
    other = pair._replace(capsule=np.concatenate([b, a, radius]))
    pushes = push_of(pair), push_of(other)
    depths = [float(np.linalg.norm(np.nan_to_num(push))) for push in pushes]
    slack = slack_of(pair, max(depths))
    assert abs(depths[0] - depths[1]) <= slack
    if np.isnan(pushes[0]).any() != np.isnan(pushes[1]).any():
        assert max(depths) <= slack


@given(pair=pair_strategies.capsule_box_pairs(), data=st.data())
@examples(100)
def test_turned_and_moved(pair, data):
    """The whole scene turned and moved: the way out is as long."""
    turn, shift = data.draw(strategies.rotations()), data.draw(strategies.offsets(1.0))
    a, b, radius = np.split(pair.capsule, [3, 6])
    other = CapsuleBoxPair(
        np.concatenate([turn @ a + shift, turn @ b + shift, radius]),
        turn @ pair.center + shift, pair.half, turn @ pair.rotation,
    )  # fmt: skip
    depths = [float(np.linalg.norm(np.nan_to_num(push_of(scene)))) for scene in (pair, other)]
    slack = slack_of(pair, max(depths)) + slack_of(other, max(depths))
    assert abs(depths[0] - depths[1]) <= 8 * slack


def whole_cases(count: int) -> list[tuple[Array, Array, Array]]:
    """Return capsules and boxes of small whole numbers, so that many touch or tie exactly."""
    rng = np.random.default_rng(3)
    ends = rng.integers(-3, 4, (count, 2, 3)).astype(np.float64)
    ends[::5, 1] = ends[::5, 0]
    radii = rng.integers(0, 4, (count, 1)) * (rng.random((count, 1)) < 0.5)
    lowers = rng.integers(-2, 2, (count, 3)).astype(np.float64)
    uppers = lowers + rng.integers(0, 4, (count, 3))
    return list(zip(np.hstack([ends.reshape(-1, 6), radii]), lowers, uppers, strict=True))


@pytest.mark.parametrize("count", [100, pytest.param(20_000, marks=pytest.mark.full)])
def test_whole_numbers_touch_as_fractions_do(count):
    """Without a radius, and off a face, contact is exact to the last bit: also on an edge."""
    touched = 0
    for capsule, lower, upper in whole_cases(count):
        center, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
        box = boxes.box_of(center.tolist(), half.tolist(), np.eye(3))
        distance = segments.box_to_segment(box, ends_of(capsule, np.zeros(3)))
        push = upright_push(capsule, lower, upper)
        if capsule[6] == 0.0 or abs(float(distance) - capsule[6]) > 1e-12:
            assert np.isnan(push).any() == (distance > capsule[6]), (capsule, lower, upper)
        elif np.isnan(push).any():
            push = np.zeros(3)
        if distance <= capsule[6]:
            inside = inside_of(box, ends_of(capsule, np.zeros(3))) if distance == 0 else 0
            depth = capsule[6] - float(distance) + float(inside)
            assert abs(np.linalg.norm(push) - depth) <= 1e-14
            touched += 1
        pair = CapsuleBoxPair(capsule, center, half, np.eye(3))
        np.testing.assert_allclose(push_of(pair), upright_push(capsule, lower, upper), atol=1e-15)
    assert touched > count // 4


def test_whole_numbers_tie_alike_from_both_ends():
    for capsule, lower, upper in whole_cases(600):
        swapped = np.concatenate([capsule[3:6], capsule[:3], capsule[6:]])
        pushes = upright_push(capsule, lower, upper), upright_push(swapped, lower, upper)
        np.testing.assert_allclose(pushes[0], pushes[1], atol=4e-15)


def floats(values: Array) -> Any:
    """Return numbers as a tuple, as kernels take them."""
    return tuple(values.ravel().tolist())


@given(pair=pair_strategies.capsule_box_pairs())
@examples(200)
def test_a_capsule_that_is_a_ball_has_the_bits_of_a_ball(pair):
    center, radius = floats(pair.capsule[:3]), float(pair.capsule[6])
    box = floats(pair.center), floats(pair.half), floats(pair.rotation)
    touching, push = capsule_box.capsule_obb(center, center, radius, *box)
    assert (touching, push) == negated(solid_pairs.obb_sphere(*box, center, radius))


def negated(answer: tuple[bool, tuple[float, ...]]) -> tuple[bool, tuple[float, ...]]:
    return answer[0], tuple(-x for x in answer[1])


def test_a_ball_of_whole_numbers_ties_as_a_ball_does():
    for capsule, lower, upper in whole_cases(300):
        center, corners = floats(capsule[:3]), (floats(lower), floats(upper))
        answer = capsule_box.capsule_aabb(center, center, float(capsule[6]), *corners)
        assert answer == negated(solid_pairs.aabb_sphere(*corners, center, float(capsule[6])))


@given(pair=pair_strategies.capsule_box_pairs())
@examples(60)
def test_a_row_has_the_bits_of_one_pair(pair):
    a, b, radius = np.split(pair.capsule, [3, 6])
    capsule = floats(a), floats(b), float(radius[0])
    box = tp.OBB(*pair[1:])
    touching, move = capsule_box.capsule_obb(
        *capsule, box.center64, box.half_extents64, box.rotation64
    )
    np.testing.assert_array_equal(push_of(pair), move if touching else [np.nan] * 3)
    lower, upper = pair.center - pair.half, pair.center + pair.half
    touching, move = capsule_box.capsule_aabb(*capsule, floats(lower), floats(upper))
    expected = move if touching else [np.nan] * 3
    np.testing.assert_array_equal(upright_push(pair.capsule, lower, upper), expected)


CUBE = ((-1, -1, -1), (1, 1, 1))
NONE = (np.nan, np.nan, np.nan)


@pytest.mark.parametrize(
    ("capsule", "lower", "upper", "push"),
    [
        ((0, 1.25, 0, 0, 3, 0, 0.5), *CUBE, (0, 0.25, 0)),  # an end above a face
        ((0, -1.25, 0, 0, -3, 0, 0.5), *CUBE, (0, -0.25, 0)),
        ((-9, 1.25, 0, 9, 1.25, 0, 0.5), *CUBE, (0, 0.25, 0)),  # lying on a face, over its edges
        ((-0.5, 1.25, 0, 0.5, 1.25, 0.5, 0.5), *CUBE, (0, 0.25, 0)),
        ((-9, 1.25, 7, 9, 1.25, -7, 0.5), *CUBE, (0, 0.25, 0)),
        ((-9, 1.25, 0, 9, 1.25, 0, 0.25), *CUBE, (0, 0, 0)),  # just touching
        ((-9, 1.25, 0, 9, 1.25, 0, np.nextafter(0.25, 0)), *CUBE, NONE),
        ((4, 5, -9, 4, 5, 9, 10), *CUBE, (3, 4, 0)),  # along an edge
        ((4, 5, -9, 4, 5, 9, 5), *CUBE, (0, 0, 0)),
        ((0, 8, 0, 8, 2, 0, 10), *CUBE, (3, 4, 0)),  # across an edge
        ((0, 8, 0, 8, 2, 0, 5), *CUBE, (0, 0, 0)),
        ((0, 4, -9, 8, 4, 9, 2), *CUBE, NONE),
        ((3, 3, 2, 3, 3, 9, 3), *CUBE, (0, 0, 0)),  # 2, 2, 1 off a corner
        ((3, 3, 2, 9, 9, 9, 6), *CUBE, (2, 2, 1)),
        ((1, 5, 2, 5, 1, 2, 6), *CUBE, (2, 2, 1)),
        ((3, -3, 2, 9, -9, 9, 6), *CUBE, (2, -2, 1)),
        ((-2, 0.75, 0, 2, 0.75, 0, 0.5), *CUBE, (0, 0.75, 0)),  # through it, near the top
        ((-2, 0.75, 0.8125, 2, 0.75, 0.8125, 0.5), *CUBE, (0, 0, 0.6875)),
        ((0.25, 0, 0, 0.5, 0.25, 0, 0.5), *CUBE, (1.25, 0, 0)),  # inside
        ((0, -0.75, 0, 0, 0.75, 0, 0), *CUBE, (-1, 0, 0)),  # all four sides alike: -X
        ((-9, 0, 0, 9, 0, 0, 0.5), *CUBE, (0, -1.5, 0)),
        ((0, 0, 0, 0, 0, 0, 0.5), *CUBE, (-1.5, 0, 0)),
        ((-9, 3, 0, 9, 3, 0, 1), (-9, 0, -5), (9, 3, 5), (0, 1, 0)),  # its axis in a face
        ((0, -3, 0, 0, 3, 0, 0.5), (-1, 0, -2), (1, 0, 2), (-1.5, 0, 0)),  # through a plate
        ((0, 0, 0, 4, 0, 0, 0.5), (-1, 0, -2), (1, 0, 2), (0, -0.5, 0)),  # in its plane
        ((0, -1, 0, 0, 1, 0, 0.5), (-4, 0, 0), (4, 0, 0), (0, 0, -0.5)),  # across a rod
        ((0, 0, 0, 8, 0, 0, 0.5), (-4, 0, 0), (4, 0, 0), (0, -0.5, 0)),  # along a rod
        ((-1, 0, 0, 1, 0, 0, 0.5), (0, 0, 0), (0, 0, 0), (0, -0.5, 0)),  # a point
        ((0, 0, 0, 0, 0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0)),
        ((1, 0, 0, 2, 0, 0, 0), *CUBE, (0, 0, 0)),  # no radius, touching
        ((-1, 2, 0, 2, -1, 0, 0), (0, 0, 0), (1, 1, 1), (0, 0, 0)),  # in a face
        ((0, 2, 0, 2, 0, 0, 0), (0, 0, -1), (1, 1, 1), (0, 0, 0)),  # on an edge
        ((1, 3, -1, 4, -3, 8, 0), (0, 0, 0), (2, 1, 2), (0, 0, 0)),  # on a corner
        ((0, 2, 1, 3, 1, 1, 0), (0, 0, -1), (1, 1, 1), NONE),
    ],
)
@pytest.mark.parametrize("shift", [0.0, 2.0**20])
def test_by_hand(capsule, lower, upper, push, shift):
    lower, upper = np.add(lower, shift), np.add(upper, shift)
    capsule = np.add(capsule, [shift] * 6 + [0.0])
    np.testing.assert_array_equal(upright_push(capsule, lower, upper), push)
    pair = CapsuleBoxPair(capsule, (lower + upper) / 2, (upper - lower) / 2, np.eye(3))
    np.testing.assert_array_equal(push_of(pair), push)


@pytest.mark.parametrize(
    ("axis", "offset", "push"),
    [
        ((1, 1, 0), (0, 0, 0), (-0.5, 0.5, 0)),  # through two edges: the way past them, -X
        ((1, -1, 0), (0, 0, 0), (-0.5, -0.5, 0)),
        ((1, 1, 0), (0.5, 0, 0), (0.25, -0.25, 0)),
        ((1, 1, 0), (0, 0.5, 0), (-0.25, 0.25, 0)),
        ((1, 0, 1), (0, 0, 0), (-0.5, 0, 0.5)),
        ((0, 1, 1), (0, 0, 0), (0, -0.5, 0.5)),
    ],
)
def test_an_axis_past_the_edge_that_is_nearest(axis, offset, push):
    """No axis of the box is the way out, but one perpendicular to both an edge and the capsule."""
    deep = np.where(np.array(axis) == 0, 9.0, 0.5)  # a bar along an edge
    for sign, by in product((1, -1), (0.0, 0.25)):
        ends = [
            np.array(offset) - 9.0 * sign * np.array(axis),
            np.array(offset) + 9.0 * sign * np.array(axis),
        ]
        capsule = np.concatenate([*ends, [by]])
        longer = 1.0 + by / np.linalg.norm(push)
        pair = CapsuleBoxPair(capsule, np.zeros(3), deep, np.eye(3))
        np.testing.assert_allclose(push_of(pair), np.multiply(push, longer), atol=1e-15)
        turned = np.concatenate([*(QUARTER_ABOUT_Z @ end for end in ends), [by]])
        pair = CapsuleBoxPair(turned, np.zeros(3), deep, QUARTER_ABOUT_Z)
        np.testing.assert_allclose(
            push_of(pair), QUARTER_ABOUT_Z @ np.multiply(push, longer), atol=1e-15
        )


@pytest.mark.parametrize("angle", [0.0, 1e-17, 1e-15, 1e-13, 1e-12, 1e-11, 1e-8])
def test_an_axis_nearly_along_an_edge_parts_as_along_it(angle):
    for tilt in ((0.0, angle), (angle, -angle)):
        ends = [(-4.0, 0.75 - 4 * tilt[0], -4 * tilt[1]), (4.0, 0.75 + 4 * tilt[0], 4 * tilt[1])]
        capsule = np.array([*ends[0], *ends[1], 0.5])
        np.testing.assert_allclose(upright_push(capsule, *CUBE), (0, 0.75, 0), atol=8 * angle)
        for gap, parted in ((1e-7, True), (-1e-7, False)):
            beside = capsule + np.array([0, 0.75 + gap, 0, 0, 0.75 + gap, 0, 0])
            assert np.isnan(upright_push(beside, *CUBE)).all() == parted


def test_a_box_on_edge():
    pair = CapsuleBoxPair(
        np.array([np.sqrt(2) + 0.25, -9, 0, np.sqrt(2) + 0.25, 9, 0, 0.5]),
        np.zeros(3), np.ones(3), EIGHTH_ABOUT_Y,
    )  # fmt: skip
    np.testing.assert_allclose(push_of(pair), [0.25, 0, 0], atol=1e-15)


def test_threads_get_the_rows_of_one():
    rng = np.random.default_rng(2)
    capsules = np.hstack([rng.uniform(-2, 2, (4000, 6)), rng.uniform(0, 1, (4000, 1))])
    corners = -rng.uniform(0, 1, (4000, 3)), rng.uniform(0, 1, (4000, 3))
    expected = tp.rows.intersect_capsule_aabb(capsules, *corners)
    assert 0.2 < np.isnan(expected[:, 0]).mean() < 0.8
    with ThreadPoolExecutor(4) as pool:
        answers = pool.map(lambda _: tp.rows.intersect_capsule_aabb(capsules, *corners), range(8))
        for answer in answers:
            np.testing.assert_array_equal(answer, expected)
