"""Makes the extension modules: ``python -m terrain_physics._build FOLDER``.

They are for the machine that this runs on. ``--target`` names another system with the same kind of
processor: then `ziglang` links, and needs the headers of that system's Python and NumPy (and
``python3.lib`` for Windows).
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from terrain_physics._build.c_compiler import LIBRARIES_HERE, Linker, headers_here
from terrain_physics._build.platforms import HERE, PLATFORMS


def main() -> None:
    """Make all modules, in as many processes as there are processors to compile for."""
    parser = argparse.ArgumentParser(prog="python -m terrain_physics._build", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the modules go")
    parser.add_argument("--target", choices=PLATFORMS, default=HERE, help="default: %(default)s")
    parser.add_argument("--headers", nargs="+", help="folders", default=headers_here())
    parser.add_argument("--libraries", help="folder of python3.lib", default=LIBRARIES_HERE)
    parser.add_argument("--only", metavar="PROCESSOR", help="only what is compiled for this one")
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    if chosen.only:
        make(chosen.folder, chosen.only, Linker(chosen.target, chosen.headers, chosen.libraries))
        return
    compiled_for = sorted({level.compiled_for for level in PLATFORMS[chosen.target].levels})
    processes = [_start(processor) for processor in compiled_for]
    sys.exit(max(abs(process.wait()) for process in processes))


def _start(processor: str) -> subprocess.Popen[bytes]:
    """Start a process that compiles for a processor: numba knows one in its life."""
    settings = {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": ""}
    settings |= {"TERRAIN_PHYSICS_NATIVE": "0", "TERRAIN_PHYSICS_CHECK": "0"}
    command = [sys.executable, "-m", __package__, *sys.argv[1:], "--only", processor]
    return subprocess.Popen(command, env=os.environ | settings)  # noqa: S603


def make(folder: Path, compiled_for: str, linker: Linker) -> None:
    """Compile for a processor, and make the modules that follow from it."""
    with tempfile.TemporaryDirectory() as name:
        # Kernels are compiled apart only where there is a cache, which nobody else may have filled.
        os.environ["TERRAIN_PHYSICS_CACHE_DIR"] = name
        _make(folder, Path(name), compiled_for, linker)


def _make(folder: Path, work: Path, compiled_for: str, linker: Linker) -> None:
    from terrain_physics._kernels import _sources

    began, digest = time.monotonic(), _sources.digest()

    import llvmlite
    import numba

    from terrain_physics._build import compiling, signatures, wrapping
    from terrain_physics._kernels import _jit

    with _jit.collecting_rarely():
        whole, entries = compiling.compile_all(signatures.read())
    _say(f"{len(entries)} kernels compiled for {compiled_for}", began)
    source = work / "module.c"
    source.write_text(wrapping.module_source(entries), encoding="utf-8")
    platform = PLATFORMS[linker.target]
    for level in platform.levels:
        if level.compiled_for != compiled_for:
            continue
        machine_code = work / f"{level.name}.o"
        machine_code.write_bytes(compiling.emit(whole, platform.triple, level.processor))
        name = f"_native_{level.name}"
        module = folder / f"{name}{platform.suffix}"
        defined = [
            f'PROCESSOR="{level.processor}"',
            f'MODULE_NAME="{name}"',
            f"INIT=PyInit_{name}",
            f'DIGEST="{digest}"',
            f'COMPILED_BY="numba {numba.__version__}, llvmlite {llvmlite.__version__}"',
        ]
        if level.processor.startswith("x86-64-v"):
            defined.append(f"X86_64_LEVEL={level.processor[-1]}")
        linker.link([source, machine_code], module, defined)
        _say(f"{module.name}: {module.stat().st_size / 1e6:.2f} MB", began)


def _say(text: str, began: float) -> None:
    sys.stdout.write(f"{time.monotonic() - began:5.0f} s  {text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
