"""Rays against shapes: distances and hits against an exact oracle."""

from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pyglm import glm

import terrain_physics as tp
from terrain_physics import (
    AABB,
    OBB,
    Capsule,
    Plane,
    Ray,
    Sphere,
    Triangle,
    raycast,
    raycast_aabb,
    raycast_capsule,
    raycast_obb,
    raycast_sphere,
    raycast_triangle,
)
from tests.helpers import strategies
from tests.helpers.examples import examples
from tests.helpers.strategies import UNIT, Array
from tests.oracles import geometry as oracle
from tests.oracles import rays as oracle_rays
from tests.oracles.geometry import corners_of, scale, subtract, vector

pytestmark = pytest.mark.kernels

PART = Fraction(1, 10**14)
"""Distance that rounding may take for touching, as a part of distance and size together."""
FLOOR = np.array([[0, 0, 0], [0, 0, 4], [4, 0, 0]], dtype=float)


@st.composite
def directions(draw: st.DrawFn) -> Array:
    """Return any direction but zero, of any length; often along an axis or in a plane of two."""
    kind = draw(st.sampled_from(["axis", "plane", "any", "any"]))
    way = np.array([draw(UNIT) for _ in range(3)])
    if kind == "axis":
        way = np.eye(3)[draw(st.integers(0, 2))] * draw(st.sampled_from([1.0, -1.0]))
    elif kind == "plane":
        way[draw(st.integers(0, 2))] = draw(st.sampled_from([0.0, -0.0]))
    assume(np.abs(way).max() > 1e-3)
    return strategies.as_array(way * draw(st.sampled_from([1.0, 1.0, 1e-200, 1e200, 3.7])))


@st.composite
def rays_at(draw: st.DrawFn, target: Array, size: float) -> tuple[Array, Array]:
    """Return a ray (origin, direction) that passes near a point; from near, far or behind."""
    direction = draw(directions())
    unit = direction / np.abs(direction).max()
    far = size * draw(st.sampled_from([0.0, 1.0, -1.0, 5.0, 1e3, 1e6]) | st.floats(-3.0, 3.0))
    aside = size * draw(st.sampled_from([0.0, 0.0, 1e-3, 1.0]))
    return target + aside * np.array([draw(UNIT) for _ in range(3)]) - far * unit, direction


def between(
    distance: float, grown: Fraction | None, shrunk: Fraction | None, scale_of: float
) -> None:
    """Hold a distance between the exact answers for a grown and for a shrunk shape."""
    tolerance = 1e-12 * scale_of
    if grown is None:
        assert np.isnan(distance), "missed, but reported as a hit"
    elif np.isnan(distance):
        assert shrunk is None, "a hit was missed"
    else:
        assert str(distance)[0] != "-"
        assert distance >= float(grown) - tolerance
        if shrunk is not None:
            assert distance <= float(shrunk) + tolerance


def span_of(origin: Array, *points: Array) -> float:
    """Return the largest distance there is, and what the coordinates lose by their own size."""
    farthest = max(float(np.abs(point - origin).max()) for point in points)
    return farthest + 1e-3 * max(float(np.abs(point).max()) for point in (origin, *points))


@given(data=st.data())
@examples(300)
def test_triangle(data):
    corners = data.draw(st.one_of(strategies.plain_triangles(), strategies.thin_triangles()))
    size, offset = data.draw(strategies.SIZES), data.draw(strategies.offsets(1.0))
    corners = corners * size + offset
    target = data.draw(strategies.weights()) @ corners
    origin, direction = data.draw(rays_at(target, size))
    exact = corners_of(corners.tolist())
    thinness = oracle.thinness(exact)
    assume(thinness > 1e-7)
    start, way = vector(origin.tolist()), vector(direction.tolist())
    facing = oracle_rays.facing(way, exact)
    assume(facing > 1e-4)
    reach = float(np.abs(corners - origin).max())
    # Rounding moves the ray sideways by an ulp of its length: so far on a slanted, thin triangle.
    loss = 1e-14 * (reach / size) / (thinness * facing)
    distance = tp.rows.raycast_triangle(origin[None], direction[None], corners[None])[0]
    grown = oracle_rays.triangle(start, way, exact, Fraction(loss))
    shrunk = oracle_rays.triangle(start, way, exact, Fraction(-loss))
    tolerance = 1e-14 * reach / facing
    if np.isnan(distance):
        assert shrunk is None or float(shrunk) <= tolerance, "a hit was missed"
    elif grown is None:
        assert distance <= tolerance, "missed, but reported as a hit"
    else:
        assert abs(distance - float(grown)) <= tolerance


@given(data=st.data())
@examples(300)
def test_sphere(data):
    size, offset = data.draw(strategies.SIZES), data.draw(strategies.offsets(1.0))
    radius = size * data.draw(st.sampled_from([1.0, 0.5]) | st.floats(0.01, 1.0))
    aim = np.array([data.draw(st.sampled_from([0.0, 1.0, -1.0]) | UNIT) for _ in range(3)])
    origin, direction = data.draw(rays_at(offset + radius * aim, size))
    distance = tp.rows.raycast_sphere(
        origin[None], direction[None], np.append(offset, radius)[None]
    )[0]
    reach = span_of(origin, offset) + radius
    slack = PART * Fraction(reach)
    grown, shrunk = (
        oracle_rays.sphere(
            vector(origin.tolist()),
            vector(direction.tolist()),
            vector(offset.tolist()),
            Fraction(radius) + more,
        )
        for more in (slack, -slack)
    )
    between(distance, grown, shrunk, reach)


@given(data=st.data())
@examples(300)
def test_boxes(data):
    """An OBB that is not turned is the AABB; turned, it is an AABB to the turned-back ray."""
    size, center = data.draw(strategies.SIZES), data.draw(strategies.offsets(1.0))
    half = size * np.array([data.draw(st.sampled_from([1.0, 0.5, 0.0])) for _ in range(3)])
    aim = np.array([data.draw(st.sampled_from([0.0, 1.0, -1.0]) | UNIT) for _ in range(3)])
    turn = data.draw(strategies.rotations())
    origin, direction = data.draw(rays_at(center + turn @ (half * aim), size))
    box = center[None], half[None], turn[None]
    distance = tp.rows.raycast_obb(origin[None], direction[None], *box)[0]
    rows = [vector(row) for row in turn.T.tolist()]
    apart = subtract(vector(origin.tolist()), vector(center.tolist()))
    way = vector(direction.tolist())
    reach = span_of(origin, center) + float(half.max())
    slack = PART * Fraction(reach)
    grown, shrunk = (
        oracle_rays.box(
            [oracle.dot(row, apart) for row in rows],
            [oracle.dot(row, way) for row in rows],
            [-Fraction(h) - more for h in half],
            [Fraction(h) + more for h in half],
            oracle.length(way),
        )
        for more in (slack, -slack)
    )
    between(distance, grown, shrunk, reach)
    if (turn == np.eye(3)).all():
        lower, upper = center - half, center + half
        other = tp.rows.raycast_aabb(origin[None], direction[None], lower[None], upper[None])[0]
        between(other, grown, shrunk, reach)


@given(data=st.data())
@examples(300)
def test_capsule(data):
    size, offset = data.draw(strategies.SIZES), data.draw(strategies.offsets(1.0))
    radius = size * data.draw(st.sampled_from([1.0, 0.5]) | st.floats(0.01, 1.0))
    a = offset + size * np.array([data.draw(UNIT) for _ in range(3)])
    step = data.draw(directions())
    step = step / np.abs(step).max() * data.draw(st.sampled_from([1.0, 0.0, 1e-3, 5.0]))
    b = a + size * step
    aim = np.array([data.draw(st.sampled_from([0.0, 1.0, -1.0]) | UNIT) for _ in range(3)])
    share = data.draw(st.sampled_from([0.0, 1.0]) | st.floats(-0.2, 1.2))
    origin, direction = data.draw(rays_at(a + share * (b - a) + radius * aim, size))
    if data.draw(st.integers(0, 4)) == 0 and np.abs(b - a).max() > 1e-3 * size:
        direction = b - a  # parallel to the side
    row = np.concatenate([a, b, [radius]])
    distance = tp.rows.raycast_capsule(origin[None], direction[None], row[None])[0]
    reach = span_of(origin, a, b) + radius
    slack = PART * Fraction(reach)
    grown, shrunk = (
        oracle_rays.capsule(
            vector(origin.tolist()),
            vector(direction.tolist()),
            vector(a.tolist()),
            vector(b.tolist()),
            Fraction(radius) + more,
        )
        for more in (slack, -slack)
    )
    between(distance, grown, shrunk, reach)


@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize(
    ("origin", "direction", "distance"),
    [
        ((1, 5, 1), (0, -1, 0), 5),  # the face, from both sides
        ((1, -5, 1), (0, 3, 0), 5),
        ((1, 0, 1), (0, 1, 0), 0),  # from the face itself
        ((0, 5, 0), (0, -1, 0), 5),  # corners and edges
        ((4, 5, 0), (0, -1, 0), 5),
        ((2, 5, 2), (0, -1, 0), 5),
        ((0, 5, 1), (0, -1, 0), 5),
        ((0, 3, -3), (0, -3, 4), 5),  # leaning, at an edge
        ((1, 5, 1), (0, 1, 0), None),  # away
        ((3, 5, 3), (0, -1, 0), None),
        ((-1, 0, 1), (1, 0, 0), 1),  # in the plane: where it enters
        ((-1, 0, -1), (1, 0, 1), 2**0.5),
        ((-3, 0, 0), (1, 0, 0), 3),  # along an edge
        ((1, 0, 1), (1, 0, 0), 0),
        ((4, 0, 0), (1, 0, 0), 0),
        ((5, 0, 0), (1, 0, 0), None),
        ((-1, 0, 5), (1, 0, 0), None),
        ((-1, 1, 1), (1, 0, 0), None),  # beside the plane
    ],
)
def test_triangle_by_hand(order, origin, direction, distance):
    found = raycast_triangle(Ray(origin, direction), Triangle(*FLOOR[list(order)]))
    assert found == (distance if distance is None else pytest.approx(distance, rel=1e-15))


@pytest.mark.parametrize(
    ("corners", "origin", "distance"),
    [
        ([(1, 0, 0), (1, 0, 4), (1, 0, 2)], (1, 3, 1), 3),  # a segment
        ([(1, 0, 0), (1, 0, 4), (1, 0, 4)], (1, 3, 4), 3),
        ([(1, 0, 0), (1, 0, 4), (1, 0, 2)], (1, 3, 5), None),
        ([(1, 0, 0), (1, 0, 4), (1, 0, 2)], (2, 3, 1), None),
        ([(1, 0, 0), (1, -2, 0), (1, 1, 0)], (1, 3, 0), 2),  # an upright one
        ([(1, 4, 0), (1, -2, 0), (1, 1, 0)], (1, 3, 0), 0),
        ([(1, 4, 0), (1, 5, 0), (1, 6, 0)], (1, 3, 0), None),
        ([(1, 1, 0)] * 3, (1, 3, 0), 2),  # a point
        ([(1, 1, 0)] * 3, (1, 1, 0), 0),
        ([(1, 1, 0)] * 3, (2, 3, 0), None),
        ([(1, 4, 0)] * 3, (1, 3, 0), None),
    ],
)
def test_triangle_without_area(corners, origin, distance):
    for order in permutations(corners):
        assert raycast_triangle(Ray(origin, (0, -1, 0)), Triangle(*order)) == distance


BALL = Sphere((0, 1, 0), 1)
BOX = AABB((0, 0, 0), (1, 1, 1))
TURNED = OBB((0, 0, 0), (1, 1, 1), glm.quat(glm.vec3(0, 0, np.pi / 4)))
PILL = Capsule((-2, 0, 0), (2, 0, 0), 1)


@pytest.mark.parametrize(
    ("shape", "origin", "direction", "distance"),
    [
        (BALL, (-1e6, 0, 0), (1, 0, 0), 1e6),  # grazing, from far
        (BALL, (-1e6, -1e-9, 0), (1, 0, 0), None),
        (BALL, (0, 1, 0), (0, 1, 0), 0),
        (BALL, (0, 2, 0), (0, 1, 0), 0),  # on the border
        (BALL, (0, 2.5, 0), (0, 1, 0), None),
        (Sphere((0, 0, 0), 0), (-3, 0, 0), (1, 0, 0), 3),
        (BOX, (0, 0, -5), (-0.0, 0, 1), 5),  # along an edge
        (BOX, (1, 1, 5), (-0.0, -0.0, -1), 4),
        (BOX, (0.5, 0.5, 0.5), (-0.0, 0, 1), 0),
        (BOX, (1, 1, 1), (1, 1, 1), 0),  # from a corner, away
        (BOX, (-1, 2, 0.5), (1, -1, 0), 2**0.5),  # at an edge
        (BOX, (1.5, 0.5, 0.5), (1, 0, 0), None),
        (BOX, (1.5, 0.5, 0.5), (0, 0, 1), None),
        (AABB((0, 1, 0), (4, 1, 4)), (1, 5, 1), (0, -1, 0), 4),  # flat
        (TURNED, (-5, 0, 0), (1, 0, 0), 5 - 2**0.5),
        (TURNED, (-5, 1.5, 0), (1, 0, 0), None),
        (PILL, (0, 5, 0), (0, -1, 0), 4),
        (PILL, (2, 5, 0), (0, -1, 0), 4),  # at the seam
        (PILL, (-9, 0, 0), (1, 0, 0), 6),  # along the axis
        (PILL, (-9, 1, 0), (1, 0, 0), 7),  # along the side
        (PILL, (-9, 1.001, 0), (1, 0, 0), None),
        (PILL, (1, 0.5, 0), (0, 1, 0), 0),
        (PILL, (3, 0, 0), (1, 0, 0), 0),
        (PILL, (3.5, 0, 0), (1, 0, 0), None),
        (PILL, (2.002, 5, 0), (0, -1, 0), 5 - (1 - 0.002**2) ** 0.5),  # just past it
        (PILL, (0, 5, 0), (0, 1, 0), None),  # behind the ray
        (Capsule((-1e6, 0, 0), (1e6, 0, 0), 1), (0, 10, 0), (1e4, -1, 0), 9 * (1e8 + 1) ** 0.5),
        (PILL, (0, 1, -1e6), (0, 0, 1), 1e6),  # grazing, from far
        (Capsule((0, 0, 0), (0, 0, 0), 1), (0, 0, 4), (0, 0, -1), 3),
    ],
)
def test_solids_by_hand(shape, origin, direction, distance):
    found = raycast(Ray(origin, direction), shape)
    assert found == (distance if distance is None else pytest.approx(distance, rel=1e-7))
    assert str(found)[0] != "-"


def test_pairs_are_rows():
    """One pair and a batch agree; one row serves for all."""
    rng = np.random.default_rng(3)
    origins, ways = rng.normal(size=(50, 3)), rng.normal(size=(50, 3))
    centers, sizes = rng.normal(size=(50, 3)), rng.uniform(0.1, 1, (50, 3))
    corners = rng.normal(size=(50, 3, 3))
    turns = np.stack([strategies.rotation_from(rng.normal(size=4)) for _ in range(50)])
    rays = [Ray(*ray) for ray in zip(origins, ways, strict=True)]
    by_corner = [*corners.transpose(1, 0, 2)]
    spheres, pills = np.c_[centers, sizes[:, 0]], np.c_[centers, corners[:, 0], sizes[:, 0]]
    cases: list[tuple[Any, ...]] = [
        (raycast_triangle, Triangle, by_corner, tp.rows.raycast_triangle, [corners]),
        (raycast_sphere, Sphere, [centers, sizes[:, 0]], tp.rows.raycast_sphere, [spheres]),
        (
            raycast_aabb,
            AABB,
            [centers, centers + sizes],
            tp.rows.raycast_aabb,
            [centers, centers + sizes],
        ),
        (raycast_obb, OBB, [centers, sizes, turns], tp.rows.raycast_obb, [centers, sizes, turns]),
        (
            raycast_capsule,
            Capsule,
            [centers, corners[:, 0], sizes[:, 0]],
            tp.rows.raycast_capsule,
            [pills],
        ),
    ]  # fmt: skip
    for one, shape, parts, many, arrays in cases:
        rows = many(origins, ways, *arrays)
        shapes = [shape(*part) for part in zip(*parts, strict=True)]
        found = [one(ray, each) for ray, each in zip(rays, shapes, strict=True)]
        np.testing.assert_allclose(
            rows, [np.nan if d is None else d for d in found], rtol=1e-12, atol=1e-14
        )
        assert found == [raycast(ray, each) for ray, each in zip(rays, shapes, strict=True)]
        assert 2 < np.isnan(rows).sum() < 50
        np.testing.assert_array_equal(
            many(origins[:1], ways[:1], *arrays)[7],
            many(origins[:1], ways[:1], *[array[7:8] for array in arrays])[0],
        )
        np.testing.assert_array_equal(
            many(origins, ways * 8.0, *arrays), rows, "the length of a direction changed a bit"
        )
    flat = tp.rows.raycast_triangle(origins, ways, corners.reshape(50, 9))
    np.testing.assert_array_equal(flat, tp.rows.raycast_triangle(origins, ways, corners))
    assert tp.rows.raycast_sphere(np.empty((0, 3)), [(0, 0, 1)], spheres[:1]).shape == (0,)


def test_bad_input():
    ray = Ray((0, 0, 0), (0, 0, 1))
    one, way = [(0, 0, 0)], [(0, 0, 1)]
    with pytest.raises(TypeError, match=r"shape must be one of AABB, Capsule, OBB, Sphere, Tri"):
        raycast(ray, Plane((0, 0, 0), (0, 1, 0)))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"ray must be a Ray, got"):
        raycast((0, 0, 0), Sphere((0, 0, 0), 1))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"sphere must be a Sphere, got"):
        raycast_sphere(ray, BOX)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"directions\[1\] must not be zero"):
        tp.rows.raycast_sphere(one, [(0, 0, 1), (0, -0.0, 0)], [(0, 0, 0, 1)])
    with pytest.raises(ValueError, match=r"radius must be >= 0, got -1.0 in spheres\[0\]"):
        tp.rows.raycast_sphere(one, way, [(0, 0, 0, -1)])
    with pytest.raises(ValueError, match=r"radius must be >= 0, got -2.0 in capsules\[1\]"):
        tp.rows.raycast_capsule(one, way, [(0, 0, 0, 0, 0, 0, 1), (0, 0, 0, 0, 0, 0, -2)])
    with pytest.raises(ValueError, match=r"lowers must be <= uppers, got 2.0 > 1.0 at \[1, 1\]"):
        tp.rows.raycast_aabb(one, way, [(0, 0, 0), (0, 2, 0)], [(1, 1, 1)])
    with pytest.raises(
        ValueError, match=r"half extent must be >= 0, got -1.0 in half_extents\[0\]"
    ):
        tp.rows.raycast_obb(one, way, one, [(1, -1, 1)], [np.eye(3)])
    with pytest.raises(ValueError, match=r"origins must be finite, got nan"):
        tp.rows.raycast_triangle([(0, np.nan, 0)], way, [FLOOR])
    with pytest.raises(ValueError, match=r"same number of rows or one, but origins has 2"):
        tp.rows.raycast_triangle([(0, 0, 0)] * 2, way, [FLOOR] * 3)


def test_oracle_scale_is_exact():
    """The oracle takes directions of any length."""
    way = vector((0, 0, 2))
    assert oracle_rays.sphere(vector((0, 0, -5)), way, vector((0, 0, 0)), Fraction(1)) == 4
    assert oracle_rays.capsule(
        vector((0, 5, 0)), scale(vector((0, -1, 0)), 3), vector((-1, 0, 0)), vector((1, 0, 0)),
        Fraction(1),
    ) == 4  # fmt: skip
