"""The systems and processors that machine code is made for, in one table.

All of it is made on one machine, from one lowering: systems that share a family of processors share
the optimized code.
"""

import platform
import sys
from dataclasses import dataclass

_X86_64, _ARM64 = "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"


@dataclass(frozen=True)
class Processor:
    """What code is optimized for, by LLVM's names. The result serves each system."""

    triple: str
    name: str
    features: str = ""
    """What it has besides."""


@dataclass(frozen=True)
class Level:
    """A kind of processor, which has a module of its own."""

    name: str
    """Its name in `_native.LEVELS`."""
    processor: str
    """LLVM's name of the least processor that runs the module."""
    compiled_for: Processor
    """The processor that code is optimized for: LLVM emits it for a lesser one as well."""
    needs: tuple[str, ...] = ()
    """Features of the processor that not all of its family have, by LLVM's names."""


@dataclass(frozen=True)
class Platform:
    """A system on one family of processors: its machine code, and how a C compiler links it.

    C compilers must know the flags and the atomics of GCC. Where the system puts ``_`` before the
    names of functions, as macOS does, LLVM and C compilers both do.
    """

    system: str
    machine: str
    """What `sys.platform` and `platform.machine()` say there."""
    triple: str
    """LLVM's name of the processors, the system and its C library."""
    levels: tuple[Level, ...]
    tags: tuple[str, ...]
    """The last part of a wheel's name."""
    zig: str
    """The name that `ziglang` has for it, with the oldest version of the system."""
    compilers: tuple[str, ...]
    """Compilers of the system that link what LLVM writes, best first."""
    linking: tuple[str, ...]
    """Options of its linker; ``{name}`` stands for the name of the module."""
    suffix: str = ".abi3.so"
    imports: tuple[str, ...] = ()
    """The libraries that its modules may load."""
    has_compilers: bool = True
    """Whether the package index has our numba for it; else another machine makes the code."""
    place: str = ""
    """The one package of kernels that it has machine code of; without, of all."""

    @property
    def is_for_python(self) -> bool:
        """Whether there is a wheel for it."""
        return bool(self.tags)


_LEVELS_OF_X86_64 = (
    Level(
        *("v4", "x86-64-v4", Processor(_X86_64, "x86-64-v4")),
        needs=("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx2", "bmi2", "fma"),
    ),
    Level(
        *("v3", "x86-64-v3", Processor(_X86_64, "x86-64-v3")),
        needs=("avx2", "bmi", "bmi2", "f16c", "fma", "movbe"),
    ),
    Level("v2", "x86-64-v2", Processor(_X86_64, "x86-64-v3")),
)

_LEVELS_OF_ARM64 = (Level("arm64", "generic", Processor(_ARM64, "generic")),)

_WASM = Processor("wasm32-unknown-unknown", "generic", "+simd128")

_FOUND = ("cc", "gcc", "clang")
# Nothing is thrown through the wrappers in C, so they need no tables for unwinding.
_ON_LINUX = ("-shared", "-s", "-Wl,--gc-sections", "-lm")
_OF_MUSL = ("libc.so",)
_OF_GLIBC = ("libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1")
# Python's functions are those of whichever program loads the module. Nothing may be stripped once
# the linker has signed it: Macs with ARM processors load no code without a signature that holds.
_ON_MACOS = (
    *("-shared", "-undefined", "dynamic_lookup", "-Wl,-dead_strip"),
    *("-Wl,-install_name,@rpath/{name}", "-mmacosx-version-min=11.0"),
)
_OF_MACOS = ("/usr/lib/libSystem.B.dylib",)

PLATFORMS = {
    "linux-x86_64": Platform(
        system="linux",
        machine="x86_64",
        triple=_X86_64,
        levels=_LEVELS_OF_X86_64,
        tags=("manylinux2014_x86_64", "manylinux_2_17_x86_64"),
        zig="x86_64-linux-gnu.2.17",
        compilers=_FOUND,
        linking=_ON_LINUX,
        imports=_OF_GLIBC,
    ),
    "linux-aarch64": Platform(
        system="linux",
        machine="aarch64",
        triple=_ARM64,
        levels=_LEVELS_OF_ARM64,
        tags=("manylinux2014_aarch64", "manylinux_2_17_aarch64"),
        zig="aarch64-linux-gnu.2.17",
        compilers=_FOUND,
        linking=_ON_LINUX,
        imports=_OF_GLIBC,
    ),
    # Alpine and others: the same machine code, linked with another C library. Linked and read, but
    # no Python there has loaded it; programs with this code and this library have replayed tapes.
    "musllinux-x86_64": Platform(
        system="linux",
        machine="x86_64",
        triple=_X86_64,
        levels=_LEVELS_OF_X86_64,
        tags=("musllinux_1_2_x86_64",),
        zig="x86_64-linux-musl",
        compilers=(),
        linking=_ON_LINUX,
        imports=_OF_MUSL,
    ),
    "musllinux-aarch64": Platform(
        system="linux",
        machine="aarch64",
        triple=_ARM64,
        levels=_LEVELS_OF_ARM64,
        tags=("musllinux_1_2_aarch64",),
        zig="aarch64-linux-musl",
        compilers=(),
        linking=_ON_LINUX,
        imports=_OF_MUSL,
    ),
    "darwin-arm64": Platform(
        system="darwin",
        machine="arm64",
        triple="arm64-apple-macosx11.0.0",
        levels=(Level("arm64", "apple-m1", Processor(_ARM64, "apple-m1")),),
        tags=("macosx_11_0_arm64",),
        zig="aarch64-macos.11.0",
        compilers=_FOUND,
        linking=_ON_MACOS,
        imports=_OF_MACOS,
    ),
    "darwin-x86_64": Platform(
        system="darwin",
        machine="x86_64",
        triple="x86_64-apple-macosx11.0.0",
        levels=_LEVELS_OF_X86_64,
        tags=("macosx_11_0_x86_64",),
        zig="x86_64-macos.11.0",
        compilers=_FOUND,
        linking=_ON_MACOS,
        imports=_OF_MACOS,
        has_compilers=False,
    ),
    # Linked with python3.dll, which hands on to that of each version. Microsoft's compiler does not
    # serve: it lacks GCC's atomics, and its objects need its own runtime library.
    "win32-amd64": Platform(
        system="win32",
        machine="AMD64",
        triple="x86_64-w64-windows-gnu",
        levels=_LEVELS_OF_X86_64,
        tags=("win_amd64",),
        zig="x86_64-windows-gnu",
        compilers=(),
        linking=("-shared", "-s", "-lpython3"),
        suffix=".pyd",
        imports=("python3.dll", "kernel32.dll", "api-ms-win-crt-*"),
    ),
    # The library's kernels for JavaScript, which calls them by the names `kernel_0` and so on, in
    # the order of `signatures.txt`. No Python of browsers has PyGLM, so there is no wheel.
    "wasm32": Platform(
        system="wasm",
        machine="wasm32",
        triple=_WASM.triple,
        levels=(Level("wasm", _WASM.name, _WASM),),
        tags=(),
        zig="wasm32-wasi",
        compilers=(),
        linking=("-mexec-model=reactor", "-s", "-Wl,--export=malloc", "-Wl,--export=free"),
        suffix=".wasm",
        place="terrain_physics/_kernels",
    ),
}
"""The platforms, by `sys.platform` and `platform.machine()` where machine code can be made."""

WITH_WHEELS = {name: one for name, one in PLATFORMS.items() if one.is_for_python}
"""Those that Python runs on."""

HERE = f"{sys.platform}-{platform.machine().lower()}"
"""The name of this process's platform, which may be missing in the table."""


@dataclass(frozen=True)
class Wanted:
    """A level of a platform, which gets an extension module of each package of kernels."""

    target: str
    level: Level

    @property
    def name(self) -> tuple[str, str, str]:
        """Return what tells its machine code from that of others."""
        triple = PLATFORMS[self.target].triple
        return str(self.level.compiled_for), triple, self.level.processor

    def has(self, place: str) -> bool:
        """Tell whether it has an extension module of a package of kernels."""
        return PLATFORMS[self.target].place in {"", place}

    @property
    def file(self) -> str:
        """Return the name of its extension modules."""
        return f"_native_{self.level.name}{PLATFORMS[self.target].suffix}"


def where_numba_is_needed() -> str:
    """Return the condition on installations that no wheel with machine code serves."""
    others = dict.fromkeys(
        f"(sys_platform != '{one.system}' or platform_machine != '{one.machine}')"
        for one in WITH_WHEELS.values()
    )
    return f"implementation_name != 'cpython' or {' and '.join(others)}"
