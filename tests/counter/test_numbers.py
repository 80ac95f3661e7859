"""The parser gives what `float()` gives, bit for bit; the printer what `str()` gives."""

import io
import math
import re
import struct
import sys
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain_physics._kernels.counter import numbers
from terrain_physics._support.threads import Workers
from terrain_physics.counter.text import NumberReader, TextError, write_counts
from tests.helpers.examples import examples
from tests.helpers.threads import cut_finely

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def read_problem(text, threads=1):
    """Return the triangles and the spheres of a problem."""
    reader = NumberReader(Workers(threads), io.BytesIO(text), "text")
    n, q = reader.counts()
    triangles = reader.triangles(n)
    blocks = list(reader.spheres(q, 1000))
    return triangles, np.concatenate([np.empty((0, 4)), *blocks])


def parsed(tokens):
    """Return the numbers of the spheres that these tokens make, filled up with zeros."""
    filled = [*tokens, *["0"] * (-len(tokens) % 4)]
    # Radii are not negative, so each token is a coordinate.
    text = f"0 {len(filled)} " + " ".join(f"0 0 0 {token}" for token in filled)
    _, spheres = read_problem(text.encode())
    return spheres[: len(tokens), 3].tolist()


def assert_read_as_float(tokens):
    read = parsed(tokens)
    for token, value in zip(tokens, read, strict=True):
        assert struct.pack("d", value) == struct.pack("d", float(token)), token
    assert len(read) == len(tokens)


def random_token(rng):
    kind = rng.randrange(8)
    sign = rng.choice(["", "", "-", "+"])
    if kind == 0:
        return repr(
            struct.unpack("d", struct.pack("Q", rng.getrandbits(64) & 0x7FEF_FFFF_FFFF_FFFF))[0]
        )
    if kind == 1:
        return f"{sign}{rng.uniform(0, 10 ** rng.randrange(1, 19)):.{rng.randrange(18)}f}"
    if kind == 2:
        return f"{sign}{rng.getrandbits(rng.randrange(1, 64))}e{rng.randrange(-30, 30)}"
    if kind == 3:  # just beside the middle of two floats
        middle = (rng.getrandbits(53) << 1 | 1) << rng.randrange(0, 8)
        return f"{sign}{middle + rng.choice([-1, 0, 0, 1])}e{rng.choice([0, 0, -3, 5])}"
    if kind == 4:  # denormals, and what is rounded to zero
        return f"{sign}{rng.uniform(0, 10):.{rng.randrange(25)}f}e-{rng.randrange(300, 340)}"
    if kind == 5:
        return f"{sign}{'0' * rng.randrange(30)}.{'0' * rng.randrange(30)}{rng.getrandbits(70)}"
    if kind == 6:
        return f"{sign}{rng.getrandbits(300)}.{rng.getrandbits(100)}E+{rng.randrange(200)}"
    digits = str(rng.getrandbits(rng.randrange(1, 70)))
    point = rng.randrange(len(digits) + 1)
    return f"{sign}{digits[:point]}.{digits[point:]}"


def finite_tokens(count, seed):
    rng = Random(seed)  # noqa: S311
    tokens = [random_token(rng) for _ in range(count)]
    return [token for token in tokens if math.isfinite(float(token))]


@pytest.mark.kernels
def test_numbers_of_every_kind_are_read_as_float_reads_them():
    assert_read_as_float(finite_tokens(3000, 1))


def test_many_random_numbers_are_read_as_float_reads_them():
    assert_read_as_float(finite_tokens(60_000, 2))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 50))
def test_millions_of_random_numbers_are_read_as_float_reads_them(seed):
    assert_read_as_float(finite_tokens(100_000, seed))


@pytest.mark.kernels
@pytest.mark.parametrize(
    "token",
    [
        *("0", "-0", "+0.0", ".5", "5.", "-.5e1", "1e22", "1e23", "1e0000000001", "1e-400"),
        *("9007199254740993", "9007199254740992.5", "9999999999999999999", "7205759403792793e1"),
        *("18446744073709551615", "18446744073709551616", "99999999999999999999e-19"),
        *("1.7976931348623157e308", "4.9406564584124654e-324", "2.4703282292062327e-324"),
        *("2.2250738585072011e-308", "0e999999999999", "1e-100022", "1e-99978", "8.5e-22"),
        *("0." + "0" * 400 + "1e401", "1" + "0" * 400 + "e-400", "123456789012345678e-22"),
        "0." + "0" * 99_999 + "1e100000",
    ],
)
def test_hard_numbers_are_read_as_float_reads_them(token):
    assert_read_as_float([token, "-" + token.lstrip("+-")])


def test_most_numbers_of_17_digits_do_not_need_python():
    rng = Random(4)  # noqa: S311
    text = " ".join(f"{rng.uniform(-1000, 1000):.17g}" for _ in range(5000)).encode()
    outcome, count, _ = numbers.parse_numbers(
        np.frombuffer(text, np.uint8), 0, len(text), np.empty(6000)
    )
    assert (outcome, count) == (numbers.PARSED, 5000)


@pytest.mark.kernels
@given(st.text("0123456789+-.eE_xXnaif ,\t", max_size=12))
@examples(300)
def test_what_is_accepted_is_what_the_grammar_says(text):
    tokens = text.split()
    body = f"0 1 0 0 0 {text}\n".encode()
    if len(tokens) == 1 and NUMBER.fullmatch(tokens[0]) and math.isfinite(float(tokens[0])):
        assert read_problem(body)[1][0, 3] == float(tokens[0])
    else:
        with pytest.raises(TextError, match=r"^text:1: "):
            read_problem(body)


@pytest.mark.kernels
@given(st.binary(max_size=60), st.integers(0, 10))
@examples(200)
def test_tokens_are_counted_as_split_counts_them(text, first):
    first = min(first, len(text))
    data = np.frombuffer(text, np.uint8)
    assert numbers.count_tokens(data, first, len(text)) == len(text[first:].split())


def test_text_cut_into_many_parts_reads_the_same(monkeypatch):
    rng = Random(9)  # noqa: S311
    tokens = [f"{rng.uniform(0, 100):.{rng.randrange(1, 17)}f}" for _ in range(4 * 500)]
    text = (
        "0 500\n" + "".join(n + rng.choice([" ", "\n", "\r\n", "   \t"]) for n in tokens)
    ).encode()
    cut_finely(monkeypatch, 37)
    _, spheres = read_problem(text, threads=2)
    assert spheres.ravel().tolist() == [float(n) for n in tokens]
    bad = text[:-200] + b" 1,5 2_0 " + text[-200:]
    with pytest.raises(TextError, match=r"got '1,5'"):
        read_problem(bad, threads=2)


@pytest.mark.kernels
@given(st.lists(st.integers(0, 2**63 - 1) | st.integers(0, 1000)))
def test_counts_are_printed_one_a_line(counts):
    expected = "".join(f"{count}\n" for count in counts).encode()
    assert write_counts(np.array(counts, np.int64)) == expected


def test_powers_of_ten_are_exact():
    assert [int(power) for power in numbers._POWERS] == [10**k for k in range(23)]
    assert sys.float_info.radix == 2
