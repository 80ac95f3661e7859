"""One process types kernels, others optimize and link them: as numba would, and all or nothing."""

import errno
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import pytest

from terrain_physics._kernels import _jit
from tests.helpers import forks

build = pytest.importorskip("terrain_physics._build.__main__")
c_compiler = pytest.importorskip("terrain_physics._build.systems.c_compiler")
pins = pytest.importorskip("terrain_physics._build.systems.pins")

TESTED = "linux-x86_64"

pytestmark = pytest.mark.skipif(
    not _jit.HAS_NUMBA or build.HERE != TESTED or c_compiler.find(TESTED) is None,
    reason="machine code is made by numba and a C compiler, on Linux",
)

LINES = (
    "math.rows.all_within(readonly(float64[::1]), float64)",
    "counter.numbers.count_tokens(readonly(uint8[::1]), int64, int64)",
)

BY_NUMBA = """
import sys
from llvmlite import binding
from numba.core.codegen import JITCodeLibrary
from numba.core.cpu import CPUContext
from terrain_physics._build import signatures
from terrain_physics._build.llvm import naming
from terrain_physics._build.packages import LIBRARY

naming.make_lasting()
# Code that is made callable is changed for that.
CPUContext.get_executable = lambda *_: [].append
JITCodeLibrary._finalize_specific = lambda _: None
for line in sys.argv[1:]:
    kernel, types = signatures.load(line, LIBRARY)
    kernel.inner().compile(types)
    whole = kernel.inner().overloads[types].library._final_module
    print(binding.parse_bitcode(whole.as_bitcode()))
"""

BY_TWO_HALVES = """
import os, pickle, sys
from pathlib import Path
from terrain_physics._build import build_cache
from terrain_physics._build.llvm import lowering, optimizing
from terrain_physics._build.packages import LIBRARY
from terrain_physics._build.platforms import Processor

cache = build_cache.BuildCache(Path(os.environ["TERRAIN_PHYSICS_CACHE_DIR"], "builds"))
processor = Processor("x86_64-unknown-linux-gnu", "x86-64-v3")
optimizer, next_one = [optimizing.Optimizer(processor, cache) for _ in range(2)]
next_one._optimize = None  # all is there

def take(library):
    library = pickle.loads(pickle.dumps(library))
    optimizer.add(library)
    next_one.add(library)

lowering.hand_on_to(take)
for line in sys.argv[1:]:
    entry = lowering.lower(line, LIBRARY, "kernel_0")
    print(optimizer.library(entry.library)._final_module)
    kept = next_one.library(entry.library)._final_module
    assert str(kept) == str(optimizer.library(entry.library)._final_module)
"""

MAKE = """
import sys
from functools import partial
from terrain_physics._build import __main__ as build, making, signatures
from terrain_physics._build.packages import LIBRARY

_, folder, *lines = sys.argv
signatures.read = lambda package: lines
making.made = partial(making.made, packages=[LIBRARY])
sys.argv = ["build", folder]
build.main()
"""


def test_optimized_code_is_that_of_numba_for_the_processor(tmp_path: Path) -> None:
    env = os.environ | {"TERRAIN_PHYSICS_NATIVE": "0", "TERRAIN_PHYSICS_CACHE_DIR": str(tmp_path)}
    halves = forks.printed("-c", BY_TWO_HALVES, *LINES, env=env)
    env |= {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": ""}
    whole = forks.printed("-c", BY_NUMBA, *LINES, env=env)
    assert whole.count("define ") > len(LINES)
    assert "x double>" in whole  # what the processor decides: vectors
    assert halves == whole


@pytest.mark.parametrize(
    ("lines", "compiler", "reason"),
    [
        (LINES[:1], "false", "returned non-zero exit status 1"),
        pytest.param(
            (LINES[0], "math.rows.all_within(float64, float64)"),
            "cc",
            "TypingError",
            marks=pytest.mark.full,
        ),
    ],
    ids=["linking", "typing"],
)
def test_what_fails_says_why_and_leaves_nothing(
    tmp_path: Path, lines: tuple[str, ...], compiler: str, reason: str
) -> None:
    made, temporary = tmp_path / "made", tmp_path / "temporary"
    temporary.mkdir()
    env = os.environ | {"TMPDIR": str(temporary), "CC": compiler}
    env["TERRAIN_PHYSICS_CACHE_DIR"] = str(tmp_path / "cache")
    ended = forks.run("-c", MAKE, made, *lines, env=env, own=True)
    assert ended.returncode == 1
    assert reason in ended.stderr
    assert not list(made.iterdir())
    assert not list(temporary.iterdir())


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["FILE"], "File exists"),
        (["--all"], "--all needs a folder"),
        (["FOLDER", "--all", "--only", "linux-vax"], "got linux-vax"),
        (["FOLDER", "--only", "linux-aarch64"], "--only chooses among the wheels of --all"),
    ],
)
def test_what_cannot_be_made_is_refused_at_once(
    tmp_path: Path, monkeypatch: Any, capsys: Any, arguments: list[str], reason: str
) -> None:
    (tmp_path / "FILE").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["build", *arguments])
    monkeypatch.setattr(build.making, "made", None)
    with pytest.raises(SystemExit) as ended:
        build.main()
    assert ended.value.code == 2
    assert reason in capsys.readouterr().err


def test_a_missing_c_compiler_is_told_at_once(
    tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    monkeypatch.setattr(sys, "argv", ["build", str(tmp_path)])
    monkeypatch.setattr(build.making, "made", None)
    monkeypatch.setattr(build, "find", lambda _: None)
    with pytest.raises(SystemExit) as ended:
        build.main()
    assert ended.value.code == 2
    assert "no C compiler for linux-x86_64: none of cc, gcc, clang" in capsys.readouterr().err


def test_missing_headers_are_told_at_once(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setattr(sys, "argv", ["build", str(tmp_path)])
    monkeypatch.setattr(build.making, "made", None)
    monkeypatch.setattr(build.headers.sysconfig, "get_paths", lambda: {"include": str(tmp_path)})
    with pytest.raises(SystemExit) as ended:
        build.main()
    assert ended.value.code == 2
    assert f"{tmp_path} has no Python.h" in capsys.readouterr().err


def test_on_a_full_disk_the_module_stays_as_it_was(tmp_path: Path, monkeypatch: Any) -> None:
    def copy_some(file: Path, made: Path) -> None:
        made.write_bytes(file.read_bytes()[:3])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    file, place = tmp_path / "file", tmp_path / "folder" / "module"
    file.write_bytes(b"machine code")
    build.making.put(file, place)
    monkeypatch.setattr(build.making.shutil, "copy", copy_some)
    with pytest.raises(OSError, match="No space left"):
        build.making.put(file, place)
    assert [one.read_bytes() for one in place.parent.iterdir()] == [b"machine code"]


@pytest.mark.full
def test_two_builds_at_once_make_the_same(tmp_path: Path) -> None:
    env = os.environ | {"TERRAIN_PHYSICS_CACHE_DIR": str(tmp_path / "cache")}
    folders = [tmp_path / name for name in ("one", "two")]
    with ThreadPoolExecutor(2) as threads:
        building = [
            threads.submit(forks.run, "-c", MAKE, made, *LINES, env=env, own=True)
            for made in folders
        ]
    ended = [one.result() for one in building]
    assert [one.returncode for one in ended] == [0, 0], ended
    first, second = (next(made.rglob("_native_*")) for made in folders)
    assert first.read_bytes() == second.read_bytes()


def test_what_the_last_order_hears_is_not_lost() -> None:
    from terrain_physics._build.workers import WorkerProcesses

    class Ended:
        processor, optimized, is_begun, is_done = "all", 1, True, True
        made: SimpleQueue[str] = SimpleQueue()

    Ended.made.put("machine code")
    processes: Any = WorkerProcesses([Ended()], 1)  # type: ignore[list-item]
    assert [code for _ in processes.rest() for code in processes.new()] == ["machine code"]


def test_wheels_of_all_systems_need_compilers_of_one_version_and_say_how_to_get_them(
    tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    found = {"numba": "0.68.1", "llvmlite": "0.1", "ziglang": ""}
    monkeypatch.setattr(sys, "argv", ["build", "--all", str(tmp_path)])
    monkeypatch.setattr(pins, "_version", found.get)
    with pytest.raises(SystemExit) as ended:
        build.main()
    assert ended.value.code == 2
    told = "".join(capsys.readouterr().err.split("\n"))
    assert f"-m pip install {pins.COMPILERS[1]} {pins.ZIG}`" in told


def test_progress_is_a_line_now_and_then_and_one_for_each_file(
    tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    from terrain_physics._build import progress

    shown, optimized = progress.BuildProgress(), {"one": 5, "two": 3}
    shown.tell("7 functions", optimized, [])
    assert not capsys.readouterr().out
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN_LINES", -1.0)
    shown.tell("7 functions", optimized, [])
    state = "7 functions; optimized: 5 for one, 3 for two\n"
    assert capsys.readouterr().out.partition(" s  ")[2] == state
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN_LINES", 1e9)
    module: Any = SimpleNamespace(target="system", place="module.so", file=tmp_path / "file")
    module.file.write_bytes(bytes(1_250_000))
    shown.tell("7 functions", optimized, [module])
    shown.tell("7 functions", optimized, [module])
    assert capsys.readouterr().out.partition(" s  ")[2] == "system: module.so: 1.25 MB\n"
