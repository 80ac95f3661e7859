"""Promises of the penetration of a box, held against the exact oracle for one case."""

from fractions import Fraction

import numpy as np

import terrain_physics as tp
from tests.helpers import strategies
from tests.helpers.strategies import Array, BoxCase
from tests.oracles import boxes
from tests.oracles import geometry as oracle
from tests.oracles.geometry import corners_of, dot, doubled_area_normal, scale, unit, vector

THIN = 1e-7
"""Below this height over length, whether a triangle has area is left to rounding."""

TILT = 1e-10
"""Two directions that are square, or parallel, but for this sine are so but for rounding."""

MOVED = 8 * 2.0**-52
"""The library answers exactly, but for corners that rounding has moved on the way to the frame of
the box: by at most this part of their distance from its center."""


def crossed(edge: int, axis: int, gap: float, aside: float = 0.0) -> BoxCase:
    """Return a cube that stands on an edge of it, across an edge of a steep triangle.

    Upwards they part, and only the product of these two edges tells it. The triangle's front is up.
    """
    triangle = np.array([(-2.0, 0.0, 0.0), (2.0, 0.0, 0.0), (0.1, -3.0, -0.3)])
    turn = np.array([(1.0, -1.0, 0.0), (1.0, 1.0, 0.0), (0.0, 0.0, np.sqrt(2.0))]) / np.sqrt(2.0)
    center = np.array([0.0, np.sqrt(0.5) + gap, aside])
    rotation = turn @ np.roll(np.eye(3), axis + 1, axis=1)
    return BoxCase(center, np.full(3, 0.5), rotation, np.roll(triangle, edge, axis=0))


def push_of(case: BoxCase, *, two_sided: bool = False) -> Array:
    """Return the library's penetration, NaN where apart."""
    rows = tp.rows.intersect_obb_triangle(
        *(part[None] for part in case),
        two_sided=two_sided,
    )
    return strategies.as_array(rows[0])


def exact(case: BoxCase) -> tuple[boxes.Box, oracle.Corners]:
    box = boxes.box_of(case.center.tolist(), case.half.tolist(), case.rotation)
    return box, corners_of(case.triangle.tolist())


def tolerance_of(case: BoxCase, depth: float) -> float:
    size = oracle.span(corners_of(case.triangle.tolist())) + 2.0 * float(np.max(case.half))
    return oracle.tolerance(size, depth, case.center, case.triangle)


def turn_of(case: BoxCase, thinness: float) -> float:
    """Return by which sine the triangle's normal and edges turn where its corners are moved.

    That is far less than ``TILT``, unless the triangle is ten thousand times smaller than the box.
    The height over the longest edge is no longer than any edge.
    """
    reach = max(float(np.linalg.norm(corner - case.center)) for corner in case.triangle)
    height = thinness * oracle.span(corners_of(case.triangle.tolist()))
    return 2.0 * MOVED * reach / height


def check(case: BoxCase, *, two_sided: bool) -> None:
    """Hold one case against the oracle.

    Left to rounding: contact or not within the tolerance around touching; and, one-sided, whether a
    direction that is square to the normal but for ``TILT``, and what rounded corners turn, is
    allowed, and where a ray leaves that runs along a facet but for as much.
    """
    box, triangle = exact(case)
    push = push_of(case, two_sided=two_sided)
    depth = float(np.linalg.norm(np.nan_to_num(push)))
    slack = Fraction(tolerance_of(case, depth))
    sides = boxes.difference_facets(box, triangle)
    deepest = boxes.depth(sides) if sides else Fraction(0)

    if np.isnan(push).any():
        assert np.isnan(push).all()
        missed = boxes.touches(boxes.grown(box, -slack), triangle) and deepest > slack
        assert not missed, "contact missed"
        return
    assert boxes.touches(boxes.grown(box, slack), triangle), "apart, but a contact"
    move = vector(map(float, push))
    check_just_touching(boxes.moved(box, move), triangle, slack)
    thinness = oracle.thinness(triangle)
    if two_sided or thinness == 0.0:
        assert abs(oracle.length(move) - deepest) <= slack, "not the shortest way out"
        check_longer_and_shorter(box, triangle, move, slack)
    elif thinness >= THIN:
        check_one_sided(box, triangle, move, slack, turn_of(case, thinness))


def check_just_touching(box: boxes.Box, triangle: oracle.Corners, slack: Fraction) -> None:
    assert boxes.touches(boxes.grown(box, slack), triangle), "pushed too far"
    if min(box.half) > slack:
        inside = boxes.touches(boxes.grown(box, -slack), triangle)
    else:  # a sheet does not shrink
        sides = boxes.difference_facets(box, triangle)
        inside = bool(sides) and boxes.depth(sides) > slack
    assert not inside, "after the push still inside"


def check_longer_and_shorter(
    box: boxes.Box, triangle: oracle.Corners, move: oracle.Vector, slack: Fraction
) -> None:
    """The shortest move made longer sets them apart; made shorter it does not part them."""
    depth = oracle.length(move)
    if depth > slack:
        longer = boxes.moved(box, scale(move, 1 + 3 * slack / depth))
        assert not boxes.touches(longer, triangle)
    if depth > slack * 10**7:
        shorter = boxes.moved(box, scale(move, Fraction(999_999, 1_000_000)))
        assert boxes.touches(shorter, triangle)


def check_one_sided(
    box: boxes.Box, triangle: oracle.Corners, move: oracle.Vector, slack: Fraction, turn: float
) -> None:
    """None is shorter along any of the 13 signed axes u with u . n >= 0, and it is along one."""
    front = unit(doubled_area_normal(triangle))
    tilt = TILT / oracle.thinness(triangle) + turn
    depth = oracle.length(move)
    assert dot(move, front) >= -slack - depth * Fraction(tilt), "pushed against the front"
    sides = boxes.difference_facets(box, triangle)
    least: list[Fraction] = []
    greatest: list[Fraction] = []
    axes = boxes.signed_axes(box, triangle)
    for axis in axes:
        facing = float(dot(axis.unit, front))
        # Rounding turns the cross product of two directions by its part over their sine.
        own = tilt + MOVED / max(axis.sine, TILT)
        if facing < -own:
            continue
        early, late = boxes.exit_bounds(sides, axis.unit, slack=float(slack), tilt=own)
        if (
            axis.sine < TILT + turn
        ):  # an edge parallel to a box axis, but for rounding: any axis at all
            early = max(boxes.depth(sides), Fraction(0))
        least.append(early)
        if late is not None and facing > own and axis.sine > TILT + turn:
            greatest.append(late)
    assert min(least) - slack <= depth, "shorter than the shapes part"
    assert depth <= min(greatest) + slack, "a shorter move along an allowed axis does it"
    if depth > slack * 10**7 and min(axis.sine for axis in axes) > 1e-6 + turn**0.5:
        direction = unit(move)
        best = max(dot(direction, axis.unit) for axis in axes)
        assert 1 - best < Fraction(tilt), "not along one of the 13 axes"
