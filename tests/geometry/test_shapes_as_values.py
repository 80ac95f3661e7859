"""Shapes as values: copies in and out, frozen, hashable, picklable; a triangle's normal."""

import copy
import dataclasses
import itertools
import pickle
from typing import Any

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import AABB, OBB, Capsule, Plane, Ray, Segment, Sphere, Triangle

QUARTER = glm.angleAxis(glm.half_pi(), glm.vec3(0, 1, 0))

SHAPES: list[Any] = [
    Sphere((1, 2, 3), 0.5),
    AABB((-1, -2, -3), (4, 5, 6)),
    OBB((1, 2, 3), (4, 5, 6), QUARTER),
    Triangle((0, 0, 0), (0, 1, 4), (4, 0, 2)),
    Ray((1, 2, 3), (0, 3, 4)),
    Capsule((1, 2, 3), (4, 5, 6), 0.5),
    Segment((1, 2, 3), (4, 5, 6)),
    Plane((1, 2, 3), (0, 0, -4)),
]
VECTORS = {
    Sphere: ["center"],
    AABB: ["lower", "upper"],
    OBB: ["center", "half_extents", "rotation"],
    Triangle: ["a", "b", "c", "normal"],
    Ray: ["origin", "direction"],
    Capsule: ["a", "b"],
    Segment: ["a", "b"],
    Plane: ["point", "normal"],
}
each_shape = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)


@pytest.mark.parametrize("kind", [glm.vec3, glm.dvec3, list, np.array])
def test_changing_what_went_in_changes_no_shape(kind):
    def vectors() -> list[Any]:
        return [kind([float(k), k + 2.0, k + 5.0]) for k in range(3)]

    for make in (
        lambda a, *_: Sphere(a, 1),
        lambda a, b, _: AABB(a, b),
        lambda a, b, _: OBB(a, b),
        Triangle,
        lambda a, b, _: Ray(a, b),
        lambda a, b, _: Capsule(a, b, 1),
        lambda a, b, _: Segment(a, b),
        lambda a, b, _: Plane(a, b),
    ):
        given, untouched = vectors(), vectors()
        shape = make(*given)
        for vector in given:
            vector[0], vector[2] = 50.0, -50.0
        assert shape == make(*untouched)


@pytest.mark.parametrize("make", [glm.mat3, lambda: np.eye(3), lambda: np.eye(3).tolist()])
def test_changing_a_rotation_that_went_in_changes_no_box(make):
    matrix = make()
    box = OBB((0, 0, 0), (1, 2, 3), matrix)
    matrix[0][0] = 7.0
    matrix[1][2] = 7.0
    assert box == OBB((0, 0, 0), (1, 2, 3))


@each_shape
def test_changing_what_came_out_changes_no_shape(shape):
    before = copy.deepcopy(shape)
    for name in VECTORS[type(shape)]:
        value = getattr(shape, name)
        value[0] = glm.vec3(77) if name == "rotation" else 77.0
        value *= 2.0
        assert getattr(shape, name) == getattr(before, name) != value
    assert shape == before


@each_shape
def test_shapes_are_frozen(shape):
    before = copy.deepcopy(shape)
    for field in dataclasses.fields(shape):
        with pytest.raises(dataclasses.FrozenInstanceError, match=field.name):
            setattr(shape, field.name, getattr(shape, field.name))
        with pytest.raises(dataclasses.FrozenInstanceError, match=field.name):
            delattr(shape, field.name)
    for name in (*VECTORS[type(shape)], "anything"):
        with pytest.raises(AttributeError, match=name):
            setattr(shape, name, glm.vec3())
    assert shape == before


@each_shape
def test_shapes_are_values(shape):
    twins = [
        pickle.loads(pickle.dumps(shape, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL)
    ]
    for twin in (*twins, copy.copy(shape), copy.deepcopy(shape)):
        assert twin == shape
        assert hash(twin) == hash(shape)
        assert type(twin) is type(shape)
        for name in VECTORS[type(shape)]:
            assert getattr(twin, name) == getattr(shape, name)
    assert len({shape, *twins}) == 1
    assert all(shape != other for other in SHAPES if other is not shape)
    assert shape != dataclasses.astuple(shape)
    for field in dataclasses.fields(shape):
        assert f"{field.name}={getattr(shape, field.name)!r}" in repr(shape)
    assert repr(shape).startswith(type(shape).__name__ + "(")


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        (SHAPES[5], "Capsule(a64=(1.0, 2.0, 3.0), b64=(4.0, 5.0, 6.0), radius=0.5)"),
        (SHAPES[6], "Segment(a64=(1.0, 2.0, 3.0), b64=(4.0, 5.0, 6.0))"),
        (SHAPES[7], "Plane(point64=(1.0, 2.0, 3.0), normal64=(0.0, 0.0, -1.0))"),
    ],
)
def test_a_shape_shows_its_float64_values(shape, text):
    assert str(shape).replace("-0.0", "0.0") == text


@each_shape
def test_vectors_handed_out_are_the_float64_values_rounded(shape):
    for name in VECTORS[type(shape)]:
        if name != "rotation":
            assert getattr(shape, name) == glm.vec3(getattr(shape, f"{name}64"))


def test_shapes_that_differ_by_one_bit_differ():
    place, beside = (1.0, 2.0, 3.0), (1.0, 2.0, float(np.nextafter(3, 4)))
    assert Sphere(place, 1) != Sphere(beside, 1)
    assert Sphere(place, 1) != Sphere(place, np.nextafter(1, 2))
    assert OBB(place, place) != OBB(place, place, QUARTER)
    assert Triangle(place, place, beside) != Triangle(place, beside, place)
    assert Sphere(place, 1).center == Sphere(beside, 1).center  # both rounded to float32


def test_types_of_what_is_handed_out():
    for shape in SHAPES:
        for name in VECTORS[type(shape)]:
            expected = glm.mat3 if name == "rotation" else glm.vec3
            assert type(getattr(shape, name)) is expected
        for field in dataclasses.fields(shape):
            value = getattr(shape, field.name)
            parts = value if isinstance(value, tuple) else (value,)
            assert all(type(part) is float for part in parts)


@pytest.mark.kernels
def test_a_triangles_normal_is_of_its_front_for_every_order_of_corners():
    corners = ((0.0, 0.0, 0.0), (0.0, 1.0, 4.0), (4.0, 0.0, 2.0))
    expected = np.cross(np.subtract(corners[1], corners[0]), np.subtract(corners[2], corners[0]))
    expected /= np.linalg.norm(expected)
    for order in itertools.permutations(range(3)):
        even = order in {(0, 1, 2), (1, 2, 0), (2, 0, 1)}
        normal = Triangle(*(corners[k] for k in order)).normal64
        np.testing.assert_allclose(normal, expected if even else -expected, rtol=0, atol=1e-15)


@pytest.mark.kernels
@pytest.mark.parametrize("place", [(0, 0, 0), (1e6, -1e6, 3e5)])
def test_a_triangle_without_area_has_the_normal_up(place):
    for b, c in (((0, 0, 0), (0, 0, 0)), ((1, 2, 3), (2, 4, 6)), ((1, 0, 0), (1, 0, 0))):
        triangle = Triangle(place, np.add(place, b), np.add(place, c))
        assert triangle.normal64 == (0.0, 1.0, 0.0)
        assert triangle.normal == glm.vec3(0, 1, 0)


@pytest.mark.kernels
@pytest.mark.parametrize("size", [1e-60, 1e-3, 1.0, 1e4, 1e60])
def test_a_normal_does_not_depend_on_size(size):
    triangle = Triangle((0, 0, 0), (0, 0, size), (size, size, 0))
    half = 0.5**0.5
    np.testing.assert_allclose(triangle.normal64, (-half, half, 0), rtol=0, atol=1e-15)
    assert not any(np.signbit(part) for part in Triangle((0, 0, 0), (0, 0, 1), (1, 0, 0)).normal64)
