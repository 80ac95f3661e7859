"""Box against triangle: cases worked out by hand, and many random ones against a quick oracle."""

import math

import numpy as np
import pytest

from terrain_physics import rows
from tests.helpers.box_checks import check, crossed, push_of
from tests.helpers.examples import times
from tests.helpers.strategies import Array, BoxCase, rotation_from
from tests.oracles import box_hulls

pytestmark = pytest.mark.kernels

FLOOR = np.array([[0, 0, 0], [0, 0, 4], [4, 0, 0]], dtype=float)  # front: +Y
CUBE = (1, 1, 1)


def case_of(center, half=CUBE, triangle=FLOOR, rotation=None) -> BoxCase:
    return BoxCase(
        np.array(center, dtype=float),
        np.array(half, dtype=float),
        np.eye(3) if rotation is None else rotation,
        np.array(triangle, dtype=float),
    )


@pytest.mark.parametrize(
    ("center", "one_sided", "two_sided"),
    [
        ((1, 0.75, 1), (0, 0.25, 0), (0, 0.25, 0)),  # flat on the floor
        ((1, -0.25, 1), (0, 1.25, 0), (0, -0.75, 0)),  # center behind
        ((1, -0.9, 1), (0, 1.9, 0), (0, -0.1, 0)),
        ((-0.9, -0.5, 2), (-0.1, 0, 0), (-0.1, 0, 0)),  # sideways is square to the normal
        ((-0.9, 0.95, 2), (0, 0.05, 0), (0, 0.05, 0)),
        ((-0.9, -0.95, 2), (-0.1, 0, 0), (0, -0.05, 0)),
        ((1, 0, 1), (0, 1, 0), (0, 1, 0)),  # center on the face
        ((0, 0, 2), (0, 1, 0), (0, 1, 0)),  # on an edge: tie with -X
        ((2, 0, 2), (0, 1, 0), (0, 1, 0)),
        ((0, 0, 0), (0, 1, 0), (0, 1, 0)),  # on a corner: tie with -X and -Z
        ((4, 0, 0), (0, 1, 0), (0, 1, 0)),
        ((1, 1.001, 1), None, None),
        ((3.001, 0, 3), None, None),  # off the slanted edge, though the bounds overlap
    ],
)
def test_by_hand(center, one_sided, two_sided):
    for sides, expected in ((False, one_sided), (True, two_sided)):
        push = push_of(case_of(center), two_sided=sides)
        np.testing.assert_allclose(push, expected or [math.nan] * 3, atol=1e-15)


@pytest.mark.parametrize(
    "center",
    [
        (1, 1, 1),  # face on face
        (-1, 1, 2),  # edge on edge, parallel
        (-1, 0.5, 2),  # the box's face against the floor's edge
        (-1, 0.5, -1),  # the box's edge against the floor's corner
        (-1, 1, -1),  # corner on corner
        (-1, -1, -1),
    ],
)
@pytest.mark.parametrize("shift", [0.0, 2.0**20])
def test_touching_is_contact_with_a_move_of_zero(center, shift):
    case = case_of(np.add(center, shift), triangle=FLOOR + shift)
    np.testing.assert_array_equal(push_of(case), np.zeros(3))
    np.testing.assert_array_equal(push_of(case, two_sided=True), np.zeros(3))
    outward = np.array([0, 1, 0]) if center[1] >= 1 else np.array([-1, 0, 0])
    gone = case._replace(center=case.center + outward * np.spacing(4.0 + shift))
    assert np.isnan(push_of(gone)).all()


def test_touching_from_behind_leaves_through_the_front():
    case = case_of((1.25, -1, 1.25))
    np.testing.assert_array_equal(push_of(case), [0, 2, 0])
    np.testing.assert_array_equal(push_of(case, two_sided=True), np.zeros(3))


def test_leaves_where_the_shapes_part_not_where_the_axis_runs_out():
    """Straight up the box is free after 1 m, although the overlap on Y is 2 m."""
    triangle = [(1, 0, -1), (-1, 2, 1), (-1, 1, 1)]
    case = case_of((0.5, 2, -0.5), (1, 2, 0.5), triangle)
    np.testing.assert_allclose(push_of(case), [0, 1, 0], atol=1e-15)
    check(case, two_sided=False)


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("edge", range(3))
def test_each_edge_of_the_triangle_against_each_of_the_box(edge, axis):
    for two_sided in (False, True):
        push = push_of(crossed(edge, axis, -0.1), two_sided=two_sided)
        np.testing.assert_allclose(push, [0, 0.1, 0], atol=1e-14)
        assert np.isnan(push_of(crossed(edge, axis, 1e-9), two_sided=two_sided)).all()
    behind = crossed(edge, axis, -0.1, 0.45)  # the shortest way out is against the front
    np.testing.assert_allclose(push_of(behind), [0, 0.1, 0], atol=1e-14)
    assert np.linalg.norm(push_of(behind, two_sided=True)) < 0.06


@pytest.mark.parametrize("height", [0.6, 0.0, -0.4])
def test_edge_down_parallel_to_a_triangle_edge(height):
    """A cube turned 45 degrees about x stands on its edge, which runs along the floor's edge."""
    turn = rotation_from(np.array([math.cos(math.pi / 8), math.sin(math.pi / 8), 0, 0]))
    case = case_of((1, height, 1), rotation=turn)
    np.testing.assert_allclose(push_of(case), [0, math.sqrt(2) - height, 0], atol=1e-14)
    check(case, two_sided=True)


@pytest.mark.parametrize(
    "order", [(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2)]
)
def test_corner_orders_turn_the_front_only(order):
    front = 1 if order in {(0, 1, 2), (1, 2, 0), (2, 0, 1)} else -1
    case = case_of((1, 0.25, 1), triangle=FLOOR[list(order)])
    np.testing.assert_allclose(push_of(case), [0, front - 0.25, 0], atol=1e-15)
    np.testing.assert_allclose(push_of(case, two_sided=True), [0, 0.75, 0], atol=1e-15)


@pytest.mark.parametrize(
    ("triangle", "center", "push"),
    [
        ([(5, 5, 5)] * 3, (5, 4.25, 5), (0, -0.25, 0)),  # a point: every direction is allowed
        ([(-2, 0, 0), (0, 0, 0), (3, 0, 0)], (0, 0.5, 0.25), (0, 0.5, 0)),
        ([(-2, 0, 0), (3, 0, 0), (3, 0, 0)], (0, -0.75, 0.25), (0, -0.25, 0)),
        ([(0, -2, 0), (0, 3, 0), (0, 3, 0)], (0.5, 0, 0.25), (0.5, 0, 0)),
    ],
)
def test_without_area(triangle, center, push):
    np.testing.assert_allclose(push_of(case_of(center, triangle=triangle)), push, atol=1e-15)


@pytest.mark.parametrize("half", [(1, 0, 1), (0, 1, 0), (0, 0, 0)])
def test_box_without_thickness(half):
    """A sheet, a rod and a point in the floor leave it along its normal."""
    np.testing.assert_allclose(push_of(case_of((1, 0, 1), half)), [0, half[1], 0], atol=1e-15)
    assert np.isnan(push_of(case_of((1, 1.5, 1), half))).all()


def random_cases(seed: int, count: int) -> tuple[Array, Array, Array, Array]:
    """Return boxes and triangles that share a point, in sizes of 1e-3 to 1e4 m."""
    rng = np.random.default_rng(seed)
    triangles = rng.uniform(-1, 1, (count, 3, 3))
    half = 10.0 ** rng.uniform(-1.5, 0.5, (count, 3))
    quaternions = rng.normal(size=(count, 4))
    rotations = np.array([rotation_from(quaternion) for quaternion in quaternions])
    shares = rng.dirichlet((1, 1, 1), count)
    inside = rng.uniform(-1.1, 1.1, (count, 3))
    common = np.einsum("nk,nkx->nx", shares, triangles)
    centers = common - np.einsum("nxk,nk->nx", rotations, inside * half)
    sizes = 10.0 ** rng.uniform(-3, 4, count)
    return (
        centers * sizes[:, None],
        half * sizes[:, None],
        rotations,
        triangles * sizes[:, None, None],
    )


def check_many(seed: int, count: int) -> None:
    """Compare depths with the quick oracle; where they differ, the exact one decides."""
    cases = random_cases(seed, count)
    pushes = rows.intersect_obb_triangle(*cases, two_sided=True)
    depths = box_hulls.depths(*cases)
    sizes = np.max(cases[1], axis=1) + np.max(np.ptp(cases[3], axis=1), axis=1)
    lengths = np.where(np.isnan(pushes[:, 0]), -1.0, np.linalg.norm(pushes, axis=1))
    agree = np.where(
        lengths < 0.0, depths <= 1e-9 * sizes, np.abs(lengths - depths) <= 1e-9 * sizes
    )
    one_sided = rows.intersect_obb_triangle(*cases)
    np.testing.assert_array_equal(np.isnan(one_sided), np.isnan(pushes))
    assert 0.5 < np.mean(lengths >= 0.0) < 0.99
    for i in np.flatnonzero(~agree):
        check(BoxCase(*(part[i] for part in cases)), two_sided=True)
    assert np.mean(agree) > 0.99


def test_many():
    check_many(seed=1, count=times(2_000))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(50))
def test_many_long(seed):
    check_many(seed=1000 + seed, count=2_000)
