"""Exact sums and signs, against fractions."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain_physics._kernels.math.exact_sum import EMPTY, add_product, add_term, value_of
from terrain_physics._kernels.math.orientation import line_side, plane_side, plane_sides
from tests.helpers.examples import examples
from tests.oracles.triangles import exact, volume

pytestmark = pytest.mark.kernels

SMALL = st.integers(-4, 4).map(float)
WIDE = st.builds(lambda x, power: x * 2.0**power, st.floats(0.5, 1.0), st.integers(-60, 60))
SIGNED = st.builds(lambda x, sign: x * sign, WIDE, st.sampled_from([1.0, -1.0, 0.0]))
POINT = st.tuples(SIGNED, SIGNED, SIGNED)
GRID_POINT = st.tuples(SMALL, SMALL, SMALL)


def sign(value: Fraction | int) -> int:
    return (value > 0) - (value < 0)


def side(points: list[tuple[float, float, float]]) -> int:
    return sign(volume(*exact(points)))


@given(terms=st.lists(SIGNED, max_size=30), data=st.data())
@examples(200)
def test_sums(terms, data):
    terms += [-term for term in data.draw(st.permutations(terms))][: data.draw(st.integers(0, 30))]
    total = EMPTY
    for term in terms:
        total = add_term(total, term)
    wanted = sum(map(Fraction, terms))
    assert sum(map(Fraction, total)) == wanted
    assert value_of(total) == pytest.approx(float(wanted), rel=2.0**-48, abs=0.0)


@given(factors=st.lists(POINT, max_size=10))
@examples(100)
def test_products(factors):
    total = EMPTY
    for x, y, z in factors:
        total = add_product(total, x, y, z)
    wanted = sum(Fraction(x) * Fraction(y) * Fraction(z) for x, y, z in factors)
    assert sum(map(Fraction, total)) == wanted


@given(points=st.lists(POINT, min_size=4, max_size=4))
@examples(300)
def test_coordinates_of_all_sizes(points):
    """Of sizes from 2^-60 to 2^60: the least bits count as much as the first."""
    assert plane_side(*points) == side(points)


@given(points=st.lists(GRID_POINT, min_size=4, max_size=4), data=st.data())
@examples(300)
def test_next_to_a_plane(points, data):
    """Corners of a small grid, one coordinate moved by a last bit, and the whole scaled."""
    rows = [list(point) for point in points]
    k, axis = data.draw(st.integers(0, 3)), data.draw(st.integers(0, 2))
    if rows[k][axis]:
        rows[k][axis] = float(np.nextafter(rows[k][axis], data.draw(st.sampled_from([-9.0, 9.0]))))
    factor = 2.0 ** data.draw(st.sampled_from([0, 0, -300, -900, 300, 900]))
    points = [(x * factor, y * factor, z * factor) for x, y, z in rows]
    assert plane_side(*points) == side(points)


@given(points=st.lists(st.one_of(POINT, GRID_POINT), min_size=4, max_size=4))
@examples(50)
def test_orders(points):
    """Swapping two points turns the sign round."""
    identity = plane_side(*points)
    for order in permutations(range(4)):
        swaps = sum(order[i] > order[j] for i in range(4) for j in range(i + 1, 4))
        assert plane_side(*(points[k] for k in order)) == identity * (-1) ** swaps


@given(points=st.lists(st.one_of(POINT, GRID_POINT), min_size=6, max_size=6))
@examples(50)
def test_three_at_once(points):
    a, b, c, *others = points
    assert plane_sides(*points) == tuple(plane_side(a, b, c, other) for other in others)


@given(points=st.lists(st.one_of(POINT, GRID_POINT), min_size=3, max_size=3), data=st.data())
@examples(300)
def test_lines(points, data):
    factor = 2.0 ** data.draw(st.sampled_from([0, 0, -300, -700, 300, 700]))
    (ax, ay), (bx, by), (px, py) = ((p[0] * factor, p[1] * factor) for p in points)
    flat = [(ax, ay, 0.0), (bx, by, 0.0), (px, py, 0.0), (ax, ay, 1.0)]
    assert line_side(ax, ay, bx, by, px, py) == side(flat)


def test_on_a_line_far_away():
    near, far = np.nextafter(1e6, 0.0), np.nextafter(1e6, 2e6)
    assert line_side(0.0, 0.0, 3.0, 3.0, 1e6, 1e6) == 0
    assert line_side(0.0, 0.0, 3.0, 3.0, 1e6, float(far)) == 1
    assert line_side(0.0, 0.0, 3.0, 3.0, 1e6, float(near)) == -1


def test_the_stated_range():
    """The least number may be 1e38 times smaller than the largest."""
    tiny = 1e-38
    points = [(0.0, 0.0, 0.0), (1.0, 0.0, tiny), (0.0, 1.0, tiny), (1.0, 1.0, 2.0 * tiny)]
    assert plane_side(*points) == 0
    for last in (np.nextafter(2.0 * tiny, 0.0), np.nextafter(2.0 * tiny, 1.0)):
        moved = [*points[:3], (1.0, 1.0, float(last))]
        assert plane_side(*moved) == side(moved) != 0
