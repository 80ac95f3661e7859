"""Capsule, segment and plane as values, and the border helpers of the pair functions."""

import copy
import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest
from pyglm import glm

from terrain_physics import Capsule, Plane, Segment, Sphere, _checks

SHAPES: list[tuple[Any, list[str], str]] = [
    (
        Capsule((1, 2, 3), (4, 5, 6), 0.5),
        ["a", "b"],
        "Capsule(a64=(1.0, 2.0, 3.0), b64=(4.0, 5.0, 6.0), radius=0.5)",
    ),
    (
        Segment((1, 2, 3), (4, 5, 6)),
        ["a", "b"],
        "Segment(a64=(1.0, 2.0, 3.0), b64=(4.0, 5.0, 6.0))",
    ),
    (
        Plane((1, 2, 3), (0, 0, -4)),
        ["point", "normal"],
        "Plane(point64=(1.0, 2.0, 3.0), normal64=(0.0, 0.0, -1.0))",
    ),
]
each_shape = pytest.mark.parametrize(("shape", "names", "text"), SHAPES)


@each_shape
def test_shapes_are_values(shape, names, text):
    for same in (copy.copy(shape), copy.deepcopy(shape), pickle.loads(pickle.dumps(shape))):
        assert same == shape
        assert hash(same) == hash(shape)
    assert str(shape).replace("-0.0", "0.0") == text
    assert shape != Sphere((1, 2, 3), 0.5)
    for field in dataclasses.fields(shape):
        with pytest.raises(dataclasses.FrozenInstanceError, match=field.name):
            setattr(shape, field.name, None)


@each_shape
def test_vectors_handed_out_are_copies_in_float32(shape, names, text):
    before = copy.deepcopy(shape)
    for name in names:
        value = getattr(shape, name)
        assert isinstance(value, glm.vec3)
        assert tuple(value) == getattr(shape, f"{name}64")
        value.x = 77.0
    assert shape == before


@pytest.mark.parametrize("make", [Segment, lambda a, b: Capsule(a, b, 1), Plane])
def test_changing_what_went_in_changes_no_shape(make):
    first, second = np.array([1.0, 2.0, 3.0]), np.array([0.0, 5.0, 6.0])
    shape = make(first, second)
    first[0] = second[0] = 9.0
    assert shape == make((1, 2, 3), (0, 5, 6))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Capsule((0, np.nan, 0), (0, 1, 0), 1), "a.y must be finite, got nan"),
        (lambda: Capsule((0, 0, 0), (0, 1), 1), "b must be three numbers, got 2"),
        (lambda: Capsule((0, 0, 0), (0, 1, 0), -1), "radius must be finite and >= 0, got -1.0"),
        (lambda: Segment((0, 0, np.inf), (0, 1, 0)), "a.z must be finite, got inf"),
        (lambda: Segment((0, 0, 0), (0, 1, 2, 3)), "b must be three numbers, got 4"),
        (lambda: Plane((0, -np.inf, 0), (0, 1, 0)), "point.y must be finite, got -inf"),
        (lambda: Plane((0, 0, 0), (0, 0, 0)), "normal must not be zero"),
    ],
)
def test_bad_values_are_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_degenerate_shapes_are_shapes():
    point = (1.0, 2.0, 3.0)
    assert Capsule(point, point, 0).radius == 0.0
    assert Segment(point, point).a64 == Segment(point, point).b64 == point


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1.0, 1e160, 1e300])
def test_a_planes_normal_has_length_one(size):
    normal = Plane((0, 0, 0), (3 * size, 0, -4 * size)).normal64
    np.testing.assert_allclose(normal, (0.6, 0.0, -0.8), rtol=1e-15)


def test_instance_takes_derived_classes_and_names_the_rule():
    class Ball(Sphere):
        """A sphere."""

    _checks.instance("ball", Ball((0, 0, 0), 1), Sphere)
    with pytest.raises(TypeError, match=r"ball must be a Sphere, got \(0, 0, 0, 1\)"):
        _checks.instance("ball", (0, 0, 0, 1), Sphere)


@pytest.mark.parametrize(
    ("take", "good", "bad", "message"),
    [
        (_checks.points, [(1, 2, 3)], [(1, 2)], r"rows must have shape \(n, 3\), got \(1, 2\)"),
        (_checks.points, np.zeros((0, 3)), (1, 2, 3), r"rows must have shape \(n, 3\)"),
        (_checks.spheres, [(1, 2, 3, 0)], [(1, 2, 3)], r"rows must have shape \(n, 4\)"),
        (
            _checks.spheres,
            [(1, 2, 3, 4)],
            [(1, 2, 3, 4), (1, 2, 3, -4)],
            r"radius must be >= 0, got -4.0 in rows\[1\]",
        ),
        (
            _checks.triangles,
            np.zeros((2, 3, 3)),
            np.zeros((2, 3, 2)),
            r"rows must have shape \(n, 3, 3\) or \(n, 9\), got \(2, 3, 2\)",
        ),
        (_checks.triangles, np.zeros((2, 3, 3)), [[np.inf] * 9], r"rows must be finite, got inf"),
        (
            _checks.points,
            np.ma.array([[1, 2, 3]], mask=False),
            np.ma.array([[1, 2, 3], [4, 5, 6]], mask=[[False, False, False], [False, True, False]]),
            r"rows must be unmasked, got a masked number at \[1, 1\]",
        ),
    ],
)
def test_rows_of_one_form_only(take, good, bad, message):
    rows = take("rows", good)
    assert rows.dtype == np.float64
    assert not rows.flags.writeable
    np.testing.assert_array_equal(rows, good)
    with pytest.raises(ValueError, match=message):
        take("rows", bad)


def test_triangles_may_be_rows_of_nine():
    flat = np.arange(18.0).reshape(2, 9)
    np.testing.assert_array_equal(_checks.triangles("t", flat), flat.reshape(2, 3, 3))


def test_refuse_negative_names_the_first_row():
    _checks.refuse_negative("part", "rows", np.zeros((3, 2)))
    with pytest.raises(ValueError, match=r"part must be >= 0, got -1.0 in rows\[1\]"):
        _checks.refuse_negative("part", "rows", np.array([[0.0, 1.0], [2.0, -1.0], [-3.0, 0.0]]))


def test_common_length_names_every_array_that_disagrees():
    one, two, three = (np.zeros((n, 3)) for n in (1, 2, 3))
    assert _checks.common_length(a=one, b=one) == 1
    assert _checks.common_length(a=one, b=three) == 3
    assert _checks.common_length(a=one, b=three[:0]) == 0
    with pytest.raises(ValueError, match="the same number of rows or one, but a has 2, c has 3"):
        _checks.common_length(a=two, b=one, c=three)
