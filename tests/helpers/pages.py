"""The blocks of code in a page of Markdown, and how they are run."""

import ast
import contextlib
import io
import re
from collections.abc import Iterator
from itertools import pairwise
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
_ANY_FENCE = re.compile(r"^```.*?^```$", flags=re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.+)$", flags=re.MULTILINE)
_GOES_ON = "with the code above"


class Block(NamedTuple):
    """A block of code: its language, its line in the page, and the program that it is by itself."""

    language: str
    caption: str | None
    line: int
    code: str


class Recipe(NamedTuple):
    """A section of a page whose code is one program: the page, its heading or "", its blocks."""

    page: Path
    title: str
    blocks: tuple[Block, ...]

    @property
    def name(self) -> str:
        return f"{self.page.stem}: {self.title}" if self.title else self.page.stem

    def code(self) -> list[Block]:
        """Return the blocks of Python that are no files of their own, in order."""
        return [one for one in self.blocks if one.language == "python" and one.caption is None]


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


def recipes_of(page: Path) -> list[Recipe]:
    """Return the sections of a page that have code, each with that of sections that go on from it.

    Those are the ones that say "with the code above".
    """
    text = page.read_text(encoding="utf-8")
    prose = _ANY_FENCE.sub(lambda fence: re.sub(r"[^\n]", " ", fence[0]), text)
    starts = [(0, ""), *((found.start(), found[1]) for found in _HEADING.finditer(prose))]
    recipes: list[Recipe] = []
    for (start, title), (end, _) in pairwise([*starts, (len(text), "")]):
        above = "\n" * text.count("\n", 0, start)  # blocks tell their lines in the page
        own = tuple(blocks(above + text[start:end]))
        if own and _GOES_ON in " ".join(prose[start:end].lower().split()):
            recipes[-1] = recipes[-1]._replace(blocks=recipes[-1].blocks + own)
        elif own:
            recipes.append(Recipe(page, title, own))
    return recipes


def run(page: Path, folder: Path) -> Iterator[Printed]:
    """Run the Python blocks of a page, one after another, as one program, in a folder of theirs.

    In the cookbook, each recipe is a program by itself. So is a block with a caption, in the file
    that the caption names.
    """
    is_of_cookbook = page.parent == DOCS / "cookbook"
    text = page.read_text(encoding="utf-8")
    for recipe in recipes_of(page) if is_of_cookbook else [Recipe(page, "", tuple(blocks(text)))]:
        yield from _run(recipe, folder)


def _run(recipe: Recipe, folder: Path) -> Iterator[Printed]:
    names: dict[str, Any] = {"__name__": recipe.page.stem}
    for index, block in enumerate(recipe.blocks):
        if block.language != "python":
            continue
        below = recipe.blocks[index + 1] if index + 1 < len(recipe.blocks) else None
        shown = below.code if below is not None and below.language == "output" else ""
        if block.caption is None:
            text = _printed(recipe.page, block, names)
        else:
            text = _printed_by_program(folder / block.caption, block.code)
        yield Printed(block.line, text, shown)


def definitions(page: Path, title: str = "") -> dict[str, Any]:
    """Return the functions of a recipe, with what they import and the constants they begin with.

    Without a title, of the page's only recipe. Nothing else of it has run: a test says what `hero`
    and `ground` are.
    """
    names: dict[str, Any] = {"__name__": page.stem}
    (recipe,) = (one for one in recipes_of(page) if title in {"", one.title})
    for block in recipe.code():
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
