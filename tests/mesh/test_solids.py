"""Boxes, cylinders, spheres, stairs and ramps: where their corners are, closed, fronts outside."""

import itertools
import math
from typing import Any, NamedTuple

import numpy as np
import pytest

from terrain_physics import CapsuleCollider, CharacterMovement, TriangleMesh


class Case(NamedTuple):
    mesh: TriangleMesh
    volume: float
    area: float
    faces: int


def _cylinder(radius, height, sections):
    turn = 2 * math.pi / sections
    base = 0.5 * sections * radius**2 * math.sin(turn)
    around = 2 * sections * radius * math.sin(turn / 2) * height
    mesh = TriangleMesh.cylinder(radius, height, sections=sections)
    return Case(mesh, base * height, 2 * base + around, 4 * sections - 4)


def _stairs(width, rise, tread, steps):
    side = rise * tread * steps * (steps + 1) / 2
    front_and_top, back_and_floor = steps * (rise + tread), steps * (rise + tread)
    area = 2 * side + width * (front_and_top + back_and_floor)
    mesh = TriangleMesh.stairs(width, rise, tread, steps)
    return Case(mesh, side * width, area, 12 * steps)


def _ramp(width, height, length):
    side = 0.5 * height * length
    area = 2 * side + width * (height + length + math.hypot(height, length))
    return Case(TriangleMesh.ramp(width, height, length), side * width, area, 8)


def _icosahedron(radius):
    edge = radius / math.sin(2 * math.pi / 5)
    volume = 5 / 12 * (3 + math.sqrt(5)) * edge**3
    mesh = TriangleMesh.sphere(radius, subdivisions=0)
    return Case(mesh, volume, 5 * math.sqrt(3) * edge**2, 20)


def _divided(radius, times):
    """Cut the faces of the icosahedron flat, in a loop, and put the corners on the sphere."""
    triangles = TriangleMesh.sphere(1.0, subdivisions=0).vertices
    triangles = triangles[TriangleMesh.sphere(1.0, subdivisions=0).faces]
    for _ in range(times):
        parts = []
        for a, b, c in triangles:
            ab, bc, ca = ((p + q) / np.linalg.norm(p + q) for p, q in ((a, b), (b, c), (c, a)))
            parts += [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        triangles = np.array(parts)
    a, b, c = radius * triangles.transpose(1, 0, 2)
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2
    mesh = TriangleMesh.sphere(radius, subdivisions=times)
    return Case(mesh, np.sum(a * np.cross(b, c)) / 6, area, len(triangles))


CASES = {
    "box": Case(TriangleMesh.box((1, 2, 3)), 6.0, 22.0, 12),
    "thin box": Case(TriangleMesh.box((1e-3, 50, 1e3)), 50.0, 100_002.1, 12),
    "cylinder": _cylinder(0.7, 3.0, 32),
    "three sides": _cylinder(2.0, 0.1, 3),
    "1,001 sides": _cylinder(5.0, 1.0, 1001),
    "icosahedron": _icosahedron(0.7),
    "sphere": _divided(2.5, 3),
    "flight": _stairs(2.0, 0.25, 0.5, 8),
    "one step": _stairs(1.0, 0.2, 0.3, 1),
    "two steps": _stairs(1.0, 0.2, 0.3, 2),
    "300 steps": _stairs(3.0, 0.17, 0.29, 300),
    "ramp": _ramp(2.0, 1.0, 4.0),
    "steep ramp": _ramp(0.1, 30.0, 2.0),
}


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


def test_volume_area_and_number_of_faces(case):
    a, b, c = case.mesh.vertices[case.mesh.faces].transpose(1, 0, 2)
    # Positive only if fronts are outside: the pyramids from the origin to each face.
    assert np.sum(a * np.cross(b, c)) / 6 == pytest.approx(case.volume, rel=1e-9)
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2
    assert areas.sum() == pytest.approx(case.area, rel=1e-9)
    assert areas.min() > 1e-12 * case.area
    assert len(case.mesh) == case.faces


def test_closed_each_edge_once_each_way(case):
    assert (case.mesh.neighbors.across >= 0).all()
    starts, ends = case.mesh.faces.ravel(), np.roll(case.mesh.faces, -1, axis=1).ravel()
    edges = set(zip(starts.tolist(), ends.tolist(), strict=True))
    assert len(edges) == 3 * len(case.mesh)
    assert edges == {(end, start) for start, end in edges}


def test_vertices_are_shared_and_used(case):
    count = len(case.mesh.vertices)
    assert case.mesh.neighbors.welded.tolist() == list(range(count))
    assert np.unique(case.mesh.faces).tolist() == list(range(count))


def test_no_face_meets_another_but_at_edges(case):
    assert case.mesh.self_intersections().tolist() == []


def places(mesh):
    return sorted(map(tuple, mesh.vertices.tolist()))


def test_corners_of_a_box():
    expected = itertools.product((-0.5, 0.5), (-1.0, 1.0), (-1.5, 1.5))
    assert places(TriangleMesh.box((1, 2, 3))) == sorted(expected)


def test_corners_of_a_ramp():
    expected = [(x, y, z) for x, y in ((0, 0), (4, 0), (4, 1)) for z in (-1, 1)]
    assert places(TriangleMesh.ramp(width=2, height=1, length=4)) == sorted(expected)


def test_corners_of_stairs():
    floor = [(0, 0), (0.5, 0), (1, 0)]
    profile = [(0, 0.25), (0.5, 0.25), (0.5, 0.5), (1, 0.5)]
    expected = [(x, y, z) for x, y in floor + profile for z in (-1, 1)]
    mesh = TriangleMesh.stairs(width=2, rise=0.25, tread=0.5, steps=2)
    assert places(mesh) == sorted(expected)


def test_quarters_of_a_cylinder_are_exact():
    mesh = TriangleMesh.cylinder(3, 2, sections=4)
    expected = [(x, y, z) for x, z in ((3, 0), (0, 3), (-3, 0), (0, -3)) for y in (-1, 1)]
    assert places(mesh) == sorted(expected)
    assert mesh.vertices[0].tolist() == [3, -1, 0]


@pytest.mark.parametrize("sections", [3, 7, 32, 1001])
def test_corners_of_a_cylinder_are_on_the_circle(sections):
    x, y, z = TriangleMesh.cylinder(2.5, 1, sections=sections).vertices.T
    np.testing.assert_allclose(np.hypot(x, z), 2.5, rtol=1e-11)
    assert set(y.tolist()) == {-0.5, 0.5}
    turns = np.sort(np.arctan2(z[y > 0], x[y > 0]))
    np.testing.assert_allclose(np.diff(turns), 2 * np.pi / sections, rtol=1e-8)


@pytest.mark.parametrize("times", range(6))
def test_a_sphere(times):
    mesh = TriangleMesh.sphere(2.5, subdivisions=times)
    assert len(mesh) == 20 * 4**times
    np.testing.assert_allclose(np.linalg.norm(mesh.vertices, axis=1), 2.5, rtol=1e-15)
    lengths = np.linalg.norm(
        mesh.vertices[mesh.faces] - np.roll(mesh.vertices[mesh.faces], 1, axis=1), axis=2
    )
    assert lengths.max() < 1.2 * lengths.min()
    if times > 0:
        assert mesh.bounds.lower64 == (-2.5, -2.5, -2.5)
        assert mesh.bounds.upper64 == (2.5, 2.5, 2.5)
        assert mesh.height_at(0, 0) == 2.5


def test_heights_on_stairs_and_ramps():
    rng = np.random.default_rng(4)
    x, z = rng.uniform(0, 300 * 0.29, 500), rng.uniform(-1.5, 1.5, 500)
    flight = TriangleMesh.stairs(3, 0.17, 0.29, 300)
    np.testing.assert_allclose(flight.height_at(x, z), 0.17 * np.ceil(x / 0.29), rtol=1e-12)
    ramp = TriangleMesh.ramp(3, 7, 300 * 0.29)
    np.testing.assert_allclose(ramp.height_at(x, z), 7 * x / (300 * 0.29), rtol=1e-12)


def test_a_query_on_a_long_flight_finds_few_triangles():
    near = TriangleMesh.stairs(2, 0.2, 0.3, 1000).contacts([(300, 0.1, 1, 0.2)])
    assert 0 < len(near) < 20


ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "box": ((1, 2, 3),), "cylinder": (1, 2), "sphere": (2,), "stairs": (2, 0.25, 0.5, 4),
    "ramp": (2, 1, 4),
}  # fmt: skip


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_solid_is_put_at_a_position(name):
    make, arguments = getattr(TriangleMesh, name), ARGUMENTS[name]
    placed, moved = make(*arguments, position=(5, -6, 0.25)), make(*arguments)
    np.testing.assert_array_equal(placed.vertices, moved.vertices + np.array((5, -6, 0.25)))
    np.testing.assert_array_equal(placed.faces, moved.faces)
    for bad, message in (
        ((1, 2), "position must be three numbers"),
        ((0, 1e39, 0), "position must be below"),
        ((0, math.nan, 0), "position.y must be finite"),
    ):
        with pytest.raises(ValueError, match=message):
            make(*arguments, position=bad)
    with pytest.raises(ValueError, match="position must be left out where there is a transform"):
        make(*arguments, position=(0, 0, 0), transform=np.eye(4))


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_solid_is_put_where_the_transform_says(name):
    matrix = np.array([[0, 0, -2, 5], [0, 1, 0, 6], [1, 0.5, 0, 7], [0, 0, 0, 1]])
    make = getattr(TriangleMesh, name)
    placed, moved = make(*ARGUMENTS[name], transform=matrix), make(*ARGUMENTS[name])
    np.testing.assert_array_equal(placed.vertices, moved.transformed(matrix).vertices)
    np.testing.assert_array_equal(placed.faces, moved.transformed(matrix).faces)
    with pytest.raises(ValueError, match="transform must be affine"):
        make(*ARGUMENTS[name], transform=np.ones((4, 4)))


def test_a_subclass_makes_its_own():
    class Level(TriangleMesh):
        pass

    level = Level.merged([Level.box((1, 1, 1)), TriangleMesh.ramp(1, 1, 1)])
    assert type(level) is type(level.transformed(np.eye(4))) is Level


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: TriangleMesh.box((1, 0, 2)), ValueError, r"extents.y must be .* > 0, got 0.0"),
        (lambda: TriangleMesh.box((1, 2)), ValueError, "extents must be three numbers, got 2"),
        (lambda: TriangleMesh.box(3), TypeError, "extents must be three numbers, got 3"),
        (lambda: TriangleMesh.box((1, 1e39, 2)), ValueError, r"extents.y must be below 1e\+38 m"),
        (lambda: TriangleMesh.cylinder(-1, 2), ValueError, "radius must be .* > 0, got -1"),
        (lambda: TriangleMesh.cylinder(1, math.nan), ValueError, "height must be .*, got nan"),
        (
            lambda: TriangleMesh.cylinder(1, 2, sections=2),
            ValueError,
            "sections must be from 3 to 100000, got 2",
        ),
        (
            lambda: TriangleMesh.cylinder(1, 2, sections=8.0),  # type: ignore[arg-type]
            TypeError,
            "sections must be a whole number, got 8.0",
        ),
        (lambda: TriangleMesh.sphere(0), ValueError, "radius must be .* > 0, got 0"),
        (
            lambda: TriangleMesh.sphere(1, subdivisions=9),
            ValueError,
            "subdivisions must be from 0 to 8, got 9",
        ),
        (lambda: TriangleMesh.stairs(0, 1, 1, 2), ValueError, "width must be .* > 0, got 0"),
        (lambda: TriangleMesh.stairs(1, -0.2, 1, 2), ValueError, "rise must be .*, got -0.2"),
        (lambda: TriangleMesh.stairs(1, 1, math.inf, 2), ValueError, "tread must be .*, got inf"),
        (lambda: TriangleMesh.stairs(1, 1, 1, 0), ValueError, "steps must be from 1 to 100000"),
        (lambda: TriangleMesh.stairs(1, 1, 1, 10**9), ValueError, "steps must be from 1 to 100000"),
        (lambda: TriangleMesh.stairs(1, 1e37, 1, 40), ValueError, r"vertices must be below 1e\+38"),
        (lambda: TriangleMesh.ramp("1", 1, 1), TypeError, "width must be a number, .* got '1'"),  # type: ignore[arg-type]
        (lambda: TriangleMesh.ramp(1, 0, 1), ValueError, "height must be .* > 0, got 0"),
        (lambda: TriangleMesh.ramp(1, 1, -1), ValueError, "length must be .* > 0, got -1"),
    ],
)
def test_bad_sizes(make, error, message):
    with pytest.raises(error, match=message):
        make()


FLOOR = TriangleMesh.box((40, 1, 40), transform=[*np.eye(4)[:1], (0, 1, 0, -0.5), *np.eye(4)[2:]])


@pytest.mark.parametrize(
    "way",
    [
        TriangleMesh.stairs(width=2, rise=0.25, tread=0.4, steps=8),
        TriangleMesh.ramp(width=2, height=2, length=3.2),
    ],
    ids=["stairs", "ramp"],
)
@pytest.mark.parametrize("rate", [30, 60, 144])
def test_a_character_goes_up_to_the_landing_at_its_speed(way, rate):
    landing = TriangleMesh.box((4, 2, 2), transform=np.eye(4) + _translation(5.2, 1, 0))
    body = CapsuleCollider(0.3, 1.8)
    level = TriangleMesh.merged([FLOOR, way, landing])
    hero = CharacterMovement(level, body, position=(-1, 0.9, 0), slope_limit=math.radians(45))
    for frame in range(3 * rate):
        hero.velocity.x = 2
        result = hero.update(1 / rate)
        assert result.grounded, frame
    x, y, z = hero.position64
    assert (x, y, z) == pytest.approx((5, 2.9, 0), abs=1e-3)


def _translation(x, y, z):
    matrix = np.zeros((4, 4))
    matrix[:3, 3] = x, y, z
    return matrix
