"""Find the kernels that Python code of the library and of the demo uses, from its source code.

Tests call others too, which wheels need no machine code for.
"""

import ast
import gc
from collections.abc import Iterator
from functools import cache
from importlib.util import resolve_name
from typing import TypeGuard

from terrain_physics._build.packages import LIBRARY, ROOT, KernelPackage

_LEFT_OUT = (f"{LIBRARY.name}.", "terrain_physics._build.", "demo.docs.", "demo.making.")
"""Kernels of the library call each other by Python too, in functions that no kernel calls."""


@cache
def used_kernels(package: KernelPackage) -> frozenset[str]:
    """Return the names of these kernels, within the package of kernels."""
    defined = set(_defined_kernels(package))
    return frozenset(
        package.within(name)
        for module, tree in _modules(package.users)
        if not f"{module}.".startswith(_LEFT_OUT)
        for name in _names_taken(module, tree, package)
        if name in defined
    )


def _modules(package: str) -> Iterator[tuple[str, ast.Module]]:
    for file in sorted(ROOT.joinpath(*package.split(".")).rglob("*.py")):
        name = ".".join(file.relative_to(ROOT).with_suffix("").parts)
        yield name, _parsed(file.read_text(encoding="utf-8"))


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


def _defined_kernels(package: KernelPackage) -> Iterator[str]:
    for module, tree in _modules(package.name):
        for function in tree.body:
            if _is_kernel(function, package):
                yield f"{module}.{function.name}"


def _is_kernel(node: ast.AST, package: KernelPackage) -> TypeGuard[ast.FunctionDef]:
    return isinstance(node, ast.FunctionDef) and any(
        ast.unparse(mark).startswith(package.decorators) for mark in node.decorator_list
    )


def _names_taken(module: str, tree: ast.Module, package: KernelPackage) -> Iterator[str]:
    """Yield the full names of what a module's Python code takes from its own and other modules."""
    taken = {node.name: f"{module}.{node.name}" for node in tree.body if _is_kernel(node, package)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            origin = resolve_name("." * node.level + (node.module or ""), module.rpartition(".")[0])
            for alias in node.names:
                taken[alias.asname or alias.name] = f"{origin}.{alias.name}"
    for node in _python_code(tree, package):
        if isinstance(node, ast.Name):
            yield taken.get(node.id, "")
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{taken.get(node.value.id, '')}.{node.attr}"


def _python_code(node: ast.AST, package: KernelPackage) -> Iterator[ast.AST]:
    """Yield all parts of a syntax tree but those of kernels."""
    for part in ast.iter_child_nodes(node):
        if not _is_kernel(part, package):
            yield part
            yield from _python_code(part, package)
