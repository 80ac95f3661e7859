"""Compiles the listed kernels by numba, running none, and links their machine-independent code.

numba compiles for the processor that ``NUMBA_CPU_NAME`` names. The result is one LLVM module: the
entries, renamed so that C knows them, and what they call.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numba
from llvmlite import binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.cpu import CPUContext

from terrain_physics._build import signatures, together
from terrain_physics._build.packages import KernelPackage
from terrain_physics._kernels import _cache


@dataclass(frozen=True)
class Entry:
    """Machine code that Python calls: one kernel for one list of types."""

    module: str
    """Its name within the package of kernels."""
    name: str
    symbol: str
    arguments: tuple[Any, ...]
    result: Any
    parameters: tuple[str, ...]
    """LLVM's types of the parameters, numba's two pointers first."""
    keeps_lock: bool
    """Whether the GIL is kept: to release it would take longer than the call."""


def compile_all(
    lines: Sequence[str], package: KernelPackage, processes: int = 1
) -> tuple[Any, list[Entry]]:
    """Return one LLVM module, and its entries in the order of the lines of a package's list."""
    # numba would make each function callable from this process: a third of the time.
    CPUContext.get_executable = lambda *_: [].append  # any builtin, a new one for each function
    JITCodeLibrary._finalize_specific = lambda _: None  # noqa: SLF001
    # One process links what another compiles, so LLVM's code is kept, not the processor's.
    JITCodeLibrary.serialize_using_object_code = JITCodeLibrary.serialize_using_bitcode
    if processes > 1 and together.CAN_FORK:
        together.do_all(len(lines), lambda task: _compile(lines[task], package), processes)
    compiled = [_compile(line, package) for line in lines]
    libraries = {result.library for _, result in compiled} | set(_noinline_libraries(package))
    whole = _linked(libraries)
    entries = [
        _entry(whole, package.within(kernel.__module__), kernel, result, f"kernel_{number}")
        for number, (kernel, result) in enumerate(compiled)
    ]
    _discard_unused(whole, keep={entry.symbol for entry in entries})
    for function in whole.functions:
        if not function.is_declaration:  # no exception goes through a kernel: no tables for that
            function.add_function_attribute("nounwind")
    whole.verify()
    return whole, entries


def _compile(line: str, package: KernelPackage) -> tuple[Any, Any]:
    """Compile a kernel as other kernels call it; its wrapper for Python is written in C."""
    kernel, signature = signatures.load(line, package)
    dispatcher = kernel.inner()
    dispatcher.compile(signature)
    return kernel, dispatcher.overloads[signature]


def _noinline_libraries(package: KernelPackage) -> list[Any]:
    """Return the code of ``noinline`` kernels: it is not copied into callers."""
    return [
        signatures.kernel_named(module, name).inner().overloads[signature].library
        for module, name, signature in _cache.compiled_noinline()
        if module.startswith(f"{package.name}.")
    ]


def _linked(libraries: set[Any]) -> Any:
    whole = llvm.parse_assembly("")
    for library in sorted(libraries, key=lambda library: str(library.name)):
        if library.has_dynamic_globals:
            raise ValueError(f"{library.name} holds addresses of this process")
        part = library._final_module.clone()  # noqa: SLF001
        whole.triple, whole.data_layout = part.triple, part.data_layout
        whole.link_in(part)
    return whole


def _entry(whole: Any, module: str, kernel: Any, result: Any, symbol: str) -> Entry:
    function = whole.get_function(result.fndesc.llvm_func_name)
    function.name = symbol
    return Entry(
        module,
        kernel.__name__,
        symbol,
        tuple(map(numba.types.unliteral, result.signature.args)),
        numba.types.unliteral(result.signature.return_type),
        tuple(str(argument.type) for argument in function.arguments),
        keeps_lock=not kernel.targetoptions["nogil"] or not _takes_arrays(result.signature.args),
    )


def _takes_arrays(kinds: Iterable[Any]) -> bool:
    return any(
        isinstance(kind, numba.types.Array) or _takes_arrays(getattr(kind, "types", ()))
        for kind in kinds
    )


def _discard_unused(whole: Any, keep: set[str]) -> None:
    """Discard what no entry calls, arguments and results that none reads, and second copies.

    That is a quarter of the code.

    numba compiles each kernel for any caller: tuples are handed on with all their fields, and a
    status is tested after each call. What of it is of use is seen only once all callers are known.
    """
    for thing in (*whole.functions, *whole.global_variables):
        if thing.is_declaration or thing.linkage in {llvm.Linkage.private, llvm.Linkage.internal}:
            continue
        if thing.name in keep:
            thing.linkage, thing.visibility = "external", "hidden"
        else:
            thing.linkage = "internal"
    machine = llvm.Target.from_triple(whole.triple).create_target_machine()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0))
    passes = llvm.create_new_module_pass_manager()
    passes.add_ipsccp_pass()
    passes.add_dead_arg_elimination_pass()
    passes.add_merge_functions_pass()  # a kernel for arrays that may be written to, and for others
    passes.add_global_dead_code_eliminate_pass()
    passes.add_strip_dead_prototype_pass()
    passes.run(whole, builder)


def emit(whole: Any, triple: str, processor: str) -> bytes:
    """Return an object file with machine code for a system and a processor, by LLVM's names."""
    machine = llvm.Target.from_triple(triple).create_target_machine(
        cpu=processor, opt=3, reloc="pic", codemodel="small"
    )
    whole.triple, whole.data_layout = triple, str(machine.target_data)
    return bytes(machine.emit_object(whole))


def needs(whole: Any) -> set[str]:
    """Return the functions that other code must define."""
    return {
        function.name
        for function in whole.functions
        if function.is_declaration and not function.name.startswith("llvm.")
    }
