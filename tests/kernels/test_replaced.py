"""NamedTuples with other values in some fields, in kernels and in plain Python."""

from typing import NamedTuple

import numpy as np
import pytest

from terrain_physics._kernels._intrinsics import replaced
from terrain_physics._kernels._jit import kernel
from terrain_physics._kernels.math.vec3 import Vec3
from terrain_physics._kernels.types import Floats

pytestmark = pytest.mark.kernels


class _Step(NamedTuple):
    place: Vec3
    seconds: float
    number: int
    is_last: bool
    rows: Floats


class _Pair(NamedTuple):
    first: float
    second: float


STEP = _Step((1.0, 2.0, 3.0), 0.5, 7, False, np.arange(4.0))


@kernel
def with_three(step, place, rows):
    return replaced(step, rows=rows, is_last=True, place=place)


@kernel
def counted(step, times):
    for _ in range(times):
        step = replaced(step, number=step.number + 1, rows=np.ones(len(step.rows) + 1))
    return step


@kernel
def with_second(pair, second):
    return replaced(pair, second=second)


@kernel
def with_third(pair, third):
    return replaced(pair, third=third)


@kernel
def with_place(step, place):
    return replaced(step, place=place)


def test_the_fields_named_are_others_and_the_rest_stays():
    rows = np.zeros(2)
    made = with_three(STEP, (4.0, 5.0, 6.0), rows)
    assert made[:4] == ((4.0, 5.0, 6.0), 0.5, 7, True)
    assert np.array_equal(made.rows, rows)
    assert STEP.place == (1.0, 2.0, 3.0)
    assert not STEP.is_last


def test_arrays_made_in_a_loop_live_as_long_as_what_holds_them():
    made = counted(STEP, 1000)
    assert made[:4] == (*STEP[:2], 1007, False)
    assert np.array_equal(made.rows, np.ones(1004))


def test_a_field_keeps_its_type():
    assert with_second(_Pair(1.0, 2.0), 3) == (1.0, 3.0)


def test_a_field_that_is_not_there_is_refused():
    with pytest.raises(Exception, match=r"_Pair has no third|unexpected field names: \['third'\]"):
        with_third(_Pair(1.0, 2.0), 3.0)


@pytest.mark.skipif(not hasattr(counted, "py_func"), reason="nothing is compiled")
def test_a_value_of_another_type_is_refused():
    with pytest.raises(Exception, match=r"place must be UniTuple\(float64 x 3\), got float64"):
        with_place(STEP, 1.0)
