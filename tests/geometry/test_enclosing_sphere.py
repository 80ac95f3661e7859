"""The smallest enclosing sphere: holds all points, and none smaller does, by exact arithmetic."""

from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyglm import glm

import terrain_physics as tp
from terrain_physics import (
    Sphere,
    smallest_enclosing_sphere,
)
from terrain_physics._kernels.geometry.enclosing_sphere import enclosing_spheres
from tests.helpers import strategies
from tests.helpers.examples import examples, times
from tests.helpers.strategies import Array
from tests.oracles import spheres

pytestmark = pytest.mark.kernels


def ulp(points: Array) -> float:
    """Return the distance of two neighbouring floats at the largest coordinate."""
    return float(np.spacing(np.abs(points).max()))


def check(points: Array) -> Array:
    """Hold one set of points against the oracle; return x, y, z, radius."""
    row = tp.rows.smallest_enclosing_sphere(points[np.newaxis])[0]
    radius = Fraction(float(row[3]))
    assert spheres.farthest(row[:3], points) <= radius * (1 + Fraction(1, 10**15))
    least = spheres.root(spheres.smallest_sphere(points)[1])
    assert radius * (1 - Fraction(1, 10**14)) - Fraction(ulp(points)) <= least
    return strategies.as_array(row)


@st.composite
def grids(draw: st.DrawFn, most: int) -> Array:
    """Return points of a small grid: repeated, in line, in a plane, on a sphere, all at once."""
    side = draw(st.integers(0, 3))
    coordinate = st.integers(-side, side)
    shape = st.lists(st.tuples(coordinate, coordinate, coordinate), min_size=1, max_size=most)
    return np.array(draw(shape), dtype=float)


@st.composite
def spreads(draw: st.DrawFn, most: int) -> Array:
    """Return any points: plain, nearly on a sphere, flattened, or nearly one of two points."""
    count = draw(st.integers(1, most))
    points = np.array([[draw(strategies.UNIT) for _ in range(3)] for _ in range(count)])
    thin = 10.0 ** draw(st.integers(-17, -1))
    kind = draw(st.sampled_from(["plain", "sphere", "circle", "flat", "needle", "pairs"]))
    if kind == "flat":
        points *= [1.0, 1.0, thin]
    elif kind == "needle":
        points *= [1.0, thin, 10.0 ** draw(st.integers(-17, -1))]
    elif kind == "pairs":
        points = thin * points + np.array([[1.0, 0.5, 0.25]]) * (np.arange(count) % 2)[:, None]
    elif kind != "plain":
        if kind == "circle":
            points[:, 2] = 0.0
        lengths = np.linalg.norm(points, axis=1, keepdims=True)
        noise = np.array([[draw(strategies.UNIT)] for _ in range(count)])
        points = points / np.where(lengths > 0.0, lengths, 1.0) * (1.0 + thin * noise)
    return strategies.as_array(points @ draw(strategies.rotations()).T)


@given(points=grids(10))
@examples(150)
def test_grids(points):
    check(points)


@given(points=grids(4))
@examples(300)
def test_small_grids(points):
    check(points)


@given(points=spreads(7), size=strategies.SIZES, data=st.data())
@examples(150)
def test_spreads(points, size, data):
    check(size * points + data.draw(strategies.offsets(size)))


@given(points=spreads(4), size=strategies.SIZES, data=st.data())
@examples(300)
def test_up_to_four(points, size, data):
    check(size * points + data.draw(strategies.offsets(size)))


@pytest.mark.long
@given(points=st.one_of(grids(10), spreads(8)), data=st.data())
@examples(5_000)
def test_against_oracle_long(points, data):
    check(points + data.draw(strategies.offsets(1.0)))


@pytest.mark.parametrize(
    ("points", "sphere"),
    [
        ([(3, 4, 5)], (3, 4, 5, 0)),
        ([(3, 4, 5)] * 3, (3, 4, 5, 0)),
        ([(3, 4, 5)] * 9, (3, 4, 5, 0)),
        ([(0, 0, 0), (2, 4, 4)], (1, 2, 2, 3)),
        ([(0, 0, 0), (4, 0, 0), (2, 1, 0)], (2, 0, 0, 2)),  # obtuse
        ([(0, 0, 0), (0, 4, 0), (3, 0, 0)], (1.5, 2, 0, 2.5)),  # right
        ([(5, 0, 0), (-3, 4, 0), (-3, -4, 0)], (0, 0, 0, 5)),  # acute
        ([(0, 0, 0), (1, 1, 1), (3, 3, 3), (2, 2, 2)], (1.5, 1.5, 1.5, 1.5 * 3**0.5)),  # a line
        ([(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0)], (1, 1, 0, 2**0.5)),  # a square
        ([(5, 0, 0), (-3, 4, 0), (-3, -4, 0), (1, 1, 0)], (0, 0, 0, 5)),  # coplanar, one inside
        ([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)], (0, 0, 0, 3**0.5)),
        ([(0, 0, 0), (4, 0, 0), (1, 1, 0), (2, 0, 1)], (2, 0, 0, 2)),  # a flat face, obtuse
        ([(5, 0, 0), (-3, 4, 0), (-3, -4, 0), (0, 0, 1)], (0, 0, 0, 5)),  # a face
        ([(x, y, z) for x in (0, 2) for y in (0, 2) for z in (0, 2)], (1, 1, 1, 3**0.5)),
        ([(x, 2 * x, -2 * x) for x in range(-3, 9)], (2.5, 5, -5, 16.5)),
    ],
)
def test_known_spheres(points, sphere):
    for offset in ((0, 0, 0), (1e6, -2e6, 3e6)):
        row = tp.rows.smallest_enclosing_sphere([np.add(points, offset)])[0]
        np.testing.assert_array_equal(row, np.add(sphere, (*offset, 0)))
        assert not (np.signbit(row) & (row == 0)).any()


@given(points=st.one_of(grids(4), spreads(4)))
@examples(30)
def test_any_order(points):
    """Centers of nearly flat sets may slide by the root of what their radii differ."""
    rows = tp.rows.smallest_enclosing_sphere(
        [points[list(p)] for p in permutations(range(len(points)))]
    )
    size = float(rows[:, 3].max()) + ulp(points)
    assert np.ptp(rows[:, 3]) <= 2e-14 * size
    assert np.ptp(rows[:, :3], axis=0).max() <= 4e-7 * size


@given(points=st.one_of(grids(8), spreads(8)), seed=st.integers(0, 99))
@examples(30)
def test_any_order_of_more(points, seed):
    order = np.random.default_rng(seed).permutation(len(points))
    one, two = tp.rows.smallest_enclosing_sphere([points, points[order]])
    size = float(one[3]) + ulp(points)
    assert one[3] == pytest.approx(two[3], abs=2e-14 * size)
    np.testing.assert_allclose(one[:3], two[:3], rtol=0, atol=4e-7 * size)


@given(points=spreads(7), power=st.integers(-900, 900))
@examples(40)
def test_sizes_scale_to_the_last_bit(points, power):
    rows = tp.rows.smallest_enclosing_sphere([points])
    with np.errstate(under="ignore"):
        same = np.abs(points[points != 0.0]).min(initial=1.0) * 2.0**power > 1e-290
        scaled = tp.rows.smallest_enclosing_sphere([points * 2.0**power])
    if same:
        np.testing.assert_array_equal(scaled, rows * 2.0**power)


@pytest.mark.parametrize("size", [1e-290, 1e-150, 1e-6, 1e6, 1e150, 1e290])
def test_sizes_from_end_to_end(size):
    points = np.random.default_rng(1).uniform(-1, 1, (7, 3))
    for count in (1, 2, 3, 4, 7):
        check(points[:count] * size)


def test_thin_differences_far_away():
    """A micrometer at 1000 km is ten thousand ulp."""
    points = 1e6 + np.random.default_rng(2).uniform(0, 1e-6, (5, 3))
    for count in (2, 3, 4, 5):
        check(points[:count])


def test_thin_sets_near_a_circle_keep_all_digits():
    """Four points nearly in a plane and nearly on a circle: the center slides, the radius not."""
    rng = np.random.default_rng(5)
    for thin in 10.0 ** rng.uniform(-12, -4, times(200)):
        angles = rng.uniform(0, 2 * np.pi, 4)
        points = np.stack([np.cos(angles), np.sin(angles), thin * rng.normal(size=4)], axis=1)
        check(points @ strategies.rotation_from(rng.normal(size=4)).T)


def test_points_around_the_waist_of_a_pair_need_more_than_53_bits():
    """Each sticks out by 1e-9 of the radius, and enlarges the sphere by less than 1e-18 of it."""
    rng = np.random.default_rng(6)
    for _ in range(times(25)):
        waist = rng.normal(size=(6, 3)) * [1e-3, 1, 1]
        waist *= (1 + 3e-9 * rng.uniform(-1, 1, (6, 1))) / np.linalg.norm(
            waist, axis=1, keepdims=True
        )
        check(np.concatenate([[(-1, 0, 0), (1, 0, 0)], waist]))


def lower_bound(points: Array, row: Array) -> float:
    """Return a radius below which no sphere holds the points that the given one rests on.

    Whatever weights >= 0 add up to one, with q the weighted mean of the points, the weighted mean
    of |p - q|^2 is the square of such a radius.
    """
    offsets = points - row[:3]
    slack = 1e-13 * row[3] + 2 * ulp(points)
    resting = offsets[np.linalg.norm(offsets, axis=1) >= row[3] - slack]
    best = 0.0
    for count in range(2, min(len(resting), 4) + 1):
        for chosen in map(np.array, combinations(resting[:12], count)):
            system = np.vstack([chosen.T, np.full(count, row[3])])
            weights = np.maximum(np.linalg.lstsq(system, [0, 0, 0, row[3]], rcond=None)[0], 0.0)
            weights /= weights.sum()
            squares = ((chosen - weights @ chosen) ** 2).sum(axis=1)
            best = max(best, float(weights @ squares))
    return float(np.sqrt(best))


def clouds(count: int) -> dict[str, Array]:
    rng = np.random.default_rng(3)
    directions = rng.normal(size=(count, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    places = rng.uniform(-1, 1, (5, 3))[rng.integers(0, 5, count)]
    return {
        "ball": directions * rng.uniform(size=(count, 1)) ** (1 / 3),
        "cube": rng.uniform(-1, 1, (count, 3)),
        "clusters": places + 0.01 * rng.normal(size=(count, 3)),
        "far clusters": 1e6 + 1e-3 * (places + 0.01 * rng.normal(size=(count, 3))),
        "disk": directions * [1, 1, 0],
        "nearly a sphere": directions * (1 + 1e-7 * rng.normal(size=(count, 1))),
    }


@pytest.mark.parametrize("name", clouds(1))
def test_many_points(name):
    """The chunks of the search end at 2048 points: a whole number of them, and not."""
    for count in (500, 2048, 5000):
        points = clouds(count)[name]
        row = tp.rows.smallest_enclosing_sphere([points])[0]
        distances = np.linalg.norm(points - row[:3], axis=1)
        assert distances.max() <= row[3] * (1 + 1e-15)
        assert lower_bound(points, row) >= row[3] * (1 - 1e-13) - 2 * ulp(points)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_a_sphere_of_opposite_points(offset):
    """On one sphere up to rounding: the hard case. Opposite points bound the radius from below."""
    rng = np.random.default_rng(4)
    half = rng.normal(size=(1500, 3))
    half /= np.linalg.norm(half, axis=1, keepdims=True)
    points = np.concatenate([half, -half]) + offset
    row = tp.rows.smallest_enclosing_sphere([points])[0]
    np.testing.assert_allclose(row[:3], offset, rtol=0, atol=1e-15 + 2 * ulp(points))
    longest = np.linalg.norm(points[:1500] - points[1500:], axis=1).max()
    assert 0.5 * longest * (1 - 1e-15) <= row[3] <= 0.5 * longest + 1e-14 + 2 * ulp(points)


@pytest.mark.parametrize("rounds", [0, 1, 2, 3, 10])
def test_when_rounds_run_out_all_is_held_by_twice_the_radius(rounds):
    for points in clouds(200).values():
        right = tp.rows.smallest_enclosing_sphere([points])[0]
        rows = np.empty((1, 4))
        sets = points[np.newaxis].view()
        sets.setflags(write=False)
        enclosing_spheres(sets, rounds, rows)
        distances = np.linalg.norm(points - rows[0, :3], axis=1)
        assert distances.max() <= rows[0, 3] * (1 + 1e-15)
        assert rows[0, 3] <= 2 * right[3]


@given(sets=st.lists(st.one_of(grids(6), spreads(6)), min_size=1, max_size=4))
@examples(20)
def test_one_set_is_a_row(sets):
    count = max(map(len, sets))
    filled = np.array([np.resize(points, (count, 3)) for points in sets])
    before = filled.copy()
    rows = tp.rows.smallest_enclosing_sphere(filled)
    np.testing.assert_array_equal(filled, before)
    for points, row in zip(filled, rows, strict=True):
        sphere = smallest_enclosing_sphere(points)
        assert isinstance(sphere, Sphere)
        assert (*sphere.center64, sphere.radius) == tuple(row)


@pytest.mark.parametrize(
    "points",
    [
        [(0, 0, 0), (0, 4, 0), (3, 0, 0)],
        ((0, 0, 0), [0, 4, 0], np.array([3, 0, 0])),
        [glm.vec3(0), glm.vec3(0, 4, 0), glm.vec3(3, 0, 0)],
        [glm.dvec3(0), (0, 4, 0), glm.vec3(3, 0, 0)],
        glm.array(glm.vec3(0), glm.vec3(0, 4, 0), glm.vec3(3, 0, 0)),
        np.array([[0, 0, 3], [0, 4, 0], [0, 0, 0]], np.float32).T,
        np.array([[0, 0, 0], [0, 4, 0], [3, 0, 0]], np.uint8),
    ],
)
def test_points_of_every_kind(points):
    assert smallest_enclosing_sphere(points) == Sphere((1.5, 2, 0), 2.5)


def test_no_sets_no_rows():
    assert tp.rows.smallest_enclosing_sphere(np.empty((0, 4, 3))).shape == (0, 4)


@pytest.mark.parametrize(
    ("points", "error", "message"),
    [
        ([], ValueError, "points must be one or more, got none"),
        (np.empty((0, 3)), ValueError, "points must be one or more, got none"),
        ([(1, 2)], ValueError, r"points must have shape \(n, 3\), got \(1, 2\)"),
        ((1, 2, 3), ValueError, r"points must have shape \(n, 3\), got \(3,\)"),
        ([(1, 2, 3), (1, 2)], ValueError, "points must be an array of numbers with rows of one"),
        ([(1, 2, 3), (1, np.nan, 3)], ValueError, r"points must be finite, got nan at \[1, 1\]"),
        ([glm.vec3(1), glm.vec3(np.inf)], ValueError, r"points\[1\].x must be finite, got inf"),
        ([glm.vec4(1)], ValueError, r"points\[0\] must be three numbers, got four"),
        ([glm.vec3(1), 4], TypeError, r"points\[1\] must be three numbers, got 4"),
        (None, TypeError, "points must hold real numbers"),
        ("abc", TypeError, "points must hold real numbers"),
        ([(-1e308, 0, 0), (1.7e308, 1.7e308, 1.7e308)], ValueError, "points must fit in a sphere"),
    ],
)
def test_bad_points_are_refused(points, error, message):
    with pytest.raises(error, match=message):
        smallest_enclosing_sphere(points)


@pytest.mark.parametrize(
    ("points", "error", "message"),
    [
        (np.empty((2, 0, 3)), ValueError, r"one or more in each set, got shape \(2, 0, 3\)"),
        ([(1, 2, 3)], ValueError, r"points must have shape \(n, n, 3\), got \(1, 3\)"),
        ([[(1, 2, np.inf)]], ValueError, r"points must be finite, got inf at \[0, 0, 2\]"),
        ([[(0, 0, 0)] * 2, [(1.7e308,) * 3, (-1.7e308,) * 3]], ValueError, r"points\[1\] must fit"),
        ([["a"]], TypeError, "points must hold real numbers"),
    ],
)
def test_bad_sets_are_refused(points, error, message):
    with pytest.raises(error, match=message):
        tp.rows.smallest_enclosing_sphere(points)
