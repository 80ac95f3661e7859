"""2D points in triangles: always the exact answer, against exact arithmetic."""

import os
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyglm import glm

import terrain_physics as tp
from terrain_physics import point_in_triangle_2d
from tests.helpers.examples import examples
from tests.helpers.strategies import Array
from tests.oracles.plane import in_triangle

pytestmark = pytest.mark.kernels

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"
POINTS = 100_000 if COMPILED else 2_000


def check(corners: Array) -> None:
    """Hold one point against a triangle, rows p, a, b, c, in all ways of asking and all orders."""
    p, *triangle = corners.tolist()
    expected = in_triangle(p, *triangle)
    for a, b, c in permutations(triangle):
        assert point_in_triangle_2d(p, a, b, c) is expected
    for a, b, c in (triangle, triangle[::-1]):
        np.testing.assert_array_equal(tp.rows.point_in_triangle_2d([p], a, b, c), [expected])
        np.testing.assert_array_equal(
            tp.rows.point_in_triangle_2d([p, p], [a, a], b, c), [expected] * 2
        )


@st.composite
def near_borders(draw: st.DrawFn) -> Array:
    """Return a point an ulp or none beside the line of an edge, and the triangle: p, a, b, c."""
    number = st.floats(-1.0, 1.0) | st.integers(-8, 8).map(lambda k: k / 8)
    corners = np.array([[draw(number), draw(number)] for _ in range(3)])
    if draw(st.integers(0, 3)) == 0:  # (nearly) without area
        corners[2] = corners[0] + draw(number) * (corners[1] - corners[0])
    share = draw(st.sampled_from([0.0, 1.0, 0.5, -0.25]) | st.floats(-0.5, 1.5))
    point = corners[0] + share * (corners[1] - corners[0])
    for k in range(2):
        for _ in range(draw(st.integers(0, 2))):
            point[k] = np.nextafter(point[k], draw(st.sampled_from([-2.0, 2.0])))
    scale = 2.0 ** draw(st.integers(-400, 400))
    far = draw(st.sampled_from([0.0, 0.0, 1.0, 1e3, 1e9])) * draw(number)
    return np.concatenate([[point], corners]) * scale + far * scale


@given(corners=near_borders())
@examples(500)
def test_near_borders(corners):
    check(corners)


@pytest.mark.parametrize("low", [-1022, -500, 60])
@given(data=st.data())
@examples(150)
def test_whole_range_of_floats(low, data):
    """Sizes differ by at most 2^960 on an axis: products overflow and vanish."""
    numbers = st.floats(1.0, 2.0, exclude_max=True).map(lambda x: round(x * 8) / 8)
    numbers |= st.floats(1.0, 2.0, exclude_max=True)
    exponents = st.integers(low, low + 959)
    number = st.builds(
        lambda x, e, s: s * float(np.ldexp(x, min(e, 1022))),
        numbers, exponents | st.just(low + 959), st.sampled_from([-1.0, 0.0, 1.0]),
    )  # fmt: skip
    corners = np.array([[data.draw(number), data.draw(number)] for _ in range(4)])
    if data.draw(st.booleans()):  # the point on an edge, exactly
        corners[0] = corners[1] if data.draw(st.booleans()) else corners[1] / 2 + corners[2] / 2
    check(corners)


@pytest.mark.parametrize(
    ("corners", "inside"),
    [
        ([(1, 1), (0, 0), (4, 0), (0, 4)], True),
        ([(2, 2), (0, 0), (4, 0), (0, 4)], True),
        ([(0, 0), (0, 0), (4, 0), (0, 4)], True),
        ([(2, -1e-280), (0, 0), (4, 0), (0, 4)], False),
        ([(5, 0), (0, 0), (4, 0), (0, 4)], False),
        ([(-1, 0), (0, 0), (4, 0), (0, 4)], False),
        ([(1, 1), (0, 0), (3, 3), (2, 2)], True),  # segments
        ([(1, 2), (0, 0), (3, 3), (2, 2)], False),
        ([(4, 4), (0, 0), (3, 3), (2, 2)], False),
        ([(1, 1), (0, 0), (3, 3), (3, 3)], True),
        ([(1, 5), (1, 0), (1, 4), (1, 6)], True),
        ([(1, 7), (1, 0), (1, 4), (1, 6)], False),
        ([(1, 1), (1, 1), (1, 1), (1, 1)], True),  # points
        ([(1, 2), (1, 1), (1, 1), (1, 1)], False),
        ([(2, 1), (1, 1), (1, 1), (1, 1)], False),
        ([(0, 0), (-1.7e308, -1.7e308), (1.7e308, -1.7e308), (0, 1.7e308)], True),
        ([(5e-324, 5e-324), (0, 0), (1e-323, 0), (0, 1e-323)], True),
        ([(1e-323, 5e-324), (0, 0), (1e-323, 0), (0, 1e-323)], False),
        ([(0.1, 0.3), (0, 0), (0.3, 0.9), (0, 1)], False),  # the float 0.1 is above a tenth
        ([(0.1, 0.3), (0, 0), (0.3, 0.9), (1, 0)], True),
    ],
)
def test_by_hand(corners, inside):
    corners = np.array(corners, dtype=float)
    assert in_triangle(*corners.tolist()) is inside
    check(corners)


def test_no_point_falls_between_tiles():
    """A crooked tiling of a square: every point in at least one tile, corners in all around."""
    rng = np.random.default_rng(2)
    side = 7
    grid = np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"), axis=-1)
    corners = grid + np.where(
        ((grid > 0) & (grid < side - 1)).all(axis=-1, keepdims=True),
        rng.uniform(-0.2, 0.2, grid.shape),
        0.0,
    )
    d, a, c, b = corners[:-1, :-1], corners[1:, :-1], corners[:-1, 1:], corners[1:, 1:]
    tiles = np.concatenate([np.stack([a, b, c], axis=2), np.stack([a, c, d], axis=2)])
    tiles = tiles.reshape(-1, 3, 2)
    # On edges: rounded to either side of them.
    picked = tiles[rng.integers(len(tiles), size=POINTS // 10)]
    share = rng.uniform(0, 1, (len(picked), 1))
    points = picked[:, 0] + share * (picked[:, 1] - picked[:, 0])
    points = np.concatenate([np.clip(points, 0.0, side - 1.0), corners.reshape(-1, 2)])
    found = np.sum([tp.rows.point_in_triangle_2d(points, *tile) for tile in tiles], axis=0)
    assert (found >= 1).all()
    assert found[-side * side :].reshape(side, side)[1:-1, 1:-1].min() >= 5
    assert (found <= 2)[: -side * side].mean() > 0.99


@pytest.mark.parametrize("scale", [1.0, 2.0**-538, 2.0**506])
@pytest.mark.parametrize("whole", [True, False])
def test_rounded_onto_borders(scale, whole):
    """Points rounded to either side of an edge; products that over- and underflow."""
    rng = np.random.default_rng(3)
    rows = rng.uniform(-1, 1, (POINTS // 40, 4, 2))
    if whole:
        rows = rng.integers(-40, 41, rows.shape).astype(float)
    share = rng.choice([0.5, 0.25, np.nan], (len(rows), 1))
    share = np.where(np.isnan(share), rng.uniform(-0.1, 1.1, share.shape), share)
    rows[:, 0] = rows[:, 1] + share * (rows[:, 2] - rows[:, 1])
    if whole:
        rows[:, 0] = np.round(rows[:, 0])
    rows *= scale
    found = tp.rows.point_in_triangle_2d(*rows.transpose(1, 0, 2))
    assert found.tolist() == [in_triangle(*row) for row in rows.tolist()]
    assert 0.1 < found.mean() < 0.9


def test_batches():
    """More points than a block, hard ones among them; one triangle, n triangles, one point."""
    rng = np.random.default_rng(1)
    points = rng.integers(-8, 9, (POINTS // 10, 2)) / 8.0
    points[1::2] = rng.uniform(-1, 1, points[1::2].shape)  # the last of a block is a plain case
    corners = rng.integers(-8, 9, (3, len(points), 2)) / 8.0
    one = tp.rows.point_in_triangle_2d(points, *corners[:, 0])
    many = tp.rows.point_in_triangle_2d(points, *corners)
    still = tp.rows.point_in_triangle_2d(points[:1], *corners)
    mixed = tp.rows.point_in_triangle_2d(points, corners[0, :1], corners[1], corners[2, :1])
    assert one.dtype == many.dtype == np.bool_
    assert one.shape == many.shape == still.shape == mixed.shape == (len(points),)
    for found in (one, many, still, mixed):
        assert found.view(np.uint8).max() == 1
    for i in range(0, len(points), 7):
        a, b, c = corners[:, i].tolist()
        first, second, third = corners[:, 0].tolist()
        p = points[i].tolist()
        assert one[i] == in_triangle(p, first, second, third)
        assert many[i] == in_triangle(p, a, b, c)
        assert still[i] == in_triangle(points[0].tolist(), a, b, c)
        assert mixed[i] == in_triangle(p, first, b, third)
    assert tp.rows.point_in_triangle_2d(np.empty((0, 2)), (0, 0), (1, 0), (0, 1)).shape == (0,)


def test_scalar_takes_anything_with_two_numbers():
    for kind in (tuple, list, np.array, glm.vec2, glm.dvec2):
        corners = [kind(corner) for corner in [(0, 0), (4, 0), (0, 4)]]
        assert point_in_triangle_2d(kind([2, 2]), *corners) is True
        assert point_in_triangle_2d(kind([3, 2]), *corners) is False


def test_all_small_cases():
    """Every point and triangle of a 3 x 3 grid, in one batch."""
    grid = list(product(range(3), repeat=2))
    rows = np.array(list(product(grid[:6], grid, grid[::2], grid)), dtype=float)[
        :: 1 if COMPILED else 9
    ]
    found = tp.rows.point_in_triangle_2d(*rows.transpose(1, 0, 2))
    assert found.tolist() == [in_triangle(*row) for row in rows.tolist()]


@pytest.mark.parametrize(
    ("point", "error", "message"),
    [
        ((1, 2, 3), ValueError, r"point must have shape \(2,\), got \(3,\)"),
        (glm.vec3(1, 2, 3), ValueError, r"point must have shape"),
        ((1, np.nan), ValueError, r"point.y must be finite, got nan"),
        (("1", 2), TypeError, r"point.x must be a finite number, got '1'"),
        ("12", TypeError, r"point must hold real numbers"),
        (5, ValueError, r"point must have shape \(2,\), got \(\)"),
    ],
)
def test_bad_point(point, error, message):
    with pytest.raises(error, match=message):
        point_in_triangle_2d(point, (0, 0), (1, 0), (0, 1))


def test_bad_arrays():
    with pytest.raises(ValueError, match=r"points must have shape \(n, 2\), got \(2,\)"):
        tp.rows.point_in_triangle_2d((1, 2), (0, 0), (1, 0), (0, 1))
    with pytest.raises(ValueError, match=r"b must be finite, got inf at \[1, 0\]"):
        tp.rows.point_in_triangle_2d([(1, 2)], (0, 0), [(1, 0), (np.inf, 0)], (0, 1))
    with pytest.raises(ValueError, match=r"same number of rows or one, but points has 3, a has 2"):
        tp.rows.point_in_triangle_2d([(1, 2)] * 3, [(0, 0)] * 2, (1, 0), (0, 1))
