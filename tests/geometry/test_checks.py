"""Checks of input that functions of pairs share: classes, rows of one form, numbers of rows."""

import sys
from types import ModuleType

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


class Lazy:
    """An array of Dask, as far as Dask is asked about it."""

    def __init__(self, values):
        self.values = np.array(values)

    def __dask_graph__(self):
        """Return a graph."""

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype)

    def __float__(self):
        return float(self.values)


@pytest.mark.parametrize(
    "take",
    [
        lambda lazy: checks.real_array("it", lazy),
        lambda lazy: checks.points("it", lazy),
        lambda lazy: checks.copied("it", lazy),
        lambda lazy: checks.finite("it", lazy),
        lambda lazy: checks.broadcast("at", 1.0, "it", lazy),
        lambda lazy: checks.ray_limits("it", lazy),
    ],
)
def test_lazy_arrays_are_refused_by_name(take, monkeypatch):
    base = ModuleType("dask.base")
    base.is_dask_collection = lambda value: isinstance(value, Lazy)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "dask", ModuleType("dask"))
    monkeypatch.setitem(sys.modules, "dask.base", base)
    message = "it must be in memory, got a collection of Dask: compute it, or ask block by block "
    with pytest.raises(TypeError, match=message + "with dask.array.map_blocks"):
        take(Lazy(3.5))


def test_what_only_might_be_lazy_is_an_array_where_there_is_no_dask(monkeypatch):
    monkeypatch.delitem(sys.modules, "dask", raising=False)
    assert checks.real_array("it", Lazy([1, 2])).tolist() == [1.0, 2.0]
