"""A shape moving against one triangle: when it touches, and with which normal."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from terrain_physics._kernels.geometry.sweep_capsule import sweep_capsule
from terrain_physics._kernels.geometry.sweep_obb import sweep_obb
from terrain_physics._kernels.geometry.sweep_sphere import sweep_sphere
from terrain_physics._kernels.tolerances import SLIDE_SINE
from tests.helpers.box_checks import crossed
from tests.helpers.examples import examples
from tests.helpers.strategies import SIZES, UNIT, rotations, triangles
from tests.oracles.boxes import box_of, difference_facets
from tests.oracles.geometry import corners_of
from tests.oracles.sweeps import (
    distance_of_axis,
    distance_to_triangle,
    first_approach,
    nearest_approach,
)

pytestmark = pytest.mark.kernels

FLOOR = ((-4.0, 0.0, -4.0), (-4.0, 0.0, 8.0), (8.0, 0.0, -4.0))
LEVEL = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


def moved(triangle, center):
    return tuple(tuple(p - q for p, q in zip(corner, center, strict=True)) for corner in triangle)


def sphere(center, radius, motion, triangle=FLOOR, *, two_sided=False):
    length = math.sqrt(sum(x * x for x in motion))
    direction = tuple(x / length for x in motion)
    a, b, c = moved(triangle, center)
    return sweep_sphere(radius, direction, length, a, b, c, two_sided)


def capsule(center, half_axis, radius, motion, triangle=FLOOR, *, two_sided=False):
    length = math.sqrt(sum(x * x for x in motion))
    direction = tuple(x / length for x in motion)
    a, b, c = moved(triangle, center)
    return sweep_capsule(half_axis, radius, direction, length, a, b, c, two_sided)


def box(center, half, motion, triangle=FLOOR, rotation=LEVEL, *, two_sided=False):
    length = math.sqrt(sum(x * x for x in motion))
    direction = tuple(x / length for x in motion)
    a, b, c = moved(triangle, center)
    return sweep_obb(half, rotation, direction, length, a, b, c, two_sided, np.empty((26, 4)))


@st.composite
def ways(draw):
    """Return a direction and a length of a few sizes, a triangle, all of size one."""
    triangle = draw(triangles())
    direction = np.array([draw(UNIT) for _ in range(3)])
    if draw(st.integers(0, 3)) == 0:
        direction = np.eye(3)[draw(st.integers(0, 2))] * draw(st.sampled_from([-1.0, 1.0]))
    assume(np.linalg.norm(direction) > 0.01)
    direction /= np.linalg.norm(direction)
    # A place of the triangle lies on the way, or near it.
    shares = np.array([draw(st.floats(0.0, 1.0)) for _ in range(3)]) + 1e-3
    target = shares / shares.sum() @ triangle + 0.3 * np.array([draw(UNIT) for _ in range(3)])
    length = draw(st.sampled_from([0.5, 1.0, 4.0]))
    back = draw(st.floats(0.0, 3.0))
    return direction, length, triangle - (target - back * direction)


def check(distance, radius, length, travel, normal, size):
    """Hold a rounded shape's sweep against its distance as a function of the way."""
    nearest, least = nearest_approach(distance, length)
    start = float(distance(np.zeros(1))[0])
    slack = 1e-9 * size
    if abs(start - radius) <= slack:
        return
    if start < radius:  # touches at the start: stopped there, or free
        assert travel in {0.0, math.inf}
        return
    if travel == math.inf:
        assert least >= radius - slack - 2.0 * SLIDE_SINE * length
        return
    assert 0.0 <= travel <= nearest + 1e-6 * size
    assert least <= radius + slack
    assert abs(float(distance(np.array([travel]))[0]) - radius) <= slack
    assert travel <= first_approach(distance, radius - slack, nearest) + 1e-12 * size
    assert math.isclose(float(np.linalg.norm(normal)), 1.0, abs_tol=1e-12)


@examples(150)
@given(ways(), st.sampled_from([0.0, 0.05, 0.5, 2.0]), SIZES)
def test_a_sphere_touches_when_its_distance_is_the_radius(way, radius, size):
    direction, length, triangle = way
    length, triangle, radius = length * size, triangle * size, radius * size
    a, b, c = map(tuple, triangle)
    travel, normal = sweep_sphere(radius, tuple(direction), length, a, b, c, False)

    def distance(travels):
        return distance_to_triangle(travels[:, np.newaxis] * direction, triangle)

    reach = size * 8.0 + radius
    check(distance, radius, length, travel, normal, reach)
    if 0.0 < travel < math.inf and radius > 0.0:
        # The normal leads from the touched point to the center.
        foot = travel * direction - radius * np.array(normal)
        assert distance_to_triangle(foot[np.newaxis], triangle)[0] <= 1e-7 * reach
        assert np.dot(normal, direction) < 0.0


@examples(100)
@given(ways(), st.sampled_from([0.0, 0.05, 0.5]), rotations(), st.floats(0.0, 1.0), SIZES)
def test_a_capsule_touches_when_its_axis_is_within_the_radius(way, radius, turn, half, size):
    direction, length, triangle = way
    length, triangle, radius = length * size, triangle * size, radius * size
    half_axis = turn[:, 1] * half * size
    a, b, c = map(tuple, triangle)
    travel, normal = sweep_capsule(
        tuple(half_axis), radius, tuple(direction), length, a, b, c, False
    )

    def distance(travels):
        return distance_of_axis(travels[:, np.newaxis] * direction, half_axis, triangle)

    check(distance, radius, length, travel, normal, size * 8.0 + radius)


@examples(150)
@given(ways(), st.sampled_from([0.0, 1e-6, 0.05, 0.5]), st.sampled_from([0.0, 0.02, 1.0]), SIZES)
def test_the_rest_of_the_way_changes_no_touch(way, radius, half, size):
    """What a way cannot reach is found without a look at edges: never what it just reaches."""
    direction, _, triangle = way
    a, b, c = map(tuple, triangle * size)
    line, axis, radius = tuple(direction), (0.0, half * size, 0.0), radius * size

    def sweeps(length):
        return (
            sweep_sphere(radius, line, length, a, b, c, False),
            sweep_capsule(axis, radius, line, length, a, b, c, False),
        )

    for shape, (travel, normal) in enumerate(sweeps(1e3 * size)):
        if travel == math.inf:
            continue
        just = 1e-6 * size  # along a face, the way to it is as long as rounding says
        for length in (travel + just, 2.0 * travel + just):
            assert sweeps(length)[shape] == (travel, normal)
        if travel > just:
            assert sweeps(travel - just)[shape][0] == math.inf


def test_a_corner_that_rounding_takes_for_the_nearest_place_hides_no_touch():
    """The nearest place is on an edge beside it: square to the way there, the edge sticks out."""
    radius, direction = (
        0.006874733579461626,
        (0.696086648394029, 0.2930704268453829, 0.6554182655649998),
    )
    corners = (
        (6.965797552437732, 2.9290118125215026, 6.54970242323277),
        (0.026210005877219777, -0.5409792256050014, -1.3116770281703998),
        (0.00494773792756383, -0.001698177304303237, -0.004495377899059281),
    )
    short, long = (sweep_sphere(radius, direction, n, *corners, False) for n in (9.7123, 19.0))
    assert short == long
    place = short[0] * np.array([direction])
    assert distance_to_triangle(place, np.array(corners))[0] == pytest.approx(radius, rel=1e-9)


@examples(60)
@given(ways(), st.tuples(*[st.sampled_from([0.1, 0.5, 1.0])] * 3), rotations())
def test_a_box_touches_where_its_line_enters_the_exact_minkowski_difference(way, half, turn):
    direction, length, triangle = way
    edges = np.cross(triangle[1] - triangle[0], triangle[2] - triangle[0])
    assume(np.linalg.norm(edges) > 1e-6)
    a, b, c = map(tuple, triangle)
    travel, normal = sweep_obb(
        half, tuple(turn.ravel()), tuple(direction), length, a, b, c, False, np.empty((26, 4))
    )
    solid = box_of((0.0, 0.0, 0.0), half, turn)
    enter, leave, entered = -math.inf, length, None
    for facet in difference_facets(solid, corners_of(triangle)):
        outward = np.array([float(x) for x in facet.unit])
        speed, gap = float(outward @ direction), float(facet.distance)
        if abs(speed) < 1e-9:
            if gap < 0.0:
                enter = math.inf
            continue
        if speed < 0.0 and gap / speed > enter:
            enter, entered = gap / speed, outward
        if speed > 0.0:
            leave = min(leave, gap / speed)
    if abs(enter - leave) < 1e-6 or abs(enter) < 1e-6 or abs(leave) < 1e-6:
        return
    if enter > leave or leave < 0.0:
        assert travel == math.inf
    elif enter < 0.0:
        assert travel in {0.0, math.inf}
    else:
        assert entered is not None
        assert travel == pytest.approx(enter, abs=1e-7)
        assert np.dot(normal, direction) < 0.0


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("edge", range(3))
def test_each_edge_of_a_box_comes_upon_each_of_the_triangle(edge, axis):
    for gap in (2.0, -0.1):  # apart, and where it touches at the start
        center, half, rotation, triangle = crossed(edge, axis, gap)
        turn, size = tuple(rotation.ravel().tolist()), tuple(half.tolist())
        travel, normal = box(center, size, (0.0, -4.0, 0.0), triangle.tolist(), turn)
        assert travel == pytest.approx(max(gap, 0.0), abs=1e-12)
        assert normal == pytest.approx((0.0, 1.0, 0.0), abs=1e-12)


@pytest.mark.parametrize("far", [0.0, 1e6])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_falling_on_a_floor(far, size):
    floor = tuple(tuple(far + x * size for x in corner) for corner in FLOOR)
    center = (far, far + 3.0 * size, far)
    down = (0.0, -4.0 * size, 0.0)
    for travel, normal in (
        sphere(center, size, down, floor),
        capsule(center, (0.0, 0.5 * size, 0.0), 0.5 * size, down, floor),
        capsule(center, (0.5 * size, 0.0, 0.0), size, down, floor),
        box(center, (size, size, 0.5 * size), down, floor),
    ):
        assert travel == pytest.approx(2.0 * size, abs=1e-9 * size + 4e-16 * far * 4)
        assert normal == pytest.approx((0.0, 1.0, 0.0), abs=1e-12)


def test_from_below_the_normal_points_down():
    up = (0.0, 4.0, 0.0)
    for travel, normal in (
        sphere((0.0, -3.0, 0.0), 1.0, up),
        capsule((0.0, -3.0, 0.0), (0.0, 0.5, 0.0), 0.5, up),
        box((0.0, -3.0, 0.0), (1.0, 1.0, 1.0), up),
    ):
        assert travel == 2.0
        assert tuple(x + 0.0 for x in normal) == (0.0, -1.0, 0.0)


@pytest.mark.parametrize("depth", [0.0, 1e-9, 0.1])
def test_touching_at_the_start_stops_only_what_moves_further_in(depth):
    shapes = [
        lambda motion: sphere((0.0, 1.0 - depth, 0.0), 1.0, motion),
        lambda motion: capsule((0.0, 1.0 - depth, 0.0), (0.5, 0.0, 0.0), 1.0, motion),
        lambda motion: box((0.0, 1.0 - depth, 0.0), (1.0, 1.0, 1.0), motion),
    ]
    for shape in shapes:
        travel, normal = shape((1.0, -0.01, 0.0))
        assert travel == 0.0
        assert normal == pytest.approx((0.0, 1.0, 0.0), abs=1e-12)
        for motion in ((1.0, 0.0, 0.0), (1.0, -1e-7, 0.0), (0.0, 1.0, 0.0), (-1.0, 0.5, 2.0)):
            assert shape(motion)[0] == math.inf


def test_in_the_ground_the_way_out_is_through_the_front():
    for shape in (
        lambda motion: sphere((0.0, -0.5, 0.0), 1.0, motion),
        lambda motion: capsule((0.0, -0.5, 0.0), (0.2, 0.0, 0.0), 1.0, motion),
        lambda motion: box((0.0, -0.5, 0.0), (1.0, 1.0, 1.0), motion),
    ):
        assert shape((0.0, 1.0, 0.0))[0] == math.inf
        assert shape((0.0, -1.0, 0.0))[0] == 0.0


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("depth", [0.0, 1e-9, 0.1, 0.9])
def test_two_sides_are_left_on_that_of_the_middle(side, depth):
    y = side * (1.0 - depth)
    for shape in (
        lambda motion: sphere((0.0, y, 0.0), 1.0, motion, two_sided=True),
        lambda motion: capsule((0.0, y, 0.0), (0.2, 0.0, 0.0), 1.0, motion, two_sided=True),
        # Upright: its axis goes through the face where it is deep.
        lambda motion: capsule((0.0, y, 0.0), (0.0, 0.5, 0.0), 0.5, motion, two_sided=True),
        lambda motion: box((0.0, y, 0.0), (1.0, 1.0, 1.0), motion, two_sided=True),
    ):
        for motion in ((0.0, side, 0.0), (1.0, 0.0, 0.0), (1.0, 2.0 * side, 0.5)):
            assert shape(motion)[0] == math.inf
        travel, normal = shape((1.0, -0.5 * side, 0.0))
        assert travel == 0.0
        assert normal == pytest.approx((0.0, side, 0.0), abs=1e-12)


def test_touching_from_below_is_stopped_again():
    for shape in (
        lambda motion: sphere((0.0, -1.0, 0.0), 1.0, motion),
        lambda motion: capsule((0.0, -1.0, 0.0), (0.2, 0.0, 0.0), 1.0, motion),
        lambda motion: box((0.0, -1.0, 0.0), (1.0, 1.0, 1.0), motion),
    ):
        travel, normal = shape((0.0, 1.0, 0.0))
        assert travel == 0.0
        assert tuple(x + 0.0 for x in normal) == (0.0, -1.0, 0.0)
        assert shape((0.0, -1.0, 0.0))[0] == math.inf


def test_long_and_short_ways_keep_their_digits():
    for length in (1e-9, 1.0, 1e6, 1e9):
        center = (0.0, 0.5 + length / 2.0, 0.0)
        wide = tuple(tuple(x * max(length, 1.0) for x in corner) for corner in FLOOR)
        slanted = (0.3 * length, -length, 0.0)
        way = math.hypot(0.3, 1.0) * length / 2.0
        assert sphere(center, 0.5, slanted, wide)[0] == pytest.approx(way, rel=1e-6, abs=1e-15)
        assert capsule(center, (0.1, 0.0, 0.0), 0.5, slanted, wide)[0] == pytest.approx(
            way, rel=1e-6, abs=1e-15
        )
        assert box(center, (0.5, 0.5, 0.5), slanted, wide)[0] == pytest.approx(
            way, rel=1e-6, abs=1e-15
        )


def test_edges_corners_and_what_has_no_area():
    # Past the corner at (8, 0, -4), beside it by 0.6 of the radius.
    travel, normal = sphere((8.0, 3.0, -4.6), 1.0, (0.0, -9.0, 0.0))
    assert travel == pytest.approx(3.0 - 0.8, abs=1e-12)
    assert normal == pytest.approx((0.0, 0.8, -0.6), abs=1e-12)
    line = ((-1.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    point = ((0.0, 0.0, 0.0),) * 3
    for triangle in (line, point):
        travel, normal = sphere((0.0, 3.0, 0.6), 1.0, (0.0, -9.0, 0.0), triangle)
        assert travel == pytest.approx(2.2, abs=1e-12)
        assert normal == pytest.approx((0.0, 0.8, 0.6), abs=1e-12)
        travel, normal = capsule((0.0, 3.0, 0.6), (0.0, 0.5, 0.0), 1.0, (0.0, -9.0, 0.0), triangle)
        assert travel == pytest.approx(1.7, abs=1e-12)
        travel, normal = box((0.0, 3.0, 0.6), (1.0, 1.0, 1.0), (0.0, -9.0, 0.0), triangle)
        assert travel == pytest.approx(2.0, abs=1e-12)
        assert normal == pytest.approx((0.0, 1.0, 0.0), abs=1e-12)
