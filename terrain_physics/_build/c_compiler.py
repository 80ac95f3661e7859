"""Finds a C compiler and links extension modules with it."""

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

GLIBC = (2, 17)
"""The oldest C library of Linux that modules should run on."""

_FOUND = ("cc", "gcc", "clang")


def find() -> list[str] | None:
    """Return the command of a C compiler: CC, else the system's, else that of `ziglang`."""
    if chosen := shlex.split(os.environ.get("CC", "")):
        return chosen
    for name in _FOUND:
        if program := shutil.which(name):
            return [program]
    if importlib.util.find_spec("ziglang") is not None:
        target = f"x86_64-linux-gnu.{GLIBC[0]}.{GLIBC[1]}"
        return [sys.executable, "-m", "ziglang", "cc", "-target", target]
    return None


def link(source: Path, machine_code: Path, module: Path, defined: Iterable[str]) -> None:
    """Compile a C file and link it with machine code into an extension module."""
    import numpy as np

    command = find()
    if command is None:
        raise FileNotFoundError(f"no C compiler: none of {', '.join(_FOUND)}, no ziglang")
    exported = source.with_suffix(".map")
    start = f"PyInit_{module.name.partition('.')[0]}"
    exported.write_text(f"{{ global: {start}; local: *; }};\n", encoding="utf-8")
    subprocess.run(  # noqa: S603
        [
            *command,
            *("-shared", "-fPIC", "-O2", "-fno-strict-aliasing", "-ffp-contract=off", "-s"),
            *(f"-D{definition}" for definition in defined),
            *(f"-I{folder}" for folder in (sysconfig.get_paths()["include"], np.get_include())),
            *(str(source), str(machine_code), "-lm"),
            *("-Wl,--gc-sections", f"-Wl,--version-script={exported}", "-o", str(module)),
        ],
        check=True,
    )


def glibc_needed(module: Path) -> tuple[int, int]:
    """Return the oldest version of glibc that a module runs on, by the symbols it asks for."""
    found = re.findall(rb"GLIBC_(\d+)\.(\d+)", module.read_bytes())
    return max(((int(major), int(minor)) for major, minor in found), default=GLIBC)
