"""Numbers as text: what `str` and `repr` write, byte for byte, compiled and plain."""

import itertools
import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain_physics._kernels.math.decimal import LONGEST
from terrain_physics.surface.obj_files import write_obj

pytestmark = pytest.mark.kernels


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return how floats are written: what others read is the file."""
    path = tmp_path_factory.mktemp("decimal") / "a.obj"

    def texts(values):
        filled = [*values, *[0.0] * (-len(values) % 3)]
        write_obj(path, np.reshape(filled, (-1, 3)), [])
        words = path.read_text(encoding="ascii").split()
        return [word for word in words if word != "v"][: len(values)]

    return texts


def beside(values):
    """Return floats with the next smaller and the next larger one."""
    return [
        near for v in values for near in (math.nextafter(v, -math.inf), v, math.nextafter(v, 9e308))
    ]


def assert_as_repr(written, values):
    expected = [repr(value + 0.0) for value in values]
    assert written(values) == expected
    assert max(map(len, expected)) <= LONGEST


def test_powers_of_two_and_their_neighbors(written):
    """Every exponent there is: both halves of the table."""
    values = beside(2.0**k for k in range(-1074, 1024))
    assert_as_repr(written, [value for value in values if math.isfinite(value)])


def test_one_digit_and_its_neighbors(written):
    digits = itertools.product(range(1, 10), range(-323, 308))
    assert_as_repr(written, beside(float(f"{digit}e{k}") for digit, k in digits))


@pytest.mark.parametrize(
    "values",
    [
        [0.0, -0.0, 1.0, -1.0, 0.1, -0.3, 1 / 3, 30.0, 100.0, 123456.789, 4.5e6],
        [5e-324, 1e-323, 1.5e-323, 2.2250738585072014e-308, -2.2250738585072014e-308],
        [1.7976931348623157e308, -1.7976931348623157e308, 1e22, 1e23, 9007199254740993.0],
        [9999999999999998.0, 1e16, 123456789012345680.0, 1e15, 1e17],  # where exponents begin
        [1e-4, 0.00012, 9.999e-5, 1e-5, 0.0001234567890123456, 1.5e-9, 1e-100],
        [9.5, 9.999999999999998, 2.0**53, 2.0**53 - 1, 2.0**63, 8.41e21, 2.0**-1022],
    ],
)
def test_known_numbers(written, values):
    assert_as_repr(written, values)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=50))
def test_any_floats(written, values):
    assert_as_repr(written, values)


def test_any_bits(written):
    rng = np.random.default_rng(1)
    words = rng.integers(0, 2**64, 20_000, dtype=np.uint64).view(np.float64)
    assert_as_repr(written, words[np.isfinite(words)].tolist())


def test_numbers_of_maps_read_back_to_the_last_bit(written):
    rng = np.random.default_rng(2)
    singles = rng.normal(0, 900, 3_000).astype(np.float32).astype(float)
    units = rng.normal(size=(1_000, 3))
    units /= np.sqrt((units**2).sum(axis=1, keepdims=True))
    steps = 443_000.5 + 30 * np.arange(3_000)
    values = [*singles.tolist(), *units.ravel().tolist(), *steps.tolist()]
    texts = written(values)
    assert [struct.pack("<d", float(text)) for text in texts] == [
        struct.pack("<d", value) for value in values
    ]
    assert texts == [repr(value) for value in values]


@pytest.mark.parametrize("with_normals", [False, True])
def test_whole_numbers_of_every_length(tmp_path, with_normals):
    """Of faces: from 1 to as many vertices as there are."""
    corners = np.zeros((100_001, 3))
    ends = [0, 8, 9, 98, 99, 998, 999, 9_998, 9_999, 99_998, 99_999, 100_000]
    write_obj(
        tmp_path / "a.obj",
        corners,
        [ends[:3], ends[3:6], ends[6:9], ends[9:]],
        corners if with_normals else None,
    )
    words = (tmp_path / "a.obj").read_text(encoding="ascii").rpartition("0.0\n")[2].split()
    numbers = [str(end + 1) for end in ends]
    expected = [f"{number}//{number}" if with_normals else number for number in numbers]
    assert [word for word in words if word != "f"] == expected
