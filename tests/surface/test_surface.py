"""The interface of all grounds: the same questions and arguments, nothing internal shown."""

import copy
import inspect
import pickle
from functools import partial
from typing import Any, assert_type

import numpy as np
import pytest
from numpy.typing import NDArray
from pyglm import glm

from terrain_physics import (
    AABB,
    Contact,
    Contacts,
    Ground,
    HeightMap,
    Ray,
    RayHit,
    Sphere,
    Spheres,
    Surface,
    SweepHit,
    TriangleMesh,
)
from terrain_physics.surface.queries import Queries
from terrain_physics.surface.surface import queries_of
from tests.helpers.calls import calls_of
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


def test_no_ground_at_all_is_infinitely_far() -> None:
    nowhere = HeightMap(np.full((3, 3), np.nan), border="open", materials=np.ones((2, 2), np.uint8))
    found = nowhere.closest_points([(1, 1, 1), (0, 0, 0)])
    assert np.isinf(found.distance).all()
    assert np.isnan(found.point).all()
    assert (found.triangle.tolist(), found.material.tolist()) == ([-1, -1], [0, 0])
    one = nowhere.closest_point((1, 1, 1))
    assert (one.distance, one.triangle, one.material) == (np.inf, -1, 0)
    assert np.isnan(one.point.x)


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


def test_touching_counts_and_depths_in_a_solid_do_not() -> None:
    flat, box = HeightMap(np.zeros((5, 5))), TriangleMesh.box((4, 4, 4), solid=True)
    assert flat.touches(Sphere((2, 1, 2), 1)) is True
    assert flat.touches(Sphere((2, np.nextafter(1, 2), 2), 1)) is False
    assert box.touches(Sphere((0, 3, 0), 1)) is True
    assert box.touches(Sphere((0, 0, 0), 1)) is False
    assert box.contains((0, 0, 0))
    assert box.touches(AABB((2, 0, 0), (3, 1, 1)))


@pytest.mark.parametrize(("kind", "most"), [("map", 30), ("mesh", 25), ("ground", 60)])
def test_where_a_point_is_takes_few_calls(kind: str, most: int) -> None:
    land, box = HeightMap(np.zeros((9, 9))), TriangleMesh.box((3, 3, 3))
    surface = {"map": land, "mesh": box, "ground": Ground([land, box])}[kind]
    for ask in (surface.contains, surface.signed_distance):
        ask((2.0, 0.5, 3.0))
        assert calls_of(partial(ask, (2.0, 0.5, 3.0))) <= most


def test_types_tell_one_from_many() -> None:
    surface: Surface = HeightMap(np.zeros((9, 9)))
    assert_type(surface.touches(Sphere((1, 1, 1), 1)), bool)
    assert_type(surface.touches(Spheres([(1, 1, 1, 1)])), NDArray[np.bool_])
    assert_type(surface.touches([(1, 1, 1, 1)]), NDArray[np.bool_])
    assert_type(surface.touches([Sphere((1, 1, 1), 1)]), NDArray[np.bool_])
    assert_type(surface.raycast(Ray((1, 9, 1), (0, -1, 0)), 5), RayHit | None)
    assert_type(surface.raycast((1, 9, 1), (0, -1, 0), max_distance=5), RayHit | None)
    assert_type(surface.sweep(Sphere((1, 9, 1), 1), (0, -1, 0)), SweepHit | None)
    assert_type(surface.sweep(Sphere((1, 9, 1), 1), (0, -1, 0), max_distance=5), SweepHit | None)
    with pytest.raises(TypeError, match="or an origin with a direction"):
        surface.raycast((1, 9, 1))  # type: ignore[call-overload]
