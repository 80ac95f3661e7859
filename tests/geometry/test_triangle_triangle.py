"""Triangle against triangle: touching, and what is shared, against exact cutting."""

from itertools import combinations_with_replacement, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain_physics import rows
from terrain_physics.geometry.intersect_triangles import (
    crossing_segment,
    intersect_triangle_triangle,
)
from terrain_physics.geometry.shapes import Segment, Triangle
from tests.helpers import strategies
from tests.helpers.examples import examples
from tests.helpers.strategies import Array
from tests.oracles.triangles import Share, exact, shared

pytestmark = pytest.mark.kernels

FLOOR = [(0, 0, 0), (0, 0, 4), (4, 0, 0)]
ORDERS = list(permutations(range(3)))


def size_of(*triangles: Array) -> float:
    both = np.concatenate(triangles)
    return float((both.max(axis=0) - both.min(axis=0)).max())


def check_ends(ends: Array, share: Share, first: Array, second: Array) -> None:
    """Hold the ends against those of the common part, in either order: rounding may swap them."""
    wanted = np.array([[float(v) for v in share.corners[k]] for k in (0, -1)])
    slack = 1e-15 * size_of(first, second) + np.spacing(np.abs([first, second]).max())
    worst = min(np.abs(ends - wanted).max(), np.abs(ends - wanted[::-1]).max())
    assert worst <= slack
    assert tuple(ends[0]) <= tuple(ends[1])
    if share.kind == "point":
        np.testing.assert_array_equal(ends[0], ends[1])
    for corner in np.concatenate([first, second]):  # an end that is a corner is exact
        for k, end in enumerate(wanted):
            if share.corners[-k] == tuple(exact([corner])[0]):
                assert (ends == end).all(axis=1).any()


def check(first: Array, second: Array) -> list[Share]:
    """Hold rows of pairs against the oracle; return what they share."""
    touching = rows.intersect_triangle_triangle(first, second)
    ends = rows.crossing_segment(first, second)
    shares = []
    for one, two, touches, segment in zip(first, second, touching, ends, strict=True):
        share = shared(exact(one.tolist()), exact(two.tolist()))
        assert bool(touches) == (share.kind != "apart"), (one.tolist(), two.tolist(), share)
        if share.kind in {"apart", "area"}:
            assert np.isnan(segment).all()
        else:
            check_ends(segment, share, one, two)
        shares.append(share)
    return shares


def all_orders(first: Array, second: Array) -> tuple[Array, Array]:
    """Return the 72 ways to hand in two triangles."""
    pairs = [(first[list(p)], second[list(q)]) for p, q in product(ORDERS, ORDERS)]
    pairs += [(two, one) for one, two in pairs]
    return np.array([one for one, _ in pairs]), np.array([two for _, two in pairs])


def check_orders(first: Array, second: Array) -> None:
    """The same bits for all orders of triangles and corners."""
    one, two = all_orders(first, second)
    assert len(set(rows.intersect_triangle_triangle(one, two).tolist())) == 1
    ends = rows.crossing_segment(one, two)
    np.testing.assert_array_equal(ends, np.broadcast_to(ends[0], ends.shape))


NAMED = {
    "apart, above": ([(1, 1, 1), (1, 2, 1), (2, 1, 1)], "apart", []),
    "apart, through the plane beside it": ([(5, -1, 5), (5, 1, 5), (6, 1, 5)], "apart", []),
    "apart, a corner on the plane beside it": ([(3, 0, 3), (5, 1, 5), (6, 1, 5)], "apart", []),
    "apart in one plane": ([(3, 0, 3), (5, 0, 3), (5, 0, 5)], "apart", []),
    "apart in one plane, parallel edges": ([(5, 0, 0), (1, 0, 4), (5, 0, 5)], "apart", []),
    "apart in one plane, on the line of an edge": (
        [(0, 0, 5), (0, 0, 6), (-1, 0, 5)], "apart", []),
    "crossing two edges of one": ([(1, -1, 1), (1, 1, 1), (3, 1, 1)], "segment",
                                  [(1, 0, 1), (2, 0, 1)]),
    "crossing an edge of each": ([(1, -1, 1), (1, 1, 1), (7, 1, 1)], "segment",
                                 [(1, 0, 1), (3, 0, 1)]),
    "passing through a corner": ([(-1, 1, -1), (-1, -1, -1), (3, 0, 3)], "segment",
                                 [(0, 0, 0), (2, 0, 2)]),
    "passing through a corner only": ([(-1, 1, 1), (1, 1, -1), (0, -1, 0)], "segment",
                                      [(0, 0, 0), (0, 0, 0)]),
    "corner on face": ([(1, 0, 1), (1, 1, 1), (2, 1, 1)], "point", [(1, 0, 1)] * 2),
    "corner on edge": ([(2, 0, 2), (3, 1, 3), (4, 1, 3)], "point", [(2, 0, 2)] * 2),
    "corner on corner": ([(4, 0, 0), (5, 1, 0), (5, 1, 1)], "point", [(4, 0, 0)] * 2),
    "edge on edge, crossing": ([(-1, 1, 2), (1, -1, 2), (-1, -1, 2)], "point", [(0, 0, 2)] * 2),
    "edge in the face": ([(1, 0, 1), (2, 0, 1), (1, 3, 1)], "segment", [(1, 0, 1), (2, 0, 1)]),
    "edge in the plane, reaching out": ([(1, 0, 1), (9, 0, 1), (1, 3, 1)], "segment",
                                        [(1, 0, 1), (3, 0, 1)]),
    "edge along an edge": ([(0, 0, 1), (0, 0, 9), (-1, 3, 1)], "segment",
                           [(0, 0, 1), (0, 0, 4)]),
    "shared edge": ([(0, 0, 0), (0, 0, 4), (-4, 2, 0)], "segment", [(0, 0, 0), (0, 0, 4)]),
    "shared edge, folded back": ([(0, 0, 0), (0, 0, 4), (4, 1, 0)], "segment",
                                 [(0, 0, 0), (0, 0, 4)]),
    "shared edge in one plane": ([(0, 0, 0), (0, 0, 4), (-4, 0, 0)], "segment",
                                 [(0, 0, 0), (0, 0, 4)]),
    "shared corner in one plane": ([(0, 0, 0), (-1, 0, -4), (-4, 0, 0)], "point",
                                   [(0, 0, 0)] * 2),
    "corner on edge in one plane": ([(2, 0, 2), (3, 0, 3), (4, 0, 3)], "point", [(2, 0, 2)] * 2),
    "overlap in one plane": ([(1, 0, 1), (5, 0, 1), (5, 0, 5)], "area", []),
    "one within the other": ([(1, 0, 1), (2, 0, 1), (1, 0, 2)], "area", []),
    "shared edge, one within the other": ([(0, 0, 0), (0, 0, 4), (1, 0, 1)], "area", []),
    "the same triangle": (FLOOR, "area", []),
    "a star of six": ([(3, 0, 3), (3, 0, -1), (-1, 0, 3)], "area", []),
    "segment through the face": ([(1, -1, 1), (1, 0.5, 1), (1, 1, 1)], "point", [(1, 0, 1)] * 2),
    "segment through an edge": ([(2, -1, 2), (2, 1, 2), (2, 1, 2)], "point", [(2, 0, 2)] * 2),
    "segment through a corner": ([(-1, 1, -1), (1, -1, 1), (9, -9, 9)], "point", [(0, 0, 0)] * 2),
    "segment beside the face": ([(3, -1, 3), (3, 0, 3), (3, 1, 3)], "apart", []),
    "segment ending on the face": ([(1, 0, 1), (1, 5, 1), (1, 5, 1)], "point", [(1, 0, 1)] * 2),
    "segment above the face": ([(1, 1, 1), (1, 5, 1), (1, 3, 1)], "apart", []),
    "segment within the face": ([(1, 0, 1), (1, 0, 2), (1, 0, 2)], "segment",
                                [(1, 0, 1), (1, 0, 2)]),
    "segment across the face": ([(-1, 0, 1), (2, 0, 1), (9, 0, 1)], "segment",
                                [(0, 0, 1), (3, 0, 1)]),
    "segment in the plane, beside": ([(-1, 0, 5), (2, 0, 5), (9, 0, 5)], "apart", []),
    "segment past a corner": ([(-1, 0, 1), (1, 0, -1), (0, 0, 0)], "point", [(0, 0, 0)] * 2),
    "point on the face": ([(1, 0, 1)] * 3, "point", [(1, 0, 1)] * 2),
    "point on an edge": ([(2, 0, 2)] * 3, "point", [(2, 0, 2)] * 2),
    "point on a corner": ([(4, 0, 0)] * 3, "point", [(4, 0, 0)] * 2),
    "point beside the face": ([(3, 0, 3)] * 3, "apart", []),
    "point above the face": ([(1, 1, 1)] * 3, "apart", []),
}  # fmt: skip

LINE = [(0, 0, 0), (1, 2, 3), (2, 4, 6)]

NAMED_FLAT = {
    "segments that cross": ([(2, 0, 2), (1, 2, 3), (0, 4, 4)], "point", [(1, 2, 3)] * 2),
    "triangle that a segment leaves by a corner": ([(1, 2, 3), (1, 3, 3), (1, 3, 4)], "point",
                                                   [(1, 2, 3)] * 2),
    "segments that cross between corners": ([(0, 1, 2), (1, 1, 1), (1, 1, 1)], "point",
                                            [(0.5, 1, 1.5)] * 2),
    "segments that pass each other": ([(2, 1, 2), (1, 3, 3), (0, 5, 4)], "apart", []),
    "segments of one plane, apart": ([(3, 0, 3), (2, 2, 4), (2, 2, 4)], "apart", []),
    "parallel segments": ([(1, 0, 0), (2, 2, 3), (3, 4, 6)], "apart", []),
    "segments of one line, apart": ([(3, 6, 9), (4, 8, 12), (4, 8, 12)], "apart", []),
    "segments of one line, end to end": ([(2, 4, 6), (4, 8, 12), (3, 6, 9)], "point",
                                         [(2, 4, 6)] * 2),
    "segments that overlap": ([(4, 8, 12), (1, 2, 3), (3, 6, 9)], "segment",
                              [(1, 2, 3), (2, 4, 6)]),
    "the same segment": (LINE, "segment", [(0, 0, 0), (2, 4, 6)]),
    "point on a segment": ([(1, 2, 3)] * 3, "point", [(1, 2, 3)] * 2),
    "point beside a segment": ([(1, 2, 4)] * 3, "apart", []),
    "point on the line of a segment": ([(3, 6, 9)] * 3, "apart", []),
}  # fmt: skip

POINTS = {
    "the same point": ([(1, 2, 3)] * 3, "point", [(1, 2, 3)] * 2),
    "two points": ([(1, 2, 4)] * 3, "apart", []),
}

CASES = [
    (name, first, *case)
    for first, cases in ((FLOOR, NAMED), (LINE, NAMED_FLAT), ([(1, 2, 3)] * 3, POINTS))
    for name, case in cases.items()
]


@pytest.mark.parametrize(
    ("first", "second", "kind", "ends"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_named_cases(first, second, kind, ends):
    one, two = np.array(first, dtype=float), np.array(second, dtype=float)
    pair = Triangle(*one), Triangle(*two)
    assert intersect_triangle_triangle(*pair) is (kind != "apart")
    segment = crossing_segment(*pair)
    assert segment == (Segment(*ends) if ends else None)
    check(one[None], two[None])
    check_orders(one, two)
    check_orders(one[:, [1, 2, 0]] * 0.1, two[:, [1, 2, 0]] * 0.1)


def test_every_pair_on_the_corners_of_a_cube():
    """All 7260 pairs of triangles, segments and points, but for order: mostly degenerate."""
    corners = np.array(list(product((0.0, 1.0), repeat=3)))
    triangles = list(combinations_with_replacement(range(8), 3))
    pairs = np.array(list(combinations_with_replacement(triangles, 2)))
    shares = check(corners[pairs[:, 0]], corners[pairs[:, 1]])
    assert {share.kind for share in shares} == {"apart", "point", "segment", "area"}


@pytest.mark.parametrize("plane", [None, (1, 0, 0), (1, -2, 0), (1, 1, 3)])
def test_small_whole_numbers(plane):
    """Corners on a small grid: touches and ties everywhere; also all in one plane."""
    rng = np.random.default_rng(7)
    corners = rng.integers(-2, 3, (600, 6, 3)).astype(float)
    if plane is not None:
        corners[:, :, 2] = corners[:, :, :2] @ plane[:2] + plane[2]
    check(corners[:, :3], corners[:, 3:])
    for pair in corners[:20]:
        check_orders(pair[:3], pair[3:])


@pytest.mark.parametrize("gap", [1e-15, 1e-9, 1e-3])
def test_flat_angles_and_needles(gap):
    """The ends stay right to the last places where planes or edges are all but parallel."""
    rng = np.random.default_rng(5)
    first = rng.uniform(-1, 1, (60, 3, 3))
    weights = rng.dirichlet((1, 1, 1), (60, 3))
    second = weights @ first + rng.uniform(-gap, gap, (60, 3, 3))
    needle = first.copy()
    needle[:, 2] = (first[:, 0] + first[:, 1]) / 2 + rng.uniform(-gap, gap, (60, 3))
    check(first, second)
    shares = check(first, needle)
    assert {share.kind for share in shares} == {"segment"}
    check(second, needle)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Array, Array]:
    """Return two triangles: with a point in common but for rounding, or in any place."""
    first, second = draw(strategies.triangles()), draw(strategies.triangles())
    kind = draw(st.sampled_from(["near", "near", "corner", "edge", "plane", "any"]))
    if kind == "corner":
        second[0] = first[draw(st.integers(0, 2))]
    elif kind == "edge":
        second[:2] = first[:2]
    elif kind == "plane":
        second = np.array([draw(strategies.weights()) for _ in range(3)]) @ first
    elif kind == "near":
        second = second + (draw(strategies.weights()) @ first - draw(strategies.weights()) @ second)
    turn, size = draw(strategies.rotations()), draw(strategies.SIZES)
    offset = draw(strategies.offsets(size))
    corners = np.stack([first, second]) @ turn.T
    corners[np.abs(corners) < 1e-30] = 0.0  # a turn's rounding may leave what is out of range
    first, second = corners * size + offset
    return first, second


@given(pair=pairs())
@examples(300)
def test_against_oracle(pair):
    check(pair[0][None], pair[1][None])


@pytest.mark.long
@given(pair=pairs())
@examples(20_000)
def test_against_oracle_long(pair):
    check(pair[0][None], pair[1][None])
    check_orders(*pair)


@given(pair=pairs())
@examples(30)
def test_orders(pair):
    check_orders(*pair)


@given(pair=pairs(), corner=st.integers(0, 2), axis=st.integers(0, 2), up=st.booleans())
@examples(100)
def test_one_unit_in_the_last_place(pair, corner, axis, up):
    """Pairs that touch but for rounding, with one coordinate moved by the least there is."""
    first, second = pair
    second = second.copy()
    place = second[corner, axis] or 1e-30  # next to zero is out of range
    second[corner, axis] = np.nextafter(place, np.inf if up else -np.inf)
    check(first[None], second[None])


def test_a_last_bit_decides():
    """A corner on, and one last bit above, a slope far from the origin that holds it exactly."""
    far = np.array([1e6, 1e6, 0.0])
    slope = far + np.array([(0, 0, 0), (0, 0, 4), (4, 4, 0)])
    foot = far + np.array([(1, 1, 1), (1, 3, 1), (2, 3, 1)])
    above = foot.copy()
    above[0, 1] = np.nextafter(above[0, 1], np.inf)
    touching = rows.intersect_triangle_triangle(slope[None], [foot, above])
    np.testing.assert_array_equal(touching, [True, False])
    np.testing.assert_array_equal(
        rows.crossing_segment(slope[None], foot[None])[0], [foot[0], foot[0]]
    )


@pytest.mark.parametrize("size", [1e-300, 1e-100, 1e-6, 1e6, 1e100, 1e300])
def test_sizes(size):
    rng = np.random.default_rng(3)
    corners = rng.uniform(-1, 1, (20, 6, 3)) * size
    check(corners[:, :3], corners[:, 3:])
    corners[:, 3] = corners[:, 0]
    check(corners[:, :3], corners[:, 3:])


@pytest.mark.parametrize("power", [-1070, -400, -100, 100, 400, 1020])
def test_powers_of_two_change_nothing(power):
    corners = np.array([[one, two] for _, one, two, _, _ in CASES], dtype=float)
    there = np.ldexp(corners, power)
    np.testing.assert_array_equal(
        rows.intersect_triangle_triangle(there[:, 0], there[:, 1]),
        rows.intersect_triangle_triangle(corners[:, 0], corners[:, 1]),
    )
    np.testing.assert_array_equal(
        rows.crossing_segment(there[:, 0], there[:, 1]),
        np.ldexp(rows.crossing_segment(corners[:, 0], corners[:, 1]), power),
    )


def test_out_of_range_ends_stay_on_their_edges():
    """Beside a large number, numbers too small for their volumes to be told from zero."""
    t = 1e-150
    first = np.array([[(-t, -t, 0), (t, -t, 0), (0, t, 0)]])
    second = np.array([[(0, 0, -t), (0, 0, t), (1, 0, 0)]])
    assert rows.intersect_triangle_triangle(first, second).all()
    ends = rows.crossing_segment(first, second)
    assert (np.abs(ends) <= t).all()
