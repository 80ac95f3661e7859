"""Checks of input that functions of pairs share: classes, rows of one form, numbers of rows."""

import numpy as np
import pytest

from terrain_physics import Sphere
from terrain_physics._support import checks


def test_instance_takes_derived_classes_and_names_the_rule():
    class Ball(Sphere):
        """A sphere."""

    checks.instance("ball", Ball((0, 0, 0), 1), Sphere)
    with pytest.raises(TypeError, match=r"ball must be a Sphere, got \(0, 0, 0, 1\)"):
        checks.instance("ball", (0, 0, 0, 1), Sphere)


@pytest.mark.parametrize(
    ("take", "good", "bad", "message"),
    [
        (checks.points, [(1, 2, 3)], [(1, 2)], r"rows must have shape \(n, 3\), got \(1, 2\)"),
        (checks.points, np.zeros((0, 3)), (1, 2, 3), r"rows must have shape \(n, 3\)"),
        (checks.spheres, [(1, 2, 3, 0)], [(1, 2, 3)], r"rows must have shape \(n, 4\)"),
        (
            checks.spheres,
            [(1, 2, 3, 4)],
            [(1, 2, 3, 4), (1, 2, 3, -4)],
            r"radius must be >= 0, got -4.0 in rows\[1\]",
        ),
        (
            checks.triangles,
            np.zeros((2, 3, 3)),
            np.zeros((2, 3, 2)),
            r"rows must have shape \(n, 3, 3\) or \(n, 9\), got \(2, 3, 2\)",
        ),
        (checks.triangles, np.zeros((2, 3, 3)), [[np.inf] * 9], r"rows must be finite, got inf"),
        (
            checks.points,
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
    np.testing.assert_array_equal(checks.triangles("t", flat), flat.reshape(2, 3, 3))


def test_refuse_negative_names_the_first_row():
    checks.refuse_negative("part", "rows", np.zeros((3, 2)))
    with pytest.raises(ValueError, match=r"part must be >= 0, got -1.0 in rows\[1\]"):
        checks.refuse_negative("part", "rows", np.array([[0.0, 1.0], [2.0, -1.0], [-3.0, 0.0]]))


def test_common_length_names_every_array_that_disagrees():
    one, two, three = (np.zeros((n, 3)) for n in (1, 2, 3))
    assert checks.common_length(a=one, b=one) == 1
    assert checks.common_length(a=one, b=three) == 3
    assert checks.common_length(a=one, b=three[:0]) == 0
    with pytest.raises(ValueError, match="the same number of rows or one, but a has 2, c has 3"):
        checks.common_length(a=two, b=one, c=three)
