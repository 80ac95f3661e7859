"""Finds a C compiler and links extension modules with it."""

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from terrain_physics._build.platforms import HERE, PLATFORMS


def find(target: str) -> list[str] | None:
    """Return the command of a C compiler: CC, else the system's, else that of `ziglang`."""
    if chosen := shlex.split(os.environ.get("CC", "")):
        return chosen
    for name in PLATFORMS[target].compilers if target == HERE else ():
        if program := shutil.which(name):
            return [program]
    if importlib.util.find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "cc", "-target", PLATFORMS[target].zig]
    return None


OLDEST_GLIBC = (2, 17)
"""The oldest version that the tag of a wheel for Linux can name."""

LIBRARIES_HERE = str(Path(sys.base_prefix, "libs")) if sys.platform == "win32" else ""
"""Where Python for Windows has ``python3.lib``."""


def headers_here() -> list[str]:
    """Return the folders with the C headers of Python and NumPy."""
    import numpy as np

    return [sysconfig.get_paths()["include"], np.get_include()]


@dataclass(frozen=True)
class Linker:
    """Links extension modules for a platform."""

    target: str = HERE
    headers: Sequence[str] = field(default_factory=headers_here)
    libraries: str = LIBRARIES_HERE

    def command(self) -> list[str]:
        """Return the command of the C compiler."""
        if (command := find(self.target)) is None:
            names = ", ".join([*PLATFORMS[self.target].compilers, "ziglang"])
            raise FileNotFoundError(f"no C compiler for {self.target}: none of {names}")
        return command

    def link(self, inputs: Iterable[Path], module: Path, defined: Iterable[str]) -> None:
        """Compile a C file and link it with machine code into an extension module."""
        platform = PLATFORMS[self.target]
        subprocess.run(  # noqa: S603
            [
                *self.command(),
                *("-O2", "-fno-strict-aliasing", "-ffp-contract=off", "-fvisibility=hidden"),
                "-Wno-gnu-variable-sized-type-not-at-end",  # results that hold arrays
                *(f"-D{definition}" for definition in defined),
                *(f"-I{folder}" for folder in self.headers),
                *map(str, inputs),
                *([f"-L{self.libraries}"] if self.libraries else []),
                *(*platform.linking, "-o", str(module)),
            ],
            check=True,
        )


def glibc_needed(module: Path) -> tuple[int, int]:
    """Return the oldest version of glibc that a module runs on, by the symbols it asks for."""
    found = re.findall(rb"GLIBC_(\d+)\.(\d+)", module.read_bytes())
    return max([OLDEST_GLIBC, *((int(major), int(minor)) for major, minor in found)])
