"""The kernel cache survives each trap: a tiny package with a copy of what compiles, run by itself.

Each run is a process of its own, as a game's would be, and tells what it saw.
"""

import compileall
import errno
import hashlib
import importlib
import os
import shutil
import time
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from terrain_physics._kernels import _memory
from tests.helpers.examples import rest_is_full
from tests.helpers.extras import library
from tests.helpers.tiny_package import INNER_REPORT, INNER_RESULT, REPORT, RESULT, Tiny, preceded_by

library("numba", "jit")
_cache = importlib.import_module("terrain_physics._kernels._cache")  # which needs it


@pytest.fixture
def tiny(tmp_path: Path) -> Tiny:
    return Tiny(tmp_path)


@pytest.fixture(scope="module")
def first_run(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    tiny = Tiny(tmp_path_factory.mktemp("first"))
    tiny.run()
    return tiny


@pytest.fixture
def warm(tiny: Tiny, first_run: Tiny) -> Tiny:
    """Return a package whose machine code is on disk already: it does not depend on the place."""
    shutil.copytree(first_run.cache, tiny.cache)
    return tiny


def test_second_process_loads_what_the_first_compiled(tiny: Tiny) -> None:
    first, second = tiny.run(), tiny.run()
    assert first == {
        "result": RESULT,
        "compiled": True,
        "hits": 0,
        "cached_before": False,
        "cached_after": True,
        "folder": str(tiny.cached_files()[0].parent),
        "warnings": [],
    }
    assert second == first | {"hits": 1, "cached_before": True}
    assert {file.suffix for file in tiny.cached_files()} == {".bin"}  # nothing half written is left


def test_kernels_in_folders_are_cached_under_their_whole_names(tiny: Tiny) -> None:
    assert (tiny.run()["result"], tiny.run()["hits"]) == (RESULT, 1)
    report = tiny.run(INNER_REPORT)
    assert (report["result"], report["hits"]) == (INNER_RESULT, 0)
    assert tiny.run(INNER_REPORT) == report | {"hits": 1, "cached_before": True}
    stems = {file.name.rpartition("-")[0] for file in tiny.cached_files()}
    assert stems >= {"caller.total", "callee.weight.inside"}
    assert stems >= {"inner.caller.total", "inner.deep.callee.weight.inside"}


def test_edited_source_in_a_folder_is_followed(tiny: Tiny) -> None:
    tiny.run(INNER_REPORT)
    callee = tiny.package / "inner/deep/callee.py"
    callee.write_text(callee.read_text().replace("7.0", "9.0"))
    edited = tiny.run(INNER_REPORT)
    assert (edited["result"], edited["hits"]) == (9.0 * 3.0 - 9.0 * 5.0, 0)
    code = INNER_REPORT.replace(
        "if __name__",
        """
def reload_edited():
    import importlib
    from pathlib import Path
    from tiny.inner import caller
    from tiny.inner.deep import callee
    source = Path(callee.__file__)
    source.write_text(source.read_text().replace("9.0", "16.0"))
    importlib.invalidate_caches()
    importlib.reload(callee)
    importlib.reload(caller)

report()
reload_edited()
if __name__""",
    )
    reloaded = tiny.run(code)
    assert (reloaded["result"], reloaded["hits"]) == (16.0 * 3.0 - 16.0 * 5.0, 0)
    assert tiny.run(INNER_REPORT) == reloaded | {"hits": 1, "cached_before": True}


def test_each_source_is_read_once_and_only_where_it_is_used(tiny: Tiny) -> None:
    code = preceded_by("""
import builtins
opened, names = builtins.open, []
builtins.open = lambda name, *rest, **more: names.append(str(name)) or opened(name, *rest, **more)
""").replace("report()))", "report() | {'names': names}))")
    names = [Path(name) for name in tiny.run(code)["names"]]
    read = [str(file.relative_to(tiny.package)) for file in names if tiny.package in file.parents]
    assert sorted(read) == sorted(set(read))
    assert {"caller.py", "callee.py", "_jit.py", "_cache.py"} <= set(read)
    assert not {"inner/caller.py", "inner/deep/callee.py"} & set(read)


@pytest.mark.parametrize(
    "obstacle",
    [
        "file/home",
        pytest.param("file", marks=pytest.mark.full),
        pytest.param(
            "/dev/null",
            marks=[
                pytest.mark.full,
                pytest.mark.skipif(os.name == "nt", reason="POSIX"),
            ],
        ),
    ],
)
def test_home_and_package_folder_cannot_be_written(tiny: Tiny, obstacle: str) -> None:
    # Permissions do not bind root, a regular file in the way binds everybody.
    (tiny.place / "file").write_text("in the way")
    home = str(tiny.place / obstacle)
    tiny.package.chmod(0o555)
    before = sorted(tiny.package.rglob("*"))
    env = {"TERRAIN_PHYSICS_CACHE_DIR": "", "HOME": home, "LOCALAPPDATA": home}
    if os.name == "nt":
        env["TERRAIN_PHYSICS_CACHE_DIR"] = home
    report = tiny.run(env=env)
    tiny.package.chmod(0o755)
    assert (report["result"], report["hits"], report["cached_after"]) == (RESULT, 0, False)
    assert sorted(tiny.package.rglob("*")) == before


def test_cache_setting_that_names_a_file(tiny: Tiny) -> None:
    tiny.cache.write_text("not a folder")
    report = tiny.run()
    assert (report["result"], report["compiled"], report["cached_after"]) == (RESULT, True, False)
    assert tiny.cache.read_text() == "not a folder"


def test_nobody_knows_where_home_is(tiny: Tiny) -> None:
    # platformdirs leaves "~/.cache" as it stands, and a folder named "~" would be made.
    code = preceded_by(
        "import platformdirs; platformdirs.user_cache_dir = lambda *_, **__: '~/.cache/tiny'"
    )
    report = tiny.run(code, env={"TERRAIN_PHYSICS_CACHE_DIR": ""})
    assert (report["result"], report["folder"]) == (RESULT, None)
    assert not (tiny.place / "~").exists()


def test_full_cache_that_is_read_only_is_used(warm: Tiny) -> None:
    # As an installer leaves it for all users: their files, our code, no right to write.
    folder = warm.cached_files()[0].parent
    folder.chmod(0o555)
    report = warm.run()
    folder.chmod(0o755)
    assert (report["result"], report["hits"]) == (RESULT, 1)


def test_zipped_package_is_cached_too(tiny: Tiny) -> None:
    tiny.path = tiny.place / "tiny.zip"
    with zipfile.ZipFile(tiny.path, "w") as archive:
        for file in tiny.package.rglob("*.py"):
            archive.write(file, file.relative_to(tiny.package.parent))
    shutil.rmtree(tiny.package)
    assert (tiny.run()["result"], tiny.run()["hits"]) == (RESULT, 1)
    assert (tiny.run(INNER_REPORT)["result"], tiny.run(INNER_REPORT)["hits"]) == (INNER_RESULT, 1)


def test_package_without_sources_is_cached_too(tiny: Tiny) -> None:
    assert compileall.compile_dir(tiny.package, quiet=2, legacy=True)
    for file in tiny.package.rglob("*.py"):
        file.unlink()
    assert (tiny.run()["result"], tiny.run()["hits"]) == (RESULT, 1)
    assert (tiny.run(INNER_REPORT)["result"], tiny.run(INNER_REPORT)["hits"]) == (INNER_RESULT, 1)


def test_frozen_application_is_known_by_its_executable(tiny: Tiny) -> None:
    # PyInstaller: modules come out of the executable, there is no file where __file__ points.
    program = tiny.place / "game.exe"
    program.write_text("version 1")
    code = preceded_by(f"""
import importlib.resources, numba, sys
from pathlib import Path
sys.frozen, sys.executable = True, {str(program)!r}
importlib.resources.files = lambda package: Path("nowhere")
""")
    assert (tiny.run(code)["result"], tiny.run(code)["hits"]) == (RESULT, 1)
    inner = code.replace("tiny.caller", "tiny.inner.caller")
    assert (tiny.run(inner)["result"], tiny.run(inner)["hits"]) == (INNER_RESULT, 1)
    moved = tiny.place / "elsewhere" / program.name  # as an archive is unpacked on another machine
    moved.parent.mkdir()
    moved.write_text("version 1")
    assert tiny.run(code.replace(str(program), str(moved)))["hits"] == 1
    program.write_text("the second version")
    assert tiny.run(code)["hits"] == 0
    assert tiny.run(inner)["hits"] == 0


def test_unknown_importer_without_sources_has_no_cache(tiny: Tiny) -> None:
    # Without a trace of the sources a stale result could not be told from a right one.
    hidden = tiny.place / "hidden"
    shutil.move(tiny.package, hidden)
    code = preceded_by(f"""
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "tiny":
            file = Path({str(hidden)!r}, *name.split(".")[1:])
            return ModuleSpec(name, self, is_package=file.is_dir())
    def create_module(self, spec):
        return None
    def exec_module(self, module):
        file = Path({str(hidden)!r}, *module.__name__.split(".")[1:])
        module.__file__ = f"/nowhere/{{file.name}}"
        source = file / "__init__.py" if file.is_dir() else file.with_suffix(".py")
        exec(source.read_text(), vars(module))
sys.meta_path.insert(0, Hidden())
""")
    for _ in range(2):
        report = tiny.run(code)
        assert (report["result"], report["compiled"], report["hits"]) == (RESULT, True, 0)
        assert not report["cached_after"]
    assert not tiny.cached_files()


def checksummed(payload: bytes) -> bytes:
    return hashlib.sha256(payload).digest() + payload


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "one wrong byte": lambda stored: stored[:999] + b"!" + stored[1000:],
    "truncated": lambda stored: stored[: len(stored) // 2],
    "empty": lambda stored: stored[:0],
    "garbage": lambda stored: stored[::-1],
    "garbage, right checksum": lambda stored: checksummed(stored[::-1]),
}


@pytest.mark.parametrize("damage", rest_is_full(DAMAGE))
def test_damaged_file_is_compiled_again(warm: Tiny, damage: str) -> None:
    for file in warm.cached_files():
        file.write_bytes(DAMAGE[damage](file.read_bytes()))
    report = warm.run()
    assert (report["result"], report["hits"]) == (RESULT, 0)
    assert warm.run()["hits"] == 1


def test_folder_in_the_place_of_a_file(warm: Tiny) -> None:
    for file in warm.cached_files():
        file.unlink()
        file.mkdir()
    report = warm.run()
    assert (report["result"], report["hits"]) == (RESULT, 0)
    assert {file.suffix for file in warm.cached_files()} == {".bin"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipe_in_the_place_of_a_file(warm: Tiny) -> None:
    for file in warm.cached_files():
        file.unlink()
        os.mkfifo(file)
    report = warm.run()  # nobody writes to the pipe: it would wait for ever
    assert (report["result"], report["cached_before"], report["hits"]) == (RESULT, False, 0)
    assert warm.run()["hits"] == 1  # it was written anew


def test_edited_callee_in_another_file_is_followed(warm: Tiny) -> None:
    callee = warm.package / "callee.py"
    stat = callee.stat()
    callee.write_text(callee.read_text().replace("2.0", "4.0"))
    os.utime(callee, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # same size, same time
    edited = warm.run()
    assert (edited["result"], edited["hits"]) == (4.0 * 3.0 + 1.0 + 4.0 * 5.0 + 1.0, 0)
    callee.write_text(callee.read_text().replace("4.0", "2.0"))
    restored = warm.run()
    assert (restored["result"], restored["hits"]) == (RESULT, 1)


def test_modules_reloaded_after_an_edit_are_followed(tiny: Tiny) -> None:
    code = preceded_by("""
import importlib
from pathlib import Path
from tiny import callee, caller
caller.total(3.0, 5.0)
source = Path(callee.__file__)
source.write_text(source.read_text().replace("2.0", "16.0"))
importlib.invalidate_caches()
importlib.reload(callee)
importlib.reload(caller)
""")
    edited = tiny.run(code)
    assert (edited["result"], edited["hits"]) == (16.0 * 3.0 + 1.0 + 16.0 * 5.0 + 1.0, 0)


def test_missing_callee_apart_is_compiled_with_its_caller(warm: Tiny) -> None:
    # LLVM would end the process at a call of what is nowhere.
    (callee,) = warm.cached_files("callee.weight.inside-*")
    callee.unlink()
    assert (warm.run()["result"], warm.run()["hits"]) == (RESULT, 1)
    (callee,) = warm.cached_files("callee.weight.inside-*")
    callee.write_bytes(callee.read_bytes()[:-1])
    assert (warm.run()["result"], warm.run()["hits"]) == (RESULT, 1)


def test_callee_compiled_under_another_name_is_followed(tiny: Tiny) -> None:
    # numba counts what it has compiled and puts the number into the name.
    other = "from tiny import callee; callee.weight(3.0)"
    later = "import numba; [numba.njit(lambda x: x)(1) for _ in range(3)]"
    tiny.run(preceded_by(other))
    (callee,) = tiny.cached_files("callee.weight.inside-*")
    assert tiny.run()["result"] == RESULT
    callee.unlink()
    tiny.run(preceded_by(f"{later}; {other}"))
    assert (tiny.run()["result"], tiny.run()["hits"]) == (RESULT, 1)


def test_callee_apart_is_not_compiled_within_its_callers(tiny: Tiny) -> None:
    code = preceded_by("""
from tiny import callee, caller
caller.total(3.0, 5.0)
def defined(kernel):
    (result,) = kernel.overloads.values()
    return {f.name for f in result.library.get_defined_functions()}
(result,) = callee.weight.inner().overloads.values()
name = result.fndesc.llvm_func_name
assert name in defined(callee.weight.inner()) - defined(caller.total)
""")
    assert tiny.run(code)["result"] == RESULT


def test_constants_make_no_versions(tiny: Tiny) -> None:
    caller = tiny.package / "caller.py"
    caller.write_text(caller.read_text().replace("weight(second)", "weight(5) + 0 * weight(7)"))
    code = preceded_by("""
from tiny import callee, caller
caller.total(3.0, 5.0)
assert [len(args) for args in callee.weight.inner().overloads] == [1, 1]
""")
    assert tiny.run(code)["result"] == RESULT


@pytest.mark.full
def test_four_processes_start_cold_at_once(tiny: Tiny) -> None:
    signal = tiny.place / "go"
    code = preceded_by(f"""
import time
from pathlib import Path
from tiny import caller
print("ready", flush=True)
while not Path({str(signal)!r}).exists():
    time.sleep(0.001)
""")
    processes = [tiny.start(code) for _ in range(4)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    signal.touch()
    reports = [tiny.finish(process) for process in processes]
    assert [report["result"] for report in reports] == [RESULT] * 4
    assert tiny.run()["hits"] == 1
    assert len(tiny.cached_files("caller.total-*")) == 1
    assert {file.suffix for file in tiny.cached_files()} == {".bin"}


@pytest.mark.parametrize("error", rest_is_full(["ImportError", "SystemError", "AttributeError"]))
def test_numba_absent_or_broken_means_plain_python(tiny: Tiny, error: str) -> None:
    (tiny.path / "numba.py").write_text(f"raise {error}('it does not work here')\n")
    report = tiny.run(alone=True)
    assert (report["result"], report["compiled"], report["folder"]) == (RESULT, False, None)
    assert len(report["warnings"]) == 1
    assert f"{error}: it does not work here" in report["warnings"][0]
    assert "terrain_physics runs as plain Python" in report["warnings"][0]


@pytest.mark.parametrize("found", ["numba", "machine code"])
def test_numba_that_memory_is_too_small_for_is_not_taken_for_absent(tiny: Tiny, found: str) -> None:
    place = tiny.path / "numba.py" if found == "numba" else tiny.package / "_native_v3.py"
    place.write_text("""
try:
    raise OSError("libllvmlite.so: failed to map segment from shared object")
except OSError:
    raise OSError("could not find libllvmlite.so")  # as llvmlite does
""")
    process = tiny.start()
    out, err = process.communicate(timeout=1800)
    assert (process.returncode, out) == (1, "")
    assert err.endswith(f"\nMemoryError: not enough memory to load {found}\n")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (MemoryError(), True),
        (OSError(errno.ENOMEM, "no words"), True),
        (ImportError("cmath.so: failed to map segment from shared object"), True),
        (OSError("dlopen: Cannot allocate memory"), True),
        (OSError("[WinError 1455] The paging file is too small for this operation"), True),
        (SystemError("error return without exception set"), True),
        (RuntimeError("can't start new thread"), True),
        (OSError(0, "words of another language", None, 1455), os.name == "nt"),
        (SystemError("initialization failed"), False),
        (OSError(errno.ENOSPC, "No space left on device"), False),
        (ModuleNotFoundError("No module named 'numba'", name="numba"), False),
        (ValueError("cannot allocate memory"), False),
    ],
)  # fmt: skip
def test_what_is_lack_of_memory(error: Exception, expected: bool) -> None:
    assert _memory.lacks_memory(error) == expected
    later = ImportError("it cannot be loaded")
    later.__context__ = error
    error.__context__ = later  # a ring, which no walk along it may follow forever
    assert _memory.lacks_memory(later) == expected


def test_compiling_switched_off_means_plain_python(tiny: Tiny) -> None:
    report = tiny.run(env={"NUMBA_DISABLE_JIT": "1"})
    assert (report["result"], report["compiled"], report["warnings"]) == (RESULT, False, [])
    assert not tiny.cache.exists()


MOVED = [
    "import numba.core.ccallback, numba.core.caching as part; del part.NullCache",
    "from numba.core.compiler import CompileResult as part; del part._rebuild",
    "from numba.core.compiler import CompileResult as part; del part._reduce",
    "from numba.core.codegen import CodeLibrary as part; del part.has_dynamic_globals",
]


@pytest.mark.parametrize("change", rest_is_full(MOVED, first=2))
def test_private_parts_of_numba_moved_means_no_cache(tiny: Tiny, change: str) -> None:
    tiny.run(preceded_by(change))
    report = tiny.run(preceded_by(change))
    assert (report["result"], report["compiled"], report["hits"]) == (RESULT, True, 0)
    assert report["warnings"] == []


def test_where_the_cache_lies(tiny: Tiny) -> None:
    ours, theirs = tiny.place / "ours", tiny.place / "theirs"
    none = {"TERRAIN_PHYSICS_CACHE_DIR": ""}
    code = preceded_by(
        "import os, numba; numba.config.CACHE_DIR = os.environ.get('SET_BY_HOST', '')"
    )

    def folder(env: Mapping[str, str], code: str = "") -> Path:
        report = tiny.run(code, env=env)
        assert report["cached_after"]
        return Path(report["folder"]).parent

    both = {"TERRAIN_PHYSICS_CACHE_DIR": str(ours), "NUMBA_CACHE_DIR": str(theirs)}
    assert folder(both) == ours
    assert not theirs.exists()
    assert folder(none | {"NUMBA_CACHE_DIR": str(theirs)}) == theirs / "terrain_physics"
    assert folder(none | {"SET_BY_HOST": str(theirs)}, code) == theirs / "terrain_physics"
    if os.name == "posix":
        assert tiny.home in folder(none).parents


def test_relative_cache_setting_outlives_a_change_of_folder(tiny: Tiny) -> None:
    code = REPORT.replace("result = ", "os.chdir('home'); result = ")
    report = tiny.run(code, env={"TERRAIN_PHYSICS_CACHE_DIR": "cache"})
    assert Path(report["folder"]).parent == tiny.cache
    assert tiny.cached_files()
    assert not (tiny.home / "cache").exists()


def test_host_game_and_its_numba_are_left_alone(tiny: Tiny) -> None:
    host = tiny.place / "host"
    host.mkdir()
    (host / "game.py").write_text("""
import numba
before = dict(vars(numba.config))
from tiny import _jit, caller

@numba.njit(cache=True)
def own(value):
    return value + 1

@_jit.kernel
def made_with_our_decorator(value):
    return value + 2

def play():
    results = own(1), caller.total(3.0, 5.0), made_with_our_decorator(1)
    assert dict(vars(numba.config)) == before
    return {"results": results, "path": own.stats.cache_path}
""")
    code = "import json, game; print(json.dumps(game.play()))"
    report = tiny.run(code, env={"PYTHONPATH": os.pathsep.join([str(tiny.path), str(host)])})
    assert report["results"] == [2, RESULT, 3]
    assert Path(report["path"]) == host / "__pycache__"
    assert list((host / "__pycache__").glob("game.own-*.nbi"))
    # The folder knows nothing of sources outside of the package.
    assert not tiny.cached_files("game*")


def test_closures_are_not_cached(tiny: Tiny) -> None:
    # What a closure holds is not in the sources: both would have one file.
    (tiny.package / "factory.py").write_text("""
from tiny._jit import kernel

def adder(amount):
    @kernel
    def add(value):
        return value + amount
    return add
""")
    code = "from tiny.factory import adder; print([adder(n)(0) for n in (1, 2)])"
    assert tiny.run(code) == [1, 2]
    assert not tiny.cached_files("factory*")


@pytest.mark.parametrize(
    "setting", rest_is_full(["NUMBA_BOUNDSCHECK", "NUMBA_CPU_NAME", "NUMBA_OPT"])
)
def test_settings_that_change_the_code_have_files_of_their_own(warm: Tiny, setting: str) -> None:
    env = {setting: "generic" if setting == "NUMBA_CPU_NAME" else "1"}
    assert (warm.run(env=env)["hits"], warm.run(env=env)["hits"], warm.run()["hits"]) == (0, 1, 1)


def age(file: Path) -> None:
    unused = time.time() - _cache.UNUSED_SECONDS - 60
    os.utime(file, (unused, unused))


def test_what_is_unused_for_long_is_deleted_when_something_is_written(tiny: Tiny) -> None:
    names = ["kernels-" + "0" * 20, "kernels-" + "1" * 20, "kernels-of-somebody-else", "kernels"]
    for name in names:
        (tiny.cache / name).mkdir(parents=True)
        for file in ("old-0.bin", "half-written.0123"):
            (tiny.cache / name / file).touch()
            age(tiny.cache / name / file)
        age(tiny.cache / name)
    (tiny.cache / names[1] / "young-0.bin").touch()
    report = tiny.run()
    kept = {path.name for path in tiny.cache.iterdir()}
    assert kept == {*names[1:], Path(report["folder"]).name}
    assert [file.name for file in (tiny.cache / names[1]).iterdir()] == ["young-0.bin"]
    assert len(list((tiny.cache / names[2]).iterdir())) == 2


def test_old_states_of_an_edited_kernel_are_deleted_and_what_is_in_use_is_not(warm: Tiny) -> None:
    for file in warm.cached_files():
        age(file)
    assert warm.run()["hits"] == 1
    old, used = set(warm.cached_files("callee.*")), set(warm.cached_files("caller.*"))
    callee = warm.package / "inner/deep/callee.py"
    callee.write_text(callee.read_text() + "# edited")
    warm.run(INNER_REPORT)  # writes
    kept = set(warm.cached_files())
    assert used <= kept
    assert {file.name.partition("-")[0] for file in old - kept} == {"callee.twice.inside"}


def result_and_hits(tiny: Tiny) -> tuple[float, int]:
    report = tiny.run()
    return report["result"], report["hits"]


def edit(file: Path, *changes: tuple[str, str]) -> None:
    source = file.read_text()
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    file.write_text(source)


def test_an_edit_compiles_its_file_anew_and_those_that_import_it(tiny: Tiny) -> None:
    both = preceded_by("from tiny.inner import caller as inner; inner.total(3.0, 5.0)")
    tiny.run(both)
    before = set(tiny.cached_files())
    edit(tiny.package / "caller.py", ("weight(first)", "3.0 * weight(first)"))
    assert tiny.run(both)["result"] == 3.0 * 7.0 + 11.0
    stems = [file.name.partition("-")[0] for file in set(tiny.cached_files()) - before]
    assert stems == ["caller.total"]
    before = set(tiny.cached_files())
    edit(tiny.package / "callee.py", ("2.0", "4.0"))
    assert tiny.run(both)["result"] == 3.0 * 13.0 + 21.0
    stems = [file.name.partition("-")[0] for file in set(tiny.cached_files()) - before]
    assert sorted(stems) == ["callee.twice.inside", "callee.weight.inside", "caller.total"]


IMPORTS = {
    "from its module": "from tiny.far import FAR",
    "under another name": "from tiny.far import FAR as OTHER; FAR = OTHER",
    "relatively": "from .far import FAR",
    "the module": "from tiny import far; FAR = far.FAR",
    "the module, relatively": "from . import far as near; FAR = near.FAR",
    "over two lines": "from tiny.far import (  # (a comment)\n    FAR,\n)",
    "after a backslash": "from tiny.far \\\n    import FAR",
    "behind a statement": "import math; from tiny.far import FAR",
    "all": "from tiny.far import *",
    "by a plain import": "import tiny.far; FAR = tiny.far.FAR",
    "by a plain import under another name": "import tiny.far as far; FAR = far.FAR",
    "the package": "import tiny, tiny.far; FAR = tiny.far.FAR",
    "in a condition": "if True:\n    from tiny.far import FAR",
    "in a function": "def far():\n    from tiny.far import FAR\n    return FAR\nFAR = far()",
    "a folder": "from tiny.folder import FAR",
    "a folder, relatively": "from .folder import FAR",
    "a folder's module": "from tiny import folder; import tiny.folder.again; FAR = folder.FAR",
}


def test_an_edited_import_changes_the_state_however_it_is_written(tiny: Tiny) -> None:
    (tiny.package / "far.py").write_text("FAR = 1.0\n")
    (tiny.package / "folder").mkdir()
    (tiny.package / "folder/__init__.py").write_text("from ..far import FAR\n")
    (tiny.package / "folder/again.py").write_text("from ..far import FAR\n")
    for number, how in enumerate(IMPORTS.values()):
        (tiny.package / f"way_{number}.py").write_text(f"{how}\n")
    names = [f"tiny.way_{number}" for number in range(len(IMPORTS))]
    states = f"[_imports.state_of(name) for name in {names}]"
    code = f"import json; from tiny import _imports; print(json.dumps({states}))"
    before, unchanged = tiny.run(code), tiny.run(code)
    edit(tiny.package / "far.py", ("1.0", "2.0"))
    after = tiny.run(code)
    assert before == unchanged
    assert not [how for how, one, other in zip(IMPORTS, before, after, strict=True) if one == other]


@pytest.mark.parametrize("how", rest_is_full(IMPORTS))
def test_an_edited_import_is_followed_however_it_is_written(tiny: Tiny, how: str) -> None:
    (tiny.package / "far.py").write_text("FAR = 1.0\n")
    (tiny.package / "folder").mkdir()
    (tiny.package / "folder/__init__.py").write_text("from ..far import FAR\n")
    (tiny.package / "folder/again.py").write_text("from ..far import FAR\n")
    edit(
        tiny.package / "callee.py",
        ("import kernel\n", f"import kernel\n{IMPORTS[how]}\n"),
        ("+ 1.0", "+ FAR"),
    )
    assert result_and_hits(tiny) == (RESULT, 0)
    assert result_and_hits(tiny) == (RESULT, 1)
    edit(tiny.package / "far.py", ("1.0", "2.0"))
    assert result_and_hits(tiny) == (RESULT + 2.0, 0)


def test_modules_that_import_each_other_are_followed(tiny: Tiny) -> None:
    (tiny.package / "far.py").write_text("FAR = 1.0\nfrom tiny import callee\n")
    edit(
        tiny.package / "callee.py",
        ("import kernel\n", "import kernel\nfrom tiny.far import FAR\n"),
        ("+ 1.0", "+ FAR"),
    )
    assert result_and_hits(tiny) == (RESULT, 0)
    assert result_and_hits(tiny) == (RESULT, 1)
    edit(tiny.package / "far.py", ("1.0", "2.0"))
    assert result_and_hits(tiny) == (RESULT + 2.0, 0)


def test_a_named_tuple_that_is_handed_in_is_followed_without_an_import(tiny: Tiny) -> None:
    (tiny.package / "pairs.py").write_text(
        "from typing import NamedTuple\nclass Pair(NamedTuple):\n    a: float\n    b: float\n"
    )
    (tiny.package / "reader.py").write_text(
        "from tiny._jit import kernel\n@kernel\ndef first(pair):\n    return pair.a\n"
    )
    code = """
import json
from tiny.pairs import Pair
from tiny.reader import first
print(json.dumps([first(Pair(1.0, 2.0)), sum(first.stats.cache_hits.values())]))
"""
    assert [tiny.run(code), tiny.run(code)] == [[1.0, 0], [1.0, 1]]
    edit(tiny.package / "pairs.py", ("a: ", "c: "), ("b: ", "a: "), ("c: ", "b: "))
    assert tiny.run(code) == [2.0, 0]


def test_a_caller_that_is_loaded_again_without_its_edited_callee_is_not_taken_for_the_new_one(
    tiny: Tiny,
) -> None:
    code = preceded_by("""
import importlib
from pathlib import Path
from tiny import callee, caller
caller.total(3.0, 5.0)
source = Path(callee.__file__)
source.write_text(source.read_text().replace("2.0", "16.0"))
importlib.reload(caller)
""")
    assert tiny.run(code)["result"] == RESULT
    assert tiny.run()["result"] == 16.0 * 3.0 + 1.0 + 16.0 * 5.0 + 1.0


def test_what_may_have_been_edited_before_it_was_first_asked_for_is_not_kept(tiny: Tiny) -> None:
    (tiny.package / "far.py").write_text("FAR = 1.0\n")
    edit(
        tiny.package / "callee.py",
        ("import kernel\n", "import kernel\nfrom tiny.far import FAR\n"),
        ("+ 1.0", "+ FAR"),
    )
    code = preceded_by("""
import os, time
from tiny import _imports, far
with open(far.__file__, "w") as source:
    source.write("FAR = 2.0")
_imports._BEGAN = time.time() - 60
os.utime(far.__file__, (time.time() - 30,) * 2)
""")
    report = tiny.run(code)
    assert (report["result"], report["cached_after"]) == (RESULT, False)
    assert tiny.run()["result"] == RESULT + 2.0
