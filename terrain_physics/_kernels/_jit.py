"""The ``kernel`` decorator, which runs a function as machine code.

A kernel is plain Python on float64 scalars and arrays. Its machine code came with the wheel
(``_native.py``). Where it did not, as in a checkout, numba compiles a kernel on first use
(``_numba.py``) and the machine code is kept on disk (``_cache.py``); without numba, or with
``NUMBA_DISABLE_JIT=1``, the same source runs as it stands: slower, same results.
"""

import contextlib
import gc
from collections.abc import Callable, Collection, Iterator
from functools import cache, partial
from typing import Any, TypeVar, cast, overload

import numpy as np

from terrain_physics._kernels import _native
from terrain_physics._kernels._sources import LIBRARY, NativePackage
from terrain_physics._kernels._undisturbed import undisturbed

F = TypeVar("F", bound=Callable[..., Any])

native = _native.load()
"""The extension module that holds machine code, None where numba compiles."""


def _has_numba() -> bool:
    from terrain_physics._kernels import _numba

    return _numba.HAS_NUMBA


HAS_NUMBA = native is None and _has_numba()
"""Whether numba compiles the library's kernels."""

# New objects after which Python looks for garbage. numba makes millions of objects and leaves few
# of them behind: with Python's 700 a tenth of the time that it takes to compile goes into that.
_OBJECTS_A_COLLECTION = 10_000


@contextlib.contextmanager
def collecting_rarely() -> Iterator[None]:
    """Have Python look for garbage less often than it does by default, while much is compiled."""
    before = gc.get_threshold()
    if before[0]:  # 0: it is turned off
        gc.set_threshold(max(before[0], _OBJECTS_A_COLLECTION), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def is_cached(kernel: Callable[..., Any]) -> bool:
    """Tell whether there is machine code of this kernel, so that its first call is quick."""
    if native is not None and not hasattr(kernel, "py_func"):
        return True
    from terrain_physics._kernels import _cache

    return _cache.is_cached(kernel)


def compiled(
    function: F, package: NativePackage, module: Any, *, noinline: bool = False, **how: Any
) -> F:
    """Return a kernel of a package, whose machine code is in a module, if there is one.

    ``how`` is that of `kernel`, but for ``fastmath``: a set of numba's names, in place of
    ``contract``.
    """
    if module is not None:
        return _with_machine_code(function, package, module)
    return _with_numba(function, noinline=noinline, **how) if _has_numba() else function


def _with_machine_code(function: F, package: NativePackage, module: Any) -> F:
    """Return a kernel of the extension module; a function that only kernels call stays as it is."""
    full, fallback = function.__module__, _native.Fallback(function, package)
    within = full.removeprefix(f"{package.name}.")
    made = module.kernel(within, function.__name__, fallback, full)
    return function if made is None else cast("F", made)


def _options(
    *,
    inline: bool = False,
    no_refcount: bool = False,
    holds_gil: bool = False,
    noalias: bool = False,
    fastmath: Collection[str] = (),
) -> dict[str, Any]:
    """Return the options of a kernel in numba's terms."""
    from terrain_physics._kernels import _numba

    options: dict[str, Any] = {
        "nogil": not holds_gil,
        "error_model": "numpy",
        "forceinline": inline,
        "no_cfunc_wrapper": True,  # for calls from C; a twelfth of the time to compile
        "fastmath": set(fastmath) or False,
    }
    if _native.CHECKED:
        options["boundscheck"] = True
    if noalias and _numba.CAN_NOALIAS:
        options["noalias"] = True
    if _numba.CAN_SKIP_REFCOUNT:
        # It is always set: otherwise numba takes that of the kernel that it compiles first.
        options["_nrt"] = not no_refcount
    return options


def _with_numba(function: F, *, noinline: bool, **how: Any) -> F:
    from terrain_physics._kernels import _cache, _numba

    options = _options(**how)
    outer: Any = _numba.numba.njit(**options)(function)
    if outer is function:  # NUMBA_DISABLE_JIT=1
        return function
    keep = _cache.keeper(function)
    keep(outer)

    @cache
    def inner() -> Any:
        """Return the dispatcher for other kernels, without a wrapper for calls from Python.

        The wrapper takes a quarter of the time to compile, and most kernels never need it.
        """
        dispatcher = _numba.numba.njit(**options, no_cpython_wrapper=True)(function)
        keep(dispatcher, inside=True, noinline=noinline)
        return dispatcher

    def find(arguments: Any, keywords: Any) -> Any:
        """Compile one version for variables and constants; numba makes one for each constant."""
        wider = tuple(_numba.numba.types.unliteral(argument) for argument in arguments)
        keywords = {k: _numba.numba.types.unliteral(v) for k, v in keywords.items()}
        return inner().get_call_template(wider, keywords)

    compile_for = outer._compile_for_args  # noqa: SLF001 that calls from Python come to
    outer._compile_for_args = lambda *arguments, **keywords: undisturbed(  # noqa: SLF001
        lambda: compile_for(*arguments, **keywords)
    )
    outer.inner = inner
    outer.get_call_template = find
    outer.get_overload = lambda signature: inner().get_overload(signature)
    return cast("F", outer)


@overload
def kernel(function: F, /) -> F: ...
@overload
def kernel(
    *,
    inline: bool = False,
    noinline: bool = False,
    no_refcount: bool = False,
    holds_gil: bool = False,
    contract: bool = False,
    noalias: bool = False,
) -> Callable[[F], F]: ...
def kernel(
    function: F | None = None,
    /,
    *,
    inline: bool = False,
    noinline: bool = False,
    no_refcount: bool = False,
    holds_gil: bool = False,
    contract: bool = False,
    noalias: bool = False,
) -> F | Callable[[F], F]:
    """Compile a function on first use; release the GIL inside; keep the machine code on disk.

    Parameters
    ----------
    function : callable
        Plain Python on scalars, tuples and arrays, by the kernel rules of ARCHITECTURE.md.
    inline : bool
        Always inline into the calling kernel. For small functions of few lines.
    noinline : bool
        Never inline, and compile only once. For large functions: others are compiled again within
        each kernel that calls them, and within the callers of those.
    no_refcount : bool
        Do not count references of arrays: an atomic operation for each, at each call. For functions
        that take arrays, or tuples with arrays, but make none and return none. Nor may such a
        function call one that returns a new array. numba refuses to compile a function that makes
        arrays, but not one that calls such a function: that would never free them, since numba
        compiles it in the same way.
    holds_gil : bool
        Keep the GIL. For single queries that take no longer than to release the GIL and take it
        back.
    contract : bool
        Allow fused multiply-add. Only where every verdict is guarded by an error band.
    noalias : bool
        Promise that no two arrays overlap, so that loops which gather and store are vectorized.
        Only for private stages that write to working memory of their own.
    """
    made: Callable[[F], F] = partial(
        compiled,
        package=LIBRARY,
        module=native,
        noinline=noinline,
        inline=inline,
        no_refcount=no_refcount,
        holds_gil=holds_gil,
        noalias=noalias,
        fastmath={"contract"} if contract else (),
    )
    return made if function is None else made(function)


class CachedDispatch:
    """A kernel that is always called with the same types of arguments: numba finds them once.

    Finding them takes as long as the rest of a short call, most of it for read-only arrays.
    """

    __slots__ = ("_kernel", "_quick", "call")

    def __init__(self, kernel: Callable[..., Any]) -> None:
        self._kernel: Any = kernel
        self._quick: Callable[..., Any] = kernel
        self.call: Callable[..., Any] = self._first

    def _first(self, *arguments: Any) -> Any:
        result = self._checked(*arguments)
        known = self._kernel
        with contextlib.suppress(Exception):  # private parts of numba, or plain Python
            known = known.overloads[tuple(map(known.typeof_pyval, arguments))].entry_point
        self._quick = known
        # To make an array of a result, numba runs Python, where signal handlers come in.
        self.call = self._checked if _has_arrays(result) else known
        return result

    def _checked(self, *arguments: Any) -> Any:
        try:
            return self._quick(*arguments)
        except SystemError as error:
            raise _cause_of(error) from None


def _has_arrays(result: Any) -> bool:
    if isinstance(result, tuple):
        return any(map(_has_arrays, result))
    return isinstance(result, np.ndarray)


def _cause_of(error: BaseException) -> BaseException:
    """Return what a signal handler has raised: numba tells it as the cause of a SystemError."""
    while isinstance(error, SystemError) and error.__cause__ is not None:
        error = error.__cause__
    return error
