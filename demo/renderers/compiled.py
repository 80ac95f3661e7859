"""Compiled loops of the software renderer, without Python's global lock.

Wheels bring their machine code, as they bring the library's. In a checkout numba compiles them on
first use; their machine code is kept beside the library's, in the same cache.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from terrain_physics._kernels import _jit, _native, _sources

F = TypeVar("F", bound=Callable[..., Any])

_HERE = Path(__file__).parent

PACKAGE = _sources.NativePackage(
    str(__package__),
    (str(_HERE), str(_HERE.parent / "picture"), *_sources.LIBRARY.folders),
)

native = _native.load(PACKAGE)
"""The extension module that holds machine code, None where numba compiles."""

if native is None:
    from terrain_physics._kernels import _imports

    _imports.follow(__name__.split(".", maxsplit=1)[0])


def compiled(function: F) -> F:
    """Compile a function on first use, and keep its machine code if a folder can be written."""
    return _jit.compiled(function, PACKAGE, native)


def by_vectors(function: F) -> F:
    """Compile a loop over pixels into vector instructions; its arrays must not overlap."""
    fastmath = {"contract", "nnan", "nsz", "reassoc"}
    return _jit.compiled(
        function, PACKAGE, native, fastmath=fastmath, noalias=True, no_refcount=True
    )


def inlined(function: F) -> F:
    """Compile a small function into its callers, which all are compiled."""
    return _jit.compiled(function, PACKAGE, native, inline=True)


def uncounted(function: F) -> F:
    """Compile a function that makes no arrays, for a few pixels: references are not counted."""
    return _jit.compiled(function, PACKAGE, native, no_refcount=True)
