"""Compiled loops of the software renderer: numba without Python's global lock, kept on disk.

Their machine code lies beside the library's, in the same cache. Wheels bring machine code for the
library only: there, too, numba compiles these.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numba

from terrain_physics._kernels import _cache, _imports
from terrain_physics._kernels._numba import CAN_NOALIAS

F = TypeVar("F", bound=Callable[..., Any])

_imports.follow(__name__.split(".", maxsplit=1)[0])


def compiled(function: F) -> F:
    """Compile a function on first use, and keep its machine code if a folder can be written."""
    return _compiled(function)


def by_vectors(function: F) -> F:
    """Compile a loop over pixels into vector instructions; its arrays must not overlap."""
    alone = {"noalias": True} if CAN_NOALIAS else {}
    return _compiled(function, fastmath={"contract", "nnan", "nsz", "reassoc"}, **alone)


def inlined(function: F) -> F:
    """Compile a small function into its callers; Python cannot call it."""
    return _compiled(function, inside=True, forceinline=True, no_cpython_wrapper=True)


def _compiled(function: F, *, inside: bool = False, **more: Any) -> F:
    # Nothing is called from C; wrappers for that would be a twelfth of the time to compile.
    result: F = numba.njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True, **more)(function)
    if result is not function:  # as it is with NUMBA_DISABLE_JIT=1
        _cache.keeper(function)(result, inside=inside)
    return result
