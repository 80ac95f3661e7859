"""Makes the extension modules: ``python -m terrain_physics._build FOLDER``.

They are for the machine that this runs on. ``--target`` names another system with the same kind of
processor: then `ziglang` links, and needs the headers of that system's Python and NumPy (and
``python3.lib`` for Windows). Modules lie in the folder as they do in a checkout. Without a folder
they are made for this very processor, and go into this checkout: ``poe native``.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from terrain_physics._build.c_compiler import LIBRARIES_HERE, Linker, headers_here
from terrain_physics._build.packages import PACKAGES, ROOT, KernelPackage
from terrain_physics._build.platforms import HERE, PLATFORMS, Level
from terrain_physics._support.threads import processors


def main() -> None:
    """Make all modules, in as many processes as there are processors to compile for."""
    chosen = _parser().parse_args()
    linker = Linker(chosen.target, chosen.headers, chosen.libraries)
    if chosen.only:
        levels = [level for level in PLATFORMS[chosen.target].levels if level.name in chosen.only]
        make(chosen.folder, levels, linker, chosen.processes)
        return
    if chosen.folder is None:
        if HERE not in PLATFORMS:
            sys.exit(f"no machine code is made for {HERE}")
        ended = _start([best_level_here()], processors(), str(ROOT), *sys.argv[1:]).wait()
        sys.exit(abs(ended))
    chosen.folder.mkdir(parents=True, exist_ok=True)
    by_processor: dict[str, list[Level]] = {}
    for level in PLATFORMS[chosen.target].levels:
        by_processor.setdefault(level.compiled_for, []).append(level)
    started = [_start(levels, 1, *sys.argv[1:]) for levels in by_processor.values()]
    sys.exit(max(abs(process.wait()) for process in started))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m terrain_physics._build", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="where the modules go")
    parser.add_argument("--target", choices=PLATFORMS, default=HERE, help="default: %(default)s")
    parser.add_argument("--headers", nargs="+", help="folders", default=headers_here())
    parser.add_argument("--libraries", help="folder of python3.lib", default=LIBRARIES_HERE)
    parser.add_argument("--only", nargs="+", metavar="LEVEL", help="levels of one processor")
    parser.add_argument("--processes", type=int, default=1, help="how many compile")
    return parser


def best_level_here() -> Level:
    """Return the best level that this machine's processor can run."""
    from llvmlite import binding

    found = binding.get_host_cpu_features()
    levels = PLATFORMS[HERE].levels
    return next(level for level in levels if all(found.get(name) for name in level.needs))


def _start(levels: list[Level], processes: int, *given: str) -> subprocess.Popen[bytes]:
    """Start a process that compiles for a processor: numba knows one for each process."""
    settings = {"NUMBA_CPU_NAME": levels[0].compiled_for, "NUMBA_CPU_FEATURES": ""}
    settings |= {"TERRAIN_PHYSICS_NATIVE": "0", "TERRAIN_PHYSICS_CHECK": "0"}
    command = [sys.executable, "-m", __package__, *given]
    command += ["--processes", str(processes), "--only", *(level.name for level in levels)]
    return subprocess.Popen(command, env=os.environ | settings)  # noqa: S603


def make(
    folder: Path,
    levels: list[Level],
    linker: Linker,
    processes: int,
    packages: Iterable[KernelPackage] = PACKAGES,
) -> None:
    """Compile for one processor, and make the modules of its levels."""
    with tempfile.TemporaryDirectory() as name:
        # Kernels are compiled apart only where there is a cache, which nobody else may have filled.
        os.environ["TERRAIN_PHYSICS_CACHE_DIR"] = name
        for package in packages:
            _make(package, folder / package.place, Path(name), levels, linker, processes)


def _make(
    package: KernelPackage,
    folder: Path,
    work: Path,
    levels: list[Level],
    linker: Linker,
    processes: int,
) -> None:
    began, digest = time.monotonic(), package.digest()
    folder.mkdir(parents=True, exist_ok=True)

    import llvmlite
    import numba

    from terrain_physics._build import compiling, signatures, wrapping
    from terrain_physics._kernels import _jit

    with _jit.collecting_rarely():
        whole, entries = compiling.compile_all(signatures.read(package), package, processes)
    _say(f"{len(entries)} kernels of {package.name} compiled for {levels[0].compiled_for}", began)
    source = work / "module.c"
    source.write_text(wrapping.module_source(entries, compiling.needs(whole)), encoding="utf-8")
    platform = PLATFORMS[linker.target]
    for level in levels:
        machine_code = work / f"{level.name}.o"
        machine_code.write_bytes(compiling.emit(whole, platform.triple, level.processor))
        name = f"_native_{level.name}"
        module = folder / f"{name}{platform.suffix}"
        module.unlink(missing_ok=True)  # a process that has loaded the old one keeps it
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
        _say(f"{package.place}/{module.name}: {module.stat().st_size / 1e6:.2f} MB", began)


def _say(text: str, began: float) -> None:
    sys.stdout.write(f"{time.monotonic() - began:5.0f} s  {text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
