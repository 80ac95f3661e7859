"""Kernels that earlier builds have lowered: one entry for each kernel and each list of types.

An entry belongs to the state of its module and of all that this imports (``_kernels/_imports.py``),
so an edit leaves alone what does not import the edited file. The entry has what numba must know to
compile callers, and numba's own functions that the kernel calls; kernels have entries of their own.
"""

import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from numba import types
from numba.core import serialize
from numba.core.caching import NullCache
from numba.core.compiler import compile_result

from terrain_physics._build import signatures
from terrain_physics._build.build_cache import BuildCache
from terrain_physics._build.llvm.lowering import LoweredLibrary
from terrain_physics._build.lowered import Library, unpacked
from terrain_physics._kernels import _cache, _imports


class _Callee(NamedTuple):
    """A kernel that another one calls."""

    module: str
    name: str
    types: tuple[Any, ...]
    key: str

    def is_same(self) -> bool:
        """Lower it, if it is not yet; tell whether it is the one that was called."""
        kernel = signatures.kernel_named(self.module, self.name).inner()
        kernel.compile(self.types)
        key: str = kernel.overloads[self.types].library.lowered.key
        return key == self.key


class _KeptKernel(NamedTuple):
    """What is kept of a kernel."""

    callees: tuple[_Callee, ...]
    functions: tuple[Library, ...]
    """Those of numba that are copied into it, each after its callees, and its own at the end."""
    parameters: dict[str, tuple[str, ...]]
    description: Any
    """numba's: how callers call it."""
    signature: Any


def keep_in(cache: BuildCache) -> None:
    """Have the kernels of all modules that are imported from now on use a cache."""

    def keeper(function: Callable[..., Any]) -> Callable[..., None]:
        if function.__closure__ or not _imports.is_followed(function.__module__):
            return _keep_nothing  # machine code depends on more than sources
        try:
            state = _imports.state_of(function.__module__)
        except OSError:  # somebody edits it right now
            return _keep_nothing

        def keep(dispatcher: Any, *, inside: bool = False, noinline: bool = False) -> None:
            if inside:
                kept = _LoweredKernel(function, state, cache, noinline=noinline)
                dispatcher._cache = kept  # noqa: SLF001

        return keep

    _cache.keeper = keeper


def _keep_nothing(*_: Any, **__: bool) -> None:
    """Leave a kernel without a cache."""


class _LoweredKernel(NullCache):  # type: ignore[misc]  # numba is untyped
    """What numba asks before it compiles a kernel, and gives the result to."""

    def __init__(
        self, function: Callable[..., Any], state: str, cache: BuildCache, *, noinline: bool
    ) -> None:
        self._module, self._name = function.__module__, function.__name__
        self._state = state
        self._cache = cache
        self._noinline = noinline

    def _place(self, kinds: tuple[Any, ...]) -> tuple[str, ...]:
        name = "lowered", self._module, self._name, self._state
        return *name, str(kinds), *_fields(kinds)

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        kinds = tuple(getattr(signature, "args", signature))
        stored = self._cache.read(*self._place(kinds))
        if stored is None:
            return None
        kept: _KeptKernel = unpacked(stored)
        if not all(callee.is_same() for callee in kept.callees):
            return None
        target_context.refresh()
        library = target_context.codegen().create_library(kept.functions[-1].name)
        for function in kept.functions:
            library.take(function)
        library.parameters = kept.parameters
        self._name_library(library, kinds)
        return compile_result(
            target_context=target_context,
            typing_context=target_context.typing_context,
            library=library,
            entry_point=target_context.get_executable(),  # see `lowering.hand_on_to`
            fndesc=kept.description,
            signature=kept.signature,
            objectmode=False,
            lifted=(),
            reload_init=(),
            referenced_envs=(),
        )

    def save_overload(self, signature: Any, result: Any) -> None:
        kinds = tuple(getattr(signature, "args", signature))
        library = result.library
        self._name_library(library, kinds)
        own, callees, functions = library.lowered, dict[_Callee, None](), dict[str, Library]()
        for part in _parts(library):
            if part.kernel:
                callees[_Callee(*part.kernel, part.lowered.key)] = None
            else:
                functions[part.lowered.key] = part.lowered
        result.fndesc.typemap = result.fndesc.calltypes = None  # of its own body
        kept = _KeptKernel(
            tuple(callees),
            (*functions.values(), own),
            library.parameters,
            result.fndesc,
            result.signature,
        )
        self._cache.keep(zlib.compress(serialize.dumps(kept), 1), *self._place(kinds))

    def _name_library(self, library: LoweredLibrary, kinds: tuple[Any, ...]) -> None:
        library.kernel = self._module, self._name, kinds
        library.is_called_in_place = self._noinline


def _parts(library: LoweredLibrary) -> Iterator[LoweredLibrary]:
    """Yield the kernels that a function calls, and numba's functions, each after its callees."""
    for callee in library.callees:
        if not callee.kernel:
            yield from _parts(callee)
        yield callee


def _fields(kinds: Iterable[Any]) -> Iterator[str]:
    """Yield the fields of tuples: the kernel's module may not import that of their class."""
    for kind in kinds:
        if isinstance(kind, types.BaseNamedTuple):
            yield str(kind.fields)
        yield from _fields(getattr(kind, "types", ()))
