"""ARCHITECTURE.md and the design notes stay true: what they name is there."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import terrain_physics
from tests.helpers import rooms
from tests.helpers.recipes import tree_of

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "terrain_physics" / "ARCHITECTURE.md"
RECIPES = ROOT / "CONTRIBUTING.md"
NOTES = ROOT / "demo" / "docs" / "design"

# Made by tasks, and in no checkout.
BUILT = {"build/docs"}

# Words that a person reads in a quarter of an hour.
MOST_WORDS = 2500

# What a person can hold in mind of one folder: rooms, floors, arrows.
MOST = 20, 7, 50

# The two top levels, and flat shelves: files of pairs, examples, drawing stages.
LARGER = {
    "demo.examples",
    "demo.renderers",
    "terrain_physics",
    "terrain_physics._kernels",
    "terrain_physics._kernels.geometry",
}


def named_paths(text: str) -> set[str]:
    """Return what stands in backticks, outside of code blocks, and looks like a path."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    quoted = re.findall(r"`([^`\n]+)`", prose)
    return {
        name for name in quoted if re.fullmatch(r"[\w.*/-]+(/[\w.*-]*|\.(py|pyi|md|toml))", name)
    }


def exists(name: str) -> bool:
    places = (ROOT, DOCUMENT.parent, DOCUMENT.parent / "_kernels")
    return any(any(place.glob(name.rstrip("/"))) for place in places)


def test_a_path_is_told_from_other_code() -> None:
    text = "`a/b.py` `c.py` `demo/` `x * y` `glm.vec3` `a / b`\n```\n`not/this.py`\n```\n`_k/*.py`"
    assert named_paths(text) == {"a/b.py", "c.py", "demo/", "_k/*.py"}


@pytest.mark.parametrize(
    "document", [DOCUMENT, RECIPES, *sorted(NOTES.glob("[!i]*.md"))], ids=lambda path: path.stem
)
def test_every_path_it_names_exists(document: Path) -> None:
    names = named_paths(document.read_text(encoding="utf-8"))
    assert names, "no path found: has the form of the document changed?"
    assert not {name for name in names - BUILT if not exists(name)}


def test_it_is_short() -> None:
    assert len(DOCUMENT.read_text(encoding="utf-8").split()) <= MOST_WORDS


def test_each_design_note_is_listed_here_on_its_index_and_in_the_site() -> None:
    notes = {file.stem for file in NOTES.glob("*.md")} - {"index"}
    text, index = (file.read_text(encoding="utf-8") for file in (DOCUMENT, NOTES / "index.md"))
    assert set(re.findall(r"^\| `demo/docs/design/(\w+)\.md` \|", text, re.MULTILINE)) == notes
    assert set(re.findall(r"^\| \[[^\]]+\]\((\w+)\.md\) \|", index, re.MULTILINE)) == notes
    (tree,) = re.findall(r"```\{toctree\}\n:hidden:\n\n([^`]+)```", index)
    assert set(tree.split()) == notes


def test_the_glossary_is_short() -> None:
    _, _, rest = DOCUMENT.read_text(encoding="utf-8").partition("\n## Glossary\n")
    glossary, _, _ = rest.partition("\n## ")
    assert 0 < len(re.findall(r"^\|", glossary, re.MULTILINE)) - 2 <= 20


def test_the_list_of_one_update_names_functions_of_its_kernels() -> None:
    kernels = DOCUMENT.parent / "_kernels" / "character"
    doc = ast.get_docstring(ast.parse((kernels / "update.py").read_text(encoding="utf-8"))) or ""
    lines = re.findall(r"^ *(\d+)\. (.*(?:\n {4,}.*)*)", doc, flags=re.MULTILINE)
    assert [int(number) for number, _ in lines] == list(range(1, len(lines) + 1))
    assert 10 <= len(lines) <= 15
    made = {
        node.name
        for file in kernels.rglob("*.py")
        for node in tree_of(file).body
        if isinstance(node, ast.FunctionDef)
    }
    for _, text in lines:
        names = set(re.findall(r"`(\w+)`", text))
        assert names, text
        assert names <= made, names - made


def folders() -> dict[str, Path]:
    """Return the folders of the package that hold code, and those of the demo, by their names."""
    package, demo = DOCUMENT.parent, ROOT / "demo"
    found = [path.parent for path in package.rglob("__init__.py") if path.parent != package]
    named = {path.relative_to(package).as_posix(): path for path in found}
    return named | {f"demo/{path.parent.name}": path.parent for path in demo.glob("*/__init__.py")}


def test_every_folder_stands_with_its_own_first_line() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w[\w/]*)/` \| (.+) \|$", text, flags=re.MULTILINE))
    lines = {}
    for name, folder in folders().items():
        source = (folder / "__init__.py").read_text(encoding="utf-8")
        lines[name] = (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]
    assert len(lines) > 10
    assert rows == lines


def test_pictures_and_links_are_there() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#\s]+)", text) if "://" not in link]
    assert not {link for link in links if not (DOCUMENT.parent / link).exists()}


@pytest.mark.parametrize("name", sorted(set(rooms.folders()) - LARGER))
def test_a_folder_shows_no_more_than_a_person_can_hold_in_mind(name: str) -> None:
    size = rooms.folder(name).size
    assert all(here <= most for here, most in zip(size, MOST, strict=True)), size


@pytest.mark.parametrize("name", sorted(LARGER))
def test_a_larger_folder_is_one_and_has_no_circle(name: str) -> None:
    size = rooms.folder(name).size
    assert any(here > most for here, most in zip(size, MOST, strict=True)), size


def classes(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the classes of a folder, without an underscore in front, and their files."""
    for file in folder.rglob("*.py"):
        if "class " not in file.read_text(encoding="utf-8"):
            continue  # parsing takes longer
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.ClassDef):
                yield node.name.lstrip("_"), file.relative_to(ROOT).as_posix()


def test_no_two_classes_have_one_name() -> None:
    homes: dict[str, list[str]] = {}
    for name, file in classes(DOCUMENT.parent):
        homes.setdefault(name, []).append(file)
    assert not {name: files for name, files in homes.items() if len(files) > 1}


def test_the_demo_has_no_class_of_a_public_name() -> None:
    taken = {
        name: file
        for name, file in classes(ROOT / "demo")
        if name in terrain_physics.__all__ and not file.startswith("demo/examples/")
    }
    assert not taken
