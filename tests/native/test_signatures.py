"""The list of what is compiled: readable, complete as far as sources show, kept by the suite."""

import inspect
from typing import Any

import numpy as np
import pytest

from terrain_physics import HeightMap
from terrain_physics._kernels import _jit
from tests.helpers import machine_code

packages = pytest.importorskip("terrain_physics._build.packages")

pytestmark = pytest.mark.skipif(not _jit.HAS_NUMBA, reason="the list is read by what has numba")


@pytest.fixture(scope="module", params=packages.PACKAGES, ids=lambda package: package.name)
def package(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture(scope="module")
def listed(package: Any) -> list[str]:
    from terrain_physics._build import signatures

    return signatures.read(package)


def test_the_list_is_sorted_and_says_nothing_twice(listed):
    assert listed == sorted(set(listed))


def test_each_line_is_read_and_written_the_same(package, listed):
    from terrain_physics._build import signatures

    for line in listed:
        assert signatures.line_of(*signatures.load(line, package)) == line


def test_each_line_has_as_many_types_as_its_kernel_has_arguments(package, listed):
    from terrain_physics._build import signatures

    for line in listed:
        kernel, types = signatures.load(line, package)
        assert len(types) == len(inspect.signature(kernel.py_func).parameters), line


@pytest.mark.parametrize(
    "text",
    [
        "",
        "bool, int64, uint8, float32",
        "float64[::1], readonly(float32[:, :, ::1]), bool[:, ::1]",
        "uint64[:], readonly(float32[:, :])",
        "none, (float64, float64,), (int64,), ((bool, float64,), uint64[::1],)",
    ],
)
def test_types_are_read_and_written_the_same(text):
    from terrain_physics._build import signatures

    assert ", ".join(map(signatures.text_of, signatures.types_of(text))) == text


def test_an_array_in_another_order_is_not_listed():
    from numba import types

    from terrain_physics._build import signatures

    with pytest.raises(TypeError, match="no kernel is compiled ahead of time for"):
        signatures.text_of(types.Array(types.float64, 2, "F"))


def test_each_kernel_that_python_uses_is_listed(package, listed):
    from terrain_physics._build import callers

    used = callers.used_kernels(package)
    assert len(used) > (50 if package is packages.LIBRARY else 15)
    assert used <= {line.partition("(")[0] for line in listed}


def height() -> None:
    HeightMap([[0, 0], [0, 0]]).height_at(0.5, 0.5)


def mark() -> None:
    from demo.renderers.raster import mark_ground

    mark_ground(np.zeros((1, 1), np.float32), np.zeros((1, 1), np.uint32), 0, 1)


CALLS = {"heightmap.grid.height_at(": height, "raster.mark_ground(": mark}


def test_the_suite_fails_for_what_is_not_listed(package, listed, monkeypatch):
    from terrain_physics._build import signatures

    if _jit.native is not None:
        pytest.skip("numba compiles nothing here")
    (start,) = (start for start in CALLS if any(line.startswith(start) for line in listed))
    CALLS[start]()
    (line,) = (line for line in listed if line.startswith(start))
    assert line not in machine_code.gaps()
    read, others = signatures.read, [other for other in listed if other != line]
    monkeypatch.setattr(signatures, "read", lambda one: others if one is package else read(one))
    monkeypatch.delenv("TERRAIN_PHYSICS_RECORDING", raising=False)
    assert line in machine_code.gaps()
