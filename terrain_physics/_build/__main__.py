"""Makes machine code: ``python -m terrain_physics._build``.

Without a folder, for this very processor and into this checkout (``poe native``); with one, the
same into it, as `pip wheel` does. ``--all FOLDER`` makes the wheels of all systems, by `ziglang`
from the package index: ``--only linux-aarch64`` makes some of them, ``--only wasm32`` the module of
the library's kernels for WebAssembly.
"""

import argparse
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from terrain_physics._build import making, wheels
from terrain_physics._build.packages import ROOT
from terrain_physics._build.platforms import HERE, PLATFORMS, WITH_WHEELS, Level, Wanted
from terrain_physics._build.systems import headers
from terrain_physics._build.systems.c_compiler import LIBRARIES_HERE, Linker, find


def main() -> None:
    """Make the modules of this machine, or wheels."""
    parser = _parser()
    chosen = parser.parse_args()
    if chosen.only and not chosen.all:
        parser.error("--only chooses among the wheels of --all")
    try:
        if chosen.all:
            _make_wheels(parser, chosen.folder, chosen.only)
        else:
            _make_here(parser, chosen.folder or ROOT)
    except (ChildProcessError, OSError, subprocess.CalledProcessError) as reason:
        sys.exit(f"no machine code is made: {reason}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m terrain_physics._build", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="where the modules or the wheels go")
    parser.add_argument("--all", action="store_true", help="wheels of all systems")
    parser.add_argument("--only", nargs="+", metavar="SYSTEM", help=f"of {', '.join(PLATFORMS)}")
    return parser


def _make_wheels(
    parser: argparse.ArgumentParser, folder: Path | None, only: list[str] | None
) -> None:
    """Make wheels; what is missing for that is told now, not in some minutes."""
    if folder is None:
        parser.error("--all needs a folder for the wheels")
    if unknown := set(only or ()).difference(PLATFORMS):
        names = ", ".join(PLATFORMS)
        parser.error(f"--only must name systems of {names}, got {', '.join(unknown)}")
    if missing := wheels.what_is_missing():
        parser.error(missing)
    _make_folder(parser, folder)
    wheels.make([target for target in PLATFORMS if target in (only or WITH_WHEELS)], folder)


def _make_here(parser: argparse.ArgumentParser, folder: Path) -> None:
    if HERE not in PLATFORMS:
        parser.error(f"no machine code is made for {HERE}: only for {', '.join(PLATFORMS)}")
    if (command := find(HERE)) is None:
        names = ", ".join([*PLATFORMS[HERE].compilers, "ziglang"])
        parser.error(f"no C compiler for {HERE}: none of {names}")
    if missing := headers.missing():
        parser.error(missing)
    _make_folder(parser, folder)

    def linkers(_: Path) -> Mapping[str, Linker]:
        return {HERE: Linker(HERE, command, headers.here(), LIBRARIES_HERE)}

    with making.made([Wanted(HERE, best_level_here())], linkers) as modules:
        for module in modules:
            making.put(module.file, folder / module.place)


def _make_folder(parser: argparse.ArgumentParser, folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        parser.error(str(reason))


def best_level_here() -> Level:
    """Return the best level that this machine's processor can run."""
    from llvmlite import binding

    found = binding.get_host_cpu_features()
    levels = PLATFORMS[HERE].levels
    return next(level for level in levels if all(found.get(name) for name in level.needs))


if __name__ == "__main__":
    main()
