"""Partial counts: written by `count --partial`, added up by `count --merge`."""

import hashlib
import io
import json
import signal
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from terrain_physics import count_touching
from tests.counter import data_sets
from tests.counter.command import count
from tests.helpers import forks

ROOT = Path(__file__).resolve().parents[2]


def rows(table):
    return "".join(" ".join(map(repr, row)) + "\n" for row in table.tolist())


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """Return a folder with three parts of a problem, counted, and all counts as text."""
    folder = tmp_path_factory.mktemp("parts")
    triangles, spheres = data_sets.clustered_large(400, 200.0)
    (folder / "spheres").write_text(rows(spheres))
    for number, part in enumerate(np.array_split(triangles, 3)):
        (folder / f"t{number}").write_text(rows(part))
        assert partial(folder, number, folder / f"{number}.part") == (0, "", "")
    counts = count_touching(triangles, spheres)
    assert counts.any()
    return folder, "".join(f"{number}\n" for number in counts.tolist())


def partial(folder, number, out, spheres="spheres"):
    return count(
        "--partial", out, "--triangles", folder / f"t{number}", "--spheres", folder / spheres
    )


def test_parts_add_up(parts):
    folder, expected = parts
    files = [folder / f"{number}.part" for number in (2, 0, 1)]
    assert count("--merge", *files) == (0, expected, "")


def test_several_files_of_triangles_are_one_part(parts, tmp_path):
    folder, expected = parts
    several = count(
        "--partial", tmp_path / "p", "--triangles", folder / "t0", folder / "t1",
        "--spheres", folder / "spheres",
    )  # fmt: skip
    assert several == (0, "", "")
    assert count("--merge", tmp_path / "p", folder / "2.part") == (0, expected, "")
    twice = count("--merge", tmp_path / "p", folder / "1.part")
    assert (twice.status, twice.out) == (2, "")
    assert f"1.part: counts triangles that {tmp_path / 'p'} has counted" in twice.err


def test_the_same_triangles_twice_are_refused(parts, tmp_path):
    folder, _ = parts
    outcome = count(
        "--partial", tmp_path / "p", "--triangles", folder / "t0", folder / "t0",
        "--spheres", folder / "spheres",
    )  # fmt: skip
    assert (outcome.status, outcome.out) == (2, "")
    assert "holds the triangles of an earlier file of --triangles" in outcome.err
    assert not list(tmp_path.iterdir())


def test_parts_of_another_problem_are_refused(parts, tmp_path):
    folder, _ = parts
    spheres = (folder / "spheres").read_text()
    (folder / "others").write_text(spheres.replace("1", "2", 1))
    assert partial(folder, 1, tmp_path / "other", "others").status == 0
    outcome = count("--merge", folder / "0.part", tmp_path / "other")
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err == f"{tmp_path / 'other'}: counts other spheres than {folder / '0.part'}\n"


@pytest.mark.parametrize("place", [0, 60, 400, -30])
def test_damaged_files_are_refused(parts, tmp_path, place):
    folder, _ = parts
    content = bytearray((folder / "0.part").read_bytes())
    content[place] ^= 0x5A
    (tmp_path / "bad").write_bytes(content)
    outcome = count("--merge", folder / "1.part", tmp_path / "bad")
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.startswith(f"{tmp_path / 'bad'}: ")
    assert outcome.err.count("\n") == 1


def test_what_is_no_part_is_refused(parts, tmp_path):
    folder, _ = parts
    (tmp_path / "cut").write_bytes((folder / "0.part").read_bytes()[:-40])
    with zipfile.ZipFile(tmp_path / "packed", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("about.json", "{}")
        archive.writestr("counts.npy", bytes(100_000))
    for file in (tmp_path / "cut", tmp_path / "packed", folder / "t0"):
        outcome = count("--merge", file)
        assert (outcome.status, outcome.out) == (2, "")
        assert outcome.err.startswith(f"{file}: must be a file that --partial has written, and")
    outcome = count("--merge", tmp_path / "missing")
    assert (outcome.status, outcome.out) == (2, "")
    assert "missing: No such file or directory" in outcome.err
    outcome = count("--merge", tmp_path)
    assert (outcome.status, outcome.out) == (2, "")
    assert "must be a regular file" in outcome.err


def forged(file, counts, about):
    """Write a part whose checksum holds, whatever its counts and its description are."""
    counts = np.array(counts, np.int64)
    if isinstance(about, dict):
        checksum = hashlib.sha256(counts.data).hexdigest()
        about = json.dumps({"format": 1, "spheres": "s", "counts": checksum, **about})
    content = io.BytesIO()
    np.lib.format.write_array(content, counts, (1, 0))
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("about.json", about)
        archive.writestr("counts.npy", content.getvalue())


@pytest.mark.parametrize(
    ("counts", "about", "message"),
    [
        ([-(2**63), 1], {"triangles": {"a": 5}}, "a count that cannot be"),
        ([1, 6], {"triangles": {"a": 5}}, "a count that cannot be"),
        ([2**62], {"triangles": {"a": 2**63}}, "a number of triangles that cannot be"),
        ([0], {"triangles": {"a": -5}}, "a number of triangles that cannot be"),
        ([0], {"triangles": {"a": float("inf")}}, "cannot be interpreted as an integer"),
        ([0], {"format": [2] * 999}, "has the format [2, 2, "),
        ([0], "[" * 100_000, "recursion"),
    ],
)
def test_forged_files_are_refused(tmp_path, counts, about, message):
    forged(tmp_path / "good", [1, 5], {"triangles": {"a": 5}})
    assert count("--merge", tmp_path / "good") == (0, "1\n5\n", "")
    forged(tmp_path / "bad", counts, about)
    outcome = count("--merge", tmp_path / "bad")
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.startswith(f"{tmp_path / 'bad'}: ")
    assert message in outcome.err
    assert len(outcome.err) < 400


def test_damage_leads_to_no_other_error(parts, tmp_path):
    folder, _ = parts
    content = (folder / "0.part").read_bytes()
    rng = np.random.default_rng(3)
    for place in [*range(12), *range(len(content) - 150, len(content))]:
        damaged = bytearray(content)
        damaged[place] = rng.integers(256)
        (tmp_path / "bad").write_bytes(damaged)
        outcome = count("--merge", tmp_path / "bad")
        assert outcome.status in {0, 2}
        assert outcome.err.count("\n") == (outcome.status == 2)


def test_where_nothing_can_be_written(parts, tmp_path):
    folder, _ = parts
    outcome = partial(folder, 0, tmp_path / "no" / "folder")
    assert (outcome.status, outcome.out) == (2, "")
    assert "cannot be written: No such folder" in outcome.err


@pytest.mark.parametrize("name", ["t", "s", "link", "../{}/t"])
def test_no_input_is_replaced(parts, tmp_path, name, capsys):
    folder, _ = parts
    (tmp_path / "t").write_bytes((folder / "t0").read_bytes())
    (tmp_path / "s").write_bytes((folder / "spheres").read_bytes())
    (tmp_path / "link").symlink_to(tmp_path / "t")
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    out = tmp_path / name.format(tmp_path.name)
    with pytest.raises(SystemExit) as ended:
        count("--partial", out, "--triangles", tmp_path / "t", "--spheres", tmp_path / "s")
    assert ended.value.code == 2
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_a_part_that_is_missing_is_refused_if_it_is_expected(parts):
    folder, expected = parts
    files = [folder / f"{number}.part" for number in range(3)]
    assert count("--merge", *files, "--expect", 3) == (0, expected, "")
    message = "--merge: there must be 3 parts, got 2\n"
    assert count("--merge", *files[1:], "--expect", 3) == (2, "", message)


def test_the_sizes_of_what_is_merged_are_told(parts):
    folder, expected = parts
    files = [folder / f"{number}.part" for number in range(3)]
    assert count("--merge", *files, "--stats") == (0, expected, "parts 3, n 400, q 400\n")
    told = count("--merge", *files, "--stats", "--json")
    assert (told.status, told.out) == (0, expected)
    assert json.loads(told.err) == {"parts": 3, "n": 400, "q": 400}


@pytest.mark.alone
@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGTERM that a program can handle")
def test_a_partial_count_that_is_terminated_leaves_nothing(parts, tmp_path):
    folder, _ = parts
    # The file of the counts is begun when it is told that it is terminated.
    program = (
        "import os, signal, zipfile\n"
        "from terrain_physics import __main__ as command_line\n"
        "zipfile.ZipFile = lambda *_: os.kill(os.getpid(), signal.SIGTERM)\n"
        "command_line.main()"
    )
    arguments = "--triangles", folder / "t0", "--spheres", folder / "spheres"
    done = forks.run("-c", program, "count", "--partial", tmp_path / "p", *arguments)
    assert done == (143, "", "")
    assert not list(tmp_path.iterdir())


def test_signals_are_handled_as_before_afterwards(parts, tmp_path):
    before = signal.getsignal(signal.SIGTERM)
    partial(parts[0], 0, tmp_path / "p")
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["--merge", "a", "--scheduler", "local"],
        ["--expect", "2", "whole"],
        ["--merge", "a", "--triangles", "t", "--spheres", "s"],
        ["--partial", "p", "whole"],
        ["--partial", "p", "--scheduler", "local", "--triangles", "t", "--spheres", "s"],
    ],
)
def test_options_that_do_not_go_together(arguments):
    with pytest.raises(SystemExit) as ended:
        count(*arguments)
    assert ended.value.code == 2
