"""Small kernels of every kind become an extension module, which gives what Python gives.

They are compiled, linked and wrapped as those of the library are, in a process of its own.
"""

import os
import sys
from pathlib import Path

import pytest

from terrain_physics._kernels import _jit
from tests.helpers import forks
from tests.helpers.environments import ROOT
from tests.helpers.examples import rest_is_full

c_compiler = pytest.importorskip("terrain_physics._build.systems.c_compiler")

TESTED = "linux-x86_64"

pytestmark = pytest.mark.skipif(
    not _jit.HAS_NUMBA or c_compiler.HERE != TESTED or c_compiler.find(TESTED) is None,
    reason="machine code is made by numba and a C compiler, on Linux",
)

PROBE = """
from typing import NamedTuple

import numpy as np

from terrain_physics._kernels._jit import kernel


class Pair(NamedTuple):
    values: object
    limit: float


@kernel(noinline=True)
def weight(value):
    return 2.0 * value + 1.0


@kernel(no_refcount=True, noinline=True)
def total(values):
    result = 0.0
    for row in range(values.shape[0]):
        for column in range(values.shape[1]):
            result += weight(values[row, column])
    return result


@kernel
def scale(values, factor):
    for k in range(len(values)):
        values[k] *= factor


@kernel
def kinds(flag, number, word, small, single, half):
    return not flag, number + 1, word + np.uint64(1), (small, single), ((half,), None)


@kernel
def length(values):
    return -1 if values is None else len(values)


@kernel
def made(count, value):
    result = np.empty((count, 2), np.float32)
    result[:] = value
    return result


@kernel
def both(values):
    return values, values[1:]


@kernel
def below(pair, steps):
    return pair.values[steps[0]] < pair.limit


@kernel
def refuse(value):
    if value < 0.0:
        raise ValueError("must not be negative")
    return value


@kernel
def sorted_copy(values):
    return np.sort(values)


@kernel
def sum_of(values):
    result = np.uint64(0)
    for value in values:
        result += value
    return result
"""

LINES = """
probe.below(named("probe.Pair", readonly(float64[::1]), float64), (int64, int64,))
probe.both(float64[::1])
probe.both(readonly(float64[::1]))
probe.kinds(bool, int64, uint64, int32, float32, float64)
probe.length(none)
probe.length(uint8[::1])
probe.made(int64, float64)
probe.refuse(float64)
probe.scale(float64[::1], float64)
probe.scale(int64[::1], int64)
probe.sorted_copy(float64[::1])
probe.sum_of(uint64[:])
probe.total(float64[:, ::1])
probe.total(readonly(float64[:, ::1]))
probe.weight(float64)
"""

MAKE = """
import sys
from pathlib import Path
import terrain_physics._kernels
terrain_physics._kernels.__path__.append(sys.argv[1])
from terrain_physics._build import making, signatures
from terrain_physics._build.packages import LIBRARY
from terrain_physics._build.systems import c_compiler, headers
from terrain_physics._build.platforms import HERE, PLATFORMS, Wanted
signatures.read = lambda package: sys.argv[3].split("\\n")
linker = c_compiler.Linker(HERE, c_compiler.find(HERE), headers.here())
wanted = [Wanted(HERE, level) for level in PLATFORMS[HERE].levels if level.name == "v2"]
with making.made(wanted, lambda _: {HERE: linker}, [LIBRARY]) as modules:
    (module,) = modules
    making.put(module.file, Path(sys.argv[2], module.place))
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("probe")
    (folder / "probe.py").write_text(PROBE)
    # In a process of its own: in a fork of the helper kernels are compiled already.
    env = os.environ | {"TERRAIN_PHYSICS_CACHE_DIR": str(folder / "cache")}
    forks.printed("-c", MAKE, folder, folder, LINES.strip(), own=True, env=env)
    return folder


USE = """
import gc, importlib.util, sys, warnings
import numpy as np
import terrain_physics._kernels
terrain_physics._kernels.__path__.append(sys.argv[1])
from terrain_physics._kernels import _jit, _native, probe as plain

assert not hasattr(plain.total, "overloads")
module = sys.argv[1] + "/terrain_physics/_kernels/_native_v2.abi3.so"
spec = importlib.util.spec_from_file_location("_native_v2", module)
_jit.native = importlib.util.module_from_spec(spec)
spec.loader.exec_module(_jit.native)
spec = importlib.util.find_spec("terrain_physics._kernels.probe")
probe = importlib.util.module_from_spec(spec)
spec.loader.exec_module(probe)

def readonly(values):
    values = values.copy()
    values.setflags(write=False)
    return values

def raises(kind, call, *values):
    try:
        call(*values)
    except kind as error:
        return str(error)
    raise AssertionError("nothing is raised")

def references(values):
    return sys.getrefcount(values)
"""


def run(place: Path, code: str) -> str:
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    return forks.printed("-W", "error", "-c", USE + code, place, env=environment)


def test_scalars_and_tuples_go_in_and_come_out(place):
    run(
        place,
        """
values = (True, 5, np.uint64(2**63), np.int32(-7), np.float32(0.5), 2.5)
result = probe.kinds(*values)
assert result == (False, 6, 2**63 + 1, (-7, 0.5), ((2.5,), None)), result
assert [type(part) for part in result] == [bool, int, int, tuple, tuple]
assert probe.kinds(np.False_, -1, 2**63, *values[3:])[:3] == (True, 0, 2**63 + 1)
assert probe.weight(np.float64(2.0)) == 5.0
pair = probe.Pair(readonly(np.arange(4.0)), 2.0)
assert [probe.below(pair, (k, 0)) for k in range(4)] == [True, True, False, False]
assert not _native.fallbacks
""",
    )


def test_arrays_go_in_by_type_and_come_out_without_a_leak(place):
    run(
        place,
        """
values = np.arange(6.0)
probe.scale(values, 2.0)
assert values.tolist() == [0, 2, 4, 6, 8, 10]
counts = np.arange(3)
probe.scale(counts, 3)
assert counts.tolist() == [0, 3, 6]
assert probe.total(values.reshape(2, 3)) == probe.total(readonly(values.reshape(2, 3))) == 66.0
assert probe.length(None) == -1 and probe.length(np.zeros(3, np.uint8)) == 3

before = references(values)
whole, rest = probe.both(values)
assert whole is values and rest.base is values and rest.tolist() == values[1:].tolist()
rest[0] = 7.0
assert values[1] == 7.0
fixed = readonly(values)
assert not probe.both(fixed)[1].flags.writeable
del whole, rest
assert references(values) == before

made = probe.made(3, 1.5)
assert made.dtype == np.float32 and made.shape == (3, 2) and (made == 1.5).all()
assert made.flags.c_contiguous and made.flags.writeable and made.flags.aligned
assert probe.made(0, 1.5).shape == (0, 2)
assert probe.sorted_copy(np.array([3.0, 1.0, 2.0])).tolist() == [1, 2, 3]
assert not _native.fallbacks
""",
    )


def test_strides_go_in_where_they_are_listed(place):
    run(
        place,
        """
words = np.arange(5, dtype=np.uint32)
pairs = np.ndarray((4,), np.uint64, words.data, strides=(4,))  # overlapping, not aligned
expected = sum(k + ((k + 1) << 32) for k in range(4))
assert probe.sum_of(pairs) == probe.sum_of(pairs[::-1]) == expected
assert not _native.fallbacks
""",
    )


def test_what_is_allocated_is_freed(place):
    run(
        place,
        """
import resource
def memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # KiB
probe.made(1_000_000, 1.0)
before = memory()
for _ in range(20):  # 8 MB each
    probe.made(1_000_000, 1.0)
    probe.sorted_copy(np.ones(1_000_000))
assert memory() - before < 50_000, memory() - before
""",
    )


def test_what_a_kernel_raises_is_raised(place):
    run(
        place,
        """
assert probe.refuse(1.0) == 1.0
assert raises(ValueError, probe.refuse, -1.0) == "must not be negative"
raises((MemoryError, ValueError), probe.made, 2**60, 1.0)
raises((MemoryError, ValueError), probe.made, -1, 1.0)
""",
    )


def test_a_module_does_not_tell_where_it_was_made(place):
    (module,) = place.rglob("_native_*")
    content = module.read_bytes()
    assert b"must not be negative" in content  # an exception, pickled without its place
    for path in (place, ROOT, Path(sys.prefix)):
        assert str(path).encode() not in content


CALLS = [
    "scale(np.asfortranarray(np.ones((1, 3)))[0, ::2], 2.0)",
    "scale(np.ones(4)[::2], 2.0)",
    "scale(np.ones(4), 2)",
    "scale(np.ones(4, '>f8'), 2.0)",
    "scale(np.ones(4, np.float32), 2.0)",
    "scale(np.frombuffer(bytes(33), 'u1')[1:].view('f8').copy()[::-1], 2.0)",
    "total(np.asfortranarray(np.ones((2, 3))))",
    "total(np.ones((2, 3))[:, ::-1])",
    "length([1, 2])",
    "weight(1)",
    "weight(True)",
    "kinds(1, 5, np.uint64(1), np.int32(1), np.float32(1), 2.5)",
    "kinds(True, 5, 1, np.int32(1), np.float32(1), 2.5)",
    "below(probe.Pair(np.arange(4.0), 1.0), [1, 0])",
]


@pytest.mark.parametrize("call", rest_is_full(CALLS, first=3))
def test_other_types_run_as_python_and_say_so_once(place, call):
    run(
        place,
        f"""
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    results = [probe.{call} for _ in range(2)]
assert results == [plain.{call}] * 2 or results[0] is None
(text,) = [str(warning.message) for warning in caught]
name = "terrain_physics._kernels.probe.{call.partition("(")[0]}"
assert name in text and "plain Python" in text, text
assert len(_native.fallbacks) == 1 and _native.fallbacks[0].startswith(name)
""",
    )


def test_an_array_that_cannot_be_written_to_is_no_other(place):
    run(
        place,
        """
warnings.simplefilter("ignore")
assert raises(ValueError, probe.scale, readonly(np.ones(3)), 2.0)
assert _native.fallbacks
""",
    )


def test_a_wrong_number_of_arguments_is_an_error_as_in_python(place):
    run(place, "warnings.simplefilter('ignore'); raises(TypeError, probe.weight)")


def test_functions_know_their_names(place):
    run(
        place,
        """
assert (probe.total.__module__, probe.total.__name__) == ("terrain_physics._kernels.probe", "total")
""",
    )
