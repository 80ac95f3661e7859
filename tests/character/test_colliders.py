"""Colliders under a matrix: the body in the world, corner by corner; what no body survives."""

import copy
import dataclasses
import itertools
import math
import pickle
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyglm import glm

from terrain_physics import OBB, BoxCollider, CapsuleCollider, Sphere, SphereCollider
from tests.helpers.strategies import Array, rotations

SCALES = st.sampled_from([1.0, 2.0, 0.5, 1e-3, 1e3]) | st.floats(0.01, 100.0)
OFFSETS = st.floats(-10.0, 10.0)
SIGNS = list(itertools.product((1.0, -1.0), repeat=3))


def affine(linear: Any, place: Any = (0.0, 0.0, 0.0)) -> Array:
    """Return the 4 x 4 matrix, by rows, of a linear map and then a move."""
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = linear, place
    return matrix


def as_glm(matrix: Array, kind: Any = glm.dmat4) -> Any:
    """Return a matrix as PyGLM's, which takes its columns one after the other."""
    return kind(*matrix.T.ravel().tolist())


def box_corners(center: Any, extents: Any, rotation: Any) -> Array:
    """Return the eight corners (8, 3); a rotation's columns are the box's axes."""
    signs: Array = np.array(SIGNS)
    return np.asarray(np.asarray(center, float) + (signs * extents) @ np.asarray(rotation).T)


def corners_of(box: OBB) -> Array:
    return box_corners(box.center64, box.half_extents64, np.reshape(box.rotation64, (3, 3)))


def assert_same_corners(found: Array, expected: Array, size: float) -> None:
    """Every corner of one body is a corner of the other."""
    between = np.linalg.norm(found[:, None] - expected[None], axis=2)
    assert between.min(axis=0).max() <= 1e-13 * size
    assert between.min(axis=1).max() <= 1e-13 * size


def drawn_vector(data: st.DataObject, parts: st.SearchStrategy[float]) -> Array:
    return np.array([data.draw(parts) for _ in range(3)])


@given(st.data())
def test_a_box_lands_where_each_of_its_corners_lands(data):
    """Turned, stretched, mirrored, moved: the owner's scale along the box's own axes."""
    own = data.draw(rotations())
    extents, offset = drawn_vector(data, SCALES), drawn_vector(data, OFFSETS)
    if data.draw(st.booleans()):
        scale = data.draw(SCALES) * np.ones(3)  # any rotation of the box goes with that
    else:
        # Uneven: the box's axes must be the owner's in some order, so that it stays a box.
        own = np.eye(3)[list(data.draw(st.permutations(range(3))))]
        own[:, 0] *= np.linalg.det(own)
        scale = drawn_vector(data, SCALES)
    scale = scale * data.draw(st.sampled_from(SIGNS))
    linear = data.draw(rotations()) @ np.diag(scale)
    place = drawn_vector(data, OFFSETS)
    collider = BoxCollider(extents, offset, own)
    box = collider.transformed(affine(linear, place))
    expected = box_corners(offset, extents, own) @ linear.T + place
    size = float(np.abs(linear).max() * (extents.max() + np.abs(offset).max()) + 10)
    assert_same_corners(corners_of(box), expected, size * 8)
    rotation = np.reshape(box.rotation64, (3, 3))
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(3), rtol=0, atol=1e-14)
    assert np.linalg.det(rotation) > 0.5
    assert min(box.half_extents64) > 0


@given(st.data())
def test_a_ball_grows_with_the_largest_scale(data):
    offset, place = drawn_vector(data, OFFSETS), drawn_vector(data, OFFSETS)
    scale = drawn_vector(data, SCALES) * data.draw(st.sampled_from(SIGNS))
    linear = data.draw(rotations()) @ np.diag(scale)
    radius = data.draw(SCALES)
    ball = SphereCollider(radius, offset).transformed(affine(linear, place))
    assert isinstance(ball, Sphere)
    assert ball.radius == pytest.approx(radius * np.abs(scale).max(), rel=1e-13)
    size = 10 + np.abs(scale).max() * np.abs(offset).max()
    np.testing.assert_allclose(ball.center64, linear @ offset + place, rtol=0, atol=1e-14 * size)


def test_rotation_and_scale_are_taken_apart_by_hand():
    turn = glm.rotate(glm.radians(90.0), glm.vec3(0, 1, 0))  # +X to -Z, +Z to +X
    matrix = glm.translate(glm.vec3(10, 20, 30)) * turn * glm.scale(glm.vec3(2, 3, 4))
    box = BoxCollider((1, 1, 1), offset=(1, 0, 0)).transformed(matrix)
    np.testing.assert_allclose(box.center64, (10, 20, 28), atol=1e-6)
    np.testing.assert_allclose(box.half_extents64, (2, 3, 4), rtol=1e-6)
    expected = [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]
    np.testing.assert_allclose(np.reshape(box.rotation64, (3, 3)), expected, atol=1e-7)
    ball = SphereCollider(0.5, offset=(1, 0, 0)).transformed(matrix)
    np.testing.assert_allclose(ball.center64, (10, 20, 28), atol=1e-6)
    assert ball.radius == pytest.approx(2.0, rel=1e-6)


@given(st.data())
def test_products_are_rounded_one_by_one(data):
    offset = drawn_vector(data, OFFSETS)
    linear = data.draw(SCALES) * data.draw(rotations())
    x, y, z = offset.tolist()
    expected = tuple(a * x + b * y + c * z for a, b, c in linear.tolist())
    for collider in (
        SphereCollider(0.5, offset), BoxCollider((1, 2, 3), offset), CapsuleCollider(1, 3, offset),
    ):  # fmt: skip
        assert tuple(collider.placed(linear[np.newaxis])[0, 3:6].tolist()) == expected


def test_the_identity_changes_no_bit():
    box = BoxCollider((0.1, 0.2, 0.3), offset=(0.4, 0.5, 0.6))
    assert box.transformed(glm.mat4()) == OBB((0.4, 0.5, 0.6), (0.1, 0.2, 0.3))
    assert SphereCollider(0.1, (0.2, 0.3, 0.4)).transformed(np.eye(4)) == Sphere(
        (0.2, 0.3, 0.4), 0.1
    )


@pytest.mark.parametrize("signs", SIGNS)
def test_a_mirrored_box_is_the_same_box_its_rotation_is_none(signs):
    turn = rotation_about((1, 2, 3), 0.7)
    linear = turn @ np.diag(np.array(signs) * (1, 2, 3))
    box = BoxCollider((1, 2, 3), offset=(1, 1, 1)).transformed(affine(linear))
    expected = box_corners((1, 1, 1), (1, 2, 3), np.eye(3)) @ linear.T
    assert_same_corners(corners_of(box), expected, 100)
    assert np.linalg.det(np.reshape(box.rotation64, (3, 3))) == pytest.approx(1.0)


def rotation_about(axis: Any, angle: float) -> Array:
    """Return the matrix of a turn (Rodrigues), by rows."""
    x, y, z = np.array(axis) / np.linalg.norm(axis)
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + math.sin(angle) * k + (1 - math.cos(angle)) * k @ k)


@pytest.mark.parametrize(
    "convert",
    [
        lambda m: m,
        lambda m: m.astype(np.float32),
        np.asfortranarray,
        lambda m: m.tolist(),
        as_glm,
        lambda m: as_glm(m, glm.mat4),
        lambda m: list(as_glm(m)),
        lambda m: tuple(glm.dvec4(*column) for column in m.T.tolist()),
    ],
)
def test_every_kind_of_matrix_is_the_same_matrix(convert):
    matrix = affine(rotation_about((1, 2, 3), 0.7) @ np.diag([1, 2, -3]), (5, 6, 7))
    before = matrix.copy()
    for collider in (BoxCollider((1, 2, 3), (4, 5, 6)), SphereCollider(2, (4, 5, 6))):
        expected = dataclasses.astuple(collider.transformed(matrix))
        found = dataclasses.astuple(collider.transformed(convert(matrix)))
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=2e-5)
    np.testing.assert_array_equal(matrix, before)


@pytest.mark.parametrize("kind", [SphereCollider, BoxCollider])
@pytest.mark.parametrize(
    "linear",
    [
        [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]],
        [[1, 0, 1e-3], [0, 1, 0], [0, 0, 1]],
        # A turned child under a stretched parent: the usual way to shear.
        np.diag([1.0, 2.0, 1.0]) @ rotation_about((0, 0, 1), 0.4),
        [[1, 1, 0], [0, 0, 0], [0, 0, 1]],
        [[1, 1, 1], [1, 1, 1], [1, 1, 1]],
    ],
)
def test_shear_is_a_type_error(kind, linear):
    collider = kind(1.0) if kind is SphereCollider else kind((1, 2, 3))
    with pytest.raises(TypeError, match=r"^matrix must not shear the collider"):
        collider.transformed(affine(linear))


def test_a_turned_box_under_uneven_scale_is_sheared_a_ball_is_not():
    stretched = affine(np.diag([1.0, 2.0, 1.0]))
    turned = BoxCollider((1, 2, 3), rotation=glm.angleAxis(0.4, glm.vec3(0, 0, 1)))
    with pytest.raises(TypeError, match=r"^matrix must not shear"):
        turned.transformed(stretched)
    about_y = BoxCollider((1, 2, 3), rotation=glm.angleAxis(0.4, glm.vec3(0, 1, 0)))
    np.testing.assert_allclose(about_y.transformed(stretched).half_extents64, (1, 4, 3))
    assert SphereCollider(1).transformed(stretched).radius == 2.0


def test_rounding_in_float32_is_no_shear():
    rng = np.random.default_rng(3)
    for _ in range(100):
        matrix: Any = glm.mat4()
        for _ in range(50):  # a deep scene graph
            axis = glm.normalize(glm.vec3(*rng.normal(size=3)))
            matrix = matrix * glm.rotate(float(rng.uniform(0, 6)), axis)
        matrix = matrix * glm.scale(glm.vec3(100, 1, 0.01))
        box = BoxCollider((1, 1, 1)).transformed(matrix)
        np.testing.assert_allclose(box.half_extents64, (100, 1, 0.01), rtol=1e-4)


@pytest.mark.parametrize("collider", [SphereCollider(1), BoxCollider((1, 2, 3))])
@pytest.mark.parametrize(
    ("matrix", "error", "message"),
    [
        (
            affine(np.diag([1, 0, 1])),
            ValueError,
            "matrix and scale must be nowhere zero, got scale [1.0, 0.0",
        ),
        (
            affine(np.zeros((3, 3))),
            ValueError,
            "matrix and scale must be nowhere zero, got scale [0.0, 0.0",
        ),
        (affine(np.diag([1, math.nan, 1])), ValueError, "matrix must be finite, got nan at [1, 1]"),
        (
            affine(np.eye(3), (0, math.inf, 0)),
            ValueError,
            "matrix must be finite, got inf at [1",
        ),
        (np.diag([1.0, 1.0, 1.0, 2.0]), ValueError, "matrix must be affine, got last row [0.0, 0"),
        (np.eye(4) + np.eye(4, k=-1), ValueError, "matrix must be affine, got last row [0.0, 0.0"),
        (glm.perspective(1.0, 1.0, 0.1, 9.0), ValueError, "matrix must be affine, got last row"),
        (np.zeros((4, 4)), ValueError, "matrix must be affine, got last row [0.0, 0.0, 0.0, 0.0]"),
        (np.eye(4)[:3], ValueError, "matrix must be a 4 x 4 matrix, got shape (3, 4)"),
        (glm.mat3(), ValueError, "matrix must be a 4 x 4 matrix, got shape (3, 3)"),
        (glm.mat4x3(), ValueError, "matrix must be a 4 x 4 matrix, got shape (3, 4)"),
        (range(16), ValueError, "matrix must be a 4 x 4 matrix, got shape (16,)"),
        ([], ValueError, "matrix must be a 4 x 4 matrix, got shape (0,)"),
        (None, TypeError, "matrix must be a 4 x 4 matrix, got None"),
        (1.0, TypeError, "matrix must be a 4 x 4 matrix, got 1.0"),
        ("abcd", TypeError, "matrix must be a 4 x 4 matrix, got 'abcd'"),
        (np.eye(4).astype(str), TypeError, "matrix must be a 4 x 4 matrix, got array([['1.0'"),
        (np.eye(4) * 1j, TypeError, "matrix must be a 4 x 4 matrix, got array([["),
        ([[1, 2], [3]], TypeError, "matrix must be a 4 x 4 matrix, got [[1, 2], [3]]"),
    ],
)
def test_what_is_no_affine_matrix_is_refused(collider, matrix, error, message):
    with pytest.raises(error, match=r"^" + re.escape(message)):
        collider.transformed(matrix)


@pytest.mark.parametrize("radius", [0, -1, math.nan, math.inf])
def test_a_ball_has_a_radius_above_0(radius):
    message = f"radius must be finite and > 0, got {float(radius)}"
    with pytest.raises(ValueError, match=re.escape(message)):
        SphereCollider(radius)


def test_colliders_refuse_by_name():
    for bad in ("1", None, [1], 1j):
        with pytest.raises(TypeError, match=r"^radius must be a number, finite and > 0, got "):
            SphereCollider(bad)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"^half_extents must be three numbers, got "):
            BoxCollider("1" if bad == "1" else 1.0)
    for axis, name in enumerate("xyz"):
        for extent in (0.0, -1.0):
            extents = [1.0, 1.0, 1.0]
            extents[axis] = extent
            message = f"half_extents.{name} must be finite and > 0, got {extent}"
            with pytest.raises(ValueError, match=re.escape(message)):
                BoxCollider(extents)
    for make in (lambda offset: SphereCollider(1, offset), lambda o: BoxCollider((1, 1, 1), o)):
        with pytest.raises(ValueError, match=r"^offset.y must be finite, got nan"):
            make((0, math.nan, 0))
        with pytest.raises(TypeError, match=r"^offset must be three numbers, got None"):
            make(None)
    with pytest.raises(ValueError, match=r"^rotation must not mirror"):
        BoxCollider((1, 1, 1), rotation=np.diag([1, 1, -1]))


@pytest.mark.parametrize(
    "collider",
    [SphereCollider(2, (1, 2, 3)), BoxCollider((1, 2, 3), (4, 5, 6), rotation_about((0, 1, 0), 1))],
    ids=lambda collider: type(collider).__name__,
)
def test_colliders_are_frozen_values(collider):
    for twin in (
        copy.copy(collider),
        copy.deepcopy(collider),
        pickle.loads(pickle.dumps(collider)),
    ):
        assert twin == collider
        assert hash(twin) == hash(collider)
        assert twin.kind == collider.kind
    for field in dataclasses.fields(collider):
        assert f"{field.name}={getattr(collider, field.name)!r}" in repr(collider)
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(collider, field.name, 1.0)
    assert collider != SphereCollider(2)


def test_changing_what_went_in_changes_no_collider():
    offset, extents, turn = glm.vec3(1, 2, 3), glm.vec3(4, 5, 6), glm.quat()
    box, ball = BoxCollider(extents, offset, turn), SphereCollider(1, offset)
    offset.x, extents.y, turn.w = 50.0, 50.0, 50.0
    assert box == BoxCollider((4, 5, 6), (1, 2, 3))
    assert ball == SphereCollider(1, (1, 2, 3))
