"""Shapes: what counts as a point or a number, what is refused, copies in and out."""

import itertools
import math
import re
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyglm import glm

from terrain_physics import AABB, OBB, Capsule, Plane, Ray, Segment, Sphere, Triangle


class Named(NamedTuple):
    x: Any
    y: Any
    z: Any


@dataclass
class Bare:
    """An object that can do no more than ``.x .y .z``, like another library's vector."""

    x: Any
    y: Any
    z: Any


POINTS = [
    glm.vec3(1, 2, 3),
    glm.dvec3(1, 2, 3),
    glm.ivec3(1, 2, 3),
    (1, 2, 3),
    [1.0, 2, np.float32(3)],
    (Fraction(1), Decimal(2), np.array(3)),
    np.array([1, 2, 3], dtype=np.int8),
    np.array([1, 2, 3], dtype=np.float32),
    np.array([1, 2, 3], dtype=object),
    np.array([9, 3, 9, 2, 9, 1])[::-2],
    array("d", [1, 2, 3]),
    memoryview(array("f", [1, 2, 3])),
    glm.mat3(1, 2, 3, 0, 0, 0, 0, 0, 0)[0],
    Named(1, 2, 3),
    Bare(1, 2.0, np.float64(3)),
    Bare(Fraction(1), Decimal(2), np.array(3)),
    range(1, 4),
    iter([1, 2, 3]),
]

# Each point argument of each shape: its name, and how to make the shape from it.
TAKERS: list[tuple[str, Callable[[Any], Any]]] = [
    ("center", lambda p: Sphere(p, 1)),
    ("lower", lambda p: AABB(p, (9, 9, 9))),
    ("upper", lambda p: AABB((-9, -9, -9), p)),
    ("center", lambda p: OBB(p, (1, 1, 1))),
    ("half_extents", lambda p: OBB((0, 0, 0), p)),
    ("a", lambda p: Triangle(p, (0, 0, 1), (1, 0, 0))),
    ("b", lambda p: Triangle((0, 0, 0), p, (1, 0, 0))),
    ("c", lambda p: Triangle((0, 0, 0), (0, 0, 1), p)),
    ("origin", lambda p: Ray(p, (0, 0, 1))),
    ("direction", lambda p: Ray((0, 0, 0), p)),
]
TAKER_NAMES = [f"{k}-{name}" for k, (name, _) in enumerate(TAKERS)]


def got(message: str) -> str:
    """Return the pattern of a message that begins so."""
    return "^" + re.escape(message)


@pytest.mark.parametrize("point", POINTS, ids=lambda p: type(p).__name__)
def test_anything_with_three_numbers_is_a_point(point):
    sphere = Sphere(point, 1)
    assert sphere.center64 == (1.0, 2.0, 3.0)
    assert all(type(part) is float for part in sphere.center64)
    assert type(sphere.center) is glm.vec3
    assert sphere.center == glm.vec3(1, 2, 3)


@pytest.mark.parametrize(("name", "take"), TAKERS, ids=TAKER_NAMES)
def test_every_point_argument_takes_every_kind_of_point(name, take):
    expected = take((1.0, 2.0, 3.0))
    for point in POINTS[:-1]:
        assert take(point) == expected
        assert getattr(take(point), name) == getattr(expected, name)


NO_POINTS: list[tuple[Any, type[Exception], str]] = [
    (None, TypeError, "{} must be three numbers, got None"),
    (1.0, TypeError, "{} must be three numbers, got 1.0"),
    (True, TypeError, "{} must be three numbers, got True"),
    (np.array(1.0), TypeError, "{} must be three numbers, got array(1.)"),
    ("123", TypeError, "{} must be three numbers, got '123'"),
    (b"123", TypeError, "{} must be three numbers, got b'123'"),
    (bytearray(b"123"), TypeError, "{} must be three numbers, got bytearray(b'123')"),
    ({1, 2, 3}, TypeError, "{} must be three numbers, got {{1, 2, 3}}"),
    ({1: 0, 2: 0, 3: 0}, TypeError, "{} must be three numbers, got {{1: 0, 2: 0, 3: 0}}"),
    (("1", 2, 3), TypeError, "{} must be three numbers, got '1'"),
    ((1, None, 3), TypeError, "{} must be three numbers, got None"),
    ((1, 2, 3j), TypeError, "{} must be three numbers, got 3j"),
    ((1, 2, [3]), TypeError, "{} must be three numbers, got [3]"),
    (np.array([1, 2, 3], complex), TypeError, "{} must be three numbers, got np.complex128(1+0j)"),
    (np.array([1, 2, 3], np.complex64), TypeError, "{} must be three numbers, got np.complex64"),
    (np.array(["1", "2", "3"]), TypeError, "{} must be three numbers, got np.str_('1')"),
    (np.zeros((3, 1)), TypeError, "{} must be three numbers, got array([0.])"),
    (np.zeros((1, 3)), ValueError, "{} must be three numbers, got 1: array([[0., 0., 0.]])"),
    ((), ValueError, "{} must be three numbers, got 0: ()"),
    ((1, 2), ValueError, "{} must be three numbers, got 2: (1, 2)"),
    ([1, 2, 3, 4], ValueError, "{} must be three numbers, got 4: [1, 2, 3, 4]"),
    (glm.vec2(1, 2), ValueError, "{} must be three numbers, got 2: vec2( 1, 2 )"),
    (glm.vec4(1, 2, 3, 1), ValueError, "{} must be three numbers, got four: vec4( 1, 2, 3, 1 )"),
    (glm.quat(1, 2, 3, 4), ValueError, "{} must be three numbers, got four: quat("),
    (glm.mat3(), TypeError, "{} must be three numbers, got mvec3( 1, 0, 0 )"),
    (Bare("1", 2, 3), TypeError, "{} must be three numbers, got '1'"),
    (Bare("one", 2, 3), TypeError, "{} must be three numbers, got 'one'"),
    (Bare(1, None, 3), TypeError, "{} must be three numbers, got None"),
    (Bare(1, 2, 3j), TypeError, "{} must be three numbers, got 3j"),
    (Bare(1, 2, np.ones(1)), TypeError, "{} must be three numbers, got array([1.])"),
    (Bare(10**400, 2, 3), ValueError, "{} must be three numbers, got 1000000"),
    ((1, 10**400, 3), ValueError, "{} must be three numbers, got 1000000"),
    ((1, 2, -(10**400)), ValueError, "{} must be three numbers, got -1000000"),
    ((math.nan, 2, 3), ValueError, "{}.x must be finite, got nan"),
    ((1, math.inf, 3), ValueError, "{}.y must be finite, got inf"),
    ((1, 2, -math.inf), ValueError, "{}.z must be finite, got -inf"),
    ((math.inf, -math.inf, 3), ValueError, "{}.x must be finite, got inf"),
    (glm.vec3(1, 2, math.nan), ValueError, "{}.z must be finite, got nan"),
    (Bare(1, 2, np.float32("inf")), ValueError, "{}.z must be finite, got inf"),
    (np.array([1, np.nan, 3]), ValueError, "{}.y must be finite, got nan"),
    ((1, Decimal("sNaN"), 3), TypeError, "{} must be three numbers, got Decimal('sNaN')"),
]


@pytest.mark.parametrize(("name", "take"), TAKERS, ids=TAKER_NAMES)
def test_what_is_no_point_is_refused_by_name_rule_and_value(name, take):
    for value, error, message in NO_POINTS:
        with pytest.raises(error, match=got(message.format(name))):
            take(value)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3))
def test_every_finite_float_is_kept_to_the_last_bit(numbers):
    """Also three whose sum overflows."""
    assert Sphere(numbers, 0).center64 == tuple(numbers)
    assert AABB(numbers, numbers).upper64 == tuple(numbers)


def test_numbers_too_long_to_show_are_refused_all_the_same():
    number = 10**5000
    with pytest.raises(ValueError, match=got("center must be three numbers, got int too long")):
        Sphere((number, 0, 0), 1)
    with pytest.raises(ValueError, match=got("radius must be a number, finite and >= 0, got int")):
        Sphere((0, 0, 0), number)


def test_messages_stay_short():
    with pytest.raises(ValueError, match="three numbers") as caught:
        Sphere(np.arange(10000.0), 1)
    assert len(str(caught.value)) < 150
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("radius", "error", "message"),
    [
        (-1, ValueError, "radius must be finite and >= 0, got -1.0"),
        (-5e-324, ValueError, "radius must be finite and >= 0, got -5e-324"),
        (math.nan, ValueError, "radius must be finite and >= 0, got nan"),
        (math.inf, ValueError, "radius must be finite and >= 0, got inf"),
        (10**400, ValueError, "radius must be a number, finite and >= 0, got 1000"),
        ("1", TypeError, "radius must be a number, finite and >= 0, got '1'"),
        (b"1", TypeError, "radius must be a number, finite and >= 0, got b'1'"),
        (None, TypeError, "radius must be a number, finite and >= 0, got None"),
        ([1], TypeError, "radius must be a number, finite and >= 0, got [1]"),
        (np.ones(1), TypeError, "radius must be a number, finite and >= 0, got array([1.])"),
        (1j, TypeError, "radius must be a number, finite and >= 0, got 1j"),
        (np.complex64(1), TypeError, "radius must be a number, finite and >= 0, got np.complex64"),
        (glm.vec3(1), TypeError, "radius must be a number, finite and >= 0, got vec3( 1, 1, 1 )"),
    ],
)
def test_radius_is_a_finite_number_from_0(radius, error, message):
    with pytest.raises(error, match=got(message)):
        Sphere((0, 0, 0), radius)


@pytest.mark.parametrize("radius", [0, -0.0, 2, 1e308, 5e-324, np.float32(2), Fraction(1, 4)])
def test_radius_may_be_any_kind_of_number(radius):
    sphere = Sphere((0, 0, 0), radius)
    assert type(sphere.radius) is float
    assert sphere.radius == radius


def test_an_aabb_is_not_inverted_on_any_axis():
    for axis, name in enumerate("xyz"):
        upper = [1.0, 1.0, 1.0]
        upper[axis] = -0.5
        message = f"lower.{name} must be <= upper.{name}, got 0.0 > -0.5"
        with pytest.raises(ValueError, match=got(message)):
            AABB((0, 0, 0), upper)
    sheet = AABB((0, 1, 0), (2, 1, 2))
    assert (sheet.lower, sheet.upper) == (glm.vec3(0, 1, 0), glm.vec3(2, 1, 2))


def test_half_extents_are_not_negative():
    for axis, name in enumerate("xyz"):
        extents = [1.0, 0.0, 1.0]
        extents[axis] = -2.0
        with pytest.raises(ValueError, match=got(f"half_extents.{name} must be finite and >= 0")):
            OBB((0, 0, 0), extents)


# A turn by 0.3 about +X after one by 0.7 about +Y: no two entries are alike.
TURN = np.array(
    [[1, 0, 0], [0, math.cos(0.3), -math.sin(0.3)], [0, math.sin(0.3), math.cos(0.3)]]
) @ [[math.cos(0.7), 0, math.sin(0.7)], [0, 1, 0], [-math.sin(0.7), 0, math.cos(0.7)]]
QUATERNION = glm.angleAxis(0.3, glm.vec3(1, 0, 0)) * glm.angleAxis(0.7, glm.vec3(0, 1, 0))


@dataclass
class BareQuaternion:
    w: float
    x: float
    y: float
    z: float


ROTATIONS = [
    QUATERNION,
    glm.quat(-QUATERNION.w, -QUATERNION.x, -QUATERNION.y, -QUATERNION.z),
    glm.dquat(QUATERNION.w, QUATERNION.x, QUATERNION.y, QUATERNION.z),
    BareQuaternion(QUATERNION.w, QUATERNION.x, QUATERNION.y, QUATERNION.z),
    glm.mat3_cast(QUATERNION),
    glm.dmat3(glm.mat3_cast(QUATERNION)),
    np.array(glm.mat3_cast(QUATERNION)),
    list(glm.mat3_cast(QUATERNION)),
    tuple(glm.dvec3(column) for column in TURN.T.tolist()),
    TURN,
    TURN.astype(np.float32),
    np.asfortranarray(TURN),
    TURN.T.copy().T,
    TURN.tolist(),
    tuple(map(tuple, TURN.tolist())),
    [np.array(row) for row in TURN],
]


@pytest.mark.parametrize("rotation", ROTATIONS, ids=lambda r: type(r).__name__)
def test_every_kind_of_rotation_is_the_same_rotation(rotation):
    box = OBB((0, 0, 0), (1, 2, 3), rotation)
    kept = np.array(box.rotation64).reshape(3, 3)
    np.testing.assert_allclose(kept, TURN, rtol=0, atol=2e-7)
    np.testing.assert_allclose(kept.T @ kept, np.eye(3), rtol=0, atol=1e-15)
    assert type(box.rotation) is glm.mat3
    # The matrix handed out turns a vector as PyGLM's own quaternion does.
    for vector in (glm.vec3(1, 0, 0), glm.vec3(0.3, -2, 5)):
        assert glm.distance(box.rotation * vector, QUATERNION * vector) < 2e-6
    again = OBB(box.center, box.half_extents, box.rotation)
    np.testing.assert_allclose(again.rotation64, box.rotation64, rtol=0, atol=2e-7)


def test_an_exact_rotation_is_kept_to_the_last_bit():
    for columns in itertools.permutations(np.eye(3)):
        for signs in itertools.product((1.0, -1.0), repeat=3):
            matrix = np.array(columns) * signs
            if np.linalg.det(matrix) > 0:
                assert OBB((0,) * 3, (1,) * 3, matrix).rotation64 == tuple(matrix.ravel().tolist())
    assert OBB((0, 0, 0), (1, 1, 1)).rotation64 == (1, 0, 0, 0, 1, 0, 0, 0, 1)


def test_a_rotation_worn_by_thousands_of_products_in_float32_is_taken_and_mended():
    step = glm.mat3_cast(glm.angleAxis(0.1, glm.normalize(glm.vec3(1, 2, 3))))
    matrix: Any = glm.mat3()
    for _ in range(3000):
        matrix = matrix * step
    error = np.abs(np.array(matrix).T.astype(float) @ np.array(matrix) - np.eye(3)).max()
    assert error > 1e-6  # worn
    kept = np.array(OBB((0, 0, 0), (1, 1, 1), matrix).rotation64).reshape(3, 3)
    np.testing.assert_allclose(kept.T @ kept, np.eye(3), rtol=0, atol=1e-15)
    assert np.linalg.det(kept) > 0


NO_ROTATION = "rotation must be a quaternion or a 3 x 3 matrix, got "
NO_ROTATIONS: list[tuple[Any, type[Exception], str]] = [
    (np.diag([1, 1, -1]), ValueError, "rotation must not mirror, got [[1.0,"),
    (-np.eye(3), ValueError, "rotation must not mirror, got [[-1.0,"),
    (glm.mat3(0, 1, 0, 1, 0, 0, 0, 0, 1), ValueError, "rotation must not mirror, got "),
    (2 * np.eye(3), ValueError, "rotation must be orthonormal, got [[2.0,"),
    (np.zeros((3, 3)), ValueError, "rotation must be orthonormal, got [[0.0,"),
    ([[1, 0, 0], [0, 1, 1e-3], [0, 0, 1]], ValueError, "rotation must be orthonormal, got [[1.0,"),
    ([[1, 0, 0], [1, 0, 0], [0, 0, 1]], ValueError, "rotation must be orthonormal, got [[1.0,"),
    (np.diag([1.0, np.nan, 1.0]), ValueError, "rotation must be finite, got nan at [1, 1]"),
    (np.diag([1.0, 1.0, np.inf]), ValueError, "rotation must be finite, got inf at [2, 2]"),
    (glm.quat(1, 1, 0, 0), ValueError, "rotation must have unit length, got length 1.41421"),
    (glm.quat(0, 0, 0, 0), ValueError, "rotation must have unit length, got length 0"),
    (glm.dquat(1e300, 0, 0, 0), ValueError, "rotation must have unit length, got length inf"),
    (glm.quat(math.nan, 0, 0, 0), ValueError, "rotation.w must be finite, got nan"),
    (BareQuaternion("1", 0, 0, 0), TypeError, "rotation.w must be a finite number, got '1'"),  # type: ignore[arg-type]
    (np.eye(2), ValueError, NO_ROTATION + "shape (2, 2)"),
    (np.eye(4), ValueError, NO_ROTATION + "shape (4, 4)"),
    (glm.mat4(), ValueError, NO_ROTATION + "shape (4, 4)"),
    (glm.mat2(), ValueError, NO_ROTATION + "shape (2, 2)"),
    (glm.mat3x4(), ValueError, NO_ROTATION + "shape (4, 3)"),
    ([1, 0, 0, 0], ValueError, NO_ROTATION + "shape (4,)"),
    (range(9), ValueError, NO_ROTATION + "shape (9,)"),
    ([], ValueError, NO_ROTATION + "shape (0,)"),
    (np.zeros((0, 3, 3)), ValueError, NO_ROTATION + "shape (0, 3, 3)"),
    (glm.vec3(0, 1, 0), ValueError, NO_ROTATION + "shape (3,)"),
    (1.0, TypeError, NO_ROTATION + "1.0"),
    (False, TypeError, NO_ROTATION + "False"),
    ("abc", TypeError, NO_ROTATION + "'abc'"),
    (object, TypeError, NO_ROTATION),
    ([[1, 0, 0], [0, 1], [0, 0, 1]], TypeError, NO_ROTATION + "[[1, 0, 0], [0, 1], [0, 0, 1]]"),
    ([["1", "0", "0"], ["0", "1", "0"], ["0", "0", "1"]], TypeError, NO_ROTATION + "[['1'"),
    (np.eye(3).astype(str), TypeError, NO_ROTATION + "array([['1.0'"),
    (np.eye(3) * (1 + 0j), TypeError, NO_ROTATION + "array([[1.+0.j"),
    (np.eye(3).astype(object), TypeError, NO_ROTATION + "array([[1.0"),
    ([[10**400, 0, 0], [0, 1, 0], [0, 0, 1]], TypeError, NO_ROTATION + "[[1000"),
]


def test_what_is_no_rotation_is_refused():
    for value, error, message in NO_ROTATIONS:
        with pytest.raises(error, match=got(message)):
            OBB((0, 0, 0), (1, 1, 1), value)
        with pytest.raises(error, match=got(message)):
            OBB((0, 0, 0), (1, 1, 1), rotation=value)


@pytest.mark.parametrize("direction", [(0, 3, 4), (0, 3e300, 4e300), (0, 3e-300, 4e-300)])
def test_a_rays_direction_has_length_one(direction):
    np.testing.assert_allclose(Ray((0, 0, 0), direction).direction64, (0, 0.6, 0.8), rtol=1e-15)


@given(st.lists(st.floats(-1e308, 1e308), min_size=3, max_size=3).filter(any))
def test_any_direction_but_zero_is_one_and_stays_parallel(direction):
    x, y, z = Ray((0, 0, 0), direction).direction64
    assert math.hypot(x, y, z) == pytest.approx(1.0, abs=1e-15)
    largest = max(range(3), key=lambda axis: abs(direction[axis]))
    for part, given_part in zip((x, y, z), direction, strict=True):
        ratio = given_part / direction[largest]
        assert part == pytest.approx((x, y, z)[largest] * ratio, rel=1e-14, abs=1e-300)
    assert math.copysign(1, (x, y, z)[largest]) == math.copysign(1, direction[largest])


def test_a_direction_of_zero_is_refused():
    for zero in ((0, 0, 0), (-0.0, 0, 0), glm.vec3()):
        with pytest.raises(ValueError, match=got("direction must not be zero, got (")):
            Ray((0, 0, 0), zero)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Capsule((0, math.nan, 0), (0, 1, 0), 1), "a.y must be finite, got nan"),
        (lambda: Capsule((0, 0, 0), (0, 1), 1), "b must be three numbers, got 2"),
        (lambda: Capsule((0, 0, 0), (0, 1, 0), -1), "radius must be finite and >= 0, got -1.0"),
        (lambda: Segment((0, 0, math.inf), (0, 1, 0)), "a.z must be finite, got inf"),
        (lambda: Segment((0, 0, 0), (0, 1, 2, 3)), "b must be three numbers, got 4"),
        (lambda: Plane((0, -math.inf, 0), (0, 1, 0)), "point.y must be finite, got -inf"),
        (lambda: Plane((0, 0, 0), (0, 0, 0)), "normal must not be zero"),
    ],
)
def test_bad_capsules_segments_and_planes_are_refused_by_name(make, message):
    with pytest.raises(ValueError, match=got(message)):
        make()


def test_degenerate_shapes_are_shapes():
    point = (1.0, 2.0, 3.0)
    assert Capsule(point, point, 0).radius == 0.0
    assert Segment(point, point).a64 == Segment(point, point).b64 == point


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1.0, 1e160, 1e300])
def test_a_planes_normal_has_length_one(size):
    normal = Plane((0, 0, 0), (3 * size, 0, -4 * size)).normal64
    np.testing.assert_allclose(normal, (0.6, 0.0, -0.8), rtol=1e-15)
