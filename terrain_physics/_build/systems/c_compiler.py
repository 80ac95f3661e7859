"""Finds a C compiler, compiles with it and links extension modules."""

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from terrain_physics._build.lowered import Extension
from terrain_physics._build.platforms import HERE, PLATFORMS

ZIG_COMMAND = (sys.executable, "-m", "ziglang")

LIBRARIES_HERE = Path(sys.base_prefix, "libs") if sys.platform == "win32" else None
"""Where Python for Windows has ``python3.lib``."""

MEMORY = Path(__file__).parents[1] / "memory.c"
"""What machine code needs of numba's runtime."""

_FLAGS = (
    *("-O2", "-g0", "-fPIC", "-fno-strict-aliasing", "-ffp-contract=off", "-fvisibility=hidden"),
    *("-fno-asynchronous-unwind-tables", "-ffunction-sections", "-fdata-sections"),
)


def find(target: str) -> list[str] | None:
    """Return the command of a C compiler: CC, else the system's, else that of `ziglang`."""
    if chosen := shlex.split(os.environ.get("CC", "")):
        return chosen
    for name in PLATFORMS[target].compilers if target == HERE else ():
        if program := shutil.which(name):
            return [program]
    return zig(target) if importlib.util.find_spec("ziglang") else None


def zig(target: str) -> list[str]:
    """Return the command of `ziglang` for a platform."""
    return [*ZIG_COMMAND, "cc", "-target", PLATFORMS[target].zig]


@dataclass(frozen=True)
class Linker:
    """Compiles C and links extension modules for a platform."""

    target: str
    command: Sequence[str]
    headers: Sequence[Path]
    libraries: Path | None = None
    """The folder of ``python3.lib``."""

    @property
    def is_for_python(self) -> bool:
        """Whether it makes extension modules, or what needs no Python."""
        return PLATFORMS[self.target].is_for_python

    def source_around(self, extension: Extension) -> str:
        """Return the C code around machine code."""
        return extension.source if self.is_for_python else MEMORY.read_text(encoding="utf-8")

    def compile(self, source: Path, made: Path, defined: Iterable[str] = ()) -> None:
        """Compile a C file. Its path stands in nothing that is made."""
        self._run(
            *_FLAGS,
            "-Wno-gnu-variable-sized-type-not-at-end",  # results that hold arrays
            *(f"-D{definition}" for definition in defined),
            *(f"-I{folder}" for folder in self.headers),
            *("-c", source.name, "-o", str(made)),
            folder=source.parent,
        )

    def link(self, inputs: Iterable[Path], module: Path, extension: Extension) -> None:
        """Link object files into an extension module."""
        # Python finds one function, which hands out all; without Python each is found by its name.
        found = [] if self.is_for_python else extension.symbols.values()
        self._run(
            *("-O2", "-g0"),  # else `ziglang` adds what finds faults, and builds its C library anew
            *map(str, inputs),
            *([f"-L{self.libraries}"] if self.libraries else []),
            *(option.format(name=module.name) for option in PLATFORMS[self.target].linking),
            *(f"-Wl,--export={name}" for name in found),
            *("-o", str(module)),
            folder=module.parent,
        )

    def _run(self, *arguments: str, folder: Path) -> None:
        subprocess.run([*self.command, *arguments], check=True, cwd=folder)  # noqa: S603
