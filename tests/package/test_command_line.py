"""`python -m terrain_physics`: answers, messages with line numbers, exit statuses."""

import errno
import io
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from demo.running import command_line as running
from terrain_physics import (
    CharacterMovement,
    HeightMap,
    Recording,
    SphereCollider,
    __version__,
    warmup,
)
from terrain_physics import __main__ as command_line
from terrain_physics._kernels import _jit
from terrain_physics._support import threads
from terrain_physics.counter import command
from terrain_physics.tiles import of_file
from tests.helpers import forks

CONTEST = Path(__file__).parents[2] / "assets" / "contest"
TRIANGLE = "0 0 0 4 0 0 0 0 4"
N_RULE = "n, the number of triangles, must be a plain integer >= 0, got"
Q_RULE = "q, the number of spheres, must be a plain integer >= 0, got"
END = "numbers that follow n and q"
EXTRA = "nothing may follow the 9 n + 4 q = 4 numbers after n and q, got"
PROBLEM = f"1 2\n{TRIANGLE}\n1 1 1 1\n1 1 9 1\n"


@pytest.fixture
def count(monkeypatch, capsysbinary):
    """Run `count` within this process; return status, standard output, standard error."""

    def run(*files, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = command_line.run(["count", *map(str, files)])
        out, err = capsysbinary.readouterr()
        return status, out, err.decode()

    return run


def start(*arguments, **options):
    return forks.start("-m", "terrain_physics", *arguments, **options)


@pytest.mark.parametrize("name", sorted(file.stem for file in CONTEST.glob("*.in")))
def test_each_kept_problem_is_answered_byte_for_byte(name, count):
    expected = (CONTEST / f"{name}.out").read_bytes()
    assert count(CONTEST / f"{name}.in") == (0, expected, "")
    assert count(stdin=(CONTEST / f"{name}.in").read_bytes()) == (0, expected, "")


def test_there_are_kept_problems():
    names = {file.stem for file in CONTEST.glob("*.in")}
    assert {"sample", "ties", "degenerate", "empty"} <= names
    assert names == {file.stem for file in CONTEST.glob("*.out")}


@pytest.mark.long
def test_kept_problems_and_answers_are_those_of_their_script(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "demo.making.contest", tmp_path], cwd=CONTEST.parents[1], check=True
    )
    kept, made = (
        {file.name: file.read_bytes() for file in folder.iterdir()}
        for folder in (CONTEST, tmp_path)
    )
    assert kept == made


def test_a_process_answers_the_sample():
    sample, answers = (CONTEST / f"sample.{end}" for end in ("in", "out"))
    done = forks.run("-m", "terrain_physics", "count", input=sample.read_bytes(), own=True)
    assert done == (0, answers.read_text(), "")


@pytest.mark.parametrize("space", ["\n", "\r\n", " ", "\t\t", "\n\n \v\f"])
def test_any_white_space_separates_numbers(space, count):
    text = space.join(PROBLEM.split()).encode()
    assert count(stdin=text) == (0, b"1\n0\n", "")
    assert count(stdin=space.encode() + text + space.encode()) == (0, b"1\n0\n", "")


def test_several_files_are_answered_in_order(tmp_path, count):
    first, second = tmp_path / "first.in", tmp_path / "second.in"
    first.write_text(PROBLEM)
    second.write_text(f"2 1\n{TRIANGLE} {TRIANGLE}\n1 1 1 1\n")
    assert count(first, "-", second, stdin=b"0 1 5 0 0 0") == (0, b"1\n0\n0\n2\n", "")


def test_nothing_is_answered_if_a_later_file_is_bad(tmp_path, count):
    first, second = tmp_path / "first.in", tmp_path / "second.in"
    first.write_text(PROBLEM)
    second.write_text("1 0\n0 0\n0 1 x 0 0 0 0\n")
    assert count(first, second) == (2, b"", f"{second}:3: expected a number, got 'x'\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f"1: {N_RULE} the end of the input"),
        ("\n\n 1 \n\n", f"3: {Q_RULE} the end of the input"),
        ("-1 0", f"1: {N_RULE} '-1'"),
        ("1.0 0", f"1: {N_RULE} '1.0'"),
        ("0\n1e3", f"2: {Q_RULE} '1e3'"),
        ("1_0 0", f"1: {N_RULE} '1_0'"),
        ("0 \xb2", f"1: {Q_RULE} '\\xc2\\xb2'"),
        ("1 0\n0 0 0\n1 1 1\n\n", f"3: the input ends after 6 of the 9 n + 4 q = 9 {END}"),
        ("0 1\n1 2 3 4\n\n5 6", f"4: {EXTRA} '5'"),
        ("0 1\n1 2\nnan 4", "3: expected a number, got 'nan'"),
        ("0 1\n1 2\ninf 4", "3: expected a number, got 'inf'"),
        ("0 1\n1 2\n-Infinity 4", "3: expected a number, got '-Infinity'"),
        ("0 1\n1 2\n0x10 4", "3: expected a number, got '0x10'"),
        ("0 1\n1 2\n1_0 4", "3: expected a number, got '1_0'"),
        ("0 1\n1 2\n1,5 4", "3: expected a number, got '1,5'"),
        ("0 1\n1 2\n. 4", "3: expected a number, got '.'"),
        ("0 1\n1 2\n1e 4", "3: expected a number, got '1e'"),
        ("0 1\n1 2\n1e+ 4", "3: expected a number, got '1e+'"),
        ("0 1\n1 2\n+-1 4", "3: expected a number, got '+-1'"),
        ("0 1\n1 2\n1.2.3 4", "3: expected a number, got '1.2.3'"),
        ("0 1\n1 2\n1\0 4", r"3: expected a number, got '1\x00'"),
        ("0 1\n1 2\n1f 4", "3: expected a number, got '1f'"),
        ("0 1\n1 2\n1e309 4", "3: a number must be finite in float64, got '1e309'"),
        (
            "0 1\n1 2\n-1e999999999999999999999 4",
            "3: a number must be finite in float64, got '-1e999999999999999999999'",
        ),
        ("0 2\n1 2 3 4\n-1e-9 2 3 4", "3: a radius must be >= 0, got '-1e-9'"),
        ("0 3\n1 2 3 4\n-1 2 3 4\n1 x 3 4", "3: a radius must be >= 0, got '-1'"),
        ("0 3\n1 2 3 4\n1 x 3 4\n-1 2 3 4", "3: expected a number, got 'x'"),
        ("0 2\n1 2 3 x\n1 2 3", "2: expected a number, got 'x'"),
        ("0 1\n1 2 3 4\nx", f"3: {EXTRA} 'x'"),
        (
            "999999999999999999 5\n1 2 3",
            f"2: the input ends after 3 of the 9 n + 4 q = 9000000000000000011 {END}",
        ),
        (
            "9" * 6000 + " 0 1",
            f"1: the input ends after 1 of the 9 n + 4 q = 89999999999999999991 {END}",
        ),
        ("0 1\n1 2 3 " + "y" * 99, "2: expected a number, got '" + "y" * 37 + "...'"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_its_line(text, message, count):
    assert count(stdin=text.encode()) == (2, b"", f"stdin:{message}\n")


@pytest.mark.parametrize("zero", ["-0", "0", "-0.0e5", "-1e-999"])
def test_a_radius_of_zero_may_have_a_sign(zero, count):
    assert count(stdin=f"1 1 {TRIANGLE} {zero} 1 0 1".encode()) == (0, b"1\n", "")


def test_files_that_cannot_be_read_are_named(tmp_path, count):
    missing = tmp_path / "missing.in"
    assert count(missing) == (
        2,
        b"",
        f"terrain-physics: cannot read {missing}: No such file or directory\n",
    )
    status, out, err = count(tmp_path)
    assert (status, out) == (2, b"")
    assert err.startswith(f"terrain-physics: cannot read {tmp_path}: ")
    assert err.count("\n") == 1


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything"
)
def test_a_file_without_permission_is_named(tmp_path, count):
    file = tmp_path / "secret.in"
    file.write_text(PROBLEM)
    file.chmod(0)
    assert count(file) == (2, b"", f"terrain-physics: cannot read {file}: Permission denied\n")


@pytest.mark.alone
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a named pipe")
def test_ctrl_c_ends_quietly_with_130(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = start("count", pipe)
    with pipe.open("wb"):  # open for writing only once the process reads
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out, err) == (130, b"", b"")


@pytest.mark.skipif(os.name == "nt", reason="a closed pipe is another error there")
def test_a_closed_pipe_is_no_matter():
    reader, writer = os.pipe()
    os.close(reader)
    process = start("count", CONTEST / "sample.in", stdout=writer)
    os.close(writer)
    _, err = process.communicate()
    assert (process.returncode, err) == (command_line.PIPE_CLOSED, b"")


UNWRITTEN = "terrain-physics: cannot write the output: No space left on device\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["count", CONTEST / "sample.in"], ["--help"]])
def test_a_process_tells_that_its_output_cannot_be_written(arguments):
    with Path("/dev/full").open("wb") as full:
        process = start(*arguments, stdout=full)
        _, err = process.communicate()
    assert (process.returncode, err.decode()) == (1, UNWRITTEN)


class FullDisk(io.RawIOBase):
    """A stream to a file that nothing fits into."""

    def writable(self):
        return True

    def write(self, _):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def full(*, buffered):
    if buffered:
        return io.TextIOWrapper(io.BufferedWriter(FullDisk(), 1 << 20))
    return io.TextIOWrapper(FullDisk(), write_through=True)


@pytest.fixture
def kept_files(tmp_path, monkeypatch):
    """Work in a folder with a recording and heights; return the commands that write there."""
    monkeypatch.chdir(tmp_path)
    floor = HeightMap([[0, 0], [0, 0]])
    Recording(CharacterMovement(floor, SphereCollider(0.5), position=(0, 2, 0))).save("walk")
    HeightMap([[0] * 65] * 65).save("land.npy")
    return {"view": ["walk", "-o", "walk.html"], "tiles": ["land.npy", "land.tiles", "--tile=64"]}


@pytest.mark.parametrize("buffered", [False, True])
@pytest.mark.parametrize(
    "words",
    ["count", "view", "tiles", "info", "demo --list", "--version", "--help", "tiles --help"],
)
def test_each_command_tells_that_its_output_cannot_be_written(
    words, buffered, kept_files, monkeypatch, capsys
):
    command, *options = words.split()
    arguments = options or kept_files.get(command, [])
    if command == "count":
        arguments = [str(CONTEST / "sample.in")]
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.setattr(sys, "stdout", full(buffered=buffered))
    assert command_line.run([command, *arguments]) == 1
    assert capsys.readouterr().err == UNWRITTEN
    with suppress(OSError):  # what it still holds
        sys.stdout.close()


class ArrayMemoryError(MemoryError):
    """As NumPy has one."""


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        ArrayMemoryError("Unable to allocate 30.5 MiB"),
        OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)),
        ImportError("cmath.so: failed to map segment from shared object"),
    ],
)
def test_lack_of_memory_is_one_line(error, monkeypatch, capsys):
    def fail(*_, **__):
        raise error

    for place, name in (
        (command._Command, "whole"),
        (warmup, "warm_up"),
        (Recording, "load"),
        (of_file, "tiles_of_file"),
        (threads, "processors"),
        (running, "main"),
    ):
        monkeypatch.setattr(place, name, fail)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    for words in ("count", "warm-up", "view a -o b", "tiles a b", "demo", "info"):
        assert command_line.run(words.split()) == 1, words
        assert capsys.readouterr().err == "terrain-physics: not enough memory\n", words


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError(errno.ENOSPC, "No space"), "cannot write the output: No space"),
        (OSError(errno.ENOSPC, "No space", "a.bin"), "a.bin: No space"),
        (OSError(errno.EAGAIN, "Try again"), "Try again"),
    ],
)
def test_errors_of_the_system_are_one_line(error, told, monkeypatch, capsys):
    def fail(_):
        raise error

    monkeypatch.setattr(command_line, "_warm_up", fail)
    assert command_line.run(["warm-up"]) == 1
    assert capsys.readouterr().err == f"terrain-physics: {told}\n"


@pytest.mark.parametrize("error", [OSError("in words of a library"), TimeoutError("no answer")])
def test_errors_of_libraries_are_not_taken_for_those_of_the_output(error, monkeypatch):
    def fail(_):
        raise error

    monkeypatch.setattr(command_line, "_warm_up", fail)
    with pytest.raises(OSError, match=str(error)):
        command_line.run(["warm-up"])


def test_a_closed_pipe_of_windows_is_one(monkeypatch, capsys):
    def fail(_):
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(command_line, "_warm_up", fail)
    assert command_line.run(["warm-up"]) == 1
    monkeypatch.setattr(sys, "platform", "win32")
    capsys.readouterr()
    assert command_line.run(["warm-up"]) == 141
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("words", ["view a -o b", "tiles a b"])
def test_a_full_disk_is_no_bad_input(words, monkeypatch, capsys):
    def fail(*_, **__):
        raise OSError(errno.ENOSPC, "No space left", "b")

    monkeypatch.setattr(Recording, "load", fail)
    monkeypatch.setattr(of_file, "tiles_of_file", fail)
    assert command_line.run(words.split()) == 1
    assert capsys.readouterr().err == "terrain-physics: b: No space left\n"


def test_a_mistake_of_ours_is_told_as_one(monkeypatch):
    monkeypatch.setattr(command, "run", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        command_line.run(["count"])


def test_answers_are_written_piece_by_piece(count, monkeypatch):
    monkeypatch.setattr(command, "_LINES_AT_ONCE", 2)
    expected = (CONTEST / "ties.out").read_bytes()
    assert expected.count(b"\n") > 3
    assert count(CONTEST / "ties.in") == (0, expected, "")


@pytest.mark.parametrize(
    "arguments",
    ["count none.in", "count --nix", "view none -o new.html", "tiles none new"],
)
def test_errors_that_cannot_be_told_are_errors(arguments, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    stream = io.TextIOWrapper(io.BufferedWriter(FullDisk()), line_buffering=True)
    monkeypatch.setattr(sys, "stderr", stream)  # as Python opens it
    assert command_line.run(arguments.split()) == 1
    assert capsys.readouterr().out == ""
    with suppress(OSError):
        stream.close()


def test_info_names_versions_and_the_cache(capsys):
    assert command_line.run(["info"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert f"terrain_physics {__version__}" in lines
    assert (
        sum(line.startswith(("Python ", "numpy ", "numba ", "machine code: ")) for line in lines)
        == 4
    )
    if _jit.native is None:
        assert any(line.startswith("compiled functions: ") for line in lines)
        assert lines[-1] in {"counter compiled: yes", "counter compiled: no"}


def test_info_tells_processor_and_threads(capsys, monkeypatch):
    monkeypatch.setattr(threads, "processors", lambda: 7)
    monkeypatch.setattr("platform.machine", lambda: "abacus")
    for name, told in (("", "abacus"), ("abacus", "abacus"), ("ten beads", "abacus ten beads")):
        monkeypatch.setattr("platform.processor", lambda name=name: name)
        assert command_line.run(["info"]) == 0
        assert f"\nprocessor: {told}; threads: 7\n" in capsys.readouterr().out


def test_the_demo_of_the_checkout_is_opened(capsys, monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path.copy())
    assert command_line.run(["demo", "--list"]) == 0
    assert "walk " in capsys.readouterr().out
    assert command_line.run(["demo", "--nix"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "--nix" in err


def test_a_demo_that_is_not_there_is_told(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(command_line, "__file__", str(tmp_path / "package" / "__main__.py"))
    with pytest.raises(SystemExit) as error:
        command_line.run(["demo"])
    assert error.value.code == 2
    assert "the demo is not beside this package" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="its pipes break otherwise")
def test_nobody_may_read_on():
    end, pipe = os.pipe()
    os.close(end)
    process = start("info", stdout=pipe)
    os.close(pipe)
    assert process.communicate() == (b"", b"")
    assert process.returncode == command_line.PIPE_CLOSED


@pytest.fixture
def terminated(monkeypatch):
    """Let counting on a cluster end by SIGTERM; return the arguments of such a count."""

    def end(*_, **__):
        os.kill(os.getpid(), signal.SIGTERM)
        raise AssertionError("not reached")

    monkeypatch.setattr(command, "run_on_cluster", end)
    return ["count", "--scheduler", "local", "--triangles", "t", "--spheres", "s"]


@pytest.mark.alone
@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGTERM that a program can handle")
def test_a_count_that_is_terminated_unwinds_and_handles_signals_as_before(terminated):
    before = signal.getsignal(signal.SIGTERM)
    assert command_line.run(terminated) == command_line.TERMINATED
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_thread_counts_without_handling_signals(terminated, monkeypatch):
    monkeypatch.setattr(command, "run_on_cluster", lambda *_, **__: 0)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(command_line.run, terminated).result() == 0


SPREAD = ["--triangles", "t", "--spheres", "s"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--scheduler", "local:0"], "argument --scheduler: must be local, local:WORKERS with 1"),
        (["--scheduler", "here"], "argument --scheduler: must be local, local:WORKERS with 1"),
        (["--triangles", "t"], "--triangles and --spheres go together"),
        ([*SPREAD, "--", "whole"], "a FILE is a whole problem and cannot go with --triangles"),
        (["--json", "whole"], "--json goes with --stats"),
        (["-", "-"], "standard input can be read only once"),
        ([*SPREAD, "--out", "new"], "--out and --worker-timeout go with --scheduler"),
        ([*SPREAD, "--worker-timeout", "9"], "--out and --worker-timeout go with --scheduler"),
        ([*SPREAD, "more"], "several files of --spheres go with --scheduler"),
        (["--scheduler", "local"], "--scheduler goes with --triangles and --spheres"),
        (
            ["--scheduler", "local", "--triangles", "-", "--spheres", "s"],
            "--scheduler cannot read standard input: workers read files",
        ),
        (
            [*SPREAD, "--scheduler", "local", "--threads", "2"],
            "--threads and --verify do not go with --scheduler",
        ),
        (
            [*SPREAD, "--scheduler", "local", "--out", "./t"],
            "--out must be another file than t, which it would replace",
        ),
    ],
)
def test_options_that_do_not_go_together(arguments, message, capsys):
    with pytest.raises(SystemExit) as error:
        command_line.run(["count", *arguments])
    assert error.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert f"error: {message}" in err


@pytest.mark.parametrize(("machine", "level"), [("x86_64", "v3"), ("aarch64", "arm64")])
def test_info_tells_the_machine_code(capsys, monkeypatch, machine, level):
    name = f"terrain_physics._kernels._native_{level}"
    native = SimpleNamespace(__name__=name, __file__="module.so", COMPILED_BY="numba 1")
    monkeypatch.setattr(_jit, "native", native)
    monkeypatch.setattr("platform.machine", lambda: machine)
    assert command_line.run(["info"]) == 0
    library, module, demo = capsys.readouterr().out.splitlines()[-3:]
    assert module == "its module: module.so"
    assert library == f"machine code: {machine}, level {level}, by numba 1"
    assert demo == "machine code of the demo: none"


def test_warm_up_tells_how_far_it_is(capsys, monkeypatch):
    calls = []

    def warm_up(progress, processes):
        calls.append(processes)
        progress("height map", 0, 1)
        progress("done", 1, 1)

    monkeypatch.setattr(warmup, "warm_up", warm_up)
    assert command_line.run(["warm-up", "--processes", "2"]) == 0
    assert calls == [2]
    assert capsys.readouterr().out == ""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no mode bits")
def test_info_says_why_a_cache_is_not_used(capsys, monkeypatch, tmp_path):
    folder = tmp_path / "kernels"
    folder.mkdir()
    folder.chmod(0o777)
    if _jit.native is not None:
        pytest.skip("machine code is not kept there")
    from terrain_physics._kernels import _cache

    monkeypatch.setattr(_cache, "cache_folder", lambda: folder)
    assert command_line.run(["info"]) == 0
    assert f"others may write to {folder}\n" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["dance"], ["count", "--verbose"]])
def test_wrong_use_is_explained(arguments, capsys):
    with pytest.raises(SystemExit) as error:
        command_line.run(arguments)
    assert error.value.code == 2
    assert "usage: terrain-physics" in capsys.readouterr().err


def test_help_has_an_example(capsys):
    with pytest.raises(SystemExit) as error:
        command_line.run(["count", "--help"])
    assert error.value.code == 0
    assert "python -m terrain_physics count" in capsys.readouterr().out
