"""Functions have the same names in each build, and two functions never have the same."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from terrain_physics._kernels import _jit
from tests.helpers import forks

pytestmark = pytest.mark.skipif(not _jit.HAS_NUMBA, reason="nothing is compiled")


def made_with(value: object) -> Callable[[Any], Any]:
    def inner(x):
        return x, value

    return inner


def another_with(value: object) -> Callable[[Any], Any]:
    def inner(x):
        return value, x

    return inner


PARTS = {
    "int": 1,
    "float": 1.0,
    "bool": True,
    "text": "1",
    "int64": np.int64(1),
    "int32": np.int32(1),
    "dtype": np.dtype("f8"),
    "tuple": (1,),
    "set": frozenset({"a", "b", "c"}),
    "class": Path,
    "function": made_with,
    "closure": made_with(1),
    "deeper": made_with(made_with(2)),
}

PRINT = """
from terrain_physics._build.llvm.naming import number_of
from tests.native.test_naming import PARTS, made_with
print(*(number_of(made_with(value)) for value in PARTS.values()))
"""


def test_what_a_function_holds_tells_it_from_others_in_each_process() -> None:
    from terrain_physics._build.llvm.naming import number_of

    numbers = [number_of(made_with(value)) for value in PARTS.values()]
    assert len(set(numbers)) == len(PARTS)
    assert 0 not in numbers
    assert number_of(another_with(1)) not in numbers
    assert forks.printed("-c", PRINT).split() == [str(number) for number in numbers]


def test_the_one_function_of_a_name_is_the_first() -> None:
    from terrain_physics._build.llvm.naming import number_of

    assert number_of(made_with) == 0
