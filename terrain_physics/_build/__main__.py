"""Makes the extension modules: ``python -m terrain_physics._build FOLDER``.

They are for the machine that this runs on. ``--target`` names another system with the same kind of
processor: then `ziglang` links, and needs the headers of that system's Python and NumPy (and
``python3.lib`` for Windows). Modules lie in the folder as they do in a checkout. Without a folder
they are made for this very processor, and go into this checkout: ``poe native``.
"""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from terrain_physics._build.c_compiler import LIBRARIES_HERE, Linker, headers_here
from terrain_physics._build.packages import PACKAGES, ROOT, KernelPackage
from terrain_physics._build.platforms import HERE, PLATFORMS, Level


def main() -> None:
    """Make all modules, or those of some levels."""
    parser = _parser()
    chosen = parser.parse_args()
    if chosen.target not in PLATFORMS:
        parser.error(f"no machine code is made for {chosen.target}")
    levels = PLATFORMS[chosen.target].levels
    names = [level.name for level in levels]
    if unknown := set(chosen.only or ()).difference(names):
        parser.error(f"--only must name levels of {', '.join(names)}, got {', '.join(unknown)}")
    linker = Linker(chosen.target, chosen.headers, chosen.libraries)
    wanted = chosen.only or names
    chosen_levels = [level for level in levels if level.name in wanted]
    if chosen.folder is None:
        chosen_levels = [best_level_here()]
    folder = chosen.folder or ROOT
    try:  # what can be known now, not in some minutes
        linker.command()
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        parser.error(str(reason))
    try:
        make(folder, chosen_levels, linker)
    except ChildProcessError as reason:
        sys.exit(f"no machine code is made: {reason}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m terrain_physics._build", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="where the modules go")
    parser.add_argument("--target", choices=PLATFORMS, default=HERE, help="default: %(default)s")
    parser.add_argument("--headers", nargs="+", help="folders", default=headers_here())
    parser.add_argument("--libraries", help="folder of python3.lib", default=LIBRARIES_HERE)
    parser.add_argument("--only", nargs="+", metavar="LEVEL", help="not all levels")
    return parser


def best_level_here() -> Level:
    """Return the best level that this machine's processor can run."""
    from llvmlite import binding

    found = binding.get_host_cpu_features()
    levels = PLATFORMS[HERE].levels
    return next(level for level in levels if all(found.get(name) for name in level.needs))


def make(
    folder: Path,
    levels: Sequence[Level],
    linker: Linker,
    packages: Sequence[KernelPackage] = PACKAGES,
) -> None:
    """Make the modules of some levels: all of them, or none if anything fails."""
    os.environ |= {"TERRAIN_PHYSICS_NATIVE": "0", "TERRAIN_PHYSICS_CHECK": "0"}
    with tempfile.TemporaryDirectory() as name:
        # Kernels are compiled apart only where there is a cache, which nobody else may have filled.
        os.environ["TERRAIN_PHYSICS_CACHE_DIR"] = name
        made = _made(Path(name), levels, linker, packages)
        for place, file in made.items():
            _put(file, folder / place)


def _made(
    work: Path, levels: Sequence[Level], linker: Linker, packages: Sequence[KernelPackage]
) -> dict[str, Path]:
    """Make modules in a folder; return their files by place."""
    from terrain_physics._build import lowering, signatures, workers
    from terrain_physics._build.entry import Entry
    from terrain_physics._build.lowered import Library
    from terrain_physics._build.progress import BuildProgress
    from terrain_physics._kernels import _jit

    lists = {package.name: signatures.read(package) for package in packages}
    with workers.started(levels, linker, work) as processes:
        progress = BuildProgress(processes, sum(map(len, lists.values())))

        def take(library: Library) -> None:
            processes.order(library)
            progress.functions += 1
            progress.tell()

        lowering.hand_on_to(take)
        with _jit.collecting_rarely():
            for package in packages:
                digest = package.digest()
                entries: list[Entry] = []
                for line in lists[package.name]:
                    entry = lowering.lower(line, package, f"kernel_{len(entries)}")
                    entries.append(entry)
                    progress.kernels += 1
                processes.order(lowering.extension(package, entries, digest))
        processes.order(None)
        for _ in processes.rest():
            progress.tell()
    return processes.made


def _put(file: Path, module: Path) -> None:
    """Put a module in its place as a whole; a process that has loaded the old one keeps it."""
    module.parent.mkdir(parents=True, exist_ok=True)
    part = module.with_name(f"{module.name}.part")
    shutil.copy(file, part)
    part.replace(module)


if __name__ == "__main__":
    main()
