"""A tape of kernel calls, recorded now, is replayed by the machine code of other systems.

Of each kernel there are calls, with all memory that they read and write. Programs for Windows run
by wine, those for ARM by qemu, those of WebAssembly by node; what is not installed is skipped.
Those for Linux have musl in them, the C library of Alpine.
"""

import json
import shutil
import struct
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.helpers.environments import ROOT, run
from tests.machines.arm64 import emulator, what_is_missing

pins = pytest.importorskip("terrain_physics._build.systems.pins")

pytestmark = [
    pytest.mark.machines,
    pytest.mark.skipif(bool(pins.not_installed()), reason="needs the extra wheels"),
]

NODE = shutil.which("node")
WINE = shutil.which("wine64") or shutil.which("wine64", path="/usr/lib/wine")
NOT_INSTALLED = {
    "linux-x86_64": "",
    "linux-aarch64": what_is_missing,
    "win32-amd64": "" if WINE else "wine64",
    "wasm32": "" if NODE else "node",
}
PROGRAMS = (
    *("linux-x86_64-v2", "linux-x86_64-v3", "linux-aarch64-arm64", "linux-aarch64-apple-m1"),
    *("win32-amd64-v2", "win32-amd64-v3", "wasm32-wasm"),
)

READ_MODULE = """
const { readFileSync } = require("node:fs");
const module = new WebAssembly.Module(readFileSync(process.argv[1]));
const { exports } = new WebAssembly.Instance(module);
console.log(JSON.stringify([WebAssembly.Module.imports(module), Object.keys(exports)]));
"""


def command(folder: Path, target: str, program: str) -> Sequence[object]:
    """Return what runs a program."""
    if target == "wasm32":
        return [NODE, Path(__file__).with_name("wasi.mjs"), program]
    by = {"linux-aarch64": folder / "emulator", "win32-amd64": WINE}.get(target)
    return [*([by] if by else []), folder / program]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the tape and the programs."""
    place = tmp_path_factory.mktemp("tapes")
    run([sys.executable, "-m", "terrain_physics._build", place], cwd=ROOT)
    record = [sys.executable, "-m", "tests.machines.record", place, place / "tape"]
    # Memory that nobody has written to is 0, as it is in the programs: the complement of 255.
    tunables = "glibc.malloc.perturb=255:glibc.malloc.tcache_count=0"
    told = run(record, cwd=ROOT, env={"GLIBC_TUNABLES": tunables, "PYTHONPATH": str(ROOT)})
    assert told.endswith(b"without one: []\n"), told.decode()
    targets = [target for target, missing in NOT_INSTALLED.items() if not missing]
    if "linux-aarch64" in targets:
        (place / "qemu").mkdir()
        (place / "emulator").symlink_to(emulator(place / "qemu"))
    run([sys.executable, "-m", "tests.machines.host", place, *targets], cwd=ROOT)
    return place


@pytest.mark.parametrize("program", PROGRAMS)
def test_all_calls_have_the_recorded_results(folder: Path, program: str) -> None:
    target = next(target for target in NOT_INSTALLED if program.startswith(f"{target}-"))
    if NOT_INSTALLED[target]:
        pytest.skip(f"needs {NOT_INSTALLED[target]}")
    env = {"WINEPREFIX": str(folder / "wine"), "WINEDEBUG": "-all"}
    tape = (folder / "tape").read_bytes()
    told = run(command(folder, target, program), cwd=folder, env=env, stdin=tape).decode()
    (calls,) = struct.unpack_from("<q", tape)
    assert told.splitlines() == [f"{calls} of {calls} calls are equal"]
    assert calls > 1000


@pytest.mark.skipif(NODE is None, reason="needs node")
def test_the_module_for_webassembly_needs_nothing_and_has_all_kernels(tmp_path: Path) -> None:
    from terrain_physics._build import signatures

    build = ["-m", "terrain_physics._build", "--all", tmp_path, "--only", "wasm32"]
    run([sys.executable, *build], cwd=ROOT)
    (file,) = tmp_path.glob("*-wasm32.wasm")
    imported, exported = json.loads(run([NODE, "-e", READ_MODULE, file], cwd=tmp_path))
    assert imported == []
    kernels = {f"kernel_{number}" for number in range(len(signatures.read()))}
    assert kernels | {"malloc", "free", "memory"} <= set(exported)
