"""Has numba type the listed kernels and lower them to LLVM's language, optimizing and running none.

That half of numba's work is Python, and the same for each processor. The other half is done by the
processes of `workers`, which get each function as soon as it is lowered.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

import llvmlite
import numba
from llvmlite import ir
from numba.core import cgutils
from numba.core.callconv import CPUCallConv
from numba.core.codegen import AOTCodeLibrary, JITCPUCodegen
from numba.core.cpu import CPUContext

from terrain_physics._build import signatures, wrapping
from terrain_physics._build.llvm import fused, naming
from terrain_physics._build.lowered import Entry, Extension, Library
from terrain_physics._build.packages import KernelPackage

_ADDRESS_NAME = re.compile(r"(numba\.dynamic\.globals\.)([0-9a-f]+)")
_ADDRESS = re.compile(r'^(@"numba\.dynamic\.globals\..* inttoptr \(i64 )\d+', re.MULTILINE)


class LoweredLibrary(AOTCodeLibrary):  # type: ignore[misc]  # numba is untyped
    """One function for one list of types, as numba asks for it; nothing in it is optimized."""

    hand_on: ClassVar[Callable[[Library], object]]
    """What takes each function that is lowered, after those that are copied into it."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._lowered: Library
        self.parameters: dict[str, tuple[str, ...]] = {}
        """LLVM's types of the parameters of each function in it."""
        self.callees: tuple[LoweredLibrary, ...] = ()
        self.kernel: tuple[str, str, tuple[Any, ...]] | None = None
        """Module, name and types of the kernel that it is, if it has a cache."""
        self.is_called_in_place = False
        """Whether callers call it where it is: that of a ``noinline`` kernel with a cache."""
        self._modules: list[tuple[str, str]] = []

    def add_ir_module(self, module: Any) -> None:
        text = _without_addresses(cgutils.normalize_ir_text(str(module)))
        self._modules.append((module.name, text))
        for function in module.functions:
            self.parameters[function.name] = tuple(map(_llvm_type, function.args))

    def finalize(self) -> None:
        self.callees = tuple(dict.fromkeys(self._linking_libraries))
        copied = tuple(one.lowered.key for one in self.callees if not one.is_called_in_place)
        called = tuple(one.lowered.key for one in self.callees if one.is_called_in_place)
        self.take(Library(self.name, tuple(self._modules), copied, called))
        self._modules.clear()

    @property
    def lowered(self) -> Library:
        """Return what numba has lowered, which is handed on by now."""
        self._ensure_finalized()
        return self._lowered

    def take(self, lowered: Library) -> None:
        """Be a library that is lowered, now or earlier."""
        self._lowered = lowered
        self._finalized = True
        type(self).hand_on(lowered)


def hand_on_to(take: Callable[[Library], object]) -> None:
    """Have numba lower only, in this process and from now on, and hand on each function."""
    LoweredLibrary.hand_on = staticmethod(take)
    JITCPUCodegen._library_class = LoweredLibrary  # noqa: SLF001
    # An exception would hold where it is raised, by a path of this machine; nobody reads that.
    CPUCallConv.build_excinfo_struct = lambda _, kind, values, *__: (kind, values, None)
    # numba would make each function callable from this process.
    CPUContext.get_executable = lambda *_: [].append  # any builtin, a new one for each function
    naming.make_lasting()


def _without_addresses(text: str) -> str:
    """Return a module without addresses of this process, which are in its names as well.

    They are those of classes of tuples, and nothing is left that reads them once it is optimized:
    `optimizing` refuses what does.
    """
    numbers: dict[str, int] = {}

    def numbered(found: re.Match[str]) -> str:
        return f"{found[1]}{numbers.setdefault(found[2], len(numbers))}"

    return _ADDRESS.sub(r"\g<1>0", _ADDRESS_NAME.sub(numbered, text))


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
        result.library.lowered.key,
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


def extension(
    package: KernelPackage,
    entries: Sequence[Entry],
    libraries: Mapping[str, Library],
    digest: str,
) -> Extension:
    """Return the extension module of a package's kernels, lowered from sources of this digest."""
    return Extension(
        package.place,
        tuple(sorted(_in_place({entry.library for entry in entries}, libraries))),
        {entry.function: entry.symbol for entry in entries},
        wrapping.module_source(entries),
        (
            f'DIGEST="{digest}"',
            f'COMPILED_BY="numba {numba.__version__}, llvmlite {llvmlite.__version__}"',
        ),
        tuple(fused.start_of_names(f"{package.name}{place}") for place in package.may_fuse),
    )


def _in_place(entries: set[str], libraries: Mapping[str, Library]) -> set[str]:
    """Return these libraries and those that are called where they are, not copied into callers."""
    found, seen, waiting = set(entries), set[str](), list(entries)
    while waiting:
        library = libraries[waiting.pop()]
        found.update(library.called)
        new = {*library.callees, *library.called} - seen
        seen |= new
        waiting.extend(new)
    return found
