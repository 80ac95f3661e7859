"""The command `count`: compressed files, parts of a problem, statistics, recounts, progress."""

import gzip
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from terrain_physics import __main__ as command_line
from terrain_physics import count_touching
from terrain_physics.counter import command, counter, text
from tests.counter import data_sets
from tests.counter.command import Outcome, count
from tests.helpers import forks
from tests.helpers.calls import lines_of

ROOT = Path(__file__).parents[2]
PROBLEM = b"1 2\n0 0 0 4 0 0 0 0 4\n1 1 1 1\n1 1 9 1\n"


def lines(counts):
    return "".join(f"{number}\n" for number in counts)


def rows(table):
    return "".join(" ".join(map(repr, row)) + "\n" for row in table.tolist())


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """Return two files of triangles, one of spheres, and the counts."""
    folder = tmp_path_factory.mktemp("parts")
    triangles, spheres = data_sets.clustered_large(700, 200.0)
    (folder / "first").write_text(rows(triangles[:300]))
    (folder / "second").write_text(rows(triangles[300:]))
    (folder / "spheres").write_text(rows(spheres))
    whole = f"{len(triangles)} {len(spheres)}\n{rows(triangles)}{rows(spheres)}"
    (folder / "whole").write_text(whole)
    counts = count_touching(triangles, spheres).tolist()
    assert any(counts)
    return folder, counts


@pytest.mark.parametrize("pack", [gzip.compress, lambda text: b"".join(map(gzip.compress, text))])
def test_packed_files_are_known_by_their_first_bytes(tmp_path, pack):
    file = tmp_path / "problem.txt"
    file.write_bytes(pack([PROBLEM[:20], PROBLEM[20:]]) if pack != gzip.compress else pack(PROBLEM))
    assert count(file, "-", stdin=gzip.compress(PROBLEM)) == (0, "1\n0\n1\n0\n", "")


def test_a_packed_stream_may_arrive_byte_by_byte():
    reader, writer = os.pipe()
    process = forks.start("-m", "terrain_physics", "count", stdin=reader)
    os.close(reader)
    for byte in gzip.compress(PROBLEM):
        os.write(writer, bytes([byte]))
    os.close(writer)
    assert process.communicate() == (b"1\n0\n", b"")
    assert process.returncode == 0


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: data[:-3],
        lambda data: data[:30] + b"\xff\xff\xff" + data[33:],
        lambda data: data + b"more",
        lambda data: data[:2],
    ],
)
def test_a_damaged_packed_file_is_refused_with_its_line(tmp_path, damage):
    file = tmp_path / "problem.gz"
    file.write_bytes(damage(gzip.compress(PROBLEM * 50)))
    status, out, err = count(file)
    assert (status, out) == (2, "")
    assert re.fullmatch(rf"{re.escape(str(file))}:\d+: .*\n", err)


def test_errors_in_packed_files_carry_their_line():
    bad = gzip.compress(b"0 1\n\n1 2\nx 3\n")
    assert count(stdin=bad) == (2, "", "stdin:4: expected a number, got 'x'\n")


def test_counts_add_up_over_files_of_triangles(parts):
    folder, counts = parts
    files = [folder / "first", folder / "second"]
    expected = (0, lines(counts), "")
    assert count("--triangles", *files, "--spheres", folder / "spheres") == expected
    stdin = (folder / "spheres").read_bytes()
    assert count("--spheres", "-", "--triangles", *files, stdin=stdin) == expected
    assert count("--triangles", *files[::-1], "--spheres", folder / "spheres") == expected
    assert count(folder / "whole") == expected


def test_blocks_and_several_files_go_together(parts, monkeypatch):
    folder, counts = parts
    monkeypatch.setattr(counter, "SPHERES_AT_ONCE", 64)
    files = [folder / "first", folder / "second"]
    outcome = count("--verify", 9, "--triangles", *files, "--spheres", folder / "spheres")
    assert outcome == (
        0,
        lines(counts),
        f"{folder}/spheres: 9 spheres recounted, all counts agree\n",
    )


@pytest.mark.parametrize(
    ("triangles", "spheres", "message"),
    [
        ("1 2 3\n4 5 6 7\n\n", "", "triangles:2: the input ends after 7 of the 9 numbers of a row"),
        ("", "1 2 3 4\n1 2\n", "spheres:2: the input ends after 2 of the 4 numbers of a row"),
        ("", "1 2 3 4\n-1 2 0 0", "spheres:2: a radius must be >= 0, got '-1'"),
        ("0 0 0 4 0 0 0 0 z", "", "triangles:1: expected a number, got 'z'"),
    ],
)
def test_parts_are_refused_by_name_and_line(triangles, spheres, message, tmp_path):
    (tmp_path / "triangles").write_text(triangles)
    (tmp_path / "spheres").write_text(spheres)
    outcome = count("--triangles", tmp_path / "triangles", "--spheres", tmp_path / "spheres")
    assert outcome == (2, "", f"{tmp_path}/{message}\n")


def test_parts_may_be_empty(tmp_path):
    (tmp_path / "none").write_text(" \n")
    assert count("--triangles", tmp_path / "none", "--spheres", tmp_path / "none") == (0, "", "")
    spheres = b"1 2 3 4\n0 0 0 0\n"
    outcome = count("--triangles", tmp_path / "none", "--spheres", "-", stdin=spheres)
    assert outcome == (0, "0\n0\n", "")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--triangles", "a"],
        ["--spheres", "a"],
        ["b", "--spheres", "a", "--triangles", "a"],
        ["--triangles", "-", "--spheres", "-"],
        ["-", "-"],
        ["--threads", "0"],
        ["--threads", "two"],
        ["--json"],
        ["--verify", "-1"],
        ["--verify", "1_0"],
    ],
)
def test_options_that_make_no_sense_are_explained(arguments, capsys):
    with pytest.raises(SystemExit) as error:
        command_line.run(["count", *arguments])
    assert error.value.code == 2
    assert "usage: terrain-physics count" in capsys.readouterr().err


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_change_nothing(parts, threads):
    folder, counts = parts
    assert count("--threads", threads, folder / "whole") == (0, lines(counts), "")


def test_statistics_are_told_on_standard_error(parts):
    folder, counts = parts
    status, out, err = count("--stats", folder / "whole")
    assert (status, out) == (0, lines(counts))
    found = re.fullmatch(
        rf".*whole: n 700, q 700, pairs touched {sum(counts)}, pairs tested (\d+), "
        r"parse \d+\.\d+ s, build \d+\.\d+ s, query \d+\.\d+ s\n",
        err,
    )
    assert found
    assert sum(counts) <= int(found[1]) <= 700 * 700


def test_statistics_may_be_json(parts):
    folder, counts = parts
    status, out, err = count("--stats", "--json", folder / "whole", folder / "whole")
    assert (status, out) == (0, lines(counts) * 2)
    first, second = map(json.loads, err.splitlines())
    assert first["problem"] == second["problem"] == str(folder / "whole")
    assert (first["n"], first["q"], first["pairs_touched"]) == (700, 700, sum(counts))
    assert sum(counts) <= first["pairs_tested"] <= 700 * 700
    assert first["is_estimate"] is False
    assert set(first["seconds"]) == {"parse", "build", "query"}


def test_pairs_tested_may_be_an_estimate(parts, monkeypatch):
    folder, _ = parts
    monkeypatch.setattr(command, "_BOX_TESTS", 500)
    assert "pairs tested about " in count("--stats", folder / "whole").err


@pytest.mark.parametrize("spheres", [1, 20, 10_000])
def test_a_recount_that_agrees_says_so(parts, spheres):
    folder, counts = parts
    outcome = count("--verify", spheres, folder / "whole")
    told = f"{folder}/whole: {min(spheres, 700)} spheres recounted, all counts agree\n"
    assert outcome == (0, lines(counts), told)


def test_a_recount_that_differs_is_an_error(parts, monkeypatch):
    folder, counts = parts
    right = counter.count_with

    def wrong(*arguments):
        result = right(*arguments)
        result[17] += 1
        return result

    monkeypatch.setattr(counter, "count_with", wrong)
    status, out, err = count("--verify", 700, folder / "whole")
    assert (status, out) == (1, "")
    assert err == (
        f"{folder}/whole: sphere 18 touches {counts[17]} triangles by brute force, "
        f"but {counts[17] + 1} were counted\n"
    )


def test_progress_is_shown_on_a_terminal_once_work_takes_long(parts, monkeypatch):
    folder, counts = parts
    monkeypatch.setattr(counter, "SPHERES_AT_ONCE", 64)
    monkeypatch.setattr(command, "_PATIENCE", math.inf)
    assert count(folder / "whole", terminal=True) == (0, lines(counts), "")
    monkeypatch.setattr(command, "_PATIENCE", -1.0)
    assert count(folder / "whole") == (0, lines(counts), "")
    status, out, err = count(folder / "whole", terminal=True)
    assert (status, out) == (0, lines(counts))
    assert "spheres" in err


def test_a_short_run_loads_no_progress_bar_no_vectors_and_no_windows():
    program = (
        "import sys\n"
        "from terrain_physics.__main__ import run\n"
        "status = run(['count', sys.argv[1]])\n"
        "found = {'tqdm', 'pyglm', 'glm', 'pygame', 'PIL', 'scipy'} & set(sys.modules)\n"
        "sys.exit(f'{found}' if found else status)"
    )
    sample = ROOT / "assets" / "contest" / "sample.in"
    forks.printed("-c", program, sample, own=True)


# LLVM calls back while it loads kernels, and swallows a Ctrl-C of that moment: a first count does.
_LOADED_FIRST = """
import sys
from pathlib import Path
from terrain_physics.__main__ import main, run
from terrain_physics.counter import counter
sample, marker, *sys.argv[1:] = sys.argv[1:]
run(["count", sample])
sys.stdout.flush()
begun, count_chunks = [], counter.count_chunks
def counting(*arguments):
    begun.append(1)
    if len(begun) == 3:
        Path(marker).touch()
    count_chunks(*arguments)
counter.count_chunks = counting
main()
"""


@pytest.mark.alone
@pytest.mark.skipif(os.name == "nt", reason="signals are others there")
@pytest.mark.parametrize("threads", ["1", "2"])
def test_ctrl_c_while_counting_ends_soon_and_quietly(tmp_path, threads):
    # Every sphere touches every triangle: minutes of work.
    file = tmp_path / "heavy.in"
    triangle, sphere = "-9 0 0 9 0 0 0 0 9\n", "3 0 0 0\n"
    file.write_text("50000 200000\n" + triangle * 50_000 + sphere * 200_000)
    contest, marker = ROOT / "assets" / "contest", tmp_path / "counting"
    program = "-c", _LOADED_FIRST, contest / "sample.in", marker
    process = forks.start(*program, "count", "--threads", threads, file)
    while not marker.exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, err) == (130, b"")
    assert out == (contest / "sample.out").read_bytes()  # and nothing of the second


def test_the_sample_of_a_stream_is_fair():
    picked = np.zeros(100)
    for trial in range(300):
        sample = command._AuditSample(10)
        sample._rng = np.random.default_rng(trial)
        for first in range(0, 100, 30):
            sample.offer(np.zeros((min(30, 100 - first), 4)), first)
        assert len(set(sample.rows.tolist())) == 10
        picked[sample.rows] += 1
    assert 10 < picked.min() <= picked.max() < 60


def test_outcomes_compare_with_tuples():
    assert Outcome(0, "", "") == (0, "", "")


def test_blanks_of_a_packed_file_are_passed_quickly(tmp_path):
    file = tmp_path / "blanks.gz"
    file.write_bytes(gzip.compress(b" " * 40_000_000 + b"\n" + PROBLEM, 9))
    assert file.stat().st_size < 100_000
    found = list[Outcome]()
    lines = lines_of(text, lambda: found.append(count(file)))
    assert found[0].out == "1\n0\n"
    assert 1_000 < lines < 40_000_000 / 500  # no line runs for each blank, but some for each 4,096


@pytest.mark.parametrize(
    ("redirection", "status", "message"),
    [
        ("<&-", 2, "terrain-physics: cannot read stdin: it is closed\n"),
        (">&-", 1, "terrain-physics: cannot write the output: standard output is closed\n"),
        ("<&- 2>&-", 2, ""),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell that closes streams")
def test_a_closed_stream_is_one_line(tmp_path, redirection, status, message):
    (tmp_path / "problem").write_bytes(PROBLEM)
    command_with = f"{sys.executable} -m terrain_physics count < {tmp_path}/problem {redirection}"
    done = subprocess.run(
        ["/bin/sh", "-c", command_with], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (status, "", message)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_the_mark_before_utf_8_is_passed(pack):
    assert count(stdin=pack(b"\xef\xbb\xbf" + PROBLEM)) == (0, "1\n0\n", "")
    status, out, err = count(stdin=pack(b"\xef\xbb\xbf1 1\n0 0 x"))
    assert (status, out, err) == (2, "", "stdin:2: expected a number, got 'x'\n")
    assert count(stdin=pack(b"\xef\xbb\xbf")).err.startswith("stdin:1: n, the number of")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_other_encodings_are_refused_in_plain_words(encoding, pack):
    message = "stdin:1: text must be ASCII or UTF-8, got UTF-16 or UTF-32\n"
    assert count(stdin=pack(PROBLEM.decode().encode(encoding))) == (2, "", message)


def test_comments_are_refused_in_plain_words(tmp_path):
    told = "(comments, such as the header that np.savetxt writes, are not read)\n"
    assert count(stdin=b"# n q\n" + PROBLEM).err == (
        f"stdin:1: n, the number of triangles, must be a plain integer >= 0, got '#' {told}"
    )
    rows_file = tmp_path / "spheres"
    np.savetxt(rows_file, [[1, 1, 1, 1]], header="r x y z")
    (tmp_path / "triangles").write_text("0 0 0 4 0 0 0 0 4")
    status, out, err = count("--triangles", tmp_path / "triangles", "--spheres", rows_file)
    assert (status, out, err) == (2, "", f"{rows_file}:1: expected a number, got '#' {told}")
