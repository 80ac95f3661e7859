"""Has numba type the listed kernels and lower them to LLVM's language, optimizing and running none.

That half of numba's work is Python, and the same for each processor. The other half is done by the
processes of `workers`, which get each function as soon as it is lowered.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Any

import llvmlite
import numba
from llvmlite import ir
from numba.core import cgutils
from numba.core.callconv import CPUCallConv
from numba.core.codegen import AOTCodeLibrary, JITCPUCodegen
from numba.core.cpu import CPUContext

from terrain_physics._build import signatures, wrapping
from terrain_physics._build.lowered import Entry, Extension, Library
from terrain_physics._build.packages import KernelPackage
from terrain_physics._kernels import _cache


def hand_on_to(take: Callable[[Library], object]) -> None:
    """Have numba hand on each function that it lowers, in this process and from now on.

    A function is handed on after those that are copied into it.
    """
    numbers = count()

    class Lowered(AOTCodeLibrary):  # type: ignore[misc]  # numba is untyped
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            self.number = next(numbers)
            self.parameters: dict[str, tuple[str, ...]] = {}
            self._modules: list[tuple[str, str]] = []

        def add_ir_module(self, module: Any) -> None:
            self._modules.append((module.name, cgutils.normalize_ir_text(str(module))))
            for function in module.functions:
                self.parameters[function.name] = tuple(map(_llvm_type, function.args))

        def finalize(self) -> None:
            callees = tuple(
                library.number
                for library in dict.fromkeys(self._linking_libraries)
                if library._shared_module is None  # noqa: SLF001 else `noinline`, and called where it is
            )
            take(Library(self.number, self.name, tuple(self._modules), callees))
            self._modules.clear()
            self._finalized = True

        @property
        def has_dynamic_globals(self) -> bool:
            """Keep this out of the cache; `optimizing` looks for addresses of this process."""
            self._ensure_finalized()
            return True

    JITCPUCodegen._library_class = Lowered  # noqa: SLF001
    # An exception would hold where it is raised, by a path of this machine; nobody reads that.
    CPUCallConv.build_excinfo_struct = lambda _, kind, values, *__: (kind, values, None)
    # numba would make each function callable from this process.
    CPUContext.get_executable = lambda *_: [].append  # any builtin, a new one for each function


def _llvm_type(argument: Any) -> str:
    return "ptr" if isinstance(argument.type, ir.PointerType) else str(argument.type)


def lower(line: str, package: KernelPackage, symbol: str) -> Entry:
    """Lower a kernel as other kernels call it; its wrapper for Python is written in C."""
    kernel, signature = signatures.load(line, package)
    dispatcher = kernel.inner()
    dispatcher.compile(signature)
    result = dispatcher.overloads[signature]
    function = result.fndesc.llvm_func_name
    return Entry(
        package.within(kernel.__module__),
        kernel.__name__,
        function,
        result.library.number,
        symbol,
        tuple(map(numba.types.unliteral, result.signature.args)),
        numba.types.unliteral(result.signature.return_type),
        result.library.parameters[function],
        keeps_lock=not kernel.targetoptions["nogil"] or not _takes_arrays(result.signature.args),
    )


def _takes_arrays(kinds: Iterable[Any]) -> bool:
    return any(
        isinstance(kind, numba.types.Array) or _takes_arrays(getattr(kind, "types", ()))
        for kind in kinds
    )


def _noinline_libraries(package: KernelPackage) -> set[int]:
    """Return the code of ``noinline`` kernels: it is not copied into callers."""
    return {
        signatures.kernel_named(module, name).inner().overloads[signature].library.number
        for module, name, signature in _cache.compiled_noinline()
        if module.startswith(f"{package.name}.")
    }


def extension(package: KernelPackage, entries: Sequence[Entry], digest: str) -> Extension:
    """Return the extension module of a package's kernels, lowered from sources of this digest."""
    return Extension(
        package.place,
        tuple(sorted({entry.library for entry in entries} | _noinline_libraries(package))),
        {entry.function: entry.symbol for entry in entries},
        wrapping.module_source(entries),
        (
            f'DIGEST="{digest}"',
            f'COMPILED_BY="numba {numba.__version__}, llvmlite {llvmlite.__version__}"',
        ),
    )
