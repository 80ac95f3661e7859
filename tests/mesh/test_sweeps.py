"""Shapes that move against a mesh: where they first touch it, and what does not stop them."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    OBB,
    Boxes,
    Capsule,
    Capsules,
    HeightMap,
    Ray,
    Sphere,
    SweepHits,
    TriangleMesh,
)
from terrain_physics._kernels.mesh.parts import Skin
from terrain_physics._kernels.mesh.sweeps import touch_of_skin
from terrain_physics._kernels.surface.shapes import NO_TURN, box_body, capsule_body, sphere_body
from terrain_physics._kernels.surface.sweep import split_motion, travel
from tests.helpers.meshes import MESHES, bumpy_sphere, grid, soup, with_flat_faces
from tests.helpers.threads import cut_finely
from tests.mesh.test_contacts import CASES, turns_of
from tests.oracles.sweeps import (
    closest_on_segments,
    distance_of_axis,
    distance_to_triangle,
    first_approach,
    nearest_approach,
)

pytestmark = pytest.mark.kernels

FIELDS = ("fraction", "distance", "normal", "point", "triangle", "material")


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


def ways_of(case, count, seed):
    """Return (size, starts, motions): aimed at faces, from near and far, and some from a face."""
    vertices, faces = case
    rng = np.random.default_rng(seed)
    size = float(np.ptp(vertices, axis=0).max())
    targets = vertices[faces[rng.integers(len(faces), size=count)]].mean(axis=1)
    lengths = size * rng.choice([0.3, 1.0, 30.0], (count, 1))
    starts = targets + lengths * rng.normal(size=(count, 3))
    starts[::4] = targets[::4]
    motions = (targets - starts) * rng.choice([0.7, 1.0, 3.0], (count, 1))
    motions[::4] = size * np.eye(3)[np.arange(len(motions[::4])) % 3]
    motions[1::5, 1] = 0.0
    return size, starts, motions


def bodies_of(case, count):
    """Return shapes and motions."""
    size, starts, motions = ways_of(case, 3 * count, 3)
    rng = np.random.default_rng(4)
    turns = turns_of(count)
    for i, (center, motion) in enumerate(zip(starts, motions, strict=True)):
        radius = size * rng.choice([0.0, 0.02, 0.1, 0.5])
        half = size * rng.uniform(0.01, 0.2, 3)
        if i % 3 == 0:
            yield Sphere(center, radius), motion
        elif i % 3 == 1:
            yield Capsule(center - half, center + half, radius), motion
        else:
            yield OBB(center, half, turns[i // 3]), motion


def described(shape):
    """Return (center, body)."""
    if isinstance(shape, Sphere):
        return np.array(shape.center64), sphere_body(shape.radius)
    if isinstance(shape, OBB):
        return np.array(shape.center64), box_body(shape.half_extents64, shape.rotation64)
    a, b = np.array(shape.a64), np.array(shape.b64)
    axis = tuple((0.5 * b - 0.5 * a).tolist())
    return 0.5 * a + 0.5 * b, capsule_body(shape.radius, axis, (0.0, 0.0, 0.0), NO_TURN)


def brute_force(mesh, shape, motion):
    """Return the first touch by asking the same kernels about every face: travel, face, normal."""
    center, body = described(shape)
    length, direction = split_motion(tuple(motion.tolist()))
    best = (math.inf, -1, (0.0, 0.0, 0.0))
    scratch = np.empty((53, 4))
    skin = Skin(0, mesh.vertices, mesh.faces, mesh.neighbors)
    for face, corners in enumerate(mesh.vertices[mesh.faces] - center):
        a, b, c = map(tuple, corners.tolist())
        along, normal = travel(body, direction, length, a, b, c, True, scratch)
        if along < math.inf:
            along, normal = touch_of_skin(skin, face, direction, a, b, c, along, normal)
        if along < best[0]:
            best = (along, face, normal)
    return best


def test_the_first_touch_is_that_of_all_triangles(case):
    vertices, faces = case
    mesh = TriangleMesh(vertices, faces)
    touched = 0
    for shape, motion in bodies_of(case, 5):
        travelled, face, normal = brute_force(mesh, shape, motion)
        hits = mesh.sweep_many([shape], [motion])
        assert hits.triangle[0] == face
        if face < 0:
            assert np.isnan([hits.distance[0], *hits.normal[0], *hits.point[0]]).all()
            continue
        touched += 1
        assert hits.distance[0] == travelled
        assert hits.normal[0].tolist() == [x + 0.0 for x in normal]
        length = float(np.linalg.norm(motion))
        assert hits.fraction[0] == pytest.approx(travelled / length, rel=1e-12)
    assert touched >= 4


@pytest.mark.parametrize("name", ["sphere", "soup", "flat"])
def test_the_first_touch_is_the_oracles(name):
    """Balls and capsules that start apart touch when they first come as near as the radius."""
    vertices, faces = MESHES[name]
    mesh = TriangleMesh(vertices, faces)
    rng = np.random.default_rng(6)
    for k in range(3):
        center = rng.normal(size=3)
        center *= 2.0 / np.linalg.norm(center)
        motion = rng.uniform(-0.5, 0.5, 3) - 2.0 * center
        half = rng.normal(size=3) * 0.15 if k % 2 else None
        shape = Sphere(center, 0.2) if half is None else Capsule(center - half, center + half, 0.2)
        length = float(np.linalg.norm(motion))
        direction, first, face = motion / length, math.inf, -1
        corners = vertices[faces] - center
        middles = corners.mean(axis=1)
        sizes = np.linalg.norm(corners - middles[:, None], axis=2).max(axis=1)
        reach = 0.2 + (0.0 if half is None else float(np.linalg.norm(half)))
        on_way = closest_on_segments(middles, np.zeros(3), motion)
        near = np.linalg.norm(middles - on_way, axis=1) <= reach + sizes
        earliest = np.where(near, middles @ direction - reach - sizes, np.inf)
        for index in np.argsort(earliest).tolist():
            if earliest[index] >= first:  # nor do those after it
                break
            triangle = corners[index]

            def distance(travels, triangle=triangle, half=half, direction=direction):
                places = travels[:, np.newaxis] * direction
                if half is None:
                    return distance_to_triangle(places, triangle)
                return distance_of_axis(places, half, triangle)

            nearest, least = nearest_approach(distance, length)
            if least < 0.2:
                begun = first_approach(distance, 0.2, nearest)
                if begun < first:
                    first, face = begun, index
        hit = mesh.sweep(shape, motion)
        if hit is None:
            assert first == math.inf
            continue
        assert hit.distance == pytest.approx(first, abs=1e-6)
        assert glm.dot(hit.normal, glm.vec3(motion)) < 0.0
        gap = distance_to_triangle(np.array([hit.point]), vertices[faces][hit.triangle])
        assert gap[0] < 1e-6
        assert face >= 0


def shapes_at(center, size=0.5):
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


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("gap", [0.0, 1e-9, -1e-9, -1e-6, -1e-3, -0.05])
def test_nothing_that_slides_on_a_level_mesh_is_stopped(side, gap):
    """Above or below it: not by the mesh, nor by the edges of its triangles."""
    mesh = TriangleMesh(*grid(np.zeros((10, 30))))
    rng = np.random.default_rng(1)
    for _ in range(3):
        angle = rng.uniform(0, 2 * math.pi)
        way = (3.0 * math.cos(angle), 0.0, 3.0 * math.sin(angle))
        center = (rng.uniform(8, 20), side * (0.5 + gap), rng.uniform(4, 5))
        for shape in shapes_at(center):
            for motion in (way, (3.0, 0.0, 0.0), (0.0, 0.0, -1.0), (1.0, side * 2.0, 0.0)):
                assert mesh.sweep(shape, motion) is None, (gap, shape, motion)
            hit = mesh.sweep(shape, (0.1, -side, 0.0))
            assert hit is not None
            assert hit.fraction == pytest.approx(max(gap, 0.0), abs=1e-12)
            assert tuple(hit.normal) == pytest.approx((0, side, 0), abs=1e-9)


@pytest.mark.parametrize("gap", [0.0, 1e-9, -1e-9, -1e-6, -1e-3])
def test_a_slope_ahead_stops_what_slides(gap):
    heights = np.tile(np.maximum(np.arange(40.0) - 20.0, 0.0), (20, 1))
    mesh = TriangleMesh(*grid(heights))
    for z in (8.0, 8.3):
        for shape in shapes_at((15.0, 0.5 + gap, z)):
            hit = mesh.sweep(shape, (10.0, 0.0, 0.0))
            assert hit is not None, shape
            assert 3.0 < hit.distance < 5.6
            assert hit.normal.x < -0.5


def test_a_map_and_its_mesh_stop_shapes_alike():
    rng = np.random.default_rng(8)
    land = HeightMap(rng.uniform(0, 2, (10, 12)).astype(np.float32), border="open")
    arrays = land.to_mesh()
    mesh = TriangleMesh(arrays.vertices, arrays.indices.astype(np.int64).reshape(-1, 3))
    count = 30
    starts = np.column_stack(
        [rng.uniform(1, 10, count), rng.uniform(3, 4, count), rng.uniform(1, 8, count)]
    )
    motions = rng.normal(size=(count, 3)) * 2.0 - [0, 3, 0]
    half, turns = np.array([(0.3, 0.5, 0.2)]), turns_of(count)
    ends = np.column_stack([starts, np.add(starts, (0.1, 0.6, 0.2)), np.full(count, 0.3)])
    balls = np.column_stack([starts, np.full(count, 0.4)])
    asked: tuple[Callable[[HeightMap | TriangleMesh], SweepHits], ...] = (
        lambda ground: ground.sweep_many(balls, motions),
        lambda ground: ground.sweep_many(Capsules(ends), motions),
        lambda ground: ground.sweep_many(Boxes(starts, half, turns), motions),
    )
    for ask in asked:
        one, two = ask(land), ask(mesh)
        assert (~np.isnan(one.fraction)).sum() > 15
        for name in ("fraction", "distance", "normal", "point"):
            np.testing.assert_allclose(getattr(one, name), getattr(two, name), atol=1e-9)
        # Where two triangles are touched at once, rounding may choose the other.
        assert (one.triangle == two.triangle).mean() > 0.7


def test_a_sheet_may_be_left_on_the_side_where_the_middle_is():
    mesh = TriangleMesh([(-9, 0, -9), (-9, 0, 27), (27, 0, -9)], [(0, 1, 2)])
    for side in (1, -1):
        for depth in (0.0, 1e-9, 1e-3, 0.3):
            y = side * (0.5 - depth)
            for shape in (*shapes_at((0, y, 0)), Capsule((0, y - 1, 0), (0, y + 1, 0), 0.1)):
                assert mesh.sweep(shape, (0.3, side, 0)) is None
                hit = mesh.sweep(shape, (0.3, -side, 0))
                assert hit is not None
                assert hit.fraction == 0.0
                assert tuple(hit.normal) == pytest.approx((0, side, 0), abs=1e-6)


def test_a_rim_is_a_wall_from_the_side():
    mesh = TriangleMesh(*grid(np.zeros((4, 4))))
    hit = mesh.sweep(Sphere((-3, 0, 1.5), 1), (4, 0, 0))
    assert hit is not None
    assert (hit.fraction, tuple(hit.normal)) == (0.5, (-1, 0, 0))
    hit = mesh.sweep(OBB((-3, 0.2, 1.5), (1, 1, 1)), (4, 0, 0))
    assert hit is not None
    assert (hit.fraction, tuple(hit.normal)) == (0.5, (-1, 0, 0))
    # One that reaches over the rim may leave it, and not go on.
    inside = Capsule((-0.5, -0.4, 1.5), (-0.5, 0.9, 1.5), 0.6)
    assert mesh.sweep(inside, (-1, 0, 0)) is None
    assert mesh.sweep(inside, (1, 0, 0)) is not None


def test_edges_of_many_faces_and_slivers_stop_what_falls():
    fan = [(0, 0, 0), (0, 0, 4), (4, 0, 0), (-4, 0, 0), (0, 4, 0), (0, 0, 2)]
    mesh = TriangleMesh(fan, [(0, 1, 2), (1, 0, 3), (0, 1, 4), (0, 5, 1)])
    for shape in shapes_at((-1.5, 2.5, 1.0)):
        hit = mesh.sweep(shape, (0, -4, 0))
        assert hit is not None
        assert hit.triangle == 1
        assert hit.fraction == pytest.approx(0.5, abs=1e-9)
        assert mesh.sweep(shape, (4, 0, 0)) is not None


@pytest.mark.parametrize("far", [0.0, 1e6])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_ways_of_any_length_and_place(far, size):
    vertices, faces = grid(np.zeros((6, 6)))
    mesh = TriangleMesh((vertices - [2.5, 0, 2.5]) * size + far, faces)
    for length in (1e-3, 1.0, 1e4):
        for shape in shapes_at((far, far + (0.5 + length / 2) * size, far), 0.5 * size):
            hit = mesh.sweep(shape, (0.5 * size, -length * size, 0.2 * size))
            assert hit is not None
            assert hit.fraction == pytest.approx(0.5, abs=1e-9 + 1e-9 * far / (length * size))
            assert tuple(hit.normal) == pytest.approx((0, 1, 0), abs=1e-6)


def test_vast_shapes_and_far_starts():
    vertices, faces = MESHES["sphere"]
    mesh = TriangleMesh(vertices, faces)
    for size in (1e3, 1e7, 1e9):
        hit = mesh.sweep(Sphere((0, 2 * size + 1, 0), size), (0, -2 * size, 0))
        assert hit is not None
        assert hit.distance == pytest.approx(size, rel=1e-9, abs=1e-6 * size**0.5)
        assert mesh.sweep(Sphere((0, 2 * size + 1, 0), size), (0, 2 * size, 0)) is None
        hit = mesh.sweep(Sphere((size, 0, 0), 0.5), (-2 * size, 0, 0))
        assert hit is not None
        assert hit.distance == pytest.approx(size - 1.5, rel=1e-12, abs=0.1)
        assert mesh.sweep(Sphere((size, 0, 0), 0.5), (-0.5 * size, 0, 0)) is None


def test_arrays_are_shapes_one_by_one():
    mesh = TriangleMesh(*with_flat_faces(bumpy_sphere(6)))
    rng = np.random.default_rng(7)
    count = 20
    centers = rng.normal(size=(count, 3)) * 1.2
    motions = rng.normal(size=(count, 3)) - centers
    balls = np.column_stack([centers, np.full(count, 0.2)])
    ends = np.column_stack([centers, np.add(centers, (0.1, 0.3, 0.2)), np.full(count, 0.1)])
    turn = turns_of(2)[1:]
    half = [(0.2, 0.3, 0.1)]
    answers: list[tuple[Any, SweepHits]] = [
        ([Sphere(row[:3], 0.2) for row in balls], mesh.sweep_many(balls, motions)),
        ([Capsule(r[:3], r[3:6], 0.1) for r in ends], mesh.sweep_many(Capsules(ends), motions)),
        (
            [OBB(center, half[0], turn[0]) for center in centers],
            mesh.sweep_many(Boxes(centers, half, turn), motions),
        ),
    ]
    for shapes, hits in answers:
        many = mesh.sweep_many(shapes, motions)
        for name in FIELDS:
            # A rotation is made orthonormal once more.
            one, other = getattr(hits, name), getattr(many, name)
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
        assert (many.triangle >= 0).sum() > 5
        for i, shape in enumerate(shapes):
            hit = mesh.sweep(shape, motions[i])
            assert (hit is None) == math.isnan(many.fraction[i])
            if hit is not None:
                assert (hit.fraction, hit.distance) == (many.fraction[i], many.distance[i])
                assert (hit.triangle, hit.material) == (many.triangle[i], 0)
                assert hit.normal == glm.vec3(many.normal[i])
                assert hit.point == glm.vec3(many.point[i])


def test_one_shape_on_many_ways_and_many_shapes_on_one():
    mesh = TriangleMesh(*MESHES["sphere"])
    ways = np.random.default_rng(1).normal(size=(300, 3))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    ball = np.array([(0.0, 0.0, 0.0, 0.3)])
    one = mesh.sweep_many(ball, 3.0 * ways)
    each = mesh.sweep_many(np.tile(ball, (300, 1)), 3.0 * ways)
    assert one.triangle.tolist() == each.triangle.tolist()
    assert (one.triangle >= 0).all()
    balls = np.column_stack([np.add(ways, (0, 3, 0)), np.full(300, 0.1)])
    many = mesh.sweep_many(balls, [(0, -3, 0)])
    for k in range(0, 300, 60):
        hit = mesh.sweep(Sphere(balls[k, :3], 0.1), (0, -3, 0))
        assert (-1 if hit is None else hit.triangle) == many.triangle[k]


def test_threads_do_not_matter(monkeypatch):
    cut_finely(monkeypatch, 5)
    mesh = TriangleMesh(*soup(np.random.default_rng(2), 150))
    rng = np.random.default_rng(3)
    balls = np.column_stack([rng.uniform(-1, 1, (40, 3)), np.full(40, 0.05)])
    motions = rng.normal(size=(40, 3))
    one, three = (mesh.sweep_many(balls, motions, threads=n) for n in (1, 3))
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(one, name), getattr(three, name))
    assert (one.triangle >= 0).sum() > 20


def test_no_motion_and_no_shapes():
    mesh = TriangleMesh(*MESHES["one"])
    assert mesh.sweep(Sphere((1, 0, 1), 1.0), (0, 0, 0)) is None
    assert len(mesh.sweep_many([], np.zeros((0, 3))).fraction) == 0
    assert len(mesh.sweep_many(np.zeros((0, 4)), [(0, 1, 0)]).normal) == 0


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: m.sweep(Ray((0, 0, 0), (1, 1, 1)), (0, 1, 0)), TypeError, "shape must be a Sp"),
        (lambda m: m.sweep(Sphere((0, 1e38, 0), 1), (0, 1, 0)), ValueError, "below 1e[+]38 m"),
        (lambda m: m.sweep(Sphere((0, 0, 0), 1), (0, math.inf, 0)), ValueError, "motion.y must be"),
        (lambda m: m.sweep_many([(0, 0, 0, -1)], [(0, 1, 0)]), ValueError, "radius must be"),
        (lambda m: m.sweep_many([(0, 1e71, 0, 1)], [(0, 1, 0)]), ValueError, "below 1e[+]38 m"),
        (
            lambda m: m.sweep_many(np.ones((2, 4)), np.ones((3, 3))),
            ValueError,
            "the same number of rows",
        ),
    ],
)
def test_bad_input_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(TriangleMesh(*MESHES["one"]))
