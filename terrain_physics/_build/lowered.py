"""Kernels between numba's two halves: typed and lowered to LLVM's language, not optimized yet.

Nothing in it depends on a processor; it is made once, and optimized for each.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Library:
    """The code of one function for one list of types."""

    number: int
    name: str
    modules: tuple[tuple[str, str], ...]
    """Names and texts of LLVM modules."""
    callees: tuple[int, ...]
    """Numbers of the libraries that are copied into it."""


@dataclass(frozen=True)
class Extension:
    """An extension module, of which each level of processors has its own."""

    place: str
    """The folder that it goes to."""
    libraries: tuple[int, ...]
    """Numbers of the libraries that it is made of."""
    symbols: dict[str, str]
    """New names for functions that Python calls."""
    source: str
    """The C code around them."""
    defined: tuple[str, ...]
    """Macros of that code that are the same for each level."""
