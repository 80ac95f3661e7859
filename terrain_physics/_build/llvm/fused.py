"""Fused multiply-add: allowed only in kernels that ask for it, whose verdicts an error band guards.

It rounds once where others round twice, and not all processors have it. So wherever a position, a
state or an answer comes out, machines would differ in the last bit. LLVM fuses what is marked so;
what other kernels copy into themselves keeps its marks, and is found with them.
"""

import re
from collections.abc import Iterator
from typing import Any

from terrain_physics._build.lowered import Extension

_MARK = re.compile(r"= f\w+ (?:\w+ )*(?:contract|reassoc|fast) |@llvm\.f(?:ma|muladd)\.")


def start_of_names(module: str) -> str:
    """Return how LLVM's names of the kernels in a module or a folder begin."""
    return "_ZN" + "".join(f"{len(part)}{part}" for part in module.split("."))


def functions_that_may_fuse(whole: Any) -> Iterator[str]:
    """Yield the names of functions that LLVM may use fused multiply-add in."""
    for function in whole.functions:
        if not function.is_declaration and _MARK.search(str(function)):
            yield function.name


def refuse_elsewhere(whole: Any, extension: Extension) -> None:
    """Refuse fused multiply-add in other kernels than those that may use it."""
    names = {symbol: function for function, symbol in extension.symbols.items()}
    found = [names.get(name, name) for name in functions_that_may_fuse(whole)]
    if others := [name for name in found if not name.startswith(extension.may_fuse)]:
        raise RuntimeError(f"bits would depend on the processor in {', '.join(others)}")
