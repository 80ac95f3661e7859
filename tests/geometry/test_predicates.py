"""Whether a sphere's surface touches a plane, segment or triangle, against exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import terrain_physics as tp
from terrain_physics import (
    AABB,
    Plane,
    Segment,
    Sphere,
    Triangle,
    count_touching,
    surface_touches,
)
from tests.helpers import strategies
from tests.helpers.examples import examples
from tests.oracles import geometry as oracle
from tests.oracles.geometry import corners_of, dot, subtract, vector

pytestmark = pytest.mark.kernels

TOLERANCE = Fraction(1e-10)
BALL = Sphere((0, 0, 0), 5)


def reaches(least2: Fraction, greatest2: Fraction | None, radius: float) -> bool | None:
    """Return whether a surface touches, of squared distances; None within a few ulp of a tie."""
    top, low = Fraction(radius) + TOLERANCE, Fraction(radius) - TOLERANCE
    for square, limit in ((least2, top), (greatest2, low)):
        if (
            square is not None
            and abs(square - limit * limit) <= Fraction(1, 10**15) * limit * limit
        ):
            return None
    inside = greatest2 is not None and low > 0 and greatest2 < low * low
    return least2 <= top * top and not inside


@given(case=strategies.sphere_cases())
@examples(300)
def test_triangles_and_segments(case):
    center, radius = vector(case.sphere[:3].tolist()), float(case.sphere[3])
    corners = corners_of(case.triangle.tolist())
    thinness = oracle.thinness(corners)
    squares = [oracle.distance_squared(center, corner) for corner in corners]
    sphere, rows = Sphere(case.sphere[:3], radius), case.sphere[None]

    foot = oracle.closest_on_triangle(center, corners)
    expected = reaches(oracle.distance_squared(center, foot), max(squares), radius)
    found = surface_touches(sphere, Triangle(*case.triangle))
    assert tp.rows.surface_touches_triangle(rows, case.triangle[None]).tolist() == [found]
    assert tp.rows.surface_touches_triangle(rows, case.triangle.reshape(1, 9)).tolist() == [found]
    if expected is not None and (thinness == 0 or thinness > 1e-8):
        assert found is expected

    foot = oracle.closest_on_segment(center, corners[0], corners[1])
    expected = reaches(oracle.distance_squared(center, foot), max(squares[:2]), radius)
    found = surface_touches(sphere, Segment(*case.triangle[:2]))
    assert tp.rows.surface_touches_segment(rows, case.triangle[None, :2]).tolist() == [found]
    assert tp.rows.surface_touches_segment(rows, case.triangle[:2].reshape(1, 6)).tolist() == [
        found
    ]
    if expected is not None:
        assert found is expected


@given(case=strategies.sphere_cases(), size=st.integers(-300, 300), data=st.data())
@examples(300)
def test_planes(case, size, data):
    """Normals of any length; the radius an ulp or none from what reaches the plane."""
    normal = case.triangle[1] - case.triangle[0]
    assume(np.abs(normal).max() > 1e-6)
    normal = np.ldexp(normal, size)
    center, point = case.sphere[:3], case.triangle[2]
    radius = float(case.sphere[3])
    apart = subtract(vector(center.tolist()), vector(point.tolist()))
    way = vector(normal.tolist())
    least2 = dot(apart, way) ** 2 / dot(way, way)
    if data.draw(st.booleans()):
        radius = float(oracle.root(least2))
        radius += data.draw(st.sampled_from([0.0, 1e-10, -1e-10, 2e-10, -2e-10]))
        radius = max(radius, 0.0)
    found = tp.rows.surface_touches_plane([[*center, radius]], [[point, normal]])
    expected = reaches(least2, None, radius)
    if expected is not None:
        assert found.tolist() == [expected]
        # The unit normal of a shape is rounded.
        slack = 1e-14 * float(oracle.length(apart))
        if abs(float(oracle.root(least2)) - radius - 1e-10) > slack:
            assert surface_touches(Sphere(center, radius), Plane(point, normal)) is expected


@pytest.mark.parametrize(
    ("surface", "touching"),
    [
        (Plane((9, 5, 9), (0, 1, 0)), True),  # touching
        (Plane((9, 5 + 9e-11, 9), (0, -2, 0)), True),
        (Plane((9, 5 + 2e-10, 9), (0, 1, 0)), False),
        (Plane((9, 0, 9), (0, 1, 0)), True),  # a plane reaches out of any sphere
        (Plane((3, 4, 0), (3, 4, 0)), True),
        (Plane((3.001, 4, 0), (3, 4, 0)), False),
        (Segment((5, -1, 0), (5, 1, 0)), True),  # touching at one point
        (Segment((3, 4, 0), (9, 9, 0)), True),
        (Segment((-9, 0, 0), (9, 0, 0)), True),  # through
        (Segment((0, 0, 0), (5, 0, 0)), True),  # from inside, up to the surface
        (Segment((0, 0, 0), (5 - 9e-11, 0, 0)), True),
        (Segment((0, 0, 0), (4.999, 0, 0)), False),  # wholly inside
        (Segment((5.001, -1, 0), (5.001, 1, 0)), False),
        (Segment((3, 4, 0), (3, 4, 0)), True),  # points
        (Segment((0, 0, 0), (0, 0, 0)), False),
        (Triangle((5, -1, -1), (5, 1, -1), (5, 0, 1)), True),
        (Triangle((5.001, -1, -1), (5.001, 1, -1), (5.001, 0, 1)), False),
        (Triangle((0, 0, 0), (1, 0, 0), (0, 1, 0)), False),  # wholly inside
        (Triangle((0, 0, 0), (3, 4, 0), (0, 1, 0)), True),
        (Triangle((0, 3, 0), (99, 3, 0), (0, 3, 99)), True),
        (Triangle((3, 4, 0), (6, 8, 0), (9, 12, 0)), True),  # without area
    ],
)
def test_by_hand(surface, touching):
    assert surface_touches(BALL, surface) is touching


def test_ties_far_out():
    """Planes and segments through points of the surface, at coordinates where an ulp is 1e-6."""
    rng = np.random.default_rng(4)
    shift = rng.integers(-(2**33), 2**33, (200, 3)).astype(float)
    ways = np.array([(3, 4, 0), (2, 3, 6), (1, 4, 8), (6, 6, 7)])[rng.integers(4, size=200)]
    sizes = rng.integers(1, 999, (200, 1))
    radii = np.sqrt((ways**2).sum(axis=1, keepdims=True)) * sizes
    spheres, points = np.c_[shift, radii], shift + ways * sizes
    sides = np.cross(ways, [0, 0, 1])
    assert tp.rows.surface_touches_plane(spheres, np.stack([points, ways], axis=1)).all()
    assert tp.rows.surface_touches_segment(
        spheres, np.stack([points - sides, points + sides], axis=1)
    ).all()
    spheres[:, 3] = np.nextafter(spheres[:, 3], 0.0) - 2e-10
    assert not tp.rows.surface_touches_plane(spheres, np.stack([points, ways], axis=1)).any()


def test_planes_that_stretch_far():
    """A point of the plane far aside: its height is the difference of large products."""
    rng = np.random.default_rng(5)
    for _ in range(300):
        center, point = rng.normal(size=(2, 3))
        normal = rng.normal(size=3)
        aside = np.cross(normal, rng.normal(size=3)) * 10.0 ** rng.integers(0, 8)
        point = center + aside + normal * rng.uniform(0, 1)
        apart = subtract(vector(center.tolist()), vector(point.tolist()))
        way = vector(normal.tolist())
        least2 = dot(apart, way) ** 2 / dot(way, way)
        ulps = rng.choice([0, 2, 20, 200]) * rng.choice([-1, 1]) * 1e-16
        radius = max(float(oracle.root(least2) - TOLERANCE) * (1 + ulps), 0.0)
        expected = reaches(least2, None, radius)
        found = tp.rows.surface_touches_plane([[*center, radius]], [[point, normal]]).tolist()
        assert expected is None or found == [expected]


def test_huge_and_tiny():
    far = [(1e300, 0, 0, 1e299), (1e300, 0, 0, 1e300), (1.7e308, 0, 0, 1.7e308)]
    plane = [[(-1e290, 3, 4), (1, 0, 0)]]
    assert tp.rows.surface_touches_plane(far, plane).tolist() == [False, False, False]
    plane[0][0] = (1e290, 3, 4)
    assert tp.rows.surface_touches_plane(far, plane).tolist() == [False, True, True]
    tiny = [[(5e-324, 0, 0), (0, 0, 5e-324)]]
    assert tp.rows.surface_touches_plane([(0, 0, 0, 0), (0, 0, 1e-9, 0)], tiny).tolist() == [
        True,
        False,
    ]


def test_same_as_the_counter():
    rng = np.random.default_rng(9)
    triangles = rng.integers(-4, 5, (60, 9)) / 2.0
    spheres = np.c_[rng.integers(-4, 5, (40, 3)) / 2.0, rng.integers(0, 9, 40) / 2.0]
    touching = [tp.rows.surface_touches_triangle([sphere], triangles).sum() for sphere in spheres]
    assert count_touching(triangles, np.roll(spheres, 1, axis=1)).tolist() == touching
    assert sum(touching) > 100


def test_batches():
    rows = [(0, 0, 0, 5), (0, 0, 0, 4)]
    line, corners = [(3, 4, 0, 9, 9, 0)], [(3, 4, 0, 9, 9, 0, 9, 0, 0)]
    for many, other in (
        (tp.rows.surface_touches_segment, line),
        (tp.rows.surface_touches_triangle, corners),
        (tp.rows.surface_touches_plane, [(3, 4, 0, 3, 4, 0)]),
    ):
        found = many(rows, other)
        assert found.dtype == np.bool_
        assert found.tolist() == [True, False]
        assert many(rows[:1], other * 3).tolist() == [True] * 3
        assert many(np.empty((0, 4)), other).shape == (0,)


def test_bad_input():
    with pytest.raises(
        TypeError, match=r"surface must be one of Plane, Segment, Triangle, got AABB"
    ):
        surface_touches(BALL, AABB((0, 0, 0), (1, 1, 1)))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"sphere must be a Sphere, got"):
        surface_touches((0, 0, 0), Plane((0, 0, 0), (0, 1, 0)))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"normal must not be zero, got .* in planes\[1\]"):
        tp.rows.surface_touches_plane([(0, 0, 0, 1)], [(0, 0, 0, 0, 1, 0), (1, 1, 1, 0, -0.0, 0)])
    with pytest.raises(ValueError, match=r"radius must be >= 0, got -1.0 in spheres\[1\]"):
        tp.rows.surface_touches_segment([(0, 0, 0, 1), (0, 0, 0, -1)], [(0, 0, 0, 0, 1, 0)])
    with pytest.raises(
        ValueError, match=r"same number of rows or one, but spheres has 2, triangles"
    ):
        tp.rows.surface_touches_triangle(np.zeros((2, 4)), np.zeros((3, 9)))
