"""One kernel for one list of types, as an extension module has it."""

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
