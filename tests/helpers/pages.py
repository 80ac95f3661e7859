"""The blocks of code in a page of Markdown, and how they are run."""

import ast
import contextlib
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.helpers import forks

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "demo" / "docs"
PAGES = sorted(DOCS.rglob("*.md"))

_FENCE = re.compile(
    r"^```(?:\{code-block\} )?(?P<language>\w+)\n"
    r"(?::caption: (?P<caption>\S+)\n)?(?P<code>.*?)^```$",
    flags=re.MULTILINE | re.DOTALL,
)


class Block(NamedTuple):
    """A block of code: its language, its line in the page, and the program that it is by itself."""

    language: str
    caption: str | None
    line: int
    code: str


class Printed(NamedTuple):
    """The output of a block, and the output that the page shows below it."""

    line: int
    text: str
    shown: str


def blocks(text: str) -> Iterator[Block]:
    """Return the blocks of a page, in order."""
    for match in _FENCE.finditer(text):
        line = text.count("\n", 0, match.start("code")) + 1
        yield Block(match["language"], match["caption"], line, match["code"])


def run(page: Path, folder: Path) -> Iterator[Printed]:
    """Run the Python blocks of a page, one after another, as one program, in a folder of theirs.

    A block with a caption is a program by itself, in the file that the caption names.
    """
    names: dict[str, Any] = {"__name__": page.stem}
    found = list(blocks(page.read_text(encoding="utf-8")))
    for index, block in enumerate(found):
        if block.language != "python":
            continue
        below = found[index + 1] if index + 1 < len(found) else None
        shown = below.code if below is not None and below.language == "output" else ""
        if block.caption is None:
            text = _printed(page, block, names)
        else:
            text = _printed_by_program(folder / block.caption, block.code)
        yield Printed(block.line, text, shown)


def definitions(page: Path) -> dict[str, Any]:
    """Return the functions of a page, with what they import and the constants that they begin with.

    Nothing else of the page has run: a test says what `hero` and `ground` are.
    """
    names: dict[str, Any] = {"__name__": page.stem}
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.language == "python":
            tree = ast.parse("\n" * (block.line - 1) + block.code)
            tree.body = [statement for statement in tree.body if _defines(statement)]
            exec(compile(tree, str(page), "exec"), names)  # noqa: S102
    return names


def _defines(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        return _is_constant(statement)
    return isinstance(statement, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef))


def _is_constant(assignment: ast.Assign) -> bool:
    """Return whether names are in capitals, or given numbers and words only."""
    parts = [part for target in assignment.targets for part in ast.walk(target)]
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    if all(name.isupper() for name in names):
        return True
    try:
        ast.literal_eval(assignment.value)
    except ValueError:
        return False
    return True


def _printed(page: Path, block: Block, names: dict[str, Any]) -> str:
    program = "\n" * (block.line - 1) + block.code  # a traceback names the line of the page
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(program, str(page), "exec"), names)  # noqa: S102
    return out.getvalue()


def _printed_by_program(file: Path, code: str) -> str:
    file.write_text(code, encoding="utf-8")
    return forks.printed("-W", "error", file, cwd=Path.cwd())
