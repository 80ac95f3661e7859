"""The oracles against answers worked out by hand, and against certificates of being right."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.examples import examples
from tests.oracles import boxes
from tests.oracles import geometry as oracle
from tests.oracles.geometry import add, corners_of, dot, scale, subtract, vector

FLOOR = corners_of(((0, 0, 0), (0, 0, 4), (4, 0, 0)))  # front: +Y
WHOLE = st.integers(-6, 6)
POINTS = st.tuples(WHOLE, WHOLE, WHOLE)
TRIANGLES = st.tuples(POINTS, POINTS, POINTS)
QUATERNIONS = st.tuples(*[st.integers(-4, 4)] * 4).filter(any)


def exact_box(
    center: Sequence[float | Fraction],
    half: Sequence[float | Fraction],
    quaternion: Sequence[int] = (1, 0, 0, 0),
) -> boxes.Box:
    """Return a box turned by a whole-number quaternion: its axes are exact and exactly square."""
    w, x, y, z = (Fraction(v) for v in quaternion)
    square = w * w + x * x + y * y + z * z
    columns = (
        (w * w + x * x - y * y - z * z, 2 * (x * y + w * z), 2 * (x * z - w * y)),
        (2 * (x * y - w * z), w * w - x * x + y * y - z * z, 2 * (y * z + w * x)),
        (2 * (x * z + w * y), 2 * (y * z - w * x), w * w - x * x - y * y + z * z),
    )
    first, second, third = (scale(vector(column), 1 / square) for column in columns)
    return boxes.Box(vector(center), vector(half), (first, second, third))


BOXES = st.builds(
    exact_box,
    st.tuples(WHOLE, WHOLE, WHOLE),
    st.tuples(*[st.sampled_from([Fraction(1, 2), 1, 2, 5])] * 3),
    QUATERNIONS,
)


@pytest.mark.parametrize(
    ("point", "closest"),
    [
        ((1, 3, 1), (1, 0, 1)),  # over the face
        ((2, -1, 0), (2, 0, 0)),  # under an edge
        ((-3, 4, -1), (0, 0, 0)),  # off a corner
        ((4, 0, 4), (2, 0, 2)),  # beside the long edge
        ((9, 0, -1), (4, 0, 0)),
        ((1, 0, 1), (1, 0, 1)),  # on the face
    ],
)
def test_closest_point_by_hand(point, closest):
    assert oracle.closest_on_triangle(vector(point), FLOOR) == vector(closest)


@pytest.mark.parametrize(
    ("triangle", "closest"),
    [
        (((0, 0, 0), (2, 0, 0), (5, 0, 0)), (3, 0, 0)),
        (((0, 0, 0), (0, 0, 0), (2, 0, 0)), (2, 0, 0)),
        (((1, 1, 1), (1, 1, 1), (1, 1, 1)), (1, 1, 1)),
    ],
)
def test_closest_point_without_area(triangle, closest):
    assert oracle.closest_on_triangle(vector((3, 7, 0)), corners_of(triangle)) == vector(closest)


@given(point=POINTS, triangle=TRIANGLES)
def test_closest_point_is_certified(point, triangle):
    """On the triangle, and no corner lies on its near side: nothing of a convex set is nearer."""
    exact_point, corners = vector(point), corners_of(triangle)
    closest = oracle.closest_on_triangle(exact_point, corners)
    outward = subtract(exact_point, closest)
    assert all(dot(outward, subtract(corner, closest)) <= 0 for corner in corners)
    assert oracle.closest_on_triangle(closest, corners) == closest


@pytest.mark.parametrize(
    ("center", "two_sided", "push"),
    [
        ((1, 0.75, 1), False, (0, 0.25, 0)),
        ((1, -0.25, 1), False, (0, 1.25, 0)),  # behind: through the front
        ((1, -0.25, 1), True, (0, -0.75, 0)),
        ((1, 0, 1), True, (0, 1, 0)),  # on the face
        ((2, -0.5, 0), False, (0, -0.5, 0)),  # under an edge: radial
        ((-0.6, 0, 2), False, (-0.4, 0, 0)),
        ((0, 0, 2), False, (0, 1, 0)),  # on an edge, along the normal
        ((0, -1, 0), False, (0, 0, 0)),  # touching a corner
    ],
)
def test_sphere_push_by_hand(center, two_sided, push):
    answer = oracle.sphere_answer(vector(center), Fraction(1), FLOOR, two_sided=two_sided)
    assert [tuple(map(float, move)) for move in answer.pushes] == [pytest.approx(push)]


def test_sphere_apart_by_hand():
    answer = oracle.sphere_answer(vector((1, 1.5, 1)), Fraction(1), FLOOR, two_sided=False)
    assert answer == (Fraction(3, 2), [])


@pytest.mark.parametrize(
    ("triangle", "push"),
    [
        (((0, 0, 0), (0, 0, 0), (0, 0, 0)), (0, 1, 0)),
        (((-1, 0, 0), (0, 0, 0), (3, 0, 0)), (0, 1, 0)),
        (((-1, -1, 0), (1, 1, 0), (2, 2, 0)), (-math.sqrt(0.5), math.sqrt(0.5), 0)),
    ],
)
def test_sphere_on_segment_by_hand(triangle, push):
    answer = oracle.sphere_answer(
        vector((0, 0, 0)), Fraction(1), corners_of(triangle), two_sided=False
    )
    assert [tuple(map(float, move)) for move in answer.pushes] == [pytest.approx(push)]


def test_root_and_thinness():
    assert oracle.root(Fraction(9, 4)) == Fraction(3, 2)
    assert float(oracle.root(Fraction(2))) == math.sqrt(2)
    assert oracle.thinness(corners_of(((0, 0, 0), (4, 0, 0), (0, 1, 0)))) == pytest.approx(4 / 17)
    assert oracle.thinness(corners_of(((1, 1, 1), (1, 1, 1), (2, 1, 1)))) == 0.0


@pytest.mark.parametrize(
    ("center", "half", "expected"),
    [
        ((1, 1, 1), (1, 1, 1), True),  # stands on it: touching
        ((1, 1 + 1e-15, 1), (1, 1, 1), False),
        ((-1, 0, -1), (1, 1, 1), True),  # corner on corner
        ((3, 0, 3), (1, 1, 1), True),  # edge on edge
        ((3, 0, 3.001), (1, 1, 1), False),  # boxes overlap, shapes do not
        ((0.5, 0, 0.5), (9, 9, 9), True),  # triangle inside
        ((1, 0, 1), (0.1, 0.1, 0.1), True),  # box inside the face
    ],
)
def test_clipping_by_hand(center, half, expected):
    assert boxes.touches(exact_box(center, half), FLOOR) is expected


def test_clipping_turned_by_hand():
    turned = exact_box((1, Fraction(1), 1), (1, 1, 1), (2, 0, 0, 1))  # 3-4-5 turn about z
    assert boxes.touches(turned, FLOOR)
    assert not boxes.touches(
        boxes.moved(turned, vector((0, Fraction(2, 5) + Fraction(1, 10**20), 0))), FLOOR
    )
    assert boxes.touches(boxes.moved(turned, vector((0, Fraction(2, 5), 0))), FLOOR)


def test_facets_of_a_cube():
    corners = [vector((x, y, z)) for x in (-1, 2) for y in (-1, 2) for z in (-1, 2)]
    sides = {tuple(map(float, side.unit)): side.distance for side in boxes.facets(corners)}
    axes = np.vstack([np.eye(3), -np.eye(3)])
    assert sides == {tuple(axis + 0.0): 2 if axis.sum() > 0 else 1 for axis in axes}


def test_facets_of_flat_points():
    square = [vector((x, 3, z)) for x in (0, 1) for z in (0, 1)]
    assert {tuple(map(float, side.unit)) for side in boxes.facets(square)} == {
        (0, 1, 0),
        (0, -1, 0),
    }
    assert boxes.facets([vector((t, t, t)) for t in range(4)]) == []


@given(box=BOXES, triangle=TRIANGLES)
@examples(60)
def test_facets_are_certified(box, triangle):
    """All points behind every facet, and every corner with area around it closed: V - E + F = 2."""
    corners = corners_of(triangle)
    points = [subtract(v, b) for v in corners for b in boxes.box_corners(box)]
    sides = boxes.facets(points)
    tiny = Fraction(1, 1 << 150)  # the roots inside `unit`
    on_sides = []
    for side in sides:
        heights = {point: dot(side.unit, point) - side.distance for point in points}
        assert all(height <= 0 for height in heights.values())
        on_sides.append({point for point, height in heights.items() if height >= -tiny})
    # Two facets share an edge where they share at least two points.
    edges = sum(
        len(first & second) >= 2 for i, first in enumerate(on_sides) for second in on_sides[:i]
    )
    meeting = [sum(point in side for side in on_sides) for point in set(points)]
    vertices = sum(count >= 3 for count in meeting)
    assert vertices - edges + len(sides) == 2


@given(box=BOXES, triangle=TRIANGLES)
@examples(100)
def test_clipping_and_hull_agree(box, triangle):
    """Two methods with nothing in common: the sign of the depth says whether they intersect."""
    corners = corners_of(triangle)
    gap = boxes.depth(boxes.difference_facets(box, corners))
    assert boxes.touches(box, corners) == (gap >= -Fraction(1, 1 << 150))


@given(box=BOXES, triangle=TRIANGLES)
@examples(50)
def test_exit_is_where_the_clipping_ends(box, triangle):
    corners = corners_of(triangle)
    sides = boxes.difference_facets(box, corners)
    if boxes.depth(sides) < 0:
        return
    for direction in ((0, 1, 0), (-1, 0, 0), (Fraction(2, 7), Fraction(3, 7), Fraction(-6, 7))):
        way = vector(direction)
        least, greatest = boxes.exit_bounds(sides, way)
        assert least == greatest
        tiny = Fraction(1, 1 << 100)
        assert boxes.touches(boxes.moved(box, scale(way, least - tiny)), corners) or (least < tiny)
        assert not boxes.touches(boxes.moved(box, scale(way, least + tiny)), corners)


def test_exit_bounds_by_hand():
    sides = boxes.difference_facets(exact_box((1, 0.75, 1), (1, 1, 1)), FLOOR)
    assert boxes.depth(sides) == Fraction(1, 4)
    up, aside = vector((0, 1, 0)), vector((-1, 0, 0))
    assert set(boxes.exit_bounds(sides, up)) == {Fraction(1, 4)}
    assert set(boxes.exit_bounds(sides, aside)) == {2}
    least, greatest = boxes.exit_bounds(sides, aside, slack=0.01, tilt=0.001)
    assert greatest is not None
    assert 1.9 < least < 2 < greatest < 2.1
    # A slanted move may reach the edge of the floor before it reaches its height.
    slanted = vector((Fraction(-4, 5), Fraction(3, 5), 0))
    assert boxes.exit_bounds(sides, slanted)[0] == Fraction(5, 12)


def test_signed_axes_are_the_26_of_the_rule():
    triangle = corners_of(((0, 0, 0), (1, 2, 3), (4, -1, 2)))
    axes = boxes.signed_axes(exact_box((0, 0, 0), (1, 1, 1), (1, 2, 3, 4)), triangle)
    assert len(axes) == 26
    assert all(abs(dot(axis.unit, axis.unit) - 1) < Fraction(1, 1 << 150) for axis in axes)
    total = vector((0, 0, 0))
    for axis in axes:
        total = add(total, axis.unit)
    assert total == vector((0, 0, 0))
    # The floor's edges along x and z make no axis with the box's x and z.
    assert len(boxes.signed_axes(exact_box((0, 0, 0), (1, 1, 1)), FLOOR)) == 22
