"""Compiled loops of the software renderer: numba without Python's global lock, kept on disk."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core.cpu import CPUTargetOptions
from numba.core.options import TargetOptions

# numba can tell LLVM that arrays do not overlap, but takes no such option by itself.
if not hasattr(CPUTargetOptions, "noalias"):
    CPUTargetOptions.noalias = TargetOptions.Mapping("noalias")

F = TypeVar("F", bound=Callable[..., Any])


def _forget_stale_code() -> None:
    """Delete machine code older than any source here: numba misses edits of a callee's file."""
    folder = Path(__file__).parent
    try:
        edited = max(file.stat().st_mtime for file in folder.glob("*.py"))
        for index in (folder / "__pycache__").glob("*.nbi"):
            if index.stat().st_mtime < edited:
                index.unlink()
    except OSError:
        return  # a folder that cannot be written has no cache


_forget_stale_code()


def compiled(function: F) -> F:
    """Compile a function on first use, and keep its machine code if a folder can be written."""
    return _compiled(function)


def by_vectors(function: F) -> F:
    """Compile a loop over pixels into vector instructions; its arrays must not overlap."""
    return _compiled(function, noalias=True, fastmath={"contract", "nnan", "nsz", "reassoc"})


def _compiled(function: F, **more: Any) -> F:
    # Nothing is called from C; wrappers for that would be a twelfth of the time to compile.
    options: dict[str, Any] = {
        "nogil": True,
        "error_model": "numpy",
        "no_cfunc_wrapper": True,
        **more,
    }
    try:
        result: F = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # nowhere to keep it
        result = numba.njit(**options)(function)
    return result


def inlined(function: F) -> F:
    """Compile a small function into its callers; Python cannot call it."""
    result: F = numba.njit(
        nogil=True,
        error_model="numpy",
        forceinline=True,
        no_cfunc_wrapper=True,
        no_cpython_wrapper=True,
    )(function)
    return result
