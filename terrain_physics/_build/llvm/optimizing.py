"""Optimizes what numba has lowered by numba's own passes for one processor, and emits machine code.

numba would do the same with each function as soon as it has lowered it.
"""

import re
from typing import Any

from llvmlite import binding as llvm
from numba.core import config
from numba.core.codegen import AOTCodeLibrary, JITCPUCodegen
from numba.core.compiler_lock import global_compiler_lock

from terrain_physics._build.build_cache import BuildCache
from terrain_physics._build.lowered import Extension, Library, packed, unpacked
from terrain_physics._build.platforms import Level, Processor

_COUNTS_OF_NOTHING = re.compile(
    r"^ *(?:tail )?call void @NRT_(?:incref|decref)\((?:ptr|i8\*) null\).*\n", re.MULTILINE
)
_SYSTEM = re.compile(r"^target (?:triple|datalayout) = .*\n", re.MULTILINE)


class Optimizer:
    """Optimized libraries for one processor."""

    def __init__(self, processor: Processor, cache: BuildCache) -> None:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        self._processor = processor
        self._codegen = _Codegen(processor)
        self._cache = cache
        self._optimized: dict[str, bytes] = {}
        """LLVM's bitcode, packed, by the keys of libraries."""
        self._libraries: dict[str, Any] = {}
        """Those that were needed by now."""

    def __len__(self) -> int:
        """Return how many libraries are optimized."""
        return len(self._optimized)

    def add(self, lowered: Library) -> None:
        """Optimize a library, whose callees are here already, unless an earlier build has."""
        place = "optimized", str(self._processor), lowered.key
        stored = self._cache.read(*place)
        if stored is None:
            library = self._optimize(lowered)
            stored = packed(library.serialize_using_bitcode())
            self._cache.keep(stored, *place)
        self._optimized[lowered.key] = stored

    def _optimize(self, lowered: Library) -> Any:
        library = self._codegen.create_library(lowered.name)
        for name, text in lowered.modules:
            module = llvm.parse_assembly(self._codegen.system + _SYSTEM.sub("", text))
            module.name = name
            module.verify()
            library.add_llvm_module(module)
        for key in lowered.callees:
            library.add_linking_library(self.library(key))
        with global_compiler_lock:
            library.finalize()
        return library

    def library(self, key: str) -> Any:
        """Return an optimized library, read back as from an earlier build: one way, one result."""
        if key not in self._libraries:
            stored = unpacked(self._optimized[key])
            self._libraries[key] = self._codegen.unserialize_library(stored)
        return self._libraries[key]

    def linked(self, extension: Extension) -> Any:
        """Return one LLVM module: the functions that Python calls, renamed, and what they call."""
        whole = llvm.parse_assembly("")
        for key in extension.libraries:
            library = self.library(key)
            if library.has_dynamic_globals:
                raise ValueError(f"{library.name} holds addresses of this process")
            part = library._final_module.clone()  # noqa: SLF001
            whole.triple, whole.data_layout = part.triple, part.data_layout
            whole.link_in(part)
        for name, symbol in extension.symbols.items():
            whole.get_function(name).name = symbol
        _discard_unused(whole, keep=set(extension.symbols.values()))
        for function in whole.functions:
            if not function.is_declaration:  # no exception goes through a kernel: no tables for it
                function.add_function_attribute("nounwind")
        whole = without_counts_of_nothing(whole)
        _simplify(whole)
        whole.verify()
        return whole


class _Codegen(JITCPUCodegen):  # type: ignore[misc]  # numba is untyped
    """numba's own, for a processor that need not be this machine's; it runs nothing."""

    _library_class = AOTCodeLibrary

    def __init__(self, processor: Processor) -> None:
        self._processor = processor
        super().__init__("terrain_physics")

    def _init(self, _: Any) -> None:
        """Do what numba's does, but for the engine that would run code in this process."""
        target = llvm.Target.from_triple(self._processor.triple)
        self._tm = target.create_target_machine(
            cpu=self._processor.name,
            features=self._processor.features,
            opt=config.OPT,
            reloc="pic",
            codemodel="small",
        )
        self._tm_features = ""  # those of the processor, no more and no less
        self._target_data = self._tm.target_data
        self._data_layout = str(self._target_data)
        self._loopvect, self._opt_level = False, 0

    @property
    def system(self) -> str:
        """Return the lines of a module that name the processor's family."""
        layout = f'target datalayout = "{self._data_layout}"'
        return f'{layout}\ntarget triple = "{self._processor.triple}"\n'

    def _create_empty_module(self, name: str) -> Any:
        module = super()._create_empty_module(name)
        module.triple = self._processor.triple
        return module

    def _add_module(self, module: Any) -> None:
        """Do nothing: numba would make its functions callable."""


def without_counts_of_nothing(whole: Any) -> Any:
    """Return a module that counts no references to memory that is not there: borrowed arrays.

    numba calls a function for each array that is handed on, and that finds nothing to count. In an
    update of a character these were hundreds of calls, a tenth of its time.
    """
    return llvm.parse_assembly(_COUNTS_OF_NOTHING.sub("", str(whole)))


def _simplify(whole: Any) -> None:
    """Simplify what is left: each call that has gone might have read and written memory."""
    builder, passes = _passes(whole)
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.add_dead_store_elimination_pass()
    passes.add_simplify_cfg_pass()
    passes.run(whole, builder)


def _passes(whole: Any) -> tuple[Any, Any]:
    """Return LLVM's builder of passes over a module, and none of them yet."""
    machine = llvm.Target.from_triple(whole.triple).create_target_machine()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0))
    return builder, llvm.create_new_module_pass_manager()


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
    builder, passes = _passes(whole)
    passes.add_ipsccp_pass()
    passes.add_dead_arg_elimination_pass()
    passes.add_merge_functions_pass()  # a kernel for arrays that may be written to, and for others
    passes.add_global_dead_code_eliminate_pass()
    passes.add_strip_dead_prototype_pass()
    passes.run(whole, builder)


def machine_for(triple: str, processor: str, features: str = "") -> Any:
    """Return LLVM's target machine for a system and a processor, by LLVM's names."""
    target = llvm.Target.from_triple(triple)
    return target.create_target_machine(
        cpu=processor, features=features, opt=3, reloc="pic", codemodel="small"
    )


def emit(whole: Any, triple: str, level: Level) -> bytes:
    """Return an object file with machine code for a system and a level of its processors.

    LLVM changes what it emits, so a copy is emitted: no result depends on those before it.
    """
    machine = machine_for(triple, level.processor, level.compiled_for.features)
    copy = whole.clone()
    copy.triple, copy.data_layout = triple, str(machine.target_data)
    return bytes(machine.emit_object(copy))


def missing(whole: Any, source: str) -> list[str]:
    """Return the functions of numba that machine code needs and a C source does not define."""
    needed = (function.name for function in whole.functions if function.is_declaration)
    # What else is missing is functions of C, which the linker knows, and LLVM's own.
    of_numba = (name for name in needed if name.startswith(("NRT_", "numba_")))
    return sorted(name for name in of_numba if f"{name}(" not in source)
