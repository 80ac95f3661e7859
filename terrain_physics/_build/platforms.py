"""The systems and processors that machine code is made for, in one table.

Tested on Linux with x86-64 processors only. All else is written down and UNTESTED: modules for
Windows and for macOS with x86-64 are linked by a test and have never run; those for ARM have never
been made.
"""

import platform
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Level:
    """A kind of processor, which has a module of its own."""

    name: str
    """Its name in `_native.LEVELS`."""
    processor: str
    """LLVM's name of the least processor that runs the module."""
    compiled_for: str
    """The processor that numba compiles for: LLVM emits its code for a lesser one as well."""
    needs: tuple[str, ...] = ()
    """Features of the processor that not all of its family have, by LLVM's names."""


@dataclass(frozen=True)
class Platform:
    """A system on one family of processors: its machine code, and how a C compiler links it.

    C compilers must know the flags and the atomics of GCC. Where the system puts ``_`` before the
    names of functions, as macOS does, LLVM and C compilers both do.
    """

    triple: str
    """LLVM's name of the processors, the system and its C library."""
    levels: tuple[Level, ...]
    tag: str
    """The last part of a wheel's name; on Linux a newer C library may change it."""
    zig: str
    """The name that `ziglang` has for it, with the oldest version of the system."""
    compilers: tuple[str, ...]
    """Compilers of the system that link what LLVM writes, best first."""
    linking: tuple[str, ...]
    suffix: str = ".abi3.so"
    is_tested: bool = False


_X86_64 = (
    Level(
        *("v4", "x86-64-v4", "x86-64-v4"),
        needs=("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx2", "bmi2", "fma"),
    ),
    Level("v3", "x86-64-v3", "x86-64-v3", needs=("avx2", "bmi", "bmi2", "f16c", "fma", "movbe")),
    Level("v2", "x86-64-v2", "x86-64-v3"),
)

_FOUND = ("cc", "gcc", "clang")
# Nothing is thrown through the wrappers in C, so they need no tables for unwinding.
_SMALL = ("-fno-asynchronous-unwind-tables", "-s", "-Wl,--gc-sections")
_ON_LINUX = ("-shared", "-fPIC", *_SMALL, "-lm")
# Python's functions are those of whichever program loads the module.
_ON_MACOS = (
    "-shared",
    "-undefined",
    "dynamic_lookup",
    "-Wl,-dead_strip",
    "-mmacosx-version-min=11.0",
)

PLATFORMS = {
    "linux-x86_64": Platform(
        triple="x86_64-unknown-linux-gnu",
        levels=_X86_64,
        tag="manylinux_2_17_x86_64",
        zig="x86_64-linux-gnu.2.17",
        compilers=_FOUND,
        linking=_ON_LINUX,
        is_tested=True,
    ),
    "linux-aarch64": Platform(
        triple="aarch64-unknown-linux-gnu",
        levels=(Level("arm64", "generic", "generic"),),
        tag="manylinux_2_17_aarch64",
        zig="aarch64-linux-gnu.2.17",
        compilers=_FOUND,
        linking=_ON_LINUX,
    ),
    "darwin-arm64": Platform(
        triple="arm64-apple-macosx11.0.0",
        levels=(Level("arm64", "apple-m1", "apple-m1"),),
        tag="macosx_11_0_arm64",
        zig="aarch64-macos.11.0",
        compilers=_FOUND,
        linking=_ON_MACOS,
    ),
    # There is no numba of our version for these: another x86-64 machine makes their machine code.
    "darwin-x86_64": Platform(
        triple="x86_64-apple-macosx11.0.0",
        levels=_X86_64,
        tag="macosx_11_0_x86_64",
        zig="x86_64-macos.11.0",
        compilers=_FOUND,
        linking=_ON_MACOS,
    ),
    # Linked with python3.dll, which hands on to that of each version. Microsoft's compiler does not
    # serve: it lacks GCC's atomics, and its objects need its own runtime library.
    "win32-amd64": Platform(
        triple="x86_64-w64-windows-gnu",
        levels=_X86_64,
        tag="win_amd64",
        zig="x86_64-windows-gnu",
        compilers=(),
        linking=("-shared", "-s", "-lpython3"),
        suffix=".pyd",
    ),
}
"""The platforms, by `sys.platform` and `platform.machine()`."""

HERE = f"{sys.platform}-{platform.machine().lower()}"
"""The name of this process's platform, which may be missing in the table."""
