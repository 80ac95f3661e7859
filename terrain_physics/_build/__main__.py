"""Makes the extension modules, on Linux: ``python -m terrain_physics._build FOLDER``."""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMPILED_FOR = {"v3": ("v3", "v2"), "v4": ("v4",)}
"""By the level of x86-64 that numba compiles for, the levels that get machine code of that."""


def main() -> None:
    """Make all modules, in as many processes as numba has levels to compile for."""
    parser = argparse.ArgumentParser(prog="python -m terrain_physics._build", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the modules go")
    parser.add_argument("--only", choices=COMPILED_FOR, help="only what is compiled for this level")
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    if chosen.only:
        make(chosen.folder, chosen.only)
        return
    processes = [_start(chosen.folder, level) for level in COMPILED_FOR]
    sys.exit(max(abs(process.wait()) for process in processes))


def _start(folder: Path, level: str) -> subprocess.Popen[bytes]:
    """Start a process that compiles for a level: numba knows one processor in its life."""
    settings = {"NUMBA_CPU_NAME": f"x86-64-{level}", "NUMBA_CPU_FEATURES": ""}
    settings |= {"TERRAIN_PHYSICS_NATIVE": "0", "TERRAIN_PHYSICS_CHECK": "0"}
    command = [sys.executable, "-m", __package__, str(folder), "--only", level]
    return subprocess.Popen(command, env=os.environ | settings)  # noqa: S603


def make(folder: Path, compiled_for: str) -> None:
    """Compile for a level, and make the modules that follow from it."""
    with tempfile.TemporaryDirectory() as name:
        # Kernels are compiled apart only where there is a cache, which nobody else may have filled.
        os.environ["TERRAIN_PHYSICS_CACHE_DIR"] = name
        _make(folder, Path(name), compiled_for)


def _make(folder: Path, work: Path, compiled_for: str) -> None:
    from terrain_physics._kernels import _sources

    began, digest = time.monotonic(), _sources.digest()

    import llvmlite
    import numba

    from terrain_physics._build import c_compiler, compiling, signatures, wrapping
    from terrain_physics._kernels import _jit

    with _jit.collecting_rarely():
        whole, entries = compiling.compile_all(signatures.read())
    _say(f"{len(entries)} kernels compiled for {compiled_for}", began)
    source = work / "module.c"
    source.write_text(wrapping.module_source(entries), encoding="utf-8")
    for level in COMPILED_FOR[compiled_for]:
        machine_code = work / f"{level}.o"
        machine_code.write_bytes(compiling.emit(whole, level))
        name = f"_native_{level}"
        module = folder / f"{name}.abi3.so"
        defined = [
            f"LEVEL={level.removeprefix('v')}",
            f'MODULE_NAME="{name}"',
            f"INIT=PyInit_{name}",
            f'DIGEST="{digest}"',
            f'COMPILED_BY="numba {numba.__version__}, llvmlite {llvmlite.__version__}"',
        ]
        c_compiler.link(source, machine_code, module, defined)
        _say(f"{module.name}: {module.stat().st_size / 1e6:.2f} MB", began)


def _say(text: str, began: float) -> None:
    sys.stdout.write(f"{time.monotonic() - began:5.0f} s  {text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
