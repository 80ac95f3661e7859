"""The interface of all grounds: the same questions and arguments, nothing internal shown."""

import copy
import inspect
import pickle
from typing import Any

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import (
    AABB,
    OBB,
    Capsule,
    Capsules,
    Contact,
    Contacts,
    Ground,
    HeightMap,
    Ray,
    Sphere,
    Surface,
    TriangleMesh,
)
from terrain_physics.surface.queries import Queries
from terrain_physics.surface.surface import queries_of
from tests.helpers.digest import digest

HEIGHTS = np.add.outer(np.sin(np.arange(9)), np.cos(np.arange(9)))


def land() -> HeightMap:
    materials = np.arange(64, dtype=np.uint8).reshape(8, 8)
    return HeightMap(HEIGHTS, holes=np.eye(8, dtype=np.bool_), materials=materials)


def mesh() -> TriangleMesh:
    whole = HeightMap(HEIGHTS).to_mesh()
    return TriangleMesh(whole.vertices + np.float32(0.5), whole.indices.reshape(-1, 3))


GROUNDS = {"map": land, "mesh": mesh, "ground": lambda: Ground([land(), mesh()])}


@pytest.fixture(params=GROUNDS)
def ground(request: pytest.FixtureRequest) -> Any:
    return GROUNDS[request.param]()


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def test_each_kind_of_ground_is_asked_through_one_class() -> None:
    for kind in (HeightMap, TriangleMesh, Ground):
        assert kind.__mro__ == (kind, Surface, object)
        assert not public(Surface).intersection(vars(kind)) - {"version"}


def test_nothing_internal_is_public() -> None:
    internal = {name for name in vars(Queries) if not name.startswith("_")}
    shared = {"triangles_in", "contacts", "contact_counts", "sweep", "closest_point"}
    shared |= {"closest_points", "contains", "signed_distance", "version"}
    for kind in (HeightMap, TriangleMesh, Ground):
        own = {HeightMap: {"heights"}, TriangleMesh: {"normals"}, Ground: set()}[kind]
        assert public(kind) & internal == shared | own
        for name in public(kind):
            assert inspect.getdoc(getattr(kind, name)), name


def test_every_question_of_queries_is_answered_by_each(ground: Any) -> None:
    assert not inspect.isabstract(type(queries_of(ground)))


def test_single_hits_are_pickled_as_plain_numbers(ground: Any) -> None:
    ball = Sphere((2.5, 3.0, 2.75), 0.5)
    touching = Sphere(ground.closest_point((2.5, 3.0, 2.75)).point, 0.5)
    for hit in (
        ground.raycast(Ray((2.6, 9, 2.4), (0, -1, 0))),
        ground.sweep(ball, (0.5, -9, 0.25)),
        ground.closest_point((2.5, 3.0, 2.75)),
        next(iter(ground.contacts(touching))),
    ):
        content = pickle.dumps(hit)
        assert b"glm" not in content
        for again in (pickle.loads(content), copy.copy(hit), copy.deepcopy(hit)):
            assert type(again) is type(hit)
            assert digest(again) == digest(hit)


def test_boxes_along_the_axes_are_boxes(ground: Any) -> None:
    level = AABB((2, 1.5, 2), (3, 4, 3.5))
    turned = OBB((2.5, 2.75, 2.75), (0.5, 1.25, 0.75))
    way = (0.5, -4, 0.25)
    one, other = ground.sweep(level, way), ground.sweep(turned, way)
    assert one == other
    assert one.fraction < 1
    assert ground.sweep_many([level, level], [way]).fraction.tolist() == [one.fraction] * 2
    touched, other_touched = ground.contacts(level), ground.contacts(turned)
    assert touched.penetration.tolist() == other_touched.penetration.tolist()


def test_contacts_and_sweeps_take_the_same_shapes(ground: Any) -> None:
    sphere, way = Sphere((3, 4, 3), 0.5), [(0, -8, 0)]
    rows = [(3, 4, 3, 0.5)]
    one = ground.sweep(sphere, way[0])
    for shapes in (sphere, [sphere], rows, np.array(rows)):
        assert ground.sweep_many(shapes, way).fraction.tolist() == [one.fraction]
        assert ground.contact_counts(shapes).tolist() == [len(ground.contacts(sphere))]


def test_a_question_for_one_is_that_for_many_to_the_last_bit(ground: Any) -> None:
    rng = np.random.default_rng(1)
    places = rng.uniform((-2, -3, -2), (10, 4, 10), (60, 3))
    ways = rng.uniform(-3, 3, (60, 3))
    x, z = places[:, 0], places[:, 2]
    heights, normals = ground.height_at(x, z), ground.normal_at(x, z)
    hits, radii = ground.raycast_many(places, ways), rng.uniform(0, 1, 60)
    swept = ground.sweep_many(np.column_stack([places, radii]), ways)
    closest = ground.closest_points(places)
    for i, (place, way) in enumerate(zip(places, ways, strict=True)):
        np.testing.assert_array_equal(ground.height_at(*place[::2].tolist()), heights[i])
        normal = ground.normal_at(*place[::2].tolist())
        np.testing.assert_array_equal(np.float32(normals[i]), np.float32(normal))
        hit = ground.raycast(Ray(place, way))
        assert (hit is None) == np.isnan(hits.distance[i])
        if hit is not None:
            assert (hit.distance, hit.triangle) == (hits.distance[i], hits.triangle[i])
        stop = ground.sweep(Sphere(place, radii[i]), way)
        assert (stop is None) == np.isnan(swept.fraction[i])
        if stop is not None:
            assert (stop.fraction, stop.triangle) == (swept.fraction[i], swept.triangle[i])
        nearest = ground.closest_point(place)
        assert (nearest.distance, nearest.triangle, nearest.material) == (
            closest.distance[i],
            closest.triangle[i],
            closest.material[i],
        )
        np.testing.assert_array_equal(np.float32(closest.point[i]), np.float32(nearest.point))
        for keep in ("all", "deepest"):
            alone = ground.contacts(Sphere(place, radii[i]), keep=keep)
            many = ground.contacts([(*place, radii[i])], keep=keep)
            assert alone.triangle.tolist() == many.triangle.tolist()
            assert alone.penetration.tolist() == many.penetration.tolist()
            assert alone.point.tolist() == many.point.tolist()


def test_the_closest_point_of_parts_is_that_of_the_nearest_part() -> None:
    ground = Ground([land(), mesh()])
    points = np.random.default_rng(2).uniform((0, -3, 0), (8, 4, 8), (200, 3))
    of_land, of_mesh = (part.closest_points(points) for part in ground.parts.values())
    found = ground.closest_points(points, threads=2)
    on_mesh = of_mesh.distance < of_land.distance
    assert 20 < on_mesh.sum() < 180
    assert (found.distance == np.minimum(of_land.distance, of_mesh.distance)).all()
    assert (ground.part_of(found.triangle)[0] == on_mesh).all()
    assert (found.material == np.where(on_mesh, 0, of_land.material)).all()


def test_no_ground_at_all_is_infinitely_far() -> None:
    nowhere = HeightMap(np.full((3, 3), np.nan), border="open", materials=np.ones((2, 2), np.uint8))
    found = nowhere.closest_points([(1, 1, 1), (0, 0, 0)])
    assert np.isinf(found.distance).all()
    assert np.isnan(found.point).all()
    assert (found.triangle.tolist(), found.material.tolist()) == ([-1, -1], [0, 0])
    one = nowhere.closest_point((1, 1, 1))
    assert (one.distance, one.triangle, one.material) == (np.inf, -1, 0)
    assert np.isnan(one.point.x)


_FAR_QUESTIONS: list[tuple[str, Any]] = [
    ("point", lambda ground, far: ground.closest_point((0, -far, 0))),
    ("points", lambda ground, far: ground.closest_points([(0, 0, 0), (far, 0, 0)])),
    ("x", lambda ground, far: ground.height_at(far, 0.0)),
    ("z", lambda ground, far: ground.height_at(0, -far)),
    ("z", lambda ground, far: ground.normal_at(0.0, far)),
    ("x", lambda ground, far: ground.height_at([1, far], 2)),
    ("z", lambda ground, far: ground.normal_at(1, -far)),
    ("ray", lambda ground, far: ground.raycast(Ray((0, 0, far), (0, 1, 0)))),
    ("origins", lambda ground, far: ground.raycast_many([(0, far, 0)], [(0, 1, 0)])),
    ("shapes", lambda ground, far: ground.contacts(Sphere((far, 0, 0), 1))),
    ("shapes", lambda ground, far: ground.contacts(Sphere((1, 0, 1), far))),
    ("shapes", lambda ground, far: ground.contacts([(1, far, 1, 1)])),
    ("shapes", lambda ground, far: ground.contacts(AABB((-far, 0, 0), (far, 1, 1)))),
    ("shapes", lambda ground, far: ground.touches(Sphere((far, 0, 0), 1))),
    ("ray", lambda ground, far: ground.raycast((0, 0, far), (0, 1, 0))),
    ("motion", lambda g, far: g.sweep(Sphere((0, 1, 0), 1), (0, -1, 0), max_distance=far)),
    ("shapes", lambda ground, far: ground.contact_counts(OBB((0, 0, 0), (1, far, 1)))),
    ("rows", lambda ground, far: ground.contacts(Capsules([(0, 0, 0, far, 0, 0, 1)]))),
    ("shape", lambda ground, far: ground.sweep(AABB((0, 0, 0), (3 * far, 1, 1)), (0, -1, 0))),
    ("motion", lambda ground, far: ground.sweep(Sphere((0, 1, 0), 1), (0, -far, 0))),
    ("shapes", lambda ground, far: ground.sweep_many([(0, far, 0, 1)], [(0, -1, 0)])),
    ("motions", lambda ground, far: ground.sweep_many([(0, 1, 0, 1)], [(0, far, 0)])),
]


@pytest.mark.parametrize("far", [1e38, 1e154, 1e300])
@pytest.mark.parametrize(("name", "ask"), _FAR_QUESTIONS)
def test_what_is_too_far_off_is_refused_on_every_ground(
    ground: Any, name: str, ask: Any, far: float
) -> None:
    with pytest.raises(ValueError, match=rf"^{name} must be below 1e\+38 m, got "):
        ask(ground, far)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("far", [1e20, 1e30, 9e37])
def test_what_is_nearly_too_far_off_has_finite_answers(ground: Any, far: float) -> None:
    assert ground.closest_point((0, far, 0)).distance == pytest.approx(far)
    boxes = [AABB((-far, -1, -far), (far, 1, far)), OBB((1, 0, 1), (far, far, far))]
    for shape in [*boxes, Sphere((1, 0, 1), far), Capsule((1, 0, 1), (1, far, 1), 1)]:
        hit = ground.sweep(shape, (0, -far, 0))
        if hit is not None:
            assert np.isfinite([hit.fraction, hit.distance, *hit.point, *hit.normal]).all()
        try:
            found = ground.contacts(shape)
        except ValueError as error:
            assert "at most 100 million cells" in str(error)  # noqa: PT017 of one ground only
        else:
            assert np.isfinite(found.penetration).all()
            assert np.isfinite(found.normal).all()


def test_a_surface_is_one_of_its_kinds() -> None:
    with pytest.raises(TypeError, match="have in common: make one of these"):
        Surface()


@pytest.mark.parametrize("size", [0.0, 1e-3, 5.0, 1e17, 3e20, 1e37])
def test_the_depth_of_a_contact_is_the_length_of_its_penetration(size: float) -> None:
    away = glm.vec3(3 * size, 0, -4 * size)
    contact = Contact(0, 0, away, glm.vec3(0, 1, 0), glm.vec3(0), 0)
    assert contact.depth == pytest.approx(5 * size, rel=1e-6)


def test_depths_of_few_contacts_have_the_bits_of_many() -> None:
    rows = np.random.default_rng(4).normal(0, 1, (3, 40, 3)) * 10.0 ** np.arange(40)[:, None]
    depths = Contacts(np.zeros((2, 40), np.int64), rows).depth
    for count in range(12):
        few = Contacts(np.zeros((2, count), np.int64), rows[:, :count].copy()).depth
        assert few.tobytes() == depths[:count].tobytes()
        assert few.dtype == depths.dtype
        assert not few.flags.writeable
