"""Shapes that move over a height map: where they first touch it, and what does not stop them."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyglm import glm

from terrain_physics import (
    OBB,
    Boxes,
    Capsule,
    Capsules,
    HeightMap,
    Ray,
    Sphere,
)
from terrain_physics.surface.results import SweepHit
from tests.helpers.examples import examples
from tests.helpers.heightmaps import both, coordinates, maps
from tests.helpers.surfaces import surface_touch
from tests.oracles.sweeps import (
    distance_of_axis,
    distance_to_triangle,
    first_approach,
    nearest_approach,
)

pytestmark = pytest.mark.kernels

RIDGES = np.array(
    [[0, 0, 0, 0, 0], [0, 2, 0, 3, 0], [0, 2, 0, 1, 0], [0, 1, 0, 2, 0], [0, 0, 0, 0, 0]],
    dtype=float,
)


Shape = Sphere | Capsule | OBB


def touch_of(land: HeightMap, shape: Shape, motion: Any) -> SweepHit:
    """Return the touch of a shape that must touch."""
    hit = land.sweep(shape, motion)
    assert hit is not None
    return hit


def shapes_at(center: Any, size: float = 0.5) -> list[Shape]:
    """Return a sphere, two capsules and two boxes around a center, ``size`` high above its foot."""
    x, y, z = center
    half = size / 2.0
    return [
        Sphere(center, size),
        Capsule((x, y - half, z), (x, y + half, z), half),
        Capsule((x - 0.2, y, z), (x + 0.2, y, z), size),
        OBB(center, (0.3, size, 0.4)),
        OBB(center, (0.3, size, 0.4), glm.quat(glm.vec3(0, 0.7, 0))),
    ]


def brute_force(case, shape, motion):
    """Return (travel of the first touch of any triangle, touches at the start, tolerances)."""
    motion = np.asarray(motion, dtype=float)
    length = float(np.linalg.norm(motion))
    direction = motion / length
    if isinstance(shape, Sphere):
        middle, half_axis, radius = np.array(shape.center64), None, shape.radius
    else:
        ends = np.array([shape.a64, shape.b64])
        middle, half_axis, radius = ends.mean(axis=0), (ends[1] - ends[0]) / 2.0, shape.radius
    reach = radius + (0.0 if half_axis is None else float(np.linalg.norm(half_axis)))
    first, at_start = math.inf, False
    for cell in case.oracle.cells(case.window):
        for piece in cell:
            triangle = np.array([piece.a, piece.b, piece.c]) - middle
            low, high = triangle.min(axis=0), triangle.max(axis=0)
            if (np.minimum(motion, 0.0) - reach > high).any():
                continue
            if (np.maximum(motion, 0.0) + reach < low).any():
                continue

            def distance(travels, triangle=triangle):
                places = travels[:, np.newaxis] * direction
                if half_axis is None:
                    return distance_to_triangle(places, triangle)
                return distance_of_axis(places, half_axis, triangle)

            at_start |= bool(distance(np.zeros(1))[0] <= radius + 1e-9)
            nearest, least = nearest_approach(distance, length)
            if least < radius:
                first = min(first, first_approach(distance, radius, nearest))
    return first, at_start


@st.composite
def sweeps(draw, case):
    """Return a sphere or capsule near the ground, and a motion of up to three cells."""
    x, z = draw(coordinates(case, 0)), draw(coordinates(case, 2))
    ground = case.land.height_at(x, z)
    y = (0.0 if math.isnan(ground) else ground) + draw(st.sampled_from([0.5, 1.0, 2.0, -1.5]))
    radius = draw(st.sampled_from([0.1, 0.4, 0.9]))
    motion = np.array([draw(st.floats(-1.0, 1.0)) for _ in range(3)])
    motion *= draw(st.sampled_from([0.5, 3.0]))
    if np.linalg.norm(motion) < 1e-3:
        motion = np.array([0.0, -1.0, 0.0])
    if draw(st.booleans()):
        return Sphere((x, y, z), radius), motion
    way = np.array([draw(st.floats(-0.5, 0.5)) for _ in range(3)])
    return Capsule((x, y, z), np.add((x, y, z), way), radius), motion


@examples(40)
@given(st.data(), maps(exact=True))
def test_the_first_touch_is_that_of_all_triangles(data, case):
    if min(case.oracle.cell_size) < 0.5 or abs(case.oracle.origin[0]) > 1e5:
        return
    shape, motion = data.draw(sweeps(case))
    hit = surface_touch(case.land, shape, motion)
    first, at_start = brute_force(case, shape, motion)
    if at_start:
        return
    length = float(np.linalg.norm(motion))
    if hit is None:
        # A touch that only grazes is none.
        assert first == math.inf or first > length - 1e-3
        return
    assert hit.distance == pytest.approx(first, abs=1e-4)
    assert hit.fraction == pytest.approx(hit.distance / length, abs=1e-12)
    assert glm.dot(hit.normal, glm.vec3(motion)) < 0.0


def test_falling_on_level_ground_touches_it_where_it_is():
    for origin in ((0, 0, 0), (1e6, 512, -1e6)):
        land = HeightMap(np.zeros((20, 30)), origin=origin, materials=np.full((19, 29), 7))
        for dx, dz in ((5.0, 5.0), (5.25, 6.75), (0.0, 0.0), (-40.0, 90.0), (29.0, 19.0)):
            center = np.add(origin, (dx, 3.0, dz))
            for shape in shapes_at(center):
                hit = touch_of(land, shape, (0.25, -5, 0.125))
                assert hit.fraction == pytest.approx(0.5, abs=1e-9)
                assert tuple(hit.normal) == pytest.approx((0, 1, 0), abs=1e-9)
                assert hit.point.y == pytest.approx(origin[1], abs=1e-9)
                assert hit.material == 7
                middle = np.add(center, (0.125, 0.0, 0.0625))
                many = land.sweep_many([shape], [(0.25, -5, 0.125)])
                assert np.abs(many.point[0] - middle)[[0, 2]].max() < 0.6


def test_nothing_that_slides_on_level_ground_is_stopped():
    """Not by the ground, nor by the edges of its triangles: exactly on it, or in it by a hair."""
    rng = np.random.default_rng(1)
    for diagonal in ("a-c", "b-d", "alternating"):
        land = HeightMap(np.zeros((20, 30)), diagonal=diagonal)
        for gap in (0.0, 1e-12, -1e-12, 1e-9, -1e-9, -1e-6, -1e-3, -0.05):
            for _ in range(6):
                angle = rng.uniform(0, 2 * math.pi)
                motion = (7.0 * math.cos(angle), 0.0, 7.0 * math.sin(angle))
                center = (rng.uniform(8, 20), 0.5 + gap, rng.uniform(8, 11))
                for shape in shapes_at(center):
                    assert land.sweep(shape, motion) is None, (gap, shape, motion)
                    assert land.sweep(shape, (1.0, 0.0, 0.0)) is None
                    assert land.sweep(shape, (0.0, 0.0, -1.0)) is None


def test_nothing_that_slides_along_a_slope_is_stopped():
    rows, columns = np.mgrid[0:20, 0:30]
    land = HeightMap(0.3 * columns + 0.1 * rows)
    normal = np.array([-0.3, 1.0, -0.1]) / math.sqrt(1.1)
    rng = np.random.default_rng(2)
    for _ in range(20):
        x, z = rng.uniform(8, 20), rng.uniform(8, 11)
        foot = np.array([x, 0.3 * x + 0.1 * z, z])
        motion = np.cross(normal, rng.normal(size=3)) * 3.0
        for gap in (0.0, 1e-9, -1e-9, -1e-4):
            for kind in (float, np.float32):
                way = motion.astype(kind)
                assert land.sweep(Sphere(foot + (0.5 + gap) * normal, 0.5), way) is None
        down = motion - 0.01 * normal
        hit = touch_of(land, Sphere(foot + 0.5 * normal, 0.5), down)
        assert hit.fraction == pytest.approx(0.0, abs=1e-4)  # heights are float32


@pytest.mark.parametrize("gap", [0.0, 1e-9, -1e-9, -1e-6, -1e-3])
def test_a_slope_ahead_stops_what_slides(gap):
    """Also what is in the level ground by a hair: it must not slip through the slope's edge."""
    columns = np.arange(40.0)
    heights = np.tile(np.maximum(columns - 20.0, 0.0), (20, 1))
    for diagonal in ("a-c", "b-d"):
        land = HeightMap(heights, diagonal=diagonal)
        for z in (8.0, 8.3):
            for shape in shapes_at((15.0, 0.5 + gap, z)):
                hit = land.sweep(shape, (10.0, 0.0, 0.0))
                assert hit is not None, shape
                assert 3.0 < hit.distance < 5.6
                assert hit.normal.x < -0.5


def test_a_ridge_and_a_cliff():
    heights = np.zeros((9, 9))
    heights[:, 4] = 2.0
    land = HeightMap(heights)
    hit = touch_of(land, Sphere((4.0, 5.0, 4.5), 1.0), (0, -4, 0))
    assert hit.fraction == pytest.approx(0.5, abs=1e-9)
    assert tuple(hit.normal) == pytest.approx((0, 1, 0), abs=1e-6)
    hit = touch_of(land, OBB((1.0, 1.5, 4.5), (0.5, 0.5, 0.5)), (4.0, 0.0, 0.0))
    assert hit.normal.x < -0.5
    assert hit.point.y == pytest.approx(1.0, abs=1e-6)
    assert land.sweep(Sphere((1.0, 3.0001, 4.5), 1.0), (7, 0, 0)) is None
    assert land.sweep(Sphere((1.0, 2.99, 4.5), 1.0), (7, 0, 0)) is not None


def test_through_holes_and_over_open_borders():
    holes = np.zeros((9, 9), dtype=bool)
    holes[3:6, 3:6] = True
    land = HeightMap(np.zeros((10, 10)), holes=holes, border="open")
    assert land.sweep(Sphere((4.5, 3, 4.5), 1.0), (0, -9, 0)) is None
    hit = touch_of(land, Sphere((4.5, 3, 4.5), 1.7), (0, -9, 0))  # hangs on the rim
    assert hit.distance == pytest.approx(3 - math.sqrt(1.7**2 - 1.5**2), abs=1e-9)
    assert land.sweep(Sphere((-1.01, 3, 4.5), 1.0), (0, -9, 0)) is None
    assert touch_of(land, Sphere((-0.6, 3, 4.5), 1.0), (0, -9, 0)).distance == pytest.approx(2.2)
    # A rim is a wall for what comes from the side, below the surface's level.
    hit = touch_of(land, OBB((4.5, 0.0, 4.5), (0.5, 0.5, 0.5)), (4, 0, 0))
    assert hit.normal == glm.vec3(-1, 0, 0)
    assert hit.distance == pytest.approx(1.0)
    hit = touch_of(land, OBB((-5, 0.1, 4.5), (0.5, 0.5, 0.5)), (9, 0, 0))
    assert hit.distance == pytest.approx(4.5)


@pytest.mark.parametrize("length", [1e-6, 1.0, 1e3, 1e6])
def test_ways_of_any_length(length):
    land = HeightMap(np.zeros((4, 4)))
    for shape in shapes_at((1.5, 0.5 + length / 2, 1.5)):
        hit = touch_of(land, shape, (0.5 * length, -length, 0.2 * length))
        assert hit.fraction == pytest.approx(0.5, abs=1e-9)
        assert tuple(hit.normal) == pytest.approx((0, 1, 0), abs=1e-6)


def test_far_outside_the_ground_is_that_of_the_border():
    rows, _ = np.mgrid[0:9, 0:7]
    land = HeightMap(1.0 * rows)
    for far in (1e2, 1e5):
        hit = touch_of(land, Sphere((-far, 4.0 + math.sqrt(2.0), 2.0), 1.0), (0, 0, 9))
        assert hit.distance == pytest.approx(2.0, abs=1e-9 * far)
        assert hit.triangle == -1
        way = (far / 2, 0, 2.0)
        hit = touch_of(land, Sphere((-far, 4.0 + math.sqrt(2.0), 3.0), 1.0), way)
        assert hit.fraction == pytest.approx(0.5, abs=1e-9)


@pytest.mark.parametrize("columns", [30, 200])
def test_long_ways_lose_no_touch(columns):
    """One long way, or the same in short pieces: the same touch."""
    case = both(np.random.default_rng(3).normal(size=(70, columns)).cumsum(axis=1))
    rng = np.random.default_rng(4)
    for _ in range(25):
        x, z = rng.uniform(0, columns - 1), rng.uniform(0, 69)
        start = np.array([x, case.land.height_at(x, z) + 2.5, z])
        motion = rng.normal(size=3) * (40.0, 4.0, 40.0)
        for shape in shapes_at((0.0, 0.0, 0.0), 0.4)[:4:3]:
            whole = case.land.sweep_many([moved(shape, start)], [motion])
            pieces = [moved(shape, start + motion * (k / 64)) for k in range(64)]
            parts = case.land.sweep_many(pieces, [motion / 64])
            touches = np.flatnonzero(~np.isnan(parts.fraction))
            assert math.isnan(whole.fraction[0]) == (touches.size == 0)
            if touches.size:
                k = touches[0]
                fraction = (k + parts.fraction[k]) / 64
                assert whole.fraction[0] == pytest.approx(fraction, abs=1e-7)


def moved(shape, by):
    if isinstance(shape, Sphere):
        return Sphere(np.add(shape.center64, by), shape.radius)
    return OBB(np.add(shape.center64, by), shape.half_extents64)


def test_arrays_are_shapes_one_by_one():
    land = HeightMap(RIDGES, materials=np.arange(16, dtype=np.uint8).reshape(4, 4))
    rng = np.random.default_rng(7)
    count = 40
    centers = rng.uniform((0, 1, 0), (4, 4, 4), (count, 3))
    motions = rng.normal(size=(count, 3)) * 2.0
    spheres = [Sphere(c, 0.3) for c in centers]
    capsules = [Capsule(c, np.add(c, (0.1, 0.4, 0.2)), 0.2) for c in centers]
    turn = glm.mat3_cast(glm.quat(glm.vec3(0.3, 0.7, 0.1)))
    boxes = [OBB(c, (0.2, 0.3, 0.1), turn) for c in centers]
    rows = np.array([(*s.center64, 0.3) for s in spheres])
    ends = np.array([(*c.a64, *c.b64, 0.2) for c in capsules])
    rotation = [np.array(boxes[0].rotation64).reshape(3, 3)]
    answers: list[tuple[Any, Any]] = [
        (spheres, land.sweep_many(rows, motions)),
        (capsules, land.sweep_many(Capsules(ends), motions)),
        (boxes, land.sweep_many(Boxes(centers, [(0.2, 0.3, 0.1)], rotation), motions)),
    ]
    for shapes, hits in answers:
        many = land.sweep_many(shapes, motions)
        for name in hits._fields:
            # A rotation is made orthonormal once more.
            one, other = getattr(hits, name), getattr(many, name)
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
        assert np.isnan(many.fraction).any()
        for i, shape in enumerate(shapes):
            hit = land.sweep(shape, motions[i])
            assert (hit is None) == math.isnan(many.fraction[i])
            if hit is not None:
                assert (hit.fraction, hit.distance) == (many.fraction[i], many.distance[i])
                assert (hit.triangle, hit.material) == (many.triangle[i], many.material[i])
                assert hit.normal == glm.vec3(many.normal[i])
                assert hit.point == glm.vec3(many.point[i])
    everything = np.repeat(rows, 100, axis=0)
    one = land.sweep_many(everything, np.repeat(motions, 100, axis=0), threads=1)
    two = land.sweep_many(everything, np.repeat(motions, 100, axis=0), threads=3)
    for name in one._fields:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_no_motion_and_no_shapes():
    land = HeightMap(RIDGES)
    assert land.sweep(Sphere((1, 0, 1), 1.0), (0, 0, 0)) is None
    assert len(land.sweep_many([], np.zeros((0, 3))).fraction) == 0
    assert len(land.sweep_many(np.zeros((0, 4)), [(0, 1, 0)]).normal) == 0


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: m.sweep(Ray((0, 0, 0), (1, 1, 1)), (0, 1, 0)), TypeError, "shape must be a Sp"),
        (lambda m: m.sweep(Sphere((0, 0, 0), 1), (0, math.nan, 0)), ValueError, "motion.y must be"),
        (
            lambda m: m.sweep_many([(0, 0, 0, -1)], [(0, 1, 0)]),
            ValueError,
            "radius must be >= 0",
        ),
        (
            lambda m: m.sweep_many(Capsules([(0,) * 6]), [(0, 1, 0)]),
            ValueError,
            "rows must have sha",
        ),
        (
            lambda m: m.sweep_many(Boxes([(0, 0, 0)], [(1, -1, 1)], [np.eye(3)]), [(0, 1, 0)]),
            ValueError,
            "half extent must be >= 0",
        ),
        (
            lambda m: m.sweep_many(np.ones((2, 4)), np.ones((3, 3))),
            ValueError,
            "the same number of rows",
        ),
        (
            lambda m: m.sweep_many([Sphere((0, 0, 0), 1), OBB((0, 0, 0), (1, 1, 1))], [(0, 1, 0)]),
            TypeError,
            r"shapes must be of one kind, got Sphere and, at \[1\]",
        ),
        (
            lambda m: m.sweep_many(np.ones((2, 3)), [(0, 1, 0)]),
            ValueError,
            r"shapes must have shape \(n, 4\), got \(2, 3\)",
        ),
    ],
)
def test_bad_input_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(HeightMap(RIDGES))
