"""The recipes of CONTRIBUTING, and what the syntax of a file says that they have to name.

A recipe is a bold title, some words, and a list. Each line of the list begins with paths and a
colon; what stands in backticks behind the colon is in one of these files.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple, get_args

from terrain_physics._kernels.surface.shapes import SHAPE_KINDS
from terrain_physics.character.colliders import _BY_NAME, Collider
from terrain_physics.surface.shapes import SHAPES

ROOT = Path(__file__).parents[2]

# Names of the kinds of shapes: constants of kernels, classes, and words.
KINDS = {kind.name.upper() for kind in SHAPE_KINDS}
KINDS_OF_NAMES = {"BALL": "SPHERE"} | {kind: kind for kind in KINDS}  # the demo's own; kernels'
KINDS_OF_NAMES |= {one.__name__: SHAPE_KINDS[one.kind].name.upper() for one in get_args(Collider)}
CLASSES = {one.__name__ for one in (*SHAPES, *get_args(Collider))}
WORDS = {*_BY_NAME, *(kind.name for kind in SHAPE_KINDS)}

# A file without any of this tells no kinds apart, and need not be parsed.
_SUSPECT = re.compile(
    rf"\b(?:{'|'.join(sorted(KINDS | KINDS_OF_NAMES.keys() | CLASSES))})\b"
    rf"|['\"](?:{'|'.join(sorted(WORDS))})['\"]|KIND|\bkind == \d"
)

# Files of rows with a column `BOX`, the box around a part: they know no kinds.
WITHOUT_KINDS = {
    "terrain_physics/_kernels/ground/movers.py",
    "terrain_physics/_kernels/mesh/parts.py",
    "terrain_physics/_kernels/mesh/places.py",
    "terrain_physics/ground/movers.py",
    "terrain_physics/mesh/table.py",
}


class Line(NamedTuple):
    """A line of a recipe."""

    paths: tuple[str, ...]  # may hold a star
    names: tuple[str, ...]  # in the files of these paths

    def files(self) -> set[Path]:
        """Return the files that the paths stand for."""
        return {file for path in self.paths for file in matching(path)}


class Recipe(NamedTuple):
    """A recipe of CONTRIBUTING."""

    title: str
    example: str  # in the tree, in backticks beside the title; "" if there is none
    lines: tuple[Line, ...]

    def files(self) -> set[Path]:
        """Return the files of all lines; a folder stands for none."""
        return {file for line in self.lines for file in line.files() if file.is_file()}


def recipes() -> dict[str, Recipe]:
    """Return the recipes by title."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    _, _, rest = text.partition("\n## Recipes\n")
    section, _, _ = rest.partition("\n## ")
    found = {}
    for block in re.split(r"^(?=\*\*)", section, flags=re.MULTILINE)[1:]:
        head = re.match(r"\*\*(.+?)\*\*(?: \(such as `(.+?)`\))?", block)
        assert head is not None, block
        lines = tuple(map(_line, re.findall(r"^- (.+(?:\n  .+)*)", block, flags=re.MULTILINE)))
        found[head[1]] = Recipe(head[1], head[2] or "", lines)
    return found


def _line(text: str) -> Line:
    paths, colon, words = text.partition(":")
    assert colon, text
    assert not re.sub(r"`[^`]+`", "", paths).strip(", \n"), text
    return Line(tuple(re.findall(r"`([^`]+)`", paths)), tuple(re.findall(r"`([^`]+)`", words)))


def matching(path: str) -> set[Path]:
    """Return what a path of a recipe stands for; one of the package leaves out its name."""
    return {file for place in (ROOT, ROOT / "terrain_physics") for file in place.glob(path)}


def sources_with_kinds(*folders: str) -> list[Path]:
    """Return all files of Python in folders in which names of kinds stand for kinds."""
    without = {ROOT / path for path in WITHOUT_KINDS}
    return [file for file in sources(*folders) if file not in without]


def sources(*folders: str) -> list[Path]:
    """Return all files of Python in folders of the checkout, in order."""
    return sorted(file for folder in folders for file in (ROOT / folder).rglob("*.py"))


@cache
def tree_of(file: Path) -> ast.Module:
    """Return the syntax of a file."""
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def words_of(file: Path) -> frozenset[str]:
    """Return the names and the words of strings in a file, or all words of another text."""
    text = file.read_text(encoding="utf-8")
    if file.suffix != ".py":
        return frozenset(re.findall(r"\w+", text))
    found: set[str] = set()
    for node in ast.walk(tree_of(file)):
        values = (getattr(node, name, None) for name in ("id", "attr", "arg", "name", "asname"))
        found.update(value for value in values if isinstance(value, str))
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= set(re.findall(r"\w+", node.value))
    return frozenset(found | {part for name in found for part in name.split(".")})


def parts_of(name: str) -> frozenset[str]:
    """Return the words that a name in backticks is made of, as in ``storage.reading()``."""
    return frozenset(re.findall(r"\w+", name))


def kinds_compared(file: Path) -> dict[str, set[str]]:
    """Return which kinds of shapes each function of a file compares something with."""
    found: dict[str, set[str]] = {}
    for function in ast.walk(tree_of(file)) if _is_suspect(file) else ():
        if isinstance(function, ast.FunctionDef):
            kinds = {
                KINDS_OF_NAMES[kind]
                for node in ast.walk(function)
                if isinstance(node, (ast.Compare, ast.MatchValue, ast.MatchClass))
                for kind in names_in(node) & KINDS_OF_NAMES.keys()
            }
            if kinds:
                found[function.name] = kinds
    return found


def names_in(node: ast.AST) -> set[str]:
    """Return the names and the last names of attributes in an expression."""
    return {
        name
        for part in ast.walk(node)
        for name in (getattr(part, "id", None), getattr(part, "attr", None))
        if name
    }


def tells_shapes_apart(file: Path) -> bool:
    """Return whether a file holds a table or a chain of the kinds of shapes."""
    return _is_suspect(file) and any(_is_of_kinds(node) for node in ast.walk(tree_of(file)))


def _is_suspect(file: Path) -> bool:
    return _SUSPECT.search(file.read_text(encoding="utf-8")) is not None


def _is_of_kinds(node: ast.AST) -> bool:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):  # an import is no use
            return name in KINDS
        case ast.Compare():
            return _compares_kinds(node)
        case ast.MatchClass(cls=one) | ast.MatchValue(value=one):
            return _is_class(one) or _is_word(one)
        case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds]):
            return bool(names_in(kinds) & CLASSES)
        case ast.Tuple(elts=several) | ast.List(elts=several) | ast.Set(elts=several):
            return _are_several(several)
        case ast.Dict(keys=keys, values=values):
            named = [key for key in keys if key is not None]
            return any(_is_word(key) or _is_class(key) for key in named) or _are_several(values)
        case ast.BinOp(op=ast.BitOr()):
            return len(names_in(node) & CLASSES) > 1
    return isinstance(node, ast.Constant) and bool(
        re.search(r"\bkind == \d", str(node.value))  # a shader
    )


def _compares_kinds(node: ast.Compare) -> bool:
    sides = [node.left, *node.comparators]
    for side in node.comparators:
        if isinstance(side, (ast.Tuple, ast.List, ast.Set)):
            sides += side.elts
    return any(_is_word(side) or _is_class(side) for side in sides) or (
        any(map(_is_column_of_kinds, sides)) and not any(map(_is_kind_of_object, sides))
    )


def _is_column_of_kinds(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and "KIND" in names_in(node.slice)


def _is_kind_of_object(node: ast.AST) -> bool:
    """Return whether an expression is the kind of one object, which no class says."""
    is_kind = isinstance(node, ast.Attribute) and node.attr == "kind"
    return is_kind and not names_in(node) & CLASSES


def _is_word(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value in WORDS


def _is_class(node: ast.AST) -> bool:
    name = getattr(node, "id", None) or getattr(node, "attr", None)
    return name in CLASSES


def _are_several(nodes: list[ast.expr]) -> bool:
    return sum(map(_is_class, nodes)) > 1 or sum(map(_is_word, nodes)) > 1


def users_of(word: str, *folders: str) -> Iterator[Path]:
    """Yield the files of folders that use a word as a name, or as all of a string."""
    for file in sources(*folders):
        if word not in file.read_text(encoding="utf-8"):
            continue  # parsing takes longer
        if any(_uses(node, word) for node in ast.walk(tree_of(file))):
            yield file


def _uses(node: ast.AST, word: str) -> bool:
    if isinstance(node, ast.Constant):
        return node.value == word
    names = (getattr(node, name, None) for name in ("id", "attr", "arg", "name"))
    return word in {name.rpartition(".")[2] for name in names if isinstance(name, str)}
