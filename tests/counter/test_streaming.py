"""Problems read and counted in pieces: the same answers, the same messages, bounded memory."""

import gzip
import io
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from terrain_physics import count_touching
from terrain_physics._support.threads import Workers
from terrain_physics.counter import counter
from terrain_physics.counter.text import NumberReader, TextError
from tests.counter import data_sets, peak_memory
from tests.counter.command import count
from tests.helpers.examples import examples, rest_is_full

ROOT = Path(__file__).parents[2]
TRIANGLE = "0 0 0 4 0 0 0 0 4"


@pytest.fixture(params=[64, 65, 100, 1000])
def small_pieces(request, monkeypatch):
    monkeypatch.setattr("terrain_physics.counter.text._PIECE", request.param)
    monkeypatch.setattr("terrain_physics.counter.text._LEAST_ROOM", 5)
    monkeypatch.setattr(counter, "SPHERES_AT_ONCE", 7)


def messy(tokens, seed):
    """Join tokens by random white space, and return the text and the line of each token."""
    rng = random.Random(seed)  # noqa: S311
    text, lines = "", []
    for token in tokens:
        text += rng.choice([" ", "\n", "\r\n", "  \t", "\n\n\n", "\v", " " * 90])
        lines.append(text.count("\n") + 1)
        text += token
    return text + rng.choice(["", "\n", "\n" * 150]), lines


def tokens_of(triangles, spheres):
    numbers = [*triangles.ravel().tolist(), *spheres.ravel().tolist()]
    return [str(len(triangles)), str(len(spheres)), *map(repr, numbers)]


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("seed", rest_is_full(range(6), 2))
def test_pieces_of_any_size_give_the_same_answers(seed):
    triangles, spheres = data_sets.SMALL["uniform"](np.random.default_rng(seed), 37, 29)
    text, _ = messy(tokens_of(triangles, spheres), seed)
    expected = "".join(f"{number}\n" for number in count_touching(triangles, spheres))
    assert count(stdin=text.encode()) == (0, expected, "")
    assert count(stdin=gzip.compress(text.encode())) == (0, expected, "")


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("bad", ["x", "nan", "1_0", "1e999", "--1", "1" * 63])
@pytest.mark.parametrize("seed", rest_is_full(range(6), 2))
def test_the_line_is_right_across_pieces(bad, seed):
    rng = np.random.default_rng([seed, 5])
    tokens = tokens_of(*data_sets.SMALL["uniform"](rng, 20, 30))
    place = int(rng.integers(2, len(tokens)))
    tokens[place] = bad
    text, lines = messy(tokens, seed)
    status, out, err = count(stdin=text.encode())
    if bad == "1" * 63:
        assert (status, err) in {(0, ""), (2, err)}
        assert not err or err.startswith(f"stdin:{lines[place]}: a number must have less than")
    else:
        assert (status, out) == (2, "")
        assert err.startswith(f"stdin:{lines[place]}: ")
        assert err.endswith(f"got '{bad}'\n")


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("seed", rest_is_full(range(8), 2))
def test_a_negative_radius_and_both_ends_are_found_across_pieces(seed):
    rng = np.random.default_rng([seed, 6])
    right = tokens_of(*data_sets.SMALL["uniform"](rng, 5, 30))
    place = 2 + 9 * 5 + 4 * int(rng.integers(30))
    text, lines = messy([*right[:place], "-1.5", *right[place + 1 :]], seed)
    message = f"stdin:{lines[place]}: a radius must be >= 0, got '-1.5'\n"
    assert count(stdin=text.encode()) == (2, "", message)

    cut = int(rng.integers(2, len(right)))
    text, lines = messy(right[:cut], seed)
    message = (
        f"stdin:{lines[-1]}: the input ends after {cut - 2} of the 9 n + 4 q = "
        f"{len(right) - 2} numbers that follow n and q\n"
    )
    assert count(stdin=text.encode()) == (2, "", message)

    text, lines = messy([*right, "y"], seed)
    message = (
        f"stdin:{lines[-1]}: nothing may follow the 9 n + 4 q = {len(right) - 2} numbers "
        "after n and q, got 'y'\n"
    )
    assert count(stdin=text.encode()) == (2, "", message)


class Trickle(io.RawIOBase):
    """A stream that gives a few bytes at a time, as pipes do."""

    def __init__(self, data, seed):
        self._data = io.BytesIO(data)
        self._random = random.Random(seed)  # noqa: S311

    def readable(self):
        return True

    def readinto(self, room):
        return self._data.readinto(memoryview(room)[: self._random.randrange(1, 9)])


@given(
    st.lists(st.sampled_from(["1", "-2.5", "+.5", "3e2", "4.", "x", "1_0", "-0"]), max_size=40),
    st.integers(0, 1000),
)
@examples(150)
def test_streams_are_read_like_the_whole_text(tokens, seed):
    text, _ = messy(tokens, seed)

    def read(stream, piece):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("terrain_physics.counter.text._PIECE", piece)
            try:
                reader = NumberReader(Workers(1), stream, "text")
                return [block.tolist() for block in reader.spheres(None, 10_000)]
            except TextError as error:
                return str(error)

    whole = read(io.BytesIO(text.encode()), 1 << 16)
    assert read(io.BufferedReader(Trickle(text.encode(), seed)), 16 + seed % 50) == whole


def test_a_token_without_end_is_refused(monkeypatch):
    monkeypatch.setattr("terrain_physics.counter.text._PIECE", 1000)
    shown = "9" * 37
    assert count(stdin=b"0 1\n" + b"9" * 5000) == (
        2,
        "",
        f"stdin:2: a number must have less than 1000 bytes, got '{shown}...'\n",
    )


def peak_megabytes(write, answers):
    """Run `count` on what ``write`` puts into its standard input; return its greatest memory."""
    command = [sys.executable, "-m", "tests.counter.peak_memory", "count"]
    pipe = subprocess.PIPE
    with (
        answers.open("wb") as out,
        subprocess.Popen(command, stdin=pipe, stdout=out, stderr=pipe, cwd=ROOT) as process,
    ):
        assert process.stdin is not None
        assert process.stderr is not None
        write(process.stdin)
        process.stdin.close()
        err = process.stderr.read().decode()
        assert process.wait() == 0, err
    return int(err)


def write_rows(stream, table, repeats=1):
    text = io.StringIO()
    np.savetxt(text, table, fmt="%.3f")
    data = text.getvalue().encode()
    for _ in range(repeats):
        stream.write(data)


def check_memory(tmp_path, triangle_count, sphere_count, radius):
    """Measure with no spheres, then with all; compare with what `count --help` promises."""
    at_once = 100_000
    triangles, spheres = data_sets.uniform_large(triangle_count, radius)
    spheres = np.resize(spheres, (at_once, 4))

    def write(stream, repeats):
        stream.write(f"{triangle_count} {at_once * repeats}\n".encode())
        for first in range(0, triangle_count, at_once):
            write_rows(stream, triangles[first : first + at_once])
        write_rows(stream, spheres, repeats)

    answers = tmp_path / "answers"
    base = peak_megabytes(lambda stream: stream.write(b"0 1 1 1 1 1\n"), answers)
    peak = peak_megabytes(lambda stream: write(stream, sphere_count // at_once), answers)
    lines = answers.read_bytes().split(b"\n")[:-1]
    assert len(lines) == sphere_count
    assert lines[:at_once] * (sphere_count // at_once) == lines
    promised = (130 * triangle_count + 4 * sphere_count) / 1e6 + 100
    assert peak - base < promised
    return peak


@pytest.mark.alone
@pytest.mark.skipif(not peak_memory.STATUS.exists(), reason="only Linux tells")
def test_memory_does_not_grow_with_the_spheres(tmp_path):
    # The text has 90 MB, its numbers 96 MB, and what counting takes for each sphere 150 MB.
    check_memory(tmp_path, 2_000, 3_000_000, 1.0)


@pytest.mark.long
@pytest.mark.skipif(not peak_memory.STATUS.exists(), reason="only Linux tells")
def test_ten_million_spheres_against_two_million_triangles(tmp_path):
    assert check_memory(tmp_path, 2_000_000, 10_000_000, 50.0) < 700
