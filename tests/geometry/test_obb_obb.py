"""Box against box: the shortest move out, against hulls that use no separating axes."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyglm import glm

import terrain_physics as tp
from terrain_physics import (
    OBB,
    intersect_obb_obb,
)
from tests.helpers import pair_strategies, strategies
from tests.helpers.examples import examples
from tests.helpers.pair_strategies import BoxPair
from tests.helpers.strategies import Array, rotation_from
from tests.oracles import boxes, segments
from tests.oracles import geometry as oracle
from tests.oracles.geometry import vector

pytestmark = pytest.mark.kernels

SIGNS = np.array(list(product((-1.0, 1.0), repeat=3)))
CUBE = (1.0, 1.0, 1.0)


def pair_of(center, half=CUBE, rotation=None, other_half=CUBE, other_rotation=None) -> BoxPair:
    """Return two boxes, the second around the origin."""
    return BoxPair(
        np.array(center, dtype=float),
        np.array(half, dtype=float),
        np.eye(3) if rotation is None else rotation,
        np.zeros(3),
        np.array(other_half, dtype=float),
        np.eye(3) if other_rotation is None else other_rotation,
    )


def push_of(pair: BoxPair) -> Array:
    """Return the library's penetration, NaN where apart."""
    return strategies.as_array(tp.rows.intersect_obb_obb(*(part[None] for part in pair))[0])


def corners_of(center: Array, half: Array, rotation: Array) -> Array:
    return strategies.as_array(center + SIGNS * half @ rotation.T)


def slack_of(pair: BoxPair, depth: float) -> Fraction:
    size = 2.0 * float(np.linalg.norm(pair.half) + np.linalg.norm(pair.other_half))
    return Fraction(oracle.tolerance(size, depth, pair.center, pair.other_center))


def check(pair: BoxPair) -> None:
    """Hold one pair against the exact hull of the 64 differences of corners."""
    first = boxes.box_of(pair.center.tolist(), pair.half.tolist(), pair.rotation)
    second = boxes.box_of(pair.other_center.tolist(), pair.other_half.tolist(), pair.other_rotation)
    push = push_of(pair)
    depth = float(np.linalg.norm(np.nan_to_num(push)))
    slack = slack_of(pair, depth)
    corners = boxes.box_corners(first), boxes.box_corners(second)
    sides = boxes.facets(segments.differences(*corners))
    deepest = max(boxes.depth(sides), Fraction(0)) if sides else Fraction(0)
    if np.isnan(push).any():
        assert np.isnan(push).all()
        smaller = boxes.grown(first, -slack), boxes.grown(second, -slack)
        # Plates do not shrink: two of them may miss each other by rounding only.
        missed = segments.boxes_touch(*smaller) and deepest > slack
        assert not missed, "contact missed"
        return
    larger = boxes.grown(first, slack), boxes.grown(second, slack)
    assert segments.boxes_touch(*larger), "apart, but reported as a contact"
    assert abs(Fraction(depth) - deepest) <= slack, "not the shortest way out"
    move = vector(push.tolist())
    left = [side.distance - oracle.dot(side.unit, move) for side in sides]
    assert min(left, default=0) <= slack, "after the push still inside"
    moved = boxes.moved(larger[0], move)
    assert segments.boxes_touch(moved, larger[1]), "pushed too far"


@given(pair=pair_strategies.box_pairs())
@examples(60)
def test_against_oracle(pair):
    check(pair)


@pytest.mark.long
@given(pair=pair_strategies.box_pairs())
@examples(3000)
def test_against_oracle_long(pair):
    check(pair)


@given(pair=pair_strategies.box_pairs())
@examples(200)
def test_no_direction_of_many_is_shorter(pair):
    """How far the corners' differences reach in a direction is enough to part them that way."""
    push = push_of(pair)
    if np.isnan(push).any():
        return
    depth = float(np.linalg.norm(push))
    differences = (corners_of(*pair[3:])[:, None] - corners_of(*pair[:3])[None]).reshape(-1, 3)
    directions = np.random.default_rng(4).normal(size=(500, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    slack = float(slack_of(pair, depth))
    assert (directions @ differences.T).max(axis=1).min() >= depth - slack
    if depth > 1e3 * slack:  # and the push itself is enough
        assert (differences @ (push / depth)).max() <= depth + slack


@given(pair=pair_strategies.box_pairs())
@examples(200)
def test_the_second_box_would_move_as_far(pair):
    back = push_of(BoxPair(*pair[3:], *pair[:3]))
    push = push_of(pair)
    depths = [float(np.linalg.norm(np.nan_to_num(move))) for move in (push, back)]
    assert abs(depths[0] - depths[1]) <= slack_of(pair, max(depths))
    if np.isnan(push).any() != np.isnan(back).any():
        assert max(depths) <= slack_of(pair, 0.0)


@given(pair=pair_strategies.box_pairs(), data=st.data())
@examples(100)
def test_turned_and_moved(pair, data):
    """The whole scene turned and moved: the way out is as long."""
    turn, shift = data.draw(strategies.rotations()), data.draw(strategies.offsets(1.0))
    other = BoxPair(
        turn @ pair.center + shift, pair.half, turn @ pair.rotation,
        turn @ pair.other_center + shift, pair.other_half, turn @ pair.other_rotation,
    )  # fmt: skip
    depths = [float(np.linalg.norm(np.nan_to_num(push_of(scene)))) for scene in (pair, other)]
    slack = slack_of(pair, max(depths)) + slack_of(other, max(depths))
    assert abs(depths[0] - depths[1]) <= 8 * slack


HALF_TURN = rotation_from(np.array([1.0, 0.0, np.tan(np.pi / 8), 0.0]))  # 45 degrees about Y


@pytest.mark.parametrize(
    ("pair", "push"),
    [
        (pair_of((0, 1.75, 0)), (0, 0.25, 0)),
        (pair_of((0, -1.75, 0)), (0, -0.25, 0)),
        (pair_of((0, 0, 0)), (2, 0, 0)),  # all six ways are equal: the first axis, forward
        (pair_of((0, 0, 0), (3, 2, 1)), (0, 0, 2)),
        (pair_of((-0.5, 0, 0), (3, 2, 2)), (0, 3, 0)),
        (pair_of((1, 1, 1)), (1, 0, 0)),  # corner in corner
        (pair_of((0.5, 1.5, -1.5)), (0, 0.5, 0)),  # y before z
        (pair_of((0, 1.75, 0), rotation=HALF_TURN), (0, 0.25, 0)),
        (pair_of((0, 1.75, 0), other_rotation=HALF_TURN), (0, 0.25, 0)),
        (pair_of((2.25, 0, 0), rotation=HALF_TURN), (np.sqrt(2) - 1.25, 0, 0)),  # edge in face
        (pair_of((0, 0, 0), (1, 0, 1)), (0, 1, 0)),  # a plate
        (pair_of((0.5, 0, 0), (1, 0, 0), None, (0, 1, 1)), (0.5, 0, 0)),  # a rod, a plate
        (pair_of((0, 0, 0), (1, 0, 0), None, (0, 1, 0)), (0, 0, 0)),  # rods that cross
        (pair_of((0, 0, 0.5), (1, 0, 0), None, (0, 1, 0)), None),
        (pair_of((0, 0, 0), (0, 0, 0), None, (0, 0, 0)), (0, 0, 0)),  # points
        (pair_of((0.5, 0, 0), (0, 0, 0)), (0.5, 0, 0)),
        (pair_of((2.5, 0, 0)), None),
        (pair_of((2.5, 0, 0), rotation=HALF_TURN), None),
    ],
)
def test_by_hand(pair, push):
    np.testing.assert_allclose(push_of(pair), push or [np.nan] * 3, atol=1e-15)


def test_edge_against_edge():
    """Two cubes on edge, crossed: neither's faces are the way out."""
    first = rotation_from(np.array([1.0, np.tan(np.pi / 8), 0.0, 0.0]))
    second = rotation_from(np.array([1.0, 0.0, 0.0, np.tan(np.pi / 8)]))
    height = 2 * np.sqrt(2) - 0.125
    pair = pair_of((0, height, 0), rotation=first, other_rotation=second)
    np.testing.assert_allclose(push_of(pair), [0, 0.125, 0], atol=1e-15)
    apart = pair._replace(center=np.array([0, height + 0.126, 0]))
    assert np.isnan(push_of(apart)).all()


@pytest.mark.parametrize("shift", [0.0, 2.0**20])
@pytest.mark.parametrize("center", [(2, 0, 0), (0, -2, 0.5), (2, 2, 0), (-2, 2, -2)])
def test_touching_is_contact_with_a_move_of_zero(center, shift):
    pair = pair_of(center)._replace(other_center=np.full(3, shift))
    pair = pair._replace(center=pair.center + shift)
    np.testing.assert_array_equal(push_of(pair), np.zeros(3))
    gone = pair._replace(center=pair.center + np.sign(center) * np.spacing(shift + 2))
    assert np.isnan(push_of(gone)).all()


@pytest.mark.parametrize("angle", [0.0, 1e-17, 1e-15, 1e-13, 1e-12, 1e-11, 1e-8])
def test_nearly_parallel_boxes_part_as_parallel_ones_do(angle):
    turn = rotation_from(np.array([1.0, angle, -angle, angle / 2]))
    pair = pair_of((0.25, 1.75, 0.5), other_rotation=turn)
    np.testing.assert_allclose(push_of(pair), [0, 0.25, 0], atol=4 * angle + 1e-15)
    for gap, parted in ((1e-7, True), (-1e-7, False)):
        beside = pair._replace(center=np.array([0.25, 2 + gap, 0.5]))
        assert np.isnan(push_of(beside)).all() == parted


def test_one_pair_is_a_row_rounded():
    pair = [
        OBB((0.5, 1, 0), (1, 2, 0.5), glm.quat(glm.vec3(0.3, 0.4, 0))),
        OBB((0, 0.25, 0), (0.5, 1, 1), glm.quat(glm.vec3(0, 1, 0.2))),
    ]
    rows = [
        row
        for box in pair
        for row in (
            [box.center64],
            [box.half_extents64],
            np.reshape(box.rotation64, (1, 3, 3)),
        )
    ]
    push = intersect_obb_obb(*pair)
    assert isinstance(push, glm.vec3)
    np.testing.assert_allclose(np.array(push), tp.rows.intersect_obb_obb(*rows)[0], rtol=1e-6)
    assert intersect_obb_obb(pair[0], OBB((9, 9, 9), (1, 1, 1))) is None
    for wrong in ((pair[0], 1), (1, pair[0])):
        with pytest.raises(TypeError, match=r"(first|second) must be an OBB, got 1"):
            intersect_obb_obb(*wrong)
