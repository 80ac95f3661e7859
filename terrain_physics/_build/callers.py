"""Find the kernels that the library's Python code uses, from its source code.

Tests call others too, which wheels need no machine code for.
"""

import ast
import gc
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_KERNELS = f"{_PACKAGE.name}._kernels"


@cache
def used_kernels() -> frozenset[str]:
    """Return the names of these kernels, below the package of kernels."""
    defined = set(_defined_kernels())
    return frozenset(
        name
        for module, tree in _modules(_PACKAGE)
        if not module.startswith((_KERNELS, f"{_PACKAGE.name}._build"))
        for name in _names_taken(tree)
        if name in defined
    )


def _modules(folder: Path) -> Iterator[tuple[str, ast.Module]]:
    for file in sorted(folder.rglob("*.py")):
        name = ".".join(file.relative_to(_PACKAGE.parent).with_suffix("").parts)
        yield name.removesuffix(".__init__"), _parsed(file.read_text(encoding="utf-8"))


def _parsed(source: str) -> ast.Module:
    """Parse a source with the garbage collector off.

    Python 3.11 counts the depth of all syntax trees in one place. If collected garbage prints a
    traceback during a parse, the carets of that traceback need another tree, and the parse ends
    with "SystemError: AST constructor recursion depth mismatch".
    """
    looks = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(source)
    finally:
        if looks:
            gc.enable()


def _within(name: str) -> str:
    return name.removeprefix(f"{_KERNELS}.")


def _defined_kernels() -> Iterator[str]:
    for module, tree in _modules(_PACKAGE / "_kernels"):
        for function in tree.body:
            if isinstance(function, ast.FunctionDef) and any(
                ast.unparse(mark).startswith("kernel") for mark in function.decorator_list
            ):
                yield f"{_within(module)}.{function.name}"


def _names_taken(tree: ast.Module) -> Iterator[str]:
    """Yield the names that a module imports from modules of kernels."""
    taken = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(_KERNELS):
            for alias in node.names:
                taken[alias.asname or alias.name] = _within(f"{node.module}.{alias.name}")
    yield from taken.values()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{taken.get(node.value.id, '')}.{node.attr}"
