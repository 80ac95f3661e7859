"""Shapes that move over maps and meshes alike: what stops them, and what does not."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    OBB,
    Capsule,
    Ground,
    HeightMap,
    Sphere,
    Surface,
    SweepHit,
    TriangleMesh,
)
from tests.helpers.meshes import MESHES, grid
from tests.oracles.sweeps import closest_on_segments

pytestmark = pytest.mark.kernels

Shape = Sphere | Capsule | OBB
Heights = np.ndarray[Any, Any]


def united(heights: Heights) -> Ground:
    """Return two maps with a seam in the middle."""
    middle = heights.shape[1] // 2
    return Ground(
        [HeightMap(heights[:, : middle + 1]), HeightMap(heights[:, middle:], origin=(middle, 0, 0))]
    )


KINDS: dict[str, Callable[[Heights], Surface]] = {
    "map": HeightMap,
    "map of other diagonals": lambda heights: HeightMap(heights, diagonal="b-d"),
    "map of alternating diagonals": lambda heights: HeightMap(heights, diagonal="alternating"),
    "mesh": lambda heights: TriangleMesh(*grid(heights)),
    "united maps": united,
    "map and mesh": lambda heights: Ground(
        [HeightMap(heights), TriangleMesh.box((1, 1, 1), position=(0, -50, 0))]
    ),
}
each_kind = pytest.mark.parametrize("kind", KINDS)

GAPS = (0.0, 1e-9, -1e-9, -1e-6, -1e-3)


def touch_of(land: Surface, shape: Shape, motion: Any) -> SweepHit:
    """Return the touch of a shape that must touch."""
    hit = land.sweep(shape, motion)
    assert hit is not None, shape
    return hit


def shapes_at(center: Any, size: float = 0.5) -> list[Shape]:
    """Return a sphere, two capsules and two boxes around a center, ``size`` high above its foot."""
    x, y, z = center
    half = size / 2.0
    return [
        Sphere(center, size),
        Capsule((x, y - half, z), (x, y + half, z), half),
        Capsule((x - 0.4 * size, y, z), (x + 0.4 * size, y, z), size),
        OBB(center, (0.6 * size, size, 0.8 * size)),
        OBB(center, (0.6 * size, size, 0.8 * size), glm.quat(glm.vec3(0, 0.7, 0))),
    ]


@each_kind
def test_falling_on_level_ground_touches_it_where_it_is(kind: str) -> None:
    land = KINDS[kind](np.zeros((20, 30)))
    for x, z in ((5.0, 5.0), (5.25, 6.75), (15.0, 10.0), (28.0, 18.0)):
        for shape in shapes_at((x, 3.0, z)):
            hit = touch_of(land, shape, (0.25, -5, 0.125))
            assert hit.fraction == pytest.approx(0.5, abs=1e-9)
            assert tuple(hit.normal) == pytest.approx((0, 1, 0), abs=1e-9)
            assert hit.point.y == pytest.approx(0.0, abs=1e-9)
            assert abs(hit.point.x - x - 0.125) < 0.6
            assert abs(hit.point.z - z - 0.0625) < 0.6


@each_kind
def test_nothing_that_slides_on_level_ground_is_stopped(kind: str) -> None:
    """Not by the ground, nor by the edges of its triangles: exactly on it, or in it by a hair."""
    land, rng = KINDS[kind](np.zeros((20, 30))), np.random.default_rng(1)
    for gap in (*GAPS, 1e-12, -1e-12, -0.05):
        for _ in range(3):
            angle = rng.uniform(0, 2 * math.pi)
            way = (7.0 * math.cos(angle), 0.0, 7.0 * math.sin(angle))
            for shape in shapes_at((rng.uniform(8, 20), 0.5 + gap, rng.uniform(8, 11))):
                for motion in (way, (1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (1.0, 2.0, 0.0)):
                    assert land.sweep(shape, motion) is None, (gap, shape, motion)
                hit = touch_of(land, shape, (0.1, -1.0, 0.0))
                assert hit.fraction == pytest.approx(max(gap, 0.0), abs=1e-12)
                assert tuple(hit.normal) == pytest.approx((0, 1, 0), abs=1e-9)


@each_kind
def test_nothing_that_slides_along_a_slope_is_stopped(kind: str) -> None:
    rows, columns = np.mgrid[0:20, 0:30]
    land = KINDS[kind]((0.3 * columns + 0.1 * rows).astype(np.float32))
    normal = np.array([-0.3, 1.0, -0.1]) / math.sqrt(1.1)
    rng = np.random.default_rng(2)
    for _ in range(20):
        x, z = rng.uniform(8, 20), rng.uniform(8, 11)
        foot = np.array([x, 0.3 * x + 0.1 * z, z])
        motion = np.cross(normal, rng.normal(size=3)) * 3.0
        for gap in (0.0, 1e-9, -1e-9, -1e-4):
            for number in (float, np.float32):
                way = motion.astype(number)
                assert land.sweep(Sphere(foot + (0.5 + gap) * normal, 0.5), way) is None
        hit = touch_of(land, Sphere(foot + 0.5 * normal, 0.5), motion - 0.01 * normal)
        assert hit.fraction == pytest.approx(0.0, abs=1e-4)  # heights are float32


@pytest.mark.parametrize("gap", GAPS)
@each_kind
def test_a_slope_ahead_stops_what_slides(kind: str, gap: float) -> None:
    """Also what is in the level ground by a hair: it must not slip through the slope's edge."""
    land = KINDS[kind](np.tile(np.maximum(np.arange(40.0) - 20.0, 0.0), (20, 1)))
    for z in (8.0, 8.3):
        for shape in shapes_at((15.0, 0.5 + gap, z)):
            hit = touch_of(land, shape, (10.0, 0.0, 0.0))
            assert 3.0 < hit.distance < 5.6
            assert hit.normal.x < -0.5


@each_kind
def test_a_ridge_and_a_cliff(kind: str) -> None:
    heights = np.zeros((9, 9))
    heights[:, 4] = 2.0
    land = KINDS[kind](heights)
    hit = touch_of(land, Sphere((4.0, 5.0, 4.5), 1.0), (0, -4, 0))
    assert hit.fraction == pytest.approx(0.5, abs=1e-9)
    assert tuple(hit.normal) == pytest.approx((0, 1, 0), abs=1e-6)
    hit = touch_of(land, OBB((1.0, 1.5, 4.5), (0.5, 0.5, 0.5)), (4.0, 0.0, 0.0))
    assert hit.normal.x < -0.5
    assert hit.point.y == pytest.approx(1.0, abs=1e-6)
    assert land.sweep(Sphere((1.0, 3.0001, 4.5), 1.0), (7, 0, 0)) is None
    assert land.sweep(Sphere((1.0, 2.99, 4.5), 1.0), (7, 0, 0)) is not None


@pytest.mark.parametrize("far", [0.0, 1e6])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("is_map", [True, False])
def test_ways_of_any_length_and_place(is_map: bool, size: float, far: float) -> None:
    origin = far - 2.5 * size, far, far - 2.5 * size
    vertices, faces = grid(np.zeros((6, 6)))
    land = (
        HeightMap(np.zeros((6, 6)), cell_size=size, origin=origin)
        if is_map
        else TriangleMesh(vertices * size + origin, faces)
    )
    for length in (1e-3, 1.0, 1e4):
        for shape in shapes_at((far, far + (0.5 + length / 2) * size, far), 0.5 * size):
            hit = touch_of(land, shape, (0.5 * size, -length * size, 0.2 * size))
            assert hit.fraction == pytest.approx(0.5, abs=1e-9 + 1e-9 * far / (length * size))
            assert tuple(hit.normal) == pytest.approx((0, 1, 0), abs=1e-6)


@pytest.mark.parametrize("columns", [30, 200])
def test_long_ways_lose_no_touch(columns: int) -> None:
    """One long way, or the same in short pieces: the same touch."""
    rng = np.random.default_rng(3)
    land = HeightMap(rng.normal(size=(70, columns)).cumsum(axis=1))
    for _ in range(25):
        x, z = rng.uniform(0, columns - 1), rng.uniform(0, 69)
        start = np.array([x, land.height_at(x, z) + 2.5, z])
        motion = rng.normal(size=3) * (40.0, 4.0, 40.0)
        ways = start + motion * np.arange(64)[:, np.newaxis] / 64
        makes: list[Callable[[Any], Any]] = [
            lambda place: Sphere(place, 0.4),
            lambda place: OBB(place, (0.24, 0.4, 0.32)),
        ]
        for make in makes:
            whole = land.sweep_many([make(start)], [motion]).fraction[0]
            parts = land.sweep_many([make(place) for place in ways], [motion / 64]).fraction
            touches = np.flatnonzero(~np.isnan(parts))
            if touches.size == 0:
                assert math.isnan(whole)
            else:
                assert whole == pytest.approx((touches[0] + parts[touches[0]]) / 64, abs=1e-7)


# Maps alone


def test_through_holes_and_over_open_borders() -> None:
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


def test_far_outside_the_ground_is_that_of_the_border() -> None:
    rows, _ = np.mgrid[0:9, 0:7]
    land = HeightMap(1.0 * rows)
    for far in (1e2, 1e5):
        hit = touch_of(land, Sphere((-far, 4.0 + math.sqrt(2.0), 2.0), 1.0), (0, 0, 9))
        assert hit.distance == pytest.approx(2.0, abs=1e-9 * far)
        assert hit.triangle == -1
        way = (far / 2, 0, 2.0)
        hit = touch_of(land, Sphere((-far, 4.0 + math.sqrt(2.0), 3.0), 1.0), way)
        assert hit.fraction == pytest.approx(0.5, abs=1e-9)


def gap_to(shape: Shape, place: Heights) -> float:
    """Return how far a place is outside of a shape; negative inside."""
    if isinstance(shape, OBB):
        turned = (place - shape.center64) @ np.reshape(shape.rotation64, (3, 3))
        outside = np.abs(turned) - shape.half_extents64
        return float(np.linalg.norm(np.maximum(outside, 0.0)) + min(outside.max(), 0.0))
    ends = (shape.a64, shape.b64) if isinstance(shape, Capsule) else 2 * (shape.center64,)
    return float(np.linalg.norm(place - closest_on_segments(place, *np.array(ends))) - shape.radius)


@pytest.mark.parametrize("diagonal", ["a-c", "b-d", "alternating"])
@pytest.mark.parametrize("kind", ["level", "slope", "rough"])
def test_the_place_of_a_touch_outside_is_on_the_ground_and_on_the_shape(
    kind: str, diagonal: Any
) -> None:
    """Of surfaces from above, and of undersides from below."""
    rng, (rows, columns) = np.random.default_rng(4), np.mgrid[0:6, 0:6]
    samples = {
        "level": np.zeros((6, 6)),
        "slope": 0.3 * columns - 0.2 * rows,
        "rough": rng.uniform(-1.0, 1.0, (6, 6)),
    }[kind]
    land, seen = HeightMap(samples.astype(np.float32), diagonal=diagonal, thickness=2.0), 0
    for way in (1.0, -1.0) * 20:
        start = rng.uniform((-4.0, 3.0, -4.0), (9.0, 5.0, 9.0)) * (1.0, way, 1.0)
        start[1] -= 1.0 - way
        motion = rng.normal(size=3) * 8.0
        motion[1] = -way * (8.0 + abs(motion[1]))
        for shape in shapes_at(start):
            hit, many = touch_of(land, shape, motion), land.sweep_many([shape], [motion])
            assert hit.point == glm.vec3(many.point[0])
            assert hit.triangle == many.triangle[0]
            if hit.triangle >= 0:
                continue
            seen += 1
            x, y, z = many.point[0]
            assert y == pytest.approx(land.height_at(x, z) - (0.0 if way > 0.0 else 2.0), abs=1e-6)
            assert abs(gap_to(shape, (x, y, z) - hit.fraction * motion)) < 1e-6
    assert seen > 60


# Meshes alone


@pytest.mark.parametrize("gap", [*GAPS, -0.05, -0.3])
def test_a_sheet_may_be_left_on_the_side_where_the_middle_is(gap: float) -> None:
    """A sheet of few or of many triangles, from below as from above."""
    sheets = (
        TriangleMesh([(-9, 0, -9), (-9, 0, 27), (27, 0, -9)], [(0, 1, 2)]),
        TriangleMesh(grid(np.zeros((20, 20)))[0] - (9, 0, 9), grid(np.zeros((20, 20)))[1]),
    )
    for mesh in sheets:
        for side in (1, -1):
            y = side * (0.5 + gap)
            for shape in shapes_at((0, y, 0)):
                assert mesh.sweep(shape, (3.0, 0, 0)) is mesh.sweep(shape, (0, 0, -1)) is None
            for shape in (*shapes_at((0, y, 0)), Capsule((0, y - 1, 0), (0, y + 1, 0), 0.1)):
                assert mesh.sweep(shape, (0.3, side, 0)) is None
                hit = touch_of(mesh, shape, (0.3, -side, 0))
                assert hit.fraction == pytest.approx(0.0, abs=1e-9 + max(gap, 0.0))
                assert tuple(hit.normal) == pytest.approx((0, side, 0), abs=1e-6)


def test_a_rim_is_a_wall_from_the_side() -> None:
    mesh = TriangleMesh(*grid(np.zeros((4, 4))))
    for shape in (Sphere((-3, 0, 1.5), 1), OBB((-3, 0.2, 1.5), (1, 1, 1))):
        hit = touch_of(mesh, shape, (4, 0, 0))
        assert (hit.fraction, tuple(hit.normal)) == (0.5, (-1, 0, 0))
    # One that reaches over the rim may leave it, and not go on.
    inside = Capsule((-0.5, -0.4, 1.5), (-0.5, 0.9, 1.5), 0.6)
    assert mesh.sweep(inside, (-1, 0, 0)) is None
    assert mesh.sweep(inside, (1, 0, 0)) is not None


def test_edges_of_many_faces_and_slivers_stop_what_falls() -> None:
    fan = [(0, 0, 0), (0, 0, 4), (4, 0, 0), (-4, 0, 0), (0, 4, 0), (0, 0, 2)]
    mesh = TriangleMesh(fan, [(0, 1, 2), (1, 0, 3), (0, 1, 4), (0, 5, 1)])
    for shape in shapes_at((-1.5, 2.5, 1.0)):
        hit = touch_of(mesh, shape, (0, -4, 0))
        assert hit.triangle == 1
        assert hit.fraction == pytest.approx(0.5, abs=1e-9)
        assert mesh.sweep(shape, (4, 0, 0)) is not None


def test_vast_shapes_and_far_starts() -> None:
    mesh = TriangleMesh(*MESHES["sphere"])
    for size in (1e3, 1e7, 1e9):
        hit = touch_of(mesh, Sphere((0, 2 * size + 1, 0), size), (0, -2 * size, 0))
        assert hit.distance == pytest.approx(size, rel=1e-9, abs=1e-6 * size**0.5)
        assert mesh.sweep(Sphere((0, 2 * size + 1, 0), size), (0, 2 * size, 0)) is None
        hit = touch_of(mesh, Sphere((size, 0, 0), 0.5), (-2 * size, 0, 0))
        assert hit.distance == pytest.approx(size - 1.5, rel=1e-12, abs=0.1)
        assert mesh.sweep(Sphere((size, 0, 0), 0.5), (-0.5 * size, 0, 0)) is None
