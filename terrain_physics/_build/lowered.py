"""Kernels between numba's two halves: typed and lowered to LLVM's language, not optimized yet.

Nothing in it depends on a processor; it is made once, and optimized for each.
"""

import pickle
import zlib
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Entry:
    """Code that Python calls: one kernel for one list of types."""

    module: str
    """Its name within the package of kernels."""
    name: str
    function: str
    """LLVM's name of its function."""
    library: int
    symbol: str
    """The name that C knows it by."""
    arguments: tuple[Any, ...]
    result: Any
    parameters: tuple[str, ...]
    """LLVM's types of the parameters, numba's two pointers first."""
    keeps_lock: bool
    """Whether the GIL is kept: to release it would take longer than the call."""


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


def packed(order: object) -> bytes:
    """Return an order as a process takes it: short, as it may have to wait for the process."""
    return zlib.compress(pickle.dumps(order), 1)
