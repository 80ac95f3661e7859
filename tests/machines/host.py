"""Makes programs that replay a tape: ``python -m tests.machines.host FOLDER SYSTEM...``.

They are in C, one for each system and level of processors. The same build as for wheels makes the
machine code in them. The linker for macOS is zig's, and nothing runs there; so the machine code for
its ARM processors is put into a program for Linux.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from terrain_physics._build import making
from terrain_physics._build.lowered import Extension
from terrain_physics._build.packages import LIBRARY
from terrain_physics._build.platforms import PLATFORMS, Wanted
from terrain_physics._build.systems.c_compiler import MEMORY, ZIG_COMMAND, Linker

_SYSTEMS = {
    "linux-x86_64": "x86_64-linux-musl",
    "linux-aarch64": "aarch64-linux-musl",
    "win32-amd64": "x86_64-windows-gnu",
    "wasm32": "wasm32-wasi",
}
"""Names that `ziglang` has for systems; programs for musl need nothing that is installed."""

_HERE = Path(__file__).parent
_RESULT = re.compile(r"^typedef struct \{ (.*?) \} (Result\d+_kernel_\d+);$", re.MULTILINE)
_FIELD = re.compile(r"([\w ]+?\*?) ?(m\d+);")
_ARRAY = re.compile(r"Array array; int64_t lengths\[(\d+)\];")
_KERNEL = re.compile(r"^int32_t (kernel_\d+)\((.*?) \*, Raised \*\*(?:, )?(.*)\);$", re.MULTILINE)
_WORDS = {"double": "d", "float": "f", "void *": "p", "Memory *": "p", "PyObject *": "p"}

_BEFORE = """
#include <stdlib.h>
#define malloc(size) calloc(1, size) /* the recorded process has cleared its memory, too */
{runtime}
#include <stdio.h>
#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#endif
typedef void PyObject;
typedef struct Raised Raised;
typedef struct {{ Memory *memory; void *parent; int64_t count, item_size; char *data; }} Array;
typedef union {{ int64_t i; double d; float f; void *p; }} Word;
static void put(const void *, int64_t), put_float(double), put_integer(int64_t);
static void release(Memory *);
"""


@dataclass(frozen=True)
class _HostLinker(Linker):
    """Links programs in place of extension modules."""

    is_for_python = False

    def source_around(self, extension: Extension) -> str:
        return source(extension)

    def link(self, inputs: Iterable[Path], module: Path, _: Extension) -> None:
        self._run("-O2", "-g0", *map(str, inputs), "-o", str(module), folder=module.parent)


def main() -> None:
    """Make all programs, each named by its system and its level."""
    folder, *targets = sys.argv[1:]
    wanted = [Wanted(target, level) for target in targets for level in PLATFORMS[target].levels]
    if "linux-aarch64" in targets:
        (level,) = PLATFORMS["darwin-arm64"].levels
        wanted.append(Wanted("linux-aarch64", replace(level, name=level.processor)))
    linkers = {
        target: _HostLinker(target, [*ZIG_COMMAND, "cc", "-target", _SYSTEMS[target]], [])
        for target in targets
    }
    with making.made(wanted, lambda _: linkers, [LIBRARY]) as modules:
        for module in modules:
            name = module.file.name.removeprefix("_native_").partition(".")[0]
            making.put(module.file, Path(folder, f"{module.target}-{name}"))


def source(extension: Extension) -> str:
    """Write the program but for the machine code; its wrappers tell the types of kernels."""
    results = {name: fields for fields, name in _RESULT.findall(extension.source)}
    kernels = _KERNEL.findall(extension.source)
    return "\n".join(
        [
            _BEFORE.format(runtime=MEMORY.read_text(encoding="utf-8")),
            *(f"typedef struct {{ {fields} }} {name};" for name, fields in results.items()),
            *(_called(results, *kernel) for kernel in kernels),
            "static int32_t (*KERNELS[])(Word *) = {",
            *(f"  call_{symbol}," for symbol, _, _ in kernels),
            "};",
            (_HERE / "replay.c").read_text(encoding="utf-8"),
        ]
    )


def _called(results: dict[str, str], symbol: str, result: str, parameters: str) -> str:
    """Write the function that calls a kernel, and puts what it returns."""
    kinds = parameters.split(", ") if parameters else []
    values = (f"({kind})w[{n}].{_WORDS.get(kind, 'i')}" for n, kind in enumerate(kinds))
    return "\n".join(
        [
            f"int32_t {symbol}({', '.join([f'{result} *', 'Raised **', *kinds])});",
            f"static int32_t call_{symbol}(Word *w) {{",
            f"  {result} result;",
            "  Raised *raised = NULL;",
            "  memset(&result, 0, sizeof(result));",
            f"  int32_t status = {symbol}({', '.join(['&result', '&raised', *values])});",
            "  if (!status) {",
            *(f"    {line}" for line in _put(results, result, "result")),
            "  }",
            "  return status;",
            "}",
        ]
    )


def _put(results: dict[str, str], kind: str, value: str) -> Iterator[str]:
    """Yield statements that put a result, as `kernel_calls` has recorded it."""
    if kind in results:
        fields = results[kind]
        if array := _ARRAY.match(fields):
            yield f"put({value}.array.data, {value}.array.count * {value}.array.item_size);"
            yield f"put({value}.lengths, {int(array[1]) // 2} * 8);"
            yield f"release({value}.array.memory);"
        for part, name in _FIELD.findall(fields):
            yield from _put(results, part.strip(), f"{value}.{name}")
    elif kind in {"double", "float"}:
        yield f"put_float({value});"
    elif kind != "void *":
        yield f"put_integer((int64_t){value});"


if __name__ == "__main__":
    main()
