"""The size of the library: ``python -m tests.helpers.size [FOLDER]`` prints it for each folder.

Lines of code are those with something else than docstrings and comments.
"""

import ast
import io
import sys
import tokenize
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import terrain_physics

_NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip
_WITH_DOCSTRING = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef


class Size(NamedTuple):
    """Counts of one source file, or of several."""

    files: int
    lines: int
    functions: int
    imports: int


def size_of(source: str) -> Size:
    """Return the size of one source file; imports are counted in lines."""
    nodes = [*ast.walk(ast.parse(source))]
    functions = sum(isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) for node in nodes)
    imports = sum(
        len(_lines(node)) for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))
    )
    code = set[int]()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    for node in nodes:
        if isinstance(node, _WITH_DOCSTRING):
            for statement in node.body:
                if isinstance(statement, ast.Expr) and _is_text(statement.value):
                    code.difference_update(_lines(statement))
    return Size(1, len(code), functions, imports)


def _lines(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _is_text(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def sizes(root: Path) -> dict[str, Size]:
    """Return the size of what lies in each folder of a package, folders within it included."""
    found: dict[str, list[Size]] = defaultdict(list)
    for file in sorted(root.rglob("*.py")):
        inner = file.relative_to(root).parts
        found[inner[0] if len(inner) > 1 else "."].append(size_of(file.read_text("utf-8")))
    return {name: total(parts) for name, parts in found.items()}


def total(parts: list[Size]) -> Size:
    return Size(*map(sum, zip(*parts, strict=True)))


def main() -> None:
    root = Path(sys.argv[1]) if sys.argv[1:] else Path(terrain_physics.__file__).parent
    found = sizes(root)
    for name, own in (*found.items(), ("all", total([*found.values()]))):
        counts = f"{own.files:4} files {own.lines:6} lines of code {own.functions:5} functions"
        print(f"{name:<14} {counts} {own.imports:5} lines of imports")  # noqa: T201 a command


if __name__ == "__main__":
    main()
