"""Kernels between numba's two halves: typed and lowered to LLVM's language, not optimized yet.

Nothing in it depends on a processor; it is made once, and optimized for each.
"""

import hashlib
import pickle
import zlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class Entry:
    """Code that Python calls: one kernel for one list of types."""

    module: str
    """Its name within the package of kernels."""
    name: str
    function: str
    """LLVM's name of its function."""
    library: str
    """The key of its library."""
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

    name: str
    modules: tuple[tuple[str, str], ...]
    """Names and texts of LLVM modules."""
    callees: tuple[str, ...]
    """Keys of the libraries that are copied into it."""
    called: tuple[str, ...]
    """Keys of the libraries that it calls where they are: those of ``noinline`` kernels."""

    @cached_property
    def key(self) -> str:
        """Return a hash of all that machine code of it depends on, but for the processor."""
        parts = self.name, self.modules, self.callees
        return hashlib.sha256(repr(parts).encode()).hexdigest()


@dataclass(frozen=True)
class Extension:
    """An extension module, of which each level of processors has its own."""

    place: str
    """The folder that it goes to."""
    libraries: tuple[str, ...]
    """Keys of the libraries that it is made of."""
    symbols: dict[str, str]
    """New names for functions that Python calls."""
    source: str
    """The C code around them."""
    defined: tuple[str, ...]
    """Macros of that code that are the same for each level."""

    may_fuse: tuple[str, ...]
    """How the names of functions begin that fused multiply-add is allowed in: see `fused`."""

    @property
    def machine_code(self) -> str:
        """Return what machine code of it depends on, but for the processor."""
        return f"{self.libraries} {self.symbols} {self.may_fuse}"


def packed(order: object) -> bytes:
    """Return an order as it waits for a process, or in a file: short."""
    return zlib.compress(pickle.dumps(order), 1)


def unpacked(data: bytes) -> Any:
    """Return an order that was packed."""
    return pickle.loads(zlib.decompress(data))  # noqa: S301  # of our own processes
